#include "base/shown-text.h"

#include <string.h>

gboolean
demur_shown_as_code_point(gunichar c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x061c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

gboolean
demur_is_shown_as_it_is(const char *text) {
  gboolean is = g_utf8_validate(text, -1, NULL);
  for (const char *p = text; is && *p != '\0'; p = g_utf8_next_char(p))
    is = !demur_shown_as_code_point(g_utf8_get_char(p));
  return is;
}

/* Those in kept stay. */
static char *
shown(const char *text, const char *kept, gboolean is_json) {
  if (text == NULL)
    return NULL;
  GString *line = g_string_sized_new(strlen(text));
  while (*text != '\0') {
    const gunichar c = g_utf8_get_char_validated(text, -1);
    if (c == (gunichar)-1 || c == (gunichar)-2) {
      g_string_append_printf(line, "[x%02X]", (guint)(guchar)*text++);
      continue;
    }
    const char *next = g_utf8_next_char(text);
    if (demur_shown_as_code_point(c) && strchr(kept, (int)c) == NULL)
      g_string_append_printf(line, is_json ? "\\u%04x" : "[U+%04X]", c);
    else
      g_string_append_len(line, text, next - text);
    text = next;
  }
  return g_string_free(line, FALSE);
}

char *
demur_shown_text(const char *text) {
  return shown(text, "", FALSE);
}

char *
demur_shown_lines(const char *text) {
  return shown(text, "\n\t", FALSE);
}

char *
demur_shown_json(const char *json) {
  return shown(json, "\n", TRUE);
}
