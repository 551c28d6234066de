/* Translated words, and the words of the outside contract as people read them. */
#pragma once

#include <glib.h>
#include <libintl.h>

#include "base/translate.h"
#include "selector/verdict.h"

G_BEGIN_DECLS

#define DEMUR_UI_DOMAIN "demur"
#define _(text) dgettext(DEMUR_UI_DOMAIN, (text))
#define ngettext_(one, many, n) dngettext(DEMUR_UI_DOMAIN, (one), (many), (n))

/* What a scan shows: its verdict where that holds (the first ones are DemurVerdict), that it no
 * longer does, or that it never had one. */
typedef enum {
  DEMUR_SHOWN_ACCEPTED = DEMUR_VERDICT_ACCEPTED,
  DEMUR_SHOWN_RED_FLAG = DEMUR_VERDICT_RED_FLAG,
  DEMUR_SHOWN_NOT_ELIGIBLE = DEMUR_VERDICT_NOT_ELIGIBLE,
  DEMUR_SHOWN_NO_SCORE = DEMUR_VERDICT_NO_SCORE,
  DEMUR_SHOWN_NOT_TUNED = DEMUR_VERDICT_NOT_TUNED,
  DEMUR_SHOWN_FAILED = DEMUR_VERDICT_FAILED,
  DEMUR_SHOWN_OUT_OF_DATE = DEMUR_N_VERDICTS,
  DEMUR_SHOWN_NOT_ASSESSED,
  DEMUR_N_SHOWN,
} DemurShown;

/* What a verdict shows, as things are now. */
DemurShown demur_shown_of_verdict(DemurVerdict verdict, DemurOutdated why);

/* text in the reader's language: for what is worded below the window (words/words.h,
 * tasks/warnings.h). */
const char *demur_words_translate(const char *text);

/* Never colour alone: word, glyph and style class (colour) of a verdict. Translated, borrowed. */
const char *demur_shown_title(DemurShown shown);
const char *demur_shown_glyph(DemurShown shown);
const char *demur_shown_style(DemurShown shown);

/* Label 0 or 1 of a cancer cohort for people; "label N" where there are more. Owned. */
char *demur_label_title(int label, gsize n_classes);

/* Years and sex as in a list ("67 F"), owned; "–" where neither is recorded. */
char *demur_age_sex_text(int age, const char *sex);

G_END_DECLS
