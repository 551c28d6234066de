/* Parallel map over a fixed number of chunks.
 *
 * The caller cuts the work into chunks by the size of the data, never by the number of threads, and
 * merges the chunks' results in order: so any number of threads gives the same bytes. */
#pragma once

#include "base/ranks.h"

G_BEGIN_DECLS

typedef struct DemurParallel DemurParallel;

/* n_threads >= 1 counts the caller too; 0 takes one a processor. Workers sleep between maps. Where the
 * system makes no more threads (a limit of the user's or the container's) there are fewer, the caller's
 * at least. */
DemurParallel *demur_parallel_new(guint n_threads);
void demur_parallel_free(DemurParallel *parallel);
guint demur_parallel_n_threads(const DemurParallel *parallel);

/* The processes that do the work of a gather (base/gather.h) together; borrowed. NULL: this one
 * alone, as it is at first. */
void demur_parallel_set_ranks(DemurParallel *parallel, const DemurRanks *ranks);
const DemurRanks *demur_parallel_ranks(const DemurParallel *parallel);
size_t demur_parallel_n_ranks(const DemurParallel *parallel); /* 1 without, and of NULL */

/* One chunk's work; worker in [0, n_threads) names scratch memory that no other call uses
 * meanwhile. 0 is the thread that maps. */
typedef void (*DemurParallelFunc)(size_t chunk, guint worker, gpointer data);

/* Calls func once for each chunk in [0, n_chunks) and returns when all have ended. parallel may be
 * NULL: then in this thread. Not reentrant: func must not map on the same DemurParallel. */
void demur_parallel_map(DemurParallel *parallel, size_t n_chunks, DemurParallelFunc func,
                        gpointer data);

/* Begins work that fills gaps: its chunks are taken by threads that have nothing else to do, between maps
 * and at the end of one where others still work. To be finished before the next is begun and before
 * func's data go; maps may run meanwhile. Without threads of its own (parallel NULL too) all of it is
 * done at once. */
void demur_parallel_begin(DemurParallel *parallel, size_t n_chunks, DemurParallelFunc func,
                          gpointer data);

/* Does what is left of it and returns when all of its chunks have ended; at once where nothing was
 * begun. */
void demur_parallel_finish(DemurParallel *parallel);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurParallel, demur_parallel_free)

G_END_DECLS
