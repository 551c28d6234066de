/* Verdicts out of the workspace for other programs: the newest one of each scan as CSV or JSON; one
 * scan's result as a DICOM structured report, or a PDF in a DICOM envelope. */
#pragma once

#include "tasks/task.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_EXPORT_CSV,
  DEMUR_EXPORT_JSON,
  DEMUR_EXPORT_REPORT, /* a DICOM structured report */
  DEMUR_EXPORT_PDF,    /* a PDF in a DICOM envelope */
  DEMUR_N_EXPORTS,
} DemurExportFormat;

/* "csv", "json", "sr", "pdf". */
const char *demur_export_format_name(DemurExportFormat format);
/* By its name; name NULL: by the ending of path (.csv, .json, .dcm). FALSE: neither says one. */
gboolean demur_export_format_find(const char *name, const char *path,
                                  DemurExportFormat *format) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  const char *path;
  DemurExportFormat format;
  const char *scan_id;  /* of this scan alone; a DICOM object is of one. NULL: of all */
  const char *selector; /* by this one alone; NULL: by any */
  const char *cohort;   /* NULL: of DICOM series */
  const char *pdf;      /* the file that goes into the envelope; NULL: the scan's page */
  gboolean reveal;      /* tell the risks that are held back too */
} DemurVerdictExportParams;

typedef struct {
  guint n;                 /* verdicts that went out */
  gboolean not_remembered; /* the workspace can only be read: a later report won't name this one */
} DemurVerdictExported;

/* Writes the file whole or not at all, and keeps in the log that it went out. DEMUR_ERROR_NOT_FOUND
 * where there is no such verdict, DEMUR_ERROR_STATE where it is out of date and would go out as a
 * report. */
gboolean demur_task_verdict_export(DemurTask *task, const DemurVerdictExportParams *params,
                                   DemurVerdictExported *exported,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
