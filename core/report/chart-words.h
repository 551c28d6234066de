/* The words that charts bring with them (axes, headings of tables, descriptions), so that a window
 * can show them in its reader's language. Reports, files and pages are English: nothing is
 * translated but between two calls of demur_chart_words_use, and on the thread that called it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef const char *(*DemurChartTranslate)(const char *text);

/* From now on this thread's charts speak by translate, which returns text that lives on and has the
 * same conversions as its argument; NULL: English. Returns what was in use before. */
DemurChartTranslate demur_chart_words_use(DemurChartTranslate translate);

/* text in the language in use. */
const char *demur_chart_word(const char *text) G_GNUC_FORMAT(1);

/* Whether an attribute's value is a word of the language ("female" of sex, or none at all: "not
 * recorded"), which demur_chart_word knows, and no hospital's or maker's name. */
gboolean demur_chart_is_word(const char *attribute, const char *value);

/* Marks a text that goes through demur_chart_word later. */
#define DEMUR_CHART_WORD(text) (text)

G_END_DECLS
