#include "selector/recalibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/limits.h"
#include "base/memory.h"
#include "metrics/coverage.h"
#include "metrics/intervals.h"
#include "metrics/selective.h"
#include "selector/folds.h"
#include "metrics/offset-logistic.h"

#define MAX_FOLDS 50
/* One-sided. Few sites flatter: by 0.9, three or nine training hospitals whose outcomes are more than
 * said by chance changed risks that were right, and made them worse in up to 32 % of simulated
 * cohorts (docs/benchmarks.md, "The default beside plain confidence"). */
#define BOUND 0.9
#define BOUND_OF_FEW 0.975

static const char *const names[] = {"none",     "intercept", "temperature", "platt",
                                    "isotonic", "auto",      "corrector"};

const char *
demur_recalibration_name(DemurRecalibrationKind kind) {
  return names[kind];
}

gboolean
demur_recalibration_from_name(const char *name, DemurRecalibrationKind *kind, GError **error) {
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
    if (strcmp(name, names[i]) == 0) {
      *kind = (DemurRecalibrationKind)i;
      return TRUE;
    }
  demur_error_set(
      error, DEMUR_ERROR_USAGE,
      "no recalibration is called '%s'; there are none, auto, intercept, temperature, platt, "
      "isotonic and corrector",
      name);
  return FALSE;
}

void
demur_recalibration_free(DemurRecalibration *r) {
  if (r == NULL)
    return;
  g_free(r->knots_x);
  g_free(r->knots_y);
  g_free(r);
}

static size_t
width_of(size_t n_classes) {
  return n_classes == 2 ? 1 : n_classes;
}

void
demur_recalibration_temperature_sums(const double *p, size_t k, const gint32 *labels,
                                     const double *use, size_t n, double slope, double *first,
                                     double *second) {
  *first = *second = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double count = use != NULL ? use[i] : 1.0;
    if (count == 0.0)
      continue;
    double total = 0.0, mean = 0.0, square = 0.0, own = 0.0, largest = -INFINITY;
    for (size_t c = 0; c < k; c++)
      largest = fmax(largest, log(fmax(p[i * k + c], 1e-12)));
    for (size_t c = 0; c < k; c++) {
      const double l = log(fmax(p[i * k + c], 1e-12));
      const double w = exp(slope * (l - largest));
      total += w;
      mean += w * l;
      square += w * l * l;
      if ((gint32)c == labels[i])
        own = l;
    }
    mean /= total;
    *first += count * (mean - own);
    *second += count * (square / total - mean * mean);
  }
}

gboolean
demur_recalibration_temperature_step(double *slope, double first, double second) {
  if (!(second > 0.0))
    return FALSE;
  const double next = CLAMP(*slope - first / second, 0.25 * *slope, 4.0 * *slope);
  const double change = fabs(next - *slope);
  *slope = CLAMP(next, 1e-3, 1e3);
  return change >= 1e-12 * *slope;
}

static double
fit_temperature(const double *p, size_t k, const gint32 *labels, const double *use, size_t n) {
  double slope = 1.0, first, second;
  for (int step = 0; step < 100; step++) {
    demur_recalibration_temperature_sums(p, k, labels, use, n, slope, &first, &second);
    if (!demur_recalibration_temperature_step(&slope, first, second))
      break;
  }
  return slope;
}

typedef struct {
  double x, y, count;
} Knot;

static int
compare_knots(const void *a, const void *b) {
  const Knot *p = a, *q = b;
  return (p->x > q->x) - (p->x < q->x);
}

/* Pool adjacent violators; one knot a block, at the middle of its risks. */
static void
fit_isotonic(DemurRecalibration *r, const double *risks, const gint32 *labels, const double *use,
             size_t n) {
  g_autofree Knot *points = g_new(Knot, MAX(n, 1));
  size_t m = 0;
  for (size_t i = 0; i < n; i++)
    if (use == NULL || use[i] > 0.0)
      points[m++] = (Knot){risks[i], (double)labels[i], use != NULL ? use[i] : 1.0};
  qsort(points, m, sizeof *points, compare_knots);
  g_autofree double *sums = g_new(double, MAX(m, 1)), *sizes = g_new(double, MAX(m, 1)),
                    *places = g_new(double, MAX(m, 1));
  size_t n_blocks = 0;
  for (size_t i = 0; i < m; i++) {
    sums[n_blocks] = points[i].count * points[i].y;
    sizes[n_blocks] = points[i].count;
    places[n_blocks++] = points[i].count * points[i].x;
    while (n_blocks > 1 &&
           sums[n_blocks - 2] * sizes[n_blocks - 1] >= sums[n_blocks - 1] * sizes[n_blocks - 2]) {
      sums[n_blocks - 2] += sums[n_blocks - 1];
      sizes[n_blocks - 2] += sizes[n_blocks - 1];
      places[n_blocks - 2] += places[n_blocks - 1];
      n_blocks--;
    }
  }
  r->n_knots = n_blocks;
  r->knots_x = g_new(double, MAX(n_blocks, 1));
  r->knots_y = g_new(double, MAX(n_blocks, 1));
  for (size_t b = 0; b < n_blocks; b++) {
    r->knots_x[b] = places[b] / sizes[b];
    r->knots_y[b] = sums[b] / sizes[b];
  }
}

DemurOffsetLogistic
demur_recalibration_problem(DemurRecalibrationKind kind) {
  if (kind == DEMUR_RECALIBRATION_INTERCEPT)
    return (DemurOffsetLogistic){.intercept_penalty = 1e-9};
  /* A very large penalty on the intercept keeps it at 0. */
  return (DemurOffsetLogistic){.d = 1,
                               .stride = 1,
                               .penalty = 1e-9,
                               .intercept_penalty =
                                   kind == DEMUR_RECALIBRATION_PLATT ? 1e-9 : 1e12};
}

DemurRecalibration *
demur_recalibration_fit(DemurRecalibrationKind kind, const double *probabilities, size_t n_classes,
                        const gint32 *labels, const double *use, size_t n) {
  g_return_val_if_fail(kind != DEMUR_RECALIBRATION_AUTO, NULL);
  DemurRecalibration *r = g_new0(DemurRecalibration, 1);
  r->kind = kind;
  r->n_classes = n_classes;
  r->slope = 1.0;
  if (kind == DEMUR_RECALIBRATION_NONE || kind == DEMUR_RECALIBRATION_CORRECTOR)
    return r;
  if (kind == DEMUR_RECALIBRATION_ISOTONIC) {
    fit_isotonic(r, probabilities, labels, use, n);
    return r;
  }
  if (n_classes > 2) {
    r->slope = fit_temperature(probabilities, n_classes, labels, use, n);
    return r;
  }
  g_autofree double *logits = g_new(double, MAX(n, 1)), *y = g_new(double, MAX(n, 1)),
                    *zeros = g_new0(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    logits[i] = demur_logit(probabilities[i]);
    y[i] = labels[i] == 1 ? 1.0 : 0.0;
  }
  DemurOffsetLogistic problem = demur_recalibration_problem(kind);
  problem.n = n;
  problem.inputs = problem.d > 0 ? logits : NULL;
  problem.offsets = problem.d > 0 ? zeros : logits;
  problem.labels = y;
  problem.use = use;
  demur_offset_logistic_fit(&problem, &r->slope, &r->intercept);
  if (kind == DEMUR_RECALIBRATION_TEMPERATURE)
    r->intercept = 0.0;
  return r;
}

static double
interpolate(const DemurRecalibration *r, double x) {
  if (r->n_knots == 0)
    return x;
  if (x <= r->knots_x[0])
    return r->knots_y[0];
  if (x >= r->knots_x[r->n_knots - 1])
    return r->knots_y[r->n_knots - 1];
  size_t low = 0, high = r->n_knots - 1;
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (r->knots_x[middle] <= x)
      low = middle;
    else
      high = middle;
  }
  const double part = (x - r->knots_x[low]) / (r->knots_x[high] - r->knots_x[low]);
  return r->knots_y[low] + part * (r->knots_y[high] - r->knots_y[low]);
}

void
demur_recalibration_apply(const DemurRecalibration *r, const double *probabilities, size_t n,
                          double *out) {
  g_return_if_fail(r->kind != DEMUR_RECALIBRATION_CORRECTOR);
  const size_t k = r->n_classes, width = width_of(k);
  if (r->kind == DEMUR_RECALIBRATION_NONE) {
    if (out != probabilities)
      memcpy(out, probabilities, n * width * sizeof(double));
    return;
  }
  for (size_t i = 0; i < n; i++) {
    if (r->kind == DEMUR_RECALIBRATION_ISOTONIC) {
      out[i] = interpolate(r, probabilities[i]);
    } else if (k == 2) {
      out[i] = demur_sigmoid(r->slope * demur_logit(probabilities[i]) + r->intercept);
    } else {
      double largest = 0.0, total = 0.0;
      for (size_t c = 0; c < k; c++)
        largest = fmax(largest, probabilities[i * k + c]);
      for (size_t c = 0; c < k; c++) {
        const double p = fmax(probabilities[i * k + c], 1e-12);
        total += out[i * k + c] = exp(r->slope * log(p / largest));
      }
      for (size_t c = 0; c < k; c++)
        out[i * k + c] /= total;
    }
  }
}

typedef struct {
  double risk, label, weight;
} Pair;

static int
compare_pairs(const void *a, const void *b) {
  const Pair *p = a, *q = b;
  if (p->risk != q->risk)
    return p->risk < q->risk ? -1 : 1;
  return (p->label > q->label) - (p->label < q->label);
}

/* What an outcome weighs. */
static double
weight_of(const DemurRecalibrationQuestion *q, size_t i) {
  return q->weights != NULL ? q->weights[i] : 1.0;
}

/* S-BCE_2 of everything and mean log loss. */
static DemurRecalibrationTrial
measure(DemurRecalibrationKind kind, const double *p, const DemurRecalibrationQuestion *q) {
  const size_t k = q->n_classes, n = q->n;
  const gint32 *labels = q->labels;
  double total = 0.0;
  for (size_t i = 0; i < n; i++)
    total += weight_of(q, i);
  DemurRecalibrationTrial trial = {.kind = kind, .difference = NAN, .low = NAN, .high = NAN};
  g_autofree Pair *pairs = g_new(Pair, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    if (k == 2) {
      pairs[i] = (Pair){p[i], labels[i] == 1 ? 1.0 : 0.0, weight_of(q, i)};
      trial.log_loss += weight_of(q, i) * demur_log_loss(pairs[i].label, p[i]) / total;
      continue;
    }
    size_t top = 0;
    for (size_t c = 1; c < k; c++)
      if (p[i * k + c] > p[i * k + top])
        top = c;
    pairs[i] = (Pair){p[i * k + top], (gint32)top == labels[i] ? 1.0 : 0.0, weight_of(q, i)};
    trial.log_loss += weight_of(q, i) * demur_log_loss(1.0, p[i * k + (size_t)labels[i]]) / total;
  }
  qsort(pairs, n, sizeof *pairs, compare_pairs);
  g_autofree double *risks = g_new(double, MAX(n, 1)), *y = g_new(double, MAX(n, 1)),
                    *weights = g_new(double, MAX(n, 1));
  g_autofree guint32 *ranks = g_new0(guint32, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    risks[i] = pairs[i].risk;
    y[i] = pairs[i].label;
    weights[i] = pairs[i].weight;
  }
  const DemurSelectiveSample sample = {.n = n,
                                       .risks = risks,
                                       .labels = y,
                                       .weights = q->weights != NULL ? weights : NULL,
                                       .ranks = ranks,
                                       .n_ranks = 1};
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(MAX(n, 1));
  const double all = 1.0;
  demur_selective_errors(&sample, &all, 1, 25, scratch, &trial.sbce2);
  return trial;
}

static double
row_loss(const double *p, size_t k, gint32 label) {
  return k == 2 ? demur_log_loss(label == 1 ? 1.0 : 0.0, p[0]) : demur_log_loss(1.0, p[label]);
}

/* Mean difference of log loss a - b and its interval over sites: Student's, with the linearised
 * standard error of a ratio of sums over sites. */
static void
compare(const DemurRecalibrationQuestion *q, const double *a, const double *b,
        DemurRecalibrationTrial *trial) {
  const size_t k = q->n_classes, width = width_of(k);
  guint32 n_codes = 0;
  for (size_t i = 0; i < q->n; i++)
    n_codes = MAX(n_codes, q->sites[i] + 1);
  g_autofree double *sums = g_new0(double, MAX(n_codes, 1)),
                    *sizes = g_new0(double, MAX(n_codes, 1));
  double total = 0.0, size = 0.0;
  for (size_t i = 0; i < q->n; i++) {
    const double weight = weight_of(q, i);
    const double d = weight * (row_loss(a + i * width, k, q->labels[i]) -
                               row_loss(b + i * width, k, q->labels[i]));
    sums[q->sites[i]] += d;
    sizes[q->sites[i]] += weight;
    total += d;
    size += weight;
  }
  trial->difference = size > 0.0 ? total / size : 0.0;
  double squares = 0.0, n_sites = 0.0;
  for (guint32 s = 0; s < n_codes; s++) {
    const double residual = sums[s] - trial->difference * sizes[s];
    squares += residual * residual;
    n_sites += sizes[s] > 0.0;
  }
  if (n_sites < 2.0)
    return;
  trial->bound = n_sites < DEMUR_FEW_SITES ? BOUND_OF_FEW : BOUND;
  const double error = sqrt(squares * n_sites / (n_sites - 1.0)) / size;
  const double reach = error * demur_student_quantile(trial->bound, n_sites - 1.0);
  trial->low = trial->difference - reach;
  trial->high = trial->difference + reach;
}

/* out [n][width] by the fits of one kind without the row's fold. */
static void
leave_out(const DemurRecalibrationQuestion *q, DemurRecalibrationKind kind, const guint32 *folds,
          size_t n_folds, double *out) {
  const size_t width = width_of(q->n_classes);
  if (kind == DEMUR_RECALIBRATION_CORRECTOR) {
    memcpy(out, q->corrected, q->n * sizeof(double));
    return;
  }
  g_autofree double *use = g_new(double, MAX(q->n, 1));
  for (size_t f = 0; f < n_folds; f++) {
    for (size_t i = 0; i < q->n; i++)
      use[i] = n_folds > 1 && folds[i] == f ? 0.0 : weight_of(q, i);
    g_autoptr(DemurRecalibration) fit =
        demur_recalibration_fit(kind, q->probabilities, q->n_classes, q->labels, use, q->n);
    for (size_t i = 0; i < q->n; i++)
      if (folds[i] == f)
        demur_recalibration_apply(fit, q->probabilities + i * width, 1, out + i * width);
  }
}

DemurRecalibrationKind
demur_recalibration_choose(const DemurRecalibrationQuestion *q, double *out_of_fold,
                           DemurRecalibrationTrial *trials, size_t *n_trials) {
  const size_t width = width_of(q->n_classes), size = q->n * width * sizeof(double);
  trials[0] = measure(DEMUR_RECALIBRATION_NONE, q->probabilities, q);
  *n_trials = 1;
  memcpy(out_of_fold, q->probabilities, size);
  DemurRecalibrationKind candidates[DEMUR_RECALIBRATION_MAX_TRIALS - 1] = {q->kind};
  size_t n_candidates = 1;
  if (q->kind == DEMUR_RECALIBRATION_NONE)
    return q->kind;
  if (q->kind == DEMUR_RECALIBRATION_AUTO && q->n_classes > 2) {
    candidates[0] = DEMUR_RECALIBRATION_TEMPERATURE;
  } else if (q->kind == DEMUR_RECALIBRATION_AUTO) {
    candidates[0] = DEMUR_RECALIBRATION_INTERCEPT;
    candidates[1] = DEMUR_RECALIBRATION_PLATT;
    candidates[2] = DEMUR_RECALIBRATION_CORRECTOR;
    n_candidates = q->corrected != NULL ? 3 : 2;
  }
  g_autofree guint32 *folds = g_new(guint32, MAX(q->n, 1));
  const size_t n_folds = demur_folds_assign(q->sites, q->n, MAX_FOLDS, q->seed, 1, folds);
  g_autofree double *trial_out = g_new(double, MAX(q->n, 1) * width);
  DemurRecalibrationKind chosen = DEMUR_RECALIBRATION_NONE;
  for (size_t c = 0; c < n_candidates; c++) {
    leave_out(q, candidates[c], folds, n_folds, trial_out);
    DemurRecalibrationTrial *trial = &trials[(*n_trials)++];
    *trial = measure(candidates[c], trial_out, q);
    trial->against = chosen;
    compare(q, trial_out, out_of_fold, trial);
    if (q->kind != DEMUR_RECALIBRATION_AUTO || trial->high < 0.0) { /* NaN: not shown */
      chosen = candidates[c];
      memcpy(out_of_fold, trial_out, size);
    }
  }
  return chosen;
}

void
demur_recalibration_write_json(const DemurRecalibration *r, DemurJson *json, const char *key) {
  demur_json_begin_object(json, key);
  demur_json_string(json, "kind", demur_recalibration_name(r->kind));
  demur_json_int(json, "n_classes", (gint64)r->n_classes);
  demur_json_double(json, "slope", r->slope);
  demur_json_double(json, "intercept", r->intercept);
  demur_json_int(json, "n_knots", (gint64)r->n_knots);
  demur_json_doubles(json, "knots_x", r->knots_x, r->n_knots);
  demur_json_doubles(json, "knots_y", r->knots_y, r->n_knots);
  demur_json_end_object(json);
}

DemurRecalibration *
demur_recalibration_read_json(JsonObject *object, GError **error) {
  g_autoptr(DemurRecalibration) r = g_new0(DemurRecalibration, 1);
  const char *kind;
  gint64 n_classes, n_knots;
  DEMUR_AUTO_ALIGNED double *x = NULL, *y = NULL;
  if (!demur_json_read_string(object, "kind", &kind, error) ||
      !demur_recalibration_from_name(kind, &r->kind, error) ||
      !demur_json_read_int(object, "n_classes", 2, 1000000, &n_classes, error) ||
      !demur_json_read_double(object, "slope", -INFINITY, INFINITY, &r->slope, error) ||
      !demur_json_read_double(object, "intercept", -INFINITY, INFINITY, &r->intercept, error) ||
      !demur_json_read_int(object, "n_knots", 0, 100000000, &n_knots, error) ||
      !demur_json_read_doubles(object, "knots_x", (size_t)n_knots, -INFINITY, INFINITY, &x,
                               error) ||
      !demur_json_read_doubles(object, "knots_y", (size_t)n_knots, 0.0, 1.0, &y, error))
    return NULL;
  r->n_classes = (size_t)n_classes;
  r->n_knots = (size_t)n_knots;
  if (r->kind == DEMUR_RECALIBRATION_AUTO) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "member 'recalibration' is of kind auto, which is no map");
    return NULL;
  }
  r->knots_x = g_memdup2(x, MAX(r->n_knots, 1) * sizeof(double));
  r->knots_y = g_memdup2(y, MAX(r->n_knots, 1) * sizeof(double));
  return g_steal_pointer(&r);
}
