#include <math.h>
#include <string.h>

#include "base/error.h"
#include "tasks/scores-import.h"

#include "cohort/ids.h"
#include "cohort/table-header.h"
#include "cohort/table-text.h"
#include "cohort/table-warnings.h"
#include "store/series.h"
#include "tasks/names.h"
#include "tasks/scores-json.h"

#define MAX_HORIZON_YEARS 100.0

/* A score table's header and where the columns are; -1: absent. */
typedef struct {
  DemurTableHeader header;
  gssize series_uid, scan_id, patient_id, version;
  DemurScoreColumns scores;
  DemurIds keys, patients;
} Columns;

static void
columns_clear(Columns *columns) {
  demur_table_header_clear(&columns->header);
  demur_score_columns_clear(&columns->scores);
  demur_ids_clear(&columns->keys);
  demur_ids_clear(&columns->patients);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Columns, columns_clear)

/* Rows on their way to what is returned. */
typedef struct {
  DemurScoresImported *to;
  GPtrArray *records; /* of DemurScoreRecord: paired with a series */
  GHashTable *seen;   /* their scan_ids */
} Matching;

void
demur_scores_imported_free(DemurScoresImported *imported) {
  if (imported == NULL)
    return;
  g_clear_pointer(&imported->scan_ids, g_ptr_array_unref);
  g_clear_pointer(&imported->unmatched, g_ptr_array_unref);
  g_clear_pointer(&imported->ambiguous, g_ptr_array_unref);
  g_clear_pointer(&imported->mismatched, g_ptr_array_unref);
  g_clear_pointer(&imported->mangled, g_ptr_array_unref);
  g_clear_pointer(&imported->warnings, g_ptr_array_unref);
  g_free(imported);
}

static DemurScoresImported *
imported_new(void) {
  DemurScoresImported *imported = g_new0(DemurScoresImported, 1);
  imported->scan_ids = g_ptr_array_new_with_free_func(g_free);
  imported->unmatched = g_ptr_array_new_with_free_func(g_free);
  imported->ambiguous = g_ptr_array_new_with_free_func(g_free);
  imported->mismatched = g_ptr_array_new_with_free_func(g_free);
  imported->mangled = g_ptr_array_new_with_free_func(g_free);
  imported->warnings = demur_table_warnings_new();
  return imported;
}

static gboolean
read_header(DemurTable *table, Columns *columns, DemurColumnMap *map, GPtrArray *warnings,
            GError **error) {
  const DemurNamedColumn named[] = {
      {"series_uid", NULL, &columns->series_uid, FALSE},
      {"scan_id", NULL, &columns->scan_id, FALSE},
      {"patient_id", NULL, &columns->patient_id, FALSE},
      {"model_version", NULL, &columns->version, FALSE},
  };
  demur_score_columns_init(&columns->scores);
  demur_ids_init(&columns->patients, "patient_id", NULL);
  const DemurHeaderPlan plan = {.named = named,
                                .n_named = G_N_ELEMENTS(named),
                                .scores = &columns->scores,
                                .horizon = DEMUR_N_YEARS,
                                .expected = "series_uid, risk",
                                .map = map};
  if (!demur_table_header_read(&columns->header, table, &plan, warnings, error) ||
      (map != NULL && !demur_column_map_check(map, error)))
    return FALSE;
  demur_ids_init(&columns->keys, columns->series_uid >= 0 ? "series_uid" : "scan_id", NULL);
  const char *wrong = NULL;
  if (columns->series_uid < 0 && columns->scan_id < 0)
    wrong = N_("the header has no column series_uid or scan_id; add one of them");
  else if (demur_score_columns_n_classes(&columns->scores) > 2)
    wrong = N_("more than two classes; scores of scans are risks");
  if (wrong == NULL)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_INPUT, "%s: line 1, column 1: %s", demur_table_name(table),
                  wrong);
  return FALSE;
}

/* An identifier without blanks at its ends (owned). */
static char *
clean_id(DemurIds *ids, const DemurTableField *field) {
  gboolean is_new;
  guint32 like;
  return g_strdup(demur_ids_text(ids, demur_ids_add(ids, field, &is_new, &like)));
}

/* The row's score; NULL with its fault noted. */
static DemurScoreRecord *
read_record(const DemurTableField *fields, Columns *columns, DemurTableFaults *faults) {
  g_autoptr(DemurScoreRecord) record = g_new0(DemurScoreRecord, 1);
  record->embedding_width = demur_score_columns_width(&columns->scores);
  if (record->embedding_width > 0)
    record->embedding = g_new(float, record->embedding_width);
  DemurScoreRow score;
  if (!demur_score_columns_read(&columns->scores, fields, DEMUR_N_YEARS, faults, &score, NULL,
                                record->embedding))
    return NULL;
  record->risk = score.risk;
  memcpy(record->yearly_risks, score.years, sizeof score.years);
  if (columns->patient_id >= 0)
    record->patient_id = clean_id(&columns->patients, &fields[columns->patient_id]);
  if (columns->version >= 0 && fields[columns->version].length > 0)
    record->model_version = g_strstrip(g_strdup(fields[columns->version].text));
  return g_steal_pointer(&record);
}

/* What a spreadsheet may have done to an identifier on its way here; NULL where nothing shows. It
 * is told, never repaired: a guess could pair two patients. */
static const char *
spreadsheet_trace(const char *text) {
  switch (demur_table_id_rewriting(text)) {
  case DEMUR_ID_EXPONENT:
  case DEMUR_ID_SCIENTIFIC:
    return "looks like a number that a spreadsheet has rewritten: export identifiers as text";
  case DEMUR_ID_DATE:
    return "looks like a date that a spreadsheet has made of it: export identifiers as text";
  case DEMUR_ID_LOST:
    return "is what a spreadsheet writes where it shows nothing: export identifiers as text";
  case DEMUR_ID_ROUNDED:
    return "looks rounded to 15 digits by a spreadsheet: export identifiers as text";
  default:
    return NULL;
  }
}

/* Why two identifiers that differ look alike; NULL where they don't. */
static const char *
likeness_trace(const char *a, const char *b) {
  g_autoptr(GString) one = g_string_new(NULL), other = g_string_new(NULL);
  demur_table_id_likeness(a, strlen(a), one);
  demur_table_id_likeness(b, strlen(b), other);
  if (strcmp(a, b) == 0 || !g_string_equal(one, other))
    return NULL;
  return strspn(one->str, "0123456789") == one->len
             ? "the zeros in front are missing or added, perhaps by a spreadsheet: export "
               "identifiers as text"
             : "the series has it in another spelling (case, blanks or accents)";
}

/* Pairs one record with a volume by its key, or says why not: says is all that was said of whom it is
 * of. Takes the record. */
static gboolean
match(DemurWorkspace *workspace, Matching *matching, DemurScoreRecord *record, const char *key,
      gboolean by_scan_id, const DemurNamedScore *says, GError **error) {
  g_autoptr(DemurScoreRecord) owned = record;
  g_auto(GStrv) scan_ids = NULL;
  if (!by_scan_id) {
    scan_ids = demur_series_find_uid(workspace, key, error);
    if (scan_ids == NULL)
      return FALSE;
  } else {
    scan_ids = g_new0(char *, 2);
    scan_ids[0] = g_strdup(key);
  }
  if (scan_ids[0] != NULL && scan_ids[1] != NULL) {
    g_autofree char *list = g_strjoinv(", ", scan_ids);
    g_ptr_array_add(matching->to->ambiguous,
                    g_strdup_printf("%s names %u volumes (%s): give the scan_id", key,
                                    g_strv_length(scan_ids), list));
    return TRUE;
  }
  g_autoptr(GError) local = NULL;
  g_autoptr(DemurSeriesRecord) series =
      scan_ids[0] != NULL ? demur_series_load(workspace, scan_ids[0], &local) : NULL;
  if (series == NULL) {
    if (local != NULL && !g_error_matches(local, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND)) {
      g_propagate_error(error, g_steal_pointer(&local));
      return FALSE;
    }
    g_ptr_array_add(matching->to->unmatched, g_strdup(key));
    const char *trace = spreadsheet_trace(key);
    if (trace != NULL)
      g_ptr_array_add(matching->to->mangled, g_strdup_printf("%s %s", key, trace));
    return TRUE;
  }
  const char *other = demur_named_score_other(says, series);
  if (other != NULL) {
    g_ptr_array_add(
        matching->to->mismatched,
        g_strdup_printf("%s: the score says that it is of another series ('%s'); it was "
                        "not paired",
                        key, other));
    return TRUE;
  }
  if (owned->patient_id != NULL && *owned->patient_id != '\0' &&
      !demur_person_same_id(owned->patient_id, series->patient_id)) {
    const char *mine = series->patient_id != NULL ? series->patient_id : "";
    const char *alike = likeness_trace(owned->patient_id, mine);
    const char *trace = alike != NULL ? alike : spreadsheet_trace(owned->patient_id);
    if (trace != NULL)
      g_ptr_array_add(matching->to->mangled,
                      g_strdup_printf("patient '%s': %s", owned->patient_id, trace));
    g_ptr_array_add(matching->to->mismatched,
                    g_strdup_printf("%s: the table says patient '%s', the series says '%s'; it was "
                                    "not paired",
                                    key, owned->patient_id, mine));
    return TRUE;
  }
  if (g_hash_table_contains(matching->seen, series->scan_id)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "the table scores scan %s twice; keep one row",
                    series->scan_id);
    return FALSE;
  }
  owned->scan_id = g_strdup(series->scan_id);
  g_hash_table_add(matching->seen, owned->scan_id);
  g_ptr_array_add(matching->records, g_steal_pointer(&owned));
  return TRUE;
}

/* One row; other: its series_uid, where the scan_id pairs it (NULL: none). */
static gboolean
match_row(DemurWorkspace *workspace, Matching *matching, DemurScoreRecord *record, const char *key,
          gboolean by_scan_id, const DemurTableField *other, GError **error) {
  g_autofree char *uid =
      other != NULL && !demur_table_is_missing(other) ? g_strstrip(g_strdup(other->text)) : NULL;
  const DemurNamedScore says = {.series_uid = uid};
  return match(workspace, matching, record, key, by_scan_id, &says, error);
}

static gboolean
read_table(DemurTask *task, DemurWorkspace *workspace, const char *path, DemurColumnMap *map,
           Matching *matching, GError **error) {
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  if (table == NULL)
    return FALSE;
  g_auto(Columns) columns = {0};
  g_auto(DemurTableFaults) faults = {0};
  demur_table_faults_init(&faults, table);
  if (!read_header(table, &columns, map, matching->to->warnings, error))
    return FALSE;
  for (;;) {
    const DemurTableField *fields;
    if (!demur_table_header_next(&columns.header, table, &faults, &fields, error) ||
        !demur_progress_step(&task->progress, demur_table_fraction(table), "reading scores", error))
      return FALSE;
    if (fields == NULL)
      break;
    const gboolean by_scan_id = columns.scan_id >= 0 && fields[columns.scan_id].length > 0;
    const DemurTableField *key =
        &fields[by_scan_id || columns.series_uid < 0 ? columns.scan_id : columns.series_uid];
    g_autofree char *id = clean_id(&columns.keys, key);
    if (*id == '\0')
      demur_table_faults_note(&faults, key, columns.series_uid < 0 ? "scan_id" : "series_uid",
                              "nothing stands here; every row needs its scan");
    DemurScoreRecord *record = read_record(fields, &columns, &faults);
    if (faults.n_rows > 0)
      demur_score_record_free(record);
    else if (!match_row(workspace, matching, record, id, by_scan_id,
                        by_scan_id && columns.series_uid >= 0 ? &fields[columns.series_uid] : NULL,
                        error)) {
      demur_error_prefix(error, "%s: line %zu, column %zu: ", demur_table_name(table), key->line,
                         key->column);
      return FALSE;
    }
  }
  if (!demur_table_faults_end(&faults, matching->to->warnings, error))
    return FALSE;
  demur_ids_warn(&columns.keys, matching->to->warnings);
  demur_ids_warn(&columns.patients, matching->to->warnings);
  demur_score_columns_warn(&columns.scores, matching->to->warnings);
  return TRUE;
}

/* name -> the key of its scan, from a table with the columns name (or prediction) and series_uid or
 * scan_id, and patient_id where it is to be checked. */
typedef struct {
  char *key, *patient_id;
  gboolean by_scan_id, used;
} MapRow;

static void
map_row_free(gpointer data) {
  MapRow *row = data;
  g_free(row->key);
  g_free(row->patient_id);
  g_free(row);
}

/* The map's columns (-1: absent) and identifiers. */
typedef struct {
  gssize name, series_uid, scan_id, patient_id;
  DemurIds names, keys, patients;
} MapColumns;

static void
map_columns_clear(MapColumns *columns) {
  demur_ids_clear(&columns->names);
  demur_ids_clear(&columns->keys);
  demur_ids_clear(&columns->patients);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MapColumns, map_columns_clear)

static void
read_map_row(MapColumns *c, const DemurTableField *fields, GHashTable *map,
             DemurTableFaults *faults) {
  const gboolean by_scan_id =
      c->scan_id >= 0 && (fields[c->scan_id].length > 0 || c->series_uid < 0);
  const DemurTableField *at_key = &fields[by_scan_id ? c->scan_id : c->series_uid];
  g_autofree char *name = clean_id(&c->names, &fields[c->name]);
  g_autofree char *key = clean_id(&c->keys, at_key);
  if (*name == '\0')
    demur_table_faults_note(faults, &fields[c->name], "name", "nothing stands here; name the item");
  else if (g_hash_table_contains(map, name))
    demur_table_faults_note(faults, &fields[c->name], "name",
                            "the name stands in an earlier line too; keep one");
  else if (*key == '\0')
    demur_table_faults_note(faults, at_key, by_scan_id ? "scan_id" : "series_uid",
                            "nothing stands here; name its scan");
  if (faults->bad)
    return;
  MapRow *row = g_new0(MapRow, 1);
  row->key = g_steal_pointer(&key);
  row->by_scan_id = by_scan_id;
  if (c->patient_id >= 0 && fields[c->patient_id].length > 0)
    row->patient_id = clean_id(&c->patients, &fields[c->patient_id]);
  g_hash_table_insert(map, g_steal_pointer(&name), row);
}

static GHashTable *
read_map(const char *path, GPtrArray *warnings, GError **error) {
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  if (table == NULL)
    return NULL;
  g_auto(MapColumns) c = {0};
  const DemurNamedColumn named[] = {
      {"name", "prediction", &c.name, TRUE},
      {"series_uid", NULL, &c.series_uid, FALSE},
      {"scan_id", NULL, &c.scan_id, FALSE},
      {"patient_id", NULL, &c.patient_id, FALSE},
  };
  demur_ids_init(&c.names, "name", NULL);
  demur_ids_init(&c.keys, "series_uid", NULL);
  demur_ids_init(&c.patients, "patient_id", NULL);
  g_auto(DemurTableHeader) header = {0};
  g_auto(DemurTableFaults) faults = {0};
  demur_table_faults_init(&faults, table);
  const DemurHeaderPlan plan = {
      .named = named, .n_named = G_N_ELEMENTS(named), .expected = "name, series_uid"};
  if (!demur_table_header_read(&header, table, &plan, warnings, error))
    return NULL;
  if (c.series_uid < 0 && c.scan_id < 0) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "%s: line 1, column 1: a map needs the columns name (a member's name, or a place "
        "counted from 0) and series_uid or scan_id",
        demur_table_name(table));
    return NULL;
  }
  g_autoptr(GHashTable) map = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, map_row_free);
  for (;;) {
    const DemurTableField *fields;
    if (!demur_table_header_next(&header, table, &faults, &fields, error))
      return NULL;
    if (fields == NULL)
      break;
    read_map_row(&c, fields, map, &faults);
  }
  if (!demur_table_faults_end(&faults, warnings, error))
    return NULL;
  demur_ids_warn(&c.names, warnings);
  demur_ids_warn(&c.keys, warnings);
  demur_ids_warn(&c.patients, warnings);
  return g_steal_pointer(&map);
}

/* One score of a JSON file, by --scan, by the map, or by what the file itself says. */
static gboolean
match_named(DemurWorkspace *workspace, DemurNamedScore *score, const char *scan_id, GHashTable *map,
            const char *file, Matching *matching, GError **error) {
  MapRow *row = map != NULL ? g_hash_table_lookup(map, score->name) : NULL;
  const char *key = scan_id;
  gboolean by_scan_id = TRUE;
  if (row != NULL) {
    row->used = TRUE;
    key = row->key;
    by_scan_id = row->by_scan_id;
    if (row->patient_id != NULL) {
      g_free(score->record->patient_id);
      score->record->patient_id = g_strdup(row->patient_id);
    }
  } else if (key == NULL) {
    by_scan_id = score->scan_id != NULL;
    key = by_scan_id ? score->scan_id : score->series_uid;
  }
  if (key == NULL && map != NULL) {
    g_ptr_array_add(matching->to->unmatched, g_strdup(score->name));
    return TRUE;
  }
  if (key == NULL) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "%s does not say which scan its item %s belongs to: give --scan SCAN for a single "
        "one, or --map FILE with the columns name and series_uid",
        file, score->name);
    return FALSE;
  }
  DemurNamedScore says = *score; /* borrowed; what a name means is for the map to say */
  if (row != NULL)
    says.name = NULL;
  return match(workspace, matching, g_steal_pointer(&score->record), key, by_scan_id, &says, error);
}

/* JSON: Sybil's prediction_scores.json, which names no scan, or one of the forms of scores-json.h.
 */
static gboolean
read_json(DemurWorkspace *workspace, const char *path, const char *scan_id, const char *map_path,
          Matching *matching, GError **error) {
  g_autoptr(GPtrArray) scores = demur_scores_json_read(path, error);
  g_autoptr(GHashTable) map = NULL;
  if (scores == NULL ||
      (map_path != NULL && (map = read_map(map_path, matching->to->warnings, error)) == NULL))
    return FALSE;
  g_autofree char *file = g_path_get_basename(path);
  if (scan_id != NULL && scores->len != 1) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "%s holds %u scores, but --scan names one scan: give --map FILE with the columns "
        "name and series_uid",
        file, scores->len);
    return FALSE;
  }
  size_t n_falling = 0;
  for (guint i = 0; i < scores->len; i++) {
    const DemurNamedScore *score = scores->pdata[i];
    n_falling += demur_yearly_risks_fall(score->record->yearly_risks) ? 1 : 0;
  }
  if (n_falling > 0)
    demur_table_warnings_add(matching->to->warnings, DEMUR_TABLE_FALLING, NULL, NULL, NULL,
                             n_falling, scores->len);
  for (guint i = 0; i < scores->len; i++)
    if (!match_named(workspace, scores->pdata[i], scan_id, map, file, matching, error))
      return FALSE;
  GHashTableIter iter;
  gpointer name, value;
  if (map != NULL)
    g_hash_table_iter_init(&iter, map);
  while (map != NULL && g_hash_table_iter_next(&iter, &name, &value))
    if (!((MapRow *)value)->used) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "the map names '%s', which %s does not hold; nothing was imported",
                      (const char *)name, file);
      return FALSE;
    }
  return TRUE;
}

/* Keeps what was paired, all or nothing. */
static gboolean
has_years(const DemurScoreRecord *record) {
  for (int y = 0; y < DEMUR_N_YEARS; y++)
    if (!isnan(record->yearly_risks[y]))
      return TRUE;
  return FALSE;
}

static gboolean
keep(DemurTask *task, DemurWorkspace *workspace, const DemurScoresImportParams *params,
     Matching *matching, GError **error) {
  g_autofree char *now = demur_task_now(task);
  g_autofree char *file = g_path_get_basename(params->path);
  const guint n = matching->records->len;
  g_autofree DemurScoreRecord *records = g_new0(DemurScoreRecord, MAX(n, 1));
  for (guint i = 0; i < n; i++) {
    records[i] = *(DemurScoreRecord *)matching->records->pdata[i];
    records[i].model = (char *)params->model;
    if (records[i].model_version == NULL)
      records[i].model_version = (char *)params->model_version;
    if (params->horizon_years > 0 && has_years(&records[i])) {
      demur_error_set(
          error, DEMUR_ERROR_INPUT,
          "scan %s has yearly risks, which say their years themselves: leave --horizon out",
          records[i].scan_id);
      return FALSE;
    }
    records[i].horizon_years = params->horizon_years;
    records[i].source = file;
    records[i].created = now;
    g_ptr_array_add(matching->to->scan_ids, g_strdup(records[i].scan_id));
  }
  DemurScoresImported *to = matching->to;
  return demur_scores_save(workspace, records, n, params->replace, &to->n_new, &to->n_replaced,
                           &to->n_same, error);
}

static gboolean
check_params(const DemurScoresImportParams *params, GError **error) {
  const char *wrong = NULL;
  if (params->scan_id != NULL && params->map != NULL)
    wrong = N_("scores import takes --scan or --map, not both");
  else if (params->columns != NULL && (params->scan_id != NULL || params->map != NULL))
    wrong = N_("--columns names the columns of a table; --scan and --map belong to JSON");
  else if (!(params->horizon_years >= 0 && params->horizon_years <= MAX_HORIZON_YEARS))
    wrong = N_("--horizon takes a number of years, more than 0 and at most 100");
  else if (params->model == NULL)
    wrong =
        N_("scores import needs --model M: selectors accept the scores of their own model only");
  if (wrong == NULL)
    return demur_task_check_label("model", params->model, error) &&
           demur_task_check_label("model's version", params->model_version, error);
  demur_error_set(error, DEMUR_ERROR_USAGE, "%s", wrong);
  return FALSE;
}

DemurScoresImported *
demur_task_scores_import(DemurTask *task, const DemurScoresImportParams *params, GError **error) {
  DemurWorkspace *workspace =
      check_params(params, error) ? demur_task_workspace(task, error) : NULL;
  if (workspace == NULL)
    return NULL;
  g_autoptr(DemurScoresImported) imported = imported_new();
  g_autoptr(GPtrArray) records =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_score_record_free);
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  Matching matching = {imported, records, seen};
  g_autoptr(DemurColumnMap) map = NULL;
  if (params->columns != NULL && (map = demur_column_map_read(params->columns, error)) == NULL)
    return NULL;
  const gboolean is_json =
      params->scan_id != NULL || params->map != NULL || g_str_has_suffix(params->path, ".json");
  if (is_json ? !read_json(workspace, params->path, params->scan_id, params->map, &matching, error)
              : !read_table(task, workspace, params->path, map != NULL ? map : params->mapping,
                            &matching, error))
    return NULL;
  return keep(task, workspace, params, &matching, error) ? g_steal_pointer(&imported) : NULL;
}
