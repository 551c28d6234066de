/* What labelled sites say of the next one: how far hospitals' risks are off, as a whole.
 *
 *   y_i ~ Bernoulli(sigmoid(l_i + b_s)),  b_s ~ N(mu, tau^2),  tau ~ half-normal(.5),  mu flat
 *
 * over real sites s, l_i the logit of a scan's risk. docs/method.md, "Beyond the paper", point 1
 * (tau). With one site the prior alone speaks: mu = 0.
 *
 * Estimates (means, expected errors) take that prior. Intervals take a half-normal(.7): their 95 %
 * is asked of hospitals at every spread up to .7, not on average over a prior to which .7 is rare
 * (one training site: 1.96 x .5 would hold 87 % there; docs/benchmarks.md, "Intervals of a site's
 * intercept"). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_TAU_SCALE 0.5 /* of the half-normal prior */
#define DEMUR_TAU_WIDE 0.7  /* of that behind intervals */

/* The intercept of a site never seen, a mixture of normal distributions: one a value of tau, with
 * the mean of mu at it, and sd^2 = tau^2 + the variance of mu. */
typedef struct {
  size_t n_sites;                /* real sites it was learnt from */
  double tau, tau_low, tau_high; /* posterior median and 95 % interval */
  double tau2;                   /* posterior mean of tau^2, > 0 */
  size_t n;
  double *weights, *means, *sds; /* [n]; the weights sum to 1 */
  double *wide; /* [n] the weights for intervals; NULL (older documents): weights */
} DemurSitePrior;

/* offsets [n] = l_i, labels [n] in {0, 1}, weights [n] > 0 of the outcomes (metrics/censoring.h;
 * NULL: 1; log p is multiplied by w_i, scaled so that a site's weights sum to (sum w)^2 / sum w^2),
 * sites [n] codes. intercepts, if not NULL, has room for
 * the largest code + 1 and receives each site's posterior mean (of mu + its own deviation; 0 where
 * no scan is of it). O(n + sites x 10^5). n = 0: the prior alone. */
DemurSitePrior *demur_site_prior_fit(const double *offsets, const double *labels,
                                     const double *weights, const guint32 *sites, size_t n,
                                     double *intercepts);

/* The prior alone: what is known of a site where no other was seen. */
DemurSitePrior *demur_site_prior_alone(void);

DemurSitePrior *demur_site_prior_copy(const DemurSitePrior *prior);
void demur_site_prior_free(DemurSitePrior *prior);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSitePrior, demur_site_prior_free)

/* The intercept of one site: masses of cells of equal width. */
typedef struct {
  size_t n;
  double first, step; /* middle of cell 0; width */
  double *masses;     /* [n]; they sum to 1 */
  double *wide;       /* [n] the same by the wide prior, for quantiles */
} DemurSitePosterior;

/* After n labelled scans of the site (offsets and labels as above; n = 0: before any). */
DemurSitePosterior *demur_site_posterior_new(const DemurSitePrior *prior, const double *offsets,
                                             const double *labels, size_t n);

/* weights [n] of the labels' outcomes, not negative; NULL: 1. They are scaled to sum to the number of scans
 * that say as much, (sum w)^2 / sum w^2. */
DemurSitePosterior *demur_site_posterior_weighted(const DemurSitePrior *prior,
                                                  const double *offsets, const double *labels,
                                                  const double *weights, size_t n);
void demur_site_posterior_free(DemurSitePosterior *posterior);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSitePosterior, demur_site_posterior_free)

double demur_site_posterior_mean(const DemurSitePosterior *posterior);

/* Quantile p in (0, 1) by the wide prior, linear within a cell. */
double demur_site_posterior_quantile(const DemurSitePosterior *posterior, double p);

G_END_DECLS
