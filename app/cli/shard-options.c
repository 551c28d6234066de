#include "app/cli/shard-options.h"

#include "base/error.h"

void
demur_shard_options_clear(DemurShardOptions *options) {
  g_free(options->shard_text);
  g_free(options->part);
}

gboolean
demur_shard_options_check(DemurShardOptions *options, char **arguments, guint n_names,
                          const char *what, GError **error) {
  if ((options->shard_text != NULL) != (options->part != NULL)) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "--shard I/N and --part FILE belong together");
    return FALSE;
  }
  if (options->merge && options->part != NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                        "--merge puts parts together, --shard computes one: give one of them");
    return FALSE;
  }
  if (options->shard_text != NULL &&
      !demur_shard_parse(options->shard_text, &options->shard, error))
    return FALSE;
  if (!options->merge)
    return demur_command_expect(arguments, n_names, what, error);
  if (g_strv_length(arguments) <= n_names) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "%s, and --merge the files of all parts",
                what);
    return FALSE;
  }
  options->parts = arguments + n_names;
  return TRUE;
}

void
demur_shard_options_print(DemurContext *context, const DemurShardOptions *options,
                          const char *selector) {
  if (!context->json) {
    g_print("Shard %zu of %zu of selector '%s' is in %s; --merge takes it with the others.\n",
            options->shard.index, options->shard.count, selector, options->part);
    return;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "selector", selector);
  demur_json_int(json, "shard", (gint64)options->shard.index);
  demur_json_int(json, "shards", (gint64)options->shard.count);
  demur_json_string(json, "part", options->part);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}
