/* Learn then Test (Angelopoulos, Bates, Candes, Jordan and Lei 2021) with fixed-sequence testing.
 *
 * Each measure is the mean of a loss in [0, 1] over the accepted scans that it speaks of:
 *
 *   npv    y over r < t            false_negative_rate   r < t over y = 1
 *   ppv    1 - y over r >= t       error_rate            [r >= t] != y, over all
 *                                  brier                 (y - r)^2, over all
 *
 * so npv and ppv at least c are a mean loss of at most 1 - c. The thresholds are those of the
 * training scans, so the accepted scans of a step, one a patient, are an independent sample from
 * what the mean is over, whatever their number; H: "mean > level" has the p value below. From each
 * of four starts steps are tested with growing coverage while every guarantee has p <= a quarter of
 * its delta. Let J be the first step from a start whose mean exceeds the level of one of them: that
 * sequence breaks the guarantee only if step J passed, so a start spends its quarter once; the
 * largest step that passed from any start is kept, and guarantees of their own delta each hold
 * together as stated, each at its own.
 *
 * The first start is where there are twice the scans that a sample without any loss needs (by the
 * accepted scans' risks: labels say nothing of it), the others lie evenly behind: a step of few
 * scans can't end all.
 *
 * A patient whose outcome is not known (left before the horizon) has the larger loss of both labels:
 * the mean of these losses is at least that of the true ones, however leaving hangs together with the
 * outcome, so what is guaranteed of the one holds for the other. Not of the false negative rate,
 * which is over those that had the outcome. Weights of censoring are no way: they are estimated, and
 * the tails above are of losses in [0, 1].
 *
 * Expectations (delta 0): conformal risk control (Angelopoulos, Bates, Fisch, Lei and Schuster
 * 2022). The harm of a scan, its loss if it is accepted and else 0, grows with coverage; with B = 1
 * the largest step with (sum + 1) / (n + 1) <= level has an expected harm of at most the level.
 *
 * Cost: O(steps n guarantees networks). */
#include "selector/measure-guarantee.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"

#define N_STARTS 4

static const struct {
  const char *name, *words;
  gboolean at_least, binary;
} rows[DEMUR_N_GUARANTEES] = {
    [DEMUR_GUARANTEE_NPV] = {"npv", "the negative predictive value", TRUE, TRUE},
    [DEMUR_GUARANTEE_PPV] = {"ppv", "the positive predictive value", TRUE, TRUE},
    [DEMUR_GUARANTEE_FNR] = {"false_negative_rate", "the false negative rate", FALSE, TRUE},
    [DEMUR_GUARANTEE_ERROR] = {"error_rate", "the error rate", FALSE, TRUE},
    [DEMUR_GUARANTEE_BRIER] = {"brier", "the Brier score", FALSE, FALSE}};

const char *
demur_guarantee_name(DemurGuaranteeMeasure measure) {
  return rows[measure].name;
}

static gboolean
parse_share(const char *text, double *share) {
  return demur_number_parse(text, strlen(text), share) && *share > 0.0 && *share < 1.0;
}

gboolean
demur_guarantee_parse(const char *text, DemurGuarantee *g, GError **error) {
  g_auto(GStrv) words = g_strsplit(text, ":", -1);
  const guint n = g_strv_length(words);
  *g = (DemurGuarantee){.measure = DEMUR_N_GUARANTEES};
  for (size_t m = 0; n > 0 && m < DEMUR_N_GUARANTEES; m++)
    if (strcmp(words[0], rows[m].name) == 0)
      g->measure = (DemurGuaranteeMeasure)m;
  const gboolean expected =
      g->measure == DEMUR_GUARANTEE_ERROR || g->measure == DEMUR_GUARANTEE_BRIER;
  if (g->measure != DEMUR_N_GUARANTEES && (n == 3 || (n == 2 && expected)) &&
      parse_share(words[1], &g->level) && (n == 2 || parse_share(words[2], &g->delta)))
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_USAGE,
      "'%s' is no guarantee: MEASURE:LEVEL:DELTA with npv, ppv, false_negative_rate, "
      "error_rate or brier, level and delta between 0 and 1, for example npv:0.98:0.1; "
      "error_rate:LEVEL and brier:LEVEL are in expectation; bin_error is --guarantee-risk",
      text);
  return FALSE;
}

/* P(Bin(n, p) <= k), by summing from k down in logs. */
static double
binomial_below(size_t k, size_t n, double p) {
  if (k >= n)
    return 1.0;
  double sum = 0.0;
  for (size_t i = k + 1; i-- > 0;) {
    const double term =
        exp(lgamma((double)n + 1.0) - lgamma((double)i + 1.0) - lgamma((double)(n - i) + 1.0) +
            (double)i * log(p) + (double)(n - i) * log1p(-p));
    sum += term;
    if (term < 1e-18 * sum)
      break;
  }
  return fmin(sum, 1.0);
}

double
demur_guarantee_p_value(double sum, size_t n, double level, gboolean binary) {
  if (n == 0)
    return 1.0;
  const double whole = ceil(sum - 1e-9);
  const double tail = binomial_below((size_t)fmax(whole, 0.0), n, level);
  if (binary)
    return tail;
  const double mean = sum / (double)n;
  if (mean >= level)
    return 1.0;
  const double entropy = (mean > 0.0 ? mean * log(mean / level) : 0.0) +
                         (1.0 - mean) * log((1.0 - mean) / (1.0 - level));
  return fmin(1.0, fmin(exp(-(double)n * entropy), exp(1.0) * tail));
}

/* The loss of a scan; NAN where the measure does not speak of it. */
static double
loss_of(DemurGuaranteeMeasure measure, double risk, double label, double positive_from) {
  const gboolean positive = risk >= positive_from;
  switch (measure) {
  case DEMUR_GUARANTEE_NPV:
    return positive ? NAN : label;
  case DEMUR_GUARANTEE_PPV:
    return positive ? 1.0 - label : NAN;
  case DEMUR_GUARANTEE_FNR:
    return label > 0.5 ? (positive ? 0.0 : 1.0) : NAN;
  case DEMUR_GUARANTEE_ERROR:
    return positive == (label > 0.5) ? 0.0 : 1.0;
  default:
    return (label - risk) * (label - risk);
  }
}

static double
mean_level(const DemurGuarantee *g) {
  return rows[g->measure].at_least ? 1.0 - g->level : g->level;
}

/* The same where the label may be unknown (NaN): then that of the worse label, so that the mean of
 * what is counted is no less than the true mean, whyever it is not known. */
static double
worst_loss_of(DemurGuaranteeMeasure measure, double risk, double label, double positive_from) {
  return isfinite(label) ? loss_of(measure, risk, label, positive_from)
                         : fmax(loss_of(measure, risk, 0.0, positive_from),
                                loss_of(measure, risk, 1.0, positive_from));
}

/* What one network accepts at one step, as one guarantee sees it. */
typedef struct {
  double sum;      /* of the losses */
  size_t n;        /* scans spoken of */
  double expected; /* the same without labels */
} Seen;

static Seen
look(const DemurGuaranteeInput *in, const DemurGuarantee *g, const guint32 *chosen, size_t n,
     size_t step, size_t network, gboolean with_labels) {
  const double threshold = in->thresholds[step * in->n_networks + network];
  Seen seen = {0};
  for (size_t i = 0; i < n; i++) {
    const guint32 row = chosen[i];
    if (!(in->scores[network][row] >= threshold))
      continue;
    const double r = in->risks[row];
    for (int label = 0; label < 2; label++) {
      const double chance = label == 1 ? r : 1.0 - r;
      seen.expected += isnan(loss_of(g->measure, r, label, in->positive_from)) ? 0.0 : chance;
    }
    const double loss =
        with_labels ? worst_loss_of(g->measure, r, in->labels[row], in->positive_from) : NAN;
    seen.sum += isnan(loss) ? 0.0 : loss;
    seen.n += isnan(loss) ? 0 : 1;
  }
  return seen;
}

/* So many scans without any loss pass. */
static double
scans_needed(const DemurGuarantee *g) {
  return log(g->delta) / log1p(-mean_level(g));
}

/* How many times the scans that even a sample without loss needs the step has, by the accepted
 * scans' risks; no label is looked at. */
static double
share_of_needed(const DemurGuaranteeInput *in, const DemurGuarantee *g, size_t n_guarantees,
                const guint32 *chosen, size_t n, size_t step) {
  double share = INFINITY;
  for (size_t k = 0; k < n_guarantees; k++)
    for (size_t m = 0; g[k].delta > 0.0 && m < in->n_networks; m++)
      share =
          fmin(share, look(in, &g[k], chosen, n, step, m, FALSE).expected / scans_needed(&g[k]));
  return share;
}

/* The first step with twice the scans that it needs; the last where there is none. */
static size_t
first_step(const DemurGuaranteeInput *in, const DemurGuarantee *g, size_t n_guarantees,
           const guint32 *chosen, size_t n) {
  size_t step = 0;
  while (step + 1 < in->n_steps && share_of_needed(in, g, n_guarantees, chosen, n, step) < 2.0)
    step++;
  return step;
}

/* Whether all hold at the step; else which one does not, and what was seen of it. */
static gboolean
passes(const DemurGuaranteeInput *in, const DemurGuarantee *g, size_t n_guarantees,
       const guint32 *chosen, size_t n, size_t step, size_t *failed, Seen *why) {
  for (size_t k = 0; k < n_guarantees; k++)
    for (size_t m = 0; m < in->n_networks; m++) {
      *failed = k;
      *why = look(in, &g[k], chosen, n, step, m, TRUE);
      const double level = mean_level(&g[k]);
      if (g[k].delta > 0.0 ? demur_guarantee_p_value(why->sum, why->n, level,
                                                     rows[g[k].measure].binary) > g[k].delta
                           : (why->sum + 1.0) / ((double)n + 1.0) > level)
        return FALSE;
    }
  return TRUE;
}

static void
append_promise(GString *text, const DemurGuarantee *g) {
  if (g->delta > 0.0)
    g_string_append_printf(text,
                           "%s of the accepted is at %s %g with a probability of at least "
                           "%.4g %% over the draw of that split",
                           rows[g->measure].words, rows[g->measure].at_least ? "least" : "most",
                           g->level, 100.0 * (1.0 - g->delta));
  else
    g_string_append_printf(text, "the expected %s of a scan, 0 where it is refused, is at most %g",
                           g->measure == DEMUR_GUARANTEE_BRIER ? "squared error" : "error",
                           g->level);
}

static DemurTuning *
new_tuning(const DemurGuaranteeInput *in, const DemurGuarantee *g, size_t n_guarantees, size_t step,
           size_t n_chosen, size_t n_unknown) {
  DemurTuning *tuning = g_new0(DemurTuning, 1);
  tuning->kind = DEMUR_TUNING_MEASURES;
  tuning->coverage = in->coverages[step];
  tuning->n_networks = in->n_networks;
  tuning->thresholds =
      g_memdup2(in->thresholds + step * in->n_networks, in->n_networks * sizeof(double));
  size_t n_accepted = 0;
  for (size_t i = 0; i < in->n; i++)
    n_accepted += in->scores[0][i] >= tuning->thresholds[0];
  tuning->realised = (double)n_accepted / (double)in->n;
  tuning->n_scans = in->n;
  tuning->n_patients = n_chosen;
  tuning->n_guarantees = n_guarantees;
  memcpy(tuning->guarantees, g, n_guarantees * sizeof *g);
  tuning->positive_from = in->positive_from;
  gboolean calls = FALSE;
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(
      text, "For scans drawn like the tuning split (one scan of each of %zu patients), ", n_chosen);
  for (size_t k = 0; k < n_guarantees; k++) {
    if (k > 0)
      g_string_append(text, "; ");
    append_promise(text, &g[k]);
    calls |= g[k].measure != DEMUR_GUARANTEE_BRIER;
    tuning->delta = fmax(tuning->delta, g[k].delta);
  }
  g_string_append_c(text, '.');
  if (calls)
    g_string_append_printf(text, " Risks from %g on are called positive.", in->positive_from);
  if (n_unknown > 0)
    g_string_append_printf(text,
                           " The outcome of %zu of these patients is not known: each is counted as "
                           "the worse of both.",
                           n_unknown);
  g_string_append(text, " For a site that is not in the tuning split nothing is guaranteed.");
  tuning->sentence = g_strdup(text->str);
  return tuning;
}

void
demur_tuning_write_guarantees(const DemurTuning *tuning, DemurJson *json) {
  if (tuning->n_guarantees == 0)
    return;
  demur_json_begin_array(json, "guarantees");
  for (size_t k = 0; k < tuning->n_guarantees; k++) {
    const DemurGuarantee *g = &tuning->guarantees[k];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "measure", demur_guarantee_name(g->measure));
    demur_json_double(json, "level", g->level);
    demur_json_double(json, "delta", g->delta > 0.0 ? g->delta : NAN);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_double(json, "positive_from", tuning->positive_from);
}

static void
refuse(const DemurGuarantee *g, const Seen *why, size_t n, double coverage, double share,
       GError **error) {
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(
      text,
      "%s of at %s %g with delta %g cannot be guaranteed with n = %zu patient%s: "
      "at coverage %g ",
      rows[g->measure].words, rows[g->measure].at_least ? "least" : "most", g->level, g->delta, n,
      n == 1 ? "" : "s", coverage);
  const double loss = why->sum / (double)why->n;
  if (why->n == 0)
    g_string_append(text, "no accepted scan says anything of it");
  else
    g_string_append_printf(text, "it is %.4g on %zu accepted scan%s",
                           rows[g->measure].at_least ? 1.0 - loss : loss, why->n,
                           why->n == 1 ? "" : "s");
  if (share < 1.0 && share > 0.0)
    g_string_append_printf(text, "; even without a single loss about %.0f patients would be needed",
                           ceil((double)n / share));
  g_string_append(text, ". Tune on more patients, or ask for less");
  demur_error_set(error, DEMUR_ERROR_STATE, "%s", text->str);
}

/* FALSE: there is nobody, or it takes the labels to know of whom the measure speaks. */
static gboolean
check_known(const DemurGuarantee *g, size_t n_guarantees, size_t n, size_t n_unknown,
            GError **error) {
  gboolean of_events = FALSE;
  for (size_t k = 0; k < n_guarantees; k++)
    of_events |= g[k].measure == DEMUR_GUARANTEE_FNR;
  if (n > n_unknown && (n_unknown == 0 || !of_events))
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_STATE,
      "nothing can be guaranteed: the outcome of %zu of %zu patients of the tuning split is "
      "not known (no label, or left before the horizon)%s",
      n_unknown, n,
      n > n_unknown ? N_(", and the false negative rate is of those that had it; tune at a "
                         "shorter horizon, or guarantee npv, ppv, error_rate or brier, which "
                         "count such a patient as the worse of both")
                    : "");
  return FALSE;
}

DemurTuning *
demur_tune_guaranteed_measures(const DemurGuaranteeInput *in, const DemurGuarantee *g,
                               size_t n_guarantees, GError **error) {
  g_return_val_if_fail(in->n_steps > 0 && n_guarantees > 0 && n_guarantees <= DEMUR_MAX_GUARANTEES,
                       NULL);
  size_t n, n_unknown = 0;
  g_autofree guint32 *chosen = demur_one_scan_a_patient(in->patients, in->n, in->seed, &n);
  for (size_t i = 0; i < n; i++)
    n_unknown += isfinite(in->labels[chosen[i]]) ? 0 : 1;
  if (!check_known(g, n_guarantees, n, n_unknown, error))
    return NULL;
  const size_t first = first_step(in, g, n_guarantees, chosen, n);
  gssize kept = -1;
  size_t failed = 0;
  Seen why = {0};
  for (size_t start = 0; start < N_STARTS; start++) {
    const size_t begin = first + start * (in->n_steps - first) / N_STARTS;
    for (size_t step = begin; step < in->n_steps; step++) {
      size_t fails;
      Seen seen;
      if (passes(in, g, n_guarantees, chosen, n, step, &fails, &seen)) {
        kept = MAX(kept, (gssize)step);
        continue;
      }
      if (start == 0 && step == begin) {
        failed = fails;
        why = seen;
      }
      break;
    }
  }
  if (kept >= 0)
    return new_tuning(in, g, n_guarantees, (size_t)kept, n, n_unknown);
  refuse(&g[failed], &why, n, in->coverages[first],
         share_of_needed(in, g, n_guarantees, chosen, n, first), error);
  return NULL;
}
