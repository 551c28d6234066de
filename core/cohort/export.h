/* A cohort as the table that demur_cohort_import reads back to the same digest. */
#pragma once

#include "base/file-output.h"
#include "base/progress.h"
#include "cohort/cohort.h"

G_BEGIN_DECLS

/* Writes CSV (UTF-8, LF) to path: ids, site, split, label, risk or prob_.., yearly risks where
 * there are any, attributes, `simulated` = yes where the cohort is, emb_... Numbers are the
 * shortest decimals that read back to the same value. An existing file is replaced, by
 * base/file-output.h. */
gboolean demur_cohort_export(const DemurCohort *cohort, const char *path,
                             const DemurProgress *progress,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same, whole on the disk, without its name yet (owned): the caller commits it. NULL with error. */
DemurFileOutput *demur_cohort_export_finish(const DemurCohort *cohort, const char *path,
                                            const DemurProgress *progress,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
