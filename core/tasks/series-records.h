/* A DICOM series as the workspace keeps it and as `demur dicom import`, `list` and `show` print it:
 * one record, one JSON object, one block of text. */
#pragma once

#include "base/json-writer.h"
#include "base/translate.h"
#include "dicom/series.h"
#include "store/overrules.h"
#include "store/series.h"
#include "tasks/task.h"

G_BEGIN_DECLS

/* The series of the workspace: array of DemurSeriesRecord by patient_id, study_date, scan_id (owned,
 * frees its elements). */
GPtrArray *demur_task_series(DemurTask *task, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* One of them. *overrule (owned): what a person chose against the rules, where that holds now; NULL
 * where the rules chose. */
DemurSeriesRecord *demur_task_series_show(DemurTask *task, const char *scan_id,
                                          DemurOverruleRecord **overrule,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The record of a measured series (owned). facts_json holds what the record has no column for:
 * geometry, acquisition, slices. mapped_site: its site comes from a mapping file. rules: changes to
 * the project's rules it was judged by, NULL for none. now: ISO 8601 (UTC). */
DemurSeriesRecord *demur_dicom_record_new(const DemurSeries *series, gboolean mapped_site,
                                          const char *const *rules, const char *now);

/* Whether the rule (dicom/rules.h) was found broken when the series was imported. *known: FALSE
 * where the record is of a program that kept no findings; then nothing can be said. */
gboolean demur_dicom_record_found(const DemurSeriesRecord *record, const char *rule,
                                  gboolean *known);

/* DemurSeries.gone as it was kept (owned; empty: none). */
char **demur_dicom_record_gone(const DemurSeriesRecord *record);

/* What its images hold (DemurSeriesRecord.images_digest, owned). */
char *demur_dicom_images_digest(const DemurSeries *series);

/* The used slices as the workspace keeps them: [series->n_slices], freed by demur_dicom_files_free.
 * An entry of a ZIP archive is "archive.zip!/entry". */
DemurSeriesFile *demur_dicom_files_new(const DemurSeries *series);
void demur_dicom_files_free(DemurSeriesFile *files, size_t n_files);

/* The words of a series' warnings (DemurSeriesRecord.warnings_json, may be NULL), owned. */
char **demur_dicom_warning_words(const char *kept, DemurTranslate translate);
/* Reasons or warnings as they are kept, as an array of objects (selector/reason.h). */
void demur_dicom_json_reasons(DemurJson *json, const char *key, const char *kept);

/* One member of "series": the keys of the contract, null where not recorded; with details also
 * patient_name and all of facts_json. */
void demur_dicom_json_record(DemurJson *json, const DemurSeriesRecord *record, gboolean details);

/* The same, left open for further members. */
void demur_dicom_json_record_begin(DemurJson *json, const DemurSeriesRecord *record,
                                   gboolean details);

/* The same for people: one block of lines (owned). The patient's name only with details. */
char *demur_dicom_text_record(const DemurSeriesRecord *record, gboolean details);

G_END_DECLS
