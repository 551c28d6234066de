/* demur selector list / show / export / import / remove. */
#include <string.h>

#include "app/cli/command.h"
#include "base/file-output.h"
#include "tasks/selection.h"
#include "selector/coverage.h"

/* What was done, as the one document of --json. */
static void
print_done(DemurContext *context, const char *what, const char *name, const DemurSelector *s,
           const char *file) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, what, name);
  if (s != NULL) {
    demur_json_string(json, "digest", demur_selector_digest(s));
    demur_json_bool(json, "simulated", demur_selector_is_simulated(s));
    demur_json_string(json, "file", file);
  }
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static gboolean
run_list(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  if (!demur_command_parse(argc, argv, "", "the selectors of the workspace", NULL, NULL, &arguments,
                           error) ||
      !demur_command_expect(arguments, 0, "selector list takes no words", error))
    return FALSE;
  DemurWorkspace *workspace = demur_task_workspace(&context->task, error);
  g_autoptr(GPtrArray) selectors =
      workspace != NULL ? demur_selectors_list(workspace, error) : NULL;
  if (selectors == NULL)
    return FALSE;
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_begin_array(json, "selectors");
  for (guint i = 0; i < selectors->len; i++) {
    const DemurSelectorRecord *s = selectors->pdata[i];
    g_autoptr(GPtrArray) thresholds = demur_thresholds_list(workspace, s->name, error);
    if (thresholds == NULL) {
      demur_json_free(json);
      return FALSE;
    }
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "name", s->name);
    demur_json_string(json, "cohort", s->cohort);
    demur_json_string(json, "model", s->model);
    demur_json_string(json, "digest", s->digest);
    demur_json_bool(json, "simulated", s->simulated);
    demur_json_string(json, "created", s->created);
    demur_json_begin_array(json, "coverages");
    for (guint t = 0; t < thresholds->len; t++)
      demur_json_double(json, NULL, ((DemurThresholdRecord *)thresholds->pdata[t])->coverage);
    demur_json_end_array(json);
    demur_json_end_object(json);
    if (!context->json)
      g_print("%-20s model %s, trained on '%s'%s, %u thresholds, digest %.12s\n", s->name, s->model,
              s->cohort, s->simulated ? " (simulated data)" : "", thresholds->len, s->digest);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  if (context->json)
    demur_context_print_json(context, json);
  else
    demur_json_free(json);
  if (!context->json && selectors->len == 0)
    g_print("There is no selector yet: demur train NAME --cohort C\n");
  return TRUE;
}

static void
show_json(DemurContext *context, const DemurSelector *s, const DemurSelectorRecord *record,
          const GPtrArray *thresholds) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "name", record->name);
  demur_json_string(json, "digest", demur_selector_digest(s));
  demur_json_bool(json, "simulated", demur_selector_is_simulated(s));
  demur_json_string(json, "model", demur_selector_model(s));
  demur_json_int(json, "n_classes", (gint64)demur_selector_n_classes(s));
  demur_json_int(json, "embedding_width", (gint64)demur_selector_embedding_width(s));
  demur_json_int(json, "seed", (gint64)demur_selector_seed(s));
  demur_json_string(json, "cohort", demur_selector_cohort(s));
  demur_json_string(json, "cohort_digest", demur_selector_cohort_digest(s));
  demur_json_string(json, "created", record->created);
  demur_train_settings_write_json(demur_selector_settings(s), json, "settings");
  demur_json_begin_array(json, "parts");
  for (size_t p = 0; p < demur_selector_n_parts(s); p++) {
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "role", demur_selector_part(s, p)->role);
    demur_json_string(json, "split", demur_selector_part(s, p)->split);
    demur_json_int(json, "n_scans", (gint64)demur_selector_part(s, p)->n_scans);
    demur_json_int(json, "n_patients", (gint64)demur_selector_part(s, p)->n_patients);
    demur_json_int(json, "n_sites", (gint64)demur_selector_part(s, p)->n_sites);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_begin_array(json, "meta_features");
  for (size_t c = 0; c < demur_selector_n_inputs(s); c++)
    demur_json_string(json, NULL, demur_selector_input_name(s, c));
  demur_json_end_array(json);
  demur_json_int(json, "models", (gint64)demur_selector_n_models(s));
  demur_json_begin_array(json, "kept_epochs");
  for (size_t m = 0; m < demur_selector_n_models(s); m++)
    for (size_t i = 0; i < demur_selector_n_networks(s); i++)
      demur_json_int(json, NULL, demur_selector_epoch(s, m, i));
  demur_json_end_array(json);
  if (demur_selector_recalibration(s) != NULL)
    demur_recalibration_write_json(demur_selector_recalibration(s), json, "recalibration");
  else
    demur_json_null(json, "recalibration");
  g_autofree char *validation = demur_task_validation_sentence(&context->task, record->name);
  demur_json_string(json, "validation", validation);
  demur_json_begin_array(json, "thresholds");
  for (guint t = 0; t < thresholds->len; t++) {
    const DemurThresholdRecord *threshold = thresholds->pdata[t];
    g_autofree char *sentence = demur_tuning_read_sentence(threshold->guarantee);
    demur_json_begin_object(json, NULL);
    demur_json_double(json, "coverage", threshold->coverage);
    demur_json_double(json, "threshold", threshold->threshold);
    demur_json_double(json, "realised", threshold->realised);
    demur_json_int(json, "n_scans", (gint64)threshold->n_scans);
    demur_json_int(json, "n_patients", (gint64)threshold->n_patients);
    demur_json_string(json, "cohort", threshold->cohort);
    demur_json_string(json, "split", threshold->split);
    demur_json_string(json, "guarantee", sentence);
    demur_json_string(json, "created", threshold->created);
    demur_json_bool(json, "current", t + 1 == thresholds->len);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static gboolean
run_show(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  if (!demur_command_parse(argc, argv, "SELECTOR", "what a selector is and came from", NULL, NULL,
                           &arguments, error) ||
      !demur_command_expect(arguments, 1, "selector show takes the name of one selector", error))
    return FALSE;
  g_autoptr(DemurSelectorRecord) record = NULL;
  g_autoptr(DemurSelector) s =
      demur_task_load_selector(&context->task, arguments[0], &record, error);
  DemurWorkspace *workspace = demur_task_workspace(&context->task, error);
  g_autoptr(GPtrArray) thresholds =
      s != NULL && workspace != NULL ? demur_thresholds_list(workspace, arguments[0], error) : NULL;
  if (thresholds == NULL)
    return FALSE;
  if (context->json) {
    show_json(context, s, record, thresholds);
    return TRUE;
  }
  g_autofree char *resample = demur_train_settings_resample_text(demur_selector_settings(s));
  g_autofree char *features = demur_train_settings_features_text(demur_selector_settings(s));
  g_print("Selector '%s'%s\n  model %s, %zu classes, embedding width %zu, seed %" G_GUINT64_FORMAT
          ", %s\n  trained on cohort '%s', %s\n",
          record->name, demur_selector_is_simulated(s) ? " (simulated data)" : "",
          demur_selector_model(s), demur_selector_n_classes(s), demur_selector_embedding_width(s),
          demur_selector_seed(s),
          demur_selector_settings(s)->as_published ? "as published" : "not the published settings",
          demur_selector_cohort(s), record->created);
  for (size_t p = 0; p < demur_selector_n_parts(s); p++)
    g_print("  %-11s %zu scans of %zu patients at %zu sites (%s)\n",
            demur_selector_part(s, p)->role, demur_selector_part(s, p)->n_scans,
            demur_selector_part(s, p)->n_patients, demur_selector_part(s, p)->n_sites,
            demur_selector_part(s, p)->split);
  g_print("  resample %s, features %s, %zu models, kept epochs", resample, features,
          demur_selector_n_models(s));
  for (size_t m = 0; m < demur_selector_n_models(s); m++)
    for (size_t i = 0; i < demur_selector_n_networks(s); i++)
      g_print(" %" G_GINT64_FORMAT, demur_selector_epoch(s, m, i));
  g_autofree char *untrained = demur_selector_untrained_sentence(s);
  g_print("\n%s%s%s", untrained != NULL ? "  Warning: " : "", untrained != NULL ? untrained : "",
          untrained != NULL ? ".\n" : "");
  for (guint t = 0; t < thresholds->len; t++) {
    const DemurThresholdRecord *threshold = thresholds->pdata[t];
    g_autofree char *sentence = demur_tuning_read_sentence(threshold->guarantee);
    g_print("  coverage %-6g threshold %.6f, realised %.4f on '%s' of '%s'%s\n    %s\n",
            threshold->coverage, threshold->threshold, threshold->realised, threshold->split,
            threshold->cohort, t + 1 == thresholds->len ? " (current)" : "",
            sentence != NULL ? sentence : "");
  }
  g_autofree char *validation = demur_task_validation_sentence(&context->task, arguments[0]);
  g_print("  %s\n  digest %s\n", validation, demur_selector_digest(s));
  return TRUE;
}

static gboolean
run_export(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  if (!demur_command_parse(argc, argv, "SELECTOR FILE.json", "write a selector's file", NULL, NULL,
                           &arguments, error) ||
      !demur_command_expect(arguments, 2, "selector export takes SELECTOR FILE", error))
    return FALSE;
  demur_context_take_stdout(arguments[1]);
  g_autoptr(DemurSelectorRecord) record = NULL;
  g_autoptr(DemurSelector) s =
      demur_task_load_selector(&context->task, arguments[0], &record, error);
  if (s == NULL || !demur_file_write(arguments[1], record->document, -1,
                                     DEMUR_FILE_REPLACE | DEMUR_FILE_PUBLIC, error))
    return FALSE;
  if (context->json)
    print_done(context, "exported", arguments[0], s, arguments[1]);
  else
    g_print("Selector '%s' written, digest %s\n", arguments[0], demur_selector_digest(s));
  return TRUE;
}

static gboolean
run_import(DemurContext *context, int argc, char **argv, GError **error) {
  gboolean replace = FALSE;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"replace", 0, 0, G_OPTION_ARG_NONE, &replace, "replace a selector of that name", NULL},
      {NULL}};
  if (!demur_command_parse(argc, argv, "SELECTOR FILE.json", "read a selector's file", NULL,
                           entries, &arguments, error) ||
      !demur_command_expect(arguments, 2, "selector import takes SELECTOR FILE", error) ||
      !demur_command_check_name("selector", arguments[0], error))
    return FALSE;
  g_autofree char *text = NULL;
  gsize length;
  if (!g_file_get_contents(arguments[1], &text, &length, error))
    return FALSE;
  g_autofree char *file = g_path_get_basename(arguments[1]);
  g_autoptr(DemurSelector) s = demur_selector_from_json(text, (gssize)length, file, error);
  DemurWorkspace *workspace = s != NULL ? demur_task_workspace(&context->task, error) : NULL;
  if (workspace == NULL)
    return FALSE;
  g_autofree char *document = demur_selector_to_json(s);
  g_autofree char *now = demur_task_now(&context->task);
  const DemurSelectorRecord record = {.name = arguments[0],
                                      .document = document,
                                      .digest = (char *)demur_selector_digest(s),
                                      .cohort = (char *)demur_selector_cohort(s),
                                      .cohort_digest = (char *)demur_selector_cohort_digest(s),
                                      .model = (char *)demur_selector_model(s),
                                      .simulated = demur_selector_is_simulated(s),
                                      .created = now};
  if (!demur_selectors_save(workspace, &record, replace, error))
    return FALSE;
  if (context->json)
    print_done(context, "imported", arguments[0], s, arguments[1]);
  else
    g_print("Selector '%s' read, digest %s; it is not tuned yet\n", arguments[0],
            demur_selector_digest(s));
  return TRUE;
}

static gboolean
run_remove(DemurContext *context, int argc, char **argv, GError **error) {
  gboolean force = FALSE;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {{"force", 0, 0, G_OPTION_ARG_NONE, &force,
                                   "even where verdicts were made by it; these stay", NULL},
                                  {NULL}};
  if (!demur_command_parse(argc, argv, "SELECTOR", "remove a selector and its thresholds", NULL,
                           entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "selector remove takes the name of one selector", error))
    return FALSE;
  DemurWorkspace *workspace = demur_task_workspace(&context->task, error);
  if (workspace == NULL || !demur_selectors_remove(workspace, arguments[0], force, error))
    return FALSE;
  if (context->json)
    print_done(context, "removed", arguments[0], NULL, NULL);
  else
    g_print("Selector '%s' and its thresholds removed\n", arguments[0]);
  return TRUE;
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  static const DemurCommand list[] = {
      {"list", "the selectors of the workspace", run_list},
      {"show", "what a selector is and came from", run_show},
      {"export", "write a selector's file", run_export},
      {"import", "read a selector's file", run_import},
      {"remove", "remove a selector and its thresholds", run_remove},
  };
  return demur_command_dispatch(context, list, G_N_ELEMENTS(list), argc, argv, error);
}

const DemurCommand demur_command_selector = {"selector", "list, show, export or import selectors",
                                             run};
