#include "base/side-by-side.h"

typedef struct {
  size_t n;
  const DemurProgress *progress; /* NULL: none */
  DemurPieceFunc func;
  gpointer data;
  GThread *caller;
  gint n_done;     /* atomic */
  gint failed;     /* atomic: the least piece that failed so far; n: none */
  GError **errors; /* [n] */
} Pieces;

/* A piece of the calling thread tells how far all are: those that are done, and itself. */
static void
on_progress(double fraction, const char *stage, gpointer data) {
  Pieces *pieces = data;
  if (pieces->progress->func != NULL)
    pieces->progress->func(
        MIN(1.0, ((double)g_atomic_int_get(&pieces->n_done) + fraction) / (double)pieces->n), stage,
        pieces->progress->data);
}

static void
run_piece(Pieces *pieces, size_t i, DemurParallel *parallel) {
  if ((gint)i > g_atomic_int_get(&pieces->failed))
    return;
  const gboolean told = pieces->progress != NULL && g_thread_self() == pieces->caller;
  const DemurProgress progress = {
      .func = told ? on_progress : NULL,
      .data = pieces,
      .cancellable = pieces->progress != NULL ? pieces->progress->cancellable : NULL};
  if (!pieces->func(i, parallel, &progress, pieces->data, &pieces->errors[i]))
    for (gint least = g_atomic_int_get(&pieces->failed);
         (gint)i < least && !g_atomic_int_compare_and_exchange(&pieces->failed, least, (gint)i);)
      least = g_atomic_int_get(&pieces->failed);
  g_atomic_int_inc(&pieces->n_done);
}

static void
run_chunk(size_t chunk, guint worker, gpointer data) {
  run_piece(data, chunk, NULL);
}

gboolean
demur_side_by_side(size_t n, DemurParallel *parallel, const DemurProgress *progress,
                   DemurPieceFunc func, gpointer data, GError **error) {
  const size_t n_threads = parallel != NULL ? demur_parallel_n_threads(parallel) : 1;
  const size_t n_together = n_threads > 1 ? n - n % n_threads : 0;
  g_autofree GError **errors = g_new0(GError *, MAX(n, 1));
  Pieces pieces = {.n = n,
                   .progress = progress,
                   .func = func,
                   .data = data,
                   .caller = g_thread_self(),
                   .failed = (gint)n,
                   .errors = errors};
  if (n_together > 0)
    demur_parallel_map(parallel, n_together, run_chunk, &pieces);
  for (size_t i = n_together; i < n; i++)
    run_piece(&pieces, i, parallel);
  const size_t failed = (size_t)g_atomic_int_get(&pieces.failed);
  for (size_t i = failed + 1; i < n; i++)
    g_clear_error(&errors[i]);
  if (failed < n)
    g_propagate_error(error, errors[failed]);
  return failed == n;
}
