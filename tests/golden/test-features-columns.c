/* Scaler and probability features against golden/scaler.json and golden/prob_features.json. */
#include <math.h>
#include <string.h>

#include "features/confidence.h"
#include "features/scaler.h"
#include "support/support.h"

static double *
matrix(JsonObject *object, const char *key, size_t *n, size_t *d) {
  JsonArray *rows = json_object_get_array_member(object, key);
  *n = json_array_get_length(rows);
  g_autofree double *first = demur_test_doubles(json_array_get_array_element(rows, 0), d);
  double *values = g_new(double, *n **d);
  for (guint i = 0; i < *n; i++) {
    g_autofree double *row = demur_test_doubles(json_array_get_array_element(rows, i), NULL);
    memcpy(values + i * *d, row, *d * sizeof(double));
  }
  return values;
}

static void
scaler_leaves_indicators_and_constants_alone(void) {
  g_autoptr(JsonParser) parser = demur_test_golden("golden/scaler.json");
  if (parser == NULL)
    return;
  JsonObject *golden = json_node_get_object(json_parser_get_root(parser));
  size_t n, d, n_scaled, d_scaled;
  g_autofree double *x = matrix(golden, "X", &n, &d);
  g_autofree double *scaled = matrix(golden, "scaled", &n_scaled, &d_scaled);
  g_autofree double *mu = demur_test_doubles(json_object_get_array_member(golden, "mu"), NULL);
  g_autofree double *std = demur_test_doubles(json_object_get_array_member(golden, "std"), NULL);
  g_assert_cmpuint(n_scaled * d_scaled, ==, n * d);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurScaler) scaler = demur_scaler_fit(x, n, d, &error);
  g_assert_no_error(error);
  for (size_t j = 0; j < d; j++) {
    demur_assert_close(demur_scaler_means(scaler)[j], mu[j], 1e-10, 0);
    demur_assert_close(demur_scaler_sds(scaler)[j], std[j], 1e-10, 0);
  }
  demur_scaler_apply(scaler, x, n, x);
  for (size_t i = 0; i < n * d; i++)
    demur_assert_close(x[i], scaled[i], 1e-10, 1e-13);
}

static void
probability_features_of_binary_risks(void) {
  g_autoptr(JsonParser) parser = demur_test_golden("golden/prob_features.json");
  if (parser == NULL)
    return;
  JsonObject *golden = json_node_get_object(json_parser_get_root(parser));
  size_t n, n_rows, d;
  g_autofree double *r = demur_test_doubles(json_object_get_array_member(golden, "r"), &n);
  g_autofree double *features = matrix(golden, "features", &n_rows, &d);
  g_assert_cmpuint(n_rows, ==, n);
  g_assert_cmpuint(d, ==, demur_confidence_width(2, DEMUR_CONFIDENCE_MAX_CLASSES));
  g_autofree double *binary = g_new(double, n *d);
  g_autofree double *general = g_new(double, n *d);
  g_autofree double *p = g_new(double, n * 2);
  for (size_t i = 0; i < n; i++) {
    p[2 * i] = 1.0 - r[i];
    p[2 * i + 1] = r[i];
  }
  demur_confidence_features_binary(r, n, binary, d);
  demur_confidence_features(p, n, 2, DEMUR_CONFIDENCE_MAX_CLASSES, general, d);
  for (size_t i = 0; i < n * d; i++) {
    demur_assert_close(binary[i], features[i], 1e-10, 1e-15);
    g_assert_cmpfloat(binary[i], ==, general[i]);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/features/scaler/golden", scaler_leaves_indicators_and_constants_alone);
  g_test_add_func("/features/confidence/golden", probability_features_of_binary_risks);
  return g_test_run();
}
