/* The distance pass against sums done directly, one pair at a time, in long double; and laws it
 * must keep. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/processor.h"
#include "base/random.h"
#include "features/distance-kernels.h"
#include "features/distances.h"
#include "features/kde.h"
#include "support/support.h"

static double *
draw(size_t n, size_t d, guint64 index) {
  double *rows = demur_new_matrix(double, n, d);
  DemurRandom random = demur_random_stream(7, DEMUR_STREAM_TEST, index, 0, 0);
  for (size_t i = 0; i < n * d; i++)
    rows[i] = demur_random_normal(&random);
  return rows;
}

static long double
square(const double *a, const double *b, size_t d) {
  long double sum = 0.0L;
  for (size_t k = 0; k < d; k++)
    sum += ((long double)a[k] - b[k]) * ((long double)a[k] - b[k]);
  return sum;
}

static long double
direct_log_sum_exp(const double *query, const double *rows, size_t n, size_t d, gssize skip) {
  long double top = -INFINITY, sum = 0.0L;
  for (size_t j = 0; j < n; j++)
    if ((gssize)j != skip)
      top = fmaxl(top, -square(query, rows + j * d, d) / 2);
  for (size_t j = 0; j < n; j++)
    if ((gssize)j != skip)
      sum += expl(-square(query, rows + j * d, d) / 2 - top);
  return top + logl(sum);
}

/* Sizes around every block edge: panels of 16, groups of 12, blocks of 128, chunks of 96. */
static const struct {
  size_t n, m, d;
} sizes[] = {{1, 1, 1},      {16, 12, 8},   {17, 13, 3},    {127, 5, 7},  {128, 96, 16},
             {129, 97, 256}, {300, 800, 5}, {257, 25, 256}, {40, 40, 300}};

static void
every_quantity_equals_the_direct_one(void) {
  for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
    const size_t n = sizes[s].n, m = sizes[s].m, d = sizes[s].d, k = MIN(5, n);
    const size_t stride = (n + 15) / 16 * 16;
    DEMUR_AUTO_ALIGNED double *rows = draw(n, d, 0), *queries = draw(m, d, 1);
    DEMUR_AUTO_ALIGNED double *near = demur_new_matrix(double, m, k);
    DEMUR_AUTO_ALIGNED guint32 *indices = demur_new_matrix(guint32, m, k);
    DEMUR_AUTO_ALIGNED double *log_sum_exp = demur_new_array(double, m);
    DEMUR_AUTO_ALIGNED double *kernel_sum = demur_new_array(double, m);
    DEMUR_AUTO_ALIGNED double *weights = demur_new_array(double, n);
    DEMUR_AUTO_ALIGNED double *gram = demur_new_matrix(double, m, stride);
    for (size_t j = 0; j < n; j++)
      weights[j] = (double)(j % 7) / 6.0;
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurDistanceReference) reference = demur_distance_reference_new(rows, n, d, &error);
    const double gamma = 1.0 / (double)d;
    const DemurDistanceWants wants = {.k = k,
                                      .near_distances = near,
                                      .near_indices = indices,
                                      .log_sum_exp = log_sum_exp,
                                      .weights = weights,
                                      .gamma = gamma,
                                      .kernel_sum = kernel_sum,
                                      .gram = gram,
                                      .gram_stride = stride};
    g_assert_true(demur_distance_pass(reference, queries, m, NULL, &wants, NULL, NULL, &error));
    g_assert_no_error(error);
    for (size_t i = 0; i < m; i++) {
      long double sum = 0.0L;
      size_t n_nearer = 0;
      for (size_t j = 0; j < n; j++) {
        const long double squared = square(queries + i * d, rows + j * d, d);
        const double kernel = (double)expl(-gamma * squared);
        sum += weights[j] * (long double)kernel;
        demur_assert_close(gram[i * stride + j], kernel, 1e-12, 1e-300);
        n_nearer += sqrtl(squared) < near[i * k + k - 1] * (1 - 1e-12);
      }
      for (size_t j = n; j < stride; j++)
        g_assert_cmpfloat(gram[i * stride + j], ==, 0.0);
      g_assert_cmpuint(n_nearer, <, k);
      for (size_t j = 0; j < k; j++) {
        const double right =
            (double)sqrtl(square(queries + i * d, rows + indices[i * k + j] * d, d));
        demur_assert_close(near[i * k + j], right, 1e-14, 0);
        if (j > 0)
          g_assert_cmpfloat(near[i * k + j], >=, near[i * k + j - 1]);
      }
      demur_assert_close(kernel_sum[i], (double)sum, 1e-12, 1e-300);
      demur_assert_close(log_sum_exp[i],
                         (double)direct_log_sum_exp(queries + i * d, rows, n, d, -1), 1e-13, 1e-13);
    }
  }
}

/* In 256 dimensions every term is near exp(-256): only a running maximum keeps the sum above 0. */
static void
density_in_256_dimensions_is_exact_with_and_without_the_own_row(void) {
  const size_t n = 400, d = 256;
  DEMUR_AUTO_ALIGNED double *rows = draw(n, d, 2);
  for (size_t k = 0; k < d; k++)
    rows[3 * d + k] += 40.0; /* far out: exp(-204,800) has no double */
  gssize own[400];
  double found[400];
  for (gssize i = 0; i < 400; i++)
    own[i] = i % 2 == 0 ? i : -1;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurDistanceReference) reference = demur_distance_reference_new(rows, n, d, &error);
  const DemurDistanceWants wants = {.log_sum_exp = found};
  g_assert_true(demur_distance_pass(reference, rows, n, own, &wants, NULL, NULL, &error));
  for (size_t i = 0; i < n; i++) {
    const gssize skip = own[i];
    const size_t n_used = skip >= 0 ? n - 1 : n;
    const double right =
        (double)(direct_log_sum_exp(rows + i * d, rows, n, d, skip) -
                 128 * logl(2 * 3.14159265358979323846264338328L) - logl((long double)n_used));
    demur_assert_close(demur_kde_log_density(found[i], n_used, d), right, 1e-12, 0);
  }
}

/* Equal rows: distance exactly 0, and the lower index first. */
static void
duplicates_are_at_zero_and_ordered_by_index(void) {
  const size_t n = 150, d = 33;
  DEMUR_AUTO_ALIGNED double *rows = draw(n, d, 3);
  const size_t copies[] = {149, 20, 77, 5};
  for (size_t c = 0; c < G_N_ELEMENTS(copies); c++)
    memcpy(rows + copies[c] * d, rows, d * sizeof(double));
  double near[4];
  guint32 indices[4];
  const gssize own = 20;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurDistanceReference) reference = demur_distance_reference_new(rows, n, d, &error);
  const DemurDistanceWants wants = {.k = 4, .near_distances = near, .near_indices = indices};
  g_assert_true(demur_distance_pass(reference, rows, 1, NULL, &wants, NULL, NULL, &error));
  const guint32 all[] = {0, 5, 20, 77}, without[] = {0, 5, 77, 149};
  for (size_t j = 0; j < 4; j++) {
    g_assert_cmpfloat(near[j], ==, 0.0);
    g_assert_cmpuint(indices[j], ==, all[j]);
  }
  g_assert_true(demur_distance_pass(reference, rows, 1, &own, &wants, NULL, NULL, &error));
  for (size_t j = 0; j < 4; j++) {
    g_assert_cmpfloat(near[j], ==, 0.0);
    g_assert_cmpuint(indices[j], ==, without[j]);
  }
}

static void
exponential_is_within_two_units_of_the_last_place(void) {
  enum { N = 20011 };
  DEMUR_AUTO_ALIGNED double *x = demur_new_array(double, N), *found = demur_new_array(double, N);
  DemurRandom random = demur_random_stream(7, DEMUR_STREAM_TEST, 4, 0, 0);
  for (size_t i = 0; i < N; i++)
    x[i] = i % 2 == 0 ? -708.0 * demur_random_uniform(&random) : -demur_random_exponential(&random);
  const double edges[] = {0.0, -0.0, -708.0, -708.5, -1e300, -INFINITY, -1e-300, -0x1p-60};
  memcpy(x, edges, sizeof(edges));
  demur_distance_exp(x, N, found);
  g_assert_cmpfloat(found[0], ==, 1.0);
  g_assert_cmpfloat(found[1], ==, 1.0);
  for (size_t i = 3; i < 6; i++)
    g_assert_cmpfloat(found[i], ==, 0.0);
  double worst = 0.0;
  for (size_t i = 0; i < N; i++) {
    if (x[i] < -708.0)
      continue;
    const long double right = expl((long double)x[i]);
    const double unit = nextafter((double)right, INFINITY) - (double)right;
    worst = fmax(worst, (double)fabsl((long double)found[i] - right) / unit);
  }
  g_test_message("worst error %.3f units in the last place", worst);
  g_assert_cmpfloat(worst, <, 2.0);
}

/* A query's values depend on no other query: the same bytes alone, in a group, in a chunk. */
static void
query_alone_gives_the_bytes_it_gives_among_others(void) {
  const size_t n = 333, m = 900, d = 37;
  DEMUR_AUTO_ALIGNED double *rows = draw(n, d, 5), *queries = draw(m, d, 6);
  DEMUR_AUTO_ALIGNED double *weights = draw(n, 1, 7);
  DEMUR_AUTO_ALIGNED double *sums = demur_new_matrix(double, m, 2);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurDistanceReference) reference = demur_distance_reference_new(rows, n, d, &error);
  DemurDistanceWants wants = {
      .log_sum_exp = sums, .weights = weights, .gamma = 0.03, .kernel_sum = sums + m};
  g_assert_true(demur_distance_pass(reference, queries, m, NULL, &wants, NULL, NULL, &error));
  for (size_t i = 0; i < m; i += 101) {
    double alone[2];
    wants.log_sum_exp = &alone[0];
    wants.kernel_sum = &alone[1];
    g_assert_true(
        demur_distance_pass(reference, queries + i * d, 1, NULL, &wants, NULL, NULL, &error));
    g_assert_true(memcmp(&alone[0], &sums[i], sizeof(double)) == 0);
    g_assert_true(memcmp(&alone[1], &sums[m + i], sizeof(double)) == 0);
  }
}

static void
cancelling_ends_the_pass(void) {
  DEMUR_AUTO_ALIGNED double *rows = draw(10, 2, 8);
  double found[10];
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  g_cancellable_cancel(cancellable);
  const DemurProgress progress = {.cancellable = cancellable};
  const DemurDistanceWants wants = {.log_sum_exp = found};
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurDistanceReference) reference = demur_distance_reference_new(rows, 10, 2, &error);
  g_assert_false(demur_distance_pass(reference, rows, 10, NULL, &wants, NULL, &progress, &error));
  g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* On a grid of whole numbers all squares are exact and most are equal to others: the nearest k are those
 * by (square, index), by every kernel and for any k, full eights and not, and with one row left out. */
static void
equal_distances_stand_by_index_whatever_the_kernel(void) {
  enum { N = 300, M = 50, D = 3 };
  static const size_t ks[] = {1, 7, 8, 9, 20, 24, 40, 299};
  DEMUR_AUTO_ALIGNED double *rows = demur_new_matrix(double, N, D);
  DemurRandom random = demur_random_stream(7, DEMUR_STREAM_TEST, 9, 0, 0);
  for (size_t i = 0; i < N * D; i++)
    rows[i] = (double)demur_random_below(&random, 4);
  gssize own[M];
  for (gssize i = 0; i < M; i++)
    own[i] = i % 3 == 0 ? i : -1;
  for (DemurProcessor level = DEMUR_PROCESSOR_AVX512 + 1; level-- > DEMUR_PROCESSOR_PLAIN;) {
    demur_processor_limit(level); /* from the highest down: a limit is never lifted */
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurDistanceReference) reference = demur_distance_reference_new(rows, N, D, &error);
    for (size_t t = 0; t < G_N_ELEMENTS(ks); t++) {
      const size_t k = ks[t];
      DEMUR_AUTO_ALIGNED double *near = demur_new_matrix(double, M, k);
      DEMUR_AUTO_ALIGNED guint32 *indices = demur_new_matrix(guint32, M, k);
      const DemurDistanceWants wants = {.k = k, .near_distances = near, .near_indices = indices};
      g_assert_true(demur_distance_pass(reference, rows, M, own, &wants, NULL, NULL, &error));
      g_assert_no_error(error);
      for (size_t i = 0; i < M; i++) {
        gboolean taken[N] = {FALSE};
        if (own[i] >= 0)
          taken[own[i]] = TRUE;
        for (size_t j = 0; j < k; j++) {
          size_t nearest = N;
          for (size_t r = 0; r < N; r++)
            if (!taken[r] && (nearest == N || square(rows + i * D, rows + r * D, D) <
                                                  square(rows + i * D, rows + nearest * D, D)))
              nearest = r;
          taken[nearest] = TRUE;
          g_assert_cmpuint(indices[i * k + j], ==, nearest);
        }
      }
    }
  }
}

typedef struct {
  const double *rows;
  size_t n, d, n_given;
} Source;

static void
give(size_t first, size_t n_rows, double *rows, gpointer data) {
  Source *source = data;
  g_assert_cmpuint(first + n_rows, <=, source->n);
  memcpy(rows, source->rows + first * source->d, n_rows * source->d * sizeof(double));
  source->n_given += n_rows;
}

/* Rows that nobody keeps give the bytes of those that are there: in the first pass, whose panels are made one by one where it has few
 * queries, and in those behind it, which have them. */
static void
rows_that_are_given_give_the_same_bytes(void) {
  for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
    const size_t n = sizes[s].n, m = sizes[s].m, d = sizes[s].d, k = MIN(5, n);
    DEMUR_AUTO_ALIGNED double *rows = draw(n, d, 0), *queries = draw(m, d, 1);
    memcpy(queries, rows + (n - 1) * d, d * sizeof(double)); /* one at distance 0 */
    DEMUR_AUTO_ALIGNED double *weights = draw(1, n, 2);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurDistanceReference) by_rows = demur_distance_reference_new(rows, n, d, &error);
    g_assert_no_error(error);
    g_assert_true(demur_distance_reference_rows(by_rows) == rows);
    const size_t asked[] = {1, MIN(m, 12), m};
    for (size_t a = 0; a < G_N_ELEMENTS(asked); a++) {
      const size_t q = asked[a];
      Source source = {.rows = rows, .n = n, .d = d};
      g_autoptr(DemurDistanceReference) given =
          demur_distance_reference_new_given(n, d, give, &source);
      g_assert_null(demur_distance_reference_rows(given));
      g_assert_cmpuint(source.n_given, ==, 0);
      DEMUR_AUTO_ALIGNED double *near = demur_new_matrix(double, 3 * q, k);
      DEMUR_AUTO_ALIGNED guint32 *indices = demur_new_matrix(guint32, 3 * q, k);
      DEMUR_AUTO_ALIGNED double *density = demur_new_array(double, 3 * q);
      DEMUR_AUTO_ALIGNED double *kernel = demur_new_array(double, 3 * q);
      for (size_t pass = 0; pass < 3; pass++) {
        const DemurDistanceWants wants = {.k = k,
                                          .near_distances = near + pass * q * k,
                                          .near_indices = indices + pass * q * k,
                                          .log_sum_exp = density + pass * q,
                                          .weights = weights,
                                          .gamma = 0.01,
                                          .kernel_sum = kernel + pass * q};
        g_assert_true(demur_distance_pass(pass == 0 ? by_rows : given, queries, q, NULL, &wants,
                                          NULL, NULL, &error));
        if (pass == 0)
          continue;
        g_assert_true(memcmp(near, near + pass * q * k, q * k * sizeof *near) == 0);
        g_assert_true(memcmp(indices, indices + pass * q * k, q * k * sizeof *indices) == 0);
        g_assert_true(memcmp(density, density + pass * q, q * sizeof *density) == 0);
        g_assert_true(memcmp(kernel, kernel + pass * q, q * sizeof *kernel) == 0);
      }
      g_assert_cmpuint(source.n_given, >=, n);
      g_assert_cmpfloat(near[0], ==, 0.0);
    }
  }
}

/* All that is taken from a row of distances, by this level: as many bytes as the longest row has. */
typedef struct {
  double squares[DEMUR_DISTANCE_BLOCK], gram[DEMUR_DISTANCE_BLOCK], near[8 + 24];
  gint64 indices[8 + 24];
  guint8 places[DEMUR_DISTANCE_BLOCK];
  DemurDistanceRange range;
  double exp_sum, kernel_sum, direct, exponentials[13];
} __attribute__((aligned(64))) Taken;

static void
take_all(size_t width, double query_norm, gboolean has_far, Taken *taken) {
  const DemurDistanceKernel *kernel = demur_distance_kernel();
  double norms[DEMUR_DISTANCE_BLOCK] __attribute__((aligned(64)));
  double weights[DEMUR_DISTANCE_BLOCK] __attribute__((aligned(64)));
  guint8 chosen[DEMUR_DISTANCE_BLOCK];
  DemurRandom random = demur_random_stream(7, DEMUR_STREAM_TEST, width, 9, 0);
  memset(taken, 0, sizeof *taken);
  size_t n_chosen = 0;
  for (size_t j = 0; j < width; j++) {
    norms[j] = 40.0 + demur_random_uniform(&random);
    taken->squares[j] = 30.0 * demur_random_normal(&random);
    if (j % 3 != 1)
      chosen[n_chosen++] = (guint8)j;
    weights[j] = demur_random_uniform(&random);
  }
  while (n_chosen % 8 != 0) {
    weights[n_chosen] = 0.0;
    chosen[n_chosen++] = 0;
  }
  if (has_far) {
    norms[5] = INFINITY;
    norms[7] = 2000.0; /* beyond what an exponential reaches */
  }
  const DemurDistanceRange range = kernel->to_squares(taken->squares, norms, width, query_norm);
  taken->range = range;
  g_assert_cmpfloat(kernel->smallest(taken->squares, width), ==, range.smallest);
  for (size_t j = 0; j < width; j++)
    g_assert_cmpfloat(taken->squares[j], <=, range.largest);
  const double shift = 0.5 * range.smallest;
  taken->exp_sum = kernel->exp_sum(taken->squares, width, shift, range.largest);
  double chosen_squares[2 * DEMUR_DISTANCE_BLOCK] __attribute__((aligned(64)));
  for (int turn = 0; turn < 2; turn++) { /* what is known of the largest changes nothing */
    double sums[2] = {0.0, 0.0};
    for (size_t i = 0; i < 2; i++)
      kernel->choose(taken->squares, chosen, n_chosen, chosen_squares + i * n_chosen);
    kernel->add_weighted_exp_sums(chosen_squares, 2, weights, n_chosen, 0.0078125,
                                  turn == 0 ? range.largest : INFINITY, sums);
    g_assert_cmpfloat(sums[0], ==, sums[1]);
    g_assert_true(turn == 0 || sums[0] == taken->kernel_sum);
    taken->kernel_sum = sums[0];
  }
  g_assert_cmpfloat(kernel->exp_sum(taken->squares, width, shift, INFINITY), ==, taken->exp_sum);
  kernel->exp_to_gram(taken->squares, width, 0.05, taken->gram);
  for (size_t j = 0; j < G_N_ELEMENTS(taken->near); j++)
    taken->near[j] = j < 8 ? -INFINITY : INFINITY;
  const size_t n = kernel->below(taken->squares, width, 100.0, taken->places);
  kernel->keep_near(taken->squares, taken->places, n, 1000, 20, 3, taken->near + 8,
                    taken->indices + 8);
  for (size_t j = n; j < width; j++) /* beyond the last place anything may stand */
    taken->places[j] = 0;
  taken->direct = kernel->direct_square(norms + 6, taken->squares + 6, width - 7);
  kernel->exponentials((const double[]){0.0, -0.0, -1.0, -708.0, -708.5, -1e300, -INFINITY, -0.5,
                                        -1e-300, -3.3, -7.1, -100.0, -707.9},
                       13, taken->exponentials);
}

/* Widths of one, some and all vectors that are taken side by side; also where all distances are at 0. */
static void
every_level_takes_the_same_bytes_from_a_row(void) {
  const size_t widths[] = {16, 32, 48, 64, 80, 96, 112, 128};
  const double query_norms[] = {45.0, -200.0};
  for (size_t w = 0; w < G_N_ELEMENTS(widths); w++)
    for (size_t q = 0; q < G_N_ELEMENTS(query_norms); q++) {
      for (int has_far = 0; has_far < 2; has_far++) {
        Taken first, other;
        demur_processor_limit(DEMUR_PROCESSOR_PLAIN);
        take_all(widths[w], query_norms[q], has_far, &first);
        for (int level = DEMUR_PROCESSOR_AVX2; level <= DEMUR_PROCESSOR_AVX512; level++) {
          demur_processor_limit((DemurProcessor)level);
          take_all(widths[w], query_norms[q], has_far, &other);
          g_assert_true(memcmp(&first, &other, sizeof first) == 0);
        }
      }
    }
}

/* Columns fewer than, as many as and more than those that are summed in one part. */
static void
products_are_summed_in_the_order_of_the_columns(void) {
  const size_t widths[] = {1, 7, 63, 64, 65, 128, 129, 300}, n_panels = 3;
  for (int level = DEMUR_PROCESSOR_PLAIN; level <= DEMUR_PROCESSOR_AVX512; level++) {
    demur_processor_limit((DemurProcessor)level);
    const DemurDistanceKernel *kernel = demur_distance_kernel();
    const gboolean is_fused = demur_processor_level() != DEMUR_PROCESSOR_PLAIN;
    for (size_t w = 0; w < G_N_ELEMENTS(widths); w++) {
      const size_t d = widths[w], n = n_panels * DEMUR_DISTANCE_PANEL;
      DEMUR_AUTO_ALIGNED double *a = demur_new_matrix(double, d, DEMUR_DISTANCE_GROUP);
      DEMUR_AUTO_ALIGNED double *b = demur_new_matrix(double, n, d);
      DEMUR_AUTO_ALIGNED double *c = demur_new_matrix(double, DEMUR_DISTANCE_GROUP, n);
      DemurRandom random = demur_random_stream(8, DEMUR_STREAM_TEST, d, 0, 0);
      for (size_t i = 0; i < d * DEMUR_DISTANCE_GROUP; i++)
        a[i] = demur_random_normal(&random);
      for (size_t i = 0; i < n * d; i++)
        b[i] = demur_random_normal(&random);
      for (size_t i = 0; i < DEMUR_DISTANCE_GROUP * n; i++)
        c[i] = NAN;
      kernel->tiles(a, b, n_panels, d, c, n);
      for (size_t i = 0; i < DEMUR_DISTANCE_GROUP; i++)
        for (size_t j = 0; j < n; j++) {
          const double *panel = b + j / DEMUR_DISTANCE_PANEL * d * DEMUR_DISTANCE_PANEL;
          double sum = 0.0;
          for (size_t k = 0; k < d; k++) {
            const double x = a[k * DEMUR_DISTANCE_GROUP + i],
                         y = panel[k * DEMUR_DISTANCE_PANEL + j % DEMUR_DISTANCE_PANEL];
            sum = is_fused ? fma(x, y, sum) : sum + x * y;
          }
          g_assert_cmpfloat(c[i * n + j], ==, sum);
        }
    }
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/features/distances/direct", every_quantity_equals_the_direct_one);
  g_test_add_func("/features/distances/kde-256",
                  density_in_256_dimensions_is_exact_with_and_without_the_own_row);
  g_test_add_func("/features/distances/duplicates", duplicates_are_at_zero_and_ordered_by_index);
  g_test_add_func("/features/distances/exp", exponential_is_within_two_units_of_the_last_place);
  g_test_add_func("/features/distances/alone", query_alone_gives_the_bytes_it_gives_among_others);
  g_test_add_func("/features/distances/given", rows_that_are_given_give_the_same_bytes);
  g_test_add_func("/features/distances/cancel", cancelling_ends_the_pass);
  g_test_add_func("/features/distances/levels", every_level_takes_the_same_bytes_from_a_row);
  g_test_add_func("/features/distances/products", products_are_summed_in_the_order_of_the_columns);
  /* last: it limits the processor */
  g_test_add_func("/features/distances/kernels",
                  equal_distances_stand_by_index_whatever_the_kernel);
  return g_test_run();
}
