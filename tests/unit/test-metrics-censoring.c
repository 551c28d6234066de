/* Weights of outcomes and cumulative incidence. Frozen numbers: R 4.2.2, survival 3.5-3 (survfit of
 * the time to being left, Kaplan-Meier with conf.type "log-log", Aalen-Johansen). */
#include "base/error.h"
#include "metrics/censoring.h"

#include <math.h>
#include <string.h>

#include "support/support.h"

#define N 60
#define HORIZON 5.0

static const double times[N] = {4.3, 6.7,  0.9, 0.9,  2.5,  16.2, 6.9, 3.1, 5.4,  0.9, 7.8, 4.3,
                                7,   24.7, 6,   5.9,  10.5, 3.7,  2,   3.4, 13.2, 3.7, 1.7, 3.2,
                                0.7, 0.4,  3.3, 22.1, 6.6,  5.6,  8.1, 0.3, 1.9,  7.4, 1.2, 5.8,
                                1.8, 4.1,  4.3, 1.4,  6.1,  5.8,  7.3, 7.1, 3.2,  1.8, 7.3, 5.6,
                                3,   11.3, 2.4, 12.2, 18,   3.2,  3.4, 5.5, 1.3,  1.8, 6.2, 4.4};
static const gint32 ended[N] = {2, 1, 0, 0, 1, 2, 1, 2, 1, 0, 0, 0, 0, 1, 0, 0, 1, 2, 1, 1,
                                0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 2, 1, 1, 1, 2, 1, 1, 1, 0,
                                0, 1, 1, 0, 1, 0, 2, 1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 2, 0};
static const double weights_of_r[N] = {1.21560348247667,
                                       1.29963137297045,
                                       0,
                                       0,
                                       1.18274933430162,
                                       1.29963137297045,
                                       1.29963137297045,
                                       1.18274933430162,
                                       1.29963137297045,
                                       0,
                                       1.29963137297045,
                                       0,
                                       1.29963137297045,
                                       1.29963137297045,
                                       1.29963137297045,
                                       1.29963137297045,
                                       1.29963137297045,
                                       1.21560348247667,
                                       1.18274933430162,
                                       1.18274933430162,
                                       1.29963137297045,
                                       1.21560348247667,
                                       1.13543936092956,
                                       1.18274933430162,
                                       0,
                                       0,
                                       1.18274933430162,
                                       1.29963137297045,
                                       1.29963137297045,
                                       1.29963137297045,
                                       1.29963137297045,
                                       1,
                                       1.18274933430162,
                                       1.29963137297045,
                                       1.09259259259259,
                                       1.29963137297045,
                                       1.13543936092956,
                                       1.21560348247667,
                                       1.21560348247667,
                                       0,
                                       1.29963137297045,
                                       1.29963137297045,
                                       1.29963137297045,
                                       1.29963137297045,
                                       1.18274933430162,
                                       0,
                                       1.29963137297045,
                                       1.29963137297045,
                                       1.18274933430162,
                                       1.29963137297045,
                                       1.18274933430162,
                                       1.29963137297045,
                                       1.29963137297045,
                                       1.18274933430162,
                                       0,
                                       1.29963137297045,
                                       0,
                                       0,
                                       1.29963137297045,
                                       0};
static const guint32 counts[N] = {1, 0, 2, 1, 2, 2, 1, 2, 2, 3, 0, 0, 3, 1, 3, 1, 0, 1, 2, 2,
                                  2, 2, 2, 3, 0, 3, 2, 0, 3, 2, 3, 1, 3, 0, 3, 2, 0, 3, 1, 0,
                                  1, 1, 1, 2, 0, 1, 2, 2, 2, 2, 1, 2, 0, 2, 3, 3, 0, 1, 3, 1};
static const double counted_weights_of_r[N] = {1.19785798616967,
                                               1.22508203130989,
                                               0,
                                               0,
                                               1.13589981447124,
                                               1.22508203130989,
                                               1.22508203130989,
                                               1.13589981447124,
                                               1.22508203130989,
                                               0,
                                               1.22508203130989,
                                               0,
                                               1.22508203130989,
                                               1.22508203130989,
                                               1.22508203130989,
                                               1.22508203130989,
                                               1.22508203130989,
                                               1.19785798616967,
                                               1.13589981447124,
                                               1.13589981447124,
                                               1.22508203130989,
                                               1.19785798616967,
                                               1.10714285714286,
                                               1.13589981447124,
                                               0,
                                               0,
                                               1.13589981447124,
                                               1.22508203130989,
                                               1.22508203130989,
                                               1.22508203130989,
                                               1.22508203130989,
                                               1,
                                               1.13589981447124,
                                               1.22508203130989,
                                               1.10714285714286,
                                               1.22508203130989,
                                               1.10714285714286,
                                               1.19785798616967,
                                               1.19785798616967,
                                               0,
                                               1.22508203130989,
                                               1.22508203130989,
                                               1.22508203130989,
                                               1.22508203130989,
                                               1.13589981447124,
                                               0,
                                               1.22508203130989,
                                               1.22508203130989,
                                               1.13589981447124,
                                               1.22508203130989,
                                               1.13589981447124,
                                               1.22508203130989,
                                               1.22508203130989,
                                               1.13589981447124,
                                               0,
                                               1.22508203130989,
                                               0,
                                               0,
                                               1.22508203130989,
                                               0};
static const double at[] = {0.5, 1, 2, 3, 5, 8};
static const double incidence_of_r[] = {
    0,
    0,
    0.0971353080239188,
    0.157326287488991,
    0.324793340776735,
    0.555764510470813}; /* the competing event taken as being left */
static const double low_of_r[] = {
    NAN, NAN, 0.0415788532391408, 0.0818942081625261, 0.212771139790485, 0.397732090543981};
static const double high_of_r[] = {
    NAN, NAN, 0.217970143998902, 0.290313656364041, 0.475193883801805, 0.727038937620961};
static const double competing_of_r[] = {
    0, 0, 0.0955163862235201, 0.154704182697508, 0.314229386527398, 0.50628247722737};

static DemurCensoring *
fit(const guint32 *sites, size_t n_sites, double horizon, GError **error) {
  static const guint32 one_site[N];
  return demur_censoring_new(times, ended, sites != NULL ? sites : one_site, N, n_sites, horizon,
                             error);
}

static void
weights_match_survfit(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCensoring) censoring = fit(NULL, 1, HORIZON, &error);
  g_assert_no_error(error);
  double weights[N];
  size_t n_capped;
  demur_censoring_weights(censoring, NULL, weights, &n_capped);
  g_assert_cmpuint(n_capped, ==, 0);
  for (size_t i = 0; i < N; i++)
    demur_assert_close(weights[i], weights_of_r[i], 1e-12, 0.0);
  demur_assert_close(demur_censoring_n_effective(weights, N), 47.8475900811771, 1e-12, 0.0);
  demur_censoring_weights(censoring, counts, weights, NULL);
  for (size_t i = 0; i < N; i++)
    demur_assert_close(weights[i], counted_weights_of_r[i], 1e-12, 0.0);
}

/* Every scan twice, and the copies at a second site: G of both sites and of all is the same. */
static void
sites_have_their_own_where_they_are_large(void) {
  double two_times[10 * N];
  gint32 two_ended[10 * N];
  guint32 sites[10 * N];
  for (size_t i = 0; i < 10 * N; i++) { /* site 0: 5 copies, of which 70 are left; site 1: none */
    two_times[i] = i < 5 * N ? times[i % N] : fmax(times[i % N], HORIZON);
    two_ended[i] = ended[i % N];
    sites[i] = i >= 5 * N;
  }
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCensoring) censoring =
      demur_censoring_new(two_times, two_ended, sites, 10 * N, 2, HORIZON, &error);
  g_assert_no_error(error);
  double weights[10 * N];
  demur_censoring_weights(censoring, NULL, weights, NULL);
  for (size_t i = 0; i < N; i++)
    demur_assert_close(weights[i], weights_of_r[i], 1e-12, 0.0);
  /* Site 1 has nobody left, so no G of its own: that of all, which is between. */
  double largest = 0.0, largest_own = 0.0;
  for (size_t i = 0; i < N; i++) {
    largest = fmax(largest, weights[5 * N + i]);
    largest_own = fmax(largest_own, weights[i]);
  }
  g_assert_cmpfloat(largest, >, 1.0);
  g_assert_cmpfloat(largest, <, largest_own);
}

/* Without ties, and with somebody followed for the horizon, the weights add up to the scans: what
 * a scan that is left stood for goes to those behind it. */
static void
weights_add_up_to_the_scans(void) {
  double apart[N], weights[N], sum = 0.0;
  static const guint32 one_site[N];
  for (size_t i = 0; i < N; i++)
    apart[i] = times[i] + 1e-6 * (double)i;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCensoring) censoring =
      demur_censoring_new(apart, ended, one_site, N, 1, HORIZON, &error);
  g_assert_no_error(error);
  demur_censoring_weights(censoring, NULL, weights, NULL);
  for (size_t i = 0; i < N; i++)
    sum += weights[i];
  demur_assert_close(sum, N, 0.0, 1e-9);
}

static void
horizons_nobody_reaches_are_refused(void) {
  g_autoptr(GError) error = NULL;
  g_assert_null(fit(NULL, 1, 30.0, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_nonnull(strstr(error->message, "24.70 years"));
  g_clear_error(&error);
  /* Of 100 one is followed to 2 years, the others leave at .01 .. .99: G there is about .01. */
  double t[100];
  gint32 e[100];
  guint32 sites[100] = {0};
  for (size_t i = 0; i < 100; i++) {
    t[i] = i < 99 ? 0.01 * (double)(i + 1) : 2.0;
    e[i] = DEMUR_ENDED_LEFT;
  }
  g_assert_null(demur_censoring_new(t, e, sites, 100, 1, 2.0, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_nonnull(strstr(error->message, "0.96 years")); /* G(.96-) is 5 in 100 */
}

static void
incidence_matches_survfit(void) {
  double incidence[6], low[6], high[6];
  gint32 left[N];
  for (size_t i = 0; i < N; i++)
    left[i] = ended[i] == DEMUR_ENDED_COMPETING ? DEMUR_ENDED_LEFT : ended[i];
  demur_cumulative_incidence(times, left, N, at, 6, incidence, low, high);
  for (size_t k = 0; k < 6; k++) {
    demur_assert_close(incidence[k], incidence_of_r[k], 1e-12, 0.0);
    g_assert_true(isnan(low[k]) == isnan(low_of_r[k]));
    if (!isnan(low[k])) {
      demur_assert_close(low[k], low_of_r[k], 1e-9, 0.0);
      demur_assert_close(high[k], high_of_r[k], 1e-9, 0.0);
    }
  }
  demur_cumulative_incidence(times, ended, N, at, 6, incidence, low, high);
  for (size_t k = 0; k < 6; k++) {
    demur_assert_close(incidence[k], competing_of_r[k], 1e-12, 0.0);
    g_assert_true(isnan(low[k]) || (low[k] < incidence[k] && incidence[k] < high[k]));
  }
  const double beyond = 25.0;
  demur_cumulative_incidence(times, ended, N, &beyond, 1, incidence, NULL, NULL);
  g_assert_true(isnan(incidence[0]));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/censoring/weights-match-survfit", weights_match_survfit);
  g_test_add_func("/metrics/censoring/large-sites-have-their-own",
                  sites_have_their_own_where_they_are_large);
  g_test_add_func("/metrics/censoring/weights-add-up-to-the-scans", weights_add_up_to_the_scans);
  g_test_add_func("/metrics/censoring/unreached-horizons-are-refused",
                  horizons_nobody_reaches_are_refused);
  g_test_add_func("/metrics/censoring/incidence-matches-survfit", incidence_matches_survfit);
  return g_test_run();
}
