/* The network's kernels: each against sums in double, and one another byte for byte. Right values:
 * the definition, in double, here. */
#include <math.h>
#include <string.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/random.h"
#include "selector/mlp-kernel.h"
#include "support/support.h"

#define H DEMUR_MLP_TILE_HIDDEN

/* Inputs of a pass and what came out of it. */
typedef struct {
  DemurMlpShape shape;
  size_t n;
  float *parameters, *inputs, *dz;
  float *hidden1, *hidden2, *z, *scratch, *gradient;
} Pass;

static void
fill(DemurRandom *random, size_t n, float *values) {
  for (size_t i = 0; i < n; i++)
    values[i] = (float)(2.0 * demur_random_uniform(random) - 1.0);
}

static void
pass_init(Pass *p, size_t d, size_t n) {
  p->shape = demur_mlp_shape(d, H);
  p->n = n;
  p->parameters = g_new(float, p->shape.n_parameters);
  p->inputs = g_new(float, n *d);
  p->dz = g_new(float, n);
  p->hidden1 = g_new0(float, n *H);
  p->hidden2 = g_new0(float, n *H);
  p->z = g_new0(float, n);
  p->scratch = g_new0(float, 2 * n * H);
  p->gradient = g_new0(float, p->shape.n_parameters);
  DemurRandom random = demur_random_stream(7, DEMUR_STREAM_WEIGHTS, d, n, 0);
  demur_mlp_initialise(p->shape, &random, p->parameters);
  fill(&random, n * d, p->inputs);
  fill(&random, n, p->dz);
}

static void
pass_clear(Pass *p) {
  g_free(p->parameters);
  g_free(p->inputs);
  g_free(p->dz);
  g_free(p->hidden1);
  g_free(p->hidden2);
  g_free(p->z);
  g_free(p->scratch);
  g_free(p->gradient);
}

static void
pass_run(Pass *p, const DemurMlpKernel *kernel) {
  kernel->forward(p->shape, p->parameters, p->inputs, p->n, p->hidden1, p->hidden2, p->z);
  memset(p->gradient, 0, p->shape.n_parameters * sizeof(float));
  kernel->backward(p->shape, p->parameters, p->inputs, p->hidden1, p->hidden2, p->dz, p->n,
                   p->scratch, p->gradient);
}

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

static const struct {
  size_t n_inputs, n;
} shapes[] = {{1, 1},    {5, 5},  {6, 6},   {7, 13}, {8, 64},
              {11, 510}, {12, 7}, {20, 31}, {63, 2}, {64, 25}};

static void
test_definition(void) {
  size_t n_kernels;
  const DemurMlpKernel *const *kernels = demur_mlp_kernels(&n_kernels);
  for (size_t s = 0; s < G_N_ELEMENTS(shapes); s++) {
    Pass p;
    pass_init(&p, shapes[s].n_inputs, shapes[s].n);
    g_autofree double *z = g_new(double, p.n);
    g_autofree double *gradient = g_new(double, p.shape.n_parameters);
    reference(&p, z, gradient);
    for (size_t k = 0; k < n_kernels; k++) {
      if (!kernels[k]->supported())
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

static void
add(GChecksum *sum, const float *values, size_t n) {
  g_checksum_update(sum, (const guchar *)values, (gssize)(n * sizeof(float)));
}

static char *
digest_of(const DemurMlpKernel *kernel) {
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  for (size_t s = 0; s < G_N_ELEMENTS(shapes); s++) {
    Pass p;
    pass_init(&p, shapes[s].n_inputs, shapes[s].n);
    pass_run(&p, kernel);
    add(sum, p.hidden1, p.n * H);
    add(sum, p.hidden2, p.n * H);
    add(sum, p.z, p.n);
    add(sum, p.gradient, p.shape.n_parameters);
    pass_clear(&p);
  }
  return g_strdup(g_checksum_get_string(sum));
}

/* Frozen: what every processor must give, whichever of the kernels it has. */
#define FUSED_DIGEST "817816551662e2471e8e374b9d7444e17f882bf88797bc5c07d6401c488011a4"
#define PORTABLE_DIGEST "6e2f1544d4d858cfcd6c51c2f6e68c30442d5da831b81528040fed2098b61cea"

static void
test_same_bytes(void) {
  size_t n_kernels;
  const DemurMlpKernel *const *kernels = demur_mlp_kernels(&n_kernels);
  for (size_t k = 0; k < n_kernels; k++) {
    if (!kernels[k]->supported()) {
      g_test_message("%s is not of this processor", kernels[k]->name);
      continue;
    }
    g_autofree char *digest = digest_of(kernels[k]);
    g_assert_cmpstr(digest, ==,
                    strcmp(kernels[k]->name, "portable") == 0 ? PORTABLE_DIGEST : FUSED_DIGEST);
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

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/kernel/definition", test_definition);
  g_test_add_func("/kernel/same-bytes", test_same_bytes);
  g_test_add_func("/kernel/choice", test_choice);
  return g_test_run();
}
