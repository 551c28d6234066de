/* Ridge logistic regression with an offset: logit p_i = offset_i + b + w . x_i. */
#pragma once

#include "base/error.h"

G_BEGIN_DECLS

/* Minimises  sum_i -log p(y_i) + penalty / 2 |w|^2 + intercept_penalty / 2 b^2  by Newton steps
 * with halving. inputs [n][d] (rows `stride` doubles apart), offsets [n], labels [n] in {0, 1}; use
 * [n] or NULL: what each row counts, 0: it is left out. weights [d] and *intercept hold the
 * starting point and receive the solution. d = 0 fits the intercept alone. O(n d^2) a step. */
void demur_offset_logistic_fit(const double *inputs, size_t stride, const double *offsets,
                               const double *labels, const double *use, size_t n, size_t d,
                               double penalty, double intercept_penalty, double *weights,
                               double *intercept);

/* log(p / (1 - p)) of p clipped to [1e-6, 1 - 1e-6]; 1 / (1 + exp(-z)). */
double demur_logit(double p);
double demur_sigmoid(double z);

/* -log of the probability of the label, p clipped as above. */
double demur_log_loss(double label, double p);

G_END_DECLS
