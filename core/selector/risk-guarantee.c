/*   risk(tau) = max_b |mu_b|,   mu_b = E[y - r | score >= tau, r in bin b],   10 bins of r.
 *
 * Fixed before any label of the tuning split is looked at: the bins (deciles of the training
 * scans' r), the thresholds (training scans' scores at coverages .05, .10, .., 1), which of them
 * are tested and in which order (coverage ascending), and the bets. So the tuning scans accepted
 * in a bin, one a patient, are an independent sample from what mu_b is the mean over, whatever
 * their number.
 *
 * One bin, one side. With d = y - r and H: mu_b > alpha, each factor of
 *     K = prod_i (1 + lambda (alpha - d_i)),   0 <= lambda < 1 / (max d - alpha),
 * is positive and has mean 1 + lambda (alpha - mu_b) < 1 under H, so E K <= 1, the mean of K over
 * the bets lambda, lambda/2, lambda/4, lambda/8 is at most 1 too, and by Markov P(K >= 10 / delta)
 * <= delta / 10: exact at any n, without a normal approximation, and the order of the scans does
 * not matter. Likewise with -d for mu_b < -alpha. The largest bet is the one that would make the
 * capital grow fastest on the training scans' r if y ~ Bernoulli(r): it adapts to the spread
 * r (1 - r), which a bound from the range of d alone can't; the smaller ones win where the risks
 * are off by something less than alpha. max d = 1 - low, min d = -high of the bin; a side that
 * can't exceed alpha for that reason needs no test.
 *
 * One step passes if every bin has no accepted scan, or at least 25 and K >= 10 / delta on both
 * sides. Let mu_b exceed alpha in a bin that holds a share p >= min_share = 1 - (delta/10)^(1/n)
 * of all scans among the accepted. The step passes only if that bin is empty, (1 - p)^n <=
 * delta/10, or if its one wrong side passes, <= delta/10: together at most delta/5 <= delta. Both
 * sides may have delta/10 each, since only one of them can be wrong; and no sum over bins is
 * needed, since all must pass. (delta/10 and not delta/2 is the specification's choice; it makes
 * the ten bins' statements hold together.)
 *
 * The steps. Let J be the first tested step whose risk exceeds alpha. J is fixed, the final
 * threshold is wrong only if J passed, so delta is spent once however many steps there are. Steps
 * that are hopeless for the number of patients (a bin would hold too few accepted scans for a
 * well calibrated risk to pass) would end the sequence at once and are left out of it, which
 * the training scans alone decide; if all are, the last is tested.
 *
 * Several networks: a step passes if it does for each, at its own threshold.
 *
 * Cost: O(n_kept) x 80 for the bets, O(steps n) for the tests. */
#include "selector/risk-guarantee.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sort-floats.h"
#include "metrics/coverage.h"
#include "selector/selector-private.h"

#define N_BETS 4
#define SPARE 2.0      /* standard errors to spare before a step is worth testing */
#define ALLOWANCE 0.25 /* share of alpha by which the risks may be off and still pass */

void
demur_risk_plan_free(DemurRiskPlan *plan) {
  if (plan == NULL)
    return;
  g_free(plan->coverages);
  g_free(plan->thresholds);
  g_free(plan);
}

static double
bet_of(double lambda, size_t j) {
  return ldexp(lambda, -(int)j);
}

size_t
demur_risk_plan_bin(const DemurRiskPlan *plan, double risk) {
  size_t bin = 0;
  while (bin + 1 < DEMUR_RISK_BINS && risk > plan->edges[bin + 1])
    bin++;
  return bin;
}

double
demur_risk_log_capital(double lambda, double alpha, int side, const double *differences, size_t n) {
  double logs[N_BETS], largest = -INFINITY, sum = 0.0;
  for (size_t j = 0; j < N_BETS; j++) {
    const double bet = bet_of(lambda, j);
    double product = 1.0;
    logs[j] = 0.0;
    for (size_t i = 0; i < n; i++) {
      const double factor = 1.0 + bet * (alpha - side * differences[i]);
      product *= fmax(factor, 0.0);
      if (product < 1e-200 || product > 1e200) { /* no logarithm a scan */
        logs[j] += log(product);
        product = 1.0;
      }
    }
    logs[j] += log(product);
    largest = fmax(largest, logs[j]);
  }
  if (!isfinite(largest))
    return -INFINITY;
  for (size_t j = 0; j < N_BETS; j++)
    sum += exp(logs[j] - largest);
  return largest + log(sum / N_BETS);
}

/* The largest value that side * (y - r) can take in a bin. */
static double
largest_difference(const DemurRiskPlan *plan, size_t bin, int side) {
  return side > 0 ? 1.0 - plan->edges[bin] : plan->edges[bin + 1];
}

/* Mean and variance of log(1 + lambda (alpha - side (y - r))) over risks [n] with y ~ Bernoulli(r +
 * side off), clipped. */
static double
growth(double lambda, double alpha, double off, int side, const double *risks, size_t n,
       double *variance) {
  double mean = 0.0, square = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double r = risks[i];
    const double with = log1p(lambda * (alpha - side * (1.0 - r)));
    const double without = log1p(lambda * (alpha + side * r));
    const double p = CLAMP(r + side * off, 0.0, 1.0);
    mean += p * with + (1.0 - p) * without;
    square += p * with * with + (1.0 - p) * without * without;
  }
  mean /= (double)n;
  if (variance != NULL)
    *variance = fmax(0.0, square / (double)n - mean * mean);
  return mean;
}

/* Golden section on [0, cap): the growth is concave in lambda. */
static double
best_bet(double cap, double alpha, int side, const double *risks, size_t n) {
  const double ratio = 0.5 * (sqrt(5.0) - 1.0);
  double low = 0.0, high = cap;
  double a = high - ratio * (high - low), b = low + ratio * (high - low);
  double at_a = growth(a, alpha, 0.0, side, risks, n, NULL);
  double at_b = growth(b, alpha, 0.0, side, risks, n, NULL);
  for (int step = 0; step < 40; step++) {
    if (at_a < at_b) {
      low = a;
      a = b;
      at_a = at_b;
      b = low + ratio * (high - low);
      at_b = growth(b, alpha, 0.0, side, risks, n, NULL);
    } else {
      high = b;
      b = a;
      at_b = at_a;
      a = high - ratio * (high - low);
      at_a = growth(a, alpha, 0.0, side, risks, n, NULL);
    }
  }
  return 0.5 * (low + high);
}

/* Accepted scans of the bin with which a risk that is off by ALLOWANCE alpha passes either side
 * with SPARE standard errors to spare. */
static double
scans_needed(const DemurRiskPlan *plan, size_t bin, const double *risks, size_t n) {
  double needed = DEMUR_RISK_MIN_BIN;
  const double goal = log(N_BETS * DEMUR_RISK_BINS / plan->delta);
  for (int s = 0; s < 2; s++) {
    const int side = s == 0 ? 1 : -1;
    if (largest_difference(plan, bin, side) <= plan->alpha)
      continue;
    double least = INFINITY;
    for (size_t j = 0; j < N_BETS; j++) {
      double variance;
      const double mean = growth(bet_of(plan->bets[bin][s], j), plan->alpha,
                                 ALLOWANCE * plan->alpha, side, risks, n, &variance);
      if (!(mean > 0.0))
        continue;
      /* mean c - SPARE sqrt(variance c) = goal */
      const double half = 0.5 * SPARE * sqrt(variance);
      const double root = (half + sqrt(half * half + mean * goal)) / mean;
      least = fmin(least, root * root);
    }
    needed = fmax(needed, least);
  }
  return needed;
}

static void
set_edges(DemurRiskPlan *plan, const float *risks, size_t n) {
  g_autofree float *sorted = g_memdup2(risks, n * sizeof *risks);
  demur_sort_floats(sorted, n);
  plan->edges[0] = 0.0;
  for (size_t b = 1; b < DEMUR_RISK_BINS; b++)
    plan->edges[b] = (double)sorted[b * n / DEMUR_RISK_BINS - 1];
  plan->edges[DEMUR_RISK_BINS] = 1.0;
}

static void
set_bets(DemurRiskPlan *plan, const double *const *risks, const size_t *counts) {
  for (size_t b = 0; b < DEMUR_RISK_BINS; b++)
    for (int s = 0; s < 2; s++) {
      const int side = s == 0 ? 1 : -1;
      const double room = largest_difference(plan, b, side) - plan->alpha;
      /* A bit below the largest bet: at it one scan could take all. */
      const double cap = room > 0.0 ? 0.999 / room : 0.0;
      plan->bets[b][s] = room <= 0.0      ? 0.0
                         : counts[b] == 0 ? 0.5 * cap
                                          : best_bet(cap, plan->alpha, side, risks[b], counts[b]);
    }
}

/* Patients with which the step at threshold would be worth testing. */
static double
patients_needed(const DemurRiskPlan *plan, double threshold, const double *scores,
                const float *kept_risks, size_t n_kept, double *const *accepted) {
  size_t counts[DEMUR_RISK_BINS] = {0};
  for (size_t i = 0; i < n_kept; i++)
    if (scores[i] >= threshold) {
      const size_t b = demur_risk_plan_bin(plan, (double)kept_risks[i]);
      accepted[b][counts[b]++] = (double)kept_risks[i];
    }
  double needed = 0.0;
  for (size_t b = 0; b < DEMUR_RISK_BINS; b++) {
    if (counts[b] == 0)
      continue;
    /* The number that falls into the bin is random too: e - SPARE sqrt(e) = needed. */
    const double c = scans_needed(plan, b, accepted[b], counts[b]);
    const double root = 0.5 * (SPARE + sqrt(SPARE * SPARE + 4.0 * c));
    needed = fmax(needed, root * root * (double)n_kept / (double)counts[b]);
  }
  return needed;
}

DemurRiskPlan *
demur_risk_plan_new(double alpha, double delta, double max_coverage,
                    const double *const *kept_scores, size_t n_networks, const float *kept_risks,
                    size_t n_kept, size_t n_patients, GError **error) {
  if (!(alpha > 0.0 && alpha < 1.0 && delta > 0.0 && delta < 1.0)) {
    demur_error_set(
        error, DEMUR_ERROR_USAGE,
        "the guaranteed risk's alpha is %g and its delta %g; both must lie between 0 and "
        "1, for example 0.1,0.1",
        alpha, delta);
    return NULL;
  }
  if (!(max_coverage >= 1.0 / DEMUR_RISK_GRID && max_coverage <= 1.0)) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "a risk is guaranteed at coverages from 0.05 to 1, not at most at %g",
                    max_coverage);
    return NULL;
  }
  if (n_kept < 10 * DEMUR_RISK_BINS || n_patients == 0) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "a risk cannot be guaranteed: the selector keeps %zu training scans and %zu "
        "patients tune it; it needs %d training scans to make its bins of, and patients",
        n_kept, n_patients, 10 * DEMUR_RISK_BINS);
    return NULL;
  }
  DemurRiskPlan *plan = g_new0(DemurRiskPlan, 1);
  plan->alpha = alpha;
  plan->delta = delta;
  plan->n_patients = n_patients;
  plan->n_networks = n_networks;
  plan->min_share = -expm1(log(delta / DEMUR_RISK_BINS) / (double)n_patients);
  set_edges(plan, kept_risks, n_kept);
  double *risks[DEMUR_RISK_BINS];
  size_t counts[DEMUR_RISK_BINS] = {0};
  for (size_t b = 0; b < DEMUR_RISK_BINS; b++)
    risks[b] = g_new(double, n_kept);
  for (size_t i = 0; i < n_kept; i++) {
    const size_t b = demur_risk_plan_bin(plan, (double)kept_risks[i]);
    risks[b][counts[b]++] = (double)kept_risks[i];
  }
  set_bets(plan, (const double *const *)risks, counts);
  plan->coverages = g_new(double, DEMUR_RISK_GRID);
  plan->thresholds = g_new(double, DEMUR_RISK_GRID *n_networks);
  plan->n_needed = INFINITY;
  size_t last = 0;
  for (size_t g = 1; g <= DEMUR_RISK_GRID; g++)
    if ((double)g / DEMUR_RISK_GRID <= max_coverage)
      last = g;
  for (size_t g = 1; g <= last; g++) {
    const double coverage = (double)g / DEMUR_RISK_GRID;
    double *thresholds = plan->thresholds + plan->n_steps * n_networks;
    for (size_t m = 0; m < n_networks; m++)
      thresholds[m] = demur_coverage_threshold(coverage, kept_scores[m], n_kept);
    const double needed =
        patients_needed(plan, thresholds[0], kept_scores[0], kept_risks, n_kept, risks);
    plan->n_needed = fmin(plan->n_needed, needed);
    if (needed <= (double)n_patients || (g == last && plan->n_steps == 0))
      plan->coverages[plan->n_steps++] = coverage;
  }
  for (size_t b = 0; b < DEMUR_RISK_BINS; b++)
    g_free(risks[b]);
  return plan;
}

/* Scores [n_models][n_kept] (owned) of the training scans that the selector keeps. */
static double *
score_kept(const DemurSelector *s) {
  const size_t n = s->n_kept;
  DEMUR_AUTO_ALIGNED double *meta = demur_selector_kept_meta(s);
  double *all = g_new(double, MAX(n, 1) * s->n_models);
  for (size_t m = 0; m < s->n_models; m++)
    demur_selector_scores(s, m, meta, n, all + m * n);
  return all;
}

size_t
demur_risk_grid_from_selector(const DemurSelector *s, double max_coverage, double *coverages,
                              double *thresholds, GError **error) {
  if (s->n_kept < 10 * DEMUR_RISK_BINS) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "nothing can be guaranteed: the selector keeps %zu training scans and needs %d to "
        "make its thresholds of",
        s->n_kept, 10 * DEMUR_RISK_BINS);
    return 0;
  }
  g_autofree double *scores = score_kept(s);
  size_t n_steps = 0;
  for (size_t g = 1; g <= DEMUR_RISK_GRID; g++) {
    const double coverage = (double)g / DEMUR_RISK_GRID;
    if (n_steps > 0 && coverage > max_coverage)
      break;
    coverages[n_steps] = coverage;
    for (size_t m = 0; m < s->n_models; m++)
      thresholds[n_steps * s->n_models + m] =
          demur_coverage_threshold(coverage, scores + m * s->n_kept, s->n_kept);
    n_steps++;
  }
  return n_steps;
}

DemurRiskPlan *
demur_risk_plan_from_selector(double alpha, double delta, double max_coverage,
                              const DemurSelector *selector, size_t n_patients, GError **error) {
  const DemurSelector *s = selector;
  const size_t n = s->n_kept;
  g_autofree double *all = score_kept(s);
  g_autofree const double **scores = g_new(const double *, s->n_models);
  for (size_t m = 0; m < s->n_models; m++)
    scores[m] = all + m * n;
  return demur_risk_plan_new(alpha, delta, max_coverage, scores, s->n_models, s->kept_risks, n,
                             n_patients, error);
}

/* One step of one network. Fills bins; failed: the bin that failed. */
static gboolean
test_step(const DemurRiskPlan *plan, double threshold, const double *scores, const double *risks,
          const double *labels, const guint32 *rows, size_t n_rows, DemurRiskBin *bins,
          size_t *failed) {
  g_autofree double *differences = g_new(double, MAX(n_rows, 1)); /* of one bin */
  const double goal = log(DEMUR_RISK_BINS / plan->delta);
  gboolean passed = TRUE;
  for (size_t b = 0; b < DEMUR_RISK_BINS; b++) {
    DemurRiskBin *bin = &bins[b];
    *bin = (DemurRiskBin){plan->edges[b], plan->edges[b + 1], 0, NAN};
    double sum = 0.0;
    for (size_t i = 0; i < n_rows; i++) {
      const guint32 row = rows[i];
      if (!(scores[row] >= threshold) || demur_risk_plan_bin(plan, risks[row]) != b)
        continue;
      differences[bin->n++] = labels[row] - risks[row];
      sum += labels[row] - risks[row];
    }
    if (bin->n == 0)
      continue;
    bin->difference = sum / (double)bin->n;
    gboolean ok = bin->n >= DEMUR_RISK_MIN_BIN;
    for (int s = 0; ok && s < 2; s++) {
      const int side = s == 0 ? 1 : -1;
      ok = largest_difference(plan, b, side) <= plan->alpha ||
           demur_risk_log_capital(plan->bets[b][s], plan->alpha, side, differences, bin->n) >= goal;
    }
    if (!ok && passed)
      *failed = b;
    passed &= ok;
  }
  return passed;
}

static void
refuse(const DemurRiskPlan *plan, const DemurRiskBin *bin, size_t n, GError **error) {
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(
      text,
      "a calibration error of at most %g in every bin of risk with delta %g cannot be guaranteed "
      "with n = %zu patient%s: at coverage %g ",
      plan->alpha, plan->delta, n, n == 1 ? "" : "s", plan->coverages[0]);
  if (bin->n == 1)
    g_string_append_printf(text,
                           "the only accepted scan with a risk from %.3f to %.3f differs from it "
                           "by %+.3f",
                           bin->low, bin->high, bin->difference);
  else
    g_string_append_printf(text,
                           "the %zu accepted scans with a risk from %.3f to %.3f differ from their "
                           "risk by %+.3f on average",
                           bin->n, bin->low, bin->high, bin->difference);
  if (bin->n < DEMUR_RISK_MIN_BIN)
    g_string_append_printf(text, ", and fewer than %d can show nothing", DEMUR_RISK_MIN_BIN);
  if ((double)n < plan->n_needed && isfinite(plan->n_needed))
    g_string_append_printf(text, "; well calibrated risks would need about %.0f patients",
                           ceil(plan->n_needed));
  g_string_append(text, ". Tune on more patients, or ask for a larger alpha or delta");
  demur_error_set(error, DEMUR_ERROR_STATE, "%s", text->str);
}

static DemurTuning *
new_tuning(const DemurRiskPlan *plan, size_t step, const double *const *scores, size_t n,
           size_t n_chosen) {
  DemurTuning *tuning = g_new0(DemurTuning, 1);
  tuning->kind = DEMUR_TUNING_RISK;
  tuning->coverage = plan->coverages[step];
  tuning->n_networks = plan->n_networks;
  tuning->thresholds =
      g_memdup2(plan->thresholds + step * plan->n_networks, plan->n_networks * sizeof(double));
  size_t n_accepted = 0;
  for (size_t i = 0; i < n; i++)
    n_accepted += scores[0][i] >= tuning->thresholds[0];
  tuning->realised = (double)n_accepted / (double)n;
  tuning->n_scans = n;
  tuning->n_patients = n_chosen;
  tuning->alpha = plan->alpha;
  tuning->delta = plan->delta;
  tuning->min_share = plan->min_share;
  tuning->sentence = g_strdup_printf(
      "For scans drawn like the tuning split (one scan of each of %zu patients), the outcomes of "
      "accepted scans differ from their risks by at most %g on average in each of %d bins of risk "
      "that holds at least %.2g %% of all scans, with a probability of at least %.4g %% over the "
      "draw of that split. For a site that is not in the tuning split nothing is guaranteed.",
      n_chosen, plan->alpha, DEMUR_RISK_BINS, 100.0 * plan->min_share, 100.0 * (1.0 - plan->delta));
  return tuning;
}

DemurTuning *
demur_tune_guaranteed_risk(const DemurRiskPlan *plan, const double *const *scores,
                           const double *risks, const double *labels, const guint32 *patients,
                           size_t n, guint64 seed, GError **error) {
  size_t n_chosen, n_unlabelled = 0;
  g_autofree guint32 *rows = demur_one_scan_a_patient(patients, n, seed, &n_chosen);
  for (size_t i = 0; i < n_chosen; i++)
    n_unlabelled += isfinite(labels[rows[i]]) ? 0 : 1;
  if (n_unlabelled > 0 || n_chosen == 0) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "a risk cannot be guaranteed: the outcome of %zu of %zu patients of the tuning split "
        "is not known (no label, or left before the horizon), and the bounds are of outcomes "
        "that are not weighted; tune at a shorter horizon, or guarantee a measure, which "
        "counts such a patient as the worse of both (--guarantee)",
        n_unlabelled, n_chosen);
    return NULL;
  }
  g_autofree DemurRiskBin *bins = g_new0(DemurRiskBin, DEMUR_RISK_BINS);
  g_autofree DemurRiskBin *first = g_new0(DemurRiskBin, DEMUR_RISK_BINS);
  g_autofree DemurRiskBin *kept = NULL;
  size_t n_passed = 0;
  gboolean passed = TRUE;
  while (passed && n_passed < plan->n_steps) {
    for (size_t m = 0; passed && m < plan->n_networks; m++) {
      size_t failed = 0;
      passed = test_step(plan, plan->thresholds[n_passed * plan->n_networks + m], scores[m], risks,
                         labels, rows, n_chosen, m == 0 ? first : bins, &failed);
      if (!passed && n_passed == 0) {
        refuse(plan, m == 0 ? &first[failed] : &bins[failed], n_chosen, error);
        return NULL;
      }
    }
    if (!passed)
      break;
    g_free(kept);
    kept = g_memdup2(first, DEMUR_RISK_BINS * sizeof *first);
    n_passed++;
  }
  DemurTuning *tuning = new_tuning(plan, n_passed - 1, scores, n, n_chosen);
  tuning->n_bins = DEMUR_RISK_BINS;
  tuning->bins = g_steal_pointer(&kept);
  return tuning;
}
