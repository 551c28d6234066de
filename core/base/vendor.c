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

typedef enum {
  GE,
  SIEMENS,
  PHILIPS,
  CANON,
  FUJIFILM,
  UNITED_IMAGING,
  NEUSOFT,
  SAMSUNG,
  SHIMADZU,
  N_VENDORS, /* or another */
} Vendor;

static const char *const vendor_names[N_VENDORS] = {
    [GE] = "GE",           [SIEMENS] = "Siemens",   [PHILIPS] = "Philips",
    [CANON] = "Canon",     [FUJIFILM] = "Fujifilm", [UNITED_IMAGING] = "United Imaging",
    [NEUSOFT] = "Neusoft", [SAMSUNG] = "Samsung",   [SHIMADZU] = "Shimadzu",
};

/* Of a name as above; NULL and any other: N_VENDORS. */
static Vendor
vendor_of(const char *name) {
  int vendor = 0;
  while (vendor < N_VENDORS && g_strcmp0(name, vendor_names[vendor]) != 0)
    vendor++;
  return (Vendor)vendor;
}

const char *
demur_vendor_normalise(const char *manufacturer) {
  static const struct {
    const char *prefix; /* of the squeezed text; the whole of it where it has two letters */
    Vendor vendor;
  } known[] = {
      {"ge", GE},
      {"gemedical", GE},
      {"gehealthcare", GE},
      {"generalelectric", GE},
      {"gems", GE},
      {"siemens", SIEMENS},
      {"philips", PHILIPS},
      {"marconi", PHILIPS},
      {"picker", PHILIPS},
      {"elscint", PHILIPS},
      {"toshiba", CANON},
      {"canon", CANON},
      {"hitachi", FUJIFILM},
      {"fujifilm", FUJIFILM},
      {"fuji", FUJIFILM},
      {"unitedimaging", UNITED_IMAGING},
      {"uih", UNITED_IMAGING},
      {"shanghaiunited", UNITED_IMAGING},
      {"neusoft", NEUSOFT},
      {"samsung", SAMSUNG},
      {"neurologica", SAMSUNG},
      {"shimadzu", SHIMADZU},
  };
  g_autofree char *key = squeezed(manufacturer);
  for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
    if (strlen(known[i].prefix) == 2 ? strcmp(key, known[i].prefix) == 0
                                     : g_str_has_prefix(key, known[i].prefix))
      return vendor_names[known[i].vendor];
  return NULL;
}

const char *
demur_vendor_model_family(const char *manufacturer_name, const char *model) {
  static const struct {
    Vendor vendor;
    const char *part, *family;
  } known[] = {
      {SIEMENS, "emotion", "SOMATOM Emotion"},
      {SIEMENS, "sensation", "SOMATOM Sensation"},
      {SIEMENS, "definition", "SOMATOM Definition"},
      {SIEMENS, "somatomforce", "SOMATOM Force"},
      {SIEMENS, "drive", "SOMATOM Drive"},
      {SIEMENS, "perspective", "SOMATOM Perspective"},
      {SIEMENS, "spirit", "SOMATOM Spirit"},
      {SIEMENS, "volumezoom", "SOMATOM Volume Zoom"},
      {SIEMENS, "goup", "SOMATOM go"},
      {SIEMENS, "gotop", "SOMATOM go"},
      {SIEMENS, "gonow", "SOMATOM go"},
      {SIEMENS, "goall", "SOMATOM go"},
      {SIEMENS, "xcite", "SOMATOM X"},
      {SIEMENS, "xceed", "SOMATOM X"},
      {SIEMENS, "naeotom", "NAEOTOM Alpha"},
      {SIEMENS, "biograph", "Biograph"},
      {GE, "lightspeed", "LightSpeed"},
      {GE, "brightspeed", "BrightSpeed"},
      {GE, "hispeed", "HiSpeed"},
      {GE, "optima", "Optima"},
      {GE, "revolution", "Revolution"},
      {GE, "discovery", "Discovery"},
      {PHILIPS, "ingenuity", "Ingenuity"},
      {PHILIPS, "ict", "iCT"},
      {PHILIPS, "iqon", "IQon"},
      {PHILIPS, "spectralct", "Spectral CT"},
      {PHILIPS, "brilliance", "Brilliance"},
      {PHILIPS, "mx8000", "MX8000"},
      {PHILIPS, "incisive", "Incisive"},
      {PHILIPS, "gemini", "Gemini"},
      {CANON, "aquilion", "Aquilion"},
      {CANON, "asteion", "Asteion"},
      {CANON, "activion", "Activion"},
      {CANON, "alexion", "Alexion"},
      {FUJIFILM, "scenaria", "Scenaria"},
      {FUJIFILM, "supria", "Supria"},
      {UNITED_IMAGING, "uct", "uCT"},
      {NEUSOFT, "neuviz", "NeuViz"},
  };
  const Vendor vendor = vendor_of(manufacturer_name);
  if (vendor == N_VENDORS || model == NULL)
    return NULL;
  g_autofree char *key = squeezed(model);
  for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
    if (known[i].vendor == vendor && strstr(key, known[i].part) != NULL)
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
  const Vendor vendor = vendor_of(manufacturer_name);
  if (vendor == N_VENDORS || kernel == NULL)
    return DEMUR_KERNEL_UNKNOWN;
  g_autofree char *text = first_value(kernel);
  if (vendor == GE)
    return named(ge, G_N_ELEMENTS(ge), text);
  if (vendor == PHILIPS)
    return named(philips, G_N_ELEMENTS(philips), text);
  const size_t letters = strcspn(text, "0123456789");
  if (text[letters] == '\0')
    return DEMUR_KERNEL_UNKNOWN;
  const long number = strtol(text + letters, NULL, 10);
  if (vendor == SIEMENS && letters > 0)
    return number <= 36  ? DEMUR_KERNEL_SOFT
           : number < 50 ? DEMUR_KERNEL_STANDARD
                         : DEMUR_KERNEL_SHARP;
  if (vendor == CANON && g_ascii_strncasecmp(text, "FC", 2) == 0) {
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
