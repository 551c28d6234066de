/* Which scans of a cohort are those that a selector's outlier model was fitted on, and which of them
 * lie nearest to a scan: in the distance of the feature "knn" (Euclidean, embeddings standardised on
 * the reference). */
#pragma once

#include "selector/selector.h"

G_BEGIN_DECLS

#define DEMUR_NOT_THERE G_MAXUINT32

/* Rows [*n] of the cohort that the reference scans stand in, in the order of fitting (g_free);
 * DEMUR_NOT_THERE where the cohort doesn't hold one with the same IDs and embedding. NULL where the
 * selector has no reference, or was released and forgot which scans it is. O(scans x width). */
guint32 *demur_selector_reference_rows(const DemurSelector *selector, const DemurCohort *cohort,
                                       size_t *n);

/* The k places (in the order of fitting) nearest to a row of a cohort that the selector may score,
 * the nearest first; the scan itself is left out. k at most the reference less one. Of a selector with
 * a reference only. Errors: as demur_outlier_model_nearest. O(reference x width). */
gboolean demur_selector_nearest_reference(const DemurSelector *selector, const DemurCohort *cohort,
                                          guint32 row, size_t k, guint32 *places,
                                          DemurParallel *parallel,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* How many the outlier model keeps of it, at most 20,000; 0: there is no reference. */
size_t demur_selector_n_reference(const DemurSelector *selector);

G_END_DECLS
