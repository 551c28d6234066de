/* The equations are in watch.h, metrics/exchangeability.h and metrics/betting.h. */
#include "evaluation/watch.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "base/sha256.h"
#include "metrics/betting.h"
#include "metrics/calibration-fit.h"
#include "metrics/exchangeability.h"

#define MIN_ALPHA 1e-6

/* m of the slope where the reference has no label. */
#define USUAL_RISK 0.1
/* Of the bets on the range: half of a fortune on this fraction. */
#define RANGE_FRACTION 0.5

#define COLUMN(id, name, title, kind) [DEMUR_WATCH_##id] = {name, title, DEMUR_WATCH_##kind},
const DemurWatchColumn demur_watch_columns[DEMUR_N_WATCH] = {DEMUR_WATCH_SIGNALS(COLUMN)};

gboolean
demur_watch_from_name(const char *name, DemurWatchSignal *signal) {
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    if (g_strcmp0(name, demur_watch_columns[s].name) == 0) {
      *signal = (DemurWatchSignal)s;
      return TRUE;
    }
  return FALSE;
}

static const char *const rule_names[DEMUR_N_WATCH_RULES] = {"note", "withhold", "ignore"};

const char *
demur_watch_rule_name(DemurWatchRule rule) {
  return rule_names[rule];
}

gboolean
demur_watch_rule_from_name(const char *name, DemurWatchRule *rule) {
  for (guint r = 0; r < DEMUR_N_WATCH_RULES; r++)
    if (g_strcmp0(name, rule_names[r]) == 0) {
      *rule = (DemurWatchRule)r;
      return TRUE;
    }
  return FALSE;
}

void
demur_watch_patient_clear(DemurWatchPatient *patient) {
  g_free(patient->when);
  g_free(patient->outcome_of);
  g_free(patient->manufacturer);
  g_free(patient->kernel);
  g_free(patient->thickness);
  g_free(patient->version);
}

static void
clear_patient(gpointer patient) {
  demur_watch_patient_clear(patient);
}

GArray *
demur_watch_patients_new(void) {
  GArray *patients = g_array_new(FALSE, TRUE, sizeof(DemurWatchPatient));
  g_array_set_clear_func(patients, clear_patient);
  return patients;
}

/* ---- the plan ---- */

DemurWatchPlan *
demur_watch_plan_new(void) {
  DemurWatchPlan *plan = g_new0(DemurWatchPlan, 1);
  plan->alpha = 0.05;
  plan->low = 0.8;
  plan->high = 1.25;
  plan->seed = 1;
  for (guint s = 0; s < DEMUR_N_WATCH; s++) {
    plan->rules[s] = DEMUR_WATCH_WITHHOLD;
    plan->shares[s].texts = g_new0(char *, 1);
  }
  plan->patients = g_new0(char *, 1);
  return plan;
}

void
demur_watch_plan_free(DemurWatchPlan *plan) {
  if (plan == NULL)
    return;
  for (guint s = 0; s < DEMUR_N_WATCH; s++) {
    g_free(plan->numbers[s]);
    g_strfreev(plan->shares[s].texts);
    g_free(plan->shares[s].counts);
  }
  g_free(plan->labels);
  g_free(plan->risks);
  g_strfreev(plan->patients);
  g_free(plan);
}

gboolean
demur_watch_plan_check(const DemurWatchPlan *plan, GError **error) {
  guint n_watched = 0;
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    n_watched += plan->rules[s] != DEMUR_WATCH_IGNORE;
  const char *wrong = NULL;
  if (!(plan->alpha >= MIN_ALPHA && plan->alpha < 1.0))
    wrong = "alpha lies between 0.000001 and 1: with less no watch would ever alarm";
  else if (!(plan->low > 0.0 && plan->low < 1.0 && plan->high > 1.0 && isfinite(plan->high)))
    wrong = "the range of O:E must hold 1 inside, such as 0.8,1.25";
  else if (n_watched == 0)
    wrong = "every signal is ignored: nothing would be watched";
  if (wrong != NULL)
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, wrong);
  return wrong == NULL;
}

double
demur_watch_limit(const DemurWatchPlan *plan) {
  guint n_watched = 0;
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    n_watched += plan->rules[s] != DEMUR_WATCH_IGNORE;
  return n_watched / plan->alpha;
}

static double
number_of(DemurWatchSignal signal, const DemurWatchPatient *patient) {
  if (!patient->scored)
    return NAN;
  return signal == DEMUR_WATCH_SCORE  ? patient->score
         : signal == DEMUR_WATCH_RISK ? patient->raw
                                      : patient->distance;
}

/* NULL: the patient does not count. */
static const char *
text_of(const DemurWatchPlan *plan, DemurWatchSignal signal, const DemurWatchPatient *patient) {
  if (signal == DEMUR_WATCH_ELIGIBLE)
    return patient->outcome_of;
  if (!patient->scored)
    return NULL;
  const char *text = signal == DEMUR_WATCH_COVERAGE
                         ? (patient->score >= plan->threshold ? "shown" : "held back")
                     : signal == DEMUR_WATCH_MANUFACTURER ? patient->manufacturer
                     : signal == DEMUR_WATCH_KERNEL       ? patient->kernel
                     : signal == DEMUR_WATCH_THICKNESS    ? patient->thickness
                                                          : patient->version;
  return text != NULL ? text : "";
}

typedef struct {
  const char *text;
  size_t count;
} Share;

static int
by_share(gconstpointer a, gconstpointer b) {
  const Share *one = a, *other = b;
  return one->count != other->count ? (one->count > other->count ? -1 : 1)
                                    : strcmp(one->text, other->text);
}

static void
refer_shares(DemurWatchPlan *plan, DemurWatchSignal signal, const DemurWatchPatient *patients,
             size_t n) {
  g_autoptr(GHashTable) places = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(Share));
  for (size_t i = 0; i < n; i++) {
    const char *text = text_of(plan, signal, &patients[i]);
    if (text == NULL)
      continue;
    gpointer place = g_hash_table_lookup(places, text);
    if (place == NULL) {
      const Share share = {text, 0};
      g_array_append_val(found, share);
      place = GUINT_TO_POINTER(found->len);
      g_hash_table_insert(places, (gpointer)text, place);
    }
    g_array_index(found, Share, GPOINTER_TO_UINT(place) - 1).count++;
  }
  g_array_sort(found, by_share);
  DemurWatchShares *shares = &plan->shares[signal];
  g_strfreev(shares->texts);
  g_free(shares->counts);
  shares->n = found->len;
  shares->texts = g_new0(char *, found->len + 1);
  shares->counts = g_new0(size_t, MAX(found->len, 1));
  for (guint i = 0; i < found->len; i++) {
    shares->texts[i] = g_strdup(g_array_index(found, Share, i).text);
    shares->counts[i] = g_array_index(found, Share, i).count;
  }
}

void
demur_watch_plan_refer(DemurWatchPlan *plan, const DemurWatchPatient *patients, size_t n) {
  for (guint s = 0; s < DEMUR_N_WATCH; s++) {
    const DemurWatchSignal signal = (DemurWatchSignal)s;
    if (demur_watch_columns[s].kind == DEMUR_WATCH_CATEGORY)
      refer_shares(plan, signal, patients, n);
    if (demur_watch_columns[s].kind != DEMUR_WATCH_NUMBER)
      continue;
    g_free(plan->numbers[s]);
    plan->numbers[s] = g_new(double, MAX(n, 1));
    plan->n_numbers[s] = 0;
    for (size_t i = 0; i < n; i++) {
      const double value = number_of(signal, &patients[i]);
      if (isfinite(value))
        plan->numbers[s][plan->n_numbers[s]++] = value;
    }
  }
  g_free(plan->labels);
  g_free(plan->risks);
  plan->labels = g_new(double, MAX(n, 1));
  plan->risks = g_new(double, MAX(n, 1));
  plan->n_labelled = 0;
  for (size_t i = 0; i < n; i++)
    if (patients[i].scored && isfinite(patients[i].label) && isfinite(patients[i].risk)) {
      plan->labels[plan->n_labelled] = patients[i].label;
      plan->risks[plan->n_labelled++] = patients[i].risk;
    }
}

/* ---- values ---- */

/* In (0, 1), the same for the same text everywhere. */
static double
text_fraction(const char *text) {
  DemurSha256 sha;
  guint8 digest[DEMUR_SHA256_BYTES];
  demur_sha256_init(&sha);
  demur_sha256_add_text(&sha, text);
  demur_sha256_finish(&sha, digest);
  double fraction = 0.0;
  for (size_t b = 0; b < 6; b++)
    fraction = (fraction + digest[b]) / 256.0;
  return fraction;
}

static double
category_code(const DemurWatchShares *shares, const char *text) {
  for (size_t k = 0; k < shares->n; k++)
    if (strcmp(shares->texts[k], text) == 0)
      return (double)k;
  return (double)shares->n + text_fraction(text);
}

static double
logit(double risk) {
  const double inside = CLAMP(risk, 1e-6, 1.0 - 1e-6);
  return log(inside / (1.0 - inside));
}

static double
mean_logit(const DemurWatchPlan *plan) {
  double sum = 0.0;
  for (size_t i = 0; i < plan->n_labelled; i++)
    sum += logit(plan->risks[i]);
  return plan->n_labelled > 0 ? sum / (double)plan->n_labelled : logit(USUAL_RISK);
}

static double
labelled_value(DemurWatchSignal signal, double middle, double label, double risk) {
  return signal == DEMUR_WATCH_OUTCOME       ? label
         : signal == DEMUR_WATCH_CALIBRATION ? label - risk
                                             : (label - risk) * (logit(risk) - middle);
}

/* The values of a signal, finite ones only. */
typedef struct {
  size_t n_reference, n;
  double *reference, *values;
  guint32 *rows; /* [n] of the stream */
  size_t n_waiting;
} Values;

static void
values_clear(Values *values) {
  g_free(values->reference);
  g_free(values->values);
  g_free(values->rows);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Values, values_clear)

static void
take_reference(const DemurWatchPlan *plan, DemurWatchSignal signal, Values *values) {
  const DemurWatchShares *shares = &plan->shares[signal];
  size_t n = 0;
  switch (demur_watch_columns[signal].kind) {
  case DEMUR_WATCH_NUMBER:
    n = plan->n_numbers[signal];
    values->reference = n > 0 ? g_memdup2(plan->numbers[signal], n * sizeof(double)) : NULL;
    break;
  case DEMUR_WATCH_CATEGORY:
    for (size_t k = 0; k < shares->n; k++)
      n += shares->counts[k];
    values->reference = g_new(double, MAX(n, 1));
    for (size_t k = 0, i = 0; k < shares->n; k++)
      for (size_t c = 0; c < shares->counts[k]; c++)
        values->reference[i++] = (double)k;
    break;
  case DEMUR_WATCH_LABELLED:
    n = signal == DEMUR_WATCH_RANGE ? 0 : plan->n_labelled;
    values->reference = g_new(double, MAX(n, 1));
    for (size_t i = 0; i < n; i++)
      values->reference[i] =
          labelled_value(signal, mean_logit(plan), plan->labels[i], plan->risks[i]);
    break;
  }
  values->n_reference = n;
}

/* Labels count in the order of the patients, as far as none is awaited: who is told of early, as
 * those with the outcome are, counts no earlier for it. */
static void
take_labelled(const DemurWatchPlan *plan, DemurWatchSignal signal,
              const DemurWatchPatient *patients, size_t n, gint64 after, Values *values) {
  const double middle = mean_logit(plan);
  gboolean waits = FALSE;
  for (size_t i = 0; i < n; i++) {
    const DemurWatchPatient *p = &patients[i];
    if (p->order <= after || !p->scored || !isfinite(p->risk) ||
        (signal == DEMUR_WATCH_RANGE && p->score < plan->threshold))
      continue;
    waits |= p->pending;
    if (!isfinite(p->label))
      continue;
    if (waits) {
      values->n_waiting++;
      continue;
    }
    values->rows[values->n] = (guint32)i;
    values->values[values->n++] =
        signal == DEMUR_WATCH_RANGE ? p->label : labelled_value(signal, middle, p->label, p->risk);
  }
}

static Values
take_values(const DemurWatchPlan *plan, DemurWatchSignal signal, const DemurWatchPatient *patients,
            size_t n, gint64 after) {
  Values values = {.values = g_new(double, MAX(n, 1)), .rows = g_new(guint32, MAX(n, 1))};
  take_reference(plan, signal, &values);
  if (demur_watch_columns[signal].kind == DEMUR_WATCH_LABELLED) {
    take_labelled(plan, signal, patients, n, after, &values);
    return values;
  }
  for (size_t i = 0; i < n; i++) {
    if (patients[i].order <= after)
      continue;
    double value;
    if (demur_watch_columns[signal].kind == DEMUR_WATCH_NUMBER) {
      value = number_of(signal, &patients[i]);
    } else {
      const char *text = text_of(plan, signal, &patients[i]);
      value = text != NULL ? category_code(&plan->shares[signal], text) : NAN;
    }
    if (!isfinite(value))
      continue;
    values.rows[values.n] = (guint32)i;
    values.values[values.n++] = value;
  }
  return values;
}

/* ---- what changed, for people ---- */

static int
ascending(gconstpointer a, gconstpointer b) {
  const double one = *(const double *)a, other = *(const double *)b;
  return (one > other) - (one < other);
}

static double
median(const double *first, size_t n_first, const double *second, size_t n_second) {
  const size_t n = n_first + n_second;
  if (n == 0)
    return NAN;
  g_autofree double *all = g_new(double, n);
  if (n_first > 0)
    memcpy(all, first, n_first * sizeof(double));
  if (n_second > 0)
    memcpy(all + n_first, second, n_second * sizeof(double));
  qsort(all, n, sizeof(double), ascending);
  return n % 2 == 1 ? all[n / 2] : 0.5 * (all[n / 2 - 1] + all[n / 2]);
}

/* A category's code and the patient or the reference's place that has its text. */
typedef struct {
  double code;
  double before, since; /* patients */
  const char *text;
} Moved;

static int
by_code(gconstpointer a, gconstpointer b) {
  return ascending(&((const Moved *)a)->code, &((const Moved *)b)->code);
}

/* One entry a distinct code, with its counts. */
static GArray *
count_categories(const DemurWatchPlan *plan, DemurWatchSignal signal,
                 const DemurWatchPatient *patients, const Values *values, size_t change) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(Moved));
  const DemurWatchShares *shares = &plan->shares[signal];
  for (size_t k = 0; k < shares->n; k++) {
    const Moved one = {(double)k, (double)shares->counts[k], 0.0, shares->texts[k]};
    g_array_append_val(all, one);
  }
  for (size_t i = 0; i < values->n; i++) {
    const Moved one = {values->values[i], i < change ? 1.0 : 0.0, i < change ? 0.0 : 1.0,
                       text_of(plan, signal, &patients[values->rows[i]])};
    g_array_append_val(all, one);
  }
  g_array_sort(all, by_code);
  guint n = 0;
  for (guint i = 0; i < all->len; i++) {
    const Moved one = g_array_index(all, Moved, i);
    Moved *last = n > 0 ? &g_array_index(all, Moved, n - 1) : NULL;
    if (last != NULL && last->code == one.code) {
      last->before += one.before;
      last->since += one.since;
    } else {
      g_array_index(all, Moved, n++) = one;
    }
  }
  g_array_set_size(all, n);
  return all;
}

/* The category whose share grew most: one does wherever another fell. */
static void
tell_category(const DemurWatchPlan *plan, DemurWatchSignal signal,
              const DemurWatchPatient *patients, const Values *values,
              DemurWatchSignalResult *result) {
  const double n_before = (double)(values->n_reference + result->change);
  g_autoptr(GArray) all = count_categories(plan, signal, patients, values, result->change);
  double most = -INFINITY;
  for (guint i = 0; i < all->len; i++) {
    const Moved *one = &g_array_index(all, Moved, i);
    const double before = n_before > 0.0 ? one->before / n_before : NAN;
    const double since = one->since / (double)result->n_since;
    const double moved = isfinite(before) ? since - before : since;
    if (moved <= most)
      continue;
    most = moved;
    result->before = before;
    result->since = since;
    g_free(result->text);
    result->text = g_strdup(one->text);
  }
}

/* The share with the outcome, O:E or slope of labels and risks [n]. */
static double
labelled_measure(DemurWatchSignal signal, const double *labels, const double *risks, size_t n) {
  double observed = 0.0, expected = 0.0;
  for (size_t i = 0; i < n; i++) {
    observed += labels[i];
    expected += signal == DEMUR_WATCH_OUTCOME ? 1.0 : risks[i];
  }
  if (n == 0 || !(expected > 0.0))
    return NAN;
  if (signal != DEMUR_WATCH_SLOPE)
    return observed / expected;
  const DemurOutcomes outcomes = {.n = n, .risks = risks, .labels = labels};
  return demur_calibration_fit(&outcomes, NULL).slope;
}

/* Of the reference and the patients up to `change`, and of those behind. */
static void
tell_labelled(const DemurWatchPlan *plan, DemurWatchSignal signal,
              const DemurWatchPatient *patients, const Values *values,
              DemurWatchSignalResult *result) {
  const size_t n_reference = values->n_reference, n = n_reference + values->n;
  const size_t n_before = n_reference + result->change;
  g_autofree double *labels = g_new(double, MAX(n, 1)), *risks = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    const DemurWatchPatient *p = i < n_reference ? NULL : &patients[values->rows[i - n_reference]];
    labels[i] = p != NULL ? p->label : plan->labels[i];
    risks[i] = p != NULL ? p->risk : plan->risks[i];
  }
  result->before = labelled_measure(signal, labels, risks, n_before);
  result->since = labelled_measure(signal, labels + n_before, risks + n_before, n - n_before);
}

static void
tell_change(const DemurWatchPlan *plan, DemurWatchSignal signal, const DemurWatchPatient *patients,
            const Values *values, DemurWatchSignalResult *result) {
  result->n_since = values->n - result->change;
  if (result->n_since == 0)
    return;
  switch (demur_watch_columns[signal].kind) {
  case DEMUR_WATCH_NUMBER:
    result->before = median(values->reference, values->n_reference, values->values, result->change);
    result->since = median(values->values + result->change, result->n_since, NULL, 0);
    break;
  case DEMUR_WATCH_CATEGORY:
    tell_category(plan, signal, patients, values, result);
    break;
  case DEMUR_WATCH_LABELLED:
    tell_labelled(plan, signal, patients, values, result);
    break;
  }
}

/* ---- evidence ---- */

static void
bet_on_range(const DemurWatchPlan *plan, const DemurWatchPatient *patients, const Values *values,
             double *evidence) {
  const DemurBetBounds bounds = {1.0, 1.0};
  DemurBet above = demur_bet_new(DEMUR_BET_ABOVE, plan->high, bounds, RANGE_FRACTION);
  DemurBet below = demur_bet_new(DEMUR_BET_BELOW, plan->low, bounds, RANGE_FRACTION);
  for (size_t i = 0; i < values->n; i++) {
    const DemurWatchPatient *p = &patients[values->rows[i]];
    demur_bet_add(&above, 1.0, p->label, p->risk);
    demur_bet_add(&below, 1.0, p->label, p->risk);
    evidence[i] =
        fmin(0.5 * (demur_bet_value(&above) + demur_bet_value(&below)), DEMUR_EXCHANGE_MOST);
  }
}

/* Where the reference's equal values end, as shares of it: the bins of a category, or of a label. */
static size_t
find_edges(const Values *values, double *edges) {
  const size_t n = values->n_reference;
  g_autofree double *sorted = g_memdup2(values->reference, n * sizeof(double));
  if (n == 0)
    return 0;
  qsort(sorted, n, sizeof(double), ascending);
  size_t n_edges = 0;
  for (size_t i = 1; i < n && n_edges < DEMUR_EXCHANGE_BINS; i++)
    if (sorted[i] != sorted[i - 1]) {
      if (n_edges + 1 == DEMUR_EXCHANGE_BINS)
        return 0;
      edges[n_edges++] = (double)i / (double)n;
    }
  return n_edges;
}

static void
bet_on_exchange(const DemurWatchPlan *plan, DemurWatchSignal signal,
                const DemurWatchPatient *patients, const Values *values,
                DemurWatchSignalResult *result) {
  const size_t n = values->n;
  g_autofree double *draws = g_new(double, MAX(n, 1)), *places = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    DemurRandom random = demur_random_stream(plan->seed, DEMUR_STREAM_WATCH,
                                             patients[values->rows[i]].key, signal, 0);
    draws[i] = demur_random_uniform(&random);
  }
  demur_exchange_places(values->reference, values->n_reference, values->values, draws, n, places);
  double edges[DEMUR_EXCHANGE_BINS];
  const size_t n_edges = find_edges(values, edges);
  result->change = demur_exchange_evidence(places, n, edges, n_edges, result->evidence);
}

static void
look_at(const DemurWatchPlan *plan, DemurWatchSignal signal, const DemurWatchPatient *patients,
        size_t n, gint64 after, DemurWatchSignalResult *result) {
  *result =
      (DemurWatchSignalResult){.most = 1.0, .alarm = DEMUR_WATCH_NONE, .before = NAN, .since = NAN};
  g_auto(Values) values = take_values(plan, signal, patients, n, after);
  result->n_reference = values.n_reference;
  result->n = values.n;
  result->n_waiting = values.n_waiting;
  result->evidence = g_new(double, MAX(values.n, 1));
  if (signal == DEMUR_WATCH_RANGE)
    bet_on_range(plan, patients, &values, result->evidence);
  else
    bet_on_exchange(plan, signal, patients, &values, result);
  tell_change(plan, signal, patients, &values, result);
  result->rows = g_steal_pointer(&values.rows);
  const double limit = demur_watch_limit(plan);
  for (size_t i = 0; i < result->n; i++) {
    result->most = fmax(result->most, result->evidence[i]);
    if (result->alarm == DEMUR_WATCH_NONE && result->evidence[i] >= limit)
      result->alarm = i;
  }
}

DemurWatchResult *
demur_watch_look(const DemurWatchPlan *plan, const DemurWatchPatient *patients, size_t n,
                 const gint64 *after) {
  DemurWatchResult *result = g_new0(DemurWatchResult, 1);
  result->limit = demur_watch_limit(plan);
  for (guint s = 0; s < DEMUR_N_WATCH; s++) {
    if (plan->rules[s] == DEMUR_WATCH_IGNORE)
      result->signals[s] = (DemurWatchSignalResult){
          .most = 1.0, .alarm = DEMUR_WATCH_NONE, .before = NAN, .since = NAN};
    else
      look_at(plan, (DemurWatchSignal)s, patients, n, after != NULL ? after[s] : G_MININT64,
              &result->signals[s]);
  }
  return result;
}

void
demur_watch_result_free(DemurWatchResult *result) {
  if (result == NULL)
    return;
  for (guint s = 0; s < DEMUR_N_WATCH; s++) {
    g_free(result->signals[s].rows);
    g_free(result->signals[s].evidence);
    g_free(result->signals[s].text);
  }
  g_free(result);
}
