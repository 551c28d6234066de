/* Times of the outcome: built, kept in the workspace, part of the digest; half an outcome refused.
 */
#include "base/error.h"
#include "store/cohorts.h"
#include "support/store.h"

#include <glib/gstdio.h>
#include <math.h>

static const struct {
  const char *scan;
  double time;
  DemurStatus status;
  int label; /* at a horizon of six years */
} scans[] = {{"a", 0.5, DEMUR_STATUS_EVENT, 1},
             {"b", 7.0, DEMUR_STATUS_CENSORED, 0},
             {"c", 2.0, DEMUR_STATUS_CENSORED, DEMUR_NO_LABEL},
             {"d", 3.0, DEMUR_STATUS_COMPETING, 0},
             {"e", 6.5, DEMUR_STATUS_EVENT, 0}};

static DemurCohort *
build(gboolean with_times, double last_horizon, double last_time, GError **error) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  for (size_t i = 0; i < G_N_ELEMENTS(scans); i++) {
    const gboolean last = i + 1 == G_N_ELEMENTS(scans);
    const double risk = 0.1;
    demur_cohort_builder_add(builder, scans[i].scan, scans[i].scan, "site", "test", scans[i].label,
                             &risk, NULL, NULL);
    if (with_times)
      demur_cohort_builder_outcome(builder, last ? last_time : scans[i].time, scans[i].status,
                                   last ? last_horizon : 6.0);
  }
  return demur_cohort_builder_finish(builder, "c", "m", "s", "", FALSE, error);
}

static void
outcomes_come_back(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) cohort = build(TRUE, 6.0, 6.5, &error);
  g_assert_no_error(error);
  g_assert_cmpfloat(demur_cohort_horizon(cohort), ==, 6.0);
  g_autofree char *folder = g_dir_make_tmp("demur-outcomes-XXXXXX", &error);
  g_autofree char *path = demur_test_store_path(folder, "w.demur");
  DemurWorkspace *workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_true(demur_cohorts_save(workspace, cohort, NULL, &error));
  g_assert_no_error(error);
  g_autoptr(DemurCohort) loaded = demur_cohorts_load(workspace, "c", NULL, &error);
  g_assert_no_error(error);
  for (size_t i = 0; i < G_N_ELEMENTS(scans); i++) {
    g_assert_cmpfloat(loaded->times[i], ==, scans[i].time);
    g_assert_cmpint(loaded->statuses[i], ==, (int)scans[i].status);
    g_assert_cmpint(loaded->labels[i], ==, scans[i].label);
  }
  g_autofree char *before = demur_cohort_digest(cohort, NULL, 0),
                  *after = demur_cohort_digest(loaded, NULL, 0);
  g_assert_cmpstr(before, ==, after);
  g_autoptr(DemurCohort) without = build(FALSE, 6.0, 6.5, &error);
  g_autofree char *other = demur_cohort_digest(without, NULL, 0);
  g_assert_cmpstr(before, !=, other);
  g_assert_true(isnan(demur_cohort_horizon(without)));
  demur_workspace_close(workspace);
  static const char *const names[] = {"w.demur", "w.demur-wal", "w.demur-shm"};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *file = g_build_filename(folder, names[i], NULL);
    g_unlink(file);
  }
  g_rmdir(folder);
}

static void
half_outcomes_are_refused(void) {
  static const struct {
    double horizon, time;
  } wrong[] = {{5.0, 6.5}, {6.0, NAN}, {6.0, -1.0}, {0.0, 6.5}};
  for (size_t w = 0; w < G_N_ELEMENTS(wrong); w++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(build(TRUE, wrong[w].horizon, wrong[w].time, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_assert_nonnull(strstr(error->message, "row 5"));
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/outcomes/come-back", outcomes_come_back);
  g_test_add_func("/store/outcomes/half-are-refused", half_outcomes_are_refused);
  return g_test_run();
}
