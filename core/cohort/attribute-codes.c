#include "cohort/attribute-codes.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "cohort/table-text.h"
#include "cohort/table-warnings.h"

/* Least and greatest of values [n], NaN and codes left out. */
static void
range_of_others(const double *values, size_t n, double *least, double *greatest) {
  *least = INFINITY;
  *greatest = -INFINITY;
  for (size_t v = 0; v < n; v++)
    if (!isnan(values[v]) && !demur_table_is_code(values[v])) {
      *least = MIN(*least, values[v]);
      *greatest = MAX(*greatest, values[v]);
    }
}

static void
warn_of(const DemurAttribute *attribute, size_t n_scans, size_t value, GPtrArray *warnings) {
  size_t n = 0;
  for (size_t i = 0; i < n_scans; i++)
    n += attribute->codes[i] == value;
  if (n > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_CODE, attribute->name, attribute->values[value],
                             NULL, n, 0);
}

/* Behind digits in groups of three by one mark (1'234'567), or without any. */
static const char *
skip_whole(const char *p, char *mark) {
  static const char digits[] = "0123456789";
  const size_t first = strspn(p, digits);
  const gboolean may_be_group = first >= 1 && first <= 3 && *p != '0';
  p += first;
  *mark = '\0';
  while (may_be_group && *p != '\0' && strchr(",.' ", *p) != NULL &&
         (*mark == '\0' || *p == *mark) && strspn(p + 1, digits) == 3) {
    *mark = *p;
    p += 4;
  }
  return p;
}

/* Whether it is one number: sign, digits in groups, one decimal mark, a per cent sign. A list (0,1,2; 2, 5),
 * a range or a date is none. */
static gboolean
is_one_number(const char *text) {
  char mark;
  const char *p = text + strspn(text, " ");
  p += *p == '%';
  p += *p == '-' || *p == '+';
  p += strspn(p, " ");
  const char *digits = p;
  p = skip_whole(p, &mark);
  if ((*p == ',' || *p == '.') && *p != mark && g_ascii_isdigit(p[1]))
    p += 1 + strspn(p + 1, "0123456789");
  if (p == digits)
    return FALSE;
  p += strspn(p, " ");
  p += *p == '%';
  return p[strspn(p, " ")] == '\0';
}

/* A number as another country or a spreadsheet writes it, with a fault that a column of numbers would
 * be refused for. */
static gboolean
is_other_number(const char *text) {
  static const struct {
    const char *text;
    char plain;
  } marks[] = {{"\xe2\x80\x99", '\''},
               {"\xc2\xa0", ' '},
               {"\xe2\x80\xaf", ' '},
               {"\xe2\x88\x92", '-'},
               {"\xe2\x80\x89", ' '}};
  g_autoptr(GString) plain = g_string_new(text);
  for (size_t m = 0; m < G_N_ELEMENTS(marks); m++) {
    const char as[] = {marks[m].plain, '\0'};
    g_string_replace(plain, marks[m].text, as, 0);
  }
  const DemurTableField field = {.text = text, .length = strlen(text)};
  return is_one_number(plain->str) && !demur_table_is_missing(&field) &&
         demur_table_number_fault(&field) != NULL;
}

static void
warn_of_notation(const DemurAttribute *attribute, size_t n_scans, GPtrArray *warnings) {
  g_autofree gboolean *other = g_new0(gboolean, attribute->n_values + 1);
  size_t n_other = 0, n_numbers = 0, n_texts = 0, n = 0, first = attribute->n_values;
  for (size_t v = 0; v < attribute->n_values; v++) {
    const char *text = attribute->values[v];
    double value;
    other[v] = is_other_number(text);
    n_other += other[v] ? 1 : 0;
    n_numbers += demur_number_parse(text, strlen(text), &value) ? 1 : 0;
    n_texts += *text != '\0' ? 1 : 0;
  }
  if (n_other == 0 || n_numbers == 0 || 10 * (n_other + n_numbers) < 9 * n_texts)
    return;
  for (size_t i = 0; i < n_scans; i++)
    if (other[attribute->codes[i]]) {
      n++;
      first = MIN(first, attribute->codes[i]);
    }
  if (n > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_OTHER_NUMBERS, attribute->name,
                             attribute->values[first], NULL, n, 0);
}

void
demur_attribute_codes_warn(const DemurAttribute *attributes, size_t n_attributes, size_t n_scans,
                           GPtrArray *warnings) {
  for (size_t a = 0; a < n_attributes; a++) {
    const DemurAttribute *attribute = &attributes[a];
    const size_t n = attribute->n_values;
    warn_of_notation(attribute, n_scans, warnings);
    g_autofree double *values = g_new(double, MAX(n, 1));
    size_t n_numbers = 0, n_texts = 0;
    for (size_t v = 0; v < n; v++) {
      const char *text = attribute->values[v];
      values[v] = NAN;
      if (demur_number_parse(text, strlen(text), &values[v]))
        n_numbers++;
      else
        n_texts += *text != '\0';
    }
    double least, greatest;
    range_of_others(values, n, &least, &greatest);
    if (n_texts > 0 && n_numbers > 0 && least > greatest) { /* texts, and codes for none */
      for (size_t v = 0; v < n; v++)
        if (!isnan(values[v]))
          warn_of(attribute, n_scans, v, warnings);
      continue;
    }
    if (n_numbers < 2 || n_texts * 9 > n_numbers || least > greatest)
      continue;
    for (size_t v = 0; v < n; v++)
      if (!isnan(values[v]) && demur_table_is_code(values[v]) &&
          (values[v] < 0.0 ? least >= 0.0 : values[v] > greatest + (greatest - least)))
        warn_of(attribute, n_scans, v, warnings);
  }
}

void
demur_site_codes_warn(const DemurCohort *cohort, GPtrArray *warnings) {
  const DemurAttribute sites = {.name = (char *)"site",
                                .n_values = cohort->n_sites,
                                .values = cohort->site_names,
                                .codes = cohort->sites};
  demur_attribute_codes_warn(&sites, 1, cohort->n_scans, warnings);
}

/* Whether a patient's identifier may be a code: cheap, since nearly none is. */
static gboolean
may_be_code(const char *text, double *value) {
  return strchr("-89", *text) != NULL && *text != '\0' && strlen(text) <= 7 &&
         demur_number_parse(text, strlen(text), value) && demur_table_is_code(*value);
}

void
demur_patient_codes_warn(const DemurCohort *cohort, GPtrArray *warnings) {
  double least = INFINITY, greatest = -INFINITY, value;
  for (size_t p = 0, looked = 0; p < cohort->n_patients; p++) {
    if (!may_be_code(cohort->patient_ids[p], &value))
      continue;
    for (; looked < cohort->n_patients; looked++) { /* the others' range, once */
      const char *text = cohort->patient_ids[looked];
      double other;
      if (demur_number_parse(text, strlen(text), &other) && !demur_table_is_code(other)) {
        least = MIN(least, other);
        greatest = MAX(greatest, other);
      }
    }
    if (value >= least && value <= greatest)
      continue; /* a number among numbers */
    size_t n = 0;
    for (size_t i = 0; i < cohort->n_scans; i++)
      n += cohort->patients[i] == p;
    if (n > 1 || value < 0.0)
      demur_table_warnings_add(warnings, DEMUR_TABLE_CODE, "patient_id", cohort->patient_ids[p],
                               NULL, n, 0);
  }
}
