/* A part of an evaluation that another process or machine computed: every n-th of its resamples, redrawn
 * labels and replicates, as that one of n ranks tells them (base/ranks-tape.h). The parts of all n
 * make the bytes of one run.
 *
 * Its numbers are of all scans, before what few scans would tell is withheld: it is as confidential
 * as the cohort. It names no patient, scan or site. */
#pragma once

#include "evaluation/shard-plan.h"

G_BEGIN_DECLS

/* The document, owned; bytes: the shard's tape. */
char *demur_replicate_part_write(const DemurShardPlan *plan, const DemurShard *shard,
                                 GBytes *bytes);

/* What is read so far: tapes [n] of the shards and what to call them in messages, NULL where it is not read;
 * n 0 before the first. */
typedef struct {
  size_t n;
  GBytes **tapes;
  char **names;
} DemurReplicateParts;

void demur_replicate_parts_clear(DemurReplicateParts *parts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurReplicateParts, demur_replicate_parts_clear)

/* Puts the document among the parts. name: what to call it in messages. DEMUR_ERROR_INPUT for a document that
 * is none, was edited, is of another evaluation or number of shards, or is there already; parts
 * are as they were then. */
gboolean demur_replicate_part_read(const DemurShardPlan *plan, const char *text, gssize length,
                                   const char *name, DemurReplicateParts *parts,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* DEMUR_ERROR_INPUT with the shards that no part is. */
gboolean demur_replicate_parts_check_whole(const DemurReplicateParts *parts,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
