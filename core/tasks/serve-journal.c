#include "tasks/serve-journal.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file-input.h"
#include "base/file-output.h"
#include "base/json-reader.h"
#include "base/limits.h"

#define SUFFIX ".json"

static const char *const step_names[DEMUR_N_SERVE_STEPS] = {"read", "model", "assess", "answer",
                                                            "done"};
static const char *const state_names[DEMUR_N_DELIVERY_STATES] = {"waiting", "stored", "sent",
                                                                 "given_up"};
static const char *const place_names[DEMUR_N_JOURNAL_PLACES] = {"queue", "held", "answered"};

const char *
demur_serve_step_name(DemurServeStep step) {
  return step_names[step];
}

static void
delivery_free(gpointer data) {
  DemurDelivery *delivery = data;
  g_free(delivery->to);
  g_strfreev(delivery->files);
  g_free(delivery->why);
  g_free(delivery->transaction);
  g_free(delivery);
}

DemurDelivery *
demur_delivery_new(const char *to, gint64 now) {
  DemurDelivery *delivery = g_new0(DemurDelivery, 1);
  delivery->to = g_strdup(to);
  delivery->since = now;
  return delivery;
}

DemurServeStudy *
demur_serve_study_new(const char *study, gint64 now) {
  DemurServeStudy *record = g_new0(DemurServeStudy, 1);
  record->study = g_strdup(study);
  record->arrived = now;
  record->deliveries = g_ptr_array_new_with_free_func(delivery_free);
  return record;
}

void
demur_serve_study_free(DemurServeStudy *study) {
  if (study == NULL)
    return;
  g_free(study->study);
  g_free(study->why);
  g_free(study->scan_id);
  g_free(study->verdict);
  g_free(study->answered);
  g_ptr_array_unref(study->deliveries);
  g_free(study);
}

static char *
place_folder(const char *folder, DemurJournalPlace place) {
  return g_build_filename(folder, ".journal", place_names[place], NULL);
}

static char *
record_path(const char *folder, DemurJournalPlace place, const char *study) {
  g_autofree char *name = g_strconcat(study, SUFFIX, NULL);
  return g_build_filename(folder, ".journal", place_names[place], name, NULL);
}

gboolean
demur_serve_journal_open(const char *folder, GError **error) {
  for (int p = 0; p < DEMUR_N_JOURNAL_PLACES; p++) {
    g_autofree char *path = place_folder(folder, (DemurJournalPlace)p);
    if (!demur_folder_make(path, error))
      return FALSE;
  }
  return TRUE;
}

/* --- one record --- */

static void
write_delivery(DemurJson *json, const DemurDelivery *delivery) {
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "to", delivery->to);
  demur_json_string(json, "state", state_names[delivery->state]);
  demur_json_int(json, "tries", delivery->tries);
  demur_json_int(json, "since", delivery->since);
  demur_json_int(json, "next", delivery->next);
  demur_json_string(json, "why", delivery->why);
  demur_json_string(json, "transaction", delivery->transaction);
  demur_json_int(json, "asked", delivery->asked);
  demur_json_begin_array(json, "files");
  for (char **file = delivery->files; file != NULL && *file != NULL; file++)
    demur_json_string(json, NULL, *file);
  demur_json_end_array(json);
  demur_json_end_object(json);
}

void
demur_serve_study_write(DemurJson *json, const DemurServeStudy *study) {
  demur_json_string(json, "study_uid", study->study);
  demur_json_string(json, "step", step_names[study->step]);
  demur_json_bool(json, "held", study->held);
  demur_json_bool(json, "part", study->part);
  demur_json_string(json, "why", study->why);
  demur_json_int(json, "tries", study->tries);
  demur_json_int(json, "arrived", study->arrived);
  demur_json_int(json, "next", study->next);
  demur_json_int(json, "n_objects", study->n_objects);
  demur_json_int(json, "n_expected", study->n_expected);
  demur_json_string(json, "scan_id", study->scan_id);
  demur_json_string(json, "verdict", study->verdict);
  demur_json_string(json, "answered", study->answered);
  demur_json_begin_array(json, "deliveries");
  for (guint d = 0; d < study->deliveries->len; d++)
    write_delivery(json, study->deliveries->pdata[d]);
  demur_json_end_array(json);
}

/* A text, or NULL where the member is null; FALSE where it is neither. */
static gboolean
read_text(JsonObject *object, const char *key, char **text) {
  JsonNode *node = json_object_get_member(object, key);
  const char *value;
  if (node == NULL)
    return FALSE;
  if (JSON_NODE_HOLDS_NULL(node))
    return TRUE;
  if (!demur_json_read_string(object, key, &value, NULL))
    return FALSE;
  g_free(*text);
  *text = g_strdup(value);
  return TRUE;
}

static gboolean
read_count(JsonObject *object, const char *key, guint *count) {
  gint64 value;
  if (!demur_json_read_int(object, key, 0, G_MAXUINT32, &value, NULL))
    return FALSE;
  *count = (guint)value;
  return TRUE;
}

static gboolean
read_time(JsonObject *object, const char *key, gint64 *time) {
  return demur_json_read_int(object, key, 0, G_MAXINT64, time, NULL);
}

/* The place of a member's text among names. */
static gboolean
read_name(JsonObject *object, const char *key, const char *const *names, int n, int *place) {
  const char *value;
  if (!demur_json_read_string(object, key, &value, NULL))
    return FALSE;
  for (int i = 0; i < n; i++)
    if (strcmp(names[i], value) == 0) {
      *place = i;
      return TRUE;
    }
  return FALSE;
}

static gboolean
read_delivery(JsonObject *object, DemurDelivery *delivery) {
  JsonArray *files;
  int state;
  if (!read_text(object, "to", &delivery->to) || delivery->to == NULL ||
      !read_name(object, "state", state_names, DEMUR_N_DELIVERY_STATES, &state) ||
      !read_count(object, "tries", &delivery->tries) ||
      !read_time(object, "since", &delivery->since) ||
      !read_time(object, "next", &delivery->next) || !read_text(object, "why", &delivery->why) ||
      !demur_json_read_array(object, "files", &files, NULL))
    return FALSE;
  delivery->state = (DemurDeliveryState)state;
  /* Records of before storage commitment have neither. */
  if (json_object_has_member(object, "transaction") &&
      (!read_text(object, "transaction", &delivery->transaction) ||
       !read_time(object, "asked", &delivery->asked)))
    return FALSE;
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  for (guint f = 0; f < json_array_get_length(files); f++) {
    JsonNode *node = json_array_get_element(files, f);
    if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_string(node) == NULL)
      return FALSE;
    g_strv_builder_add(builder, json_node_get_string(node));
  }
  delivery->files = g_strv_builder_end(builder);
  return TRUE;
}

static gboolean
read_record(JsonObject *object, DemurServeStudy *study) {
  JsonArray *deliveries;
  int step;
  if (!read_text(object, "study_uid", &study->study) ||
      !read_name(object, "step", step_names, DEMUR_N_SERVE_STEPS, &step) ||
      !demur_json_read_bool(object, "held", &study->held, NULL) ||
      !demur_json_read_bool(object, "part", &study->part, NULL) ||
      !read_text(object, "why", &study->why) || !read_count(object, "tries", &study->tries) ||
      !read_time(object, "arrived", &study->arrived) || !read_time(object, "next", &study->next) ||
      !read_count(object, "n_objects", &study->n_objects) ||
      !read_count(object, "n_expected", &study->n_expected) ||
      !read_text(object, "scan_id", &study->scan_id) ||
      !read_text(object, "verdict", &study->verdict) ||
      !read_text(object, "answered", &study->answered) ||
      !demur_json_read_array(object, "deliveries", &deliveries, NULL))
    return FALSE;
  study->step = (DemurServeStep)step;
  for (guint d = 0; d < json_array_get_length(deliveries); d++) {
    JsonObject *member;
    DemurDelivery *delivery = demur_delivery_new(NULL, 0);
    g_ptr_array_add(study->deliveries, delivery);
    if (!demur_json_read_element(deliveries, d, "deliveries", &member, NULL) ||
        !read_delivery(member, delivery))
      return FALSE;
  }
  return TRUE;
}

/* NULL where the file is not there or no record of that study. */
static DemurServeStudy *
load(const char *path, const char *study) {
  gsize n;
  g_autofree char *text = demur_file_input_read(path, DEMUR_LIMIT_SETTINGS_BYTES, &n, NULL);
  if (text == NULL)
    return NULL;
  g_autoptr(JsonParser) parser = json_parser_new();
  if (!demur_json_load(parser, text, (gssize)n, NULL))
    return NULL;
  JsonNode *root = json_parser_get_root(parser);
  g_autoptr(DemurServeStudy) record = demur_serve_study_new(study, 0);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT(root) ||
      !read_record(json_node_get_object(root), record) || g_strcmp0(record->study, study) != 0)
    return NULL;
  return g_steal_pointer(&record);
}

/* --- the folders --- */

gboolean
demur_serve_journal_save(const char *folder, const DemurServeStudy *study, GError **error) {
  const DemurJournalPlace place = study->step != DEMUR_SERVE_DONE ? DEMUR_JOURNAL_QUEUE
                                  : study->held                   ? DEMUR_JOURNAL_HELD
                                                                  : DEMUR_JOURNAL_ANSWERED;
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_serve_study_write(json, study);
  demur_json_end_object(json);
  g_autofree char *text = demur_json_finish(json);
  g_autofree char *path = record_path(folder, place, study->study);
  if (!demur_file_write(path, text, -1, DEMUR_FILE_REPLACE, error))
    return FALSE;
  /* In the order in which what is left after a kill says the least: queue beats the others. */
  static const DemurJournalPlace order[] = {DEMUR_JOURNAL_HELD, DEMUR_JOURNAL_ANSWERED,
                                            DEMUR_JOURNAL_QUEUE};
  for (gsize p = 0; p < G_N_ELEMENTS(order); p++) {
    g_autofree char *other = record_path(folder, order[p], study->study);
    if (order[p] != place)
      (void)g_unlink(other);
  }
  return TRUE;
}

static gint
by_arrival(gconstpointer a, gconstpointer b) {
  const DemurServeStudy *x = *(const DemurServeStudy *const *)a,
                        *y = *(const DemurServeStudy *const *)b;
  return x->arrived != y->arrived ? (x->arrived > y->arrived) - (x->arrived < y->arrived)
                                  : strcmp(x->study, y->study);
}

/* The study that a file's name names (owned); NULL: none. */
static char *
study_of(const char *name) {
  return g_str_has_suffix(name, SUFFIX) && name[0] != '.'
             ? g_strndup(name, strlen(name) - strlen(SUFFIX))
             : NULL;
}

GPtrArray *
demur_serve_journal_list(const char *folder, DemurJournalPlace place, GPtrArray *damaged) {
  GPtrArray *list = g_ptr_array_new_with_free_func((GDestroyNotify)demur_serve_study_free);
  g_autofree char *path = place_folder(folder, place);
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *study = study_of(name);
    if (study == NULL)
      continue;
    g_autofree char *file = g_build_filename(path, name, NULL);
    DemurServeStudy *record = load(file, study);
    if (record != NULL)
      g_ptr_array_add(list, record);
    else if (damaged != NULL && g_file_test(file, G_FILE_TEST_EXISTS))
      g_ptr_array_add(damaged, g_strdup(study));
  }
  g_ptr_array_sort(list, by_arrival);
  return list;
}

guint
demur_serve_journal_count(const char *folder, DemurJournalPlace place, gint64 *newest) {
  g_autofree char *path = place_folder(folder, place);
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  guint n = 0;
  const char *name;
  if (newest != NULL)
    *newest = 0;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *study = study_of(name);
    if (study == NULL)
      continue;
    n++;
    g_autofree char *file = g_build_filename(path, name, NULL);
    GStatBuf facts;
    if (newest != NULL && g_stat(file, &facts) == 0)
      *newest = MAX(*newest, (gint64)facts.st_mtime);
  }
  return n;
}

DemurServeStudy *
demur_serve_journal_find(const char *folder, const char *study) {
  for (int p = DEMUR_JOURNAL_HELD; p <= DEMUR_JOURNAL_ANSWERED; p++) {
    g_autofree char *path = record_path(folder, (DemurJournalPlace)p, study);
    DemurServeStudy *record = load(path, study);
    if (record != NULL)
      return record;
  }
  return NULL;
}

char **
demur_serve_journal_answered(const char *folder, gint64 before) {
  g_autofree char *path = place_folder(folder, DEMUR_JOURNAL_ANSWERED);
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  g_autoptr(GStrvBuilder) studies = g_strv_builder_new();
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *study = study_of(name);
    g_autofree char *file = g_build_filename(path, name, NULL);
    g_autofree char *open = study != NULL ? record_path(folder, DEMUR_JOURNAL_QUEUE, study) : NULL;
    GStatBuf facts;
    if (study != NULL && g_stat(file, &facts) == 0 && (gint64)facts.st_mtime < before &&
        !g_file_test(open, G_FILE_TEST_EXISTS))
      g_strv_builder_add(studies, study);
  }
  return g_strv_builder_end(studies);
}

guint
demur_serve_journal_prune(const char *folder, gint64 before) {
  g_autofree char *path = place_folder(folder, DEMUR_JOURNAL_ANSWERED);
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  guint n = 0;
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *study = study_of(name);
    g_autofree char *file = g_build_filename(path, name, NULL);
    GStatBuf facts;
    if (study != NULL && g_stat(file, &facts) == 0 && (gint64)facts.st_mtime < before &&
        g_unlink(file) == 0)
      n++;
  }
  return n;
}
