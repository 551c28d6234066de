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

/* transposed [n_parameters]: the weights as passes over many chunks of rows read them, made once for all of them. What else it
 * holds isn't defined. */
void demur_mlp_transpose(DemurMlpShape shape, const DemurReal *parameters, DemurReal *transposed);

/* The network of a pass. Borrowed. */
typedef struct {
  DemurMlpShape shape;
  const DemurReal *parameters; /* [n_parameters] */
  const DemurReal
      *transposed; /* [n_parameters] of demur_mlp_transpose, or NULL: each pass makes its own */
} DemurMlp;

/* What a pass takes: n rows of a matrix where they lie. Single-threaded: the caller maps over chunks of
 * rows. Borrowed. */
typedef struct {
  const DemurReal *inputs; /* [..][d] */
  const guint32 *rows;     /* [n], of inputs; NULL: the first n */
  size_t n;
} DemurMlpScans;

/* z [n] of the scans; hidden2 [n][h] receives the second layer after ReLU. scratch [n][h], with rows
 * [n][d + h]. */
void demur_mlp_forward(const DemurMlp *mlp, const DemurMlpScans *scans, DemurReal *scratch,
                       DemurReal *hidden2, DemurReal *z);

/* Adds the gradient of sum_i dz_i z_i, dz [n], to gradient [n_parameters], for the scans and what the forward pass
 * kept of them: the i-th is row places[i] of hidden2 [..][h], or i where places is NULL. The first layer is made
 * anew. scratch [n][d + 4 h]. */
void demur_mlp_backward(const DemurMlp *mlp, const DemurMlpScans *scans, const DemurReal *hidden2,
                        const guint32 *places, const DemurReal *dz, DemurReal *scratch,
                        DemurReal *gradient);

G_END_DECLS
