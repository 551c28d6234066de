/* What was looked at before at a site, so that the chance of accepting a site that lies outside its range is
 * one over all plans of a selector there.
 *
 * 1. Fresh patients. Once a label of a plan was looked at, whoever was a candidate of it, drawn or not, is none of a
 *    later plan of the site, by whatever selector: what is left of a pool from which patients were drawn with chances that follow
 *    their risk is another population (all of the highest risks may be gone), and weights can't bring back
 *    who has no chance. So the labels of a plan are independent of all by which its range, its seed
 *    and its selector's audit were chosen, and given the past plan k accepts wrongly with probability
 *    at most its own alpha_k (evaluation/acceptance.h). Patients whose labels made an audit of the site are left out too;
 *    they are few, and what is left is taken for the site's population.
 * 2. Alpha is spent. A is what the plan's maker asks for over all plans of this selector (its origin, selector/release.h,
 *    whatever its name) at the site, j < k those of it that were looked at:
 *        alpha_k = 4/5 (A - sum_j alpha_j),  none where that is 0 or less.
 *    So sum_{j <= k} alpha_j <= A, and P(any of them accepts wrongly) <= A (union bound). The first has 4/5 of A: some
 *    7 % more labels than all of it would take; the second .16 A. A plan nobody looked at
 *    spends nothing, and is not run once a newer one of the selector stands at the site.
 *
 * What was looked at stays so when its selector is removed or replaced (store/site-seen.h), and which selector a plan is
 * of stands with it. An older program kept neither: where its selector can't be read any more its plan is taken for
 * one of this selector, which spends too much rather than too little.
 *
 * What a person saw elsewhere (labels that stand in a cohort, or in a file never given to the program) it can't know. */
#pragma once

#include "base/json-writer.h"
#include "cohort/cohort.h"
#include "selector/selector.h"
#include "store/acceptances.h"
#include "tasks/task.h"

G_BEGIN_DECLS

#define DEMUR_ACCEPT_ALPHA_SHARE 0.8

/* A plan of which labels were looked at. */
typedef struct {
  char *selector, *digest, *created; /* its name then; the plan's digest */
  char *answer;                      /* the last one, as it is kept ("more") */
  size_t n_labels;                   /* the most that were looked at */
  double low, high, alpha;
  gboolean
      unsure; /* of an older program, and its selector is damaged or gone: it may be another's */
} DemurAcceptEarlier;

typedef struct {
  GPtrArray *plans;     /* of DemurAcceptEarlier: of this selector, oldest first */
  GHashTable *patients; /* demur_person_key of those who are left out; NULL: not asked for */
  double alpha_spent;   /* by plans */
  char *
      newer; /* when a plan of this selector that is newer than the one asked for was made; NULL: none is */
} DemurAcceptBefore;

void demur_accept_before_clear(DemurAcceptBefore *before);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurAcceptBefore, demur_accept_before_clear)

/* Before the plan that was made then (DemurAcceptancePlanRecord.made; G_MAXINT64: one that is not made yet). cohort: with those of its patients who are left
 * out; NULL: they are not asked for. DEMUR_ERROR_STATE where the candidates of an older program's plan
 * can't be told any more. */
gboolean demur_accept_before_read(DemurTask *task, const char *site, const DemurSelector *selector,
                                  gint64 plan, DemurCohort *cohort, DemurAcceptBefore *before,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether a patient of the cohort's is left out. */
gboolean demur_accept_before_holds(const DemurAcceptBefore *before, const DemurCohort *cohort,
                                   size_t row);

/* alpha_k of the next plan, A being `alpha`. DEMUR_ERROR_STATE where nothing is left. */
gboolean demur_accept_before_spend(const DemurAcceptBefore *before, const char *site, double alpha,
                                   double *own, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The member earlier_plans of an open object. */
void demur_accept_before_write(DemurJson *json, const DemurAcceptBefore *before);

G_END_DECLS
