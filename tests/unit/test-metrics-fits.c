/* Calibration fits, the Brier score's parts, discrimination and net benefit.
 *
 * The frozen numbers are of the 60 scans below, once each and count-weighted, and were made with
 * Python in float64: slope by sklearn.linear_model.LogisticRegression(penalty='none',
 * solver='newton-cg', tol=1e-12) on logit r; intercept by scipy.optimize.newton on sum(y -
 * expit(a + logit r)); AUROC by sklearn.metrics.roc_auc_score, Brier by brier_score_loss; loess as
 * weighted least squares of numpy at the same knots, and at every scan; bins by numpy.array_split
 * (10 a bin); AURC by its definition, k = 1..n asked for, score max(r, 1 - r). */
#include "metrics/brier.h"
#include "metrics/calibration-fit.h"
#include "metrics/coverage.h"
#include "metrics/discrimination.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

#include "base/processor.h"
#include "base/random.h"

#define N 60
static const double risks[] = {
    0.02, 0.04, 0.05, 0.07, 0.07, 0.09, 0.09, 0.1,  0.1,  0.1,  0.13, 0.13, 0.14, 0.15, 0.16,
    0.16, 0.19, 0.19, 0.2,  0.2,  0.21, 0.22, 0.23, 0.23, 0.23, 0.28, 0.29, 0.3,  0.3,  0.32,
    0.33, 0.34, 0.34, 0.35, 0.35, 0.37, 0.37, 0.38, 0.38, 0.39, 0.39, 0.39, 0.39, 0.4,  0.44,
    0.45, 0.47, 0.51, 0.54, 0.57, 0.57, 0.58, 0.6,  0.63, 0.63, 0.69, 0.76, 0.76, 0.78, 0.88};
static const double labels[] = {0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0,
                                0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0,
                                0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0,
                                1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0,
                                1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0};
static const guint32 counts[] = {2, 1, 1, 2, 2, 1, 0, 2, 0, 0, 0, 0, 2, 1, 0, 0, 1, 1, 0, 2,
                                 2, 1, 2, 1, 0, 0, 0, 2, 0, 1, 0, 2, 0, 1, 2, 1, 2, 2, 2, 2,
                                 1, 1, 2, 1, 2, 2, 1, 1, 2, 2, 0, 0, 0, 1, 0, 1, 1, 2, 2, 0};

typedef struct {
  const guint32 *counts;
  double intercept, slope, slope_intercept, oe, auroc, ici, exact_ici;
  double brier, reliability, resolution, uncertainty, within;
  double net_benefit[2], treat_all[2]; /* at 0.1 and 0.3 */
  double aurc_error, aurc_brier;
} Frozen;

static const Frozen frozen[2] = {{NULL,
                                  0.529389238602018,
                                  0.407394958558414,
                                  0.073113958233234,
                                  1.2987012987013,
                                  0.611425339366516,
                                  0.151894692458119,
                                  0.151777388093421,
                                  0.25758,
                                  0.0398073333333333,
                                  0.0140972222222222,
                                  0.245555555555556,
                                  -0.0136856666666667,
                                  {0.346296296296296, 0.192857142857143},
                                  {0.37037037037037, 0.19047619047619},
                                  0.324201021788568,
                                  0.230703703694963},
                                 {counts,
                                  0.625682957604088,
                                  0.557109812065885,
                                  0.299131387326962,
                                  1.35514018691589,
                                  0.624239350912779,
                                  0.155090840637727,
                                  0.155113999671891,
                                  0.254168253968254,
                                  0.0560231457431457,
                                  0.0491948968139444,
                                  0.248425296044344,
                                  -0.00108529100529101,
                                  {0.398589065255732, 0.256235827664399},
                                  {0.400352733686067, 0.229024943310658},
                                  0.310162847922719,
                                  0.19836869919596}};

static void
test_fits_match(void) {
  for (size_t f = 0; f < 2; f++) {
    const Frozen *e = &frozen[f];
    const DemurCalibrationFit fit =
        demur_calibration_fit(&(DemurOutcomes){N, risks, labels, e->counts, NULL}, NULL);
    demur_assert_close(fit.intercept, e->intercept, 1e-10, 0.0);
    demur_assert_close(fit.slope, e->slope, 1e-7, 0.0);
    demur_assert_close(fit.slope_intercept, e->slope_intercept, 1e-7, 0.0);
    const DemurCalibrationFit far = {5.0, -6.0, 8.0};
    const DemurCalibrationFit again =
        demur_calibration_fit(&(DemurOutcomes){N, risks, labels, e->counts, NULL}, &far);
    demur_assert_close(again.intercept, fit.intercept, 1e-9, 0.0);
    demur_assert_close(again.slope, fit.slope, 1e-9, 0.0);
    demur_assert_close(again.slope_intercept, fit.slope_intercept, 1e-8, 0.0);
    demur_assert_close(
        demur_calibration_oe_ratio(&(DemurOutcomes){N, risks, labels, e->counts, NULL}), e->oe,
        1e-12, 0.0);
    demur_assert_close(demur_calibration_ici(&(DemurOutcomes){N, risks, labels, e->counts, NULL}),
                       e->ici, 1e-10, 0.0);
    /* 25 knots in place of a fit at every scan. */
    demur_assert_close(e->ici, e->exact_ici, 2e-3, 0.0);
  }
}

/* The parts, scans of equal risk sharing their mean outcome: from copies written out in Python. */
static void
test_brier_parts_match_and_sum(void) {
  for (size_t f = 0; f < 2; f++) {
    const Frozen *e = &frozen[f];
    const DemurBrierParts p =
        demur_brier_parts(&(DemurOutcomes){N, risks, labels, e->counts, NULL}, 10);
    demur_assert_close(p.brier, e->brier, 1e-12, 0.0);
    demur_assert_close(p.reliability, e->reliability, 1e-12, 0.0);
    demur_assert_close(p.resolution, e->resolution, 1e-12, 0.0);
    demur_assert_close(p.uncertainty, e->uncertainty, 1e-12, 0.0);
    demur_assert_close(p.within, e->within, 1e-11, 0.0);
    demur_assert_close(p.reliability - p.resolution + p.uncertainty + p.within, p.brier, 1e-12,
                       0.0);
  }
}

static void
test_discrimination_and_benefit_match(void) {
  static const double thresholds[2] = {0.1, 0.3};
  double scores[N];
  guint32 ranks[N];
  for (size_t i = 0; i < N; i++)
    scores[i] = fmax(risks[i], 1.0 - risks[i]);
  const size_t n_ranks = demur_coverage_ranks(scores, N, ranks);
  for (size_t f = 0; f < 2; f++) {
    const Frozen *e = &frozen[f];
    demur_assert_close(demur_auroc(&(DemurOutcomes){N, risks, labels, e->counts, NULL}), e->auroc,
                       1e-12, 0.0);
    DemurNetBenefit curve[2];
    demur_decision_curve(&(DemurOutcomes){N, risks, labels, e->counts, NULL}, thresholds, 2, curve);
    for (size_t t = 0; t < 2; t++) {
      const DemurNetBenefit one =
          demur_net_benefit(&(DemurOutcomes){N, risks, labels, e->counts, NULL}, thresholds[t]);
      demur_assert_close(one.model, e->net_benefit[t], 1e-12, 0.0);
      demur_assert_close(one.all, e->treat_all[t], 1e-12, 0.0);
      demur_assert_close(curve[t].model, one.model, 1e-12, 0.0);
      demur_assert_close(curve[t].all, one.all, 1e-12, 0.0);
    }
    const DemurSelectiveSample sample = {.n = N,
                                         .risks = risks,
                                         .labels = labels,
                                         .counts = e->counts,
                                         .ranks = ranks,
                                         .n_ranks = n_ranks};
    double error, brier;
    demur_aurc(&sample, &error, &brier);
    demur_assert_close(error, e->aurc_error, 1e-12, 0.0);
    demur_assert_close(brier, e->aurc_brier, 1e-12, 0.0);
  }
}

/* Law: a multiplicity is that many copies; an entry of count 0 is not there. */
static void
test_counts_are_copies(void) {
  double r[3 * N], y[3 * N];
  size_t n = 0;
  for (size_t i = 0; i < N; i++)
    for (guint32 c = 0; c < counts[i]; c++, n++) {
      r[n] = risks[i];
      y[n] = labels[i];
    }
  const DemurCalibrationFit a = demur_calibration_fit(
                                &(DemurOutcomes){N, risks, labels, counts, NULL}, NULL),
                            b = demur_calibration_fit(&(DemurOutcomes){n, r, y, NULL, NULL}, NULL);
  demur_assert_close(a.intercept, b.intercept, 1e-10, 0.0);
  demur_assert_close(a.slope, b.slope, 1e-10, 0.0);
  demur_assert_close(demur_calibration_ici(&(DemurOutcomes){N, risks, labels, counts, NULL}),
                     demur_calibration_ici(&(DemurOutcomes){n, r, y, NULL, NULL}), 1e-12, 0.0);
  demur_assert_close(demur_auroc(&(DemurOutcomes){N, risks, labels, counts, NULL}),
                     demur_auroc(&(DemurOutcomes){n, r, y, NULL, NULL}), 1e-12, 0.0);
  const DemurBrierParts p = demur_brier_parts(&(DemurOutcomes){N, risks, labels, counts, NULL}, 7),
                        q = demur_brier_parts(&(DemurOutcomes){n, r, y, NULL, NULL}, 7);
  demur_assert_close(p.reliability, q.reliability, 1e-12, 0.0);
  demur_assert_close(p.within, q.within, 1e-11, 1e-15);
}

/* By hand: no finite answer is NaN, never a large number. */
static void
test_undefined_is_nan(void) {
  static const double r[4] = {0.1, 0.2, 0.6, 0.7};
  static const double none[4] = {0, 0, 0, 0}, separated[4] = {0, 0, 1, 1}, tied[4] = {0, 1, 0, 1},
                      backwards[4] = {1, 1, 0, 0};
  static const double same[4] = {0.3, 0.3, 0.3, 0.3};
  static const guint32 nothing[4] = {0, 0, 0, 0}, touching[4] = {1, 0, 0, 1};
  DemurCalibrationFit fit = demur_calibration_fit(&(DemurOutcomes){4, r, none, NULL, NULL}, NULL);
  g_assert_true(isnan(fit.intercept) && isnan(fit.slope) && isnan(fit.slope_intercept));
  g_assert_true(isnan(demur_calibration_ici(&(DemurOutcomes){4, r, none, NULL, NULL})));
  g_assert_true(isnan(demur_auroc(&(DemurOutcomes){4, r, none, NULL, NULL})));
  demur_assert_close(demur_calibration_oe_ratio(&(DemurOutcomes){4, r, none, NULL, NULL}), 0.0, 0.0,
                     0.0);
  fit = demur_calibration_fit(&(DemurOutcomes){4, r, separated, NULL, NULL}, NULL);
  g_assert_true(isfinite(fit.intercept) && isnan(fit.slope));
  fit = demur_calibration_fit(&(DemurOutcomes){4, r, backwards, NULL, NULL}, NULL);
  g_assert_true(isfinite(fit.intercept) && isnan(fit.slope));
  fit = demur_calibration_fit(&(DemurOutcomes){4, r, tied, touching, NULL}, NULL);
  g_assert_true(isfinite(fit.intercept) && isnan(fit.slope));
  fit = demur_calibration_fit(&(DemurOutcomes){4, r, tied, NULL, NULL}, NULL);
  g_assert_true(isfinite(fit.slope));
  /* logit .3 + a = logit .5 */
  fit = demur_calibration_fit(&(DemurOutcomes){4, same, tied, NULL, NULL}, NULL);
  demur_assert_close(fit.intercept, log(7.0 / 3.0), 1e-12, 0.0);
  g_assert_true(isnan(fit.slope));
  demur_assert_close(demur_calibration_ici(&(DemurOutcomes){4, same, tied, NULL, NULL}), 0.2, 1e-12,
                     0.0);
  g_assert_true(isnan(demur_calibration_oe_ratio(&(DemurOutcomes){4, r, tied, nothing, NULL})));
  g_assert_true(
      isnan(demur_brier_parts(&(DemurOutcomes){4, r, tied, nothing, NULL}, 25).reliability));
  g_assert_true(isnan(demur_net_benefit(&(DemurOutcomes){4, r, tied, nothing, NULL}, 0.5).model));
  g_assert_true(
      isnan(demur_calibration_fit(&(DemurOutcomes){4, r, tied, nothing, NULL}, NULL).intercept));
}

/* Two labels at each of two risks, by hand: the fit goes through the shares. p(.1) = 1/4, p(.5) =
 * 3/4: b = (logit .75 - logit .25) / (logit .5 - logit .1) = 2 log 3 / log 9 = 1, a = log 3. */
static void
test_fit_by_hand(void) {
  static const double r[4] = {0.1, 0.1, 0.5, 0.5}, y[4] = {0, 1, 0, 1};
  static const guint32 c[4] = {3, 1, 1, 3};
  const DemurCalibrationFit fit = demur_calibration_fit(&(DemurOutcomes){4, r, y, c, NULL}, NULL);
  demur_assert_close(fit.slope, 1.0, 1e-10, 0.0);
  demur_assert_close(fit.slope_intercept, log(3.0), 1e-10, 0.0);
  demur_assert_close(fit.intercept, log(3.0), 1e-10, 0.0);
  demur_assert_close(demur_calibration_oe_ratio(&(DemurOutcomes){4, r, y, c, NULL}), 4.0 / 2.4,
                     1e-12, 0.0);
  demur_assert_close(demur_auroc(&(DemurOutcomes){4, r, y, c, NULL}), 0.75, 1e-12, 0.0);
}

/* Planted truth: labels drawn with logit p = 0.3 + 0.8 logit r; 40,000 scans fix the fit to about
 * 0.02, and loess follows the true curve. Risks at both clips do no harm. */
static void
test_planted_miscalibration_is_found(void) {
  enum { M = 40000 };
  g_autofree double *r = g_new(double, M), *y = g_new(double, M);
  DemurRandom random = demur_random_stream(5, DEMUR_STREAM_TEST, 0, 0, 0);
  double truth = 0.0;
  for (size_t i = 0; i < M; i++) {
    r[i] = ((double)i + 0.5) / M;
    const double p = 1.0 / (1.0 + exp(-(0.3 + 0.8 * log(r[i] / (1.0 - r[i])))));
    y[i] = demur_random_uniform(&random) < p;
    truth += fabs(p - r[i]) / M;
  }
  r[0] = 0.0;
  r[M - 1] = 1.0;
  const DemurCalibrationFit fit =
      demur_calibration_fit(&(DemurOutcomes){M, r, y, NULL, NULL}, NULL);
  demur_assert_close(fit.slope, 0.8, 0.0, 0.03);
  demur_assert_close(fit.slope_intercept, 0.3, 0.0, 0.04);
  demur_assert_close(demur_calibration_ici(&(DemurOutcomes){M, r, y, NULL, NULL}), truth, 0.0,
                     0.01);
  double at[3] = {0.0, 0.5, 1.0}, smooth[3];
  demur_calibration_smooth(&(DemurOutcomes){M, r, y, NULL, NULL}, at, 3, smooth);
  demur_assert_close(smooth[1], 1.0 / (1.0 + exp(-0.3)), 0.0, 0.03);
}

/* Full and broken eights, entries that don't count, logits beyond the exponential's range. */
static void
test_every_level_fits_the_same_bytes(void) {
  enum { MOST = 77 };
  double r[MOST], y[MOST], weights[MOST];
  DemurRandom random = demur_random_stream(6, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < MOST; i++) {
    r[i] = i == 0 ? 0.0 : ((double)i + 0.3) / MOST;
    y[i] = demur_random_uniform(&random) < r[i] || i == 1;
    weights[i] = i % 5 == 2 ? 0.0 : demur_random_uniform(&random);
  }
  for (size_t n = 2; n <= MOST; n++)
    for (int weighted = 0; weighted <= 1; weighted++) {
      const DemurOutcomes outcomes = {n, r, y, NULL, weighted ? weights : NULL};
      DemurCalibrationFit first;
      memset(&first, 0, sizeof first);
      for (int level = DEMUR_PROCESSOR_PLAIN; level <= DEMUR_PROCESSOR_AVX512; level++) {
        demur_processor_limit((DemurProcessor)level);
        const DemurCalibrationFit fit = demur_calibration_fit(&outcomes, NULL);
        if (level == DEMUR_PROCESSOR_PLAIN)
          first = fit;
        g_assert_true(memcmp(&first, &fit, sizeof fit) == 0);
      }
    }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/fits/match", test_fits_match);
  g_test_add_func("/metrics/fits/levels", test_every_level_fits_the_same_bytes);
  g_test_add_func("/metrics/fits/brier-parts-match-and-sum", test_brier_parts_match_and_sum);
  g_test_add_func("/metrics/fits/discrimination-and-benefit",
                  test_discrimination_and_benefit_match);
  g_test_add_func("/metrics/fits/counts-are-copies", test_counts_are_copies);
  g_test_add_func("/metrics/fits/undefined-is-nan", test_undefined_is_nan);
  g_test_add_func("/metrics/fits/by-hand", test_fit_by_hand);
  g_test_add_func("/metrics/fits/planted", test_planted_miscalibration_is_found);
  return g_test_run();
}
