#include "dicom/attributes.h"
#include "dicom/charset.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

#define ONE DEMUR_SLICE_ATTRIBUTE_ONE
#define STEPS DEMUR_SLICE_ATTRIBUTE_STEPS
#define TIME DEMUR_SLICE_ATTRIBUTE_TIME
#define FREE DEMUR_SLICE_ATTRIBUTE_FREE

/* What names the phase or the acquisition first, then what a reconstruction is made by, then times,
 * then what may vary along a volume, and texts that people write last. */
static const DemurSliceAttribute table[] = {
    {DEMUR_TAG(0x0020, 0x0052), DEMUR_VR_UI, ONE, "FrameOfReferenceUID"},
    {DEMUR_TAG(0x0020, 0x000D), DEMUR_VR_UI, ONE, "StudyInstanceUID"},
    {DEMUR_TAG(0x0020, 0x0012), DEMUR_VR_IS, STEPS, "AcquisitionNumber"},
    {DEMUR_TAG(0x0020, 0x9156), DEMUR_VR_US, STEPS, "FrameAcquisitionNumber"},
    {DEMUR_TAG(0x0008, 0x0017), DEMUR_VR_UI, STEPS, "AcquisitionUID"},
    {DEMUR_TAG(0x0008, 0x3010), DEMUR_VR_UI, STEPS, "IrradiationEventUID"},
    {DEMUR_TAG(0x0020, 0x0100), DEMUR_VR_IS, ONE, "TemporalPositionIdentifier"},
    {DEMUR_TAG(0x0020, 0x9128), DEMUR_VR_UL, ONE, "TemporalPositionIndex"},
    {DEMUR_TAG(0x0020, 0x930D), DEMUR_VR_FD, ONE, "TemporalPositionTimeOffset"},
    {DEMUR_TAG(0x0018, 0x1060), DEMUR_VR_DS, ONE, "TriggerTime"},
    {DEMUR_TAG(0x0018, 0x1069), DEMUR_VR_DS, ONE, "TriggerTimeOffset"},
    {DEMUR_TAG(0x0020, 0x9241), DEMUR_VR_FL, ONE, "NominalPercentageOfCardiacPhase"},
    {DEMUR_TAG(0x0018, 0x9236), DEMUR_VR_CS, ONE, "CardiacCyclePosition"},
    {DEMUR_TAG(0x0020, 0x9153), DEMUR_VR_FD, ONE, "NominalCardiacTriggerDelayTime"},
    {DEMUR_TAG(0x0020, 0x9245), DEMUR_VR_FL, ONE, "NominalPercentageOfRespiratoryPhase"},
    {DEMUR_TAG(0x0018, 0x9214), DEMUR_VR_CS, ONE, "RespiratoryCyclePosition"},
    {DEMUR_TAG(0x0020, 0x9255), DEMUR_VR_FD, ONE, "NominalRespiratoryTriggerDelayTime"},
    {DEMUR_TAG(0x0018, 0x0081), DEMUR_VR_DS, ONE, "EchoTime"},
    {DEMUR_TAG(0x0018, 0x9082), DEMUR_VR_FD, ONE, "EffectiveEchoTime"},
    {DEMUR_TAG(0x0018, 0x0086), DEMUR_VR_IS, ONE, "EchoNumbers"},
    {DEMUR_TAG(0x0018, 0x0010), DEMUR_VR_LO, ONE, "ContrastBolusAgent"},
    {DEMUR_TAG(0x0018, 0x9342), DEMUR_VR_CS, ONE, "ContrastBolusAgentAdministered"},
    {DEMUR_TAG(0x0018, 0x9344), DEMUR_VR_CS, ONE, "ContrastBolusAgentPhase"},
    {DEMUR_TAG(0x0018, 0x1040), DEMUR_VR_LO, ONE, "ContrastBolusRoute"},
    {DEMUR_TAG(0x0018, 0x1041), DEMUR_VR_DS, ONE, "ContrastBolusVolume"},
    {DEMUR_TAG(0x0018, 0x1042), DEMUR_VR_TM, ONE, "ContrastBolusStartTime"},
    {DEMUR_TAG(0x0018, 0x1043), DEMUR_VR_TM, ONE, "ContrastBolusStopTime"},
    {DEMUR_TAG(0x0018, 0x1044), DEMUR_VR_DS, ONE, "ContrastBolusTotalDose"},
    {DEMUR_TAG(0x0018, 0x1046), DEMUR_VR_DS, ONE, "ContrastFlowRate"},
    {DEMUR_TAG(0x0018, 0x1047), DEMUR_VR_DS, ONE, "ContrastFlowDuration"},
    {DEMUR_TAG(0x0018, 0x1048), DEMUR_VR_CS, ONE, "ContrastBolusIngredient"},
    {DEMUR_TAG(0x0018, 0x1049), DEMUR_VR_DS, ONE, "ContrastBolusIngredientConcentration"},
    {DEMUR_TAG(0x0018, 0x0060), DEMUR_VR_DS, ONE, "KVP"},
    {DEMUR_TAG(0x0028, 0x1054), DEMUR_VR_LO, ONE, "RescaleType"},
    {DEMUR_TAG(0x0018, 0x937C), DEMUR_VR_FD, ONE, "MonoenergeticEnergyEquivalent"},
    {DEMUR_TAG(0x0018, 0x9353), DEMUR_VR_FL, ONE, "EnergyWeightingFactor"},
    {DEMUR_TAG(0x0018, 0x9361), DEMUR_VR_CS, ONE, "MultienergyCTAcquisition"},
    {DEMUR_TAG(0x0008, 0x0008), DEMUR_VR_CS, ONE, "ImageType"},
    {DEMUR_TAG(0x0008, 0x9007), DEMUR_VR_CS, ONE, "FrameType"},
    {DEMUR_TAG(0x0018, 0x1210), DEMUR_VR_SH, ONE, "ConvolutionKernel"},
    {DEMUR_TAG(0x0018, 0x9316), DEMUR_VR_CS, ONE, "ConvolutionKernelGroup"},
    {DEMUR_TAG(0x0018, 0x9315), DEMUR_VR_CS, ONE, "ReconstructionAlgorithm"},
    {DEMUR_TAG(0x0018, 0x1160), DEMUR_VR_SH, ONE, "FilterType"},
    {DEMUR_TAG(0x0018, 0x9320), DEMUR_VR_SH, ONE, "ImageFilter"},
    {DEMUR_TAG(0x0018, 0x7050), DEMUR_VR_CS, ONE, "FilterMaterial"},
    {DEMUR_TAG(0x0018, 0x0050), DEMUR_VR_DS, ONE, "SliceThickness"},
    {DEMUR_TAG(0x0018, 0x0088), DEMUR_VR_DS, ONE, "SpacingBetweenSlices"},
    {DEMUR_TAG(0x0018, 0x1100), DEMUR_VR_DS, ONE, "ReconstructionDiameter"},
    {DEMUR_TAG(0x0018, 0x0090), DEMUR_VR_DS, ONE, "DataCollectionDiameter"},
    {DEMUR_TAG(0x0018, 0x1120), DEMUR_VR_DS, ONE, "GantryDetectorTilt"},
    {DEMUR_TAG(0x0018, 0x1140), DEMUR_VR_CS, ONE, "RotationDirection"},
    {DEMUR_TAG(0x0018, 0x0022), DEMUR_VR_CS, ONE, "ScanOptions"},
    {DEMUR_TAG(0x0018, 0x9302), DEMUR_VR_CS, ONE, "AcquisitionType"},
    {DEMUR_TAG(0x0018, 0x9305), DEMUR_VR_FD, ONE, "RevolutionTime"},
    {DEMUR_TAG(0x0018, 0x9306), DEMUR_VR_FD, ONE, "SingleCollimationWidth"},
    {DEMUR_TAG(0x0018, 0x9307), DEMUR_VR_FD, ONE, "TotalCollimationWidth"},
    {DEMUR_TAG(0x0018, 0x9309), DEMUR_VR_FD, ONE, "TableSpeed"},
    {DEMUR_TAG(0x0018, 0x9310), DEMUR_VR_FD, ONE, "TableFeedPerRotation"},
    {DEMUR_TAG(0x0018, 0x9311), DEMUR_VR_FD, ONE, "SpiralPitchFactor"},
    {DEMUR_TAG(0x0018, 0x9323), DEMUR_VR_CS, ONE, "ExposureModulationType"},
    {DEMUR_TAG(0x0018, 0x5100), DEMUR_VR_CS, ONE, "PatientPosition"},
    {DEMUR_TAG(0x0028, 0x0004), DEMUR_VR_CS, ONE, "PhotometricInterpretation"},
    {DEMUR_TAG(0x0028, 0x2110), DEMUR_VR_CS, ONE, "LossyImageCompression"},
    {DEMUR_TAG(0x0008, 0x0070), DEMUR_VR_LO, ONE, "Manufacturer"},
    {DEMUR_TAG(0x0008, 0x1090), DEMUR_VR_LO, ONE, "ManufacturerModelName"},
    {DEMUR_TAG(0x0018, 0x1000), DEMUR_VR_LO, ONE, "DeviceSerialNumber"},
    {DEMUR_TAG(0x0008, 0x1010), DEMUR_VR_SH, ONE, "StationName"},
    {DEMUR_TAG(0x0018, 0x1020), DEMUR_VR_LO, ONE, "SoftwareVersions"},
    {DEMUR_TAG(0x0020, 0x0011), DEMUR_VR_IS, ONE, "SeriesNumber"},
    {DEMUR_TAG(0x0008, 0x002A), DEMUR_VR_DT, TIME, "AcquisitionDateTime"},
    {DEMUR_TAG(0x0018, 0x9074), DEMUR_VR_DT, TIME, "FrameAcquisitionDateTime"},
    {DEMUR_TAG(0x0018, 0x9151), DEMUR_VR_DT, TIME, "FrameReferenceDateTime"},
    {DEMUR_TAG(0x0008, 0x0032), DEMUR_VR_TM, TIME, "AcquisitionTime"},
    {DEMUR_TAG(0x0008, 0x0022), DEMUR_VR_DA, TIME, "AcquisitionDate"},
    {DEMUR_TAG(0x0008, 0x0031), DEMUR_VR_TM, TIME, "SeriesTime"},
    {DEMUR_TAG(0x0008, 0x0021), DEMUR_VR_DA, TIME, "SeriesDate"},
    {DEMUR_TAG(0x0008, 0x0033), DEMUR_VR_TM, TIME, "ContentTime"},
    {DEMUR_TAG(0x0008, 0x0023), DEMUR_VR_DA, TIME, "ContentDate"},
    {DEMUR_TAG(0x0008, 0x0013), DEMUR_VR_TM, TIME, "InstanceCreationTime"},
    {DEMUR_TAG(0x0008, 0x0012), DEMUR_VR_DA, TIME, "InstanceCreationDate"},
    {DEMUR_TAG(0x0018, 0x1151), DEMUR_VR_IS, FREE, "XRayTubeCurrent"},
    {DEMUR_TAG(0x0018, 0x9330), DEMUR_VR_FD, FREE, "XRayTubeCurrentInmA"},
    {DEMUR_TAG(0x0018, 0x8151), DEMUR_VR_DS, FREE, "XRayTubeCurrentInuA"},
    {DEMUR_TAG(0x0018, 0x1152), DEMUR_VR_IS, FREE, "Exposure"},
    {DEMUR_TAG(0x0018, 0x1153), DEMUR_VR_IS, FREE, "ExposureInuAs"},
    {DEMUR_TAG(0x0018, 0x9332), DEMUR_VR_FD, FREE, "ExposureInmAs"},
    {DEMUR_TAG(0x0018, 0x1150), DEMUR_VR_IS, FREE, "ExposureTime"},
    {DEMUR_TAG(0x0018, 0x8150), DEMUR_VR_DS, FREE, "ExposureTimeInuS"},
    {DEMUR_TAG(0x0018, 0x9328), DEMUR_VR_FD, FREE, "ExposureTimeInms"},
    {DEMUR_TAG(0x0018, 0x9345), DEMUR_VR_FD, FREE, "CTDIvol"},
    {DEMUR_TAG(0x0018, 0x1170), DEMUR_VR_IS, FREE, "GeneratorPower"},
    {DEMUR_TAG(0x0018, 0x1190), DEMUR_VR_DS, FREE, "FocalSpots"},
    {DEMUR_TAG(0x0018, 0x1130), DEMUR_VR_DS, FREE, "TableHeight"},
    {DEMUR_TAG(0x0028, 0x1050), DEMUR_VR_DS, FREE, "WindowCenter"},
    {DEMUR_TAG(0x0028, 0x1051), DEMUR_VR_DS, FREE, "WindowWidth"},
    {DEMUR_TAG(0x0018, 0x0015), DEMUR_VR_CS, FREE, "BodyPartExamined"},
    {DEMUR_TAG(0x0018, 0x1030), DEMUR_VR_LO, ONE, "ProtocolName"},
    {DEMUR_TAG(0x0018, 0x9423), DEMUR_VR_LO, ONE, "AcquisitionProtocolName"},
    {DEMUR_TAG(0x0018, 0x9424), DEMUR_VR_LT, ONE, "AcquisitionProtocolDescription"},
    {DEMUR_TAG(0x0008, 0x2111), DEMUR_VR_ST, FREE, "DerivationDescription"},
    {DEMUR_TAG(0x0020, 0x4000), DEMUR_VR_LT, FREE, "ImageComments"},
    {DEMUR_TAG(0x0008, 0x103E), DEMUR_VR_LO, ONE, "SeriesDescription"},
};

size_t
demur_slice_attributes_n(void) {
  return G_N_ELEMENTS(table);
}

const DemurSliceAttribute *
demur_slice_attribute(size_t i) {
  g_return_val_if_fail(i < G_N_ELEMENTS(table), NULL);
  return &table[i];
}

static int
compare_tag(const void *a, const void *b) {
  const guint32 x = table[*(const guint8 *)a].tag, y = table[*(const guint8 *)b].tag;
  return x < y ? -1 : x > y;
}

int
demur_slice_attribute_find(guint32 tag) {
  static guint8 by_tag[G_N_ELEMENTS(table)];
  static gsize sorted = 0;
  if (g_once_init_enter(&sorted)) {
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
      by_tag[i] = (guint8)i;
    qsort(by_tag, G_N_ELEMENTS(table), sizeof *by_tag, compare_tag);
    g_once_init_leave(&sorted, 1);
  }
  size_t low = 0, high = G_N_ELEMENTS(table);
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const guint32 at = table[by_tag[middle]].tag;
    if (at == tag)
      return by_tag[middle];
    if (at < tag)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}

static char *
number_text(double value) {
  char buffer[32];
  return g_strdup(g_ascii_formatd(buffer, sizeof buffer, "%.6g", value + 0.0));
}

/* Decimal strings that are numbers as numbers, so that "3" and "3.00" are one value. */
static char *
decimals_text(const guint8 *bytes, size_t length) {
  g_autofree char *raw = demur_charset_to_utf8((const char *)bytes, length, NULL);
  g_auto(GStrv) values = g_strsplit(raw, "\\", -1);
  for (guint i = 0; values[i] != NULL; i++) {
    double value;
    g_strstrip(values[i]);
    if (demur_number_parse(values[i], strlen(values[i]), &value)) {
      g_free(values[i]);
      values[i] = number_text(value);
    }
  }
  return g_strjoinv("\\", values);
}

static char *
text_text(const guint8 *bytes, size_t length, const char *character_set) {
  g_autofree char *raw = demur_charset_to_utf8((const char *)bytes, length, character_set);
  g_auto(GStrv) values = g_strsplit(raw, "\\", -1);
  for (guint i = 0; values[i] != NULL; i++)
    g_strstrip(values[i]);
  return g_strjoinv("\\", values);
}

char *
demur_slice_attribute_text(const DemurElement *element, const guint8 *bytes,
                           const DemurSliceAttribute *attribute, const char *character_set) {
  const gboolean told =
      element->vr != DEMUR_VR_NONE && element->vr != DEMUR_VR_OTHER && element->vr != DEMUR_VR_UN;
  const size_t length = element->length;
  char *text;
  switch (told ? element->vr : attribute->vr) {
  case DEMUR_VR_US:
    text = length >= 2 ? number_text(demur_elements_u16(bytes, element->big_endian)) : NULL;
    break;
  case DEMUR_VR_UL:
    text = length >= 4 ? number_text(demur_elements_u32(bytes, element->big_endian)) : NULL;
    break;
  case DEMUR_VR_FD:
    text = length >= 8 ? number_text(demur_elements_f64(bytes, element->big_endian)) : NULL;
    break;
  case DEMUR_VR_FL:
    text = length >= 4 ? number_text(demur_elements_f32(bytes, element->big_endian)) : NULL;
    break;
  case DEMUR_VR_DS:
  case DEMUR_VR_IS:
    text = decimals_text(bytes, length);
    break;
  default:
    text = text_text(bytes, length, character_set);
    break;
  }
  if (text != NULL && *text == '\0')
    g_clear_pointer(&text, g_free);
  return text;
}

static gboolean
two_digits(const char **at, int limit, int *value) {
  if (!g_ascii_isdigit((*at)[0]) || !g_ascii_isdigit((*at)[1]))
    return FALSE;
  *value = 10 * ((*at)[0] - '0') + (*at)[1] - '0';
  *at += 2;
  return *value <= limit;
}

/* hhmmss.ffffff, of which all but the hours may be left out (PS3.5 6.2); old writers put colons. */
static double
seconds_of_day(const char *text) {
  int hours, minutes = 0, seconds = 0;
  double fraction = 0;
  if (!two_digits(&text, 23, &hours))
    return NAN;
  text += *text == ':' ? 1 : 0;
  if (g_ascii_isdigit(*text) && !two_digits(&text, 59, &minutes))
    return NAN;
  text += *text == ':' ? 1 : 0;
  if (g_ascii_isdigit(*text) && !two_digits(&text, 60, &seconds))
    return NAN;
  if (*text == '.')
    fraction = g_ascii_strtod(text, NULL);
  return 3600.0 * hours + 60.0 * minutes + seconds + fraction;
}

static double
seconds_of_date(const char *text) {
  g_autofree GDate *date = g_date_new();
  int parts[4];
  const char *at = text;
  for (int i = 0; i < 4; i++) {
    at += i >= 2 && (*at == '.' || *at == '-') ? 1 : 0;
    if (!two_digits(&at, 99, &parts[i]))
      return NAN;
  }
  const int year = 100 * parts[0] + parts[1];
  if (year < 1 || !g_date_valid_dmy((GDateDay)parts[3], (GDateMonth)parts[2], (GDateYear)year))
    return NAN;
  g_date_set_dmy(date, (GDateDay)parts[3], (GDateMonth)parts[2], (GDateYear)year);
  return 86400.0 * g_date_get_julian(date);
}

double
demur_slice_attribute_seconds(const DemurSliceAttribute *attribute, const char *text) {
  if (text == NULL)
    return NAN;
  if (attribute->vr == DEMUR_VR_TM)
    return seconds_of_day(text);
  const double day = seconds_of_date(text);
  if (attribute->vr == DEMUR_VR_DA || isnan(day) || strlen(text) < 10)
    return day;
  return day + seconds_of_day(text + 8);
}
