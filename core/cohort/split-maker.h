/* Splits drawn by the seed, whole patients or whole sites in each. */
#pragma once

#include "cohort/cohort.h"

G_BEGIN_DECLS

#define DEMUR_MAX_SPLITS_MADE 16

typedef struct {
  gboolean by_site; /* else by patient */
  size_t n;
  char *names[DEMUR_MAX_SPLITS_MADE];
  double shares[DEMUR_MAX_SPLITS_MADE]; /* of the scans; they sum to 1 */
} DemurSplitPlan;

/* "patient 0.4,0.2,0.1,0.3", or with names: "site selector_train=0.6,test=0.4". Without names three
 * shares are selector_train, tune and test, and four selector_train, validation, tune and test:
 * base_train is what the black box was trained on and can't be drawn. DEMUR_ERROR_USAGE otherwise.
 */
gboolean demur_split_plan_parse(DemurSplitPlan *plan, const char *text,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_split_plan_clear(DemurSplitPlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurSplitPlan, demur_split_plan_clear)

/* Gives a cohort that nobody else has seen yet these splits in place of those it has. Groups are
 * patients (those that look alike are one), or sites (those that share a patient or look alike are
 * one); they are shuffled by the seed and dealt
 * out in that order, so that each split has its share of the scans but for the size of a group.
 * DEMUR_ERROR_INPUT where a split would stay empty. *words (owned): how many scans each got. */
gboolean demur_cohort_make_splits(DemurCohort *cohort, const DemurSplitPlan *plan, guint64 seed,
                                  char **words, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
