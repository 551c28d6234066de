#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cohort/cohort.h"
#include "cohort/intern.h"

typedef struct {
  char *name;
  DemurIntern texts;
  GArray *codes; /* guint32; shorter than the scans where the last ones have no text */
} Column;

struct DemurCohortBuilder {
  DemurCohort *cohort;
  DemurIntern scans, patients, sites, splits;
  GArray *scan_codes, *patient_codes, *site_codes, *split_codes; /* guint32 */
  GArray *labels;                                                /* gint32 */
  GArray *probabilities;                                         /* double [K], or the risk */
  GArray *yearly;                                                /* double [DEMUR_N_YEARS] */
  GArray *embeddings;                                            /* float [d] */
  gboolean any_yearly;
  GPtrArray *columns;
  guint next_column; /* attributes mostly come in the same order for every scan */
  size_t n_scans;
};

static void
column_free(gpointer data) {
  Column *column = data;
  g_free(column->name);
  demur_intern_clear(&column->texts);
  g_array_unref(column->codes);
  g_free(column);
}

DemurCohortBuilder *
demur_cohort_builder_new(size_t n_classes, size_t embedding_width) {
  g_return_val_if_fail(n_classes >= 2, NULL);
  DemurCohortBuilder *builder = g_new0(DemurCohortBuilder, 1);
  builder->cohort = demur_cohort_alloc();
  builder->cohort->n_classes = n_classes;
  builder->cohort->embedding_width = embedding_width;
  demur_intern_init(&builder->scans, builder->cohort);
  demur_intern_init(&builder->patients, builder->cohort);
  demur_intern_init(&builder->sites, builder->cohort);
  demur_intern_init(&builder->splits, builder->cohort);
  builder->scan_codes = g_array_new(FALSE, FALSE, sizeof(guint32));
  builder->patient_codes = g_array_new(FALSE, FALSE, sizeof(guint32));
  builder->site_codes = g_array_new(FALSE, FALSE, sizeof(guint32));
  builder->split_codes = g_array_new(FALSE, FALSE, sizeof(guint32));
  builder->labels = g_array_new(FALSE, FALSE, sizeof(gint32));
  builder->probabilities = g_array_new(FALSE, FALSE, sizeof(double));
  builder->yearly = g_array_new(FALSE, FALSE, sizeof(double));
  builder->embeddings = g_array_new(FALSE, FALSE, sizeof(float));
  builder->columns = g_ptr_array_new_with_free_func(column_free);
  return builder;
}

void
demur_cohort_builder_free(DemurCohortBuilder *builder) {
  if (builder == NULL)
    return;
  demur_intern_clear(&builder->scans);
  demur_intern_clear(&builder->patients);
  demur_intern_clear(&builder->sites);
  demur_intern_clear(&builder->splits);
  g_array_unref(builder->scan_codes);
  g_array_unref(builder->patient_codes);
  g_array_unref(builder->site_codes);
  g_array_unref(builder->split_codes);
  g_array_unref(builder->labels);
  g_array_unref(builder->probabilities);
  g_array_unref(builder->yearly);
  g_array_unref(builder->embeddings);
  g_ptr_array_unref(builder->columns);
  demur_cohort_unref(builder->cohort);
  g_free(builder);
}

size_t
demur_cohort_builder_add(DemurCohortBuilder *builder, const char *scan_id, const char *patient_id,
                         const char *site, const char *split, int label,
                         const double *probabilities, const double *yearly,
                         const float *embedding) {
  const DemurCohort *cohort = builder->cohort;
  guint32 code = demur_intern_add(&builder->scans, scan_id, strlen(scan_id), NULL);
  g_array_append_val(builder->scan_codes, code);
  code = demur_intern_add(&builder->patients, patient_id, strlen(patient_id), NULL);
  g_array_append_val(builder->patient_codes, code);
  code = demur_intern_add(&builder->sites, site, strlen(site), NULL);
  g_array_append_val(builder->site_codes, code);
  code = demur_intern_add(&builder->splits, split, strlen(split), NULL);
  g_array_append_val(builder->split_codes, code);
  const gint32 y = label;
  g_array_append_val(builder->labels, y);
  g_array_append_vals(builder->probabilities, probabilities,
                      cohort->n_classes == 2 ? 1 : (guint)cohort->n_classes);
  for (size_t k = 0; k < DEMUR_N_YEARS; k++) {
    const double value = yearly != NULL ? yearly[k] : NAN;
    builder->any_yearly |= !isnan(value);
    g_array_append_val(builder->yearly, value);
  }
  if (cohort->embedding_width > 0)
    g_array_append_vals(builder->embeddings, embedding, (guint)cohort->embedding_width);
  builder->next_column = 0;
  return builder->n_scans++;
}

static gboolean
is_named(const DemurCohortBuilder *builder, guint c, const char *name) {
  return strcmp(((const Column *)builder->columns->pdata[c])->name, name) == 0;
}

static Column *
find_column(DemurCohortBuilder *builder, const char *name) {
  guint c = builder->next_column;
  if (c >= builder->columns->len || !is_named(builder, c, name))
    for (c = 0; c < builder->columns->len && !is_named(builder, c, name); c++)
      ;
  builder->next_column = c + 1;
  if (c < builder->columns->len)
    return builder->columns->pdata[c];
  Column *column = g_new0(Column, 1);
  column->name = g_strdup(name);
  column->codes = g_array_new(FALSE, FALSE, sizeof(guint32));
  demur_intern_init(&column->texts, builder->cohort);
  g_ptr_array_add(builder->columns, column);
  return column;
}

void
demur_cohort_builder_attribute_all(DemurCohortBuilder *builder, const char *name,
                                   const char *const *texts) {
  Column *column = find_column(builder, name);
  g_array_set_size(column->codes, 0);
  for (size_t i = 0; i < builder->n_scans; i++) {
    const guint32 code = demur_intern_add(&column->texts, texts[i], strlen(texts[i]), NULL);
    g_array_append_val(column->codes, code);
  }
}

void
demur_cohort_builder_attribute(DemurCohortBuilder *builder, const char *name, const char *text) {
  g_return_if_fail(builder->n_scans > 0);
  Column *column = find_column(builder, name);
  const guint32 missing =
      column->codes->len + 1 < builder->n_scans ? demur_intern_add(&column->texts, "", 0, NULL) : 0;
  while (column->codes->len + 1 < builder->n_scans)
    g_array_append_val(column->codes, missing);
  g_array_set_size(column->codes, (guint)builder->n_scans - 1);
  const guint32 code = demur_intern_add(&column->texts, text, strlen(text), NULL);
  g_array_append_val(column->codes, code);
}

static gpointer
copy_array(const GArray *array, size_t element_size) {
  gpointer copy = demur_memory_new(array->len, 1, element_size);
  if (array->len > 0)
    memcpy(copy, array->data, array->len * element_size);
  return copy;
}

static gboolean
is_probability(double value) {
  return value >= 0.0 && value <= 1.0;
}

static gboolean
check(const DemurCohortBuilder *builder, GError **error) {
  const size_t n = builder->n_scans, K = builder->cohort->n_classes;
  const size_t width = K == 2 ? 1 : K;
  if (n == 0) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "the cohort has no scan");
    return FALSE;
  }
  if (builder->scans.texts->len != n) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                        "a scan_id stands for two scans: scan_ids must be unique");
    return FALSE;
  }
  const guint32 *patients = (const guint32 *)(gpointer)builder->patient_codes->data;
  const guint32 *splits = (const guint32 *)(gpointer)builder->split_codes->data;
  g_autofree guint32 *split_of = g_new(guint32, builder->patients.texts->len);
  memset(split_of, 0xff, builder->patients.texts->len * sizeof *split_of);
  for (size_t i = 0; i < n; i++) {
    if (split_of[patients[i]] == G_MAXUINT32)
      split_of[patients[i]] = splits[i];
    if (split_of[patients[i]] != splits[i]) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "row %zu: the patient is in two splits; keep each patient in one", i + 1);
      return FALSE;
    }
    const gint32 label = g_array_index(builder->labels, gint32, i);
    if (label != DEMUR_NO_LABEL && (label < 0 || (size_t)label >= K)) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "row %zu: label %d is not in 0..%zu",
                  i + 1, label, K - 1);
      return FALSE;
    }
    for (size_t k = 0; k < width; k++) {
      const double p = g_array_index(builder->probabilities, double, i *width + k);
      if (!is_probability(p)) {
        g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "row %zu: risk %g is not in [0, 1]",
                    i + 1, p);
        return FALSE;
      }
    }
    for (size_t k = 0; k < DEMUR_N_YEARS; k++) {
      const double p = g_array_index(builder->yearly, double, i *DEMUR_N_YEARS + k);
      if (!isnan(p) && !is_probability(p)) {
        g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                    "row %zu: risk_year_%zu %g is not in [0, 1]", i + 1, k + 1, p);
        return FALSE;
      }
    }
  }
  for (guint i = 0; i < builder->embeddings->len; i++)
    if (!isfinite(g_array_index(builder->embeddings, float, i))) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "row %zu: an embedding value is not finite",
                  i / builder->cohort->embedding_width + 1);
      return FALSE;
    }
  return TRUE;
}

DemurCohort *
demur_cohort_builder_finish(DemurCohortBuilder *builder, const char *name, const char *model,
                            const char *source, const char *created, gboolean simulated,
                            GError **error) {
  g_return_val_if_fail(builder->scans.texts != NULL, NULL);
  if (!check(builder, error))
    return NULL;
  DemurCohort *cohort = builder->cohort;
  const size_t n = builder->n_scans;
  cohort->name = g_strdup(name);
  cohort->model = g_strdup(model);
  cohort->source = g_strdup(source);
  cohort->created = g_strdup(created);
  cohort->simulated = simulated;
  cohort->n_scans = n;
  size_t n_texts;
  cohort->scan_ids = demur_intern_steal(&builder->scans, &n_texts);
  cohort->patient_ids = demur_intern_steal(&builder->patients, &cohort->n_patients);
  cohort->site_names = demur_intern_steal(&builder->sites, &cohort->n_sites);
  cohort->split_names = demur_intern_steal(&builder->splits, &cohort->n_splits);
  cohort->patients = copy_array(builder->patient_codes, sizeof(guint32));
  cohort->sites = copy_array(builder->site_codes, sizeof(guint32));
  cohort->splits = copy_array(builder->split_codes, sizeof(guint32));
  cohort->labels = copy_array(builder->labels, sizeof(gint32));
  if (cohort->n_classes == 2)
    cohort->risks = copy_array(builder->probabilities, sizeof(double));
  else
    cohort->probabilities = copy_array(builder->probabilities, sizeof(double));
  if (builder->any_yearly)
    cohort->yearly_risks = copy_array(builder->yearly, sizeof(double));
  if (cohort->embedding_width > 0)
    cohort->embeddings = copy_array(builder->embeddings, sizeof(float));
  cohort->n_attributes = builder->columns->len;
  cohort->attributes = g_new0(DemurAttribute, MAX(cohort->n_attributes, 1));
  for (size_t a = 0; a < cohort->n_attributes; a++) {
    Column *column = builder->columns->pdata[a];
    const guint32 missing =
        column->codes->len < n ? demur_intern_add(&column->texts, "", 0, NULL) : 0;
    while (column->codes->len < n)
      g_array_append_val(column->codes, missing);
    DemurAttribute *attribute = &cohort->attributes[a];
    attribute->name = g_strdup(column->name);
    attribute->codes = copy_array(column->codes, sizeof(guint32));
    attribute->values = demur_intern_steal(&column->texts, &attribute->n_values);
  }
  return demur_cohort_ref(cohort);
}
