#include "base/progress.h"

gboolean
demur_progress_step(const DemurProgress *progress, double fraction, const char *stage,
                    GError **error) {
  if (progress == NULL)
    return TRUE;
  if (g_cancellable_set_error_if_cancelled(progress->cancellable, error))
    return FALSE;
  if (progress->func != NULL)
    progress->func(CLAMP(fraction, 0.0, 1.0), stage, progress->data);
  return TRUE;
}

static void
stage_report(double fraction, const char *stage_name, gpointer data) {
  const DemurProgressStage *stage = data;
  if (stage->outer->func != NULL)
    stage->outer->func(stage->start + fraction * (stage->end - stage->start),
                       stage->name != NULL ? stage->name : stage_name, stage->outer->data);
}

DemurProgress
demur_progress_stage(DemurProgressStage *stage) {
  return (DemurProgress){stage_report, stage, stage->outer->cancellable};
}
