#include "cohort/score-columns.h"

#include <math.h>
#include <string.h>

#include "base/translate.h"
#include "base/number.h"
#include "cohort/columns.h"
#include "cohort/table-header.h"
#include "cohort/table-text.h"
#include "cohort/table-warnings.h"

#define MAX_NUMBERS 100000 /* of classes and of an embedding */
#define PROBABILITY_SUM_TOLERANCE 1e-5

void
demur_score_columns_init(DemurScoreColumns *columns) {
  *columns = (DemurScoreColumns){.risk = -1};
  for (size_t k = 0; k < DEMUR_N_YEARS; k++)
    columns->years[k] = -1;
  columns->probabilities = g_array_new(FALSE, FALSE, sizeof(gssize));
  columns->embedding = g_array_new(FALSE, FALSE, sizeof(gssize));
}

void
demur_score_columns_clear(DemurScoreColumns *columns) {
  g_clear_pointer(&columns->probabilities, g_array_unref);
  g_clear_pointer(&columns->embedding, g_array_unref);
  g_clear_pointer(&columns->missing_word, g_free);
}

size_t
demur_score_columns_n_probabilities(const DemurScoreColumns *columns) {
  return columns->probabilities->len;
}

size_t
demur_score_columns_n_classes(const DemurScoreColumns *columns) {
  return MAX(columns->probabilities->len, 2);
}

size_t
demur_score_columns_width(const DemurScoreColumns *columns) {
  return columns->embedding->len;
}

gboolean
demur_score_columns_any_year(const DemurScoreColumns *columns) {
  gboolean any = FALSE;
  for (size_t k = 0; k < DEMUR_N_YEARS; k++)
    any |= columns->years[k] >= 0;
  return any;
}

static gssize
place_of(const GArray *places, size_t k) {
  return g_array_index(places, gssize, k);
}

/* FALSE where there is one already. */
static gboolean
set_place(GArray *places, size_t k, size_t at) {
  const gssize absent = -1;
  while (places->len <= k)
    g_array_append_val(places, absent);
  if (g_array_index(places, gssize, k) >= 0)
    return FALSE;
  g_array_index(places, gssize, k) = (gssize)at;
  return TRUE;
}

/* "emb_12" -> 12 for prefix "emb_": digits without leading zeros. */
static gboolean
numbered(const char *name, const char *prefix, size_t *number) {
  if (!g_str_has_prefix(name, prefix))
    return FALSE;
  const char *digits = name + strlen(prefix);
  if (*digits == '\0' || strlen(digits) > 9 || (digits[0] == '0' && digits[1] != '\0') ||
      strspn(digits, "0123456789") != strlen(digits))
    return FALSE;
  *number = (size_t)g_ascii_strtoull(digits, NULL, 10);
  return TRUE;
}

/* Whether the name is prefix and a number in another spelling. */
static gboolean
looks_numbered(const char *name, const char *prefix) {
  g_autofree char *key = demur_column_key(name), *stem = demur_column_key(prefix);
  const size_t n = strlen(stem);
  return strncmp(key, stem, n) == 0 && key[n] != '\0' &&
         strspn(key + n, "0123456789") == strlen(key + n);
}

/* Whether the name is that of one of several columns in another spelling or by another word. */
static gboolean
looks_like_several(const char *name, DemurCohortColumnId id) {
  static const struct {
    DemurCohortColumnId id;
    const char *prefix;
  } others[] = {{DEMUR_COHORT_PROBABILITY, "proba_"},
                {DEMUR_COHORT_EMBEDDING, "embedding_"},
                {DEMUR_COHORT_EMBEDDING, "embeddings_"}};
  gboolean looks = looks_numbered(name, demur_cohort_columns[id].header);
  for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
    looks = looks || (others[i].id == id && looks_numbered(name, others[i].prefix));
  return looks;
}

gboolean
demur_score_columns_looks_like_risk(const DemurScoreColumns *columns, const char *key) {
  return columns->risk < 0 && columns->years[DEMUR_N_YEARS - 1] < 0 &&
         demur_score_columns_n_probabilities(columns) == 0 && strcmp(key, "risk") == 0;
}

gboolean
demur_score_columns_take(DemurScoreColumns *columns, const DemurTable *table,
                         const DemurTableField *field, const char *name, size_t at, gboolean *taken,
                         GError **error) {
  static const DemurCohortColumnId several[] = {DEMUR_COHORT_PROBABILITY, DEMUR_COHORT_YEARLY_RISK,
                                                DEMUR_COHORT_EMBEDDING};
  *taken = FALSE;
  if (strcmp(name, demur_cohort_columns[DEMUR_COHORT_RISK].header) == 0) {
    columns->risk = (gssize)at;
    *taken = TRUE;
    return TRUE;
  }
  for (size_t i = 0; i < G_N_ELEMENTS(several); i++) {
    const char *prefix = demur_cohort_columns[several[i]].header;
    const size_t first = (size_t)demur_cohort_columns[several[i]].first_number;
    size_t number;
    const gboolean is_class = several[i] == DEMUR_COHORT_PROBABILITY;
    if (!numbered(name, prefix, &number) && !(is_class && numbered(name, "proba_", &number))) {
      if (looks_like_several(name, several[i])) {
        g_autofree char *shown = demur_table_visible(name);
        return demur_table_fail(table, field, NULL, error,
                                "column %s looks like %s%zu, %s%zu, ..; write it so (small "
                                "letters, no blanks, no zeros in front), or rename it if it is "
                                "something else",
                                shown, prefix, first, prefix, first + 1);
      }
      continue;
    }
    if (several[i] == DEMUR_COHORT_YEARLY_RISK) {
      if (number < 1 || number > DEMUR_N_YEARS)
        return demur_table_fail(
            table, field, NULL, error,
            number < 1 ? "column %s: yearly risks are numbered from 1; risk_year_1 is the risk "
                         "within one year, so rename all of them"
                       : "column %s: yearly risks go from risk_year_1 to risk_year_6; leave it out",
            name);
      columns->years[number - 1] = (gssize)at;
    } else if (number >= MAX_NUMBERS) {
      return demur_table_fail(table, field, NULL, error, "column %s: over %d columns of one kind",
                              name, MAX_NUMBERS);
    } else if (!set_place(is_class ? columns->probabilities : columns->embedding, number, at)) {
      return demur_table_fail(table, field, NULL, error,
                              "column %s: a second column %s%zu; each may stand once", name, prefix,
                              number);
    }
    *taken = TRUE;
    return TRUE;
  }
  return TRUE;
}

/* Every number from 0 to the last must be there. */
static gboolean
check_run(const DemurTable *table, const DemurTableField *last, const char *prefix,
          const GArray *places, GError **error) {
  for (guint k = 0; k < places->len; k++)
    if (place_of(places, k) < 0)
      return demur_table_fail(
          table, last, NULL, error,
          "column %s%u is missing while %s%u is there; number them from 0 without gaps", prefix, k,
          prefix, places->len - 1);
  return TRUE;
}

gboolean
demur_score_columns_check(const DemurScoreColumns *columns, const DemurTable *table,
                          const DemurTableField *last, int horizon, GError **error) {
  const size_t n_probabilities = columns->probabilities->len;
  if (!check_run(table, last, demur_cohort_columns[DEMUR_COHORT_PROBABILITY].header,
                 columns->probabilities, error) ||
      !check_run(table, last, demur_cohort_columns[DEMUR_COHORT_EMBEDDING].header,
                 columns->embedding, error))
    return FALSE;
  if (n_probabilities == 1)
    return demur_table_fail(
        table, last, NULL, error,
        "column prob_1 is missing; give prob_0..prob_{K-1}, or risk for two classes");
  if (n_probabilities > 2) {
    if (columns->risk >= 0 || demur_score_columns_any_year(columns))
      return demur_table_fail(table, last, NULL, error,
                              "a risk beside more than two classes; leave risk and risk_year_.. "
                              "out, or give two classes");
    return TRUE;
  }
  const gboolean any = horizon < DEMUR_N_YEARS ? columns->years[horizon - 1] >= 0
                                               : columns->risk >= 0 || n_probabilities == 2 ||
                                                     columns->years[horizon - 1] >= 0;
  if (any)
    return TRUE;
  if (horizon < DEMUR_N_YEARS)
    return demur_table_fail(table, last, NULL, error,
                            "the header has no column risk_year_%d; add it", horizon);
  return demur_table_fail(table, last, NULL, error,
                          "the header has no column risk_year_6 (or risk); add one of them, or "
                          "prob_0..prob_{K-1}");
}

static gboolean
read_probability(const DemurScoreColumns *columns, const DemurTableField *fields, size_t at,
                 DemurTableFaults *faults, double *value) {
  const DemurTableField *field = &fields[at];
  const char *name = columns->names[at];
  if (!demur_number_parse(field->text, field->length, value)) {
    demur_table_faults_note_number(faults, field, name, N_("a finite number"),
                                   N_("give a probability from 0 to 1 with a decimal point"));
    return FALSE;
  }
  if (*value < 0.0 || *value > 1.0) {
    demur_table_faults_note(faults, field, name,
                            demur_table_is_code(*value)
                                ? "%s is not between 0 and 1; give a probability (a code for not "
                                  "recorded is left empty)"
                                : "%s is not between 0 and 1; give a probability",
                            demur_table_shown(field));
    return FALSE;
  }
  return TRUE;
}

/* Reads the class probabilities and checks their sum. */
static gboolean
read_classes(const DemurScoreColumns *columns, const DemurTableField *fields,
             DemurTableFaults *faults, double *probabilities) {
  const size_t n = columns->probabilities->len;
  double sum = 0.0;
  for (size_t k = 0; k < n; k++) {
    if (!read_probability(columns, fields, (size_t)place_of(columns->probabilities, k), faults,
                          &probabilities[k]))
      return FALSE;
    sum += probabilities[k];
  }
  if (fabs(sum - 1.0) <= PROBABILITY_SUM_TOLERANCE)
    return TRUE;
  demur_table_faults_note(faults, &fields[place_of(columns->probabilities, 1)], "prob_..",
                          "the probabilities sum to %.7g; they must sum to 1 within 1e-5", sum);
  return FALSE;
}

static gboolean
must_equal(double a, double b, double tolerance, const char *other, const DemurTableField *field,
           const char *name, DemurTableFaults *faults) {
  if (isnan(a) || isnan(b) || fabs(a - b) <= tolerance)
    return TRUE;
  demur_table_faults_note(faults, field, name,
                          "it differs from %s in the same row; they must be equal, or give one of "
                          "them",
                          other);
  return FALSE;
}

/* The risk at the horizon, from whichever column holds it. two: prob_0 and prob_1, or NULL. */
static gboolean
find_risk(const DemurScoreColumns *columns, const DemurTableField *fields, int horizon,
          const double *two, DemurTableFaults *faults, DemurScoreRow *row) {
  const gssize last = columns->years[horizon - 1];
  const double of_year = row->years[horizon - 1];
  if (horizon == DEMUR_N_YEARS && columns->risk >= 0) {
    if (!read_probability(columns, fields, (size_t)columns->risk, faults, &row->risk) ||
        (last >= 0 &&
         !must_equal(row->risk, of_year, 0.0, "risk", &fields[last], columns->names[last], faults)))
      return FALSE;
    return two == NULL ||
           must_equal(row->risk, two[1], PROBABILITY_SUM_TOLERANCE, "risk",
                      &fields[place_of(columns->probabilities, 1)], "prob_1", faults);
  }
  if (horizon == DEMUR_N_YEARS && two != NULL) {
    row->risk = two[1];
    return last < 0 ||
           must_equal(two[1], of_year, 0.0, "prob_1", &fields[last], columns->names[last], faults);
  }
  row->risk = of_year;
  if (isnan(of_year))
    demur_table_faults_note(faults, &fields[last], columns->names[last],
                            "nothing stands here and the table has no other column for this risk");
  return !isnan(of_year);
}

/* A yearly risk, NaN where it is not recorded. */
static gboolean
read_year(DemurScoreColumns *columns, const DemurTableField *fields, size_t at,
          DemurTableFaults *faults, double *value) {
  const DemurTableField *field = &fields[at];
  *value = NAN;
  if (!demur_table_is_missing(field))
    return read_probability(columns, fields, at, faults, value);
  columns->n_missing_words += field->length > 0;
  if (field->length > 0 && columns->missing_word == NULL)
    columns->missing_word = g_strdup(field->text);
  return TRUE;
}

gboolean
demur_score_columns_read(DemurScoreColumns *columns, const DemurTableField *fields, int horizon,
                         DemurTableFaults *faults, DemurScoreRow *row, double *probabilities,
                         float *embedding) {
  row->risk = NAN;
  for (size_t k = 0; k < DEMUR_N_YEARS; k++) {
    row->years[k] = NAN;
    if (columns->years[k] >= 0 &&
        !read_year(columns, fields, (size_t)columns->years[k], faults, &row->years[k]))
      return FALSE;
  }
  columns->n_rows++;
  columns->n_falling += demur_yearly_risks_fall(row->years) ? 1 : 0;
  const size_t n_probabilities = columns->probabilities->len;
  double two[2];
  double *classes = n_probabilities > 2 ? probabilities : two;
  if (n_probabilities > 0 && !read_classes(columns, fields, faults, classes))
    return FALSE;
  if (n_probabilities <= 2 &&
      !find_risk(columns, fields, horizon, n_probabilities == 2 ? two : NULL, faults, row))
    return FALSE;
  for (size_t k = 0; k < columns->embedding->len; k++) {
    const size_t at = (size_t)place_of(columns->embedding, k);
    double value;
    if (!demur_number_parse(fields[at].text, fields[at].length, &value) ||
        !isfinite((float)value)) {
      demur_table_faults_note_number(faults, &fields[at], columns->names[at], N_("a finite float"),
                                     N_("every scan needs a whole embedding"));
      return FALSE;
    }
    embedding[k] = (float)value;
  }
  return TRUE;
}

gboolean
demur_yearly_risks_fall(const double years[DEMUR_N_YEARS]) {
  double last = 0.0;
  for (size_t k = 0; k < DEMUR_N_YEARS; k++) {
    if (isnan(years[k]))
      continue;
    if (years[k] < last)
      return TRUE;
    last = years[k];
  }
  return FALSE;
}

void
demur_score_columns_warn(const DemurScoreColumns *columns, GPtrArray *warnings) {
  if (columns->n_falling > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_FALLING, NULL, NULL, NULL, columns->n_falling,
                             columns->n_rows);
  if (columns->n_missing_words > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_MISSING_WORDS, "risk_year_..",
                             columns->missing_word, NULL, columns->n_missing_words, 0);
}
