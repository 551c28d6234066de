/* Do the intervals of censored outcomes hold the truth? Cohorts like the NLST's by fixed seeds: 20
 * sites, each of which loses between 5 and 20 % a year, independently of anything; deaths compete
 * or not; follow-up ends at 7.1 years; a model whose risks are exactly right, so that O:E is 1. The
 * incidence by each year is the mean over the distribution that the hazards come from.
 *
 * Counted are the 95 % intervals of O:E at six years, as the evaluation makes them (weights and the
 * sites' G anew in each replicate), and those of the curve by years. 60 cohorts in the normal run,
 * between the .0005 and .9995 quantiles of the binomial of 95 %; 400 with DEMUR_LONG set, between
 * 93 and 97 % but for the binomial's error. */
#include <math.h>

#include "base/random.h"
#include "evaluation/evaluate.h"
#include "metrics/censoring.h"
#include "metrics/intervals.h"
#include "selector/coverage.h"
#include "support/support.h"

enum { N_SITES = 20, N_SCANS = 1500, N_YEARS = 6, N_QUANTITIES = N_YEARS + 1 };

typedef struct {
  double risk, time;
  DemurStatus status;
  int site;
} Scan;

#define DEATHS 0.03

static double
hazard_at(double z) {
  return exp(-4.6 + 0.8 * z);
}

/* Hazards a year: h of the outcome, d of death. The incidence by year t where death competes is h /
 * (h + d) (1 - exp(-(h + d) t)); the model's risk is that of six years. */
static double
incidence_of(double h, double d, double years) {
  return h / (h + d) * -expm1(-(h + d) * years);
}

static void
draw(Scan *scans, guint64 stream, gboolean deaths) {
  DemurRandom random = demur_random_stream(31, DEMUR_STREAM_TEST, stream, deaths ? 1 : 0, 0);
  double leaving[N_SITES];
  for (size_t s = 0; s < N_SITES; s++)
    leaving[s] = -log1p(-(0.05 + 0.15 * demur_random_uniform(&random)));
  for (size_t i = 0; i < N_SCANS; i++) {
    Scan *scan = &scans[i];
    scan->site = (int)demur_random_below(&random, N_SITES);
    const double h = hazard_at(demur_random_normal(&random)), d = deaths ? DEATHS : 0.0;
    const double event = demur_random_exponential(&random) / h;
    const double death = deaths ? demur_random_exponential(&random) / d : INFINITY;
    const double left = fmin(7.1, demur_random_exponential(&random) / leaving[scan->site]);
    scan->time = fmin(fmin(event, death), left);
    scan->status = scan->time == event   ? DEMUR_STATUS_EVENT
                   : scan->time == death ? DEMUR_STATUS_COMPETING
                                         : DEMUR_STATUS_CENSORED;
    scan->risk = incidence_of(h, d, N_YEARS);
  }
}

static DemurInterval
oe_interval(const Scan *scans) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  for (size_t i = 0; i < N_SCANS; i++) {
    const Scan *scan = &scans[i];
    g_autofree char *id = g_strdup_printf("P%05zu", i), *site = g_strdup_printf("%d", scan->site);
    const int label = scan->time >= 6.0                       ? 0
                      : scan->status == DEMUR_STATUS_CENSORED ? DEMUR_NO_LABEL
                                                              : scan->status == DEMUR_STATUS_EVENT;
    demur_cohort_builder_add(builder, id, id, site, "test", label, &scan->risk, NULL, NULL);
    demur_cohort_builder_outcome(builder, scan->time, scan->status, 6.0);
  }
  g_autoptr(DemurCohort) cohort =
      demur_cohort_builder_finish(builder, "c", "m", "s", "", TRUE, &error);
  g_assert_no_error(error);
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, "test", &n, &error);
  g_autoptr(DemurSample) sample = demur_sample_new(cohort, rows, n, "test", &error);
  g_assert_no_error(error);
  g_autoptr(GPtrArray) methods = demur_methods_array_new();
  g_autofree double *zeros = g_new0(double, n);
  demur_methods_add(methods, DEMUR_METHOD_FULL, NULL, "everything", zeros, n);
  DemurEvaluateInput input;
  demur_evaluate_input_init(&input);
  input.cohort = cohort;
  input.split = "test";
  input.n_bootstrap = 20;
  input.n_noise_draws = input.n_resamples = 0;
  g_autoptr(DemurEvaluation) e =
      demur_evaluate_methods(&input, sample, methods, rows, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(e->weighted);
  g_assert_cmpint(e->interval_unit, ==, DEMUR_UNIT_SITE);
  return e->methods[0].at[0].intervals[DEMUR_MEASURE_OE_RATIO];
}

typedef struct {
  gboolean deaths;
  guint8 *held; /* [n_cohorts][N_QUANTITIES] */
} Cohorts;

static void
run_cohort(size_t k, guint worker, gpointer data) {
  const Cohorts *cohorts = data;
  g_autofree Scan *scans = g_new(Scan, N_SCANS);
  draw(scans, k, cohorts->deaths);
  guint8 *held = cohorts->held + k * N_QUANTITIES;
  g_autofree double *times = g_new(double, N_SCANS);
  g_autofree gint32 *ended = g_new(gint32, N_SCANS);
  double at[N_YEARS], incidence[N_YEARS], low[N_YEARS], high[N_YEARS], truth[N_YEARS] = {0};
  for (size_t i = 0; i < N_SCANS; i++) {
    times[i] = scans[i].time;
    ended[i] = (gint32)scans[i].status;
  }
  enum { N_POINTS = 2000 };
  for (size_t i = 0; i < N_POINTS; i++) {
    const double h = hazard_at(demur_normal_quantile(((double)i + 0.5) / N_POINTS));
    for (int year = 0; year < N_YEARS; year++)
      truth[year] += incidence_of(h, cohorts->deaths ? DEATHS : 0.0, year + 1) / N_POINTS;
  }
  for (int year = 0; year < N_YEARS; year++)
    at[year] = year + 1;
  demur_cumulative_incidence(times, ended, N_SCANS, at, N_YEARS, incidence, low, high);
  for (int year = 0; year < N_YEARS; year++)
    held[year] = low[year] <= truth[year] && truth[year] <= high[year];
  const DemurInterval oe = oe_interval(scans);
  g_assert_true(isfinite(oe.low) && isfinite(oe.high));
  held[N_YEARS] = oe.low <= 1.0 && 1.0 <= oe.high;
}

static void
intervals_hold(gconstpointer deaths) {
  const gboolean full = g_getenv("DEMUR_LONG") != NULL;
  const size_t n = demur_test_repeats(60, 400);
  g_autofree guint8 *held = g_new0(guint8, n * N_QUANTITIES);
  Cohorts cohorts = {deaths != NULL, held};
  g_autoptr(DemurParallel) parallel = demur_parallel_new(0);
  demur_parallel_map(parallel, n, run_cohort, &cohorts);
  const size_t fewest = demur_binomial_quantile(full ? 0.025 : 0.0005, n, full ? 0.93 : 0.95),
               most = demur_binomial_quantile(full ? 0.975 : 0.9995, n, full ? 0.97 : 0.95);
  gboolean right = TRUE;
  for (size_t q = 0; q < N_QUANTITIES; q++) {
    size_t n_held = 0;
    for (size_t k = 0; k < n; k++)
      n_held += held[k * N_QUANTITIES + q];
    const gboolean holds = n_held >= fewest && n_held <= most;
    right &= holds;
    if (q < N_YEARS)
      g_test_message("incidence by year %zu: held in %zu of %zu (%zu to %zu)%s", q + 1, n_held, n,
                     fewest, most, holds ? "" : "  <-- does not hold");
    else
      g_test_message("O:E: held in %zu of %zu (%zu to %zu)%s", n_held, n, fewest, most,
                     holds ? "" : "  <-- does not hold");
  }
  g_assert_true(right);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_data_func("/evaluation/censoring/intervals-hold", NULL, intervals_hold);
  g_test_add_data_func("/evaluation/censoring/intervals-hold-where-death-competes", "deaths",
                       intervals_hold);
  return g_test_run();
}
