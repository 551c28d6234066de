/* Regularised S-MMCE_u of a data set Q of n = sum c_i scans:
 *
 *   L(Q) = lambda1 / sqrt(n) * S^(1/q)  -  lambda2 / n * sum_i c_i log g_i,
 *   S = sum_ij v_i v_j exp(-|r_i - r_j| / w),   v_i = c_i e_i g_i.
 *
 * Paper: Eq. full_loss with appendix "Training details". Data: entries in ascending risk.
 * No n x n matrix: with d_i = exp(-(r_i - r_(i-1)) / w), each at most 1,
 *   F_1 = 0, F_i = d_i (F_(i-1) + v_(i-1));   B_n = 0, B_i = d_(i+1) (B_(i+1) + v_(i+1));   (Kv)_i
 * = v_i + F_i + B_i, S = sum v_i (Kv)_i,   dS/dg_i = 2 c_i e_i (Kv)_i. Through the logit z: g =
 * sigmoid(z), -log g = softplus(-z). Where every e_i g_i is 0, the first term and its gradient are
 * 0. Cost: O(n), an exponential an entry, one and a logarithm a score. All in double. */
#include "selector/smmce.h"

#include <math.h>

#define CHUNK 1024

/* Both tails without cancellation: sigmoid(z) and softplus(-z) = max(-z, 0) + log1p(exp(-|z|)). */
DemurSmmceScore
demur_smmce_score(DemurReal logit) {
  const double z = (double)logit, t = exp(-fabs(z));
  return (DemurSmmceScore){z >= 0.0 ? 1.0 / (1.0 + t) : t / (1.0 + t), fmax(-z, 0.0) + log1p(t)};
}

DemurSmmceLoss
demur_smmce_loss(const DemurSmmceSettings *settings, const double *risks, const double *errors,
                 const guint16 *counts, const DemurReal *logits, size_t n,
                 DemurReal *logit_gradient) {
  DemurSmmceScore stack_memory[CHUNK];
  g_autofree DemurSmmceScore *heap_memory = n > CHUNK ? g_new(DemurSmmceScore, n) : NULL;
  DemurSmmceScore *scores = heap_memory != NULL ? heap_memory : stack_memory;
  for (size_t i = 0; i < n; i++)
    scores[i] = demur_smmce_score(logits[i]);
  return demur_smmce_loss_of_scores(settings, risks, errors, counts, scores, n, logit_gradient);
}

DemurSmmceLoss
demur_smmce_loss_of_scores(const DemurSmmceSettings *settings, const double *risks,
                           const double *errors, const guint16 *counts,
                           const DemurSmmceScore *scores, size_t n, DemurReal *logit_gradient) {
  double stack_memory[3 * CHUNK];
  g_autofree double *heap_memory = n > CHUNK ? g_new(double, 3 * n) : NULL;
  double *memory = heap_memory != NULL ? heap_memory : stack_memory;
  double *v = memory, *decay = memory + n, *sums = memory + 2 * n;

  size_t n_total = 0;
  double softplus = 0.0, forward = 0.0;
  for (size_t i = 0; i < n; i++) {
    softplus += (double)counts[i] * scores[i].surprise;
    v[i] = (double)counts[i] * errors[i] * scores[i].accepted;
    decay[i] = i > 0 ? exp(-(risks[i] - risks[i - 1]) / settings->kernel_width) : 0.0;
    forward = i > 0 ? decay[i] * (forward + v[i - 1]) : 0.0;
    sums[i] = v[i] + forward;
    n_total += counts[i];
  }
  double backward = 0.0, s = 0.0;
  for (size_t i = n; i-- > 0;) {
    if (i + 1 < n)
      backward = decay[i + 1] * (backward + v[i + 1]);
    sums[i] += backward;
    s += v[i] * sums[i];
  }

  DemurSmmceLoss loss = {0.0, 0.0};
  if (n_total == 0)
    return loss;
  const double scale1 = settings->lambda1 / sqrt((double)n_total);
  const double scale2 = settings->lambda2 / (double)n_total;
  loss.smmce = scale1 * (settings->q == 1 ? s : sqrt(s));
  loss.regulariser = scale2 * softplus;
  if (logit_gradient == NULL)
    return loss;
  /* (1/q) S^(1/q - 1); for q = 2 and S = 0 the gradient is taken as 0. */
  const double outer = settings->q == 1 ? 1.0 : s > 0.0 ? 0.5 / sqrt(s) : 0.0;
  for (size_t i = 0; i < n; i++) {
    const double count = (double)counts[i], g = scores[i].accepted;
    const double dg = scale1 * outer * 2.0 * count * errors[i] * sums[i];
    logit_gradient[i] = (DemurReal)(dg * g * (1.0 - g) - scale2 * count * (1.0 - g));
  }
  return loss;
}
