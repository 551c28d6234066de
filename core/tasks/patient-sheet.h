/* One scan's page: its verdict, image, and what its risk means, gathered from the workspace. */
#pragma once

#include "report/patient.h"
#include "tasks/task.h"

G_BEGIN_DECLS

typedef struct {
  const char *selector; /* NULL: the only one there is */
  const char *scan_id;
  const char *cohort, *split; /* with known outcomes; cohort NULL: none, split NULL: test */
  const char *coverage;       /* of the threshold, as written; NULL: the current one */
  DemurPaper paper;
  /* To make a page again: the verdict given then, and the head that was printed; NULL: of now. */
  const char *assessed, *log_head;
  /* Of every text of the sheet; NULL: English. */
  const DemurLanguage *language;
  const char *page_language; /* of the page beside it, which its numbers name; NULL: English */
  gboolean
      logged; /* that the scan was looked at is kept before the page is there, where a site wants
                    * that; FALSE: whoever asks has kept it, as the window when it showed the scan */
} DemurPatientSheetParams;

typedef struct {
  DemurPatientInput input;
  GPtrArray *owned; /* what the input points to */
} DemurPatientSheet;

/* The verdict that the workspace keeps of the scan (of the cohort, or a DICOM series), the newest, by
 * the selector where one is named, and whether it still holds, as the window shows it; its image,
 * and what the cohort says of such risks. Where none is kept, or another threshold is asked for, one
 * is given for the page, which says so; DEMUR_ERROR_STATE where that would tell a risk that the
 * newest one that is kept holds back. */
DemurPatientSheet *demur_task_patient_sheet(DemurTask *task, const DemurPatientSheetParams *params,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Writes the page in params->language and its numbers, which are in English, beside it. *numbers
 * (NULL: not wanted) gets what they were written from. */
gboolean demur_task_patient_sheet_write(DemurTask *task, const DemurPatientSheetParams *params,
                                        const char *path, DemurPatientSheet **numbers,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_patient_sheet_free(DemurPatientSheet *page);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurPatientSheet, demur_patient_sheet_free)

G_END_DECLS
