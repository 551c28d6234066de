#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cohort/columns.h"
#include "cohort/intern.h"

typedef struct {
  char *name;
  DemurIntern texts;
  GArray *codes; /* guint32; shorter than the scans where the last ones have no text */
} Column;

struct DemurCohortBuilder {
  DemurCohort *cohort;
  DemurIntern texts[DEMUR_N_COHORT_COLUMNS]; /* of scans and coded columns */
  GArray *cells[DEMUR_N_COHORT_COLUMNS];     /* each column's numbers; NULL: a text */
  gboolean is_there[DEMUR_N_COHORT_COLUMNS]; /* some scan has one */
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

static gboolean
has_texts(const DemurCohortColumn *column) {
  return column->type == DEMUR_CELL_TEXT || column->type == DEMUR_CELL_CODE;
}

DemurCohortBuilder *
demur_cohort_builder_new(size_t n_classes, size_t embedding_width) {
  g_return_val_if_fail(n_classes >= 2, NULL);
  DemurCohortBuilder *builder = g_new0(DemurCohortBuilder, 1);
  builder->cohort = demur_cohort_alloc();
  builder->cohort->n_classes = n_classes;
  builder->cohort->embedding_width = embedding_width;
  for (size_t c = 0; c < DEMUR_N_COHORT_COLUMNS; c++) {
    const DemurCohortColumn *column = &demur_cohort_columns[c];
    if (has_texts(column))
      demur_intern_init(&builder->texts[c], builder->cohort);
    const guint row_bytes = column->type == DEMUR_CELL_TEXT
                                ? sizeof(guint32)
                                : (guint)demur_cohort_column_row_bytes(builder->cohort, column);
    builder->cells[c] = g_array_new(FALSE, FALSE, MAX(row_bytes, 1));
  }
  builder->columns = g_ptr_array_new_with_free_func(column_free);
  return builder;
}

void
demur_cohort_builder_free(DemurCohortBuilder *builder) {
  if (builder == NULL)
    return;
  for (size_t c = 0; c < DEMUR_N_COHORT_COLUMNS; c++) {
    if (has_texts(&demur_cohort_columns[c]))
      demur_intern_clear(&builder->texts[c]);
    g_array_unref(builder->cells[c]);
  }
  g_ptr_array_unref(builder->columns);
  demur_cohort_unref(builder->cohort);
  g_free(builder);
}

static void
add_cell(DemurCohortBuilder *builder, DemurCohortColumnId column, gconstpointer values) {
  g_array_append_vals(builder->cells[column], values, 1);
}

static void
add_text(DemurCohortBuilder *builder, DemurCohortColumnId column, const char *text) {
  const guint32 code = demur_intern_add(&builder->texts[column], text, strlen(text), NULL);
  add_cell(builder, column, &code);
}

/* The numbers of an optional column of doubles; NULL: none of them is recorded. */
static void
add_doubles(DemurCohortBuilder *builder, DemurCohortColumnId column, const double *values) {
  GArray *cells = builder->cells[column];
  const size_t width = demur_cohort_column_width(builder->cohort, &demur_cohort_columns[column]);
  g_array_set_size(cells, cells->len + 1);
  double *row = (double *)(gpointer)cells->data + (cells->len - 1) * width;
  for (size_t k = 0; k < width; k++) {
    row[k] = values != NULL ? values[k] : NAN;
    builder->is_there[column] |= !isnan(row[k]);
  }
}

/* An optional column of which nothing is known yet. */
static void
add_missing(DemurCohortBuilder *builder, DemurCohortColumnId column) {
  static const gint32 no_label = DEMUR_NO_LABEL;
  if (demur_cohort_columns[column].type == DEMUR_CELL_LABEL)
    add_cell(builder, column, &no_label);
  else
    add_doubles(builder, column, NULL);
}

size_t
demur_cohort_builder_add(DemurCohortBuilder *builder, const char *scan_id, const char *patient_id,
                         const char *site, const char *split, int label,
                         const double *probabilities, const double *yearly,
                         const float *embedding) {
  add_text(builder, DEMUR_COHORT_SCAN, scan_id);
  add_text(builder, DEMUR_COHORT_PATIENT, patient_id);
  add_text(builder, DEMUR_COHORT_SITE, site);
  add_text(builder, DEMUR_COHORT_SPLIT, split);
  const gint32 y = label;
  add_cell(builder, DEMUR_COHORT_LABEL, &y);
  add_cell(builder, builder->cohort->n_classes == 2 ? DEMUR_COHORT_RISK : DEMUR_COHORT_PROBABILITY,
           probabilities);
  add_doubles(builder, DEMUR_COHORT_YEARLY_RISK, yearly);
  if (builder->cohort->embedding_width > 0)
    add_cell(builder, DEMUR_COHORT_EMBEDDING, embedding);
  for (size_t k = 0; k < DEMUR_N_COHORT_COLUMNS; k++)
    if (demur_cohort_columns[k].presence == DEMUR_COLUMN_OPTIONAL && k != DEMUR_COHORT_YEARLY_RISK)
      add_missing(builder, (DemurCohortColumnId)k);
  builder->next_column = 0;
  return builder->n_scans++;
}

void
demur_cohort_builder_outcome(DemurCohortBuilder *builder, double time, DemurStatus status,
                             double horizon) {
  g_return_if_fail(builder->n_scans > 0);
  const size_t row = builder->n_scans - 1;
  ((double *)(gpointer)builder->cells[DEMUR_COHORT_TIME]->data)[row] = time;
  ((double *)(gpointer)builder->cells[DEMUR_COHORT_HORIZON]->data)[row] = horizon;
  ((gint32 *)(gpointer)builder->cells[DEMUR_COHORT_STATUS]->data)[row] = (gint32)status;
  builder->is_there[DEMUR_COHORT_TIME] = builder->is_there[DEMUR_COHORT_STATUS] =
      builder->is_there[DEMUR_COHORT_HORIZON] = TRUE;
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
copy_cells(GArray *cells) {
  const guint row_bytes = g_array_get_element_size(cells);
  gpointer copy = demur_memory_new(cells->len, 1, row_bytes);
  if (cells->len > 0)
    memcpy(copy, cells->data, (size_t)cells->len * row_bytes);
  return copy;
}

static gboolean
is_probability(double value) {
  return value >= 0.0 && value <= 1.0;
}

static const void *
cells_of(const DemurCohortBuilder *builder, DemurCohortColumnId column) {
  return builder->cells[column]->data;
}

/* Times from 0 with a status each; one horizon for all. */
static gboolean
check_outcomes(const DemurCohortBuilder *builder, GError **error) {
  const double *times = cells_of(builder, DEMUR_COHORT_TIME),
               *horizons = cells_of(builder, DEMUR_COHORT_HORIZON);
  const gint32 *statuses = cells_of(builder, DEMUR_COHORT_STATUS);
  for (size_t i = 0; i < builder->n_scans; i++) {
    if (!(times[i] >= 0.0 && isfinite(times[i])) || statuses[i] < DEMUR_STATUS_CENSORED ||
        statuses[i] > DEMUR_STATUS_COMPETING) {
      demur_error_set(
          error, DEMUR_ERROR_INPUT,
          "row %zu: time %g with status %d; every scan needs a time from 0 and a status "
          "(0 censored, 1 event, 2 competing) where any has one",
          i + 1, times[i], statuses[i]);
      return FALSE;
    }
    if (!(horizons[i] > 0.0) || horizons[i] != horizons[0]) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "row %zu: horizon of %g years; every scan of a cohort has the same, above 0",
                      i + 1, horizons[i]);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
check(const DemurCohortBuilder *builder, GError **error) {
  const size_t n = builder->n_scans, K = builder->cohort->n_classes;
  const size_t width = K == 2 ? 1 : K;
  const double *probabilities =
      cells_of(builder, K == 2 ? DEMUR_COHORT_RISK : DEMUR_COHORT_PROBABILITY);
  const double *yearly = cells_of(builder, DEMUR_COHORT_YEARLY_RISK);
  const gint32 *labels = cells_of(builder, DEMUR_COHORT_LABEL);
  if (n == 0) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "the cohort has no scan");
    return FALSE;
  }
  if (builder->texts[DEMUR_COHORT_SCAN].texts->len != n) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "a scan_id stands for two scans: scan_ids must be unique");
    return FALSE;
  }
  const guint32 *patients = cells_of(builder, DEMUR_COHORT_PATIENT);
  const guint32 *splits = cells_of(builder, DEMUR_COHORT_SPLIT);
  const guint n_patients = builder->texts[DEMUR_COHORT_PATIENT].texts->len;
  g_autofree guint32 *split_of = g_new(guint32, n_patients);
  memset(split_of, 0xff, n_patients * sizeof *split_of);
  for (size_t i = 0; i < n; i++) {
    if (split_of[patients[i]] == G_MAXUINT32)
      split_of[patients[i]] = splits[i];
    if (split_of[patients[i]] != splits[i]) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "row %zu: the patient is in two splits; keep each patient in one", i + 1);
      return FALSE;
    }
    const gint32 label = labels[i];
    if (label != DEMUR_NO_LABEL && (label < 0 || (size_t)label >= K)) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "row %zu: label %d is not in 0..%zu", i + 1, label,
                      K - 1);
      return FALSE;
    }
    for (size_t k = 0; k < width; k++) {
      const double p = probabilities[i * width + k];
      if (!is_probability(p)) {
        demur_error_set(error, DEMUR_ERROR_INPUT, "row %zu: risk %g is not in [0, 1]", i + 1, p);
        return FALSE;
      }
    }
    for (size_t k = 0; k < DEMUR_N_YEARS; k++) {
      const double p = yearly[i * DEMUR_N_YEARS + k];
      if (!isnan(p) && !is_probability(p)) {
        demur_error_set(error, DEMUR_ERROR_INPUT, "row %zu: risk_year_%zu %g is not in [0, 1]",
                        i + 1, k + 1, p);
        return FALSE;
      }
    }
  }
  if (builder->is_there[DEMUR_COHORT_TIME] && !check_outcomes(builder, error))
    return FALSE;
  const size_t d = builder->cohort->embedding_width;
  const float *embeddings = cells_of(builder, DEMUR_COHORT_EMBEDDING);
  for (size_t i = 0; i < n * d; i++)
    if (!isfinite(embeddings[i])) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "row %zu: an embedding value is not finite",
                      i / d + 1);
      return FALSE;
    }
  return TRUE;
}

DemurCohort *
demur_cohort_builder_finish(DemurCohortBuilder *builder, const char *name, const char *model,
                            const char *source, const char *created, gboolean simulated,
                            GError **error) {
  g_return_val_if_fail(builder->texts[DEMUR_COHORT_SCAN].texts != NULL, NULL);
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
  for (size_t c = 0; c < DEMUR_N_COHORT_COLUMNS; c++) {
    const DemurCohortColumn *column = &demur_cohort_columns[c];
    if (column->type == DEMUR_CELL_TEXT) {
      size_t n_texts;
      *demur_cohort_column_place(cohort, column) = demur_intern_steal(&builder->texts[c], &n_texts);
      continue;
    }
    if (column->type == DEMUR_CELL_CODE)
      *demur_cohort_column_texts(cohort, column) =
          demur_intern_steal(&builder->texts[c], demur_cohort_column_n_texts(cohort, column));
    if (demur_cohort_column_is_due(cohort, column) || builder->is_there[c])
      *demur_cohort_column_place(cohort, column) = copy_cells(builder->cells[c]);
  }
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
    attribute->codes = copy_cells(column->codes);
    attribute->values = demur_intern_steal(&column->texts, &attribute->n_values);
  }
  return demur_cohort_ref(cohort);
}
