/* One part of a series, its images sorted out, becomes a record. Inside this room. */
#pragma once

#include "dicom/stack.h"

G_BEGIN_DECLS

/* Orders the images (array of DemurStackImage, same files marked), marks those that are broken or lie at
 * a position that is taken, and tells what is seen: order, gaps, tilt, thickness, unit, kind, digest.
 * gap_tolerance: share of the nominal spacing. Owned; what a whole study shows (scan_id, part, siblings)
 * is not filled. */
DemurSeries *demur_series_measure(GPtrArray *images, double gap_tolerance);

G_END_DECLS
