/* demur_parallel_map of long work: the calling thread tells how far it is, and asks whether to go on, before each chunk that it
 * takes itself. So no thread waits for another before the end, as between parts that are mapped one after the other. */
#pragma once

#include "base/parallel.h"
#include "base/progress.h"

G_BEGIN_DECLS

/* Calls func for each chunk in [0, n_chunks) as demur_parallel_map does. FALSE with G_IO_ERROR_CANCELLED once cancelled: chunks
 * that nobody had begun are left out then. progress (may be NULL): the share of chunks that were begun; stage as demur_progress_step
 * takes it. */
gboolean demur_told_map(DemurParallel *parallel, size_t n_chunks, DemurParallelFunc func,
                        gpointer data, const DemurProgress *progress, const char *stage,
                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
