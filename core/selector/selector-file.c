/* The selector's file: one canonical JSON document, written and read with every size and number
 * checked. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/json-tree.h"
#include "base/json-writer.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "selector/making.h"
#include "selector/selector-private.h"
#include "selector/selector-sound.h"

#define FORMAT "demur-selector"

/* The members that are kept apart from the tree of a document that is read once: each is read by a function that asks for it. */
static const char *const kept_apart[] = {
    "inputs",     "scores", "risks",      "labels",    "sites",   /* of training_scans */
    "parameters",                                                 /* of models */
    "reference",  "rows",   "svm_alphas", "lof_kdist", "lof_lrd", /* of outlier */
    "columns",    "lefts",  "counts",     "cuts",                 /* of its forest */
    NULL};

static void
write_hashes(DemurJson *json, const char *key, const guint64 *hashes, size_t n) {
  g_autofree char *text = g_base64_encode((const guchar *)hashes, n * sizeof *hashes);
  demur_json_string(json, key, text);
}

static gboolean
read_hashes(JsonObject *object, const char *key, size_t n, guint64 **hashes, GError **error) {
  const char *text;
  if (!demur_json_read_string(object, key, &text, error))
    return FALSE;
  gsize length;
  g_autofree guchar *bytes = g_base64_decode(text, &length);
  if (length != n * sizeof **hashes) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "member '%s' holds %zu bytes where %zu are expected",
                    key, length, n * sizeof **hashes);
    return FALSE;
  }
  *hashes = g_new(guint64, MAX(n, 1));
  memcpy(*hashes, bytes, length);
  return TRUE;
}

static void
write_corrector(const DemurSelectorCorrector *c, DemurJson *json, const char *key) {
  if (c->corrector == NULL) {
    demur_json_null(json, key);
    return;
  }
  demur_json_begin_object(json, key);
  demur_json_doubles(json, "means", demur_scaler_means(c->scaler), demur_scaler_width(c->scaler));
  demur_json_doubles(json, "sds", demur_scaler_sds(c->scaler), demur_scaler_width(c->scaler));
  demur_corrector_write_json(c->corrector, json, "corrector");
  demur_json_end_object(json);
}

static void
write_sites(const DemurSelector *s, DemurJson *json) {
  const DemurSitePrior *sites = s->sites;
  if (sites == NULL) {
    demur_json_null(json, "sites");
    return;
  }
  demur_json_begin_object(json, "sites");
  demur_json_int(json, "n_sites", (gint64)sites->n_sites);
  demur_json_double(json, "tau", sites->tau);
  demur_json_double(json, "tau_low", sites->tau_low);
  demur_json_double(json, "tau_high", sites->tau_high);
  demur_json_double(json, "tau2", sites->tau2);
  demur_json_double(json, "slope_sd", s->slope_sd);
  demur_json_double(json, "slope_centre", s->slope_centre);
  demur_json_int(json, "n", (gint64)sites->n);
  demur_json_doubles(json, "weights", sites->weights, sites->n);
  demur_json_doubles(json, "means", sites->means, sites->n);
  demur_json_doubles(json, "sds", sites->sds, sites->n);
  if (s->version >= 3)
    demur_json_doubles(json, "interval_weights", sites->wide, sites->n);
  demur_json_end_object(json);
}

static void
write_parts(const DemurSelector *s, DemurJson *json) {
  demur_json_begin_array(json, "parts");
  for (size_t i = 0; i < s->n_parts; i++) {
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "role", demur_part_role_name(s->parts[i].role));
    demur_json_string(json, "split", s->parts[i].split);
    demur_json_int(json, "n_scans", (gint64)s->parts[i].n_scans);
    demur_json_int(json, "n_patients", (gint64)s->parts[i].n_patients);
    demur_json_int(json, "n_sites", (gint64)s->parts[i].n_sites);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

static void
write_models(const DemurSelector *s, DemurJson *json) {
  demur_json_begin_array(json, "models");
  for (size_t m = 0; m < s->n_models; m++) {
    demur_json_begin_array(json, NULL);
    for (size_t a = 0; a < s->models[m].n_average; a++) {
      demur_json_begin_object(json, NULL);
      demur_json_int(json, "epoch", s->models[m].epochs[a]);
      demur_json_floats_base64(json, "parameters",
                               s->models[m].parameters + a * s->shape.n_parameters,
                               s->shape.n_parameters);
      demur_json_end_object(json);
    }
    demur_json_end_array(json);
  }
  demur_json_end_array(json);
}

static void
write_kept(const DemurSelector *s, DemurJson *json) {
  demur_json_begin_object(json, "training_scans");
  demur_json_int(json, "n", (gint64)s->n_kept);
  demur_json_floats_base64(json, "inputs", s->kept_inputs, s->n_kept * s->n_inputs);
  demur_json_floats_base64(json, "scores", s->kept_scores, s->n_kept);
  demur_json_floats_base64(json, "risks", s->kept_risks, s->n_kept);
  demur_json_floats_base64(json, "labels", s->kept_labels, s->n_kept);
  g_autofree float *sites = g_new(float, MAX(s->n_kept, 1));
  for (size_t i = 0; i < s->n_kept; i++)
    sites[i] = (float)s->kept_sites[i];
  demur_json_floats_base64(json, "sites", sites, s->n_kept);
  demur_json_begin_array(json, "site_names");
  for (size_t i = 0; i < s->n_site_names; i++)
    demur_json_string(json, NULL, s->site_names[i]);
  demur_json_end_array(json);
  demur_json_end_object(json);
}

static const char *const release_names[] = {
    [DEMUR_RELEASE_PROTOTYPES] = "prototypes", [DEMUR_RELEASE_REFERENCE] = "reference"};

static void
write_release(const DemurSelector *s, DemurJson *json) {
  demur_json_begin_object(json, "release");
  demur_json_string(json, "kind", release_names[s->release]);
  demur_json_string(json, "from", s->released_from);
  if (s->outlier_maps != NULL)
    demur_json_doubles(json, "maps", s->outlier_maps, DEMUR_RELEASE_MAP_LENGTH);
  demur_json_end_object(json);
}

static void
write_members(const DemurSelector *s, DemurJson *json) {
  demur_json_string(json, "format", FORMAT);
  demur_json_int(json, "version", s->version); /* kept, and with it the digest */
  demur_json_bool(json, "simulated", s->simulated);
  demur_json_string(json, "model", s->model);
  /* Only where it is known: a document of before keeps its digest. */
  if (s->outcome != NULL)
    demur_json_string(json, "outcome", s->outcome);
  if (s->horizon_years > 0.0)
    demur_json_double(json, "horizon_years", s->horizon_years);
  demur_json_int(json, "n_classes", (gint64)s->n_classes);
  demur_json_int(json, "embedding_width", (gint64)s->embedding_width);
  g_autofree char *seed = g_strdup_printf("%" PRIu64, s->seed);
  demur_json_string(json, "seed", seed); /* text: a double can't hold 64 bits */
  demur_train_settings_write_json(s->settings, json, "settings");
  demur_json_string(json, "cohort", s->cohort);
  demur_json_string(json, "cohort_digest", s->cohort_digest);
  write_parts(s, json);
  demur_json_int(json, "n_patients", (gint64)s->n_patients);
  if (s->release == DEMUR_RELEASE_NONE)
    write_hashes(json, "patient_hashes", s->patient_hashes, s->n_patients);
  else
    write_release(s, json);
  if (s->recalibration != NULL)
    demur_recalibration_write_json(s->recalibration, json, "recalibration");
  else
    demur_json_null(json, "recalibration");
  demur_selector_write_federated(s, json); /* a document of no study keeps its digest */
  demur_json_int(json, "n_svd", (gint64)s->n_svd);
  if (s->n_svd > 0) {
    demur_json_doubles(json, "svd_means", demur_scaler_means(s->svd_scaler), s->embedding_width);
    demur_json_doubles(json, "svd_sds", demur_scaler_sds(s->svd_scaler), s->embedding_width);
    demur_json_doubles(json, "svd_components", s->svd_components, s->n_svd * s->embedding_width);
  }
  /* Only where there is one: a document written before there were any keeps its digest. */
  if (s->acquisition != NULL) {
    demur_json_begin_object(json, "acquisition");
    demur_acquisition_write_json(s->acquisition, json);
    demur_json_end_object(json);
  }
  if (s->making != NULL) {
    demur_json_begin_object(json, "making");
    demur_making_write_json(s->making, json);
    demur_json_end_object(json);
  }
  demur_json_int(json, "n_components", (gint64)s->n_components);
  if (s->n_components > 0)
    demur_json_doubles(json, "components", s->components,
                       s->n_components * demur_outlier_model_width(s->outlier));
  write_corrector(&s->corrected, json, "corrected");
  write_corrector(&s->raw, json, "raw");
  if (s->version >= 2)
    write_sites(s, json);
  demur_json_begin_array(json, "inputs");
  for (size_t c = 0; c < s->n_inputs; c++)
    demur_json_string(json, NULL, s->columns->names[s->inputs[c]]);
  demur_json_end_array(json);
  demur_json_doubles(json, "means", demur_scaler_means(s->scaler), s->n_inputs);
  demur_json_doubles(json, "sds", demur_scaler_sds(s->scaler), s->n_inputs);
  write_models(s, json);
  write_kept(s, json);
  if (s->outlier == NULL) {
    demur_json_null(json, "outlier");
    return;
  }
  demur_json_int(json, "n_reference", (gint64)s->n_reference);
  if (s->release == DEMUR_RELEASE_NONE)
    write_hashes(json, "reference_hashes", s->reference_hashes, s->n_reference);
  demur_json_begin_object(json, "outlier");
  demur_outlier_model_write_json(s->outlier, json);
  demur_json_end_object(json);
}

void
demur_selector_seal(DemurSelector *selector) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  write_members(selector, json);
  demur_json_end_object(json);
  g_autofree char *text = demur_json_finish(json);
  g_free(selector->digest);
  selector->digest = demur_sha256_of_text(text);
}

void
demur_selector_write_json(const DemurSelector *selector, DemurJson *json, const char *key) {
  demur_json_begin_object(json, key);
  demur_json_string(json, "digest", selector->digest);
  write_members(selector, json);
  demur_json_end_object(json);
}

char *
demur_selector_to_json(const DemurSelector *selector) {
  DemurJson *json = demur_json_new();
  demur_selector_write_json(selector, json, NULL);
  return demur_json_finish(json);
}

static gboolean
read_size(JsonObject *object, const char *key, gint64 minimum, gint64 maximum, size_t *value,
          GError **error) {
  gint64 number;
  if (!demur_json_read_int(object, key, minimum, maximum, &number, error))
    return FALSE;
  *value = (size_t)number;
  return TRUE;
}

static gboolean
read_text(JsonObject *object, const char *key, char **text, GError **error) {
  const char *value;
  if (!demur_json_read_string(object, key, &value, error))
    return FALSE;
  *text = g_strdup(value);
  return TRUE;
}

static gboolean
read_role(JsonObject *object, DemurPartRole *role, GError **error) {
  g_autofree char *name = NULL;
  if (!read_text(object, "role", &name, error))
    return FALSE;
  if (demur_part_role_from_name(name, role))
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_INPUT,
                  "member 'role' is '%s': no part of a training that is known", name);
  return FALSE;
}

static gboolean
read_parts(DemurSelector *s, JsonObject *root, GError **error) {
  JsonArray *parts;
  if (!demur_json_read_array(root, "parts", &parts, error))
    return FALSE;
  const guint n = MIN(json_array_get_length(parts), 16);
  s->parts = g_new0(DemurSelectorPart, MAX(n, 1));
  for (guint i = 0; i < n; i++) {
    DemurSelectorPart *part = &s->parts[s->n_parts++];
    JsonObject *object;
    if (!demur_json_read_element(parts, i, "parts", &object, error) ||
        !read_role(object, &part->role, error) ||
        !read_text(object, "split", &part->split, error) ||
        !read_size(object, "n_scans", 0, G_MAXINT64, &part->n_scans, error) ||
        !read_size(object, "n_patients", 0, G_MAXINT64, &part->n_patients, error) ||
        !read_size(object, "n_sites", 0, G_MAXINT64, &part->n_sites, error))
      return FALSE;
  }
  return TRUE;
}

static DemurScaler *
read_scaler(JsonObject *object, const char *means_key, const char *sds_key, size_t n,
            GError **error) {
  DEMUR_AUTO_ALIGNED double *means = NULL, *sds = NULL;
  if (!demur_json_read_doubles(object, means_key, n, -INFINITY, INFINITY, &means, error) ||
      !demur_json_read_doubles(object, sds_key, n, 0.0, INFINITY, &sds, error))
    return NULL;
  return demur_scaler_new_from_arrays(means, sds, n, error);
}

/* Whether the member is there and not null. */
static gboolean
has_member(JsonObject *object, const char *key) {
  return json_object_has_member(object, key) && !json_object_get_null_member(object, key);
}

/* Whether the column that the method ranks by is among the inputs. */
static gboolean
check_scoring(const DemurSelector *s, GError **error) {
  const DemurScoringRow *row = demur_scoring_row(s->settings->scoring);
  gboolean found = row->column == NULL;
  for (size_t c = 0; c < s->n_inputs; c++)
    found = found || g_strcmp0(s->columns->names[s->inputs[c]], row->column) == 0;
  if (!found)
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "member 'inputs' lacks '%s', which the method '%s' ranks by", row->column,
                    row->name);
  return found;
}

static gboolean
read_inputs(DemurSelector *s, JsonObject *root, GError **error) {
  JsonArray *inputs;
  if (!demur_json_read_array(root, "inputs", &inputs, error))
    return FALSE;
  const guint n = json_array_get_length(inputs);
  if (n == 0 || n > s->columns->n_columns) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "member 'inputs' names %u meta features; there are %zu", n,
                    s->columns->n_columns);
    return FALSE;
  }
  s->n_inputs = n;
  s->inputs = g_new0(guint32, n);
  for (guint i = 0; i < n; i++) {
    JsonNode *node = json_array_get_element(inputs, i);
    const char *name = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_string(node) : NULL;
    size_t c = 0;
    while (c < s->columns->n_columns && g_strcmp0(s->columns->names[c], name) != 0)
      c++;
    if (c == s->columns->n_columns) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "member 'inputs' names '%s', which is no meta feature", name ? name : "null");
      return FALSE;
    }
    s->inputs[i] = (guint32)c;
  }
  s->scaler = read_scaler(root, "means", "sds", n, error);
  return s->scaler != NULL;
}

static gboolean
read_model(const DemurSelector *s, JsonArray *list, const DemurJsonApart *apart,
           DemurSelectorModel *model, GError **error) {
  const guint n = json_array_get_length(list);
  if ((n == 0) != (s->settings->scoring != DEMUR_SCORING_NETWORK) || n > 1000) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "member 'models' averages %u networks, which the method '%s' does not have", n,
                    demur_scoring_row(s->settings->scoring)->name);
    return FALSE;
  }
  model->epochs = g_new0(gint64, MAX(n, 1));
  for (guint a = 0; a < n; a++) {
    JsonObject *object;
    DEMUR_AUTO_ALIGNED float *parameters = NULL;
    if (!demur_json_read_element(list, a, "models", &object, error) ||
        !demur_json_read_int(object, "epoch", 0, G_MAXINT64, &model->epochs[a], error) ||
        !demur_json_read_floats_base64_of(object, apart, "parameters", s->shape.n_parameters,
                                          &parameters, error))
      return FALSE;
    if (model->parameters == NULL)
      model->parameters = demur_new_matrix(float, n, s->shape.n_parameters);
    memcpy(model->parameters + a * s->shape.n_parameters, parameters,
           s->shape.n_parameters * sizeof(float));
    model->n_average++;
  }
  return TRUE;
}

static gboolean
read_models(DemurSelector *s, JsonObject *root, const DemurJsonApart *apart, GError **error) {
  s->shape = demur_mlp_shape(s->n_inputs, (size_t)s->settings->hidden);
  JsonArray *models;
  if (!demur_json_read_array(root, "models", &models, error))
    return FALSE;
  const guint n = json_array_get_length(models);
  if (n == 0 || n > 1000) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "member 'models' holds %u models; 1 to 1000 are expected", n);
    return FALSE;
  }
  s->models = g_new0(DemurSelectorModel, n);
  for (guint m = 0; m < n; m++) {
    JsonNode *node = json_array_get_element(models, m);
    if (!JSON_NODE_HOLDS_ARRAY(node)) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "member 'models[%u]' is no array", m);
      return FALSE;
    }
    DemurSelectorModel *model = &s->models[s->n_models++];
    if (!read_model(s, json_node_get_array(node), apart, model, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_corrector(const DemurSelector *s, JsonObject *root, const char *key, DemurSelectorCorrector *c,
               GError **error) {
  if (!has_member(root, key))
    return TRUE;
  JsonObject *object, *corrector;
  const size_t n_base = demur_selector_n_corrector_base(s);
  if (s->n_classes != 2) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "member '%s': a corrector needs two classes", key);
    return FALSE;
  }
  return demur_json_read_object(root, key, &object, error) &&
         (c->scaler = read_scaler(object, "means", "sds", n_base, error)) != NULL &&
         demur_json_read_object(object, "corrector", &corrector, error) &&
         (c->corrector = demur_corrector_read_json(corrector, n_base + s->n_components, error)) !=
             NULL;
}

static gboolean
read_sites(DemurSelector *s, JsonObject *root, GError **error) {
  if (s->version < 2 && s->n_classes == 2)
    s->sites = demur_site_prior_alone();
  if (s->version < 2 || !has_member(root, "sites"))
    return TRUE;
  JsonObject *object;
  DEMUR_AUTO_ALIGNED double *weights = NULL, *means = NULL, *sds = NULL, *wide = NULL;
  g_autoptr(DemurSitePrior) sites = g_new0(DemurSitePrior, 1);
  if (!demur_json_read_object(root, "sites", &object, error) ||
      !read_size(object, "n_sites", 0, G_MAXINT32, &sites->n_sites, error) ||
      !demur_json_read_double(object, "tau", 0.0, INFINITY, &sites->tau, error) ||
      !demur_json_read_double(object, "tau_low", 0.0, INFINITY, &sites->tau_low, error) ||
      !demur_json_read_double(object, "tau_high", 0.0, INFINITY, &sites->tau_high, error) ||
      !demur_json_read_double(object, "tau2", 0.0, INFINITY, &sites->tau2, error) ||
      !demur_json_read_double(object, "slope_sd", 0.0, INFINITY, &s->slope_sd, error) ||
      !demur_json_read_double(object, "slope_centre", -INFINITY, INFINITY, &s->slope_centre,
                              error) ||
      !read_size(object, "n", 1, 10000, &sites->n, error) ||
      !demur_json_read_doubles(object, "weights", sites->n, 0.0, 1.0, &weights, error) ||
      !demur_json_read_doubles(object, "means", sites->n, -INFINITY, INFINITY, &means, error) ||
      !demur_json_read_doubles(object, "sds", sites->n, 0.0, INFINITY, &sds, error) ||
      (s->version >= 3 &&
       !demur_json_read_doubles(object, "interval_weights", sites->n, 0.0, 1.0, &wide, error)))
    return FALSE;
  const size_t size = sites->n * sizeof(double);
  sites->weights = g_memdup2(weights, size);
  sites->means = g_memdup2(means, size);
  sites->sds = g_memdup2(sds, size);
  sites->wide = g_memdup2(wide, wide != NULL ? size : 0);
  s->sites = g_steal_pointer(&sites);
  return TRUE;
}

/* Whether what the recalibration needs is there, now that all is read. */
static gboolean
check_recalibration(const DemurSelector *s, GError **error) {
  if (s->recalibration == NULL || s->recalibration->kind != DEMUR_RECALIBRATION_CORRECTOR ||
      s->raw.corrector != NULL)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_INPUT,
                  "the risks are the corrector's, but member 'raw' holds no corrector");
  return FALSE;
}

static gboolean
read_kept(DemurSelector *s, JsonObject *root, const DemurJsonApart *apart, GError **error) {
  JsonObject *object;
  JsonArray *names;
  DEMUR_AUTO_ALIGNED float *sites = NULL;
  if (!demur_json_read_object(root, "training_scans", &object, error) ||
      !read_size(object, "n", 0, DEMUR_SELECTOR_MAX_KEPT, &s->n_kept, error) ||
      !demur_json_read_floats_base64_of(object, apart, "inputs", s->n_kept * s->n_inputs,
                                        &s->kept_inputs, error) ||
      !demur_json_read_floats_base64_of(object, apart, "scores", s->n_kept, &s->kept_scores,
                                        error) ||
      !demur_json_read_floats_base64_of(object, apart, "risks", s->n_kept, &s->kept_risks, error) ||
      !demur_json_read_floats_base64_of(object, apart, "labels", s->n_kept, &s->kept_labels,
                                        error) ||
      !demur_json_read_floats_base64_of(object, apart, "sites", s->n_kept, &sites, error) ||
      !demur_json_read_array(object, "site_names", &names, error))
    return FALSE;
  const guint n = json_array_get_length(names);
  s->site_names = g_new0(char *, (size_t)n + 1);
  for (guint i = 0; i < n; i++) {
    JsonNode *node = json_array_get_element(names, i);
    const char *name = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_string(node) : NULL;
    if (name == NULL) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "member 'site_names[%u]' is no text", i);
      return FALSE;
    }
    s->site_names[s->n_site_names++] = g_strdup(name);
  }
  s->kept_sites = demur_new_array(guint32, s->n_kept);
  for (size_t i = 0; i < s->n_kept; i++) {
    if (!(sites[i] >= 0.0f && sites[i] < (float)n)) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "member 'sites' names a site that is not in 'site_names'");
      return FALSE;
    }
    s->kept_sites[i] = (guint32)sites[i];
  }
  return TRUE;
}

/* Outlier models, projection and components: what the columns of the meta features need. */
static gboolean
read_features(DemurSelector *s, JsonObject *root, const DemurJsonApart *apart, GError **error) {
  const gboolean with_outlier = has_member(root, "outlier");
  JsonObject *outlier;
  if (!read_size(root, "n_svd", 0, (gint64)s->embedding_width, &s->n_svd, error) ||
      !read_size(root, "n_components", 0, DEMUR_CORRECTOR_COMPONENTS, &s->n_components, error))
    return FALSE;
  if (!with_outlier && (s->n_svd > 0 || s->n_components > 0)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "components of embeddings without an outlier model");
    return FALSE;
  }
  JsonObject *acquisition, *making;
  if (has_member(root, "making") && (!demur_json_read_object(root, "making", &making, error) ||
                                     (s->making = demur_making_read_json(making, error)) == NULL))
    return FALSE;
  if (has_member(root, "acquisition") &&
      (!demur_json_read_object(root, "acquisition", &acquisition, error) ||
       (s->acquisition = demur_acquisition_read_json(acquisition, error)) == NULL))
    return FALSE;
  s->columns = demur_meta_columns_new(s->n_classes, with_outlier, has_member(root, "corrected"),
                                      s->acquisition);
  if (!with_outlier)
    return TRUE;
  if (s->n_svd > 0 &&
      ((s->svd_scaler = read_scaler(root, "svd_means", "svd_sds", s->embedding_width, error)) ==
           NULL ||
       !demur_json_read_doubles(root, "svd_components", s->n_svd * s->embedding_width, -INFINITY,
                                INFINITY, &s->svd_components, error)))
    return FALSE;
  if (!demur_json_read_object(root, "outlier", &outlier, error) ||
      (s->outlier = demur_outlier_model_read_json(outlier, apart, error)) == NULL ||
      !read_size(root, "n_reference", 1, G_MAXINT32, &s->n_reference, error) ||
      (s->release == DEMUR_RELEASE_NONE &&
       !read_hashes(root, "reference_hashes", s->n_reference, &s->reference_hashes, error)))
    return FALSE;
  if (demur_outlier_model_width(s->outlier) != (s->n_svd > 0 ? s->n_svd : s->embedding_width) ||
      demur_outlier_model_n_fitted(s->outlier) != s->n_reference) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "the outlier model does not fit the embedding width or reference set");
    return FALSE;
  }
  return s->n_components == 0 ||
         demur_json_read_doubles(root, "components",
                                 s->n_components * demur_outlier_model_width(s->outlier), -INFINITY,
                                 INFINITY, &s->components, error);
}

/* Member "release", where there is one. */
static gboolean
read_release(DemurSelector *s, JsonObject *root, GError **error) {
  if (!has_member(root, "release"))
    return TRUE;
  JsonObject *release;
  const char *kind;
  if (!demur_json_read_object(root, "release", &release, error) ||
      !demur_json_read_string(release, "kind", &kind, error) ||
      !read_text(release, "from", &s->released_from, error))
    return FALSE;
  for (size_t k = 1; k < G_N_ELEMENTS(release_names); k++)
    if (strcmp(kind, release_names[k]) == 0)
      s->release = (DemurRelease)k;
  if (s->release == DEMUR_RELEASE_NONE) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "member 'kind' of 'release' is '%s', which is no kind", kind);
    return FALSE;
  }
  if (!has_member(release, "maps"))
    return TRUE;
  DEMUR_AUTO_ALIGNED double *maps = NULL;
  if (!demur_json_read_doubles(release, "maps", DEMUR_RELEASE_MAP_LENGTH, -INFINITY, INFINITY,
                               &maps, error))
    return FALSE;
  for (size_t k = 1; k < DEMUR_RELEASE_MAP_LENGTH; k++)
    if (k % DEMUR_RELEASE_KNOTS != 0 && maps[k] < maps[k - 1]) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "member 'maps' of 'release' is not in ascending order");
      return FALSE;
    }
  s->outlier_maps = g_memdup2(maps, DEMUR_RELEASE_MAP_LENGTH * sizeof *maps);
  return TRUE;
}

static gboolean
read_document(DemurSelector *s, JsonObject *root, const DemurJsonApart *apart, GError **error) {
  const char *format, *seed;
  gint64 version;
  if (!demur_json_read_string(root, "format", &format, error))
    return FALSE;
  if (strcmp(format, FORMAT) != 0) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "the format is '%s', not '%s'", format, FORMAT);
    return FALSE;
  }
  if (!demur_json_read_int(root, "version", 1, G_MAXINT64, &version, error))
    return FALSE;
  if (version > DEMUR_SELECTOR_VERSION) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "format version %" PRId64 " is newer than this program's %d; update demur",
                    version, DEMUR_SELECTOR_VERSION);
    return FALSE;
  }
  s->version = version;
  JsonObject *settings, *recalibration;
  if (!demur_json_read_bool(root, "simulated", &s->simulated, error) ||
      !read_text(root, "model", &s->model, error) ||
      (has_member(root, "outcome") && !read_text(root, "outcome", &s->outcome, error)) ||
      (has_member(root, "horizon_years") &&
       !demur_json_read_double(root, "horizon_years", 1e-6, 1e6, &s->horizon_years, error)) ||
      !read_size(root, "n_classes", 2, 1000000, &s->n_classes, error) ||
      !read_size(root, "embedding_width", 0, 1000000, &s->embedding_width, error) ||
      !demur_json_read_string(root, "seed", &seed, error) ||
      !g_ascii_string_to_unsigned(seed, 10, 0, G_MAXUINT64, &s->seed, error) ||
      !demur_json_read_object(root, "settings", &settings, error) ||
      (s->settings = demur_train_settings_read_json(settings, error)) == NULL ||
      !read_text(root, "cohort", &s->cohort, error) ||
      !read_text(root, "cohort_digest", &s->cohort_digest, error) || !read_parts(s, root, error) ||
      !read_size(root, "n_patients", 0, G_MAXINT32, &s->n_patients, error) ||
      !read_release(s, root, error) ||
      (s->release == DEMUR_RELEASE_NONE &&
       !read_hashes(root, "patient_hashes", s->n_patients, &s->patient_hashes, error)))
    return FALSE;
  for (size_t i = 1; s->patient_hashes != NULL && i < s->n_patients; i++)
    if (s->patient_hashes[i - 1] > s->patient_hashes[i]) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "member 'patient_hashes' is not in ascending order");
      return FALSE;
    }
  if (has_member(root, "recalibration") &&
      (!demur_json_read_object(root, "recalibration", &recalibration, error) ||
       (s->recalibration = demur_recalibration_read_json(recalibration, error)) == NULL))
    return FALSE;
  if (s->recalibration != NULL && s->recalibration->n_classes != s->n_classes) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "the recalibration is for another number of classes");
    return FALSE;
  }
  if (has_member(root, "federated") && !demur_selector_read_federated(s, root, error))
    return FALSE;
  return read_features(s, root, apart, error) &&
         read_corrector(s, root, "corrected", &s->corrected, error) &&
         read_corrector(s, root, "raw", &s->raw, error) && check_recalibration(s, error) &&
         read_sites(s, root, error) && read_inputs(s, root, error) && check_scoring(s, error) &&
         read_models(s, root, apart, error) && read_kept(s, root, apart, error) &&
         demur_selector_check_sound(s, error);
}

/* Takes root and local, what demur_json_tree answered. */
static JsonNode *
check_root(JsonNode *tree, GError *why, const char *name, GError **error) {
  g_autoptr(GError) local = why;
  g_autoptr(JsonNode) root = tree;
  if (local != NULL) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "%s is not a JSON document: %s", name,
                    local->message);
    return NULL;
  }
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT(root)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "%s is not a selector: no JSON object", name);
    return NULL;
  }
  return g_steal_pointer(&root);
}

JsonNode *
demur_selector_load_root(const char *text, gssize length, const char *name, GError **error) {
  GError *local = NULL;
  JsonNode *tree = demur_json_tree(text, length, &local);
  return check_root(tree, local, name, error);
}

/* The selector, not sealed; *digest: the one its document names (owned). apart: what the tree left out. */
static DemurSelector *
read_object_unsealed(JsonObject *root, const DemurJsonApart *apart, const char *name, char **digest,
                     GError **error) {
  g_autoptr(GError) local = NULL;
  g_autoptr(DemurSelector) selector = demur_selector_alloc();
  if (!read_document(selector, root, apart, &local) || !read_text(root, "digest", digest, &local)) {
    const int code = local->domain == DEMUR_ERROR ? local->code : DEMUR_ERROR_INPUT;
    demur_error_set(error, code, "%s is not a usable selector: %s", name, local->message);
    demur_error_because(error, local);
    return NULL;
  }
  return g_steal_pointer(&selector);
}

static DemurSelector *
read_unsealed(const char *text, gssize length, const char *name, char **digest, GError **error) {
  g_autoptr(JsonNode) root = demur_selector_load_root(text, length, name, error);
  return root != NULL ? read_object_unsealed(json_node_get_object(root), NULL, name, digest, error)
                      : NULL;
}

/* What was sealed is the text without the member "digest", with which it begins. */
gboolean
demur_selector_is_document(const char *text, gsize length, const char *digest) {
  g_autoptr(DemurJson) named = demur_json_new();
  demur_json_begin_object(named, NULL);
  g_autofree char *opening = demur_json_take(named);
  demur_json_string(named, "digest", digest);
  g_autofree char *member = demur_json_take(named);
  const size_t n_opening = strlen(opening), n_begin = n_opening + strlen(member);
  if (length <= n_begin || memcmp(text, opening, n_opening) != 0 ||
      memcmp(text + n_opening, member, n_begin - n_opening) != 0 || text[n_begin] != ',')
    return FALSE;
  DemurSha256 sha;
  demur_sha256_init(&sha);
  demur_sha256_update(&sha, opening, n_opening);
  demur_sha256_update(&sha, text + n_begin + 1, length - n_begin - 1);
  guint8 bytes[DEMUR_SHA256_BYTES];
  demur_sha256_finish(&sha, bytes);
  char hex[DEMUR_SHA256_HEX];
  demur_sha256_hex(bytes, hex);
  return strcmp(hex, digest) == 0;
}

DemurSelector *
demur_selector_from_document(char *text, gsize length, const char *name, GError **error) {
  g_autoptr(DemurJsonApart) apart = NULL;
  GError *local = NULL;
  JsonNode *tree = demur_json_tree_of_own(text, length, kept_apart, &apart, &local);
  g_autoptr(JsonNode) root = check_root(tree, local, name, error);
  if (root == NULL)
    return NULL;
  g_autofree char *digest = NULL;
  DemurSelector *selector =
      read_object_unsealed(json_node_get_object(root), apart, name, &digest, error);
  if (selector != NULL)
    selector->digest = g_steal_pointer(&digest);
  return selector;
}

DemurSelector *
demur_selector_from_kept_json(const char *text, const char *name, GError **error) {
  g_autofree char *digest = NULL;
  g_autoptr(DemurSelector) selector = read_unsealed(text, -1, name, &digest, error);
  if (selector == NULL)
    return NULL;
  if (!demur_selector_is_document(text, strlen(text), digest))
    return demur_selector_from_json(text, -1, name, error);
  selector->digest = g_steal_pointer(&digest);
  return g_steal_pointer(&selector);
}

DemurSelector *
demur_selector_from_json_unsealed(const char *text, gssize length, const char *name,
                                  GError **error) {
  g_autofree char *digest = NULL;
  DemurSelector *selector = read_unsealed(text, length, name, &digest, error);
  if (selector != NULL)
    demur_selector_seal(selector);
  return selector;
}

DemurSelector *
demur_selector_from_object(JsonObject *root, const char *name, GError **error) {
  g_autofree char *digest = NULL;
  g_autoptr(DemurSelector) selector = read_object_unsealed(root, NULL, name, &digest, error);
  if (selector == NULL)
    return NULL;
  demur_selector_seal(selector);
  if (strcmp(digest, selector->digest) != 0) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "%s was changed after it was written: its digest is %.12s.., its content's %.12s..; "
        "export it again",
        name, digest, selector->digest);
    return NULL;
  }
  return g_steal_pointer(&selector);
}

DemurSelector *
demur_selector_from_json(const char *text, gssize length, const char *name, GError **error) {
  g_autoptr(JsonNode) root = demur_selector_load_root(text, length, name, error);
  return root != NULL ? demur_selector_from_object(json_node_get_object(root), name, error) : NULL;
}
