/* Ranks that are never there at once. Each in turn writes down what it would tell the others (its tape); who
 * comes behind has the tapes of all, computes no chunk, and is told what they were (base/gather.h).
 *
 * A rank that writes gets zeros for what the others compute: what is made of a gather's slots is right
 * only where all tapes are played. Bytes are the processor's own. */
#pragma once

#include "base/ranks.h"

G_BEGIN_DECLS

typedef struct DemurRanksTape DemurRanksTape;

/* Of rank in [0, size). */
DemurRanksTape *demur_ranks_tape_record(size_t rank, size_t size);
/* tapes [size], each of its rank; their bytes are shared. */
DemurRanksTape *demur_ranks_tape_play(GBytes *const *tapes, size_t size);
void demur_ranks_tape_free(DemurRanksTape *tape);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurRanksTape, demur_ranks_tape_free)

/* For demur_parallel_set_ranks; the tape's. */
const DemurRanks *demur_ranks_tape_ranks(const DemurRanksTape *tape);

/* What was written so far, owned. */
GBytes *demur_ranks_tape_bytes(const DemurRanksTape *tape);

/* The first rank whose tape is of another work: a label of it is another than this one's, or it is too short
 * or too long for what was asked for. FALSE where none is. */
gboolean demur_ranks_tape_fault(const DemurRanksTape *tape, size_t *rank) G_GNUC_WARN_UNUSED_RESULT;

/* Whether all tapes came to their end, each piece of them as long as it was asked for; else
 * DEMUR_ERROR_INPUT. */
gboolean demur_ranks_tape_check_played(const DemurRanksTape *tape,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
