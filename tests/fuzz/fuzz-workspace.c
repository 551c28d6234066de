/* A workspace file that another program or a bad disk has changed: refused, or every list of it can
 * be read and verify says what is wrong. Read only, so that what was found can be found again. */
#include <stdint.h>

#include <glib/gstdio.h>

#include "store/cohorts.h"
#include "store/scores.h"
#include "store/selectors.h"
#include "store/series.h"
#include "store/verdicts.h"
#include "store/workspace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static gboolean
on_verdict(const DemurVerdictRecord *record, gpointer data) {
  return record->scan_id != NULL;
}

static void
read_all(DemurWorkspace *workspace) {
  g_autoptr(GPtrArray) cohorts = demur_cohorts_list(workspace, NULL);
  for (guint i = 0; cohorts != NULL && i < cohorts->len; i++) {
    const DemurCohortSummary *summary = cohorts->pdata[i];
    g_autoptr(DemurCohort) cohort = demur_cohorts_load(workspace, summary->name, NULL, NULL);
  }
  g_autoptr(GPtrArray) selectors = demur_selectors_list(workspace, NULL);
  g_autoptr(GPtrArray) series = demur_series_list(workspace, NULL);
  g_autoptr(GPtrArray) scores = demur_scores_list(workspace, NULL, NULL, NULL);
  g_autoptr(GError) error = NULL;
  if (!demur_verdicts_each(workspace, NULL, on_verdict, NULL, &error))
    g_assert_nonnull(error);
  g_autoptr(DemurVerification) verification = demur_workspace_verify(workspace, NULL, NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp("demur-fuzz-XXXXXX", &error);
  g_assert_no_error(error);
  g_autofree char *path = g_build_filename(folder, "w.demur", NULL);
  g_file_set_contents(path, (const char *)data, (gssize)size, &error);
  g_assert_no_error(error);
  DemurWorkspace *workspace = demur_workspace_open(path, DEMUR_WORKSPACE_READ_ONLY, &error);
  if (workspace == NULL)
    g_assert_nonnull(error);
  else
    read_all(workspace);
  demur_workspace_close(workspace);
  static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
    g_autofree char *file = g_strconcat(path, endings[i], NULL);
    g_unlink(file);
  }
  g_rmdir(folder);
  return 0;
}
