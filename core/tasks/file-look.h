/* What a file from outside is, before anything is done with it: images, a workspace, a selector, or
 * a table of scores, of a cohort or of labels, told apart by what stands in it and never by its
 * name. For a person who drops it on the window: looked at, corrected, then imported. */
#pragma once

#include <glib.h>

#include "cohort/cohort.h"
#include "cohort/column-guess.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_FILE_IMAGES,    /* a folder, an archive, or no text: the DICOM import says what is in it */
  DEMUR_FILE_WORKSPACE, /* SQLite */
  DEMUR_FILE_SELECTOR,  /* demur selector export */
  DEMUR_FILE_SCORES, /* JSON, or a table with a scan's name and a risk, without outcome and site */
  DEMUR_FILE_COHORT, /* a table with risk and label */
  DEMUR_FILE_LABELS, /* a table with scans, a site and labels, without a risk (an audit's) */
  DEMUR_FILE_TABLE,  /* any other table: a person says what it is */
} DemurFileKind;

#define DEMUR_LOOK_ROWS 5 /* that are shown */

typedef struct {
  DemurFileKind kind;
  gboolean is_json;
  size_t n_columns;                 /* of a table; 0: none */
  char **columns;                   /* [n_columns], NULL-terminated: the first line */
  size_t n_rows;                    /* that were read, DEMUR_LOOK_ROWS at most */
  char **rows[DEMUR_LOOK_ROWS];     /* [n_columns] each, NULL-terminated; short rows filled up */
  gssize at[DEMUR_N_MEANINGS];      /* cohort/column-guess.h */
  gboolean has_outputs;             /* risk_year_6 or prob_0 ..: no column risk is needed */
  gboolean has_year[DEMUR_N_YEARS]; /* risk_year_1 .. */
  gboolean has_follow_up;           /* years_to_cancer and years_of_followup */
  gboolean has_horizon;             /* outcome_horizon: the table says it itself */
} DemurFileLook;

/* Reads no more than the first bytes or lines. NULL with DEMUR_ERROR_INPUT where a text is no table
 * (the fault with its line) or one in another encoding or a spreadsheet's own, DEMUR_ERROR_NOT_FOUND where there is no such file. */
DemurFileLook *demur_task_file_look(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Years of risk and outcome that a person likely means (DemurCohortImportParams.horizon_years), to be
 * looked at and corrected; 0: those that the table tells itself. */
int demur_file_look_years(const DemurFileLook *look);
void demur_file_look_free(DemurFileLook *look);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurFileLook, demur_file_look_free)

G_END_DECLS
