/* Which scans are assessed, by which selector, at which coverage. Only tuned selectors are offered:
 * one without a threshold has no verdict to give. */
#pragma once

#include <gtk/gtk.h>

#include "ui/session.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_ASSESS_WINDOW (demur_assess_window_get_type())
G_DECLARE_FINAL_TYPE(DemurAssessWindow, demur_assess_window, DEMUR, ASSESS_WINDOW, GtkWindow)

/* selectors: array of DemurSelectorFacts (tasks/selectors.h), referenced. NULL where none is tuned.
 */
DemurAssessWindow *demur_assess_window_new(GtkWindow *parent, DemurSession *session,
                                           GPtrArray *selectors);

G_END_DECLS
