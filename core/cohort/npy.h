/* NumPy .npy files (format versions 1 to 3) of one numeric matrix. */
#pragma once

#include <glib.h>

#include "base/progress.h"

G_BEGIN_DECLS

/* Reads a two-dimensional array of float16, float32 or float64, either byte order, C or Fortran
 * order, as float [n_rows][n_columns] (aligned: free with g_aligned_free). NULL with
 * DEMUR_ERROR_INPUT: another or a damaged file, object or other types, a size that is not the
 * header's, a value that is not finite as float (with its row and column, 0-based as in NumPy). The
 * size is checked against the file before allocating. */
float *demur_npy_read(const char *path, size_t *n_rows, size_t *n_columns,
                      const DemurProgress *progress, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What the header says, checked against the file's size: for refusing a file of the wrong shape
 * before its values are read. */
gboolean demur_npy_shape(const char *path, size_t *n_rows, size_t *n_columns,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
