/* The steps of 6.2.2 with a lane a message, message schedule and working variables in registers: 64 rounds of about 30 operations on
 * vectors for 16 messages (AVX-512) or twice for eight (AVX2). Other processors take libcrypto's code, one after the other. */
#include "base/sha256-lanes.h"

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <string.h>

#include "base/processor.h"

#define LANES DEMUR_SHA256_LANES
#define N_ROUNDS 64

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (4.2.2). */
static const guint32 constants[N_ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/* Those of the square roots of the first eight (5.3.3). */
static const guint32 initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

#ifdef __x86_64__

#define rotated(x, bits) ((x) >> (bits) | (x) << (32 - (bits)))
#define taken(x) (rotated(x, 7) ^ rotated(x, 18) ^ (x) >> 3)
#define mixed(x) (rotated(x, 17) ^ rotated(x, 19) ^ (x) >> 10)

/* Round t; the next one's a is h, its e is d. */
#define ROUND(a, b, c, d, e, f, g, h, t)                                                           \
  h += (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + (g ^ (e & (f ^ g))) +                   \
       (w[(t) % 16] + constants[t]);                                                               \
  d += h;                                                                                          \
  h += (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) | (c & (a | b)))

/* A function that takes all lanes, a vector of that many bytes at a time. */
#define SIDE_BY_SIDE(name, features, bytes)                                                        \
  __attribute__((target(features))) static void name(const guint32(*words)[LANES],                 \
                                                     guint32(*digests)[LANES]) {                   \
    typedef guint32 Vector __attribute__((vector_size(bytes)));                                    \
    for (size_t first = 0; first < LANES; first += (bytes) / 4) {                                  \
      Vector w[16], v[8];                                                                          \
      for (size_t t = 0; t < 16; t++)                                                              \
        memcpy(&w[t], words[t] + first, bytes);                                                    \
      for (size_t k = 0; k < 8; k++)                                                               \
        v[k] = (Vector){0} + initial[k];                                                           \
      for (size_t t = 0; t < N_ROUNDS; t += 8) {                                                   \
        for (size_t u = t; t >= 16 && u < t + 8; u++)                                              \
          w[u % 16] += w[(u - 7) % 16] + taken(w[(u - 15) % 16]) + mixed(w[(u - 2) % 16]);         \
        ROUND(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], t);                                  \
        ROUND(v[7], v[0], v[1], v[2], v[3], v[4], v[5], v[6], t + 1);                              \
        ROUND(v[6], v[7], v[0], v[1], v[2], v[3], v[4], v[5], t + 2);                              \
        ROUND(v[5], v[6], v[7], v[0], v[1], v[2], v[3], v[4], t + 3);                              \
        ROUND(v[4], v[5], v[6], v[7], v[0], v[1], v[2], v[3], t + 4);                              \
        ROUND(v[3], v[4], v[5], v[6], v[7], v[0], v[1], v[2], t + 5);                              \
        ROUND(v[2], v[3], v[4], v[5], v[6], v[7], v[0], v[1], t + 6);                              \
        ROUND(v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[0], t + 7);                              \
      }                                                                                            \
      for (size_t k = 0; k < 8; k++) {                                                             \
        v[k] += initial[k];                                                                        \
        memcpy(digests[k] + first, &v[k], bytes);                                                  \
      }                                                                                            \
    }                                                                                              \
  }

SIDE_BY_SIDE(sixteen, "avx512f", 64)
SIDE_BY_SIDE(eight, "avx2", 32)

#endif

static void
one_by_one(const guint32 (*words)[LANES], guint32 (*digests)[LANES]) {
  for (size_t lane = 0; lane < LANES; lane++) {
    guint32 block[16];
    for (size_t t = 0; t < 16; t++)
      block[t] = GUINT32_TO_BE(words[t][lane]);
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Transform(&context, (const unsigned char *)block);
    for (size_t k = 0; k < 8; k++)
      digests[k][lane] = context.h[k];
  }
}

void
demur_sha256_of_lanes(const guint32 (*words)[LANES], guint32 (*digests)[LANES]) {
#ifdef __x86_64__
  const DemurProcessor level = demur_processor_level();
  if (level == DEMUR_PROCESSOR_AVX512) {
    sixteen(words, digests);
    return;
  }
  if (level == DEMUR_PROCESSOR_AVX2) {
    eight(words, digests);
    return;
  }
#endif
  one_by_one(words, digests);
}
