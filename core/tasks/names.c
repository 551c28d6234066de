#include "tasks/names.h"

#include <string.h>

#include "base/error.h"
#include "base/shown-text.h"

gboolean
demur_task_check_name(const char *what, const char *name, GError **error) {
  const gboolean ok =
      *name != '\0' && *name != '-' && strchr(name, '/') == NULL && demur_is_shown_as_it_is(name);
  if (!ok) {
    g_autofree char *shown = g_strescape(name, NULL);
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "a %s can't be named \"%s\"; give a name without / and control characters that "
                    "does not begin with -",
                    what, shown);
  }
  return ok;
}

gboolean
demur_task_check_label(const char *what, const char *name, GError **error) {
  if (name == NULL || (*name != '\0' && demur_is_shown_as_it_is(name)))
    return TRUE;
  g_autofree char *shown = demur_shown_text(name);
  demur_error_set(error, DEMUR_ERROR_USAGE,
                  "a %s can't be called \"%s\"; give it a name without control characters", what,
                  shown);
  return FALSE;
}
