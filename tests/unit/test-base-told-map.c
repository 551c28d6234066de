/* A map that tells how far it is: each chunk once, none waits for another, progress in the calling thread that never goes back,
 * and nothing more once cancelled. */
#include <stdatomic.h>

#include "base/told-map.h"
#include "support/support.h"

#define MOST 300

typedef struct {
  atomic_uint runs[MOST];
  size_t n;
  gboolean first_waits;      /* for the last to begin */
  size_t cancels;            /* the chunk that does */
  GCancellable *cancellable; /* NULL: none */
} Work;

static void
chunk(size_t i, guint worker, gpointer data) {
  Work *work = data;
  atomic_fetch_add(&work->runs[i], 1);
  while (work->first_waits && i == 0 && atomic_load(&work->runs[work->n - 1]) == 0)
    g_thread_yield();
  if (work->cancellable != NULL && i == work->cancels)
    g_cancellable_cancel(work->cancellable);
}

typedef struct {
  GThread *caller;
  double last;
} Heard;

static void
on_progress(double fraction, const char *stage, gpointer data) {
  Heard *heard = data;
  g_assert_true(g_thread_self() == heard->caller);
  g_assert_cmpstr(stage, ==, "mapping");
  g_assert_cmpfloat(fraction, >=, heard->last);
  g_assert_cmpfloat(fraction, <, 1.0);
  heard->last = fraction;
}

static void
every_chunk_runs_once(void) {
  for (guint threads = 0; threads <= 4; threads++)
    for (size_t n = 0; n <= MOST; n += 23) {
      g_autoptr(DemurParallel) parallel = threads > 0 ? demur_parallel_new(threads) : NULL;
      Work work = {.n = n};
      Heard heard = {g_thread_self(), 0.0};
      const DemurProgress progress = {on_progress, &heard, NULL};
      g_autoptr(GError) error = NULL;
      g_assert_true(demur_told_map(parallel, n, chunk, &work, n % 2 == 0 ? &progress : NULL,
                                   "mapping", &error));
      g_assert_no_error(error);
      for (size_t i = 0; i < MOST; i++)
        g_assert_cmpuint(atomic_load(&work.runs[i]), ==, i < n ? 1 : 0);
    }
}

static void
the_last_begins_while_the_first_works(void) {
  g_autoptr(DemurParallel) parallel = demur_parallel_new(2);
  if (demur_parallel_n_threads(parallel) < 2) {
    g_test_skip("no second thread");
    return;
  }
  Work work = {.n = MOST, .first_waits = TRUE};
  g_assert_true(demur_told_map(parallel, MOST, chunk, &work, NULL, "mapping", NULL));
}

static void
a_cancelled_one_ends(void) {
  for (guint threads = 1; threads <= 4; threads++)
    for (int before = 0; before <= 1; before++) {
      g_autoptr(DemurParallel) parallel = demur_parallel_new(threads);
      g_autoptr(GCancellable) cancellable = g_cancellable_new();
      if (before)
        g_cancellable_cancel(cancellable);
      const DemurProgress progress = {NULL, NULL, cancellable};
      Work work = {.n = MOST, .cancels = 7, .cancellable = cancellable};
      g_autoptr(GError) error = NULL;
      const gboolean ended =
          demur_told_map(parallel, MOST, chunk, &work, &progress, "mapping", &error);
      if (threads > 1 && ended) /* the others took all that was left before the caller looked */
        continue;
      g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      size_t n_run = 0;
      for (size_t i = 0; i < MOST; i++)
        n_run += atomic_load(&work.runs[i]);
      if (threads == 1)
        g_assert_cmpuint(n_run, ==, before ? 0 : 8);
    }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/told-map/once", every_chunk_runs_once);
  g_test_add_func("/told-map/no-waits", the_last_begins_while_the_first_works);
  g_test_add_func("/told-map/cancelled", a_cancelled_one_ends);
  return g_test_run();
}
