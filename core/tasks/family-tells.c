#include "tasks/family-tells.h"

#include "base/limits.h"
#include "metrics/coverage.h"
#include "report/family.h"
#include "tasks/report.h"

/* Of the rows whose bit is set: few in all, with the outcome by the year or without it, estimated. */
static gboolean
is_few(const DemurCohort *cohort, const guint32 *rows, const guint8 *set, size_t n, int year) {
  DemurReportYear years[DEMUR_N_YEARS];
  const char *estimator;
  g_autofree guint32 *kept = g_new(guint32, MAX(n, 1));
  size_t n_kept = 0;
  for (size_t i = 0; i < n; i++)
    if (set[i])
      kept[n_kept++] = rows[i];
  if (n_kept == 0) /* the two are the same */
    return FALSE;
  if (demur_report_years(cohort, kept, n_kept, years, &estimator) < (size_t)year)
    return n_kept < DEMUR_SMALL_CELL;
  return demur_family_is_few(&years[year - 1]);
}

/* Of the thresholds that the sets are accepted by; O(n log n) each. thresholds [2 n_at + N_COARSE]. */
static size_t
find_sets(const DemurMethodResult *method, const double *scores, size_t n, double *thresholds) {
  size_t n_sets = 0;
  for (size_t a = 0; a < method->n_at; a++) {
    const DemurOperatingPoint *at = &method->at[a];
    thresholds[n_sets++] = at->threshold;
    if (at->n_counted > 0 && at->n_counted <= n)
      thresholds[n_sets++] = demur_coverage_kth_largest(scores, n, at->n_counted);
  }
  /* What is told at any coverage of the coarse curves is a set that the fine ones are told of too. */
  const DemurCurvePoint *curve = method->curve[DEMUR_MEASURE_OE_RATIO];
  for (size_t c = 0; c < demur_measure_n_coverages(DEMUR_MEASURE_OE_RATIO); c++)
    if (!curve[c].withheld && curve[c].coverage > 0)
      thresholds[n_sets++] = demur_coverage_threshold(curve[c].coverage, scores, n);
  return n_sets;
}

gboolean
demur_family_tells_of_few(const DemurCohort *cohort, const DemurMethodResult *method,
                          const double *scores, const guint32 *rows, const guint8 *shown, size_t n,
                          int year) {
  g_return_val_if_fail(year >= 1 && year <= DEMUR_N_YEARS, TRUE);
  g_autofree double *thresholds = g_new(double, 2 * method->n_at + DEMUR_N_COARSE_COVERAGES);
  g_autofree guint8 *between = g_new(guint8, MAX(n, 1));
  const size_t n_sets = n > 0 ? find_sets(method, scores, n, thresholds) : 0;
  gboolean few = FALSE;
  for (size_t s = 0; !few && s < n_sets; s++) {
    size_t n_accepted_alone = 0, n_shown_alone = 0;
    for (size_t i = 0; i < n; i++) {
      const gboolean accepted = scores[i] >= thresholds[s];
      between[i] = accepted != (shown[i] != 0);
      n_accepted_alone += accepted && !shown[i] ? 1 : 0;
      n_shown_alone += !accepted && shown[i] ? 1 : 0;
    }
    if (n_accepted_alone == 0 || n_shown_alone == 0)
      few = is_few(cohort, rows, between, n, year);
  }
  return few;
}
