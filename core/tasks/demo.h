/* The whole path on simulated data: a cohort with two hospitals outside, a selector, thresholds, a
 * report, and twelve phantom chest CTs with scores and verdicts. */
#pragma once

#include "tasks/task.h"

G_BEGIN_DECLS

/* In their order. */
typedef enum {
  DEMUR_DEMO_COHORT,
  DEMUR_DEMO_TRAIN,
  DEMUR_DEMO_TUNE,
  DEMUR_DEMO_REPORT,
  DEMUR_DEMO_STUDIES, /* no command draws them */
  DEMUR_DEMO_IMPORT,
  DEMUR_DEMO_SCORES,
  DEMUR_DEMO_ODD_SCORES,
  DEMUR_DEMO_ASSESS,
  DEMUR_N_DEMO_STEPS,
} DemurDemoStep;

/* Before a step begins. command: the words of `demur` that do the same (owned by the caller); NULL:
 * there are none. */
typedef void (*DemurDemoTold)(DemurDemoStep step, const char *command, gpointer data);

typedef struct {
  const char *folder; /* made if need be; the workspace and everything else lie in it */
  gboolean replace;   /* a workspace that it holds */
  DemurDemoTold told; /* on the calling thread; NULL: nobody listens */
  gpointer data;
} DemurDemoParams;

/* Where things lie, absolute; owned. */
typedef struct {
  char *workspace, *pdf, *json, *dicom, *scores, *odd_scores;
  const char *cohort, *selector; /* their names */
} DemurDemo;

void demur_demo_free(DemurDemo *demo);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurDemo, demur_demo_free)

/* Where the workspace of a demo in folder lies (owned): a demo that is not whole has none. */
char *demur_demo_workspace(const char *folder);

/* Makes it, whole or not at all; the task's workspace is the demo's from then on. NULL with
 * DEMUR_ERROR_EXISTS where the folder holds a workspace and replace is not said, or the step's own
 * error. */
DemurDemo *demur_task_demo(DemurTask *task, const DemurDemoParams *params,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
