#include "dicom/image-kind.h"

#include "base/error.h"

#include <string.h>

#include "dicom/sop-class.h"
#include "dicom/transfer-syntax.h"

static gboolean
image_type_has(const DemurHeader *header, const char *word) {
  g_auto(GStrv) values = g_strsplit(header->image_type != NULL ? header->image_type : "", "\\", -1);
  for (guint i = 0; values[i] != NULL; i++)
    if (g_ascii_strcasecmp(g_strstrip(values[i]), word) == 0)
      return TRUE;
  return FALSE;
}

/* Makers put words of their own before it: "GSI SCREEN SAVE". word: capitals. */
static gboolean
image_type_contains(const DemurHeader *header, const char *word) {
  g_autofree char *type = g_ascii_strup(header->image_type != NULL ? header->image_type : "", -1);
  return strstr(type, word) != NULL;
}

gboolean
demur_modality_is_ct(const char *modality) {
  return g_strcmp0(modality, "CT") == 0;
}

gboolean
demur_photometric_is_grey(const char *photometric) {
  return photometric == NULL || g_str_has_prefix(photometric, "MONOCHROME");
}

gboolean
demur_image_is_localizer(const DemurHeader *header) {
  return image_type_has(header, "LOCALIZER") || image_type_has(header, "SCOUT");
}

gboolean
demur_image_is_derived(const DemurHeader *header) {
  g_auto(GStrv) values = g_strsplit(header->image_type != NULL ? header->image_type : "", "\\", 2);
  return values[0] != NULL && g_ascii_strcasecmp(g_strstrip(values[0]), "DERIVED") == 0;
}

gboolean
demur_image_is_secondary(const DemurHeader *header) {
  return demur_sop_class_find(header->sop_class_uid) == DEMUR_SOP_SECONDARY_CAPTURE ||
         image_type_contains(header, "SCREEN SAVE");
}

GError *
demur_header_not_an_image(const DemurHeader *header) {
  static const struct {
    DemurSopClass sop_class; /* DEMUR_SOP_OTHER: by the modality alone */
    const char *modality;
    const char *words;
  } others[] = {
      {DEMUR_SOP_DIRECTORY, NULL,
       N_("a directory (DICOMDIR): the files it lists are read themselves")},
      {DEMUR_SOP_STRUCTURED_REPORT, "SR", N_("a structured report (SR)")},
      {DEMUR_SOP_SEGMENTATION, "SEG", N_("a segmentation (SEG), not an image")},
      {DEMUR_SOP_RT_STRUCTURE_SET, "RTSTRUCT", N_("a radiotherapy structure set (RTSTRUCT)")},
      {DEMUR_SOP_RT_PLAN, "RTPLAN", N_("a radiotherapy plan (RTPLAN)")},
      {DEMUR_SOP_RT_DOSE, "RTDOSE", N_("a radiotherapy dose grid (RTDOSE), not an image")},
      {DEMUR_SOP_PRESENTATION_STATE, "PR", N_("a presentation state (PR)")},
      {DEMUR_SOP_DOCUMENT, "DOC", N_("an encapsulated document (DOC)")},
      {DEMUR_SOP_WAVEFORM, "ECG", N_("a waveform")},
      {DEMUR_SOP_OTHER, "KO", N_("a key object selection (KO)")},
      {DEMUR_SOP_OTHER, "REG", N_("a registration (REG)")},
      {DEMUR_SOP_OTHER, "RTRECORD", N_("a radiotherapy record (RTRECORD)")},
  };
  const DemurSopClass sop_class = demur_sop_class_find(header->sop_class_uid);
  for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
    if ((others[i].sop_class == sop_class && sop_class != DEMUR_SOP_OTHER) ||
        (others[i].modality != NULL && g_strcmp0(header->modality, others[i].modality) == 0))
      return demur_error_new(DEMUR_ERROR_UNSUPPORTED, "%s", others[i].words);
  if (header->pixels == DEMUR_PIXELS_ABSENT && (header->rows == 0 || header->columns == 0))
    return header->modality != NULL
               ? demur_error_new(DEMUR_ERROR_UNSUPPORTED,
                                 "a DICOM object without an image (modality %s)", header->modality)
               : demur_error_new(DEMUR_ERROR_UNSUPPORTED, "a DICOM object without an image");
  return NULL;
}

gboolean
demur_header_lacks_its_image(const DemurHeader *header) {
  return header->series_uid != NULL && header->pixels == DEMUR_PIXELS_ABSENT &&
         (header->rows == 0 || header->columns == 0) &&
         (header->sop_class_uid != NULL
              ? demur_sop_class_find(header->sop_class_uid) == DEMUR_SOP_CT
              : demur_modality_is_ct(header->modality));
}

gboolean
demur_header_may_be_cut(const DemurHeader *header) {
  return header->series_uid == NULL && header->pixels == DEMUR_PIXELS_ABSENT &&
         (header->rows == 0 || header->columns == 0) &&
         (header->sop_class_uid == NULL ||
          demur_sop_class_find(header->sop_class_uid) == DEMUR_SOP_CT);
}

gboolean
demur_header_is_lossy(const DemurHeader *header) {
  const DemurTransferSyntax *syntax = demur_transfer_syntax_find(header->transfer_syntax_uid);
  return (syntax != NULL && syntax->lossy) ||
         (header->lossy != NULL && g_str_has_prefix(header->lossy, "01"));
}
