/* Ridge logistic regression with an offset: logit p_i = offset_i + b + w . x_i. */
#pragma once

#include "metrics/newton.h"

G_BEGIN_DECLS

typedef struct {
  const double *inputs; /* [n][d], rows `stride` doubles apart; d = 0: NULL */
  size_t stride, n, d;
  const double *offsets, *labels; /* [n]; labels in {0, 1} */
  const double *use;              /* [n] what each row counts, 0: it is left out; NULL: 1 */
  double penalty, intercept_penalty;
} DemurOffsetLogistic;

/* Minimises  sum_i -log p(y_i) + penalty / 2 |w|^2 + intercept_penalty / 2 b^2  by Newton steps
 * with halving. weights [d] and *intercept hold the starting point and receive the solution. d = 0
 * fits the intercept alone. O(n d^2) a step. */
void demur_offset_logistic_fit(const DemurOffsetLogistic *problem, double *weights,
                               double *intercept);

/* The same from sums over rows that lie elsewhere: m = d + 1 coefficients, the intercept last.
 *
 *   sums [DEMUR_N_LOGISTIC_SUMS(m)] = sum -log p(y), its gradient [m], its Hessian's lower triangle by
 *   rows; without penalties, so that sums of several places add up
 *
 * Labels are in the value and the gradient alone, as sum y (offset + b + w . x): d + 2 numbers, the same
 * at whatever coefficients. O(n d^2). */
#define DEMUR_N_LOGISTIC_SUMS(m) (1 + (m) + (m) * ((m) + 1) / 2)
void demur_offset_logistic_sums(const DemurOffsetLogistic *problem, const double *coefficients,
                                double *sums);

/* newton, which wants a value, goes on by the sums at newton->at. */
void demur_offset_logistic_take(DemurNewton *newton, const double *sums, double penalty,
                                double intercept_penalty);

/* log(p / (1 - p)) of p clipped to [1e-6, 1 - 1e-6]; 1 / (1 + exp(-z)). */
double demur_logit(double p);
double demur_sigmoid(double z);

/* -log of the probability of the label, p clipped as above. */
double demur_log_loss(double label, double p);

G_END_DECLS
