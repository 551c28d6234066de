#include "base/parallel.h"

#include <stdatomic.h>

/* Workers wait by spinning for a moment, since training maps several times a millisecond, then
 * sleep. */
#define SPINS_BEFORE_SLEEP 4000

struct DemurParallel {
  guint n_threads;
  const DemurRanks *ranks;
  GThread **threads; /* [n_threads - 1] */

  GMutex mutex;
  GCond wake, done;
  /* Both change under the mutex only; atomic, since ThreadSanitizer does not see GLib's mutexes. */
  atomic_uint n_sleeping;
  atomic_bool quit;

  atomic_uint generation; /* a new map has begun */
  atomic_size_t next;     /* the chunk to take next */
  atomic_uint n_busy;     /* workers that have not yet left the current map */

  size_t n_chunks;
  DemurParallelFunc func;
  gpointer data;

  /* What fills gaps: written while none of it is left, and read by who has claimed a chunk. */
  atomic_size_t n_left, n_running; /* chunks not yet claimed; begun and not ended */
  DemurParallelFunc fill_func;
  gpointer fill_data;
};

typedef struct {
  DemurParallel *parallel;
  guint worker;
} WorkerArgument;

static inline void
relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

static void
take_chunks(DemurParallel *p, guint worker) {
  for (;;) {
    const size_t chunk = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
    if (chunk >= p->n_chunks)
      return;
    p->func(chunk, worker, p->data);
  }
}

/* Takes one chunk of what fills gaps; FALSE where none is left. */
static gboolean
fill_gap(DemurParallel *p, guint worker) {
  size_t left = atomic_load_explicit(&p->n_left, memory_order_relaxed);
  while (left > 0)
    if (atomic_compare_exchange_weak_explicit(&p->n_left, &left, left - 1, memory_order_acquire,
                                              memory_order_relaxed)) {
      p->fill_func(left - 1, worker, p->fill_data);
      atomic_fetch_sub_explicit(&p->n_running, 1, memory_order_release);
      return TRUE;
    }
  return FALSE;
}

static gpointer
worker_main(gpointer data) {
  WorkerArgument *argument = data;
  DemurParallel *p = argument->parallel;
  const guint worker = argument->worker;
  g_free(argument);
  guint seen = 0;
  for (;;) {
    guint generation = atomic_load_explicit(&p->generation, memory_order_acquire);
    for (int spin = 0; generation == seen && spin < SPINS_BEFORE_SLEEP; spin++) {
      if (fill_gap(p, worker))
        spin = 0;
      else
        relax();
      generation = atomic_load_explicit(&p->generation, memory_order_acquire);
    }
    if (generation == seen) {
      g_mutex_lock(&p->mutex);
      p->n_sleeping++;
      while (!p->quit &&
             (generation = atomic_load_explicit(&p->generation, memory_order_acquire)) == seen)
        g_cond_wait(&p->wake, &p->mutex);
      p->n_sleeping--;
      const gboolean quit = p->quit;
      g_mutex_unlock(&p->mutex);
      if (quit)
        return NULL;
    }
    seen = generation;
    take_chunks(p, worker);
    if (atomic_fetch_sub_explicit(&p->n_busy, 1, memory_order_acq_rel) == 1) {
      g_mutex_lock(&p->mutex);
      g_cond_signal(&p->done);
      g_mutex_unlock(&p->mutex);
    }
  }
}

DemurParallel *
demur_parallel_new(guint n_threads) {
  DemurParallel *p = g_new0(DemurParallel, 1);
  p->n_threads = n_threads > 0 ? n_threads : g_get_num_processors();
  g_mutex_init(&p->mutex);
  g_cond_init(&p->wake);
  g_cond_init(&p->done);
  p->threads = g_new0(GThread *, p->n_threads);
  for (guint t = 1; t < p->n_threads; t++) {
    WorkerArgument *argument = g_new(WorkerArgument, 1);
    *argument = (WorkerArgument){p, t};
    p->threads[t - 1] = g_thread_new("demur-worker", worker_main, argument);
  }
  return p;
}

void
demur_parallel_free(DemurParallel *p) {
  if (p == NULL)
    return;
  g_mutex_lock(&p->mutex);
  p->quit = TRUE;
  g_cond_broadcast(&p->wake);
  g_mutex_unlock(&p->mutex);
  for (guint t = 1; t < p->n_threads; t++)
    g_thread_join(p->threads[t - 1]);
  g_free(p->threads);
  g_cond_clear(&p->wake);
  g_cond_clear(&p->done);
  g_mutex_clear(&p->mutex);
  g_free(p);
}

guint
demur_parallel_n_threads(const DemurParallel *p) {
  return p != NULL ? p->n_threads : 1;
}

void
demur_parallel_set_ranks(DemurParallel *p, const DemurRanks *ranks) {
  p->ranks = ranks;
}

const DemurRanks *
demur_parallel_ranks(const DemurParallel *p) {
  return p->ranks;
}

size_t
demur_parallel_n_ranks(const DemurParallel *p) {
  return p != NULL && p->ranks != NULL ? p->ranks->size : 1;
}

void
demur_parallel_map(DemurParallel *p, size_t n_chunks, DemurParallelFunc func, gpointer data) {
  if (p == NULL || p->n_threads == 1 || n_chunks <= 1) {
    for (size_t chunk = 0; chunk < n_chunks; chunk++)
      func(chunk, 0, data);
    return;
  }
  p->n_chunks = n_chunks;
  p->func = func;
  p->data = data;
  atomic_store_explicit(&p->next, 0, memory_order_relaxed);
  atomic_store_explicit(&p->n_busy, p->n_threads - 1, memory_order_relaxed);
  g_mutex_lock(&p->mutex);
  atomic_fetch_add_explicit(&p->generation, 1, memory_order_release);
  if (p->n_sleeping > 0)
    g_cond_broadcast(&p->wake);
  g_mutex_unlock(&p->mutex);

  take_chunks(p, 0);
  for (int spin = 0; spin < SPINS_BEFORE_SLEEP; spin++) {
    if (atomic_load_explicit(&p->n_busy, memory_order_acquire) == 0)
      return;
    if (fill_gap(p, 0))
      spin = 0;
    else
      relax();
  }
  g_mutex_lock(&p->mutex);
  while (atomic_load_explicit(&p->n_busy, memory_order_acquire) != 0)
    g_cond_wait(&p->done, &p->mutex);
  g_mutex_unlock(&p->mutex);
}

void
demur_parallel_begin(DemurParallel *p, size_t n_chunks, DemurParallelFunc func, gpointer data) {
  if (p == NULL || p->n_threads == 1) {
    for (size_t chunk = 0; chunk < n_chunks; chunk++)
      func(chunk, 0, data);
    return;
  }
  g_return_if_fail(atomic_load(&p->n_running) == 0);
  p->fill_func = func;
  p->fill_data = data;
  atomic_store_explicit(&p->n_running, n_chunks, memory_order_relaxed);
  atomic_store_explicit(&p->n_left, n_chunks, memory_order_release);
}

void
demur_parallel_finish(DemurParallel *p) {
  if (p == NULL || p->n_threads == 1)
    return;
  while (fill_gap(p, 0))
    continue;
  for (guint spin = 0; atomic_load_explicit(&p->n_running, memory_order_acquire) != 0; spin++) {
    if (spin < SPINS_BEFORE_SLEEP)
      relax();
    else
      g_thread_yield(); /* the thread that has the last chunk may be waiting for this processor */
  }
}
