/* The five outlier features of an embedding against a reference set, fitted and scored together.
 *
 * Columns in the order of method.md, raw values: kNN mean distance, KDE log density, one-class SVM
 * score_samples, isolation forest score_samples, LOF score_samples. Embeddings are standardised on
 * the reference inside; the model keeps that scaler, the reference rows and whatever the five need.
 * Immutable once made: any number of threads may score with it at the same time (each with its own
 * DemurParallel). */
#pragma once

#include "features/scaler.h"
#include "base/json-tree.h"
#include "base/json-writer.h"
#include "base/parallel.h"
#include "base/progress.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_OUTLIER_KNN,
  DEMUR_OUTLIER_KDE,
  DEMUR_OUTLIER_SVM,
  DEMUR_OUTLIER_FOREST,
  DEMUR_OUTLIER_LOF,
  DEMUR_N_OUTLIER,
} DemurOutlierFeature;

typedef struct {
  const char *name;  /* as in commands.md: "knn", "kde", "ocsvm", "iforest", "lof" */
  const char *title; /* for people */
  int keep_sign;     /* sign x value is high where a scan should be kept: -1 for kNN, else 1 */
} DemurOutlierColumn;

extern const DemurOutlierColumn demur_outlier_columns[DEMUR_N_OUTLIER];

typedef struct {
  size_t max_reference; /* more rows than this: so many are drawn by the seed (stream REFERENCE) */
  size_t knn_k;
  size_t lof_k;
  double svm_nu;
  size_t svm_max_rows; /* of the reference rows; more: drawn by the seed */
  size_t forest_trees;
  size_t forest_sample;
} DemurOutlierSettings;

/* 20,000; 8; 20; 0.5; 6,000; 100; 256: method.md. */
void demur_outlier_settings_init(DemurOutlierSettings *settings);

typedef struct DemurOutlierModel DemurOutlierModel;

/* Fits on embeddings [n][d], raw: n >= 2, d >= 1, all finite (refused with row and column).
 * settings NULL: the usual ones. NULL with DEMUR_ERROR_INPUT, or when cancelled. */
DemurOutlierModel *demur_outlier_model_fit(const float *embeddings, size_t n, size_t d,
                                           const DemurOutlierSettings *settings, guint64 seed,
                                           DemurParallel *parallel, const DemurProgress *progress,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
DemurOutlierModel *demur_outlier_model_ref(DemurOutlierModel *model);
void demur_outlier_model_unref(DemurOutlierModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurOutlierModel, demur_outlier_model_unref)

/* embeddings [m][d], raw -> out [m][DEMUR_N_OUTLIER]. exclude [m]: the row of the fitted array that
 * is this scan itself (it is left out of its own kNN, KDE and LOF; one-class SVM and forest are
 * in-sample), -1 or exclude NULL: none. A scan's values don't depend on what else is scored.
 * Non-finite input: DEMUR_ERROR_INPUT with its row and column. */
gboolean demur_outlier_model_score(const DemurOutlierModel *model, const float *embeddings,
                                   size_t m, const gssize *exclude, double *out,
                                   DemurParallel *parallel, const DemurProgress *progress,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The k nearest reference scans of each query: rows [m][k] of the fitted array and distances [m][k]
 * in standard deviations (Euclidean, standardised), ascending; either may be NULL. k <= n_reference
 * (less one with exclude). */
gboolean demur_outlier_model_nearest(const DemurOutlierModel *model, const float *embeddings,
                                     size_t m, const gssize *exclude, size_t k, guint32 *rows,
                                     double *distances, DemurParallel *parallel,
                                     const DemurProgress *progress,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

size_t demur_outlier_model_width(const DemurOutlierModel *model);         /* d */
size_t demur_outlier_model_n_fitted(const DemurOutlierModel *model);      /* n given to fit */
size_t demur_outlier_model_n_reference(const DemurOutlierModel *model);   /* of them kept */
size_t demur_outlier_model_n_svm_rows(const DemurOutlierModel *model);    /* rows the SVM saw */
size_t demur_outlier_model_n_svm_vectors(const DemurOutlierModel *model); /* alphas > 0 */
const guint32 *
demur_outlier_model_rows(const DemurOutlierModel *model); /* [n_reference], ascending */
const float *
demur_outlier_model_reference(const DemurOutlierModel *model); /* [n_reference][d], raw */
const DemurScaler *demur_outlier_model_scaler(const DemurOutlierModel *model);

/* The members of one JSON object (the caller opens and closes it): settings, scaler, raw reference
 * rows, alphas, trees, LOF arrays. Read back, it gives the same bytes of scores. A document that is
 * not sound (sizes, indices, non-finite values) is refused with DEMUR_ERROR_INPUT naming the
 * member, one of another format with DEMUR_ERROR_UNSUPPORTED. */
void demur_outlier_model_write_json(const DemurOutlierModel *model, DemurJson *json);
/* apart (NULL: none): what the object's tree left out. */
DemurOutlierModel *demur_outlier_model_read_json(JsonObject *object, const DemurJsonApart *apart,
                                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
