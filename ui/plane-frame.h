/* Where the pixels of a plane lie in the patient.
 *
 *   p(x, y) = origin + (x - 1/2) spacing[1] rows + (y - 1/2) spacing[0] columns
 *
 * with x, y as in ui/measure.h (the first pixel's centre is at 1/2, 1/2), rows and columns the unit
 * vectors along which a row and a column run. */
#pragma once

#include "ui/measure.h"

G_BEGIN_DECLS

typedef struct {
  double origin_mm[3];   /* centre of the first pixel */
  double orientation[6]; /* along its rows, then along its columns */
  double spacing_mm[2];  /* between rows, between columns */
} DemurPlaneFrame;

void demur_plane_frame_point(const DemurPlaneFrame *frame, DemurPlace place, double point_mm[3]);

/* The foot of the perpendicular from the point, also outside of the picture. rows and columns may be
 * at any angle but 0. */
DemurPlace demur_plane_frame_place(const DemurPlaneFrame *frame, const double point_mm[3]);

/* The point at the given distances along three directions [3][3] (unit vectors, not in one plane):
 * where three planes cut one another. FALSE where they don't in one point. */
gboolean demur_plane_frame_meet(const double directions[3][3], const double distances_mm[3],
                                double point_mm[3]);

G_END_DECLS
