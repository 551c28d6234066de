/* What the Cohort page writes to files. Right values: by hand, on scans whose scores order them and of
 * which every tenth has the outcome. */
#include "ui/counting-charts.h"

#include "base/error.h"
#include "metrics/coverage.h"

static const char *const labels[DEMUR_OPERATING_MAX_LABELS] = {"well", "ill"};

/* n scans in descending score; told: of the selector's sets. */
static DemurCoverageStudy *
study_new(size_t n, const DemurToldCoverages *told) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  for (size_t i = 0; i < n; i++) {
    g_autofree char *id = g_strdup_printf("s%05zu", i);
    const double risk = 0.1 + 0.0001 * (double)(i * 7919 % n);
    demur_cohort_builder_add(builder, id, id, "site", "test", i % 10 == 0 ? 1 : 0, &risk, NULL,
                             NULL);
  }
  g_autoptr(GError) error = NULL;
  DemurCoverageStudy *study = demur_coverage_study_new();
  study->view = demur_cohort_builder_finish(builder, "c", "m", "by hand", "2026-01-01T00:00:00Z",
                                            TRUE, &error);
  g_assert_no_error(error);
  size_t n_rows;
  g_autofree guint32 *rows = demur_cohort_rows(study->view, "test", &n_rows, &error);
  study->sample = demur_sample_new(study->view, rows, n_rows, "test", &error);
  g_assert_no_error(error);
  study->evaluation = g_new0(DemurEvaluation, 1);
  study->evaluation->min_bin_size = 25;
  study->evaluation->histogram_width = 0.05;
  study->scores = g_new(double, n);
  for (size_t i = 0; i < n; i++) /* the scan's number is that of its row */
    study->scores[i] = -(double)study->sample->rows[i];
  study->ranks = g_new(guint32, n);
  study->n_ranks = demur_coverage_ranks(study->scores, n, study->ranks);
  study->confidence_ranks = g_memdup2(study->ranks, n * sizeof(guint32));
  study->n_confidence_ranks = study->n_ranks;
  study->told = *told;
  return study;
}

static void
study_free(DemurCoverageStudy *study) {
  g_free(study->evaluation);
  demur_coverage_study_unref(study);
}

/* 4,000 scans: at 89 and 90 % the screen tells 440 and 400 refused, 44 and 40 of them ill; files of both
 * are the same, to the last number. */
static void
test_files_are_of_the_nearest_set(void) {
  const DemurToldCoverages told = {2, {0.9, 0.7}};
  DemurCoverageStudy *study = study_new(4000, &told);
  static const struct {
    double coverage, written;
    size_t n_shown, n_written; /* ill scans that are refused */
  } rows[] = {{0.9, 0.9, 40, 40},    {0.89, 0.9, 44, 40}, {0.86, 0.9, 56, 40},  {0.94, 0.9, 24, 40},
              {0.72, 0.7, 112, 120}, {1.0, 1.0, 0, 0},    {0.65, 0.7, 140, 120}};
  DemurOperatingScratch *scratch = demur_operating_scratch_new(study);
  double oe_ratio[2] = {0};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autoptr(GError) error = NULL;
    DemurShownPoint shown;
    demur_operating_compute(study, rows[r].coverage, scratch, &shown);
    g_assert_cmpuint(shown.rejected[1].n_rejected, ==, rows[r].n_shown);
    g_autoptr(DemurWrittenCharts) written =
        demur_written_charts_new(study, rows[r].coverage, labels, &error);
    g_assert_no_error(error);
    g_assert_cmpfloat(written->coverage, ==, rows[r].written);
    const DemurRejectionChart *rejection = &written->charts.rejection;
    g_assert_cmpuint(rejection->n_labels, ==, 2);
    g_assert_cmpuint(rejection->series[0].rejections[1].n_rejected, ==, rows[r].n_written);
    const DemurReliability *reliability = &written->charts.reliability;
    size_t n = 0;
    for (size_t b = 0; b < reliability->n_bins; b++)
      n += reliability->bins[b].n;
    g_assert_cmpuint(n, ==, 4000 - 10 * rows[r].n_written);
    g_assert_nonnull(reliability->corner);
    if (r < 2)
      oe_ratio[r] = written->charts.calibration.oe_ratio;
  }
  g_assert_cmpfloat(oe_ratio[0], ==, oe_ratio[1]);
  demur_operating_scratch_free(scratch);
  study_free(study);
}

/* Confidence beside it only where its set at that coverage is told too. */
static void
test_confidence_has_sets_of_its_own(void) {
  const DemurToldCoverages told = {2, {0.9, 0.7}};
  DemurCoverageStudy *study = study_new(400, &told);
  study->confidence_told = (DemurToldCoverages){1, {0.7}};
  static const double coverages[] = {0.9, 0.7};
  for (size_t r = 0; r < G_N_ELEMENTS(coverages); r++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurWrittenCharts) written =
        demur_written_charts_new(study, coverages[r], labels, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(written->charts.rejection.n_series, ==, r + 1);
  }
  study_free(study);
}

/* Where no set is near, nothing is written, and the nearest is named. */
static void
test_nothing_is_written_far_from_a_set(void) {
  const DemurToldCoverages one = {1, {0.7}}, none = {0, {0}};
  static const char *const nearest[] = {"70", "100"};
  for (size_t r = 0; r < 2; r++) {
    DemurCoverageStudy *study = study_new(400, r == 0 ? &one : &none);
    g_autoptr(GError) error = NULL;
    g_assert_null(demur_written_charts_new(study, 0.8, labels, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
    g_assert_nonnull(strstr(error->message, nearest[r]));
    study_free(study);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/counting-charts/nearest-set", test_files_are_of_the_nearest_set);
  g_test_add_func("/ui/counting-charts/confidence", test_confidence_has_sets_of_its_own);
  g_test_add_func("/ui/counting-charts/none-is-near", test_nothing_is_written_far_from_a_set);
  return g_test_run();
}
