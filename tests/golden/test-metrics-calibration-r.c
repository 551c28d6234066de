/* Calibration measures against R: rms::val.prob, Hmisc::somers2, pROC::auc, glm and Hosmer and
 * Lemeshow's statistic as written out in calibration-r.R, which made calibration-r.json.
 *
 * To 1e-8 but for two: val.prob's Eavg and E90 are of Cleveland's lowess with a span of 2/3 and
 * Hyndman's quantile of type 7, where ICI and E90 here smooth over 75 % (as Austin and Steyerberg
 * do) and count scans: near, not equal. */
#include <math.h>

#include "metrics/brier.h"
#include "metrics/calibration-fit.h"
#include "metrics/discrimination.h"
#include "metrics/goodness.h"
#include "support/support.h"

static double
value(JsonObject *c, const char *name) {
  return demur_test_number(json_object_get_member(c, name));
}

static void
measures_are_those_of_r(void) {
  g_autofree char *path =
      g_test_build_filename(G_TEST_DIST, "tests", "golden", "calibration-r.json", NULL);
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  g_autoptr(GError) error = NULL;
  json_parser_load_from_file(parser, path, &error);
  g_assert_no_error(error);
  JsonArray *cases = json_node_get_array(json_parser_get_root(parser));
  g_assert_cmpuint(json_array_get_length(cases), ==, 3);
  for (guint i = 0; i < json_array_get_length(cases); i++) {
    JsonObject *c = json_array_get_object_element(cases, i);
    size_t n, n_labels;
    g_autofree double *risks = demur_test_doubles(json_object_get_array_member(c, "risks"), &n),
                      *labels =
                          demur_test_doubles(json_object_get_array_member(c, "labels"), &n_labels);
    g_assert_cmpuint(n, ==, n_labels);
    const DemurOutcomes o = {n, risks, labels, NULL, NULL};
    const DemurCalibrationFit fit = demur_calibration_fit(&o, NULL);
    demur_assert_close(fit.slope_intercept, value(c, "calibration_intercept"), 1e-8, 1e-8);
    demur_assert_close(fit.slope, value(c, "calibration_slope"), 1e-8, 0.0);
    demur_assert_close(fit.intercept, value(c, "calibration_in_the_large"), 1e-8, 1e-8);
    demur_assert_close(fit.slope, value(c, "val_prob_slope"), 1e-8, 0.0);
    demur_assert_close(fit.slope_intercept, value(c, "val_prob_intercept"), 1e-8, 1e-8);
    demur_assert_close(demur_brier_parts(&o, 25).brier, value(c, "brier"), 1e-10, 0.0);
    demur_assert_close(demur_spiegelhalter_z(&o), value(c, "spiegelhalter_z"), 1e-8, 0.0);
    demur_assert_close(demur_hosmer_lemeshow(&o), value(c, "hosmer_lemeshow"), 1e-8, 0.0);
    demur_assert_close(demur_auroc(&o), value(c, "auroc"), 1e-10, 0.0);
    demur_assert_close(demur_auroc(&o), value(c, "somers_c"), 1e-10, 0.0);
    const DemurCalibrationGaps gaps = demur_calibration_gaps(&o);
    demur_assert_close(gaps.mean, value(c, "val_prob_eavg"), 0.0, 0.01);
    demur_assert_close(gaps.percent_90, value(c, "val_prob_e90"), 0.0, 0.02);
    g_assert_cmpfloat(gaps.median, <=, gaps.percent_90);
  }
}

/* By hand. Three risks .2, .5, .8 with labels 0, 1, 0: sum (y - r)(1 - 2r) = -.12 + 0 + .48 = .36,
 * variance .36 x .16 x 2 = .1152. A weight of 2 on all doubles the sum and quadruples the variance;
 * counts of 2 double both. */
static void
goodness_by_hand(void) {
  const double risks[] = {0.2, 0.5, 0.8}, labels[] = {0, 1, 0}, twos[] = {2, 2, 2};
  const guint32 counts[] = {2, 2, 2};
  const double z = 0.36 / sqrt(0.1152);
  demur_assert_close(demur_spiegelhalter_z(&(DemurOutcomes){3, risks, labels, NULL, NULL}), z,
                     1e-14, 0.0);
  demur_assert_close(demur_spiegelhalter_z(&(DemurOutcomes){3, risks, labels, NULL, twos}), z,
                     1e-14, 0.0);
  demur_assert_close(demur_spiegelhalter_z(&(DemurOutcomes){3, risks, labels, counts, NULL}),
                     z * sqrt(2.0), 1e-14, 0.0);
  /* One bin: |1/3 - 1/2|. */
  demur_assert_close(demur_binned_error1(&(DemurOutcomes){3, risks, labels, NULL, NULL}, 25),
                     1.0 / 6.0, 1e-14, 0.0);
  g_assert_true(isnan(demur_hosmer_lemeshow(&(DemurOutcomes){3, risks, labels, NULL, NULL})));
  /* Ten groups of two with risk .5 each and one label 1 in all but the first, which has two:
   * (2 - 1)^2 / (2 x .25) = 2. Any order of labels of equal risk is the same. */
  double halves[20], outcomes[20];
  for (size_t i = 0; i < 20; i++) {
    halves[i] = 0.3 + 0.02 * (double)(i / 2);
    outcomes[i] = i % 2 == 0 || i == 1;
  }
  double expected = 0.0;
  for (size_t g = 0; g < 10; g++) {
    const double p = halves[2 * g], gap = (g == 0 ? 2.0 : 1.0) - 2.0 * p;
    expected += gap * gap / (2.0 * p * (1.0 - p));
  }
  demur_assert_close(demur_hosmer_lemeshow(&(DemurOutcomes){20, halves, outcomes, NULL, NULL}),
                     expected, 1e-12, 0.0);
  g_assert_true(isnan(demur_spiegelhalter_z(&(DemurOutcomes){0, NULL, NULL, NULL, NULL})));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/calibration-r/measures-are-those-of-r", measures_are_those_of_r);
  g_test_add_func("/metrics/calibration-r/goodness-by-hand", goodness_by_hand);
  return g_test_run();
}
