#include "dicom/deidentify-values.h"
#include "base/number.h"
#include "base/vendor.h"

#include <math.h>
#include <string.h>

#define MAX_VALUES 8
#define MAX_NUMBER 1e7

/* Sorted by nothing: what CS attributes of CT images hold, word by word. */
static const char *const code_words[] = {
    /* image and frame type */
    "ORIGINAL",
    "DERIVED",
    "PRIMARY",
    "SECONDARY",
    "AXIAL",
    "LOCALIZER",
    "SCOUT",
    "VOLUME",
    "REFORMATTED",
    "RESAMPLED",
    "MPR",
    "MIP",
    "MINIP",
    "AVERAGE",
    "MAX",
    "MIN",
    "MEAN",
    "SUM",
    "NONE",
    "MIXED",
    "SAMPLED",
    "DISTORTED",
    "MAX_IP",
    "MIN_IP",
    "MEAN_IP",
    "VOLUME_RENDER",
    "SURFACE_RENDER",
    "CT_SOM5",
    "CT_SOM6",
    "CT_SOM7",
    "CT_SOM8",
    "SPI",
    "SEQ",
    "TOP",
    "DUAL",
    "HELIX",
    "HELICAL",
    "SPIRAL",
    "SEQUENCE",
    "SEQUENCED",
    "STATIONARY",
    "FREE",
    "CONSTANT_ANGLE",
    "CINE",
    "DYNAMIC",
    "PERFUSION",
    "ANGIO",
    "CARDIAC",
    "GATED",
    "OTHER",
    "STANDARD",
    "COLOR",
    "MONOCHROME",
    "VMI",
    "MAT_SPECIFIC",
    "MAT_REMOVED",
    "MAT_MODIFIED",
    "MAT_FRACTIONAL",
    "MAT_VALUE_BASED",
    "EFF_ATOMIC_NUM",
    "ELECTRON_DENSITY",
    "CONTRAST",
    "MODE",
    "SURVEY",
    "PROSPECTIVE",
    "RETROSPECTIVE",
    "TILT",
    "AUTO",
    "MANUAL",
    "FIXED",
    "INCREMENTAL",
    "STEP",
    /* position, direction, presentation */
    "CT",
    "HFS",
    "FFS",
    "HFP",
    "FFP",
    "HFDR",
    "HFDL",
    "FFDR",
    "FFDL",
    "CW",
    "CC",
    "L",
    "R",
    "U",
    "B",
    "M",
    "YES",
    "NO",
    "ON",
    "OFF",
    "MONOCHROME1",
    "MONOCHROME2",
    "IDENTITY",
    "INVERSE",
    "LINEAR",
    "LINEAR_EXACT",
    "SIGMOID",
    "TRUE",
    "TRUE_COLOR",
    "PRODUCT",
    "RESEARCH",
    "SERVICE",
    "00",
    "01",
    "ISO_10918_1",
    "ISO_14495_1",
    "ISO_15444_1",
    "ISO_15444_15",
    "ROUND",
    "RECTANGLE",
    "HEXAGONAL",
    "PARALLEL",
    "CROSSED",
    "FAN",
    "PREPATIENT",
    "POSTDETECTOR",
    /* units, reconstruction, exposure */
    "HU",
    "US",
    "HU_MOD",
    "MGML",
    "PCT",
    "Z_EFF",
    "ED",
    "EDW",
    "OD",
    "FILTER_BACK_PROJ",
    "ITERATIVE",
    "SEGMENT",
    "WEDGE",
    "BUTTERFLY",
    "FLAT",
    "STRIP",
    "MULTIPLE",
    "ALUMINUM",
    "COPPER",
    "BERYLLIUM",
    "TITANIUM",
    "TIN",
    "LEAD",
    "CARBON",
    "TEFLON",
    "AEC",
    "ANGULAR",
    "LONGITUDINAL",
    "ORGAN_BASED",
    "ECG",
    "BRAIN",
    "SOFT",
    "SOFT_TISSUE",
    "BONE",
    "LUNG",
    "END_SYSTOLE",
    "END_DIASTOLE",
    "UNDETERMINED",
    "START_RESPIR",
    "END_RESPIR",
    "INSPIRATION",
    "EXPIRATION",
    "REALTIME",
    "BREATH_HOLD",
    "TRIGGER",
    "BREATHING",
    "CINE_NONE",
    /* body parts */
    "CHEST",
    "THORAX",
    "TORSO",
    "ABDOMEN",
    "PELVIS",
    "HEAD",
    "NECK",
    "SKULL",
    "FACE",
    "SINUS",
    "ORBIT",
    "EAR",
    "JAW",
    "MAXILLA",
    "SPINE",
    "CSPINE",
    "TSPINE",
    "LSPINE",
    "SSPINE",
    "COCCYX",
    "HEART",
    "AORTA",
    "LIVER",
    "KIDNEY",
    "PANCREAS",
    "SPLEEN",
    "BLADDER",
    "PROSTATE",
    "UTERUS",
    "COLON",
    "RECTUM",
    "BREAST",
    "ARM",
    "ELBOW",
    "WRIST",
    "HAND",
    "FINGER",
    "SHOULDER",
    "CLAVICLE",
    "HUMERUS",
    "LEG",
    "KNEE",
    "HIP",
    "ANKLE",
    "FOOT",
    "TOE",
    "FEMUR",
    "TIBIA",
    "EXTREMITY",
    "WHOLEBODY",
    "CHESTABDPELVIS",
    "ABDOMENPELVIS",
    "CHESTABDOMEN",
    "NECKCHEST",
    "HEADNECK",
    "CAROTID",
    "TRACHEA",
    "RIB",
    "STERNUM",
    "PARTIALBODY",
    "LOWEREXTREMITY",
    "UPPEREXTREMITY",
};

static const char *const kernel_names[] = {
    "SOFT",      "STANDARD", "STND",     "STD",    "STD+",    "CHST",    "CHEST",   "DETAIL",
    "LUNG",      "BONE",     "BONEPLUS", "EDGE",   "ULTRA",   "HD LUNG", "HD STND", "HD BONE",
    "HD DETAIL", "HD EDGE",  "HD SOFT",  "HD STD", "HD STD+", "A",       "B",       "C",
    "D",         "E",        "F",        "L",      "YA",      "YB",      "YC",      "YD",
    "UA",        "UB",       "UC",       "UD",     "EA",      "EB",      "EC",      "ED",
    "XCA",       "XCB",      "XCC",      "XCD",    "SMOOTH",  "SHARP",   "BODY",    "BRAIN",
};

static const char *const filter_names[] = {
    "NONE",        "FLAT",          "WEDGE",        "WEDGE_2",      "WEDGE_3",   "BODY FILTER",
    "HEAD FILTER", "MEDIUM FILTER", "SMALL FILTER", "LARGE FILTER", "BUTTERFLY", "BOWTIE",
    "LARGE",       "MEDIUM",        "SMALL",        "BODY",         "HEAD",      "LARGE BODY",
    "MEDIUM BODY", "SMALL BODY",    "CARDIAC",      "AIR",          "ALUMINUM",  "TIN",
};

static gboolean
is_among(const char *const *words, size_t n, const char *word) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(words[i], word) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_small_number(const char *text) {
  const size_t n = strlen(text);
  return n >= 1 && n <= 2 && strspn(text, "0123456789") == n;
}

static gboolean
is_number(const char *text) {
  double value;
  const size_t n = strlen(text);
  return n <= 16 && strspn(text, "0123456789+-.eE") == n && demur_number_parse(text, n, &value) &&
         fabs(value) <= MAX_NUMBER;
}

static gboolean
is_code(const char *text) {
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  for (guint i = 0; words[i] != NULL; i++)
    if (!is_among(code_words, G_N_ELEMENTS(code_words), words[i]) && !is_small_number(words[i]))
      return FALSE;
  return words[0] != NULL;
}

static gboolean
is_kernel(const char *text) {
  g_autofree char *upper = g_ascii_strup(text, -1);
  if (is_among(kernel_names, G_N_ELEMENTS(kernel_names), upper) || is_small_number(text))
    return TRUE;
  const char *at = text;
  size_t n = 0;
  while (g_ascii_isalpha(*at) && n < 2)
    at++, n++;
  const size_t letters = n;
  for (n = 0; g_ascii_isdigit(*at) && n < 3; n++)
    at++;
  const size_t digits = n;
  for (n = 0; g_ascii_isalpha(*at) && n < 2; n++)
    at++;
  return letters >= 1 && digits >= 1 && *at == '\0';
}

static gboolean
is_filter(const char *text) {
  return is_among(filter_names, G_N_ELEMENTS(filter_names), text) || is_small_number(text);
}

/* Empties the values that may not stay. */
static char *
keep_values(const char *text, gboolean (*may_stay)(const char *value)) {
  g_auto(GStrv) values = g_strsplit(text, "\\", -1);
  guint n_kept = 0, n = 0;
  for (; values[n] != NULL; n++) {
    g_strstrip(values[n]);
    const gboolean kept = *values[n] != '\0' && may_stay(values[n]);
    n_kept += kept ? 1 : 0;
    if (!kept)
      *values[n] = '\0';
  }
  return n_kept > 0 && n <= MAX_VALUES ? g_strjoinv("\\", values) : g_strdup("");
}

char *
demur_deidentify_numbers(const char *text) {
  return keep_values(text, is_number);
}

char *
demur_deidentify_codes(const char *text) {
  return keep_values(text, is_code);
}

char *
demur_deidentify_kernel(const char *text) {
  return keep_values(text, is_kernel);
}

char *
demur_deidentify_filter(const char *text) {
  return keep_values(text, is_filter);
}

char *
demur_deidentify_vendor(const char *text) {
  const char *name = demur_vendor_normalise(text);
  return g_strdup(name != NULL ? name : "");
}

char *
demur_deidentify_model(const char *manufacturer, const char *model) {
  const char *family = demur_vendor_model_family(demur_vendor_normalise(manufacturer), model);
  return g_strdup(family != NULL ? family : "");
}

gboolean
demur_deidentify_is_plain(double value) {
  const double size = fabs(value);
  return isfinite(value) && (size == 0 || (size >= 1e-6 && size <= MAX_NUMBER));
}

/* Days from an arbitrary one; FALSE where text does not begin with a date. */
static gboolean
parse_date(const char *text, gint64 *days) {
  int digits[8];
  for (int i = 0; i < 8; i++) {
    if (!g_ascii_isdigit(text[i]))
      return FALSE;
    digits[i] = text[i] - '0';
  }
  const guint year = (guint)(1000 * digits[0] + 100 * digits[1] + 10 * digits[2] + digits[3]);
  const guint month = (guint)(10 * digits[4] + digits[5]),
              day = (guint)(10 * digits[6] + digits[7]);
  if (year < 1000 || !g_date_valid_dmy((GDateDay)day, (GDateMonth)month, (GDateYear)year))
    return FALSE;
  g_autofree GDate *date = g_date_new_dmy((GDateDay)day, (GDateMonth)month, (GDateYear)year);
  *days = g_date_get_julian(date);
  return TRUE;
}

/* Whole seconds of the day, and where the fraction begins (its point, or the end). FALSE where text
 * is no time. */
static gboolean
parse_time(const char *text, gint64 *seconds, const char **fraction) {
  static const int limits[] = {23, 59, 60}, weights[] = {3600, 60, 1};
  *seconds = 0;
  int part = 0;
  for (; part < 3 && g_ascii_isdigit(text[0]) && g_ascii_isdigit(text[1]); part++, text += 2) {
    const int value = 10 * (text[0] - '0') + text[1] - '0';
    if (value > limits[part])
      return FALSE;
    *seconds += value * weights[part];
  }
  *fraction = text;
  const size_t n = *text == '.' ? 1 + strspn(text + 1, "0123456789") : 0;
  return part > 0 && n <= 7 && n != 1 && (n == 0 || part == 3) && text[n] == '\0';
}

static char *
date_text(gint64 days) {
  g_autofree GDate *date = g_date_new_julian((guint32)days);
  return g_strdup_printf("%04u%02u%02u", g_date_get_year(date), (guint)g_date_get_month(date),
                         g_date_get_day(date));
}

static char *
time_text(gint64 seconds, const char *fraction) {
  return g_strdup_printf("%02d%02d%02d%s", (int)(seconds / 3600), (int)(seconds / 60 % 60),
                         (int)(seconds % 60), fraction);
}

void
demur_deidentify_shift(const char *date, const char *time, guint days, guint seconds,
                       char **new_date, char **new_time) {
  gint64 day = 0, second = 0;
  const char *fraction = "";
  g_autofree char *date_stripped = g_strstrip(g_strdup(date != NULL ? date : ""));
  g_autofree char *time_stripped = g_strstrip(g_strdup(time != NULL ? time : ""));
  const gboolean has_date = strlen(date_stripped) == 8 && parse_date(date_stripped, &day);
  const gboolean has_time = parse_time(time_stripped, &second, &fraction);
  day -= days;
  second -= has_time ? (gint64)seconds : 0;
  if (second < 0) {
    second += 86400;
    day--;
  }
  *new_date = has_date && day > 0 ? date_text(day) : g_strdup("");
  *new_time = has_time ? time_text(MIN(second, 86399), fraction) : g_strdup("");
}

char *
demur_deidentify_shift_moment(const char *moment, guint days, guint seconds) {
  g_autofree char *text = g_strstrip(g_strdup(moment));
  text[strcspn(text, "+-")] = '\0'; /* the offset from UTC */
  g_autofree char *date = g_strndup(text, 8);
  g_autofree char *new_date = NULL, *new_time = NULL;
  demur_deidentify_shift(date, strlen(text) > 8 ? text + 8 : NULL, days, seconds, &new_date,
                         &new_time);
  if (*new_date == '\0' || (strlen(text) > 8 && *new_time == '\0'))
    return g_strdup("");
  return g_strconcat(new_date, new_time, NULL);
}
