/* Length, angle and region on a plane of CT numbers, in mm.
 *
 * Places are in pixels of the plane: column and row of an edge, so that pixel (r, c) covers
 * [c, c + 1) x [r, r + 1) and its centre is (c + 0.5, r + 0.5). spacing_mm is between rows, then
 * between columns. A plane's own spacing makes them true in any orientation: slices as acquired,
 * however they lie in the patient, and reformatted planes, whose slices are shifted to where a
 * tilted gantry took them (dicom/reformat.h). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  double x, y;
} DemurPlace;

typedef struct {
  size_t n;        /* pixels whose centre lies within, without padding */
  double mean, sd; /* of their CT numbers; sd with n - 1; NaN where n is too small */
  gint16 min, max; /* 0 where n is 0 */
  double area_mm2; /* of the ellipse */
} DemurRegion;

/* |b - a|. */
double demur_measure_length(const double spacing_mm[2], DemurPlace a, DemurPlace b);

/* At the vertex, 0 to 180 degrees; NaN where an arm has no length. */
double demur_measure_angle(const double spacing_mm[2], DemurPlace a, DemurPlace vertex,
                           DemurPlace b);

/* The ellipse in the box of two corners. hu [rows][columns]. O(pixels of the box). */
DemurRegion demur_measure_ellipse(const gint16 *hu, size_t rows, size_t columns,
                                  const double spacing_mm[2], DemurPlace corner, DemurPlace other);

G_END_DECLS
