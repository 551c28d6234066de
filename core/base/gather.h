/* A map whose chunks are computed by several processes (ranks) that all run the same program on the same
 * data, chunk c by rank c mod size; afterwards every rank has what all chunks wrote. The chunks' results
 * are merged by nobody here, so any number of ranks and threads gives the same bytes. */
#pragma once

#include "base/parallel.h"

G_BEGIN_DECLS

/* What chunk c writes: n_rows pieces of n_bytes each, the first of them c * chunk_stride behind base,
 * each further one row_stride behind the one before. In bytes; no two chunks' pieces overlap. */
typedef struct {
  void *base;
  size_t n_bytes, chunk_stride, n_rows, row_stride;
} DemurSlot;

/* Calls func for each chunk in [first, end) as demur_parallel_map does for [0, n), here for those of
 * this rank, and brings the slots of the others. Without ranks (demur_parallel_set_ranks), and where
 * parallel is NULL, all chunks are computed here. Errors as demur_ranks_meet. To be called by all ranks, in the thread that made parallel. */
gboolean demur_gather(DemurParallel *parallel, size_t first, size_t end, DemurParallelFunc func,
                      gpointer data, const DemurSlot *slots, size_t n_slots,
                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
