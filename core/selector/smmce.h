/* The regularised S-MMCE_u loss and its gradient (Eq. full_loss), exact in O(n). */
#pragma once

#include <glib.h>

#include "selector/real.h"

G_BEGIN_DECLS

typedef struct {
  int q;               /* 1 or 2 */
  double kernel_width; /* w of k(a, b) = exp(-|a - b| / w) */
  double lambda1;      /* weight of the S-MMCE_u term, before 1/sqrt(n): 1 */
  double lambda2;      /* weight of the regulariser, before 1/n: 0.01 */
} DemurSmmceSettings;

typedef struct {
  double smmce;       /* lambda1 / sqrt(n) * S^(1/q) */
  double regulariser; /* lambda2 / n * sum softplus(-z) */
} DemurSmmceLoss;

/* Loss of one data set of n entries in ascending risk: risks, errors (e_i = |y_i - r_i|^q) [n],
 * counts [n] (how often each stands in the data set), logits [n] (g = sigmoid(z)). logit_gradient
 * [n], if not NULL, receives dL/dz of the sum of both terms. */
DemurSmmceLoss demur_smmce_loss(const DemurSmmceSettings *settings, const double *risks,
                                const double *errors, const guint16 *counts,
                                const DemurReal *logits, size_t n, DemurReal *logit_gradient);

/* What a logit has to do with the loss: the same in every data set in which its scan stands. */
typedef struct {
  double accepted; /* g = sigmoid(z) */
  double surprise; /* -log g = softplus(-z) */
} DemurSmmceScore;

DemurSmmceScore demur_smmce_score(DemurReal logit);

/* demur_smmce_loss by the scores [n] of its logits, the same to the last bit. */
DemurSmmceLoss demur_smmce_loss_of_scores(const DemurSmmceSettings *settings, const double *risks,
                                          const double *errors, const guint16 *counts,
                                          const DemurSmmceScore *scores, size_t n,
                                          DemurReal *logit_gradient);

G_END_DECLS
