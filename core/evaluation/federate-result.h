/* What a study of several sites came to (federate-merge.h), and its document. */
#pragma once

#include "evaluation/federate.h"
#include "metrics/heterogeneity.h"

G_BEGIN_DECLS

/* An operating point of an evaluation over all sites. NaN throughout where some site's withheld scans lie
 * on both sides of the threshold. */
typedef struct {
  double threshold; /* NaN: everything */
  gboolean told;
  double n, coverage, positives;
  double expected, oe_ratio; /* sum r; positives / expected */
  double brier;
  /* Over the bins that remain where those that any site tells together are: S-BCE_q as in
   * metrics/selective.h, bins by edges in place of equal mass. */
  size_t n_bins;
  double sbce1, sbce2, sbceinf, debiased2;
  double refused[2]; /* share of each label that is refused */
} DemurFederatePoint;

typedef struct {
  DemurFederateStudy study;
  DemurRecalibrationKind kind;
  char *selector, *first; /* digests: selector, first round */
  char **sites;           /* whose answers it is of, to NULL */
  size_t n_rounds;
  double n;
  gboolean simulated; /* some of what was answered is of simulated data */
  DemurNewtonEnding
      ending; /* of a recalibration or a corrector: why the steps ended, never singular */
  double slope, intercept; /* of a recalibration */
  double lambda;
  size_t n_weights;
  double *weights; /* of a corrector, with intercept, */
  guint32 *inputs; /* of these columns */
  /* Of an audit: mean y - r, sum r (1 - r), the sum v over patients of (their sum of y - r)^2, which is
   * the variance of the sum whatever a patient's scans have in common, z = sum (y - r) / sqrt(v); each
   * site's intercept to first order, sum (y - r) / sum r (1 - r), of standard error sqrt(v) / sum r (1 - r),
   * in a random-effects model. */
  double difference, variance, by_patient, z;
  DemurHeterogeneity sites_differ;
  size_t n_points;
  DemurFederatePoint *points; /* of an evaluation: its thresholds, then everything */
} DemurFederateResult;

void demur_federate_result_free(DemurFederateResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurFederateResult, demur_federate_result_free)

/* Sealed as rounds are (owned); *digest (owned; NULL: not wanted). */
char *demur_federate_result_write(const DemurFederateResult *result, char **digest);

/* Reading back, with its digest; text ends in NUL. DEMUR_ERROR_INPUT for what is none, was edited, or is
 * out of range; DEMUR_ERROR_UNSUPPORTED for that of an evaluation, which nothing reads. */
DemurFederateResult *demur_federate_result_read(const char *text, gssize length, char **digest,
                                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
