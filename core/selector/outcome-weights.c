#include "selector/outcome-weights.h"

#include "metrics/censoring.h"

gboolean
demur_outcome_weights(const DemurCohort *cohort, const guint32 *rows, size_t n, double **weights,
                      GError **error) {
  *weights = NULL;
  if (cohort->times == NULL || n == 0)
    return TRUE;
  g_autofree double *times = g_new(double, n);
  g_autofree gint32 *ended = g_new(gint32, n);
  g_autofree guint32 *sites = g_new(guint32, n);
  const double horizon = demur_cohort_horizon(cohort);
  gboolean any_left = FALSE;
  for (size_t i = 0; i < n; i++) {
    times[i] = cohort->times[rows[i]];
    ended[i] = cohort->statuses[rows[i]];
    sites[i] = cohort->sites[rows[i]];
    any_left |= times[i] < horizon && ended[i] == DEMUR_ENDED_LEFT;
  }
  if (!any_left)
    return TRUE;
  g_autoptr(DemurCensoring) censoring =
      demur_censoring_new(times, ended, sites, n, cohort->n_sites, horizon, error);
  if (censoring == NULL)
    return FALSE;
  *weights = g_new(double, n);
  demur_censoring_weights(censoring, NULL, *weights, NULL);
  return TRUE;
}

gboolean
demur_outcome_weights_labelled(const DemurCohort *cohort, const guint32 *rows, size_t n,
                               double **weights, GError **error) {
  *weights = NULL;
  for (size_t i = 0; i < n; i++)
    if (cohort->labels[rows[i]] == DEMUR_NO_LABEL)
      return TRUE;
  g_autofree guint32 *all = g_new(guint32, MAX(cohort->n_scans, 1));
  for (size_t i = 0; i < cohort->n_scans; i++)
    all[i] = (guint32)i;
  g_autofree double *of_all = NULL;
  if (!demur_outcome_weights(cohort, all, cohort->n_scans, &of_all, error))
    return FALSE;
  if (of_all == NULL)
    return TRUE;
  *weights = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    (*weights)[i] = of_all[rows[i]];
  return TRUE;
}
