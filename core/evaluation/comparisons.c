#include "evaluation/comparisons.h"

#include <math.h>

#include "metrics/intervals.h"

#define LEVEL 0.95

static DemurComparisonVerdict
verdict_of(double low, double high, size_t n_units) {
  if (!isfinite(low) || !isfinite(high) || n_units < DEMUR_FEW_SITES)
    return DEMUR_VERDICT_CANNOT_BE_DECIDED;
  return high < 0.0  ? DEMUR_VERDICT_BETTER
         : low > 0.0 ? DEMUR_VERDICT_WORSE
                     : DEMUR_VERDICT_NO_DIFFERENCE_SHOWN;
}

/* A measure's replicates [n_bootstrap][n_methods]. root: they are squares, of which the signed
 * roots are compared. */
static const double *
replicates_of(const DemurReplicates *replicates, DemurCompared measure, gboolean *root) {
  *root = measure != DEMUR_COMPARED_SBCE2;
  return measure == DEMUR_COMPARED_SBCE2      ? replicates->plain_auc
         : measure == DEMUR_COMPARED_DEBIASED ? replicates->debiased2_auc
                                              : replicates->site2_auc;
}

static double
point_of(const DemurMethodResult *result, DemurCompared measure) {
  return measure == DEMUR_COMPARED_SBCE2      ? result->auc[DEMUR_MEASURE_SBCE2].point
         : measure == DEMUR_COMPARED_DEBIASED ? result->debiased_auc
                                              : result->auc[DEMUR_MEASURE_SITE_ERROR].point;
}

static gboolean
is_pair(const DemurMethod *method, const DemurMethod *other) {
  return demur_method_is_compared(method) && method != other && !other->is_selector &&
         (method->is_selector || !demur_method_is_compared(other));
}

static DemurComparison
compare(const DemurReplicates *replicates, const DemurMethodResult *results, DemurCompared measure,
        size_t s, size_t k, double *differences) {
  const DemurReplicatesInput *input = &replicates->input;
  const size_t n_methods = input->methods->len;
  gboolean root;
  const double *values = replicates_of(replicates, measure, &root);
  for (size_t b = 0; b < input->n_bootstrap; b++) {
    const double x = values[b * n_methods + s], y = values[b * n_methods + k];
    differences[b] = root ? demur_signed_root(x) - demur_signed_root(y) : x - y;
  }
  DemurComparison c = {.method = g_strdup(results[s].name),
                       .against = g_strdup(results[k].name),
                       .recalibrated = results[s].recalibrated,
                       .measure = measure,
                       .difference =
                           point_of(&results[s], measure) - point_of(&results[k], measure),
                       .level = LEVEL,
                       .unit = g_strdup(demur_unit_name(input->unit)),
                       .n_units = demur_sample_n_units(input->setup->sample, input->unit)};
  demur_interval_expanded(differences, input->n_bootstrap, c.n_units, LEVEL, &c.low, &c.high);
  c.verdict = verdict_of(c.low, c.high, c.n_units);
  return c;
}

void
demur_comparisons_add(const DemurReplicates *replicates, const DemurMethodResult *results,
                      DemurEvaluation *e) {
  const GPtrArray *methods = replicates->input.methods;
  const size_t n_methods = methods->len;
  g_autofree double *differences = g_new(double, MAX(replicates->input.n_bootstrap, 1));
  e->comparisons = g_renew(DemurComparison, e->comparisons,
                           e->n_comparisons + DEMUR_N_COMPARED * n_methods * n_methods);
  for (DemurCompared measure = 0; measure < DEMUR_N_COMPARED; measure++)
    for (size_t s = 0; s < n_methods; s++)
      for (size_t k = 0; k < n_methods; k++)
        if (is_pair(methods->pdata[s], methods->pdata[k]))
          e->comparisons[e->n_comparisons++] =
              compare(replicates, results, measure, s, k, differences);
}
