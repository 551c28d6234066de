/* length  = sqrt((dx s_column)^2 + (dy s_row)^2)
 * angle   = acos(u . v / (|u| |v|)), u and v the arms in mm
 * ellipse: pixels with ((x - x0) / a)^2 + ((y - y0) / b)^2 <= 1 at their centres; mean and variance
 * by Welford's update, which has no cancellation (B. P. Welford, Technometrics 4, 1962, 419). */
#include "ui/measure.h"

#include <math.h>

#include "dicom/volume.h"

static DemurPlace
arm(const double spacing_mm[2], DemurPlace from, DemurPlace to) {
  return (DemurPlace){(to.x - from.x) * spacing_mm[1], (to.y - from.y) * spacing_mm[0]};
}

double
demur_measure_length(const double spacing_mm[2], DemurPlace a, DemurPlace b) {
  const DemurPlace d = arm(spacing_mm, a, b);
  return hypot(d.x, d.y);
}

double
demur_measure_angle(const double spacing_mm[2], DemurPlace a, DemurPlace vertex, DemurPlace b) {
  const DemurPlace u = arm(spacing_mm, vertex, a), v = arm(spacing_mm, vertex, b);
  const double lengths = hypot(u.x, u.y) * hypot(v.x, v.y);
  if (!(lengths > 0))
    return NAN;
  return acos(CLAMP((u.x * v.x + u.y * v.y) / lengths, -1, 1)) * 180 / G_PI;
}

DemurRegion
demur_measure_ellipse(const gint16 *hu, size_t rows, size_t columns, const double spacing_mm[2],
                      DemurPlace corner, DemurPlace other) {
  const double x0 = (corner.x + other.x) / 2, y0 = (corner.y + other.y) / 2;
  const double a = fabs(other.x - corner.x) / 2, b = fabs(other.y - corner.y) / 2;
  DemurRegion region = {
      .mean = NAN, .sd = NAN, .area_mm2 = G_PI * a * spacing_mm[1] * b * spacing_mm[0]};
  if (!(a > 0) || !(b > 0))
    return region;
  const size_t first_row = (size_t)fmax(0, floor(y0 - b)),
               last_row = (size_t)fmax(0, fmin((double)rows, ceil(y0 + b)));
  const size_t first_column = (size_t)fmax(0, floor(x0 - a)),
               last_column = (size_t)fmax(0, fmin((double)columns, ceil(x0 + a)));
  double mean = 0, squares = 0;
  for (size_t r = first_row; r < last_row; r++)
    for (size_t c = first_column; c < last_column; c++) {
      const double x = ((double)c + 0.5 - x0) / a, y = ((double)r + 0.5 - y0) / b;
      const gint16 value = hu[r * columns + c];
      if (x * x + y * y > 1 || value == DEMUR_HU_PADDING)
        continue;
      region.min = region.n == 0 ? value : MIN(region.min, value);
      region.max = region.n == 0 ? value : MAX(region.max, value);
      region.n++;
      const double step = value - mean;
      mean += step / (double)region.n;
      squares += step * (value - mean);
    }
  if (region.n > 0)
    region.mean = mean;
  if (region.n > 1)
    region.sd = sqrt(squares / (double)(region.n - 1));
  return region;
}
