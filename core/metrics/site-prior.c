/*   p(tau, mu | labels) ~ exp(-tau^2 / (2 .5^2)) prod_s M_s(mu, tau),
 *   M_s(mu, tau) = integral of L_s(b) N(b; mu, tau^2) db,   L_s(b) = prod_i p(y_i | l_i + b)
 *
 * (partial pooling, e.g. Gelman 2006, with a half-normal prior), every integral by the trapezoid
 * rule, which is exact to rounding for smooth integrands that vanish at both ends and costs nothing
 * to trust. log L_s is laid out once on a grid over all that is within exp(-45) of its largest
 * value, and read by cubic interpolation (it is nearly a parabola). M_s: 31 points over 7.5
 * standard deviations of the integrand to each side of its mode. mu: 33 points over 8 of those that
 * the normal approximation gives. tau: nodes on [0, 4] are laid anew over all that is within
 * exp(-30) of the largest, until 14 of them lie there; the integrand is even in tau, so the end at
 * 0 costs no accuracy. Cost: O(81 n) to lay out, sites x about 80 x 33 x 45 readings.
 *
 * The wide prior of intervals is another weight of the same nodes: w exp(tau^2 (1 / .5^2 - 1 /
 * .7^2) / 2), exact since the nodes hold what is within exp(-30).
 *
 * One site's posterior: the mixture's mass of each cell (differences of normal distribution
 * functions, so that a tau near 0 needs no fine grid) times L at its middle. */
#include "metrics/site-prior.h"

#include <math.h>
#include <string.h>

#include "metrics/offset-logistic.h"

#define N_LIKELIHOOD 81
#define DEPTH 45.0 /* of log L_s that its grid holds */
#define MAX_INTERCEPT 15.0
#define N_SITE 31
#define SITE_REACH 7.5
#define N_MU 33
#define MU_REACH 8.0
#define MAX_TAU 4.0
#define N_TAU 33
#define TAU_DEPTH 30.0
#define N_TAU_WITHIN 14
#define MAX_ZOOMS 12
#define N_CELLS 600

/* log L of one site on a grid. */
typedef struct {
  double first, step, values[N_LIKELIHOOD];
  double mode, information; /* of L times N(0, 10^2), so that both are finite */
} Likelihood;

/* A site's labelled scans. Borrowed. */
typedef struct {
  const double *offsets, *labels; /* [n] */
  const double *weights;          /* [n] as scale_weights leaves them; NULL: 1 */
  size_t n;
} SiteScans;

static double
log_likelihood(const SiteScans *s, double b) {
  double sum = 0.0;
  for (size_t i = 0; i < s->n; i++) {
    const double z = s->offsets[i] + b;
    const double term = s->labels[i] * z - fmax(z, 0.0) - log1p(exp(-fabs(z)));
    sum += s->weights != NULL ? s->weights[i] * term : term;
  }
  return sum;
}

/* Where log L has fallen by DEPTH to one side of the mode, no nearer than that and at most twice as
 * far, or the largest intercept. */
static double
reach(const SiteScans *s, const Likelihood *l, double top, double sign) {
  double distance = 4.0 / sqrt(l->information);
  while (fabs(l->mode + sign * distance) < MAX_INTERCEPT &&
         log_likelihood(s, l->mode + sign * distance) > top - DEPTH)
    distance *= 1.5;
  return CLAMP(l->mode + sign * distance, -MAX_INTERCEPT, MAX_INTERCEPT);
}

static void
lay_out(Likelihood *l, const SiteScans *s) {
  const DemurOffsetLogistic problem = {.n = s->n,
                                       .offsets = s->offsets,
                                       .labels = s->labels,
                                       .use = s->weights,
                                       .intercept_penalty = 0.01};
  l->mode = 0.0;
  demur_offset_logistic_fit(&problem, NULL, &l->mode);
  l->information = 0.01;
  for (size_t i = 0; i < s->n; i++) {
    const double p = demur_sigmoid(s->offsets[i] + l->mode);
    l->information += (s->weights != NULL ? s->weights[i] : 1.0) * p * (1.0 - p);
  }
  const double top = log_likelihood(s, l->mode);
  l->first = reach(s, l, top, -1.0);
  l->step = (reach(s, l, top, 1.0) - l->first) / (N_LIKELIHOOD - 1);
  for (size_t g = 0; g < N_LIKELIHOOD; g++)
    l->values[g] = log_likelihood(s, l->first + (double)g * l->step) - top;
}

/* log L(b): Lagrange's cubic through the four grid points around it, a straight line outside. */
static double
read_likelihood(const Likelihood *l, double b) {
  const double x = (b - l->first) / l->step;
  const double *v = l->values;
  if (x <= 0.0)
    return v[0] + x * (v[1] - v[0]);
  if (x >= N_LIKELIHOOD - 1)
    return v[N_LIKELIHOOD - 1] +
           (x - (N_LIKELIHOOD - 1)) * (v[N_LIKELIHOOD - 1] - v[N_LIKELIHOOD - 2]);
  const size_t k = CLAMP((size_t)x, 1, N_LIKELIHOOD - 3);
  const double t = x - (double)k;
  return -t * (t - 1.0) * (t - 2.0) / 6.0 * v[k - 1] +
         (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0 * v[k] -
         (t + 1.0) * t * (t - 2.0) / 2.0 * v[k + 1] + (t + 1.0) * t * (t - 1.0) / 6.0 * v[k + 2];
}

/* log M(mu, tau) and the mean of b under its integrand. */
static double
integrate_site(const Likelihood *l, double mu, double tau, double *mean) {
  if (tau < 1e-9) {
    *mean = mu;
    return read_likelihood(l, mu);
  }
  const double precision = 1.0 / (tau * tau), h = l->step;
  double mode = (l->information * l->mode + precision * mu) / (l->information + precision);
  double curvature = l->information + precision;
  for (int step = 0; step < 8; step++) {
    const double below = read_likelihood(l, mode - h), at = read_likelihood(l, mode),
                 above = read_likelihood(l, mode + h);
    curvature = precision + fmax(0.0, (2.0 * at - below - above) / (h * h));
    const double gradient = (above - below) / (2.0 * h) - (mode - mu) * precision;
    mode += gradient / curvature;
    if (fabs(gradient) < 0.01 * sqrt(curvature))
      break;
  }
  const double width = SITE_REACH / sqrt(curvature) * 2.0 / (N_SITE - 1);
  double logs[N_SITE], largest = -INFINITY, sum = 0.0, moment = 0.0;
  for (int g = 0; g < N_SITE; g++) {
    const double b = mode + width * (g - (N_SITE - 1) / 2);
    logs[g] = read_likelihood(l, b) - 0.5 * (b - mu) * (b - mu) * precision;
    largest = fmax(largest, logs[g]);
  }
  for (int g = 0; g < N_SITE; g++) {
    const double weight = exp(logs[g] - largest);
    sum += weight;
    moment += weight * width * (g - (N_SITE - 1) / 2);
  }
  *mean = mode + moment / sum;
  return largest + log(sum * width / (tau * sqrt(2.0 * G_PI)));
}

typedef struct {
  const Likelihood *sites;
  size_t n_sites;
  double *means; /* [n_sites] E(b_s | tau), or NULL */
  double *at_mu; /* [n_sites] */
} Pool;

/* log of the integral over mu at one tau, prior included; mean and variance of mu, and the sites'
 * means, under it. */
static double
integrate_mu(const Pool *pool, double tau, double *mean, double *variance) {
  double weight = 0.0, middle = 0.0;
  for (size_t s = 0; s < pool->n_sites; s++) {
    const double w = 1.0 / (tau * tau + 1.0 / pool->sites[s].information);
    weight += w;
    middle += w * pool->sites[s].mode;
  }
  middle /= weight;
  const double width = MU_REACH / sqrt(weight) * 2.0 / (N_MU - 1);
  double reference = -INFINITY, sum = 0.0, first = 0.0, second = 0.0;
  if (pool->means != NULL)
    memset(pool->means, 0, pool->n_sites * sizeof(double));
  for (int g = 0; g < N_MU; g++) {
    const double place = width * (g - (N_MU - 1) / 2);
    double value = 0.0;
    for (size_t s = 0; s < pool->n_sites; s++)
      value += integrate_site(&pool->sites[s], middle + place, tau, &pool->at_mu[s]);
    if (value > reference) { /* all sums are in units of the largest value so far */
      const double shrink = exp(reference - value);
      sum *= shrink;
      first *= shrink;
      second *= shrink;
      for (size_t s = 0; pool->means != NULL && s < pool->n_sites; s++)
        pool->means[s] *= shrink;
      reference = value;
    }
    const double w = exp(value - reference);
    sum += w;
    first += w * place;
    second += w * place * place;
    for (size_t s = 0; pool->means != NULL && s < pool->n_sites; s++)
      pool->means[s] += w * pool->at_mu[s];
  }
  for (size_t s = 0; pool->means != NULL && s < pool->n_sites; s++)
    pool->means[s] /= sum;
  first /= sum;
  *mean = middle + first;
  *variance = fmax(0.0, second / sum - first * first);
  const double scaled = tau / DEMUR_TAU_SCALE;
  return reference + log(sum * width) - 0.5 * scaled * scaled;
}

static DemurSitePrior *
prior_alloc(size_t n) {
  DemurSitePrior *prior = g_new0(DemurSitePrior, 1);
  prior->n = n;
  prior->weights = g_new0(double, n);
  prior->means = g_new0(double, n);
  prior->sds = g_new0(double, n);
  prior->wide = g_new0(double, n);
  return prior;
}

void
demur_site_prior_free(DemurSitePrior *prior) {
  if (prior == NULL)
    return;
  g_free(prior->weights);
  g_free(prior->means);
  g_free(prior->sds);
  g_free(prior->wide);
  g_free(prior);
}

DemurSitePrior *
demur_site_prior_copy(const DemurSitePrior *prior) {
  DemurSitePrior *copy = g_memdup2(prior, sizeof *prior);
  copy->weights = g_memdup2(prior->weights, prior->n * sizeof(double));
  copy->means = g_memdup2(prior->means, prior->n * sizeof(double));
  copy->sds = g_memdup2(prior->sds, prior->n * sizeof(double));
  copy->wide = g_memdup2(prior->wide, prior->wide != NULL ? prior->n * sizeof(double) : 0);
  return copy;
}

/* wide [n] of weights at tau = first + k step. */
static void
weigh_wide(DemurSitePrior *prior, double first, double step) {
  const double difference =
      0.5 / (DEMUR_TAU_SCALE * DEMUR_TAU_SCALE) - 0.5 / (DEMUR_TAU_WIDE * DEMUR_TAU_WIDE);
  double total = 0.0;
  for (size_t k = 0; k < prior->n; k++) {
    const double tau = first + (double)k * step;
    total += prior->wide[k] = prior->weights[k] * exp(tau * tau * difference);
  }
  for (size_t k = 0; k < prior->n; k++)
    prior->wide[k] /= total;
}

/* From logs [n] of the density of tau at first + k step: weights, tau's moments and quantiles. */
static void
weigh(DemurSitePrior *prior, const double *logs, double first, double step) {
  double largest = -INFINITY, total = 0.0, sum = 0.0;
  for (size_t k = 0; k < prior->n; k++)
    largest = fmax(largest, logs[k]);
  for (size_t k = 0; k < prior->n; k++) {
    const gboolean end = k == 0 || k + 1 == prior->n;
    total += prior->weights[k] = (end ? 0.5 : 1.0) * exp(logs[k] - largest);
  }
  double *const places[] = {&prior->tau_low, &prior->tau, &prior->tau_high};
  const double shares[] = {0.025, 0.5, 0.975};
  size_t next = 0;
  for (size_t k = 0; k < prior->n; k++) {
    const double tau = first + (double)k * step, w = prior->weights[k] /= total;
    prior->tau2 += w * tau * tau;
    for (; next < 3 && sum + w >= shares[next]; next++)
      *places[next] = fmax(0.0, tau + step * ((shares[next] - sum) / w - 0.5));
    sum += w;
  }
  weigh_wide(prior, first, step);
}

DemurSitePrior *
demur_site_prior_alone(void) {
  enum { N = 129 };
  DemurSitePrior *prior = prior_alloc(N);
  double logs[N];
  const double step = MAX_TAU / (N - 1);
  for (size_t k = 0; k < N; k++) {
    prior->sds[k] = (double)k * step;
    const double scaled = prior->sds[k] / DEMUR_TAU_SCALE;
    logs[k] = -0.5 * scaled * scaled;
  }
  weigh(prior, logs, 0.0, step);
  return prior;
}

/* Nodes of tau laid over all that matters; sites' means into intercepts [n_sites] where wanted. */
static DemurSitePrior *
pool_sites(const Likelihood *sites, size_t n_sites, double *intercepts) {
  DemurSitePrior *prior = prior_alloc(N_TAU);
  g_autofree double *at_mu = g_new(double, n_sites);
  g_autofree double *means = intercepts != NULL ? g_new(double, n_sites *N_TAU) : NULL;
  Pool pool = {sites, n_sites, NULL, at_mu};
  double logs[N_TAU], low = 0.0, high = MAX_TAU, step = 0.0;
  for (int zoom = 0; zoom < MAX_ZOOMS; zoom++) {
    step = (high - low) / (N_TAU - 1);
    double largest = -INFINITY;
    for (size_t k = 0; k < N_TAU; k++) {
      double variance;
      const double tau = low + (double)k * step;
      pool.means = means != NULL ? means + k * n_sites : NULL;
      logs[k] = integrate_mu(&pool, tau, &prior->means[k], &variance);
      prior->sds[k] = sqrt(tau * tau + variance);
      largest = fmax(largest, logs[k]);
    }
    size_t first = N_TAU, last = 0, n_within = 0;
    for (size_t k = 0; k < N_TAU; k++)
      if (logs[k] > largest - TAU_DEPTH) {
        first = MIN(first, k);
        last = k;
        n_within++;
      }
    if (n_within >= N_TAU_WITHIN || zoom + 1 == MAX_ZOOMS)
      break;
    high = low + (double)MIN(last + 1, N_TAU - 1) * step;
    low += (double)(first > 0 ? first - 1 : 0) * step;
  }
  weigh(prior, logs, low, step);
  prior->n_sites = n_sites;
  for (size_t s = 0; intercepts != NULL && s < n_sites; s++) {
    intercepts[s] = 0.0;
    for (size_t k = 0; k < N_TAU; k++)
      intercepts[s] += prior->weights[k] * means[k * n_sites + s];
  }
  return prior;
}

/* A site's weights [n], scaled to sum to the number of scans that say as much, (sum w)^2 / sum w^2:
 * unscaled they would claim scans that nobody followed. */
static void
scale_weights(double *weights, size_t n) {
  double sum = 0.0, squares = 0.0;
  for (size_t i = 0; i < n; i++) {
    sum += weights[i];
    squares += weights[i] * weights[i];
  }
  for (size_t i = 0; i < n; i++)
    weights[i] *= squares > 0.0 ? sum / squares : 0.0;
}

/* Rows put in order of their site: ordered copies of offsets, labels and (not NULL) weights, places
 * [n_codes + 1]. */
static size_t *
order_by_site(const SiteScans *all, const guint32 *sites, size_t n_codes, double *ordered_offsets,
              double *ordered_labels, double *ordered_weights) {
  const size_t n = all->n;
  size_t *places = g_new0(size_t, n_codes + 2);
  for (size_t i = 0; i < n; i++)
    places[sites[i] + 2]++;
  for (size_t s = 2; s < n_codes + 2; s++)
    places[s] += places[s - 1];
  for (size_t i = 0; i < n; i++) {
    const size_t place = places[sites[i] + 1]++;
    ordered_offsets[place] = all->offsets[i];
    ordered_labels[place] = all->labels[i];
    if (all->weights != NULL)
      ordered_weights[place] = all->weights[i];
  }
  for (size_t s = 0; all->weights != NULL && s < n_codes; s++)
    scale_weights(ordered_weights + places[s], places[s + 1] - places[s]);
  return places;
}

/* Mass of the prior below b; *wide that of the wide one. */
static double
prior_below(const DemurSitePrior *prior, double b, double *wide) {
  const double *wide_weights = prior->wide != NULL ? prior->wide : prior->weights;
  double sum = 0.0;
  *wide = 0.0;
  for (size_t k = 0; k < prior->n; k++) {
    const double d = b - prior->means[k];
    const double below = prior->sds[k] > 0.0 ? 0.5 * erfc(-d / (prior->sds[k] * G_SQRT2))
                         : d > 0.0           ? 1.0
                         : d < 0.0           ? 0.0
                                             : 0.5;
    sum += prior->weights[k] * below;
    *wide += wide_weights[k] * below;
  }
  return sum;
}

/* Masses of the cells by both priors. */
static void
fill_cells(DemurSitePosterior *p, const DemurSitePrior *prior, const SiteScans *scans) {
  double largest = -INFINITY, total = 0.0, total_wide = 0.0, below_wide;
  double logs[N_CELLS];
  double below = prior_below(prior, p->first - 0.5 * p->step, &below_wide);
  for (size_t g = 0; g < p->n; g++) {
    const double b = p->first + (double)g * p->step;
    double next_wide;
    const double next = prior_below(prior, b + 0.5 * p->step, &next_wide);
    p->masses[g] = fmax(0.0, next - below);
    p->wide[g] = fmax(0.0, next_wide - below_wide);
    logs[g] = p->masses[g] > 0.0 ? log_likelihood(scans, b) : -INFINITY;
    if (p->masses[g] > 0.0)
      largest = fmax(largest, logs[g] + log(p->masses[g]));
    below = next;
    below_wide = next_wide;
  }
  for (size_t g = 0; g < p->n; g++) {
    const double likelihood = exp(logs[g] - largest);
    total += p->masses[g] *= likelihood;
    total_wide += p->wide[g] *= likelihood;
  }
  for (size_t g = 0; g < p->n; g++) {
    p->masses[g] /= total;
    p->wide[g] /= total_wide;
  }
}

static DemurSitePosterior *
posterior_new(const DemurSitePrior *prior, const SiteScans *scans) {
  DemurSitePosterior *p = g_new0(DemurSitePosterior, 1);
  p->n = N_CELLS;
  p->masses = g_new(double, N_CELLS);
  p->wide = g_new(double, N_CELLS);
  double low = -MAX_INTERCEPT, high = MAX_INTERCEPT;
  /* Laid anew over the cells that hold all but a millionth of a millionth, until those are most. */
  for (int zoom = 0; zoom < MAX_ZOOMS; zoom++) {
    p->step = (high - low) / (double)p->n;
    p->first = low + 0.5 * p->step;
    fill_cells(p, prior, scans);
    size_t first = 0, last = p->n - 1;
    while (first < last && fmax(p->masses[first], p->wide[first]) < 1e-12)
      first++;
    while (last > first && fmax(p->masses[last], p->wide[last]) < 1e-12)
      last--;
    if (last - first >= p->n / 2)
      break;
    high = low + (double)MIN(last + 2, p->n) * p->step;
    low += (double)(first > 0 ? first - 1 : 0) * p->step;
  }
  return p;
}

DemurSitePrior *
demur_site_prior_fit(const double *offsets, const double *labels, const double *weights,
                     const guint32 *sites, size_t n, double *intercepts) {
  size_t n_codes = 0, n_sites = 0;
  for (size_t i = 0; i < n; i++)
    n_codes = MAX(n_codes, (size_t)sites[i] + 1);
  g_autofree double *l = g_new(double, MAX(n, 1)), *y = g_new(double, MAX(n, 1));
  g_autofree double *w = weights != NULL ? g_new(double, MAX(n, 1)) : NULL;
  const SiteScans scans = {offsets, labels, weights, n};
  g_autofree size_t *places = order_by_site(&scans, sites, n_codes, l, y, w);
  g_autofree Likelihood *all = g_new(Likelihood, MAX(n_codes, 1));
  g_autofree size_t *codes = g_new(size_t, MAX(n_codes, 1));
  for (size_t s = 0; s < n_codes; s++) {
    if (intercepts != NULL)
      intercepts[s] = 0.0;
    if (places[s + 1] == places[s])
      continue;
    const size_t first = places[s];
    const SiteScans site = {l + first, y + first, w != NULL ? w + first : NULL,
                            places[s + 1] - first};
    lay_out(&all[n_sites], &site);
    codes[n_sites++] = s;
  }
  if (n_sites < 2) {
    DemurSitePrior *prior = demur_site_prior_alone();
    prior->n_sites = n_sites;
    if (n_sites == 1 && intercepts != NULL) {
      g_autoptr(DemurSitePosterior) posterior = posterior_new(prior, &(SiteScans){l, y, w, n});
      intercepts[codes[0]] = demur_site_posterior_mean(posterior);
    }
    return prior;
  }
  g_autofree double *means = intercepts != NULL ? g_new(double, n_sites) : NULL;
  DemurSitePrior *prior = pool_sites(all, n_sites, means);
  for (size_t s = 0; means != NULL && s < n_sites; s++)
    intercepts[codes[s]] = means[s];
  return prior;
}

void
demur_site_posterior_free(DemurSitePosterior *posterior) {
  if (posterior == NULL)
    return;
  g_free(posterior->masses);
  g_free(posterior->wide);
  g_free(posterior);
}

DemurSitePosterior *
demur_site_posterior_new(const DemurSitePrior *prior, const double *offsets, const double *labels,
                         size_t n) {
  return demur_site_posterior_weighted(prior, offsets, labels, NULL, n);
}

DemurSitePosterior *
demur_site_posterior_weighted(const DemurSitePrior *prior, const double *offsets,
                              const double *labels, const double *weights, size_t n) {
  g_autofree double *scaled =
      weights != NULL && n > 0 ? g_memdup2(weights, n * sizeof(double)) : NULL;
  if (scaled != NULL)
    scale_weights(scaled, n);
  const SiteScans scans = {offsets, labels, scaled, n};
  return posterior_new(prior, &scans);
}

double
demur_site_posterior_mean(const DemurSitePosterior *posterior) {
  double sum = 0.0;
  for (size_t g = 0; g < posterior->n; g++)
    sum += posterior->masses[g] * (posterior->first + (double)g * posterior->step);
  return sum;
}

double
demur_site_posterior_quantile(const DemurSitePosterior *posterior, double p) {
  double sum = 0.0;
  for (size_t g = 0; g < posterior->n; g++) {
    const double next = sum + posterior->wide[g];
    if (next >= p)
      return posterior->first +
             posterior->step * ((double)g - 0.5 + (p - sum) / posterior->wide[g]);
    sum = next;
  }
  return posterior->first + posterior->step * ((double)posterior->n - 0.5);
}
