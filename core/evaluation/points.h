/* Operating points: one threshold applied, what it keeps and what that is worth. */
#pragma once

#include "evaluation/plan.h"
#include "evaluation/replicates.h"

G_BEGIN_DECLS

/* Finds the threshold of a plan among the scores of n scans and describes it for the replicates
 * (demur_operating_clear frees what it holds). */
void demur_points_find(const GPtrArray *methods, size_t n, DemurPointPlan *plan,
                       DemurOperating *point);

/* Measures, counts and rejection by label of the scans with rank <= max_ranks [n_models], mean over
 * models. whole FALSE, as for groups: of the paper's measures S-BCE_2 alone, the others are NaN. */
void demur_points_measure(const DemurExtraSetup *setup, const DemurMethod *method,
                          const gssize *max_ranks, gboolean whole, DemurSelectiveScratch *scratch,
                          DemurOperatingPoint *at);

typedef struct {
  const DemurReplicates *replicates; /* with the points that were found */
  const DemurPointPlan *plans;
  const DemurEvaluation *evaluation; /* its histogram's bins */
  DemurOperatingPoint **at;          /* receives point i at at[i] */
} DemurPoints;

/* A DemurParallelFunc over the plans, data the DemurPoints. */
void demur_points_fill(size_t index, guint worker, gpointer points);

/* The bin of the histogram of risks (K > 2: of the top probability). */
size_t demur_points_histogram_bin(const DemurEvaluation *evaluation, double risk);

G_END_DECLS
