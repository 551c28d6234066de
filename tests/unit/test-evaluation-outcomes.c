/* What an evaluation must not hang on: the order of rows where risks and scores tie, and who was
 * left before the horizon. Scores made here, so that nothing is trained. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "evaluation/evaluate.h"
#include "metrics/coverage.h"
#include "support/support.h"

enum { N_SITES = 6 };

typedef struct {
  char id[16];
  int site, label;
  double risk, time; /* time < 0: the cohort has none */
  DemurStatus status;
} Scan;

/* The scans in the order given, and a baseline or two with tied scores. */
static DemurEvaluation *
evaluate(const Scan *scans, const guint32 *order, size_t n, const char *const *group_by,
         GError **error) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  for (size_t i = 0; i < n; i++) {
    const Scan *scan = &scans[order[i]];
    g_autofree char *site = g_strdup_printf("site %d", scan->site);
    demur_cohort_builder_add(builder, scan->id, scan->id, site, "test", scan->label, &scan->risk,
                             NULL, NULL);
    if (scan->time >= 0.0)
      demur_cohort_builder_outcome(builder, scan->time, scan->status, 6.0);
  }
  g_autoptr(DemurCohort) cohort =
      demur_cohort_builder_finish(builder, "c", "m", "s", "", FALSE, error);
  g_assert_no_error(*error);
  g_autofree guint32 *rows = g_new(guint32, n);
  for (size_t i = 0; i < n; i++)
    rows[i] = (guint32)i;
  g_autoptr(DemurSample) sample = demur_sample_new(cohort, rows, n, "test", error);
  if (sample == NULL)
    return NULL;
  g_autoptr(GPtrArray) methods = demur_methods_array_new();
  g_autofree double *scores = g_new(double, n), *zeros = g_new0(double, n);
  for (size_t i = 0; i < n; i++) /* by what the scan is, not by where it stands */
    scores[i] = (double)(g_str_hash(cohort->scan_ids[sample->rows[i]]) % 7);
  demur_methods_add(methods, DEMUR_METHOD_SELECTOR, "s", "selector", scores, n);
  demur_methods_add(methods, DEMUR_METHOD_FULL, NULL, "everything", zeros, n);
  demur_methods_add(methods, DEMUR_METHOD_CONFIDENCE, NULL, "confidence", sample->confidences, n);
  DemurEvaluateInput input;
  demur_evaluate_input_init(&input);
  input.cohort = cohort;
  input.split = "test";
  input.n_bootstrap = 60;
  input.n_noise_draws = 8;
  input.group_by = group_by;
  return demur_evaluate_methods(&input, sample, methods, rows, NULL, NULL, error);
}

static char *
json_of(const DemurEvaluation *evaluation) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_evaluation_write_json(evaluation, json);
  demur_json_end_object(json);
  return demur_json_finish(json);
}

/* A model that is exactly right, of yearly hazard `hazard`; being left does not hang on it. Rounded
 * risks tie. */
static void
draw(Scan *scans, size_t n, guint64 seed, double left_a_year, double round_to) {
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < n; i++) {
    Scan *scan = &scans[i];
    g_snprintf(scan->id, sizeof scan->id, "P%05d", (int)i);
    scan->site = (int)demur_random_below(&random, N_SITES);
    double risk = 0.02 + 0.5 * demur_random_uniform(&random) * demur_random_uniform(&random);
    if (round_to > 0.0)
      risk = fmax(round(risk / round_to), 1.0) * round_to;
    scan->risk = risk;
    const double event = -log(1.0 - demur_random_uniform(&random)) / (-log(1.0 - risk) / 6.0);
    double leaving = 7.1;
    if (left_a_year > 0.0)
      leaving = fmin(leaving, -log(1.0 - demur_random_uniform(&random)) / left_a_year);
    scan->time = fmin(event, leaving);
    scan->status = event <= leaving ? DEMUR_STATUS_EVENT : DEMUR_STATUS_CENSORED;
    scan->label = scan->time >= 6.0 ? 0 : event <= leaving ? 1 : DEMUR_NO_LABEL;
    if (left_a_year <= 0.0)
      scan->time = -1.0;
  }
}

static void
shuffle(guint32 *order, size_t n, guint64 seed) {
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 1, 0, 0);
  for (size_t i = n; i > 1; i--) {
    const size_t k = demur_random_below(&random, i);
    const guint32 kept = order[i - 1];
    order[i - 1] = order[k];
    order[k] = kept;
  }
}

static void
no_order_of_rows_changes_a_byte(void) {
  enum { N = 400 };
  static const double left[] = {0.0, 0.1};
  static const char *const by[] = {"site", NULL};
  static Scan scans[N];
  guint32 order[N];
  for (size_t l = 0; l < G_N_ELEMENTS(left); l++) {
    draw(scans, N, 3, left[l], 0.05);
    for (guint32 i = 0; i < N; i++)
      order[i] = i;
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurEvaluation) first = evaluate(scans, order, N, by, &error);
    g_assert_no_error(error);
    g_autofree char *expected = json_of(first);
    for (guint64 s = 0; s < 3; s++) {
      shuffle(order, N, s);
      g_autoptr(DemurEvaluation) other = evaluate(scans, order, N, by, &error);
      g_assert_no_error(error);
      g_autofree char *json = json_of(other);
      g_assert_cmpstr(json, ==, expected);
    }
  }
}

/* The model is right, so O:E is 1 in its interval; of the complete scans alone it is far off. */
static void
the_left_are_stood_for(void) {
  enum { N = 6000 };
  static Scan scans[N];
  static guint32 order[N];
  draw(scans, N, 6, 0.1, 0.0);
  double observed = 0.0, expected = 0.0;
  size_t n_known = 0;
  for (guint32 i = 0; i < N; i++) {
    order[i] = i;
    if (scans[i].label == DEMUR_NO_LABEL)
      continue;
    n_known++;
    observed += scans[i].label;
    expected += scans[i].risk;
  }
  g_assert_cmpfloat(observed / expected, >, 1.15);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurEvaluation) e = evaluate(scans, order, N, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(e->weighted);
  g_assert_cmpfloat(e->horizon, ==, 6.0);
  g_assert_cmpuint(e->n_known, ==, n_known);
  g_assert_cmpfloat(e->n_effective, <, (double)n_known);
  g_assert_cmpuint(e->n_scans, ==, N); /* coverage is of everybody */
  const DemurMethodResult *full = demur_evaluation_method(e, "full", FALSE);
  const DemurOperatingPoint *at = &full->at[0];
  const double oe = at->measures[DEMUR_MEASURE_OE_RATIO];
  const DemurInterval interval = at->intervals[DEMUR_MEASURE_OE_RATIO];
  g_assert_cmpfloat(oe, >, 0.93);
  g_assert_cmpfloat(oe, <, 1.07);
  g_assert_true(interval.low < 1.0 && 1.0 < interval.high);
  g_assert_true(fabs(at->measures[DEMUR_MEASURE_INTERCEPT]) < 0.1);
  g_assert_true(fabs(at->measures[DEMUR_MEASURE_SLOPE] - 1.0) < 0.15);
}

static void
what_cannot_be_weighed_is_refused(void) {
  enum { N = 200 };
  static Scan scans[N];
  static guint32 order[N];
  draw(scans, N, 7, 0.1, 0.0);
  for (guint32 i = 0; i < N; i++)
    order[i] = i;
  for (guint32 i = 0; i < N; i++)
    if (scans[i].time >= 4.0) { /* nobody is followed for longer than 4 years */
      scans[i].time = 4.0;
      scans[i].status = DEMUR_STATUS_CENSORED;
      scans[i].label = DEMUR_NO_LABEL;
    }
  g_autoptr(GError) error = NULL;
  g_assert_null(evaluate(scans, order, N, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_nonnull(strstr(error->message, "4.00 years"));
  g_clear_error(&error);
  draw(scans, N, 7, 0.0, 0.0); /* no times, and one scan without a label */
  scans[10].label = DEMUR_NO_LABEL;
  g_assert_null(evaluate(scans, order, N, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_nonnull(strstr(error->message, "P00010"));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/evaluation/outcomes/no-order-of-rows-changes-a-byte",
                  no_order_of_rows_changes_a_byte);
  g_test_add_func("/evaluation/outcomes/the-left-are-stood-for", the_left_are_stood_for);
  g_test_add_func("/evaluation/outcomes/what-cannot-be-weighed-is-refused",
                  what_cannot_be_weighed_is_refused);
  return g_test_run();
}
