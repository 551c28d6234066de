/* Whether what a family shows together, set beside what one of its horizons tells by itself, tells of
 * few: the two sets of scans may lie one within the other, and what is between them is then known from
 * both. docs/privacy.md. */
#pragma once

#include "cohort/cohort.h"
#include "evaluation/evaluation.h"

G_BEGIN_DECLS

/* scores [n] of the cohort's rows [n], by the horizon's selector; shown [n]: non-zero where the family
 * shows the scan. The sets of the horizon are those of method: accepted at each of its thresholds, those
 * that counting numbers there are of, and those of its curves (evaluation/point-releases.h). TRUE where
 * one of them holds what is shown, or is held by it, and of the scans between fewer than DEMUR_SMALL_CELL
 * are there, had the outcome by the year or did not have it. year: the horizon, from 1. O(sets x n log n). */
gboolean demur_family_tells_of_few(const DemurCohort *cohort, const DemurMethodResult *method,
                                   const double *scores, const guint32 *rows, const guint8 *shown,
                                   size_t n, int year);

G_END_DECLS
