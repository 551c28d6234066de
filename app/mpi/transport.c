#include "app/mpi/transport.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void
extremes(gint64 value, gint64 *least, gint64 *greatest, gpointer data) {
  (void)data;
  MPI_Allreduce(&value, least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&value, greatest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
}

/* A count of MPI is an int: what is longer goes in pieces. */
static int
piece(size_t n, size_t at) {
  return (int)MIN(n - at, (size_t)INT_MAX);
}

static void
all_gather(const guint8 *own, guint8 *all, const size_t *lengths, gpointer data) {
  const DemurRanks *ranks = data;
  for (size_t r = 0; r < ranks->size; r++) {
    if (r == ranks->rank && lengths[r] > 0)
      memcpy(all, own, lengths[r]);
    for (size_t at = 0; at < lengths[r]; at += INT_MAX)
      MPI_Bcast(all + at, piece(lengths[r], at), MPI_BYTE, (int)r, MPI_COMM_WORLD);
    all += lengths[r];
  }
}

void
demur_mpi_begin(int *argc, char ***argv, DemurRanks *ranks) {
  int provided, rank, size;
  /* Worker threads compute; only the thread that began calls MPI. A fault of MPI ends all ranks. */
  if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_FUNNELED) {
    g_printerr("demur-mpi: this MPI takes no threads beside its own\n");
    exit(EXIT_FAILURE);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  *ranks = (DemurRanks){.rank = (size_t)rank,
                        .size = (size_t)size,
                        .extremes = extremes,
                        .all_gather = all_gather,
                        .data = ranks};
}

void
demur_mpi_end(void) {
  MPI_Finalize();
}

void
demur_mpi_abort(const char *what) {
  g_printerr("demur-mpi: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  exit(EXIT_FAILURE);
}

int
demur_mpi_greatest(const DemurRanks *ranks, int value) {
  gint64 least, greatest;
  ranks->extremes(value, &least, &greatest, ranks->data);
  return (int)greatest;
}

guint8 *
demur_mpi_bring(const DemurRanks *ranks, size_t from, const guint8 *bytes, size_t *n) {
  guint64 length = *n;
  if (ranks->rank == from) {
    MPI_Send(&length, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
    for (size_t at = 0; at < length; at += INT_MAX)
      MPI_Send(bytes + at, piece(length, at), MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
  if (ranks->rank != 0)
    return NULL;
  MPI_Recv(&length, 1, MPI_UINT64_T, (int)from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  guint8 *brought = g_malloc(MAX(length, 1));
  for (size_t at = 0; at < length; at += INT_MAX)
    MPI_Recv(brought + at, piece(length, at), MPI_BYTE, (int)from, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  *n = length;
  return brought;
}
