#include "evaluation/mix-calibration.h"

#include <math.h>
#include <string.h>

#include "metrics/bins.h"

typedef struct {
  const DemurMixRatios *ratios;
  DemurDrawn as_is;
  const double *raked; /* may be NULL */
  DemurMixRatiosScratch *scratch;
  size_t n_bins, n_units;
  const guint32 *units;
  double *from,
      *to; /* [n] where an entry's block stands among what is shown, in bins; from = to: nowhere */
  double sizes[DEMUR_MAX_BINS], gaps[DEMUR_MAX_BINS], mass;
  double *z; /* [n_units][n_bins] */
  double covariance[DEMUR_MAX_BINS][DEMUR_MAX_BINS];
} Spread;

static double
raked_of(const Spread *s, size_t i) {
  return s->raked != NULL ? s->raked[i] : 1.0;
}

static double
known_of(const Spread *s, size_t i) {
  return s->as_is.weights != NULL ? s->as_is.weights[i] : 1.0;
}

static double
mass_of(const Spread *s, size_t i) {
  return s->ratios->accepted[i] ? raked_of(s, i) * known_of(s, i) : 0.0;
}

/* The share of the entry that stands in the bin. */
static double
share_of(const Spread *s, size_t i, size_t bin) {
  const double low = fmax(s->from[i], (double)bin), high = fmin(s->to[i], (double)bin + 1.0);
  return high > low ? (high - low) / (s->to[i] - s->from[i]) : 0.0;
}

/* Where blocks of equal risk stand, and what the bins hold. FALSE: nothing is shown. */
static gboolean
fill_bins(Spread *s, size_t min_bin_size) {
  const DemurSample *sample = s->ratios->sample;
  size_t n_known = 0;
  for (size_t i = 0; i < sample->n; i++) {
    s->mass += mass_of(s, i);
    n_known += mass_of(s, i) > 0.0 ? 1 : 0;
  }
  s->n_bins = demur_bins_count(n_known, min_bin_size);
  if (s->n_bins == 0 || !(s->mass > 0.0))
    return FALSE;
  double before = 0.0;
  for (size_t i = 0, end; i < sample->n; i = end) {
    double block = 0.0;
    for (end = i; end < sample->n && sample->risks[end] == sample->risks[i]; end++)
      block += mass_of(s, end);
    for (size_t k = i; k < end; k++) {
      s->from[k] = before / s->mass * (double)s->n_bins;
      s->to[k] = (before + block) / s->mass * (double)s->n_bins;
    }
    before += block;
  }
  for (size_t b = 0; b < s->n_bins; b++) {
    double gap = 0.0;
    for (size_t i = 0; i < sample->n; i++) {
      const double mass = share_of(s, i, b) * mass_of(s, i);
      s->sizes[b] += mass;
      gap += mass * sample->differences[i];
    }
    s->gaps[b] = gap / s->sizes[b];
  }
  return TRUE;
}

/* Z / (1 - h) of a bin. left [n_units]: what margins leave of units; q [n], own [n_units]: working
 * memory. */
static void
fill_influences(Spread *s, size_t bin, const double *left, double *q, double *own) {
  const DemurSample *sample = s->ratios->sample;
  memset(own, 0, s->n_units * sizeof *own);
  for (size_t i = 0; i < sample->n; i++) {
    const double share = s->ratios->accepted[i] ? share_of(s, i, bin) : 0.0,
                 known = share > 0.0 ? known_of(s, i) : 0.0;
    q[i] = 0.0;
    if (!(known > 0.0))
      continue;
    q[i] = share * known * (sample->differences[i] - s->gaps[bin]) / s->sizes[bin];
    own[s->units[i]] += share * known * raked_of(s, i) / s->sizes[bin];
  }
  if (s->raked != NULL)
    demur_mix_take_margins_out(s->ratios, s->as_is, s->raked, s->scratch, q, 1);
  for (size_t i = 0; i < sample->n; i++)
    s->z[s->units[i] * s->n_bins + bin] += raked_of(s, i) * q[i];
  for (size_t u = 0; u < s->n_units; u++)
    s->z[u * s->n_bins + bin] /= fmin(left[u] * left[u], 1.0 - fmin(own[u], DEMUR_MIX_MOST_SHARE));
}

static void
fill_covariance(Spread *s) {
  g_autofree double *q = g_new(double, s->ratios->sample->n),
                    *of_units = g_new0(double, 2 * s->n_units);
  demur_mix_leverages(s->ratios, s->raked, of_units);
  for (size_t b = 0; b < s->n_bins; b++)
    fill_influences(s, b, of_units, q, of_units + s->n_units);
  for (size_t u = 0; u < s->n_units; u++) {
    const double *z = s->z + u * s->n_bins;
    for (size_t b = 0; b < s->n_bins; b++)
      for (size_t c = 0; c < s->n_bins; c++)
        s->covariance[b][c] += z[b] * z[c];
  }
}

/* tr((F Sigma)^2) of what the estimates' traces are: trace and square. */
static double
square_without_chance(const Spread *s, const double *f, double trace, double square) {
  double sum = 0.0, squares = 0.0;
  for (size_t u = 0; u < s->n_units; u++) {
    double t = 0.0;
    for (size_t b = 0; b < s->n_bins; b++) {
      const double z = s->z[u * s->n_bins + b];
      t += f[b] * z * z;
    }
    sum += t;
    squares += t * t;
  }
  if (!(squares > 0.0))
    return square;
  const double nu = fmax(sum * sum / squares, 2.0);
  const double without = nu * nu / ((nu - 1.0) * (nu + 2.0)) * (square - trace * trace / nu);
  return fmin(fmax(without, trace * trace / (double)s->n_bins), square);
}

/* P, its moments, and the degrees of freedom of what moves it. */
static DemurSquares
squares_of(const Spread *s) {
  DemurSquares squares = {0};
  double f[DEMUR_MAX_BINS], along = 0.0, fourth = 0.0;
  for (size_t b = 0; b < s->n_bins; b++) {
    f[b] = s->sizes[b] / s->mass;
    squares.sum += f[b] * s->gaps[b] * s->gaps[b];
  }
  for (size_t b = 0; b < s->n_bins; b++) {
    squares.added += f[b] * s->covariance[b][b];
    for (size_t c = 0; c < s->n_bins; c++)
      squares.variance += 2.0 * f[b] * f[c] * s->covariance[b][c] * s->covariance[b][c];
  }
  for (size_t u = 0; u < s->n_units; u++) {
    double x = 0.0;
    for (size_t b = 0; b < s->n_bins; b++)
      x += f[b] * s->gaps[b] * s->z[u * s->n_bins + b];
    along += x * x;
    fourth += x * x * x * x;
  }
  squares.variance = 2.0 * square_without_chance(s, f, squares.added, 0.5 * squares.variance);
  squares.growth = squares.sum > 0.0 ? 4.0 * along / squares.sum : 0.0;
  squares.degrees = fourth > 0.0 ? fmax(along * along / fourth, 1.0) : (double)s->n_units;
  return squares;
}

DemurInterval
demur_mix_calibration_interval(const DemurMixRatios *ratios, DemurDrawn as_is, const double *raked,
                               DemurMixRatiosScratch *scratch, size_t min_bin_size, double level) {
  const DemurSample *sample = ratios->sample;
  const size_t n = sample->n;
  DemurInterval interval = {NAN, NAN};
  Spread s = {.ratios = ratios,
              .as_is = as_is,
              .raked = raked,
              .scratch = scratch,
              .n_units = demur_sample_n_units(sample, ratios->unit),
              .units = ratios->unit == DEMUR_UNIT_SITE ? sample->sites : sample->patients};
  g_autofree double *places = g_new0(double, 2 * MAX(n, 1));
  s.from = places;
  s.to = places + n;
  if (!fill_bins(&s, min_bin_size))
    return interval;
  g_autofree double *z = g_new0(double, s.n_bins *s.n_units);
  s.z = z;
  fill_covariance(&s);
  const DemurSquares squares = squares_of(&s);
  if (s.n_units >= 2)
    demur_interval_squares(&squares, level, &interval.low, &interval.high);
  return interval;
}
