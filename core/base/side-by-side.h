/* Long pieces of work that need nothing of each other (folds left out, trials of a grid): as many
 * at once as there are threads, each on one thread. Where a piece gives the same bytes at any
 * number of threads, so do all. */
#pragma once

#include "base/parallel.h"
#include "base/progress.h"

G_BEGIN_DECLS

/* Piece i; parallel: its threads (NULL: the calling one only); progress: its own, from 0 to 1. */
typedef gboolean (*DemurPieceFunc)(size_t i, DemurParallel *parallel, const DemurProgress *progress,
                                   gpointer data, GError **error);

/* Calls func for each i in [0, n), n < 2^31: n rounded down to a multiple of the threads side by
 * side, the rest one after the other by all threads. FALSE with the error of the least i that
 * fails: pieces behind one that failed are not begun any more, those before it are. progress is
 * told in the calling thread only. */
gboolean demur_side_by_side(size_t n, DemurParallel *parallel, const DemurProgress *progress,
                            DemurPieceFunc func, gpointer data,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
