/* The equations are in watch.h, metrics/exchangeability.h and metrics/betting.h. */
#include "evaluation/watch.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "base/sha256.h"
#include "evaluation/watch-expected.h"
#include "metrics/betting.h"
#include "metrics/calibration-fit.h"
#include "metrics/exchangeability.h"
#include "metrics/intervals.h"

#define MIN_ALPHA 1e-6
#define BETS 5
/* Of the reference, the part that fixes bets and the order of categories: half of the patients for categories, of
 * which only shares are asked, fewer for labels, which are compared with the others for longer. */
#define FIXED_PART 0.5
#define FIXED_LABELS 0.35

/* m of the slope where the reference has no label. */
#define USUAL_RISK 0.1
/* Of the bets on the range: half of a fortune on this fraction. */
#define RANGE_FRACTION 0.5
/* Of the bets on what is expected: their share of the fortune. Of those on labels: risks are cut to [MIN_RISK,
 * 1 - MIN_RISK]; reference labels of either kind that they take; how much of each is left even. */
#define MIN_RISK 1e-4
#define LEAST_LABELS 5
#define EXPECTED_SHARE 0.8
#define CAUTION 0.02

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
  plan->bets = BETS;
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
    g_free(plan->shares[s].fixed);
  }
  g_free(plan->labels);
  g_free(plan->risks);
  g_free(plan->scores);
  g_strfreev(plan->patients);
  g_free(plan->origin);
  g_free(plan);
}

gboolean
demur_watch_plan_check(const DemurWatchPlan *plan, GError **error) {
  guint n_watched = 0;
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    n_watched += plan->rules[s] != DEMUR_WATCH_IGNORE;
  const char *wrong = NULL;
  if (!(plan->alpha >= MIN_ALPHA && plan->alpha < 1.0))
    wrong = N_("alpha lies between 0.000001 and 1: with less no watch would ever alarm");
  else if (!(plan->low > 0.0 && plan->low < 1.0 && plan->high > 1.0 && isfinite(plan->high)))
    wrong = N_("the range of O:E must hold 1 inside, such as 0.8,1.25");
  else if (n_watched == 0)
    wrong = N_("every signal is ignored: nothing would be watched");
  if (wrong != NULL)
    demur_error_set(error, DEMUR_ERROR_USAGE, "%s", wrong);
  return wrong == NULL;
}

/* From these bets on the outcome's rate and O:E are bets on the same places, and have one part of alpha. */
#define ONE_PART 5

static gboolean
is_watched(const DemurWatchPlan *plan, guint signal) {
  return plan->rules[signal] != DEMUR_WATCH_IGNORE;
}

/* A signal's part of alpha, in relation to the others'. */
#define OUTCOME_PART_OF_3 0.6
static const double parts[DEMUR_N_WATCH] = {
    [DEMUR_WATCH_SCORE] = 0.6,       [DEMUR_WATCH_RISK] = 2.6,
    [DEMUR_WATCH_DISTANCE] = 0.35,   [DEMUR_WATCH_COVERAGE] = 4.4,
    [DEMUR_WATCH_ELIGIBLE] = 0.35,   [DEMUR_WATCH_MANUFACTURER] = 0.35,
    [DEMUR_WATCH_KERNEL] = 4.2,      [DEMUR_WATCH_THICKNESS] = 1.8,
    [DEMUR_WATCH_VERSION] = 0.35,    [DEMUR_WATCH_OUTCOME] = 6.2,
    [DEMUR_WATCH_CALIBRATION] = 6.2, [DEMUR_WATCH_SLOPE] = 11.4,
    [DEMUR_WATCH_RANGE] = 0.6,       [DEMUR_WATCH_FLAGGED] = 0.35};
static const double parts_of_4[DEMUR_N_WATCH] = {
    [DEMUR_WATCH_SCORE] = 0.6,        [DEMUR_WATCH_RISK] = 2.0,
    [DEMUR_WATCH_DISTANCE] = 0.35,    [DEMUR_WATCH_COVERAGE] = 2.0,
    [DEMUR_WATCH_ELIGIBLE] = 0.35,    [DEMUR_WATCH_MANUFACTURER] = 0.35,
    [DEMUR_WATCH_KERNEL] = 3.2,       [DEMUR_WATCH_THICKNESS] = 2.4,
    [DEMUR_WATCH_VERSION] = 0.35,     [DEMUR_WATCH_OUTCOME] = 1.6,
    [DEMUR_WATCH_CALIBRATION] = 1.75, [DEMUR_WATCH_SLOPE] = 6.0,
    [DEMUR_WATCH_RANGE] = 0.6,        [DEMUR_WATCH_FLAGGED] = 0.35};

static double
part_of(const DemurWatchPlan *plan, guint signal) {
  if (plan->bets < 3)
    return 1.0;
  if (plan->bets == 3 && signal == DEMUR_WATCH_OUTCOME)
    return OUTCOME_PART_OF_3;
  return (plan->bets < ONE_PART ? parts_of_4 : parts)[signal];
}

/* Whether its part is that of another signal, which is watched. */
static gboolean
shares_part(const DemurWatchPlan *plan, guint signal) {
  return plan->bets >= ONE_PART && signal == DEMUR_WATCH_CALIBRATION &&
         is_watched(plan, DEMUR_WATCH_OUTCOME);
}

double
demur_watch_limit(const DemurWatchPlan *plan, DemurWatchSignal signal) {
  if (!is_watched(plan, signal))
    return INFINITY;
  double sum = 0.0;
  for (guint s = 0; s < DEMUR_N_WATCH; s++)
    if (is_watched(plan, s) && !shares_part(plan, s))
      sum += part_of(plan, s);
  return sum / (part_of(plan, signal) * plan->alpha);
}

double
demur_watch_shared_limit(const DemurWatchPlan *plan) {
  double shared = NAN;
  for (guint s = 0; s < DEMUR_N_WATCH; s++) {
    if (plan->rules[s] == DEMUR_WATCH_IGNORE)
      continue;
    const double limit = demur_watch_limit(plan, (DemurWatchSignal)s);
    if (isfinite(shared) && limit != shared)
      return NAN;
    shared = limit;
  }
  return shared;
}

static double
number_of(DemurWatchSignal signal, const DemurWatchPatient *patient) {
  if (!patient->scored)
    return NAN;
  return signal == DEMUR_WATCH_SCORE  ? patient->score
         : signal == DEMUR_WATCH_RISK ? patient->raw
                                      : patient->distance;
}

gboolean
demur_watch_is_recorded(const DemurWatchPlan *plan, DemurWatchSignal signal) {
  const DemurWatchShares *shares = &plan->shares[signal];
  gboolean recorded = demur_watch_columns[signal].kind != DEMUR_WATCH_CATEGORY;
  for (size_t k = 0; k < shares->n; k++)
    recorded = recorded || *shares->texts[k] != '\0';
  return recorded;
}

/* What the patient has, "" where it is not recorded; NULL: the patient does not count. */
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

/* Whether the reference's patient is of the part that fixes bets. */
static gboolean
is_fixed(const DemurWatchPlan *plan, size_t patient, double part) {
  DemurRandom random =
      demur_random_stream(plan->seed, DEMUR_STREAM_WATCH, patient, DEMUR_N_WATCH, 0);
  return plan->bets >= 3 && demur_random_uniform(&random) < part;
}

/* order: by what it stands. */
typedef struct {
  const char *text;
  size_t count, fixed, order;
} Share;

static int
by_share(gconstpointer a, gconstpointer b) {
  const Share *one = a, *other = b;
  return one->order != other->order ? (one->order > other->order ? -1 : 1)
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
      const Share share = {text, 0, 0, 0};
      g_array_append_val(found, share);
      place = GUINT_TO_POINTER(found->len);
      g_hash_table_insert(places, (gpointer)text, place);
    }
    Share *share = &g_array_index(found, Share, GPOINTER_TO_UINT(place) - 1);
    share->count++;
    share->fixed += is_fixed(plan, i, FIXED_PART) ? 1 : 0;
    share->order = plan->bets >= 3 ? share->fixed : share->count;
  }
  g_array_sort(found, by_share);
  DemurWatchShares *shares = &plan->shares[signal];
  g_strfreev(shares->texts);
  g_free(shares->counts);
  g_free(shares->fixed);
  shares->n = found->len;
  shares->texts = g_new0(char *, found->len + 1);
  shares->counts = g_new0(size_t, MAX(found->len, 1));
  shares->fixed = g_new0(size_t, MAX(found->len, 1));
  for (guint i = 0; i < found->len; i++) {
    shares->texts[i] = g_strdup(g_array_index(found, Share, i).text);
    shares->counts[i] = g_array_index(found, Share, i).count;
    shares->fixed[i] = g_array_index(found, Share, i).fixed;
  }
}

/* Those of the fixed part, or the others. */
static void
refer_labels(DemurWatchPlan *plan, const DemurWatchPatient *patients, size_t n, gboolean fixed) {
  for (size_t i = 0; i < n; i++)
    if (patients[i].scored && isfinite(patients[i].label) && isfinite(patients[i].risk) &&
        is_fixed(plan, i, FIXED_LABELS) == fixed) {
      plan->labels[plan->n_labelled] = patients[i].label;
      plan->scores[plan->n_labelled] = patients[i].score;
      plan->risks[plan->n_labelled++] = patients[i].risk;
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
  g_free(plan->scores);
  plan->labels = g_new(double, MAX(n, 1));
  plan->risks = g_new(double, MAX(n, 1));
  plan->scores = g_new(double, MAX(n, 1));
  plan->n_labelled = 0;
  refer_labels(plan, patients, n, TRUE);
  plan->n_fixed = plan->n_labelled;
  refer_labels(plan, patients, n, FALSE);
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

/* Behind all what the reference lacks, or the part of it that fixes the order. */
static double
category_code(const DemurWatchPlan *plan, DemurWatchSignal signal, const char *text) {
  const DemurWatchShares *shares = &plan->shares[signal];
  for (size_t k = 0; k < shares->n; k++)
    if ((plan->bets < 3 || shares->fixed[k] > 0) && strcmp(shares->texts[k], text) == 0)
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
  const size_t n = plan->bets < 3 ? plan->n_labelled : plan->n_fixed;
  double sum = 0.0;
  for (size_t i = 0; i < n; i++)
    sum += logit(plan->risks[i]);
  return n > 0 ? sum / (double)n : logit(USUAL_RISK);
}

/* Whether nothing is bet against a reference that does not record the signal. A watch of the bets of before keeps the
 * values that it began with: the digest of its plan says by which rule they come. */
static gboolean
lacks_reference(const DemurWatchPlan *plan, DemurWatchSignal signal) {
  return plan->bets >= 2 && !demur_watch_is_recorded(plan, signal);
}

/* text_of, of patients who come. */
static const char *
counted_text(const DemurWatchPlan *plan, DemurWatchSignal signal,
             const DemurWatchPatient *patient) {
  const char *text = text_of(plan, signal, patient);
  return text != NULL && *text == '\0' && lacks_reference(plan, signal) ? NULL : text;
}

/* Whose places a labelled signal bets on. */
static DemurWatchSignal
placed_as(const DemurWatchPlan *plan, DemurWatchSignal signal) {
  return plan->bets >= ONE_PART && signal == DEMUR_WATCH_OUTCOME ? DEMUR_WATCH_CALIBRATION : signal;
}

static double
labelled_value(const DemurWatchPlan *plan, DemurWatchSignal signal, double middle, double label,
               double risk) {
  return demur_watch_labelled_value(placed_as(plan, signal), middle, label, risk);
}

/* The values of a signal, finite ones only; the reference's fixed part first. */
typedef struct {
  size_t n_reference, n_fixed, n;
  double *reference, *values;
  double *labels, *risks; /* [n_reference] of a labelled signal; else NULL */
  guint32 *rows;          /* [n] of the stream */
  size_t n_waiting;
} Values;

static void
values_clear(Values *values) {
  g_free(values->reference);
  g_free(values->values);
  g_free(values->labels);
  g_free(values->risks);
  g_free(values->rows);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Values, values_clear)

static size_t
take_shares(const DemurWatchPlan *plan, DemurWatchSignal signal, Values *values) {
  const DemurWatchShares *shares = &plan->shares[signal];
  size_t n = 0, n_fixed = 0;
  for (size_t k = 0; k < shares->n; k++) {
    n += shares->counts[k];
    n_fixed += plan->bets < 3 ? 0 : shares->fixed[k];
  }
  values->reference = g_new(double, MAX(n, 1));
  values->n_fixed = n_fixed;
  for (size_t k = 0, at = 0, fixed_at = 0; k < shares->n; k++) {
    const size_t fixed = plan->bets < 3 ? 0 : shares->fixed[k];
    const double code = category_code(plan, signal, shares->texts[k]);
    for (size_t c = 0; c < shares->counts[k]; c++)
      values->reference[c < fixed ? fixed_at++ : n_fixed + at++] = code;
  }
  return n;
}

static void
take_reference(const DemurWatchPlan *plan, DemurWatchSignal signal, Values *values) {
  size_t n = 0;
  switch (demur_watch_columns[signal].kind) {
  case DEMUR_WATCH_NUMBER:
    n = plan->n_numbers[signal];
    values->reference = n > 0 ? g_memdup2(plan->numbers[signal], n * sizeof(double)) : NULL;
    break;
  case DEMUR_WATCH_CATEGORY:
    if (!lacks_reference(plan, signal))
      n = take_shares(plan, signal, values);
    break;
  case DEMUR_WATCH_LABELLED:
    values->reference = g_new(double, MAX(plan->n_labelled, 1));
    values->labels = g_new(double, MAX(plan->n_labelled, 1));
    values->risks = g_new(double, MAX(plan->n_labelled, 1));
    for (size_t i = 0; signal != DEMUR_WATCH_RANGE && i < plan->n_labelled; i++) {
      if (signal == DEMUR_WATCH_FLAGGED && !(plan->scores[i] < plan->threshold))
        continue;
      values->n_fixed += plan->bets >= 3 && i < plan->n_fixed ? 1 : 0;
      values->labels[n] = plan->labels[i];
      values->risks[n] = plan->risks[i];
      values->reference[n++] =
          labelled_value(plan, signal, mean_logit(plan), plan->labels[i], plan->risks[i]);
    }
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
        (signal == DEMUR_WATCH_RANGE && p->score < plan->threshold) ||
        (signal == DEMUR_WATCH_FLAGGED && p->score >= plan->threshold))
      continue;
    waits |= p->pending;
    if (!isfinite(p->label))
      continue;
    if (waits) {
      values->n_waiting++;
      continue;
    }
    values->rows[values->n] = (guint32)i;
    values->values[values->n++] = signal == DEMUR_WATCH_RANGE
                                      ? p->label
                                      : labelled_value(plan, signal, middle, p->label, p->risk);
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
      const char *text = counted_text(plan, signal, &patients[i]);
      value = text != NULL ? category_code(plan, signal, text) : NAN;
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
  for (size_t k = 0; values->n_reference > 0 && k < shares->n; k++) {
    const Moved one = {category_code(plan, signal, shares->texts[k]), (double)shares->counts[k],
                       0.0, shares->texts[k]};
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
    labels[i] = p != NULL ? p->label : values->labels[i];
    risks[i] = p != NULL ? p->risk : values->risks[i];
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

/* From every beginning two gamblers: O:E since then is above the range, or below it. Returns the number
 * of patients before the beginning that has most in the end. */
static size_t
bet_on_range(const DemurWatchPlan *plan, const DemurWatchPatient *patients, const Values *values,
             double *evidence) {
  const DemurBetBounds bounds = {1.0, 1.0};
  const size_t n_blocks = values->n / DEMUR_EXCHANGE_BLOCK + 1;
  g_autofree DemurBet *above = g_new(DemurBet, n_blocks), *below = g_new(DemurBet, n_blocks);
  size_t n_begun = 0, most = 0;
  for (size_t i = 0; i < values->n; i++) {
    if (i % DEMUR_EXCHANGE_BLOCK == 0) {
      above[n_begun] = demur_bet_new(DEMUR_BET_ABOVE, plan->high, bounds, RANGE_FRACTION);
      below[n_begun++] = demur_bet_new(DEMUR_BET_BELOW, plan->low, bounds, RANGE_FRACTION);
    }
    const DemurWatchPatient *p = &patients[values->rows[i]];
    double sum = demur_exchange_weight_from(n_begun), best = -1.0;
    for (size_t k = 0; k < n_begun; k++) {
      demur_bet_add(&above[k], 1.0, p->label, p->risk);
      demur_bet_add(&below[k], 1.0, p->label, p->risk);
      const double capital = 0.5 * demur_exchange_weight(k) *
                             (demur_bet_value(&above[k]) + demur_bet_value(&below[k]));
      sum += capital;
      if (capital > best) {
        best = capital;
        most = k;
      }
    }
    evidence[i] = fmin(sum, DEMUR_EXCHANGE_MOST);
  }
  return most * DEMUR_EXCHANGE_BLOCK;
}

/* Where the reference's equal values end, as shares of it: the bins of a category, or of a label. */
static size_t
find_edges(const double *reference, size_t n, double *edges) {
  if (n == 0)
    return 0;
  g_autofree double *sorted = g_memdup2(reference, n * sizeof(double));
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

/* ---- where labels would fall if something changed ---- */

/* p(1 | r) behind a change of one of these: the outcome `ratio` times as often, or a calibration slope. */
static const double ratios[] = {0.45, 0.67, 1.5, 2.2};
static const double slopes[] = {0.3, 0.6, 1.6, 2.5};
#define N_CHANGES G_N_ELEMENTS(ratios)

static double
cut_risk(double risk) {
  return CLAMP(risk, MIN_RISK, 1.0 - MIN_RISK);
}

static double
changed_risk(const DemurWatchPlan *plan, DemurWatchSignal signal, size_t change, double middle,
             double risk) {
  if (signal == DEMUR_WATCH_SLOPE)
    return 1.0 / (1.0 + exp(-(middle + slopes[change] * (logit(risk) - middle))));
  return plan->bets < 2 ? cut_risk(ratios[change] * risk)
                        : demur_watch_times_as_often(ratios[change], risk);
}

/* A reference's value, and how much likelier its label is behind the change. */
typedef struct {
  double value, likelier;
} Weighed;

static int
by_value(gconstpointer a, gconstpointer b) {
  return ascending(&((const Weighed *)a)->value, &((const Weighed *)b)->value);
}

/* Equal values are one block of places: each of them is as likely as they are on average. */
static void
share_ties(Weighed *weighed, size_t n) {
  for (size_t from = 0, to; from < n; from = to) {
    double sum = 0.0;
    for (to = from; to < n && weighed[to].value == weighed[from].value; to++)
      sum += weighed[to].likelier;
    for (size_t i = from; i < to; i++)
      weighed[i].likelier = sum / (double)(to - from);
  }
}

/* The density over the bins of places, where weighed [n], sorted, fill a place of 1 / n each. */
static void
weigh_bins(const Weighed *weighed, size_t n, const DemurExchangeShapes *shapes, double *densities) {
  double begin = 0.0, mass = 0.0;
  for (size_t b = 0; b < shapes->n_bins; b++) {
    const double end = shapes->ends[b] * (double)n;
    densities[b] = 0.0;
    for (size_t i = (size_t)begin; i < n && (double)i < end; i++)
      densities[b] +=
          fmax(fmin(end, (double)i + 1.0) - fmax(begin, (double)i), 0.0) * weighed[i].likelier;
    mass += densities[b];
    begin = end;
  }
  begin = 0.0;
  for (size_t b = 0; b < shapes->n_bins; b++) {
    const double width = shapes->ends[b] - begin;
    densities[b] = CAUTION + (1.0 - CAUTION) * densities[b] / mass / width;
    begin = shapes->ends[b];
  }
}

/* Bins that are small where few labels tell most, and end where the reference's outcomes begin. */
static void
set_ends(DemurExchangeShapes *shapes, double share) {
  static const double ends[] = {0.01, 0.02, 0.04, 0.06, 0.08, 0.1,  0.15, 0.2,
                                0.3,  0.4,  0.5,  0.6,  0.7,  0.8,  0.85, 0.9,
                                0.92, 0.94, 0.96, 0.97, 0.98, 0.99, 1.0};
  const double outcomes = 1.0 - share;
  shapes->n_bins = 0;
  for (size_t e = 0; e < G_N_ELEMENTS(ends); e++) {
    if (outcomes > (e > 0 ? ends[e - 1] : 0.0) && outcomes < ends[e])
      shapes->ends[shapes->n_bins++] = outcomes;
    shapes->ends[shapes->n_bins++] = ends[e];
  }
}

/* ---- where numbers and categories would fall if something changed ---- */

/* A category's odds so many times as large: of two of them the rarer one's alone are looked at, as the
 * other's are their inverse. Numbers so many standard deviations higher, on the scale on which the
 * reference is normal. */
static const double odds_of_two[] = {1.0 / 6.0, 0.4, 2.5, 6.0};
static const double odds_of_many[] = {0.3, 3.5};
static const double moves[] = {-0.8, -0.35, 0.35, 0.8};

static void
add_odds(DemurExchangeShapes *shapes, size_t category, double odds) {
  const double begin = category > 0 ? shapes->ends[category - 1] : 0.0;
  const double share = shapes->ends[category] - begin;
  double *densities = shapes->densities[shapes->n_shapes++];
  for (size_t b = 0; b < shapes->n_bins; b++)
    densities[b] = (b == category ? odds : 1.0) / (1.0 + share * (odds - 1.0));
}

/* edges [n_edges] as of find_edges: the reference's categories. */
static void
expect_shares(const double *edges, size_t n_edges, DemurExchangeShapes *shapes) {
  if (n_edges == 0 || 2 * (n_edges + 1) > DEMUR_EXCHANGE_SHAPES)
    return;
  for (size_t e = 0; e < n_edges; e++)
    shapes->ends[e] = edges[e];
  shapes->ends[n_edges] = 1.0;
  shapes->n_bins = n_edges + 1;
  shapes->share = EXPECTED_SHARE;
  if (n_edges == 1) {
    for (size_t o = 0; o < G_N_ELEMENTS(odds_of_two); o++)
      add_odds(shapes, edges[0] > 0.5 ? 1 : 0, odds_of_two[o]);
    return;
  }
  for (size_t c = 0; c <= n_edges; c++)
    for (size_t o = 0; o < G_N_ELEMENTS(odds_of_many); o++)
      add_odds(shapes, c, odds_of_many[o]);
}

static double
normal_share(double z) {
  return 0.5 * erfc(-z * M_SQRT1_2);
}

static void
expect_moves(DemurExchangeShapes *shapes) {
  set_ends(shapes, 0.5);
  for (size_t m = 0; m < G_N_ELEMENTS(moves); m++) {
    double *densities = shapes->densities[shapes->n_shapes++];
    double begin = 0.0, below = 0.0;
    for (size_t b = 0; b < shapes->n_bins; b++) {
      const double end = shapes->ends[b];
      const double mass =
          b + 1 < shapes->n_bins ? normal_share(demur_normal_quantile(end) - moves[m]) : 1.0;
      densities[b] = (mass - below) / (end - begin);
      begin = end;
      below = mass;
    }
  }
  shapes->share = EXPECTED_SHARE;
}

/* What the reference's own labels would look like behind each change: a label is weighed by how much
 * likelier it would be. Of few labels nothing is said. */
static void
expect_changes(const DemurWatchPlan *plan, DemurWatchSignal signal, const Values *values,
               const double *edges, size_t n_edges, DemurExchangeShapes *shapes) {
  const size_t n = values->n_reference;
  size_t n_events = 0;
  *shapes = (DemurExchangeShapes){.n_shapes = 0};
  const DemurWatchKind kind = demur_watch_columns[signal].kind;
  if (plan->bets >= 2 && kind == DEMUR_WATCH_CATEGORY)
    expect_shares(edges, n_edges, shapes);
  else if (plan->bets >= 2 && kind == DEMUR_WATCH_NUMBER)
    expect_moves(shapes);
  if (kind != DEMUR_WATCH_LABELLED)
    return;
  for (size_t i = 0; i < n; i++)
    n_events += values->labels[i] > 0.5 ? 1 : 0;
  if (n_events < LEAST_LABELS || n - n_events < LEAST_LABELS)
    return;
  set_ends(shapes, (double)n_events / (double)n);
  g_autofree Weighed *weighed = g_new(Weighed, n);
  const double middle = mean_logit(plan);
  for (size_t c = 0; c < N_CHANGES; c++) {
    for (size_t i = 0; i < n; i++) {
      const double risk = cut_risk(values->risks[i]),
                   changed = changed_risk(plan, signal, c, middle, risk);
      weighed[i].value = values->reference[i];
      weighed[i].likelier =
          values->labels[i] > 0.5 ? changed / risk : (1.0 - changed) / (1.0 - risk);
    }
    qsort(weighed, n, sizeof *weighed, by_value);
    share_ties(weighed, n);
    weigh_bins(weighed, n, shapes, shapes->densities[c]);
  }
  shapes->n_shapes = N_CHANGES;
  shapes->share = EXPECTED_SHARE;
}

/* Categories that the fixed part has. */
static size_t
fixed_counts(const DemurWatchPlan *plan, DemurWatchSignal signal, size_t *counts) {
  const DemurWatchShares *shares = &plan->shares[signal];
  size_t n = 0;
  for (size_t k = 0; k < shares->n; k++)
    if (shares->fixed[k] > 0)
      counts[n++] = shares->fixed[k];
  return n;
}

/* Of categories and labels, whose reference tells it. */
static DemurExchangeTable *
expected_of(const DemurWatchPlan *plan, DemurWatchSignal signal, const Values *values,
            size_t n_pool) {
  switch (demur_watch_columns[signal].kind) {
  case DEMUR_WATCH_NUMBER:
    return NULL;
  case DEMUR_WATCH_CATEGORY: {
    if (lacks_reference(plan, signal))
      return NULL;
    g_autofree size_t *counts = g_new(size_t, MAX(plan->shares[signal].n, 1));
    const size_t n = fixed_counts(plan, signal, counts);
    return demur_watch_expect_shares(counts, n, n_pool);
  }
  case DEMUR_WATCH_LABELLED:
    break;
  }
  if (placed_as(plan, signal) != signal)
    return demur_watch_expect_outcomes(values->labels, values->risks, values->n_fixed, n_pool);
  return demur_watch_expect_labels(signal, values->labels, values->risks, values->n_fixed,
                                   mean_logit(plan), n_pool);
}

/* Returns the number of places behind which something most likely changed. */
static size_t
follow_as(const DemurWatchPlan *plan, DemurWatchSignal signal, const Values *values,
          const double *places, size_t n_pool, double *evidence) {
  double edges[DEMUR_EXCHANGE_BINS];
  const size_t n_edges = find_edges(values->reference, values->n_fixed, edges);
  g_autoptr(DemurExchangeTable) own = expected_of(plan, signal, values, n_pool);
  const DemurExchangeTable *table =
      demur_watch_columns[signal].kind == DEMUR_WATCH_NUMBER ? demur_watch_expect_moves() : own;
  const DemurExchangeSpread spread = plan->bets < 5 ? DEMUR_EXCHANGE_EARLY : DEMUR_EXCHANGE_EVENLY;
  return demur_exchange_follow(places, values->n, n_pool, edges, n_edges, table, spread, evidence);
}

/* Who has the part of another signal is told no more than that one's fortune, so that its line is passed by that one
 * first. */
static void
bet_by_table(const DemurWatchPlan *plan, DemurWatchSignal signal, const Values *values,
             const double *places, size_t n_pool, DemurWatchSignalResult *result) {
  result->change = follow_as(plan, signal, values, places, n_pool, result->evidence);
  if (!shares_part(plan, signal))
    return;
  g_autofree double *shared = g_new(double, MAX(values->n, 1));
  follow_as(plan, DEMUR_WATCH_OUTCOME, values, places, n_pool, shared);
  for (size_t i = 0; i < values->n; i++)
    result->evidence[i] = fmin(result->evidence[i], shared[i]);
}

static void
bet_on_exchange(const DemurWatchPlan *plan, DemurWatchSignal signal,
                const DemurWatchPatient *patients, const Values *values,
                DemurWatchSignalResult *result) {
  const size_t n = values->n;
  g_autofree double *draws = g_new(double, MAX(n, 1)), *places = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    DemurRandom random = demur_random_stream(
        plan->seed, DEMUR_STREAM_WATCH, patients[values->rows[i]].key, placed_as(plan, signal), 0);
    draws[i] = demur_random_uniform(&random);
  }
  const size_t n_fixed = values->n_fixed, n_pool = values->n_reference - n_fixed;
  demur_exchange_places(values->reference + n_fixed, n_pool, values->values, draws, n, places);
  if (plan->bets >= 3) {
    bet_by_table(plan, signal, values, places, n_pool, result);
    return;
  }
  double edges[DEMUR_EXCHANGE_BINS];
  const size_t n_edges = find_edges(values->reference, values->n_reference, edges);
  DemurExchangeShapes shapes;
  expect_changes(plan, signal, values, edges, n_edges, &shapes);
  result->change = demur_exchange_evidence(places, n, edges, n_edges, &shapes, result->evidence);
}

static void
look_at(const DemurWatchPlan *plan, DemurWatchSignal signal, const DemurWatchPatient *patients,
        size_t n, gint64 after, DemurWatchSignalResult *result) {
  *result = (DemurWatchSignalResult){.limit = demur_watch_limit(plan, signal),
                                     .most = 1.0,
                                     .most_at = DEMUR_WATCH_NONE,
                                     .alarm = DEMUR_WATCH_NONE,
                                     .before = NAN,
                                     .since = NAN};
  g_auto(Values) values = take_values(plan, signal, patients, n, after);
  result->n_reference = values.n_reference;
  result->n = values.n;
  result->n_waiting = values.n_waiting;
  result->evidence = g_new(double, MAX(values.n, 1));
  if (signal == DEMUR_WATCH_RANGE)
    result->change = bet_on_range(plan, patients, &values, result->evidence);
  else
    bet_on_exchange(plan, signal, patients, &values, result);
  tell_change(plan, signal, patients, &values, result);
  result->rows = g_steal_pointer(&values.rows);
  for (size_t i = 0; i < result->n; i++) {
    if (result->evidence[i] > result->most) {
      result->most = result->evidence[i];
      result->most_at = i;
    }
    if (result->alarm == DEMUR_WATCH_NONE && result->evidence[i] >= result->limit)
      result->alarm = i;
  }
}

DemurWatchResult *
demur_watch_look(const DemurWatchPlan *plan, const DemurWatchPatient *patients, size_t n,
                 const gint64 *after) {
  DemurWatchResult *result = g_new0(DemurWatchResult, 1);
  for (guint s = 0; s < DEMUR_N_WATCH; s++) {
    if (!is_watched(plan, s))
      result->signals[s] = (DemurWatchSignalResult){.limit = INFINITY,
                                                    .most = 1.0,
                                                    .most_at = DEMUR_WATCH_NONE,
                                                    .alarm = DEMUR_WATCH_NONE,
                                                    .before = NAN,
                                                    .since = NAN};
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
