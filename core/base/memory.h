/* Arrays whose size is checked for overflow before it is allocated. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* n_rows x n_columns elements of element_size bytes, zeroed, aligned to 64 bytes (for vector
 * loads); free with g_aligned_free. NULL with DEMUR_ERROR_INPUT where the product overflows or
 * can't be had. */
gpointer demur_memory_array(size_t n_rows, size_t n_columns, size_t element_size,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same (DEMUR_ERROR_INPUT too), but not zeroed: for what is written whole before it is read. */
gpointer demur_memory_unset(size_t n_rows, size_t n_columns, size_t element_size,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same as demur_memory_array for sizes that are known to be sane (no larger than something
 * already allocated): never NULL. */
gpointer demur_memory_new(size_t n_rows, size_t n_columns, size_t element_size);

/* The same, but not zeroed: for what is written whole before it is read, by several threads where it is large, which then share
 * the first touch of its pages too. */
gpointer demur_memory_new_unset(size_t n_rows, size_t n_columns, size_t element_size);

#define demur_new_array(type, n) ((type *)demur_memory_new((n), 1, sizeof(type)))
#define demur_new_matrix(type, n_rows, n_columns)                                                  \
  ((type *)demur_memory_new((n_rows), (n_columns), sizeof(type)))

#define demur_unset_matrix(type, n_rows, n_columns)                                                \
  ((type *)demur_memory_new_unset((n_rows), (n_columns), sizeof(type)))

/* g_autofree for aligned arrays: DEMUR_AUTO_ALIGNED double *values = demur_new_array(double, n); */
static inline void
demur_memory_clear(void *address) {
  g_aligned_free(*(void **)address);
}
#define DEMUR_AUTO_ALIGNED __attribute__((cleanup(demur_memory_clear)))

G_END_DECLS
