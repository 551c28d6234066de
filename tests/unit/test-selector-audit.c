/* Site audit: the intercept against values worked by hand and by coarser sums, the choice of scans,
 * and what it does to real hospitals. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cohort/import.h"
#include "metrics/offset-logistic.h"
#include "selector/audit.h"
#include "selector/outcome-weights.h"
#include "selector/training.h"
#include "support/support.h"

/* A prior that knows the spread: b ~ N(0, tau2). */
static DemurAudit
fit(const double *risks, const double *labels, size_t n, double tau2, const double *site,
    size_t n_site) {
  double one = 1.0, zero = 0.0, sd = sqrt(tau2);
  const DemurSitePrior prior = {.tau2 = tau2, .n = 1, .weights = &one, .means = &zero, .sds = &sd};
  return demur_audit_fit(risks, labels, n, &prior, site, n_site);
}

/* All risks 1/2, n = 100 labels with 75 ones: the likelihood's mode is log 3, the posterior's
 * solves 75 - 100 sigmoid(b) = b / tau2. With tau2 = 1: b = 1.04368 (by bisection: 100
 * sigmoid(1.04368) = 73.956, + 1.0437 = 75.000). The mean lies above the mode, as the posterior
 * falls more slowly there: by third derivative / (2 second^2) = 9.23 / (2 x 20.26^2) = .0112, where
 * second = 100 p q + 1 and third = 100 p q (2 p - 1), and by a tenth of that in the next order. */
static void
posterior_mean_by_hand(void) {
  double risks[100], labels[100];
  for (size_t i = 0; i < 100; i++) {
    risks[i] = 0.5;
    labels[i] = i < 75;
  }
  const DemurAudit wide = fit(risks, labels, 100, 1e4, risks, 100);
  demur_assert_close(wide.intercept, log(3.0), 0.02, 0);
  demur_assert_close(wide.mean_after, 0.75, 0.01, 0);
  demur_assert_close(wide.observed, 0.25, 1e-12, 0);
  const DemurAudit one = fit(risks, labels, 100, 1.0, risks, 100);
  demur_assert_close(one.intercept, 1.04368 + 0.0112, 0, 0.0015);
  /* Nearly normal: the interval is mode +- 1.96 / sqrt(information). */
  const double p = demur_sigmoid(one.intercept), sd = 1.0 / sqrt(100.0 * p * (1.0 - p) + 1.0);
  demur_assert_close(one.low, one.intercept - 1.959964 * sd, 0, 0.03);
  demur_assert_close(one.high, one.intercept + 1.959964 * sd, 0, 0.03);
  /* The site was off by about 1/4 and is known to about sd p (1 - p) afterwards. */
  demur_assert_close(one.error_before, one.mean_after - 0.5, 0, 0.01);
  demur_assert_close(one.error_after, sd * p * (1.0 - p), 0.05, 0);
}

/* Without labels the prior speaks: N(0, tau2), error before = after = its spread through sigmoid;
 * one event more moves the intercept up, and labels mirrored with risks mirror it. */
static void
prior_and_symmetry(void) {
  const double risks[] = {0.1, 0.3, 0.6, 0.9}, labels[] = {0, 1, 1, 1}, half[] = {0.5};
  const DemurAudit none = fit(risks, labels, 0, 0.04, half, 1);
  g_assert_cmpfloat(none.intercept, ==, 0.0);
  g_assert_true(isnan(none.observed));
  demur_assert_close(none.low, -1.959964 * 0.2, 0.002, 0);
  demur_assert_close(none.high, 1.959964 * 0.2, 0.002, 0);
  demur_assert_close(none.error_before, none.error_after, 1e-12, 0);
  /* sigmoid'(0) = 1/4, third derivative -1/8: sd x (1/4) (1 - tau2 / 4 + ..). */
  demur_assert_close(none.error_before, 0.2 / 4 * (1 - 0.04 / 4), 0.01, 0);
  const DemurAudit audit = fit(risks, labels, 4, 0.5, risks, 4);
  double mirrored_risks[4], mirrored_labels[4];
  for (size_t i = 0; i < 4; i++) {
    mirrored_risks[i] = 1.0 - risks[i];
    mirrored_labels[i] = 1.0 - labels[i];
  }
  const DemurAudit mirror = fit(mirrored_risks, mirrored_labels, 4, 0.5, mirrored_risks, 4);
  g_assert_cmpfloat(audit.intercept, >, 0.0);
  demur_assert_close(audit.intercept, -mirror.intercept, 1e-6, 0);
  demur_assert_close(audit.low, -mirror.high, 1e-4, 1e-6);
  demur_assert_close(audit.error_after, mirror.error_after, 1e-5, 0);
  const DemurAudit sure = fit(risks, labels, 4, 1e-8, risks, 4);
  demur_assert_close(sure.intercept, 0.0, 0, 1e-6);
  demur_assert_close(demur_audit_risk(0.5, log(3.0)), 0.75, 1e-15, 0);
  g_assert_cmpfloat(demur_audit_risk(1.0 / 3, 0.0), ==, 1.0 / 3);
}

/* One scan a patient, the same by the same seed; each tenth of risk and each half of score within
 * it gets its share to within one; every scan is chosen about equally often. */
static void
choice_is_stratified_and_fair(void) {
  enum { N = 1000, WANTED = 50 };
  double risks[N], scores[N];
  guint32 patients[N];
  guint32 times[N] = {0};
  DemurRandom random = demur_random_stream(9, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < N; i++) {
    risks[i] = (double)i / N;
    scores[i] = demur_random_uniform(&random);
    patients[i] = (guint32)i;
  }
  for (guint64 seed = 0; seed < 400; seed++) {
    size_t n, n_again;
    g_autofree guint32 *rows = demur_audit_choose(risks, scores, patients, N, WANTED, seed, &n);
    g_autofree guint32 *again =
        demur_audit_choose(risks, scores, patients, N, WANTED, seed, &n_again);
    g_assert_cmpuint(n, ==, WANTED);
    g_assert_true(n_again == n && memcmp(rows, again, n * sizeof *rows) == 0);
    guint32 by_tenth[10] = {0};
    double by_score = 0.0;
    for (size_t i = 0; i < n; i++) {
      g_assert_true(i == 0 || rows[i - 1] < rows[i]);
      by_tenth[rows[i] / 100]++;
      by_score += scores[rows[i]];
      times[rows[i]]++;
    }
    for (size_t f = 0; f < 10; f++)
      g_assert_cmpuint(by_tenth[f], ==, WANTED / 10);
    /* A simple sample of 50 uniforms has sd .041; a stratified one is far closer. */
    demur_assert_close(by_score / WANTED, 0.5, 0, 0.04);
  }
  for (size_t i = 0; i < N; i++) /* 20 expected of 400, sd 4.4 */
    g_assert_cmpuint(times[i], <, 46);
  /* Two scans a patient: one of each; fewer patients than wanted: all. */
  for (size_t i = 0; i < N; i++)
    patients[i] = (guint32)(i / 2);
  size_t n;
  g_autofree guint32 *all = demur_audit_choose(risks, scores, patients, N, 2000, 1, &n);
  g_assert_cmpuint(n, ==, N / 2);
  for (size_t i = 0; i < n; i++)
    g_assert_cmpuint(patients[all[i]], ==, i);
  g_autofree guint32 *none = demur_audit_choose(risks, scores, patients, 0, 50, 1, &n);
  g_assert_cmpuint(n, ==, 0);
}

/* Real hospitals that trained nothing (IST, test split): 50 labels a site, judged on the rest of
 * its scans. Site error^2 = sum_s n_s U_s / sum n_s with U_s the mean of d_i d_j over pairs, so
 * noise within a site does not count. Wanted: a quarter to a half less. */
static double
site_error(const double *squares, const double *weights, size_t n_sites) {
  double sum = 0.0, total = 0.0;
  for (size_t s = 0; s < n_sites; s++) {
    sum += weights[s] * squares[s];
    total += weights[s];
  }
  return copysign(sqrt(fabs(sum / total)), sum);
}

static double
pairs_mean(const double *d, size_t n) {
  double sum = 0.0, squares = 0.0;
  for (size_t i = 0; i < n; i++) {
    sum += d[i];
    squares += d[i] * d[i];
  }
  return (sum * sum - squares) / ((double)n * (double)(n - 1));
}

static void
measure_real_sites(const DemurSelector *selector, DemurCohort *cohort, const char *name,
                   double least_cut) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) view = demur_selector_view(selector, cohort, &error);
  g_assert_no_error(error);
  size_t n_rows;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, "test", &n_rows, &error);
  g_assert_no_error(error);
  DEMUR_AUTO_ALIGNED double *meta =
      demur_selector_meta_features(selector, view, FALSE, rows, n_rows, NULL, NULL, &error);
  g_assert_no_error(error);
  g_autofree double *all_scores = g_new(double, n_rows);
  demur_selector_scores(selector, 0, meta, n_rows, all_scores);
  g_autofree double *before = g_new0(double, cohort->n_sites);
  g_autofree double *after = g_new0(double, cohort->n_sites);
  g_autofree double *weights = g_new0(double, cohort->n_sites);
  g_autofree double *risks = g_new(double, n_rows);
  g_autofree double *scores = g_new(double, n_rows);
  g_autofree double *labels = g_new(double, n_rows);
  g_autofree guint32 *patients = g_new(guint32, n_rows);
  size_t n_used = 0;
  for (size_t s = 0; s < cohort->n_sites; s++) {
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++) {
      if (cohort->sites[rows[i]] != s)
        continue;
      risks[n] = view->risks[rows[i]];
      scores[n] = all_scores[i];
      labels[n] = (double)cohort->labels[rows[i]];
      patients[n++] = cohort->patients[rows[i]];
    }
    if (n < 70) /* at least 20 to judge by */
      continue;
    size_t n_chosen;
    g_autofree guint32 *chosen = demur_audit_choose(risks, scores, patients, n, 50, 1, &n_chosen);
    g_assert_cmpuint(n_chosen, ==, 50);
    g_autofree double *r = g_new(double, n), *y = g_new(double, n), *d = g_new(double, n);
    g_autofree double *e = g_new(double, n);
    size_t at = 0, n_held = 0;
    for (size_t i = 0; i < n; i++)
      if (at < n_chosen && chosen[at] == i) {
        r[at] = risks[i];
        y[at++] = labels[i];
      }
    const DemurAudit audit =
        demur_audit_fit(r, y, at, demur_selector_site_prior(selector), risks, n);
    at = 0;
    for (size_t i = 0; i < n; i++) {
      if (at < n_chosen && chosen[at] == i) {
        at++;
        continue;
      }
      d[n_held] = labels[i] - risks[i];
      e[n_held++] = labels[i] - demur_audit_risk(risks[i], audit.intercept);
    }
    before[s] = pairs_mean(d, n_held);
    after[s] = pairs_mean(e, n_held);
    weights[s] = (double)n_held;
    n_used++;
  }
  const double error_before = site_error(before, weights, cohort->n_sites);
  const double error_after = site_error(after, weights, cohort->n_sites);
  g_test_message("%s, %zu sites, tau2 %.4f: site error %.4f before, %.4f after 50 labels (%.0f %% "
                 "less)",
                 name, n_used, demur_selector_site_prior(selector)->tau2, error_before, error_after,
                 100.0 * (1.0 - error_after / error_before));
  g_assert_cmpuint(n_used, >, 10);
  g_assert_cmpfloat(error_after, <, (1.0 - least_cut) * error_before);
}

static void
fifty_labels_cut_the_site_error_of_real_hospitals(void) {
  if (demur_test_at_memory()) /* a training and an audit are looked at elsewhere, on small tables */
    return;
  g_autofree char *table = demur_test_shared("cohorts/ist_deaddep6m.csv");
  if (table == NULL)
    return;
  g_autoptr(GError) error = NULL;
  const DemurImportOptions options = {.name = "ist"};
  g_autoptr(DemurCohort) cohort = demur_cohort_import(table, &options, NULL, NULL, &error);
  g_assert_no_error(error);
  static const struct {
    const char *name;
    DemurRecalibrationKind kind;
  } rows[] = {{"Platt", DEMUR_RECALIBRATION_PLATT}, {"raw risks", DEMUR_RECALIBRATION_NONE}};
  for (size_t i = 0; i < (g_test_slow() ? G_N_ELEMENTS(rows) : 1); i++) {
    /* The audit needs the corrector and a score; the net itself may be short of training. */
    g_autoptr(DemurTrainSettings) settings = demur_train_settings_new();
    settings->epochs = 1;
    settings->datasets_per_epoch = 640;
    settings->average = 1;
    settings->recalibrate = rows[i].kind;
    g_autoptr(DemurSelector) selector =
        demur_selector_train(cohort, settings, 1, NULL, NULL, NULL, &error);
    g_assert_no_error(error);
    measure_real_sites(selector, cohort, rows[i].name, 0.25);
  }
}

/* Four hospitals spread from -1 to +1 on the logit trained, a fifth lies at +1, and the risks are
 * too flat (half the true logit): 50 labels of any draw must find that outcomes are more than said,
 * with an interval that holds what all 400 scans of the hospital say. A spread that is taken as
 * known and tiny would say nothing (+.001, -.019 to +.020). */
static void
few_sites_leave_an_audit_its_say(void) {
  enum { SITES = 4, EACH = 400, N = SITES * EACH, WANTED = 50, PLANS = 8 };
  double mean = 0.0;
  guint n_held = 0, n = 0;
  for (guint64 set = 0; set < 10; set++) {
    DemurRandom random = demur_random_stream(set, DEMUR_STREAM_TEST, 5, 0, 0);
    g_autofree double *l = g_new(double, N + EACH), *y = g_new(double, N + EACH);
    g_autofree guint32 *sites = g_new(guint32, N), *patients = g_new(guint32, EACH);
    for (size_t i = 0; i < N + EACH; i++) {
      const double shift = i < N ? -1.0 + 2.0 * (double)(i / EACH) / (SITES - 1) : 1.0;
      const double z = -1.0 + 1.2 * demur_random_normal(&random);
      l[i] = 0.5 * z;
      y[i] = demur_random_uniform(&random) < demur_sigmoid(z + shift);
      if (i < N)
        sites[i] = (guint32)(i / EACH);
      else
        patients[i - N] = (guint32)(i - N);
    }
    g_autoptr(DemurSitePrior) prior = demur_site_prior_fit(l, y, NULL, sites, N, NULL);
    double risks[EACH], whole = 0.0;
    for (size_t i = 0; i < EACH; i++)
      risks[i] = demur_sigmoid(l[N + i]);
    const DemurOffsetLogistic problem = {
        .n = EACH, .offsets = l + N, .labels = y + N, .intercept_penalty = 1e-9};
    demur_offset_logistic_fit(&problem, NULL, &whole);
    for (guint64 plan = 0; plan < PLANS; plan++, n++) {
      size_t n_chosen;
      g_autofree guint32 *chosen =
          demur_audit_choose(risks, risks, patients, EACH, WANTED, plan, &n_chosen);
      double r[WANTED], labels[WANTED];
      for (size_t i = 0; i < n_chosen; i++) {
        r[i] = risks[chosen[i]];
        labels[i] = y[N + chosen[i]];
      }
      const DemurAudit audit = demur_audit_fit(r, labels, n_chosen, prior, risks, EACH);
      mean += audit.intercept;
      n_held += audit.low <= whole && whole <= audit.high;
      g_assert_cmpfloat(audit.high - audit.low, >, 0.9);
      g_assert_cmpfloat(audit.high - audit.low, <, 1.3);
    }
  }
  g_test_message("mean intercept %.3f, held %u of %u", mean / n, n_held, n);
  demur_assert_close(mean / n, 0.4, 0, 0.15);
  g_assert_cmpuint(n_held * 100, >=, n * 92);
}

/* A cohort whose outcomes come within 6 years, evenly, and of which a tenth a year is left: who had the outcome is
 * known sooner than who had not, so of the labels that are there too many are 1. Risks are right: the mean
 * intercept of 60 sites is 0 by weighted labels, and well above without weights. Labels that were looked up of
 * everyone have no weight. */
static void
labels_of_those_who_were_not_left(void) {
  enum { SITES = 60, EACH = 100, N = SITES * EACH };
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  DemurRandom random = demur_random_stream(3, DEMUR_STREAM_TEST, 5, 0, 0);
  for (size_t i = 0; i < N; i++) {
    const double risk = demur_sigmoid(-0.8 + demur_random_normal(&random));
    const gboolean event = demur_random_uniform(&random) < risk;
    const double left = 8.0 * demur_random_exponential(&random),
                 came = event ? 6.0 * demur_random_uniform(&random) : 7.0;
    const int label = came <= fmin(left, 6.0) ? 1 : left >= 6.0 ? 0 : DEMUR_NO_LABEL;
    g_autofree char *id = g_strdup_printf("p%zu", i), *site = g_strdup_printf("s%zu", i / EACH);
    demur_cohort_builder_add(builder, id, id, site, "test", label, &risk, NULL, NULL);
    demur_cohort_builder_outcome(builder, fmin(came, left),
                                 came <= left && event ? DEMUR_STATUS_EVENT : DEMUR_STATUS_CENSORED,
                                 6.0);
  }
  g_autoptr(DemurCohort) cohort =
      demur_cohort_builder_finish(builder, "left", "model", "test", "", TRUE, &error);
  g_assert_no_error(error);
  const double tau = 0.5;
  double mean[2] = {0.0, 0.0};
  double one = 1.0, zero = 0.0, sd = tau;
  const DemurSitePrior prior = {
      .tau2 = tau * tau, .n = 1, .weights = &one, .means = &zero, .sds = &sd};
  for (size_t s = 0; s < SITES; s++) {
    guint32 rows[EACH];
    double risks[EACH], labels[EACH];
    size_t n = 0;
    for (guint32 i = (guint32)(s * EACH); i < (s + 1) * EACH; i++)
      if (cohort->labels[i] != DEMUR_NO_LABEL) {
        rows[n] = i;
        risks[n] = cohort->risks[i];
        labels[n++] = (double)cohort->labels[i];
      }
    g_autofree double *weights = NULL, *none = NULL;
    g_assert_true(demur_outcome_weights_labelled(cohort, rows, n, &weights, &error));
    g_assert_no_error(error);
    g_assert_nonnull(weights);
    mean[0] += demur_audit_fit(risks, labels, n, &prior, risks, n).intercept / SITES;
    mean[1] +=
        demur_audit_fit_weighted(risks, labels, weights, n, &prior, risks, n).intercept / SITES;
    for (guint32 i = 0; i < EACH; i++)
      rows[i] = (guint32)(s * EACH) + i;
    g_assert_true(demur_outcome_weights_labelled(cohort, rows, EACH, &none, &error));
    g_assert_null(none);
  }
  g_test_message("mean intercept %.3f, without weights %.3f", mean[1], mean[0]);
  g_assert_cmpfloat(mean[0], >, 0.2);
  g_assert_cmpfloat(fabs(mean[1]), <, 0.08);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/selector/audit/mean", posterior_mean_by_hand);
  g_test_add_func("/selector/audit/left", labels_of_those_who_were_not_left);
  g_test_add_func("/selector/audit/prior", prior_and_symmetry);
  g_test_add_func("/selector/audit/choice", choice_is_stratified_and_fair);
  g_test_add_func("/selector/audit/few-sites", few_sites_leave_an_audit_its_say);
  g_test_add_func("/selector/audit/ist", fifty_labels_cut_the_site_error_of_real_hospitals);
  return g_test_run();
}
