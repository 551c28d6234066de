#include "tasks/counts.h"

#include <string.h>

#include "base/error.h"
#include "base/number.h"

gboolean
demur_task_take_count(const char *text, const char *option, size_t *count, GError **error) {
  gint64 number;
  if (text == NULL)
    return TRUE;
  if (!demur_number_parse_int(text, strlen(text), &number) || number < 1 || number > G_MAXINT) {
    demur_error_set(error, DEMUR_ERROR_USAGE, "%s takes a whole number from 1 to %d, not '%s'",
                    option, G_MAXINT, text);
    return FALSE;
  }
  *count = (size_t)number;
  return TRUE;
}
