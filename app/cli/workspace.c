/* demur workspace: the workspace as a whole. */
#include "app/cli/counted.h"
#include "app/cli/command.h"
#include "tasks/workspace-copy.h"

static gboolean
run_copy(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  if (!demur_command_parse(context, argc, argv, NULL, &arguments, error) ||
      !demur_command_expect(arguments, 2, "workspace copy takes FROM TO", error))
    return FALSE;
  const char *from = arguments[0], *to = arguments[1];
  g_autoptr(DemurWorkspaceCopy) copy = demur_task_copy_workspace(&context->task, from, to, error);
  if (copy == NULL)
    return FALSE;
  const DemurSoundness *found = copy->soundness;
  if (!context->json) {
    g_print("%s is in %s: %" G_GINT64_FORMAT " row%s (digest %.12s), %zu cohort%s, %zu selector%s, "
            "%zu series, %zu score%s, %zu verdict%s; verified\n",
            from, to, copy->rows.n_rows, demur_cli_s((size_t)copy->rows.n_rows), copy->rows.digest,
            found->n_cohorts, demur_cli_s(found->n_cohorts), found->n_selectors,
            demur_cli_s(found->n_selectors), found->n_series, found->n_scores,
            demur_cli_s(found->n_scores), found->n_verdicts, demur_cli_s(found->n_verdicts));
    return TRUE;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "from", from);
  demur_json_string(json, "to", to);
  demur_json_int(json, "n_rows", copy->rows.n_rows);
  demur_json_string(json, "digest", copy->rows.digest);
  demur_json_int(json, "n_cohorts", (gint64)found->n_cohorts);
  demur_json_int(json, "n_selectors", (gint64)found->n_selectors);
  demur_json_int(json, "n_series", (gint64)found->n_series);
  demur_json_int(json, "n_scores", (gint64)found->n_scores);
  demur_json_int(json, "n_verdicts", (gint64)found->n_verdicts);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  static const DemurCommand commands[] = {
      {.name = "copy",
       .parameters = "FROM TO",
       .summary = "copy a workspace to a new file or an empty database, and verify it there",
       .description =
           "FROM and TO are files or addresses (postgresql://HOST/DATABASE), either way. "
           "FROM is read in one moment and stays as it is; a copy that fails leaves "
           "nothing. --workspace plays no part.",
       .run = run_copy},
  };
  return demur_command_dispatch(context, commands, G_N_ELEMENTS(commands), argc, argv, error);
}

const DemurCommand demur_command_workspace = {
    .name = "workspace", .summary = "copy a workspace as a whole", .run = run};
