/* What several commands need of selectors, thresholds and the scans they are asked about. */
#pragma once

#include "tasks/task.h"
#include "cohort/cohort.h"
#include "evaluation/evaluate.h"
#include "selector/selector.h"
#include "store/selectors.h"
#include "tasks/warnings.h"

G_BEGIN_DECLS

/* The selector of that name, read and checked. DEMUR_ERROR_NOT_FOUND names those there are; of a family's
 * name (tasks/horizons.h) its own. record, if not NULL, receives what the workspace
 * knows of it. */
DemurSelector *demur_task_load_selector(DemurTask *task, const char *name,
                                        DemurSelectorRecord **record,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether an error of that says that the selector is not there or is damaged, not that the workspace went away or that
 * somebody cancelled. */
gboolean demur_task_selector_is_unreadable(const GError *error);

/* What the last `demur validate` said of the selector of that name, one sentence; or that nothing
 * was said yet. Owned; shown wherever the selector's name is. */
char *demur_task_validation_sentence(DemurTask *task, const char *name);

/* Adds what everybody who is about to use the selector is to know of its training, if anything. */
void demur_task_warn_untrained(const DemurSelector *selector, GPtrArray *warnings);

/* Likewise of the studies of several sites that it comes from (selector/federated.h). */
void demur_task_warn_federated(const DemurSelector *selector, GPtrArray *warnings);

/* A cohort of the workspace, its scans in canonical order (cohort/order.h). */
DemurCohort *demur_task_load_cohort(DemurTask *task, const char *name,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The cohort (a new reference) as the selector reads it: where it was trained on risks within other
 * years than the cohort's, and the cohort has the yearly risks and times, within those
 * (demur_cohort_at_horizon). Whether it fits otherwise is for the selector to say. */
DemurCohort *demur_task_cohort_for(DemurCohort *cohort, const DemurSelector *selector,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* demur_task_load_cohort and demur_task_cohort_for. */
DemurCohort *demur_task_load_cohort_for(DemurTask *task, const char *name,
                                        const DemurSelector *selector,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Comma-separated coverages in (0, 1], at least one; DEMUR_ERROR_USAGE otherwise. */
double *demur_task_parse_coverages(const char *text, size_t *n,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The selector's threshold for the coverage as it is written, or, NULL, the one in use; *threshold
 * NULL where it is not tuned. DEMUR_ERROR_USAGE for what is no single coverage, DEMUR_ERROR_STATE
 * with those there are where it was not tuned to that one. */
gboolean demur_task_find_threshold(DemurTask *task, const char *selector, const char *coverage,
                                   DemurThresholdRecord **threshold,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* For who is to give verdicts on what comes later: FALSE with DEMUR_ERROR_STATE where the selector is
 * not tuned, else as demur_task_find_threshold. */
gboolean demur_task_check_tuned(DemurTask *task, const char *selector, const char *coverage,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* FALSE with DEMUR_ERROR_STATE where a threshold of the selector was tuned on patients of these
 * rows, so that `at` with threshold_from "tune" would be in-sample. *tuned tells, *coverage which
 * one. */
gboolean demur_task_tuned_on(DemurTask *task, const char *selector, const DemurCohort *cohort,
                             const char *split, gboolean *tuned, double *coverage,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether patients of the split answered, from this workspace, in a study that the selector's risks
 * come from (selector/federated.h): their outcomes are in it. By the log: of answers of another workspace, or
 * an older program, nothing is known. */
gboolean demur_task_answered_of(DemurTask *task, const DemurSelector *selector,
                                const DemurCohort *cohort, const char *split, gboolean *answered,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
