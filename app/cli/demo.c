/* demur demo DIR: the whole path on simulated scans and phantom chest CTs. */
#include <stdio.h>

#include "app/cli/command.h"
#include "tasks/demo.h"

static void
say_step(DemurDemoStep step, const char *command, gpointer data) {
  if (command != NULL)
    g_print("$ demur %s\n", command);
  else
    g_print("  (drawing 12 phantom chest CTs)\n");
  fflush(stdout); /* whoever reads along sees each step when it begins */
}

static void
print_json(DemurContext *context, const DemurDemo *demo, double seconds) {
  DemurJson *document = demur_json_new();
  demur_json_begin_object(document, NULL);
  demur_json_string(document, "workspace", demo->workspace);
  demur_json_string(document, "pdf", demo->pdf);
  demur_json_string(document, "dicom", demo->dicom);
  demur_json_string(document, "scores", demo->scores);
  demur_json_string(document, "cohort", demo->cohort);
  demur_json_string(document, "selector", demo->selector);
  demur_json_bool(document, "simulated", TRUE);
  demur_json_int(document, "seed", (gint64)context->task.seed);
  demur_json_double(document, "seconds", seconds);
  demur_json_end_object(document);
  demur_context_print_json(context, document);
}

/* Runs `demur COMMAND` in this process, so that what the demo made is seen. */
static gboolean
show(DemurContext *context, const DemurCommand *command, char **words, GError **error) {
  g_autofree char *line = g_strjoinv(" ", words);
  g_print("\n$ demur %s\n", line);
  context->command = command;
  return command->run(context, (int)g_strv_length(words), words, error);
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  DemurDemoParams params = {0};
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {{"replace", 0, 0, G_OPTION_ARG_NONE, &params.replace,
                                   "make it anew where there is one", NULL},
                                  {NULL}};
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error) ||
      !demur_command_expect(arguments, 1, "demo takes one folder", error))
    return FALSE;
  params.folder = arguments[0];
  if (!context->json) {
    params.told = say_step;
    g_print("Everything here is simulated: no scan, patient or hospital is real.\n");
  }
  const gint64 started = g_get_monotonic_time();
  g_autoptr(DemurDemo) demo = demur_task_demo(&context->task, &params, error);
  if (demo == NULL)
    return FALSE;
  const double seconds = (double)(g_get_monotonic_time() - started) / G_USEC_PER_SEC;
  if (context->json) {
    print_json(context, demo, seconds);
    return TRUE;
  }
  char *assess[] = {(char *)"assess", (char *)demo->selector, (char *)"--all", NULL};
  char *verify[] = {(char *)"verify", NULL};
  if (!show(context, &demur_command_assess, assess, error) ||
      !show(context, &demur_command_verify, verify, error))
    return FALSE;
  const char *program = context->program != NULL ? context->program : "demur";
  g_print("\nDone in %.0f s, on simulated data throughout.\n"
          "  workspace  %s\n  report     %s\n  numbers    %s\n  phantom CT %s\n"
          "Go on: %s --workspace %s assess %s --cohort %s\n"
          "  and: %s-workstation --workspace %s\n",
          seconds, demo->workspace, demo->pdf, demo->json, demo->dicom, program, demo->workspace,
          demo->selector, demo->cohort, program, demo->workspace);
  return TRUE;
}

const DemurCommand demur_command_demo = {
    .name = "demo", .parameters = "DIR", .summary = "the whole path on simulated data", .run = run};
