/* Eight doubles at a time, in GCC's portable vectors: the compiler lowers them to whatever the
 * clone's processor has. Arithmetic is the same on all of them (no fused operations here), so are
 * the results. For the numeric rooms. */
#pragma once

#include <glib.h>
#include <string.h>

typedef double V8 __attribute__((vector_size(64)));
typedef gint64 V8i __attribute__((vector_size(64)));

#define VECTOR_INLINE static inline __attribute__((always_inline))

/* Functions of this kind are compiled once a processor family and chosen when the program is
 * loaded. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__) &&   \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#define VECTOR_BYTE_CLONES                                                                         \
  __attribute__((target_clones("avx2", "default"))) /* AVX-512F has no bytes */
#else
#define VECTOR_CLONES
#define VECTOR_BYTE_CLONES
#endif

/* Macros and not functions where a vector would be passed by value between different targets. */
#define v8_fill(x) ((V8){(x), (x), (x), (x), (x), (x), (x), (x)})
#define v8_fill_int(x) ((V8i){(x), (x), (x), (x), (x), (x), (x), (x)})
#define v8_select(mask, a, b) ((V8)(((mask) & (V8i)(a)) | (~(mask) & (V8i)(b))))
#define v8i_select(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))
#define v8_load(p) (*(const V8 *)__builtin_assume_aligned((p), 64))
#define v8_store(p, v) (*(V8 *)__builtin_assume_aligned((p), 64) = (v))

#define v8i_load(p) (*(const V8i *)__builtin_assume_aligned((p), 64))
#define v8i_store(p, v) (*(V8i *)__builtin_assume_aligned((p), 64) = (v))
/* Each lane of v from the lane before it, the first from the last of low. */
#define v8_before(low, v) __builtin_shufflevector((low), (v), 7, 8, 9, 10, 11, 12, 13, 14)

/* The lanes' sum, in a fixed order. */
#define v8_sum(v)                                                                                  \
  ((((v)[0] + (v)[4]) + ((v)[2] + (v)[6])) + (((v)[1] + (v)[5]) + ((v)[3] + (v)[7])))

#define V8_SIDE_BY_SIDE 4

/* result[i] = exp(in[i]), n of them, 1 to V8_SIDE_BY_SIDE and known to the compiler, step by step side by
 * side: one alone waits for each of its products. For each *result = exp(x) for x <= 0 (0 below -708, -infinity included): x = k ln 2 + r with |r| <= ln 2 /
 * 2, the series of exp(r) to r^13 (remainder below 4e-18 of the value), and k put into the
 * exponent's bits. */
VECTOR_INLINE void
v8_exp_side_by_side(const V8 *in, V8 *result, int n) {
  static const double factors[] = {1.0 / 479001600.0,
                                   1.0 / 39916800.0,
                                   1.0 / 3628800.0,
                                   1.0 / 362880.0,
                                   1.0 / 40320.0,
                                   1.0 / 5040.0,
                                   1.0 / 720.0,
                                   1.0 / 120.0,
                                   1.0 / 24.0,
                                   1.0 / 6.0,
                                   0.5,
                                   1.0,
                                   1.0};
  const V8 lowest = v8_fill(-708.0);
  V8i big_enough[V8_SIDE_BY_SIDE];
  V8 shifted[V8_SIDE_BY_SIDE], r[V8_SIDE_BY_SIDE], s[V8_SIDE_BY_SIDE];
#pragma GCC unroll 4
  for (int i = 0; i < n; i++) {
    big_enough[i] = (V8i)(in[i] >= lowest);
    const V8 x = v8_select(big_enough[i], in[i], lowest);
    shifted[i] = x * 0x1.71547652b82fep+0 + 0x1.8p52; /* round(x / ln 2) in the low bits */
    const V8 k = shifted[i] - 0x1.8p52;
    r[i] = (x - k * 0x1.62e42fefa0000p-1) - k * 0x1.cf79abc9e3b3ap-40;
    s[i] = v8_fill(1.0 / 6227020800.0);
  }
#pragma GCC unroll 13
  for (int f = 0; f < 13; f++)
#pragma GCC unroll 4
    for (int i = 0; i < n; i++)
      s[i] = s[i] * r[i] + factors[f];
#pragma GCC unroll 4
  for (int i = 0; i < n; i++) {
    const V8 scale = (V8)(((V8i)shifted[i] + 1023) << 52);
    result[i] = (V8)((V8i)(s[i] * scale) & big_enough[i]);
  }
}

VECTOR_INLINE void
v8_exp(const V8 *in, V8 *result) {
  v8_exp_side_by_side(in, result, 1);
}
