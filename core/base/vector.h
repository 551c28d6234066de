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
