/* Inside of an image: for the view that draws it and the worker that reads it. */
#pragma once

#include "dicom/import.h"
#include "dicom/volume.h"
#include "ui/image.h"

G_BEGIN_DECLS

struct DemurImage {
  char *workspace, *scan_id;
  char *images_digest; /* of what lies at the files' place now (tasks/series-records.h) */
  DemurSeries *series; /* shared by the part and the whole */
  gint *series_refs;
  DemurVolume *volume; /* NULL while only the first slice is there */
  gint16 *first;       /* [rows][columns] of slice first_index; NULL once the volume is there */
  size_t first_index;
  /* Of a part: series holds the first slice, the shown one and the last alone. */
  size_t place, n_slices; /* of the shown one in series; of the whole */
  gint ref_count;
};

G_END_DECLS
