/* The options of a study that may be cut into shards: --shard I/N --part FILE computes one, --merge
 * puts the parts' files together. */
#pragma once

#include "app/cli/command.h"
#include "tasks/shards.h"

G_BEGIN_DECLS

typedef struct {
  char *shard_text, *part; /* owned */
  gboolean merge;
  DemurShard shard;   /* of a part that is to be computed */
  char *const *parts; /* files that are to be merged: those behind the names; NULL: none */
} DemurShardOptions;

#define DEMUR_SHARD_ENTRIES(options)                                                               \
  {"shard",                                                                                        \
   0,                                                                                              \
   0,                                                                                              \
   G_OPTION_ARG_STRING,                                                                            \
   &(options).shard_text,                                                                          \
   "compute shard I of N only, for --merge; keeps nothing in the workspace",                       \
   "I/N"},                                                                                         \
      {"part", 0, 0, G_OPTION_ARG_FILENAME, &(options).part, "where --shard writes it", "FILE"}, { \
    "merge", 0, 0, G_OPTION_ARG_NONE, &(options).merge,                                            \
        "put the parts FILE.. of all shards together: the bytes of one run", NULL                  \
  }

/* Checks them against each other and the words of the command line: n_names, and behind them the
 * files with --merge only. DEMUR_ERROR_USAGE. */
gboolean demur_shard_options_check(DemurShardOptions *options, char **arguments, guint n_names,
                                   const char *what, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Says that the part was written, as text or JSON. */
void demur_shard_options_print(DemurContext *context, const DemurShardOptions *options,
                               const char *selector);

void demur_shard_options_clear(DemurShardOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurShardOptions, demur_shard_options_clear)

G_END_DECLS
