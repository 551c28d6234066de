/* What is said of a selector that studies of several sites moved. Right value: written here by hand. */
#include <string.h>

#include "base/error.h"
#include "selector-fixture.h"
#include "words/federated-words.h"

static const char *const sites[] = {"east", "west", NULL};

static DemurSelector *
taken(const DemurSelector *s, DemurFederatedPart part, char letter, guint64 n_scans) {
  g_autofree char *result = g_strnfill(64, letter);
  const DemurFederatedOrigin origin = {part, result, demur_selector_digest(s), sites, n_scans};
  const DemurFederatedNumbers numbers = {
      .kind = DEMUR_RECALIBRATION_PLATT, .slope = 0.75, .intercept = 0.375};
  g_autoptr(GError) error = NULL;
  DemurSelector *next = demur_selector_federate(s, &origin, &numbers, &error);
  g_assert_no_error(error);
  return next;
}

/* Another language: every text between stars. */
static const char *
starred(const char *text) {
  g_autofree char *between = g_strdup_printf("*%s*", text);
  return g_intern_string(between);
}

static void
each_study_is_told_by_what_is_left_of_it(void) {
  g_autoptr(DemurCohort) cohort = fixture_cohort(0);
  g_autoptr(DemurTrainSettings) settings = fixture_settings(1, 20, 100, 1);
  settings->recalibrate = DEMUR_RECALIBRATION_NONE;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSelector) none =
      demur_selector_train(cohort, settings, 5, NULL, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_null(demur_words_federated(none, NULL));
  g_autoptr(DemurSelector) first = taken(none, DEMUR_FEDERATED_INTERCEPT, 'a', 100);
  g_autoptr(DemurSelector) second = taken(first, DEMUR_FEDERATED_RECALIBRATION, 'b', 200);
  g_autoptr(DemurSelector) third = taken(second, DEMUR_FEDERATED_INTERCEPT, 'c', 300);
  g_autofree char *one = demur_words_federated(first, NULL),
                  *three = demur_words_federated(third, NULL),
                  *other = demur_words_federated(third, starred);
  g_assert_cmpstr(one, ==,
                  "Its risks come from sums of several sites: intercept of 100 scans of east, west "
                  "(result aaaaaaaaaaaa).");
  g_assert_cmpstr(
      three, ==,
      "Its risks come from sums of several sites: recalibration of 200 scans of east, "
      "west (result bbbbbbbbbbbb); then intercept of 300 scans of east, west (result "
      "cccccccccccc). Of several sites' sums, but not in use: intercept of 100 scans of "
      "east, west (result aaaaaaaaaaaa).");
  g_assert_cmpstr(
      other, ==,
      "*Its risks come from sums of several sites: **recalibration of 200 scans of east, "
      "west (result bbbbbbbbbbbb)**; then **intercept of 300 scans of east, west (result "
      "cccccccccccc)*. *Of several sites' sums, but not in use: **intercept of 100 scans "
      "of east, west (result aaaaaaaaaaaa)*.");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/words/federated/left", each_study_is_told_by_what_is_left_of_it);
  return g_test_run();
}
