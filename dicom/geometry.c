#include "dicom/geometry.h"

#include <math.h>

double
demur_geometry_dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

gboolean
demur_geometry_normal(const double orientation[6], double normal[3]) {
  const double *row = orientation, *column = orientation + 3;
  for (int i = 0; i < 6; i++)
    if (!isfinite(orientation[i]))
      return FALSE;
  if (fabs(demur_geometry_dot(row, row) - 1) > 0.02 ||
      fabs(demur_geometry_dot(column, column) - 1) > 0.02 ||
      fabs(demur_geometry_dot(row, column)) > 0.01)
    return FALSE;
  normal[0] = row[1] * column[2] - row[2] * column[1];
  normal[1] = row[2] * column[0] - row[0] * column[2];
  normal[2] = row[0] * column[1] - row[1] * column[0];
  const double length = sqrt(demur_geometry_dot(normal, normal));
  for (int i = 0; i < 3; i++)
    normal[i] /= length;
  return TRUE;
}

double
demur_geometry_angle(const double a[3], const double b[3]) {
  const double cross[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                           a[0] * b[1] - a[1] * b[0]};
  /* atan2 keeps small angles, which acos of the dot product loses. */
  return atan2(sqrt(demur_geometry_dot(cross, cross)), demur_geometry_dot(a, b)) * 180 / G_PI;
}

void
demur_geometry_letters(const double direction[3], char out[4]) {
  static const char positive[] = "LPH", negative[] = "RAF";
  double left[3];
  int n = 0;
  for (int i = 0; i < 3; i++)
    left[i] = fabs(direction[i]);
  while (n < 3) {
    int best = 0;
    for (int i = 1; i < 3; i++)
      if (left[i] > left[best])
        best = i;
    if (left[best] < 0.0872)
      break;
    out[n++] = direction[best] > 0 ? positive[best] : negative[best];
    left[best] = 0;
  }
  out[n] = '\0';
}
