/*   logit p(x) = l(x) + b_s + (a - 1) (l(x) - c),   b_s ~ posterior,   a - 1 ~ N(0, slope_sd^2)
 *
 * l the logit of the shown risk. Both parts are independent (c is chosen so), and their half widths
 * are added in quadrature, to each side of the median: exact where both are normal, and for either
 * alone. Cost: O(1) a risk. */
#include "selector/risk-interval.h"

#include <math.h>

#include "metrics/offset-logistic.h"
#include "selector/selector-private.h"

#define Z 1.959963984540054 /* 97.5 % quantile of the normal distribution */

gboolean
demur_risk_interval_unseen(const DemurSelector *selector, DemurRiskInterval *interval) {
  if (selector->sites == NULL)
    return FALSE;
  g_autoptr(DemurSitePosterior) b = demur_site_posterior_new(selector->sites, NULL, NULL, 0);
  *interval = (DemurRiskInterval){.middle = demur_site_posterior_quantile(b, 0.5),
                                  .low = demur_site_posterior_quantile(b, 0.025),
                                  .high = demur_site_posterior_quantile(b, 0.975),
                                  .slope_sd = selector->slope_sd,
                                  .slope_centre = selector->slope_centre};
  return TRUE;
}

DemurRiskInterval
demur_risk_interval_audited(const DemurSelector *selector, double intercept, double low,
                            double high) {
  return (DemurRiskInterval){intercept, low, high, selector->slope_sd, selector->slope_centre};
}

void
demur_risk_interval_at(const DemurRiskInterval *interval, double risk, double *low, double *high) {
  const double l = demur_logit(risk);
  const double slope = Z * interval->slope_sd * (l - interval->slope_centre);
  *low = demur_sigmoid(l + interval->middle - hypot(interval->middle - interval->low, slope));
  *high = demur_sigmoid(l + interval->middle + hypot(interval->high - interval->middle, slope));
}

gboolean
demur_risk_interval_crosses(double low, double high, double threshold) {
  return low < threshold && threshold <= high;
}

/* Inverse of the symmetric [[a, b], [b, c]] into the same three; FALSE where it has none. */
static gboolean
invert(double *a, double *b, double *c) {
  const double determinant = *a * *c - *b * *b;
  if (!(determinant > 0.0))
    return FALSE;
  const double first = *c / determinant, last = *a / determinant;
  *b = -*b / determinant;
  *a = first;
  *c = last;
  return TRUE;
}

void
demur_risk_interval_fit_slope(const double *logits, const double *labels, const guint32 *sites,
                              size_t n, double *slope_sd, double *slope_centre) {
  *slope_sd = *slope_centre = 0.0;
  double slope = 1.0, intercept = 0.0;
  g_autofree double *zeros = g_new0(double, MAX(n, 1));
  const DemurOffsetLogistic problem = {.n = n,
                                       .d = 1,
                                       .stride = 1,
                                       .inputs = logits,
                                       .offsets = zeros,
                                       .labels = labels,
                                       .penalty = 1e-9,
                                       .intercept_penalty = 1e-9};
  demur_offset_logistic_fit(&problem, &slope, &intercept);
  guint32 n_codes = 0;
  for (size_t i = 0; i < n; i++)
    n_codes = MAX(n_codes, sites[i] + 1);
  g_autofree double *first = g_new0(double, MAX(n_codes, 1)),
                    *second = g_new0(double, MAX(n_codes, 1));
  g_autofree guint8 *there = g_new0(guint8, MAX(n_codes, 1));
  double a = 0.0, b = 0.0, c = 0.0; /* information of (intercept, slope) */
  for (size_t i = 0; i < n; i++) {
    const double p = demur_sigmoid(intercept + slope * logits[i]), w = p * (1.0 - p);
    a += w;
    b += w * logits[i];
    c += w * logits[i] * logits[i];
    first[sites[i]] += labels[i] - p;
    second[sites[i]] += (labels[i] - p) * logits[i];
    there[sites[i]] = 1;
  }
  if (!invert(&a, &b, &c)) /* all risks are one: there is no slope to be wrong */
    return;
  double n_sites = 0.0, cross = 0.0, square = 0.0;
  for (guint32 s = 0; s < n_codes; s++) {
    const double u = a * first[s] + b * second[s], v = b * first[s] + c * second[s];
    n_sites += there[s];
    cross += u * v;
    square += v * v;
  }
  const double factor = n_sites > 1.0 ? n_sites / (n_sites - 1.0) : 0.0;
  if (square * factor > c) {
    *slope_sd = sqrt(square * factor);
    *slope_centre = -cross / square;
  } else {
    *slope_sd = sqrt(c);
    *slope_centre = -b / c;
  }
}
