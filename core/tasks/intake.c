#include "tasks/intake.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "tasks/series-records.h"
#include "cohort/table.h"
#include "dicom/library.h"
#include "store/scores.h"

typedef struct {
  char *institution, *station, *site; /* the first two casefolded; NULL matches any */
} SiteRow;

struct DemurSiteMap {
  GArray *rows; /* of SiteRow */
};

static void
site_row_clear(gpointer data) {
  SiteRow *row = data;
  g_free(row->institution);
  g_free(row->station);
  g_free(row->site);
}

void
demur_site_map_free(DemurSiteMap *map) {
  if (map == NULL)
    return;
  g_array_unref(map->rows);
  g_free(map);
}

static char *
fold(const char *text) {
  g_autofree char *copy = g_strdup(text);
  return g_utf8_casefold(g_strstrip(copy), -1);
}

/* The folded text of a field, NULL where there is no such column or it is empty. */
static char *
folded_field(const DemurTableField *fields, gssize column) {
  if (column < 0)
    return NULL;
  char *text = fold(fields[column].text);
  if (*text == '\0')
    g_clear_pointer(&text, g_free);
  return text;
}

DemurSiteMap *
demur_site_map_read(const char *path, GError **error) {
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  const DemurTableField *fields;
  size_t n_fields, n_header;
  if (table == NULL || !demur_table_next(table, &fields, &n_header, error))
    return NULL;
  const char *file = demur_table_name(table);
  gssize institution = -1, station = -1, site = -1;
  for (size_t f = 0; f < n_header; f++) {
    gssize *place = strcmp(fields[f].text, "institution") == 0 ? &institution
                    : strcmp(fields[f].text, "station") == 0   ? &station
                    : strcmp(fields[f].text, "site") == 0      ? &site
                                                               : NULL;
    if (place != NULL)
      *place = (gssize)f;
  }
  if (site < 0 || (institution < 0 && station < 0)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s, line 1: a site map needs the columns site and institution, station or both",
                file);
    return NULL;
  }
  g_autoptr(DemurSiteMap) map = g_new0(DemurSiteMap, 1);
  map->rows = g_array_new(FALSE, TRUE, sizeof(SiteRow));
  g_array_set_clear_func(map->rows, site_row_clear);
  for (;;) {
    if (!demur_table_next(table, &fields, &n_fields, error))
      return NULL;
    if (n_fields == 0)
      return g_steal_pointer(&map);
    if (n_fields != n_header || fields[site].length == 0) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%s, line %zu: %s", file, fields[0].line,
                  n_fields != n_header ? "another number of fields than the header"
                                       : "the site is empty");
      return NULL;
    }
    g_autofree char *name = g_strstrip(g_strdup(fields[site].text));
    SiteRow row = {folded_field(fields, institution), folded_field(fields, station),
                   g_steal_pointer(&name)};
    if (row.institution == NULL && row.station == NULL) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "%s, line %zu: neither institution nor station is given", file, fields[0].line);
      site_row_clear(&row);
      return NULL;
    }
    g_array_append_val(map->rows, row);
  }
}

const char *
demur_site_map_find(const DemurSiteMap *map, const char *institution, const char *station) {
  g_autofree char *mine = fold(institution != NULL ? institution : "");
  g_autofree char *machine = fold(station != NULL ? station : "");
  for (guint i = 0; i < map->rows->len; i++) {
    const SiteRow *row = &g_array_index(map->rows, SiteRow, i);
    if ((row->institution == NULL || strcmp(row->institution, mine) == 0) &&
        (row->station == NULL || strcmp(row->station, machine) == 0))
      return row->site;
  }
  return NULL;
}

DemurEligibility *
demur_intake_rules(const char *path, char *const *changes, GError **error) {
  g_autoptr(DemurEligibility) rules = demur_eligibility_new();
  if (path != NULL && !demur_eligibility_read(rules, path, error))
    return NULL;
  for (; changes != NULL && *changes != NULL; changes++)
    if (!demur_eligibility_parse(rules, *changes, error))
      return NULL;
  return g_steal_pointer(&rules);
}

/* What the choice needs of a record; the facts hold the kernel's class and the series number. */
static DemurCandidate
candidate_of(const DemurSeriesRecord *record) {
  DemurCandidate candidate = {.scan_id = record->scan_id,
                              .study_uid = record->study_uid,
                              .patient_id = record->patient_id,
                              .patient_name = record->patient_name,
                              .eligible = record->eligible,
                              .thickness_mm = record->thickness_mm,
                              .n_slices = record->n_slices,
                              .series_number = DEMUR_NO_NUMBER};
  g_autoptr(JsonNode) node =
      record->facts_json != NULL ? json_from_string(record->facts_json, NULL) : NULL;
  JsonObject *facts =
      node != NULL && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
  if (facts == NULL)
    return candidate;
  JsonNode *number = json_object_get_member(facts, "series_number");
  if (number != NULL && JSON_NODE_HOLDS_VALUE(number))
    candidate.series_number = json_node_get_int(number);
  JsonNode *acquisition = json_object_get_member(facts, "acquisition");
  JsonNode *sharpness =
      acquisition != NULL && JSON_NODE_HOLDS_OBJECT(acquisition)
          ? json_object_get_member(json_node_get_object(acquisition), "kernel_class")
          : NULL;
  const char *name = sharpness != NULL && JSON_NODE_HOLDS_VALUE(sharpness)
                         ? json_node_get_string(sharpness)
                         : NULL;
  for (int k = DEMUR_KERNEL_SOFT; name != NULL && k <= DEMUR_KERNEL_SHARP; k++)
    if (strcmp(name, demur_vendor_kernel_class_name((DemurKernelClass)k)) == 0)
      candidate.kernel_class = (DemurKernelClass)k;
  return candidate;
}

static char *
study_of(const DemurSeriesRecord *record) {
  const DemurCandidate candidate = {.scan_id = record->scan_id,
                                    .study_uid = record->study_uid,
                                    .patient_id = record->patient_id,
                                    .patient_name = record->patient_name};
  return demur_eligibility_study(&candidate);
}

static const DemurSeriesRecord *
find_record(const GPtrArray *records, const char *scan_id) {
  for (guint i = 0; records != NULL && i < records->len; i++) {
    const DemurSeriesRecord *record = records->pdata[i];
    if (strcmp(record->scan_id, scan_id) == 0)
      return record;
  }
  return NULL;
}

/* One study of the workspace. */
typedef struct {
  GPtrArray *now; /* its DemurSeriesRecord, borrowed */
  const DemurSeriesRecord *chosen_before;
  const DemurOverruleRecord *overrule;
  gboolean has_score;
} Study;

static gboolean
set_choice(DemurWorkspace *workspace, const DemurSeriesRecord *record, gboolean accepted,
           const char *reason, GError **error) {
  if (record->accepted == accepted && g_strcmp0(record->reason, reason) == 0)
    return TRUE;
  return demur_series_set_accepted(workspace, record->scan_id, accepted, reason, error);
}

/* Whether the rules' choice gives way: the scan_id that holds (NULL: none is assessed), and why the
 * others are not. */
static gboolean
choice_is_held(const Study *study, const char **holder, char **why) {
  if (study->overrule != NULL) {
    *holder = study->overrule->scan_id;
    *why = g_strdup_printf("a person chose series %s of the study instead: %s",
                           study->overrule->scan_id, study->overrule->reason);
    return TRUE;
  }
  if (study->chosen_before == NULL || !study->has_score)
    return FALSE;
  const DemurSeriesRecord *same = find_record(study->now, study->chosen_before->scan_id);
  *holder = same != NULL && same->eligible ? same->scan_id : NULL;
  *why = g_strdup_printf(
      *holder != NULL ? "eligible, not chosen: series %s of the study was chosen before, and a "
                        "score is known; a person may choose (`demur dicom choose`)"
                      : "eligible, not chosen: series %s of the study was chosen before, is not "
                        "eligible now, and a score is known; a person may choose (`demur dicom "
                        "choose`)",
      study->chosen_before->scan_id);
  return TRUE;
}

static gboolean
choose_in_study(DemurWorkspace *workspace, const Study *study, GError **error) {
  const guint n = study->now->len;
  g_autofree DemurCandidate *candidates = g_new0(DemurCandidate, n);
  for (guint i = 0; i < n; i++)
    candidates[i] = candidate_of(study->now->pdata[i]);
  demur_eligibility_choose(candidates, n);
  const char *holder = NULL;
  g_autofree char *why = NULL;
  const gboolean held = choice_is_held(study, &holder, &why);
  gboolean ok = TRUE;
  for (guint i = 0; i < n; i++) {
    const DemurSeriesRecord *record = study->now->pdata[i];
    g_autofree char *by_rules = candidates[i].reason;
    const gboolean holds = held && holder != NULL && strcmp(holder, record->scan_id) == 0;
    if (!ok)
      continue;
    if (holds || (!held && candidates[i].accepted))
      ok = set_choice(workspace, record, TRUE, NULL, error);
    else if (record->eligible)
      ok = set_choice(workspace, record, FALSE, held ? why : by_rules, error);
    else if (record->accepted) /* a person had chosen it, and then another */
      ok = set_choice(workspace, record, FALSE, why, error);
  }
  return ok;
}

static gboolean
look_for_scores(DemurWorkspace *workspace, Study *study, GError **error) {
  for (guint i = 0; i < study->now->len && !study->has_score; i++) {
    const DemurSeriesRecord *record = study->now->pdata[i];
    g_autoptr(GPtrArray) scores = demur_scores_list(workspace, record->scan_id, NULL, error);
    if (scores == NULL)
      return FALSE;
    study->has_score = scores->len > 0;
  }
  return TRUE;
}

/* The newest decision that names a series of the study. */
static const DemurOverruleRecord *
overrule_of(const GPtrArray *overrules, const GPtrArray *series) {
  for (guint i = 0; i < overrules->len; i++) {
    const DemurOverruleRecord *overrule = overrules->pdata[i];
    if (find_record(series, overrule->scan_id) != NULL)
      return overrule;
  }
  return NULL;
}

/* Makes the choice anew in every study named by keys. before: the series as they were. */
static gboolean
choose_again(DemurWorkspace *workspace, GHashTable *keys, const GPtrArray *before, GError **error) {
  g_autoptr(GPtrArray) now = demur_series_list(workspace, error);
  g_autoptr(GPtrArray) overrules =
      now != NULL ? demur_overrules_list(workspace, NULL, error) : NULL;
  if (overrules == NULL)
    return FALSE;
  g_autoptr(GHashTable) studies =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
  for (guint i = 0; i < now->len; i++) {
    g_autofree char *key = study_of(now->pdata[i]);
    if (!g_hash_table_contains(keys, key))
      continue;
    GPtrArray *members = g_hash_table_lookup(studies, key);
    if (members == NULL) {
      members = g_ptr_array_new();
      g_hash_table_insert(studies, g_steal_pointer(&key), members);
    }
    g_ptr_array_add(members, now->pdata[i]);
  }
  g_autoptr(GHashTable) chosen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < before->len; i++) {
    DemurSeriesRecord *record = before->pdata[i];
    if (record->accepted)
      g_hash_table_insert(chosen, study_of(record), record);
  }
  GHashTableIter iter;
  gpointer key, members;
  g_hash_table_iter_init(&iter, studies);
  while (g_hash_table_iter_next(&iter, &key, &members)) {
    Study study = {.now = members,
                   .chosen_before = g_hash_table_lookup(chosen, key),
                   .overrule = overrule_of(overrules, members)};
    if (!look_for_scores(workspace, &study, error) || !choose_in_study(workspace, &study, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
save_all(DemurWorkspace *workspace, const DemurImport *import, GPtrArray *records, GError **error) {
  const guint n = import->series->len;
  g_autofree DemurSeriesSave *saves = g_new0(DemurSeriesSave, MAX(n, 1));
  for (guint i = 0; i < n; i++) {
    const DemurSeries *series = import->series->pdata[i];
    saves[i].record = records->pdata[i];
    saves[i].files = demur_dicom_files_new(series);
    saves[i].n_files = series->n_slices;
  }
  const gboolean saved = demur_series_save(workspace, saves, n, error);
  for (guint i = 0; i < n; i++)
    demur_dicom_files_free((DemurSeriesFile *)saves[i].files, saves[i].n_files);
  return saved;
}

static gboolean
save_and_choose(DemurWorkspace *workspace, const DemurImport *import, GPtrArray *records,
                GError **error) {
  g_autoptr(GPtrArray) before = demur_series_list(workspace, error);
  g_autoptr(GHashTable) keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < records->len; i++)
    g_hash_table_add(keys, study_of(records->pdata[i]));
  return before != NULL && save_all(workspace, import, records, error) &&
         choose_again(workspace, keys, before, error);
}

/* Ends a transaction by what became of its work. */
static gboolean
end(DemurWorkspace *workspace, gboolean ok, GError **error) {
  if (ok)
    return demur_workspace_commit(workspace, error);
  demur_workspace_rollback(workspace);
  return FALSE;
}

DemurIntake *
demur_intake_run(DemurTask *task, const char *const *paths, const DemurEligibility *rules,
                 const DemurSiteMap *sites, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL || !demur_dicom_init(error))
    return NULL;
  g_autoptr(DemurIntake) intake = g_new0(DemurIntake, 1);
  intake->import = demur_import_run(paths, rules, task->parallel, &task->progress, error);
  if (intake->import == NULL)
    return NULL;
  g_autofree char *now = demur_task_now(task);
  g_auto(GStrv) changes = rules != NULL ? demur_eligibility_changes(rules) : NULL;
  g_autoptr(GPtrArray) records =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_series_record_free);
  for (guint i = 0; i < intake->import->series->len; i++) {
    DemurSeries *series = intake->import->series->pdata[i];
    const char *site =
        sites != NULL ? demur_site_map_find(sites, series->institution, series->station) : NULL;
    if (site != NULL) {
      g_free(series->site);
      series->site = g_strdup(site);
    }
    g_ptr_array_add(
        records, demur_dicom_record_new(series, site != NULL, (const char *const *)changes, now));
  }
  if (records->len > 0 &&
      (!demur_workspace_begin(workspace, error) ||
       !end(workspace, save_and_choose(workspace, intake->import, records, error), error)))
    return NULL;
  intake->records = g_ptr_array_new_with_free_func((GDestroyNotify)demur_series_record_free);
  for (guint i = 0; i < records->len; i++) {
    const DemurSeriesRecord *record = records->pdata[i];
    DemurSeriesRecord *kept = demur_series_load(workspace, record->scan_id, error);
    if (kept == NULL)
      return NULL;
    g_ptr_array_add(intake->records, kept);
  }
  return g_steal_pointer(&intake);
}

void
demur_intake_free(DemurIntake *intake) {
  if (intake == NULL)
    return;
  if (intake->records != NULL)
    g_ptr_array_unref(intake->records);
  demur_import_free(intake->import);
  g_free(intake);
}

static gboolean
add_overrule(DemurTask *task, DemurWorkspace *workspace, const DemurSeriesRecord *record,
             const char *reason, GError **error) {
  g_autoptr(GPtrArray) before = demur_series_list(workspace, error);
  g_autoptr(GPtrArray) earlier =
      before != NULL ? demur_overrules_list(workspace, record->scan_id, error) : NULL;
  if (earlier == NULL)
    return FALSE;
  g_autofree char *key = study_of(record);
  const char *replaced = NULL;
  for (guint i = 0; i < before->len; i++) {
    const DemurSeriesRecord *other = before->pdata[i];
    g_autofree char *other_key = study_of(other);
    if (other->accepted && strcmp(other->scan_id, record->scan_id) != 0 &&
        strcmp(other_key, key) == 0)
      replaced = other->scan_id;
  }
  /* Chosen by a person before, the record no longer says what the rules said: the first decision
   * does. */
  const DemurOverruleRecord *first =
      earlier->len > 0 && record->accepted ? earlier->pdata[earlier->len - 1] : NULL;
  g_autofree char *now = demur_task_now(task);
  const DemurOverruleRecord overrule = {
      .scan_id = record->scan_id,
      .reason = (char *)reason,
      .rules_eligible = record->eligible,
      .rules_accepted = first != NULL ? first->rules_accepted : record->accepted,
      .rules_reason = first != NULL ? first->rules_reason : record->reason,
      .replaced = (char *)replaced,
      .created = now};
  g_autoptr(GHashTable) keys = g_hash_table_new(g_str_hash, g_str_equal);
  g_hash_table_add(keys, key);
  return demur_overrules_add(workspace, &overrule, error) &&
         choose_again(workspace, keys, before, error);
}

gboolean
demur_intake_choose(DemurTask *task, const char *scan_id, const char *reason, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(DemurSeriesRecord) record =
      workspace != NULL ? demur_series_load(workspace, scan_id, error) : NULL;
  if (record == NULL)
    return FALSE;
  gboolean known;
  const gboolean two = demur_dicom_record_found(record, "two-patients", &known);
  const char *why = two ? "its series holds images of more than one patient"
                    : g_strcmp0(record->modality, "CT") != 0 ? "it is no CT"
                    : !known ? "an earlier program imported it: import its files again first"
                    : demur_dicom_record_found(record, "not-hu", &known)
                        ? "its values are no Hounsfield units"
                        : NULL;
  if (why != NULL) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE, "scan %s can't be chosen: %s", scan_id, why);
    return FALSE;
  }
  return demur_workspace_begin(workspace, error) &&
         end(workspace, add_overrule(task, workspace, record, reason, error), error);
}

void
demur_intake_json_overrule(DemurJson *json, const DemurOverruleRecord *record) {
  if (record == NULL) {
    demur_json_null(json, "overrule");
    return;
  }
  demur_json_begin_object(json, "overrule");
  demur_json_string(json, "reason", record->reason);
  demur_json_string(json, "created", record->created);
  demur_json_string(json, "replaced", record->replaced);
  demur_json_begin_object(json, "by_rules");
  demur_json_bool(json, "eligible", record->rules_eligible);
  demur_json_bool(json, "accepted", record->rules_accepted);
  demur_json_string(json, "reason", record->rules_reason);
  demur_json_end_object(json);
  demur_json_end_object(json);
}
