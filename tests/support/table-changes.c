#include "support/table-changes.h"

#include <string.h>

/* The start of a random line, and its length with its end. */
static gssize
pick_line(const GString *text, DemurRandom *random, gsize *length) {
  gsize at = demur_random_below(random, text->len);
  while (at > 0 && text->str[at - 1] != '\n' && text->str[at - 1] != '\r')
    at--;
  gsize end = at;
  while (end < text->len && text->str[end] != '\n' && text->str[end] != '\r')
    end++;
  *length = MIN(end + 1, text->len) - at;
  return (gssize)at;
}

static void
change_row(GString *text, DemurRandom *random) {
  gsize length;
  gssize line = pick_line(text, random, &length);
  g_autofree char *row = g_strndup(text->str + line, length);
  const guint64 what = demur_random_below(random, 3);
  if (what != 1)
    g_string_erase(text, line, (gssize)length);
  if (what == 0)
    return;
  if (what == 2 && text->len > 0)
    line = pick_line(text, random, &length);
  g_string_insert(text, MIN(line, (gssize)text->len), row);
}

void
demur_test_change_encoding(GString *text, DemurRandom *random) {
  static const char *const encodings[] = {"UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "LATIN1"};
  if (demur_random_below(random, 2) == 0)
    g_string_insert(text, (gssize)demur_random_below(random, text->len), "\xc3\xa9");
  gsize length;
  g_autofree char *other = g_convert(text->str, (gssize)text->len,
                                     encodings[demur_random_below(random, G_N_ELEMENTS(encodings))],
                                     "UTF-8", NULL, &length, NULL);
  if (other == NULL) /* the text was no UTF-8 any more */
    return;
  g_string_truncate(text, 0);
  g_string_append_len(text, other, (gssize)length);
}

void
demur_test_change_text(GString *text, DemurRandom *random) {
  static const char *const pieces[] = {",",
                                       ";",
                                       "\t",
                                       "\"",
                                       "\"\"",
                                       "\n",
                                       "\r\n",
                                       "\r",
                                       " ",
                                       "\xc2\xa0",
                                       "'",
                                       "\xff",
                                       "\xc3",
                                       "\xef\xbb\xbf",
                                       "\xe2\x80\x8b",
                                       ",,,,",
                                       "\n\n",
                                       "|",
                                       "\xe2\x80\xae",
                                       "%"};
  const gssize at = (gssize)demur_random_below(random, text->len);
  switch (demur_random_below(random, 6)) {
  case 0: /* something between */
    g_string_insert(text, at, pieces[demur_random_below(random, G_N_ELEMENTS(pieces))]);
    return;
  case 1: /* what held it together is gone, or another */
    for (gsize i = (gsize)at; i < text->len; i++)
      if (strchr(",;\t\"\n\r", text->str[i]) != NULL) {
        if (demur_random_below(random, 2) == 0)
          g_string_erase(text, (gssize)i, 1);
        else
          text->str[i] = ",;\t\"\n\r "[demur_random_below(random, 7)];
        return;
      }
    return;
  case 2: /* cut off */
    g_string_truncate(text, (gsize)at);
    return;
  default: /* a row gone, twice or elsewhere */
    change_row(text, random);
  }
}

int
demur_test_number_in(const char *text) {
  int number = -1;
  for (const char *p = text; p != NULL && *p != '\0'; p++)
    if (g_ascii_isdigit(*p))
      number = MAX(number, 0) * 10 + (*p - '0');
  return number;
}
