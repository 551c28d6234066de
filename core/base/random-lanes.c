/* demur_random_bits with a word of state a vector; products by 5 and by 9 are a shift and a sum. Cost: a dozen operations on
 * vectors for eight numbers. */
#include "base/random-lanes.h"

#include <string.h>

#include "base/vector.h"

typedef guint64 Lanes __attribute__((vector_size(64)));

#define rotated(x, bits) ((x) << (bits) | (x) >> (64 - (bits)))

VECTOR_CLONES static void
bits_of_lanes(guint64 (*state)[DEMUR_RANDOM_LANES], size_t n, guint64 *bits) {
  Lanes s0, s1, s2, s3;
  memcpy(&s0, state[0], sizeof s0);
  memcpy(&s1, state[1], sizeof s1);
  memcpy(&s2, state[2], sizeof s2);
  memcpy(&s3, state[3], sizeof s3);
  for (size_t i = 0; i < n; i++) {
    const Lanes m = (s1 << 2) + s1, turned = rotated(m, 7), result = (turned << 3) + turned;
    const Lanes t = s1 << 17;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= t;
    s3 = rotated(s3, 45);
    memcpy(bits + i * DEMUR_RANDOM_LANES, &result, sizeof result);
  }
  memcpy(state[0], &s0, sizeof s0);
  memcpy(state[1], &s1, sizeof s1);
  memcpy(state[2], &s2, sizeof s2);
  memcpy(state[3], &s3, sizeof s3);
}

void
demur_random_bits_of_lanes(DemurRandom *randoms, size_t n_lanes, size_t n, guint64 *bits) {
  g_return_if_fail(n_lanes <= DEMUR_RANDOM_LANES);
  if (n_lanes == 1) {
    memset(bits, 0, n * DEMUR_RANDOM_LANES * sizeof *bits);
    DemurRandom stream = randoms[0]; /* in registers */
    for (size_t i = 0; i < n; i++)
      bits[i * DEMUR_RANDOM_LANES] = demur_random_bits(&stream);
    randoms[0] = stream;
    return;
  }
  guint64 state[4][DEMUR_RANDOM_LANES] = {{0}};
  for (size_t l = 0; l < n_lanes; l++)
    for (size_t w = 0; w < 4; w++)
      state[w][l] = randoms[l].state[w];
  bits_of_lanes(state, n, bits);
  for (size_t l = 0; l < n_lanes; l++)
    for (size_t w = 0; w < 4; w++)
      randoms[l].state[w] = state[w][l];
}
