/* What demur-mpi asks of MPI: ranks that meet (base/ranks.h), and files brought from rank to rank. Every
 * call is made by all ranks, but where it says whose it is. */
#pragma once

#include "base/ranks.h"

G_BEGIN_DECLS

/* Begins MPI and fills ranks, whose calls are MPI's. The process ends here where it can't be begun. */
void demur_mpi_begin(int *argc, char ***argv, DemurRanks *ranks);
void demur_mpi_end(void);

/* Ends the processes of all ranks, saying what on standard error. */
G_NORETURN void demur_mpi_abort(const char *what);

/* The greatest of all ranks' values. */
int demur_mpi_greatest(const DemurRanks *ranks, int value);

/* Rank `from` sends the bytes, which rank 0 receives (owned; NULL elsewhere). from > 0. */
guint8 *demur_mpi_bring(const DemurRanks *ranks, size_t from, const guint8 *bytes, size_t *n);

G_END_DECLS
