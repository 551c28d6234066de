/* Two works at most are under way: a map, for which its caller waits, and what fills gaps. Each is a count of
 * chunks that nobody has claimed and one of those not yet ended; who claims one may read the rest of the work,
 * which doesn't change before all have ended. So a map ends when its chunks have: for a thread that sleeps, or
 * that the system runs elsewhere, nobody waits unless it holds a chunk.
 *
 * Who finds no chunk watches for a short time of the clock, since training maps several times a millisecond
 * and a sleeper is woken slowly (a virtual processor more so), then sleeps. */
#include "base/parallel.h"

#include <stdatomic.h>
#include <time.h>

#define WATCH_NANOSECONDS 50000
#define LOOKS_A_CLOCK 16 /* the clock is read once in so many looks */

typedef struct {
  /* Chunks not yet claimed; not yet ended. The rest is written while there is none of either. */
  atomic_size_t n_left, n_running;
  size_t n_chunks;
  DemurParallelFunc func;
  gpointer data;
} Work;

struct DemurParallel {
  guint n_threads;
  const DemurRanks *ranks;
  GThread **threads; /* [n_threads - 1] */

  Work map, fill;

  GMutex mutex;
  GCond wake, done;
  /* Both change under the mutex only; atomic, since they are looked at without it, and ThreadSanitizer does
   * not see GLib's mutexes. */
  atomic_uint n_sleeping; /* workers */
  atomic_bool caller_sleeps, quit;
};

typedef struct {
  DemurParallel *parallel;
  guint worker;
} WorkerArgument;

static gint64
nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (gint64)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void
relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/* How long a thread has been without a chunk; all 0 at first. */
typedef struct {
  guint looks;
  gint64 until; /* nanoseconds of the clock */
} Watch;

/* Whether there is time to look once more. */
static gboolean
watch(Watch *w) {
  relax();
  if (w->looks++ % LOOKS_A_CLOCK != 0)
    return TRUE;
  const gint64 now = nanoseconds();
  if (w->looks == 1)
    w->until = now + WATCH_NANOSECONDS;
  return now < w->until;
}

static void
wake_caller(DemurParallel *p) {
  g_mutex_lock(&p->mutex);
  g_cond_signal(&p->done);
  g_mutex_unlock(&p->mutex);
}

/* Does one chunk of the work; FALSE where none is left. */
static gboolean
take_chunk(DemurParallel *p, Work *work, guint worker) {
  size_t left = atomic_load_explicit(&work->n_left, memory_order_relaxed);
  while (left > 0)
    if (atomic_compare_exchange_weak_explicit(&work->n_left, &left, left - 1, memory_order_acquire,
                                              memory_order_relaxed)) {
      work->func(work->n_chunks - left, worker, work->data);
      if (atomic_fetch_sub(&work->n_running, 1) == 1 && worker != 0 &&
          atomic_load(&p->caller_sleeps))
        wake_caller(p);
      return TRUE;
    }
  return FALSE;
}

static gboolean
has_chunks(DemurParallel *p) {
  return atomic_load(&p->map.n_left) > 0 || atomic_load(&p->fill.n_left) > 0;
}

/* FALSE where the pool ends. */
static gboolean
sleep_worker(DemurParallel *p) {
  g_mutex_lock(&p->mutex);
  atomic_fetch_add(&p->n_sleeping, 1);
  while (!atomic_load(&p->quit) && !has_chunks(p))
    g_cond_wait(&p->wake, &p->mutex);
  atomic_fetch_sub(&p->n_sleeping, 1);
  const gboolean quit = atomic_load(&p->quit);
  g_mutex_unlock(&p->mutex);
  return !quit;
}

static gpointer
worker_main(gpointer data) {
  WorkerArgument *argument = data;
  DemurParallel *p = argument->parallel;
  const guint worker = argument->worker;
  g_free(argument);
  Watch idle = {0};
  for (;;) {
    if (take_chunk(p, &p->map, worker) || take_chunk(p, &p->fill, worker)) {
      idle.looks = 0;
    } else if (!watch(&idle)) {
      if (!sleep_worker(p))
        return NULL;
      idle.looks = 0;
    }
  }
}

static void
begin_work(DemurParallel *p, Work *work, size_t n_chunks, DemurParallelFunc func, gpointer data) {
  work->n_chunks = n_chunks;
  work->func = func;
  work->data = data;
  atomic_store_explicit(&work->n_running, n_chunks, memory_order_relaxed);
  /* Sequentially consistent, as is the sleepers' count: either it is seen here, or they see the chunks. */
  atomic_store(&work->n_left, n_chunks);
  if (atomic_load(&p->n_sleeping) == 0)
    return;
  g_mutex_lock(&p->mutex);
  g_cond_broadcast(&p->wake);
  g_mutex_unlock(&p->mutex);
}

/* Returns when all chunks of the work have ended, and fills the caller's gaps until then. */
static void
end_work(DemurParallel *p, Work *work) {
  while (take_chunk(p, work, 0))
    continue;
  Watch idle = {0};
  while (atomic_load_explicit(&work->n_running, memory_order_acquire) != 0) {
    if (take_chunk(p, &p->fill, 0)) {
      idle.looks = 0;
    } else if (!watch(&idle)) {
      g_mutex_lock(&p->mutex);
      atomic_store(&p->caller_sleeps, TRUE);
      while (atomic_load(&work->n_running) != 0)
        g_cond_wait(&p->done, &p->mutex);
      atomic_store(&p->caller_sleeps, FALSE);
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
  const guint wanted = p->n_threads;
  p->threads = g_new0(GThread *, wanted);
  p->n_threads = 1;
  while (p->n_threads < wanted) {
    WorkerArgument *argument = g_new(WorkerArgument, 1);
    *argument = (WorkerArgument){p, p->n_threads};
    GThread *thread = g_thread_try_new("demur-worker", worker_main, argument, NULL);
    if (thread == NULL) { /* the system makes no more: the same bytes on fewer */
      g_free(argument);
      break;
    }
    p->threads[p->n_threads++ - 1] = thread;
  }
  return p;
}

void
demur_parallel_free(DemurParallel *p) {
  if (p == NULL)
    return;
  g_mutex_lock(&p->mutex);
  atomic_store(&p->quit, TRUE);
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
  begin_work(p, &p->map, n_chunks, func, data);
  end_work(p, &p->map);
}

void
demur_parallel_begin(DemurParallel *p, size_t n_chunks, DemurParallelFunc func, gpointer data) {
  if (p == NULL || p->n_threads == 1) {
    for (size_t chunk = 0; chunk < n_chunks; chunk++)
      func(chunk, 0, data);
    return;
  }
  g_return_if_fail(atomic_load(&p->fill.n_running) == 0);
  begin_work(p, &p->fill, n_chunks, func, data);
}

void
demur_parallel_finish(DemurParallel *p) {
  if (p == NULL || p->n_threads == 1)
    return;
  end_work(p, &p->fill);
}
