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

/* Words that makers put into ImageType, alone or with others ("IODINE_MAP", "GSI_VUE"); capitals,
 * letters and digits alone. */
static const Unit makers_words[] = {
    {"IODINE", "amounts of a material"},
    {"IODINEMAP", "amounts of a material"},
    {"IODKARTE", "amounts of a material"},
    {"JODKARTE", "amounts of a material"},
    {"MD", "amounts of a material"}, /* material density: MD_WATER, MD_IODINE, MD_CALCIUM .. */
    {"VNC", "modified Hounsfield units"},
    {"VNCA", "modified Hounsfield units"},
    {"VNI", "modified Hounsfield units"},
    {"VUE", "modified Hounsfield units"},
    {"ZEFF", "effective atomic numbers"},
    {"ZEFFECTIVE", "effective atomic numbers"},
    {"RHO", "electron densities"},
    {"RHOZ", "electron densities"},
    {"ELECTRONDENSITY", "electron densities"},
    {"PBV", "perfusion"},
    {"URICACID", "amounts of a material"},
};

/* A word of ImageType that is one of these, with or without the energy behind it (MONO, MONOE_70, MONOPLUS40,
 * VMI70KEV), or an energy alone (70KEV). MONOTONE and the photometric MONOCHROME2 are none. */
static const char *const mono_words[] = {"VMI",           "VMIPLUS",          "MONO",
                                         "MONOE",         "MONOPLUS",         "MONOCHROMATIC",
                                         "MONOENERGETIC", "MONOENERGETICPLUS"};
static const char energy_unit[] = "KEV";

static const char *const spectral_words[] = {
    "iodine map",
    "iodine(",
    "iodine (",
    "iodine-",
    "jodkarte",
    "iodkarte",
    "mono+",
    "monoplus",
    "monochromatic",
    "0 kev",
    "0kev",
    "5 kev",
    "5kev",
    "virtuell nativ",
    "virtuelle nativ",
    "rho/z",
    "z eff",
    "pbv",
    "lung perfused",
    "electronic density",
    "elektronendichte",
    "material decomp",
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

/* The words of the values in capitals, and each value as one word. */
static GPtrArray *
words_of(char **values) {
  GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; values[i] != NULL; i++) {
    g_autofree char *upper = g_ascii_strup(values[i], -1);
    GString *whole = g_string_new(NULL), *word = g_string_new(NULL);
    for (const char *c = upper;; c++) {
      if (g_ascii_isalnum(*c)) {
        g_string_append_c(whole, *c);
        g_string_append_c(word, *c);
        continue;
      }
      g_ptr_array_add(words, g_strdup(word->str));
      g_string_truncate(word, 0);
      if (*c == '\0')
        break;
    }
    g_string_free(word, TRUE);
    g_ptr_array_add(words, g_string_free(whole, FALSE));
  }
  return words;
}

static gboolean
has_word(const GPtrArray *words, const char *word) {
  for (guint i = 0; i < words->len; i++)
    if (strcmp(words->pdata[i], word) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_mono_energetic(const char *word) {
  for (size_t i = 0; i < G_N_ELEMENTS(mono_words); i++) {
    if (!g_str_has_prefix(word, mono_words[i]))
      continue;
    const char *energy = word + strlen(mono_words[i]);
    energy += strspn(energy, "0123456789");
    if (*energy == '\0' || strcmp(energy, energy_unit) == 0)
      return TRUE;
  }
  return g_str_has_suffix(word, energy_unit);
}

static const char *
find_mono_energetic(const GPtrArray *words) {
  for (guint i = 0; i < words->len; i++)
    if (is_mono_energetic(words->pdata[i]))
      return words->pdata[i];
  return NULL;
}

static gboolean
rescale_type_is_hu(const char *rescale_type) {
  return rescale_type == NULL || g_ascii_strcasecmp(rescale_type, HU) == 0;
}

gboolean
demur_unit_is_told(const DemurUnitFacts *facts) {
  return !rescale_type_is_hu(facts->rescale_type) || facts->lut_type != NULL ||
         (facts->rescale_type == NULL && facts->real_world_unit != NULL);
}

/* The unit in words, of a defined term, or as it is written. */
static const char *
unit_of_term(const char *term) {
  for (size_t i = 0; i < G_N_ELEMENTS(rescale_types); i++)
    if (g_ascii_strcasecmp(term, rescale_types[i].word) == 0)
      return rescale_types[i].unit;
  return term;
}

static void
fill_told(DemurSeries *series, const DemurUnitFacts *facts) {
  if (!rescale_type_is_hu(facts->rescale_type)) {
    series->unit = g_strdup(unit_of_term(facts->rescale_type));
    series->unit_from = g_strdup_printf("RescaleType %s", facts->rescale_type);
  } else if (facts->lut_type != NULL) {
    const gboolean named = *facts->lut_type != '\0' && !rescale_type_is_hu(facts->lut_type);
    series->unit = g_strdup(named ? unit_of_term(facts->lut_type) : "entries of a table");
    series->unit_from = g_strdup("ModalityLUTSequence");
  } else {
    series->unit = g_strdup(facts->real_world_unit);
    series->unit_from = g_strdup("RealWorldValueMappingSequence");
  }
}

static void
fill_by_image_type(DemurSeries *series, char **values, const GPtrArray *words) {
  for (size_t i = 0; i < G_N_ELEMENTS(image_types) && series->unit == NULL; i++)
    if (has_value(values, image_types[i].word)) {
      series->unit = g_strdup(image_types[i].unit);
      series->unit_from = g_strdup_printf("ImageType %s", image_types[i].word);
    }
  for (size_t i = 0; i < G_N_ELEMENTS(makers_words) && series->unit == NULL; i++)
    if (has_word(words, makers_words[i].word)) {
      series->unit = g_strdup(makers_words[i].unit);
      series->unit_from = g_strdup_printf("ImageType %s", makers_words[i].word);
    }
}

void
demur_unit_fill(DemurSeries *series, const DemurUnitFacts *facts) {
  g_auto(GStrv) values = g_strsplit(facts->image_type != NULL ? facts->image_type : "", "\\", -1);
  g_autoptr(GPtrArray) words = words_of(values);
  g_autofree char *lower = g_utf8_strdown(facts->description != NULL ? facts->description : "", -1);
  if (demur_unit_is_told(facts))
    fill_told(series, facts);
  fill_by_image_type(series, values, words);
  if (series->unit == NULL)
    series->unit = g_strdup(HU);
  const char *mono = find_mono_energetic(words);
  if (facts->energy != NULL)
    series->mono_energetic = g_strdup_printf("%s keV", facts->energy);
  else if (mono != NULL)
    series->mono_energetic = g_strdup_printf("ImageType %s", mono);
  const gboolean told = series->unit_from != NULL || series->mono_energetic != NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(spectral_words) && !told && series->spectral_words == NULL;
       i++)
    if (strstr(lower, spectral_words[i]) != NULL)
      series->spectral_words = g_strdup(spectral_words[i]);
}

const char *
demur_unit_term(const DemurHeader *header, gboolean *mono_energetic) {
  const char *frame = header->attributes[demur_slice_attribute_find(DEMUR_TAG(0x0008, 0x9007))];
  g_autofree char *types = g_strdup_printf(
      "%s\\%s", header->image_type != NULL ? header->image_type : "", frame != NULL ? frame : "");
  const DemurUnitFacts facts = {
      .rescale_type = header->rescale_type,
      .lut_type = header->lut_type,
      .real_world_unit = header->real_world_unit,
      .image_type = types,
      .energy = header->attributes[demur_slice_attribute_find(DEMUR_TAG(0x0018, 0x937C))]};
  DemurSeries series = {0};
  demur_unit_fill(&series, &facts);
  *mono_energetic = series.mono_energetic != NULL;
  const char *term = demur_unit_is_hu(series.unit) ? NULL : "US";
  for (size_t i = 0; term != NULL && i < G_N_ELEMENTS(rescale_types); i++)
    if (strcmp(series.unit, rescale_types[i].unit) == 0)
      term = rescale_types[i].word;
  g_free(series.unit);
  g_free(series.unit_from);
  g_free(series.mono_energetic);
  g_free(series.spectral_words);
  return term;
}

gboolean
demur_unit_is_hu(const char *unit) {
  return g_strcmp0(unit, HU) == 0;
}
