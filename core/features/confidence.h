/* Meta features of the class probabilities p(y|x), in this order (method.md, "Meta features"):
 *
 *   p_0 .. p_{K-1}, one-hot of argmax p (ties: the lowest class), max p, entropy -sum_k c_k log
 * c_k,
 *
 * natural logarithm, c = p clipped to [1e-8, 1] (golden/prob_features.json). Where K exceeds the
 * limit p and the one-hot are left out, and two columns remain. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The usual limit: with more classes than this, 2 K columns would swamp the others. */
#define DEMUR_CONFIDENCE_MAX_CLASSES 100

/* The groups that `--features` names and can leave out (paper, section "Meta features" and its
 * ablation). */
typedef enum {
  DEMUR_FEATURE_CONFIDENCE,  /* max p, entropy */
  DEMUR_FEATURE_PROBABILITY, /* p: of CONFIDENCE, and it tells the class as CLASS does */
  DEMUR_FEATURE_CLASS,       /* the one-hot of the predicted class */
  DEMUR_FEATURE_OUTLIER,     /* features/outlier.h */
  DEMUR_FEATURE_ACQUISITION,
} DemurFeatureGroup;

/* Columns for K = n_classes >= 2: 2 K + 2 where K <= max_classes, else 2. */
size_t demur_confidence_width(size_t n_classes, size_t max_classes);

/* Group and name ("p_0", "class_0", "max_p", "entropy"; owned) of a column in [0, width). */
DemurFeatureGroup demur_confidence_column_group(size_t n_classes, size_t max_classes,
                                                size_t column);
char *demur_confidence_column_name(size_t n_classes, size_t max_classes, size_t column);

/* probabilities [n][K], each in [0, 1] -> the width columns of out, whose rows lie stride >= width
 * doubles apart. */
void demur_confidence_features(const double *probabilities, size_t n, size_t n_classes,
                               size_t max_classes, double *out, size_t stride);

/* The same for K = 2 from risks [n] = p_1 (p_0 = 1 - risk): 6 columns. */
void demur_confidence_features_binary(const double *risks, size_t n, double *out, size_t stride);

/* Entropy of one row p [K], as above. */
double demur_confidence_entropy(const double *p, size_t n_classes);

G_END_DECLS
