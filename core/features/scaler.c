/* z = (x - mean) / sd, population sd: golden/scaler.json.
 *
 * Data layout: rows one behind the other; sums run down the rows for all columns at once, so the
 * memory is read in order. Cost: three reads of n d values (mean, variance, distinct values), the
 * third ending early for all but indicator columns. */
#include "features/scaler.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

struct DemurScaler {
  gatomicrefcount ref_count;
  size_t d;
  double *means; /* [d] */
  double *sds;   /* [d] */
};

static DemurScaler *
scaler_alloc(size_t d) {
  DemurScaler *scaler = g_new0(DemurScaler, 1);
  g_atomic_ref_count_init(&scaler->ref_count);
  scaler->d = d;
  scaler->means = demur_new_array(double, d);
  scaler->sds = demur_new_array(double, d);
  return scaler;
}

/* One row of either kind of input as doubles. */
typedef struct {
  const double *doubles;
  const float *floats;
  size_t d;
  double *row; /* [d], scratch for floats */
} Rows;

static const double *
row_of(const Rows *rows, size_t i) {
  if (rows->doubles != NULL)
    return rows->doubles + i * rows->d;
  for (size_t j = 0; j < rows->d; j++)
    rows->row[j] = rows->floats[i * rows->d + j];
  return rows->row;
}

/* Columns that have a third value, so are no indicators. */
static gboolean
third_value(double first, double *second, gboolean *has_second, double x) {
  if (x == first)
    return FALSE;
  if (!*has_second) {
    *second = x;
    *has_second = TRUE;
    return FALSE;
  }
  return x != *second;
}

static DemurScaler *
fit(const Rows *rows, size_t n, GError **error) {
  const size_t d = rows->d;
  g_autoptr(DemurScaler) scaler = scaler_alloc(d);
  DEMUR_AUTO_ALIGNED double *first = demur_new_array(double, d);
  DEMUR_AUTO_ALIGNED double *second = demur_new_array(double, d);
  g_autofree gboolean *has_second = g_new0(gboolean, MAX(d, 1));
  g_autofree gboolean *many = g_new0(gboolean, MAX(d, 1));
  size_t n_undecided = d;

  for (size_t i = 0; i < n; i++) {
    const double *row = row_of(rows, i);
    double check = 0.0;
    for (size_t j = 0; j < d; j++) {
      scaler->means[j] += row[j];
      check += row[j] * 0.0;
    }
    if (check != 0.0) { /* NaN: some value was not finite */
      for (size_t j = 0; j < d; j++)
        if (!isfinite(row[j])) {
          demur_error_set(error, DEMUR_ERROR_INPUT,
                          "row %zu, column %zu is not a finite number; every value must be one", i,
                          j);
          return NULL;
        }
    }
    if (i == 0)
      memcpy(first, row, d * sizeof(double));
    if (n_undecided > 0)
      for (size_t j = 0; j < d; j++)
        if (!many[j] && third_value(first[j], &second[j], &has_second[j], row[j])) {
          many[j] = TRUE;
          n_undecided--;
        }
  }
  for (size_t j = 0; j < d; j++)
    scaler->means[j] /= (double)n;
  for (size_t i = 0; i < n; i++) {
    const double *row = row_of(rows, i);
    for (size_t j = 0; j < d; j++) {
      const double difference = row[j] - scaler->means[j];
      scaler->sds[j] += difference * difference;
    }
  }
  for (size_t j = 0; j < d; j++) {
    const double sd = sqrt(scaler->sds[j] / (double)n);
    if (!isfinite(sd) || !isfinite(scaler->means[j])) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "the values of column %zu are too large to have a variance", j);
      return NULL;
    }
    scaler->sds[j] = many[j] && sd > 0.0 ? sd : 1.0;
    if (!many[j])
      scaler->means[j] = 0.0;
  }
  return g_steal_pointer(&scaler);
}

DemurScaler *
demur_scaler_fit(const double *values, size_t n, size_t d, GError **error) {
  g_return_val_if_fail(n > 0, NULL);
  const Rows rows = {.doubles = values, .d = d};
  return fit(&rows, n, error);
}

DemurScaler *
demur_scaler_fit_floats(const float *values, size_t n, size_t d, GError **error) {
  g_return_val_if_fail(n > 0, NULL);
  DEMUR_AUTO_ALIGNED double *row = demur_new_array(double, d);
  const Rows rows = {.floats = values, .d = d, .row = row};
  return fit(&rows, n, error);
}

DemurScaler *
demur_scaler_new_from_arrays(const double *means, const double *sds, size_t d, GError **error) {
  for (size_t j = 0; j < d; j++)
    if (!isfinite(means[j]) || !isfinite(sds[j]) || !(sds[j] > 0.0)) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "column %zu of a scaler: expected a finite mean and a positive sd", j);
      return NULL;
    }
  DemurScaler *scaler = scaler_alloc(d);
  if (d > 0) {
    memcpy(scaler->means, means, d * sizeof(double));
    memcpy(scaler->sds, sds, d * sizeof(double));
  }
  return scaler;
}

DemurScaler *
demur_scaler_ref(DemurScaler *scaler) {
  g_atomic_ref_count_inc(&scaler->ref_count);
  return scaler;
}

void
demur_scaler_unref(DemurScaler *scaler) {
  if (scaler == NULL || !g_atomic_ref_count_dec(&scaler->ref_count))
    return;
  g_aligned_free(scaler->means);
  g_aligned_free(scaler->sds);
  g_free(scaler);
}

size_t
demur_scaler_width(const DemurScaler *scaler) {
  return scaler->d;
}

const double *
demur_scaler_means(const DemurScaler *scaler) {
  return scaler->means;
}

const double *
demur_scaler_sds(const DemurScaler *scaler) {
  return scaler->sds;
}

void
demur_scaler_apply(const DemurScaler *scaler, const double *in, size_t n, double *out) {
  const size_t d = scaler->d;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < d; j++)
      out[i * d + j] = (in[i * d + j] - scaler->means[j]) / scaler->sds[j];
}

VECTOR_CLONES void
demur_scaler_apply_floats(const DemurScaler *scaler, const float *in, size_t n, double *out) {
  const size_t d = scaler->d;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < d; j++)
      out[i * d + j] = ((double)in[i * d + j] - scaler->means[j]) / scaler->sds[j];
}
