/* Meta features of vectors: features/confidence.h and features/outlier.h behind the C interface. */
#include "library/libdemur-private.h"

#include "base/error.h"
#include "features/confidence.h"
#include "features/outlier.h"
#include "library/pool.h"

struct libdemur_outlier {
  DemurOutlierModel *model;
  DemurLibraryPool *pool;
};

G_STATIC_ASSERT((int)LIBDEMUR_N_OUTLIER == (int)DEMUR_N_OUTLIER);
G_STATIC_ASSERT((int)LIBDEMUR_KNN == (int)DEMUR_OUTLIER_KNN);
G_STATIC_ASSERT((int)LIBDEMUR_LOF == (int)DEMUR_OUTLIER_LOF);

size_t
libdemur_confidence_width(size_t n_classes) {
  return n_classes < 2 ? 0 : demur_confidence_width(n_classes, DEMUR_CONFIDENCE_MAX_CLASSES);
}

int
libdemur_confidence_features(const double *probabilities, size_t n, size_t n_classes, double *out,
                             libdemur_error *error) {
  GError *cause = NULL;
  if (n_classes < 2) {
    g_set_error(&cause, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%zu classes; two are the fewest",
                n_classes);
    return demur_library_fail(error, cause);
  }
  if (!demur_library_check("probabilities", probabilities, n * n_classes, 0.0, 1.0, &cause))
    return demur_library_fail(error, cause);
  demur_confidence_features(probabilities, n, n_classes, DEMUR_CONFIDENCE_MAX_CLASSES, out,
                            libdemur_confidence_width(n_classes));
  return 0;
}

libdemur_outlier *
libdemur_outlier_fit(const float *embeddings, size_t n, size_t d, uint64_t seed, unsigned n_threads,
                     libdemur_error *error) {
  GError *cause = NULL;
  if (n < 2 || d < 1) {
    g_set_error(&cause, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%zu reference scans with %zu columns; two scans and one column are the fewest", n,
                d);
    demur_library_fail(error, cause);
    return NULL;
  }
  DemurLibraryPool *pool = demur_library_pool_new(n_threads, &cause);
  DemurParallel *parallel = pool != NULL ? demur_library_pool_take(pool) : NULL;
  DemurOutlierModel *model =
      pool != NULL ? demur_outlier_model_fit(embeddings, n, d, NULL, seed, parallel, NULL, &cause)
                   : NULL;
  if (model == NULL) {
    demur_library_pool_free(pool);
    demur_library_fail(error, cause);
    return NULL;
  }
  libdemur_outlier *outlier = g_new(libdemur_outlier, 1);
  *outlier = (libdemur_outlier){model, pool};
  demur_library_pool_give(pool, parallel);
  return outlier;
}

int
libdemur_outlier_score(libdemur_outlier *outlier, const float *embeddings, size_t m,
                       const int64_t *exclude, double *out, libdemur_error *error) {
  GError *cause = NULL;
  const gint64 n_fitted = (gint64)demur_outlier_model_n_fitted(outlier->model);
  g_autofree gssize *rows = exclude != NULL ? g_new(gssize, MAX(m, 1)) : NULL;
  for (size_t i = 0; exclude != NULL && i < m; i++) {
    if (exclude[i] < -1 || exclude[i] >= n_fitted) {
      g_set_error(&cause, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "exclude, value %zu of %zu is none of the %" G_GINT64_FORMAT " reference rows",
                  i + 1, m, n_fitted);
      return demur_library_fail(error, cause);
    }
    rows[i] = (gssize)exclude[i];
  }
  DemurParallel *parallel = demur_library_pool_take(outlier->pool);
  const gboolean scored =
      demur_outlier_model_score(outlier->model, embeddings, m, rows, out, parallel, NULL, &cause);
  demur_library_pool_give(outlier->pool, parallel);
  return scored ? 0 : demur_library_fail(error, cause);
}

size_t
libdemur_outlier_width(const libdemur_outlier *outlier) {
  return demur_outlier_model_width(outlier->model);
}

void
libdemur_outlier_free(libdemur_outlier *outlier) {
  if (outlier == NULL)
    return;
  demur_outlier_model_unref(outlier->model);
  demur_library_pool_free(outlier->pool);
  g_free(outlier);
}
