#include "evaluation/plan.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "selector/audit.h"

gboolean
demur_plan_check_unseen(const DemurEvaluateInput *input, const guint32 *rows, size_t n_rows,
                        gboolean *in_sample, DemurParallel *parallel, GError **error) {
  *in_sample = FALSE;
  for (size_t s = 0; s < input->n_selectors; s++) {
    const size_t n_seen =
        demur_selector_count_seen(input->selectors[s], input->cohort, rows, n_rows, parallel);
    if (n_seen == 0)
      continue;
    *in_sample = TRUE;
    if (!input->in_sample) {
      demur_error_set(
          error, DEMUR_ERROR_STATE,
          "%zu patients of split '%s' were used to make selector '%s': measured on them it "
          "would look better than it is; evaluate on another split, or say --in-sample, "
          "which is printed on every result",
          n_seen, input->split, input->names[s]);
      return FALSE;
    }
  }
  return TRUE;
}

static void
risk_group_clear(gpointer data) {
  DemurRiskGroup *group = data;
  demur_cohort_unref(group->view);
  g_free(group->selectors);
}

/* The view with each audited site's intercept in its risks (takes the view over). */
static DemurCohort *
audit(DemurCohort *view, const DemurEvaluateSite *sites) {
  if (view == NULL || sites == NULL || view->risks == NULL)
    return view;
  double *risks = demur_new_array(double, view->n_scans);
  for (size_t i = 0; i < view->n_scans; i++) {
    const DemurEvaluateSite *site = &sites[view->sites[i]];
    risks[i] = demur_audit_risk(view->risks[i], site->audited ? site->intercept : 0.0);
  }
  DemurCohort *audited = demur_cohort_with_risks(view, risks);
  demur_cohort_unref(view);
  return audited;
}

GArray *
demur_plan_risks(const DemurEvaluateInput *input, const guint32 *rows, size_t n_rows,
                 DemurParallel *parallel, GError **error) {
  g_autoptr(GArray) groups = g_array_new(FALSE, TRUE, sizeof(DemurRiskGroup));
  g_array_set_clear_func(groups, risk_group_clear);
  DemurRiskGroup raw = {.view = demur_cohort_ref(input->cohort),
                        .base = input->selectors[0],
                        .selectors = g_new0(size_t, input->n_selectors)};
  g_array_append_val(groups, raw);
  for (size_t s = 0; s < input->n_selectors; s++) {
    const DemurSelector *selector = input->selectors[s];
    DemurRiskGroup *found = NULL;
    for (guint g = 0; g < groups->len && found == NULL; g++) {
      DemurRiskGroup *group = &g_array_index(groups, DemurRiskGroup, g);
      const gboolean changes =
          input->sites != NULL || demur_selector_recalibration(selector) != NULL;
      if (group->recalibrated == changes &&
          (!group->recalibrated || demur_selector_same_risks(group->base, selector)))
        found = group;
    }
    if (found == NULL) {
      DemurRiskGroup group = {.recalibrated = TRUE,
                              .view = audit(demur_selector_view_rows(selector, input->cohort, rows,
                                                                     n_rows, parallel, NULL, error),
                                            input->sites),
                              .base = selector,
                              .selectors = g_new0(size_t, input->n_selectors)};
      g_array_append_val(groups, group);
      if (group.view == NULL)
        return NULL;
      found = &g_array_index(groups, DemurRiskGroup, groups->len - 1);
    }
    if (!found->recalibrated && found->n_selectors == 0)
      found->base = selector;
    found->selectors[found->n_selectors++] = s;
  }
  return g_steal_pointer(&groups);
}

static void
add_tuned(const DemurEvaluateInput *input, size_t selector, size_t method, GArray *plans) {
  for (size_t t = 0; t < input->n_thresholds[selector]; t++) {
    const DemurTunedThreshold *tuned = &input->thresholds[selector][t];
    const DemurPointPlan plan = {.method = method,
                                 .coverage = tuned->coverage,
                                 .tuned = tuned->thresholds,
                                 .threshold = NAN};
    g_array_append_val(plans, plan);
  }
}

/* The share of the scans that a tuned plan keeps, whatever its threshold was tuned for. */
static double
kept_by(const DemurPointPlan *plan, const DemurMethod *method, size_t n) {
  const gssize rank = demur_method_rank_at(method, 0, n, plan->tuned[0]);
  size_t n_kept = 0;
  for (size_t i = 0; i < n; i++)
    n_kept += (gssize)method->ranks[0][i] <= rank ? 1 : 0;
  return (double)n_kept / (double)MAX(n, 1);
}

/* For each of the method's plans, from first on, the one that tells what counts outcomes; those that
 * are lacking are added. */
static void
add_told(GArray *plans, guint first, const DemurMethod *method, size_t n,
         const DemurToldCoverages *told) {
  const guint n_plans = plans->len;
  for (guint p = first; p < n_plans; p++) {
    const DemurPointPlan own = g_array_index(plans, DemurPointPlan, p);
    const double coverage = own.tuned != NULL
                                ? demur_told_coverages_nearest(told, kept_by(&own, method, n))
                            : demur_told_coverages_have(told, own.coverage) ? own.coverage
                                                                            : (double)NAN;
    gssize found = -1;
    for (guint q = first; isfinite(coverage) && found < 0 && q < plans->len; q++) {
      const DemurPointPlan *other = &g_array_index(plans, DemurPointPlan, q);
      if (other->tuned == NULL && fabs(other->coverage - coverage) < 1e-9)
        found = q;
    }
    if (isfinite(coverage) && found < 0) {
      const DemurPointPlan aside = {.method = own.method,
                                    .coverage = coverage,
                                    .threshold = NAN,
                                    .told = plans->len,
                                    .aside = TRUE};
      found = plans->len;
      g_array_append_val(plans, aside);
    }
    g_array_index(plans, DemurPointPlan, p).told = found;
  }
}

GArray *
demur_plan_points(const DemurEvaluateInput *input, const DemurRiskGroup *group,
                  const GPtrArray *methods, size_t n, const DemurToldCoverages *told) {
  GArray *plans = g_array_new(FALSE, FALSE, sizeof(DemurPointPlan));
  for (guint k = 0; k < methods->len; k++) {
    const DemurMethod *method = methods->pdata[k];
    const guint first = plans->len;
    for (size_t a = 0; a < DEMUR_N_OPERATING_COVERAGES; a++) {
      const DemurPointPlan plan = {
          .method = k, .coverage = demur_operating_coverages[a], .threshold = NAN};
      g_array_append_val(plans, plan);
    }
    if (method->kind == DEMUR_METHOD_SELECTOR && input->n_thresholds != NULL)
      add_tuned(input, group->selectors[k], k, plans);
    if (told != NULL)
      add_told(plans, first, method, n, &told[k]);
  }
  return plans;
}
