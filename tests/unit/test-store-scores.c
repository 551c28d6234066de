/* Many scores saved at once. Right values: the same ones saved one by one, in a workspace of their own. */
#include <math.h>

#include "base/error.h"
#include "store/events.h"
#include "store/scores.h"
#include "store/series.h"
#include "support/folder.h"
#include "support/store.h"
#include "support/support.h"

#define N_SCANS 300 /* more than are asked for at once */

static char *
now(void) {
  return g_strdup("2026-01-02T03:04:05Z");
}

static char *
images_of(int scan, int version) {
  return g_strdup_printf("images of %d, %d", scan, version);
}

static void
save_series(DemurWorkspace *workspace, int scan, int version) {
  g_autoptr(GError) error = NULL;
  g_autofree char *id = g_strdup_printf("1.2.%d", scan), *images = images_of(scan, version);
  DemurSeriesRecord record = {.scan_id = id,
                              .series_uid = id,
                              .type = (char *)"volume",
                              .images_digest = images,
                              .created = (char *)"now"};
  const DemurSeriesSave save = {&record, NULL, 0};
  g_assert_true(demur_series_save(workspace, &save, 1, &error));
}

static DemurWorkspace *
open_workspace(const char *folder, const char *name, char **path) {
  *path = demur_test_store_path(folder, name);
  g_autoptr(GError) error = NULL;
  DemurWorkspace *workspace = demur_workspace_open(*path, DEMUR_WORKSPACE_CREATE, &error);
  g_assert_no_error(error);
  demur_workspace_set_actor(workspace, "anna", "ward", now);
  for (int scan = 0; scan < N_SCANS; scan += 3) /* a score may be of a scan that is no series */
    save_series(workspace, scan, 0);
  return workspace;
}

/* Of each scan one by model a; of every fifth one by b, too; of every seventh one again, as it was or with another risk. */
static GArray *
draw(GPtrArray *ids, int round) {
  GArray *records = g_array_new(FALSE, FALSE, sizeof(DemurScoreRecord));
  for (int scan = 0; scan < N_SCANS; scan++) {
    DemurScoreRecord record = {.scan_id = g_strdup_printf("1.2.%d", scan),
                               .model = (char *)"a",
                               .risk = (scan + round * (scan % 2)) / 400.0,
                               .horizon_years = 6.0,
                               .source = (char *)"table",
                               .created = (char *)"now"};
    g_ptr_array_add(ids, record.scan_id);
    for (int k = 0; k < DEMUR_N_YEARS; k++)
      record.yearly_risks[k] = (double)NAN;
    g_array_append_val(records, record);
    record.model = (char *)"b";
    if (scan % 5 == 0)
      g_array_append_val(records, record);
    record.model = (char *)"a";
    record.risk += scan % 14 == 0 ? 0.125 : 0.0;
    if (scan % 7 == 0)
      g_array_append_val(records, record);
  }
  return records;
}

static void
assert_same_log(DemurWorkspace *a, DemurWorkspace *b) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) of_a = demur_events_list(a, 0, NULL, &error),
                       of_b = demur_events_list(b, 0, NULL, &error);
  g_assert_cmpuint(of_a->len, ==, of_b->len);
  for (guint i = 0; i < of_a->len; i++) {
    const DemurEvent *x = of_a->pdata[i], *y = of_b->pdata[i];
    g_assert_cmpint(x->kind, ==, y->kind);
    g_assert_cmpstr(x->key, ==, y->key);
    g_assert_cmpstr(x->digest, ==, y->digest);
    if (x->kind == DEMUR_EVENT_SCORE)
      g_assert_cmpstr(x->seal, ==, y->seal);
  }
}

static void
assert_whole(DemurWorkspace *workspace) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVerification) verification = demur_workspace_verify(workspace, NULL, &error);
  g_assert_no_error(error);
  for (size_t f = 0; f < verification->n_findings; f++)
    if (!verification->findings[f].ok)
      g_error("%s: %s", verification->findings[f].subject, verification->findings[f].message);
}

static void
test_at_once_as_one_by_one(void) {
  g_autofree char *folder = g_dir_make_tmp("demur-scores-XXXXXX", NULL);
  g_autofree char *path_many = NULL, *path_single = NULL;
  g_autoptr(DemurWorkspace) many = open_workspace(folder, "many.demur", &path_many);
  g_autoptr(DemurWorkspace) single = open_workspace(folder, "single.demur", &path_single);
  g_autoptr(GError) error = NULL;
  for (int round = 0; round < 2; round++) {
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GArray) records = draw(ids, round);
    const DemurScoreRecord *drawn = (const DemurScoreRecord *)(gpointer)records->data;
    size_t at_once[3], one_by_one[3] = {0};
    g_assert_true(demur_scores_save(many, drawn, records->len, TRUE, &at_once[0], &at_once[1],
                                    &at_once[2], &error));
    for (guint i = 0; i < records->len; i++) {
      size_t n[3];
      g_assert_true(demur_scores_save(single, &drawn[i], 1, TRUE, &n[0], &n[1], &n[2], &error));
      for (int c = 0; c < 3; c++)
        one_by_one[c] += n[c];
    }
    for (int c = 0; c < 3; c++)
      g_assert_cmpuint(at_once[c], ==, one_by_one[c]);
    g_assert_cmpuint(at_once[round == 0 ? 0 : 2], >, 0);
    g_assert_cmpuint(at_once[1], >, 0);
    assert_same_log(many, single);
  }
  assert_whole(many);
  /* The last of them, far behind the first that were asked for, has another score: none is saved. */
  g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GArray) records = draw(ids, 1);
  DemurScoreRecord *drawn = (DemurScoreRecord *)(gpointer)records->data;
  drawn[0].model = (char *)"c";
  drawn[records->len - 1].risk = 0.999;
  g_assert_false(demur_scores_save(many, drawn, records->len, FALSE, NULL, NULL, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS);
  g_clear_error(&error);
  assert_same_log(many, single);
  g_clear_pointer(&many, demur_workspace_close);
  g_clear_pointer(&single, demur_workspace_close);
  demur_test_store_remove(path_many);
  demur_test_store_remove(path_single);
  demur_test_remove_folder(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/scores/at-once-as-one-by-one", test_at_once_as_one_by_one);
  return g_test_run();
}
