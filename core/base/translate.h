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

G_END_DECLS
