#include "dicom/unit.h"

#include <string.h>

#define HU "HU"

typedef struct {
  const char *word; /* RescaleType, or a value of ImageType */
  const char *unit;
} Unit;

/* PS3.3 C.11.1.1.2: defined terms of RescaleType. */
static const Unit rescale_types[] = {
    {HU, HU},
    {"HU_MOD", "modified Hounsfield units"},
    {"MGML", "mg/ml"},
    {"Z_EFF", "effective atomic numbers"},
    {"ED", "10^23 electrons/ml"},
    {"EDW", "electron density relative to water"},
    {"PCT", "%"},
    {"OD", "optical density / 1000"},
    {"US", "unspecified"},
};

/* PS3.3 C.8.15.3.1.4 and the multi-energy terms of C.8.2.1.1.1. */
static const Unit image_types[] = {
    {"MAT_SPECIFIC", "amounts of a material"},
    {"MAT_FRACTIONAL", "fractions of a material"},
    {"MAT_VALUE_BASED", "values of a material"},
    {"MAT_REMOVED", "modified Hounsfield units"},
    {"MAT_MODIFIED", "modified Hounsfield units"},
    {"EFF_ATOMIC_NUM", "effective atomic numbers"},
    {"ELECTRON_DENSITY", "electron densities"},
    {"PHOTOELECTRIC", "photoelectric attenuation"},
    {"COMPTON", "Compton scatter"},
    {"STOPPING_POWER", "stopping power"},
    {"PERFUSION", "perfusion"},
    {"RCBV", "blood volume"},
    {"RCBF", "blood flow"},
    {"MTT", "transit times"},
    {"TTP", "times to peak"},
};

static const char *const mono_energetic[] = {"VMI", "MONO", "MONOENERGETIC", "DE_MONO"};

static const char *const spectral_words[] = {
    "iodine map",
    "iodine density",
    "iodine no water",
    "iodine(water)",
    "z effective",
    "z-effective",
    "zeff",
    "z-eff",
    "effective z",
    "electron density",
    "virtual non",
    "vnc",
    "monoe",
    "mono-energetic",
    "mono energetic",
    "uric acid",
    "calcium suppr",
    "perfused blood",
    "water(iodine)",
    "fat map",
    "material density",
    "photoelectric",
};

static gboolean
has_value(char **values, const char *word) {
  for (guint i = 0; values[i] != NULL; i++)
    if (g_ascii_strcasecmp(g_strstrip(values[i]), word) == 0)
      return TRUE;
  return FALSE;
}

gboolean
demur_rescale_type_is_hu(const char *rescale_type) {
  return rescale_type == NULL || g_ascii_strcasecmp(rescale_type, HU) == 0;
}

void
demur_unit_fill(DemurSeries *series, const char *rescale_type, const char *image_type,
                const char *energy, const char *description) {
  g_auto(GStrv) values = g_strsplit(image_type != NULL ? image_type : "", "\\", -1);
  g_autofree char *lower = g_utf8_strdown(description != NULL ? description : "", -1);
  if (!demur_rescale_type_is_hu(rescale_type)) {
    series->unit = g_strdup(rescale_type);
    for (size_t i = 0; i < G_N_ELEMENTS(rescale_types); i++)
      if (g_ascii_strcasecmp(rescale_type, rescale_types[i].word) == 0) {
        g_free(series->unit);
        series->unit = g_strdup(rescale_types[i].unit);
      }
    series->unit_from = g_strdup_printf("RescaleType %s", rescale_type);
  }
  for (size_t i = 0; i < G_N_ELEMENTS(image_types) && series->unit == NULL; i++)
    if (has_value(values, image_types[i].word)) {
      series->unit = g_strdup(image_types[i].unit);
      series->unit_from = g_strdup_printf("ImageType %s", image_types[i].word);
    }
  if (series->unit == NULL)
    series->unit = g_strdup(HU);
  if (energy != NULL)
    series->mono_energetic = g_strdup_printf("%s keV", energy);
  for (size_t i = 0; i < G_N_ELEMENTS(mono_energetic) && series->mono_energetic == NULL; i++)
    if (has_value(values, mono_energetic[i]))
      series->mono_energetic = g_strdup_printf("ImageType %s", mono_energetic[i]);
  const gboolean told = series->unit_from != NULL || series->mono_energetic != NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(spectral_words) && !told && series->spectral_words == NULL;
       i++)
    if (strstr(lower, spectral_words[i]) != NULL)
      series->spectral_words = g_strdup(spectral_words[i]);
}

gboolean
demur_unit_is_hu(const char *unit) {
  return g_strcmp0(unit, HU) == 0;
}
