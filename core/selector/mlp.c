/* Three matrix products forward, five backward: by a kernel of mlp-kernel.h where it serves the
 * shape, else by the BLAS (single-threaded; see base/blas.h), with the bias and ReLU passes in
 * between. Data: row-major [rows][columns]. Cost: 2 n (d h + h h + h) forward, twice that backward.
 */
#include "selector/mlp.h"

#ifndef DEMUR_REAL_DOUBLE
#include "selector/mlp-kernel.h"
#endif

#include <math.h>
#include <string.h>

#include "base/tiny-numbers.h"

DemurMlpShape
demur_mlp_shape(size_t n_inputs, size_t n_hidden) {
  const size_t n_parameters =
      n_hidden * n_inputs + n_hidden + n_hidden * n_hidden + n_hidden + n_hidden + 1;
  return (DemurMlpShape){n_inputs, n_hidden, n_parameters};
}

DemurMlpOffsets
demur_mlp_offsets(DemurMlpShape shape) {
  DemurMlpOffsets o;
  o.w1 = 0;
  o.b1 = o.w1 + shape.n_hidden * shape.n_inputs;
  o.w2 = o.b1 + shape.n_hidden;
  o.b2 = o.w2 + shape.n_hidden * shape.n_hidden;
  o.w3 = o.b2 + shape.n_hidden;
  o.b3 = o.w3 + shape.n_hidden;
  return o;
}

static void
fill_uniform(DemurRandom *random, double bound, size_t n, DemurReal *values) {
  for (size_t i = 0; i < n; i++)
    values[i] = (DemurReal)(bound * (2.0 * demur_random_uniform(random) - 1.0));
}

void
demur_mlp_initialise(DemurMlpShape shape, DemurRandom *random, DemurReal *parameters) {
  const DemurMlpOffsets o = demur_mlp_offsets(shape);
  const double first = 1.0 / sqrt((double)shape.n_inputs);
  const double later = 1.0 / sqrt((double)shape.n_hidden);
  fill_uniform(random, first, o.w2 - o.w1, parameters + o.w1);
  fill_uniform(random, later, shape.n_parameters - o.w2, parameters + o.w2);
}

/* out = relu(in W^T + b), in [n][n_in], W [n_out][n_in]. */
static void
linear_relu(const DemurReal *in, size_t n, size_t n_in, const DemurReal *weights,
            const DemurReal *biases, size_t n_out, DemurReal *out) {
  for (size_t i = 0; i < n; i++)
    memcpy(out + i * n_out, biases, n_out * sizeof(DemurReal));
  const DemurProduct product = {
      .right_is_transposed = TRUE, .rows = n, .columns = n_out, .inner = n_in};
  demur_real_multiply(&product, 1, in, weights, 1, out);
  for (size_t i = 0; i < n * n_out; i++)
    out[i] = out[i] > 0 ? out[i] : 0;
}

/* The rows where they lie side by side, else a copy [n][width]. */
static const DemurReal *
side_by_side(const DemurReal *matrix, const guint32 *rows, size_t n, size_t width,
             DemurReal *copy) {
  if (rows == NULL)
    return matrix;
  for (size_t i = 0; i < n; i++)
    memcpy(copy + i * width, matrix + rows[i] * width, width * sizeof(DemurReal));
  return copy;
}

void
demur_mlp_transpose(DemurMlpShape shape, const DemurReal *parameters, DemurReal *transposed) {
#ifndef DEMUR_REAL_DOUBLE
  if (demur_mlp_kernel_serves(shape))
    demur_mlp_kernel()->transpose(shape, parameters, transposed);
#endif
}

static void
forward(const DemurMlp *mlp, const DemurMlpScans *scans, DemurReal *scratch, DemurReal *hidden2,
        DemurReal *z) {
  const DemurMlpShape shape = mlp->shape;
  const DemurReal *parameters = mlp->parameters;
#ifndef DEMUR_REAL_DOUBLE
  if (demur_mlp_kernel_serves(shape)) {
    demur_mlp_kernel()->forward(shape, parameters, mlp->transposed, scans->inputs, scans->rows,
                                scans->n, hidden2, z);
    return;
  }
#endif
  const DemurMlpOffsets o = demur_mlp_offsets(shape);
  const size_t n = scans->n, d = shape.n_inputs, h = shape.n_hidden;
  DemurReal *hidden1 = scratch;
  const DemurReal *inputs = side_by_side(scans->inputs, scans->rows, n, d, scratch + n * h);
  linear_relu(inputs, n, d, parameters + o.w1, parameters + o.b1, h, hidden1);
  linear_relu(hidden1, n, h, parameters + o.w2, parameters + o.b2, h, hidden2);
  const DemurReal *w3 = parameters + o.w3, b3 = parameters[o.b3];
  for (size_t i = 0; i < n; i++) {
    const DemurReal *row = hidden2 + i * h;
    /* Eight partial sums in a fixed order: vectorised, and the same bytes always. */
    DemurReal part[8] = {0};
    size_t j = 0;
    for (; j + 8 <= h; j += 8)
      for (size_t l = 0; l < 8; l++)
        part[l] += row[j + l] * w3[j + l];
    DemurReal sum =
        ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
    for (; j < h; j++)
      sum += row[j] * w3[j];
    z[i] = sum + b3;
  }
}

void
demur_mlp_forward(const DemurMlp *mlp, const DemurMlpScans *scans, DemurReal *scratch,
                  DemurReal *hidden2, DemurReal *z) {
  const guint64 before = demur_tiny_numbers_begin();
  forward(mlp, scans, scratch, hidden2, z);
  demur_tiny_numbers_end(before);
}

/* W gradient += d_out^T in, b gradient += column sums of d_out. */
static void
linear_gradient(const DemurReal *d_out, size_t n, size_t n_out, const DemurReal *in, size_t n_in,
                DemurReal *d_weights, DemurReal *d_biases) {
  const DemurProduct product = {
      .left_is_transposed = TRUE, .rows = n_out, .columns = n_in, .inner = n};
  demur_real_multiply(&product, 1, d_out, in, 1, d_weights);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n_out; j++)
      d_biases[j] += d_out[i * n_out + j];
}

void
demur_mlp_backward(const DemurMlp *mlp, const DemurMlpScans *scans, const DemurReal *hidden2,
                   const guint32 *places, const DemurReal *dz, DemurReal *scratch,
                   DemurReal *gradient) {
  const DemurMlpShape shape = mlp->shape;
  const DemurReal *parameters = mlp->parameters;
#ifndef DEMUR_REAL_DOUBLE
  if (demur_mlp_kernel_serves(shape)) {
    demur_mlp_kernel()->backward(shape, parameters, mlp->transposed, scans->inputs, scans->rows,
                                 hidden2, places, dz, scans->n, gradient);
    return;
  }
#endif
  const DemurMlpOffsets o = demur_mlp_offsets(shape);
  const size_t n = scans->n, d = shape.n_inputs, h = shape.n_hidden;
  DemurReal *d_hidden2 = scratch, *d_hidden1 = scratch + n * h, *hidden1 = scratch + 2 * n * h;
  hidden2 = side_by_side(hidden2, places, n, h, scratch + 3 * n * h);
  const DemurReal *inputs = side_by_side(scans->inputs, scans->rows, n, d, scratch + 4 * n * h);
  const guint64 before = demur_tiny_numbers_begin();
  linear_relu(inputs, n, d, parameters + o.w1, parameters + o.b1, h, hidden1);
  demur_tiny_numbers_end(before);
  const DemurReal *w3 = parameters + o.w3;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < h; j++) {
      gradient[o.w3 + j] += dz[i] * hidden2[i * h + j];
      d_hidden2[i * h + j] = hidden2[i * h + j] > 0 ? dz[i] * w3[j] : 0;
    }
    gradient[o.b3] += dz[i];
  }
  linear_gradient(d_hidden2, n, h, hidden1, h, gradient + o.w2, gradient + o.b2);
  const DemurProduct product = {.rows = n, .columns = h, .inner = h};
  demur_real_multiply(&product, 1, d_hidden2, parameters + o.w2, 0, d_hidden1);
  for (size_t i = 0; i < n * h; i++)
    d_hidden1[i] = hidden1[i] > 0 ? d_hidden1[i] : 0;
  linear_gradient(d_hidden1, n, h, inputs, d, gradient + o.w1, gradient + o.b1);
}
