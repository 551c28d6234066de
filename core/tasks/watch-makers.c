#include "tasks/watch-makers.h"

#include <math.h>

#include "base/error.h"
#include "base/person.h"
#include "store/cohorts.h"

/* Risks went through a table's digits in between. */
#define SAME_RISK 1e-6

gboolean
demur_watch_makers_read(DemurWorkspace *workspace, const DemurSelector *selector,
                        DemurWatchMakers *makers, GError **error) {
  *makers = (DemurWatchMakers){.selector = selector};
  const char *name = selector != NULL ? demur_selector_cohort(selector) : NULL;
  if (name == NULL)
    return TRUE;
  g_autoptr(GError) local = NULL;
  makers->own = demur_cohorts_load_facts(workspace, name, NULL, &local);
  if (makers->own == NULL) {
    if (g_error_matches(local, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND))
      return TRUE;
    g_propagate_error(error, g_steal_pointer(&local));
    return FALSE;
  }
  makers->keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (size_t p = 0; p < makers->own->n_patients; p++)
    if (demur_selector_has_seen(selector, makers->own->patient_ids[p]))
      g_hash_table_add(makers->keys, demur_person_key(makers->own->patient_ids[p]));
  return TRUE;
}

void
demur_watch_makers_clear(DemurWatchMakers *makers) {
  g_clear_pointer(&makers->own, demur_cohort_unref);
  g_clear_pointer(&makers->keys, g_hash_table_unref);
}

gboolean
demur_watch_makers_apart(const DemurWatchMakers *makers, const DemurCohort *cohort) {
  if (!cohort->simulated || makers->selector == NULL ||
      g_strcmp0(cohort->name, demur_selector_cohort(makers->selector)) == 0)
    return FALSE;
  if (makers->own == NULL)
    return TRUE;
  const gboolean comparable = cohort->risks != NULL && makers->own->risks != NULL;
  for (size_t i = 0; comparable && i < cohort->n_scans; i++) {
    const gssize row = demur_cohort_find_scan(makers->own, cohort->scan_ids[i]);
    if (row >= 0 && fabs(cohort->risks[i] - makers->own->risks[row]) < SAME_RISK)
      return FALSE;
  }
  return TRUE;
}

gboolean
demur_watch_makers_hold(const DemurWatchMakers *makers, const DemurCohort *cohort, size_t row,
                        const char *patient_id) {
  if (makers->selector == NULL || patient_id == NULL)
    return FALSE;
  const guint32 place = (guint32)row;
  if (demur_selector_has_seen(makers->selector, patient_id) ||
      (cohort != NULL && demur_selector_count_seen(makers->selector, cohort, &place, 1, NULL) > 0))
    return TRUE;
  g_autofree char *key = demur_person_key(patient_id);
  return makers->keys != NULL && g_hash_table_contains(makers->keys, key);
}
