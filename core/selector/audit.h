/* Site audit: a few labelled scans of a new site, and what they say of its risks. docs/method.md,
 * "Beyond the paper", point 7. K = 2 only. */
#pragma once

#include <glib.h>

#include "metrics/site-prior.h"

G_BEGIN_DECLS

/* Which n_wanted of the scans to label: one scan a patient, drawn by the seed, then a systematic
 * sample of them in order of risk tenth and, within it, of score. Every patient has the same
 * chance, and every range of risk and of score its share. Places in [0, n), ascending (owned); all
 * patients where there are fewer. */
guint32 *demur_audit_choose(const double *risks, const double *scores, const guint32 *patients,
                            size_t n, size_t n_wanted, guint64 seed, size_t *n_chosen);

typedef struct {
  double tau2;      /* posterior mean of the variance of the training sites' intercepts */
  double intercept; /* posterior mean of b_site */
  double low, high; /* its 95 % posterior interval */
  size_t n_labels;
  double observed;                  /* mean y - r of the labelled scans */
  double mean_before, mean_after;   /* mean risk of all scans of the site */
  double error_before, error_after; /* expected |mean(y - r)| of the site as root mean square over
                                     * the posterior, without and with the intercept */
} DemurAudit;

/* risks and labels [n_labels] of the labelled scans, site_risks [n_site] of all scans of the site
 * (n_site >= 1), all as the selector sees them; prior: demur_selector_site_prior. Without a label
 * the intercept is 0 and the rest is the prior's. */
DemurAudit demur_audit_fit(const double *risks, const double *labels, size_t n_labels,
                           const DemurSitePrior *prior, const double *site_risks, size_t n_site);

/* weights [n_labels] of the labels (selector/outcome-weights.h); NULL: 1. `observed` is weighted too. */
DemurAudit demur_audit_fit_weighted(const double *risks, const double *labels,
                                    const double *weights, size_t n_labels,
                                    const DemurSitePrior *prior, const double *site_risks,
                                    size_t n_site);

/* sigmoid(logit r + b); r itself for b = 0. */
double demur_audit_risk(double risk, double intercept);

G_END_DECLS
