/* The network's kernels: each against sums in double, and one another byte for byte. Right values:
 * the definition, in double, here. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "support/kernel-pass.h"
#include "support/support.h"

/* out[n_out] = relu(W in + b), all in double. */
static void
layer(const float *w, const float *b, const double *in, size_t n_in, double *out) {
  for (size_t j = 0; j < H; j++) {
    double sum = (double)b[j];
    for (size_t k = 0; k < n_in; k++)
      sum += (double)w[j * n_in + k] * in[k];
    out[j] = sum > 0.0 ? sum : 0.0;
  }
}

/* z [n] and gradient [n_parameters] by the definition. */
static void
reference(const Pass *p, double *z, double *gradient) {
  const DemurMlpOffsets o = demur_mlp_offsets(p->shape);
  const size_t d = p->shape.n_inputs;
  memset(gradient, 0, p->shape.n_parameters * sizeof(double));
  for (size_t i = 0; i < p->n; i++) {
    double x[DEMUR_MLP_TILE_INPUTS], h1[H], h2[H], d1[H] = {0}, d2[H];
    for (size_t k = 0; k < d; k++)
      x[k] = (double)p->inputs[i * d + k];
    layer(p->parameters + o.w1, p->parameters + o.b1, x, d, h1);
    layer(p->parameters + o.w2, p->parameters + o.b2, h1, H, h2);
    const double dz = (double)p->dz[i];
    z[i] = (double)p->parameters[o.b3];
    for (size_t j = 0; j < H; j++) {
      z[i] += (double)p->parameters[o.w3 + j] * h2[j];
      gradient[o.w3 + j] += dz * h2[j];
      d2[j] = h2[j] > 0.0 ? dz * (double)p->parameters[o.w3 + j] : 0.0;
      gradient[o.b2 + j] += d2[j];
      for (size_t k = 0; k < H; k++) {
        gradient[o.w2 + j * H + k] += d2[j] * h1[k];
        d1[k] += d2[j] * (double)p->parameters[o.w2 + j * H + k];
      }
    }
    for (size_t j = 0; j < H; j++) {
      d1[j] = h1[j] > 0.0 ? d1[j] : 0.0;
      gradient[o.b1 + j] += d1[j];
      for (size_t k = 0; k < d; k++)
        gradient[o.w1 + j * d + k] += d1[j] * x[k];
    }
    gradient[o.b3] += dz;
  }
}

static void
test_definition(void) {
  size_t n_kernels;
  const DemurMlpKernel *const *kernels = demur_mlp_kernels(&n_kernels);
  for (size_t s = 0; s < G_N_ELEMENTS(pass_shapes); s++) {
    Pass p;
    pass_init(&p, pass_shapes[s].n_inputs, pass_shapes[s].n);
    g_autofree double *z = g_new(double, p.n);
    g_autofree double *gradient = g_new(double, p.shape.n_parameters);
    reference(&p, z, gradient);
    for (size_t k = 0; k < n_kernels; k++) {
      if (!demur_mlp_kernel_is_supported(kernels[k]))
        continue;
      pass_run(&p, kernels[k]);
      for (size_t i = 0; i < p.n; i++)
        g_assert_cmpfloat_with_epsilon((double)p.z[i], z[i], 2e-6);
      /* A unit whose activation rounds to the other side of 0 moves the gradient by one scan's
       * share: none does for these draws. */
      for (size_t i = 0; i < p.shape.n_parameters; i++)
        g_assert_cmpfloat_with_epsilon((double)p.gradient[i], gradient[i], 2e-5);
    }
    pass_clear(&p);
  }
}

/* Units of the hidden layers that are all above 0, or none, or all of the first alone: zeros take no part in sums. */
static void
test_all_and_none(void) {
  static const float biases[][2] = {{9.0f, 90.0f}, {-9.0f, -90.0f}, {9.0f, -90.0f}, {-9.0f, 90.0f}};
  size_t n_kernels;
  const DemurMlpKernel *const *kernels = demur_mlp_kernels(&n_kernels);
  for (size_t c = 0; c < G_N_ELEMENTS(biases); c++)
    for (size_t n = 1; n <= 97; n += 48) {
      Pass p;
      pass_init(&p, 5, n);
      const DemurMlpOffsets o = demur_mlp_offsets(p.shape);
      for (size_t j = 0; j < H; j++) {
        p.parameters[o.b1 + j] = biases[c][0];
        p.parameters[o.b2 + j] += biases[c][1];
      }
      g_autofree double *z = g_new(double, p.n);
      g_autofree double *gradient = g_new(double, p.shape.n_parameters);
      reference(&p, z, gradient);
      for (size_t k = 0; k < n_kernels; k++) {
        if (!demur_mlp_kernel_is_supported(kernels[k]))
          continue;
        pass_run(&p, kernels[k]);
        for (size_t i = 0; i < n * H; i++)
          g_assert_true((p.hidden1[i] > 0.0f) == (biases[c][0] > 0.0f) &&
                        (p.hidden2[i] > 0.0f) == (biases[c][1] > 0.0f));
        for (size_t i = 0; i < p.n; i++)
          g_assert_cmpfloat_with_epsilon((double)p.z[i], z[i], 5e-5);
        for (size_t i = 0; i < p.shape.n_parameters; i++)
          g_assert_cmpfloat_with_epsilon((double)p.gradient[i], gradient[i],
                                         1e-5 * (1.0 + fabs(gradient[i])) * (double)n);
      }
      pass_clear(&p);
    }
}

static void
test_same_bytes(void) {
  size_t n_kernels;
  const DemurMlpKernel *const *kernels = demur_mlp_kernels(&n_kernels);
  for (size_t k = 0; k < n_kernels; k++) {
    if (!demur_mlp_kernel_is_supported(kernels[k])) {
      g_test_message("%s is not of this processor", kernels[k]->name);
      continue;
    }
    char digest[PLAIN_SHA256_HEX];
    pass_digest(kernels[k], digest);
    g_assert_cmpstr(digest, ==,
                    strcmp(kernels[k]->name, "portable") == 0 ? PASS_PORTABLE_DIGEST
                                                              : PASS_FUSED_DIGEST);
  }
}

/* The first layer is the same whichever other rows are with it. */
static void
test_first_layer(void) {
  size_t n_kernels;
  const DemurMlpKernel *const *kernels = demur_mlp_kernels(&n_kernels);
  for (size_t s = 0; s < G_N_ELEMENTS(pass_shapes); s++)
    for (size_t k = 0; k < n_kernels; k++) {
      if (!demur_mlp_kernel_is_supported(kernels[k]))
        continue;
      Pass p;
      pass_init(&p, pass_shapes[s].n_inputs, pass_shapes[s].n);
      pass_run(&p, kernels[k]);
      g_autofree float *alone = g_new(float, p.n *H);
      for (size_t start = 0; start < p.n; start += 5) {
        const size_t n = MIN(5, p.n - start);
        kernels[k]->first(p.shape, p.parameters, p.inputs + start * p.shape.n_inputs, n,
                          alone + start * H);
      }
      g_assert_true(memcmp(alone, p.hidden1, p.n * H * sizeof(float)) == 0);
      pass_clear(&p);
    }
}

/* Rows taken where they lie, in any order and some of them twice, with weights transposed before, give what a copy of them gives side by
 * side by weights that the pass itself transposes: by every kernel and by the BLAS. */
static void
test_rows(void) {
  size_t n_kernels;
  const DemurMlpKernel *const *kernels = demur_mlp_kernels(&n_kernels);
  const size_t n_scans = 131, n = 97, hidden[] = {H, 32}, d = 9;
  for (size_t k = 0; k < n_kernels; k++)
    for (size_t s = 0; demur_mlp_kernel_is_supported(kernels[k]) && s < G_N_ELEMENTS(hidden); s++) {
      g_assert_true(demur_mlp_kernel_choose(kernels[k]->name, NULL));
      const size_t h = hidden[s];
      const DemurMlpShape shape = demur_mlp_shape(d, h);
      DEMUR_AUTO_ALIGNED float *p = demur_new_array(float, shape.n_parameters);
      DEMUR_AUTO_ALIGNED float *x = demur_new_matrix(float, n_scans + n, d);
      DEMUR_AUTO_ALIGNED float *hidden2 = demur_new_matrix(float, n_scans + 2 * n, h);
      DEMUR_AUTO_ALIGNED float *scratch = demur_new_matrix(float, n, d + 4 * h);
      DEMUR_AUTO_ALIGNED float *gradients = demur_new_matrix(float, 2, shape.n_parameters);
      DemurRandom random = demur_random_stream(3, DEMUR_STREAM_TEST, h, 0, 0);
      DEMUR_AUTO_ALIGNED float *transposed = demur_new_array(float, shape.n_parameters);
      demur_mlp_initialise(shape, &random, p);
      demur_mlp_transpose(shape, p, transposed);
      const DemurMlp mlp = {shape, p, transposed}, alone = {shape, p, NULL};
      fill(&random, n_scans * d, x);
      fill(&random, n_scans * h, hidden2);
      float *copy = x + n_scans * d, *second = hidden2 + n_scans * h, *beside = second + n * h;
      float dz[97], z[97], z_beside[97];
      guint32 rows[97], places[97];
      fill(&random, n, dz);
      for (size_t i = 0; i < n; i++) {
        rows[i] = (guint32)demur_random_below(&random, n_scans);
        places[i] = (guint32)demur_random_below(&random, n_scans);
        memcpy(copy + i * d, x + rows[i] * d, d * sizeof(float));
      }
      const DemurMlpScans scans = {x, rows, n}, copied = {copy, NULL, n};
      demur_mlp_forward(&mlp, &scans, scratch, second, z);
      demur_mlp_forward(&alone, &copied, scratch, beside, z_beside);
      g_assert_true(memcmp(second, beside, n * h * sizeof(float)) == 0);
      g_assert_true(memcmp(z, z_beside, sizeof z) == 0);
      for (size_t i = 0; i < n; i++)
        memcpy(second + i * h, hidden2 + places[i] * h, h * sizeof(float));
      float *gradient = gradients, *gradient_beside = gradients + shape.n_parameters;
      demur_mlp_backward(&mlp, &scans, hidden2, places, dz, scratch, gradient);
      demur_mlp_backward(&alone, &copied, second, NULL, dz, scratch, gradient_beside);
      g_assert_true(memcmp(gradient, gradient_beside, shape.n_parameters * sizeof(float)) == 0);
    }
}

static void
test_choice(void) {
  g_autoptr(GError) error = NULL;
  g_assert_false(demur_mlp_kernel_choose("mmx", &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  g_assert_nonnull(strstr(error->message, "portable"));
  g_clear_error(&error);
  g_assert_true(demur_mlp_kernel_choose("portable", &error));
  g_assert_no_error(error);
  g_assert_cmpstr(demur_mlp_kernel()->name, ==, "portable");
}

/* Of weights that are all tiny nothing comes, by every kernel and by the BLAS, where each product would take a hundred times
 * as long; beside usual ones they change no bit; and the caller computes with them as before. */
static void
test_tiny_numbers(void) {
  size_t n_kernels;
  const DemurMlpKernel *const *kernels = demur_mlp_kernels(&n_kernels);
  const size_t n = 7, hidden[] = {H, 32};
  for (size_t k = 0; k < n_kernels; k++)
    for (size_t s = 0; demur_mlp_kernel_is_supported(kernels[k]) && s < G_N_ELEMENTS(hidden); s++) {
      g_assert_true(demur_mlp_kernel_choose(kernels[k]->name, NULL));
      const DemurMlpShape shape = demur_mlp_shape(5, hidden[s]);
      const DemurMlpOffsets o = demur_mlp_offsets(shape);
      DEMUR_AUTO_ALIGNED float *p = demur_new_array(float, shape.n_parameters);
      DEMUR_AUTO_ALIGNED float *x = demur_new_matrix(float, n, 5);
      DEMUR_AUTO_ALIGNED float *h = demur_new_matrix(float, 2 * n, hidden[s]);
      for (size_t i = 0; i < n * 5; i++)
        x[i] = (float)(i % 3) + 0.5f;
      for (size_t i = 0; i < o.w3; i++)
        p[i] = 0.01f * (float)(i % 7);
      for (size_t i = o.w3; i < o.b3; i++)
        p[i] = 1e-40f;
      const DemurMlp mlp = {shape, p, NULL};
      const DemurMlpScans scans = {x, NULL, n};
      float z[7], beside[7], without[7];
      demur_mlp_forward(&mlp, &scans, h, h + n * hidden[s], z);
      for (size_t i = 0; i < n; i++)
        g_assert_true(z[i] == 0.0f);
      p[o.b3] = 0.3f;
      p[o.w1] = 1e-40f;
      demur_mlp_forward(&mlp, &scans, h, h + n * hidden[s], beside);
      p[o.w1] = 0.0f;
      for (size_t i = o.w3; i < o.b3; i++)
        p[i] = 0.0f;
      demur_mlp_forward(&mlp, &scans, h, h + n * hidden[s], without);
      g_assert_true(memcmp(beside, without, sizeof beside) == 0);
      volatile float tiny = 1e-40f;
      g_assert_true(tiny * 1.0f > 0.0f);
    }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/kernel/definition", test_definition);
  g_test_add_func("/kernel/all-and-none", test_all_and_none);
  g_test_add_func("/kernel/same-bytes", test_same_bytes);
  g_test_add_func("/kernel/first-layer", test_first_layer);
  g_test_add_func("/kernel/rows", test_rows);
  g_test_add_func("/kernel/tiny-numbers", test_tiny_numbers);
  g_test_add_func("/kernel/choice", test_choice);
  return g_test_run();
}
