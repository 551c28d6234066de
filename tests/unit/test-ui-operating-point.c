/* The slider's numbers. Right values: worked by hand on six scans. */
#include "ui/operating-point.h"

#include <math.h>

#include "metrics/coverage.h"

#define N_MANY 45

/* 45 scans in groups of 6, 14 and 25. */
static DemurCoverageStudy *
study_of_groups(void) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  for (int i = 0; i < N_MANY; i++) {
    g_autofree char *id = g_strdup_printf("s%02d", i);
    const double risk = (i + 0.5) / N_MANY;
    demur_cohort_builder_add(builder, id, id, "site", "test", i % 2, &risk, NULL, NULL);
  }
  DemurCoverageStudy *study = demur_coverage_study_new();
  study->view =
      demur_cohort_builder_finish(builder, "c", "m", "made", "2026-01-01T00:00:00Z", TRUE, NULL);
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(study->view, "test", &n, NULL);
  study->sample = demur_sample_new(study->view, rows, n, "test", NULL);
  study->evaluation = g_new0(DemurEvaluation, 1);
  study->evaluation->min_bin_size = 25;
  study->evaluation->histogram_low = 0.5;
  study->evaluation->histogram_width = 0.025;
  study->scores = g_memdup2(study->sample->confidences, n * sizeof(double));
  study->ranks = g_new(guint32, n);
  study->n_ranks = demur_coverage_ranks(study->scores, n, study->ranks);
  study->confidence_ranks = g_memdup2(study->ranks, n * sizeof(guint32));
  study->n_confidence_ranks = study->n_ranks;
  study->n_groups = 1;
  study->groups = g_new0(DemurCoverageGroup, 1);
  study->groups[0].kind = DEMUR_COVERAGE_GROUP_KERNEL;
  study->groups[0].n_values = 3;
  study->groups[0].values = g_strdupv((char **)(const char *[]){"few", "more", "most", NULL});
  study->groups[0].codes = g_new(guint32, n);
  for (size_t i = 0; i < n; i++)
    study->groups[0].codes[i] = i < 6 ? 0 : i < 20 ? 1 : 2;
  return study;
}

/* 6 are few; with 25 and all 45 told, 14 would tell of them. */
static void
small_groups_can_not_be_had_by_subtraction(void) {
  DemurCoverageStudy *study = study_of_groups();
  DemurOperatingScratch *scratch = demur_operating_scratch_new(study);
  DemurShownPoint now;
  demur_operating_compute(study, 0.8, scratch, &now);
  g_assert_cmpuint(now.n_groups, ==, 3);
  g_assert_true(now.groups[0].withheld);
  g_assert_true(now.groups[1].withheld);
  g_assert_false(now.groups[2].withheld);
  demur_operating_scratch_free(scratch);
  g_free(study->evaluation);
  demur_coverage_study_unref(study);
}

/* Risks ascending .1 .2 .3 .4 .6 .9; scores keep the 1st, 4th and 6th at coverage 0.5; labels of
 * these three are 0, 1, 1. Confidence keeps .1, .9 and .2. */
static DemurCoverageStudy *
study_new(void) {
  static const double risks[] = {0.1, 0.2, 0.3, 0.4, 0.6, 0.9};
  static const int labels[] = {0, 0, 1, 1, 0, 1};
  static const double scores[] = {0.9, 0.1, 0.2, 0.8, 0.3, 0.7};
  static const guint32 groups[] = {0, 0, 1, 1, 1, 1};
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  for (int i = 0; i < 6; i++) {
    g_autofree char *id = g_strdup_printf("s%d", i);
    demur_cohort_builder_add(builder, id, id, "site", "test", labels[i], &risks[i], NULL, NULL);
  }
  DemurCoverageStudy *study = demur_coverage_study_new();
  study->view = demur_cohort_builder_finish(builder, "c", "m", "by hand", "2026-01-01T00:00:00Z",
                                            TRUE, &error);
  g_assert_no_error(error);
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(study->view, "test", &n, &error);
  study->sample = demur_sample_new(study->view, rows, n, "test", &error);
  g_assert_no_error(error);
  study->evaluation = g_new0(DemurEvaluation, 1);
  study->evaluation->min_bin_size = 25;
  study->evaluation->histogram_low = 0.5;
  study->evaluation->histogram_width = 0.025;
  study->scores = g_memdup2(scores, sizeof scores);
  study->ranks = g_new(guint32, n);
  study->n_ranks = demur_coverage_ranks(study->scores, n, study->ranks);
  study->confidence_ranks = g_new(guint32, n);
  study->n_confidence_ranks =
      demur_coverage_ranks(study->sample->confidences, n, study->confidence_ranks);
  study->groups = g_new0(DemurCoverageGroup, 1);
  study->n_groups = 1;
  study->groups[0].kind = DEMUR_COVERAGE_GROUP_SEX;
  study->groups[0].n_values = 3;
  study->groups[0].values = g_strdupv((char **)(const char *[]){"a", "b", "nobody", NULL});
  study->groups[0].codes = g_memdup2(groups, sizeof groups);
  return study;
}

/* Of risks .1 .4 .9 with outcomes 0 1 1: O:E 2 / 1.4; the intercept makes the risks sum up to 2; a 0 below
 * both 1s leaves the slope without an answer. Of all six there is a curve, on which shares are shares. */
static void
calibration_is_of_the_accepted(void) {
  DemurCoverageStudy *study = study_new();
  DemurOperatingScratch *scratch = demur_operating_scratch_new(study);
  DemurShownPoint now;
  DemurShownCalibration c;
  demur_operating_compute(study, 0.5, scratch, &now);
  demur_operating_calibration(study, &now, &c);
  g_assert_cmpfloat_with_epsilon(c.oe_ratio, 2 / 1.4, 1e-12);
  g_assert_true(isnan(c.slope));
  static const double odds[] = {0.1 / 0.9, 0.4 / 0.6, 0.9 / 0.1};
  double sum = 0;
  for (int i = 0; i < 3; i++)
    sum += 1 / (1 + exp(-c.intercept) / odds[i]);
  g_assert_cmpfloat_with_epsilon(sum, 2, 1e-6);
  demur_operating_compute(study, 1, scratch, &now);
  demur_operating_calibration(study, &now, &c);
  g_assert_cmpfloat_with_epsilon(c.oe_ratio, 3 / 2.5, 1e-12);
  g_assert_true(isfinite(c.slope));
  g_assert_cmpuint(c.n_smooth, >, 1);
  for (size_t i = 0; i < c.n_smooth; i++) {
    g_assert_true(c.smooth[i].low <= c.smooth[i].value && c.smooth[i].value <= c.smooth[i].high);
    g_assert_true(i == 0 || c.smooth[i - 1].risk <= c.smooth[i].risk);
  }
  demur_operating_scratch_free(scratch);
  g_free(study->evaluation);
  demur_coverage_study_unref(study);
}

static void
half_of_six_scans(void) {
  DemurCoverageStudy *study = study_new();
  DemurOperatingScratch *scratch = demur_operating_scratch_new(study);
  DemurShownPoint now;
  demur_operating_compute(study, 0.5, scratch, &now);
  g_assert_cmpuint(now.n_accepted, ==, 3);
  g_assert_cmpfloat(now.realised, ==, 0.5);
  g_assert_cmpfloat(now.threshold, ==, 0.7);
  /* Label 0: scans 1, 2, 5, of which 2 and 5 are out; label 1: scans 3, 4, 6, of which 3 is. */
  g_assert_cmpuint(now.n_labels, ==, 2);
  g_assert_cmpuint(now.rejected[0].n_rejected, ==, 2);
  g_assert_cmpuint(now.rejected[1].n_rejected, ==, 1);
  g_assert_true(now.rejected[0].withheld && isnan(now.rejected[0].share_of_rejected)); /* few */
  /* Confidences .9 .8 .7 .6 .6 .9: the 3rd largest is .8. Out: labels 1, 1, 0. */
  g_assert_cmpuint(now.n_confidence_accepted, ==, 3);
  g_assert_cmpuint(now.rejected_by_confidence[0].n_rejected, ==, 1);
  g_assert_cmpuint(now.rejected_by_confidence[1].n_rejected, ==, 2);
  /* One bin: risks .1, .4, .9, labels 0, 1, 1. */
  g_assert_cmpuint(now.n_reliability, ==, 1);
  g_assert_cmpfloat_with_epsilon(now.reliability[0].mean_risk, 1.4 / 3, 1e-12);
  g_assert_cmpfloat_with_epsilon(now.reliability[0].observed, 2.0 / 3, 1e-12);
  g_assert_cmpfloat_with_epsilon(now.selector.error2, 0.6 / 3, 1e-12);
  /* Groups that don't occur are left out: a keeps 1 of 2, b 2 of 4. */
  g_assert_cmpuint(now.n_groups, ==, 2);
  g_assert_cmpuint(now.groups[0].n_rejected, ==, 1);
  g_assert_cmpuint(now.groups[1].n, ==, 4);
  g_assert_cmpuint(now.groups[1].n_rejected, ==, 2);
  demur_operating_scratch_free(scratch);
  g_free(study->evaluation);
  demur_coverage_study_unref(study);
}

static void
everything_is_kept_at_full_coverage_and_more_coverage_never_rejects_more(void) {
  DemurCoverageStudy *study = study_new();
  DemurOperatingScratch *scratch = demur_operating_scratch_new(study);
  size_t last = 0;
  for (int percent = 5; percent <= 100; percent++) {
    DemurShownPoint now;
    demur_operating_compute(study, percent / 100.0, scratch, &now);
    g_assert_cmpuint(now.n_accepted, >=, last);
    size_t in_histogram = 0, in_bins = 0;
    for (size_t b = 0; b < DEMUR_N_HISTOGRAM_BINS; b++)
      in_histogram += now.histogram[b];
    for (size_t b = 0; b < now.n_reliability; b++)
      in_bins += now.reliability[b].n;
    g_assert_cmpuint(in_histogram, ==, now.n_accepted);
    g_assert_cmpuint(in_bins, ==, now.n_accepted);
    last = now.n_accepted;
  }
  g_assert_cmpuint(last, ==, 6);
  demur_operating_scratch_free(scratch);
  g_free(study->evaluation);
  demur_coverage_study_unref(study);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/operating-point/half-of-six-scans", half_of_six_scans);
  g_test_add_func("/ui/operating-point/calibration-is-of-the-accepted",
                  calibration_is_of_the_accepted);
  g_test_add_func("/ui/operating-point/more-coverage-never-rejects-more",
                  everything_is_kept_at_full_coverage_and_more_coverage_never_rejects_more);
  g_test_add_func("/ui/operating-point/small-groups", small_groups_can_not_be_had_by_subtraction);
  return g_test_run();
}
