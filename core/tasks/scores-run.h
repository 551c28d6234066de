/* Running an external model's command on DICOM series, one at a time, and keeping what it gave. */
#pragma once

#include "store/runs.h"
#include "tasks/task.h"

G_BEGIN_DECLS

typedef struct {
  const char *model;
  const char *model_version; /* where the command's output says none; NULL: not recorded */
  const char
      *command; /* with {series}, a folder of links to just that series' files in slice order,
                 * and {output}, an empty folder for the scores; run without a shell */
  const char *scan_id; /* only this series; NULL: each that is to be assessed and has no score */
  double time_limit;   /* seconds a run may take; 0: any */
  gboolean replace;    /* run on series that have a score too */
} DemurScoresRunParams;

typedef struct {
  GPtrArray *runs; /* of DemurScoreRunRecord, in the order they were run */
  size_t n_scored; /* of them */
  size_t n_before; /* series that had a score, and were left alone */
  GError
      *stopped; /* why nothing further was run: cancelled, or the workspace fails; NULL: all ran */
} DemurScoresRan;

/* A run that gives no score is kept with what it said and stops nothing. NULL with
 * DEMUR_ERROR_USAGE for wrong parameters, DEMUR_ERROR_NOT_FOUND or DEMUR_ERROR_STATE where scan_id
 * is no series to be assessed. */
DemurScoresRan *demur_task_scores_run(DemurTask *task, const DemurScoresRunParams *params,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* How a run ended, as tables and JSON name it: "scored", "failed", "timed out", "cancelled". */
const char *demur_scores_run_outcome(const DemurScoreRunRecord *run);
void demur_scores_ran_free(DemurScoresRan *ran);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurScoresRan, demur_scores_ran_free)

G_END_DECLS
