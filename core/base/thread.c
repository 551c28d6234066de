#include "base/thread.h"

#include "base/error.h"

GThread *
demur_thread_new(const char *name, GThreadFunc func, gpointer data, GError **error) {
  g_autoptr(GError) cause = NULL;
  GThread *thread = g_thread_try_new(name, func, data, &cause);
  if (thread == NULL)
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the system makes no more threads (%s); end other programs, then try again",
                    cause->message);
  return thread;
}
