/* Reviews and decisions: right values are what was saved (round trip) and the schema's own rules.
 */
#include "base/error.h"
#include "store/reviews.h"
#include "support/store.h"

#include <glib/gstdio.h>

static DemurWorkspace *
open_new(char **folder) {
  g_autoptr(GError) error = NULL;
  *folder = g_dir_make_tmp("demur-reviews-XXXXXX", &error);
  g_assert_no_error(error);
  g_autofree char *path = demur_test_store_path(*folder, "w.demur");
  DemurWorkspace *workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  return workspace;
}

static void
remove_folder(char *folder) {
  static const char *const names[] = {"w.demur", "w.demur-wal", "w.demur-shm"};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *path = g_build_filename(folder, names[i], NULL);
    g_unlink(path);
  }
  g_rmdir(folder);
  g_free(folder);
}

static void
every_opinion_is_kept_newest_first(void) {
  char *folder;
  DemurWorkspace *workspace = open_new(&folder);
  g_autoptr(GError) error = NULL;
  DemurReviewRecord first = {.scan_id = (char *)"1.2",
                             .kind = DEMUR_REVIEW_REVEAL,
                             .revealed = TRUE,
                             .shown = (char *)"{}",
                             .user = (char *)"reader",
                             .created = (char *)"2026-01-01T00:00:00Z"};
  DemurReviewRecord second = first;
  second.kind = DEMUR_REVIEW_DISAGREE;
  second.comment = (char *)"calcified";
  second.cohort = NULL;
  DemurReviewRecord other = first;
  other.cohort = (char *)"ist"; /* the same scan_id, in a cohort: another scan */
  g_assert_true(demur_reviews_save(workspace, &first, &error));
  g_assert_true(demur_reviews_save(workspace, &second, &error));
  g_assert_true(demur_reviews_save(workspace, &other, &error));
  g_assert_no_error(error);
  g_assert_cmpint(second.id, >, first.id);

  g_autoptr(GPtrArray) of_scan = demur_reviews_of_scan(workspace, NULL, "1.2", &error);
  g_assert_no_error(error);
  g_assert_cmpuint(of_scan->len, ==, 2);
  const DemurReviewRecord *newest = of_scan->pdata[0];
  g_assert_cmpint(newest->kind, ==, DEMUR_REVIEW_DISAGREE);
  g_assert_cmpstr(newest->comment, ==, "calcified");
  g_assert_true(newest->revealed);
  g_assert_cmpint(newest->verdict_id, ==, 0);
  g_assert_cmpstr(newest->user, ==, "reader");
  g_autoptr(GPtrArray) all = demur_reviews_list(workspace, &error);
  g_assert_cmpuint(all->len, ==, 3);
  g_assert_cmpstr(((DemurReviewRecord *)all->pdata[0])->cohort, ==, "ist");
  demur_workspace_close(workspace);
  remove_folder(folder);
}

static void
a_review_without_user_or_words_is_refused(void) {
  char *folder;
  DemurWorkspace *workspace = open_new(&folder);
  static const struct {
    const char *user, *comment;
    DemurReviewKind kind;
  } rows[] = {{"", NULL, DEMUR_REVIEW_AGREE}, {"reader", "  \n", DEMUR_REVIEW_COMMENT}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GError) error = NULL;
    DemurReviewRecord record = {.scan_id = (char *)"1.2",
                                .kind = rows[i].kind,
                                .comment = (char *)rows[i].comment,
                                .shown = (char *)"{}",
                                .user = (char *)rows[i].user,
                                .created = (char *)"2026-01-01T00:00:00Z"};
    g_assert_false(demur_reviews_save(workspace, &record, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  }
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) all = demur_reviews_list(workspace, &error);
  g_assert_cmpuint(all->len, ==, 0);
  demur_workspace_close(workspace);
  remove_folder(folder);
}

static void
a_coverage_is_chosen_with_a_reason_only(void) {
  char *folder;
  DemurWorkspace *workspace = open_new(&folder);
  g_autoptr(GError) error = NULL;
  DemurDecisionRecord record = {.selector = (char *)"a",
                                .selector_digest = (char *)"00",
                                .cohort = (char *)"c",
                                .split = (char *)"tune",
                                .coverage = 0.9,
                                .threshold = 0.25,
                                .reason = (char *)"",
                                .user = (char *)"analyst",
                                .created = (char *)"2026-01-01T00:00:00Z"};
  g_assert_false(demur_decisions_save(workspace, &record, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  g_clear_error(&error);
  record.reason = (char *)"two readers a week can take the rest";
  g_assert_true(demur_decisions_save(workspace, &record, &error));
  g_assert_no_error(error);
  g_autoptr(GPtrArray) mine = demur_decisions_list(workspace, "a", &error);
  g_autoptr(GPtrArray) others = demur_decisions_list(workspace, "b", &error);
  g_autoptr(GPtrArray) all = demur_decisions_list(workspace, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(mine->len, ==, 1);
  g_assert_cmpuint(others->len, ==, 0);
  g_assert_cmpuint(all->len, ==, 1);
  const DemurDecisionRecord *kept = mine->pdata[0];
  g_assert_cmpfloat(kept->coverage, ==, 0.9);
  g_assert_cmpfloat(kept->threshold, ==, 0.25);
  g_assert_cmpstr(kept->reason, ==, record.reason);
  demur_workspace_close(workspace);
  remove_folder(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/reviews/every-opinion-is-kept-newest-first",
                  every_opinion_is_kept_newest_first);
  g_test_add_func("/store/reviews/a-review-without-user-or-words-is-refused",
                  a_review_without_user_or_words_is_refused);
  g_test_add_func("/store/reviews/a-coverage-is-chosen-with-a-reason-only",
                  a_coverage_is_chosen_with_a_reason_only);
  return g_test_run();
}
