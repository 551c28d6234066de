#include "tasks/same-selector.h"

#include "base/error.h"
#include "selector/release.h"
#include "tasks/selection.h"

gboolean
demur_task_same_selector(DemurTask *task, const char *name, const DemurSelector *selector,
                         gboolean *same, GError **error) {
  g_autoptr(GError) local = NULL;
  g_autoptr(DemurSelector) other = demur_task_load_selector(task, name, NULL, &local);
  if (other == NULL && !g_error_matches(local, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND)) {
    g_propagate_error(error, g_steal_pointer(&local));
    return FALSE;
  }
  *same |= other != NULL &&
           g_strcmp0(demur_selector_origin(other), demur_selector_origin(selector)) == 0;
  return TRUE;
}
