#include "evaluation/sample.h"

#include <math.h>
#include <string.h>

static const char *const unit_names[] = {"scan", "patient", "site"};

const char *
demur_unit_name(DemurUnit unit) {
  return unit_names[unit];
}

gboolean
demur_unit_from_name(const char *name, DemurUnit *unit, GError **error) {
  for (size_t i = 0; i < G_N_ELEMENTS(unit_names); i++)
    if (strcmp(name, unit_names[i]) == 0) {
      *unit = (DemurUnit)i;
      return TRUE;
    }
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
              "'%s' can't be resampled; there are scan, patient and site", name);
  return FALSE;
}

static int
compare_rows(gconstpointer a, gconstpointer b, gpointer data) {
  const DemurCohort *cohort = data;
  const guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
  const double x = demur_cohort_confidence_risk(cohort, i),
               y = demur_cohort_confidence_risk(cohort, j);
  return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

/* Names the value by its place among those met so far. */
static guint32
dense_code(GHashTable *codes, guint64 value) {
  gpointer found;
  if (g_hash_table_lookup_extended(codes, &value, NULL, &found))
    return GPOINTER_TO_UINT(found);
  const guint code = g_hash_table_size(codes);
  g_hash_table_insert(codes, g_memdup2(&value, sizeof value), GUINT_TO_POINTER(code));
  return code;
}

DemurSample *
demur_sample_new(const DemurCohort *cohort, const guint32 *rows, size_t n_rows, const char *split,
                 GError **error) {
  for (size_t i = 0; i < n_rows; i++)
    if (cohort->labels[rows[i]] == DEMUR_NO_LABEL) {
      g_set_error(
          error, DEMUR_ERROR, DEMUR_ERROR_STATE,
          "scan %s of split '%s' has no label, which an evaluation needs; put scans without "
          "follow-up into a split of their own",
          cohort->scan_ids[rows[i]], split);
      return NULL;
    }
  DemurSample *s = g_new0(DemurSample, 1);
  s->n = n_rows;
  s->n_classes = cohort->n_classes;
  s->top_label = cohort->n_classes > 2;
  s->rows = g_memdup2(rows, n_rows * sizeof *rows);
  g_qsort_with_data(s->rows, (int)n_rows, sizeof *s->rows, compare_rows, (gpointer)cohort);
  s->risks = g_new(double, n_rows);
  s->labels = g_new(double, n_rows);
  s->differences = g_new(double, n_rows);
  s->confidences = g_new(double, n_rows);
  s->classes = g_new(gint32, n_rows);
  s->patients = g_new(guint32, n_rows);
  s->sites = g_new(guint32, n_rows);
  g_autoptr(GHashTable) sites = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  g_autoptr(GHashTable) patients = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  for (size_t i = 0; i < n_rows; i++) {
    const guint32 row = s->rows[i];
    s->risks[i] = demur_cohort_confidence_risk(cohort, row);
    s->labels[i] = demur_cohort_confidence_label(cohort, row);
    s->differences[i] = s->labels[i] - s->risks[i];
    s->confidences[i] = s->top_label ? s->risks[i] : fmax(s->risks[i], 1.0 - s->risks[i]);
    s->classes[i] = cohort->labels[row];
    s->sites[i] = dense_code(sites, cohort->sites[row]);
    s->patients[i] =
        dense_code(patients, (guint64)cohort->sites[row] << 32 | cohort->patients[row]);
  }
  s->n_sites = g_hash_table_size(sites);
  s->n_patients = g_hash_table_size(patients);
  return s;
}

void
demur_sample_free(DemurSample *s) {
  if (s == NULL)
    return;
  g_free(s->rows);
  g_free(s->risks);
  g_free(s->labels);
  g_free(s->differences);
  g_free(s->confidences);
  g_free(s->classes);
  g_free(s->patients);
  g_free(s->sites);
  g_free(s);
}

size_t
demur_sample_n_units(const DemurSample *s, DemurUnit unit) {
  return unit == DEMUR_UNIT_SCAN ? s->n : unit == DEMUR_UNIT_PATIENT ? s->n_patients : s->n_sites;
}

void
demur_sample_resample(const DemurSample *s, DemurUnit unit, DemurRandom random, guint32 *counts) {
  const size_t n_units = demur_sample_n_units(s, unit);
  if (unit == DEMUR_UNIT_SCAN) {
    memset(counts, 0, s->n * sizeof *counts);
    for (size_t i = 0; i < n_units; i++)
      counts[demur_random_below(&random, n_units)]++;
    return;
  }
  g_autofree guint32 *unit_counts = g_new0(guint32, MAX(n_units, 1));
  for (size_t i = 0; i < n_units; i++)
    unit_counts[demur_random_below(&random, n_units)]++;
  const guint32 *unit_of = unit == DEMUR_UNIT_PATIENT ? s->patients : s->sites;
  for (size_t i = 0; i < s->n; i++)
    counts[i] = unit_counts[unit_of[i]];
}
