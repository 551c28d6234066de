/* AVX2 with FMA: eight lanes, a tile of 6 x 16 in 12 of 16 registers. */
#ifdef __x86_64__

#include <immintrin.h>
#include <string.h>

#include "base/tiny-numbers.h"
#include "selector/mlp-kernel.h"

#ifdef __clang__ /* knows no #pragma GCC target */
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif

typedef __m256 Vector;
typedef int Mask __attribute__((vector_size(32)));
#define LANES 8
#define TILE_VECTORS 2
#define SPLAT(x) _mm256_set1_ps(x)
#define MADD(a, b, c) _mm256_fmadd_ps(a, b, c)
#define POSITIVE(x) _mm256_max_ps(x, _mm256_setzero_ps())
#define KERNEL(name) avx2_##name

#include "selector/mlp-tiles.inc"

#ifdef __clang__
#pragma clang attribute pop
#endif

const DemurMlpKernel demur_mlp_avx2 = {"avx2",         DEMUR_PROCESSOR_AVX2, avx2_first,
                                       avx2_transpose, avx2_forward,         avx2_backward};

#endif
