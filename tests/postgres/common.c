#include "common.h"

#include <string.h>

#include "store/reviews.h"
#include "store/verdicts.h"

#define LONG_AGO "2026-01-01T00:00:00Z"

DemurWorkspace *
server_open(const char *path, const char *user) {
  g_autoptr(GError) error = NULL;
  DemurWorkspace *workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  /* As long as it takes: how busy the machine is decides nothing. */
  static const DemurProgress patient = {0};
  demur_workspace_tell_waiting(workspace, &patient);
  demur_workspace_set_patience(workspace, DEMUR_PATIENCE_ENDLESS);
  demur_workspace_set_actor(workspace, user, "here", NULL);
  return workspace;
}

char *
server_with(const char *path, const char *option) {
  return g_strconcat(path, strchr(path, '?') != NULL ? "&" : "?", option, NULL);
}

gboolean
server_give_verdict(DemurWorkspace *workspace, const char *scan, GError **error) {
  const DemurVerdictBatch batch = {.selector = "s",
                                   .selector_digest = "d",
                                   .model = "m",
                                   .coverage = 0.9,
                                   .threshold = 0.5,
                                   .created = LONG_AGO};
  const DemurVerdictRecord verdict = {.scan_id = (char *)scan,
                                      .risk = 0.25,
                                      .risk_raw = 0.25,
                                      .score = 0.125,
                                      .verdict = DEMUR_VERDICT_ACCEPTED,
                                      .reasons = (char *)"[]"};
  return demur_verdicts_save(workspace, &batch, &verdict, 1, error);
}

gboolean
server_comment(DemurWorkspace *workspace, const char *scan, gint64 verdict, const char *text,
               const char *user, GError **error) {
  DemurReviewRecord record = {.scan_id = (char *)scan,
                              .verdict_id = verdict,
                              .kind = DEMUR_REVIEW_COMMENT,
                              .comment = (char *)text,
                              .shown = (char *)"{}",
                              .user = (char *)user,
                              .created = (char *)LONG_AGO};
  const gboolean ok = demur_reviews_save(workspace, &record, error);
  g_free(record.verdict_digest);
  return ok;
}

void
server_control(const char *what) {
  const char *program = g_getenv("DEMUR_TEST_STORE_SERVER");
  g_assert_nonnull(program);
  const char *const argv[] = {"sh", program, what, NULL};
  g_autoptr(GError) error = NULL;
  int status = 1;
  g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                             &status, &error));
  g_assert_cmpint(status, ==, 0);
}
