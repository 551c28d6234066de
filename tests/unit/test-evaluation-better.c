/* "Better" of a cohort in which every risk is right says that chance is a difference, and so does
 * "worse": at most 5 % of such cohorts may have the one, and the other, in any row of the table of comparisons, whatever was compared, by the
 * correction for their number (Holm). Calibrated cohorts of 24 sites by fixed seeds: y ~ Bernoulli(r);
 * a selector, confidence and six baselines rank the scans by the risk, by noise or by both.
 *
 * 30 cohorts in the normal run, 200 with DEMUR_LONG set; what is allowed is the .9995 quantile of the
 * binomial of 5 %, and in the long run its .975 quantile. */
#include <math.h>

#include "base/random.h"
#include "evaluation/evaluate.h"
#include "selector/coverage.h"
#include "support/support.h"

enum { N_SITES = 24, N_SCANS = 720 };

typedef struct {
  size_t better, worse; /* rows of the table */
} Found;

static void
run_cohort(size_t k, guint worker, gpointer data) {
  DemurRandom random = demur_random_stream(41, DEMUR_STREAM_TEST, k, 0, 0);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  for (size_t i = 0; i < N_SCANS; i++) {
    const double risk = 1.0 / (1.0 + exp(0.8 - 1.2 * demur_random_normal(&random)));
    g_autofree char *id = g_strdup_printf("P%05zu", i), *site = g_strdup_printf("%zu", i % N_SITES);
    demur_cohort_builder_add(builder, id, id, site, "test", demur_random_uniform(&random) < risk,
                             &risk, NULL, NULL);
  }
  g_autoptr(DemurCohort) cohort =
      demur_cohort_builder_finish(builder, "c", "m", "s", "", TRUE, &error);
  g_assert_no_error(error);
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, "test", &n, &error);
  g_autoptr(DemurSample) sample = demur_sample_new(cohort, rows, n, "test", &error);
  g_assert_no_error(error);
  static const struct {
    DemurMethodKind kind;
    const char *title;
    double noise; /* beside the risk's sign times the risk */
    int sign;
  } ranked[] = {{DEMUR_METHOD_SELECTOR, "selector", 0.3, -1},
                {DEMUR_METHOD_MC, "mc", 0.1, -1},
                {DEMUR_METHOD_KNN, "kNN", 1.0, 1},
                {DEMUR_METHOD_KDE, "KDE", 1.0, -1},
                {DEMUR_METHOD_SVM, "SVM", 0.2, 1},
                {DEMUR_METHOD_FOREST, "forest", 3.0, 0},
                {DEMUR_METHOD_LOF, "LOF", 3.0, 0}};
  g_autoptr(GPtrArray) methods = demur_methods_array_new();
  g_autofree double *scores = g_new(double, n), *zeros = g_new0(double, n);
  for (size_t m = 0; m < G_N_ELEMENTS(ranked); m++) {
    for (size_t i = 0; i < n; i++)
      scores[i] =
          ranked[m].sign * sample->risks[i] + ranked[m].noise * demur_random_normal(&random);
    demur_methods_add(methods, ranked[m].kind, m == 0 ? "s" : NULL, ranked[m].title, scores, n);
  }
  demur_methods_add(methods, DEMUR_METHOD_FULL, NULL, "everything", zeros, n);
  demur_methods_add(methods, DEMUR_METHOD_CONFIDENCE, NULL, "confidence", sample->confidences, n);
  DemurEvaluateInput input;
  demur_evaluate_input_init(&input);
  input.cohort = cohort;
  input.split = "test";
  input.seed = k;
  input.n_bootstrap = 200;
  input.n_noise_draws = input.n_resamples = 0;
  g_autoptr(DemurEvaluation) e =
      demur_evaluate_methods(&input, sample, methods, rows, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(e->n_comparisons, >, 20);
  Found *found = (Found *)data + k;
  for (size_t c = 0; c < e->n_comparisons; c++) {
    g_assert_cmpint(e->comparisons[c].verdict, !=, DEMUR_VERDICT_CANNOT_BE_DECIDED);
    found->better += e->comparisons[c].verdict == DEMUR_VERDICT_BETTER;
    found->worse += e->comparisons[c].verdict == DEMUR_VERDICT_WORSE;
  }
}

static void
chance_is_no_difference(void) {
  const gboolean full = g_getenv("DEMUR_LONG") != NULL;
  const size_t n = demur_test_repeats(30, 200);
  g_autofree Found *found = g_new0(Found, n);
  g_autoptr(DemurParallel) parallel = demur_parallel_new(0);
  demur_parallel_map(parallel, n, run_cohort, found);
  size_t n_better = 0, n_worse = 0;
  for (size_t k = 0; k < n; k++) {
    n_better += found[k].better > 0;
    n_worse += found[k].worse > 0;
  }
  /* P(Bin(n, .05) <= allowed) >= .9995, .975. */
  const size_t allowed = demur_binomial_quantile(full ? 0.975 : 0.9995, n, 0.05);
  g_test_message(
      "of %zu calibrated cohorts %zu have any \"better\" (%zu allowed), %zu any \"worse\"", n,
      n_better, allowed, n_worse);
  g_assert_cmpuint(n_better, <=, allowed);
  g_assert_cmpuint(n_worse, <=, allowed);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/evaluation/better/chance-is-no-difference", chance_is_no_difference);
  return g_test_run();
}
