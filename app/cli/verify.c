/* demur verify: workspace integrity and digests. */
#include "app/cli/command.h"
#include "tasks/selection.h"

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  if (!demur_command_parse(argc, argv, "", "check the workspace and every digest in it", NULL, NULL,
                           &arguments, error) ||
      !demur_command_expect(arguments, 0, "verify takes no words", error))
    return FALSE;
  /* An archived copy is checked where it lies; an older schema is brought up to date. */
  const char *path = context->task.workspace_path;
  g_autoptr(DemurWorkspace) workspace = demur_workspace_open(
      path,
      demur_workspace_is_read_only(path) ? DEMUR_WORKSPACE_READ_ONLY : DEMUR_WORKSPACE_DEFAULT,
      error);
  if (workspace == NULL)
    return FALSE;
  g_autoptr(DemurVerification) verification =
      demur_workspace_verify(workspace, &context->task.progress, error);
  if (verification == NULL)
    return FALSE;
  /* The store checks a selector's bytes; whether they are a selector is looked at here. */
  g_autoptr(GPtrArray) selectors = demur_selectors_list(workspace, error);
  if (selectors == NULL)
    return FALSE;
  gboolean ok = verification->ok;
  g_autoptr(GString) faults = g_string_new(NULL);
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_begin_array(json, "findings");
  for (size_t i = 0; i < verification->n_findings; i++) {
    const DemurFinding *finding = &verification->findings[i];
    demur_json_begin_object(json, NULL);
    demur_json_bool(json, "ok", finding->ok);
    demur_json_string(json, "subject", finding->subject);
    demur_json_string(json, "message", finding->message);
    demur_json_end_object(json);
    g_string_append_printf(faults, "%s %s: %s\n", finding->ok ? "ok   " : "WRONG", finding->subject,
                           finding->message);
  }
  for (guint i = 0; i < selectors->len; i++) {
    const DemurSelectorRecord *record = selectors->pdata[i];
    g_autoptr(GError) local = NULL;
    g_autoptr(DemurSelectorRecord) loaded = demur_selectors_load(workspace, record->name, &local);
    g_autoptr(DemurSelector) selector =
        loaded != NULL ? demur_selector_from_json(loaded->document, -1, record->name, &local)
                       : NULL;
    /* What stands beside the document in the workspace must be what the document says. */
    if (selector != NULL &&
        (g_strcmp0(demur_selector_digest(selector), record->digest) != 0 ||
         g_strcmp0(demur_selector_model(selector), record->model) != 0 ||
         g_strcmp0(demur_selector_cohort_digest(selector), record->cohort_digest) != 0)) {
      g_set_error_literal(&local, DEMUR_ERROR, DEMUR_ERROR_STORE,
                          "its digest, model or cohort in the workspace is not that of its "
                          "document; bring back a copy of the workspace");
      g_clear_pointer(&selector, demur_selector_unref);
    }
    g_autofree char *subject = g_strdup_printf("selector %s", record->name);
    const char *message =
        selector != NULL ? "the document reads and its digest is right" : local->message;
    ok &= selector != NULL;
    demur_json_begin_object(json, NULL);
    demur_json_bool(json, "ok", selector != NULL);
    demur_json_string(json, "subject", subject);
    demur_json_string(json, "message", message);
    demur_json_end_object(json);
    g_string_append_printf(faults, "%s %s: %s\n", selector != NULL ? "ok   " : "WRONG", subject,
                           message);
  }
  demur_json_end_array(json);
  demur_json_int(json, "n_cohorts", (gint64)verification->n_cohorts);
  demur_json_int(json, "n_selectors", (gint64)verification->n_selectors);
  demur_json_int(json, "n_series", (gint64)verification->n_series);
  demur_json_int(json, "n_scores", (gint64)verification->n_scores);
  demur_json_int(json, "n_verdicts", (gint64)verification->n_verdicts);
  demur_json_bool(json, "ok", ok);
  demur_json_end_object(json);
  if (context->json) {
    demur_context_print_json(context, json);
  } else {
    demur_json_free(json);
    g_print("%s%s: %zu cohorts, %zu selectors, %zu series, %zu scores, %zu verdicts\n", faults->str,
            ok ? "The workspace is sound" : "The workspace is damaged", verification->n_cohorts,
            verification->n_selectors, verification->n_series, verification->n_scores,
            verification->n_verdicts);
  }
  if (ok)
    return TRUE;
  g_set_error_literal(
      error, DEMUR_ERROR, DEMUR_ERROR_STORE,
      "the workspace is damaged: see the findings; restore it from a copy, or remove "
      "what is wrong and import it again");
  return FALSE;
}

const DemurCommand demur_command_verify = {"verify", "check the workspace and every digest in it",
                                           run};
