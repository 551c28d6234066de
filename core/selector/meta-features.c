#include "selector/meta-features.h"

#include <string.h>

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/translate.h"
#include "features/confidence.h"
#include "selector/corrector.h"

DemurMetaColumns *
demur_meta_columns_new(size_t n_classes, gboolean with_embeddings, gboolean with_corrector,
                       const DemurAcquisition *acquisition) {
  DemurMetaColumns *columns = g_new0(DemurMetaColumns, 1);
  const size_t n_confidence = demur_confidence_width(n_classes, DEMUR_CONFIDENCE_MAX_CLASSES);
  columns->n_outlier = with_embeddings ? DEMUR_N_OUTLIER : 0;
  columns->n_confidence = n_confidence;
  columns->n_corrector = with_corrector ? DEMUR_N_CORRECTOR_FEATURES : 0;
  columns->n_acquisition = acquisition != NULL ? demur_acquisition_width(acquisition) : 0;
  columns->n_columns =
      n_confidence + columns->n_outlier + columns->n_corrector + columns->n_acquisition;
  columns->names = g_new0(char *, columns->n_columns + 1);
  columns->groups = g_new0(guint, columns->n_columns);
  /* The whole distribution tells the predicted class too (paper, ablation of the features). */
  static const guint groups[] = {
      [DEMUR_FEATURE_CONFIDENCE] = DEMUR_FEATURES_CONFIDENCE,
      [DEMUR_FEATURE_PROBABILITY] = DEMUR_FEATURES_CONFIDENCE | DEMUR_FEATURES_CLASS,
      [DEMUR_FEATURE_CLASS] = DEMUR_FEATURES_CLASS,
  };
  for (size_t c = 0; c < n_confidence; c++) {
    columns->names[c] = demur_confidence_column_name(n_classes, DEMUR_CONFIDENCE_MAX_CLASSES, c);
    columns->groups[c] =
        groups[demur_confidence_column_group(n_classes, DEMUR_CONFIDENCE_MAX_CLASSES, c)];
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
  const size_t first = columns->n_columns - columns->n_acquisition;
  for (size_t c = 0; c < columns->n_acquisition; c++) {
    columns->names[first + c] = g_strdup(demur_acquisition_column_name(acquisition, c));
    columns->groups[first + c] = DEMUR_FEATURES_ACQUISITION;
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
      {"max_p", N_("probability of the predicted class")},
      {"entropy", N_("entropy of the prediction")},
      {"knn", N_("distance to the 8 nearest reference scans")},
      {"kde", N_("log density among the reference scans")},
      {"ocsvm", N_("one-class SVM score")},
      {"iforest", N_("isolation forest score")},
      {"lof", N_("local outlier factor score")},
      {"correction", N_("expected correction of the risk on the log-odds scale")},
      {"correction_size", N_("expected error of the risk")},
      {"expected_miscalibration", N_("log of the expected squared miscalibration")},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(titles); i++)
    if (strcmp(name, titles[i].name) == 0)
      return titles[i].title;
  if (g_str_has_prefix(name, "p_"))
    return strcmp(name, "p_1") == 0 ? N_("predicted risk") : N_("predicted probability of a class");
  if (g_str_has_prefix(name, "class_"))
    return N_("predicted class");
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

/* The numbers of an attribute by code; NaN for "". Owned. */
static double *
attribute_numbers(const DemurCohort *cohort, const DemurAttribute *attribute, GError **error) {
  g_autofree double *numbers = g_new(double, MAX(attribute->n_values, 1));
  for (size_t v = 0; v < attribute->n_values; v++) {
    const char *text = attribute->values[v];
    if (*text == '\0') {
      numbers[v] = NAN;
    } else if (!demur_number_parse(text, strlen(text), &numbers[v])) {
      size_t row = 0;
      while (row + 1 < cohort->n_scans && attribute->codes[row] != v)
        row++;
      demur_error_set(
          error, DEMUR_ERROR_STATE,
          "cohort '%s', scan %s: column '%s' holds '%s', which is no number; correct it, "
          "leave it empty where it is not known, or leave the acquisition features out",
          cohort->name, cohort->scan_ids[row], attribute->name, text);
      return NULL;
    }
  }
  return g_steal_pointer(&numbers);
}

DemurAcquisitionScan *
demur_meta_acquisition_scans(const DemurCohort *cohort, const guint32 *rows, size_t n_rows,
                             GError **error) {
  g_autofree DemurAcquisitionScan *scans = g_new0(DemurAcquisitionScan, MAX(n_rows, 1));
  for (size_t i = 0; i < n_rows; i++)
    for (size_t k = 0; k < DEMUR_N_ACQUISITION_NUMBERS; k++)
      scans[i].numbers[k] = NAN;
  g_autoptr(GString) names = g_string_new(NULL);
  size_t n_found = 0;
  for (guint subject = 0; subject < DEMUR_N_ACQUISITION; subject++) {
    const char *name = demur_acquisition_attribute((DemurAcquisitionSubject)subject);
    const gssize index = demur_cohort_find_attribute(cohort, name);
    g_string_append_printf(names, "%s%s", subject > 0 ? ", " : "", name);
    if (index < 0)
      continue;
    n_found++;
    const DemurAttribute *attribute = &cohort->attributes[index];
    if (subject >= DEMUR_N_ACQUISITION_NUMBERS) {
      for (size_t i = 0; i < n_rows; i++)
        scans[i].texts[subject - DEMUR_N_ACQUISITION_NUMBERS] =
            attribute->values[attribute->codes[rows[i]]];
      continue;
    }
    g_autofree double *numbers = attribute_numbers(cohort, attribute, error);
    if (numbers == NULL)
      return NULL;
    for (size_t i = 0; i < n_rows; i++)
      scans[i].numbers[subject] = numbers[attribute->codes[rows[i]]];
  }
  if (n_found > 0)
    return g_steal_pointer(&scans);
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "cohort '%s' has none of the columns that acquisition features are made of (%s); "
                  "attach them (demur cohort attach), or leave acquisition out of --features",
                  cohort->name, names->str);
  return NULL;
}
