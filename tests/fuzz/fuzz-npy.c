/* NumPy's array: refused, or finite numbers of the size that the header tells. */
#include <math.h>
#include <stdint.h>
#include <unistd.h>

#include "cohort/npy.h"
#include "memory-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd;
  g_autofree char *path = fuzz_memory_file(data, size, &fd);
  size_t n, d;
  g_autoptr(GError) error = NULL;
  float *values = demur_npy_read(path, &n, &d, NULL, &error);
  close(fd);
  if (values == NULL)
    g_assert_nonnull(error);
  for (size_t i = 0; values != NULL && i < n * d; i++)
    g_assert_true(isfinite(values[i]));
  g_aligned_free(values);
  return 0;
}
