/* The program: options, settings, menu, and the actions that belong to no page. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DEMUR_TYPE_APPLICATION (demur_application_get_type())
G_DECLARE_FINAL_TYPE(DemurApplication, demur_application, DEMUR, APPLICATION, GtkApplication)

/* standalone: no session bus is used or needed (pictures). */
DemurApplication *demur_application_new(gboolean standalone);

/* 0, or 1 where a picture could not be made. */
int demur_application_status(DemurApplication *application);

G_END_DECLS
