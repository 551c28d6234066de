#include "tasks/verify.h"

#include "selector/selector.h"
#include "store/selectors.h"

static void
check_free(gpointer data) {
  DemurCheck *check = data;
  g_free(check->subject);
  g_free(check->message);
  g_free(check);
}

void
demur_soundness_free(DemurSoundness *soundness) {
  if (soundness == NULL)
    return;
  g_ptr_array_unref(soundness->checks);
  g_free(soundness);
}

static void
add(DemurSoundness *soundness, gboolean ok, const char *subject, const char *message) {
  DemurCheck *check = g_new(DemurCheck, 1);
  *check = (DemurCheck){ok, g_strdup(subject), g_strdup(message)};
  g_ptr_array_add(soundness->checks, check);
  soundness->ok &= ok;
}

/* The store checks a selector's bytes; whether they are a selector is looked at here, and whether
 * what stands beside the document in the workspace is what the document says. */
static void
check_selector(DemurWorkspace *workspace, const DemurSelectorRecord *record,
               DemurSoundness *soundness) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSelectorRecord) loaded = demur_selectors_load(workspace, record->name, &error);
  g_autoptr(DemurSelector) selector =
      loaded != NULL ? demur_selector_from_json(loaded->document, -1, record->name, &error) : NULL;
  const char *wrong =
      selector == NULL ? error->message
      : g_strcmp0(demur_selector_digest(selector), record->digest) != 0 ||
              g_strcmp0(demur_selector_model(selector), record->model) != 0 ||
              g_strcmp0(demur_selector_cohort_digest(selector), record->cohort_digest) != 0
          ? "its digest, model or cohort in the workspace is not that of its document; bring back "
            "a copy of the workspace"
          : NULL;
  g_autofree char *subject = g_strdup_printf("selector %s", record->name);
  add(soundness, wrong == NULL, subject,
      wrong != NULL ? wrong : "the document reads and its digest is right");
}

DemurSoundness *
demur_task_verify(DemurTask *task, GError **error) {
  const char *path = task->workspace_path;
  g_autoptr(DemurWorkspace) workspace = demur_workspace_open(
      path,
      demur_workspace_is_read_only(path) ? DEMUR_WORKSPACE_READ_ONLY : DEMUR_WORKSPACE_DEFAULT,
      error);
  return workspace != NULL ? demur_task_verify_workspace(workspace, &task->progress, error) : NULL;
}

DemurSoundness *
demur_task_verify_workspace(DemurWorkspace *workspace, const DemurProgress *progress,
                            GError **error) {
  g_autoptr(DemurVerification) verification = demur_workspace_verify(workspace, progress, error);
  g_autoptr(GPtrArray) selectors =
      verification != NULL ? demur_selectors_list(workspace, error) : NULL;
  if (selectors == NULL)
    return NULL;
  DemurSoundness *soundness = g_new(DemurSoundness, 1);
  *soundness = (DemurSoundness){.ok = verification->ok,
                                .checks = g_ptr_array_new_with_free_func(check_free),
                                .n_cohorts = verification->n_cohorts,
                                .n_selectors = verification->n_selectors,
                                .n_series = verification->n_series,
                                .n_scores = verification->n_scores,
                                .n_verdicts = verification->n_verdicts};
  for (size_t i = 0; i < verification->n_findings; i++) {
    const DemurFinding *finding = &verification->findings[i];
    add(soundness, finding->ok, finding->subject, finding->message);
  }
  for (guint i = 0; i < selectors->len; i++)
    check_selector(workspace, selectors->pdata[i], soundness);
  return soundness;
}
