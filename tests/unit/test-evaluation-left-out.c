#include <string.h>

#include "evaluation/left-out.h"
#include "evaluation/validation.h"
#include "selector-fixture.h"

static DemurLeftOut *
begin(const DemurCohort *cohort, const DemurTrainSettings *settings) {
  g_autoptr(GError) error = NULL;
  DemurLeftOut *left_out = demur_left_out_new(cohort, settings, 1, 3, &error);
  g_assert_no_error(error);
  return left_out;
}

/* What one training says by another method than its networks is what a training for that method says:
 * the same bytes, or a default chosen by it would hang on how it was computed. */
static void
one_training_answers_for_another_method(void) {
  static const DemurScoring scorings[] = {DEMUR_SCORING_MC, DEMUR_SCORING_CONFIDENCE,
                                          DEMUR_SCORING_KNN};
  g_autoptr(DemurCohort) cohort = fixture_cohort(0);
  g_autoptr(DemurTrainSettings) settings = fixture_settings(1, 16, 64, 1);
  for (size_t k = 0; k < G_N_ELEMENTS(scorings); k++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurLeftOut) networks = begin(cohort, settings), beside = begin(cohort, settings),
                            own = begin(cohort, settings);
    gboolean ok = demur_left_out_fill_both(networks, beside, scorings[k], cohort, settings, NULL,
                                           NULL, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    g_autoptr(DemurTrainSettings) alone = demur_train_settings_copy(settings);
    alone->scoring = scorings[k];
    ok = demur_left_out_fill(own, cohort, alone, 0, own->n_folds, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    for (size_t f = 0; f < own->n_folds; f++)
      g_assert_true(beside->done[f]);
    g_assert_cmpint(memcmp(beside->scores, own->scores, own->n * sizeof(double)), ==, 0);
    g_assert_cmpint(memcmp(beside->risks, own->risks, own->n * sizeof(double)), ==, 0);
    g_assert_cmpint(memcmp(networks->scores, own->scores, own->n * sizeof(double)), !=, 0);
  }
}

/* Networks that stop by validation scans leave these out of the training, and a feature that was not
 * asked for is not theirs: a training for the method would be another one. */
static void
another_training_answers_for_nothing(void) {
  g_autoptr(DemurCohort) cohort = fixture_cohort(0);
  for (int k = 0; k < 2; k++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurTrainSettings) settings = fixture_settings(1, 16, 64, 1);
    if (k == 0)
      settings->stopping = DEMUR_STOPPING_WORST_CASE;
    else
      settings->features = DEMUR_FEATURES_CONFIDENCE;
    settings->features_explicit = TRUE;
    g_autoptr(DemurLeftOut) networks = begin(cohort, settings), beside = begin(cohort, settings);
    const gboolean ok = demur_left_out_fill_both(networks, beside, DEMUR_SCORING_MC, cohort,
                                                 settings, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    for (size_t f = 0; f < networks->n_folds; f++) {
      g_assert_true(networks->done[f]);
      g_assert_false(beside->done[f]);
    }
  }
}

/* A selector that scores by confidence is no better or worse than confidence, at whatever sites. */
static void
confidence_is_not_compared_with_itself(void) {
  g_autoptr(DemurCohort) cohort = fixture_cohort(0);
  g_autoptr(DemurTrainSettings) settings = fixture_settings(1, 16, 64, 1);
  g_autoptr(GError) error = NULL;
  settings->scoring = DEMUR_SCORING_CONFIDENCE;
  g_autoptr(DemurValidation) validation =
      demur_validate(cohort, settings, 1, 3, FALSE, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpint(validation->verdict, ==, DEMUR_VERDICT_NO_DIFFERENCE_SHOWN);
  for (size_t m = 0; m < G_N_ELEMENTS(validation->measures); m++) {
    const DemurValidationMeasure *measure = &validation->measures[m];
    g_assert_cmpfloat(measure->difference, ==, 0.0);
    g_assert_cmpfloat(measure->selector, ==, measure->confidence);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/evaluation/left-out/another-method", one_training_answers_for_another_method);
  g_test_add_func("/evaluation/left-out/another-training", another_training_answers_for_nothing);
  g_test_add_func("/evaluation/left-out/confidence", confidence_is_not_compared_with_itself);
  return g_test_run();
}
