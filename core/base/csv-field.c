#include "base/csv-field.h"

#include <string.h>

void
demur_csv_append(GString *line, const char *text) {
  const size_t length = strlen(text);
  if (length == 0 ||
      (strpbrk(text, ",;\t\"\r\n") == NULL && *text != ' ' && text[length - 1] != ' ')) {
    g_string_append(line, text);
    return;
  }
  g_string_append_c(line, '"');
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '"')
      g_string_append_c(line, '"');
    g_string_append_c(line, *p);
  }
  g_string_append_c(line, '"');
}
