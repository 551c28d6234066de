/* Twelve phantom studies with scores: what the demo shows. No model reads a phantom, so each takes
 * the risks, the embedding and how it was made from a simulated scan of the outside hospital, its
 * double; its verdict is then what the selector says of that scan. Most are accepted, three are red
 * flags for different reasons, two have a prior, one is not eligible, one has a score that this
 * selector can't read. All of it says that it is simulated. */
#pragma once

#include "tasks/task.h"

G_BEGIN_DECLS

typedef struct {
  const char *selector, *cohort; /* tuned on it; the doubles are of its split test */
  const char *folder;            /* of the DICOM files */
  const char *scores;            /* CSV for all but one of the studies */
  const char *odd_scores;        /* CSV for that one: an embedding of another width */
} DemurDemoStudiesParams;

gboolean demur_task_demo_studies(DemurTask *task, const DemurDemoStudiesParams *params,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Removes the studies that the function above wrote into folder, and the folder where nothing else
 * is in it. What is not its own stays. */
void demur_task_demo_studies_remove(const char *folder);

G_END_DECLS
