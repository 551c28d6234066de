/* Exchange: each rank packs its chunks' pieces, chunk by chunk and slot by slot, into one buffer whose
 * length every rank can tell of every other; one all-gather brings all buffers in the order of the
 * ranks. Memory: the pieces of [first, end) once more. */
#include "base/gather.h"

#include <string.h>

#include "base/error.h"
#include "base/ranks.h"

typedef struct {
  DemurParallelFunc func;
  gpointer data;
  size_t first, step;
} Share;

static void
run_share(size_t chunk, guint worker, gpointer data) {
  const Share *share = data;
  share->func(share->first + chunk * share->step, worker, share->data);
}

/* Of [first, end) those of a rank: the first of them, and how many. */
static size_t
chunks_of(const DemurRanks *ranks, size_t rank, size_t first, size_t end, size_t *n) {
  const size_t own = first + (rank + ranks->size - first % ranks->size) % ranks->size;
  *n = own < end ? (end - own + ranks->size - 1) / ranks->size : 0;
  return own;
}

typedef enum { PACK, UNPACK } Direction;

static const guint8 *
copy_chunks(size_t own, size_t n, size_t step, const DemurSlot *slots, size_t n_slots,
            Direction direction, guint8 *bytes) {
  for (size_t k = 0; k < n; k++)
    for (size_t s = 0; s < n_slots; s++)
      for (size_t row = 0; row < slots[s].n_rows; row++) {
        guint8 *piece = (guint8 *)slots[s].base + (own + k * step) * slots[s].chunk_stride +
                        row * slots[s].row_stride;
        if (direction == PACK)
          memcpy(bytes, piece, slots[s].n_bytes);
        else
          memcpy(piece, bytes, slots[s].n_bytes);
        bytes += slots[s].n_bytes;
      }
  return bytes;
}

/* What tells one gather from another. */
static guint64
label_of(size_t first, size_t end, size_t chunk_bytes) {
  return ((guint64)first * 1000003u + (guint64)end) * 1000003u + (guint64)chunk_bytes;
}

gboolean
demur_gather(DemurParallel *parallel, size_t first, size_t end, DemurParallelFunc func,
             gpointer data, const DemurSlot *slots, size_t n_slots, GError **error) {
  const DemurRanks *ranks = parallel != NULL ? demur_parallel_ranks(parallel) : NULL;
  if (ranks == NULL) {
    Share all = {func, data, first, 1};
    demur_parallel_map(parallel, end - first, run_share, &all);
    return TRUE;
  }
  size_t chunk_bytes = 0;
  for (size_t s = 0; s < n_slots; s++)
    chunk_bytes += slots[s].n_bytes * slots[s].n_rows;
  if (!demur_ranks_meet(ranks, label_of(first, end, chunk_bytes), error))
    return FALSE;
  size_t n_own;
  const size_t own = chunks_of(ranks, ranks->rank, first, end, &n_own);
  if (ranks->computes_none)
    n_own = 0;
  Share share = {func, data, own, ranks->size};
  demur_parallel_map(parallel, n_own, run_share, &share);

  g_autofree size_t *lengths = g_new(size_t, ranks->size);
  size_t total = 0;
  for (size_t r = 0; r < ranks->size; r++) {
    size_t n;
    chunks_of(ranks, r, first, end, &n);
    lengths[r] = n * chunk_bytes;
    total += lengths[r];
  }
  g_autofree guint8 *packed = g_malloc(MAX(n_own * chunk_bytes, 1));
  g_autofree guint8 *all = g_malloc(MAX(total, 1));
  copy_chunks(own, n_own, ranks->size, slots, n_slots, PACK, packed);
  ranks->all_gather(packed, all, lengths, ranks->data);
  guint8 *at = all;
  for (size_t r = 0; r < ranks->size; r++) {
    size_t n;
    const size_t theirs = chunks_of(ranks, r, first, end, &n);
    if (ranks->computes_none || r != ranks->rank)
      copy_chunks(theirs, n, ranks->size, slots, n_slots, UNPACK, at);
    at += lengths[r];
  }
  return TRUE;
}
