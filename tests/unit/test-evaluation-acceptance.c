/* The local acceptance test. Right values: what a test at level alpha promises, by simulated sites;
 * laws of the plan. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "evaluation/acceptance.h"
#include "support/support.h"
#include "tasks/accept-earlier.h"

/* alpha: what the first plan of a selector at a site has of the 5 % that all of them share. */
#define OF_ALL 0.05
static const DemurAcceptanceSettings usual = {0.8, 1.25, DEMUR_ACCEPT_ALPHA_SHARE *OF_ALL, 0.8};

/* Risks of a site whose patients are sick: a quarter dies, as in the stroke trials. */
static double *
site_risks(size_t n, guint64 seed) {
  double *risks = g_new(double, n);
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 2, 0, 0);
  for (size_t i = 0; i < n; i++)
    risks[i] = 1.0 / (1.0 + exp(1.4 - 1.2 * demur_random_normal(&random)));
  return risks;
}

static void
test_plan(void) {
  enum { N = 30000 };
  g_autofree double *risks = site_risks(N, 1);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurAcceptancePlan) plan = demur_acceptance_plan_new(risks, N, &usual, 1, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(plan->n_needed, >, plan->n_usual);
  g_assert_cmpuint(plan->n_chosen, >=, plan->n_needed);
  g_assert_cmpfloat(plan->power, >=, 0.8);
  /* Nobody twice, and nobody who is not a candidate. */
  g_autofree guint8 *seen = g_new0(guint8, N);
  for (size_t i = 0; i < plan->n_chosen; i++) {
    g_assert_cmpuint(plan->order[i], <, N);
    g_assert_cmpuint(seen[plan->order[i]]++, ==, 0);
    g_assert_cmpfloat(plan->weights[i], >=, 1.0);
  }
  /* Weighted, those drawn have the mean risk of the site. */
  double mean = 0.0, sum = 0.0, weights = 0.0;
  for (size_t i = 0; i < N; i++)
    mean += risks[i] / N;
  for (size_t i = 0; i < plan->n_chosen; i++) {
    sum += plan->weights[i] * risks[plan->order[i]];
    weights += plan->weights[i];
  }
  g_assert_cmpfloat_with_epsilon(sum / weights, mean, 0.03);
  /* The same seed gives the same plan, another one another. */
  g_autoptr(DemurAcceptancePlan) again = demur_acceptance_plan_new(risks, N, &usual, 1, &error);
  g_assert_cmpuint(again->n_chosen, ==, plan->n_chosen);
  g_assert_true(memcmp(plan->order, again->order, plan->n_chosen * sizeof *plan->order) == 0);
  g_autoptr(DemurAcceptancePlan) other = demur_acceptance_plan_new(risks, N, &usual, 2, &error);
  g_assert_true(other->n_chosen != plan->n_chosen ||
                memcmp(plan->order, other->order, plan->n_chosen * sizeof *plan->order) != 0);
}

static void
test_small_sites_are_told(void) {
  g_autofree double *risks = site_risks(60, 4);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurAcceptancePlan) plan = demur_acceptance_plan_new(risks, 60, &usual, 1, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(plan->n_chosen, ==, 60); /* all are asked for */
  g_assert_cmpuint(plan->n_needed, >, 60);
  g_assert_cmpfloat(plan->power, <, 0.1);
  g_assert_null(demur_acceptance_plan_new(risks, 0, &usual, 1, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_clear_error(&error);
  const DemurAcceptanceSettings wrong = {1.1, 1.25, 0.05, 0.8};
  g_assert_null(demur_acceptance_plan_new(risks, 60, &wrong, 1, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
}

/* Labelled to the plan's end, looked at after every label: O:E .6 and 1.6 lie outside, .8 and 1.25 on the border, and are
 * accepted at most 5 % of the time, with three standard errors of the number of sites. At 1, by the labels that the plan
 * wants, its power, less three. A last kind of
 * site has O:E 1.25 by a miscalibration of high risks alone. */
static void
test_promises(void) {
  const size_t n_sites = 1000, n_candidates = 20000;
  static const struct {
    double ratio;
    gboolean high_risks_only;
  } kinds[] = {{0.6, FALSE}, {0.8, FALSE}, {1.0, FALSE}, {1.25, FALSE}, {1.6, FALSE}, {1.25, TRUE}};
  g_autofree double *risks = site_risks(n_candidates, 9);
  double total = 0.0, high = 0.0;
  for (size_t i = 0; i < n_candidates; i++) {
    risks[i] = fmin(risks[i], 0.6); /* so that 1.6 r is a probability */
    total += risks[i];
    high += risks[i] > 0.3 ? risks[i] : 0.0;
  }
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurAcceptancePlan) plan =
      demur_acceptance_plan_new(risks, n_candidates, &usual, 1, &error);
  g_assert_no_error(error);
  const size_t n = plan->n_chosen;
  g_assert_cmpuint(n, >=, plan->n_needed);
  g_autofree double *r = g_new(double, n), *y = g_new(double, n);
  for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
    const double of_high = 1.0 + 0.25 * total / high;
    size_t n_accepted = 0, n_refused = 0, by_needed = 0;
    for (size_t site = 0; site < n_sites; site++) {
      DemurRandom random = demur_random_stream(8, DEMUR_STREAM_TEST, k, site, 0);
      /* Patients of another site of the same kind: drawn by the plan's chances. */
      g_autofree double *w = g_new(double, n);
      for (size_t i = 0; i < n; i++) {
        const size_t at = (size_t)demur_random_below(&random, plan->n_chosen);
        r[i] = risks[plan->order[at]];
        w[i] = plan->weights[at];
        const double ratio = !kinds[k].high_risks_only ? kinds[k].ratio
                             : r[i] > 0.3              ? of_high
                                                       : 1.0;
        y[i] = demur_random_uniform(&random) < ratio * r[i] ? 1.0 : 0.0;
      }
      const DemurAcceptanceAnswer answer = demur_acceptance_answer(plan, r, y, w, n);
      n_accepted += answer == DEMUR_ACCEPTANCE_ACCEPTED;
      n_refused += answer == DEMUR_ACCEPTANCE_NOT_ACCEPTED;
      by_needed +=
          kinds[k].ratio == 1.0 &&
          demur_acceptance_answer(plan, r, y, w, plan->n_needed) == DEMUR_ACCEPTANCE_ACCEPTED;
    }
    const double sites = (double)n_sites, at_most = OF_ALL * sites + 3.0 * sqrt(0.0475 * sites);
    g_test_message(
        "O:E %g%s, %zu labels: accepted %zu, not accepted %zu of %zu; by the %zu wanted %zu",
        kinds[k].ratio, kinds[k].high_risks_only ? " (high risks)" : "", n, n_accepted, n_refused,
        n_sites, plan->n_needed, by_needed);
    if (kinds[k].ratio == 1.0) {
      g_assert_cmpfloat((double)by_needed, >=, 0.8 * sites - 3.0 * sqrt(0.16 * sites));
      g_assert_cmpfloat((double)n_refused, <=, at_most);
    } else {
      g_assert_cmpfloat((double)n_accepted, <=, at_most);
    }
    if (kinds[k].ratio == 0.6 || kinds[k].ratio == 1.6)
      g_assert_cmpfloat((double)n_refused, >=, 0.5 * sites);
  }
}

/* The plan says how many labels a site of O:E 1 needs: half of 1,000 sites are accepted by n_usual, `power` of
 * them by n_needed, looked at after every label. The plan's own 1,000 simulations and these each have a
 * binomial error, three of which are allowed for together. */
static void
test_lengths(void) {
  enum { SITES = 1000, CANDIDATES = 20000 };
  g_autofree double *risks = site_risks(CANDIDATES, 9);
  for (size_t i = 0; i < CANDIDATES; i++)
    risks[i] = fmin(risks[i], 0.6);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurAcceptancePlan) plan =
      demur_acceptance_plan_new(risks, CANDIDATES, &usual, 1, &error);
  g_assert_no_error(error);
  const size_t n = plan->n_needed;
  g_autofree double *r = g_new(double, n), *y = g_new(double, n), *w = g_new(double, n);
  size_t by_usual = 0, by_needed = 0;
  for (guint64 site = 0; site < SITES; site++) {
    DemurRandom random = demur_random_stream(8, DEMUR_STREAM_TEST, 50, site, 0);
    for (size_t i = 0; i < n; i++) {
      const size_t at = (size_t)demur_random_below(&random, plan->n_chosen);
      r[i] = risks[plan->order[at]];
      w[i] = plan->weights[at];
      y[i] = demur_random_uniform(&random) < r[i] ? 1.0 : 0.0;
    }
    by_usual += demur_acceptance_answer(plan, r, y, w, plan->n_usual) == DEMUR_ACCEPTANCE_ACCEPTED;
    by_needed += demur_acceptance_answer(plan, r, y, w, n) == DEMUR_ACCEPTANCE_ACCEPTED;
  }
  g_test_message("accepted by %zu labels: %zu, by %zu: %zu of %d", plan->n_usual, by_usual, n,
                 by_needed, SITES);
  g_assert_cmpfloat(fabs((double)by_usual / SITES - 0.5), <=, 3.0 * sqrt(2.0 * 0.25 / SITES));
  g_assert_cmpfloat(fabs((double)by_needed / SITES - 0.8), <=, 3.0 * sqrt(2.0 * 0.16 / SITES));
}

/* What stands beside the answer: the interval holds the ratio that was drawn, and the numbers of
 * one look by hand: two patients of risk .5, one of whom died, O:E 1, intercept 0, AUROC .5. */
static void
test_numbers(void) {
  g_autofree double *risks = site_risks(5000, 6);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurAcceptancePlan) plan = demur_acceptance_plan_new(risks, 5000, &usual, 1, &error);
  g_assert_no_error(error);
  const double half[] = {0.5, 0.5}, labels[] = {1.0, 0.0}, weights[] = {1.0, 1.0};
  const DemurAcceptance two = demur_acceptance_run(plan, half, labels, weights, 2, 1);
  g_assert_cmpint(two.answer, ==, DEMUR_ACCEPTANCE_MORE);
  g_assert_cmpfloat(two.ratio, ==, 1.0);
  g_assert_cmpfloat_with_epsilon(two.intercept, 0.0, 1e-12);
  g_assert_cmpfloat(two.auroc, ==, 0.5);
  g_assert_cmpuint(two.n_more, >, 0);
  const DemurAcceptance none = demur_acceptance_run(plan, half, labels, weights, 0, 1);
  g_assert_true(isnan(none.ratio));
  g_assert_cmpuint(none.n_more, ==, plan->n_needed);
  const size_t n = plan->n_chosen;
  g_autofree double *r = g_new(double, n), *y = g_new(double, n);
  DemurRandom random = demur_random_stream(4, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < n; i++) {
    r[i] = risks[plan->order[i]];
    y[i] = demur_random_uniform(&random) < r[i] ? 1.0 : 0.0;
  }
  const DemurAcceptance whole = demur_acceptance_run(plan, r, y, plan->weights, n, 1);
  g_assert_cmpfloat(whole.ratio_low, <, whole.ratio);
  g_assert_cmpfloat(whole.ratio_high, >, whole.ratio);
  g_assert_true(whole.ratio_low < 1.0 && whole.ratio_high > 1.0);
  g_assert_true(whole.auroc_low < whole.auroc && whole.auroc < whole.auroc_high);
}

/* A person is told what to do: more labels only where the plan has them and they may answer. */
static void
test_what_more_labels_may_bring(void) {
  const struct {
    size_t n_labels, n_events, n_more, n_left;
    double ratio;
    DemurAcceptanceOutlook expected;
  } cases[] = {
      {200, 40, 120, 2020, 1.02, DEMUR_ACCEPTANCE_IN_SIGHT},
      {200, 40, 2020, 2020, 1.02, DEMUR_ACCEPTANCE_IN_SIGHT},
      {200, 40, 6092, 2020, 1.1, DEMUR_ACCEPTANCE_BEYOND_PLAN},
      {200, 40, 1, 0, 1.0, DEMUR_ACCEPTANCE_BEYOND_PLAN},
      {200, 40, 0, 2020, 1.24, DEMUR_ACCEPTANCE_BEYOND_PLAN}, /* more than can be simulated */
      {200, 40, 0, 0, 1.418, DEMUR_ACCEPTANCE_OUTSIDE},
      {200, 40, 0, 2020, 0.8, DEMUR_ACCEPTANCE_OUTSIDE},
      {0, 0, 300, 300, NAN, DEMUR_ACCEPTANCE_IN_SIGHT}, /* no label yet */
      {0, 0, 0, 300, NAN, DEMUR_ACCEPTANCE_BEYOND_PLAN},
      /* O:E 0 of two patients, whose interval is 0 to 163; nine of one outcome; ten of both. */
      {2, 0, 0, 2020, 0.0, DEMUR_ACCEPTANCE_TOO_FEW},
      {200, 9, 0, 2020, 0.4, DEMUR_ACCEPTANCE_TOO_FEW},
      {200, 191, 0, 2020, 3.0, DEMUR_ACCEPTANCE_TOO_FEW},
      {5, 1, 120, 2020, 1.0, DEMUR_ACCEPTANCE_TOO_FEW},
      {20, 10, 0, 2020, 3.0, DEMUR_ACCEPTANCE_OUTSIDE},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpint(demur_acceptance_outlook(cases[i].n_labels, cases[i].n_events, cases[i].n_more,
                                             cases[i].ratio, cases[i].n_left, 0.8, 1.25),
                    ==, cases[i].expected);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/evaluation/acceptance/what-more-labels-may-bring",
                  test_what_more_labels_may_bring);
  g_test_add_func("/acceptance/plan", test_plan);
  g_test_add_func("/acceptance/small-sites-are-told", test_small_sites_are_told);
  g_test_add_func("/acceptance/numbers", test_numbers);
  g_test_add_func("/acceptance/promises", test_promises);
  g_test_add_func("/acceptance/lengths", test_lengths);
  return g_test_run();
}
