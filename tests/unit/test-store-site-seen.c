/* What plans and audits saw of a site is there when they have ended with their selector, in every order: with a plan's event, or none of
 * an audit. The same with both engines (support/store.h). Expected values are those that were put in. */
#include "store/acceptances.h"
#include "store/audits.h"
#include "store/selectors.h"
#include "store/site-seen.h"
#include "support/folder.h"
#include "support/store.h"
#include "support/support.h"

static char *folder;

static DemurWorkspace *
open_workspace(const char *name) {
  g_autofree char *path = demur_test_store_path(folder, name);
  g_autoptr(GError) error = NULL;
  DemurWorkspace *workspace = demur_workspace_open(path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  return workspace;
}

static void
save_selector(DemurWorkspace *workspace) {
  g_autoptr(GError) error = NULL;
  const DemurSelectorRecord record = {.name = (char *)"s",
                                      .document = (char *)"{\"weights\":[0.5]}\n",
                                      .digest = (char *)"digest",
                                      .cohort = (char *)"c",
                                      .cohort_digest = (char *)"rows",
                                      .model = (char *)"model",
                                      .created = (char *)"2026"};
  g_assert_true(demur_selectors_save(workspace, &record, DEMUR_SELECTOR_REPLACE_ALL, &error));
  g_assert_no_error(error);
}

static void
save_audit(DemurWorkspace *workspace, const char *labels) {
  g_autoptr(GError) error = NULL;
  const DemurAuditRecord audit = {.selector = (char *)"s",
                                  .site = (char *)"A",
                                  .cohort = (char *)"c",
                                  .tau2 = 0.1,
                                  .n_labels = 3,
                                  .labels = (char *)labels,
                                  .created = (char *)"2026-01-01T00:00:00Z"};
  g_assert_true(demur_audits_save(workspace, &audit, &error));
  g_assert_no_error(error);
}

static void
save_answered_plan(DemurWorkspace *workspace) {
  g_autoptr(GError) error = NULL;
  const char *document = "{\"plan\":1}";
  g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, document, -1);
  DemurAcceptancePlanRecord plan = {.selector = (char *)"s",
                                    .selector_digest = (char *)"digest",
                                    .cohort = (char *)"c",
                                    .site = (char *)"A",
                                    .document = (char *)document,
                                    .digest = digest,
                                    .user = (char *)"reader",
                                    .created = (char *)"2026-01-02T00:00:00Z"};
  g_assert_true(demur_acceptance_plans_save(workspace, &plan, &error));
  g_assert_no_error(error);
  const DemurAcceptanceRecord answer = {.plan = plan.id,
                                        .answer = (char *)"more",
                                        .document = (char *)"{}",
                                        .labels_digest = (char *)"labels",
                                        .n_labels = 7,
                                        .user = (char *)"reader",
                                        .created = (char *)"2026-01-03T00:00:00Z"};
  g_assert_true(demur_acceptances_save(workspace, &answer, &error));
  g_assert_no_error(error);
}

typedef struct {
  const char *name;
  gboolean plan[3], audit[3]; /* of each selector that ends, one after the other */
} Row;

static const Row rows[] = {
    {"audits.demur", {FALSE, FALSE, FALSE}, {TRUE, TRUE, TRUE}},
    {"plans.demur", {TRUE, TRUE, TRUE}, {FALSE, FALSE, FALSE}},
    {"both.demur", {TRUE, TRUE, TRUE}, {TRUE, TRUE, TRUE}},
    {"in-turns.demur", {FALSE, TRUE, FALSE}, {TRUE, FALSE, TRUE}},
};

static void
test_it_outlives_the_selector(gconstpointer data) {
  const Row *row = data;
  g_autoptr(DemurWorkspace) workspace = open_workspace(row->name);
  g_autoptr(GError) error = NULL;
  DemurSeenBy expected[6];
  guint n = 0;
  for (guint i = 0; i < G_N_ELEMENTS(row->plan); i++) {
    save_selector(workspace);
    if (row->plan[i])
      save_answered_plan(workspace), expected[n++] = DEMUR_SEEN_BY_PLAN;
    if (row->audit[i])
      save_audit(workspace, "{\"scan\":1}"), expected[n++] = DEMUR_SEEN_BY_AUDIT;
    const gboolean ended = i % 2 == 0 ? demur_selectors_remove(workspace, "s", TRUE, &error)
                                      : (save_selector(workspace), TRUE);
    g_assert_no_error(error);
    g_assert_true(ended);
  }
  g_autoptr(GPtrArray) seen = demur_site_seen_list(workspace, "A", &error);
  g_assert_no_error(error);
  g_assert_cmpuint(seen->len, ==, n);
  for (guint i = 0; i < n; i++) {
    const DemurSiteSeen *one = seen->pdata[i];
    g_assert_cmpint(one->by, ==, expected[i]);
    g_assert_cmpuint(one->n_labels, ==, one->by == DEMUR_SEEN_BY_AUDIT ? 3 : 7);
    g_assert_cmpstr(one->document, ==,
                    one->by == DEMUR_SEEN_BY_AUDIT ? "{\"scan\":1}" : "{\"plan\":1}");
    g_assert_cmpstr(one->answer, ==, one->by == DEMUR_SEEN_BY_AUDIT ? NULL : "more");
    g_assert_true((one->plan > 0) == (one->by == DEMUR_SEEN_BY_PLAN));
    g_assert_null(one->origin); /* the selector here is none that can be read */
  }
}

/* Of an audit of an older program nothing is known but its number of labels: nothing is kept. */
static void
test_without_labels_nothing(void) {
  g_autoptr(DemurWorkspace) workspace = open_workspace("without.demur");
  g_autoptr(GError) error = NULL;
  save_selector(workspace);
  save_audit(workspace, NULL);
  g_assert_true(demur_selectors_remove(workspace, "s", TRUE, &error));
  g_assert_no_error(error);
  g_autoptr(GPtrArray) seen = demur_site_seen_list(workspace, "A", &error);
  g_assert_no_error(error);
  g_assert_cmpuint(seen->len, ==, 0);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autoptr(GError) error = NULL;
  folder = g_dir_make_tmp("demur-seen-XXXXXX", &error);
  g_assert_no_error(error);
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *name = g_strdup_printf("/store/site-seen/%s", rows[i].name);
    g_test_add_data_func(name, &rows[i], test_it_outlives_the_selector);
  }
  g_test_add_func("/store/site-seen/without-labels-nothing", test_without_labels_nothing);
  const int status = g_test_run();
  g_assert_true(demur_test_remove_folder(folder));
  g_free(folder);
  return status;
}
