/* The inner functions of the distance pass (distances.h), one set a level of processor. All that is no product or norm gives the same
 * bytes at every level; products and norms are fused multiply-adds at all levels but the plain one.
 *
 * Arrays are aligned to 64 bytes. For the room alone. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_DISTANCE_GROUP 12  /* queries of a tile */
#define DEMUR_DISTANCE_BLOCK 128 /* reference rows whose distances are taken at once */

/* Of the squared distances of one query to the rows of a block. */
typedef struct {
  double smallest, largest;
} DemurDistanceRange;

typedef struct {
  /* c [12 rows, ldc apart][16 n_panels] = a [d][12] x b [n_panels][d][16]. */
  void (*tiles)(const double *a, const double *b, size_t n_panels, size_t d, double *c, size_t ldc);
  /* The same sum of each row of a group [d][12] or panel [d][16] with itself. */
  void (*group_norms)(const double *rows, size_t d, double *norms);
  void (*panel_norms)(const double *rows, size_t d, double *norms);
  /* Places of the squares [width] below limit, ascending; returns how many. width: a multiple of 16. */
  size_t (*below)(const double *squares, size_t width, double limit, guint8 *places);
  /* values [width]: products in, squared distances out. width: a multiple of 16. */
  DemurDistanceRange (*to_squares)(double *values, const double *norms, size_t width,
                                   double query_norm);
  double (*smallest)(const double *squares, size_t width); /* a multiple of 16 too */
  /* sum_j exp(shift - squares_j / 2), with exponents at most 0; width a multiple of 8. largest: no square is above it. */
  double (*exp_sum)(const double *squares, size_t width, double shift, double largest);
  /* chosen_j = squares[places_j]; n a multiple of 8. */
  void (*choose)(const double *squares, const guint8 *places, size_t n, double *chosen);
  /* sums_i += sum_j weights_j exp(-gamma squares_ij) of squares [n_rows][n], which hold the exponentials then; n a multiple of 8,
   * largest: no square is above it. */
  void (*add_weighted_exp_sums)(double *squares, size_t n_rows, const double *weights, size_t n,
                                double gamma, double largest, double *sums);
  /* out [width] = exp(-gamma squares); width a multiple of 8. */
  void (*exp_to_gram)(const double *squares, size_t width, double gamma, double *out);
  /* As demur_distance_exp. */
  void (*exponentials)(const double *x, size_t n, double *out);
  /* sum_k (a_k - b_k)^2 in eight partial sums; any d, no alignment. */
  double (*direct_square)(const double *a, const double *b, size_t d);
  /* Puts the n candidates (places in squares, ascending; first: index of the block's first row) among the k nearest: near and indices
   * [8 n_eights], ascending, later indices behind equal squares; in the eight lanes before near stands what is less than any square. */
  void (*keep_near)(const double *squares, const guint8 *places, size_t n, size_t first, size_t k,
                    size_t n_eights, double *near, gint64 *indices);
} DemurDistanceKernel;

/* Of demur_processor_level. */
const DemurDistanceKernel *demur_distance_kernel(void);

G_END_DECLS
