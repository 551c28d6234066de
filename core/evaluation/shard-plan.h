/* What a long study cut into shards is of, and the document of a part that another process or machine
 * computed: canonical JSON of format demur-part that names all its numbers depend on, with the SHA-256
 * of the rest as its member "digest". What a part holds is its kind's own (left-out-part.h,
 * network-part.h, replicate-part.h). */
#pragma once

#include "base/json-reader.h"
#include "base/json-writer.h"

G_BEGIN_DECLS

/* Shard index of count, from 1. */
typedef struct {
  size_t index, count;
} DemurShard;

/* "3/25". DEMUR_ERROR_USAGE for any other text. */
gboolean demur_shard_parse(const char *text, DemurShard *shard,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef enum {
  DEMUR_SHARD_VALIDATE, /* folds */
  DEMUR_SHARD_SEARCH,   /* folds of each trial */
  DEMUR_SHARD_TRAIN,    /* networks: those averaged of each model */
  DEMUR_SHARD_EVALUATE, /* replicates, with the resamples and redrawn labels beside them */
  DEMUR_N_SHARD_KINDS,
} DemurShardKind;

/* What a part has to agree on with the whole: all that its numbers depend on. Texts are borrowed. */
typedef struct {
  DemurShardKind kind;
  const char *cohort_digest; /* of every row */
  const char *settings;      /* SHA-256 of the settings, and of the grid */
  const char *program, *kernel;
  guint64 seed;
  size_t n_trials, n_folds; /* a study's pieces, numbered trial by trial: see the kinds */
} DemurShardPlan;

/* Pieces [first, end) of n_trials x n_folds that a shard does. Together the shards do each once;
 * DEMUR_ERROR_USAGE where there are more shards than pieces. */
gboolean demur_shard_plan_range(const DemurShardPlan *plan, const DemurShard *shard, size_t *first,
                                size_t *end, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Members of what the part holds, into the open object. */
typedef void (*DemurShardWrite)(DemurJson *json, const DemurShardPlan *plan, gconstpointer data);

/* The part's document, owned. */
char *demur_shard_plan_document(const DemurShardPlan *plan, DemurShardWrite write,
                                gconstpointer data);

/* Parses a document into the parser; its members beside what it holds are those of the plan.
 * DEMUR_ERROR_INPUT for a document that is none, or of another study (what differs is named). */
gboolean demur_shard_plan_load(const DemurShardPlan *plan, const char *text, gssize length,
                               JsonParser *parser, JsonObject **root,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether what was read of the document, written anew, has the digest that it names; else
 * DEMUR_ERROR_INPUT. */
gboolean demur_shard_plan_check_unedited(const DemurShardPlan *plan, JsonObject *root,
                                         DemurShardWrite write, gconstpointer data,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
