/* One-class SVM by sequential minimal optimisation.
 *
 * With G = K a the gradient, the pair (i, j) of a step is
 *   i = argmin { G_t : a_t < 1 },   j = argmax { (G_t - G_i)^2 / (2 - 2 K_it) : a_t > 0, G_t > G_i
 * } (second-order choice, Fan, Chen and Lin 2005, section 2.3); a_i grows and a_j shrinks by the
 * step that is best for the two, cut off at the bounds; G follows by two rows of the Gram matrix.
 * It ends when max { G_t : a_t > 0 } - min { G_t : a_t < 1 } is at most the tolerance.
 *
 * Data layout: G in double, the Gram matrix in float, rows padded to 16. "up" and "low" hold 0 for
 * a row that may grow (shrink) and an infinity for one that may not, so that both choices are plain
 * passes over vectors; the quotients are compared crosswise, which needs no division.
 *
 * Cost: O(n) a step. Done differently from libsvm: it starts from the nu n rows with the lowest
 * density (sum of their kernel values) at 1, which is close to the answer, instead of from the
 * first nu n rows. */
#include "features/one-class-svm.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "features/vector.h"

#define ROWS_A_CHUNK 64
#define STEPS_A_LOOK 2000 /* between two looks at the cancellable */

double
demur_svm_scale_gamma(const double *rows, size_t n, size_t d) {
  double mean = 0.0, variance = 0.0;
  const double count = (double)n * (double)d;
  for (size_t i = 0; i < n * d; i++)
    mean += rows[i];
  mean /= count;
  for (size_t i = 0; i < n * d; i++)
    variance += (rows[i] - mean) * (rows[i] - mean);
  variance /= count;
  return variance > 0.0 ? 1.0 / ((double)d * variance) : 1.0;
}

guint32 *
demur_svm_choose_rows(size_t n, size_t max_rows, guint64 seed, size_t *n_chosen) {
  const size_t count = MIN(n, max_rows);
  guint32 *rows = g_new(guint32, MAX(count, 1));
  *n_chosen = count;
  if (count == n) {
    for (size_t i = 0; i < n; i++)
      rows[i] = (guint32)i;
    return rows;
  }
  /* Selection sampling (Knuth 3.4.2 S): ascending, every subset equally likely. */
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_SVM_SUBSAMPLE, 0, 0, 0);
  for (size_t i = 0, kept = 0; kept < count; i++)
    if (demur_random_below(&random, n - i) < count - kept)
      rows[kept++] = (guint32)i;
  return rows;
}

/* ---- vector passes; n_padded is a multiple of 8 ---- */

typedef struct {
  double value;
  size_t index;
} Best;

/* values += step (row_i - row_j); returns the smallest of values + up, ties by index. */
VECTOR_CLONES static Best
move_and_find_lowest(double *values, const float *row_i, const float *row_j, double step,
                     const double *up, size_t n_padded) {
  V8 low = v8_fill(INFINITY);
  V8i places = {0, 0, 0, 0, 0, 0, 0, 0}, index = {0, 1, 2, 3, 4, 5, 6, 7};
  for (size_t t = 0; t < n_padded; t += 8) {
    V8f k_i, k_j;
    memcpy(&k_i, row_i + t, sizeof(k_i));
    memcpy(&k_j, row_j + t, sizeof(k_j));
    const V8 moved = v8_load(values + t) +
                     step * (__builtin_convertvector(k_i, V8) - __builtin_convertvector(k_j, V8));
    v8_store(values + t, moved);
    const V8 open = moved + v8_load(up + t);
    const V8i lower = (V8i)(open < low);
    low = v8_select(lower, open, low);
    places = v8i_select(lower, index, places);
    index += 8;
  }
  Best best = {INFINITY, 0};
  for (int lane = 0; lane < 8; lane++)
    if (low[lane] < best.value || (low[lane] == best.value && (size_t)places[lane] < best.index))
      best = (Best){low[lane], (size_t)places[lane]};
  return best;
}

/* The partner of i with the largest gain; *highest is the largest value that may shrink. */
VECTOR_CLONES static size_t
find_partner(const double *values, const double *low, const float *row_i, double lowest,
             size_t n_padded, double *highest) {
  V8 top = v8_fill(-INFINITY), gain = v8_fill(-1.0), curvature = v8_fill(1.0);
  V8i places = {0, 0, 0, 0, 0, 0, 0, 0}, index = {0, 1, 2, 3, 4, 5, 6, 7};
  const V8 zero = v8_fill(0.0), flat = v8_fill(1e-12);
  for (size_t t = 0; t < n_padded; t += 8) {
    V8f k_i;
    memcpy(&k_i, row_i + t, sizeof(k_i));
    const V8 open = v8_load(values + t) + v8_load(low + t);
    const V8i higher = (V8i)(open > top);
    top = v8_select(higher, open, top);
    const V8 difference = open - lowest;
    const V8 positive = v8_select((V8i)(difference > zero), difference, zero);
    V8 eta = 2.0 - 2.0 * __builtin_convertvector(k_i, V8);
    eta = v8_select((V8i)(eta > flat), eta, flat);
    const V8 square = positive * positive;
    const V8i better = (V8i)(square * curvature > gain * eta);
    gain = v8_select(better, square, gain);
    curvature = v8_select(better, eta, curvature);
    places = v8i_select(better, index, places);
    index += 8;
  }
  size_t best = (size_t)places[0];
  double best_gain = gain[0], best_curvature = curvature[0];
  *highest = top[0];
  for (int lane = 1; lane < 8; lane++) {
    *highest = MAX(*highest, top[lane]);
    const double a = gain[lane] * best_curvature, b = best_gain * curvature[lane];
    if (a > b || (a == b && (size_t)places[lane] < best)) {
      best = (size_t)places[lane];
      best_gain = gain[lane];
      best_curvature = curvature[lane];
    }
  }
  return best;
}

VECTOR_CLONES static double
row_times(const float *row, const double *weights, size_t n_padded) {
  V8 sum = v8_fill(0.0);
  for (size_t t = 0; t < n_padded; t += 8) {
    V8f k;
    memcpy(&k, row + t, sizeof(k));
    sum += __builtin_convertvector(k, V8) * v8_load(weights + t);
  }
  return v8_sum(sum);
}

/* ---- the solver ---- */

typedef struct {
  const float *gram;
  size_t n, stride, n_padded;
  const double *weights; /* [n_padded] */
  double *products;      /* [n_padded] */
} Products;

static void
products_chunk(size_t chunk, guint worker, gpointer data) {
  const Products *p = data;
  const size_t begin = chunk * ROWS_A_CHUNK, end = MIN(begin + ROWS_A_CHUNK, p->n);
  for (size_t i = begin; i < end; i++)
    p->products[i] = row_times(p->gram + i * p->stride, p->weights, p->n_padded);
}

/* products = gram x weights. */
static void
multiply(const float *gram, size_t n, size_t stride, size_t n_padded, const double *weights,
         double *products, DemurParallel *parallel) {
  Products p = {gram, n, stride, n_padded, weights, products};
  demur_parallel_map(parallel, (n + ROWS_A_CHUNK - 1) / ROWS_A_CHUNK, products_chunk, &p);
}

static int
compare_density(gconstpointer a, gconstpointer b, gpointer data) {
  const guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
  const double *densities = data;
  if (densities[i] != densities[j])
    return densities[i] < densities[j] ? -1 : 1;
  return i < j ? -1 : i > j;
}

static void
set_bounds(const double *alphas, size_t t, double *up, double *low) {
  up[t] = alphas[t] < 1.0 ? 0.0 : INFINITY;
  low[t] = alphas[t] > 0.0 ? 0.0 : -INFINITY;
}

gboolean
demur_svm_solve(const float *gram, size_t n, size_t stride, double nu, double tolerance,
                double *alphas, DemurParallel *parallel, const DemurProgress *progress,
                GError **error) {
  g_return_val_if_fail(n > 0 && nu > 0.0 && nu <= 1.0 && stride >= n && stride % 16 == 0, FALSE);
  const size_t n_padded = (n + 7) / 8 * 8;
  DEMUR_AUTO_ALIGNED double *values = demur_new_array(double, n_padded); /* the gradient G */
  DEMUR_AUTO_ALIGNED double *weights = demur_new_array(double, n_padded);
  DEMUR_AUTO_ALIGNED double *up = demur_new_array(double, n_padded);
  DEMUR_AUTO_ALIGNED double *low = demur_new_array(double, n_padded);
  g_autofree guint32 *order = g_new(guint32, n);

  /* The start: the nu n rows of lowest density. */
  for (size_t t = 0; t < n; t++) {
    weights[t] = 1.0;
    order[t] = (guint32)t;
  }
  multiply(gram, n, stride, n_padded, weights, values, parallel);
  double mean_kernel = 0.0;
  for (size_t t = 0; t < n; t++)
    mean_kernel += values[t];
  mean_kernel /= (double)n * (double)n;
  g_qsort_with_data(order, (int)n, sizeof(guint32), compare_density, values);
  memset(weights, 0, n_padded * sizeof(double));
  double left = nu * (double)n;
  for (size_t place = 0; place < n && left > 0.0; place++) {
    weights[order[place]] = MIN(1.0, left);
    left -= weights[order[place]];
  }
  multiply(gram, n, stride, n_padded, weights, values, parallel);
  for (size_t t = 0; t < n_padded; t++)
    set_bounds(weights, t, up, low);
  for (size_t t = n; t < n_padded; t++) {
    values[t] = 0.0;
    up[t] = INFINITY;
    low[t] = -INFINITY;
  }

  if (tolerance <= 0.0)
    tolerance = MAX(1e-9, 1e-7 * nu * (double)n * mean_kernel);
  const size_t max_steps = 100 * n + 100000;
  Best lowest = move_and_find_lowest(values, gram, gram, 0.0, up, n_padded);
  for (size_t step = 0;; step++) {
    if (lowest.value == INFINITY)
      break; /* nu = 1: every alpha is 1 */
    const float *row_i = gram + lowest.index * stride;
    double highest;
    const size_t j = find_partner(values, low, row_i, lowest.value, n_padded, &highest);
    const double violation = highest - lowest.value;
    if (!(violation > tolerance))
      break;
    if (step == max_steps) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_NUMERIC,
                  "the one-class SVM of %zu rows did not converge in %zu steps (largest violation "
                  "%g, wanted %g)",
                  n, max_steps, violation, tolerance);
      return FALSE;
    }
    if (step % STEPS_A_LOOK == 0 &&
        !demur_progress_step(progress, (double)step / (double)(step + 2 * n),
                             "fitting outlier "
                             "scores",
                             error))
      return FALSE;
    const size_t i = lowest.index;
    const double eta = MAX(2.0 - 2.0 * (double)row_i[j], 1e-12);
    const double room_i = 1.0 - weights[i], room_j = weights[j];
    double change = (values[j] - values[i]) / eta;
    /* A bound that cuts the step is then met exactly. */
    if (change >= room_i || change >= room_j) {
      if (room_i <= room_j) {
        change = room_i;
        weights[i] = 1.0;
        weights[j] = room_i == room_j ? 0.0 : weights[j] - change;
      } else {
        change = room_j;
        weights[i] += change;
        weights[j] = 0.0;
      }
    } else {
      weights[i] += change;
      weights[j] -= change;
    }
    set_bounds(weights, i, up, low);
    set_bounds(weights, j, up, low);
    lowest = move_and_find_lowest(values, row_i, gram + j * stride, change, up, n_padded);
  }
  memcpy(alphas, weights, n * sizeof(double));
  return TRUE;
}
