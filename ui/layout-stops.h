/* The pages and dialogs of the window by name: for pictures and for the check of the layout, which go
 * from one to the next without a person. */
#pragma once

#include "ui/window.h"

G_BEGIN_DECLS

/* NULL-terminated: the pages first, then the dialogs. */
const char *const *demur_layout_stops(void);
gboolean demur_layout_is_stop(const char *name);
gboolean demur_layout_is_dialog(const char *name);
/* Whether it shows one case. */
gboolean demur_layout_is_of_case(const char *name);

/* Shows the page, or opens the dialog on its page; of a dialog that only some cases have, on the first
 * of them unless keep_case. What it reads arrives later (demur_window_is_settled). */
void demur_layout_show(DemurWindow *window, DemurSession *session, const char *name,
                       gboolean keep_case);

/* The dialog that is open, else the window itself. */
GtkWindow *demur_layout_shown(DemurWindow *window);

G_END_DECLS
