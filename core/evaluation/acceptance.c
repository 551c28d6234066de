/* The equations are in acceptance.h and metrics/betting.h. Drawing: candidate i is taken with
 * chance pi_i = min(1, k sqrt(r_i (1 - r_i)) / max), independently, so that those taken are
 * independent draws of the site's population tilted by pi, and weights 1 / pi tilt it back. k is 1
 * where that gives enough labels, else as large as it must be. Why sqrt(r (1 - r)): for a fixed
 * number of labels the variance of sum w (y - r) is least (Neyman). */
#include "evaluation/acceptance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/random.h"
#include "metrics/intervals.h"
#include "metrics/offset-logistic.h"

#define N_BOOTSTRAP 1000

gboolean
demur_acceptance_settings_check(const DemurAcceptanceSettings *s, GError **error) {
  if (!(s->low > 0.0 && s->low < 1.0 && s->high > 1.0 && isfinite(s->high))) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "the range of O:E must hold 1 inside, such as 0.8,1.25; not %g,%g", s->low,
                    s->high);
    return FALSE;
  }
  if (!(s->alpha > 0.0 && s->alpha < 1.0 && s->power > 0.0 && s->power < 1.0)) {
    demur_error_set(error, DEMUR_ERROR_USAGE, "alpha and power lie between 0 and 1");
    return FALSE;
  }
  return TRUE;
}

void
demur_acceptance_plan_free(DemurAcceptancePlan *plan) {
  if (plan == NULL)
    return;
  g_free(plan->order);
  g_free(plan->weights);
  g_free(plan);
}

static const char *const answer_names[] = {"more", "accepted", "not accepted"};

const char *
demur_acceptance_answer_name(DemurAcceptanceAnswer answer) {
  return answer_names[answer];
}

gboolean
demur_acceptance_answer_from_name(const char *name, DemurAcceptanceAnswer *answer) {
  for (guint a = 0; a < G_N_ELEMENTS(answer_names); a++)
    if (g_strcmp0(name, answer_names[a]) == 0) {
      *answer = (DemurAcceptanceAnswer)a;
      return TRUE;
    }
  return FALSE;
}

/* The two bets that must both be won. */
typedef struct {
  DemurBet above, below;
  double limit;
} Test;

static Test
test_new(const DemurAcceptancePlan *plan) {
  return (Test){
      demur_bet_new(DEMUR_BET_ABOVE, plan->settings.low, plan->bounds, plan->fraction_above),
      demur_bet_new(DEMUR_BET_BELOW, plan->settings.high, plan->bounds, plan->fraction_below),
      1.0 / plan->settings.alpha};
}

/* Both are won at this look. */
static gboolean
test_add(Test *test, double weight, double label, double risk) {
  demur_bet_add(&test->above, weight, label, risk);
  demur_bet_add(&test->below, weight, label, risk);
  return demur_bet_value(&test->above) >= test->limit &&
         demur_bet_value(&test->below) >= test->limit;
}

/* Labels until a test is accepted, of pairs drawn with the chances (cumulative [n]), y being 1 with
 * probability ratio r; most + 1 where it is not by then. */
static size_t
simulate(Test test, const double *cumulative, const double *weights, const double *risks, size_t n,
         double ratio, size_t most, DemurRandom *random) {
  for (size_t step = 1; step <= most; step++) {
    const double u = demur_random_uniform(random) * cumulative[n - 1];
    size_t low = 0, high = n - 1;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (cumulative[middle] > u)
        high = middle;
      else
        low = middle + 1;
    }
    const double label = demur_random_uniform(random) < ratio * risks[low] ? 1.0 : 0.0;
    if (test_add(&test, weights[low], label, risks[low]))
      return step;
  }
  return most + 1;
}

static int
compare_sizes(const void *a, const void *b) {
  const size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

/* Ascending lengths [DEMUR_ACCEPTANCE_RUNS] of tests that go on from `test` (owned). chances NULL:
 * all alike. */
static size_t *
simulate_lengths(const Test *test, const double *chances, const double *weights,
                 const double *risks, size_t n, double ratio, guint64 seed) {
  const size_t most = DEMUR_ACCEPTANCE_MOST;
  g_autofree double *cumulative = g_new(double, n);
  double sum = 0.0;
  for (size_t i = 0; i < n; i++)
    cumulative[i] = sum += chances != NULL ? chances[i] : 1.0;
  size_t *lengths = g_new(size_t, DEMUR_ACCEPTANCE_RUNS);
  for (size_t run = 0; run < DEMUR_ACCEPTANCE_RUNS; run++) {
    DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_ACCEPTANCE, 1, run, 0);
    lengths[run] = simulate(*test, cumulative, weights, risks, n, ratio, most, &random);
  }
  qsort(lengths, DEMUR_ACCEPTANCE_RUNS, sizeof *lengths, compare_sizes);
  return lengths;
}

/* 0: more than DEMUR_ACCEPTANCE_MOST. */
static size_t
quantile_length(const size_t *lengths, double share) {
  const size_t at = (size_t)ceil(share * DEMUR_ACCEPTANCE_RUNS) - 1;
  return lengths[at] <= DEMUR_ACCEPTANCE_MOST ? lengths[at] : 0;
}

/* Sets stakes, bounds and lengths for candidates with these chances. */
static void
design(DemurAcceptancePlan *plan, const double *weights, const double *risks, size_t n,
       guint64 seed) {
  plan->bounds = (DemurBetBounds){0.0, 0.0};
  g_autofree double *chances = g_new(double, n);
  double total = 0.0;
  for (size_t i = 0; i < n; i++) {
    plan->bounds.outcome = fmax(plan->bounds.outcome, weights[i]);
    plan->bounds.risk = fmax(plan->bounds.risk, weights[i] * risks[i]);
    total += chances[i] = 1.0 / weights[i];
  }
  /* The growth is that of labels as they are drawn: a few thousand places of the tilted
   * population, evenly by its cumulative chances. */
  const size_t n_places = MIN(n, 4096);
  g_autofree double *place_weights = g_new(double, n_places),
                    *place_risks = g_new(double, n_places);
  double sum = 0.0;
  for (size_t i = 0, place = 0; i < n && place < n_places; i++) {
    sum += chances[i];
    while (place < n_places && sum >= ((double)place + 0.5) / (double)n_places * total) {
      place_weights[place] = weights[i];
      place_risks[place++] = risks[i];
    }
  }
  plan->fraction_above = demur_bet_fraction(DEMUR_BET_ABOVE, plan->settings.low, plan->bounds, 1.0,
                                            place_weights, place_risks, n_places);
  plan->fraction_below = demur_bet_fraction(DEMUR_BET_BELOW, plan->settings.high, plan->bounds, 1.0,
                                            place_weights, place_risks, n_places);
  const Test test = test_new(plan);
  g_autofree size_t *lengths = simulate_lengths(&test, chances, weights, risks, n, 1.0, seed);
  plan->n_needed = quantile_length(lengths, plan->settings.power);
  plan->n_usual = quantile_length(lengths, 0.5);
  size_t n_within = 0;
  while (n_within < DEMUR_ACCEPTANCE_RUNS && lengths[n_within] <= plan->n_chosen)
    n_within++;
  plan->power = (double)n_within / DEMUR_ACCEPTANCE_RUNS;
}

/* weights [n] of chances min(1, k tilt); their expected number of candidates. */
static double
weigh(const double *tilts, size_t n, double k, double *weights) {
  double expected = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double chance = fmin(1.0, k * tilts[i]);
    weights[i] = 1.0 / chance;
    expected += chance;
  }
  return expected;
}

DemurAcceptancePlan *
demur_acceptance_plan_new(const double *risks, size_t n, const DemurAcceptanceSettings *settings,
                          guint64 seed, GError **error) {
  if (!demur_acceptance_settings_check(settings, error))
    return NULL;
  if (n == 0) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "no risk is shown at this site: there is nothing to accept");
    return NULL;
  }
  DemurAcceptancePlan *plan = g_new0(DemurAcceptancePlan, 1);
  plan->settings = *settings;
  g_autofree double *tilts = g_new(double, n), *weights = g_new(double, n);
  double most = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double r = CLAMP(risks[i], 1e-6, 1.0 - 1e-6);
    most = fmax(most, tilts[i] = sqrt(r * (1.0 - r)));
  }
  for (size_t i = 0; i < n; i++)
    tilts[i] /= most;
  double expected = weigh(tilts, n, 1.0, weights);
  design(plan, weights, risks, n, seed);
  /* A tenth more than needed, for the chance in the number that is drawn. */
  const double wanted = plan->n_needed > 0 ? 1.1 * (double)plan->n_needed + 10.0 : INFINITY;
  for (double k = 1.25; expected < wanted && expected < (double)n; k *= 1.25)
    expected = weigh(tilts, n, k, weights);
  plan->order = g_new(guint32, n);
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_ACCEPTANCE, 0, 0, 0);
  for (size_t i = 0; i < n; i++)
    if (demur_random_uniform(&random) * weights[i] < 1.0)
      plan->order[plan->n_chosen++] = (guint32)i;
  demur_random_shuffle(&random, plan->n_chosen, plan->order);
  /* What nobody will need is not asked for. */
  if (plan->n_needed > 0)
    plan->n_chosen = MIN(plan->n_chosen, 2 * plan->n_needed);
  design(plan, weights, risks, n, seed);
  plan->weights = g_new(double, MAX(plan->n_chosen, 1));
  for (size_t i = 0; i < plan->n_chosen; i++)
    plan->weights[i] = weights[plan->order[i]];
  return plan;
}

/* Weighted calibration intercept b of logit r + b by Newton steps, and its sandwich interval. */
static void
fit_intercept(const double *risks, const double *labels, const double *weights, size_t n,
              DemurAcceptance *result) {
  double b = 0.0, information = 0.0;
  for (int step = 0; step < 50; step++) {
    double score = 0.0;
    information = 0.0;
    for (size_t i = 0; i < n; i++) {
      const double p = demur_sigmoid(demur_logit(risks[i]) + b);
      score += weights[i] * (labels[i] - p);
      information += weights[i] * p * (1.0 - p);
    }
    const double change = CLAMP(score / information, -1.0, 1.0);
    b += change;
    if (fabs(change) < 1e-12)
      break;
  }
  double variance = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double d = weights[i] * (labels[i] - demur_sigmoid(demur_logit(risks[i]) + b));
    variance += d * d;
  }
  const double error = sqrt(variance) / information, z = demur_normal_quantile(0.975);
  result->intercept = b;
  result->intercept_low = b - z * error;
  result->intercept_high = b + z * error;
}

/* One entry of the weighted AUROC, sorted by risk. */
typedef struct {
  double risk, label, weight;
  guint32 place;
} Entry;

static int
compare_entries(const void *a, const void *b) {
  const Entry *x = a, *y = b;
  if (x->risk != y->risk)
    return x->risk < y->risk ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

/* P(r+ > r-) + P(r+ = r-) / 2, entries ascending, counts by place; NaN where an outcome is
 * missing. */
static double
weighted_auroc(const Entry *entries, size_t n, const guint32 *counts) {
  double below = 0.0, wins = 0.0, positives = 0.0, negatives = 0.0;
  for (size_t i = 0; i < n;) {
    double tied_positives = 0.0, tied_negatives = 0.0;
    const double risk = entries[i].risk;
    for (; i < n && entries[i].risk == risk; i++) {
      const double weight = entries[i].weight * (double)counts[entries[i].place];
      if (entries[i].label > 0.5)
        tied_positives += weight;
      else
        tied_negatives += weight;
    }
    wins += tied_positives * (below + 0.5 * tied_negatives);
    below += tied_negatives;
    positives += tied_positives;
    negatives += tied_negatives;
  }
  return positives > 0.0 && negatives > 0.0 ? wins / (positives * negatives) : NAN;
}

static void
measure_auroc(const double *risks, const double *labels, const double *weights, size_t n,
              guint64 seed, DemurAcceptance *result) {
  g_autofree Entry *entries = g_new(Entry, n);
  g_autofree guint32 *counts = g_new(guint32, n);
  for (size_t i = 0; i < n; i++) {
    entries[i] = (Entry){risks[i], labels[i], weights[i], (guint32)i};
    counts[i] = 1;
  }
  qsort(entries, n, sizeof *entries, compare_entries);
  result->auroc = weighted_auroc(entries, n, counts);
  g_autofree double *replicates = g_new(double, N_BOOTSTRAP);
  for (size_t r = 0; r < N_BOOTSTRAP; r++) {
    DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_ACCEPTANCE, 2, r, 0);
    memset(counts, 0, n * sizeof *counts);
    for (size_t i = 0; i < n; i++)
      counts[demur_random_below(&random, n)]++;
    replicates[r] = weighted_auroc(entries, n, counts);
  }
  demur_interval_percentile(replicates, N_BOOTSTRAP, 0.95, &result->auroc_low, &result->auroc_high);
}

/* The two bets of which one won says that O:E lies outside the range. */
static Test
outside_new(const DemurAcceptancePlan *plan) {
  return (Test){
      demur_bet_new(DEMUR_BET_ABOVE, plan->settings.high, plan->bounds, plan->fraction_above),
      demur_bet_new(DEMUR_BET_BELOW, plan->settings.low, plan->bounds, plan->fraction_below),
      1.0 / plan->settings.alpha};
}

/* One of them is won at this look. */
static gboolean
outside_add(Test *test, double weight, double label, double risk) {
  (void)test_add(test, weight, label, risk);
  return demur_bet_value(&test->above) >= test->limit ||
         demur_bet_value(&test->below) >= test->limit;
}

/* The first look at which a test is won decides. */
static DemurAcceptanceAnswer
decide(const DemurAcceptancePlan *plan, const double *risks, const double *labels,
       const double *weights, size_t n, Test *inside) {
  Test outside = outside_new(plan);
  *inside = test_new(plan);
  DemurAcceptanceAnswer answer = DEMUR_ACCEPTANCE_MORE;
  for (size_t i = 0; i < n; i++) {
    const gboolean accepted = test_add(inside, weights[i], labels[i], risks[i]);
    const gboolean refused = outside_add(&outside, weights[i], labels[i], risks[i]);
    if (answer == DEMUR_ACCEPTANCE_MORE && (accepted || refused))
      answer = accepted ? DEMUR_ACCEPTANCE_ACCEPTED : DEMUR_ACCEPTANCE_NOT_ACCEPTED;
  }
  return answer;
}

DemurAcceptanceAnswer
demur_acceptance_answer(const DemurAcceptancePlan *plan, const double *risks, const double *labels,
                        const double *weights, size_t n_labels) {
  Test inside;
  return decide(plan, risks, labels, weights, n_labels, &inside);
}

DemurAcceptanceOutlook
demur_acceptance_outlook(size_t n_labels, size_t n_events, size_t n_more, double ratio,
                         size_t n_left, double low, double high) {
  if (isfinite(ratio) && (n_events < DEMUR_SMALL_CELL || n_labels < n_events + DEMUR_SMALL_CELL))
    return DEMUR_ACCEPTANCE_TOO_FEW;
  if (isfinite(ratio) && !(ratio > low && ratio < high))
    return DEMUR_ACCEPTANCE_OUTSIDE;
  return n_more > 0 && n_more <= n_left ? DEMUR_ACCEPTANCE_IN_SIGHT : DEMUR_ACCEPTANCE_BEYOND_PLAN;
}

DemurAcceptance
demur_acceptance_run(const DemurAcceptancePlan *plan, const double *risks, const double *labels,
                     const double *weights, size_t n_labels, guint64 seed) {
  DemurAcceptance result = {.n_labels = n_labels,
                            .ratio = NAN,
                            .ratio_low = NAN,
                            .ratio_high = NAN,
                            .intercept = NAN,
                            .intercept_low = NAN,
                            .intercept_high = NAN,
                            .auroc = NAN,
                            .auroc_low = NAN,
                            .auroc_high = NAN};
  Test test;
  result.answer = decide(plan, risks, labels, weights, n_labels, &test);
  result.evidence_above = demur_bet_value(&test.above);
  result.evidence_below = demur_bet_value(&test.below);
  if (n_labels == 0) {
    result.n_more = plan->n_needed;
    return result;
  }
  double observed = 0.0, expected = 0.0;
  for (size_t i = 0; i < n_labels; i++) {
    observed += weights[i] * labels[i];
    expected += weights[i] * risks[i];
    result.n_events += labels[i] > 0.5;
  }
  result.ratio = observed / expected;
  const DemurBetPairs pairs = {n_labels, weights, labels, risks};
  demur_bet_interval(&pairs, plan->bounds, plan->fraction_above, plan->fraction_below, 0.05,
                     &result.ratio_low, &result.ratio_high);
  if (result.n_events > 0 && result.n_events < n_labels) {
    fit_intercept(risks, labels, weights, n_labels, &result);
    measure_auroc(risks, labels, weights, n_labels, seed, &result);
  }
  if (result.answer == DEMUR_ACCEPTANCE_MORE && result.ratio > plan->settings.low &&
      result.ratio < plan->settings.high) {
    /* The patients labelled so far stand for those to come. */
    g_autofree size_t *lengths =
        simulate_lengths(&test, NULL, weights, risks, n_labels, result.ratio, seed);
    result.n_more = quantile_length(lengths, plan->settings.power);
  }
  return result;
}
