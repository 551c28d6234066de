/* A thread beside the caller's, where the system may make none: g_thread_new ends the process there. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* As g_thread_try_new. DEMUR_ERROR_STATE where the system makes no more (a limit of the user's, the service's or the
 * container's): the error says what to do. */
GThread *demur_thread_new(const char *name, GThreadFunc func, gpointer data,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
