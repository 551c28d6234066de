/* The network's passes for AVX-512 and h = 64: what demur_mlp_forward and _backward use where the
 * processor has it. */
#pragma once

#include "selector/mlp.h"

G_BEGIN_DECLS

/* Whether these kernels serve the shape on this processor (float build, h = 64, d <= 64, x86-64
 * with AVX-512F). */
gboolean demur_mlp_avx512_serves(DemurMlpShape shape);

/* As demur_mlp_forward and demur_mlp_backward. */
void demur_mlp_avx512_forward(DemurMlpShape shape, const float *parameters, const float *inputs,
                              size_t n, float *hidden1, float *hidden2, float *z);
void demur_mlp_avx512_backward(DemurMlpShape shape, const float *parameters, const float *inputs,
                               const float *hidden1, const float *hidden2, const float *dz,
                               size_t n, float *scratch, float *gradient);

G_END_DECLS
