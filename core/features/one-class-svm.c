/* One-class SVM by sequential minimal optimisation.
 *
 * With G = K a the gradient, the pair (i, j) of a step is
 *   i = argmin { G_t : a_t < 1 },   j = argmax { (G_t - G_i)^2 / (2 - 2 K_it) : a_t > 0, G_t > G_i
 * } (second-order choice, Fan, Chen and Lin 2005, section 2.3); a_i grows and a_j shrinks by the
 * step that is best for the two, cut off at the bounds; G follows by two rows of the Gram matrix K.
 * It ends when max { G_t : a_t > 0 } - min { G_t : a_t < 1 } is at most the tolerance.
 *
 * Data layout: all in double. "up" and "low" hold 0 for a row that may grow (shrink) and an
 * infinity for one that may not, so that both choices are plain passes over vectors; the quotients
 * are compared crosswise, which needs no division. Rows of K are made when first asked for,
 * together with those of the worst other offenders, and kept: from a good start a few hundred of
 * 6,000 are touched, so K is never whole (it would be 288 MB).
 *
 * Cost: O(n) a step, O(n d) a row of K. Done differently from libsvm: it starts from the rows of
 * low density instead of the first nu n rows, which saves nearly all of the steps. */
#include "features/one-class-svm.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"

#define SMALL 256            /* rows few enough to start from their densities */
#define SHARE 8              /* otherwise: from the solution for one row in so many */
#define ROUGH_TOLERANCE 1e-3 /* of that solution */
#define ROWS_AT_ONCE 96      /* rows of K made together */
#define STEPS_A_LOOK 2000    /* between two looks at the cancellable */

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
  /* Selection sampling (Knuth 3.4.2 S): ascending, every subset equally likely. */
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_SVM_SUBSAMPLE, 0, 0, 0);
  for (size_t i = 0, kept = 0; kept < count; i++)
    if (count == n || demur_random_below(&random, n - i) < count - kept)
      rows[kept++] = (guint32)i;
  return rows;
}

/* ---- the start ---- */

static int
compare_scores(gconstpointer a, gconstpointer b, gpointer data) {
  const guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
  const double *scores = data;
  if (scores[i] != scores[j])
    return scores[i] < scores[j] ? -1 : 1;
  return i < j ? -1 : i > j;
}

gboolean
demur_svm_start(const DemurDistanceReference *reference, double gamma, double nu, double *alphas,
                DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  g_return_val_if_fail(nu > 0.0 && nu <= 1.0, FALSE);
  /* Too short to be reported, but to be cancelled. */
  const DemurProgress quiet = {.cancellable = progress != NULL ? progress->cancellable : NULL};
  const size_t n = demur_distance_reference_n(reference);
  const size_t d = demur_distance_reference_width(reference);
  const double *rows = demur_distance_reference_rows(reference);
  const size_t stride = n <= SMALL ? 1 : SHARE, n_some = (n + stride - 1) / stride;
  DEMUR_AUTO_ALIGNED double *some = demur_new_matrix(double, n_some, d);
  DEMUR_AUTO_ALIGNED double *weights = demur_new_array(double, n_some);
  DEMUR_AUTO_ALIGNED double *scores = demur_new_array(double, n);
  for (size_t i = 0; i < n_some; i++) {
    memcpy(some + i * d, rows + i * stride * d, d * sizeof(double));
    weights[i] = 1.0;
  }
  g_autoptr(DemurDistanceReference) sample = demur_distance_reference_new(some, n_some, d, error);
  if (sample == NULL || (n_some < n && !demur_svm_fit(sample, gamma, nu, ROUGH_TOLERANCE, weights,
                                                      parallel, &quiet, error)))
    return FALSE;
  const DemurDistanceWants wants = {.weights = weights, .gamma = gamma, .kernel_sum = scores};
  if (!demur_distance_pass(sample, rows, n, NULL, &wants, parallel, &quiet, error))
    return FALSE;
  g_autofree guint32 *order = g_new(guint32, n);
  for (size_t t = 0; t < n; t++) {
    order[t] = (guint32)t;
    alphas[t] = 0.0;
  }
  g_qsort_with_data(order, (int)n, sizeof(guint32), compare_scores, scores);
  double left = nu * (double)n;
  for (size_t place = 0; place < n && left > 0.0; place++) {
    alphas[order[place]] = MIN(1.0, left);
    left -= alphas[order[place]];
  }
  return TRUE;
}

/* ---- vector passes ---- */

typedef struct {
  double value;
  size_t index;
} Best;

static const gint64 first_places[8] __attribute__((aligned(64))) = {0, 1, 2, 3, 4, 5, 6, 7};

#define BODY "features/svm-passes.inc"
#include "base/every-width.inc"

/* ---- rows of K ---- */

typedef struct {
  const DemurDistanceReference *reference;
  double gamma;
  size_t n, stride; /* a multiple of 16 */
  double **rows;    /* [n], NULL where not yet made */
  GPtrArray *blocks;
  double *queries; /* [ROWS_AT_ONCE][d] */
  DemurParallel *parallel;
} Kernel;

static void
kernel_clear(Kernel *kernel) {
  g_free(kernel->rows);
  g_clear_pointer(&kernel->blocks, g_ptr_array_unref);
  g_aligned_free(kernel->queries);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Kernel, kernel_clear)

typedef struct {
  double urgency;
  guint32 row;
} Offender;

/* A heap with the least urgent on top would do; the list is short, so it is kept sorted. */
static size_t
add_offender(Offender *list, size_t n_list, double urgency, guint32 row) {
  size_t place = n_list;
  if (n_list == ROWS_AT_ONCE) {
    if (urgency <= list[n_list - 1].urgency)
      return n_list;
    place--;
  } else {
    n_list++;
  }
  for (; place > 0 && list[place - 1].urgency < urgency; place--)
    list[place] = list[place - 1];
  list[place] = (Offender){urgency, row};
  return n_list;
}

/* Row wanted of K, made with the rows that offend the optimality conditions most (that may grow and
 * have a low gradient, or may shrink and have a high one), since those are asked for next. NULL
 * with error where there is no memory. */
static const double *
kernel_row(Kernel *kernel, size_t wanted, const double *values, const double *up, const double *low,
           double middle, GError **error) {
  if (kernel->rows[wanted] != NULL)
    return kernel->rows[wanted];
  Offender list[ROWS_AT_ONCE];
  size_t n_list = add_offender(list, 0, INFINITY, (guint32)wanted);
  for (size_t t = 0; t < kernel->n; t++) {
    if (kernel->rows[t] != NULL || t == wanted)
      continue;
    const double urgency = MAX(middle - (values[t] + up[t]), (values[t] + low[t]) - middle);
    n_list = add_offender(list, n_list, urgency, (guint32)t);
  }
  const size_t d = demur_distance_reference_width(kernel->reference);
  const double *rows = demur_distance_reference_rows(kernel->reference);
  double *block = demur_memory_array(n_list, kernel->stride, sizeof(double), error);
  if (block == NULL)
    return NULL;
  g_ptr_array_add(kernel->blocks, block);
  for (size_t i = 0; i < n_list; i++) {
    memcpy(kernel->queries + i * d, rows + (size_t)list[i].row * d, d * sizeof(double));
    kernel->rows[list[i].row] = block + i * kernel->stride;
  }
  const DemurDistanceWants wants = {
      .gamma = kernel->gamma, .gram = block, .gram_stride = kernel->stride};
  if (!demur_distance_pass(kernel->reference, kernel->queries, n_list, NULL, &wants,
                           kernel->parallel, NULL, error))
    return NULL;
  return kernel->rows[wanted];
}

/* ---- the solver ---- */

static void
set_bounds(const double *alphas, size_t t, double *up, double *low) {
  up[t] = alphas[t] < 1.0 ? 0.0 : INFINITY;
  low[t] = alphas[t] > 0.0 ? 0.0 : -INFINITY;
}

gboolean
demur_svm_finish(const DemurDistanceReference *reference, double gamma, double tolerance,
                 double *alphas, double *gradient, DemurParallel *parallel,
                 const DemurProgress *progress, GError **error) {
  const size_t n = demur_distance_reference_n(reference);
  const size_t d = demur_distance_reference_width(reference);
  const size_t stride = (n + 15) / 16 * 16;
  DEMUR_AUTO_ALIGNED double *values = demur_new_array(double, stride);
  DEMUR_AUTO_ALIGNED double *up = demur_new_array(double, stride);
  DEMUR_AUTO_ALIGNED double *low = demur_new_array(double, stride);
  double largest = 0.0;
  for (size_t t = 0; t < n; t++) {
    values[t] = gradient[t];
    largest = MAX(largest, gradient[t]);
    set_bounds(alphas, t, up, low);
  }
  for (size_t t = n; t < stride; t++) {
    up[t] = INFINITY;
    low[t] = -INFINITY;
  }
  if (tolerance <= 0.0)
    tolerance = 1e-9 * largest;
  g_auto(Kernel) kernel = {
      .reference = reference,
      .gamma = gamma,
      .n = n,
      .stride = stride,
      .rows = g_new0(double *, n),
      .blocks = g_ptr_array_new_with_free_func(g_aligned_free),
      .queries = demur_new_matrix(double, ROWS_AT_ONCE, d),
      .parallel = parallel,
  };

  const size_t max_steps = 100 * n + 100000;
  Best lowest = {INFINITY, 0};
  double highest = -INFINITY;
  for (size_t t = 0; t < n; t++) {
    if (values[t] + up[t] < lowest.value)
      lowest = (Best){values[t], t};
    highest = MAX(highest, values[t] + low[t]);
  }
  double middle = 0.5 * (highest + lowest.value);
  for (size_t step = 0; lowest.value < INFINITY; step++) {
    if (step % STEPS_A_LOOK == 0 &&
        !demur_progress_step(progress, (double)step / (double)(step + n), "fitting outlier scores",
                             error))
      return FALSE;
    const size_t i = lowest.index;
    const double *row_i = kernel_row(&kernel, i, values, up, low, middle, error);
    if (row_i == NULL)
      return FALSE;
    const size_t j = at_level(find_partner)(values, low, row_i, lowest.value, stride, &highest);
    const double violation = highest - lowest.value;
    if (!(violation > tolerance))
      break;
    if (step == max_steps) {
      demur_error_set(
          error, DEMUR_ERROR_NUMERIC,
          "the one-class SVM of %zu rows did not converge in %zu steps (largest violation "
          "%g, wanted %g)",
          n, max_steps, violation, tolerance);
      return FALSE;
    }
    middle = 0.5 * (highest + lowest.value);
    const double *row_j = kernel_row(&kernel, j, values, up, low, middle, error);
    if (row_j == NULL)
      return FALSE;
    const double eta = MAX(2.0 - 2.0 * row_i[j], 1e-12);
    const double room_i = 1.0 - alphas[i], room_j = alphas[j];
    double change = (values[j] - values[i]) / eta;
    /* A bound that cuts the step is met exactly. */
    if (change >= MIN(room_i, room_j)) {
      change = MIN(room_i, room_j);
      alphas[i] = room_i <= room_j ? 1.0 : alphas[i] + change;
      alphas[j] = room_j <= room_i ? 0.0 : alphas[j] - change;
    } else {
      alphas[i] += change;
      alphas[j] -= change;
    }
    set_bounds(alphas, i, up, low);
    set_bounds(alphas, j, up, low);
    lowest = at_level(move_and_find_lowest)(values, row_i, row_j, change, up, stride);
  }
  memcpy(gradient, values, n * sizeof(double));
  return TRUE;
}

gboolean
demur_svm_fit(const DemurDistanceReference *reference, double gamma, double nu, double tolerance,
              double *alphas, DemurParallel *parallel, const DemurProgress *progress,
              GError **error) {
  const size_t n = demur_distance_reference_n(reference);
  DEMUR_AUTO_ALIGNED double *gradient = demur_new_array(double, n);
  const DemurDistanceWants wants = {.weights = alphas, .gamma = gamma, .kernel_sum = gradient};
  return demur_svm_start(reference, gamma, nu, alphas, parallel, progress, error) &&
         demur_distance_pass(reference, demur_distance_reference_rows(reference), n, NULL, &wants,
                             parallel, progress, error) &&
         demur_svm_finish(reference, gamma, tolerance, alphas, gradient, parallel, progress, error);
}
