#include "library/pool.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/error.h"

#define MAX_THREADS 1024 /* as the command line */

struct DemurLibraryPool {
  DemurParallel *parallel;
  pid_t process; /* whose threads they are */
  atomic_flag taken;
};

DemurLibraryPool *
demur_library_pool_new(unsigned n_threads, GError **error) {
  if (n_threads > MAX_THREADS) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%u threads; at most %d are taken",
                n_threads, MAX_THREADS);
    return NULL;
  }
  DemurLibraryPool *pool = g_new(DemurLibraryPool, 1);
  *pool = (DemurLibraryPool){demur_parallel_new(n_threads), getpid(), ATOMIC_FLAG_INIT};
  return pool;
}

void
demur_library_pool_free(DemurLibraryPool *pool) {
  if (pool == NULL)
    return;
  if (pool->process == getpid())
    demur_parallel_free(pool->parallel);
  g_free(pool);
}

DemurParallel *
demur_library_pool_take(DemurLibraryPool *pool) {
  return pool->process == getpid() && !atomic_flag_test_and_set(&pool->taken) ? pool->parallel
                                                                              : NULL;
}

void
demur_library_pool_give(DemurLibraryPool *pool, DemurParallel *taken) {
  if (taken != NULL)
    atomic_flag_clear(&pool->taken);
}
