/* Guaranteed selective calibration risk: a threshold whose accepted scans are calibrated to within
 * alpha in every bin of risk, with an error probability of delta. docs/method.md, section
 * "Coverage tuning".
 *
 * Everything that the labels of the tuning split must not choose (thresholds to try and their
 * order, bins, bets) is a plan, made beforehand from the training scans, alpha, delta and the
 * number of tuning patients. */
#pragma once

#include "selector/coverage.h"

G_BEGIN_DECLS

#define DEMUR_RISK_BINS 10
#define DEMUR_RISK_MIN_BIN 25 /* a bin with 1 to 24 accepted scans fails */
#define DEMUR_RISK_GRID 20    /* coverages .05, .10, .., 1 of the training scans */

typedef struct {
  double alpha, delta;
  size_t n_patients; /* of the tuning split */
  size_t n_networks;
  size_t n_steps;     /* steps that will be tested, coverage ascending; at least 1 */
  double *coverages;  /* [n_steps] share of the training scans that the threshold accepts */
  double *thresholds; /* [n_steps][n_networks] */
  double edges[DEMUR_RISK_BINS + 1]; /* bin b is (edges[b], edges[b+1]]; the first holds 0 too */
  double bets[DEMUR_RISK_BINS]
             [2];   /* largest lambda against mean(y - r) above alpha, below -alpha */
  double min_share; /* a bin with less of all scans among the accepted is not spoken of */
  double n_needed;  /* patients with which the easiest step would be worth testing */
} DemurRiskPlan;

/* kept_scores [n_networks][n_kept], kept_risks [n_kept] of scans that are not in the tuning split;
 * no step above max_coverage (1: none left out). DEMUR_ERROR_USAGE for alpha or delta outside
 * (0, 1) or a max_coverage outside [0.05, 1], DEMUR_ERROR_STATE for fewer than 100 kept scans. */
DemurRiskPlan *demur_risk_plan_new(double alpha, double delta, double max_coverage,
                                   const double *const *kept_scores, size_t n_networks,
                                   const float *kept_risks, size_t n_kept, size_t n_patients,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same from the training scans kept in a selector; one network a model. */
DemurRiskPlan *demur_risk_plan_from_selector(double alpha, double delta, double max_coverage,
                                             const DemurSelector *selector, size_t n_patients,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Thresholds that accept .05, .10, .., up to max_coverage of the training scans kept in the
 * selector: coverages [DEMUR_RISK_GRID], thresholds [DEMUR_RISK_GRID][n_models]; how many. 0 with
 * DEMUR_ERROR_STATE where the selector keeps fewer than 100. */
size_t demur_risk_grid_from_selector(const DemurSelector *selector, double max_coverage,
                                     double *coverages, double *thresholds,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_risk_plan_free(DemurRiskPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurRiskPlan, demur_risk_plan_free)

/* Bin of a risk. */
size_t demur_risk_plan_bin(const DemurRiskPlan *plan, double risk);

/* Logarithm of the mean capital that betting lambda, lambda/2, lambda/4 and lambda/8 in each of n
 * rounds makes of 1: of prod(1 + lambda (alpha - side d_i)), d = y - r, side 1 or -1. -inf where
 * all is lost. */
double demur_risk_log_capital(double lambda, double alpha, int side, const double *differences,
                              size_t n);

/* Tests the plan's steps in their order on one scan a patient (drawn by the seed) and keeps the
 * last that passes before the first that fails. scores [n_networks][n], risks and labels [n] (K >
 * 2: top probability, whether it is right). DEMUR_ERROR_STATE "cannot be guaranteed with n = .."
 * where the first step fails, or where a drawn scan has no label (NaN). */
DemurTuning *demur_tune_guaranteed_risk(const DemurRiskPlan *plan, const double *const *scores,
                                        const double *risks, const double *labels,
                                        const guint32 *patients, size_t n, guint64 seed,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
