/* The parallel map: each chunk once, scratch memory never shared, any number of threads. */
#include <stdatomic.h>

#include "base/parallel.h"
#include "support/support.h"

static const guint thread_counts[] = {1, 2, 7};

typedef struct {
  atomic_uint *visits;   /* [n_chunks] */
  atomic_uint in_use[8]; /* by worker: 1 while a chunk runs with that scratch */
  atomic_uint clashes;
  guint n_threads;
  size_t n_chunks;
} Visits;

static void
visit(size_t chunk, guint worker, gpointer data) {
  Visits *v = data;
  if (worker >= v->n_threads || chunk >= v->n_chunks) {
    atomic_fetch_add(&v->clashes, 1);
    return;
  }
  if (atomic_exchange(&v->in_use[worker], 1) != 0)
    atomic_fetch_add(&v->clashes, 1);
  atomic_fetch_add(&v->visits[chunk], 1);
  atomic_store(&v->in_use[worker], 0);
}

/* Counted by the chunks themselves. */
static void
every_chunk_runs_once(void) {
  static const size_t sizes[] = {0, 1, 2, 3, 6, 7, 8, 100, 5000};
  for (size_t t = 0; t < G_N_ELEMENTS(thread_counts); t++) {
    g_autoptr(DemurParallel) parallel = demur_parallel_new(thread_counts[t]);
    g_assert_cmpuint(demur_parallel_n_threads(parallel), ==, thread_counts[t]);
    for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
      g_autofree atomic_uint *visits = g_new0(atomic_uint, sizes[s] + 1);
      Visits v = {.visits = visits, .n_threads = thread_counts[t], .n_chunks = sizes[s]};
      demur_parallel_map(parallel, sizes[s], visit, &v);
      g_assert_cmpuint(atomic_load(&v.clashes), ==, 0);
      for (size_t c = 0; c < sizes[s]; c++)
        g_assert_cmpuint(atomic_load(&visits[c]), ==, 1);
      g_assert_cmpuint(atomic_load(&visits[sizes[s]]), ==, 0);
    }
  }
}

static int
map_alone(void) {
  atomic_uint visits[101] = {0};
  DemurParallel *parallel = demur_parallel_new(7);
  Visits v = {.visits = visits, .n_threads = 1, .n_chunks = 100};
  if (demur_parallel_n_threads(parallel) != 1)
    return 3;
  demur_parallel_map(parallel, 100, visit, &v);
  demur_parallel_begin(parallel, 50, visit, &v);
  demur_parallel_finish(parallel);
  for (size_t c = 0; c < 100; c++)
    if (atomic_load(&visits[c]) != (c < 50 ? 2 : 1))
      return 4;
  demur_parallel_free(parallel);
  return atomic_load(&v.clashes) == 0 ? 0 : 5;
}

static void
where_no_thread_can_be_made_the_caller_works(void) {
  demur_test_without_threads(map_alone);
}

/* Many maps shorter than a worker's waking: the result of each must be whole when its map returns,
 * so the next may overwrite it. */
typedef struct {
  guint32 round;
  guint32 values[3];
} Round;

static void
write_round(size_t chunk, guint worker, gpointer data) {
  Round *round = data;
  round->values[chunk] = round->round + (guint32)chunk;
}

static void
many_tiny_maps_each_end_before_they_return(void) {
  for (size_t t = 0; t < G_N_ELEMENTS(thread_counts); t++) {
    g_autoptr(DemurParallel) parallel = demur_parallel_new(thread_counts[t]);
    Round round = {0};
    for (guint32 r = 0; r < 1000; r++) {
      round.round = r * 10;
      demur_parallel_map(parallel, 2 + r % 2, write_round, &round);
      for (guint32 c = 0; c < 2 + r % 2; c++)
        g_assert_cmpuint(round.values[c], ==, r * 10 + c);
      if (r % 500 == 0)
        g_usleep(2000); /* long enough that workers go to sleep and must be woken */
    }
  }
}

/* Chunks that fill gaps: each once, whether maps run meanwhile or not, and all before it is finished; no
 * thread is in a chunk of a map and in one of these at once. */
static void
gaps_are_filled_once(void) {
  for (size_t t = 0; t < G_N_ELEMENTS(thread_counts); t++) {
    g_autoptr(DemurParallel) parallel = demur_parallel_new(thread_counts[t]);
    demur_parallel_finish(parallel);
    for (size_t round = 0; round < 300; round++) {
      const size_t n = round % 40, n_map = round % 3 * 20;
      g_autofree atomic_uint *fills = g_new0(atomic_uint, n + 1);
      g_autofree atomic_uint *visits = g_new0(atomic_uint, n_map + 1);
      Visits fill = {.visits = fills, .n_threads = thread_counts[t], .n_chunks = n};
      Visits map = {.visits = visits, .n_threads = thread_counts[t], .n_chunks = n_map};
      demur_parallel_begin(parallel, n, visit, &fill);
      demur_parallel_map(parallel, n_map, visit, &map);
      demur_parallel_map(parallel, n_map, visit, &map);
      demur_parallel_finish(parallel);
      g_assert_cmpuint(atomic_load(&fill.clashes) + atomic_load(&map.clashes), ==, 0);
      for (size_t c = 0; c < n; c++)
        g_assert_cmpuint(atomic_load(&fills[c]), ==, 1);
      for (size_t c = 0; c < n_map; c++)
        g_assert_cmpuint(atomic_load(&visits[c]), ==, 2);
    }
  }
  g_autofree atomic_uint *fills = g_new0(atomic_uint, 6);
  Visits alone = {.visits = fills, .n_threads = 1, .n_chunks = 5};
  demur_parallel_begin(NULL, 5, visit, &alone);
  demur_parallel_finish(NULL);
  for (size_t c = 0; c < 5; c++)
    g_assert_cmpuint(atomic_load(&fills[c]), ==, 1);
}

/* A chunk that ends when it is let go. */
typedef struct {
  GMutex mutex;
  GCond changed;
  atomic_bool begun, let_go; /* atomic, since ThreadSanitizer does not see GLib's mutexes */
} Held;

static void
hold(size_t chunk, guint worker, gpointer data) {
  Held *held = data;
  g_mutex_lock(&held->mutex);
  held->begun = TRUE;
  g_cond_broadcast(&held->changed);
  while (!held->let_go)
    g_cond_wait(&held->changed, &held->mutex);
  g_mutex_unlock(&held->mutex);
}

/* The only other thread is elsewhere all the time: maps end without it. */
static void
no_map_waits_for_a_thread_that_has_none_of_its_chunks(void) {
  g_autoptr(DemurParallel) parallel = demur_parallel_new(2);
  Held held = {0};
  g_mutex_init(&held.mutex);
  g_cond_init(&held.changed);
  demur_parallel_begin(parallel, 1, hold, &held);
  g_mutex_lock(&held.mutex);
  while (!held.begun)
    g_cond_wait(&held.changed, &held.mutex);
  g_mutex_unlock(&held.mutex);
  Round round = {0};
  for (guint32 r = 0; r < 100; r++) {
    round.round = r * 10;
    demur_parallel_map(parallel, 3, write_round, &round);
    for (guint32 c = 0; c < 3; c++)
      g_assert_cmpuint(round.values[c], ==, r * 10 + c);
  }
  g_mutex_lock(&held.mutex);
  held.let_go = TRUE;
  g_cond_broadcast(&held.changed);
  g_mutex_unlock(&held.mutex);
  demur_parallel_finish(parallel);
  g_mutex_clear(&held.mutex);
  g_cond_clear(&held.changed);
}

/* A map within a chunk, on a DemurParallel of its own: allowed, as only the same one may not be
 * used again. */
typedef struct {
  atomic_uint total;
} Nested;

static void
count_one(size_t chunk, guint worker, gpointer data) {
  Nested *nested = data;
  atomic_fetch_add(&nested->total, (unsigned)chunk + 1);
}

static void
map_inside(size_t chunk, guint worker, gpointer data) {
  g_autoptr(DemurParallel) inner = demur_parallel_new(2);
  demur_parallel_map(inner, 10, count_one, data);
}

static void
maps_nest_on_another_pool(void) {
  g_autoptr(DemurParallel) outer = demur_parallel_new(3);
  Nested nested = {0};
  demur_parallel_map(outer, 20, map_inside, &nested);
  g_assert_cmpuint(atomic_load(&nested.total), ==, 20 * 55);
}

static void
no_pool_is_this_thread(void) {
  g_assert_cmpuint(demur_parallel_n_threads(NULL), ==, 1);
  Nested nested = {0};
  demur_parallel_map(NULL, 10, count_one, &nested);
  g_assert_cmpuint(atomic_load(&nested.total), ==, 55);
  demur_parallel_free(NULL);
  g_autoptr(DemurParallel) automatic = demur_parallel_new(0);
  g_assert_cmpuint(demur_parallel_n_threads(automatic), ==, g_get_num_processors());
}

/* Made and freed without a map, and freed just after one. */
static void
pools_come_and_go(void) {
  for (int i = 0; i < 20; i++) {
    DemurParallel *parallel = demur_parallel_new(7);
    Nested nested = {0};
    if (i % 2 == 0)
      demur_parallel_map(parallel, 10, count_one, &nested);
    demur_parallel_free(parallel);
    g_assert_cmpuint(atomic_load(&nested.total), ==, i % 2 == 0 ? 55 : 0);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/parallel/no-threads", where_no_thread_can_be_made_the_caller_works);
  g_test_add_func("/base/parallel/gaps-are-filled-once", gaps_are_filled_once);
  g_test_add_func("/base/parallel/elsewhere",
                  no_map_waits_for_a_thread_that_has_none_of_its_chunks);
  g_test_add_func("/base/parallel/once", every_chunk_runs_once);
  g_test_add_func("/base/parallel/tiny", many_tiny_maps_each_end_before_they_return);
  g_test_add_func("/base/parallel/nested", maps_nest_on_another_pool);
  g_test_add_func("/base/parallel/none", no_pool_is_this_thread);
  g_test_add_func("/base/parallel/lifetime", pools_come_and_go);
  return g_test_run();
}
