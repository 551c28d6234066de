#include "selector/meta-features.h"

#include <string.h>

#include "base/memory.h"
#include "features/confidence.h"

DemurMetaColumns *
demur_meta_columns_new(size_t n_classes, gboolean with_embeddings) {
  DemurMetaColumns *columns = g_new0(DemurMetaColumns, 1);
  const size_t n_confidence = demur_confidence_width(n_classes, DEMUR_CONFIDENCE_MAX_CLASSES);
  columns->n_outlier = with_embeddings ? DEMUR_N_OUTLIER : 0;
  columns->n_columns = n_confidence + columns->n_outlier;
  columns->names = g_new0(char *, columns->n_columns + 1);
  columns->groups = g_new0(guint, columns->n_columns);
  for (size_t c = 0; c < n_confidence; c++) {
    columns->names[c] = demur_confidence_column_name(n_classes, DEMUR_CONFIDENCE_MAX_CLASSES, c);
    const DemurFeatureGroup group =
        demur_confidence_column_group(n_classes, DEMUR_CONFIDENCE_MAX_CLASSES, c);
    columns->groups[c] =
        group == DEMUR_FEATURE_CLASS ? DEMUR_FEATURES_CLASS : DEMUR_FEATURES_CONFIDENCE;
    /* The whole distribution tells the predicted class too (paper, ablation of the features). */
    if (g_str_has_prefix(columns->names[c], "p_"))
      columns->groups[c] = DEMUR_FEATURES_CONFIDENCE | DEMUR_FEATURES_CLASS;
  }
  for (size_t o = 0; o < columns->n_outlier; o++) {
    columns->names[n_confidence + o] = g_strdup(demur_outlier_columns[o].name);
    columns->groups[n_confidence + o] = DEMUR_FEATURES_OUTLIER;
  }
  return columns;
}

void
demur_meta_columns_free(DemurMetaColumns *columns) {
  if (columns == NULL)
    return;
  g_strfreev(columns->names);
  g_free(columns->groups);
  g_free(columns);
}

const char *
demur_meta_column_title(const char *name) {
  static const struct {
    const char *name, *title;
  } titles[] = {
      {"max_p", "probability of the predicted class"},
      {"entropy", "entropy of the prediction"},
      {"knn", "distance to the 8 nearest reference scans"},
      {"kde", "log density among the reference scans"},
      {"ocsvm", "one-class SVM score"},
      {"iforest", "isolation forest score"},
      {"lof", "local outlier factor score"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(titles); i++)
    if (strcmp(name, titles[i].name) == 0)
      return titles[i].title;
  if (g_str_has_prefix(name, "p_"))
    return strcmp(name, "p_1") == 0 ? "predicted risk" : "predicted probability of a class";
  if (g_str_has_prefix(name, "class_"))
    return "predicted class";
  return name;
}

float *
demur_meta_gather_embeddings(const DemurCohort *cohort, const guint32 *rows, size_t n_rows) {
  const size_t d = cohort->embedding_width;
  float *embeddings = demur_new_matrix(float, n_rows, d);
  for (size_t i = 0; i < n_rows; i++)
    memcpy(embeddings + i * d, cohort->embeddings + (size_t)rows[i] * d, d * sizeof(float));
  return embeddings;
}

gboolean
demur_meta_features_compute(const DemurMetaColumns *columns, const DemurCohort *cohort,
                            const guint32 *rows, size_t n_rows, const DemurOutlierModel *outlier,
                            const gssize *exclude, DemurParallel *parallel,
                            const DemurProgress *progress, double *out, GError **error) {
  const size_t stride = columns->n_columns, k = cohort->n_classes;
  if (cohort->risks != NULL) {
    g_autofree double *risks = g_new(double, MAX(n_rows, 1));
    for (size_t i = 0; i < n_rows; i++)
      risks[i] = cohort->risks[rows[i]];
    demur_confidence_features_binary(risks, n_rows, out, stride);
  } else {
    for (size_t i = 0; i < n_rows; i++)
      demur_confidence_features(cohort->probabilities + (size_t)rows[i] * k, 1, k,
                                DEMUR_CONFIDENCE_MAX_CLASSES, out + i * stride, stride);
  }
  if (columns->n_outlier == 0)
    return TRUE;
  DEMUR_AUTO_ALIGNED float *embeddings = demur_meta_gather_embeddings(cohort, rows, n_rows);
  g_autofree double *values = g_new(double, MAX(n_rows, 1) * DEMUR_N_OUTLIER);
  if (!demur_outlier_model_score(outlier, embeddings, n_rows, exclude, values, parallel, progress,
                                 error))
    return FALSE;
  const size_t first = stride - DEMUR_N_OUTLIER;
  for (size_t i = 0; i < n_rows; i++)
    memcpy(out + i * stride + first, values + i * DEMUR_N_OUTLIER,
           DEMUR_N_OUTLIER * sizeof(double));
  return TRUE;
}
