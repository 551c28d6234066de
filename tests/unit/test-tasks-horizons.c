/* Which selectors a family's name stands for. Right values: by hand, on workspaces that hold what an
 * earlier program let stand under one name. */
#include "store/selectors.h"
#include "support/folder.h"
#include "support/support.h"
#include "tasks/horizons.h"

static const struct {
  const char *name, *family, *model;
} kept[] = {{"f-1y", "g", "m"},  {"f-3y", "f", "m"}, {"f-6y", "f", "m"}, {"h-1y", "f", "m"},
            {"h-2y", "g", "m"},  {"h-6y", "f", "m"}, {"i-3y", "i", "m"}, {"i-6y", "i", "other"},
            {"j-1y", NULL, "m"}, {"j-6y", "j", "m"}, {"k", NULL, "m"},   {"k-1y", "k", "m"},
            {"l-2y", "f", "m"},  {"l-3y", "f", "m"}};

/* By name: the years, ascending, up to 0. */
static const struct {
  const char *name;
  int years[4];
} families[] = {{"f", {3, 6}}, /* the family of that name, though another one's is first */
                {"h", {1, 6}}, /* of two others the first */
                {"i", {3}},    /* the same family by another model's scores */
                {"j", {6}},    /* trained alone: of none */
                {"k", {0}},    /* a selector's own name */
                {"l", {2, 3}}, {"nobody", {0}}};

static void
a_family_is_what_holds_back_together(void) {
  g_autofree char *folder = g_dir_make_tmp("demur-horizons-XXXXXX", NULL);
  g_auto(DemurTask) task = {.workspace_path = g_build_filename(folder, "w.demur", NULL),
                            .opening = DEMUR_WORKSPACE_CREATE};
  g_autoptr(GError) error = NULL;
  DemurWorkspace *workspace = demur_task_workspace(&task, &error);
  g_assert_no_error(error);
  DemurSelectorRecord records[G_N_ELEMENTS(kept)];
  for (size_t i = 0; i < G_N_ELEMENTS(kept); i++)
    records[i] = (DemurSelectorRecord){.name = (char *)kept[i].name,
                                       .document = (char *)"{}",
                                       .digest = (char *)kept[i].name,
                                       .cohort = (char *)"c",
                                       .cohort_digest = (char *)"d",
                                       .model = (char *)kept[i].model,
                                       .family = (char *)kept[i].family,
                                       .created = (char *)"2026-01-01T00:00:00Z"};
  g_assert_true(demur_selectors_save_all(workspace, records, G_N_ELEMENTS(kept),
                                         DEMUR_SELECTOR_REPLACE_NONE, &error));
  g_assert_no_error(error);
  for (size_t i = 0; i < G_N_ELEMENTS(families); i++) {
    DemurHorizons horizons;
    g_assert_true(demur_horizons_of_family(&task, families[i].name, &horizons, &error));
    g_assert_no_error(error);
    size_t n = 0;
    for (; families[i].years[n] > 0; n++)
      g_assert_cmpint(n < horizons.n ? horizons.years[n] : 0, ==, families[i].years[n]);
    g_assert_cmpuint(horizons.n, ==, n);
  }
  demur_task_clear(&task);
  demur_test_remove_folder(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/tasks/horizons/family", a_family_is_what_holds_back_together);
  return g_test_run();
}
