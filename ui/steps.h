/* The way from an empty workspace to verdicts, as a strip of steps: which are done, and what is
 * next, with the button that does it. It goes when there are verdicts. */
#pragma once

#include "ui/session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DEMUR_TYPE_STEPS (demur_steps_get_type())
G_DECLARE_FINAL_TYPE(DemurSteps, demur_steps, DEMUR, STEPS, GtkBox)

/* Once, when it stands in the window. */
void demur_steps_set_session(DemurSteps *steps, DemurSession *session);

G_END_DECLS
