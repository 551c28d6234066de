/* What outcomes count for where some scans were left before the horizon: 1 / G of metrics/censoring.h, of a
 * cohort's scans. */
#pragma once

#include "cohort/cohort.h"

G_BEGIN_DECLS

/* *weights [n] of the scans in rows (owned), 0 where the outcome is not known; NULL where nobody was left
 * before the horizon: every outcome counts 1. FALSE with DEMUR_ERROR_STATE where too few were followed to it. */
gboolean demur_outcome_weights(const DemurCohort *cohort, const guint32 *rows, size_t n,
                               double **weights, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of the labels of an audit, of the scans in rows [n]: those whose outcome came early are known while
 * others still wait, and would count too often. NULL also where the outcome of one of them is not the cohort's:
 * those labels were looked up elsewhere, whoever was left. */
gboolean demur_outcome_weights_labelled(const DemurCohort *cohort, const guint32 *rows, size_t n,
                                        double **weights, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
