/* The smooth calibration curve. Right values: a straight line through points on a line; the other
 * smooth of the program (calibration-fit.h), which is the same loess joined by straight lines; and
 * where risks are right, intervals that hold them as often as they say. */
#include "metrics/calibration-curve.h"

#include <math.h>

#include "base/random.h"
#include "metrics/calibration-fit.h"

#define N 600
#define PLACES 21

static double risks[N], labels[N];
static guint32 clusters[N];

/* Ascending risks; outcomes with the probability bend(r). */
static void
draw(guint64 draw, double (*bend)(double)) {
  DemurRandom random = demur_random_stream(11, DEMUR_STREAM_TEST, draw, 0, 0);
  for (size_t i = 0; i < N; i++) {
    risks[i] = 0.02 + 0.6 * ((double)i + 0.5) / N;
    clusters[i] = (guint32)i;
    labels[i] = demur_random_uniform(&random) < bend(risks[i]) ? 1 : 0;
  }
}

static double
right(double risk) {
  return risk;
}

static double
too_high(double risk) {
  return risk * risk;
}

static void
test_same_smooth(void) {
  DemurCurvePlace places[PLACES];
  draw(1, too_high);
  const DemurOutcomes outcomes = {.n = N, .risks = risks, .labels = labels};
  g_assert_cmpuint(demur_calibration_curve(&outcomes, clusters, N, places, PLACES), ==, PLACES);
  for (size_t p = 0; p < PLACES; p++) {
    double other;
    demur_calibration_smooth(&outcomes, &places[p].risk, 1, &other);
    g_assert_cmpfloat_with_epsilon(places[p].value, other, 0.01);
    g_assert_true(places[p].low <= places[p].value && places[p].value <= places[p].high);
    g_assert_true(p == 0 || places[p].risk > places[p - 1].risk);
  }
}

/* Scans of one patient that say the same are one: the interval is of the patients. */
static void
test_clusters(void) {
  static double twice_risks[2 * N], twice_labels[2 * N];
  static guint32 twice_clusters[2 * N];
  DemurCurvePlace once[PLACES], twice[PLACES], apart[PLACES];
  draw(2, right);
  for (size_t i = 0; i < 2 * N; i++) {
    twice_risks[i] = risks[i / 2];
    twice_labels[i] = labels[i / 2];
    twice_clusters[i] = (guint32)(i / 2);
  }
  const DemurOutcomes outcomes = {.n = N, .risks = risks, .labels = labels},
                      doubled = {.n = 2 * N, .risks = twice_risks, .labels = twice_labels};
  demur_calibration_curve(&outcomes, clusters, N, once, PLACES);
  demur_calibration_curve(&doubled, twice_clusters, N, twice, PLACES);
  for (size_t i = 0; i < 2 * N; i++)
    twice_clusters[i] = (guint32)i;
  demur_calibration_curve(&doubled, twice_clusters, 2 * N, apart, PLACES);
  const size_t middle = PLACES / 2;
  const double width = once[middle].high - once[middle].low;
  g_assert_cmpfloat_with_epsilon(twice[middle].high - twice[middle].low, width, 0.02 * width);
  g_assert_cmpfloat_with_epsilon(apart[middle].high - apart[middle].low, width / sqrt(2),
                                 0.02 * width);
}

/* 400 draws: a share of 95 % has a standard error of .011. */
static void
test_coverage(void) {
  size_t held[PLACES] = {0};
  for (guint64 d = 0; d < 400; d++) {
    DemurCurvePlace places[PLACES];
    draw(100 + d, right);
    const DemurOutcomes outcomes = {.n = N, .risks = risks, .labels = labels};
    g_assert_cmpuint(demur_calibration_curve(&outcomes, clusters, N, places, PLACES), ==, PLACES);
    for (size_t p = 0; p < PLACES; p++)
      held[p] += places[p].low <= places[p].risk && places[p].risk <= places[p].high ? 1 : 0;
  }
  for (size_t p = 2; p + 2 < PLACES; p++) { /* at the very ends few scans stand on one side */
    g_assert_cmpuint(held[p], >=, 364);     /* 91 % */
    g_assert_cmpuint(held[p], <=, 396);     /* 99 % */
  }
}

static void
test_nothing_to_smooth(void) {
  DemurCurvePlace places[PLACES];
  draw(3, right);
  for (size_t i = 0; i < N; i++)
    labels[i] = 0;
  const DemurOutcomes outcomes = {.n = N, .risks = risks, .labels = labels};
  g_assert_cmpuint(demur_calibration_curve(&outcomes, clusters, N, places, PLACES), ==, 0);
  labels[3] = 1;
  for (size_t i = 0; i < N; i++)
    risks[i] = 0.2;
  g_assert_cmpuint(demur_calibration_curve(&outcomes, clusters, N, places, PLACES), ==, 0);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/calibration-curve/the-same-smooth", test_same_smooth);
  g_test_add_func("/metrics/calibration-curve/patients-are-the-unit", test_clusters);
  g_test_add_func("/metrics/calibration-curve/interval-covers", test_coverage);
  g_test_add_func("/metrics/calibration-curve/nothing-to-smooth", test_nothing_to_smooth);
  return g_test_run();
}
