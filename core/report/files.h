/* A report is two files, the PDF and the JSON with its numbers: how they are written together, and
 * how the JSON says what it was made of. */
#pragma once

#include "base/json-writer.h"
#include "report/report.h"

G_BEGIN_DECLS

/* Whether the folder that path lies in is there: what can be said before anything is computed.
 * G_FILE_ERROR_NOENT with what to do otherwise. */
gboolean demur_report_check_folder(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Writes both files beside their places, then gives them their names: the JSON first, so that a PDF
 * of that name never lacks its numbers. Only a kill between the two leaves the JSON of one report
 * beside the PDF of another; the PDF names the digest of its JSON, so `demur report verify` says
 * so. mode: of both files. FALSE with a GFileError; neither file has then changed unless the very
 * last renaming failed. */
gboolean demur_report_files_write(const char *path, const guchar *pdf, size_t n, const char *json,
                                  int mode, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The member "request" that `demur report verify` makes the report again from (report/verify.h
 * reads it); null where the request names no selector. patient: of a patient's page; coverage is a
 * report's only. */
void demur_report_request_write(DemurJson *json, const DemurReportRequest *request,
                                gboolean patient, double coverage, DemurPaper paper);

G_END_DECLS
