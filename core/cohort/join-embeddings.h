/* Embeddings that stand in a NumPy file beside the cohort's table. Inside the room. */
#pragma once

#include "base/progress.h"
#include "cohort/cohort.h"

G_BEGIN_DECLS

/* Gives a cohort that nobody else has seen yet the embeddings of a .npy file, one row a scan: by
 * row order (told in warnings, of DemurTableWarning), or by the scan_ids of ids_path, one a line.
 * table: the cohort's, for messages. DEMUR_ERROR_INPUT where rows and scans do not go together. */
gboolean demur_cohort_join_embeddings(DemurCohort *cohort, const char *table, const char *path,
                                      const char *ids_path, const DemurProgress *progress,
                                      GPtrArray *warnings,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
