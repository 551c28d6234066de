/* The kernels of another architecture, tried under its emulator: each kernel's name and the digest of
 * its passes. Made and run by other-processors.sh. */
#include <stdio.h>

#include "support/kernel-pass.h"

int
main(void) {
  static const DemurMlpKernel *const kernels[] = {
#ifdef __aarch64__
      &demur_mlp_neon,
#endif
      &demur_mlp_portable,
  };
  int status = 0;
  for (size_t k = 0; k < G_N_ELEMENTS(kernels); k++) {
    const gboolean portable = strcmp(kernels[k]->name, "portable") == 0;
    char digest[PLAIN_SHA256_HEX];
    pass_digest(kernels[k], digest);
    const gboolean right = strcmp(digest, portable ? PASS_PORTABLE_DIGEST : PASS_FUSED_DIGEST) == 0;
    printf("%s %s: %s\n", kernels[k]->name, digest, right ? "as on every processor" : "NOT EQUAL");
    status |= !right;
  }
  return status;
}
