#include "store/adopt.h"

#include "store/events.h"
#include "store/selectors.h"

gboolean
demur_store_adopt(DemurWorkspace *workspace, GError **error) {
  g_autoptr(GPtrArray) selectors = demur_selectors_list(workspace, error);
  if (selectors == NULL)
    return FALSE;
  for (guint i = 0; i < selectors->len; i++) {
    const DemurSelectorRecord *selector = selectors->pdata[i];
    g_autoptr(GPtrArray) thresholds = demur_thresholds_list(workspace, selector->name, NULL);
    for (guint t = 0; thresholds != NULL && t < thresholds->len; t++) {
      const DemurThresholdRecord *record = thresholds->pdata[t];
      if (record->digest == NULL)
        continue;
      g_autofree char *key = demur_threshold_key(selector->name, record->coverage);
      if (!demur_events_add(workspace, DEMUR_EVENT_THRESHOLD, key, record->digest,
                            "{\"adopted\": true}", record->created, error))
        return FALSE;
    }
  }
  return TRUE;
}
