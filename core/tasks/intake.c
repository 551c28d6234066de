#include "tasks/intake.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "tasks/images.h"
#include "tasks/meeting.h"
#include "tasks/series-records.h"
#include "words/words.h"
#include "tasks/study-choice.h"
#include "cohort/table-header.h"
#include "cohort/table-text.h"
#include "dicom/image-kind.h"
#include "dicom/library.h"
#include "store/events.h"

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

/* Without blanks of any kind at its ends, composed (owned). */
static char *
clean(const DemurTableField *field) {
  g_autoptr(GString) scratch = g_string_new(NULL);
  size_t length;
  DemurIdChanges changes;
  return g_strdup(demur_table_id(field, scratch, &length, &changes));
}

static char *
fold(const char *text) {
  const DemurTableField field = {.text = text, .length = strlen(text)};
  g_autofree char *copy = clean(&field);
  return g_utf8_casefold(copy, -1);
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

/* One row; its fault is noted. */
static void
read_site_row(DemurSiteMap *map, const DemurTableField *fields, gssize institution, gssize station,
              gssize site, DemurTableFaults *faults) {
  g_autofree char *name = clean(&fields[site]);
  SiteRow row = {folded_field(fields, institution), folded_field(fields, station), NULL};
  if (*name == '\0')
    demur_table_faults_note(faults, &fields[site], "site", "nothing stands here; name the site");
  else if (row.institution == NULL && row.station == NULL)
    demur_table_faults_note(faults, &fields[institution >= 0 ? institution : station],
                            institution >= 0 ? "institution" : "station",
                            "neither institution nor station is given; give one of them");
  if (faults->bad) {
    site_row_clear(&row);
    return;
  }
  row.site = g_steal_pointer(&name);
  g_array_append_val(map->rows, row);
}

DemurSiteMap *
demur_site_map_read(const char *path, GError **error) {
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  if (table == NULL)
    return NULL;
  gssize institution, station, site;
  const DemurNamedColumn named[] = {{"institution", NULL, &institution, FALSE},
                                    {"station", NULL, &station, FALSE},
                                    {"site", NULL, &site, TRUE}};
  const DemurHeaderPlan plan = {.named = named,
                                .n_named = G_N_ELEMENTS(named),
                                .expected = "site and institution, station or both"};
  g_auto(DemurTableHeader) header = {0};
  g_auto(DemurTableFaults) faults = {0};
  demur_table_faults_init(&faults, table);
  if (!demur_table_header_read(&header, table, &plan, NULL, error))
    return NULL;
  if (institution < 0 && station < 0) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "%s: line 1, column 1: a site map needs the columns site and institution, station "
        "or both",
        demur_table_name(table));
    return NULL;
  }
  g_autoptr(DemurSiteMap) map = g_new0(DemurSiteMap, 1);
  map->rows = g_array_new(FALSE, TRUE, sizeof(SiteRow));
  g_array_set_clear_func(map->rows, site_row_clear);
  for (;;) {
    const DemurTableField *fields;
    if (!demur_table_header_next(&header, table, &faults, &fields, error))
      return NULL;
    if (fields == NULL)
      return demur_table_faults_end(&faults, NULL, error) ? g_steal_pointer(&map) : NULL;
    read_site_row(map, fields, institution, station, site, &faults);
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

/* The record of a volume as it is to be kept. */
static DemurSeriesRecord *
record_of(const DemurArrival *arrival, const DemurSiteMap *sites, const char *const *changes,
          const char *now) {
  DemurSeries *series = arrival->series;
  const char *site =
      sites != NULL ? demur_site_map_find(sites, series->institution, series->station) : NULL;
  if (site != NULL) {
    g_free(series->site);
    series->site = g_strdup(site);
  }
  DemurSeriesRecord *record = demur_dicom_record_new(series, site != NULL, changes, now);
  g_free(record->scan_id);
  record->scan_id = g_strdup(arrival->scan_id);
  record->conflict = g_strdup(demur_conflict_name(arrival->conflict));
  return record;
}

static gboolean
save_arrival(DemurWorkspace *workspace, const DemurArrival *arrival, DemurSeriesRecord *record,
             GError **error) {
  if (arrival->keep_files)
    return TRUE;
  DemurSeriesFile *files = demur_dicom_files_new(arrival->series);
  const DemurSeriesSave save = {record, files, arrival->series->n_slices};
  const gboolean saved = arrival->keep_facts ? demur_series_save_files(workspace, &save, error)
                                             : demur_series_save(workspace, &save, 1, error);
  demur_dicom_files_free(files, arrival->series->n_slices);
  return saved;
}

/* A known volume that now conflicts, or that went into another one. */
static gboolean
mark_known(DemurWorkspace *workspace, const DemurMeeting *meeting, GError **error) {
  GHashTableIter iter;
  gpointer scan_id, conflict;
  g_hash_table_iter_init(&iter, meeting->conflicts);
  while (g_hash_table_iter_next(&iter, &scan_id, &conflict))
    if (!demur_series_set_conflict(workspace, scan_id,
                                   demur_conflict_name(GPOINTER_TO_INT(conflict)), NULL, error))
      return FALSE;
  for (guint i = 0; i < meeting->united->len; i++)
    if (!demur_series_remove(workspace, meeting->united->pdata[i],
                             "{\"because\": \"united with another volume\"}", error))
      return FALSE;
  return TRUE;
}

static void
record_free(gpointer record) {
  demur_series_record_free(record);
}

/* The keys of all studies in which something changes (owned). */
static GHashTable *
studies_of(const DemurMeeting *meeting, const GPtrArray *records) {
  GHashTable *keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < meeting->known->len; i++) {
    const DemurSeriesRecord *record = meeting->known->pdata[i];
    if (g_hash_table_contains(meeting->conflicts, record->scan_id))
      g_hash_table_add(keys, demur_study_choice_key(record));
  }
  for (guint i = 0; i < records->len; i++)
    g_hash_table_add(keys, demur_study_choice_key(records->pdata[i]));
  return keys;
}

/* The series of those studies as they are (owned, frees its elements). */
static GPtrArray *
series_of_studies(DemurWorkspace *workspace, GHashTable *keys, GError **error) {
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(record_free);
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init(&iter, keys);
  while (g_hash_table_iter_next(&iter, &key, NULL)) {
    g_autoptr(GPtrArray) study = demur_study_choice_series(workspace, key, error);
    if (study == NULL)
      return NULL;
    while (study->len > 0)
      g_ptr_array_add(all, g_ptr_array_steal_index(study, 0));
  }
  return g_steal_pointer(&all);
}

/* Writes what was planned, in the open transaction. */
static gboolean
save_meeting(DemurWorkspace *workspace, const DemurMeeting *meeting, const DemurSiteMap *sites,
             const char *const *changes, const char *now, GError **error) {
  g_autoptr(GPtrArray) records = g_ptr_array_new_with_free_func(record_free);
  for (guint i = 0; i < meeting->arrivals->len; i++)
    g_ptr_array_add(records, record_of(&g_array_index(meeting->arrivals, DemurArrival, i), sites,
                                       changes, now));
  g_autoptr(GHashTable) keys = studies_of(meeting, records);
  g_autoptr(GPtrArray) before = series_of_studies(workspace, keys, error);
  if (before == NULL)
    return FALSE;
  for (guint i = 0; i < meeting->arrivals->len; i++)
    if (!save_arrival(workspace, &g_array_index(meeting->arrivals, DemurArrival, i),
                      records->pdata[i], error))
      return FALSE;
  return mark_known(workspace, meeting, error) &&
         demur_study_choose(workspace, keys, before, error);
}

/* Ends a transaction by what became of its work. */
static gboolean
end(DemurWorkspace *workspace, gboolean ok, GError **error) {
  if (ok)
    return demur_workspace_commit(workspace, error);
  demur_workspace_rollback(workspace);
  return FALSE;
}

#define MOST_TRIES 5

/* Plans by what the workspace holds, without a lock while images are read; where somebody else
 * wrote meanwhile the plan is made anew. */
static DemurMeeting *
meet(DemurTask *task, const DemurImport *import, const DemurIntakeParams *params,
     const DemurKnownFiles *files, GError **error) {
  const DemurEligibility *rules = params->rules;
  DemurWorkspace *workspace = task->workspace;
  g_autofree char *now = demur_task_now(task);
  g_auto(GStrv) changes = rules != NULL ? demur_eligibility_changes(rules) : NULL;
  for (guint tries = 0; tries < MOST_TRIES; tries++) {
    g_autofree char *head = demur_events_head(workspace, error);
    g_autoptr(DemurMeeting) meeting =
        head != NULL ? demur_meeting_plan(task, import, rules, files, error) : NULL;
    if (meeting == NULL || !demur_workspace_begin(workspace, error))
      return NULL;
    g_autofree char *head_now = demur_events_head(workspace, error);
    if (g_strcmp0(head, head_now) == 0)
      return end(workspace,
                 save_meeting(workspace, meeting, params->sites, (const char *const *)changes, now,
                              error),
                 error)
                 ? g_steal_pointer(&meeting)
                 : NULL;
    demur_workspace_rollback(workspace);
    if (head_now == NULL)
      return NULL;
  }
  demur_error_set(error, DEMUR_ERROR_STORE,
                  "others write to the workspace without a pause; import again later");
  return NULL;
}

DemurIntake *
demur_intake_run(DemurTask *task, const char *const *paths, const DemurIntakeParams *params,
                 GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL || !demur_dicom_init(error))
    return NULL;
  g_autoptr(DemurIntake) intake = g_new0(DemurIntake, 1);
  const DemurKnownFiles files = demur_task_known_files(workspace);
  const DemurKnownFiles *known = params->reread ? NULL : &files;
  intake->import =
      demur_import_run_known(paths, params->rules, known, task->parallel, &task->progress, error);
  if (intake->import == NULL)
    return NULL;
  g_autoptr(DemurMeeting) meeting = NULL;
  const guint n = intake->import->series->len;
  /* What was read, or received, waits for another program's lock until that is free. */
  const DemurPatience usual = demur_workspace_set_patience(workspace, DEMUR_PATIENCE_ENDLESS);
  if (n > 0)
    meeting = meet(task, intake->import, params, known, error);
  demur_workspace_set_patience(workspace, usual);
  if (n > 0 && meeting == NULL)
    return NULL;
  intake->records = g_ptr_array_new_with_free_func((GDestroyNotify)demur_series_record_free);
  for (guint i = 0; i < n; i++) {
    const DemurArrival *arrival =
        &g_array_index(meeting->arrivals, DemurArrival, meeting->arrival_of[i]);
    DemurSeriesRecord *kept = demur_series_load(workspace, arrival->scan_id, error);
    if (kept == NULL)
      return NULL;
    demur_task_tell_places(task, kept);
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
  g_autofree char *key = demur_study_choice_key(record);
  g_autoptr(GPtrArray) before = demur_study_choice_series(workspace, key, error);
  g_autoptr(GPtrArray) earlier =
      before != NULL ? demur_overrules_list(workspace, record->scan_id, error) : NULL;
  if (earlier == NULL)
    return FALSE;
  const DemurSeriesRecord *beside = demur_study_chosen_beside(before, record);
  const char *replaced = beside != NULL ? beside->scan_id : NULL;
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
         demur_study_choose(workspace, keys, before, error);
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
  g_autofree char *conflict = record->conflict != NULL ? demur_study_choice_conflict(record) : NULL;
  g_autofree char *waits = demur_words_kept(conflict, NULL);
  const char *why = two             ? N_("its series holds images of more than one patient")
                    : waits != NULL ? waits
                    : !demur_modality_is_ct(record->modality) ? N_("it is no CT")
                    : !known ? N_("an earlier program imported it: import its files again first")
                    : demur_dicom_record_found(record, "not-hu", &known)
                        ? N_("its values are no Hounsfield units")
                        : NULL;
  if (why != NULL) {
    demur_error_set(error, DEMUR_ERROR_STATE, "scan %s can't be chosen: %s", scan_id, why);
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
  g_autofree char *by_rules = demur_words_kept(record->rules_reason, NULL);
  demur_json_string(json, "reason", by_rules);
  demur_dicom_json_reasons(json, "reason_details", record->rules_reason);
  demur_json_end_object(json);
  demur_json_end_object(json);
}
