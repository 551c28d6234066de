/* Bringing a table or a selector file in: what a person said of it, the work, and what came of it
 * in words. */
#pragma once

#include "tasks/file-look.h"
#include "tasks/task.h"

G_BEGIN_DECLS

/* Plain values; texts owned. */
typedef struct {
  DemurFileKind kind; /* scores, cohort or selector */
  char *path;
  char *name;             /* of the cohort or the selector */
  char *model;            /* whose scores these are */
  char *outcome;          /* what a label 1 means; NULL: not said */
  char *split_by;         /* splits to be made; NULL: the table's own */
  int years;              /* of risk and outcome, 1 to 6; 0: as the table says */
  gboolean years_chosen;  /* by the person; else they were proposed */
  gboolean years_of_risk; /* the column of the risk is called after that year */
  gboolean replace;
  char *columns[DEMUR_N_MEANINGS]; /* as the table calls them; NULL: there is none */
} DemurTableImport;

void demur_table_import_free(DemurTableImport *import);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurTableImport, demur_table_import_free)

typedef struct {
  char *sentence;    /* for the reader */
  gboolean is_error; /* nothing could be used */
} DemurTableOutcome;

/* The command that does the same: "scores import". */
const char *demur_table_import_command(const DemurTableImport *import);

void demur_table_outcome_free(DemurTableOutcome *outcome);

/* On a worker's thread. */
DemurTableOutcome *demur_table_import_run(DemurTask *task, const DemurTableImport *import,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
