/* The share of scans that have the outcome by the cohort's horizon. */
#pragma once

#include "cohort/cohort.h"

G_BEGIN_DECLS

/* Of rows [n_rows] of a cohort of two classes. Scans that were left before the horizon are stood
 * for by the others (metrics/censoring.h), as in every measure of outcomes. NaN where no scan has a
 * label, or too few were followed to the horizon. O(n log n). */
double demur_task_prevalence(const DemurCohort *cohort, const guint32 *rows, size_t n_rows);

G_END_DECLS
