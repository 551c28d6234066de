/* The cohort table, in one pass over the file.
 *
 * The header gives each column a role; each field is then parsed straight into the cohort's arrays,
 * which are allocated once from the number of lines (they grow where that is not known, for a
 * pipe). A row's first fault is noted and reading goes on, so that all faulty rows are counted;
 * nothing is kept if there is one. Cost: O(bytes). Memory: the arrays, the texts, and a hash table
 * of scan and patient ids. */
#include "cohort/import.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "cohort/attribute-codes.h"
#include "cohort/columns.h"
#include "cohort/ids.h"
#include "cohort/join-embeddings.h"
#include "cohort/outcome.h"
#include "cohort/table-header.h"
#include "cohort/table-warnings.h"

#define ROWS_A_STEP 8192
#define ROWS_AT_FIRST 16 /* where their number is not known */
#define YEARS_TO_CANCER "years_to_cancer"
#define YEARS_OF_FOLLOWUP "years_of_followup"

typedef struct {
  DemurTable *table;
  const DemurImportOptions *options;
  DemurCohort *cohort;

  DemurTableHeader header;
  DemurScoreColumns scores;
  gssize at_patient, at_scan, at_site, at_split, at_label, at_simulated; /* -1: absent */
  gssize at_outcome[3];          /* time, status, horizon; -1: absent */
  gssize at_cancer, at_followup; /* where times are made of them; -1: not */
  size_t n_left, n_free_by_label;

  size_t capacity; /* rows allocated */
  DemurIds scans, patients, sites, splits;
  DemurIntern *attributes;
  DemurCellsNoticed *missing; /* [n_attributes]: what was noticed of their cells */
  GString *line;
  DemurCellsNoticed missing_labels;
  GArray *patient_splits; /* guint32 [n_patients]: the split of its first row */
  GArray *patient_lines;  /* guint64 [n_patients]: the line of its first row */
  GArray *scan_lines;     /* guint64 [n_scans] */
  gboolean is_bare;       /* no patient, scan, site and split: every row is a patient */
  size_t n_simulated;     /* rows that say so */
  DemurTableFaults faults;
} Import;

/* Years of the risk that is read. */
static int
risk_year(const Import *import) {
  return import->options->horizon_years > 0 ? import->options->horizon_years : DEMUR_N_YEARS;
}

/* Years that label and risk are about, as far as the table tells: what was asked for, the outcomes'
 * own, or six where a risk stands among yearly ones. FALSE where they contradict. */
static gboolean
find_horizon(const Import *import, double *years, GError **error) {
  const double asked = import->options->horizon_years,
               outcomes = demur_cohort_horizon(import->cohort),
               risks = asked > 0.0                                    ? asked
                       : import->scores.years[DEMUR_N_YEARS - 1] >= 0 ? DEMUR_N_YEARS
                                                                      : 0.0;
  *years = risks > 0.0 ? risks : isfinite(outcomes) ? outcomes : 0.0;
  if (!isfinite(outcomes) || risks == 0.0 || risks == outcomes)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_INPUT,
      "%s: outcomes are told for %g years, but the risk is that of %g; give the risk of the "
      "same years (--horizon N reads risk_year_N)",
      demur_table_name(import->table), outcomes, risks);
  return FALSE;
}

/* Who, where and in which split must be there; or, in a table of predictions and labels alone (as
 * calzone reads and writes), none of them. */
static gboolean
check_texts(Import *import, gboolean makes_splits, GPtrArray *warnings, GError **error) {
  import->is_bare = import->at_patient < 0 && import->at_scan < 0 && import->at_site < 0 &&
                    import->at_split < 0 && import->at_label >= 0 &&
                    demur_score_columns_n_probabilities(&import->scores) > 0;
  if (import->is_bare) {
    demur_table_warnings_add(warnings, DEMUR_TABLE_BARE, NULL, NULL, NULL, 0, 0);
    return TRUE;
  }
  const char *missing = import->at_patient < 0                  ? "patient_id"
                        : import->at_site < 0                   ? "site"
                        : import->at_split < 0 && !makes_splits ? "split"
                                                                : NULL;
  if (missing == NULL)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_INPUT,
      "%s: line 1, column 1: the header has no column %s; add it (columns may stand in any "
      "order, names are exact)",
      demur_table_name(import->table), missing);
  return FALSE;
}

/* Where the years that times are made of stand: asked for by the horizon, unless the table tells
 * times itself. */
static void
find_follow_up(Import *import) {
  gssize cancer = -1, followup = -1;
  for (guint o = 0; o < import->header.others->len; o++) {
    const size_t at = g_array_index(import->header.others, size_t, o);
    if (strcmp(import->header.names[at], YEARS_TO_CANCER) == 0)
      cancer = (gssize)at;
    else if (strcmp(import->header.names[at], YEARS_OF_FOLLOWUP) == 0)
      followup = (gssize)at;
  }
  const gboolean made = import->options->horizon_years > 0 && import->at_outcome[0] < 0 &&
                        import->cohort->n_classes == 2 && cancer >= 0 && followup >= 0;
  import->at_cancer = made ? cancer : -1;
  import->at_followup = made ? followup : -1;
}

static gboolean
read_header(Import *import, GPtrArray *warnings, GError **error) {
  const gboolean makes_splits = import->options->splits != NULL;
  const DemurNamedColumn named[] = {
      {"patient_id", NULL, &import->at_patient, FALSE},
      {"scan_id", NULL, &import->at_scan, FALSE},
      {"site", NULL, &import->at_site, FALSE},
      {"split", NULL, &import->at_split, FALSE},
      {"label", NULL, &import->at_label, TRUE},
      {DEMUR_COLUMN_SIMULATED, NULL, &import->at_simulated, FALSE},
      {demur_cohort_columns[DEMUR_COHORT_TIME].header, NULL, &import->at_outcome[0], FALSE},
      {demur_cohort_columns[DEMUR_COHORT_STATUS].header, NULL, &import->at_outcome[1], FALSE},
      {demur_cohort_columns[DEMUR_COHORT_HORIZON].header, NULL, &import->at_outcome[2], FALSE},
  };
  const DemurHeaderPlan plan = {.named = named,
                                .n_named = G_N_ELEMENTS(named),
                                .scores = &import->scores,
                                .horizon = risk_year(import),
                                .expected = "patient_id, site, split, label, risk",
                                .map = import->options->columns};
  if (!demur_table_header_read(&import->header, import->table, &plan, warnings, error) ||
      (plan.map != NULL && !demur_column_map_check(plan.map, error)) ||
      !check_texts(import, makes_splits, warnings, error))
    return FALSE;
  if (makes_splits && import->at_split >= 0) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "%s: line 1, column 1: the table has a column split, so none is made; leave "
                    "--split-by out, or the column (--columns)",
                    demur_table_name(import->table));
    return FALSE;
  }
  for (size_t v = 1; v < G_N_ELEMENTS(import->at_outcome); v++)
    if ((import->at_outcome[v] < 0) != (import->at_outcome[0] < 0)) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "%s: line 1, column 1: %s, %s and %s go together; add what is missing",
                      demur_table_name(import->table),
                      demur_cohort_columns[DEMUR_COHORT_TIME].header,
                      demur_cohort_columns[DEMUR_COHORT_STATUS].header,
                      demur_cohort_columns[DEMUR_COHORT_HORIZON].header);
      return FALSE;
    }
  DemurCohort *cohort = import->cohort;
  cohort->n_classes = demur_score_columns_n_classes(&import->scores);
  cohort->embedding_width = demur_score_columns_width(&import->scores);
  if (cohort->embedding_width > 0 && import->options->embeddings_path != NULL) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "%s: line 1, column 1: embeddings both in emb_ columns and as an .npy file; give "
        "one of them",
        demur_table_name(import->table));
    return FALSE;
  }
  const size_t n_attributes = import->header.others->len;
  import->attributes = g_new0(DemurIntern, MAX(n_attributes, 1));
  import->missing = g_new0(DemurCellsNoticed, MAX(n_attributes, 1));
  cohort->attributes = g_new0(DemurAttribute, MAX(n_attributes, 1));
  cohort->n_attributes = n_attributes;
  for (size_t a = 0; a < n_attributes; a++) {
    const size_t at = g_array_index(import->header.others, size_t, a);
    cohort->attributes[a].name = g_strdup(import->header.names[at]);
    demur_intern_init(&import->attributes[a], cohort);
  }
  find_follow_up(import);
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
    demur_error_set(error, DEMUR_ERROR_INPUT, "%s: over %u rows; split the cohort",
                    demur_table_name(import->table), G_MAXUINT32 / 2);
    return FALSE;
  }
  const size_t old = import->capacity;
  for (size_t k = 0; k < DEMUR_N_COHORT_COLUMNS; k++) {
    const DemurCohortColumn *column = &demur_cohort_columns[k];
    const gboolean wanted =
        demur_cohort_column_is_due(c, column) ||
        (k == DEMUR_COHORT_YEARLY_RISK && demur_score_columns_any_year(&import->scores)) ||
        (k >= DEMUR_COHORT_TIME && k <= DEMUR_COHORT_HORIZON &&
         (import->at_outcome[0] >= 0 || import->at_cancer >= 0));
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
  if (demur_table_count_missing(field, &import->missing_labels))
    return DEMUR_NO_LABEL;
  double value;
  if (!demur_number_parse(field->text, field->length, &value) || value != floor(value) ||
      value < 0 || value >= (double)import->cohort->n_classes) {
    const char *why = demur_table_number_fault(field);
    const size_t last = import->cohort->n_classes - 1;
    if (why != NULL)
      demur_table_faults_note(&import->faults, field, "label",
                              "%s is not a label (%s); give a whole number from 0 to %zu, or "
                              "nothing where it is not recorded",
                              demur_table_shown(field), why, last);
    else
      demur_table_faults_note(&import->faults, field, "label",
                              "%s is not a label; give a whole number from 0 to %zu, or nothing "
                              "where it is not recorded",
                              demur_table_shown(field), last);
    return DEMUR_NO_LABEL;
  }
  return (gint32)value;
}

/* A text that every scan must have: the field's, which ids have kept cleaned as code. */
static void
require(Import *import, const DemurTableField *field, const char *name, const DemurIds *ids,
        guint32 code, gboolean not_missing) {
  if (ids->n_empty == 0 && (ids->n_missing == 0 || !not_missing))
    return;
  const char *id = demur_ids_text(ids, code);
  const DemurTableField cleaned = {.text = id, .length = strlen(id)};
  if (cleaned.length == 0)
    demur_table_faults_note(&import->faults, field, name,
                            "nothing stands here; every scan needs its %s", name);
  else if (not_missing && demur_table_is_missing(&cleaned))
    demur_table_faults_note(&import->faults, field, name,
                            "'%s' means not recorded; every scan needs its %s", id, name);
}

/* Whether rows of different persons may have got this one identifier; noted if so. */
static gboolean
may_be_merged(Import *import, const DemurTableField *patient, guint32 code) {
  const char *id = demur_ids_text(&import->patients, code);
  const DemurTableField cleaned = {.text = id, .length = strlen(id)};
  const guint64 line = g_array_index(import->patient_lines, guint64, code);
  if (demur_table_id_may_be_several(id))
    demur_table_faults_note(&import->faults, patient, "patient_id",
                            "%s stands in line %" PRIu64
                            " too and looks rewritten by a spreadsheet, so several patients may "
                            "have become one; export identifiers as text",
                            id, line);
  else if (cleaned.length > 0 &&
           (demur_table_is_missing(&cleaned) || demur_table_is_negative_code(&cleaned)))
    demur_table_faults_note(&import->faults, patient, "patient_id",
                            "'%s' stands in line %" PRIu64
                            " too and means not recorded; give each patient an identifier",
                            id, line);
  return import->faults.bad;
}

/* A patient whose identifier was there before. */
static void
check_known(Import *import, const DemurTableField *patient, const DemurTableField *split,
            guint32 code, size_t row) {
  const guint32 before = g_array_index(import->patient_splits, guint32, code);
  const guint32 here = import->cohort->splits[row];
  const guint64 line = g_array_index(import->patient_lines, guint64, code);
  if (may_be_merged(import, patient, code))
    return;
  if (before != here)
    demur_table_faults_note(&import->faults, split, "split",
                            "this patient is in split %s by line %" PRIu64
                            " and here in %s; keep each patient in one split",
                            demur_ids_text(&import->splits, before), line,
                            demur_ids_text(&import->splits, here));
  else if (import->at_scan < 0)
    demur_table_faults_note(
        &import->faults, patient, "patient_id",
        "this patient stands in line %" PRIu64
        " already and the table has no column scan_id; add one with a name for each scan",
        line);
}

/* A new identifier that looks like an earlier one: one person in two splits is refused, whichever
 * way it is spelled. */
static void
check_like(Import *import, const DemurTableField *patient, guint32 code, guint32 like) {
  const guint32 before = g_array_index(import->patient_splits, guint32, like);
  const guint32 here = g_array_index(import->patient_splits, guint32, code);
  if (before != here)
    demur_table_faults_note(
        &import->faults, patient, "patient_id",
        "'%s' looks like '%s' of line %" PRIu64
        ", which is in split %s and this one in %s; write one patient in one way and keep it in "
        "one "
        "split, or tell two patients apart by more",
        demur_ids_text(&import->patients, code), demur_ids_text(&import->patients, like),
        g_array_index(import->patient_lines, guint64, like),
        demur_ids_text(&import->splits, before), demur_ids_text(&import->splits, here));
}

/* Where splits are made and not read; where a table has neither sites nor splits. */
static const DemurTableField no_split = {.text = "all", .length = 3},
                             one_site = {.text = "all", .length = 3},
                             test_split = {.text = "test", .length = 4};

static void
read_ids(Import *import, const DemurTableField *fields, size_t row) {
  DemurCohort *cohort = import->cohort;
  char row_name[32] = "";
  DemurTableField numbered = {.text = row_name, .line = fields[0].line, .column = 1};
  if (import->is_bare)
    numbered.length = (size_t)g_snprintf(row_name, sizeof row_name, "row-%zu", row + 1);
  const DemurTableField *patient = import->is_bare ? &numbered : &fields[import->at_patient];
  const DemurTableField *site = import->is_bare ? &one_site : &fields[import->at_site];
  const DemurTableField *split = import->at_split >= 0 ? &fields[import->at_split]
                                 : import->is_bare     ? &test_split
                                                       : &no_split;
  gboolean is_new;
  guint32 like;
  const guint64 line = patient->line;
  cohort->sites[row] = demur_ids_add(&import->sites, site, &is_new, &like);
  cohort->splits[row] = demur_ids_add(&import->splits, split, &is_new, &like);
  const guint32 p = cohort->patients[row] =
      demur_ids_add(&import->patients, patient, &is_new, &like);
  const char *id = demur_ids_text(&import->patients, p);
  require(import, patient, "patient_id", &import->patients, p, FALSE);
  require(import, site, "site", &import->sites, cohort->sites[row], TRUE);
  require(import, split, "split", &import->splits, cohort->splits[row], TRUE);
  if (is_new) {
    g_array_append_val(import->patient_splits, cohort->splits[row]);
    g_array_append_val(import->patient_lines, line);
    if (like != DEMUR_IDS_NONE)
      check_like(import, patient, p, like);
  } else if (*id != '\0') {
    check_known(import, patient, split, p, row);
  }
  if (import->at_scan < 0)
    return;
  const DemurTableField *scan = &fields[import->at_scan];
  const guint32 s = demur_ids_add(&import->scans, scan, &is_new, &like);
  require(import, scan, "scan_id", &import->scans, s, FALSE);
  if (is_new)
    g_array_append_val(import->scan_lines, line);
  else
    demur_table_faults_note(&import->faults, scan, "scan_id",
                            "this scan stands in line %" PRIu64
                            " already; each scan may stand once",
                            g_array_index(import->scan_lines, guint64, s));
}

/* Three short fields, or none of this table's business. */
static void
read_simulated(Import *import, const DemurTableField *field) {
  if (g_ascii_strcasecmp(field->text, "yes") == 0 || g_ascii_strcasecmp(field->text, "true") == 0 ||
      strcmp(field->text, "1") == 0)
    import->n_simulated++;
  else if (!demur_table_is_missing(field) && g_ascii_strcasecmp(field->text, "no") != 0 &&
           g_ascii_strcasecmp(field->text, "false") != 0 && strcmp(field->text, "0") != 0)
    demur_table_faults_note(&import->faults, field, DEMUR_COLUMN_SIMULATED,
                            "%s is neither yes nor no", demur_table_shown(field));
}

/* Time, status and horizon, as demur_cohort_export writes them: every scan has all three. */
static void
read_outcome(Import *import, const DemurTableField *fields, size_t row) {
  DemurCohort *cohort = import->cohort;
  double values[3];
  for (size_t v = 0; v < G_N_ELEMENTS(values); v++) {
    const DemurTableField *field = &fields[import->at_outcome[v]];
    const char *name = demur_cohort_columns[DEMUR_COHORT_TIME + v].header;
    const gboolean status = v == 1;
    if (!demur_number_parse(field->text, field->length, &values[v]) || !(values[v] >= 0.0) ||
        values[v] > DEMUR_MOST_YEARS ||
        (status && (values[v] > 2.0 || values[v] != floor(values[v]))) ||
        (v == 2 && !(values[v] > 0.0 && (row == 0 || values[v] == cohort->horizons[0])))) {
      demur_table_faults_note_number(
          &import->faults, field, name, N_("a time, status or horizon"),
          N_("give years from 0 to 150 (not days or months), status 0 (left), 1 (event) or 2 "
             "(competing), and one horizon for all"));
      values[v] = 1.0;
    }
  }
  cohort->times[row] = values[0];
  cohort->statuses[row] = (gint32)values[1];
  cohort->horizons[row] = values[2];
}

/* Years of a cell: NaN where nothing is recorded; a fault is noted. */
static double
read_years(Import *import, const DemurTableField *field, const char *name) {
  double years;
  if (demur_table_is_missing(field))
    return NAN;
  if (demur_number_parse(field->text, field->length, &years) && years >= 0.0 &&
      years <= DEMUR_MOST_YEARS)
    return years;
  demur_table_faults_note_number(&import->faults, field, name, N_("years from the scan"),
                                 N_("give years from 0 to 150 (not days or months), or nothing "
                                    "where they are not recorded"));
  return NAN;
}

/* Time, status and label of a scan by years_to_cancer and years_of_followup: with the outcome within
 * the horizon 1, followed as long without it 0, else left. A label that stands there is kept, and
 * refused where the years say the contrary. */
static void
read_follow_up(Import *import, const DemurTableField *fields, size_t row) {
  DemurCohort *cohort = import->cohort;
  const double horizon = import->options->horizon_years,
               cancer = read_years(import, &fields[import->at_cancer], YEARS_TO_CANCER),
               followed = read_years(import, &fields[import->at_followup], YEARS_OF_FOLLOWUP);
  const gint32 given = cohort->labels[row];
  const gboolean within = cancer <= horizon, free = cancer > horizon || followed >= horizon;
  if (!import->faults.bad && ((given == 0 && within) || (given == 1 && !within)))
    demur_table_faults_note(
        &import->faults, &fields[import->at_label], "label",
        given == 0 ? "label 0, but years_to_cancer lies within the %g years of --horizon; correct "
                     "one of them"
                   : "label 1, but years_to_cancer tells of none within the %g years of --horizon; "
                     "correct one of them",
        horizon);
  cohort->horizons[row] = horizon;
  cohort->statuses[row] = isnan(cancer) ? DEMUR_STATUS_CENSORED : DEMUR_STATUS_EVENT;
  cohort->times[row] = !isnan(cancer) ? cancer : !isnan(followed) ? followed : 0.0;
  if (within || free)
    cohort->labels[row] = within;
  else if (given == 0) {
    cohort->times[row] = horizon;
    import->n_free_by_label++;
  } else
    import->n_left++;
}

static void
read_row(Import *import, const DemurTableField *fields, size_t row) {
  DemurCohort *cohort = import->cohort;
  const size_t d = cohort->embedding_width, K = cohort->n_classes;
  read_ids(import, fields, row);
  cohort->labels[row] = parse_label(import, &fields[import->at_label]);
  if (import->at_cancer >= 0)
    read_follow_up(import, fields, row);
  else if (cohort->times != NULL)
    read_outcome(import, fields, row);
  if (import->at_simulated >= 0)
    read_simulated(import, &fields[import->at_simulated]);
  for (size_t a = 0; a < cohort->n_attributes; a++) {
    const DemurTableField *field = &fields[g_array_index(import->header.others, size_t, a)];
    size_t length;
    const char *value = demur_table_value(field, import->line, &length, &import->missing[a]);
    cohort->attributes[a].codes[row] =
        demur_intern_add(&import->attributes[a], value, length, NULL);
  }
  DemurScoreRow score;
  if (!demur_score_columns_read(&import->scores, fields, risk_year(import), &import->faults, &score,
                                cohort->probabilities != NULL ? cohort->probabilities + row * K
                                                              : NULL,
                                d > 0 ? cohort->embeddings + row * d : NULL))
    return;
  if (cohort->risks != NULL)
    cohort->risks[row] = score.risk;
  if (cohort->yearly_risks != NULL)
    memcpy(cohort->yearly_risks + row * DEMUR_N_YEARS, score.years, sizeof score.years);
}

static gboolean
read_rows(Import *import, const DemurProgress *progress, GPtrArray *warnings, GError **error) {
  DemurCohort *cohort = import->cohort;
  /* A row of n columns takes at least n bytes, so the arrays are bounded by the file as well. */
  const guint64 by_bytes = demur_table_n_bytes(import->table) / import->header.n_columns + 1;
  const size_t by_lines = demur_table_count_lines(import->table);
  const size_t known = (size_t)MIN((guint64)by_lines, by_bytes); /* 0: a pipe, packed */
  if (!reserve(import, known > 0 ? known : ROWS_AT_FIRST, error))
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
  return demur_table_faults_end(&import->faults, warnings, error);
}

/* Everything that was noticed, but for the splits. */
static void
warn(const Import *import, GPtrArray *warnings) {
  const DemurCohort *cohort = import->cohort;
  demur_ids_warn(&import->patients, warnings);
  if (import->at_scan >= 0)
    demur_ids_warn(&import->scans, warnings);
  demur_ids_warn(&import->sites, warnings);
  demur_ids_warn(&import->splits, warnings);
  demur_cells_noticed_warn(&import->missing_labels, "label", warnings);
  demur_score_columns_warn(&import->scores, warnings);
  for (size_t a = 0; a < cohort->n_attributes; a++)
    demur_cells_noticed_warn(&import->missing[a], cohort->attributes[a].name, warnings);
  if (import->at_cancer >= 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_FOLLOW_UP, NULL, NULL, NULL, import->n_left,
                             cohort->n_scans);
  size_t n_long = 0;
  for (size_t i = 0; cohort->times != NULL && i < cohort->n_scans; i++)
    n_long += cohort->times[i] > DEMUR_LONG_YEARS;
  if (n_long > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_LONG_TIMES, NULL, NULL, NULL, n_long,
                             cohort->n_scans);
  if (import->n_free_by_label > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_FREE_BY_LABEL, NULL, NULL, NULL,
                             import->n_free_by_label, cohort->n_scans);
  if (import->n_simulated > 0 && import->n_simulated < cohort->n_scans)
    demur_table_warnings_add(warnings, DEMUR_TABLE_PART_SIMULATED, NULL, NULL, NULL,
                             import->n_simulated, cohort->n_scans);
}

static void
warn_unlabelled(const DemurCohort *cohort, GPtrArray *warnings) {
  g_autofree size_t *n = g_new0(size_t, cohort->n_splits),
                    *n_bare = g_new0(size_t, cohort->n_splits);
  for (size_t i = 0; i < cohort->n_scans; i++) {
    n[cohort->splits[i]]++;
    const gboolean left = cohort->times != NULL && cohort->times[i] < cohort->horizons[i] &&
                          cohort->statuses[i] == DEMUR_STATUS_CENSORED;
    n_bare[cohort->splits[i]] += cohort->labels[i] == DEMUR_NO_LABEL && !left;
  }
  for (size_t s = 0; s < cohort->n_splits; s++)
    if (n_bare[s] > 0)
      demur_table_warnings_add(warnings, DEMUR_TABLE_UNLABELLED, cohort->split_names[s], NULL, NULL,
                               n_bare[s], n[s]);
}

static gboolean
make_splits(Import *import, GPtrArray *warnings, GError **error) {
  const DemurSplitPlan *plan = import->options->splits;
  g_autofree char *words = NULL;
  if (!demur_cohort_make_splits(import->cohort, plan, import->options->seed, &words, error))
    return FALSE;
  demur_table_warnings_add(warnings, DEMUR_TABLE_SPLIT_MADE, plan->by_site ? "site" : "patient",
                           words, NULL, 0, 0);
  return TRUE;
}

static gboolean
run(Import *import, const DemurProgress *progress, GPtrArray *warnings, GError **error) {
  if (!read_header(import, warnings, error) || !read_rows(import, progress, warnings, error))
    return FALSE;
  DemurCohort *cohort = import->cohort;
  if (!find_horizon(import, &cohort->horizon_years, error))
    return FALSE;
  warn(import, warnings);
  size_t n_texts;
  cohort->patient_ids = demur_intern_steal(&import->patients.texts, &cohort->n_patients);
  cohort->site_names = demur_intern_steal(&import->sites.texts, &cohort->n_sites);
  cohort->split_names = demur_intern_steal(&import->splits.texts, &cohort->n_splits);
  /* Without a column, every row is a new patient: the two lists are one. */
  cohort->scan_ids = import->at_scan >= 0 ? demur_intern_steal(&import->scans.texts, &n_texts)
                                          : cohort->patient_ids;
  for (size_t a = 0; a < cohort->n_attributes; a++)
    cohort->attributes[a].values =
        demur_intern_steal(&import->attributes[a], &cohort->attributes[a].n_values);
  demur_attribute_codes_warn(cohort->attributes, cohort->n_attributes, cohort->n_scans, warnings);
  demur_site_codes_warn(cohort, warnings);
  demur_patient_codes_warn(cohort, warnings);
  cohort->simulated = import->n_simulated > 0;
  const DemurImportOptions *options = import->options;
  if ((options->splits != NULL && !make_splits(import, warnings, error)) ||
      (options->embeddings_path != NULL &&
       !demur_cohort_join_embeddings(cohort, demur_table_name(import->table),
                                     options->embeddings_path, options->embedding_ids_path,
                                     progress, warnings, error)))
    return FALSE;
  warn_unlabelled(cohort, warnings);
  return demur_progress_step(progress, 1.0, "reading scans", error);
}

DemurCohort *
demur_cohort_import(const char *path, const DemurImportOptions *options,
                    const DemurProgress *progress, GPtrArray **warnings, GError **error) {
  if (options->embedding_ids_path != NULL && options->embeddings_path == NULL) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
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
  demur_ids_init(&import.scans, "scan_id", cohort);
  demur_ids_init(&import.patients, "patient_id", cohort);
  demur_ids_init(&import.sites, "site", cohort);
  demur_ids_init(&import.splits, "split", cohort);
  import.line = g_string_new(NULL);
  import.patient_splits = g_array_new(FALSE, FALSE, sizeof(guint32));
  import.patient_lines = g_array_new(FALSE, FALSE, sizeof(guint64));
  import.scan_lines = g_array_new(FALSE, FALSE, sizeof(guint64));
  g_autoptr(GPtrArray) noticed = demur_table_warnings_new();
  cohort->name = g_strdup(options->name);
  cohort->model = g_strdup(options->model != NULL ? options->model : DEMUR_MODEL_UNNAMED);
  cohort->created = g_strdup(options->created != NULL ? options->created : "");
  cohort->source = g_strdup_printf("table %s", demur_table_name(table));

  const gboolean ok = run(&import, progress, noticed, error);

  demur_table_header_clear(&import.header);
  demur_score_columns_clear(&import.scores);
  demur_table_faults_clear(&import.faults);
  for (size_t a = 0; import.attributes != NULL && a < cohort->n_attributes; a++)
    demur_intern_clear(&import.attributes[a]);
  g_free(import.attributes);
  g_free(import.missing);
  g_string_free(import.line, TRUE);
  demur_ids_clear(&import.scans);
  demur_ids_clear(&import.patients);
  demur_ids_clear(&import.sites);
  demur_ids_clear(&import.splits);
  g_array_unref(import.patient_splits);
  g_array_unref(import.patient_lines);
  g_array_unref(import.scan_lines);
  if (!ok)
    return NULL;
  if (warnings != NULL)
    *warnings = g_steal_pointer(&noticed);
  return g_steal_pointer(&cohort);
}
