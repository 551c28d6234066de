/* Data: the scans in ascending time, cut off at the horizon, so that one walk fits every site's G
 * and gives each scan the value from just before its own time. Numbers at risk fall as scans are
 * passed. */
#include "metrics/censoring.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

struct DemurCensoring {
  size_t n, n_sites;
  guint32 *order;  /* [n] scans in ascending time */
  double *times;   /* [n] min(t, horizon) */
  guint8 *left;    /* [n] left before the horizon */
  guint32 *groups; /* [n] in [0, n_sites]: the site, or n_sites, all sites together */
  guint32 *sites;  /* [n] */
};

typedef struct {
  const double *times;
} Order;

static int
compare_times(gconstpointer a, gconstpointer b, gpointer data) {
  const double *times = ((const Order *)data)->times;
  const guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
  return times[i] != times[j] ? (times[i] > times[j]) - (times[i] < times[j]) : (i > j) - (i < j);
}

/* Scans in ascending time (owned). */
static guint32 *
order_of(const double *times, size_t n) {
  guint32 *order = g_new(guint32, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    order[i] = (guint32)i;
  const Order by = {times};
  g_qsort_with_data(order, (int)n, sizeof *order, compare_times, (gpointer)&by);
  return order;
}

/* One estimate of staying. */
typedef struct {
  double at_risk, staying;
} Staying;

/* Walks the times: before each, `staying` of every group is G(u-). Calls nothing; fills weights. */
static void
fit_weights(const DemurCensoring *c, const guint32 *counts, double *weights, size_t *n_capped) {
  g_autofree Staying *groups = g_new0(Staying, c->n_sites + 1);
  g_autofree double *gone = g_new0(double, c->n_sites + 1), *left = g_new0(double, c->n_sites + 1);
  for (size_t g = 0; g <= c->n_sites; g++)
    groups[g].staying = 1.0;
  for (size_t i = 0; i < c->n; i++) {
    const double count = counts != NULL ? (double)counts[i] : 1.0;
    groups[c->sites[i]].at_risk += count;
    groups[c->n_sites].at_risk += count;
  }
  if (n_capped != NULL)
    *n_capped = 0;
  for (size_t first = 0, end; first < c->n; first = end) {
    const double time = c->times[c->order[first]];
    for (end = first; end < c->n && c->times[c->order[end]] == time; end++) {
      const guint32 i = c->order[end];
      const double staying = groups[c->groups[i]].staying;
      const double weight = c->left[i] ? 0.0 : 1.0 / staying;
      weights[i] = fmin(weight, DEMUR_WEIGHT_CAP);
      if (n_capped != NULL)
        *n_capped += weight > DEMUR_WEIGHT_CAP;
    }
    for (size_t e = first; e < end; e++) {
      const guint32 i = c->order[e];
      const double count = counts != NULL ? (double)counts[i] : 1.0;
      gone[c->sites[i]] += count;
      gone[c->n_sites] += count;
      left[c->sites[i]] += c->left[i] ? count : 0.0;
      left[c->n_sites] += c->left[i] ? count : 0.0;
    }
    for (size_t e = first; e <= end; e++) { /* the groups that changed; all sites last */
      const size_t g = e < end ? c->sites[c->order[e]] : c->n_sites;
      if (groups[g].at_risk > 0.0)
        groups[g].staying *= 1.0 - left[g] / groups[g].at_risk;
      groups[g].at_risk -= gone[g];
      gone[g] = left[g] = 0.0;
    }
  }
}

/* Whether a share is enough, but for rounding. */
static gboolean
stays(double staying) {
  return staying >= DEMUR_LEAST_FOLLOWED * (1.0 - 1e-9);
}

/* The longest time at which G is still DEMUR_LEAST_FOLLOWED and somebody is there; 0: none. */
static double
longest_horizon(const DemurCensoring *c, const double *times, const gint32 *ended) {
  g_autofree guint32 *order = order_of(times, c->n);
  double staying = 1.0, longest = 0.0;
  for (size_t first = 0, end; first < c->n && stays(staying); first = end) {
    longest = times[order[first]];
    size_t n_left = 0;
    for (end = first; end < c->n && times[order[end]] == longest; end++)
      n_left += ended[order[end]] == DEMUR_ENDED_LEFT;
    staying *= 1.0 - (double)n_left / (double)(c->n - first);
  }
  return longest;
}

DemurCensoring *
demur_censoring_new(const double *times, const gint32 *ended, const guint32 *sites, size_t n,
                    size_t n_sites, double horizon, GError **error) {
  DemurCensoring *c = g_new0(DemurCensoring, 1);
  c->n = n;
  c->n_sites = n_sites;
  c->times = g_new(double, MAX(n, 1));
  c->left = g_new0(guint8, MAX(n, 1));
  c->sites = g_memdup2(sites, MAX(n, 1) * sizeof *sites);
  c->groups = g_new(guint32, MAX(n, 1));
  g_autofree size_t *n_left = g_new0(size_t, MAX(n_sites, 1)),
                    *n_stayed = g_new0(size_t, MAX(n_sites, 1));
  size_t n_at_horizon = 0;
  for (size_t i = 0; i < n; i++) {
    c->times[i] = fmin(times[i], horizon);
    c->left[i] = times[i] < horizon && ended[i] == DEMUR_ENDED_LEFT;
    n_left[sites[i]] += c->left[i];
    n_stayed[sites[i]] += times[i] >= horizon;
    n_at_horizon += times[i] >= horizon;
  }
  for (size_t i = 0; i < n; i++)
    c->groups[i] = n_left[sites[i]] >= DEMUR_SITE_LEAST && n_stayed[sites[i]] >= DEMUR_SITE_LEAST
                       ? sites[i]
                       : (guint32)n_sites;
  c->order = order_of(c->times, n);
  double staying = 1.0; /* of all sites, up to the horizon */
  for (size_t first = 0, end; first < n && c->times[c->order[first]] < horizon; first = end) {
    size_t n_gone = 0;
    for (end = first; end < n && c->times[c->order[end]] == c->times[c->order[first]]; end++)
      n_gone += c->left[c->order[end]];
    staying *= 1.0 - (double)n_gone / (double)(n - first);
  }
  if (n_at_horizon > 0 && stays(staying))
    return c;
  const double longest = longest_horizon(c, times, ended);
  demur_error_set(
      error, DEMUR_ERROR_STATE,
      "of %zu scans %zu were followed for %g years: too few to weigh them for those that "
      "were left (the share that stays is %.3f, at least %.2f is needed); the longest "
      "horizon that these scans can tell of is %.2f years",
      n, n_at_horizon, horizon, staying, DEMUR_LEAST_FOLLOWED, floor(longest * 100) / 100);
  demur_censoring_free(c);
  return NULL;
}

void
demur_censoring_free(DemurCensoring *c) {
  if (c == NULL)
    return;
  g_free(c->order);
  g_free(c->times);
  g_free(c->left);
  g_free(c->groups);
  g_free(c->sites);
  g_free(c);
}

void
demur_censoring_weights(const DemurCensoring *c, const guint32 *counts, double *weights,
                        size_t *n_capped) {
  fit_weights(c, counts, weights, n_capped);
}

double
demur_censoring_n_effective(const double *weights, size_t n) {
  double sum = 0.0, squares = 0.0;
  for (size_t i = 0; i < n; i++) {
    sum += weights[i];
    squares += weights[i] * weights[i];
  }
  return squares > 0.0 ? sum * sum / squares : 0.0;
}

/* What the variance at a later time needs of the times before:
 *   var I(t) = sum_u (I(t) - I(u))^2 d_u / (n_u (n_u - d_u)) + S(u-)^2 e_u (n_u - e_u) / n_u^3
 *              - 2 (I(t) - I(u)) S(u-) e_u / n_u^2,   d all that ended but by leaving, e the event,
 * written out in powers of I(t), so that one walk serves every t. */
typedef struct {
  double a0, a1, a2; /* var I = a0 + a1 I + a2 I^2 */
} Variance;

static void
add_time(Variance *v, double incidence, double surviving, double at_risk, double ended,
         double events) {
  const double spread = at_risk > ended ? ended / (at_risk * (at_risk - ended)) : 0.0;
  const double link = surviving * events / (at_risk * at_risk);
  v->a2 += spread;
  v->a1 -= 2.0 * incidence * spread + 2.0 * link;
  v->a0 += incidence * incidence * spread + 2.0 * incidence * link +
           surviving * surviving * events * (at_risk - events) / (at_risk * at_risk * at_risk);
}

static void
fill_interval(const Variance *v, double incidence, double *low, double *high) {
  *low = *high = NAN;
  if (!(incidence > 0.0 && incidence < 1.0))
    return;
  const double variance = fmax(v->a0 + v->a1 * incidence + v->a2 * incidence * incidence, 0.0);
  const double inverse = 1.0 - incidence, log_inverse = log(inverse);
  const double se = sqrt(variance) / fabs(inverse * log_inverse), z = 1.959963984540054;
  *low = 1.0 - pow(inverse, exp(-z * se));
  *high = 1.0 - pow(inverse, exp(z * se));
}

void
demur_cumulative_incidence(const double *times, const gint32 *ended, size_t n, const double *at,
                           size_t n_at, double *incidence, double *low, double *high) {
  g_autofree guint32 *order = order_of(times, n);
  const double last = n > 0 ? times[order[n - 1]] : -INFINITY;
  double surviving = 1.0, sum = 0.0;
  Variance variance = {0};
  size_t first = 0;
  for (size_t k = 0; k < n_at; k++) {
    for (size_t end; first < n && times[order[first]] <= at[k]; first = end) {
      double events = 0.0, gone = 0.0;
      for (end = first; end < n && times[order[end]] == times[order[first]]; end++) {
        events += ended[order[end]] == DEMUR_ENDED_EVENT;
        gone += ended[order[end]] != DEMUR_ENDED_LEFT;
      }
      const double at_risk = (double)(n - first);
      sum += surviving * events / at_risk;
      add_time(&variance, sum, surviving, at_risk, gone, events);
      surviving *= 1.0 - gone / at_risk;
    }
    incidence[k] = at[k] > last ? NAN : sum;
    double ends[2] = {NAN, NAN};
    if (at[k] <= last)
      fill_interval(&variance, sum, &ends[0], &ends[1]);
    if (low != NULL)
      low[k] = ends[0];
    if (high != NULL)
      high[k] = ends[1];
  }
}
