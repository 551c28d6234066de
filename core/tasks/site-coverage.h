/* Running coverage by site, and whether anything is guaranteed there. */
#pragma once

#include "tasks/assess.h"

G_BEGIN_DECLS

typedef struct {
  const char *site; /* borrowed from the assessment */
  size_t n_scored, n_accepted;
  int in_tuning_split; /* 1, 0, or -1: not tuned, or the sites that tuned were not kept */
} DemurSiteCoverage;

/* Of the scored scans of an assessment, in order of first appearance (owned; borrows from the
 * assessment). */
GArray *demur_task_site_coverage(const DemurAssessment *assessment);

/* What is guaranteed there, in words; NULL where the selector is not tuned. */
const char *demur_task_site_guarantee(const DemurAssessment *assessment,
                                      const DemurSiteCoverage *site);

G_END_DECLS
