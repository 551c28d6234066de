/* Guarantees for measures of what is accepted: a threshold at which, with an error probability of
 * delta each, the accepted scans have at least the negative or positive predictive value, at most
 * the false negative rate, the error rate or the Brier score that was asked for. docs/method.md,
 * section "Coverage tuning".
 *
 * Which thresholds are tried, in which order, and from which one on it is worth trying, is settled
 * by the training scans' scores and the tuning scans' scores and risks; labels are looked at
 * afterwards only. */
#pragma once

#include "base/json-writer.h"
#include "selector/coverage.h"

G_BEGIN_DECLS

/* "npv:0.98:0.1", "brier:0.1" ..; names as in JSON. DEMUR_ERROR_USAGE. */
gboolean demur_guarantee_parse(const char *text, DemurGuarantee *guarantee,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* "npv", "ppv", "false_negative_rate", "error_rate", "brier". */
const char *demur_guarantee_name(DemurGuaranteeMeasure measure);

/* The tuning split, one row a scan, and the thresholds to try. */
typedef struct {
  const double *const *scores; /* [n_networks][n] */
  size_t n_networks;
  const double *risks, *labels; /* [n]; labels NaN where not recorded */
  const guint32 *patients;      /* [n] */
  size_t n;
  size_t n_steps;
  const double *coverages;  /* [n_steps] ascending, of the training scans */
  const double *thresholds; /* [n_steps][n_networks] */
  double positive_from;     /* risks from here on are called positive */
  guint64 seed;             /* which scan of a patient */
} DemurGuaranteeInput;

/* The largest of the thresholds' coverages for which all guarantees hold, tested upwards on one scan
 * a patient until one fails. DEMUR_ERROR_STATE "cannot be guaranteed with n = .." with what would
 * do, or where no drawn scan has a label. One without counts as the worse of both; of the false
 * negative rate every one needs its own. */
DemurTuning *demur_tune_guaranteed_measures(const DemurGuaranteeInput *input,
                                            const DemurGuarantee *guarantees, size_t n_guarantees,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Members "guarantees" [{"measure", "level", "delta" (null: in expectation)}] and "positive_from" of
 * a tuning that has them; none of one that has not. */
void demur_tuning_write_guarantees(const DemurTuning *tuning, DemurJson *json);

/* p value of "the mean loss exceeds level" from n losses in [0, 1] of this sum: the exact binomial
 * tail for losses of 0 and 1, else Hoeffding's and Bentkus' bounds, whichever is less (Bates et al.
 * 2021). 1 for n = 0. */
double demur_guarantee_p_value(double sum, size_t n, double level, gboolean binary);

G_END_DECLS
