/* A part of a long study (validation, search) that another process or machine computed: a document
 * of the folds it did. Any parts that together hold every fold once give the bytes of the study that
 * was run whole. Canonical JSON with the SHA-256 of the rest as its member "digest"; no patient, scan
 * or site is named: values stand in the order of the training scans. */
#pragma once

#include "evaluation/left-out.h"

G_BEGIN_DECLS

/* Shard index of count, from 1. */
typedef struct {
  size_t index, count;
} DemurShard;

/* "3/25". DEMUR_ERROR_USAGE for any other text. */
gboolean demur_shard_parse(const char *text, DemurShard *shard,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef enum {
  DEMUR_SHARD_VALIDATE,
  DEMUR_SHARD_SEARCH,
  DEMUR_N_SHARD_KINDS,
} DemurShardKind;

/* What a part has to agree on with the whole: all that its numbers depend on. Texts are borrowed. */
typedef struct {
  DemurShardKind kind;
  const char *cohort_digest; /* of every row */
  const char *settings;      /* SHA-256 of the settings, and of the grid */
  const char *program, *kernel;
  guint64 seed;
  size_t n_trials, n_folds; /* a study's folds are numbered trial by trial */
} DemurShardPlan;

/* Folds [first, end) of n_trials x n_folds that a shard does. Together the shards do each once;
 * DEMUR_ERROR_USAGE where there are more shards than folds. */
gboolean demur_shard_plan_range(const DemurShardPlan *plan, const DemurShard *shard, size_t *first,
                                size_t *end, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* trials [n_trials]: the folds that are done of each. failed [n_trials], may be NULL: a trial whose
 * training came to numbers that are not finite, which is a result. The document, owned. */
char *demur_shard_plan_write_part(const DemurShardPlan *plan, DemurLeftOut *const *trials,
                                  const gboolean *failed);

/* Puts what the document holds into trials and failed. name: what to call it in messages.
 * DEMUR_ERROR_INPUT for a document that is none, was edited, is of another study, or holds a fold
 * that is done already; nothing is changed then. */
gboolean demur_shard_plan_read_part(const DemurShardPlan *plan, const char *text, gssize length,
                                    const char *name, DemurLeftOut *const *trials, gboolean *failed,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* DEMUR_ERROR_INPUT with the folds that no part held. */
gboolean demur_shard_plan_check_whole(const DemurShardPlan *plan, DemurLeftOut *const *trials,
                                      const gboolean *failed,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
