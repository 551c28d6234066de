/*   A site's interval holds where the weighted number of its outcomes O lies in
 *       E - sqrt((E - E_low)^2 + z^2 V) .. E + sqrt((E_high - E)^2 + z^2 V),
 *   E, E_low, E_high the sums of risks at the interval's median and ends, V = sum w^2 p (1 - p)
 *   (what chance adds), z = 1.96.
 *
 * A decision at threshold t calls a scan where r >= t; a wrong call costs t (nothing would have
 * happened) or 1 - t (something did): the costs under which calling from t on is best.
 * Selectivity: mean cost of the scans held back over that of all; 1: as if drawn by lot. */
#include "evaluation/hold-back.h"

#include <math.h>
#include <string.h>

#include "evaluation/point-releases.h"
#include "metrics/discrimination.h"
#include "metrics/offset-logistic.h"
#include "selector/risk-interval.h"

#define Z 1.959963984540054

/* One selector's intervals, in the order of the sample. */
typedef struct {
  const DemurSample *sample;
  double *middle, *low, *high; /* [n] */
} Intervals;

#define SCANS 4096 /* of a chunk */

typedef struct {
  const DemurSelector *selector;
  const DemurCohort *cohort;
  const DemurEvaluateSite *sites;
  DemurRiskInterval unseen;
  Intervals *intervals;
} Finding;

static void
find_some(size_t chunk, guint worker, gpointer data) {
  const Finding *f = data;
  const Intervals *intervals = f->intervals;
  const DemurSample *sample = intervals->sample;
  const size_t end = MIN((chunk + 1) * SCANS, sample->n);
  for (size_t i = chunk * SCANS; i < end; i++) {
    const DemurEvaluateSite *site =
        f->sites != NULL ? &f->sites[f->cohort->sites[sample->rows[i]]] : NULL;
    const gboolean audited = site != NULL && site->audited;
    const DemurRiskInterval interval =
        audited ? demur_risk_interval_audited(f->selector, site->intercept, site->low, site->high)
                : f->unseen;
    const double l = demur_logit(sample->risks[i]) - (audited ? site->intercept : 0.0);
    demur_risk_interval_at(&interval, demur_sigmoid(l), &intervals->low[i], &intervals->high[i]);
    intervals->middle[i] = demur_sigmoid(l + interval.middle);
  }
}

static void
find_intervals(const DemurSelector *selector, const DemurCohort *cohort,
               const DemurEvaluateSite *sites, DemurParallel *parallel, Intervals *intervals) {
  Finding finding = {
      .selector = selector, .cohort = cohort, .sites = sites, .intervals = intervals};
  if (demur_risk_interval_unseen(selector, &finding.unseen))
    demur_parallel_map(parallel, (intervals->sample->n + SCANS - 1) / SCANS, find_some, &finding);
}

typedef struct {
  double n, observed, expected, low, high, variance;
} SiteSums;

static void
check_sites(const Intervals *intervals, DemurHoldBack *result) {
  const DemurSample *sample = intervals->sample;
  g_autofree SiteSums *sums = g_new0(SiteSums, MAX(sample->n_sites, 1));
  for (size_t i = 0; i < sample->n; i++) {
    const double w = sample->weights != NULL ? sample->weights[i] : 1.0, p = intervals->middle[i];
    SiteSums *site = &sums[sample->sites[i]];
    site->n += w > 0.0;
    site->observed += w > 0.0 ? w * sample->labels[i] : 0.0;
    site->expected += w * p;
    site->low += w * intervals->low[i];
    site->high += w * intervals->high[i];
    site->variance += w * w * p * (1.0 - p);
    result->mean_width += (intervals->high[i] - intervals->low[i]) / (double)sample->n;
  }
  for (size_t s = 0; s < sample->n_sites; s++) {
    const SiteSums *site = &sums[s];
    const double chance = Z * sqrt(site->variance), off = site->observed - site->expected;
    if (site->n < DEMUR_SMALL_CELL)
      continue;
    result->n_sites++;
    result->n_held += off >= -hypot(site->expected - site->low, chance) &&
                      off <= hypot(site->high - site->expected, chance);
  }
}

/* shown [n]: 1 or 0. row: what is shown is set. */
static void
measure_row(const DemurSample *sample, const guint32 *shown, double decision, gboolean rounded,
            DemurHoldBackRow *row) {
  double cost[2] = {0.0, 0.0}, mass[2] = {0.0, 0.0};
  for (size_t i = 0; i < sample->n; i++) {
    const double w = sample->weights != NULL ? sample->weights[i] : 1.0;
    const gboolean called = sample->risks[i] >= decision, there = sample->labels[i] > 0.5;
    row->n_shown += shown[i];
    if (!(w > 0.0))
      continue;
    mass[shown[i]] += w;
    cost[shown[i]] += called == there ? 0.0 : w * (called ? decision : 1.0 - decision);
  }
  const DemurOutcomes outcomes = {sample->n, sample->risks, sample->labels, shown, sample->weights};
  row->coverage = (double)row->n_shown / (double)sample->n;
  row->net_benefit = row->n_shown > 0 ? demur_net_benefit(&outcomes, decision).model : (double)NAN;
  const double all = (cost[0] + cost[1]) / (mass[0] + mass[1]);
  row->selectivity = mass[0] > 0.0 && all > 0.0 ? cost[0] / mass[0] / all : (double)NAN;
  if (rounded && isfinite(row->net_benefit) && isfinite(row->selectivity)) {
    row->net_benefit = demur_told_rounded(row->net_benefit, 1.0 / mass[1]);
    row->selectivity = demur_told_rounded(row->selectivity, 1.0 / (mass[0] * all));
  }
}

static const DemurMethod *
find_method(const GPtrArray *methods, DemurMethodKind kind, const char *name) {
  for (guint k = 0; k < methods->len; k++) {
    const DemurMethod *method = methods->pdata[k];
    if (method->kind == kind && (name == NULL || strcmp(method->name, name) == 0))
      return method;
  }
  return NULL;
}

/* Everything, the rule, and others at the rule's coverage. */
static void
compare_rows(const Intervals *intervals, const char *selector, const GPtrArray *methods,
             gboolean released, DemurHoldBack *result) {
  const DemurSample *sample = intervals->sample;
  g_autofree guint32 *shown = g_new(guint32, MAX(sample->n, 1));
  for (size_t i = 0; i < sample->n; i++)
    shown[i] = 1;
  DemurHoldBackRow *all = &result->rows[result->n_rows++];
  *all = (DemurHoldBackRow){.kind = DEMUR_METHOD_FULL,
                            .method = demur_method_name(DEMUR_METHOD_FULL, NULL)};
  measure_row(sample, shown, result->decision, FALSE, all);
  for (size_t i = 0; i < sample->n; i++)
    shown[i] =
        !demur_risk_interval_crosses(intervals->low[i], intervals->high[i], result->decision);
  DemurHoldBackRow *rule = &result->rows[result->n_rows++];
  *rule = (DemurHoldBackRow){.is_rule = TRUE, .method = g_strdup("interval")};
  measure_row(sample, shown, result->decision, released, rule);
  const struct {
    DemurMethodKind kind;
    const char *name; /* NULL: the only one */
  } others[] = {{DEMUR_METHOD_SELECTOR, selector}, {DEMUR_METHOD_CONFIDENCE, NULL}};
  for (size_t m = 0; rule->n_shown > 0 && m < G_N_ELEMENTS(others); m++) {
    const DemurMethod *method = find_method(methods, others[m].kind, others[m].name);
    gssize rank;
    if (method == NULL)
      continue;
    double coverage = rule->coverage;
    if (released && method->n_ranks[0] > 1) {
      const DemurToldCoverages told = demur_told_coverages(sample, method);
      coverage = demur_told_coverages_nearest(&told, coverage);
    }
    DemurHoldBackRow *row = &result->rows[result->n_rows++];
    *row = (DemurHoldBackRow){.kind = method->kind,
                              .method = g_strdup(method->name),
                              .coverage = NAN,
                              .net_benefit = NAN,
                              .selectivity = NAN};
    if (isnan(coverage)) /* no set near it may be told */
      continue;
    demur_method_threshold(method, 0, sample->n, coverage, &rank);
    for (size_t i = 0; i < sample->n; i++)
      shown[i] = (gssize)method->ranks[0][i] <= rank;
    measure_row(sample, shown, result->decision, FALSE, row);
  }
}

void
demur_hold_back_add(const DemurHoldBackInput *input, DemurParallel *parallel, DemurEvaluation *e) {
  if (e->n_classes > 2)
    return;
  g_autofree double *middle = g_new0(double, MAX(input->sample->n, 1)),
                    *low = g_new0(double, MAX(input->sample->n, 1)),
                    *high = g_new0(double, MAX(input->sample->n, 1));
  Intervals intervals = {input->sample, middle, low, high};
  e->hold_back = g_renew(DemurHoldBack, e->hold_back, e->n_hold_back + input->n_selectors);
  for (size_t s = 0; s < input->n_selectors; s++) {
    DemurHoldBack *result = &e->hold_back[e->n_hold_back++];
    const double tuned = input->decisions != NULL ? input->decisions[s] : 0.0;
    *result = (DemurHoldBack){.selector = g_strdup(input->names[s]),
                              .recalibrated = input->recalibrated,
                              .tuned = tuned > 0.0,
                              .decision = tuned > 0.0 ? tuned : e->net_benefit_threshold};
    find_intervals(input->selectors[s], input->cohort, input->sites, parallel, &intervals);
    check_sites(&intervals, result);
    g_autofree char *name = demur_method_name(DEMUR_METHOD_SELECTOR, input->names[s]);
    compare_rows(&intervals, name, input->methods, input->released, result);
  }
}
