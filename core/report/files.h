/* A report is two files, the PDF and the JSON with its numbers: how they are written together, and
 * how the JSON says what it was made of. */
#pragma once

#include "base/json-writer.h"
#include "report/report.h"

G_BEGIN_DECLS

/* A report's numbers are of groups; a patient's page is for its owner alone. */
typedef enum {
  DEMUR_REPORT_FOR_ALL,   /* as far as the umask allows */
  DEMUR_REPORT_FOR_OWNER, /* rights 0600 */
} DemurReportReaders;

/* Whether path and the JSON beside it can be written: what can be said before anything is
 * computed. */
gboolean demur_report_check_files(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Brings both files to the disk, then gives them their names (base/file-output.h): the JSON first,
 * so that a PDF of that name never lacks its numbers. Only a kill or a fault of the disk between
 * the two leaves the JSON of one report beside the PDF of another; the PDF names the digest of its
 * JSON, so `demur report verify` says so. */
gboolean demur_report_files_write(const char *path, const guchar *pdf, size_t n, const char *json,
                                  DemurReportReaders readers,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What a document is of: each kind has a format, and a word in the request it was made by. */
typedef enum {
  DEMUR_REPORT_OF_SELECTOR,
  DEMUR_REPORT_OF_PATIENT, /* a patient's page (report/patient.h) */
  DEMUR_REPORT_OF_FAMILY,  /* all horizons of a family (report/family.h) */
  DEMUR_N_REPORT_KINDS,
} DemurReportKind;

typedef struct {
  const char *format, *word;
} DemurReportKindRow;

const DemurReportKindRow *demur_report_kind_row(DemurReportKind kind);

/* The member "request" that `demur report verify` makes the report again from (report/verify.h
 * reads it); null where the request names no selector. coverage is not of a patient's page. */
void demur_report_request_write(DemurJson *json, const DemurReportRequest *request,
                                DemurReportKind kind, double coverage, DemurPaper paper);

/* The members of a report's document (report.h) into an open object. */
void demur_report_write_members(DemurJson *json, const DemurReportInput *input);

G_END_DECLS
