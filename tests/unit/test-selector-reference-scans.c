/* The reference scans of a selector. Right values: the rows of split base_train of the cohort, which is
 * what a training takes for the reference; and distances worked out here, term by term. */
#include <math.h>

#include "selector/reference-scans.h"
#include "selector-fixture.h"

static DemurCohort *cohort;
static DemurSelector *selector;

static void
the_rows_are_those_of_the_split(void) {
  size_t n, n_rows;
  g_autoptr(GError) error = NULL;
  g_autofree guint32 *found = demur_selector_reference_rows(selector, cohort, &n);
  g_autofree guint32 *rows = demur_cohort_rows(cohort, "base_train", &n_rows, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(n, ==, n_rows);
  for (size_t i = 0; i < n; i++)
    g_assert_cmpuint(found[i], ==, rows[i]);
  g_assert_cmpuint(demur_selector_n_reference(selector), ==, n);
}

/* The same names with other embeddings are other scans. */
static void
another_cohort_holds_none(void) {
  size_t n;
  g_autoptr(DemurCohort) other = fixture_cohort(99);
  g_autofree guint32 *found = demur_selector_reference_rows(selector, other, &n);
  g_assert_cmpuint(n, ==, demur_selector_n_reference(selector));
  for (size_t i = 0; i < n; i++)
    g_assert_cmpuint(found[i], ==, DEMUR_NOT_THERE);
}

/* Squared, over the columns that differ in the reference. */
static double
distance(const guint32 *rows, size_t n, guint32 a, guint32 b) {
  const size_t d = cohort->embedding_width;
  double sum = 0.0;
  for (size_t c = 0; c < d; c++) {
    double mean = 0.0, square = 0.0;
    for (size_t i = 0; i < n; i++)
      mean += (double)cohort->embeddings[rows[i] * d + c] / (double)n;
    for (size_t i = 0; i < n; i++)
      square += pow((double)cohort->embeddings[rows[i] * d + c] - mean, 2) / (double)n;
    const double gap =
        (double)cohort->embeddings[a * d + c] - (double)cohort->embeddings[b * d + c];
    sum += square > 0.0 ? gap * gap / square : 0.0;
  }
  return sum;
}

/* Of scans outside and inside the reference: the latter are not their own neighbours. */
static void
the_nearest_are_the_nearest(void) {
  size_t n, n_test;
  g_autoptr(GError) error = NULL;
  g_autofree guint32 *rows = demur_selector_reference_rows(selector, cohort, &n);
  g_autofree guint32 *test = demur_cohort_rows(cohort, "test", &n_test, &error);
  const guint32 asked[] = {test[0], test[n_test / 2], rows[7]};
  for (size_t q = 0; q < G_N_ELEMENTS(asked); q++) {
    guint32 places[3];
    g_assert_true(
        demur_selector_nearest_reference(selector, cohort, asked[q], 3, places, NULL, &error));
    g_assert_no_error(error);
    g_autofree double *distances = g_new(double, n);
    for (size_t i = 0; i < n; i++)
      distances[i] = rows[i] == asked[q] ? INFINITY : distance(rows, n, asked[q], rows[i]);
    for (size_t k = 0; k < 3; k++) {
      size_t nearest = 0;
      for (size_t i = 1; i < n; i++)
        if (distances[i] < distances[nearest])
          nearest = i;
      g_assert_cmpuint(places[k], ==, nearest);
      distances[nearest] = INFINITY;
    }
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  cohort = fixture_cohort(0);
  g_autoptr(DemurTrainSettings) settings = fixture_settings(1, 8, 16, 1);
  g_autoptr(GError) error = NULL;
  selector = demur_selector_train(cohort, settings, 5, NULL, NULL, NULL, &error);
  g_assert_no_error(error);
  g_test_add_func("/reference-scans/rows", the_rows_are_those_of_the_split);
  g_test_add_func("/reference-scans/another-cohort", another_cohort_holds_none);
  g_test_add_func("/reference-scans/nearest", the_nearest_are_the_nearest);
  const int status = g_test_run();
  demur_selector_unref(selector);
  demur_cohort_unref(cohort);
  return status;
}
