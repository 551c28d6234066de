#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static gboolean
array_bytes(size_t n_rows, size_t n_columns, size_t element_size, size_t *bytes) {
  size_t n;
  return g_size_checked_mul(&n, n_rows, n_columns) && g_size_checked_mul(bytes, n, element_size) &&
         *bytes <= G_MAXSIZE / 4;
}

gpointer
demur_memory_array(size_t n_rows, size_t n_columns, size_t element_size, GError **error) {
  size_t bytes;
  void *memory = NULL;
  if (!array_bytes(n_rows, n_columns, element_size, &bytes) ||
      posix_memalign(&memory, 64, MAX(bytes, 64)) != 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%zu x %zu values do not fit into this machine's memory", n_rows, n_columns);
    return NULL;
  }
  memset(memory, 0, bytes);
  return memory;
}

gpointer
demur_memory_new(size_t n_rows, size_t n_columns, size_t element_size) {
  size_t bytes;
  if (!array_bytes(n_rows, n_columns, element_size, &bytes))
    g_error("array of %zu x %zu elements overflows", n_rows, n_columns);
  return g_aligned_alloc0(MAX(bytes, 64), 1, 64);
}
