/* d_ij^2 = |q_i|^2 + |x_j|^2 - 2 q_i.x_j, and all that is taken from it.
 *
 * Data layout: reference rows are packed into panels of 16 rows, [panel][column][16], a chunk of
 * queries into groups of 12, [group][column][12]. The inner kernel fills a 12 x 16 tile of
 * products, each summed over the columns in their order: with AVX-512 the whole tile lives in 24
 * registers, so that the pass runs near the processor's peak. The tiles of a group and a block (128 reference rows) stay in the
 * first cache and are used up at once: clamp, kernel sum, Gram, excluded row, minimum, log-sum-exp, nearest; the block's panels stay in
 * the second while all groups of a chunk (up to 96 queries) meet them. No m x n matrix exists unless a
 * Gram is asked for.
 *
 * Cost: 2 m n d floating point operations, and one exp a pair for each of KDE, kernel sum (rows
 * with a weight only) and Gram.
 *
 * Done differently from the textbook: the products are our own rather than the BLAS's, because a
 * BLAS sums in an order that depends on the shape of the block, and a scan's features would then
 * depend, in their last digits, on the scans it was scored with. Rows of the padding have an
 * infinite norm and drop out of everything by themselves. */
#include "features/distances.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "features/distance-kernels.h"

#define PANEL DEMUR_DISTANCE_PANEL
#define GROUP DEMUR_DISTANCE_GROUP
#define BLOCK DEMUR_DISTANCE_BLOCK
#define CHUNK_ROWS 96
#define EXPECTED_ROWS 4
#define CHUNKS_A_STEP 64 /* between two looks at the cancellable */

/* ---- the reference ---- */

struct DemurDistanceReference {
  size_t n, d, n_panels;
  const double *rows; /* [n][d], borrowed; NULL: they are given */
  DemurDistanceRows give;
  gpointer data;
  /* Of rows that are given, each made by the first pass that needs it; atomic, NULL until then. */
  double *unpacked; /* [n][d] */
  double *
      packed; /* [n_panels][d][PANEL], rows behind the last are 0; then norms [n_panels][PANEL], of those rows infinite */
  gsize n_queries; /* atomic: of all passes so far */
};

static DemurDistanceReference *
reference_alloc(size_t n, size_t d) {
  DemurDistanceReference *reference = g_new0(DemurDistanceReference, 1);
  reference->n = n;
  reference->d = d;
  reference->n_panels = (n + PANEL - 1) / PANEL;
  return reference;
}

/* The rows [n_rows][d] as panel [d][PANEL]. */
static void
pack(size_t d, const double *rows, size_t n_rows, const DemurDistanceKernel *kernel, double *panel,
     double norms[PANEL]) {
  for (size_t k = 0; k < d; k++) {
    for (size_t j = 0; j < n_rows; j++)
      panel[k * PANEL + j] = rows[j * d + k];
    for (size_t j = n_rows; j < PANEL; j++)
      panel[k * PANEL + j] = 0.0;
  }
  kernel->panel_norms(panel, d, norms);
  for (size_t j = n_rows; j < PANEL; j++)
    norms[j] = INFINITY;
}

/* Panel p; given [PANEL][d] is room for its rows. */
static void
make_panel(const DemurDistanceReference *reference, size_t p, const DemurDistanceKernel *kernel,
           double *given, double *panel, double norms[PANEL]) {
  const size_t d = reference->d, first = p * PANEL, n_rows = MIN(reference->n - first, PANEL);
  const double *rows = given;
  if (reference->rows != NULL)
    rows = reference->rows + first * d;
  else
    reference->give(first, n_rows, given, reference->data);
  pack(d, rows, n_rows, kernel, panel, norms);
}

/* All panels and their norms; NULL with error. */
static double *
pack_all(const DemurDistanceReference *reference, GError **error) {
  const size_t d = reference->d, n_panels = reference->n_panels;
  double *packed = demur_memory_unset(n_panels * PANEL, d + 1, sizeof(double), error);
  if (packed == NULL)
    return NULL;
  DEMUR_AUTO_ALIGNED double *given = demur_new_matrix(double, PANEL, d);
  const DemurDistanceKernel *kernel = demur_distance_kernel();
  for (size_t p = 0; p < n_panels; p++)
    make_panel(reference, p, kernel, given, packed + p * d * PANEL,
               packed + (n_panels * d + p) * PANEL);
  return packed;
}

/* What place holds; where that is nothing, made, which is freed where another thread was faster. */
static double *
keep_first(double **place, double *made) {
  if (g_atomic_pointer_compare_and_exchange(place, NULL, made))
    return made;
  g_aligned_free(made);
  return g_atomic_pointer_get(place);
}

DemurDistanceReference *
demur_distance_reference_new(const double *rows, size_t n, size_t d, GError **error) {
  g_return_val_if_fail(n > 0 && d > 0, NULL);
  g_autoptr(DemurDistanceReference) reference = reference_alloc(n, d);
  reference->rows = rows;
  reference->packed = pack_all(reference, error);
  return reference->packed != NULL ? g_steal_pointer(&reference) : NULL;
}

DemurDistanceReference *
demur_distance_reference_new_given(size_t n, size_t d, DemurDistanceRows give, gpointer data) {
  g_return_val_if_fail(n > 0 && d > 0, NULL);
  DemurDistanceReference *reference = reference_alloc(n, d);
  reference->give = give;
  reference->data = data;
  return reference;
}

void
demur_distance_reference_free(DemurDistanceReference *reference) {
  if (reference == NULL)
    return;
  g_aligned_free(reference->packed);
  g_aligned_free(reference->unpacked);
  g_free(reference);
}

size_t
demur_distance_reference_n(const DemurDistanceReference *reference) {
  return reference->n;
}

size_t
demur_distance_reference_width(const DemurDistanceReference *reference) {
  return reference->d;
}

const double *
demur_distance_reference_rows(const DemurDistanceReference *reference) {
  return reference->rows;
}

void
demur_distance_exp(const double *x, size_t n, double *out) {
  demur_distance_kernel()->exponentials(x, n, out);
}

/* ---- the pass ---- */

typedef struct {
  double *group; /* [CHUNK_ROWS][d], packed by GROUP */
  double *tile;  /* [GROUP][BLOCK] */
  double
      *chosen; /* [GROUP][BLOCK]: of a group's squares those whose row has a weight, side by side */
  double *near;       /* [CHUNK_ROWS][near_stride]: 8 x -infinity, then squares, ascending */
  gint64 *indices;    /* [CHUNK_ROWS][near_stride] */
  double *norms;      /* [CHUNK_ROWS] */
  double *maximum;    /* [CHUNK_ROWS] of -d^2 / 2 */
  double *sum;        /* [CHUNK_ROWS] of exp(-d^2 / 2 - maximum) */
  double *kernel_sum; /* [CHUNK_ROWS] */
  double *row;        /* [d] of the reference */
  /* Where nothing is packed: */
  double *given, *panel; /* [PANEL][d], [d][PANEL] */
  double *panel_norms;   /* [BLOCK] */
} Scratch;

typedef struct {
  const DemurDistanceReference *reference;
  const DemurDistanceWants *wants;
  const double *rows; /* of the reference, [n][d]; NULL: given one by one */
  const double
      *packed; /* of the reference, with its norms; NULL: panels are made as they are needed */
  const double *queries;
  size_t m;
  const gssize *exclude;
  /* The rows whose weight is not 0, block by block: of block b those from starts[b] on, as many as
   * a multiple of 8 holds; the rest of the eight has weight 0. */
  const size_t *starts;  /* [n_blocks + 1] */
  const guint8 *places;  /* [starts[n_blocks]], in the block */
  const double *weights; /* [starts[n_blocks]] */
  const DemurDistanceKernel *kernel;
  size_t chunk_rows, first_chunk;
  size_t near_stride; /* 8 and k, up to a multiple of 8; 0 where none is kept */
  Scratch *scratch;   /* [n_threads] */
} Pass;

/* All that is wanted of one query and one block of reference rows, the first of which is row first and whose norms [width] are
 * given, but its kernel sum: chosen [n_chosen] gets the squares that are summed. Returns the largest square. */
static double
take_row(const Pass *pass, Scratch *s, size_t row, size_t local, const double *norms, size_t first,
         size_t width, size_t n_chosen, double *chosen) {
  const DemurDistanceWants *wants = pass->wants;
  double *squares = s->tile + local % GROUP * BLOCK;
  DemurDistanceRange range = pass->kernel->to_squares(squares, norms, width, s->norms[local]);
  const double largest = range.largest;
  if (n_chosen > 0)
    pass->kernel->choose(squares, pass->places + pass->starts[first / BLOCK], n_chosen, chosen);
  if (wants->gram != NULL)
    pass->kernel->exp_to_gram(squares, width, wants->gamma,
                              wants->gram + row * wants->gram_stride + first);
  if (pass->exclude != NULL && pass->exclude[row] >= 0) {
    const size_t own = (size_t)pass->exclude[row];
    if (own >= first && own < first + width) {
      squares[own - first] = INFINITY;
      range.largest = INFINITY;
      range.smallest = pass->kernel->smallest(squares, width);
    }
  }
  if (range.smallest == INFINITY)
    return largest;
  if (wants->log_sum_exp != NULL) {
    const double top = -0.5 * range.smallest;
    if (top > s->maximum[local]) {
      s->sum[local] *= exp(s->maximum[local] - top);
      s->maximum[local] = top;
    }
    s->sum[local] += pass->kernel->exp_sum(squares, width, -s->maximum[local], range.largest);
  }
  if (wants->k > 0) {
    double *near = s->near + local * pass->near_stride + 8;
    const double limit = near[wants->k - 1];
    if (range.smallest < limit) {
      guint8 places[BLOCK];
      const size_t n = pass->kernel->below(squares, width, limit, places);
      pass->kernel->keep_near(squares, places, n, first, wants->k, pass->near_stride / 8 - 1, near,
                              s->indices + local * pass->near_stride + 8);
    }
  }
  return largest;
}

/* The same of the queries of a group, from local to end; row: of the first. Their kernel sums are made together: the rows of a block
 * that have a weight may be few, and few exponentials wait for each of their products. */
static void
take_group(const Pass *pass, Scratch *s, size_t row, size_t local, size_t end, const double *norms,
           size_t first, size_t width) {
  size_t start = 0, n_chosen = 0;
  double largest = 0.0;
  if (pass->wants->kernel_sum != NULL) {
    start = pass->starts[first / BLOCK];
    n_chosen = pass->starts[first / BLOCK + 1] - start;
  }
  for (size_t i = 0; local + i < end; i++) {
    const double of_row = take_row(pass, s, row + i, local + i, norms, first, width, n_chosen,
                                   s->chosen + i * n_chosen);
    largest = MAX(largest, of_row);
  }
  if (n_chosen > 0)
    pass->kernel->add_weighted_exp_sums(s->chosen, end - local, pass->weights + start, n_chosen,
                                        pass->wants->gamma, largest, s->kernel_sum + local);
}

/* Asks for a row that is used soon: reference rows lie far from each other in memory. */
static inline void
expect_row(const double *row, size_t d) {
  for (size_t k = 0; k < d; k += 8)
    __builtin_prefetch(row + k);
}

/* Row index of the reference, to borrow, or put into row [d]. */
static const double *
row_of(const Pass *pass, size_t index, double *row) {
  if (pass->rows != NULL)
    return pass->rows + index * pass->reference->d;
  pass->reference->give(index, 1, row, pass->reference->data);
  return row;
}

/* The kept rows' distances again, directly, and in order by (distance, index). */
static void
refine_near(const Pass *pass, const Scratch *s, size_t row, size_t local) {
  const size_t k = pass->wants->k, d = pass->reference->d;
  double *distances = pass->wants->near_distances + row * k;
  guint32 *indices = pass->wants->near_indices + row * k;
  const double *squares = s->near + local * pass->near_stride + 8;
  const gint64 *kept = s->indices + local * pass->near_stride + 8;
  size_t n_near = 0, n_kept = 0;
  while (n_near < k && squares[n_near] < INFINITY)
    n_near++;
  for (size_t i = 0; pass->rows != NULL && i < MIN(EXPECTED_ROWS, n_near); i++)
    expect_row(pass->rows + (size_t)kept[i] * d, d);
  for (; n_kept < n_near; n_kept++) {
    const guint32 index = (guint32)kept[n_kept];
    if (pass->rows != NULL && n_kept + EXPECTED_ROWS < n_near)
      expect_row(pass->rows + (size_t)kept[n_kept + EXPECTED_ROWS] * d, d);
    const double square =
        pass->kernel->direct_square(pass->queries + row * d, row_of(pass, index, s->row), d);
    size_t place = n_kept;
    for (; place > 0 && (distances[place - 1] > square ||
                         (distances[place - 1] == square && indices[place - 1] > index));
         place--) {
      distances[place] = distances[place - 1];
      indices[place] = indices[place - 1];
    }
    distances[place] = square;
    indices[place] = index;
  }
  for (size_t j = 0; j < n_kept; j++)
    distances[j] = sqrt(distances[j]);
  for (size_t j = n_kept; j < k; j++) {
    distances[j] = INFINITY;
    indices[j] = 0;
  }
}

static void
pass_chunk(size_t chunk, guint worker, gpointer data) {
  const Pass *pass = data;
  const DemurDistanceReference *reference = pass->reference;
  const DemurDistanceWants *wants = pass->wants;
  Scratch *s = &pass->scratch[worker];
  const size_t d = reference->d;
  const size_t begin = (pass->first_chunk + chunk) * pass->chunk_rows;
  const size_t n_rows = MIN(pass->chunk_rows, pass->m - begin);
  const size_t n_groups = (n_rows + GROUP - 1) / GROUP;

  for (size_t g = 0; g < n_groups; g++) {
    double *group = s->group + g * GROUP * d;
    const size_t n_in = MIN(GROUP, n_rows - g * GROUP);
    const double *queries = pass->queries + (begin + g * GROUP) * d;
    for (size_t k = 0; k < d; k++)
      for (size_t i = 0; i < GROUP; i++)
        group[k * GROUP + i] = i < n_in ? queries[i * d + k] : 0.0;
    pass->kernel->group_norms(group, d, s->norms + g * GROUP);
  }
  for (size_t local = 0; local < n_rows; local++) {
    for (size_t j = 0; j < pass->near_stride; j++)
      s->near[local * pass->near_stride + j] = j < 8 ? -INFINITY : INFINITY;
    s->maximum[local] = -INFINITY;
    s->sum[local] = 0.0;
    s->kernel_sum[local] = 0.0;
  }

  for (size_t first = 0; first < reference->n_panels * PANEL; first += BLOCK) {
    const size_t width = MIN(BLOCK, reference->n_panels * PANEL - first);
    const double *norms = s->panel_norms;
    if (pass->packed != NULL)
      norms = pass->packed + reference->n_panels * PANEL * d + first;
    for (size_t g = 0; g < n_groups; g++) {
      const double *group = s->group + g * GROUP * d;
      if (pass->packed != NULL)
        pass->kernel->tiles(group, pass->packed + first * d, width / PANEL, d, s->tile, BLOCK);
      for (size_t j = 0; pass->packed == NULL && j < width; j += PANEL) {
        make_panel(reference, (first + j) / PANEL, pass->kernel, s->given, s->panel,
                   s->panel_norms + j);
        pass->kernel->tiles(group, s->panel, 1, d, s->tile + j, BLOCK);
      }
      take_group(pass, s, begin + g * GROUP, g * GROUP, MIN(n_rows, (g + 1) * GROUP), norms, first,
                 width);
    }
  }

  for (size_t local = 0; local < n_rows; local++) {
    const size_t row = begin + local;
    if (wants->k > 0)
      refine_near(pass, s, row, local);
    if (wants->log_sum_exp != NULL)
      wants->log_sum_exp[row] = s->maximum[local] + log(s->sum[local]);
    if (wants->kernel_sum != NULL)
      wants->kernel_sum[row] = s->kernel_sum[local];
  }
}

/* The rows for a pass that looks k of them up for each query, m with those of the passes before it: few are given one by one, many all
 * at once. NULL: one by one. */
static const double *
rows_for(const DemurDistanceReference *reference, size_t m, size_t k) {
  const size_t n = reference->n, d = reference->d;
  if (reference->rows != NULL)
    return reference->rows;
  double **place = &((DemurDistanceReference *)reference)->unpacked;
  double *rows = g_atomic_pointer_get(place);
  if (rows != NULL || m * k < n)
    return rows;
  rows = demur_memory_unset(n, d, sizeof(double), NULL);
  if (rows != NULL)
    reference->give(0, n, rows, reference->data);
  return keep_first(place, rows);
}

/* *packed: the panels for a pass of m queries, is_first where none was made before; NULL: the pass makes each for itself. The first pass
 * does where its queries are few: of a program that looks at one scan it is the only one, and most of its time would go into the
 * memory for all panels. */
static gboolean
panels_for(const DemurDistanceReference *reference, size_t m, gboolean is_first,
           const double **packed, GError **error) {
  DemurDistanceReference *mutable = (DemurDistanceReference *)reference;
  *packed = g_atomic_pointer_get(&mutable->packed);
  if (*packed != NULL || (m <= GROUP && is_first))
    return TRUE;
  double *made = pack_all(reference, error);
  if (made == NULL)
    return FALSE;
  *packed = keep_first(&mutable->packed, made);
  return TRUE;
}

gboolean
demur_distance_pass(const DemurDistanceReference *reference, const double *queries, size_t m,
                    const gssize *exclude, const DemurDistanceWants *wants, DemurParallel *parallel,
                    const DemurProgress *progress, GError **error) {
  g_return_val_if_fail(wants->k <= reference->n, FALSE);
  g_return_val_if_fail(wants->gram == NULL || (wants->gram_stride >= reference->n_panels * PANEL &&
                                               wants->gram_stride % 8 == 0),
                       FALSE);
  const size_t d = reference->d, n_threads = demur_parallel_n_threads(parallel);
  const size_t n_blocks = (reference->n + BLOCK - 1) / BLOCK;
  const gsize n_before =
      (gsize)g_atomic_pointer_add(&((DemurDistanceReference *)reference)->n_queries, (gssize)m);
  const double *packed;
  if (!panels_for(reference, m, n_before == 0, &packed, error))
    return FALSE;
  DEMUR_AUTO_ALIGNED size_t *starts = NULL;
  DEMUR_AUTO_ALIGNED guint8 *places = NULL;
  DEMUR_AUTO_ALIGNED double *weights = NULL;
  if (wants->kernel_sum != NULL) {
    starts = demur_new_array(size_t, n_blocks + 1);
    places = demur_new_array(guint8, n_blocks * BLOCK);
    weights = demur_new_array(double, BLOCK *n_blocks);
    for (size_t b = 0, n_places = 0; b < n_blocks; b++) {
      const size_t end = MIN((b + 1) * BLOCK, reference->n);
      for (size_t j = b * BLOCK; j < end; j++)
        if (wants->weights[j] != 0.0) {
          places[n_places] = (guint8)(j - b * BLOCK);
          weights[n_places++] = wants->weights[j];
        }
      n_places = (n_places + 7) / 8 * 8; /* place 0 with weight 0 */
      starts[b + 1] = n_places;
    }
  }
  Pass pass = {
      .reference = reference,
      .wants = wants,
      .rows = rows_for(reference, n_before + m, wants->k),
      .packed = packed,
      .queries = queries,
      .m = m,
      .exclude = exclude,
      .starts = starts,
      .places = places,
      .weights = weights,
      .kernel = demur_distance_kernel(),
      .chunk_rows = m >= 8 * CHUNK_ROWS ? CHUNK_ROWS : GROUP,
      .near_stride = wants->k > 0 ? 8 + (wants->k + 7) / 8 * 8 : 0,
      .scratch = g_new0(Scratch, n_threads),
  };
  for (size_t t = 0; t < n_threads; t++)
    pass.scratch[t] = (Scratch){
        .group = demur_new_matrix(double, pass.chunk_rows, d),
        .tile = demur_new_matrix(double, GROUP, BLOCK),
        .chosen = demur_new_matrix(double, GROUP, BLOCK),
        .near = demur_new_matrix(double, pass.chunk_rows, pass.near_stride),
        .indices = demur_new_matrix(gint64, pass.chunk_rows, pass.near_stride),
        .norms = demur_new_array(double, pass.chunk_rows),
        .maximum = demur_new_array(double, pass.chunk_rows),
        .sum = demur_new_array(double, pass.chunk_rows),
        .kernel_sum = demur_new_array(double, pass.chunk_rows),
        .row = demur_new_array(double, d),
        .given = packed == NULL ? demur_new_matrix(double, PANEL, d) : NULL,
        .panel = packed == NULL ? demur_new_matrix(double, d, PANEL) : NULL,
        .panel_norms = packed == NULL ? demur_new_array(double, BLOCK) : NULL,
    };

  const size_t n_chunks = (m + pass.chunk_rows - 1) / pass.chunk_rows;
  gboolean going = TRUE;
  while (going && pass.first_chunk < n_chunks) {
    going = demur_progress_step(progress, (double)pass.first_chunk / (double)n_chunks,
                                "measuring distances", error);
    if (!going)
      break;
    const size_t n_now = MIN(CHUNKS_A_STEP, n_chunks - pass.first_chunk);
    demur_parallel_map(parallel, n_now, pass_chunk, &pass);
    pass.first_chunk += n_now;
  }

  for (size_t t = 0; t < n_threads; t++) {
    Scratch *s = &pass.scratch[t];
    g_aligned_free(s->group);
    g_aligned_free(s->tile);
    g_aligned_free(s->chosen);
    g_aligned_free(s->near);
    g_aligned_free(s->indices);
    g_aligned_free(s->norms);
    g_aligned_free(s->maximum);
    g_aligned_free(s->sum);
    g_aligned_free(s->kernel_sum);
    g_aligned_free(s->row);
    g_aligned_free(s->given);
    g_aligned_free(s->panel);
    g_aligned_free(s->panel_norms);
  }
  g_free(pass.scratch);
  return going;
}
