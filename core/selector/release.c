#include "selector/release.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "features/prototypes.h"
#include "selector/making.h"
#include "selector/selector-private.h"

/* LOF looks at the 20 nearest of the others. */
#define MIN_PROTOTYPES 22

DemurRelease
demur_selector_released(const DemurSelector *selector) {
  return selector->release;
}

const char *
demur_selector_origin(const DemurSelector *selector) {
  return selector->released_from != NULL ? selector->released_from : selector->digest;
}

const char *
demur_selector_released_from(const DemurSelector *selector) {
  return selector->released_from;
}

static int
compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* knots [DEMUR_RELEASE_KNOTS]: quantiles of column c of scores [n][DEMUR_N_OUTLIER]. */
static void
quantiles(const double *scores, size_t n, size_t c, double *knots) {
  g_autofree double *values = g_new(double, n);
  for (size_t i = 0; i < n; i++)
    values[i] = scores[i * DEMUR_N_OUTLIER + c];
  qsort(values, n, sizeof *values, compare_doubles);
  for (size_t k = 0; k < DEMUR_RELEASE_KNOTS; k++) {
    const double place = ((double)k + 0.5) / DEMUR_RELEASE_KNOTS * (double)(n - 1);
    const size_t at = MIN((size_t)place, n - 2);
    knots[k] = values[at] + (place - (double)at) * (values[at + 1] - values[at]);
  }
}

double
demur_release_map(const double *from, const double *to, double value) {
  const size_t last = DEMUR_RELEASE_KNOTS - 1;
  const double width = from[last] - from[0];
  if (!(width > 0.0))
    return to[last / 2];
  if (value <= from[0])
    return to[0] + (value - from[0]) * (to[last] - to[0]) / width;
  if (value >= from[last])
    return to[last] + (value - from[last]) * (to[last] - to[0]) / width;
  size_t k = 1;
  while (from[k] < value)
    k++;
  const double step = from[k] - from[k - 1];
  return step > 0.0 ? to[k - 1] + (value - from[k - 1]) / step * (to[k] - to[k - 1]) : to[k];
}

/* Fits the outlier model on prototypes, and the maps from its values to those of the scans. */
static gboolean
reduce_reference(DemurSelector *s, DemurParallel *parallel, const DemurProgress *progress,
                 GError **error) {
  const size_t d = demur_outlier_model_width(s->outlier);
  const size_t n = demur_outlier_model_n_reference(s->outlier);
  const float *raw = demur_outlier_model_reference(s->outlier);
  g_autofree double *standard = g_new(double, n *d);
  g_autofree double *row = g_new(double, d);
  for (size_t i = 0; i < n; i++) {
    for (size_t c = 0; c < d; c++)
      row[c] = (double)raw[i * d + c];
    demur_scaler_apply(demur_outlier_model_scaler(s->outlier), row, 1, standard + i * d);
  }
  g_autofree guint32 *groups = g_new(guint32, n);
  const size_t n_groups = demur_prototypes_group(standard, n, d, DEMUR_RELEASE_GROUP, groups);
  if (n_groups < MIN_PROTOTYPES) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "%zu reference scans are too few for prototypes of %d scans each; export it with its "
        "reference (--with-reference) where that may leave, or train it without outlier "
        "features",
        n, DEMUR_RELEASE_GROUP);
    return FALSE;
  }
  g_autofree float *means = g_new(float, n_groups *d);
  demur_prototypes_means(raw, n, d, groups, n_groups, means);
  g_autoptr(DemurOutlierModel) model =
      demur_outlier_model_fit(means, n_groups, d, NULL, s->seed, parallel, progress, error);
  if (model == NULL)
    return FALSE;
  /* Each reference scan as the selector saw it: left out of its own distances. */
  g_autofree gssize *own = g_new(gssize, n);
  const guint32 *rows = demur_outlier_model_rows(s->outlier);
  for (size_t i = 0; i < n; i++)
    own[i] = (gssize)rows[i];
  g_autofree double *before = g_new(double, n *DEMUR_N_OUTLIER);
  g_autofree double *after = g_new(double, n *DEMUR_N_OUTLIER);
  if (!demur_outlier_model_score(s->outlier, raw, n, own, before, parallel, progress, error) ||
      !demur_outlier_model_score(model, raw, n, NULL, after, parallel, progress, error))
    return FALSE;
  s->outlier_maps = g_new(double, DEMUR_RELEASE_MAP_LENGTH);
  for (size_t c = 0; c < DEMUR_N_OUTLIER; c++) {
    double *map = s->outlier_maps + c * 2 * DEMUR_RELEASE_KNOTS;
    quantiles(after, n, c, map);
    quantiles(before, n, c, map + DEMUR_RELEASE_KNOTS);
  }
  demur_outlier_model_unref(s->outlier);
  s->outlier = g_steal_pointer(&model);
  s->n_reference = n_groups;
  return TRUE;
}

/* Replaces values [n][d] by the means of their groups (g_aligned_free). */
static void
take_means(float **values, size_t n, size_t d, const guint32 *groups, size_t n_groups) {
  float *means = demur_new_matrix(float, n_groups, d);
  demur_prototypes_means(*values, n, d, groups, n_groups, means);
  g_aligned_free(*values);
  *values = means;
}

static void
reduce_training_scans(DemurSelector *s) {
  const size_t n = s->n_kept, d = s->n_inputs;
  if (n == 0)
    return;
  g_autofree double *rows = g_new(double, n *d);
  for (size_t i = 0; i < n * d; i++)
    rows[i] = (double)s->kept_inputs[i];
  g_autofree guint32 *groups = g_new(guint32, n);
  const size_t n_groups =
      n < DEMUR_RELEASE_GROUP ? 0 : demur_prototypes_group(rows, n, d, DEMUR_RELEASE_GROUP, groups);
  if (n_groups > 0) {
    take_means(&s->kept_inputs, n, d, groups, n_groups);
    take_means(&s->kept_scores, n, 1, groups, n_groups);
    take_means(&s->kept_risks, n, 1, groups, n_groups);
    take_means(&s->kept_labels, n, 1, groups, n_groups);
  }
  /* A group is of several sites: none is named. */
  memset(s->kept_sites, 0, n * sizeof *s->kept_sites);
  s->n_kept = n_groups;
}

DemurSelector *
demur_selector_release(DemurSelector *selector, DemurRelease release, DemurParallel *parallel,
                       const DemurProgress *progress, GError **error) {
  g_return_val_if_fail(release != DEMUR_RELEASE_NONE, NULL);
  if (selector->release == release)
    return demur_selector_ref(selector);
  if (selector->release == DEMUR_RELEASE_PROTOTYPES) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "this selector came from a file with prototypes; it has no reference rows");
    return NULL;
  }
  g_autofree char *document = demur_selector_to_json(selector);
  g_autoptr(DemurSelector) s = demur_selector_from_json(document, -1, "selector", error);
  if (s == NULL)
    return NULL;
  s->release = release;
  g_free(s->released_from);
  s->released_from = g_strdup(demur_selector_digest(selector));
  g_clear_pointer(&s->patient_hashes, g_free);
  g_clear_pointer(&s->reference_hashes, g_free);
  if (release == DEMUR_RELEASE_PROTOTYPES) {
    g_clear_pointer(&s->making, demur_making_free); /* it counts rare scanners */
    if (s->outlier != NULL && !reduce_reference(s, parallel, progress, error))
      return NULL;
    reduce_training_scans(s);
  }
  demur_selector_seal(s);
  return g_steal_pointer(&s);
}
