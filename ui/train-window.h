/* Training a selector: cohort, splits, settings, live curves, cancel at any time; what was reached
 * is kept and the same training goes on from there. */
#pragma once

#include <gtk/gtk.h>

#include "ui/session.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_TRAIN_WINDOW (demur_train_window_get_type())
G_DECLARE_FINAL_TYPE(DemurTrainWindow, demur_train_window, DEMUR, TRAIN_WINDOW, GtkWindow)

DemurTrainWindow *demur_train_window_new(GtkWindow *parent, DemurSession *session);

G_END_DECLS
