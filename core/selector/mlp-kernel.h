/* Kernels of the network's passes: one table, from the fastest down, and which one is used.
 *
 * All of them are the same source (mlp-tiles.inc) at another width. `avx512`, `avx2` and `neon` round
 * a product and its sum once and give the same bytes; `portable` rounds twice and gives its own
 * bytes, the same on every processor. They serve float, 64 hidden units and at most 64 inputs;
 * everything else goes through the BLAS. */
#pragma once

#include "base/processor.h"
#include "selector/mlp.h"

G_BEGIN_DECLS

#define DEMUR_MLP_TILE_HIDDEN 64
#define DEMUR_MLP_TILE_INPUTS 64

typedef struct {
  const char *name;
  DemurProcessor level; /* what it is made of */
  /* hidden1 [n][h] as both passes make it from inputs [n][d]. */
  void (*first)(DemurMlpShape shape, const float *parameters, const float *inputs, size_t n,
                float *hidden1);
  /* As demur_mlp_transpose. */
  void (*transpose)(DemurMlpShape shape, const float *parameters, float *transposed);
  /* As demur_mlp_forward and demur_mlp_backward; their memory is their own. */
  void (*forward)(DemurMlpShape shape, const float *parameters, const float *transposed,
                  const float *inputs, const guint32 *rows, size_t n, float *hidden2, float *z);
  void (*backward)(DemurMlpShape shape, const float *parameters, const float *transposed,
                   const float *inputs, const guint32 *rows, const float *hidden2,
                   const guint32 *places, const float *dz, size_t n, float *gradient);
} DemurMlpKernel;

/* The kernels of this build [*n], from the fastest down; the last one is `portable` and always
 * supported. */
const DemurMlpKernel *const *demur_mlp_kernels(size_t *n);

/* The kernel in use: the first that the processor supports, unless one was chosen. */
const DemurMlpKernel *demur_mlp_kernel(void);

/* Whether this processor has what the kernel is made of. */
gboolean demur_mlp_kernel_is_supported(const DemurMlpKernel *kernel);

/* Uses the kernel of this name from now on, and nothing above its level in any room
 * (base/processor.h). To be called at start, before any work: it holds for the whole process. DEMUR_ERROR_USAGE with the names there are where it is none of them or the
 * processor does not support it. */
gboolean demur_mlp_kernel_choose(const char *name, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the kernels serve the shape. */
gboolean demur_mlp_kernel_serves(DemurMlpShape shape);

#ifdef __x86_64__
extern const DemurMlpKernel demur_mlp_avx512, demur_mlp_avx2;
#endif
#ifdef __aarch64__
extern const DemurMlpKernel demur_mlp_neon;
#endif
extern const DemurMlpKernel demur_mlp_portable;

G_END_DECLS
