/* Who stands in a cohort's splits: Table 1 of the report. */
#pragma once

#include "cohort/cohort.h"
#include "report/report.h"

G_BEGIN_DECLS

/* The risk and every attribute that describes scans, by split; those that the outcome or the
 * perturbation is read from are left out. A column of numbers with more than a few values is given
 * by quartiles; of another the six commonest values, the rest together. What is allocated goes into
 * owned (g_free). O(scans x attributes). */
void demur_report_characteristics(const DemurCohort *cohort, GPtrArray *owned,
                                  DemurReportCohort *facts);

G_END_DECLS
