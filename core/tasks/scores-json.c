#include "tasks/scores-json.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/file-input.h"
#include "base/json-reader.h"
#include "base/limits.h"

#define MAX_EMBEDDING 100000

void
demur_named_score_free(DemurNamedScore *score) {
  if (score == NULL)
    return;
  demur_score_record_free(score->record);
  g_free(score->series_uid);
  g_free(score->scan_id);
  g_free(score->name);
  g_free(score);
}

static gboolean
fail(GError **error, const char *item, const char *what) {
  demur_error_set(error, DEMUR_ERROR_INPUT, "item %s: %s", item, what);
  return FALSE;
}

static gboolean
read_risk(JsonNode *node, const char *item, double *risk, GError **error) {
  const double value = demur_json_is_number(node) ? json_node_get_double(node) : NAN;
  if (!(value >= 0.0 && value <= 1.0))
    return fail(error, item, N_("a risk is no number from 0 to 1"));
  *risk = value;
  return TRUE;
}

static gboolean
read_years(JsonNode *node, const char *item, DemurScoreRecord *record, GError **error) {
  JsonArray *years = JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
  if (years == NULL || json_array_get_length(years) != DEMUR_N_YEARS)
    return fail(error, item, N_("yearly risks must be a list of six"));
  for (guint y = 0; y < DEMUR_N_YEARS; y++)
    if (!read_risk(json_array_get_element(years, y), item, &record->yearly_risks[y], error))
      return FALSE;
  record->risk = record->yearly_risks[DEMUR_N_YEARS - 1];
  return TRUE;
}

static gboolean
read_embedding(JsonNode *node, const char *item, DemurScoreRecord *record, GError **error) {
  JsonArray *values = JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
  const guint n = values != NULL ? json_array_get_length(values) : 0;
  if (n == 0 || n > MAX_EMBEDDING)
    return fail(error, item, N_("\"embedding\" must be a list of 1 to 100,000 numbers"));
  record->embedding_width = n;
  record->embedding = g_new(float, n);
  for (guint i = 0; i < n; i++) {
    JsonNode *value = json_array_get_element(values, i);
    const float number = demur_json_is_number(value) ? (float)json_node_get_double(value) : NAN;
    if (!isfinite(number))
      return fail(error, item, N_("\"embedding\" holds what is no finite number"));
    record->embedding[i] = number;
  }
  return TRUE;
}

/* A member that must be text where it is there. */
static gboolean
read_text(JsonObject *object, const char *member, const char *item, char **text, GError **error) {
  JsonNode *node = json_object_get_member(object, member);
  if (node == NULL || JSON_NODE_HOLDS_NULL(node))
    return TRUE;
  if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_STRING) {
    g_autofree char *what =
        g_strdup_printf("\"%s\" must be text in quotes: as a number it would lose zeros", member);
    return fail(error, item, what);
  }
  g_free(*text);
  *text = json_node_dup_string(node);
  return TRUE;
}

static gboolean
read_object(JsonObject *object, DemurNamedScore *score, GError **error) {
  DemurScoreRecord *record = score->record;
  if (!read_text(object, "name", score->name, &score->name, error) ||
      !read_text(object, "series_uid", score->name, &score->series_uid, error) ||
      !read_text(object, "scan_id", score->name, &score->scan_id, error) ||
      !read_text(object, "patient_id", score->name, &record->patient_id, error) ||
      !read_text(object, "model_version", score->name, &record->model_version, error))
    return FALSE;
  const char *item = score->name;
  JsonNode *years = json_object_get_member(object, "risks");
  if (years != NULL && !read_years(years, item, record, error))
    return FALSE;
  for (int y = 0; y < DEMUR_N_YEARS; y++) {
    g_autofree char *member = g_strdup_printf("risk_year_%d", y + 1);
    JsonNode *node = json_object_get_member(object, member);
    if (node != NULL && !JSON_NODE_HOLDS_NULL(node) &&
        !read_risk(node, item, &record->yearly_risks[y], error))
      return FALSE;
  }
  const double last = record->yearly_risks[DEMUR_N_YEARS - 1];
  if (!isnan(last))
    record->risk = last;
  JsonNode *risk = json_object_get_member(object, "risk");
  if (risk != NULL) {
    if (!read_risk(risk, item, &record->risk, error))
      return FALSE;
    if (!isnan(last) && last != record->risk)
      return fail(error, item, N_("\"risk\" differs from that of year 6: leave one out"));
  }
  if (isnan(record->risk))
    return fail(error, item, N_("there is no \"risk\", \"risks\" or \"risk_year_6\""));
  JsonNode *embedding = json_object_get_member(object, "embedding");
  return embedding == NULL || JSON_NODE_HOLDS_NULL(embedding) ||
         read_embedding(embedding, item, record, error);
}

/* SCORE, a risk, or six yearly ones. */
static gboolean
add_item(GPtrArray *scores, JsonNode *node, const char *name, GError **error) {
  DemurNamedScore *score = g_new0(DemurNamedScore, 1);
  g_ptr_array_add(scores, score);
  score->name = g_strdup(name);
  score->record = g_new0(DemurScoreRecord, 1);
  score->record->risk = NAN;
  for (int y = 0; y < DEMUR_N_YEARS; y++)
    score->record->yearly_risks[y] = NAN;
  if (JSON_NODE_HOLDS_OBJECT(node))
    return read_object(json_node_get_object(node), score, error);
  if (JSON_NODE_HOLDS_ARRAY(node))
    return read_years(node, name, score->record, error);
  return read_risk(node, name, &score->record->risk, error);
}

static gboolean
add_list(GPtrArray *scores, JsonArray *list, GError **error) {
  for (guint i = 0; i < json_array_get_length(list); i++) {
    g_autofree char *name = g_strdup_printf("%u", i);
    if (!add_item(scores, json_array_get_element(list, i), name, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
is_score(JsonObject *object) {
  return json_object_has_member(object, "risk") || json_object_has_member(object, "risks") ||
         json_object_has_member(object, "risk_year_6");
}

static gboolean
is_uid(const char *text) {
  return strspn(text, "0123456789.") == strlen(text) && strchr(text, '.') != strrchr(text, '.');
}

const char *
demur_named_score_other(const DemurNamedScore *score, const DemurSeriesRecord *series) {
  if (score->scan_id != NULL && g_strcmp0(score->scan_id, series->scan_id) != 0)
    return score->scan_id;
  if (score->series_uid != NULL && g_strcmp0(score->series_uid, series->series_uid) != 0)
    return score->series_uid;
  const gboolean is_other = score->name != NULL && is_uid(score->name) &&
                            g_strcmp0(score->name, series->scan_id) != 0 &&
                            g_strcmp0(score->name, series->series_uid) != 0 &&
                            g_strcmp0(score->name, series->study_uid) != 0 &&
                            g_strcmp0(score->name, series->patient_id) != 0;
  return is_other ? score->name : NULL;
}

/* What stands beside a list is said of each score in it which says none of its own. */
static gboolean
take_common(GPtrArray *scores, JsonObject *object, GError **error) {
  static const char *const members[] = {"model_version", "patient_id", "series_uid", "scan_id"};
  for (gsize m = 0; m < G_N_ELEMENTS(members); m++) {
    g_autofree char *common = NULL;
    if (!read_text(object, members[m], members[m], &common, error))
      return FALSE;
    for (guint i = 0; common != NULL && i < scores->len; i++) {
      DemurNamedScore *score = scores->pdata[i];
      char **const texts[] = {&score->record->model_version, &score->record->patient_id,
                              &score->series_uid, &score->scan_id};
      if (*texts[m] == NULL)
        *texts[m] = g_strdup(common);
    }
  }
  return TRUE;
}

static gboolean
read_root(GPtrArray *scores, JsonNode *root, GError **error) {
  if (JSON_NODE_HOLDS_ARRAY(root))
    return add_list(scores, json_node_get_array(root), error);
  if (!JSON_NODE_HOLDS_OBJECT(root)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "neither an object nor a list");
    return FALSE;
  }
  JsonObject *object = json_node_get_object(root);
  JsonNode *data = json_object_get_member(object, "data"); /* as Sybil's server answers */
  if (data != NULL && JSON_NODE_HOLDS_OBJECT(data) &&
      json_object_has_member(json_node_get_object(data), "predictions"))
    object = json_node_get_object(data);
  static const char *const lists[] = {"predictions", "scores"};
  for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
    JsonNode *list = json_object_get_member(object, lists[i]);
    if (list != NULL && JSON_NODE_HOLDS_ARRAY(list))
      return add_list(scores, json_node_get_array(list), error) &&
             take_common(scores, object, error);
  }
  if (is_score(object))
    return add_item(scores, root, "0", error);
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;
  json_object_iter_init_ordered(&iter, object);
  while (json_object_iter_next_ordered(&iter, &name, &node))
    if (!add_item(scores, node, name, error))
      return FALSE;
  return TRUE;
}

GPtrArray *
demur_scores_json_read(const char *path, GError **error) {
  g_autofree char *file = g_path_get_basename(path);
  g_autoptr(GError) cause = NULL;
  gsize length;
  g_autofree char *text =
      demur_file_input_read(path, DEMUR_LIMIT_SCORES_JSON_BYTES, &length, error);
  if (text == NULL)
    return NULL;
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  if (!demur_json_load(parser, text, (gssize)length, &cause)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "%s can't be read as JSON: %s", file, cause->message);
    return NULL;
  }
  g_clear_pointer(&text, g_free);
  g_autoptr(GPtrArray) scores =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_named_score_free);
  JsonNode *root = json_parser_get_root(parser);
  if (root == NULL || !read_root(scores, root, &cause)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "%s: %s", file,
                    cause != NULL ? cause->message : N_("it holds nothing"));
    demur_error_because(error, cause);
    return NULL;
  }
  if (scores->len == 0) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "%s holds no score", file);
    return NULL;
  }
  return g_steal_pointer(&scores);
}
