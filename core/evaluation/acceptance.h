/* The local acceptance test: is what a selector shows at a site calibrated there? Design:
 * deployment.md, "accept".
 *
 * The plan is made before a label is seen: who may be labelled, with which chance each, in which
 * order, and when the test ends. Labels are then looked at as they come; looking early costs
 * nothing, as both tests are bets that hold at every look (metrics/betting.h). The question is
 * O:E, observed over expected outcomes of the shown risks, against a range [low, high]:
 *
 *   accepted      the bets against O:E <= low and against O:E >= high have both reached 1 / alpha
 *   not accepted  the bet against O:E >= low, or the one against O:E <= high, has
 *   more          otherwise
 *
 * A site outside the range is accepted with probability at most alpha, whatever its miscalibration
 * looks like and however often it is looked at. Assumed: the patients are independent draws of the
 * site's population, and are labelled in the plan's order. Binary risk only. */
#pragma once

#include <glib.h>

#include "metrics/betting.h"

G_BEGIN_DECLS

typedef struct {
  double low, high; /* the agreed range of O:E, low < 1 < high (.8 to 1.25) */
  double alpha;     /* .05 */
  double power;     /* .8: the chance of being accepted at O:E 1 that the number of labels is for */
} DemurAcceptanceSettings;

/* DEMUR_ERROR_USAGE for a range without 1 inside, or an alpha or power outside (0, 1). */
gboolean demur_acceptance_settings_check(const DemurAcceptanceSettings *settings,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The design of a test. */
typedef struct {
  DemurAcceptanceSettings settings;
  DemurBetBounds bounds;
  double fraction_above, fraction_below; /* stakes, chosen for O:E 1 */
  size_t n_needed; /* labels by which a site of O:E 1 is accepted with `power`; 0: more than
                    * DEMUR_ACCEPTANCE_MOST */
  size_t n_usual;  /* .. with one half */
  double power;    /* at O:E 1 with the n_chosen labels there are */
  size_t n_chosen;
  guint32 *order;  /* [n_chosen] places among the candidates, in the order to label */
  double *weights; /* [n_chosen] 1 / the chance of being drawn, in that order */
} DemurAcceptancePlan;

#define DEMUR_ACCEPTANCE_MOST 20000
#define DEMUR_ACCEPTANCE_RUNS 1000 /* simulated tests a plan */

/* Draws from candidates [n], one scan a patient, with shown risks in (0, 1): each with a chance
 * that follows sqrt(r (1 - r)), which tells most about O:E a label, spread so that there are enough
 * labels where the site has them; in random order; by the seed. Lengths by simulation.
 * DEMUR_ERROR_STATE for no candidates. O(runs x labels). */
DemurAcceptancePlan *demur_acceptance_plan_new(const double *risks, size_t n,
                                               const DemurAcceptanceSettings *settings,
                                               guint64 seed,
                                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_acceptance_plan_free(DemurAcceptancePlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurAcceptancePlan, demur_acceptance_plan_free)

typedef enum {
  DEMUR_ACCEPTANCE_MORE,
  DEMUR_ACCEPTANCE_ACCEPTED,
  DEMUR_ACCEPTANCE_NOT_ACCEPTED,
} DemurAcceptanceAnswer;

/* "more", "accepted", "not accepted". */
const char *demur_acceptance_answer_name(DemurAcceptanceAnswer answer);
/* FALSE where the name is none of them. */
gboolean demur_acceptance_answer_from_name(const char *name,
                                           DemurAcceptanceAnswer *answer) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  DemurAcceptanceAnswer answer;
  size_t n_labels, n_events;
  size_t n_more;                /* labels more by which it would be accepted with `power` if O:E is
                                 * what it looks like; 0: accepted already, or not in sight */
  double ratio;                 /* O:E, weighted */
  double ratio_low, ratio_high; /* confidence sequence, 95 % at all looks together */
  double evidence_above, evidence_below; /* e-values of the bets against O:E <= low and >= high */
  double intercept, intercept_low, intercept_high; /* of logit risk, weighted, 95 % (sandwich), at
                                                    * this look alone; NaN without both outcomes */
  double auroc, auroc_low, auroc_high; /* weighted, 95 % (bootstrap), at this look alone; NaN
                                        * likewise */
} DemurAcceptance;

/* What more labels may bring where the answer is DEMUR_ACCEPTANCE_MORE. */
typedef enum {
  DEMUR_ACCEPTANCE_IN_SIGHT, /* n_more labels more, which the plan has */
  DEMUR_ACCEPTANCE_BEYOND_PLAN, /* O:E lies in the range; it takes more labels than the plan has left */
  DEMUR_ACCEPTANCE_TOO_FEW, /* fewer than DEMUR_SMALL_CELL labels with, or without, the outcome: O:E may be anything */
  DEMUR_ACCEPTANCE_OUTSIDE, /* O:E lies outside: at this O:E none will show that it lies inside */
} DemurAcceptanceOutlook;

/* n_labels .. ratio as in DemurAcceptance (ratio NaN: no label yet); n_left: labels of the plan that were not looked at. */
DemurAcceptanceOutlook demur_acceptance_outlook(size_t n_labels, size_t n_events, size_t n_more,
                                                double ratio, size_t n_left, double low,
                                                double high);

/* The answer alone: as in demur_acceptance_run, without its other numbers. */
DemurAcceptanceAnswer demur_acceptance_answer(const DemurAcceptancePlan *plan, const double *risks,
                                              const double *labels, const double *weights,
                                              size_t n_labels);

/* The first n_labels patients of the plan: risks and labels in {0, 1} in the plan's order; weights
 * of the plan. seed: of the bootstrap and of n_more. */
DemurAcceptance demur_acceptance_run(const DemurAcceptancePlan *plan, const double *risks,
                                     const double *labels, const double *weights, size_t n_labels,
                                     guint64 seed);

G_END_DECLS
