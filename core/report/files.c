#include "report/files.h"

#include <string.h>

#include "base/file-output.h"
#include "report/family.h"
#include "report/patient.h"

static DemurFileFlags
flags_of(DemurReportReaders readers) {
  return DEMUR_FILE_REPLACE | (readers == DEMUR_REPORT_FOR_ALL ? DEMUR_FILE_PUBLIC : 0);
}

gboolean
demur_report_check_files(const char *path, GError **error) {
  g_autofree char *json_path = demur_report_json_path(path, error);
  return json_path != NULL && demur_file_output_check(json_path, DEMUR_FILE_REPLACE, error) &&
         demur_file_output_check(path, DEMUR_FILE_REPLACE, error);
}

gboolean
demur_report_files_write(const char *path, const guchar *pdf, size_t n, const char *json,
                         DemurReportReaders readers, GError **error) {
  g_autofree char *json_path = demur_report_json_path(path, error);
  if (!json_path)
    return FALSE;
  g_autoptr(DemurFileOutput) numbers = demur_file_output_open(json_path, flags_of(readers), error);
  g_autoptr(DemurFileOutput) pages =
      numbers ? demur_file_output_open(path, flags_of(readers), error) : NULL;
  return pages && demur_file_output_write(numbers, json, strlen(json), error) &&
         demur_file_output_write(pages, pdf, n, error) &&
         demur_file_output_finish(numbers, error) && demur_file_output_finish(pages, error) &&
         demur_file_output_commit(numbers, error) && demur_file_output_commit(pages, error);
}

const DemurReportKindRow *
demur_report_kind_row(DemurReportKind kind) {
  static const DemurReportKindRow rows[DEMUR_N_REPORT_KINDS] = {
      [DEMUR_REPORT_OF_SELECTOR] = {DEMUR_REPORT_FORMAT, "report"},
      [DEMUR_REPORT_OF_PATIENT] = {DEMUR_PATIENT_FORMAT, "patient"},
      [DEMUR_REPORT_OF_FAMILY] = {DEMUR_FAMILY_REPORT_FORMAT, "family"}};
  g_return_val_if_fail((guint)kind < DEMUR_N_REPORT_KINDS, &rows[0]);
  return &rows[kind];
}

void
demur_report_request_write(DemurJson *json, const DemurReportRequest *r, DemurReportKind kind,
                           double coverage, DemurPaper paper) {
  if (r->n_selectors == 0) {
    demur_json_null(json, "request");
    return;
  }
  demur_json_begin_object(json, "request");
  demur_json_string(json, "kind", demur_report_kind_row(kind)->word);
  if (kind == DEMUR_REPORT_OF_FAMILY) {
    demur_json_string(json, "family", r->family);
    demur_json_begin_array(json, "years");
    for (size_t i = 0; i < r->n_selectors; i++)
      demur_json_int(json, NULL, r->years[i]);
    demur_json_end_array(json);
  }
  demur_json_begin_array(json, "selectors");
  for (size_t i = 0; i < r->n_selectors; i++)
    demur_json_string(json, NULL, r->selectors[i]);
  demur_json_end_array(json);
  demur_json_string(json, "cohort", r->cohort);
  demur_json_string(json, "split", r->split);
  demur_json_string(json, "paper", demur_paper_row(paper)->name);
  if (kind == DEMUR_REPORT_OF_PATIENT) {
    demur_json_string(json, "scan", r->scan_id);
    demur_json_bool(json, "cohort_scan", r->cohort_scan);
    demur_json_string(json, "tuned_coverage", r->tuned_coverage);
    if (r->language)
      demur_json_string(json, "language", r->language);
  } else {
    demur_json_int(json, "seed", (gint64)r->seed);
    demur_json_int(json, "resamples", (gint64)r->n_resamples);
    demur_json_string(json, "resample_unit", r->resample_unit);
    demur_json_int(json, "bootstrap", (gint64)r->n_bootstrap);
    demur_json_int(json, "bin_size", (gint64)r->min_bin_size);
    demur_json_bool(json, "in_sample", r->in_sample);
    demur_json_string(json, "group_by", r->group_by);
    demur_json_string(json, "net_benefit_threshold", r->net_benefit_threshold);
    demur_json_double(json, "coverage", coverage);
  }
  demur_json_end_object(json);
}
