/* One forward and one backward pass of a kernel of the network on drawn numbers, and the digest of what
 * came out: what tests of this processor and of others compare. Needs GLib's headers only. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "support/plain-sha256.h"
#include "selector/mlp-kernel.h"

#define H DEMUR_MLP_TILE_HIDDEN

/* Inputs of a pass and what came out of it. */
typedef struct {
  DemurMlpShape shape;
  size_t n;
  float *parameters, *inputs, *dz;
  float *hidden1, *hidden2, *z, *gradient;
} Pass;

static inline void
fill(DemurRandom *random, size_t n, float *values) {
  for (size_t i = 0; i < n; i++)
    values[i] = (float)(2.0 * demur_random_uniform(random) - 1.0);
}

static inline void
pass_init(Pass *p, size_t d, size_t n) {
  p->shape = demur_mlp_shape(d, H);
  p->n = n;
  p->parameters = calloc(p->shape.n_parameters, sizeof(float));
  p->inputs = calloc(n * d, sizeof(float));
  p->dz = calloc(n, sizeof(float));
  p->hidden1 = calloc(n * H, sizeof(float));
  p->hidden2 = calloc(n * H, sizeof(float));
  p->z = calloc(n, sizeof(float));
  p->gradient = calloc(p->shape.n_parameters, sizeof(float));
  DemurRandom random = demur_random_stream(7, DEMUR_STREAM_WEIGHTS, d, n, 0);
  demur_mlp_initialise(p->shape, &random, p->parameters);
  fill(&random, n * d, p->inputs);
  fill(&random, n, p->dz);
}

static inline void
pass_clear(Pass *p) {
  free(p->parameters);
  free(p->inputs);
  free(p->dz);
  free(p->hidden1);
  free(p->hidden2);
  free(p->z);
  free(p->gradient);
}

static inline void
pass_run(Pass *p, const DemurMlpKernel *kernel) {
  kernel->first(p->shape, p->parameters, p->inputs, p->n, p->hidden1);
  kernel->forward(p->shape, p->parameters, NULL, p->inputs, NULL, p->n, p->hidden2, p->z);
  memset(p->gradient, 0, p->shape.n_parameters * sizeof(float));
  kernel->backward(p->shape, p->parameters, NULL, p->inputs, NULL, p->hidden2, NULL, p->dz, p->n,
                   p->gradient);
}

static const struct {
  size_t n_inputs, n;
} pass_shapes[] = {{1, 1},    {5, 5},  {6, 6},   {7, 13}, {8, 64},
                   {11, 510}, {12, 7}, {20, 31}, {63, 2}, {64, 25}};

/* Of all that a kernel gives for all the shapes: hex [PLAIN_SHA256_HEX]. */
static inline void
pass_digest(const DemurMlpKernel *kernel, char *hex) {
  PlainSha256 sum;
  plain_sha256_init(&sum);
  for (size_t s = 0; s < G_N_ELEMENTS(pass_shapes); s++) {
    Pass p;
    pass_init(&p, pass_shapes[s].n_inputs, pass_shapes[s].n);
    pass_run(&p, kernel);
    plain_sha256_update(&sum, p.hidden1, p.n * H * sizeof(float));
    plain_sha256_update(&sum, p.hidden2, p.n * H * sizeof(float));
    plain_sha256_update(&sum, p.z, p.n * sizeof(float));
    plain_sha256_update(&sum, p.gradient, p.shape.n_parameters * sizeof(float));
    pass_clear(&p);
  }
  plain_sha256_finish(&sum, hex);
}

/* Frozen: what every processor must give, whichever of the kernels it has. */
#define PASS_FUSED_DIGEST "817816551662e2471e8e374b9d7444e17f882bf88797bc5c07d6401c488011a4"
#define PASS_PORTABLE_DIGEST "6e2f1544d4d858cfcd6c51c2f6e68c30442d5da831b81528040fed2098b61cea"
