/* Translated words, and the words of the outside contract as people read them. */
#pragma once

#include <glib.h>
#include <libintl.h>

#include "base/translate.h"
#include "tasks/scan.h"

G_BEGIN_DECLS

#define DEMUR_UI_DOMAIN "demur"
#define _(text) dgettext(DEMUR_UI_DOMAIN, (text))
#define ngettext_(one, many, n) dngettext(DEMUR_UI_DOMAIN, (one), (many), (n))

/* From now on this thread writes numbers in the reader's way ("1.337,5"), or, where it draws what
 * is printed or written to a file, in the report's own. */
void demur_words_numbers(gboolean readers);

/* text in the reader's language: for what is worded below the window (words/words.h,
 * tasks/warnings.h). */
const char *demur_words_translate(const char *text);

/* The language that the window speaks; NULL: English. */
const DemurLanguage *demur_words_language(void);

/* An error's message in the reader's language (owned). */
char *demur_words_error(const GError *error);

/* Never colour alone: word, glyph and style class (colour) of a verdict. Translated, borrowed. */
const char *demur_shown_title(DemurShown shown);
const char *demur_shown_glyph(DemurShown shown);
const char *demur_shown_style(DemurShown shown);

/* Label 0 or 1 of a cancer cohort for people; "label N" where there are more. Owned. */
char *demur_label_title(int label, gsize n_classes);

/* Years and sex as in a list ("67 F"), owned; "–" where neither is recorded. */
char *demur_age_sex_text(int age, const char *sex);

G_END_DECLS
