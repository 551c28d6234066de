/* Outcomes by a horizon where not everyone was followed to it.
 *
 * A scan is complete at horizon h if its outcome by h is known: the event or a competing one came
 * before h, or it was followed for h. Complete scans stand for those that were left, by inverse
 * probability of censoring weights:
 *
 *   w_i = complete_i / G(min(t_i, h)-),   G(u-) = prod_(v < u) (1 - left_v / at risk_v),
 *
 * G the Kaplan-Meier estimate of not having been left; at risk_v: t >= v (as
 * survfit of the time to being left counts them: whoever has the event at v too). Sources: Graf et
 * al. 1999; Gerds and Schumacher 2006; method.md, "Censoring". Assumes that leaving does not depend
 * on the outcome within a site. Leaving scans out instead makes a model that is exactly right look
 * 30 % too low and more. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_LEAST_FOLLOWED 0.05 /* of G at the horizon: below it the horizon is refused */
#define DEMUR_WEIGHT_CAP (1.0 / DEMUR_LEAST_FOLLOWED)
/* A site has a G of its own from this many scans left before the horizon, and as many at risk at
 * it; else that of all sites is used. */
#define DEMUR_SITE_LEAST 30

typedef enum {
  DEMUR_ENDED_LEFT,      /* censored */
  DEMUR_ENDED_EVENT,     /* the outcome */
  DEMUR_ENDED_COMPETING, /* what makes the outcome impossible */
} DemurEnded;

typedef struct DemurCensoring DemurCensoring;

/* times [n] >= 0 and ended [n] (DemurEnded), sites [n] in [0, n_sites); horizon > 0 in the unit of
 * the times. Copies what it needs. NULL with DEMUR_ERROR_STATE where nobody was followed to the
 * horizon or G there is below DEMUR_LEAST_FOLLOWED: the message names the longest horizon that can
 * be had. O(n log n). */
DemurCensoring *demur_censoring_new(const double *times, const gint32 *ended, const guint32 *sites,
                                    size_t n, size_t n_sites, double horizon,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_censoring_free(DemurCensoring *censoring);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurCensoring, demur_censoring_free)

/* weights [n] of the sample with multiplicities counts [n] (NULL: once each), G fitted to it anew:
 * so a bootstrap replicate carries what is not known of G. Which sites have a G of their own stays
 * as it is in the sample. Weights are capped at DEMUR_WEIGHT_CAP. *n_capped (may be NULL): scans
 * whose weight was cut. Safe from several threads. O(n + n_sites). */
void demur_censoring_weights(const DemurCensoring *censoring, const guint32 *counts,
                             double *weights, size_t *n_capped);

/* (sum w)^2 / sum w^2: so many complete scans say as much. */
double demur_censoring_n_effective(const double *weights, size_t n);

/* Cumulative incidence of the event by each of at [n_at] (ascending): Aalen and Johansen's
 * estimate, which is 1 - Kaplan-Meier where nothing competes, with its pointwise 95 % interval on
 * the complementary log-log scale (variance: Marubini and Valsecchi 1995, 10.2; without competition
 * Greenwood's). Of a share of 0 the interval is not defined: NaN. times, ended [n] as above, any
 * order; low, high may be NULL. NaN beyond the last time. O(n log n + n_at). */
void demur_cumulative_incidence(const double *times, const gint32 *ended, size_t n,
                                const double *at, size_t n_at, double *incidence, double *low,
                                double *high);

G_END_DECLS
