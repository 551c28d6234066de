#include "metrics/calibration-curve.h"

#include <math.h>
#include <string.h>

#define SPAN 0.75
#define FIRST 0.01 /* shares of the scans between which the curve is drawn */
#define LAST 0.99
#define NORMAL_975 1.959963984540054

/* The distance from x within which the nearest SPAN of the mass lies. */
static double
reach_of(const DemurOutcomes *o, double total, double x) {
  size_t right = 0;
  while (right < o->n && o->risks[right] < x)
    right++;
  size_t left = right; /* taken: [left, right) */
  double mass = 0, reach = 0;
  while (mass < SPAN * total && (left > 0 || right < o->n)) {
    const double below = left > 0 ? x - o->risks[left - 1] : INFINITY,
                 above = right < o->n ? o->risks[right] - x : INFINITY;
    reach = fmin(below, above);
    mass += demur_outcomes_mass(o, below <= above ? --left : right++);
  }
  return reach;
}

/* One place; sums [n_clusters] is scratch. */
static void
fit_place(const DemurOutcomes *o, const guint32 *clusters, size_t n_clusters, double total,
          double *sums, DemurCurvePlace *place) {
  const double x = place->risk, reach = fmax(reach_of(o, total, x), 1e-12) * (1 + 1e-9);
  double s0 = 0, s1 = 0, s2 = 0, t0 = 0, t1 = 0;
  for (size_t i = 0; i < o->n; i++) {
    const double mass = demur_outcomes_mass(o, i), u = o->risks[i] - x, q = fabs(u) / reach;
    if (!(mass > 0) || q >= 1)
      continue;
    const double k = mass * pow(1 - q * q * q, 3);
    s0 += k;
    s1 += k * u;
    s2 += k * u * u;
    t0 += k * o->labels[i];
    t1 += k * u * o->labels[i];
  }
  const double det = s0 * s2 - s1 * s1;
  const gboolean line =
      det > 1e-12 * s0 * s0 * reach * reach; /* else all around x is at one risk */
  const double level = line ? (s2 * t0 - s1 * t1) / det : t0 / s0,
               slope = line ? (s0 * t1 - s1 * t0) / det : 0;
  memset(sums, 0, n_clusters * sizeof *sums);
  for (size_t i = 0; i < o->n; i++) {
    const double mass = demur_outcomes_mass(o, i), u = o->risks[i] - x, q = fabs(u) / reach;
    if (!(mass > 0) || q >= 1)
      continue;
    const double k = mass * pow(1 - q * q * q, 3), l = line ? k * (s2 - s1 * u) / det : k / s0;
    sums[clusters[i]] += l * (o->labels[i] - level - slope * u);
  }
  double variance = 0;
  for (size_t c = 0; c < n_clusters; c++)
    variance += sums[c] * sums[c];
  const double half = NORMAL_975 * sqrt(variance);
  place->value = CLAMP(level, 0.0, 1.0);
  place->low = CLAMP(level - half, 0.0, 1.0);
  place->high = CLAMP(level + half, 0.0, 1.0);
}

size_t
demur_calibration_curve(const DemurOutcomes *o, const guint32 *clusters, size_t n_clusters,
                        DemurCurvePlace *places, size_t n_places) {
  double total = 0, positives = 0;
  for (size_t i = 0; i < o->n; i++) {
    const double mass = demur_outcomes_mass(o, i);
    total += mass;
    positives += mass > 0 ? mass * o->labels[i] : 0; /* an unknown label is not looked at */
  }
  if (!(positives > 0) || !(positives < total) || n_places < 2)
    return 0;
  double mass = 0; /* so far */
  size_t filled = 0;
  for (size_t i = 0; i < o->n && filled < n_places; i++) {
    mass += demur_outcomes_mass(o, i);
    while (filled < n_places &&
           mass >= total * (FIRST + (LAST - FIRST) * (double)filled / (double)(n_places - 1)))
      places[filled++].risk = o->risks[i];
  }
  if (filled < n_places || !(places[n_places - 1].risk > places[0].risk))
    return 0;
  g_autofree double *sums = g_new(double, n_clusters + 1);
  for (size_t p = 0; p < n_places; p++)
    fit_place(o, clusters, n_clusters, total, sums, &places[p]);
  return n_places;
}
