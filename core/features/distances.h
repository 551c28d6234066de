/* One blocked pass over the squared Euclidean distances between m queries and n reference rows,
 * from which every distance feature is taken: nearest rows, log-sum-exp (KDE), kernel sums
 * (one-class SVM), Gram.
 *
 * d_ij^2 = |q_i|^2 + |x_j|^2 - 2 q_i.x_j in double, clamped at 0. Every product is summed in the
 * order of the columns whatever the block, so a query's values depend on no other query and on no
 * number of threads. They may differ in the last digits between processors (with fused multiply-adds
 * or without: base/processor.h), not between runs. The distances of the k rows kept as nearest are computed again
 * directly, so that duplicates are at exactly 0. */
#pragma once

#include <glib.h>

#include "base/parallel.h"
#include "base/progress.h"

G_BEGIN_DECLS

/* Reference rows [n][d] for the pass. Any number of threads may make passes over it. */
typedef struct DemurDistanceReference DemurDistanceReference;

/* rows [n][d] are borrowed and must outlive the reference; d >= 1, n >= 1, finite. NULL with
 * DEMUR_ERROR_INPUT where memory does not suffice. */
DemurDistanceReference *demur_distance_reference_new(const double *rows, size_t n, size_t d,
                                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

#define DEMUR_DISTANCE_PANEL 16

/* Gives the rows [n_rows][d] from row first on, finite ones; by any thread, and the same each time. */
typedef void (*DemurDistanceRows)(size_t first, size_t n_rows, double *rows, gpointer data);

/* The same of rows that nobody keeps: they are asked for by the passes, a few at a time, or all at once where a pass has many queries.
 * Then they are packed, and kept by rows too where many are looked up; until then the reference takes no memory. The answers are the
 * same bytes. data must outlive the reference. Never NULL. */
DemurDistanceReference *demur_distance_reference_new_given(size_t n, size_t d,
                                                           DemurDistanceRows give,
                                                           gpointer data) G_GNUC_WARN_UNUSED_RESULT;
void demur_distance_reference_free(DemurDistanceReference *reference);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurDistanceReference, demur_distance_reference_free)
size_t demur_distance_reference_n(const DemurDistanceReference *reference);
size_t demur_distance_reference_width(const DemurDistanceReference *reference);
/* As they were passed to demur_distance_reference_new; NULL of one that is given them. */
const double *demur_distance_reference_rows(const DemurDistanceReference *reference);

/* What is taken from the pass: a NULL (or k = 0) leaves that part out and costs nothing. */
typedef struct {
  size_t k;               /* nearest rows kept, at most n (n - 1 where any row is excluded) */
  double *near_distances; /* [m][k] Euclidean, ascending; equal ones by index */
  guint32 *near_indices;  /* [m][k] */

  double *log_sum_exp; /* [m]: log sum_j exp(-d_ij^2 / 2), running maximum, exact to rounding */

  const double *weights; /* [n], the kernel sum's; NULL leaves it out */
  double gamma;          /* of kernel_sum and gram */
  double *kernel_sum;    /* [m]: sum_j weights_j exp(-gamma d_ij^2); excluded rows count here */

  /* [m][gram_stride]: exp(-gamma d_ij^2), 0 from column n up to the next multiple of 16, which
   * gram_stride must reach; aligned to 64 bytes, as gram_stride keeps it by being a multiple of 8.
   */
  double *gram;
  size_t gram_stride;
} DemurDistanceWants;

/* queries [m][d]; exclude [m]: the reference row that is this query itself and is left out of its
 * nearest rows and of its log-sum-exp, -1 for none (NULL: none at all). FALSE when cancelled, and with DEMUR_ERROR_INPUT where
 * memory does not suffice for packing the rows. */
gboolean demur_distance_pass(const DemurDistanceReference *reference, const double *queries,
                             size_t m, const gssize *exclude, const DemurDistanceWants *wants,
                             DemurParallel *parallel, const DemurProgress *progress,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* out[i] = exp(x[i]) for x[i] <= 0, n values, within 2 units in the last place; 0 below -708. */
void demur_distance_exp(const double *x, size_t n, double *out);

G_END_DECLS
