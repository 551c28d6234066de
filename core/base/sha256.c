/* FIPS 180-4, 6.2: for each block of 16 words w[0..15]
 *   w[t] = s1(w[t-2]) + w[t-7] + s0(w[t-15]) + w[t-16], 16 <= t < 64
 *   T1 = h + S1(e) + Ch(e,f,g) + K[t] + w[t],  T2 = S0(a) + Maj(a,b,c)
 *   (a..h) <- (T1 + T2, a, b, c, d + T1, e, f, g), then state += (a..h).
 * Two forms of one function: portable, and with the processor's SHA instructions, which keep the
 * state as (a,b,e,f) and (c,d,g,h) and make two rounds each. Cost on
 * one core: about 1 s/GB with the instructions, 5 without. */
#include "base/sha256.h"

#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

static const guint32 constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline guint32
rotate(guint32 x, guint n) {
  return (x >> n) | (x << (32 - n));
}

static void
add_blocks_portable(guint32 state[8], const guint8 *bytes, size_t n_blocks) {
  for (; n_blocks > 0; n_blocks--, bytes += 64) {
    guint32 w[64], s[8];
    for (int t = 0; t < 16; t++)
      w[t] = ((guint32)bytes[4 * t] << 24) | ((guint32)bytes[4 * t + 1] << 16) |
             ((guint32)bytes[4 * t + 2] << 8) | bytes[4 * t + 3];
    for (int t = 16; t < 64; t++) {
      const guint32 s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ (w[t - 15] >> 3);
      const guint32 s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ (w[t - 2] >> 10);
      w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
    memcpy(s, state, sizeof s);
    for (int t = 0; t < 64; t++) {
      const guint32 sum1 = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
      const guint32 choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
      const guint32 t1 = s[7] + sum1 + choice + constants[t] + w[t];
      const guint32 sum0 = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
      const guint32 majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
      memmove(s + 1, s, 7 * sizeof *s);
      s[4] += t1;
      s[0] = t1 + sum0 + majority;
    }
    for (int i = 0; i < 8; i++)
      state[i] += s[i];
  }
}

#ifdef __x86_64__
__attribute__((target("sha,sse4.1"))) static void
add_blocks_instructions(guint32 state[8], const guint8 *bytes, size_t n_blocks) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(void *)state), 0xB1);
  const __m128i efgh =
      _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(void *)(state + 4)), 0x1B);
  __m128i abef = _mm_alignr_epi8(abcd, efgh, 8), cdgh = _mm_blend_epi16(efgh, abcd, 0xF0);
  for (; n_blocks > 0; n_blocks--, bytes += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4]; /* the next 16 words, in a ring of four groups */
    for (int i = 0; i < 4; i++)
      w[i] =
          _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * i)), swap);
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
      __m128i *now = &w[i & 3];
      const __m128i next = w[(i + 1) & 3], last = w[(i + 3) & 3];
      const __m128i words =
          _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(const void *)(constants + 4 * i)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, words);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(words, 0x0E));
      if (i < 12)
        *now = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(*now, next),
                                                  _mm_alignr_epi8(last, w[(i + 2) & 3], 4)),
                                    last);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

/* Bit 29 of ebx of leaf 7: GCC 12's __builtin_cpu_supports doesn't know it by name. */
static gboolean
has_instructions(void) {
  guint32 eax = 7, ebx = 0, ecx = 0, edx = 0;
  __asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
  return (ebx & (1u << 29)) != 0 && __builtin_cpu_supports("sse4.1");
}
#endif

static void
add_blocks(DemurSha256 *sha, const guint8 *bytes, size_t n_blocks) {
#ifdef __x86_64__
  static gsize asked = 0;
  static gboolean found;
  if (g_once_init_enter(&asked)) {
    found = has_instructions();
    g_once_init_leave(&asked, 1);
  }
  if (found && !sha->portable) {
    add_blocks_instructions(sha->state, bytes, n_blocks);
    return;
  }
#endif
  add_blocks_portable(sha->state, bytes, n_blocks);
}

void
demur_sha256_init(DemurSha256 *sha) {
  static const guint32 begin[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(sha->state, begin, sizeof begin);
  sha->length = 0;
  sha->portable = FALSE;
}

void
demur_sha256_update(DemurSha256 *sha, gconstpointer bytes, size_t length) {
  const guint8 *p = bytes;
  const size_t held = (size_t)(sha->length % 64);
  sha->length += length;
  if (held > 0) {
    const size_t n = MIN(64 - held, length);
    if (n > 0)
      memcpy(sha->block + held, p, n);
    if (held + n < 64)
      return;
    add_blocks(sha, sha->block, 1);
    p += n;
    length -= n;
  }
  if (length >= 64)
    add_blocks(sha, p, length / 64);
  if (length % 64 > 0)
    memcpy(sha->block, p + length / 64 * 64, length % 64);
}

void
demur_sha256_finish(DemurSha256 *sha, guint8 digest[DEMUR_SHA256_BYTES]) {
  static const guint8 padding[64] = {0x80};
  const guint64 bits = GUINT64_TO_BE(8 * sha->length);
  const size_t held = (size_t)(sha->length % 64);
  demur_sha256_update(sha, padding, held < 56 ? 56 - held : 120 - held);
  demur_sha256_update(sha, &bits, sizeof bits);
  for (int i = 0; i < 8; i++) {
    const guint32 word = GUINT32_TO_BE(sha->state[i]);
    memcpy(digest + 4 * i, &word, sizeof word);
  }
}

void
demur_sha256_add_bytes(DemurSha256 *sha, gconstpointer bytes, size_t length) {
  const guint64 frame = GUINT64_TO_LE((guint64)length);
  demur_sha256_update(sha, &frame, sizeof frame);
  demur_sha256_update(sha, bytes, length);
}

void
demur_sha256_add_text(DemurSha256 *sha, const char *text) {
  const guint64 none = G_MAXUINT64;
  if (text == NULL)
    demur_sha256_update(sha, &none, sizeof none);
  else
    demur_sha256_add_bytes(sha, text, strlen(text));
}

void
demur_sha256_add_doubles(DemurSha256 *sha, const double *values, size_t n) {
  const guint64 frame = GUINT64_TO_LE((guint64)(8 * n));
  demur_sha256_update(sha, &frame, sizeof frame);
  for (size_t i = 0; i < n; i++) {
    guint64 bits = G_GUINT64_CONSTANT(0x7FF8000000000000);
    const double value = values[i] + 0.0; /* -0 becomes 0 */
    if (!isnan(value))
      memcpy(&bits, &value, sizeof bits);
    bits = GUINT64_TO_LE(bits);
    demur_sha256_update(sha, &bits, sizeof bits);
  }
}

void
demur_sha256_hex(const guint8 digest[DEMUR_SHA256_BYTES], char hex[DEMUR_SHA256_HEX]) {
  for (int i = 0; i < DEMUR_SHA256_BYTES; i++)
    g_snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

gboolean
demur_sha256_parse(const char *hex, guint8 digest[DEMUR_SHA256_BYTES]) {
  if (hex == NULL || strlen(hex) != DEMUR_SHA256_HEX - 1)
    return FALSE;
  for (int i = 0; i < DEMUR_SHA256_BYTES; i++) {
    const int high = g_ascii_xdigit_value(hex[2 * i]), low = g_ascii_xdigit_value(hex[2 * i + 1]);
    if (high < 0 || low < 0)
      return FALSE;
    digest[i] = (guint8)(high * 16 + low);
  }
  return TRUE;
}
