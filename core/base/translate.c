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
