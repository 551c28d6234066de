/* At each number k of labels: site error and S-BCE_2 of the scans at audited sites, the site's
 * intercept (selector/audit.h) from its first k labels in their risks; of all of them, and of those
 * that the selector accepts at a coverage of 0.9 (ties kept). Scores stay those of the risks before
 * any audit, so that every k is measured on the same scans. */
#include "evaluation/audit-curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/coverage.h"
#include "metrics/selective.h"
#include "metrics/site-error.h"
#include "selector/audit.h"

static const size_t label_counts[DEMUR_N_AUDIT_CURVE] = {0, 10, 25, 50, 100};

#define COVERAGE 0.9

typedef struct {
  double risk, label, weight;
  guint32 site, patient, place;
  gboolean accepted;
} Scan;

static int
compare_scans(const void *a, const void *b) {
  const Scan *x = a, *y = b;
  if (x->risk != y->risk)
    return x->risk < y->risk ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

/* Site error and S-BCE_2 of the scans [n], ascending in risk, or of the accepted of them. */
static void
measure(const Scan *scans, size_t n, size_t n_sites, size_t n_patients, gboolean weighted,
        gboolean accepted, double *site_error, double *sbce2) {
  g_autofree double *risks = g_new(double, MAX(n, 1)), *labels = g_new(double, MAX(n, 1)),
                    *differences = g_new(double, MAX(n, 1)), *weights = g_new(double, MAX(n, 1));
  g_autofree guint32 *sites = g_new(guint32, MAX(n, 1)), *patients = g_new(guint32, MAX(n, 1)),
                     *ranks = g_new0(guint32, MAX(n, 1));
  size_t m = 0;
  for (size_t i = 0; i < n; i++) {
    if (accepted && !scans[i].accepted)
      continue;
    risks[m] = scans[i].risk;
    labels[m] = scans[i].label;
    weights[m] = scans[i].weight;
    differences[m] = labels[m] - risks[m];
    sites[m] = scans[i].site;
    patients[m++] = scans[i].patient;
  }
  const DemurSiteSample by_site = {.n = m,
                                   .differences = differences,
                                   .weights = weighted ? weights : NULL,
                                   .sites = sites,
                                   .patients = patients,
                                   .n_sites = n_sites,
                                   .n_patients = n_patients,
                                   .ranks = ranks,
                                   .n_ranks = 1};
  *site_error = demur_signed_root(demur_site_error_at_rank(&by_site, 0));
  *sbce2 = NAN;
  if (m == 0)
    return;
  const DemurSelectiveSample sample = {.n = m,
                                       .risks = risks,
                                       .labels = labels,
                                       .weights = weighted ? weights : NULL,
                                       .ranks = ranks,
                                       .n_ranks = 1};
  const double all = 1.0;
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(m);
  demur_selective_errors(&sample, &all, 1, 25, scratch, sbce2);
}

/* One site's labels in the order drawn: their risks, outcomes and weights. */
typedef struct {
  size_t n;
  double *risks, *labels, *weights;
} SiteLabels;

static void
site_labels_clear(SiteLabels *labels) {
  g_free(labels->risks);
  g_free(labels->labels);
  g_free(labels->weights);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SiteLabels, site_labels_clear)

static SiteLabels
draw_labels(const DemurCohort *view, const DemurEvaluateLabel *labels, size_t n_labels,
            guint32 site, guint64 seed) {
  SiteLabels drawn = {0, g_new(double, MAX(n_labels, 1)), g_new(double, MAX(n_labels, 1)),
                      g_new(double, MAX(n_labels, 1))};
  for (size_t i = 0; i < n_labels; i++)
    if (view->sites[labels[i].row] == site) {
      drawn.risks[drawn.n] = view->risks[labels[i].row];
      drawn.weights[drawn.n] = labels[i].weight;
      drawn.labels[drawn.n++] = labels[i].label;
    }
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_AUDIT, 1, site, 0);
  for (size_t i = 0; i + 1 < drawn.n; i++) {
    const size_t other = i + demur_random_below(&random, drawn.n - i);
    double *columns[] = {drawn.risks, drawn.labels, drawn.weights};
    for (size_t c = 0; c < G_N_ELEMENTS(columns); c++) {
      const double moved = columns[c][other];
      columns[c][other] = columns[c][i];
      columns[c][i] = moved;
    }
  }
  return drawn;
}

/* intercepts [N][n_sites] of each number of labels; *n_used [N]: labels that there were; audited
 * [n_sites]. */
static void
fit_sites(const DemurSelector *selector, const DemurCohort *view, const DemurEvaluateLabel *labels,
          size_t n_labels, guint64 seed, double *intercepts, size_t *n_used, guint8 *audited) {
  for (size_t i = 0; i < n_labels; i++)
    audited[view->sites[labels[i].row]] = 1;
  for (guint32 s = 0; s < view->n_sites; s++) {
    if (!audited[s])
      continue;
    g_auto(SiteLabels) drawn = draw_labels(view, labels, n_labels, s, seed);
    for (size_t c = 0; c < DEMUR_N_AUDIT_CURVE; c++) {
      const size_t k = MIN(label_counts[c], drawn.n);
      n_used[c] += k;
      intercepts[c * view->n_sites + s] =
          demur_audit_fit_weighted(drawn.risks, drawn.labels, drawn.weights, k,
                                   demur_selector_site_prior(selector), drawn.risks, drawn.n)
              .intercept;
    }
  }
}

void
demur_audit_curve_fill(const DemurSelector *selector, const DemurCohort *view,
                       const DemurEvaluateLabel *labels, size_t n_labels,
                       const DemurAuditMeasured *measured, guint64 seed, DemurEvaluation *e) {
  const size_t n_rows = measured->n;
  const guint32 *rows = measured->rows;
  const double *scores = measured->scores, *weights = measured->weights;
  g_autofree double *intercepts = g_new0(double, DEMUR_N_AUDIT_CURVE *MAX(view->n_sites, 1));
  g_autofree guint8 *audited = g_new0(guint8, MAX(view->n_sites, 1));
  size_t n_used[DEMUR_N_AUDIT_CURVE] = {0};
  fit_sites(selector, view, labels, n_labels, seed, intercepts, n_used, audited);
  const double threshold = demur_coverage_threshold(COVERAGE, scores, n_rows);
  g_autofree Scan *scans = g_new(Scan, MAX(n_rows, 1));
  for (size_t c = 0; c < DEMUR_N_AUDIT_CURVE; c++) {
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++) {
      const guint32 row = rows[i], site = view->sites[row];
      if (audited[site] && view->labels[row] != DEMUR_NO_LABEL)
        scans[n++] =
            (Scan){demur_audit_risk(view->risks[row], intercepts[c * view->n_sites + site]),
                   (double)view->labels[row],
                   weights != NULL ? weights[i] : 1.0,
                   site,
                   view->patients[row],
                   (guint32)i,
                   scores[i] >= threshold};
    }
    qsort(scans, n, sizeof *scans, compare_scans);
    DemurAuditCurvePoint *point = &e->audit_curve[c];
    *point = (DemurAuditCurvePoint){.labels = label_counts[c], .n_labels = n_used[c], .n_scans = n};
    measure(scans, n, view->n_sites, view->n_patients, weights != NULL, FALSE, &point->site_error,
            &point->sbce2);
    measure(scans, n, view->n_sites, view->n_patients, weights != NULL, TRUE,
            &point->accepted_site_error, &point->accepted_sbce2);
  }
  e->n_audit_curve = DEMUR_N_AUDIT_CURVE;
}
