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
 * The smooth (Cleveland 1979): at x0, h the distance within which 75 % of the scans lie, w = (1 -
 * (|x
 * - x0| / h)^3)^3, s(x0) the value at x0 of the weighted line through them. Scans of equal risk are
 * one point of their mean outcome, so the order of rows says nothing. */
#include "metrics/calibration-fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "metrics/offset-logistic.h"
#include "metrics/weighted-quantile.h"

#define MAX_STEPS 100
#define TOLERANCE                                                                                  \
  1e-6 /* of the largest change of a coefficient: the error left is about its square */
#define SPAN 0.75
#define MAX_POINTS 16384 /* of the smooth */
#define N_KNOTS 25

/* The labels that occur, and whether they overlap on r (or logit r). */
typedef struct {
  gboolean both, overlap;
} Labels;

static Labels
look_at_labels(const DemurOutcomes *o, const double *values) {
  Labels found = {FALSE, FALSE};
  double first[2] = {INFINITY, INFINITY}, last[2] = {-INFINITY, -INFINITY};
  for (size_t i = 0; i < o->n; i++) {
    if (!(demur_outcomes_mass(o, i) > 0.0))
      continue;
    const int y = o->labels[i] >= 0.5;
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

#define BODY "metrics/logistic-derivatives.inc"
#include "base/every-width.inc"

/* From *a, *b to the maximum; with_slope FALSE: b stays. FALSE where it is not reached. */
static gboolean
maximise(const Fit *fit, gboolean with_slope, double *a, double *b) {
  Derivatives d;
  at_level(derivatives_at)(fit, *a, *b, &d);
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
      at_level(derivatives_at)(fit, *a + scale * step_a, *b + scale * step_b, &d);
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
prepare(const DemurOutcomes *o, const double *logits, Fit *fit) {
  const size_t room = (o->n + 7) / 8 * 8;
  double *memory = demur_new_matrix(double, 3, MAX(room, 8));
  fit->logits = memory;
  fit->labels = memory + room;
  fit->counts = memory + 2 * room;
  size_t kept = 0;
  for (size_t i = 0; i < o->n; i++) {
    const double mass = demur_outcomes_mass(o, i);
    fit->logits[kept] = logits[i];
    fit->labels[kept] = o->labels[i];
    fit->counts[kept] = mass;
    kept += mass > 0.0;
  }
  fit->n_vectors = (kept + 7) / 8;
  for (size_t i = kept; i < 8 * fit->n_vectors; i++)
    fit->logits[i] = fit->labels[i] = fit->counts[i] = 0.0;
  return memory;
}

DemurCalibrationFit
demur_calibration_fit_logits(const DemurOutcomes *o, const double *logits,
                             const DemurCalibrationFit *start) {
  DemurCalibrationFit result = {NAN, NAN, NAN};
  const Labels found = look_at_labels(o, logits);
  if (!found.both)
    return result;
  Fit fit;
  DEMUR_AUTO_ALIGNED double *memory = prepare(o, logits, &fit);
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
demur_calibration_fit(const DemurOutcomes *o, const DemurCalibrationFit *start) {
  g_autofree double *logits = g_new(double, MAX(o->n, 1));
  for (size_t i = 0; i < o->n; i++)
    logits[i] = demur_logit(o->risks[i]);
  return demur_calibration_fit_logits(o, logits, start);
}

double
demur_calibration_oe_ratio(const DemurOutcomes *o) {
  double observed = 0.0, expected = 0.0;
  for (size_t i = 0; i < o->n; i++) {
    const double mass = demur_outcomes_mass(o, i);
    observed += mass * o->labels[i];
    expected += mass * o->risks[i];
  }
  return expected > 0.0 ? observed / expected : NAN;
}

/* --- the smooth --- */

/* Scans of one risk as a point, in ascending risk. */
typedef struct {
  double x, y, mass;
  double before; /* mass of the points before it */
} Point;

typedef struct {
  size_t n;
  double x[N_KNOTS], s[N_KNOTS];
} Knots;

/* The line through the points within the distance that holds a mass of q, at the point `place`. */
static double
local_line(const Point *points, size_t n, double q, size_t place) {
  const double x0 = points[place].x;
  size_t low = place, end = place + 1; /* [low, end) */
  double held = points[place].mass, h = 0.0;
  while (held < q && (low > 0 || end < n)) {
    const double below = low > 0 ? x0 - points[low - 1].x : INFINITY,
                 above = end < n ? points[end].x - x0 : INFINITY;
    h = fmin(below, above);
    held += below <= above ? points[--low].mass : points[end++].mass;
  }
  if (!(h > 0.0)) /* one risk holds it all: its mean */
    return CLAMP(points[place].y, 0.0, 1.0);
  const double inverse = 1.0 / h;
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, t0 = 0.0, t1 = 0.0;
  for (size_t i = low; i < end; i++) {
    const double u = (points[i].x - x0) * inverse, v = fabs(u);
    const double cube = 1.0 - v * v * v;
    const double w = points[i].mass * cube * cube * cube, wu = w * u;
    s0 += w;
    s1 += wu;
    s2 += wu * u;
    t0 += w * points[i].y;
    t1 += wu * points[i].y;
  }
  const double determinant = s0 * s2 - s1 * s1;
  const double value = determinant > 1e-10 * s0 * s0 ? (s2 * t0 - s1 * t1) / determinant : t0 / s0;
  return CLAMP(value, 0.0, 1.0);
}

/* The blocks of equal risk (owned), *mass their sum; from MAX_POINTS on as means of as many groups
 * of equal mass, which moves a smooth over 75 % of them by nothing that shows. */
static Point *
points_of(const DemurOutcomes *o, size_t *n_points, double *mass) {
  Point *points = g_new(Point, MAX(o->n, 1));
  size_t n = 0;
  *mass = 0.0;
  for (size_t i = 0; i < o->n;) {
    DemurBlock block;
    i = demur_outcomes_block(o, i, &block);
    if (!(block.mass > 0.0))
      continue;
    points[n++] = (Point){block.risk, block.positives / block.mass, block.mass, *mass};
    *mass += block.mass;
  }
  *n_points = MIN(n, MAX_POINTS);
  if (n <= MAX_POINTS)
    return points;
  for (size_t i = 0, p = 0; p < MAX_POINTS; p++) {
    Point sum = {0.0, 0.0, 0.0, points[i].before};
    const double end = *mass * (double)(p + 1) / MAX_POINTS;
    do {
      sum.x += points[i].mass * points[i].x;
      sum.y += points[i].mass * points[i].y;
      sum.mass += points[i].mass;
      i++;
    } while (i < n && (points[i].before + 0.5 * points[i].mass < end || p + 1 == MAX_POINTS) &&
             n - i > MAX_POINTS - p - 1);
    points[p] = (Point){sum.x / sum.mass, sum.y / sum.mass, sum.mass, sum.before};
  }
  return points;
}

static void
fit_knots(const DemurOutcomes *o, Knots *knots) {
  size_t n;
  double mass;
  g_autofree Point *points = points_of(o, &n, &mass);
  const gboolean whole = o->weights == NULL; /* scans are counted */
  const double q = whole ? fmax(floor(SPAN * mass + 1e-5), fmin(mass, 2.0)) : SPAN * mass;
  knots->n = 0;
  size_t place = 0;
  for (size_t k = 0; k < N_KNOTS; k++) {
    /* The k-th of 25 quantiles: of counted scans the one in that place. */
    const double target =
        whole ? floor(((double)k * (mass - 1.0) + (N_KNOTS - 1) / 2) / (N_KNOTS - 1))
              : (double)k / (N_KNOTS - 1) * mass;
    while (place + 1 < n && points[place + 1].before <= target)
      place++;
    if (knots->n > 0 && points[place].x <= knots->x[knots->n - 1])
      continue;
    knots->x[knots->n] = points[place].x;
    knots->s[knots->n++] = local_line(points, n, q, place);
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
demur_calibration_ici(const DemurOutcomes *o) {
  if (!look_at_labels(o, o->risks).both)
    return NAN;
  Knots knots;
  fit_knots(o, &knots);
  double sum = 0.0, total = 0.0;
  size_t place = 0;
  for (size_t i = 0; i < o->n; i++) {
    const double mass = demur_outcomes_mass(o, i);
    if (!(mass > 0.0))
      continue;
    sum += mass * fabs(o->risks[i] - between_knots(&knots, o->risks[i], &place));
    total += mass;
  }
  return sum / total;
}

DemurCalibrationGaps
demur_calibration_gaps(const DemurOutcomes *o) {
  if (!look_at_labels(o, o->risks).both)
    return (DemurCalibrationGaps){NAN, NAN, NAN};
  Knots knots;
  fit_knots(o, &knots);
  g_autofree DemurWeighted *gaps = g_new(DemurWeighted, MAX(o->n, 1));
  double sum = 0.0, total = 0.0;
  size_t place = 0, n = 0;
  for (size_t i = 0; i < o->n; i++) {
    const double mass = demur_outcomes_mass(o, i);
    if (!(mass > 0.0))
      continue;
    gaps[n] = (DemurWeighted){fabs(o->risks[i] - between_knots(&knots, o->risks[i], &place)), mass};
    sum += mass * gaps[n++].value;
    total += mass;
  }
  DemurCalibrationGaps result = {.mean = sum / total};
  result.median = demur_weighted_quantile(gaps, n, total, 0.5);
  result.percent_90 = demur_weighted_quantile(gaps, n, total, 0.9);
  return result;
}

void
demur_calibration_smooth(const DemurOutcomes *o, const double *at, size_t n_at, double *smooth) {
  Knots knots = {0};
  gboolean any = FALSE;
  for (size_t i = 0; i < o->n && !any; i++)
    any = demur_outcomes_mass(o, i) > 0.0;
  if (any)
    fit_knots(o, &knots);
  for (size_t i = 0; i < n_at; i++) {
    size_t place = 0;
    smooth[i] = knots.n > 0 ? between_knots(&knots, at[i], &place) : NAN;
  }
}
