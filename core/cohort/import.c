/* The cohort table, in one pass over the file.
 *
 * The header gives each column a role; each field is then parsed straight into the cohort's arrays,
 * which are allocated once from the number of lines (they grow where that is not known, for a
 * pipe). A row's first fault is noted and reading goes on, so that all faulty rows are counted;
 * nothing is kept if there is one. Cost: O(bytes). Memory: the arrays, the texts, and a hash table
 * of scan and patient ids. */
#include "cohort/import.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cohort/columns.h"
#include "cohort/intern.h"
#include "cohort/npy.h"
#include "cohort/table-header.h"

#define HORIZON DEMUR_N_YEARS
#define ROWS_A_STEP 8192

typedef struct {
  DemurTable *table;
  const DemurImportOptions *options;
  DemurCohort *cohort;

  DemurTableHeader header;
  DemurScoreColumns scores;
  gssize at_patient, at_scan, at_site, at_split, at_label, at_simulated; /* -1: absent */

  size_t capacity; /* rows allocated */
  DemurIntern scans, patients, sites, splits, *attributes;
  GArray *patient_splits; /* guint32 [n_patients]: the split of its first row */
  GArray *patient_lines;  /* guint64 [n_patients]: the line of its first row */
  GArray *scan_lines;     /* guint64 [n_scans] */
  size_t n_falling;       /* rows whose yearly risks fall */
  gboolean any_simulated, any_not_simulated;
  DemurTableFaults faults;
} Import;

static gboolean
read_header(Import *import, GError **error) {
  const DemurNamedColumn named[] = {
      {"patient_id", NULL, &import->at_patient, TRUE},
      {"scan_id", NULL, &import->at_scan, FALSE},
      {"site", NULL, &import->at_site, TRUE},
      {"split", NULL, &import->at_split, TRUE},
      {"label", NULL, &import->at_label, TRUE},
      {DEMUR_COLUMN_SIMULATED, NULL, &import->at_simulated, FALSE},
  };
  if (!demur_table_header_read(&import->header, import->table, named, G_N_ELEMENTS(named),
                               &import->scores, HORIZON, "patient_id, site, split, label, risk",
                               error))
    return FALSE;
  DemurCohort *cohort = import->cohort;
  cohort->n_classes = demur_score_columns_n_classes(&import->scores);
  cohort->embedding_width = demur_score_columns_width(&import->scores);
  if (cohort->embedding_width > 0 && import->options->embeddings_path != NULL) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s: line 1, column 1: embeddings both in emb_ columns and as an .npy file; give "
                "one of them",
                demur_table_name(import->table));
    return FALSE;
  }
  const size_t n_attributes = import->header.others->len;
  import->attributes = g_new0(DemurIntern, MAX(n_attributes, 1));
  cohort->attributes = g_new0(DemurAttribute, MAX(n_attributes, 1));
  cohort->n_attributes = n_attributes;
  for (size_t a = 0; a < n_attributes; a++) {
    const size_t at = g_array_index(import->header.others, size_t, a);
    cohort->attributes[a].name = g_strdup(import->header.names[at]);
    demur_intern_init(&import->attributes[a], cohort);
  }
  return TRUE;
}

/* Makes array hold capacity rows; what it held stays. */
static gboolean
grow(void *array, size_t old_rows, size_t new_rows, size_t row_bytes, GError **error) {
  void **address = array;
  void *larger = demur_memory_array(new_rows, row_bytes, 1, error);
  if (larger == NULL)
    return FALSE;
  if (old_rows > 0)
    memcpy(larger, *address, old_rows * row_bytes);
  g_aligned_free(*address);
  *address = larger;
  return TRUE;
}

static gboolean
reserve(Import *import, size_t n_rows, GError **error) {
  DemurCohort *c = import->cohort;
  if (n_rows <= import->capacity)
    return TRUE;
  if (n_rows > G_MAXUINT32 / 2) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%s: over %u rows; split the cohort",
                demur_table_name(import->table), G_MAXUINT32 / 2);
    return FALSE;
  }
  const size_t old = import->capacity;
  for (size_t k = 0; k < DEMUR_N_COHORT_COLUMNS; k++) {
    const DemurCohortColumn *column = &demur_cohort_columns[k];
    const gboolean wanted =
        demur_cohort_column_is_due(c, column) ||
        (k == DEMUR_COHORT_YEARLY_RISK && demur_score_columns_any_year(&import->scores));
    if (wanted && column->type != DEMUR_CELL_TEXT &&
        !grow(demur_cohort_column_place(c, column), old, n_rows,
              demur_cohort_column_row_bytes(c, column), error))
      return FALSE;
  }
  for (size_t a = 0; a < c->n_attributes; a++)
    if (!grow(&c->attributes[a].codes, old, n_rows, sizeof(guint32), error))
      return FALSE;
  import->capacity = n_rows;
  return TRUE;
}

static gint32
parse_label(Import *import, const DemurTableField *field) {
  if (field->length == 0)
    return DEMUR_NO_LABEL;
  double value;
  if (!demur_number_parse(field->text, field->length, &value) || value != floor(value) ||
      value < 0 || value >= (double)import->cohort->n_classes) {
    demur_table_faults_note(&import->faults, field, "label",
                            "%s is not a label; give a whole number from 0 to %zu, or nothing "
                            "where it is not recorded",
                            demur_table_shown(field), import->cohort->n_classes - 1);
    return DEMUR_NO_LABEL;
  }
  return (gint32)value;
}

/* A text that every scan must have. */
static void
require(Import *import, const DemurTableField *field, const char *name) {
  if (field->length == 0)
    demur_table_faults_note(&import->faults, field, name,
                            "nothing stands here; every scan needs its %s", name);
}

static void
read_ids(Import *import, const DemurTableField *fields, size_t row) {
  DemurCohort *cohort = import->cohort;
  const DemurTableField *patient = &fields[import->at_patient], *site = &fields[import->at_site],
                        *split = &fields[import->at_split];
  require(import, patient, "patient_id");
  require(import, site, "site");
  require(import, split, "split");
  gboolean is_new;
  const guint64 line = patient->line;
  cohort->sites[row] = demur_intern_add(&import->sites, site->text, site->length, NULL);
  cohort->splits[row] = demur_intern_add(&import->splits, split->text, split->length, NULL);
  const guint32 p = demur_intern_add(&import->patients, patient->text, patient->length, &is_new);
  cohort->patients[row] = p;
  if (is_new) {
    g_array_append_val(import->patient_splits, cohort->splits[row]);
    g_array_append_val(import->patient_lines, line);
  } else if (g_array_index(import->patient_splits, guint32, p) != cohort->splits[row] &&
             patient->length > 0) {
    demur_table_faults_note(
        &import->faults, split, "split",
        "this patient is in split %s by line %" G_GUINT64_FORMAT
        " and here in %s; keep each patient in one split",
        (char *)import->splits.texts->pdata[g_array_index(import->patient_splits, guint32, p)],
        g_array_index(import->patient_lines, guint64, p), split->text);
  } else if (import->at_scan < 0 && patient->length > 0) {
    demur_table_faults_note(
        &import->faults, patient, "patient_id",
        "this patient stands in line %" G_GUINT64_FORMAT
        " already and the table has no column scan_id; add one with a name for each scan",
        g_array_index(import->patient_lines, guint64, p));
  }
  if (import->at_scan < 0)
    return;
  const DemurTableField *scan = &fields[import->at_scan];
  require(import, scan, "scan_id");
  const guint32 s = demur_intern_add(&import->scans, scan->text, scan->length, &is_new);
  if (is_new)
    g_array_append_val(import->scan_lines, line);
  else if (scan->length > 0)
    demur_table_faults_note(&import->faults, scan, "scan_id",
                            "this scan stands in line %" G_GUINT64_FORMAT
                            " already; each scan may stand once",
                            g_array_index(import->scan_lines, guint64, s));
}

/* Three short fields, or none of this table's business. */
static void
read_simulated(Import *import, const DemurTableField *field) {
  if (g_ascii_strcasecmp(field->text, "yes") == 0 || g_ascii_strcasecmp(field->text, "true") == 0 ||
      strcmp(field->text, "1") == 0)
    import->any_simulated = TRUE;
  else if (field->length == 0 || g_ascii_strcasecmp(field->text, "no") == 0 ||
           g_ascii_strcasecmp(field->text, "false") == 0 || strcmp(field->text, "0") == 0)
    import->any_not_simulated = TRUE;
  else
    demur_table_faults_note(&import->faults, field, DEMUR_COLUMN_SIMULATED,
                            "%s is neither yes nor no", demur_table_shown(field));
}

static void
read_row(Import *import, const DemurTableField *fields, size_t row) {
  DemurCohort *cohort = import->cohort;
  const size_t d = cohort->embedding_width, K = cohort->n_classes;
  read_ids(import, fields, row);
  cohort->labels[row] = parse_label(import, &fields[import->at_label]);
  if (import->at_simulated >= 0)
    read_simulated(import, &fields[import->at_simulated]);
  for (size_t a = 0; a < cohort->n_attributes; a++) {
    const DemurTableField *field = &fields[g_array_index(import->header.others, size_t, a)];
    cohort->attributes[a].codes[row] =
        demur_intern_add(&import->attributes[a], field->text, field->length, NULL);
  }
  DemurScoreRow score;
  if (!demur_score_columns_read(&import->scores, fields, HORIZON, &import->faults, &score,
                                cohort->probabilities != NULL ? cohort->probabilities + row * K
                                                              : NULL,
                                d > 0 ? cohort->embeddings + row * d : NULL))
    return;
  if (cohort->risks != NULL)
    cohort->risks[row] = score.risk;
  if (cohort->yearly_risks != NULL) {
    memcpy(cohort->yearly_risks + row * DEMUR_N_YEARS, score.years, sizeof score.years);
    import->n_falling += demur_yearly_risks_fall(score.years) ? 1 : 0;
  }
}

static gboolean
read_rows(Import *import, const DemurProgress *progress, GError **error) {
  DemurCohort *cohort = import->cohort;
  /* A row of n columns takes at least n bytes, so the arrays are bounded by the file as well. */
  const guint64 by_bytes = demur_table_n_bytes(import->table) / import->header.n_columns + 1;
  const size_t by_lines = demur_table_count_lines(import->table);
  if (!reserve(import, MAX((size_t)MIN((guint64)by_lines, by_bytes), 1024), error))
    return FALSE;
  size_t row = 0;
  for (size_t n_read = 0;; n_read++) {
    const DemurTableField *fields;
    if (n_read % ROWS_A_STEP == 0 &&
        !demur_progress_step(progress, demur_table_fraction(import->table), "reading scans", error))
      return FALSE;
    if (!demur_table_header_next(&import->header, import->table, &import->faults, &fields, error))
      return FALSE;
    if (fields == NULL)
      break;
    if (row == import->capacity && !reserve(import, row * 2, error))
      return FALSE;
    read_row(import, fields, row++);
  }
  cohort->n_scans = row;
  if (demur_table_faults_raise(&import->faults, error))
    return FALSE;
  if (row == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s: line 2, column 1: a header but no row; expected one row a scan",
                demur_table_name(import->table));
    return FALSE;
  }
  return TRUE;
}

/* rows[i]: the scan that row i of the .npy belongs to. NULL with error. */
static guint32 *
read_embedding_ids(const DemurCohort *cohort, const char *path, GHashTable *rows_of_scans,
                   GError **error) {
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  if (table == NULL)
    return NULL;
  g_autofree guint32 *rows = g_new(guint32, cohort->n_scans);
  g_autofree size_t *lines = g_new0(size_t, cohort->n_scans);
  size_t n = 0;
  for (gboolean first = TRUE;; first = FALSE) {
    const DemurTableField *fields;
    size_t n_fields;
    if (!demur_table_next(table, &fields, &n_fields, error))
      return NULL;
    if (n_fields == 0)
      break;
    const DemurTableField *id = &fields[0];
    gpointer row;
    const char *what = NULL;
    if (n_fields != 1)
      what = "more than one field; expected one scan_id a line";
    else if (!g_hash_table_lookup_extended(rows_of_scans, id->text, NULL, &row)) {
      if (first && strcmp(id->text, "scan_id") == 0)
        continue;
      what = "this scan_id is not in the cohort table";
    } else if (lines[GPOINTER_TO_SIZE(row)] != 0)
      what = "this scan_id stands here a second time";
    if (what != NULL) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%s: line %zu, column %zu: %s",
                  demur_table_name(table), id->line, id->column, what);
      return NULL;
    }
    lines[GPOINTER_TO_SIZE(row)] = id->line;
    rows[n++] = (guint32)GPOINTER_TO_SIZE(row);
  }
  if (n != cohort->n_scans) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s has %zu scan_ids where the table has %zu scans; name every scan once",
                demur_table_name(table), n, cohort->n_scans);
    return NULL;
  }
  return g_steal_pointer(&rows);
}

/* Moves row i of values to row to[i], in place along the permutation's cycles. */
static void
permute_rows(float *values, size_t n, size_t d, const guint32 *to) {
  g_autofree guint8 *done = g_malloc0(n);
  g_autofree float *carried = g_new(float, d), *other = g_new(float, d);
  for (size_t start = 0; start < n; start++) {
    if (done[start])
      continue;
    memcpy(carried, values + start * d, d * sizeof(float));
    size_t i = start;
    do {
      done[i] = 1;
      i = to[i];
      memcpy(other, values + i * d, d * sizeof(float));
      memcpy(values + i * d, carried, d * sizeof(float));
      memcpy(carried, other, d * sizeof(float));
    } while (i != start);
  }
}

static gboolean
read_embeddings(Import *import, const DemurProgress *progress, GPtrArray *warnings,
                GError **error) {
  DemurCohort *cohort = import->cohort;
  const DemurImportOptions *options = import->options;
  size_t n_rows, width;
  g_autofree char *name = g_path_get_basename(options->embeddings_path);
  float *values = demur_npy_read(options->embeddings_path, &n_rows, &width, progress, error);
  if (values == NULL)
    return FALSE;
  cohort->embeddings = values; /* freed with the cohort */
  cohort->embedding_width = width;
  if (n_rows != cohort->n_scans) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s has %zu rows where %s has %zu scans; every scan needs one row", name, n_rows,
                demur_table_name(import->table), cohort->n_scans);
    return FALSE;
  }
  if (options->embedding_ids_path == NULL) {
    g_ptr_array_add(warnings, g_strdup_printf("embeddings of %s joined by row order: row 1 of the "
                                              "array is the first scan of the table",
                                              name));
    return TRUE;
  }
  g_autoptr(GHashTable) rows_of_scans = g_hash_table_new(g_str_hash, g_str_equal);
  for (size_t i = 0; i < cohort->n_scans; i++)
    g_hash_table_insert(rows_of_scans, cohort->scan_ids[i], GSIZE_TO_POINTER(i));
  g_autofree guint32 *rows =
      read_embedding_ids(cohort, options->embedding_ids_path, rows_of_scans, error);
  if (rows == NULL)
    return FALSE;
  permute_rows(values, n_rows, width, rows);
  return TRUE;
}

static void
warn(const Import *import, GPtrArray *warnings) {
  const DemurCohort *cohort = import->cohort;
  for (size_t s = 0; s < cohort->n_splits; s++) {
    size_t n = 0, n_unlabelled = 0;
    for (size_t i = 0; i < cohort->n_scans; i++)
      if (cohort->splits[i] == s) {
        n++;
        n_unlabelled += cohort->labels[i] == DEMUR_NO_LABEL;
      }
    if (n_unlabelled > 0)
      g_ptr_array_add(warnings,
                      g_strdup_printf("split %s: %zu of %zu scans without label; it can't train, "
                                      "recalibrate or be evaluated",
                                      cohort->split_names[s], n_unlabelled, n));
  }
  if (import->n_falling > 0)
    g_ptr_array_add(warnings, g_strdup_printf("%zu scans whose yearly risks fall from one year to "
                                              "a later one",
                                              import->n_falling));
  if (import->any_simulated && import->any_not_simulated)
    g_ptr_array_add(warnings, g_strdup("column simulated says yes in some rows only; the whole "
                                       "cohort is marked as simulated"));
}

static gboolean
run(Import *import, const DemurProgress *progress, GPtrArray *warnings, GError **error) {
  if (!read_header(import, error))
    return FALSE;
  DemurCohort *cohort = import->cohort;
  if (!read_rows(import, progress, error))
    return FALSE;
  size_t n_texts;
  cohort->patient_ids = demur_intern_steal(&import->patients, &cohort->n_patients);
  cohort->site_names = demur_intern_steal(&import->sites, &cohort->n_sites);
  cohort->split_names = demur_intern_steal(&import->splits, &cohort->n_splits);
  /* Without a column, every row is a new patient: the two lists are one. */
  cohort->scan_ids =
      import->at_scan >= 0 ? demur_intern_steal(&import->scans, &n_texts) : cohort->patient_ids;
  for (size_t a = 0; a < cohort->n_attributes; a++)
    cohort->attributes[a].values =
        demur_intern_steal(&import->attributes[a], &cohort->attributes[a].n_values);
  cohort->simulated = import->any_simulated;
  if (import->options->embeddings_path != NULL &&
      !read_embeddings(import, progress, warnings, error))
    return FALSE;
  warn(import, warnings);
  return demur_progress_step(progress, 1.0, "reading scans", error);
}

DemurCohort *
demur_cohort_import(const char *path, const DemurImportOptions *options,
                    const DemurProgress *progress, char ***warnings, GError **error) {
  if (options->embedding_ids_path != NULL && options->embeddings_path == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "embedding ids without embeddings; give the .npy file too");
    return NULL;
  }
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  if (table == NULL)
    return NULL;
  g_autoptr(DemurCohort) cohort = demur_cohort_alloc();
  Import import = {.table = table, .options = options, .cohort = cohort};
  demur_score_columns_init(&import.scores);
  demur_table_faults_init(&import.faults, table);
  demur_intern_init(&import.scans, cohort);
  demur_intern_init(&import.patients, cohort);
  demur_intern_init(&import.sites, cohort);
  demur_intern_init(&import.splits, cohort);
  import.patient_splits = g_array_new(FALSE, FALSE, sizeof(guint32));
  import.patient_lines = g_array_new(FALSE, FALSE, sizeof(guint64));
  import.scan_lines = g_array_new(FALSE, FALSE, sizeof(guint64));
  g_autoptr(GPtrArray) sentences = g_ptr_array_new_with_free_func(g_free);
  cohort->name = g_strdup(options->name);
  cohort->model = g_strdup(options->model != NULL ? options->model : "unnamed");
  cohort->created = g_strdup(options->created != NULL ? options->created : "");
  cohort->source = g_strdup_printf("table %s", demur_table_name(table));

  const gboolean ok = run(&import, progress, sentences, error);

  demur_table_header_clear(&import.header);
  demur_score_columns_clear(&import.scores);
  demur_table_faults_clear(&import.faults);
  for (size_t a = 0; import.attributes != NULL && a < cohort->n_attributes; a++)
    demur_intern_clear(&import.attributes[a]);
  g_free(import.attributes);
  demur_intern_clear(&import.scans);
  demur_intern_clear(&import.patients);
  demur_intern_clear(&import.sites);
  demur_intern_clear(&import.splits);
  g_array_unref(import.patient_splits);
  g_array_unref(import.patient_lines);
  g_array_unref(import.scan_lines);
  if (!ok)
    return NULL;
  if (warnings != NULL) {
    g_ptr_array_add(sentences, NULL);
    *warnings = (char **)g_ptr_array_free(g_steal_pointer(&sentences), FALSE);
  }
  return g_steal_pointer(&cohort);
}
