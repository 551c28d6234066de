/* Words for people, in their language: who shows them brings the translation; nothing below knows
 * of a locale. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The translation of a text that is marked with N_ (borrowed, for ever); NULL stands for English.
 */
typedef const char *(*DemurTranslate)(const char *text);

/* A language that pages are written in; none (NULL) is English. */
typedef struct {
  const char *code; /* "de" */
  DemurTranslate translate;
} DemurLanguage;

#ifndef N_
#define N_(text) (text) /* marks a text for po/; every file that uses it stands in po/POTFILES */
#endif

static inline const char *
demur_translate(DemurTranslate translate, const char *text) {
  return translate != NULL ? translate(text) : text;
}

/* The same for a format of printf, whose conversions the translation keeps. */
static inline const char *demur_format(DemurTranslate translate, const char *format)
    G_GNUC_FORMAT(2);
static inline const char *
demur_format(DemurTranslate translate, const char *format) {
  return demur_translate(translate, format);
}

/* An ISO 8601 date or date and time as "27 November 2026", "27. November 2026" (owned); the text itself where it is
 * something else. */
char *demur_translate_day(DemurTranslate translate, const char *iso);

/* digits ("0.0134") with the decimal mark of the reader's language (owned); no marks between thousands. */
char *demur_translate_digits(DemurTranslate translate, const char *digits);
/* The same of value by a format of one double ("%.3g") that gives at most G_ASCII_DTOSTR_BUF_SIZE - 1 digits. */
char *demur_translate_number(DemurTranslate translate, const char *format, double value);

G_END_DECLS
