#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/error.h"

static gboolean
array_bytes(size_t n_rows, size_t n_columns, size_t element_size, size_t *bytes) {
  size_t n;
  return g_size_checked_mul(&n, n_rows, n_columns) && g_size_checked_mul(bytes, n, element_size) &&
         *bytes <= G_MAXSIZE / 4;
}

/* Arrays of 4 MB and more are laid on 2 MB pages where the system has them to give: the first touch
 * of an array otherwise costs more than much of what is computed in it. */
#define HUGE_PAGE ((size_t)2 << 20)

/* Bytes aligned to 64 or more, as they come; NULL where they can't be had. */
static void *
unset(size_t bytes) {
  const gboolean large = bytes >= 2 * HUGE_PAGE;
  void *memory = NULL;
  if (posix_memalign(&memory, large ? HUGE_PAGE : 64, MAX(bytes, 64)) != 0)
    return NULL;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (large) /* advice: nothing depends on its being taken */
    (void)madvise(memory, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#endif
  return memory;
}

gpointer
demur_memory_unset(size_t n_rows, size_t n_columns, size_t element_size, GError **error) {
  size_t bytes;
  void *memory = array_bytes(n_rows, n_columns, element_size, &bytes) ? unset(bytes) : NULL;
  if (memory == NULL)
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "%zu x %zu values do not fit into this machine's memory", n_rows, n_columns);
  return memory;
}

gpointer
demur_memory_array(size_t n_rows, size_t n_columns, size_t element_size, GError **error) {
  void *memory = demur_memory_unset(n_rows, n_columns, element_size, error);
  /* The product fits: the memory is there. */
  return memory != NULL ? memset(memory, 0, n_rows * n_columns * element_size) : NULL;
}

gpointer
demur_memory_new_unset(size_t n_rows, size_t n_columns, size_t element_size) {
  size_t bytes;
  if (!array_bytes(n_rows, n_columns, element_size, &bytes))
    g_error("array of %zu x %zu elements overflows", n_rows, n_columns);
  void *memory = unset(bytes);
  if (memory == NULL)
    g_error("no memory for an array of %zu x %zu elements", n_rows, n_columns);
  return memory;
}

gpointer
demur_memory_new(size_t n_rows, size_t n_columns, size_t element_size) {
  void *memory = demur_memory_new_unset(n_rows, n_columns, element_size);
  return memset(memory, 0, MAX(n_rows * n_columns * element_size, 64));
}
