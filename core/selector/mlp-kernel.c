#include "selector/mlp-kernel.h"

#include <string.h>

#include "base/error.h"

static const DemurMlpKernel *const kernels[] = {
#ifdef __x86_64__
    &demur_mlp_avx512,
    &demur_mlp_avx2,
#endif
#ifdef __aarch64__
    &demur_mlp_neon,
#endif
    &demur_mlp_portable,
};

static const DemurMlpKernel *chosen;

const DemurMlpKernel *const *
demur_mlp_kernels(size_t *n) {
  *n = G_N_ELEMENTS(kernels);
  return kernels;
}

gboolean
demur_mlp_kernel_is_supported(const DemurMlpKernel *kernel) {
  return demur_processor_has(kernel->level);
}

const DemurMlpKernel *
demur_mlp_kernel(void) {
  const DemurMlpKernel *kernel = g_atomic_pointer_get(&chosen);
  if (kernel != NULL)
    return kernel;
  size_t i = 0;
  while (!demur_mlp_kernel_is_supported(kernels[i]))
    i++;
  g_atomic_pointer_set(&chosen, (gpointer)kernels[i]);
  return kernels[i];
}

gboolean
demur_mlp_kernel_choose(const char *name, GError **error) {
  g_autoptr(GString) names = g_string_new(NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(kernels); i++) {
    if (!demur_mlp_kernel_is_supported(kernels[i]))
      continue;
    if (strcmp(kernels[i]->name, name) == 0) {
      g_atomic_pointer_set(&chosen, (gpointer)kernels[i]);
      demur_processor_limit(kernels[i]->level);
      return TRUE;
    }
    g_string_append_printf(names, "%s%s", names->len > 0 ? ", " : "", kernels[i]->name);
  }
  demur_error_set(error, DEMUR_ERROR_USAGE, "this processor has no kernel '%s'; it has: %s", name,
                  names->str);
  return FALSE;
}

gboolean
demur_mlp_kernel_serves(DemurMlpShape shape) {
  return shape.n_hidden == DEMUR_MLP_TILE_HIDDEN && shape.n_inputs <= DEMUR_MLP_TILE_INPUTS;
}
