/* The threads of a handle. Whoever calls first has them; who calls meanwhile from another thread, or in
 * a process that was forked (threads stay behind in the other), works on its own thread: nobody waits,
 * and the numbers are the same bytes. */
#pragma once

#include "base/parallel.h"

G_BEGIN_DECLS

typedef struct DemurLibraryPool DemurLibraryPool;

/* Of that many threads, 0: all processors; NULL with DEMUR_ERROR_INPUT for more than a machine has
 * use for. */
DemurLibraryPool *demur_library_pool_new(unsigned n_threads, GError **error);
/* In a forked process what the threads had stays allocated. */
void demur_library_pool_free(DemurLibraryPool *pool);

/* The threads, until they are given back; NULL (one thread: the caller's) where they are not to be had.
 */
DemurParallel *demur_library_pool_take(DemurLibraryPool *pool);
void demur_library_pool_give(DemurLibraryPool *pool, DemurParallel *taken);

G_END_DECLS
