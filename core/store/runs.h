/* Runs of an external model's command on a scan, whether they gave a score or not: what was run,
 * how it ended and what it said. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_RUN_SCORED,
  DEMUR_RUN_FAILED,
  DEMUR_RUN_TIMED_OUT,
  DEMUR_RUN_CANCELLED,
} DemurRunOutcome;

/* "scored", "failed", "timed out", "cancelled". */
const char *demur_run_outcome_name(DemurRunOutcome outcome);

typedef struct {
  gint64 id; /* set when loaded; grows with time */
  char *scan_id, *model;
  char *command;   /* as it was run */
  int exit_status; /* of the command; -1 where a signal ended it or it never began */
  DemurRunOutcome outcome;
  char *message;    /* why there is no score; NULL where there is */
  char *stderr_end; /* UTF-8, the end of what it wrote there */
  double seconds;   /* it took */
  char *created;
} DemurScoreRunRecord;

void demur_score_run_record_free(DemurScoreRunRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurScoreRunRecord, demur_score_run_record_free)

/* Keeps the run; its id is not read. */
gboolean demur_score_runs_add(DemurWorkspace *workspace, const DemurScoreRunRecord *record,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurScoreRunRecord, newest first (owned). NULL: of every scan; of every model. */
GPtrArray *demur_score_runs_list(DemurWorkspace *workspace, const char *scan_id, const char *model,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
