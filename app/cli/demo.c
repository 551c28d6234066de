/* demur demo DIR: the whole path on simulated scans and a phantom chest CT. */
#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "app/cli/command.h"
#include "base/file-output.h"
#include "tasks/demo-studies.h"
#include "base/number.h"

#include "dicom/library.h"
#include "dicom/phantom.h"

#define COHORT "nlst-simulated"
#define SELECTOR "as-published"
#define MODEL "simulated-cnn"

/* Says the command and runs it in this process. */
static gboolean
run_step(DemurContext *context, const DemurCommand *command, GError **error, ...) {
  g_autoptr(GPtrArray) words = g_ptr_array_new();
  g_ptr_array_add(words, (gpointer)command->name);
  va_list list;
  va_start(list, error);
  for (const char *word; (word = va_arg(list, const char *)) != NULL;)
    g_ptr_array_add(words, (gpointer)word);
  va_end(list);
  if (!context->json) {
    g_print("\n$ demur");
    for (guint i = 0; i < words->len; i++)
      g_print(" %s", (const char *)words->pdata[i]);
    g_print("\n");
  }
  g_ptr_array_add(words, NULL);
  return command->run(context, (int)words->len - 1, (char **)words->pdata, error);
}

static gboolean
prepare_folder(DemurContext *context, const char *folder, gboolean replace, GError **error) {
  if (!demur_folder_make(folder, error))
    return FALSE;
  g_free(context->task.workspace_path);
  context->task.workspace_path = g_build_filename(folder, "workspace.demur", NULL);
  if (!g_file_test(context->task.workspace_path, G_FILE_TEST_EXISTS))
    return TRUE;
  if (!replace) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS,
                "%s holds a workspace already; give another folder, or say --replace to make the "
                "demo anew",
                folder);
    return FALSE;
  }
  static const char *const endings[] = {"", "-wal", "-shm"};
  for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
    g_autofree char *path = g_strconcat(context->task.workspace_path, endings[i], NULL);
    if (g_unlink(path) != 0 && errno != ENOENT) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%s can't be removed: %s", path,
                  g_strerror(errno));
      return FALSE;
    }
  }
  return TRUE;
}

/* The steps print documents of their own in --json mode; the demo's one document is where the
 * results lie. */
static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  gboolean replace = FALSE;
  g_auto(GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
      {"replace", 0, 0, G_OPTION_ARG_NONE, &replace, "make it anew where there is one", NULL},
      {NULL}};
  if (!demur_command_parse(argc, argv, "DIR", "the whole path on simulated data", NULL, entries,
                           &arguments, error) ||
      !demur_command_expect(arguments, 1, "demo takes one folder", error) ||
      !prepare_folder(context, arguments[0], replace, error))
    return FALSE;
  const gboolean json = context->json;
  const gint64 started = g_get_monotonic_time();
  g_autofree char *pdf = g_build_filename(arguments[0], "report.pdf", NULL);
  g_autofree char *scores = g_build_filename(arguments[0], "phantom-scores.csv", NULL);
  g_autofree char *dicom = g_build_filename(arguments[0], "dicom", NULL);
  g_autofree char *odd = g_build_filename(arguments[0], "phantom-scores-other-width.csv", NULL);
  const DemurDemoStudiesParams studies = {SELECTOR, COHORT, dicom, scores, odd};
  if (!json)
    g_print("Everything here is simulated: no scan, patient or hospital is real.\n");
  context->json = FALSE;
  if (json && !demur_context_mute(error))
    return FALSE;
  gboolean ok =
      run_step(context, &demur_command_cohort, error, "simulate", COHORT, NULL) &&
      run_step(context, &demur_command_train, error, SELECTOR, "--cohort", COHORT, "--as-published",
               NULL) &&
      run_step(context, &demur_command_tune, error, SELECTOR, "--cohort", COHORT, "--coverage",
               "0.5,0.7,0.9", NULL) &&
      run_step(context, &demur_command_evaluate, error, "--selector", SELECTOR, "--cohort", COHORT,
               NULL) &&
      run_step(context, &demur_command_report, error, pdf, "--selector", SELECTOR, "--cohort",
               COHORT, NULL) &&
      demur_task_demo_studies(&context->task, &studies, error) &&
      run_step(context, &demur_command_dicom, error, "import", dicom, NULL) &&
      run_step(context, &demur_command_scores, error, "import", scores, "--model", MODEL, NULL) &&
      run_step(context, &demur_command_scores, error, "import", odd, "--model", MODEL, NULL) &&
      run_step(context, &demur_command_assess, error, SELECTOR, "--all", NULL) &&
      run_step(context, &demur_command_verify, error, NULL);
  context->json = json;
  if (json)
    demur_context_unmute();
  if (!ok)
    return FALSE;
  const double seconds = (double)(g_get_monotonic_time() - started) / G_USEC_PER_SEC;
  if (json) {
    DemurJson *document = demur_json_new();
    demur_json_begin_object(document, NULL);
    demur_json_string(document, "workspace", context->task.workspace_path);
    demur_json_string(document, "pdf", pdf);
    demur_json_string(document, "dicom", dicom);
    demur_json_string(document, "scores", scores);
    demur_json_string(document, "cohort", COHORT);
    demur_json_string(document, "selector", SELECTOR);
    demur_json_bool(document, "simulated", TRUE);
    demur_json_int(document, "seed", (gint64)context->task.seed);
    demur_json_double(document, "seconds", seconds);
    demur_json_end_object(document);
    demur_context_print_json(context, document);
    return TRUE;
  }
  const char *program = context->program != NULL ? context->program : "demur";
  g_print("\nDone in %.0f s, on simulated data throughout.\n"
          "  workspace  %s\n  report     %s\n  numbers    %.*s.json\n  phantom CT %s\n"
          "Go on: %s --workspace %s assess %s --cohort %s\n"
          "  and: %s-workstation --workspace %s\n",
          seconds, context->task.workspace_path, pdf, (int)strlen(pdf) - 4, pdf, dicom, program,
          context->task.workspace_path, SELECTOR, COHORT, program, context->task.workspace_path);
  return TRUE;
}

const DemurCommand demur_command_demo = {"demo", "the whole path on simulated data", run};
