/* demur demo DIR: the whole path on simulated scans and a phantom chest CT. */
#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "app/cli/command.h"
#include "base/file-output.h"
#include "base/private-folder.h"
#include "tasks/demo-studies.h"

#define WORKSPACE "workspace.demur"
#define REPORT "report"
#define STUDIES "dicom"
#define SCORES "phantom-scores.csv"
#define ODD_SCORES "phantom-scores-other-width.csv"
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

/* Where the demo is made, and where it then lies: beside whatever stood there, until all of it is
 * whole. */
typedef struct {
  DemurPrivateFolder *stage; /* in the demo's folder; the working folder while the steps run */
  char *folder;              /* absolute */
  char *studies;             /* the DICOM files' own folder, under its final name: the workspace
                                keeps their paths */
  gboolean finished;
} Making;

static void
making_clear(Making *making) {
  if (making->stage != NULL && g_chdir(making->folder) == 0 && !making->finished)
    demur_task_demo_studies_remove(making->studies);
  demur_private_folder_free(making->stage);
  g_free(making->folder);
  g_free(making->studies);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Making, making_clear)

/* The nth folder of studies (from 1) below the demo's; owned. */
static char *
studies_folder(const char *folder, guint n) {
  g_autofree char *name = n > 1 ? g_strdup_printf(STUDIES "-%u", n) : g_strdup(STUDIES);
  return g_build_filename(folder, name, NULL);
}

static gboolean
prepare(DemurContext *context, const char *folder, gboolean replace, Making *making,
        GError **error) {
  g_autofree char *workspace = g_build_filename(folder, WORKSPACE, NULL);
  if (!demur_folder_make(folder, error))
    return FALSE;
  if (!replace && g_file_test(workspace, G_FILE_TEST_EXISTS)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS,
                "%s holds a workspace already; give another folder, or say --replace to make the "
                "demo anew",
                folder);
    return FALSE;
  }
  making->folder = g_canonicalize_filename(folder, NULL);
  making->stage = demur_private_folder_make(making->folder, ".demur-demo-", error);
  if (making->stage == NULL)
    return FALSE;
  guint n = 1;
  making->studies = studies_folder(making->folder, n);
  while (g_file_test(making->studies, G_FILE_TEST_EXISTS)) {
    g_free(making->studies);
    making->studies = studies_folder(making->folder, ++n);
  }
  if (g_chdir(demur_private_folder_path(making->stage)) != 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_OUTPUT, "%s can't be entered: %s", folder,
                g_strerror(errno));
    return FALSE;
  }
  g_free(context->task.workspace_path);
  context->task.workspace_path = g_strdup(WORKSPACE);
  return TRUE;
}

/* Everything gets its final name, the workspace last; then the studies of demos before go. */
static gboolean
put_in_place(DemurContext *context, Making *making, GError **error) {
  static const char *const files[] = {REPORT ".pdf", REPORT ".json", SCORES, ODD_SCORES};
  for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
    g_autofree char *path = g_build_filename(making->folder, files[i], NULL);
    if (!demur_file_put(files[i], path, DEMUR_FILE_REPLACE, error))
      return FALSE;
  }
  g_autofree char *workspace = g_build_filename(making->folder, WORKSPACE, NULL);
  if (!demur_task_put_workspace(&context->task, workspace, error))
    return FALSE;
  making->finished = TRUE;
  for (guint n = 1, n_missing = 0; n_missing < 10; n++) {
    g_autofree char *studies = studies_folder(making->folder, n);
    n_missing = g_file_test(studies, G_FILE_TEST_EXISTS) ? 0 : n_missing + 1;
    if (strcmp(studies, making->studies) != 0)
      demur_task_demo_studies_remove(studies);
  }
  return TRUE;
}

/* The steps print documents of their own in --json mode; the demo's one document is where the
 * results lie. */
static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  gboolean replace = FALSE;
  g_auto(GStrv) arguments = NULL;
  g_auto(Making) making = {0};
  const GOptionEntry entries[] = {
      {"replace", 0, 0, G_OPTION_ARG_NONE, &replace, "make it anew where there is one", NULL},
      {NULL}};
  if (!demur_command_parse(argc, argv, "DIR", "the whole path on simulated data", NULL, entries,
                           &arguments, error) ||
      !demur_command_expect(arguments, 1, "demo takes one folder", error) ||
      !prepare(context, arguments[0], replace, &making, error))
    return FALSE;
  const gboolean json = context->json;
  const gint64 started = g_get_monotonic_time();
  const DemurDemoStudiesParams studies = {SELECTOR, COHORT, making.studies, SCORES, ODD_SCORES};
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
      run_step(context, &demur_command_report, error, REPORT ".pdf", "--selector", SELECTOR,
               "--cohort", COHORT, NULL) &&
      demur_task_demo_studies(&context->task, &studies, error) &&
      run_step(context, &demur_command_dicom, error, "import", making.studies, NULL) &&
      run_step(context, &demur_command_scores, error, "import", SCORES, "--model", MODEL, NULL) &&
      run_step(context, &demur_command_scores, error, "import", ODD_SCORES, "--model", MODEL,
               NULL) &&
      run_step(context, &demur_command_assess, error, SELECTOR, "--all", NULL) &&
      run_step(context, &demur_command_verify, error, NULL) &&
      put_in_place(context, &making, error);
  context->json = json;
  if (json)
    demur_context_unmute();
  if (!ok)
    return FALSE;
  const double seconds = (double)(g_get_monotonic_time() - started) / G_USEC_PER_SEC;
  g_autofree char *workspace = g_build_filename(arguments[0], WORKSPACE, NULL);
  g_autofree char *report = g_build_filename(arguments[0], REPORT, NULL);
  g_autofree char *scores = g_build_filename(arguments[0], SCORES, NULL);
  if (json) {
    g_autofree char *pdf = g_strconcat(report, ".pdf", NULL);
    DemurJson *document = demur_json_new();
    demur_json_begin_object(document, NULL);
    demur_json_string(document, "workspace", workspace);
    demur_json_string(document, "pdf", pdf);
    demur_json_string(document, "dicom", making.studies);
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
          "  workspace  %s\n  report     %s.pdf\n  numbers    %s.json\n  phantom CT %s\n"
          "Go on: %s --workspace %s assess %s --cohort %s\n"
          "  and: %s-workstation --workspace %s\n",
          seconds, workspace, report, report, making.studies, program, workspace, SELECTOR, COHORT,
          program, workspace);
  return TRUE;
}

const DemurCommand demur_command_demo = {"demo", "the whole path on simulated data", run};
