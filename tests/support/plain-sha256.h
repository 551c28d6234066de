/* SHA-256 (FIPS 180-4) without a library, for what runs under another processor's emulator, where there is none. */
#pragma once

#include <glib.h>
#include <string.h>

typedef struct {
  guint32 state[8];
  guint64 n_bytes;
  guint8 block[64];
} PlainSha256;

#define PLAIN_SHA256_HEX 65

static inline guint32
plain_sha256_turn(guint32 x, int by) {
  return x >> by | x << (32 - by);
}

static inline void
plain_sha256_block(PlainSha256 *sha) {
  static const guint32 constants[64] = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
      0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
      0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
      0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
      0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
      0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
      0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
      0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
      0xc67178f2};
  guint32 w[64], v[8];
  for (int i = 0; i < 16; i++)
    w[i] = (guint32)sha->block[4 * i] << 24 | (guint32)sha->block[4 * i + 1] << 16 |
           (guint32)sha->block[4 * i + 2] << 8 | sha->block[4 * i + 3];
  for (int i = 16; i < 64; i++) {
    const guint32 a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (plain_sha256_turn(a, 7) ^ plain_sha256_turn(a, 18) ^ a >> 3) +
           (plain_sha256_turn(b, 17) ^ plain_sha256_turn(b, 19) ^ b >> 10);
  }
  memcpy(v, sha->state, sizeof v);
  for (int i = 0; i < 64; i++) {
    const guint32 e = v[4], a = v[0];
    const guint32 first =
        v[7] + (plain_sha256_turn(e, 6) ^ plain_sha256_turn(e, 11) ^ plain_sha256_turn(e, 25)) +
        ((e & v[5]) ^ (~e & v[6])) + constants[i] + w[i];
    const guint32 second =
        (plain_sha256_turn(a, 2) ^ plain_sha256_turn(a, 13) ^ plain_sha256_turn(a, 22)) +
        ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += first;
    v[0] = first + second;
  }
  for (int i = 0; i < 8; i++)
    sha->state[i] += v[i];
}

static inline void
plain_sha256_init(PlainSha256 *sha) {
  *sha = (PlainSha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

static inline void
plain_sha256_update(PlainSha256 *sha, gconstpointer bytes, size_t length) {
  const guint8 *from = bytes;
  for (size_t i = 0; i < length; i++) {
    sha->block[sha->n_bytes++ % 64] = from[i];
    if (sha->n_bytes % 64 == 0)
      plain_sha256_block(sha);
  }
}

/* hex [PLAIN_SHA256_HEX], lower case, ends with 0. */
static inline void
plain_sha256_finish(PlainSha256 *sha, char *hex) {
  const guint64 n_bits = sha->n_bytes * 8;
  const guint8 one = 0x80, zero = 0;
  plain_sha256_update(sha, &one, 1);
  while (sha->n_bytes % 64 != 56)
    plain_sha256_update(sha, &zero, 1);
  for (int i = 56; i >= 0; i -= 8) {
    const guint8 byte = (guint8)(n_bits >> i);
    plain_sha256_update(sha, &byte, 1);
  }
  for (int i = 0; i < 64; i++)
    hex[i] = "0123456789abcdef"[sha->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
  hex[64] = 0;
}
