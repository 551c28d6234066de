/* Numbers as people read them in print: ".031", "−.013", "12.9 %", "1,337", "–" where undefined. No
 * locale. Every text is owned by the caller. Blanks inside a number are no-break spaces. */
#pragma once

#include "base/translate.h"

G_BEGIN_DECLS

#define DEMUR_TEXT_UNDEFINED "–"

/* How the numbers below are written from now on by the calling thread: the decimal mark and what
 * groups thousands. NULL: the report's own way (".95", "1,337"), which files and pages keep. */
void demur_text_marks_use(const char *point, const char *group);

/* The same by "1,337.5" as the reader's language writes it. */
void demur_text_marks_use_sample(const char *sample);

/* From now on the calling thread writes in that language: numbers, and the words of charts. NULL: in
 * the report's own way. For the time that a page is worded and drawn. */
void demur_text_language_use(const DemurLanguage *language);

/* value in a format of printf ("%.2f"), with the decimal mark in use (owned). */
char *demur_text_formatted(const char *format, double value);

/* Without a leading zero, with a true minus sign; "–" for a non-finite value. decimals 0 to 9. */
char *demur_text_decimal(double value, int decimals);

/* With as many decimals as show n_digits digits that are not leading zeros, at least that many
 * decimals and 9 at most (".412", ".00123"): for thresholds, which may be tiny. */
char *demur_text_significant(double value, int n_digits);

/* demur_text_decimal with a sign before positive values too ("+.004"). */
char *demur_text_signed(double value, int decimals);

/* share 0.129 -> "12.9 %", 0.9 -> "90.0 %"; exactly 0 and 1 -> "0 %", "100 %". */
char *demur_text_percent(double share, int decimals);

/* A coverage that was asked for, with no more decimals than it needs, two at most: "90 %", "92.5
 * %". */
char *demur_text_coverage(double coverage);

/* 1337 -> "1,337". */
char *demur_text_count(guint64 n);

/* "1 scan", "1,337 scans". */
char *demur_text_counted(guint64 n, const char *one, const char *many);

/* "1 year", "2.5 years"; owned. */
char *demur_text_years(double years);
/* The same in the reader's words. */
char *demur_text_years_in(double years, DemurTranslate translate);

/* ".031 ± .004"; the mean alone where sd is undefined. */
char *demur_text_mean_sd(double mean, double sd, int decimals);

/* "S-BCE₂" .. for people; measure is a DemurMeasure, n_classes > 2 names the multi-class kind. */
const char *demur_text_measure(int measure, size_t n_classes);

/* The text itself, "not recorded" for none; borrowed. */
const char *demur_text_recorded(const char *text);

/* A digest's first 12 hexadecimal digits in groups of four: "9f2c 77a0 41d3"; "not recorded" for
 * NULL. */
char *demur_text_digest(const char *digest);

/* An ISO 8601 date or date and time as "27 November 2026"; the text itself where it is something
 * else. In the reader's words: demur_translate_day. */
char *demur_text_date(const char *iso);

G_END_DECLS
