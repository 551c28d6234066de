/* Newton's method for one and two parameters. With z_i = a + b l_i, l = logit r, p = 1 / (1 +
 * exp(-z)) and counts c_i:
 *
 *   gradient (sum c (y - p), sum c (y - p) l),  information sum c p (1 - p) (1, l)(1, l)'
 *
 * The log likelihood is concave, so a step d that went too far shows in the derivative along it,
 * which the next pass computes anyway: where it has turned round by more than half, the step is
 * halved. No likelihood has to be evaluated: one exp an entry and step,
 * eight entries at a time.
 *
 * The smooth (Cleveland 1979): at x0, over the q = floor(0.75 n) nearest scans, h the distance of
 * the farthest, w = (1 - (|x - x0| / h)^3)^3, s(x0) the value at x0 of the weighted line through
 * them. Copies of a scan count as scans, so the sample is written out copy by copy: the window of
 * nearest scans is then a run of q entries, found by bisection. */
#include "metrics/calibration-fit.h"

#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "metrics/offset-logistic.h"

#define MAX_STEPS 100
#define TOLERANCE                                                                                  \
  1e-6 /* of the largest change of a coefficient: the error left is about its square */
#define SPAN 0.75
#define MAX_POINTS 16384 /* of the smooth */
#define N_KNOTS 25

/* The labels that occur, and whether they overlap on r (or logit r). */
typedef struct {
  gboolean both, overlap;
  size_t n_copies;
} Labels;

static Labels
look_at_labels(const double *values, const double *labels, const guint32 *counts, size_t n) {
  Labels found = {FALSE, FALSE, 0};
  double first[2] = {INFINITY, INFINITY}, last[2] = {-INFINITY, -INFINITY};
  for (size_t i = 0; i < n; i++) {
    const guint32 count = counts != NULL ? counts[i] : 1;
    if (count == 0)
      continue;
    found.n_copies += count;
    const int y = labels[i] >= 0.5;
    first[y] = fmin(first[y], values[i]);
    last[y] = fmax(last[y], values[i]);
  }
  found.both = isfinite(first[0]) && isfinite(first[1]);
  found.overlap = found.both && first[1] < last[0] && first[0] < last[1];
  return found;
}

/* Entries that count, with their logits, in whole vectors: behind the last stand entries of count
 * 0.
 */
typedef struct {
  size_t n_vectors;
  double *logits, *labels, *counts; /* [8 n_vectors], aligned */
} Fit;

typedef struct {
  double g0, g1, h00, h01, h11;
} Derivatives;

static VECTOR_CLONES void
derivatives_at(const Fit *fit, double a, double b, Derivatives *d) {
  V8 g0 = v8_fill(0.0), g1 = g0, h00 = g0, h01 = g0, h11 = g0;
  for (size_t v = 0; v < fit->n_vectors; v++) {
    const V8 l = v8_load(fit->logits + 8 * v), counts = v8_load(fit->counts + 8 * v);
    const V8 z = l * b + a;
    const V8i positive = (V8i)(z >= 0.0);
    const V8 minus_size = v8_select(positive, -z, z);
    V8 t;
    v8_exp(&minus_size, &t);
    const V8 one = v8_fill(1.0);
    const V8 p = v8_select(positive, one, t) / (t + 1.0);
    const V8 residual = counts * (v8_load(fit->labels + 8 * v) - p);
    const V8 weight = counts * p * (1.0 - p);
    g0 += residual;
    g1 += residual * l;
    h00 += weight;
    h01 += weight * l;
    h11 += weight * l * l;
  }
  *d = (Derivatives){v8_sum(g0), v8_sum(g1), v8_sum(h00), v8_sum(h01), v8_sum(h11)};
}

/* From *a, *b to the maximum; with_slope FALSE: b stays. FALSE where it is not reached. */
static gboolean
maximise(const Fit *fit, gboolean with_slope, double *a, double *b) {
  Derivatives d;
  derivatives_at(fit, *a, *b, &d);
  for (int iteration = 0; iteration < MAX_STEPS; iteration++) {
    double step_a, step_b = 0.0;
    if (with_slope) {
      const double determinant = d.h00 * d.h11 - d.h01 * d.h01;
      if (!(determinant > 1e-14 * d.h00 * d.h11))
        return FALSE;
      step_a = (d.h11 * d.g0 - d.h01 * d.g1) / determinant;
      step_b = (d.h00 * d.g1 - d.h01 * d.g0) / determinant;
    } else {
      if (!(d.h00 > 0.0))
        return FALSE;
      step_a = d.g0 / d.h00;
    }
    if (!isfinite(step_a) || !isfinite(step_b))
      return FALSE;
    if (fmax(fabs(step_a), fabs(step_b)) <= TOLERANCE) {
      *a += step_a;
      *b += step_b;
      return TRUE;
    }
    const double slope_before = d.g0 * step_a + d.g1 * step_b;
    double scale = 1.0;
    for (int halving = 0; halving < 60; halving++, scale *= 0.5) {
      derivatives_at(fit, *a + scale * step_a, *b + scale * step_b, &d);
      if (d.g0 * step_a + d.g1 * step_b >= -0.5 * slope_before)
        break;
    }
    *a += scale * step_a;
    *b += scale * step_b;
  }
  return FALSE;
}

/* The entries that count; free with g_aligned_free. */
static double *
prepare(const double *logits, const double *labels, const guint32 *counts, size_t n, Fit *fit) {
  const size_t room = (n + 7) / 8 * 8;
  double *memory = demur_new_matrix(double, 3, MAX(room, 8));
  fit->logits = memory;
  fit->labels = memory + room;
  fit->counts = memory + 2 * room;
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    const guint32 count = counts != NULL ? counts[i] : 1;
    fit->logits[kept] = logits[i];
    fit->labels[kept] = labels[i];
    fit->counts[kept] = (double)count;
    kept += count > 0;
  }
  fit->n_vectors = (kept + 7) / 8;
  for (size_t i = kept; i < 8 * fit->n_vectors; i++)
    fit->logits[i] = fit->labels[i] = fit->counts[i] = 0.0;
  return memory;
}

DemurCalibrationFit
demur_calibration_fit_logits(const double *logits, const double *labels, const guint32 *counts,
                             size_t n, const DemurCalibrationFit *start) {
  DemurCalibrationFit result = {NAN, NAN, NAN};
  const Labels found = look_at_labels(logits, labels, counts, n);
  if (!found.both)
    return result;
  Fit fit;
  DEMUR_AUTO_ALIGNED double *memory = prepare(logits, labels, counts, n, &fit);
  double a = start != NULL && isfinite(start->intercept) ? start->intercept : 0.0, b = 1.0;
  if (maximise(&fit, FALSE, &a, &b))
    result.intercept = a;
  if (!found.overlap)
    return result;
  const gboolean warm = start != NULL && isfinite(start->slope);
  a = warm ? start->slope_intercept : 0.0;
  b = warm ? start->slope : 1.0;
  if (maximise(&fit, TRUE, &a, &b)) {
    result.slope = b;
    result.slope_intercept = a;
  }
  return result;
}

DemurCalibrationFit
demur_calibration_fit(const double *risks, const double *labels, const guint32 *counts, size_t n,
                      const DemurCalibrationFit *start) {
  g_autofree double *logits = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    logits[i] = demur_logit(risks[i]);
  return demur_calibration_fit_logits(logits, labels, counts, n, start);
}

double
demur_calibration_oe_ratio(const double *risks, const double *labels, const guint32 *counts,
                           size_t n) {
  double observed = 0.0, expected = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double count = counts != NULL ? (double)counts[i] : 1.0;
    observed += count * labels[i];
    expected += count * risks[i];
  }
  return expected > 0.0 ? observed / expected : NAN;
}

/* The smooth at its knots. */
typedef struct {
  size_t n;
  double x[N_KNOTS], s[N_KNOTS];
} Knots;

/* The line through the q nearest of x [n] ascending, at x0, which is one of them. */
static double
local_line(const double *x, const double *y, size_t n, size_t q, double x0) {
  size_t low = 0, high = n - q;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (x0 - x[middle] > x[middle + q] - x0)
      low = middle + 1;
    else
      high = middle;
  }
  size_t end = low + q;
  const double h = fmax(x0 - x[low], x[end - 1] - x0);
  if (!(h > 0.0)) { /* ties fill the window: the mean of all of them, whatever their order */
    while (low > 0 && x[low - 1] == x0)
      low--;
    while (end < n && x[end] == x0)
      end++;
  }
  const double inverse = h > 0.0 ? 1.0 / h : 0.0;
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, t0 = 0.0, t1 = 0.0;
  for (size_t i = low; i < end; i++) {
    const double u = (x[i] - x0) * inverse, v = fabs(u);
    const double cube = 1.0 - v * v * v;
    const double w = cube * cube * cube, wu = w * u;
    s0 += w;
    s1 += wu;
    s2 += wu * u;
    t0 += w * y[i];
    t1 += wu * y[i];
  }
  /* x0 is one of the scans, so s0 >= 1. */
  const double determinant = s0 * s2 - s1 * s1;
  const double value = determinant > 1e-10 * s0 * s0 ? (s2 * t0 - s1 * t1) / determinant : t0 / s0;
  return CLAMP(value, 0.0, 1.0);
}

/* The scans one by one in ascending risk, each as often as it counts; from MAX_POINTS on as means
 * of as many groups of equal mass, which moves a smooth over 75 % of them by nothing that shows.
 * Owned; x [n], y [n]. */
static double *
points_of(const double *risks, const double *labels, const guint32 *counts, size_t n,
          size_t n_copies, size_t *n_points) {
  const size_t m = *n_points = MIN(n_copies, MAX_POINTS);
  double *x = g_new0(double, 2 * m), *y = x + m;
  size_t point = 0, end = n_copies / m,
         place = 0; /* point p holds copies p n_copies / m up to end */
  for (size_t i = 0; i < n; i++)
    for (size_t left = counts != NULL ? counts[i] : 1; left > 0;) {
      const size_t taken = MIN(left, end - place);
      x[point] += (double)taken * risks[i];
      y[point] += (double)taken * labels[i];
      place += taken;
      left -= taken;
      if (place == end) {
        const double size = (double)(end - point * n_copies / m);
        x[point] /= size;
        y[point++] /= size;
        end = (point + 1) * n_copies / m;
      }
    }
  return x;
}

static void
fit_knots(const double *risks, const double *labels, const guint32 *counts, size_t n,
          size_t n_copies, Knots *knots) {
  g_autofree double *x = points_of(risks, labels, counts, n, n_copies, &n_copies);
  const double *y = x + n_copies;
  const size_t q = MAX((size_t)(SPAN * (double)n_copies + 1e-5), MIN(n_copies, 2));
  knots->n = 0;
  for (size_t k = 0; k < N_KNOTS; k++) {
    const double x0 = x[(k * (n_copies - 1) + (N_KNOTS - 1) / 2) / (N_KNOTS - 1)];
    if (knots->n > 0 && x0 <= knots->x[knots->n - 1])
      continue;
    knots->x[knots->n] = x0;
    knots->s[knots->n++] = local_line(x, y, n_copies, q, x0);
  }
}

static double
between_knots(const Knots *knots, double x, size_t *place) {
  while (*place + 1 < knots->n && x > knots->x[*place + 1])
    ++*place;
  if (*place + 1 == knots->n || x <= knots->x[*place])
    return knots->s[x <= knots->x[*place] ? *place : knots->n - 1];
  const double part = (x - knots->x[*place]) / (knots->x[*place + 1] - knots->x[*place]);
  return knots->s[*place] + part * (knots->s[*place + 1] - knots->s[*place]);
}

double
demur_calibration_ici(const double *risks, const double *labels, const guint32 *counts, size_t n) {
  const Labels found = look_at_labels(risks, labels, counts, n);
  if (!found.both)
    return NAN;
  Knots knots;
  fit_knots(risks, labels, counts, n, found.n_copies, &knots);
  double sum = 0.0;
  size_t place = 0;
  for (size_t i = 0; i < n; i++) {
    const double count = counts != NULL ? (double)counts[i] : 1.0;
    if (count > 0.0)
      sum += count * fabs(risks[i] - between_knots(&knots, risks[i], &place));
  }
  return sum / (double)found.n_copies;
}

void
demur_calibration_smooth(const double *risks, const double *labels, const guint32 *counts, size_t n,
                         const double *at, size_t n_at, double *smooth) {
  const Labels found = look_at_labels(risks, labels, counts, n);
  Knots knots = {0};
  if (found.n_copies > 0)
    fit_knots(risks, labels, counts, n, found.n_copies, &knots);
  for (size_t i = 0; i < n_at; i++) {
    size_t place = 0;
    smooth[i] = knots.n > 0 ? between_knots(&knots, at[i], &place) : NAN;
  }
}
