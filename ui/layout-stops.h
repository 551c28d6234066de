/* The pages, states of pages and dialogs of the window by name: for pictures and for the check of the layout, which go
 * from one to the next without a person. */
#pragma once

#include "ui/window.h"

G_BEGIN_DECLS

/* NULL-terminated: the pages first, then states of pages and dialogs. */
const char *const *demur_layout_stops(void);
gboolean demur_layout_is_stop(const char *name);
gboolean demur_layout_is_dialog(const char *name);
/* Whether it shows one case. */
gboolean demur_layout_is_of_case(const char *name);

/* Shows the page; of a state or dialog that only some cases have, on the first of them unless keep_case.
 * What it reads arrives later (demur_window_is_settled). */
void demur_layout_show(DemurWindow *window, DemurSession *session, const char *name,
                       gboolean keep_case);

/* A state is entered, a dialog opened, once what the page reads has arrived; a state is left again.
 * FALSE: it is the page itself. */
gboolean demur_layout_enter(DemurWindow *window, const char *name);
void demur_layout_leave(DemurWindow *window, const char *name);

/* The dialog that is open, else the window itself. */
GtkWindow *demur_layout_shown(DemurWindow *window);

G_END_DECLS
