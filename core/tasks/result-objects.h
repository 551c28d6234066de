/* What was found of one DICOM series, as objects for the archive: what `demur export` and `demur
 * serve` share. */
#pragma once

#include "tasks/task.h"
#include "store/verdicts.h"

G_BEGIN_DECLS

typedef struct {
  gboolean reveal;    /* what is held back is told too */
  const char *remark; /* what a reader must know of this verdict; NULL: nothing */
  const char *logged; /* the format under which it stands in the log as a person's export, in the
                       * transaction that remembers it; NULL: it doesn't */
} DemurReportParams;

/* Writes the structured report of the verdict. One that went out before of the same scan is named
 * as its predecessor, and this one is remembered for the next; *unremembered (may be NULL): the
 * workspace may only be read, so that the next won't name it. DEMUR_ERROR_STATE for a verdict that
 * no longer holds, and as demur_task_reopen. */
gboolean demur_task_result_report(DemurTask *task, const DemurVerdictRecord *verdict,
                                  const DemurReportParams *params, const char *path,
                                  gboolean *unremembered, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Writes a picture of the verdict for viewers that show no report: what the report tells, in words.
 * remark: as above. Errors as above. */
gboolean demur_task_result_picture(DemurTask *task, const DemurVerdictRecord *verdict,
                                   const char *remark, const char *path,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Writes a PDF in an envelope of the scan's study: the file at pdf, or, NULL, the scan's own page
 * as `demur report patient` makes it with the selector (NULL: the only one). created: of the
 * object; NULL: now. DEMUR_ERROR_INPUT where there is no PDF to wrap. */
gboolean demur_task_result_pdf(DemurTask *task, const char *scan_id, const char *selector,
                               const char *pdf, const char *created, const char *path,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
