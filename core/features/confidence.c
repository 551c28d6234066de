/* p, one-hot argmax, max p, entropy: paper, section "Meta features"; golden/prob_features.json. O(n
 * K). */
#include "features/confidence.h"

#include <math.h>

size_t
demur_confidence_width(size_t n_classes, size_t max_classes) {
  return n_classes <= max_classes ? 2 * n_classes + 2 : 2;
}

DemurFeatureGroup
demur_confidence_column_group(size_t n_classes, size_t max_classes, size_t column) {
  const size_t n_class_columns = n_classes <= max_classes ? 2 * n_classes : 0;
  return column >= n_class_columns ? DEMUR_FEATURE_CONFIDENCE
         : column >= n_classes     ? DEMUR_FEATURE_CLASS
                                   : DEMUR_FEATURE_PROBABILITY;
}

char *
demur_confidence_column_name(size_t n_classes, size_t max_classes, size_t column) {
  const size_t n_class_columns = n_classes <= max_classes ? 2 * n_classes : 0;
  if (column < n_class_columns)
    return column < n_classes ? g_strdup_printf("p_%zu", column)
                              : g_strdup_printf("class_%zu", column - n_classes);
  return g_strdup(column == n_class_columns ? "max_p" : "entropy");
}

double
demur_confidence_entropy(const double *p, size_t n_classes) {
  double sum = 0.0;
  for (size_t k = 0; k < n_classes; k++) {
    const double clipped = CLAMP(p[k], 1e-8, 1.0);
    sum -= clipped * log(clipped);
  }
  return sum;
}

static void
row_features(const double *p, size_t n_classes, size_t max_classes, double *out) {
  size_t top = 0;
  for (size_t k = 1; k < n_classes; k++)
    if (p[k] > p[top])
      top = k;
  if (n_classes <= max_classes) {
    for (size_t k = 0; k < n_classes; k++) {
      out[k] = p[k];
      out[n_classes + k] = k == top ? 1.0 : 0.0;
    }
    out += 2 * n_classes;
  }
  out[0] = p[top];
  out[1] = demur_confidence_entropy(p, n_classes);
}

void
demur_confidence_features(const double *probabilities, size_t n, size_t n_classes,
                          size_t max_classes, double *out, size_t stride) {
  g_return_if_fail(n_classes >= 2 && stride >= demur_confidence_width(n_classes, max_classes));
  for (size_t i = 0; i < n; i++)
    row_features(probabilities + i * n_classes, n_classes, max_classes, out + i * stride);
}

void
demur_confidence_features_binary(const double *risks, size_t n, double *out, size_t stride) {
  g_return_if_fail(stride >= 6);
  for (size_t i = 0; i < n; i++) {
    const double p[2] = {1.0 - risks[i], risks[i]};
    row_features(p, 2, 2, out + i * stride);
  }
}
