/* Whether numbers are finite, many at once. */
#pragma once

#include <glib.h>
#include <string.h>

/* Whether none of values [n] is infinite or no number: then no exponent is all ones. */
static inline gboolean
demur_floats_are_finite(const float *values, size_t n) {
  guint32 wrong = 0;
  for (size_t i = 0; i < n; i++) {
    guint32 bits;
    memcpy(&bits, &values[i], sizeof bits);
    wrong |= (bits & 0x7f800000u) == 0x7f800000u;
  }
  return wrong == 0;
}
