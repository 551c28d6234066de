/* How much abstention can be afforded: a coverage slider that moves everything, the curves, who is
 * rejected, and choosing a coverage with a reason. */
#pragma once

#include <gtk/gtk.h>

#include "tasks/coverage-study.h"
#include "ui/session.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_COHORT_PAGE (demur_cohort_page_get_type())
G_DECLARE_FINAL_TYPE(DemurCohortPage, demur_cohort_page, DEMUR, COHORT_PAGE, GtkBox)

/* Signal "study" when another study was computed. */
DemurCohortPage *demur_cohort_page_new(DemurSession *session);

/* The study is computed at the first time it is shown. */
void demur_cohort_page_set_shown(DemurCohortPage *page, gboolean shown);
/* Another selector is looked at; unknown to the workspace: nothing changes. */
void demur_cohort_page_show_selector(DemurCohortPage *page, const char *selector);
/* Begins to compute it, unless that is under way, or done and its report would tell no other. What is
 * there of the same choice stays until then. */
void demur_cohort_page_compute(DemurCohortPage *page);
gboolean demur_cohort_page_is_computing(DemurCohortPage *page);
/* Evaluates anew with subgroups by this attribute; NULL: the usual ones. */
void demur_cohort_page_group_by(DemurCohortPage *page, const char *group_by);
DemurCoverageStudy *demur_cohort_page_study(DemurCohortPage *page); /* borrowed; NULL: none yet */
void demur_cohort_page_set_coverage(DemurCohortPage *page, double coverage);
double demur_cohort_page_coverage(DemurCohortPage *page);
void demur_cohort_page_use_coverage(DemurCohortPage *page);
void demur_cohort_page_toggle_tables(DemurCohortPage *page);
/* Every chart as SVG and CSV into a folder. */
void demur_cohort_page_export(DemurCohortPage *page);

G_END_DECLS
