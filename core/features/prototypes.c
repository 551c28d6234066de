#include "features/prototypes.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  double value;
  guint32 row;
} Key;

typedef struct {
  const double *rows;
  size_t d, least, n_groups;
  guint32 *order, *groups;
  Key *keys; /* [n] */
} Halving;

static int
compare_keys(const void *a, const void *b) {
  const Key *x = a, *y = b;
  if (x->value != y->value)
    return x->value < y->value ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

/* The column in which the rows order[begin..end) vary most. */
static size_t
widest_column(const Halving *h, size_t begin, size_t end) {
  size_t widest = 0;
  double most = -1.0;
  for (size_t c = 0; c < h->d; c++) {
    double mean = 0.0, squares = 0.0;
    for (size_t i = begin; i < end; i++) {
      const double value = h->rows[h->order[i] * h->d + c];
      const double step = value - mean;
      mean += step / (double)(i - begin + 1);
      squares += step * (value - mean);
    }
    if (squares > most) {
      most = squares;
      widest = c;
    }
  }
  return widest;
}

static void
halve(Halving *h, size_t begin, size_t end) {
  if (end - begin < 2 * h->least) {
    for (size_t i = begin; i < end; i++)
      h->groups[h->order[i]] = (guint32)h->n_groups;
    h->n_groups++;
    return;
  }
  const size_t c = widest_column(h, begin, end);
  for (size_t i = begin; i < end; i++)
    h->keys[i] = (Key){h->rows[h->order[i] * h->d + c], h->order[i]};
  qsort(h->keys + begin, end - begin, sizeof *h->keys, compare_keys);
  for (size_t i = begin; i < end; i++)
    h->order[i] = h->keys[i].row;
  const size_t middle = begin + (end - begin) / 2;
  halve(h, begin, middle); /* as deep as log2 n */
  halve(h, middle, end);
}

size_t
demur_prototypes_group(const double *rows, size_t n, size_t d, size_t least, guint32 *groups) {
  g_return_val_if_fail(least >= 1, 0);
  g_autofree guint32 *order = g_new(guint32, MAX(n, 1));
  g_autofree Key *keys = g_new(Key, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    order[i] = (guint32)i;
  Halving h = {rows, d, least, 0, order, groups, keys};
  if (n > 0)
    halve(&h, 0, n);
  return h.n_groups;
}

void
demur_prototypes_means(const float *values, size_t n, size_t d, const guint32 *groups,
                       size_t n_groups, float *means) {
  g_autofree double *sums = g_new0(double, MAX(n_groups * d, 1));
  g_autofree size_t *sizes = g_new0(size_t, MAX(n_groups, 1));
  for (size_t i = 0; i < n; i++) {
    sizes[groups[i]]++;
    for (size_t c = 0; c < d; c++)
      sums[groups[i] * d + c] += (double)values[i * d + c];
  }
  for (size_t g = 0; g < n_groups; g++)
    for (size_t c = 0; c < d; c++)
      means[g * d + c] = (float)(sums[g * d + c] / (double)MAX(sizes[g], 1));
}
