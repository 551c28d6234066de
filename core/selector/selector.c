#include "selector/selector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/json-reader.h"
#include "base/memory.h"

#define FORMAT "demur-selector"
#define FORMAT_VERSION 1
#define FORWARD_ROWS 256

DemurSelector *
demur_selector_alloc(void) {
  DemurSelector *selector = g_new0(DemurSelector, 1);
  selector->ref_count = 1;
  return selector;
}

DemurSelector *
demur_selector_ref(DemurSelector *selector) {
  g_atomic_int_inc(&selector->ref_count);
  return selector;
}

void
demur_selector_unref(DemurSelector *selector) {
  if (selector == NULL || !g_atomic_int_dec_and_test(&selector->ref_count))
    return;
  g_free(selector->model);
  demur_train_settings_free(selector->settings);
  g_free(selector->cohort);
  g_free(selector->cohort_digest);
  for (size_t i = 0; i < selector->n_parts; i++) {
    g_free(selector->parts[i].role);
    g_free(selector->parts[i].split);
  }
  g_free(selector->parts);
  g_free(selector->patient_hashes);
  demur_meta_columns_free(selector->columns);
  g_free(selector->inputs);
  demur_scaler_unref(selector->scaler);
  demur_outlier_model_unref(selector->outlier);
  g_free(selector->reference_hashes);
  for (size_t i = 0; i < selector->n_networks; i++)
    g_aligned_free(selector->networks[i].parameters);
  g_free(selector->networks);
  g_aligned_free(selector->kept_inputs);
  g_aligned_free(selector->kept_scores);
  g_free(selector->digest);
  g_free(selector);
}

gboolean
demur_selector_check_cohort(const DemurSelector *selector, const DemurCohort *cohort,
                            GError **error) {
  if (g_strcmp0(selector->model, cohort->model) != 0)
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "the selector was trained on scores of the model '%s', but cohort '%s' holds "
                "scores of '%s'; train a selector for that model",
                selector->model, cohort->name, cohort->model);
  else if (selector->n_classes != cohort->n_classes)
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "the selector was trained for %zu classes, but cohort '%s' has %zu",
                selector->n_classes, cohort->name, cohort->n_classes);
  else if (selector->outlier != NULL && selector->embedding_width != cohort->embedding_width)
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "the selector was trained on embeddings of width %zu, but those of cohort '%s' "
                "have %zu",
                selector->embedding_width, cohort->name, cohort->embedding_width);
  else
    return TRUE;
  return FALSE;
}

static guint64
hash_of(GChecksum *checksum) {
  guint8 bytes[32];
  gsize length = sizeof bytes;
  g_checksum_get_digest(checksum, bytes, &length);
  guint64 hash;
  memcpy(&hash, bytes, sizeof hash);
  return hash;
}

guint64
demur_selector_patient_hash(const char *patient_id) {
  g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
  demur_digest_add_text(checksum, "patient");
  demur_digest_add_text(checksum, patient_id);
  return hash_of(checksum);
}

guint64
demur_selector_scan_hash(const char *patient_id, const char *scan_id, const float *embedding,
                         size_t d) {
  g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
  demur_digest_add_text(checksum, "scan");
  demur_digest_add_text(checksum, patient_id);
  demur_digest_add_text(checksum, scan_id);
  demur_digest_add_floats(checksum, embedding, embedding != NULL ? d : 0);
  return hash_of(checksum);
}

static int
compare_hashes(const void *a, const void *b) {
  const guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
  return (x > y) - (x < y);
}

size_t
demur_selector_count_seen(const DemurSelector *selector, const DemurCohort *cohort,
                          const guint32 *rows, size_t n_rows) {
  g_autofree guint8 *counted = g_new0(guint8, MAX(cohort->n_patients, 1));
  size_t n = 0;
  for (size_t i = 0; i < n_rows; i++) {
    const guint32 patient = cohort->patients[rows[i]];
    if (counted[patient])
      continue;
    counted[patient] = 1;
    const guint64 hash = demur_selector_patient_hash(cohort->patient_ids[patient]);
    n += bsearch(&hash, selector->patient_hashes, selector->n_patients, sizeof hash,
                 compare_hashes) != NULL;
  }
  return n;
}

double *
demur_selector_meta_features(const DemurSelector *selector, const DemurCohort *cohort,
                             const guint32 *rows, size_t n_rows, DemurParallel *parallel,
                             const DemurProgress *progress, GError **error) {
  if (!demur_selector_check_cohort(selector, cohort, error))
    return NULL;
  g_autofree gssize *exclude = NULL;
  if (selector->outlier != NULL) {
    g_autoptr(GHashTable) places = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (size_t i = 0; i < selector->n_reference; i++)
      g_hash_table_insert(places, &selector->reference_hashes[i], GSIZE_TO_POINTER(i + 1));
    exclude = g_new(gssize, MAX(n_rows, 1));
    for (size_t i = 0; i < n_rows; i++) {
      const guint64 hash = demur_selector_scan_hash(
          cohort->patient_ids[cohort->patients[rows[i]]], cohort->scan_ids[rows[i]],
          cohort->embeddings + (size_t)rows[i] * cohort->embedding_width, cohort->embedding_width);
      exclude[i] = (gssize)GPOINTER_TO_SIZE(g_hash_table_lookup(places, &hash)) - 1;
    }
  }
  double *meta = demur_new_matrix(double, n_rows, selector->columns->n_columns);
  if (!demur_meta_features_compute(selector->columns, cohort, rows, n_rows, selector->outlier,
                                   exclude, parallel, progress, meta, error)) {
    g_aligned_free(meta);
    return NULL;
  }
  return meta;
}

/* Standardised inputs of the network from raw meta features, out [n][n_inputs]. */
static void
standardise(const DemurSelector *selector, const double *meta, size_t n, float *out) {
  const double *means = demur_scaler_means(selector->scaler);
  const double *sds = demur_scaler_sds(selector->scaler);
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < selector->n_inputs; c++) {
      const double value = meta[i * selector->columns->n_columns + selector->inputs[c]];
      out[i * selector->n_inputs + c] = (float)((value - means[c]) / sds[c]);
    }
}

void
demur_selector_scores(const DemurSelector *selector, size_t network, const double *meta,
                      size_t n_rows, double *scores) {
  g_return_if_fail(network < selector->n_networks);
  const size_t h = selector->shape.n_hidden;
  DEMUR_AUTO_ALIGNED float *inputs = demur_new_matrix(float, FORWARD_ROWS, selector->n_inputs);
  DEMUR_AUTO_ALIGNED float *hidden = demur_new_matrix(float, 2 * FORWARD_ROWS, h);
  float z[FORWARD_ROWS];
  for (size_t start = 0; start < n_rows; start += FORWARD_ROWS) {
    const size_t n = MIN(FORWARD_ROWS, n_rows - start);
    standardise(selector, meta + start * selector->columns->n_columns, n, inputs);
    demur_mlp_forward(selector->shape, selector->networks[network].parameters, inputs, n, hidden,
                      hidden + FORWARD_ROWS * h, z);
    for (size_t i = 0; i < n; i++) {
      const double t = exp(-fabs((double)z[i]));
      scores[start + i] = z[i] >= 0 ? 1.0 / (1.0 + t) : t / (1.0 + t);
    }
  }
}

/* --- the document --- */

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
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "member '%s' holds %zu bytes where %zu are expected", key, length,
                n * sizeof **hashes);
    return FALSE;
  }
  *hashes = g_new(guint64, MAX(n, 1));
  memcpy(*hashes, bytes, length);
  return TRUE;
}

static void
write_members(const DemurSelector *s, DemurJson *json) {
  demur_json_string(json, "format", FORMAT);
  demur_json_int(json, "version", FORMAT_VERSION);
  demur_json_bool(json, "simulated", s->simulated);
  demur_json_string(json, "model", s->model);
  demur_json_int(json, "n_classes", (gint64)s->n_classes);
  demur_json_int(json, "embedding_width", (gint64)s->embedding_width);
  g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, s->seed);
  demur_json_string(json, "seed", seed); /* text: a double can't hold 64 bits */
  demur_train_settings_write_json(s->settings, json, "settings");
  demur_json_string(json, "cohort", s->cohort);
  demur_json_string(json, "cohort_digest", s->cohort_digest);
  demur_json_begin_array(json, "parts");
  for (size_t i = 0; i < s->n_parts; i++) {
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "role", s->parts[i].role);
    demur_json_string(json, "split", s->parts[i].split);
    demur_json_int(json, "n_scans", (gint64)s->parts[i].n_scans);
    demur_json_int(json, "n_patients", (gint64)s->parts[i].n_patients);
    demur_json_int(json, "n_sites", (gint64)s->parts[i].n_sites);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_int(json, "n_patients", (gint64)s->n_patients);
  write_hashes(json, "patient_hashes", s->patient_hashes, s->n_patients);
  demur_json_begin_array(json, "inputs");
  for (size_t c = 0; c < s->n_inputs; c++)
    demur_json_string(json, NULL, s->columns->names[s->inputs[c]]);
  demur_json_end_array(json);
  demur_json_doubles(json, "means", demur_scaler_means(s->scaler), s->n_inputs);
  demur_json_doubles(json, "sds", demur_scaler_sds(s->scaler), s->n_inputs);
  demur_json_begin_array(json, "networks");
  for (size_t i = 0; i < s->n_networks; i++) {
    demur_json_begin_object(json, NULL);
    demur_json_int(json, "best_epoch", s->networks[i].best_epoch);
    demur_json_floats_base64(json, "parameters", s->networks[i].parameters, s->shape.n_parameters);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_int(json, "n_kept", (gint64)s->n_kept);
  demur_json_floats_base64(json, "kept_inputs", s->kept_inputs, s->n_kept * s->n_inputs);
  demur_json_floats_base64(json, "kept_scores", s->kept_scores, s->n_kept);
  if (s->outlier == NULL) {
    demur_json_null(json, "outlier");
    return;
  }
  demur_json_int(json, "n_reference", (gint64)s->n_reference);
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
  selector->digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
}

char *
demur_selector_to_json(const DemurSelector *selector) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "digest", selector->digest);
  write_members(selector, json);
  demur_json_end_object(json);
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
        !read_text(object, "role", &part->role, error) ||
        !read_text(object, "split", &part->split, error) ||
        !read_size(object, "n_scans", 0, G_MAXINT64, &part->n_scans, error) ||
        !read_size(object, "n_patients", 0, G_MAXINT64, &part->n_patients, error) ||
        !read_size(object, "n_sites", 0, G_MAXINT64, &part->n_sites, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_inputs(DemurSelector *s, JsonObject *root, GError **error) {
  JsonArray *inputs;
  if (!demur_json_read_array(root, "inputs", &inputs, error))
    return FALSE;
  const guint n = json_array_get_length(inputs);
  if (n == 0 || n > s->columns->n_columns) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "member 'inputs' names %u meta features; there are %zu", n, s->columns->n_columns);
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
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "member 'inputs' names '%s', which is no meta feature", name ? name : "null");
      return FALSE;
    }
    s->inputs[i] = (guint32)c;
  }
  DEMUR_AUTO_ALIGNED double *means = NULL, *sds = NULL;
  if (!demur_json_read_doubles(root, "means", n, -INFINITY, INFINITY, &means, error) ||
      !demur_json_read_doubles(root, "sds", n, 0.0, INFINITY, &sds, error))
    return FALSE;
  s->scaler = demur_scaler_new_from_arrays(means, sds, n, error);
  return s->scaler != NULL;
}

static gboolean
read_networks(DemurSelector *s, JsonObject *root, GError **error) {
  s->shape = demur_mlp_shape(s->n_inputs, (size_t)s->settings->hidden);
  JsonArray *networks;
  if (!demur_json_read_array(root, "networks", &networks, error))
    return FALSE;
  const guint n = json_array_get_length(networks);
  if (n == 0 || n > 1000) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "member 'networks' holds %u networks; 1 to 1000 are expected", n);
    return FALSE;
  }
  s->networks = g_new0(DemurSelectorNetwork, n);
  for (guint i = 0; i < n; i++) {
    DemurSelectorNetwork *network = &s->networks[s->n_networks++];
    JsonObject *object;
    if (!demur_json_read_element(networks, i, "networks", &object, error) ||
        !demur_json_read_int(object, "best_epoch", 0, G_MAXINT64, &network->best_epoch, error) ||
        !demur_json_read_floats_base64(object, "parameters", s->shape.n_parameters,
                                       &network->parameters, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_document(DemurSelector *s, JsonObject *root, GError **error) {
  const char *format, *seed;
  gint64 version;
  if (!demur_json_read_string(root, "format", &format, error))
    return FALSE;
  if (strcmp(format, FORMAT) != 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "the format is '%s', not '" FORMAT "'",
                format);
    return FALSE;
  }
  if (!demur_json_read_int(root, "version", 1, G_MAXINT64, &version, error))
    return FALSE;
  if (version > FORMAT_VERSION) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_UNSUPPORTED,
                "format version %" G_GINT64_FORMAT " is newer than this program's %d; update demur",
                version, FORMAT_VERSION);
    return FALSE;
  }
  JsonObject *settings, *outlier;
  if (!demur_json_read_bool(root, "simulated", &s->simulated, error) ||
      !read_text(root, "model", &s->model, error) ||
      !read_size(root, "n_classes", 2, 1000000, &s->n_classes, error) ||
      !read_size(root, "embedding_width", 0, 1000000, &s->embedding_width, error) ||
      !demur_json_read_string(root, "seed", &seed, error) ||
      !g_ascii_string_to_unsigned(seed, 10, 0, G_MAXUINT64, &s->seed, error) ||
      !demur_json_read_object(root, "settings", &settings, error) ||
      (s->settings = demur_train_settings_read_json(settings, error)) == NULL ||
      !read_text(root, "cohort", &s->cohort, error) ||
      !read_text(root, "cohort_digest", &s->cohort_digest, error) || !read_parts(s, root, error) ||
      !read_size(root, "n_patients", 0, G_MAXINT32, &s->n_patients, error) ||
      !read_hashes(root, "patient_hashes", s->n_patients, &s->patient_hashes, error))
    return FALSE;
  for (size_t i = 1; i < s->n_patients; i++)
    if (s->patient_hashes[i - 1] > s->patient_hashes[i]) {
      g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                          "member 'patient_hashes' is not in ascending order");
      return FALSE;
    }
  const gboolean with_outlier =
      json_object_has_member(root, "outlier") && !json_object_get_null_member(root, "outlier");
  s->columns = demur_meta_columns_new(s->n_classes, with_outlier);
  if (!read_inputs(s, root, error) || !read_networks(s, root, error) ||
      !read_size(root, "n_kept", 0, DEMUR_SELECTOR_MAX_KEPT, &s->n_kept, error) ||
      !demur_json_read_floats_base64(root, "kept_inputs", s->n_kept * s->n_inputs, &s->kept_inputs,
                                     error) ||
      !demur_json_read_floats_base64(root, "kept_scores", s->n_kept, &s->kept_scores, error))
    return FALSE;
  if (!with_outlier)
    return TRUE;
  if (!demur_json_read_object(root, "outlier", &outlier, error) ||
      (s->outlier = demur_outlier_model_read_json(outlier, error)) == NULL ||
      !read_size(root, "n_reference", 1, G_MAXINT32, &s->n_reference, error) ||
      !read_hashes(root, "reference_hashes", s->n_reference, &s->reference_hashes, error))
    return FALSE;
  if (demur_outlier_model_width(s->outlier) != s->embedding_width ||
      demur_outlier_model_n_fitted(s->outlier) != s->n_reference) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                        "the outlier model does not fit the embedding width or reference set");
    return FALSE;
  }
  return TRUE;
}

DemurSelector *
demur_selector_from_json(const char *text, gssize length, const char *name, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  g_autoptr(GError) local = NULL;
  if (!json_parser_load_from_data(parser, text, length, &local)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%s is not a JSON document: %s", name,
                local->message);
    return NULL;
  }
  JsonNode *node = json_parser_get_root(parser);
  if (node == NULL || !JSON_NODE_HOLDS_OBJECT(node)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%s is not a selector: no JSON object",
                name);
    return NULL;
  }
  g_autoptr(DemurSelector) selector = demur_selector_alloc();
  const char *digest;
  if (!read_document(selector, json_node_get_object(node), &local) ||
      !demur_json_read_string(json_node_get_object(node), "digest", &digest, &local)) {
    g_set_error(error, local->domain, local->code, "%s is not a usable selector: %s", name,
                local->message);
    return NULL;
  }
  demur_selector_seal(selector);
  if (strcmp(digest, selector->digest) != 0) {
    g_set_error(
        error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
        "%s was changed after it was written: its digest is %.12s.., its content's %.12s..; "
        "export it again",
        name, digest, selector->digest);
    return NULL;
  }
  return g_steal_pointer(&selector);
}
