/* A report or a patient's page made again from the workspace, and compared with the files. */
#pragma once

#include "report/verify.h"
#include "tasks/task.h"

G_BEGIN_DECLS

typedef struct {
  char *json_path;
  GPtrArray
      *differences; /* of DemurReportDifference; empty: the files are what the workspace gives */
  GPtrArray *since; /* of sentences: what the workspace has learnt since, which is no difference */
  /* Of names of families (report/revisions.h) whose numbers are others by methods defined anew since
   * and were not compared; each is told in since too. */
  GPtrArray *methods_changed;
  gboolean rounded;        /* numbers are equal but for rounding: made on another processor */
  gboolean pages_compared; /* not where words or methods are others: they make other pages */
  char *written_kernel;    /* that the report's numbers were computed with; NULL: not recorded */
  const char *kernel;      /* that they were computed with now */
} DemurReportCheck;

/* The language of that code for the length of the check; NULL with error: there is none. */
typedef const DemurLanguage *(*DemurLanguageOf)(const char *code, GError **error);

/* path: of the PDF, with its JSON beside it. language_of: for pages that are not in English (NULL:
 * their numbers alone are compared). Sets the task's seed to the report's. What differs, or
 * keeps it from being made again, is a difference; NULL with error where the files can't be read.
 */
DemurReportCheck *demur_task_report_verify(DemurTask *task, const char *path,
                                           DemurLanguageOf language_of,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_report_check_free(DemurReportCheck *check);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurReportCheck, demur_report_check_free)

G_END_DECLS
