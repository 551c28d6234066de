#include "report/format.h"

#include "evaluation/evaluation.h"
#include "report/chart-words.h"

#include <math.h>
#include <string.h>

#define MINUS "\xe2\x88\x92" /* U+2212 */
#define NO_BREAK "\xc2\xa0"  /* U+00A0 */

/* The reader's marks on this thread; "" is the report's own way. Each is a null-terminated text. */
static _Thread_local char reader_point[8], reader_group[8];

void
demur_text_marks_use(const char *point, const char *group) {
  g_strlcpy(reader_point, point != NULL ? point : "", sizeof reader_point);
  g_strlcpy(reader_group, group != NULL ? group : "", sizeof reader_group);
}

void
demur_text_marks_use_sample(const char *sample) {
  const size_t length = strlen(sample);
  g_autofree char *point = g_strndup(length > 2 ? sample + length - 2 : ".", 1);
  /* What stands between 1 and 337, of any length (a thin space has three bytes). */
  const char *rest = strstr(sample, "337");
  g_autofree char *group = rest != NULL ? g_strndup(sample + 1, (size_t)(rest - sample - 1)) : NULL;
  const gboolean usual = strcmp(sample, "1,337.5") == 0;
  demur_text_marks_use(usual ? NULL : point, usual ? NULL : group);
}

void
demur_text_language_use(const DemurLanguage *language) {
  const DemurTranslate translate = language != NULL ? language->translate : NULL;
  demur_text_marks_use_sample(demur_translate(translate, "1,337.5")); /* ui/words.c marks it */
  demur_chart_words_use(translate);
}

/* digits with the reader's decimal mark (owned). */
static char *
marked(const char *digits) {
  const char *point = strchr(digits, '.');
  if (point == NULL || *reader_point == '\0')
    return g_strdup(digits);
  g_autofree char *before = g_strndup(digits, (size_t)(point - digits));
  return g_strconcat(before, reader_point, point + 1, NULL);
}

char *
demur_text_formatted(const char *format, double value) {
  char digits[64];
  return marked(g_ascii_formatd(digits, sizeof digits, format, value));
}

static char *
fixed(double value, int decimals, const char *plus, gboolean leading_zero) {
  if (!isfinite(value))
    return g_strdup(DEMUR_TEXT_UNDEFINED);
  char format[8], digits[64];
  g_snprintf(format, sizeof format, "%%.%df", CLAMP(decimals, 0, 9));
  /* Numbers beyond any measure here are cut to what the buffer holds. */
  g_ascii_formatd(digits, sizeof digits, format, fmin(fabs(value), 1e30));
  const gboolean zero = strspn(digits, "0.") == strlen(digits);
  const char *body = digits;
  if (!leading_zero && *reader_point == '\0' && decimals > 0 && digits[0] == '0')
    body++;
  g_autofree char *text = marked(body);
  return g_strconcat(zero ? "" : value < 0 ? MINUS : plus, text, NULL);
}

char *
demur_text_decimal(double value, int decimals) {
  return fixed(value, decimals, "", FALSE);
}

char *
demur_text_significant(double value, int n_digits) {
  const double size = fabs(value);
  if (!isfinite(value) || size == 0 || size >= 0.1)
    return demur_text_decimal(value, n_digits);
  return demur_text_decimal(value, MIN(9, n_digits - 1 - (int)floor(log10(size))));
}

char *
demur_text_signed(double value, int decimals) {
  return fixed(value, decimals, "+", FALSE);
}

char *
demur_text_percent(double share, int decimals) {
  if (!isfinite(share))
    return g_strdup(DEMUR_TEXT_UNDEFINED);
  /* None and all are exact. */
  g_autofree char *digits = fixed(100 * share, share == 0 || share == 1 ? 0 : decimals, "", TRUE);
  return g_strconcat(digits, NO_BREAK "%", NULL);
}

char *
demur_text_coverage(double coverage) {
  for (int decimals = 0; decimals < 2; decimals++) {
    const double scaled = 100 * coverage * pow(10, decimals);
    if (fabs(scaled - round(scaled)) < 1e-6)
      return demur_text_percent(coverage, decimals);
  }
  return demur_text_percent(coverage, 2);
}

char *
demur_text_count(guint64 n) {
  g_autofree char *digits = g_strdup_printf("%" G_GUINT64_FORMAT, n);
  const size_t length = strlen(digits);
  GString *text = g_string_new(NULL);
  for (size_t i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0)
      g_string_append(text, *reader_group != '\0' ? reader_group : ",");
    g_string_append_c(text, digits[i]);
  }
  return g_string_free(text, FALSE);
}

char *
demur_text_counted(guint64 n, const char *one, const char *many) {
  g_autofree char *count = demur_text_count(n);
  return g_strconcat(count, NO_BREAK, n == 1 ? one : many, NULL);
}

char *
demur_text_years(double years) {
  return demur_text_years_in(years, NULL);
}

char *
demur_text_years_in(double years, DemurTranslate translate) {
  g_autofree char *number = demur_text_formatted("%g", years);
  return g_strconcat(number, " ",
                     demur_translate(translate, years == 1.0 ? N_("year") : N_("years")), NULL);
}

char *
demur_text_mean_sd(double mean, double sd, int decimals) {
  g_autofree char *left = demur_text_decimal(mean, decimals);
  if (!isfinite(mean) || !isfinite(sd))
    return g_steal_pointer(&left);
  g_autofree char *right = demur_text_decimal(sd, decimals);
  return g_strconcat(left, NO_BREAK "±" NO_BREAK, right, NULL);
}

const char *
demur_text_measure(int measure, size_t n_classes) {
  return demur_measure_symbol((DemurMeasure)measure, n_classes);
}

char *
demur_text_digest(const char *digest) {
  if (!digest)
    return g_strdup("not recorded");
  if (strlen(digest) < 12)
    return g_strdup(digest);
  return g_strdup_printf("%.4s %.4s %.4s", digest, digest + 4, digest + 8);
}

char *
demur_text_date(const char *iso) {
  return demur_translate_day(NULL, iso);
}

const char *
demur_text_recorded(const char *text) {
  return text && *text ? text : "not recorded";
}
