/* Parting around pivots (Hoare's FIND). The pivot is the middle one of three at places that are drawn
 * anew for every part: places fixed by n alone (first, middle, last) meet orders that cost O(n^2), and
 * gaps of a curve over ascending risk are such an order. Which pivots are drawn changes no result.
 * Cost: O(n) on average, whatever the order. */
#include "metrics/weighted-quantile.h"

#include <math.h>

/* xorshift64 (Marsaglia 2003), by multiply-shift in [0, n). */
static size_t
draw_place(guint64 *state, size_t n) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (size_t)(((unsigned __int128)*state * n) >> 64);
}

static double
draw_pivot(const DemurWeighted *values, size_t n, guint64 *state) {
  const double a = values[draw_place(state, n)].value, b = values[draw_place(state, n)].value,
               c = values[draw_place(state, n)].value;
  return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

double
demur_weighted_quantile(DemurWeighted *values, size_t n, double total, double p) {
  guint64 state = 0x9e3779b97f4a7c15u;
  double wanted = p * total * (1.0 - 1e-12);
  while (n > 1) {
    const double pivot = draw_pivot(values, n, &state);
    size_t low = 0, equal_end = 0; /* [0, low) below, [low, equal_end) equal */
    double below = 0.0, equal = 0.0;
    for (size_t i = 0; i < n; i++) {
      const DemurWeighted here = values[i];
      if (here.value > pivot)
        continue;
      values[i] = values[equal_end];
      values[equal_end] = here;
      if (here.value < pivot) {
        values[equal_end] = values[low];
        values[low++] = here;
        below += here.mass;
      } else {
        equal += here.mass;
      }
      equal_end++;
    }
    if (wanted <= below) {
      n = low;
    } else if (wanted <= below + equal || equal_end == n) {
      return pivot;
    } else {
      wanted -= below + equal;
      values += equal_end;
      n -= equal_end;
    }
  }
  return n > 0 ? values[0].value : NAN;
}
