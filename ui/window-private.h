/* What the files of the window share: its widgets, and the groups of its actions. */
#pragma once

#include "ui/cohort-page.h"
#include "ui/patient-page.h"
#include "ui/report-page.h"
#include "ui/steps.h"
#include "ui/watch-page.h"
#include "ui/window.h"
#include "ui/worklist-page.h"

G_BEGIN_DECLS

struct _DemurWindow {
  GtkApplicationWindow parent_instance;
  DemurSession *session;
  DemurSteps *steps;
  GtkStack *stack;
  GtkWindow *train; /* weak; NULL: not open */
  GtkLabel *workspace;
  GtkMenuButton *menu;
  GtkSearchEntry *search;
  GtkDropTarget *drop;
  DemurWorklistPage *worklist;
  DemurPatientPage *patient;
  DemurCohortPage *cohort;
  DemurReportPage *report;
  DemurWatchPage *watch;
  GtkWidget *busy_box;
  GtkBox *notice_box;
  GtkWidget *notice_more, *notice_undo;
  GtkLabel *notice, *busy_label;
  GtkProgressBar *busy_bar;
  GtkLabel *status_model, *status_selector, *status_coverage, *status_count, *status_hint;
  GtkWidget *status_simulated;
};

/* Actions by name (ui/window-actions.h has their keys): of the image, of the case that is shown, of
 * what comes in and is assessed, of what is written out. */
void demur_window_add_image_actions(DemurWindow *window);
void demur_window_add_case_actions(DemurWindow *window);
void demur_window_add_data_actions(DemurWindow *window);
void demur_window_add_export_actions(DemurWindow *window);

/* Whether that page is on the screen. */
gboolean demur_window_is_on(DemurWindow *window, DemurPage page);

/* The status line, anew. */
void demur_window_update_status(DemurWindow *window);

/* A sentence for the reader, and taking it away. */
void demur_window_on_notice(DemurWindow *window, const char *text, gboolean is_error,
                            const char *details);
void demur_window_close_notice(DemurWindow *window);
/* Work that runs, and an import that ended. */
void demur_window_on_busy(DemurWindow *window);
void demur_window_on_imported(DemurWindow *window);
/* The notice of an assessment has a button to undo it. */
void demur_window_on_assessed(DemurWindow *window);

/* Files that were dropped. */
gboolean demur_window_on_drop(GtkDropTarget *target, const GValue *value, double x, double y,
                              DemurWindow *window);

G_END_DECLS
