/* Radix sort by 11-bit digits of the bit pattern, which is made to ascend as the values do: the sign of a positive value is set,
 * all bits of a negative one are turned over. Three passes over n keys and three counts of 2,048. */
#include "base/sort-floats.h"

#include <string.h>

#define DIGIT 11
#define N_DIGITS 3
#define N_VALUES (1u << DIGIT)

void
demur_sort_floats(float *values, size_t n) {
  guint32 counts[N_DIGITS][N_VALUES] = {0};
  g_autofree guint32 *keys = g_new(guint32, MAX(2 * n, 1));
  guint32 *from = keys, *to = keys + n;
  for (size_t i = 0; i < n; i++) {
    guint32 bits;
    memcpy(&bits, &values[i], sizeof bits);
    bits ^= bits >> 31 ? G_MAXUINT32 : 1u << 31;
    from[i] = bits;
    for (guint d = 0; d < N_DIGITS; d++)
      counts[d][bits >> d * DIGIT & (N_VALUES - 1)]++;
  }
  for (guint d = 0; d < N_DIGITS; d++) {
    guint32 before = 0;
    for (guint v = 0; v < N_VALUES; v++) {
      const guint32 here = counts[d][v];
      counts[d][v] = before;
      before += here;
    }
    for (size_t i = 0; i < n; i++)
      to[counts[d][from[i] >> d * DIGIT & (N_VALUES - 1)]++] = from[i];
    guint32 *const other = from;
    from = to;
    to = other;
  }
  for (size_t i = 0; i < n; i++) {
    const guint32 bits = from[i] ^ (from[i] >> 31 ? 1u << 31 : G_MAXUINT32);
    memcpy(&values[i], &bits, sizeof bits);
  }
}
