#include "evaluation/evaluation.h"

#include <math.h>
#include <string.h>

#include "base/small-cells.h"

size_t
demur_measure_n_coverages(DemurMeasure measure) {
  return measure < DEMUR_N_FINE_MEASURES ? DEMUR_N_COVERAGES : DEMUR_N_COARSE_COVERAGES;
}

const double demur_operating_coverages[DEMUR_N_OPERATING_COVERAGES] = {0.9, 0.7, 0.5};

const double demur_decision_thresholds[DEMUR_N_DECISIONS] = {
    0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2,  0.25, 0.3,
    0.35, 0.4,  0.5,  0.6,  0.7,   0.8, 0.9,  0.95, 0.99};

const char *
demur_comparison_verdict_words(DemurComparisonVerdict verdict) {
  static const char *const words[] = {"better", "no difference shown", "worse",
                                      "cannot be decided"};
  return words[verdict];
}

static void
points_free(DemurOperatingPoint *at, size_t n_at) {
  for (size_t a = 0; a < n_at; a++)
    g_free(at[a].rejected_by_label);
  g_free(at);
}

static void
groups_free(DemurEvaluation *e) {
  for (size_t g = 0; g < e->n_groups; g++) {
    DemurGroup *group = &e->groups[g];
    for (size_t m = 0; m < group->n_methods; m++) {
      g_free(group->methods[m].name);
      points_free(group->methods[m].at, group->methods[m].n_at);
    }
    g_free(group->methods);
    for (size_t i = 0; i < group->n_contrasts; i++)
      g_free(group->contrasts[i].method);
    g_free(group->contrasts);
    g_free(group->by);
    g_free(group->value);
  }
  g_free(e->groups);
  for (size_t a = 0; a < e->n_group_averages; a++) {
    g_free(e->group_averages[a].by);
    g_free(e->group_averages[a].method);
  }
  g_free(e->group_averages);
}

gboolean
demur_rejection_is_much(const DemurRejection *label, double realised) {
  const double rate =
      label->withheld ? (double)label->n_rejected / (double)label->n_all : label->rate;
  return realised < 1.0 && label->n_rejected >= DEMUR_REFUSED_FEWEST &&
         rate > DEMUR_REFUSED_MUCH_MORE * (1.0 - realised);
}

void
demur_rejections_withhold(DemurRejection *labels, size_t n) {
  g_autofree size_t *cells = g_new(size_t, 2 * n);
  g_autofree gboolean *withheld = g_new0(gboolean, n);
  size_t n_rejected = 0;
  for (size_t l = 0; l < n; l++) {
    cells[2 * l] = labels[l].n_rejected;
    cells[2 * l + 1] = labels[l].n_all - labels[l].n_rejected;
    n_rejected += labels[l].n_rejected;
  }
  if (n_rejected == 0) /* nothing refused: a fact about all, not about few */
    return;
  demur_small_cells(cells, n, 2, withheld);
  for (size_t l = 0; l < n; l++) {
    DemurRejection *r = &labels[l];
    r->withheld = withheld[l];
    if (r->withheld)
      r->rate = r->rate_low = r->rate_high = r->share_of_rejected = NAN;
  }
}

double
demur_operating_counted(const DemurOperatingPoint *at) {
  return at->n_counted > 0 && at->n_accepted > 0
             ? at->realised * (double)at->n_counted / (double)at->n_accepted
             : at->realised;
}

gboolean
demur_operating_counts_others(const DemurOperatingPoint *at) {
  return at->n_counted > 0 && at->n_counted != at->n_accepted;
}

void
demur_evaluation_free(DemurEvaluation *e) {
  if (e == NULL)
    return;
  g_free(e->cohort);
  g_free(e->split);
  g_free(e->model);
  g_free(e->source);
  g_free(e->prevalence);
  g_free(e->digest);
  g_free(e->resample_unit);
  for (size_t k = 0; k < e->n_methods; k++) {
    DemurMethodResult *method = &e->methods[k];
    g_free(method->name);
    g_free(method->title);
    points_free(method->at, method->n_at);
  }
  g_free(e->methods);
  groups_free(e);
  for (size_t c = 0; c < e->n_comparisons; c++) {
    g_free(e->comparisons[c].method);
    g_free(e->comparisons[c].against);
  }
  g_free(e->comparisons);
  for (size_t h = 0; h < e->n_hold_back; h++) {
    g_free(e->hold_back[h].selector);
    for (size_t r = 0; r < e->hold_back[h].n_rows; r++)
      g_free(e->hold_back[h].rows[r].method);
  }
  g_free(e->hold_back);
  for (size_t w = 0; w < e->n_warnings; w++)
    demur_warning_clear(&e->warnings[w]);
  g_free(e->warnings);
  g_free(e);
}

const DemurMethodResult *
demur_evaluation_method(const DemurEvaluation *e, const char *name, gboolean recalibrated) {
  for (size_t k = 0; k < e->n_methods; k++)
    if (strcmp(e->methods[k].name, name) == 0 && e->methods[k].recalibrated == recalibrated)
      return &e->methods[k];
  return NULL;
}

const DemurMethodResult *
demur_evaluation_selector(const DemurEvaluation *e, const char *selector, gboolean recalibrated) {
  g_autofree char *name = demur_method_name(DEMUR_METHOD_SELECTOR, selector);
  return demur_evaluation_method(e, name, recalibrated);
}

const DemurMethodResult *
demur_evaluation_baseline(const DemurEvaluation *e, DemurMethodKind kind, gboolean recalibrated) {
  for (size_t k = 0; k < e->n_methods; k++)
    if (e->methods[k].kind == kind && e->methods[k].recalibrated == recalibrated)
      return &e->methods[k];
  return NULL;
}
