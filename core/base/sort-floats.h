/* Ascending order of single-precision values, without comparisons. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Sorts values [n], none of them NaN, in place; -0 before 0. O(n), with room for n more. */
void demur_sort_floats(float *values, size_t n);

G_END_DECLS
