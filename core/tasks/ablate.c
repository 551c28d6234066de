#include "tasks/ablate.h"

#include "base/error.h"
#include "tasks/counts.h"
#include "tasks/selection.h"

/* wanted [DEMUR_N_ABLATED] */
static gboolean
parse_parts(const char *text, const DemurTrainSettings *settings, gboolean *wanted,
            GError **error) {
  g_auto(GStrv) names = g_strsplit(text, ",", -1);
  for (char **name = names; *name != NULL; name++) {
    DemurAblated part;
    if (!demur_ablated_from_name(g_strstrip(*name), &part, error))
      return FALSE;
    g_autoptr(DemurTrainSettings) without = demur_ablated_settings(settings, part);
    if (without == NULL) {
      demur_error_set(error, DEMUR_ERROR_USAGE,
                      "'%s' can't be left out: the selector does not have it, or has nothing else",
                      *name);
      return FALSE;
    }
    wanted[part] = TRUE;
  }
  return TRUE;
}

DemurAblation *
demur_task_ablate(DemurTask *task, const DemurAblateParams *params, GError **error) {
  gboolean wanted[DEMUR_N_ABLATED] = {FALSE};
  DemurEvaluateInput input;
  demur_evaluate_input_init(&input);
  if (!demur_task_take_count(params->n_bootstrap, "--bootstrap", &input.n_bootstrap, error))
    return NULL;
  g_autoptr(DemurSelector) selector = demur_task_load_selector(task, params->selector, NULL, error);
  if (selector == NULL ||
      (params->parts != NULL &&
       !parse_parts(params->parts, demur_selector_settings(selector), wanted, error)))
    return NULL;
  g_autoptr(DemurCohort) cohort = demur_task_load_cohort_for(task, params->cohort, selector, error);
  if (cohort == NULL)
    return NULL;
  input.cohort = cohort;
  input.split = params->split != NULL ? params->split : DEMUR_SPLIT_TEST;
  input.seed = task->seed;
  input.in_sample = params->in_sample;
  return demur_ablate(&input, selector, params->parts != NULL ? wanted : NULL, task->parallel,
                      &task->progress, error);
}
