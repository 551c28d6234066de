/* What somebody puts behind what the log tells of, past the program and without digest, event or seal, is no row of an
 * older program. Right values: which row was put in. */
#include "base/error.h"
#include "store/events.h"
#include "store/reviews.h"
#include "store/workspace.h"
#include "support/folder.h"
#include "support/store.h"
#include "support/support.h"

static void
say(DemurWorkspace *workspace) {
  g_autoptr(GError) error = NULL;
  DemurReviewRecord review = {.scan_id = (char *)"1.2",
                              .kind = DEMUR_REVIEW_COMMENT,
                              .comment = (char *)"seen",
                              .shown = (char *)"{}",
                              .user = (char *)demur_workspace_user(workspace),
                              .created = (char *)"2026-01-01T00:00:00Z"};
  g_assert_true(demur_reviews_save(workspace, &review, &error));
}

/* The subject of each finding that is no good, each behind a blank. */
static char *
subjects(const char *path) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) workspace = demur_workspace_open(path, DEMUR_WORKSPACE_DEFAULT, &error);
  g_assert_no_error(error);
  g_autoptr(DemurVerification) found = demur_workspace_verify(workspace, NULL, &error);
  g_assert_no_error(error);
  GString *text = g_string_new(NULL);
  for (size_t f = 0; f < found->n_findings; f++)
    if (!found->findings[f].ok)
      g_string_append_printf(text, " %s", found->findings[f].subject);
  return g_string_free(text, FALSE);
}

#define REVIEW(id)                                                                                 \
  "INSERT INTO review (id, scan_id, kind, revealed, shown, \"user\", created) VALUES (" #id        \
  ", '1.2', 'agree', 0, '{}', 'anna', '1999')"
#define BATCH                                                                                      \
  "INSERT INTO verdict_batch (id, selector, selector_digest, model, created)"                      \
  " VALUES (7, 's', 'd', 'm', '1999');"
#define VERDICT(id)                                                                                \
  "INSERT INTO verdict (id, batch_id, scan_id, verdict, reasons) VALUES (" #id                     \
  ", 7, '1.2', 'accepted', '[]')"

static void
test_rows_behind(void) {
  static const struct {
    const char *sql, *found;
  } rows[] = {
      {NULL, ""},
      {"UPDATE review SET id = 20", " review:20 review:1"}, /* what is told is gone */
      {REVIEW(2), " review:2"},
      /* Where nothing of the kind is told of: as from an older program. */
      {BATCH VERDICT(3), ""},
  };
  g_autofree char *folder = g_dir_make_tmp("demur-unsealed-XXXXXX", NULL);
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *name = g_strdup_printf("%u.demur", i);
    g_autofree char *path = demur_test_store_path(folder, name);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurWorkspace) workspace =
        demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
    g_assert_no_error(error);
    demur_workspace_set_actor(workspace, "anna", "ward", NULL);
    say(workspace);
    g_clear_pointer(&workspace, demur_workspace_close);
    if (rows[i].sql != NULL)
      demur_test_store_run(path, rows[i].sql);
    g_autofree char *found = subjects(path);
    g_assert_cmpstr(found, ==, rows[i].found);
    demur_test_store_remove(path);
  }
  demur_test_remove_folder(folder);
}

/* An event whose seal was taken away, the chain made anew as anybody could. A server's owner alone may, past its guards. */
static void
test_an_event_behind(void) {
  g_autofree char *folder = g_dir_make_tmp("demur-unsealed-XXXXXX", NULL);
  g_autofree char *path = demur_test_store_path(folder, "w.demur");
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWorkspace) workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  demur_workspace_set_actor(workspace, "anna", "ward", NULL);
  say(workspace);
  say(workspace);
  g_autoptr(GPtrArray) events = demur_events_list(workspace, 0, "review:2", &error);
  g_assert_no_error(error);
  DemurEvent *event = events->pdata[0];
  g_clear_pointer(&event->seal, g_free);
  g_autofree char *chain = demur_event_digest(event);
  g_clear_pointer(&workspace, demur_workspace_close);
  g_autofree char *kept =
      demur_test_store_text(path, "SELECT sql FROM sqlite_master WHERE name = 'event_not_changed'");
  g_autofree char *sql =
      g_strdup_printf("DROP TRIGGER event_not_changed; UPDATE event SET seal = NULL, chain = '%s'"
                      " WHERE sequence = %" G_GINT64_FORMAT "; %s",
                      chain, event->sequence, kept);
  demur_test_store_run(path, sql);
  g_autofree char *found = subjects(path),
                  *expected = g_strdup_printf(" event %" G_GINT64_FORMAT, event->sequence);
  g_assert_cmpstr(found, ==, expected);
  demur_test_remove_folder(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/unsealed/rows-behind", test_rows_behind);
  if (!demur_test_store_is_server())
    g_test_add_func("/store/unsealed/an-event-behind", test_an_event_behind);
  return g_test_run();
}
