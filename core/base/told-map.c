#include "base/told-map.h"

#include <stdatomic.h>

typedef struct {
  size_t n_chunks;
  DemurParallelFunc func;
  gpointer data;
  const DemurProgress *progress;
  const char *stage;
  atomic_bool given_up;
  GError *error; /* of the calling thread, which alone sets it */
} Told;

static void
run_chunk(size_t chunk, guint worker, gpointer data) {
  Told *told = data;
  if (atomic_load_explicit(&told->given_up, memory_order_relaxed))
    return;
  const gboolean is_caller = worker == 0;
  if (is_caller && !demur_progress_step(told->progress, (double)chunk / (double)told->n_chunks,
                                        told->stage, &told->error)) {
    atomic_store_explicit(&told->given_up, TRUE, memory_order_relaxed);
    return;
  }
  told->func(chunk, worker, told->data);
}

gboolean
demur_told_map(DemurParallel *parallel, size_t n_chunks, DemurParallelFunc func, gpointer data,
               const DemurProgress *progress, const char *stage, GError **error) {
  Told told = {
      .n_chunks = n_chunks, .func = func, .data = data, .progress = progress, .stage = stage};
  demur_parallel_map(parallel, n_chunks, run_chunk, &told);
  if (told.error == NULL)
    return TRUE;
  g_propagate_error(error, told.error);
  return FALSE;
}
