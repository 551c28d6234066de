#include "ui/plane-frame.h"

#include <math.h>

#define LEAST_VOLUME 1e-6

void
demur_plane_frame_point(const DemurPlaneFrame *frame, DemurPlace place, double point_mm[3]) {
  for (int i = 0; i < 3; i++)
    point_mm[i] = frame->origin_mm[i] +
                  (place.x - 0.5) * frame->spacing_mm[1] * frame->orientation[i] +
                  (place.y - 0.5) * frame->spacing_mm[0] * frame->orientation[3 + i];
}

DemurPlace
demur_plane_frame_place(const DemurPlaneFrame *frame, const double point_mm[3]) {
  double along_row = 0, along_column = 0, between = 0;
  for (int i = 0; i < 3; i++) {
    const double from = point_mm[i] - frame->origin_mm[i];
    along_row += from * frame->orientation[i];
    along_column += from * frame->orientation[3 + i];
    between += frame->orientation[i] * frame->orientation[3 + i];
  }
  /* Of a row and a column that are not quite at right angles, both parts are to be told apart. */
  const double whole = 1 - between * between;
  return (DemurPlace){(along_row - between * along_column) / whole / frame->spacing_mm[1] + 0.5,
                      (along_column - between * along_row) / whole / frame->spacing_mm[0] + 0.5};
}

static double
determinant(const double a[3], const double b[3], const double c[3]) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
         a[2] * (b[0] * c[1] - b[1] * c[0]);
}

gboolean
demur_plane_frame_meet(const double directions[3][3], const double distances_mm[3],
                       double point_mm[3]) {
  const double whole = determinant(directions[0], directions[1], directions[2]);
  if (!(fabs(whole) > LEAST_VOLUME))
    return FALSE;
  /* Cramer's rule, a coordinate at a time. */
  for (int k = 0; k < 3; k++) {
    double rows[3][3];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        rows[i][j] = j == k ? distances_mm[i] : directions[i][j];
    point_mm[k] = determinant(rows[0], rows[1], rows[2]) / whole;
  }
  return TRUE;
}
