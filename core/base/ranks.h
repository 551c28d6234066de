/* The processes that do one piece of work together, as a transport (MPI) makes them known. The
 * transport's calls are collective: every rank makes them, in the same order. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  size_t rank, size; /* rank in [0, size) */
  gboolean
      computes_none; /* it is none of them, and is told what they all came to (base/ranks-tape.h) */
  /* The least and the greatest of all ranks' values. */
  void (*extremes)(gint64 value, gint64 *least, gint64 *greatest, gpointer data);
  /* own [lengths[rank]] of each rank, one behind the other, into all, on every rank. In bytes. */
  void (*all_gather)(const guint8 *own, guint8 *all, const size_t *lengths, gpointer data);
  gpointer data;
} DemurRanks;

/* Waits for all ranks. DEMUR_ERROR_PEER where one of them has failed (demur_ranks_part);
 * DEMUR_ERROR_INPUT where one is at another piece of work: its label differs. */
gboolean demur_ranks_meet(const DemurRanks *ranks, guint64 label,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What a text says is done, as a label: two texts have one by chance once in 2^60. */
guint64 demur_ranks_label(const char *text);

/* At the end of the work, once a rank: whether all came to their end well. A rank that failed calls it
 * too, with FALSE, where the others may still want to meet; they fail then, and part. */
gboolean demur_ranks_part(const DemurRanks *ranks, gboolean well);

G_END_DECLS
