#include "base/vendor.h"

#include <stdlib.h>
#include <string.h>

/* Letters and digits only, lower case: "CANON_MEC" and "Canon Mec." are one. */
static char *
squeezed(const char *text) {
  GString *out = g_string_new(NULL);
  for (const char *p = text; p != NULL && *p != '\0'; p++)
    if (g_ascii_isalnum(*p))
      g_string_append_c(out, g_ascii_tolower(*p));
  return g_string_free(out, FALSE);
}

const char *
demur_vendor_normalise(const char *manufacturer) {
  static const struct {
    const char *prefix, *name;
  } known[] = {
      {"gemedical", "GE"},
      {"gehealthcare", "GE"},
      {"generalelectric", "GE"},
      {"gems", "GE"},
      {"siemens", "Siemens"},
      {"philips", "Philips"},
      {"marconi", "Philips"},
      {"picker", "Philips"},
      {"elscint", "Philips"},
      {"toshiba", "Canon"},
      {"canon", "Canon"},
      {"hitachi", "Fujifilm"},
      {"fujifilm", "Fujifilm"},
      {"fuji", "Fujifilm"},
      {"unitedimaging", "United Imaging"},
      {"uih", "United Imaging"},
      {"shanghaiunited", "United Imaging"},
      {"neusoft", "Neusoft"},
      {"samsung", "Samsung"},
      {"neurologica", "Samsung"},
      {"shimadzu", "Shimadzu"},
  };
  g_autofree char *key = squeezed(manufacturer);
  if (strcmp(key, "ge") == 0)
    return "GE";
  for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
    if (g_str_has_prefix(key, known[i].prefix))
      return known[i].name;
  return NULL;
}

const char *
demur_vendor_model_family(const char *manufacturer_name, const char *model) {
  static const struct {
    const char *manufacturer, *part, *family;
  } known[] = {
      {"Siemens", "emotion", "SOMATOM Emotion"},
      {"Siemens", "sensation", "SOMATOM Sensation"},
      {"Siemens", "definition", "SOMATOM Definition"},
      {"Siemens", "somatomforce", "SOMATOM Force"},
      {"Siemens", "drive", "SOMATOM Drive"},
      {"Siemens", "perspective", "SOMATOM Perspective"},
      {"Siemens", "spirit", "SOMATOM Spirit"},
      {"Siemens", "volumezoom", "SOMATOM Volume Zoom"},
      {"Siemens", "goup", "SOMATOM go"},
      {"Siemens", "gotop", "SOMATOM go"},
      {"Siemens", "gonow", "SOMATOM go"},
      {"Siemens", "goall", "SOMATOM go"},
      {"Siemens", "xcite", "SOMATOM X"},
      {"Siemens", "xceed", "SOMATOM X"},
      {"Siemens", "naeotom", "NAEOTOM Alpha"},
      {"Siemens", "biograph", "Biograph"},
      {"GE", "lightspeed", "LightSpeed"},
      {"GE", "brightspeed", "BrightSpeed"},
      {"GE", "hispeed", "HiSpeed"},
      {"GE", "optima", "Optima"},
      {"GE", "revolution", "Revolution"},
      {"GE", "discovery", "Discovery"},
      {"Philips", "ingenuity", "Ingenuity"},
      {"Philips", "ict", "iCT"},
      {"Philips", "iqon", "IQon"},
      {"Philips", "spectralct", "Spectral CT"},
      {"Philips", "brilliance", "Brilliance"},
      {"Philips", "mx8000", "MX8000"},
      {"Philips", "incisive", "Incisive"},
      {"Philips", "gemini", "Gemini"},
      {"Canon", "aquilion", "Aquilion"},
      {"Canon", "asteion", "Asteion"},
      {"Canon", "activion", "Activion"},
      {"Canon", "alexion", "Alexion"},
      {"Fujifilm", "scenaria", "Scenaria"},
      {"Fujifilm", "supria", "Supria"},
      {"United Imaging", "uct", "uCT"},
      {"Neusoft", "neuviz", "NeuViz"},
  };
  if (manufacturer_name == NULL || model == NULL)
    return NULL;
  g_autofree char *key = squeezed(model);
  for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
    if (strcmp(known[i].manufacturer, manufacturer_name) == 0 && strstr(key, known[i].part) != NULL)
      return known[i].family;
  return NULL;
}

static char *
first_value(const char *kernel) {
  const char *end = kernel != NULL ? strchr(kernel, '\\') : NULL;
  return end != NULL ? g_strstrip(g_strndup(kernel, (gsize)(end - kernel)))
                     : g_strstrip(g_strdup(kernel != NULL ? kernel : ""));
}

char *
demur_vendor_kernel_family(const char *kernel) {
  if (kernel == NULL)
    return NULL;
  g_autofree char *text = first_value(kernel);
  const size_t letters = strcspn(text, "0123456789");
  return letters > 0 ? g_strstrip(g_strndup(text, letters)) : g_steal_pointer(&text);
}

typedef struct {
  const char *name;
  DemurKernelClass sharpness;
} NamedKernel;

static DemurKernelClass
named(const NamedKernel *table, size_t n, const char *kernel) {
  for (size_t i = 0; i < n; i++)
    if (g_ascii_strcasecmp(table[i].name, kernel) == 0)
      return table[i].sharpness;
  return DEMUR_KERNEL_UNKNOWN;
}

DemurKernelClass
demur_vendor_kernel_class(const char *manufacturer_name, const char *kernel) {
  static const NamedKernel ge[] = {
      {"SOFT", DEMUR_KERNEL_SOFT},        {"STANDARD", DEMUR_KERNEL_STANDARD},
      {"STND", DEMUR_KERNEL_STANDARD},    {"STD", DEMUR_KERNEL_STANDARD},
      {"STD+", DEMUR_KERNEL_STANDARD},    {"CHST", DEMUR_KERNEL_STANDARD},
      {"CHEST", DEMUR_KERNEL_STANDARD},   {"DETAIL", DEMUR_KERNEL_STANDARD},
      {"LUNG", DEMUR_KERNEL_SHARP},       {"BONE", DEMUR_KERNEL_SHARP},
      {"BONEPLUS", DEMUR_KERNEL_SHARP},   {"EDGE", DEMUR_KERNEL_SHARP},
      {"ULTRA", DEMUR_KERNEL_SHARP},      {"HD LUNG", DEMUR_KERNEL_SHARP},
      {"HD STND", DEMUR_KERNEL_STANDARD},
  };
  static const NamedKernel philips[] = {
      {"A", DEMUR_KERNEL_SOFT},      {"B", DEMUR_KERNEL_STANDARD}, {"C", DEMUR_KERNEL_STANDARD},
      {"D", DEMUR_KERNEL_SHARP},     {"E", DEMUR_KERNEL_SHARP},    {"L", DEMUR_KERNEL_SHARP},
      {"YA", DEMUR_KERNEL_SHARP},    {"YB", DEMUR_KERNEL_SHARP},   {"YC", DEMUR_KERNEL_SHARP},
      {"YD", DEMUR_KERNEL_SHARP},    {"UA", DEMUR_KERNEL_SOFT},    {"UB", DEMUR_KERNEL_STANDARD},
      {"UC", DEMUR_KERNEL_STANDARD}, {"UD", DEMUR_KERNEL_SHARP},
  };
  if (manufacturer_name == NULL || kernel == NULL)
    return DEMUR_KERNEL_UNKNOWN;
  g_autofree char *text = first_value(kernel);
  if (strcmp(manufacturer_name, "GE") == 0)
    return named(ge, G_N_ELEMENTS(ge), text);
  if (strcmp(manufacturer_name, "Philips") == 0)
    return named(philips, G_N_ELEMENTS(philips), text);
  const size_t letters = strcspn(text, "0123456789");
  if (text[letters] == '\0')
    return DEMUR_KERNEL_UNKNOWN;
  const long number = strtol(text + letters, NULL, 10);
  if (strcmp(manufacturer_name, "Siemens") == 0 && letters > 0)
    return number <= 36  ? DEMUR_KERNEL_SOFT
           : number < 50 ? DEMUR_KERNEL_STANDARD
                         : DEMUR_KERNEL_SHARP;
  if (strcmp(manufacturer_name, "Canon") == 0 && g_ascii_strncasecmp(text, "FC", 2) == 0) {
    /* FC01-05 and 11-15 are body kernels that grow sharper; FC3x bone, FC5x lung, FC8x high
     * definition. */
    if (number >= 30)
      return DEMUR_KERNEL_SHARP;
    const long step = number % 10;
    return step <= 2 ? DEMUR_KERNEL_SOFT : DEMUR_KERNEL_STANDARD;
  }
  return DEMUR_KERNEL_UNKNOWN;
}

const char *
demur_vendor_kernel_class_name(DemurKernelClass sharpness) {
  switch (sharpness) {
  case DEMUR_KERNEL_SOFT:
    return "soft";
  case DEMUR_KERNEL_STANDARD:
    return "standard";
  case DEMUR_KERNEL_SHARP:
    return "sharp";
  case DEMUR_KERNEL_UNKNOWN:
    break;
  }
  return NULL;
}
