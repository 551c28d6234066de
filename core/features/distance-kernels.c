#include "features/distance-kernels.h"

#include <math.h>
#include <string.h>

#include "base/processor.h"
#include "features/distances.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define GROUP DEMUR_DISTANCE_GROUP
#define PANEL DEMUR_DISTANCE_PANEL

/* ---- plain: two lanes, which SSE2 and NEON have ---- */

static void
tiles_plain(const double *a, const double *b, size_t n_panels, size_t d, double *c, size_t ldc) {
  for (size_t p = 0; p < n_panels; p++, b += d * PANEL, c += PANEL)
    for (size_t i = 0; i < GROUP; i++) {
      double sums[PANEL] = {0.0};
      for (size_t k = 0; k < d; k++) {
        const double x = a[k * GROUP + i];
        for (size_t j = 0; j < PANEL; j++)
          sums[j] += x * b[k * PANEL + j];
      }
      memcpy(c + i * ldc, sums, sizeof(sums));
    }
}

static size_t
below_plain(const double *squares, size_t width, double limit, guint8 *places) {
  size_t n = 0;
  for (size_t j = 0; j < width; j++) {
    places[n] = (guint8)j;
    n += squares[j] < limit;
  }
  return n;
}

static inline __attribute__((always_inline)) void
norms_of_plain(const double *rows, size_t d, size_t width, double *norms) {
  double sums[PANEL] = {0.0};
  for (size_t k = 0; k < d; k++)
    for (size_t j = 0; j < width; j++)
      sums[j] += rows[k * width + j] * rows[k * width + j];
  memcpy(norms, sums, width * sizeof *norms);
}

static void
panel_norms_plain(const double *panel, size_t d, double *norms) {
  norms_of_plain(panel, d, PANEL, norms);
}

static void
group_norms_plain(const double *group, size_t d, double *norms) {
  norms_of_plain(group, d, GROUP, norms);
}

#define LANES 2
#define AT(name) name##_plain
#include "base/vector-lanes.inc"
#include "features/distance-rows.inc"
#undef LANES
#undef AT

#define SAME_OF_ALL(at)                                                                            \
  .below = at(below), .to_squares = at(to_squares), .smallest = at(smallest_of),                   \
  .exp_sum = at(exp_sum), .choose = at(choose),                                                    \
  .add_weighted_exp_sums = at(add_weighted_exp_sums), .exp_to_gram = at(exp_to_gram),              \
  .exponentials = at(exponentials_of), .direct_square = at(direct_square),                         \
  .keep_near = at(keep_near)
#define PLAIN(name) name##_plain

static const DemurDistanceKernel plain = {.tiles = tiles_plain,
                                          .group_norms = group_norms_plain,
                                          .panel_norms = panel_norms_plain,
                                          SAME_OF_ALL(PLAIN)};

/* ---- x86-64 ---- */

#if defined(__x86_64__)
/* Columns go part by part, so that a part of the group's and of a panel's stay in the first cache; each part goes on with the sums that
 * the one before left in c. Panels come from the second cache and are asked for before they are needed. */
#define COLUMNS_AVX512 128
#define AHEAD_AVX512 16 /* columns */
#define COLUMNS_AVX2 64

__attribute__((target("avx512f"), always_inline)) static inline void
part_avx512(const double *a, const double *b, size_t n, gboolean goes_on, double *c, size_t ldc) {
  __m512d sums[GROUP][2];
#pragma GCC unroll 12
  for (size_t i = 0; i < GROUP; i++)
#pragma GCC unroll 2
    for (size_t j = 0; j < 2; j++)
      sums[i][j] = goes_on ? _mm512_load_pd(c + i * ldc + 8 * j) : _mm512_setzero_pd();
  for (size_t k = 0; k < n; k++) {
    const __m512d b0 = _mm512_load_pd(b + k * PANEL), b1 = _mm512_load_pd(b + k * PANEL + 8);
    __builtin_prefetch(b + (k + AHEAD_AVX512) * PANEL);
    __builtin_prefetch(b + (k + AHEAD_AVX512) * PANEL + 8);
#pragma GCC unroll 12
    for (size_t i = 0; i < GROUP; i++) {
      const __m512d x = _mm512_set1_pd(a[k * GROUP + i]);
      sums[i][0] = _mm512_fmadd_pd(x, b0, sums[i][0]);
      sums[i][1] = _mm512_fmadd_pd(x, b1, sums[i][1]);
    }
  }
#pragma GCC unroll 12
  for (size_t i = 0; i < GROUP; i++)
#pragma GCC unroll 2
    for (size_t j = 0; j < 2; j++)
      _mm512_store_pd(c + i * ldc + 8 * j, sums[i][j]);
}

__attribute__((target("avx512f"))) static void
tiles_avx512(const double *a, const double *b, size_t n_panels, size_t d, double *c, size_t ldc) {
  for (size_t k = 0; k < d; k += COLUMNS_AVX512) {
    const size_t n = MIN(COLUMNS_AVX512, d - k);
    for (size_t p = 0; p < n_panels; p++) {
      const double *panel = b + (p * d + k) * PANEL;
      if (k == 0)
        part_avx512(a, panel, n, FALSE, c + p * PANEL, ldc);
      else
        part_avx512(a + k * GROUP, panel, n, TRUE, c + p * PANEL, ldc);
    }
  }
}

/* Three rows at a time, each of which reads the panel's part from the first cache; next: the part that is read after it. */
__attribute__((target("avx2,fma"), always_inline)) static inline void
part_avx2(const double *a, const double *b, const double *next, size_t n, gboolean goes_on,
          double *c, size_t ldc) {
  for (size_t first = 0; first < GROUP; first += 3, next += n * PANEL / 4) {
    __m256d sums[3][4];
#pragma GCC unroll 3
    for (size_t i = 0; i < 3; i++)
#pragma GCC unroll 4
      for (size_t j = 0; j < 4; j++)
        sums[i][j] = goes_on ? _mm256_load_pd(c + (first + i) * ldc + 4 * j) : _mm256_setzero_pd();
    for (size_t k = 0; k < n; k++) {
      __m256d y[4];
      __builtin_prefetch(next + k * PANEL / 4);
#pragma GCC unroll 4
      for (size_t j = 0; j < 4; j++)
        y[j] = _mm256_load_pd(b + k * PANEL + 4 * j);
#pragma GCC unroll 3
      for (size_t i = 0; i < 3; i++) {
        const __m256d x = _mm256_set1_pd(a[k * GROUP + first + i]);
#pragma GCC unroll 4
        for (size_t j = 0; j < 4; j++)
          sums[i][j] = _mm256_fmadd_pd(x, y[j], sums[i][j]);
      }
    }
#pragma GCC unroll 3
    for (size_t i = 0; i < 3; i++)
#pragma GCC unroll 4
      for (size_t j = 0; j < 4; j++)
        _mm256_store_pd(c + (first + i) * ldc + 4 * j, sums[i][j]);
  }
}

__attribute__((target("avx2,fma"))) static void
tiles_avx2(const double *a, const double *b, size_t n_panels, size_t d, double *c, size_t ldc) {
  for (size_t k = 0; k < d; k += COLUMNS_AVX2) {
    const size_t n = MIN(COLUMNS_AVX2, d - k);
    for (size_t p = 0; p < n_panels; p++) {
      const double *panel = b + (p * d + k) * PANEL,
                   *next = p + 1 < n_panels ? panel + d * PANEL : b + (k + n) * PANEL;
      if (k == 0)
        part_avx2(a, panel, next, n, FALSE, c + p * PANEL, ldc);
      else
        part_avx2(a + k * GROUP, panel, next, n, TRUE, c + p * PANEL, ldc);
    }
  }
}

/* The places of the bits of mask, from first on. */
static inline size_t
places_of(unsigned mask, size_t first, guint8 *places) {
  size_t n = 0;
  for (; mask != 0; mask &= mask - 1)
    places[n++] = (guint8)(first + (size_t)__builtin_ctz(mask));
  return n;
}

__attribute__((target("avx512f"))) static size_t
below_avx512(const double *squares, size_t width, double limit, guint8 *places) {
  const __m512d limits = _mm512_set1_pd(limit);
  size_t n = 0;
  for (size_t j = 0; j < width; j += 16) {
    const unsigned low = _mm512_cmp_pd_mask(_mm512_load_pd(squares + j), limits, _CMP_LT_OQ);
    const unsigned high = _mm512_cmp_pd_mask(_mm512_load_pd(squares + j + 8), limits, _CMP_LT_OQ);
    n += places_of(low | high << 8, j, places + n);
  }
  return n;
}

__attribute__((target("avx2"))) static size_t
below_avx2(const double *squares, size_t width, double limit, guint8 *places) {
  const __m256d limits = _mm256_set1_pd(limit);
  size_t n = 0;
  for (size_t j = 0; j < width; j += 16) {
    unsigned mask = 0;
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
      const __m256d four = _mm256_load_pd(squares + j + 4 * i);
      mask |= (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(four, limits, _CMP_LT_OQ)) << 4 * i;
    }
    n += places_of(mask, j, places + n);
  }
  return n;
}

__attribute__((target("avx2,fma"), always_inline)) static inline void
norms_of_fma(const double *rows, size_t d, int n_fours, double *norms) {
  __m256d sums[PANEL / 4];
#pragma GCC unroll 4
  for (int j = 0; j < n_fours; j++)
    sums[j] = _mm256_setzero_pd();
  for (size_t k = 0; k < d; k++)
#pragma GCC unroll 4
    for (int j = 0; j < n_fours; j++) {
      const __m256d x = _mm256_load_pd(rows + 4 * (k * (size_t)n_fours + (size_t)j));
      sums[j] = _mm256_fmadd_pd(x, x, sums[j]);
    }
#pragma GCC unroll 4
  for (int j = 0; j < n_fours; j++)
    _mm256_storeu_pd(norms + 4 * (size_t)j, sums[j]);
}

__attribute__((target("avx2,fma"))) static void
panel_norms_fma(const double *panel, size_t d, double *norms) {
  norms_of_fma(panel, d, PANEL / 4, norms);
}

__attribute__((target("avx2,fma"))) static void
group_norms_fma(const double *group, size_t d, double *norms) {
  norms_of_fma(group, d, GROUP / 4, norms);
}

#ifdef __clang__ /* knows no #pragma GCC target */
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f")
#endif
#define LANES 8
#define AT(name) name##_avx512
#include "base/vector-lanes.inc"
#include "features/distance-rows.inc"
#undef LANES
#undef AT
#ifdef __clang__
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define LANES 4
#define AT(name) name##_avx2
#include "base/vector-lanes.inc"
#include "features/distance-rows.inc"
#undef LANES
#undef AT
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#define AVX2(name) name##_avx2
#define AVX512(name) name##_avx512

static const DemurDistanceKernel avx2 = {.tiles = tiles_avx2,
                                         .group_norms = group_norms_fma,
                                         .panel_norms = panel_norms_fma,
                                         SAME_OF_ALL(AVX2)};
static const DemurDistanceKernel avx512 = {.tiles = tiles_avx512,
                                           .group_norms = group_norms_fma,
                                           .panel_norms = panel_norms_fma,
                                           SAME_OF_ALL(AVX512)};
#endif

const DemurDistanceKernel *
demur_distance_kernel(void) {
#if defined(__x86_64__)
  switch (demur_processor_level()) {
  case DEMUR_PROCESSOR_AVX512:
    return &avx512;
  case DEMUR_PROCESSOR_AVX2:
    return &avx2;
  case DEMUR_PROCESSOR_PLAIN:
    break;
  }
#endif
  return &plain;
}
