#include "tasks/report-characteristics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "evaluation/releases.h"
#include "features/acquisition.h"

#define FEW_VALUES 6  /* numbers with no more distinct values are listed as texts are */
#define MOST_VALUES 6 /* listed of a text column */
#define MOST_TEXTS 40 /* a column with more is free text, names or an identifier */

static const char *const left_out[] = {DEMUR_COHORT_SHIFT, "years_to_cancer", "years_of_followup"};

typedef struct {
  const DemurCohort *cohort;
  GPtrArray *owned;
  GArray *rows;             /* DemurReportCharacteristic */
  DemurReleases **releases; /* [n_splits] what may be told of each */
} Table;

static gpointer
own(Table *table, gpointer memory) {
  g_ptr_array_add(table->owned, memory);
  return memory;
}

/* "slice thickness, mm" of a reserved column; NULL: the name says it. */
static const char *
title_of(Table *table, const char *name) {
  DemurAcquisitionSubject subject;
  if (!demur_acquisition_find_subject(name, &subject))
    return NULL;
  const char *unit = demur_acquisition_unit(subject);
  return own(table,
             g_strconcat(demur_acquisition_title(subject), *unit != '\0' ? "," : "", unit, NULL));
}

static int
compare_doubles(gconstpointer a, gconstpointer b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Linear between order statistics, as R's type 7. */
static double
quantile(const double *sorted, size_t n, double share) {
  if (n == 0)
    return NAN;
  const double place = share * (double)(n - 1);
  const size_t below = (size_t)place, above = MIN(below + 1, n - 1);
  return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

/* Quartiles by split of values [n_scans], NaN where not recorded. */
static void
add_numbers(Table *table, const char *name, const double *values) {
  const DemurCohort *cohort = table->cohort;
  const size_t n_splits = cohort->n_splits;
  double *quartiles = own(table, g_new(double, 3 * n_splits + 1));
  size_t *counts = own(table, g_new0(size_t, n_splits + 1));
  g_autofree double *some = g_new(double, MAX(cohort->n_scans, 1));
  for (size_t s = 0; s < n_splits; s++) {
    for (size_t i = 0; i < cohort->n_scans; i++)
      if (cohort->splits[i] == s && isfinite(values[i]))
        some[counts[s]++] = values[i];
    qsort(some, counts[s], sizeof *some, compare_doubles);
    for (int q = 0; q < 3; q++)
      quartiles[(size_t)q * n_splits + s] = quantile(some, counts[s], 0.25 * (q + 1));
  }
  const DemurReportCharacteristic row = {.attribute = name,
                                         .title = title_of(table, name),
                                         .counts = counts,
                                         .low = quartiles,
                                         .median = quartiles + n_splits,
                                         .high = quartiles + 2 * n_splits};
  g_array_append_val(table->rows, row);
}

typedef struct {
  size_t value, n;
} Common;

/* Most scans first, ties in the order of the values. */
static int
compare_commonness(gconstpointer a, gconstpointer b) {
  const Common *x = a, *y = b;
  if (x->n != y->n)
    return x->n > y->n ? -1 : 1;
  return (x->value > y->value) - (x->value < y->value);
}

/* The commonest values by split, "not recorded" among them; the rest together. */
static void
add_texts(Table *table, const DemurAttribute *attribute) {
  const DemurCohort *cohort = table->cohort;
  const size_t n_splits = cohort->n_splits, n_values = attribute->n_values;
  g_autofree size_t *by_value = g_new0(size_t, n_values * n_splits + 1);
  g_autofree Common *common = g_new0(Common, n_values + 1);
  for (size_t i = 0; i < cohort->n_scans; i++) {
    by_value[attribute->codes[i] * n_splits + cohort->splits[i]]++;
    common[attribute->codes[i]].n++;
  }
  for (size_t v = 0; v < n_values; v++)
    common[v].value = v;
  qsort(common, n_values, sizeof *common, compare_commonness);
  const size_t listed = n_values <= MOST_VALUES + 1 ? n_values : MOST_VALUES;
  for (size_t k = 0; k < listed + (listed < n_values); k++) {
    size_t *counts = own(table, g_new0(size_t, n_splits + 1));
    const size_t end = k < listed ? k + 1 : n_values; /* the last row: all that are left */
    for (size_t c = k; c < end; c++)
      for (size_t s = 0; s < n_splits; s++)
        counts[s] += by_value[common[c].value * n_splits + s];
    const char *value = attribute->values[common[k].value];
    gboolean *tells = own(table, g_new0(gboolean, n_splits + 1));
    for (size_t s = 0; k < listed && s < n_splits; s++)
      tells[s] = demur_released_way_withholds(
          demur_releases_find(table->releases[s], attribute->name), value);
    const DemurReportCharacteristic row = {
        .attribute = attribute->name,
        .title = title_of(table, attribute->name),
        .value = k == listed      ? own(table, g_strdup_printf("%zu others", n_values - listed))
                 : *value != '\0' ? value
                                  : "not recorded",
        .counts = counts,
        .tells = tells};
    g_array_append_val(table->rows, row);
  }
}

/* The numbers of an attribute's scans (owned); NULL where a value is no number, or they are few. */
static double *
numbers_of(const DemurCohort *cohort, const DemurAttribute *attribute) {
  g_autofree double *of_value = g_new(double, attribute->n_values + 1);
  size_t n_numbers = 0;
  for (size_t v = 0; v < attribute->n_values; v++) {
    const char *text = attribute->values[v];
    of_value[v] = NAN;
    if (*text == '\0')
      continue;
    if (!demur_number_parse(text, strlen(text), &of_value[v]))
      return NULL;
    n_numbers++;
  }
  if (n_numbers <= FEW_VALUES)
    return NULL;
  double *numbers = g_new(double, MAX(cohort->n_scans, 1));
  for (size_t i = 0; i < cohort->n_scans; i++)
    numbers[i] = of_value[attribute->codes[i]];
  return numbers;
}

void
demur_report_characteristics(const DemurCohort *cohort, GPtrArray *owned,
                             DemurReportCohort *facts) {
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(DemurReportCharacteristic));
  g_autofree DemurReleases **releases = g_new0(DemurReleases *, cohort->n_splits + 1);
  Table table = {cohort, owned, rows, releases};
  g_autofree guint32 *of_split = g_new(guint32, MAX(cohort->n_scans, 1));
  for (size_t s = 0; s < cohort->n_splits; s++) {
    size_t n = 0;
    for (size_t i = 0; i < cohort->n_scans; i++)
      if (cohort->splits[i] == s)
        of_split[n++] = (guint32)i;
    releases[s] = demur_releases_new(cohort, of_split, n, NULL);
  }
  if (cohort->risks != NULL)
    add_numbers(&table, "risk", cohort->risks);
  for (size_t a = 0; a < cohort->n_attributes; a++) {
    const DemurAttribute *attribute = &cohort->attributes[a];
    gboolean skipped = FALSE;
    for (size_t k = 0; k < G_N_ELEMENTS(left_out); k++)
      skipped |= strcmp(attribute->name, left_out[k]) == 0;
    if (skipped)
      continue;
    g_autofree double *numbers = numbers_of(cohort, attribute);
    if (numbers != NULL)
      add_numbers(&table, attribute->name, numbers);
    else if (attribute->n_values <= MOST_TEXTS)
      add_texts(&table, attribute);
  }
  for (size_t s = 0; s < cohort->n_splits; s++)
    demur_releases_free(releases[s]);
  facts->n_characteristics = rows->len;
  facts->characteristics = g_array_steal(rows, NULL);
  g_ptr_array_add(owned, (gpointer)facts->characteristics);
}
