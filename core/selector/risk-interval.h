/* How far a shown risk may be off at its hospital: a 95 % interval. docs/method.md, "Beyond the
 * paper", point 7. K = 2 only. */
#pragma once

#include "selector/selector.h"

G_BEGIN_DECLS

typedef struct {
  double middle, low, high;      /* of the site's intercept: median, 2.5 % and 97.5 % */
  double slope_sd, slope_centre; /* of the slope of outcomes on the shown logit, and the logit where
                                  * slope and intercept are uncorrelated */
} DemurRiskInterval;

/* At a hospital never seen: the training sites' posterior, with the uncertainty of their mean.
 * FALSE where K > 2: there is none. */
gboolean demur_risk_interval_unseen(const DemurSelector *selector, DemurRiskInterval *interval);

/* At an audited site, from its posterior. */
DemurRiskInterval demur_risk_interval_audited(const DemurSelector *selector, double intercept,
                                              double low, double high);

/* Of one risk as the selector sees it, before any audit's intercept: [*low, *high]. */
void demur_risk_interval_at(const DemurRiskInterval *interval, double risk, double *low,
                            double *high);

/* Whether the interval has a decision threshold inside. */
gboolean demur_risk_interval_crosses(double low, double high, double threshold);

/* The slope's standard error by labels clustered in sites (sandwich, no smaller than the model's),
 * and its centre: logits, labels, sites [n]. */
void demur_risk_interval_fit_slope(const double *logits, const double *labels, const guint32 *sites,
                                   size_t n, double *slope_sd, double *slope_centre);

G_END_DECLS
