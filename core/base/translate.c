#include "base/translate.h"

#include <string.h>

char *
demur_translate_digits(DemurTranslate translate, const char *digits) {
  /* Translators: this number as it is written in your language; its marks are taken from here. */
  const char *sample = demur_translate(translate, N_("1,337.5"));
  const size_t length = strlen(sample);
  char *text = g_strdup(digits), *point = strchr(text, '.');
  if (point != NULL && length > 1)
    *point = sample[length - 2];
  return text;
}

char *
demur_translate_number(DemurTranslate translate, const char *format, double value) {
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  return demur_translate_digits(translate, g_ascii_formatd(digits, sizeof digits, format, value));
}

#define NO_BREAK "\u00a0"

char *
demur_translate_day(DemurTranslate translate, const char *iso) {
  static const char *const months[] = {N_("January"), N_("February"), N_("March"),
                                       N_("April"),   N_("May"),      N_("June"),
                                       N_("July"),    N_("August"),   N_("September"),
                                       N_("October"), N_("November"), N_("December")};
  for (int i = 0; i < 10; i++) {
    const gboolean dash = i == 4 || i == 7;
    if (dash ? iso[i] != '-' : !g_ascii_isdigit(iso[i]))
      return g_strdup(iso);
  }
  const int month = (iso[5] - '0') * 10 + iso[6] - '0', day = (iso[8] - '0') * 10 + iso[9] - '0';
  if (month < 1 || month > 12)
    return g_strdup(iso);
  /* Translators: what stands behind the day of a date (a full stop in German), or a blank. */
  const char *dot = demur_translate(translate, N_("(after the day of a date)"));
  return g_strdup_printf("%d%s" NO_BREAK "%s" NO_BREAK "%.4s", day, *dot == '(' ? "" : dot,
                         demur_translate(translate, months[month - 1]), iso);
}
