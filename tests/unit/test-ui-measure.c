/* Measurements on volumes whose points lie at known places in the patient: lengths and angles are
 * worked out in patient coordinates, by the formula of PS3.3 C.7.6.2.1.1, without the code that is
 * tried; regions by hand. */
#include <math.h>

#include "base/memory.h"
#include "support/support.h"
#include "dicom/reformat.h"
#include "ui/measure.h"

static double
distance(const double a[3], const double b[3]) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
              (a[2] - b[2]) * (a[2] - b[2]));
}

/* Place of a pixel's centre in the patient. */
static void
patient(const DemurVolume *v, size_t slice, double row, double column, double at[3]) {
  for (size_t i = 0; i < 3; i++)
    at[i] = v->positions_mm[3 * slice + i] + column * v->pixel_spacing_mm[1] * v->orientation[i] +
            row * v->pixel_spacing_mm[0] * v->orientation[3 + i];
}

static DemurPlace
centre(size_t row, size_t column) {
  return (DemurPlace){(double)column + 0.5, (double)row + 0.5};
}

/* A volume of air, its slices normal to `normal` unless a tilt shears them. */
static DemurVolume *
make(const double orientation[6], const double normal[3], const double step[3], double spacing) {
  DemurVolume *v = g_new0(DemurVolume, 1);
  v->n_slices = 40;
  v->rows = 48;
  v->columns = 64;
  v->is_volume = TRUE;
  v->pixel_spacing_mm[0] = 0.8;
  v->pixel_spacing_mm[1] = 0.6;
  v->spacing_mm = spacing;
  memcpy(v->orientation, orientation, sizeof v->orientation);
  memcpy(v->normal, normal, sizeof v->normal);
  v->hu = demur_new_array(gint16, v->n_slices * v->rows * v->columns);
  for (size_t i = 0; i < v->n_slices * v->rows * v->columns; i++)
    v->hu[i] = -1000;
  v->positions_mm = g_new0(double, 3 * v->n_slices);
  v->distances_mm = g_new0(double, v->n_slices);
  for (size_t k = 0; k < v->n_slices; k++)
    for (size_t i = 0; i < 3; i++) {
      v->positions_mm[3 * k + i] = (double)k * step[i];
      v->distances_mm[k] += v->positions_mm[3 * k + i] * normal[i];
    }
  return v;
}

/* Acquired slices at any turn: what is measured is the distance in the patient. */
static void
test_oblique_slices(void) {
  for (int turn = 0; turn < 180; turn += 23) {
    const double c = cos(turn * G_PI / 180), s = sin(turn * G_PI / 180);
    /* Rows turned about z, columns leaning about the turned x. */
    const double lean = 0.3;
    const double orientation[6] = {c, s, 0, -s * cos(lean), c * cos(lean), sin(lean)};
    const double normal[3] = {s * sin(lean), -c * sin(lean), cos(lean)};
    const double step[3] = {2 * normal[0], 2 * normal[1], 2 * normal[2]};
    g_autoptr(DemurVolume) v = make(orientation, normal, step, 2);
    double a[3], b[3], e[3];
    patient(v, 5, 7, 11, a);
    patient(v, 5, 40, 50, b);
    patient(v, 5, 7, 50, e);
    demur_assert_close(demur_measure_length(v->pixel_spacing_mm, centre(7, 11), centre(40, 50)),
                       distance(a, b), 0, 0.1);
    const double ab = distance(a, b), ae = distance(a, e), be = distance(b, e);
    const double angle = acos((ab * ab + ae * ae - be * be) / (2 * ab * ae)) * 180 / G_PI;
    demur_assert_close(
        demur_measure_angle(v->pixel_spacing_mm, centre(40, 50), centre(7, 11), centre(7, 50)),
        angle, 0, 0.1);
  }
}

/* Where a marked point is in a cut: its brightest pixel. */
static DemurPlace
brightest(const DemurReformat *cut) {
  size_t best = 0;
  for (size_t i = 0; i < cut->rows * cut->columns; i++)
    if (cut->hu[i] > cut->hu[best])
      best = i;
  return centre(best / cut->columns, best % cut->columns);
}

/* Sagittal planes of a tilted gantry: two points marked in slices apart are as far from one another
 * as in the patient, to half a pixel at each end. */
static void
test_tilted_stacks(void) {
  for (int tilt = -20; tilt <= 20; tilt += 10) {
    const double t = tilt * G_PI / 180;
    const double orientation[6] = {1, 0, 0, 0, cos(t), sin(t)};
    const double normal[3] = {0, -sin(t), cos(t)};
    const double step[3] = {0, 0, 2 / cos(t)}; /* the table moves along z */
    g_autoptr(DemurVolume) v = make(orientation, normal, step, 2);
    double a[3], b[3];
    patient(v, 6, 10, 20, a);
    patient(v, 30, 36, 20, b);
    DemurPlace places[2];
    double spacing[2];
    for (int which = 0; which < 2; which++) {
      gint16 *pixel =
          &v->hu[((which == 0 ? 6 : 30) * v->rows + (which == 0 ? 10 : 36)) * v->columns];
      pixel[20] = 3000;
      g_autoptr(GError) error = NULL;
      g_autoptr(DemurReformat) cut =
          demur_reformat_new(v, DEMUR_PLANE_SAGITTAL, 20, 1, DEMUR_SLAB_MAXIMUM, &error);
      g_assert_no_error(error);
      places[which] = brightest(cut);
      memcpy(spacing, cut->pixel_spacing_mm, sizeof spacing);
      pixel[20] = -1000;
    }
    demur_assert_close(demur_measure_length(spacing, places[0], places[1]), distance(a, b), 0,
                       spacing[0] + spacing[1]);
  }
}

static void
test_plain_angles(void) {
  const double spacing[2] = {0.5, 2}; /* a pixel is four times as wide as it is high */
  const DemurPlace origin = {10, 10};
  demur_assert_close(
      demur_measure_angle(spacing, (DemurPlace){12, 10}, origin, (DemurPlace){10, 3}), 90, 0, 1e-9);
  demur_assert_close(
      demur_measure_angle(spacing, (DemurPlace){12, 10}, origin, (DemurPlace){11, 14}), 45, 0,
      1e-9);
  demur_assert_close(
      demur_measure_angle(spacing, (DemurPlace){12, 10}, origin, (DemurPlace){2, 10}), 180, 0,
      1e-9);
  g_assert_true(isnan(demur_measure_angle(spacing, origin, origin, (DemurPlace){2, 10})));
  demur_assert_close(demur_measure_length(spacing, origin, (DemurPlace){11.5, 18}), 5, 0, 1e-9);
}

/* 1 2 3 / 4 5 6 / 7 8 9: the ellipse of the whole box holds the cross 2 4 5 6 8 and, where it is
 * larger, all. Padding plays no part. */
static void
test_regions(void) {
  gint16 hu[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const double spacing[2] = {2, 0.5};
  DemurRegion r = demur_measure_ellipse(hu, 3, 3, spacing, (DemurPlace){3, 0}, (DemurPlace){0, 3});
  g_assert_cmpuint(r.n, ==, 9); /* corners lie at 0.943 of the radius */
  demur_assert_close(r.mean, 5, 0, 1e-12);
  demur_assert_close(r.sd, sqrt(60.0 / 8), 0, 1e-12);
  demur_assert_close(r.area_mm2, G_PI * 1.5 * 0.5 * 1.5 * 2, 0, 1e-12);
  r = demur_measure_ellipse(hu, 3, 3, spacing, (DemurPlace){0.2, 0.2}, (DemurPlace){2.8, 2.8});
  g_assert_cmpuint(r.n, ==, 5);
  demur_assert_close(r.mean, 5, 0, 1e-12);
  demur_assert_close(r.sd, sqrt(20.0 / 4), 0, 1e-12);
  g_assert_cmpint(r.min, ==, 2);
  g_assert_cmpint(r.max, ==, 8);
  hu[4] = DEMUR_HU_PADDING;
  r = demur_measure_ellipse(hu, 3, 3, spacing, (DemurPlace){0.2, 0.2}, (DemurPlace){2.8, 2.8});
  g_assert_cmpuint(r.n, ==, 4);
  /* Beyond the picture, and of no size. */
  r = demur_measure_ellipse(hu, 3, 3, spacing, (DemurPlace){-9, -9}, (DemurPlace){-5, -5});
  g_assert_cmpuint(r.n, ==, 0);
  g_assert_true(isnan(r.mean));
  r = demur_measure_ellipse(hu, 3, 3, spacing, (DemurPlace){1, 1}, (DemurPlace){1, 1});
  g_assert_cmpuint(r.n, ==, 0);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/measure/oblique-slices", test_oblique_slices);
  g_test_add_func("/ui/measure/tilted-stacks", test_tilted_stacks);
  g_test_add_func("/ui/measure/plain-angles", test_plain_angles);
  g_test_add_func("/ui/measure/regions", test_regions);
  return g_test_run();
}
