/* The calibration report: its pages as they will be printed, and one button to PDF. */
#pragma once

#include <gtk/gtk.h>

#include "ui/cohort-page.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_REPORT_PAGE (demur_report_page_get_type())
G_DECLARE_FINAL_TYPE(DemurReportPage, demur_report_page, DEMUR, REPORT_PAGE, GtkBox)

/* Shows the report of the study that the cohort page has computed. */
DemurReportPage *demur_report_page_new(DemurSession *session, DemurCohortPage *cohort);
void demur_report_page_set_shown(DemurReportPage *page, gboolean shown);
/* Asks for a file; then the same as demur_report_page_export_to. */
void demur_report_page_export(DemurReportPage *page);
/* Writes the PDF and the JSON beside it; success and failure are notices. */
void demur_report_page_export_to(DemurReportPage *page, const char *path);

G_END_DECLS
