#include "metrics/measures.h"

#define BOTH(text) text, text

static const DemurMeasureRow rows[DEMUR_N_MEASURES] = {
    [DEMUR_MEASURE_SBCE2] = {"sbce2", "stce2", "S-BCE₂", "S-TCE₂", "Calibration error",
                             DEMUR_BETTER_LOW, .binned = TRUE, .has_auc = TRUE},
    [DEMUR_MEASURE_SBCEINF] = {"sbceinf", "stceinf", "S-BCE∞", "S-TCE∞", "Largest bin error",
                               DEMUR_BETTER_LOW, .binned = TRUE, .has_auc = TRUE},
    [DEMUR_MEASURE_BRIER] = {BOTH("brier"), BOTH("Brier"), "Brier score", DEMUR_BETTER_LOW,
                             .has_auc = TRUE, .tells = DEMUR_TELLS_COUNT},
    [DEMUR_MEASURE_ACCURACY] = {BOTH("accuracy"), BOTH("Accuracy"), "Accuracy", DEMUR_BETTER_HIGH,
                                .has_auc = TRUE, .tells = DEMUR_TELLS_COUNT},
    [DEMUR_MEASURE_SITE_ERROR] = {BOTH("site_error"), BOTH("Site error"), "Site error",
                                  DEMUR_BETTER_LOW, .square = TRUE, .has_auc = TRUE,
                                  .has_interval = TRUE},
    [DEMUR_MEASURE_SMMCE] = {BOTH("smmce"), BOTH("S-MMCE"), "Kernel calibration error",
                             DEMUR_BETTER_LOW, .has_auc = TRUE},
    [DEMUR_MEASURE_INTERCEPT] = {BOTH("calibration_in_the_large"), BOTH("In the large"),
                                 "Calibration in the large", DEMUR_BETTER_ZERO,
                                 .has_interval = TRUE, .tells = DEMUR_TELLS_COUNT},
    [DEMUR_MEASURE_SLOPE_INTERCEPT] = {BOTH("calibration_intercept"), BOTH("Intercept"),
                                       "Calibration intercept (beside the slope)",
                                       DEMUR_BETTER_ZERO, .tells = DEMUR_TELLS_COUNT},
    [DEMUR_MEASURE_SLOPE] = {BOTH("calibration_slope"), BOTH("Slope"), "Calibration slope",
                             DEMUR_BETTER_ONE, .has_interval = TRUE},
    [DEMUR_MEASURE_OE_RATIO] = {BOTH("oe_ratio"), BOTH("O:E"), "Observed to expected",
                                DEMUR_BETTER_ONE, .has_interval = TRUE, .tells = DEMUR_TELLS_COUNT},
    [DEMUR_MEASURE_ICI] = {BOTH("ici"), BOTH("ICI"), "Integrated calibration index",
                           DEMUR_BETTER_LOW, .has_auc = TRUE},
    [DEMUR_MEASURE_E50] = {BOTH("e50"), BOTH("E50"), "Median gap to the smooth calibration curve",
                           DEMUR_BETTER_LOW, .has_auc = TRUE},
    [DEMUR_MEASURE_E90] = {BOTH("e90"), BOTH("E90"),
                           "90 % quantile of the gap to the smooth calibration curve",
                           DEMUR_BETTER_LOW, .has_auc = TRUE},
    [DEMUR_MEASURE_SBCE1] = {"sbce1", "stce1", "S-BCE₁", "S-TCE₁", "Mean bin error",
                             DEMUR_BETTER_LOW, .binned = TRUE, .has_auc = TRUE},
    [DEMUR_MEASURE_SPIEGELHALTER] = {BOTH("spiegelhalter_z"), BOTH("Spiegelhalter z"),
                                     "Spiegelhalter's z", DEMUR_BETTER_ZERO,
                                     .tells = DEMUR_TELLS_COUNT},
    [DEMUR_MEASURE_HOSMER_LEMESHOW] = {BOTH("hosmer_lemeshow"), BOTH("Hosmer-Lemeshow"),
                                       "Hosmer-Lemeshow statistic, 10 groups", DEMUR_BETTER_LOW},
    [DEMUR_MEASURE_RELIABILITY] = {BOTH("brier_reliability"), BOTH("Reliability"),
                                   "Reliability of the Brier score", DEMUR_BETTER_LOW,
                                   .binned = TRUE, .has_auc = TRUE},
    [DEMUR_MEASURE_RESOLUTION] = {BOTH("brier_resolution"), BOTH("Resolution"),
                                  "Resolution of the Brier score", DEMUR_BETTER_HIGH,
                                  .binned = TRUE, .has_auc = TRUE, .tells = DEMUR_TELLS_COUNT},
    [DEMUR_MEASURE_UNCERTAINTY] = {BOTH("brier_uncertainty"), BOTH("Uncertainty"),
                                   "Uncertainty of the outcome", DEMUR_BETTER_NEITHER,
                                   .has_auc = TRUE, .tells = DEMUR_TELLS_COUNT},
    [DEMUR_MEASURE_WITHIN] = {BOTH("brier_within"), BOTH("Within bins"),
                              "Brier score within the bins", DEMUR_BETTER_LOW, .binned = TRUE,
                              .has_auc = TRUE},
    [DEMUR_MEASURE_AUROC] = {BOTH("auroc"), BOTH("AUROC"), "Area under the ROC curve",
                             DEMUR_BETTER_HIGH, .has_auc = TRUE, .has_interval = TRUE,
                             .tells = DEMUR_TELLS_PAIRS},
    [DEMUR_MEASURE_NET_BENEFIT] = {BOTH("net_benefit"), BOTH("Net benefit"), "Net benefit",
                                   DEMUR_BETTER_HIGH, .has_auc = TRUE, .tells = DEMUR_TELLS_COUNT},
    [DEMUR_MEASURE_TREAT_ALL] = {BOTH("net_benefit_treat_all"), BOTH("Treat all"),
                                 "Net benefit of treating everyone", DEMUR_BETTER_NEITHER,
                                 .has_auc = TRUE, .tells = DEMUR_TELLS_COUNT},
};

const DemurMeasureRow *
demur_measure_row(DemurMeasure measure) {
  g_return_val_if_fail((guint)measure < DEMUR_N_MEASURES, &rows[0]);
  return &rows[measure];
}

const char *
demur_measure_name(DemurMeasure measure, size_t n_classes) {
  const DemurMeasureRow *row = demur_measure_row(measure);
  return n_classes > 2 ? row->multi_name : row->name;
}

const char *
demur_measure_symbol(DemurMeasure measure, size_t n_classes) {
  const DemurMeasureRow *row = demur_measure_row(measure);
  return n_classes > 2 ? row->multi_symbol : row->symbol;
}

const char *
demur_compared_name(DemurCompared compared, size_t n_classes) {
  static const char *const names[DEMUR_N_COMPARED][2] = {
      {"sbce2_auc", "stce2_auc"},
      {"sbce2_debiased_auc", "stce2_debiased_auc"},
      {BOTH("site_error_auc")}};
  return names[compared][n_classes > 2];
}
