/* What the window writes and no command does, or in a way of its own: with its own calls, without a screen.
 *
 *   fault-window WORKSPACE opinion SCAN           a reader's opinion
 *   fault-window WORKSPACE worklist FILE.csv      the list as it stands
 *   fault-window WORKSPACE report FILE.pdf SELECTOR COHORT
 *   fault-window WORKSPACE case FILE.pdf SCAN     the patient page
 *   fault-window WORKSPACE measure SCAN DIGEST    a length on its images
 *   fault-window WORKSPACE settings FILE          theme, size and last workspace
 *
 * Ends as the commands do: 0, or 1 with a sentence. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/workstation/settings.h"
#include "base/error.h"
#include "base/program.h"
#include "dicom/library.h"
#include "report/patient.h"
#include "report/report.h"
#include "tasks/annotations.h"
#include "tasks/coverage-study.h"
#include "tasks/meaning.h"
#include "tasks/patient-sheet.h"
#include "tasks/review.h"
#include "ui/scan-list.h"
#include "ui/worker.h"
#include "ui/worklist-export.h"

typedef struct {
  DemurTask *task;
  const char *out;
  char **more;
} Action;

static const DemurScan *
scan_of(const DemurScanTable *table, const char *scan_id, GError **error) {
  const gssize at = demur_scan_table_find(table, NULL, scan_id);
  if (at >= 0)
    return &table->scans[at];
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND, "there is no scan %s", scan_id);
  return NULL;
}

static gboolean
opinion(const Action *action, GError **error) {
  g_autoptr(DemurScanTable) table =
      demur_scan_table_load(action->task->workspace_path, FALSE, NULL, error);
  const DemurScan *scan = table != NULL ? scan_of(table, action->out, error) : NULL;
  return scan != NULL &&
         demur_task_review(action->task, scan, DEMUR_REVIEW_AGREE, "seen", FALSE, error);
}

static gboolean
measure(const Action *action, GError **error) {
  DemurAnnotation length = {.scan_id = (char *)action->out,
                            .images_digest = action->more[0],
                            .kind = DEMUR_ANNOTATION_LENGTH,
                            .plane = DEMUR_DRAWN_ACQUIRED,
                            .slice = 3,
                            .number = 4,
                            .n_slices = 60,
                            .slab = DEMUR_DRAWN_MEAN,
                            .n_places = 2,
                            .x = {10, 20},
                            .y = {10, 30},
                            .value = 12.5,
                            .sd = NAN,
                            .area_mm2 = NAN,
                            .unit = (char *)"mm",
                            .window_width = 1500,
                            .window_level = -600};
  return demur_task_annotate(action->task, &length, error);
}

static gboolean
worklist(const Action *action, GError **error) {
  g_autoptr(DemurScanTable) table =
      demur_scan_table_load(action->task->workspace_path, FALSE, NULL, error);
  if (table == NULL)
    return FALSE;
  g_autoptr(DemurScanList) list = demur_scan_list_new();
  demur_scan_list_set_table(list, table);
  return demur_worklist_export(list, action->out, error);
}

static gboolean
report(const Action *action, GError **error) {
  const DemurCoverageStudyParams params = {.selector = action->more[0], .cohort = action->more[1]};
  g_autoptr(DemurCoverageStudy) study = demur_task_coverage_study(action->task, &params, error);
  DemurReportTask *made = study != NULL ? demur_coverage_study_report(study, 0.9, error) : NULL;
  const gboolean written =
      made != NULL && demur_report_write(&made->input, action->out, NULL, error);
  demur_report_task_free(made);
  return written;
}

static gboolean
patient(const Action *action, GError **error) {
  action->task->opening = DEMUR_WORKSPACE_READ_ONLY;
  const DemurPatientSheetParams params = {.scan_id = action->more[0]};
  return demur_task_patient_sheet_write(action->task, &params, action->out, NULL, error);
}

static gboolean said;

static void
on_message(const char *domain, GLogLevelFlags level, const char *message, gpointer data) {
  said = TRUE;
}

/* That they can't be kept is no reason for the window to stop: what is said of it is an error here. */
static gboolean
settings(const Action *action, GError **error) {
  DemurSettings kept = {.theme = (char *)"light", .width = 1280, .height = 800};
  kept.path = (char *)action->out;
  g_log_set_handler(G_LOG_DOMAIN, G_LOG_LEVEL_MESSAGE, on_message, NULL);
  demur_settings_save(&kept);
  if (said)
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE, "settings can't be kept in %s", action->out);
  return !said;
}

static char *
one_time(void) {
  return g_strdup("2023-11-14T22:13:20Z");
}

int
main(int argc, char **argv) {
  static const struct {
    const char *name;
    int n_more;
    gboolean (*run)(const Action *action, GError **error);
  } actions[] = {{"opinion", 0, opinion}, {"measure", 1, measure}, {"worklist", 0, worklist},
                 {"report", 2, report},   {"case", 1, patient},    {"settings", 0, settings}};
  demur_program_begin("demur");
  setlocale(LC_ALL, "");
  setlocale(LC_NUMERIC, "C");
  g_autoptr(GError) error = NULL;
  for (size_t i = 0; argc >= 4 && i < G_N_ELEMENTS(actions); i++)
    if (strcmp(argv[2], actions[i].name) == 0 && argc == 4 + actions[i].n_more) {
      g_auto(DemurTask) task;
      const DemurProgress progress = {0};
      demur_worker_task_init(&task, argv[1], "reader", &progress);
      task.now = one_time;
      const Action action = {&task, argv[3], argv + 4};
      if (demur_dicom_init(&error) && actions[i].run(&action, &error))
        return 0;
    }
  fprintf(stderr, "demur: %s\n", error != NULL ? error->message : "see window.c for what there is");
  return 1;
}
