#include "tasks/names.h"

#include "base/error.h"
#include "base/shown-text.h"

gboolean
demur_task_check_name(const char *what, const char *name, GError **error) {
  gboolean ok = *name != '\0' && *name != '-' && g_utf8_validate(name, -1, NULL);
  for (const char *p = name; ok && *p != '\0'; p = g_utf8_next_char(p))
    ok = !demur_shown_as_code_point(g_utf8_get_char(p)) && *p != '/';
  if (!ok) {
    g_autofree char *shown = g_strescape(name, NULL);
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "a %s can't be named \"%s\"; give a name without / and control characters that "
                    "does not begin with -",
                    what, shown);
  }
  return ok;
}
