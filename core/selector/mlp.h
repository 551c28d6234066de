/* The selector's network: Linear(d, h) ReLU Linear(h, h) ReLU Linear(h, 1); g~ = sigmoid of its
 * output z. Paper: section "Selector implementation" (h = 64). */
#pragma once

#include "base/random.h"
#include "selector/real.h"

G_BEGIN_DECLS

/* Parameters lie in one vector, in this order: W1 [h][d], b1 [h], W2 [h][h], b2 [h], W3 [1][h], b3
 * [1]; y = W x + b. */
typedef struct {
  size_t n_inputs, n_hidden; /* d, h */
  size_t n_parameters;
} DemurMlpShape;

DemurMlpShape demur_mlp_shape(size_t n_inputs, size_t n_hidden);

/* Offsets of the six parts in the parameter vector. */
typedef struct {
  size_t w1, b1, w2, b2, w3, b3;
} DemurMlpOffsets;
DemurMlpOffsets demur_mlp_offsets(DemurMlpShape shape);

/* parameters [n_parameters]: weights and biases uniform in +-1/sqrt(fan_in). */
void demur_mlp_initialise(DemurMlpShape shape, DemurRandom *random, DemurReal *parameters);

/* hidden1 [n][h] as the forward pass makes it from inputs [n][d]. Single-threaded. */
void demur_mlp_first_layer(DemurMlpShape shape, const DemurReal *parameters,
                           const DemurReal *inputs, size_t n, DemurReal *hidden1);

/* z [n] for inputs [n][d]; hidden1, hidden2 [n][h] receive the activations after ReLU.
 * Single-threaded: the caller maps over chunks of rows. */
void demur_mlp_forward(DemurMlpShape shape, const DemurReal *parameters, const DemurReal *inputs,
                       size_t n, DemurReal *hidden1, DemurReal *hidden2, DemurReal *z);

/* Adds the gradient of sum_i dz_i z_i to gradient [n_parameters], from the activations of the
 * forward pass; scratch [2][n][h]. Single-threaded. */
void demur_mlp_backward(DemurMlpShape shape, const DemurReal *parameters, const DemurReal *inputs,
                        const DemurReal *hidden1, const DemurReal *hidden2, const DemurReal *dz,
                        size_t n, DemurReal *scratch, DemurReal *gradient);

G_END_DECLS
