/* The canonical order of a cohort's scans: ascending scan_id (bytes). Whoever draws, fits or sums
 * does it in this order, so that the order of a table's rows says nothing. */
#pragma once

#include "cohort/cohort.h"

G_BEGIN_DECLS

/* rows [n_scans] (owned) in canonical order. */
guint32 *demur_cohort_order(const DemurCohort *cohort);

/* The same of some rows [n], which may name one more than once (owned). */
guint32 *demur_cohort_order_rows(const DemurCohort *cohort, const guint32 *rows, size_t n);

/* Puts the scans into canonical order, and patients, sites, splits and attribute values into the
 * order in which those scans name them first. Only for who made or loaded the cohort, before anyone
 * else has a reference. Nothing is moved where they stand so already. O(n log n + bytes), memory:
 * 13 bytes a scan. */
void demur_cohort_put_in_order(DemurCohort *cohort);

G_END_DECLS
