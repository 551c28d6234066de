#include "selector/meta-features.h"

#include <string.h>

#include "base/memory.h"
#include "features/confidence.h"
#include "selector/corrector.h"

DemurMetaColumns *
demur_meta_columns_new(size_t n_classes, gboolean with_embeddings, gboolean with_corrector) {
  DemurMetaColumns *columns = g_new0(DemurMetaColumns, 1);
  const size_t n_confidence = demur_confidence_width(n_classes, DEMUR_CONFIDENCE_MAX_CLASSES);
  columns->n_outlier = with_embeddings ? DEMUR_N_OUTLIER : 0;
  columns->n_confidence = n_confidence;
  columns->n_corrector = with_corrector ? DEMUR_N_CORRECTOR_FEATURES : 0;
  columns->n_columns = n_confidence + columns->n_outlier + columns->n_corrector;
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
  static const char *const corrector_names[DEMUR_N_CORRECTOR_FEATURES] = {
      "correction", "correction_size", "expected_miscalibration"};
  for (size_t c = 0; c < columns->n_corrector; c++) {
    columns->names[n_confidence + columns->n_outlier + c] = g_strdup(corrector_names[c]);
    columns->groups[n_confidence + columns->n_outlier + c] = DEMUR_FEATURES_CORRECTOR;
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
      {"correction", "expected correction of the risk on the log-odds scale"},
      {"correction_size", "expected error of the risk"},
      {"expected_miscalibration", "log of the expected squared miscalibration"},
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

void
demur_meta_confidence(const DemurMetaColumns *columns, const DemurCohort *cohort,
                      const guint32 *rows, size_t n_rows, double *out) {
  const size_t stride = columns->n_columns, k = cohort->n_classes;
  for (size_t i = 0; i < n_rows; i++)
    if (cohort->risks != NULL)
      demur_confidence_features_binary(cohort->risks + rows[i], 1, out + i * stride, stride);
    else
      demur_confidence_features(cohort->probabilities + (size_t)rows[i] * k, 1, k,
                                DEMUR_CONFIDENCE_MAX_CLASSES, out + i * stride, stride);
}
