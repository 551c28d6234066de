#include "selector/settings.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/number.h"

/* One table names every number, its range and its paper value: options, JSON and checks are views
 * of it. */
typedef enum { KIND_INT, KIND_DOUBLE } Kind;

typedef struct {
  const char *name;
  Kind kind;
  size_t offset;
  double published, standard, minimum, maximum;
  const char *help;
} Number;

/* A number whose default is the paper's, and one whose default differs. */
#define NUMBER(field, kind, published, standard, minimum, maximum, help)                           \
  { #field, kind, offsetof(DemurTrainSettings, field), published, standard, minimum, maximum, help }
#define INT_NUMBER(field, published, ...) NUMBER(field, KIND_INT, published, published, __VA_ARGS__)
#define DOUBLE_NUMBER(field, published, ...)                                                       \
  NUMBER(field, KIND_DOUBLE, published, published, __VA_ARGS__)

static const Number numbers[] = {
    INT_NUMBER(epochs, 5, 1, 10000, "epochs"),
    INT_NUMBER(datasets_per_epoch, 50000, 1, 1e9, "perturbed data sets an epoch"),
    INT_NUMBER(dataset_size, 1024, 1, 65535, "scans a perturbed data set"),
    INT_NUMBER(batch, 32, 1, 10000, "m, data sets an update"),
    INT_NUMBER(kappa, 4, 0, 10000, "worst data sets an update learns from; 0: all"),
    DOUBLE_NUMBER(kappa_coverage, 0, 0, 1,
                  "coverage at which the worst are judged; 0: AUC over coverage"),
    INT_NUMBER(q, 2, 1, 2, "q of the loss, 1 or 2"),
    DOUBLE_NUMBER(kernel_width, 0.2, 1e-6, 1e6, "width of the Laplacian kernel"),
    DOUBLE_NUMBER(alpha, 1, 1e-6, 1e6, "concentration of the Dirichlet weights of the sites"),
    DOUBLE_NUMBER(lambda2, 0.01, 0, 1e6, "weight of -log g, divided by the data set size"),
    DOUBLE_NUMBER(learning_rate, 1e-3, 1e-12, 10, "Adam step size"),
    DOUBLE_NUMBER(weight_decay, 1e-5, 0, 10, "L2 added to the clipped gradient"),
    DOUBLE_NUMBER(clip, 10, 0, 1e9, "largest global gradient norm; 0: none"),
    INT_NUMBER(bin_size, 25, 1, 1e6, "fewest scans a bin of the calibration error"),
    INT_NUMBER(hidden, 64, 1, 4096, "units of each hidden layer"),
    INT_NUMBER(validation_datasets, 200, 1, 1e6, "data sets drawn once for validation"),
    NUMBER(average, KIND_INT, 1, 5, 1, 50, "networks whose scores are averaged"),
    INT_NUMBER(risk_bands, 0, 0, 1000,
               "bands of risk that accept the same share; 0: none, 20: stratified"),
    INT_NUMBER(embedding_svd, 0, 0, 100000,
               "components that embeddings are projected to first; 0: none"),
    INT_NUMBER(models, 1, 1, 100, "networks trained from different initial weights"),
};

static double
number_value(const DemurTrainSettings *settings, const Number *number) {
  const char *field = (const char *)settings + number->offset;
  return number->kind == KIND_INT ? (double)*(const gint64 *)(const void *)field
                                  : *(const double *)(const void *)field;
}

static void
set_number(DemurTrainSettings *settings, const Number *number, double value) {
  char *field = (char *)settings + number->offset;
  if (number->kind == KIND_INT)
    *(gint64 *)(void *)field = (gint64)value;
  else
    *(double *)(void *)field = value;
}

DemurTrainSettings *
demur_train_settings_new(void) {
  DemurTrainSettings *settings = demur_train_settings_new_published();
  settings->as_published = FALSE;
  for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
    set_number(settings, &numbers[i], numbers[i].standard);
  settings->target = DEMUR_TARGET_DENOISED;
  settings->features |= DEMUR_FEATURES_CORRECTOR;
  settings->stopping = DEMUR_STOPPING_FLAT;
  settings->recalibrate = DEMUR_RECALIBRATION_AUTO;
  return settings;
}

DemurTrainSettings *
demur_train_settings_new_published(void) {
  DemurTrainSettings *settings = g_new0(DemurTrainSettings, 1);
  settings->as_published = TRUE;
  for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
    set_number(settings, &numbers[i], numbers[i].published);
  settings->target = DEMUR_TARGET_PAPER;
  settings->stopping = DEMUR_STOPPING_WORST_CASE;
  settings->recalibrate = DEMUR_RECALIBRATION_NONE;
  settings->shift = DEMUR_SHIFT_GROUPS;
  settings->features = DEMUR_FEATURES_CONFIDENCE | DEMUR_FEATURES_CLASS | DEMUR_FEATURES_OUTLIER;
  return settings;
}

DemurTrainSettings *
demur_train_settings_copy(const DemurTrainSettings *settings) {
  DemurTrainSettings *copy = g_memdup2(settings, sizeof *settings);
  copy->split = g_strdup(settings->split);
  copy->reference_split = g_strdup(settings->reference_split);
  copy->validation_split = g_strdup(settings->validation_split);
  copy->recalibration_split = g_strdup(settings->recalibration_split);
  copy->shift_attribute = g_strdup(settings->shift_attribute);
  copy->family = g_strdup(settings->family);
  return copy;
}

void
demur_train_settings_free(DemurTrainSettings *settings) {
  if (settings == NULL)
    return;
  g_free(settings->split);
  g_free(settings->reference_split);
  g_free(settings->validation_split);
  g_free(settings->recalibration_split);
  g_free(settings->shift_attribute);
  g_free(settings->family);
  g_free(settings);
}

gboolean
demur_train_settings_check(const DemurTrainSettings *settings, GError **error) {
  for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
    const Number *number = &numbers[i];
    const double value = number_value(settings, number);
    if (!(value >= number->minimum && value <= number->maximum)) {
      demur_error_set(error, DEMUR_ERROR_USAGE, "%s is %g; it must lie in [%g, %g]", number->name,
                      value, number->minimum, number->maximum);
      return FALSE;
    }
  }
  if (settings->kappa > settings->batch) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "kappa is %" PRId64 " but an update has only %" PRId64 " data sets (batch)",
                    settings->kappa, settings->batch);
    return FALSE;
  }
  if (settings->datasets_per_epoch < settings->batch) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "datasets_per_epoch is %" PRId64 ", less than one update of %" PRId64
                    " (batch)",
                    settings->datasets_per_epoch, settings->batch);
    return FALSE;
  }
  return TRUE;
}

const char *
demur_train_settings_number_name(size_t i) {
  return i < G_N_ELEMENTS(numbers) ? numbers[i].name : NULL;
}

gssize
demur_train_settings_find_number(const char *name) {
  for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
    if (strcmp(numbers[i].name, name) == 0)
      return (gssize)i;
  return -1;
}

const char *
demur_train_settings_number_help(size_t i) {
  return i < G_N_ELEMENTS(numbers) ? numbers[i].help : NULL;
}

double
demur_train_settings_number_default(size_t i) {
  g_return_val_if_fail(i < G_N_ELEMENTS(numbers), 0.0);
  return numbers[i].standard;
}

double
demur_train_settings_number_published(size_t i) {
  g_return_val_if_fail(i < G_N_ELEMENTS(numbers), 0.0);
  return numbers[i].published;
}

char *
demur_train_settings_number_text(const DemurTrainSettings *settings, size_t i, char *buffer) {
  g_return_val_if_fail(i < G_N_ELEMENTS(numbers), NULL);
  return demur_number_format(number_value(settings, &numbers[i]), buffer);
}

gboolean
demur_train_settings_set_number(DemurTrainSettings *settings, size_t i, const char *text,
                                GError **error) {
  g_return_val_if_fail(i < G_N_ELEMENTS(numbers), FALSE);
  const Number *number = &numbers[i];
  double value;
  if (!demur_number_parse(text, strlen(text), &value) ||
      !(value >= number->minimum && value <= number->maximum) ||
      (number->kind == KIND_INT && value != floor(value))) {
    demur_error_set(error, DEMUR_ERROR_USAGE, "'%s' is no value for %s: it takes %s from %g to %g",
                    text, number->name,
                    number->kind == KIND_INT ? N_("a whole number") : N_("a number"),
                    number->minimum, number->maximum);
    return FALSE;
  }
  set_number(settings, number, value);
  return TRUE;
}

gboolean
demur_train_settings_are_published(const DemurTrainSettings *settings) {
  for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
    if (numbers[i].offset != offsetof(DemurTrainSettings, models) &&
        number_value(settings, &numbers[i]) != numbers[i].published)
      return FALSE;
  return settings->scoring == DEMUR_SCORING_NETWORK && settings->target == DEMUR_TARGET_PAPER &&
         settings->stopping == DEMUR_STOPPING_WORST_CASE &&
         settings->recalibrate == DEMUR_RECALIBRATION_NONE &&
         settings->shift == DEMUR_SHIFT_GROUPS && settings->shift_attribute == NULL &&
         settings->features ==
             (DEMUR_FEATURES_CONFIDENCE | DEMUR_FEATURES_CLASS | DEMUR_FEATURES_OUTLIER);
}

static const struct {
  const char *name;
  DemurShiftKind kind;
} shift_names[] = {
    {"site", DEMUR_SHIFT_GROUPS},
    {"none", DEMUR_SHIFT_NONE},
    {"example", DEMUR_SHIFT_EXAMPLE},
    {"outside", DEMUR_SHIFT_OUTSIDE},
};

gboolean
demur_train_settings_set_resample(DemurTrainSettings *settings, const char *text, GError **error) {
  if (g_str_has_prefix(text, "attribute:") && text[strlen("attribute:")] != '\0') {
    g_free(settings->shift_attribute);
    settings->shift_attribute = g_strdup(text + strlen("attribute:"));
    settings->shift = DEMUR_SHIFT_GROUPS;
    return TRUE;
  }
  for (size_t i = 0; i < G_N_ELEMENTS(shift_names); i++)
    if (strcmp(text, shift_names[i].name) == 0) {
      g_clear_pointer(&settings->shift_attribute, g_free);
      settings->shift = shift_names[i].kind;
      return TRUE;
    }
  demur_error_set(
      error, DEMUR_ERROR_USAGE,
      "no way of resampling is called '%s'; there are site, attribute:NAME, none, example "
      "and outside",
      text);
  return FALSE;
}

char *
demur_train_settings_resample_text(const DemurTrainSettings *settings) {
  if (settings->shift_attribute != NULL)
    return g_strconcat("attribute:", settings->shift_attribute, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(shift_names); i++)
    if (shift_names[i].kind == settings->shift)
      return g_strdup(shift_names[i].name);
  g_assert_not_reached();
}

static const struct {
  const char *name;
  guint group;
} feature_names[] = {
    {"confidence", DEMUR_FEATURES_CONFIDENCE},   {"class", DEMUR_FEATURES_CLASS},
    {"outlier", DEMUR_FEATURES_OUTLIER},         {"corrector", DEMUR_FEATURES_CORRECTOR},
    {"acquisition", DEMUR_FEATURES_ACQUISITION},
};

gboolean
demur_train_settings_set_features(DemurTrainSettings *settings, const char *text, GError **error) {
  guint groups = 0;
  g_auto(GStrv) words = g_strsplit(text, ",", -1);
  for (char **word = words; *word != NULL; word++) {
    guint group = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(feature_names); i++)
      if (strcmp(g_strstrip(*word), feature_names[i].name) == 0)
        group = feature_names[i].group;
    if (group == 0) {
      demur_error_set(error, DEMUR_ERROR_USAGE,
                      "no group of meta features is called '%s'; there are confidence, class, "
                      "outlier, corrector and acquisition, separated by commas",
                      *word);
      return FALSE;
    }
    groups |= group;
  }
  if ((groups & (DEMUR_FEATURES_CONFIDENCE | DEMUR_FEATURES_OUTLIER)) == 0) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "features needs at least one of confidence and outlier");
    return FALSE;
  }
  settings->features = groups;
  settings->features_explicit = TRUE;
  return TRUE;
}

char *
demur_train_settings_features_text(const DemurTrainSettings *settings) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(feature_names); i++)
    if ((settings->features & feature_names[i].group) != 0)
      g_string_append_printf(text, "%s%s", text->len > 0 ? "," : "", feature_names[i].name);
  return g_strdup(text->str);
}

static const char *const target_names[] = {"paper", "denoised"};
static const char *const stopping_names[] = {"worst-case", "flat"};

/* Index of a word among names; DEMUR_ERROR_USAGE where it is none of them. */
static gboolean
find_word(const char *text, const char *what, const char *const *names, int n, int *index,
          GError **error) {
  for (*index = 0; *index < n; (*index)++)
    if (strcmp(text, names[*index]) == 0)
      return TRUE;
  demur_error_set(error, DEMUR_ERROR_USAGE, "no %s is called '%s'; there are %s and %s", what, text,
                  names[0], names[1]);
  return FALSE;
}

gboolean
demur_train_settings_set_scoring(DemurTrainSettings *settings, const char *text, GError **error) {
  settings->scoring_explicit = strcmp(text, "auto") != 0;
  return !settings->scoring_explicit || demur_scoring_from_name(text, &settings->scoring, error);
}

gboolean
demur_train_settings_set_target(DemurTrainSettings *settings, const char *text, GError **error) {
  int index;
  if (!find_word(text, "target", target_names, 2, &index, error))
    return FALSE;
  settings->target = (DemurTarget)index;
  settings->target_explicit = TRUE;
  return TRUE;
}

const char *
demur_target_name(DemurTarget target) {
  return target_names[target];
}

gboolean
demur_train_settings_set_stopping(DemurTrainSettings *settings, const char *text, GError **error) {
  int index;
  if (!find_word(text, "stopping", stopping_names, 2, &index, error))
    return FALSE;
  settings->stopping = (DemurStopping)index;
  return TRUE;
}

const char *
demur_stopping_name(DemurStopping stopping) {
  return stopping_names[stopping];
}

gint64
demur_train_settings_epoch_end(const DemurTrainSettings *settings, gint64 epoch) {
  return epoch * settings->datasets_per_epoch / settings->batch;
}

void
demur_train_settings_write_json(const DemurTrainSettings *settings, DemurJson *json,
                                const char *key) {
  g_autofree char *resample = demur_train_settings_resample_text(settings);
  g_autofree char *features = demur_train_settings_features_text(settings);
  demur_json_begin_object(json, key);
  demur_json_bool(json, "as_published", settings->as_published);
  /* Only where it is not the networks: a document written before there were others keeps its
   * digest. */
  if (settings->scoring != DEMUR_SCORING_NETWORK)
    demur_json_string(json, "method", demur_scoring_row(settings->scoring)->name);
  demur_json_string(json, "split", settings->split);
  demur_json_string(json, "reference_split", settings->reference_split);
  demur_json_string(json, "validation_split", settings->validation_split);
  for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
    const double value = number_value(settings, &numbers[i]);
    if (numbers[i].kind == KIND_INT)
      demur_json_int(json, numbers[i].name, (gint64)value);
    else
      demur_json_double(json, numbers[i].name, value);
  }
  demur_json_string(json, "target", demur_target_name(settings->target));
  demur_json_string(json, "stopping", demur_stopping_name(settings->stopping));
  demur_json_string(json, "recalibrate", demur_recalibration_name(settings->recalibrate));
  demur_json_string(json, "recalibration_split", settings->recalibration_split);
  demur_json_string(json, "resample", resample);
  demur_json_string(json, "features", features);
  if (settings->family != NULL) /* else documents keep their digests */
    demur_json_string(json, "family", settings->family);
  demur_json_end_object(json);
}

/* A text that may be null. */
static gboolean
read_optional_text(JsonObject *object, const char *key, char **text, GError **error) {
  if (json_object_has_member(object, key) && json_object_get_null_member(object, key))
    return TRUE;
  const char *value;
  if (!demur_json_read_string(object, key, &value, error))
    return FALSE;
  *text = g_strdup(value);
  return TRUE;
}

DemurTrainSettings *
demur_train_settings_read_json(JsonObject *object, GError **error) {
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_new();
  if (!demur_json_read_bool(object, "as_published", &settings->as_published, error) ||
      !read_optional_text(object, "split", &settings->split, error) ||
      !read_optional_text(object, "reference_split", &settings->reference_split, error) ||
      !read_optional_text(object, "validation_split", &settings->validation_split, error))
    return NULL;
  const char *method;
  if (json_object_has_member(object, "method") &&
      (!demur_json_read_string(object, "method", &method, error) ||
       !demur_scoring_from_name(method, &settings->scoring, error)))
    return NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
    double value;
    gint64 whole;
    if (numbers[i].kind == KIND_INT) {
      if (!demur_json_read_int(object, numbers[i].name, (gint64)numbers[i].minimum,
                               (gint64)numbers[i].maximum, &whole, error))
        return NULL;
      value = (double)whole;
    } else if (!demur_json_read_double(object, numbers[i].name, numbers[i].minimum,
                                       numbers[i].maximum, &value, error)) {
      return NULL;
    }
    set_number(settings, &numbers[i], value);
  }
  const char *resample, *features, *target, *stopping, *recalibrate;
  if (!demur_json_read_string(object, "target", &target, error) ||
      !demur_train_settings_set_target(settings, target, error) ||
      !demur_json_read_string(object, "stopping", &stopping, error) ||
      !demur_train_settings_set_stopping(settings, stopping, error) ||
      !demur_json_read_string(object, "recalibrate", &recalibrate, error) ||
      !demur_recalibration_from_name(recalibrate, &settings->recalibrate, error) ||
      !read_optional_text(object, "recalibration_split", &settings->recalibration_split, error) ||
      !demur_json_read_string(object, "resample", &resample, error) ||
      !demur_train_settings_set_resample(settings, resample, error) ||
      !demur_json_read_string(object, "features", &features, error) ||
      !demur_train_settings_set_features(settings, features, error) ||
      (json_object_has_member(object, "family") &&
       !read_optional_text(object, "family", &settings->family, error)))
    return NULL;
  if (settings->family != NULL && *settings->family == '\0') {
    demur_error_set(error, DEMUR_ERROR_INPUT, "family is empty; it is a name or null");
    return NULL;
  }
  settings->features_explicit = FALSE;
  return demur_train_settings_check(settings, error) ? g_steal_pointer(&settings) : NULL;
}
