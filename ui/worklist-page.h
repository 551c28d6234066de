/* One row a scan: search, filter chips, sort by any column. */
#pragma once

#include <gtk/gtk.h>

#include "ui/session.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_WORKLIST_PAGE (demur_worklist_page_get_type())
G_DECLARE_FINAL_TYPE(DemurWorklistPage, demur_worklist_page, DEMUR, WORKLIST_PAGE, GtkBox)

/* Activates "win.open-case" for a row that is opened. */
DemurWorklistPage *demur_worklist_page_new(DemurSession *session);
void demur_worklist_page_set_text(DemurWorklistPage *page, const char *text);
const char *demur_worklist_page_text(DemurWorklistPage *page);
/* "all", "accepted", .., "not_reviewed". */
void demur_worklist_page_show(DemurWorklistPage *page, const char *what);
/* Whether patients' names have a column. */
void demur_worklist_page_show_names(DemurWorklistPage *page, gboolean show);
void demur_worklist_page_focus_list(DemurWorklistPage *page);

G_END_DECLS
