/*   y_i ~ Bernoulli(sigmoid(logit r_i + b)),   b ~ what the training sites say of a site never seen
 *
 * b is the mean of the posterior, which loses least in squared error (its mode is of no use: a
 * prior of tau that reaches 0 puts it there). Its interval and the expected site errors are sums
 * over the posterior's cells (metrics/site-prior.h). Expected site error with intercept a: sqrt(
 * E_b (mean_i sigmoid(l_i + b) - sigmoid(l_i + a))^2 ) over all scans i of the site. Cost:
 * O(n_labels + n_site) x the cells that count. */
#include "selector/audit.h"

#include <math.h>
#include <stdlib.h>

#include "metrics/offset-logistic.h"
#include "selector/coverage.h"

#define N_TENTHS 10

typedef struct {
  double key; /* risk, then score */
  guint32 tenth, place;
} Candidate;

static int
compare_candidates(const void *a, const void *b) {
  const Candidate *x = a, *y = b;
  if (x->tenth != y->tenth)
    return x->tenth < y->tenth ? -1 : 1;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

static int
compare_places(const void *a, const void *b) {
  const guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
  return (x > y) - (x < y);
}

guint32 *
demur_audit_choose(const double *risks, const double *scores, const guint32 *patients, size_t n,
                   size_t n_wanted, guint64 seed, size_t *n_chosen) {
  size_t n_patients;
  guint32 *rows = demur_one_scan_a_patient(patients, n, seed, &n_patients);
  *n_chosen = MIN(n_wanted, n_patients);
  if (*n_chosen == n_patients)
    return rows;
  g_autofree Candidate *candidates = g_new0(Candidate, n_patients);
  for (size_t i = 0; i < n_patients; i++)
    candidates[i] = (Candidate){risks[rows[i]], 0, rows[i]};
  qsort(candidates, n_patients, sizeof *candidates, compare_candidates);
  for (size_t i = 0; i < n_patients; i++) {
    candidates[i].tenth = (guint32)(i * N_TENTHS / n_patients);
    /* Up and down by turns, or one start would fall on the same side of every tenth. */
    const double score = scores[candidates[i].place];
    candidates[i].key = candidates[i].tenth % 2 == 0 ? score : -score;
  }
  qsort(candidates, n_patients, sizeof *candidates, compare_candidates);
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_AUDIT, 0, 0, 0);
  const double start = demur_random_uniform(&random);
  const double step = (double)n_patients / (double)MAX(*n_chosen, 1);
  for (size_t i = 0; i < *n_chosen; i++) {
    const size_t at = MIN((size_t)((start + (double)i) * step), n_patients - 1);
    rows[i] = candidates[at].place;
  }
  qsort(rows, *n_chosen, sizeof *rows, compare_places);
  return rows;
}

double
demur_audit_risk(double risk, double intercept) {
  return intercept == 0.0 ? risk : demur_sigmoid(demur_logit(risk) + intercept);
}

static double
mean_risk(const double *risks, size_t n, double intercept) {
  double sum = 0.0;
  for (size_t i = 0; i < n; i++)
    sum += demur_audit_risk(risks[i], intercept);
  return sum / (double)MAX(n, 1);
}

DemurAudit
demur_audit_fit(const double *risks, const double *labels, size_t n_labels,
                const DemurSitePrior *prior, const double *site_risks, size_t n_site) {
  return demur_audit_fit_weighted(risks, labels, NULL, n_labels, prior, site_risks, n_site);
}

DemurAudit
demur_audit_fit_weighted(const double *risks, const double *labels, const double *weights,
                         size_t n_labels, const DemurSitePrior *prior, const double *site_risks,
                         size_t n_site) {
  DemurAudit audit = {.tau2 = prior->tau2, .n_labels = n_labels, .observed = NAN};
  g_autofree double *logits = g_new(double, MAX(n_labels, 1));
  double difference = 0.0, total = 0.0;
  for (size_t i = 0; i < n_labels; i++) {
    const double weight = weights != NULL ? weights[i] : 1.0;
    logits[i] = demur_logit(risks[i]);
    difference += weight * (labels[i] - risks[i]);
    total += weight;
  }
  if (n_labels > 0)
    audit.observed = difference / total;
  g_autoptr(DemurSitePosterior) posterior =
      demur_site_posterior_weighted(prior, logits, labels, weights, n_labels);
  audit.intercept = n_labels > 0 ? demur_site_posterior_mean(posterior) : 0.0;
  audit.low = demur_site_posterior_quantile(posterior, 0.025);
  audit.high = demur_site_posterior_quantile(posterior, 0.975);
  audit.mean_before = mean_risk(site_risks, n_site, 0.0);
  audit.mean_after = mean_risk(site_risks, n_site, audit.intercept);
  double before = 0.0, after = 0.0;
  for (size_t g = 0; g < posterior->n; g++) {
    const double mass = posterior->masses[g];
    if (mass < 1e-9)
      continue;
    const double mean =
        mean_risk(site_risks, n_site, posterior->first + (double)g * posterior->step);
    before += mass * (mean - audit.mean_before) * (mean - audit.mean_before);
    after += mass * (mean - audit.mean_after) * (mean - audit.mean_after);
  }
  audit.error_before = sqrt(before);
  audit.error_after = sqrt(after);
  return audit;
}
