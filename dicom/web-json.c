#include "dicom/web-json.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"

/* Attributes as DICOM JSON writes their tags. */
#define PATIENT_ID "00100020"
#define STUDY_UID "0020000D"
#define STUDY_DATE "00080020"
#define ACCESSION "00080050"
#define STUDY_TEXT "00081030"
#define SERIES_UID "0020000E"
#define SERIES_NUMBER "00200011"
#define MODALITY "00080060"
#define MODALITIES "00080061"
#define SERIES_TEXT "0008103E"
#define N_OF_STUDY "00201208"
#define N_OF_SERIES "00201209"
#define FAILED_SEQUENCE "00081198"
#define STORED_SEQUENCE "00081199"
#define INSTANCE_UID "00081155"
#define FAILURE_REASON "00081197"

/* The elements of an attribute's Value; NULL where it has none, or is of another form. */
static JsonArray *
values_of(JsonObject *object, const char *tag) {
  JsonNode *node = json_object_get_member(object, tag);
  JsonObject *attribute =
      node != NULL && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
  JsonNode *value = attribute != NULL ? json_object_get_member(attribute, "Value") : NULL;
  return value != NULL && JSON_NODE_HOLDS_ARRAY(value) ? json_node_get_array(value) : NULL;
}

/* An attribute's values as DICOM's text, "\" between them (owned); "" where there are none. */
static char *
text_of(JsonObject *object, const char *tag) {
  JsonArray *values = values_of(object, tag);
  GString *text = g_string_new(NULL);
  for (guint i = 0; values != NULL && i < json_array_get_length(values); i++) {
    JsonNode *node = json_array_get_element(values, i);
    if (!JSON_NODE_HOLDS_VALUE(node))
      continue;
    if (text->len > 0)
      g_string_append_c(text, '\\');
    if (json_node_get_value_type(node) == G_TYPE_STRING)
      g_string_append(text, json_node_get_string(node));
    else if (json_node_get_value_type(node) == G_TYPE_INT64)
      g_string_append_printf(text, "%" PRId64, json_node_get_int(node));
  }
  return g_string_free(text, FALSE);
}

static gboolean
load(JsonParser *parser, const char *text, size_t length, GError **error) {
  g_autoptr(GError) cause = NULL;
  if (length <= G_MAXSSIZE && demur_json_load(parser, text, (gssize)length, &cause))
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_INPUT, "the server's answer is no JSON: %s",
                  cause != NULL ? cause->message : "too long");
  return FALSE;
}

static DemurFound *
found_of(JsonObject *object, gboolean series) {
  DemurFound *found = g_new0(DemurFound, 1);
  found->patient_id = text_of(object, PATIENT_ID);
  found->study_uid = text_of(object, STUDY_UID);
  found->study_date = text_of(object, STUDY_DATE);
  found->accession_number = text_of(object, ACCESSION);
  found->study_description = text_of(object, STUDY_TEXT);
  found->series_uid = text_of(object, SERIES_UID);
  found->series_number = text_of(object, SERIES_NUMBER);
  found->modality = text_of(object, series ? MODALITY : MODALITIES);
  found->series_description = text_of(object, SERIES_TEXT);
  found->n_instances = text_of(object, series ? N_OF_SERIES : N_OF_STUDY);
  return found;
}

GPtrArray *
demur_web_json_found(const char *text, size_t length, gboolean series, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  if (!load(parser, text, length, error))
    return NULL;
  JsonNode *root = json_parser_get_root(parser);
  JsonArray *array = root != NULL && JSON_NODE_HOLDS_ARRAY(root) ? json_node_get_array(root) : NULL;
  const guint n = array != NULL ? json_array_get_length(array) : 0;
  if (array == NULL || n > DEMUR_WEB_MAX_FOUND) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "the server's answer is no list of at most %d elements", DEMUR_WEB_MAX_FOUND);
    return NULL;
  }
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func((GDestroyNotify)demur_found_free);
  for (guint i = 0; i < n; i++) {
    JsonObject *object;
    if (!demur_json_read_element(array, i, "the server's answer", &object, error))
      return NULL;
    g_ptr_array_add(list, found_of(object, series));
  }
  return g_steal_pointer(&list);
}

gboolean
demur_web_json_stored(const char *text, size_t length, size_t *n_stored, GPtrArray *problems,
                      GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  *n_stored = 0;
  if (!load(parser, text, length, error))
    return FALSE;
  JsonNode *root = json_parser_get_root(parser);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT(root)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "the server's answer is no object");
    return FALSE;
  }
  JsonArray *stored = values_of(json_node_get_object(root), STORED_SEQUENCE),
            *failed = values_of(json_node_get_object(root), FAILED_SEQUENCE);
  *n_stored = stored != NULL ? json_array_get_length(stored) : 0;
  for (guint i = 0; failed != NULL && i < json_array_get_length(failed); i++) {
    JsonObject *object;
    if (!demur_json_read_element(failed, i, "the failed objects", &object, error))
      return FALSE;
    g_autofree char *uid = text_of(object, INSTANCE_UID), *reason = text_of(object, FAILURE_REASON);
    g_ptr_array_add(problems, g_strdup_printf("%s: failure reason %s", uid, reason));
  }
  return TRUE;
}
