/* AVX-512: sixteen lanes, a tile of 6 x 64 in 24 of 32 registers. */
#ifdef __x86_64__

#include <immintrin.h>
#include <string.h>

#include "base/tiny-numbers.h"
#include "selector/mlp-kernel.h"

#ifdef __clang__ /* knows no #pragma GCC target */
#pragma clang attribute push(__attribute__((target("avx512f,fma"))), apply_to = function)
#else
#pragma GCC target("avx512f,fma")
#endif

typedef __m512 Vector;
typedef int Mask __attribute__((vector_size(64)));
#define LANES 16
#define TILE_VECTORS 4
#define SPLAT(x) _mm512_set1_ps(x)
#define MADD(a, b, c) _mm512_fmadd_ps(a, b, c)
#define POSITIVE(x) _mm512_max_ps(x, _mm512_setzero_ps())
#define KERNEL(name) avx512_##name

#include "selector/mlp-tiles.inc"

#ifdef __clang__
#pragma clang attribute pop
#endif

const DemurMlpKernel demur_mlp_avx512 = {"avx512",         DEMUR_PROCESSOR_AVX512, avx512_first,
                                         avx512_transpose, avx512_forward,         avx512_backward};

#endif
