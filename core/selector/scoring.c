#include "selector/scoring.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "features/outlier.h"
#include "selector/settings.h"

/* The five outlier features have their names, titles and signs from features/outlier.h. */
static DemurScoringRow rows[DEMUR_N_SCORINGS] = {
    {"network", "selector", NULL, 1.0, 0, FALSE, FALSE, FALSE},
    {"confidence", "confidence", "max_p", 1.0, DEMUR_FEATURES_CONFIDENCE, FALSE, FALSE, TRUE},
    {"entropy", "entropy", "entropy", -1.0, DEMUR_FEATURES_CONFIDENCE, FALSE, FALSE, TRUE},
    [DEMUR_SCORING_MC] = {"mc", "expected miscalibration (mc)", "expected_miscalibration", -1.0,
                          DEMUR_FEATURES_CORRECTOR, FALSE, TRUE, FALSE},
};

const DemurScoringRow *
demur_scoring_row(DemurScoring scoring) {
  static gsize filled = 0;
  if (g_once_init_enter(&filled)) {
    for (int o = 0; o < DEMUR_N_OUTLIER; o++)
      rows[DEMUR_SCORING_KNN + o] = (DemurScoringRow){demur_outlier_columns[o].name,
                                                      demur_outlier_columns[o].title,
                                                      demur_outlier_columns[o].name,
                                                      (double)demur_outlier_columns[o].keep_sign,
                                                      DEMUR_FEATURES_OUTLIER,
                                                      TRUE,
                                                      FALSE,
                                                      FALSE};
    g_once_init_leave(&filled, 1);
  }
  return &rows[scoring];
}

gboolean
demur_scoring_from_name(const char *name, DemurScoring *scoring, GError **error) {
  g_autoptr(GString) list = g_string_new(NULL);
  for (int i = 0; i < DEMUR_N_SCORINGS; i++) {
    const DemurScoringRow *row = demur_scoring_row((DemurScoring)i);
    if (strcmp(name, row->name) == 0) {
      *scoring = (DemurScoring)i;
      return TRUE;
    }
    g_string_append_printf(list, "%s%s",
                           i == 0                      ? ""
                           : i + 1 == DEMUR_N_SCORINGS ? " and "
                                                       : ", ",
                           row->name);
  }
  demur_error_set(error, DEMUR_ERROR_USAGE, "no method is called '%s'; there are %s", name,
                  list->str);
  return FALSE;
}

double
demur_scoring_score(DemurScoring scoring, double value) {
  if (scoring == DEMUR_SCORING_CONFIDENCE)
    return value;
  const double x = demur_scoring_row(scoring)->keep_sign * value;
  return 0.5 + 0.5 * x / (1.0 + fabs(x));
}
