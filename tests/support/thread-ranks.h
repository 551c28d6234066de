/* Ranks of one process, a thread each: the transport of base/ranks.h for tests. */
#pragma once

#include "base/ranks.h"

G_BEGIN_DECLS

/* One rank's work. */
typedef void (*ThreadRankFunc)(const DemurRanks *ranks, gpointer data);

/* Runs func in n threads, rank r with data[r] of the array of pointers, and waits for all of them. */
void thread_ranks_run(size_t n, ThreadRankFunc func, gpointer *data);

G_END_DECLS
