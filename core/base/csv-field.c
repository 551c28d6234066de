#include "base/csv-field.h"

#include <string.h>

#include "base/number.h"

static gint raw_cells; /* atomic */

void
demur_csv_use_raw_cells(void) {
  g_atomic_int_set(&raw_cells, 1);
}

/* Whether a spreadsheet would run a text that begins so. */
static gboolean
begins_formula(const char *text) {
  static const char *const full_width[] = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
                                           "\xef\xbc\xa0"};
  if (*text == '\t' || *text == '\r' || *text == '\n')
    return TRUE;
  text += strspn(text, " \t\r\n");
  if (*text != '\0' && strchr("=+-@", *text) != NULL)
    return TRUE;
  for (size_t i = 0; i < G_N_ELEMENTS(full_width); i++)
    if (g_str_has_prefix(text, full_width[i]))
      return TRUE;
  return FALSE;
}

gboolean
demur_csv_is_guarded(const char *text) {
  return *text == '\'' && begins_formula(text + strspn(text, "'"));
}

void
demur_csv_append(GString *line, const char *text) {
  const size_t length = strlen(text);
  double number;
  const gboolean guard = !g_atomic_int_get(&raw_cells) &&
                         begins_formula(text + strspn(text, "'")) &&
                         (*text != '-' || !demur_number_parse(text, length, &number));
  if (length == 0 ||
      (strpbrk(text, ",;\t\"\r\n") == NULL && *text != ' ' && text[length - 1] != ' ')) {
    if (guard)
      g_string_append_c(line, '\'');
    g_string_append(line, text);
    return;
  }
  g_string_append(line, guard ? "\"'" : "\"");
  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '"')
      g_string_append_c(line, '"');
    g_string_append_c(line, *p);
  }
  g_string_append_c(line, '"');
}
