/* What the files of libdemur share. */
#pragma once

#include <glib.h>

#include "library/libdemur.h"

G_BEGIN_DECLS

/* -1, with the GError's message (taken over) in *error where it is wanted. */
int demur_library_fail(libdemur_error *error, GError *cause);
/* FALSE with a GError naming argument and row where a value of vector [n] is not in [low, high]. */
gboolean demur_library_check(const char *argument, const double *vector, size_t n, double low,
                             double high, GError **error);
/* Rows [n] in ascending value (owned), equal ones in their order. */
guint32 *demur_library_order(const double *values, size_t n);

G_END_DECLS
