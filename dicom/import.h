/* The whole way from paths to judged series: scan, group, judge, and for a compressed series that
 * would be assessed a decoding of every slice, so that what can't be decoded is known before
 * anything is scored. */
#pragma once

#include "dicom/eligibility.h"

G_BEGIN_DECLS

typedef struct {
  GPtrArray *series;  /* DemurSeries, see demur_series_group */
  GPtrArray *skipped; /* DemurSkipped */
  guint n_known;      /* files of images that were known, so that their pixels were not read */
} DemurImport;

/* eligibility NULL: the project's rules. Errors as demur_files_scan. */
DemurImport *demur_import_run(const char *const *paths, const DemurEligibility *eligibility,
                              DemurParallel *parallel, const DemurProgress *progress,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The same where known (borrowed; NULL: nothing) knows files from before: their headers are read and
 * judged as ever, their pixels are neither digested nor decoded again. */
DemurImport *demur_import_run_known(const char *const *paths, const DemurEligibility *eligibility,
                                    const DemurKnownFiles *known, DemurParallel *parallel,
                                    const DemurProgress *progress,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_import_free(DemurImport *import);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurImport, demur_import_free)

/* A series imported before, measured anew from the files of its slices: paths (NULL-terminated;
 * "archive.zip!/entry" names an entry), scan_id as it was given then. For showing what a workspace
 * remembers. DEMUR_ERROR_NOT_FOUND where a file is gone, DEMUR_ERROR_STATE where the files are no
 * longer one series. */
DemurSeries *demur_import_reopen(const char *scan_id, const char *const *paths,
                                 DemurParallel *parallel, const DemurProgress *progress,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
