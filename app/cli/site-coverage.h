/* Running coverage by site, and whether anything is guaranteed there. */
#pragma once

#include "app/cli/assessing.h"

G_BEGIN_DECLS

typedef struct {
  const char *site; /* borrowed from the assessment */
  size_t n_scored, n_accepted;
  int in_tuning_split; /* 1, 0, or -1: not tuned, or the sites that tuned were not kept */
} DemurCliSiteCoverage;

/* Of the scored scans of an assessment, in order of first appearance (owned; borrows from the
 * assessment). */
GArray *demur_cli_site_coverage(const DemurCliAssessment *assessment);

/* What is guaranteed there, in words; NULL where the selector is not tuned. */
const char *demur_cli_site_guarantee(const DemurCliAssessment *assessment,
                                     const DemurCliSiteCoverage *site);

G_END_DECLS
