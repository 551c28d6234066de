/* demur scores import FILE --model M: the external model's output, joined to DICOM series by key.
 * demur scores run: scores-run.c. */
#include <math.h>
#include <string.h>

#include "app/cli/command.h"
#include "app/cli/scores-json.h"
#include "app/cli/scores-run.h"
#include "base/memory.h"
#include "base/number.h"
#include "cohort/table.h"
#include "store/scores.h"
#include "store/series.h"

#define MAX_FAULTS 10

/* Where each column of the table is; -1: absent. */
typedef struct {
  gssize series_uid, scan_id, patient_id, risk;
  gssize years[DEMUR_N_YEARS];
  size_t width;      /* of the embedding */
  gssize *embedding; /* [width] */
  size_t n_fields;
} Columns;

static void
columns_clear(Columns *columns) {
  g_free(columns->embedding);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Columns, columns_clear)

/* What became of the rows. */
typedef struct {
  GPtrArray *records;    /* DemurScoreRecord: matched */
  GPtrArray *unmatched;  /* keys */
  GPtrArray *ambiguous;  /* sentences */
  GPtrArray *mismatched; /* sentences: the patient_id is another one */
  GPtrArray *mangled;    /* sentences: identifiers that a spreadsheet seems to have changed */
  GHashTable *seen;      /* scan_ids already matched */
} Outcome;

static void
outcome_init(Outcome *outcome) {
  outcome->records = g_ptr_array_new_with_free_func((GDestroyNotify)demur_score_record_free);
  outcome->unmatched = g_ptr_array_new_with_free_func(g_free);
  outcome->ambiguous = g_ptr_array_new_with_free_func(g_free);
  outcome->mismatched = g_ptr_array_new_with_free_func(g_free);
  outcome->mangled = g_ptr_array_new_with_free_func(g_free);
  outcome->seen = g_hash_table_new(g_str_hash, g_str_equal);
}

static void
outcome_clear(Outcome *outcome) {
  g_clear_pointer(&outcome->seen, g_hash_table_unref);
  g_clear_pointer(&outcome->records, g_ptr_array_unref);
  g_clear_pointer(&outcome->unmatched, g_ptr_array_unref);
  g_clear_pointer(&outcome->ambiguous, g_ptr_array_unref);
  g_clear_pointer(&outcome->mismatched, g_ptr_array_unref);
  g_clear_pointer(&outcome->mangled, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Outcome, outcome_clear)

static gboolean
read_header(const DemurTable *table, const DemurTableField *fields, size_t n_fields,
            Columns *columns, GError **error) {
  *columns = (Columns){.series_uid = -1, .scan_id = -1, .patient_id = -1, .risk = -1};
  for (int y = 0; y < DEMUR_N_YEARS; y++)
    columns->years[y] = -1;
  columns->n_fields = n_fields;
  columns->embedding = g_new(gssize, MAX(n_fields, 1));
  for (size_t f = 0; f < n_fields; f++)
    columns->embedding[f] = -1;
  for (size_t f = 0; f < n_fields; f++) {
    const char *name = fields[f].text;
    gssize *place = NULL;
    gint64 number;
    if (strcmp(name, "series_uid") == 0)
      place = &columns->series_uid;
    else if (strcmp(name, "scan_id") == 0)
      place = &columns->scan_id;
    else if (strcmp(name, "patient_id") == 0)
      place = &columns->patient_id;
    else if (strcmp(name, "risk") == 0)
      place = &columns->risk;
    else if (g_str_has_prefix(name, "risk_year_") &&
             demur_number_parse_int(name + 10, strlen(name + 10), &number) && number >= 1 &&
             number <= DEMUR_N_YEARS)
      place = &columns->years[number - 1];
    else if (g_str_has_prefix(name, "emb_") &&
             demur_number_parse_int(name + 4, strlen(name + 4), &number) && number >= 0) {
      if ((size_t)number >= n_fields) {
        g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                    "%s, line 1, column %zu: '%s' leaves gaps; the embedding's columns are emb_0, "
                    "emb_1 and so on",
                    demur_table_name(table), f + 1, name);
        return FALSE;
      }
      place = &columns->embedding[number];
      columns->width = MAX(columns->width, (size_t)number + 1);
    }
    if (place == NULL)
      continue;
    if (*place >= 0) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "%s, line 1, column %zu: '%s' stands twice; remove one", demur_table_name(table),
                  f + 1, name);
      return FALSE;
    }
    *place = (gssize)f;
  }
  const char *missing = NULL;
  if (columns->series_uid < 0 && columns->scan_id < 0)
    missing = "series_uid or scan_id";
  else if (columns->risk < 0 && columns->years[DEMUR_N_YEARS - 1] < 0)
    missing = "risk or risk_year_6";
  for (size_t e = 0; missing == NULL && e < columns->width; e++)
    if (columns->embedding[e] < 0)
      missing = "emb_0 to the last one without a gap";
  if (missing != NULL) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s, line 1: a score table needs the column %s", demur_table_name(table), missing);
    return FALSE;
  }
  return TRUE;
}

static void
add_fault(GString *faults, size_t *n_faults, const char *file, const DemurTableField *field,
          const char *column, const char *what) {
  if ((*n_faults)++ < MAX_FAULTS)
    g_string_append_printf(faults, "\n  %s, line %zu, column %zu (%s): %s", file, field->line,
                           field->column, column, what);
}

/* A risk in [0, 1]. */
static double
read_risk(const DemurTableField *field, const char *file, const char *column, GString *faults,
          size_t *n_faults) {
  double value;
  if (!demur_number_parse(field->text, field->length, &value))
    add_fault(faults, n_faults, file, field, column, "is no number; give a risk from 0 to 1");
  else if (!(value >= 0.0 && value <= 1.0))
    add_fault(faults, n_faults, file, field, column, "lies outside 0 to 1; give a probability");
  else
    return value;
  return NAN;
}

static DemurScoreRecord *
read_record(const DemurTableField *fields, const Columns *columns, const char *file,
            GString *faults, size_t *n_faults) {
  DemurScoreRecord *record = g_new0(DemurScoreRecord, 1);
  for (int y = 0; y < DEMUR_N_YEARS; y++) {
    record->yearly_risks[y] = NAN;
    if (columns->years[y] >= 0 && fields[columns->years[y]].length > 0) {
      g_autofree char *name = g_strdup_printf("risk_year_%d", y + 1);
      record->yearly_risks[y] = read_risk(&fields[columns->years[y]], file, name, faults, n_faults);
    }
  }
  if (columns->risk >= 0) {
    record->risk = read_risk(&fields[columns->risk], file, "risk", faults, n_faults);
    const double last = record->yearly_risks[DEMUR_N_YEARS - 1];
    if (isfinite(last) && isfinite(record->risk) && last != record->risk)
      add_fault(faults, n_faults, file, &fields[columns->risk], "risk",
                "differs from risk_year_6; leave one out");
  } else {
    record->risk = record->yearly_risks[DEMUR_N_YEARS - 1];
    if (fields[columns->years[DEMUR_N_YEARS - 1]].length == 0)
      add_fault(faults, n_faults, file, &fields[columns->years[DEMUR_N_YEARS - 1]], "risk_year_6",
                "is empty; every row needs a risk");
  }
  record->embedding_width = columns->width;
  record->embedding = columns->width > 0 ? g_new(float, columns->width) : NULL;
  for (size_t e = 0; e < columns->width; e++) {
    const DemurTableField *field = &fields[columns->embedding[e]];
    double value;
    if (demur_number_parse(field->text, field->length, &value) && isfinite((double)(float)value))
      record->embedding[e] = (float)value;
    else
      add_fault(faults, n_faults, file, field, "embedding", "is no finite number");
  }
  if (columns->patient_id >= 0)
    record->patient_id = g_strdup(fields[columns->patient_id].text);
  return record;
}

/* What a spreadsheet may have done to an identifier on its way here; NULL where nothing shows. It
 * is told, never repaired: a guess could pair two patients. */
static const char *
spreadsheet_trace(const char *text) {
  const char *e = strpbrk(text, "eE");
  if (e != NULL && e > text && strspn(text, "0123456789.,") == (size_t)(e - text) &&
      (e[1] == '+' || g_ascii_isdigit(e[1])) && strspn(e + 1, "+0123456789") == strlen(e + 1))
    return "looks like a number that a spreadsheet has rewritten: export identifiers as text";
  const size_t n = strlen(text);
  if (n > 15 && strspn(text, "0123456789") == n && strspn(text + 15, "0") == n - 15)
    return "looks rounded to 15 digits by a spreadsheet: export identifiers as text";
  return NULL;
}

/* Whether both are the same digits but for zeros in front. */
static gboolean
differs_by_zeros(const char *a, const char *b) {
  return strcmp(a, b) != 0 && strspn(a, "0123456789") == strlen(a) && *a != '\0' &&
         strcmp(a + strspn(a, "0"), b + strspn(b, "0")) == 0;
}

/* Pairs one record with a volume by its key, or says why not. Takes the record. */
static gboolean
match(DemurWorkspace *workspace, Outcome *outcome, DemurScoreRecord *record, const char *key,
      gboolean by_scan_id, GError **error) {
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
    g_ptr_array_add(outcome->ambiguous,
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
    g_ptr_array_add(outcome->unmatched, g_strdup(key));
    const char *trace = spreadsheet_trace(key);
    if (trace != NULL)
      g_ptr_array_add(outcome->mangled, g_strdup_printf("%s %s", key, trace));
    return TRUE;
  }
  if (owned->patient_id != NULL && *owned->patient_id != '\0' &&
      g_strcmp0(owned->patient_id, series->patient_id) != 0) {
    const char *mine = series->patient_id != NULL ? series->patient_id : "";
    const char *trace = differs_by_zeros(owned->patient_id, mine)
                            ? "the zeros in front are missing or added, perhaps by a spreadsheet: "
                              "export identifiers as text"
                            : spreadsheet_trace(owned->patient_id);
    if (trace != NULL)
      g_ptr_array_add(outcome->mangled,
                      g_strdup_printf("patient '%s': %s", owned->patient_id, trace));
    g_ptr_array_add(outcome->mismatched,
                    g_strdup_printf("%s: the table says patient '%s', the series says '%s'; it was "
                                    "not paired",
                                    key, owned->patient_id, mine));
    return TRUE;
  }
  if (g_hash_table_contains(outcome->seen, series->scan_id)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "the table scores scan %s twice; keep one row", series->scan_id);
    return FALSE;
  }
  owned->scan_id = g_strdup(series->scan_id);
  g_hash_table_add(outcome->seen, owned->scan_id);
  g_ptr_array_add(outcome->records, g_steal_pointer(&owned));
  return TRUE;
}

static gboolean
read_table(DemurContext *context, DemurWorkspace *workspace, const char *path, Outcome *outcome,
           GError **error) {
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  const DemurTableField *fields;
  size_t n_fields;
  if (table == NULL || !demur_table_next(table, &fields, &n_fields, error))
    return FALSE;
  g_auto(Columns) columns = {0};
  const char *file = demur_table_name(table);
  if (!read_header(table, fields, n_fields, &columns, error))
    return FALSE;
  g_autoptr(GString) faults = g_string_new(NULL);
  size_t n_faults = 0, n_rows = 0;
  for (;;) {
    if (!demur_table_next(table, &fields, &n_fields, error) ||
        !demur_progress_step(&context->task.progress, demur_table_fraction(table), "reading scores",
                             error))
      return FALSE;
    if (n_fields == 0)
      break;
    n_rows++;
    if (n_fields != columns.n_fields) {
      add_fault(faults, &n_faults, file, &fields[0], "row",
                "has another number of fields than the header");
      continue;
    }
    const gboolean by_scan_id = columns.scan_id >= 0 && fields[columns.scan_id].length > 0;
    const DemurTableField *key =
        &fields[by_scan_id || columns.series_uid < 0 ? columns.scan_id : columns.series_uid];
    if (key->length == 0)
      add_fault(faults, &n_faults, file, key, "series_uid", "is empty; every row needs its scan");
    DemurScoreRecord *record = read_record(fields, &columns, file, faults, &n_faults);
    if (n_faults > 0)
      demur_score_record_free(record);
    else if (!match(workspace, outcome, record, key->text, by_scan_id, error)) {
      g_prefix_error(error, "%s, line %zu: ", file, key->line);
      return FALSE;
    }
  }
  if (n_faults > 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%zu faults in the score table; nothing was imported:%s%s", n_faults, faults->str,
                n_faults > MAX_FAULTS ? "\n  .." : "");
    return FALSE;
  }
  if (n_rows == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%s holds a header but no row", file);
    return FALSE;
  }
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

static GHashTable *
read_map(const char *path, GError **error) {
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  const DemurTableField *fields;
  size_t n_fields, n_header;
  if (table == NULL || !demur_table_next(table, &fields, &n_header, error))
    return NULL;
  const char *file = demur_table_name(table);
  gssize name = -1, series_uid = -1, scan_id = -1, patient_id = -1;
  for (size_t f = 0; f < n_header; f++) {
    const char *text = fields[f].text;
    gssize *place = strcmp(text, "name") == 0 || strcmp(text, "prediction") == 0 ? &name
                    : strcmp(text, "series_uid") == 0                            ? &series_uid
                    : strcmp(text, "scan_id") == 0                               ? &scan_id
                    : strcmp(text, "patient_id") == 0                            ? &patient_id
                                                                                 : NULL;
    if (place != NULL)
      *place = (gssize)f;
  }
  if (name < 0 || (series_uid < 0 && scan_id < 0)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s, line 1: a map needs the columns name (a member's name, or a place counted "
                "from 0) and series_uid or scan_id",
                file);
    return NULL;
  }
  g_autoptr(GHashTable) map = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, map_row_free);
  for (;;) {
    if (!demur_table_next(table, &fields, &n_fields, error))
      return NULL;
    if (n_fields == 0)
      return g_steal_pointer(&map);
    const char *wrong = NULL;
    if (n_fields != n_header)
      wrong = "another number of fields than the header";
    else if (fields[name].length == 0)
      wrong = "the name is empty";
    else if (g_hash_table_contains(map, fields[name].text))
      wrong = "the name stands in an earlier line too";
    const gboolean by_scan_id =
        wrong == NULL && scan_id >= 0 && (fields[scan_id].length > 0 || series_uid < 0);
    const DemurTableField *key =
        wrong == NULL ? &fields[by_scan_id ? scan_id : series_uid] : &fields[0];
    if (wrong == NULL && key->length == 0)
      wrong = "the scan is empty";
    if (wrong != NULL) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%s, line %zu: %s", file, fields[0].line,
                  wrong);
      return NULL;
    }
    MapRow *row = g_new0(MapRow, 1);
    row->key = g_strdup(key->text);
    row->by_scan_id = by_scan_id;
    if (patient_id >= 0 && fields[patient_id].length > 0)
      row->patient_id = g_strdup(fields[patient_id].text);
    g_hash_table_insert(map, g_strdup(fields[name].text), row);
  }
}

/* One score of a JSON file, by --scan, by the map, or by what the file itself says. */
static gboolean
match_named(DemurWorkspace *workspace, DemurNamedScore *score, const char *scan_id, GHashTable *map,
            const char *file, Outcome *outcome, GError **error) {
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
    g_ptr_array_add(outcome->unmatched, g_strdup(score->name));
    return TRUE;
  }
  if (key == NULL) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s does not say which scan its item %s belongs to: give --scan SCAN for a single "
                "one, or --map FILE with the columns name and series_uid",
                file, score->name);
    return FALSE;
  }
  return match(workspace, outcome, g_steal_pointer(&score->record), key, by_scan_id, error);
}

/* JSON: Sybil's prediction_scores.json, which names no scan, or one of the forms of scores-json.h.
 */
static gboolean
read_json(DemurWorkspace *workspace, const char *path, const char *scan_id, const char *map_path,
          Outcome *outcome, GError **error) {
  g_autoptr(GPtrArray) scores = demur_scores_json_read(path, error);
  g_autoptr(GHashTable) map = NULL;
  if (scores == NULL || (map_path != NULL && (map = read_map(map_path, error)) == NULL))
    return FALSE;
  g_autofree char *file = g_path_get_basename(path);
  if (scan_id != NULL && scores->len != 1) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s holds %u scores, but --scan names one scan: give --map FILE with the columns "
                "name and series_uid",
                file, scores->len);
    return FALSE;
  }
  for (guint i = 0; i < scores->len; i++)
    if (!match_named(workspace, scores->pdata[i], scan_id, map, file, outcome, error))
      return FALSE;
  GHashTableIter iter;
  gpointer name, value;
  if (map != NULL)
    g_hash_table_iter_init(&iter, map);
  while (map != NULL && g_hash_table_iter_next(&iter, &name, &value))
    if (!((MapRow *)value)->used) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "the map names '%s', which %s does not hold; nothing was imported",
                  (const char *)name, file);
      return FALSE;
    }
  return TRUE;
}

static void
write_list(DemurJson *json, const char *key, const GPtrArray *texts) {
  demur_json_begin_array(json, key);
  for (guint i = 0; i < texts->len; i++)
    demur_json_string(json, NULL, texts->pdata[i]);
  demur_json_end_array(json);
}

static void
print_outcome(DemurContext *context, const char *model, const Outcome *outcome, size_t n_new,
              size_t n_replaced, size_t n_same) {
  if (context->json) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "model", model);
    demur_json_begin_array(json, "matched");
    for (guint i = 0; i < outcome->records->len; i++)
      demur_json_string(json, NULL, ((DemurScoreRecord *)outcome->records->pdata[i])->scan_id);
    demur_json_end_array(json);
    write_list(json, "unmatched", outcome->unmatched);
    write_list(json, "ambiguous", outcome->ambiguous);
    write_list(json, "wrong_patient", outcome->mismatched);
    write_list(json, "mangled", outcome->mangled);
    demur_json_int(json, "n_new", (gint64)n_new);
    demur_json_int(json, "n_replaced", (gint64)n_replaced);
    demur_json_int(json, "n_same", (gint64)n_same);
    demur_json_end_object(json);
    demur_context_print_json(context, json);
    return;
  }
  g_print(
      "Scores of model '%s': %u matched (%zu new, %zu replaced, %zu the same), %u unmatched, %u "
      "ambiguous, %u with another patient\n",
      model, outcome->records->len, n_new, n_replaced, n_same, outcome->unmatched->len,
      outcome->ambiguous->len, outcome->mismatched->len);
  for (guint i = 0; i < outcome->unmatched->len; i++)
    g_print("  unmatched: no series of the workspace is %s\n",
            (const char *)outcome->unmatched->pdata[i]);
  for (guint i = 0; i < outcome->ambiguous->len; i++)
    g_print("  ambiguous: %s\n", (const char *)outcome->ambiguous->pdata[i]);
  for (guint i = 0; i < outcome->mismatched->len; i++)
    g_print("  wrong patient: %s\n", (const char *)outcome->mismatched->pdata[i]);
  for (guint i = 0; i < outcome->mangled->len; i++)
    g_print("  changed on its way: %s\n", (const char *)outcome->mangled->pdata[i]);
}

static gboolean
run_import(DemurContext *context, int argc, char **argv, GError **error) {
  g_autofree char *model = NULL, *scan_id = NULL, *map_path = NULL;
  gboolean replace = FALSE;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"model", 'm', 0, G_OPTION_ARG_STRING, &model, "the model whose scores these are", "M"},
      {"scan", 0, 0, G_OPTION_ARG_STRING, &scan_id,
       "FILE is Sybil's prediction_scores.json for this scan", "SCAN"},
      {"map", 0, 0, G_OPTION_ARG_FILENAME, &map_path,
       "FILE is JSON; this table says which name belongs to which series_uid", "MAP.csv"},
      {"replace", 0, 0, G_OPTION_ARG_NONE, &replace, "replace scores of that model that differ",
       NULL},
      {NULL}};
  if (!demur_command_parse(
          argc, argv, "FILE --model M", "read the external model's output for DICOM series",
          "FILE is a CSV with series_uid or scan_id, risk or risk_year_1..6, optional emb_0.. and "
          "patient_id (checked where given); or JSON: Sybil's with --scan or --map, or objects "
          "with "
          "series_uid or scan_id, risk or risks, optional embedding.",
          entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "scores import takes one FILE", error))
    return FALSE;
  if (scan_id != NULL && map_path != NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "scores import takes --scan or --map, not both");
    return FALSE;
  }
  if (model == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "scores import needs --model M: selectors accept the scores of their own "
                        "model only");
    return FALSE;
  }
  DemurWorkspace *workspace = demur_task_workspace(&context->task, error);
  if (workspace == NULL)
    return FALSE;
  g_auto(Outcome) outcome = {0};
  outcome_init(&outcome);
  const gboolean is_json =
      scan_id != NULL || map_path != NULL || g_str_has_suffix(arguments[0], ".json");
  if (is_json ? !read_json(workspace, arguments[0], scan_id, map_path, &outcome, error)
              : !read_table(context, workspace, arguments[0], &outcome, error))
    return FALSE;
  g_autofree char *now = demur_task_now(&context->task);
  g_autofree char *file = g_path_get_basename(arguments[0]);
  g_autofree DemurScoreRecord *records = g_new0(DemurScoreRecord, MAX(outcome.records->len, 1));
  for (guint i = 0; i < outcome.records->len; i++) {
    records[i] = *(DemurScoreRecord *)outcome.records->pdata[i];
    records[i].model = model;
    records[i].source = file;
    records[i].created = now;
  }
  size_t n_new = 0, n_replaced = 0, n_same = 0;
  if (!demur_scores_save(workspace, records, outcome.records->len, replace, &n_new, &n_replaced,
                         &n_same, error))
    return FALSE;
  print_outcome(context, model, &outcome, n_new, n_replaced, n_same);
  if (outcome.records->len == 0) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND,
                        "no row was paired with a series of the workspace; see `demur dicom list`");
    return FALSE;
  }
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  static const DemurCommand list[] = {
      {"import", "read the external model's output for DICOM series", run_import},
      {"run", "run the external model on each series without a score", demur_scores_run},
  };
  return demur_command_dispatch(context, list, G_N_ELEMENTS(list), argc, argv, error);
}

const DemurCommand demur_command_scores = {"scores", "an external model's scores: import, run",
                                           run};
