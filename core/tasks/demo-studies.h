/* Twelve phantom studies with scores: what the demo shows. Each is drawn as it was taken (kernel,
 * noise, thickness, tilt, contrast, motion, table, nodule), and the simulated CNN of the demo's
 * cohort reads just that (cohort/simulate.h); its verdict is what the selector then says. Two
 * patients have a prior; one series is too short to be eligible, one score has an embedding that
 * the selector can't read. All of it says that it is simulated. */
#pragma once

#include "cohort/simulate.h"
#include "tasks/task.h"

G_BEGIN_DECLS

typedef struct {
  const DemurSimulation *simulation; /* the one that the demo's cohort was drawn by */
  const char *folder;                /* of the DICOM files */
  const char *scores;                /* CSV for all but one of the studies */
  const char *odd_scores;            /* CSV for that one: an embedding of another width */
} DemurDemoStudiesParams;

/* The demo's world: denoising came to part of the scans after the model was fitted, and to one of
 * the two hospitals outside. */
void demur_demo_simulation(DemurSimulation *simulation, guint64 seed);

/* Writes the studies and both tables of scores. */
gboolean demur_task_demo_studies(DemurTask *task, const DemurDemoStudiesParams *params,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Removes the studies that the function above wrote into folder, and the folder where nothing else
 * is in it. What is not its own stays. */
void demur_task_demo_studies_remove(const char *folder);

G_END_DECLS
