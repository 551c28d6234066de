/* What a risk means: the rule of tasks/meaning.h on references made by hand, whose right values are
 * counted by hand; what is warned of, in words; and names. */
#include "base/error.h"
#include "tasks/meaning.h"
#include "tasks/names.h"
#include "tasks/warnings.h"
#include "words/words.h"

#include <math.h>
#include <string.h>

#include "support/support.h"

/* n scans with the risks 1 / (n + 1), 2 / (n + 1), ..; every third has label 1; patient P0, P1, ..
 */
static DemurMeaningReference *
reference_new(size_t n) {
  DemurMeaningReference *reference = g_new0(DemurMeaningReference, 1);
  reference->n = reference->n_accepted = reference->n_scans = n;
  reference->risks = g_new(double, n + 1);
  reference->labels = g_new(double, n + 1);
  reference->patient_ids = g_new0(char *, n + 1);
  for (size_t i = 0; i < n; i++) {
    reference->risks[i] = (double)(i + 1) / (double)(n + 1);
    reference->labels[i] = i % 3 == 0;
    reference->patient_ids[i] = g_strdup_printf("P%zu", i);
  }
  return reference;
}

static void
test_the_nearest_tenth(void) {
  static const struct {
    size_t n;
    double risk;
    size_t n_near;
    double low, high; /* times n + 1 */
  } rows[] = {
      {99, 0.505, 30, 36, 65},  /* a tenth would be 9: at least 30, 15 on each side */
      {999, 0.5, 99, 451, 549}, /* 99 of 999, 500 itself in the middle */
      {9999, 0.0, 200, 1, 200}, /* at the end: all on one side, at most 200 */
      {9999, 1.0, 200, 9800, 9999}, {12, 0.5, 12, 1, 12}, /* fewer than 30: all */
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(DemurMeaningReference) reference = reference_new(rows[i].n);
    const DemurMeaning meaning = demur_meaning_find(reference, rows[i].risk, NULL);
    g_assert_cmpuint(meaning.n, ==, rows[i].n_near);
    demur_assert_close(meaning.risk_low * (double)(rows[i].n + 1), rows[i].low, 1e-9, 0);
    demur_assert_close(meaning.risk_high * (double)(rows[i].n + 1), rows[i].high, 1e-9, 0);
    /* Every third from the lower end on: label 1 stands where (place - 1) % 3 = 0. */
    size_t n_positive = 0;
    for (size_t place = (size_t)rows[i].low; place <= (size_t)rows[i].high; place++)
      n_positive += (place - 1) % 3 == 0;
    g_assert_cmpuint(meaning.n_positive, ==, n_positive);
    g_assert_true(meaning.rate_low <= (double)n_positive / (double)meaning.n);
    g_assert_true(meaning.rate_high >= (double)n_positive / (double)meaning.n);
  }
}

/* All that share the risk at the end of the range are taken, so that none is drawn by lot. */
static void
test_ties_are_all_taken(void) {
  g_autoptr(DemurMeaningReference) reference = reference_new(100);
  for (size_t i = 20; i < 80; i++)
    reference->risks[i] = 0.5;
  g_assert_cmpuint(demur_meaning_find(reference, 0.5, NULL).n, ==, 60);
}

static void
test_own_scans_stay_away(void) {
  g_autoptr(DemurMeaningReference) reference = reference_new(99);
  const DemurMeaning all = demur_meaning_find(reference, 0.5, NULL);
  const DemurMeaning others = demur_meaning_find(reference, 0.5, "P49"); /* whose risk is 0.5 */
  g_assert_cmpuint(all.n, ==, others.n);
  g_assert_true(others.risk_low < all.risk_low || others.risk_high > all.risk_high);
  for (size_t i = 0; i < 99; i++) {
    g_free(reference->patient_ids[i]);
    reference->patient_ids[i] = g_strdup("me");
  }
  g_assert_cmpuint(demur_meaning_find(reference, 0.5, "me").n, ==, 0);
  g_assert_cmpuint(demur_meaning_find(reference, NAN, NULL).n, ==, 0);
}

/* A cohort of strokes is not told as cancer, and nothing says six years where others are meant. */
static void
test_the_outcome_is_the_cohorts(void) {
  static const struct {
    const char *name;
    gboolean years;
    double horizon;
    DemurOutcomeKind kind;
    const char *words, *noun;
  } rows[] = {
      {NULL, TRUE, 0, DEMUR_OUTCOME_CANCER, "developed cancer within 6 years", "lung cancer"},
      {NULL, TRUE, 3, DEMUR_OUTCOME_CANCER, "developed cancer within 3 years", "lung cancer"},
      {NULL, TRUE, 1, DEMUR_OUTCOME_CANCER, "developed cancer within 1 year", "lung cancer"},
      {NULL, FALSE, 0, DEMUR_OUTCOME_LABEL, "had the outcome (label 1)", NULL},
      {NULL, FALSE, 2, DEMUR_OUTCOME_LABEL, "had the outcome (label 1) within 2 years", NULL},
      {"stroke", FALSE, 0, DEMUR_OUTCOME_NAMED, "had the outcome “stroke”", "stroke"},
      {"stroke", TRUE, 2, DEMUR_OUTCOME_NAMED, "had the outcome “stroke” within 2 years", "stroke"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    DemurCohort cohort = {
        .n_classes = 2, .outcome = (char *)rows[i].name, .horizon_years = rows[i].horizon};
    DemurAttribute years = {.name = (char *)"years_to_cancer"};
    if (rows[i].years) {
      cohort.n_attributes = 1;
      cohort.attributes = &years;
    }
    const DemurOutcome outcome = demur_outcome_of_cohort(&cohort);
    g_assert_cmpint(outcome.kind, ==, rows[i].kind);
    g_autofree char *words = demur_words_outcome(&outcome, NULL);
    g_assert_cmpstr(words, ==, rows[i].words);
    g_assert_cmpstr(demur_outcome_noun(&outcome), ==, rows[i].noun);
  }
  const DemurCohort classes = {.n_classes = 3};
  const DemurOutcome right = demur_outcome_of_cohort(&classes);
  g_assert_cmpint(right.kind, ==, DEMUR_OUTCOME_RIGHT);
  g_assert_null(demur_outcome_noun(&right));
}

static const char *
shout(const char *text) {
  return g_str_has_prefix(text, "%zu of these patients") ? "%zu PATIENTS" : text;
}

static void
test_warnings_are_data_with_words(void) {
  g_autoptr(GPtrArray) warnings = demur_task_warnings_new();
  for (int kind = 0; kind < DEMUR_N_TASK_WARNINGS; kind++)
    demur_task_warnings_add(warnings, kind, 7, 9, "north");
  for (guint i = 0; i < warnings->len; i++) {
    g_autofree char *words = demur_task_warning_words(warnings->pdata[i], NULL);
    g_assert_nonnull(words);
    g_assert_cmpuint(strlen(words), >, 20);
    g_assert_false(g_str_has_suffix(words, "."));
    g_assert_null(strchr(words, '%'));
  }
  g_autofree char *seen = demur_task_warning_words(warnings->pdata[DEMUR_TASK_WARNING_SEEN], shout);
  g_assert_cmpstr(seen, ==, "7 PATIENTS");
}

static void
test_names(void) {
  static const struct {
    const char *name;
    gboolean good;
  } rows[] = {{"s", TRUE},     {"north wing", TRUE}, {"\303\244", TRUE}, {"", FALSE},
              {"-s", FALSE},   {"a/b", FALSE},       {"a\nb", FALSE},    {"\177", FALSE},
              {"\377", FALSE}, {"/", FALSE}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(demur_task_check_name("selector", rows[i].name, &error), ==, rows[i].good);
    if (!rows[i].good)
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/tasks/meaning/nearest-tenth", test_the_nearest_tenth);
  g_test_add_func("/tasks/meaning/ties", test_ties_are_all_taken);
  g_test_add_func("/tasks/meaning/own-scans", test_own_scans_stay_away);
  g_test_add_func("/tasks/meaning/outcome", test_the_outcome_is_the_cohorts);
  g_test_add_func("/tasks/warnings", test_warnings_are_data_with_words);
  g_test_add_func("/tasks/names", test_names);
  return g_test_run();
}
