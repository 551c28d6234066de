#include "tasks/prevalence.h"

#include <math.h>

#include "metrics/censoring.h"

/* weights [n_rows] by inverse probability of censoring; FALSE where the horizon is out of reach. */
static gboolean
weigh(const DemurCohort *cohort, const guint32 *rows, size_t n_rows, double *weights) {
  g_autofree double *times = g_new(double, MAX(n_rows, 1));
  g_autofree gint32 *ended = g_new(gint32, MAX(n_rows, 1));
  g_autofree guint32 *sites = g_new(guint32, MAX(n_rows, 1));
  for (size_t i = 0; i < n_rows; i++) {
    times[i] = cohort->times[rows[i]];
    ended[i] = cohort->statuses[rows[i]];
    sites[i] = cohort->sites[rows[i]];
  }
  g_autoptr(DemurCensoring) censoring = demur_censoring_new(
      times, ended, sites, n_rows, cohort->n_sites, demur_cohort_horizon(cohort), NULL);
  if (censoring != NULL)
    demur_censoring_weights(censoring, NULL, weights, NULL);
  return censoring != NULL;
}

double
demur_task_prevalence(const DemurCohort *cohort, const guint32 *rows, size_t n_rows) {
  g_return_val_if_fail(cohort->n_classes == 2, NAN);
  g_autofree double *weights = g_new(double, MAX(n_rows, 1));
  for (size_t i = 0; i < n_rows; i++)
    weights[i] = 1.0;
  if (cohort->times != NULL && !weigh(cohort, rows, n_rows, weights))
    return NAN;
  double positive = 0.0, total = 0.0;
  for (size_t i = 0; i < n_rows; i++) {
    if (cohort->labels[rows[i]] == DEMUR_NO_LABEL)
      continue;
    positive += weights[i] * (double)cohort->labels[rows[i]];
    total += weights[i];
  }
  return positive / total; /* 0 / 0: NaN */
}
