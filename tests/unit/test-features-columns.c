/* Scaler and probability features: values worked by hand. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "features/confidence.h"
#include "features/scaler.h"
#include "support/support.h"

/* Columns: 1 2 3 (mean 2, sd sqrt(2/3)); two values; constant; 0 0 6 has two values too. */
static void
scaler_is_worked_by_hand(void) {
  const double rows[12] = {1, 0, 5, 0, 2, 1, 5, 0, 3, 0, 5, 6};
  const double means[4] = {2, 0, 0, 0}, sds[4] = {sqrt(2.0 / 3.0), 1, 1, 1};
  float floats[12];
  for (size_t i = 0; i < 12; i++)
    floats[i] = (float)rows[i];
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurScaler) doubled = demur_scaler_fit(rows, 3, 4, &error);
  g_autoptr(DemurScaler) floated = demur_scaler_fit_floats(floats, 3, 4, &error);
  g_autoptr(DemurScaler) stored = demur_scaler_new_from_arrays(means, sds, 4, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(demur_scaler_width(doubled), ==, 4);
  for (size_t j = 0; j < 4; j++) {
    demur_assert_close(demur_scaler_means(doubled)[j], means[j], 1e-15, 0);
    demur_assert_close(demur_scaler_sds(doubled)[j], sds[j], 1e-15, 0);
    g_assert_cmpfloat(demur_scaler_sds(floated)[j], ==, demur_scaler_sds(doubled)[j]);
  }
  double out[12];
  demur_scaler_apply(stored, rows, 3, out);
  const double right[12] = {-sqrt(1.5), 0, 5, 0, 0, 1, 5, 0, sqrt(1.5), 0, 5, 6};
  for (size_t i = 0; i < 12; i++)
    demur_assert_close(out[i], right[i], 1e-15, 0);
}

/* A mean of 1e8 beside an sd of 1: a one-pass sum of squares would keep no digit of it. */
static void
large_mean_costs_no_digits(void) {
  const double rows[] = {1e8 - 1, 1e8, 1e8 + 1, 1e8};
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurScaler) scaler = demur_scaler_fit(rows, 4, 1, &error);
  demur_assert_close(demur_scaler_sds(scaler)[0], sqrt(0.5), 1e-14, 0);
}

static void
unsound_scalers_are_refused(void) {
  const double row[2][2] = {{0, 1}, {NAN, 2}}, means[1] = {0}, zero[1] = {0},
               infinite[1] = {INFINITY};
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_scaler_fit(row[0], 2, 2, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  g_assert_nonnull(strstr(error->message, "row 1, column 0"));
  g_clear_error(&error);
  g_assert_null(demur_scaler_new_from_arrays(means, zero, 1, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  g_clear_error(&error);
  g_assert_null(demur_scaler_new_from_arrays(infinite, means, 1, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
}

/* K = 3, a tie for the top: the lowest class; entropy of (1/2, 1/2, 0) is ln 2 + 1e-8 ln 1e8. */
static void
three_classes_are_worked_by_hand(void) {
  const double p[3] = {0.5, 0.5, 0.0};
  double out[9];
  out[8] = 77.0;
  g_assert_cmpuint(demur_confidence_width(3, 100), ==, 8);
  demur_confidence_features(p, 1, 3, 100, out, 9);
  const double right[9] = {0.5, 0.5, 0, 1, 0, 0, 0.5, log(2.0) + 1e-8 * log(1e8), 77.0};
  for (size_t i = 0; i < 9; i++)
    demur_assert_close(out[i], right[i], 1e-15, 0);
  const DemurFeatureGroup P = DEMUR_FEATURE_PROBABILITY, C = DEMUR_FEATURE_CLASS;
  const DemurFeatureGroup U = DEMUR_FEATURE_CONFIDENCE, groups[8] = {P, P, P, C, C, C, U, U};
  const char *names[8] = {"p_0", "p_1", "p_2", "class_0", "class_1", "class_2", "max_p", "entropy"};
  for (size_t j = 0; j < 8; j++) {
    g_autofree char *name = demur_confidence_column_name(3, 100, j);
    g_assert_cmpstr(name, ==, names[j]);
    g_assert_cmpint((int)demur_confidence_column_group(3, 100, j), ==, (int)groups[j]);
  }
}

static void
many_classes_keep_two_columns(void) {
  const double p[3] = {0.2, 0.7, 0.1};
  double out[2];
  g_assert_cmpuint(demur_confidence_width(3, 2), ==, 2);
  demur_confidence_features(p, 1, 3, 2, out, 2);
  demur_assert_close(out[0], 0.7, 1e-15, 0);
  demur_assert_close(out[1], -0.2 * log(0.2) - 0.7 * log(0.7) - 0.1 * log(0.1), 1e-15, 0);
  g_autofree char *name = demur_confidence_column_name(3, 2, 1);
  g_assert_cmpstr(name, ==, "entropy");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/features/scaler/by-hand", scaler_is_worked_by_hand);
  g_test_add_func("/features/scaler/large-mean", large_mean_costs_no_digits);
  g_test_add_func("/features/scaler/unsound", unsound_scalers_are_refused);
  g_test_add_func("/features/confidence/three-classes", three_classes_are_worked_by_hand);
  g_test_add_func("/features/confidence/many-classes", many_classes_keep_two_columns);
  return g_test_run();
}
