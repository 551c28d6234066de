#include "evaluation/comparisons.h"

#include <math.h>
#include <string.h>

#include "metrics/intervals.h"

#define LEVEL 0.95
/* Of the error that one comparison may have, all others together have so much: with the headline's
 * own, chance calls something better in at most 5 % of calibrated cohorts. */
#define OTHERS_SHARE 0.5

/* A measure's replicates [n_bootstrap][n_methods]. root: they are squares, of which the signed
 * roots are compared. */
static const double *
replicates_of(const DemurReplicates *replicates, DemurCompared measure, gboolean *root) {
  *root = measure != DEMUR_COMPARED_SBCE2;
  return measure == DEMUR_COMPARED_SBCE2      ? replicates->plain_auc
         : measure == DEMUR_COMPARED_DEBIASED ? replicates->debiased2_auc
                                              : replicates->site2_auc;
}

double
demur_compared_point(const DemurMethodResult *result, DemurCompared measure) {
  return measure == DEMUR_COMPARED_SBCE2      ? result->auc[DEMUR_MEASURE_SBCE2].point
         : measure == DEMUR_COMPARED_DEBIASED ? result->debiased_auc
                                              : result->auc[DEMUR_MEASURE_SITE_ERROR].point;
}

static gboolean
is_pair(const DemurMethod *method, const DemurMethod *other) {
  if (method->kind == DEMUR_METHOD_CONFIDENCE)
    return other->kind == DEMUR_METHOD_FULL;
  return demur_method_is_compared(method) && method != other &&
         other->kind != DEMUR_METHOD_SELECTOR &&
         (method->kind == DEMUR_METHOD_SELECTOR || !demur_method_is_compared(other));
}

static gboolean
is_selector(const DemurMethod *method) {
  return method->kind == DEMUR_METHOD_SELECTOR;
}

/* The root of the plain square's area, which is what a replicate's debiased square estimates. */
static double
plain_root(const DemurMethodResult *result) {
  return demur_signed_root(result->plain2_auc);
}

/* A difference of roots of debiased squares over few sites, around the point: the jackknife takes
 * the variance of a square for up to twice what it is (Efron and Stein 1981), and the roots of
 * bootstrapped squares, which lie around the plain square, vary too little; the mean of both
 * intervals' widths held where neither did alone (docs/benchmarks.md). differences: memory for
 * n_left_out. */
static void
few_sites_interval(const DemurReplicates *replicates, const double *values, size_t s, size_t k,
                   double *differences, DemurComparison *c) {
  const size_t n_methods = replicates->input.methods->len, n = replicates->n_left_out;
  const double t = demur_student_quantile((1.0 + LEVEL) / 2.0, (double)c->n_units - 1.0);
  double low, high;
  for (size_t i = 0; i < n; i++) {
    const double *row = values + (replicates->input.n_bootstrap + i) * n_methods;
    differences[i] = demur_signed_root(row[s]) - demur_signed_root(row[k]);
  }
  demur_interval_jackknife(differences, n, c->difference, DEMUR_SCALE_IDENTITY, LEVEL, &low, &high);
  /* Without one large site a site error may be undefined: then the bootstrap speaks alone. */
  double half = t * c->standard_error;
  if (isfinite(high - low))
    half = 0.5 * (half + 0.5 * (high - low));
  c->standard_error = half / t;
  const gboolean known = c->n_units >= DEMUR_SQUARES_SITES;
  c->low = known ? c->difference - half : NAN;
  c->high = known ? c->difference + half : NAN;
}

static double
signed_square(double root) {
  return root * fabs(root);
}

/* What a verdict among many is judged by: the difference over its standard error; where roots are
 * shown that of squares (differences [n] of theirs) where it is less, since a signed root turns small
 * chance around 0 into large differences (with roots 9.5 % of calibrated cohorts had a "worse" site
 * error). */
static double
statistic_of(const DemurComparison *c, const double *differences, size_t n, double of_squares) {
  double mean, sd;
  demur_mean_sd(differences, n, &mean, &sd);
  const double units = (double)c->n_units;
  const double squares = of_squares / (sd * sqrt(units / (units - 1.0))),
               roots = c->difference / c->standard_error;
  return fabs(squares) < fabs(roots) ? squares : roots;
}

/* A point that chance has put outside stretches its interval: a difference that is shown beside an
 * interval lies in it. */
static void
hold(double point, double *low, double *high) {
  if (isfinite(point) && isfinite(*low)) {
    *low = fmin(*low, point);
    *high = fmax(*high, point);
  }
}

static DemurComparison
compare(const DemurReplicates *replicates, const DemurMethodResult *results, DemurCompared measure,
        size_t s, size_t k, double *differences) {
  const DemurReplicatesInput *input = &replicates->input;
  const size_t n_methods = input->methods->len, n = input->n_bootstrap;
  gboolean root;
  const double *values = replicates_of(replicates, measure, &root);
  for (size_t b = 0; b < n; b++) {
    const double x = values[b * n_methods + s], y = values[b * n_methods + k];
    differences[b] = root ? demur_signed_root(x) - demur_signed_root(y) : x - y;
  }
  DemurComparison c = {.method = g_strdup(results[s].name),
                       .against = g_strdup(results[k].name),
                       .method_kind = results[s].kind,
                       .against_kind = results[k].kind,
                       .recalibrated = results[s].recalibrated,
                       .measure = measure,
                       .difference = demur_compared_point(&results[s], measure) -
                                     demur_compared_point(&results[k], measure),
                       .level = LEVEL,
                       .unit = input->unit,
                       .n_units = demur_sample_n_units(input->setup->sample, input->unit)};
  double mean, sd;
  demur_mean_sd(differences, n, &mean, &sd);
  const double units = (double)c.n_units;
  c.standard_error = c.n_units > 1 ? sd * sqrt(units / (units - 1.0)) : NAN;
  if (replicates->n_left_out > 0 && root)
    few_sites_interval(replicates, values, s, k, differences, &c);
  else if (measure == DEMUR_COMPARED_DEBIASED)
    demur_interval_symmetric(differences, n, c.difference,
                             plain_root(&results[s]) - plain_root(&results[k]), c.n_units, LEVEL,
                             &c.low, &c.high);
  else
    demur_interval_expanded(differences, n, c.n_units, LEVEL, &c.low, &c.high);
  hold(c.difference, &c.low, &c.high);
  c.statistic = c.difference / c.standard_error;
  if (root) {
    for (size_t b = 0; b < n; b++)
      differences[b] = values[b * n_methods + s] - values[b * n_methods + k];
    c.statistic = statistic_of(&c, differences, n,
                               signed_square(demur_compared_point(&results[s], measure)) -
                                   signed_square(demur_compared_point(&results[k], measure)));
  }
  return c;
}

void
demur_comparisons_add(const DemurReplicates *replicates, const DemurMethodResult *results,
                      gboolean with_first, DemurEvaluation *e) {
  const GPtrArray *methods = replicates->input.methods;
  const size_t n_methods = methods->len;
  g_autofree double *differences = g_new(double, MAX(replicates->n, 1));
  e->comparisons = g_renew(DemurComparison, e->comparisons,
                           e->n_comparisons + DEMUR_N_COMPARED * n_methods * n_methods);
  for (DemurCompared measure = 0; measure < DEMUR_N_COMPARED; measure++)
    for (size_t s = 0; s < n_methods; s++)
      for (size_t k = 0; k < n_methods; k++)
        if (is_pair(methods->pdata[s], methods->pdata[k]) ||
            (with_first && k == 0 && s > 0 && is_selector(methods->pdata[s])))
          e->comparisons[e->n_comparisons++] =
              compare(replicates, results, measure, s, k, differences);
}

/* --- what they show --- */

static gboolean
same_pair(const DemurComparison *a, const DemurComparison *b) {
  return !a->recalibrated == !b->recalibrated && strcmp(a->method, b->method) == 0 &&
         strcmp(a->against, b->against) == 0;
}

/* -1 better, 1 worse, 0 neither, by the interval as it stands. */
static int
side_of(const DemurComparison *c) {
  return c->high < 0.0 ? -1 : c->low > 0.0 ? 1 : 0;
}

/* One thing that is tested: a pair's plain and debiased error together, or its site error. */
typedef struct {
  DemurComparison *parts[2]; /* the second may be NULL */
  gboolean headline;
  int side;     /* of all parts, 0 where they do not agree */
  double ratio; /* the smaller |statistic| */
} Hypothesis;

static Hypothesis
hypothesis_of(DemurEvaluation *e, DemurComparison *first, const char *headline) {
  Hypothesis h = {.parts = {first, NULL}};
  for (size_t c = 0; first->measure == DEMUR_COMPARED_SBCE2 && c < e->n_comparisons; c++)
    if (e->comparisons[c].measure == DEMUR_COMPARED_DEBIASED &&
        same_pair(first, &e->comparisons[c]))
      h.parts[1] = &e->comparisons[c];
  h.headline = first->measure == DEMUR_COMPARED_SBCE2 && strcmp(first->method, headline) == 0 &&
               first->against_kind == DEMUR_METHOD_CONFIDENCE;
  h.side = side_of(first);
  h.ratio = INFINITY;
  for (int p = 0; p < 2 && h.parts[p] != NULL; p++) {
    if (side_of(h.parts[p]) != h.side)
      h.side = 0;
    const double ratio = fabs(h.parts[p]->statistic);
    h.ratio = isfinite(ratio) ? fmin(h.ratio, ratio) : 0.0;
  }
  return h;
}

static int
compare_ratios(gconstpointer a, gconstpointer b) {
  const double x = ((const Hypothesis *)a)->ratio, y = ((const Hypothesis *)b)->ratio;
  return (x < y) - (x > y);
}

static void
give_verdict(const DemurEvaluation *e, const Hypothesis *h, gboolean stands) {
  for (int p = 0; p < 2 && h->parts[p] != NULL; p++) {
    DemurComparison *c = h->parts[p];
    c->corrected = !h->headline;
    c->verdict = e->n_sites < DEMUR_FEW_SITES || !isfinite(c->low) || !isfinite(c->high)
                     ? DEMUR_VERDICT_CANNOT_BE_DECIDED
                 : !stands || h->side == 0 ? DEMUR_VERDICT_NO_DIFFERENCE_SHOWN
                 : h->side < 0             ? DEMUR_VERDICT_BETTER
                                           : DEMUR_VERDICT_WORSE;
  }
}

void
demur_comparisons_judge(DemurEvaluation *e, const char *headline) {
  g_autoptr(GArray) others = g_array_new(FALSE, FALSE, sizeof(Hypothesis));
  for (size_t c = 0; c < e->n_comparisons; c++) {
    if (e->comparisons[c].measure == DEMUR_COMPARED_DEBIASED)
      continue; /* goes with the plain one */
    const Hypothesis h = hypothesis_of(e, &e->comparisons[c], headline);
    if (h.headline)
      give_verdict(e, &h, TRUE);
    else
      g_array_append_val(others, h);
  }
  g_array_sort(others, compare_ratios);
  gboolean stands = TRUE; /* Holm: the first that does not stand takes all behind it along */
  for (guint i = 0; i < others->len; i++) {
    const Hypothesis *h = &g_array_index(others, Hypothesis, i);
    const double n_units = (double)h->parts[0]->n_units;
    const double tail = OTHERS_SHARE * (1.0 - LEVEL) / (2.0 * (double)(others->len - i));
    stands =
        stands && n_units > 1.0 && h->ratio > demur_student_quantile(1.0 - tail, n_units - 1.0);
    give_verdict(e, h, stands);
  }
}
