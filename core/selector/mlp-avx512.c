/* Register-tiled matrix products for 64 hidden units: a tile of 6 rows x 64 columns stays in 24
 * registers while the inner dimension runs, so each step is 4 loads, 6 broadcasts and 24 fused
 * multiply-adds. Bias, ReLU and the last layer are done while the tile is in registers. The order
 * of every sum is fixed: the same bytes always on processors that have AVX-512; elsewhere the BLAS
 * does the work. */
#include "selector/mlp-avx512.h"

#include <string.h>

#if defined(__x86_64__) && !defined(DEMUR_REAL_DOUBLE)

#include <immintrin.h>

#define H 64
#define TILE 6
#define MAX_INPUTS 64
#define AVX512 __attribute__((target("avx512f"))) static

gboolean
demur_mlp_avx512_serves(DemurMlpShape shape) {
  return shape.n_hidden == H && shape.n_inputs <= MAX_INPUTS && __builtin_cpu_supports("avx512f");
}

typedef struct {
  __m512 row[TILE][4];
} Tile;

/* tile[r] += sum_k a[r * stride + k] * b[k][H]. */
AVX512 inline __attribute__((always_inline)) void
tile_product(Tile *tile, const float *a, size_t stride, const float *b, size_t n_inner) {
  for (size_t k = 0; k < n_inner; k++) {
    const __m512 b0 = _mm512_loadu_ps(b + k * H), b1 = _mm512_loadu_ps(b + k * H + 16);
    const __m512 b2 = _mm512_loadu_ps(b + k * H + 32), b3 = _mm512_loadu_ps(b + k * H + 48);
#pragma GCC unroll 6
    for (int r = 0; r < TILE; r++) {
      const __m512 x = _mm512_set1_ps(a[(size_t)r * stride + k]);
      tile->row[r][0] = _mm512_fmadd_ps(x, b0, tile->row[r][0]);
      tile->row[r][1] = _mm512_fmadd_ps(x, b1, tile->row[r][1]);
      tile->row[r][2] = _mm512_fmadd_ps(x, b2, tile->row[r][2]);
      tile->row[r][3] = _mm512_fmadd_ps(x, b3, tile->row[r][3]);
    }
  }
}

/* out[r][H] = relu(bias + a b) for up to TILE rows; a has TILE readable rows. */
AVX512 inline __attribute__((always_inline)) void
layer_tile(const float *a, size_t stride, const float *b, size_t n_inner, const float *bias,
           size_t n_rows, float *out) {
  Tile tile;
#pragma GCC unroll 6
  for (int r = 0; r < TILE; r++)
    for (int v = 0; v < 4; v++)
      tile.row[r][v] = _mm512_loadu_ps(bias + 16 * v);
  tile_product(&tile, a, stride, b, n_inner);
  const __m512 zero = _mm512_setzero_ps();
#pragma GCC unroll 6
  for (int r = 0; r < TILE; r++)
    if ((size_t)r < n_rows)
      for (int v = 0; v < 4; v++)
        _mm512_storeu_ps(out + (size_t)r * H + 16 * v, _mm512_max_ps(tile.row[r][v], zero));
}

/* w [n_out][n_in] -> transposed [n_in][n_out]. */
static void
transpose(const float *w, size_t n_out, size_t n_in, float *transposed) {
  for (size_t o = 0; o < n_out; o += 8)
    for (size_t k = 0; k < n_in; k++)
      for (size_t l = o; l < MIN(o + 8, n_out); l++)
        transposed[k * n_out + l] = w[l * n_in + k];
}

__attribute__((target("avx512f"))) void
demur_mlp_avx512_forward(DemurMlpShape shape, const float *parameters, const float *inputs,
                         size_t n, float *hidden1, float *hidden2, float *z) {
  const DemurMlpOffsets o = demur_mlp_offsets(shape);
  const size_t d = shape.n_inputs;
  float w1[MAX_INPUTS * H], w2[H * H], padded[TILE * H];
  transpose(parameters + o.w1, H, d, w1);
  transpose(parameters + o.w2, H, H, w2);
  const float *w3 = parameters + o.w3;
  const __m512 w30 = _mm512_loadu_ps(w3), w31 = _mm512_loadu_ps(w3 + 16);
  const __m512 w32 = _mm512_loadu_ps(w3 + 32), w33 = _mm512_loadu_ps(w3 + 48);
  for (size_t i = 0; i < n; i += TILE) {
    const size_t rows = MIN(TILE, n - i);
    const float *x = inputs + i * d, *h1 = hidden1 + i * H;
    if (rows < TILE) {
      memset(padded, 0, sizeof padded);
      memcpy(padded, x, rows * d * sizeof(float));
      x = padded;
    }
    layer_tile(x, d, w1, d, parameters + o.b1, rows, hidden1 + i * H);
    if (rows < TILE) {
      memset(padded, 0, sizeof padded);
      memcpy(padded, h1, rows * H * sizeof(float));
      h1 = padded;
    }
    layer_tile(h1, H, w2, H, parameters + o.b2, rows, hidden2 + i * H);
    for (size_t r = 0; r < rows; r++) {
      const float *h2 = hidden2 + (i + r) * H;
      __m512 sum = _mm512_mul_ps(_mm512_loadu_ps(h2), w30);
      sum = _mm512_fmadd_ps(_mm512_loadu_ps(h2 + 16), w31, sum);
      sum = _mm512_fmadd_ps(_mm512_loadu_ps(h2 + 32), w32, sum);
      sum = _mm512_fmadd_ps(_mm512_loadu_ps(h2 + 48), w33, sum);
      z[i + r] = _mm512_reduce_add_ps(sum) + parameters[o.b3];
    }
  }
}

/* out[j][H] += sum_i a[i][j] b[i][H] for j in [first + skip, first + TILE): a tile of a^T b. */
AVX512 inline __attribute__((always_inline)) void
outer_tile(const float *a, const float *b, size_t n, size_t first, size_t skip, float *out) {
  Tile tile;
#pragma GCC unroll 6
  for (int r = 0; r < TILE; r++)
    for (int v = 0; v < 4; v++)
      tile.row[r][v] = _mm512_setzero_ps();
  for (size_t i = 0; i < n; i++) {
    const float *bi = b + i * H, *ai = a + i * H + first;
    const __m512 b0 = _mm512_loadu_ps(bi), b1 = _mm512_loadu_ps(bi + 16);
    const __m512 b2 = _mm512_loadu_ps(bi + 32), b3 = _mm512_loadu_ps(bi + 48);
#pragma GCC unroll 6
    for (int r = 0; r < TILE; r++) {
      const __m512 x = _mm512_set1_ps(ai[r]);
      tile.row[r][0] = _mm512_fmadd_ps(x, b0, tile.row[r][0]);
      tile.row[r][1] = _mm512_fmadd_ps(x, b1, tile.row[r][1]);
      tile.row[r][2] = _mm512_fmadd_ps(x, b2, tile.row[r][2]);
      tile.row[r][3] = _mm512_fmadd_ps(x, b3, tile.row[r][3]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < TILE; r++)
    if ((size_t)r >= skip)
      for (int v = 0; v < 4; v++) {
        float *place = out + (first + (size_t)r) * H + 16 * v;
        _mm512_storeu_ps(place, _mm512_add_ps(_mm512_loadu_ps(place), tile.row[r][v]));
      }
}

/* Column sums of a [n][H], added to out [H]. */
AVX512 void
column_sums(const float *a, size_t n, float *out) {
  for (int v = 0; v < 4; v++) {
    __m512 sum = _mm512_setzero_ps();
    for (size_t i = 0; i < n; i++)
      sum = _mm512_add_ps(sum, _mm512_loadu_ps(a + i * H + 16 * v));
    _mm512_storeu_ps(out + 16 * v, _mm512_add_ps(_mm512_loadu_ps(out + 16 * v), sum));
  }
}

/* gradient [H][d] += d_hidden [n][H]^T inputs [n][d], a column of inputs at a time: 64 sums in 4
 * registers. */
AVX512 void
input_gradient(const float *d_hidden, const float *inputs, size_t n, size_t d, float *gradient) {
  for (size_t c = 0; c < d; c++) {
    __m512 sums[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(),
                      _mm512_setzero_ps()};
    for (size_t i = 0; i < n; i++) {
      const __m512 x = _mm512_set1_ps(inputs[i * d + c]);
      for (int v = 0; v < 4; v++)
        sums[v] = _mm512_fmadd_ps(x, _mm512_loadu_ps(d_hidden + i * H + 16 * v), sums[v]);
    }
    float column[H];
    for (int v = 0; v < 4; v++)
      _mm512_storeu_ps(column + 16 * v, sums[v]);
    for (size_t j = 0; j < H; j++)
      gradient[j * d + c] += column[j];
  }
}

__attribute__((target("avx512f"))) void
demur_mlp_avx512_backward(DemurMlpShape shape, const float *parameters, const float *inputs,
                          const float *hidden1, const float *hidden2, const float *dz, size_t n,
                          float *scratch, float *gradient) {
  const DemurMlpOffsets o = demur_mlp_offsets(shape);
  float *d_hidden2 = scratch, *d_hidden1 = scratch + n * H;
  const __m512 zero = _mm512_setzero_ps();
  __m512 w3[4], dw3[4];
  for (int v = 0; v < 4; v++) {
    w3[v] = _mm512_loadu_ps(parameters + o.w3 + 16 * v);
    dw3[v] = zero;
  }
  float db3 = 0.0f;
  for (size_t i = 0; i < n; i++) {
    const __m512 dzi = _mm512_set1_ps(dz[i]);
    for (int v = 0; v < 4; v++) {
      const __m512 h = _mm512_loadu_ps(hidden2 + i * H + 16 * v);
      dw3[v] = _mm512_fmadd_ps(dzi, h, dw3[v]);
      const __mmask16 alive = _mm512_cmp_ps_mask(h, zero, _CMP_GT_OQ);
      _mm512_storeu_ps(d_hidden2 + i * H + 16 * v, _mm512_maskz_mul_ps(alive, dzi, w3[v]));
    }
    db3 += dz[i];
  }
  for (int v = 0; v < 4; v++) {
    float *place = gradient + o.w3 + 16 * v;
    _mm512_storeu_ps(place, _mm512_add_ps(_mm512_loadu_ps(place), dw3[v]));
  }
  gradient[o.b3] += db3;
  for (size_t j = 0; j + TILE <= H; j += TILE)
    outer_tile(d_hidden2, hidden1, n, j, 0, gradient + o.w2);
  /* 64 is 10 tiles and 4 rows: the last tile begins two rows early and leaves those as they are. */
  outer_tile(d_hidden2, hidden1, n, H - TILE, TILE - H % TILE, gradient + o.w2);
  column_sums(d_hidden2, n, gradient + o.b2);

  float padded[TILE * H];
  for (size_t i = 0; i < n; i += TILE) {
    const size_t rows = MIN(TILE, n - i);
    const float *a = d_hidden2 + i * H;
    if (rows < TILE) {
      memset(padded, 0, sizeof padded);
      memcpy(padded, a, rows * H * sizeof(float));
      a = padded;
    }
    Tile tile;
#pragma GCC unroll 6
    for (int r = 0; r < TILE; r++)
      for (int v = 0; v < 4; v++)
        tile.row[r][v] = zero;
    tile_product(&tile, a, H, parameters + o.w2, H);
#pragma GCC unroll 6
    for (int r = 0; r < TILE; r++)
      if ((size_t)r < rows)
        for (int v = 0; v < 4; v++) {
          const size_t place = (i + (size_t)r) * H + 16 * (size_t)v;
          const __mmask16 alive =
              _mm512_cmp_ps_mask(_mm512_loadu_ps(hidden1 + place), zero, _CMP_GT_OQ);
          _mm512_storeu_ps(d_hidden1 + place, _mm512_maskz_mov_ps(alive, tile.row[r][v]));
        }
  }
  input_gradient(d_hidden1, inputs, n, shape.n_inputs, gradient + o.w1);
  column_sums(d_hidden1, n, gradient + o.b1);
}

#else

gboolean
demur_mlp_avx512_serves(DemurMlpShape shape) {
  return FALSE;
}

void
demur_mlp_avx512_forward(DemurMlpShape shape, const float *parameters, const float *inputs,
                         size_t n, float *hidden1, float *hidden2, float *z) {
  g_assert_not_reached();
}

void
demur_mlp_avx512_backward(DemurMlpShape shape, const float *parameters, const float *inputs,
                          const float *hidden1, const float *hidden2, const float *dz, size_t n,
                          float *scratch, float *gradient) {
  g_assert_not_reached();
}

#endif
