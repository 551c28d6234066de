/* demur verify: workspace integrity and digests. */
#include "app/cli/counted.h"
#include "app/cli/command.h"
#include "base/error.h"
#include "tasks/verify.h"

static void
print_json(DemurContext *context, const DemurSoundness *found) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_begin_array(json, "findings");
  for (guint i = 0; i < found->checks->len; i++) {
    const DemurCheck *check = found->checks->pdata[i];
    demur_json_begin_object(json, NULL);
    demur_json_bool(json, "ok", check->ok);
    demur_json_string(json, "subject", check->subject);
    demur_json_string(json, "message", check->message);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_int(json, "n_cohorts", (gint64)found->n_cohorts);
  demur_json_int(json, "n_selectors", (gint64)found->n_selectors);
  demur_json_int(json, "n_series", (gint64)found->n_series);
  demur_json_int(json, "n_scores", (gint64)found->n_scores);
  demur_json_int(json, "n_verdicts", (gint64)found->n_verdicts);
  demur_json_bool(json, "ok", found->ok);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static void
print_text(const DemurSoundness *found) {
  for (guint i = 0; i < found->checks->len; i++) {
    const DemurCheck *check = found->checks->pdata[i];
    g_print("%s %s: %s\n", check->ok ? "ok   " : "WRONG", check->subject, check->message);
  }
  g_print("%s: %zu cohort%s, %zu selector%s, %zu series, %zu score%s, %zu verdict%s\n",
          found->ok ? "The workspace is sound" : "The workspace is damaged", found->n_cohorts,
          demur_cli_s(found->n_cohorts), found->n_selectors, demur_cli_s(found->n_selectors),
          found->n_series, found->n_scores, demur_cli_s(found->n_scores), found->n_verdicts,
          demur_cli_s(found->n_verdicts));
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  if (!demur_command_parse(context, argc, argv, NULL, &arguments, error) ||
      !demur_command_expect(arguments, 0, "verify takes no words", error))
    return FALSE;
  g_autoptr(DemurSoundness) found = demur_task_verify(&context->task, error);
  if (found == NULL)
    return FALSE;
  if (context->json)
    print_json(context, found);
  else
    print_text(found);
  if (found->ok)
    return TRUE;
  g_set_error_literal(
      error, DEMUR_ERROR, DEMUR_ERROR_STORE,
      "the workspace is damaged: see the findings; restore it from a copy, or remove "
      "what is wrong and import it again");
  return FALSE;
}

const DemurCommand demur_command_verify = {.name = "verify",
                                           .parameters = "",
                                           .summary = "check the workspace and every digest in it",
                                           .run = run};
