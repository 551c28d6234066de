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
#include "cohort/intern.h"
#include "cohort/npy.h"
#include "cohort/table.h"

#define MAX_FAULTS_SHOWN 10
#define MAX_CLASSES 100000
#define MAX_WIDTH 100000
#define PROBABILITY_SUM_TOLERANCE 1e-5
#define ROWS_A_STEP 8192

typedef enum {
  ROLE_ATTRIBUTE,
  ROLE_PATIENT,
  ROLE_SCAN,
  ROLE_SITE,
  ROLE_SPLIT,
  ROLE_LABEL,
  ROLE_RISK,
  ROLE_PROBABILITY,
  ROLE_YEARLY,
  ROLE_EMBEDDING,
  ROLE_SIMULATED,
} Role;

typedef struct {
  Role role;
  size_t index; /* of prob_k, emb_k, risk_year_(k+1), attribute */
  char *name;
} Column;

typedef struct {
  DemurTable *table;
  const DemurImportOptions *options;
  DemurCohort *cohort;

  size_t n_columns;
  Column *columns;
  gssize at_patient, at_scan, at_site, at_split, at_label, at_risk, at_simulated; /* -1: absent */
  gssize at_probability_1; /* two classes given by prob_0 and prob_1 */
  gssize at_year[DEMUR_N_YEARS];
  size_t n_probabilities; /* 0: by risk */
  gboolean any_year;

  size_t capacity; /* rows allocated */
  DemurIntern scans, patients, sites, splits, *attributes;
  GArray *patient_splits; /* guint32 [n_patients]: the split of its first row */
  GArray *patient_lines;  /* guint64 [n_patients]: the line of its first row */
  GArray *scan_lines;     /* guint64 [n_scans] */
  double *row;            /* [K] probabilities of a row where there are two */
  gboolean any_simulated, any_not_simulated;

  size_t n_bad;
  GString *faults;
} Import;

/* Takes down a fault of the row being read; the first one of a row counts. */
static void
G_GNUC_PRINTF(4, 5)
    note(Import *import, const DemurTableField *field, gboolean *bad, const char *format, ...) {
  if (*bad)
    return;
  *bad = TRUE;
  if (import->n_bad++ >= MAX_FAULTS_SHOWN)
    return;
  va_list arguments;
  va_start(arguments, format);
  g_string_append_printf(import->faults, "\n  line %zu, column %zu", field->line, field->column);
  g_string_append_vprintf(import->faults, format, arguments);
  va_end(arguments);
}

/* A field for a message: only what looks like a number is shown, since a shifted column may hold a
 * name. */
static const char *
shown(const DemurTableField *field) {
  if (field->length == 0)
    return "nothing";
  if (field->length > 24 || strspn(field->text, "+-.,0123456789eEnaNAifIF") != field->length)
    return "this text";
  return field->text;
}

/* "emb_12" -> 12 for prefix "emb_": digits without leading zeros. */
static gboolean
numbered(const char *name, const char *prefix, size_t limit, size_t *index) {
  if (!g_str_has_prefix(name, prefix))
    return FALSE;
  const char *digits = name + strlen(prefix);
  if (*digits == '\0' || strlen(digits) > 9 || (digits[0] == '0' && digits[1] != '\0') ||
      strspn(digits, "0123456789") != strlen(digits))
    return FALSE;
  *index = (size_t)g_ascii_strtoull(digits, NULL, 10);
  return *index < limit;
}

static gboolean
header_error(const Import *import, const DemurTableField *field, const char *what, GError **error) {
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%s: line %zu, column %zu: %s",
              demur_table_name(import->table), field->line, field->column, what);
  return FALSE;
}

/* Every index from 0 to n - 1 must be there. */
static gboolean
check_run(const Import *import, const char *prefix, GArray *seen, size_t *n,
          const DemurTableField *end, GError **error) {
  *n = seen->len;
  for (guint k = 0; k < seen->len; k++)
    if (!g_array_index(seen, gboolean, k)) {
      g_autofree char *what = g_strdup_printf(
          "column %s%u is missing while %s%u is there; number them from 0 without gaps", prefix, k,
          prefix, seen->len - 1);
      return header_error(import, end, what, error);
    }
  return TRUE;
}

static void
mark(GArray *seen, size_t index) {
  if (index >= seen->len)
    g_array_set_size(seen, (guint)index + 1);
  g_array_index(seen, gboolean, index) = TRUE;
}

static gboolean
read_header(Import *import, GError **error) {
  const DemurTableField *fields;
  size_t n;
  if (!demur_table_next(import->table, &fields, &n, error))
    return FALSE;
  if (n == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s: line 1, column 1: the file is empty; expected a header line with patient_id, "
                "site, split, label, risk",
                demur_table_name(import->table));
    return FALSE;
  }
  import->n_columns = n;
  import->columns = g_new0(Column, n);
  g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(GArray) probabilities = g_array_new(FALSE, TRUE, sizeof(gboolean));
  g_autoptr(GArray) embeddings = g_array_new(FALSE, TRUE, sizeof(gboolean));
  size_t n_attributes = 0;
  for (size_t c = 0; c < n; c++) {
    Column *column = &import->columns[c];
    column->name = g_strstrip(g_strdup(fields[c].text));
    if (*column->name == '\0')
      return header_error(import, &fields[c],
                          "a column without a name; name it or leave it out (pandas: "
                          "to_csv(.., index=False))",
                          error);
    if (!g_hash_table_add(names, column->name)) {
      g_autofree char *what =
          g_strdup_printf("a second column %s; each name may stand once", column->name);
      return header_error(import, &fields[c], what, error);
    }
    const struct {
      const char *name;
      Role role;
      gssize *at;
    } fixed[] = {
        {"patient_id", ROLE_PATIENT, &import->at_patient},
        {"scan_id", ROLE_SCAN, &import->at_scan},
        {"site", ROLE_SITE, &import->at_site},
        {"split", ROLE_SPLIT, &import->at_split},
        {"label", ROLE_LABEL, &import->at_label},
        {"risk", ROLE_RISK, &import->at_risk},
        {"simulated", ROLE_SIMULATED, &import->at_simulated},
    };
    column->role = ROLE_ATTRIBUTE;
    for (size_t f = 0; f < G_N_ELEMENTS(fixed); f++)
      if (strcmp(column->name, fixed[f].name) == 0) {
        column->role = fixed[f].role;
        *fixed[f].at = (gssize)c;
      }
    size_t index;
    if (numbered(column->name, "prob_", MAX_CLASSES, &index)) {
      column->role = ROLE_PROBABILITY;
      mark(probabilities, index);
      if (index == 1)
        import->at_probability_1 = (gssize)c;
    } else if (numbered(column->name, "emb_", MAX_WIDTH, &index)) {
      column->role = ROLE_EMBEDDING;
      mark(embeddings, index);
    } else if (numbered(column->name, "risk_year_", DEMUR_N_YEARS + 1, &index) && index >= 1) {
      index--;
      column->role = ROLE_YEARLY;
      import->at_year[index] = (gssize)c;
      import->any_year = TRUE;
    } else if (column->role == ROLE_ATTRIBUTE) {
      index = n_attributes++;
    } else {
      index = 0;
    }
    column->index = index;
  }
  const DemurTableField *last = &fields[n - 1];
  const struct {
    const char *name;
    gssize at;
  } needed[] = {{"patient_id", import->at_patient},
                {"site", import->at_site},
                {"split", import->at_split},
                {"label", import->at_label}};
  for (size_t f = 0; f < G_N_ELEMENTS(needed); f++)
    if (needed[f].at < 0) {
      g_autofree char *what = g_strdup_printf(
          "the header has no column %s; add it (columns may stand in any order, names are exact)",
          needed[f].name);
      return header_error(import, last, what, error);
    }
  DemurCohort *cohort = import->cohort;
  if (!check_run(import, "prob_", probabilities, &import->n_probabilities, last, error) ||
      !check_run(import, "emb_", embeddings, &cohort->embedding_width, last, error))
    return FALSE;
  if (import->n_probabilities == 1)
    return header_error(
        import, last, "column prob_1 is missing; give prob_0..prob_{K-1}, or risk for two classes",
        error);
  if (import->n_probabilities == 0 && import->at_risk < 0 && import->at_year[DEMUR_N_YEARS - 1] < 0)
    return header_error(import, last,
                        "the header has no column risk; add it (or risk_year_6, or "
                        "prob_0..prob_{K-1})",
                        error);
  cohort->n_classes = MAX(import->n_probabilities, 2);
  if (cohort->n_classes > 2 && (import->at_risk >= 0 || import->any_year))
    return header_error(import, &fields[import->at_risk >= 0 ? (size_t)import->at_risk : n - 1],
                        "a risk beside more than two classes; leave risk and risk_year_.. out, or "
                        "give two classes",
                        error);
  if (cohort->embedding_width > 0 && import->options->embeddings_path != NULL)
    return header_error(import, last,
                        "embeddings both in emb_ columns and as an .npy file; give one of them",
                        error);
  import->attributes = g_new0(DemurIntern, MAX(n_attributes, 1));
  cohort->attributes = g_new0(DemurAttribute, MAX(n_attributes, 1));
  cohort->n_attributes = n_attributes;
  for (size_t c = 0; c < n; c++)
    if (import->columns[c].role == ROLE_ATTRIBUTE) {
      const size_t a = import->columns[c].index;
      cohort->attributes[a].name = g_strdup(import->columns[c].name);
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
  if (!grow(&c->patients, old, n_rows, sizeof(guint32), error) ||
      !grow(&c->sites, old, n_rows, sizeof(guint32), error) ||
      !grow(&c->splits, old, n_rows, sizeof(guint32), error) ||
      !grow(&c->labels, old, n_rows, sizeof(gint32), error))
    return FALSE;
  if (c->n_classes == 2
          ? !grow(&c->risks, old, n_rows, sizeof(double), error)
          : !grow(&c->probabilities, old, n_rows, c->n_classes * sizeof(double), error))
    return FALSE;
  if (import->any_year &&
      !grow(&c->yearly_risks, old, n_rows, DEMUR_N_YEARS * sizeof(double), error))
    return FALSE;
  if (c->embedding_width > 0 &&
      !grow(&c->embeddings, old, n_rows, c->embedding_width * sizeof(float), error))
    return FALSE;
  for (size_t a = 0; a < c->n_attributes; a++)
    if (!grow(&c->attributes[a].codes, old, n_rows, sizeof(guint32), error))
      return FALSE;
  import->capacity = n_rows;
  return TRUE;
}

static gboolean
parse_probability(Import *import, const DemurTableField *field, const char *name, double *value,
                  gboolean *bad) {
  if (!demur_number_parse(field->text, field->length, value)) {
    note(import, field, bad,
         " (%s): %s is not a finite number; give a probability from 0 to 1 "
         "with a decimal point",
         name, shown(field));
    return FALSE;
  }
  if (*value < 0.0 || *value > 1.0) {
    note(import, field, bad, " (%s): %s is not between 0 and 1; give a probability", name,
         shown(field));
    return FALSE;
  }
  return TRUE;
}

static gint32
parse_label(Import *import, const DemurTableField *field, gboolean *bad) {
  if (field->length == 0)
    return DEMUR_NO_LABEL;
  double value;
  if (!demur_number_parse(field->text, field->length, &value) || value != floor(value) ||
      value < 0 || value >= (double)import->cohort->n_classes) {
    note(import, field, bad,
         " (label): %s is not a label; give a whole number from 0 to %zu, or nothing where it is "
         "not recorded",
         shown(field), import->cohort->n_classes - 1);
    return DEMUR_NO_LABEL;
  }
  return (gint32)value;
}

/* A text that every scan must have. */
static void
require(Import *import, const DemurTableField *field, const char *name, gboolean *bad) {
  if (field->length == 0)
    note(import, field, bad, " (%s): nothing stands here; every scan needs its %s", name, name);
}

static void
read_ids(Import *import, const DemurTableField *fields, size_t row, gboolean *bad) {
  DemurCohort *cohort = import->cohort;
  const DemurTableField *patient = &fields[import->at_patient], *site = &fields[import->at_site],
                        *split = &fields[import->at_split];
  require(import, patient, "patient_id", bad);
  require(import, site, "site", bad);
  require(import, split, "split", bad);
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
    note(import, split, bad,
         " (split): this patient is in split %s by line %" G_GUINT64_FORMAT
         " and here in %s; keep each patient in one split",
         (char *)import->splits.texts->pdata[g_array_index(import->patient_splits, guint32, p)],
         g_array_index(import->patient_lines, guint64, p), split->text);
  } else if (import->at_scan < 0 && patient->length > 0) {
    note(import, patient, bad,
         " (patient_id): this patient stands in line %" G_GUINT64_FORMAT
         " already and the table has no column scan_id; add one with a name for each scan",
         g_array_index(import->patient_lines, guint64, p));
  }
  if (import->at_scan < 0)
    return;
  const DemurTableField *scan = &fields[import->at_scan];
  require(import, scan, "scan_id", bad);
  const guint32 s = demur_intern_add(&import->scans, scan->text, scan->length, &is_new);
  if (is_new)
    g_array_append_val(import->scan_lines, line);
  else if (scan->length > 0)
    note(import, scan, bad,
         " (scan_id): this scan stands in line %" G_GUINT64_FORMAT
         " already; each scan may stand once",
         g_array_index(import->scan_lines, guint64, s));
}

/* Three short fields, or none of this table's business. */
static void
read_simulated(Import *import, const DemurTableField *field, gboolean *bad) {
  if (g_ascii_strcasecmp(field->text, "yes") == 0 || g_ascii_strcasecmp(field->text, "true") == 0 ||
      strcmp(field->text, "1") == 0)
    import->any_simulated = TRUE;
  else if (field->length == 0 || g_ascii_strcasecmp(field->text, "no") == 0 ||
           g_ascii_strcasecmp(field->text, "false") == 0 || strcmp(field->text, "0") == 0)
    import->any_not_simulated = TRUE;
  else
    note(import, field, bad, " (simulated): %s is neither yes nor no", shown(field));
}

static void
read_risks(Import *import, const DemurTableField *fields, size_t row, gboolean *bad) {
  DemurCohort *cohort = import->cohort;
  const size_t K = import->n_probabilities;
  double *yearly = cohort->yearly_risks != NULL ? cohort->yearly_risks + row * DEMUR_N_YEARS : NULL;
  for (size_t k = 0; yearly != NULL && k < DEMUR_N_YEARS; k++) {
    yearly[k] = NAN;
    const gssize at = import->at_year[k];
    if (at < 0 || fields[at].length == 0)
      continue;
    double value;
    if (parse_probability(import, &fields[at], import->columns[at].name, &value, bad))
      yearly[k] = value;
  }
  if (K > 0) {
    double sum = 0.0;
    for (size_t k = 0; k < K; k++)
      sum += import->row[k];
    if (!*bad && fabs(sum - 1.0) > PROBABILITY_SUM_TOLERANCE)
      note(import, &fields[import->at_probability_1], bad,
           " (prob_..): the probabilities sum to %.7g; they must sum to 1 within 1e-5", sum);
  }
  if (K > 2) {
    memcpy(cohort->probabilities + row * K, import->row, K * sizeof(double));
    return;
  }
  const gssize at_year_6 = import->at_year[DEMUR_N_YEARS - 1];
  double risk = NAN;
  if (import->at_risk >= 0) {
    if (!parse_probability(import, &fields[import->at_risk], "risk", &risk, bad))
      return;
    if (yearly != NULL && at_year_6 >= 0 && !isnan(yearly[DEMUR_N_YEARS - 1]) &&
        yearly[DEMUR_N_YEARS - 1] != risk)
      note(import, &fields[at_year_6], bad,
           " (risk_year_6): it differs from risk in the same row; they must be equal, or give one "
           "of them");
    if (K == 2 && fabs(import->row[1] - risk) > PROBABILITY_SUM_TOLERANCE)
      note(import, &fields[import->at_probability_1], bad,
           " (prob_1): it differs from risk in the same row; they must be equal, or give one of "
           "them");
  } else if (K == 2) {
    risk = import->row[1];
    if (yearly != NULL && at_year_6 >= 0 && !isnan(yearly[DEMUR_N_YEARS - 1]) &&
        yearly[DEMUR_N_YEARS - 1] != risk)
      note(import, &fields[at_year_6], bad,
           " (risk_year_6): it differs from prob_1 in the same row; they must be equal, or give "
           "one of them");
  } else {
    risk = yearly[DEMUR_N_YEARS - 1];
    if (isnan(risk))
      note(import, &fields[at_year_6], bad,
           " (risk_year_6): nothing stands here and the table has no column risk");
  }
  cohort->risks[row] = risk;
}

static void
read_row(Import *import, const DemurTableField *fields, size_t row) {
  DemurCohort *cohort = import->cohort;
  gboolean bad = FALSE;
  read_ids(import, fields, row, &bad);
  cohort->labels[row] = parse_label(import, &fields[import->at_label], &bad);
  float *embedding =
      cohort->embedding_width > 0 ? cohort->embeddings + row * cohort->embedding_width : NULL;
  for (size_t c = 0; c < import->n_columns; c++) {
    const Column *column = &import->columns[c];
    const DemurTableField *field = &fields[c];
    double value;
    switch (column->role) {
    case ROLE_EMBEDDING:
      if (demur_number_parse(field->text, field->length, &value) && isfinite((float)value))
        embedding[column->index] = (float)value;
      else
        note(import, field, &bad,
             " (%s): %s is not a finite float; every scan needs a whole embedding", column->name,
             shown(field));
      break;
    case ROLE_PROBABILITY:
      if (!parse_probability(import, field, column->name, &import->row[column->index], &bad))
        import->row[column->index] = 0.0;
      break;
    case ROLE_ATTRIBUTE:
      cohort->attributes[column->index].codes[row] =
          demur_intern_add(&import->attributes[column->index], field->text, field->length, NULL);
      break;
    case ROLE_SIMULATED:
      read_simulated(import, field, &bad);
      break;
    default:
      break;
    }
  }
  read_risks(import, fields, row, &bad);
}

static gboolean
read_rows(Import *import, const DemurProgress *progress, GError **error) {
  DemurCohort *cohort = import->cohort;
  /* A row of n columns takes at least n bytes, so the arrays are bounded by the file as well. */
  const guint64 by_bytes = demur_table_n_bytes(import->table) / import->n_columns + 1;
  const size_t by_lines = demur_table_count_lines(import->table);
  if (!reserve(import, MAX((size_t)MIN((guint64)by_lines, by_bytes), 1024), error))
    return FALSE;
  size_t row = 0;
  for (size_t n_read = 0;; n_read++) {
    const DemurTableField *fields;
    size_t n_fields;
    if (n_read % ROWS_A_STEP == 0 &&
        !demur_progress_step(progress, demur_table_fraction(import->table), "reading scans", error))
      return FALSE;
    if (!demur_table_next(import->table, &fields, &n_fields, error))
      return FALSE;
    if (n_fields == 0)
      break;
    if (n_fields != import->n_columns) {
      gboolean bad = FALSE;
      const DemurTableField *at = &fields[MIN(n_fields, import->n_columns + 1) - 1];
      note(import, at, &bad,
           ": the row has %zu fields where the header has %zu; quote fields that hold the "
           "separator, and fill up short rows",
           n_fields, import->n_columns);
      continue;
    }
    if (row == import->capacity && !reserve(import, row * 2, error))
      return FALSE;
    read_row(import, fields, row++);
  }
  cohort->n_scans = row;
  const char *name = demur_table_name(import->table);
  if (import->n_bad > 0) {
    if (import->n_bad > MAX_FAULTS_SHOWN)
      g_string_append_printf(import->faults, "\n  and %zu more", import->n_bad - MAX_FAULTS_SHOWN);
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%s: %zu row%s refused, nothing imported:%s",
                name, import->n_bad, import->n_bad == 1 ? "" : "s", import->faults->str);
    return FALSE;
  }
  if (row == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s: line 2, column 1: a header but no row; expected one row a scan", name);
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
  if (cohort->yearly_risks != NULL) {
    size_t n_falling = 0;
    for (size_t i = 0; i < cohort->n_scans; i++) {
      const double *yearly = cohort->yearly_risks + i * DEMUR_N_YEARS;
      gboolean falling = FALSE;
      double last = 0.0;
      for (size_t k = 0; k < DEMUR_N_YEARS; k++)
        if (!isnan(yearly[k])) {
          falling |= yearly[k] < last;
          last = yearly[k];
        }
      n_falling += falling ? 1 : 0;
    }
    if (n_falling > 0)
      g_ptr_array_add(warnings, g_strdup_printf("%zu scans whose yearly risks fall from one year "
                                                "to a later one",
                                                n_falling));
  }
  if (import->any_simulated && import->any_not_simulated)
    g_ptr_array_add(warnings, g_strdup("column simulated says yes in some rows only; the whole "
                                       "cohort is marked as simulated"));
}

static gboolean
run(Import *import, const DemurProgress *progress, GPtrArray *warnings, GError **error) {
  if (!read_header(import, error))
    return FALSE;
  DemurCohort *cohort = import->cohort;
  import->row = g_new0(double, MAX(import->n_probabilities, 1));
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
  import.at_patient = import.at_scan = import.at_site = import.at_split = import.at_label =
      import.at_risk = import.at_simulated = import.at_probability_1 = -1;
  for (size_t k = 0; k < DEMUR_N_YEARS; k++)
    import.at_year[k] = -1;
  demur_intern_init(&import.scans, cohort);
  demur_intern_init(&import.patients, cohort);
  demur_intern_init(&import.sites, cohort);
  demur_intern_init(&import.splits, cohort);
  import.patient_splits = g_array_new(FALSE, FALSE, sizeof(guint32));
  import.patient_lines = g_array_new(FALSE, FALSE, sizeof(guint64));
  import.scan_lines = g_array_new(FALSE, FALSE, sizeof(guint64));
  import.faults = g_string_new(NULL);
  g_autoptr(GPtrArray) sentences = g_ptr_array_new_with_free_func(g_free);
  cohort->name = g_strdup(options->name);
  cohort->model = g_strdup(options->model != NULL ? options->model : "unnamed");
  cohort->created = g_strdup(options->created != NULL ? options->created : "");
  cohort->source = g_strdup_printf("table %s", demur_table_name(table));

  const gboolean ok = run(&import, progress, sentences, error);

  for (size_t c = 0; c < import.n_columns; c++)
    g_free(import.columns[c].name);
  g_free(import.columns);
  for (size_t a = 0; import.attributes != NULL && a < cohort->n_attributes; a++)
    demur_intern_clear(&import.attributes[a]);
  g_free(import.attributes);
  g_free(import.row);
  demur_intern_clear(&import.scans);
  demur_intern_clear(&import.patients);
  demur_intern_clear(&import.sites);
  demur_intern_clear(&import.splits);
  g_array_unref(import.patient_splits);
  g_array_unref(import.patient_lines);
  g_array_unref(import.scan_lines);
  g_string_free(import.faults, TRUE);
  if (!ok)
    return NULL;
  if (warnings != NULL) {
    g_ptr_array_add(sentences, NULL);
    *warnings = (char **)g_ptr_array_free(g_steal_pointer(&sentences), FALSE);
  }
  return g_steal_pointer(&cohort);
}
