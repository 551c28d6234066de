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
