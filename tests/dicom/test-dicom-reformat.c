/* Planes through volumes made by hand: every voxel's value names its place, so the right picture
 * can be written down. */
#include "base/error.h"
#include "dicom/reformat.h"
#include "dicom-fixture.h"
#include "base/memory.h"

typedef struct {
  size_t n_slices, rows, columns;
  double orientation[6], normal[3], step_mm[3]; /* from slice to slice */
  double spacing_mm;
} Shape;

static const Shape axial = {4, 3, 5, {1, 0, 0, 0, 1, 0}, {0, 0, 1}, {0, 0, 2}, 2};

/* Value of slice k, row r, column c: 100 k + 10 r + c. */
static DemurVolume *
make(const Shape *shape) {
  DemurVolume *v = g_new0(DemurVolume, 1);
  v->n_slices = shape->n_slices;
  v->rows = shape->rows;
  v->columns = shape->columns;
  v->is_volume = TRUE;
  v->pixel_spacing_mm[0] = 0.5;
  v->pixel_spacing_mm[1] = 1;
  v->spacing_mm = shape->spacing_mm;
  memcpy(v->orientation, shape->orientation, sizeof v->orientation);
  memcpy(v->normal, shape->normal, sizeof v->normal);
  v->hu = demur_new_array(gint16, v->n_slices * v->rows * v->columns);
  v->positions_mm = g_new0(double, 3 * v->n_slices);
  v->distances_mm = g_new0(double, v->n_slices);
  for (size_t k = 0; k < v->n_slices; k++) {
    for (size_t i = 0; i < 3; i++) {
      v->positions_mm[3 * k + i] = (double)k * shape->step_mm[i];
      v->distances_mm[k] += v->positions_mm[3 * k + i] * v->normal[i];
    }
    for (size_t r = 0; r < v->rows; r++)
      for (size_t c = 0; c < v->columns; c++)
        v->hu[(k * v->rows + r) * v->columns + c] = (gint16)(100 * k + 10 * r + c);
  }
  return v;
}

static DemurReformat *
cut(const DemurVolume *volume, DemurPlane plane, size_t index, size_t n, DemurSlab slab) {
  g_autoptr(GError) error = NULL;
  DemurReformat *reformat = demur_reformat_new(volume, plane, index, n, slab, &error);
  g_assert_no_error(error);
  return reformat;
}

static gint
at(const DemurReformat *reformat, size_t r, size_t c) {
  g_assert_cmpuint(r, <, reformat->rows);
  g_assert_cmpuint(c, <, reformat->columns);
  return reformat->hu[r * reformat->columns + c];
}

static void
test_coronal_has_the_head_above_and_left_on_the_right(void) {
  g_autoptr(DemurVolume) v = make(&axial);
  g_autoptr(DemurReformat) p = cut(v, DEMUR_PLANE_CORONAL, 1, 1, DEMUR_SLAB_MAXIMUM);
  g_assert_cmpuint(demur_reformat_n_planes(v, DEMUR_PLANE_CORONAL), ==, 3);
  g_assert_cmpuint(p->rows, ==, 4);
  g_assert_cmpuint(p->columns, ==, 5);
  for (size_t r = 0; r < 4; r++)
    for (size_t c = 0; c < 5; c++)
      g_assert_cmpint(at(p, r, c), ==, (gint)(100 * (3 - r) + 10 + c));
  g_assert_cmpstr(p->right, ==, "L");
  g_assert_cmpstr(p->left, ==, "R");
  g_assert_cmpstr(p->up, ==, "H");
  g_assert_cmpstr(p->down, ==, "F");
  g_assert_cmpfloat(p->pixel_spacing_mm[0], ==, 2);
  g_assert_cmpfloat(p->pixel_spacing_mm[1], ==, 1);
  /* The first pixel is row 1 of the topmost slice: y = 1 x 0.5 mm, z = 3 x 2 mm. */
  demur_assert_close(p->origin_mm[0], 0, 0, 1e-9);
  demur_assert_close(p->origin_mm[1], 0.5, 0, 1e-9);
  demur_assert_close(p->origin_mm[2], 6, 0, 1e-9);
  g_assert_false(p->tilt_corrected);
  g_assert_false(p->interpolated);
}

static void
test_sagittal_has_the_back_on_the_right(void) {
  g_autoptr(DemurVolume) v = make(&axial);
  g_autoptr(DemurReformat) p = cut(v, DEMUR_PLANE_SAGITTAL, 4, 1, DEMUR_SLAB_MAXIMUM);
  g_assert_cmpuint(demur_reformat_n_planes(v, DEMUR_PLANE_SAGITTAL), ==, 5);
  g_assert_cmpuint(p->columns, ==, 3);
  for (size_t r = 0; r < 4; r++)
    for (size_t c = 0; c < 3; c++)
      g_assert_cmpint(at(p, r, c), ==, (gint)(100 * (3 - r) + 10 * c + 4));
  g_assert_cmpstr(p->right, ==, "P");
  g_assert_cmpstr(p->left, ==, "A");
  g_assert_cmpfloat(p->pixel_spacing_mm[1], ==, 0.5);
}

static void
test_slices_running_to_the_feet_are_turned(void) {
  /* Prone, feet first or rows swapped: the cosines say where everything is. */
  const Shape turned = {4, 3, 5, {-1, 0, 0, 0, 1, 0}, {0, 0, -1}, {0, 0, -2}, 2};
  g_autoptr(DemurVolume) v = make(&turned);
  g_autoptr(DemurReformat) p = cut(v, DEMUR_PLANE_CORONAL, 0, 1, DEMUR_SLAB_MAXIMUM);
  for (size_t r = 0; r < 4; r++)
    for (size_t c = 0; c < 5; c++)
      g_assert_cmpint(at(p, r, c), ==, (gint)(100 * r + 4 - c));
  g_assert_cmpstr(p->right, ==, "L");
  g_assert_cmpstr(p->up, ==, "H");
  g_autoptr(DemurReformat) a = cut(v, DEMUR_PLANE_AXIAL, 2, 1, DEMUR_SLAB_MAXIMUM);
  g_assert_cmpint(at(a, 0, 0), ==, 204);
  g_assert_cmpstr(a->right, ==, "L");
  g_autoptr(DemurReformat) raw = cut(v, DEMUR_PLANE_ACQUIRED, 2, 1, DEMUR_SLAB_MAXIMUM);
  g_assert_cmpint(at(raw, 0, 0), ==, 200);
  g_assert_cmpstr(raw->right, ==, "R");
}

static void
test_a_coronal_acquisition_is_cut_axially_across_its_slices(void) {
  /* Rows to the left, columns to the feet, slices to the front: normal = x cross -z = +y. */
  const Shape coronal = {4, 3, 5, {1, 0, 0, 0, 0, -1}, {0, 1, 0}, {0, 2, 0}, 2};
  g_autoptr(DemurVolume) v = make(&coronal);
  g_autoptr(DemurReformat) p = cut(v, DEMUR_PLANE_AXIAL, 2, 1, DEMUR_SLAB_MAXIMUM);
  g_assert_cmpuint(demur_reformat_n_planes(v, DEMUR_PLANE_AXIAL), ==, 3);
  for (size_t r = 0; r < 4; r++)
    for (size_t c = 0; c < 5; c++)
      g_assert_cmpint(at(p, r, c), ==, (gint)(100 * r + 20 + c));
  g_assert_cmpstr(p->down, ==, "P");
}

static void
test_slabs_leave_padding_out(void) {
  g_autoptr(DemurVolume) v = make(&axial);
  v->hu[(1 * 3 + 0) * 5 + 0] = DEMUR_HU_PADDING; /* slice 1, row 0, column 0 */
  v->hu[(1 * 3 + 1) * 5 + 0] = DEMUR_HU_PADDING;
  v->hu[(1 * 3 + 2) * 5 + 0] = DEMUR_HU_PADDING;
  v->hu[(2 * 3 + 0) * 5 + 0] = DEMUR_HU_PADDING;
  g_autoptr(DemurReformat) most = cut(v, DEMUR_PLANE_CORONAL, 0, 3, DEMUR_SLAB_MAXIMUM);
  g_autoptr(DemurReformat) mean = cut(v, DEMUR_PLANE_CORONAL, 0, 3, DEMUR_SLAB_MEAN);
  g_autoptr(DemurReformat) least = cut(v, DEMUR_PLANE_CORONAL, 0, 3, DEMUR_SLAB_MINIMUM);
  /* Lines from the top: slices 3, 2, 1, 0. */
  g_assert_cmpint(at(most, 3, 1), ==, 21);
  g_assert_cmpint(at(mean, 3, 1), ==, 11);
  g_assert_cmpint(at(least, 3, 1), ==, 1);
  g_assert_cmpint(at(most, 2, 0), ==, DEMUR_HU_PADDING); /* all three padded */
  g_assert_cmpint(at(mean, 1, 0), ==, 215);              /* of 210 and 220 */
  g_assert_cmpint(at(least, 1, 0), ==, 210);
  /* A slab that runs over the end has the planes that there are. */
  g_autoptr(DemurReformat) last = cut(v, DEMUR_PLANE_CORONAL, 2, 100, DEMUR_SLAB_MEAN);
  g_assert_cmpint(at(last, 0, 0), ==, 320);
  g_autoptr(DemurReformat) stack = cut(v, DEMUR_PLANE_ACQUIRED, 0, 4, DEMUR_SLAB_MAXIMUM);
  g_assert_cmpint(at(stack, 2, 4), ==, 324);
}

static void
test_positions_decide_and_a_gap_stays_empty(void) {
  /* Slices at 0, 2, 6 and 8 mm: one is missing at 4 mm. */
  g_autoptr(DemurVolume) v = make(&axial);
  static const double z[] = {0, 2, 6, 8};
  for (size_t k = 0; k < 4; k++)
    v->distances_mm[k] = v->positions_mm[3 * k + 2] = z[k];
  g_autoptr(DemurReformat) p = cut(v, DEMUR_PLANE_CORONAL, 0, 1, DEMUR_SLAB_MAXIMUM);
  g_assert_cmpuint(p->rows, ==, 5);
  g_assert_cmpint(at(p, 0, 0), ==, 300);
  g_assert_cmpint(at(p, 1, 0), ==, 200);
  g_assert_cmpint(at(p, 2, 0), ==, DEMUR_HU_PADDING);
  g_assert_cmpint(at(p, 3, 0), ==, 100);
  g_assert_cmpint(at(p, 4, 0), ==, 0);
  /* Slices at 0, 2, 4.1 and 6 mm: depth 4 mm lies 2 / 2.1 of the way from slice 1 to 2. */
  static const double uneven[] = {0, 2, 4.1, 6};
  for (size_t k = 0; k < 4; k++)
    v->distances_mm[k] = v->positions_mm[3 * k + 2] = uneven[k];
  g_autoptr(DemurReformat) q = cut(v, DEMUR_PLANE_CORONAL, 0, 1, DEMUR_SLAB_MAXIMUM);
  g_assert_cmpuint(q->rows, ==, 4);
  g_assert_cmpint(at(q, 1, 0), ==, 195); /* 100 + 100 / 1.05 = 195.24 */
  g_assert_true(q->interpolated);
}

/* Halves between slices go away from zero, padding beside a measured value stays padding, and a slab of
 * one plane is that plane: along rows and along columns. */
static void
test_between_slices_values_are_rounded_and_padding_stays(void) {
  g_autoptr(DemurVolume) v = make(&axial);
  static const double z[] = {0, 1, 3, 6}; /* depth 2 mm lies in the middle of slices 1 and 2 */
  static const gint16 below[] = {-3, 3, DEMUR_HU_PADDING, 7, -1},
                      above[] = {-2, 2, 5, DEMUR_HU_PADDING, 1},
                      middle[] = {-3, 3, DEMUR_HU_PADDING, DEMUR_HU_PADDING, 0};
  for (size_t k = 0; k < 4; k++)
    v->distances_mm[k] = v->positions_mm[3 * k + 2] = z[k];
  for (size_t r = 0; r < 3; r++)
    for (size_t c = 0; c < 5; c++) {
      v->hu[(1 * 3 + r) * 5 + c] = below[c];
      v->hu[(2 * 3 + r) * 5 + c] = above[c];
    }
  for (int slab = DEMUR_SLAB_MAXIMUM; slab <= DEMUR_SLAB_MINIMUM; slab++) {
    g_autoptr(DemurReformat) rows = cut(v, DEMUR_PLANE_CORONAL, 1, 1, (DemurSlab)slab);
    for (size_t c = 0; c < 5; c++)
      g_assert_cmpint(at(rows, 2, c), ==, middle[c]);
    for (size_t c = 0; c < 5; c++) {
      g_autoptr(DemurReformat) columns = cut(v, DEMUR_PLANE_SAGITTAL, c, 1, (DemurSlab)slab);
      g_autoptr(DemurReformat) two = cut(v, DEMUR_PLANE_CORONAL, 1, 2, (DemurSlab)slab);
      g_assert_cmpint(at(columns, 2, 1), ==, middle[c]);
      g_assert_cmpint(at(two, 2, c), ==, middle[c]); /* both planes hold the same */
    }
  }
}

static void
test_a_tilted_gantry_is_corrected_or_refused(void) {
  /* Each slice lies one row (0.5 mm) further back than the one below: a bar that runs straight
   * through the body stands at row 5 - k of slice k. */
  const Shape tilted = {4, 8, 3, {1, 0, 0, 0, 1, 0}, {0, 0, 1}, {0, 0.5, 2}, 2};
  g_autoptr(DemurVolume) v = make(&tilted);
  v->tilt_degrees = 14.036; /* atan(0.5 / 2) */
  memset(v->hu, 0, 4 * 8 * 3 * sizeof *v->hu);
  for (size_t k = 0; k < 4; k++)
    for (size_t c = 0; c < 3; c++)
      v->hu[(k * 8 + 5 - k) * 3 + c] = 1000;
  /* The grid has rows 0 to 10 of the first slice's frame; slice k holds k to k + 7. */
  g_assert_cmpuint(demur_reformat_n_planes(v, DEMUR_PLANE_CORONAL), ==, 11);
  g_autoptr(DemurReformat) p = cut(v, DEMUR_PLANE_CORONAL, 5, 1, DEMUR_SLAB_MAXIMUM);
  for (size_t r = 0; r < 4; r++)
    g_assert_cmpint(at(p, r, 1), ==, 1000);
  g_assert_true(p->tilt_corrected);
  g_autoptr(DemurReformat) s = cut(v, DEMUR_PLANE_SAGITTAL, 1, 1, DEMUR_SLAB_MAXIMUM);
  g_assert_cmpuint(s->columns, ==, 11);
  for (size_t r = 0; r < 4; r++)
    for (size_t c = 0; c < 11; c++) {
      const size_t k = 3 - r;
      g_assert_cmpint(at(s, r, c), ==, c < k || c > k + 7 ? DEMUR_HU_PADDING : c == 5 ? 1000 : 0);
    }
  /* The same without PixelSpacing. */
  v->pixel_spacing_mm[0] = v->pixel_spacing_mm[1] = NAN;
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_reformat_new(v, DEMUR_PLANE_CORONAL, 0, 1, DEMUR_SLAB_MAXIMUM, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_cmpuint(demur_reformat_n_planes(v, DEMUR_PLANE_CORONAL), ==, 0);
  g_assert_cmpuint(demur_reformat_n_planes(v, DEMUR_PLANE_ACQUIRED), ==, 4);
}

static void
test_without_pixel_spacing_there_are_no_millimetres(void) {
  g_autoptr(DemurVolume) v = make(&axial);
  v->pixel_spacing_mm[0] = v->pixel_spacing_mm[1] = NAN;
  g_autoptr(DemurReformat) p = cut(v, DEMUR_PLANE_CORONAL, 1, 1, DEMUR_SLAB_MAXIMUM);
  g_assert_true(isnan(p->pixel_spacing_mm[0]) && isnan(p->pixel_spacing_mm[1]));
  g_assert_true(isnan(p->origin_mm[0]));
  g_assert_cmpint(at(p, 0, 0), ==, 310);
}

static void
test_stacks_and_absent_planes_are_refused(void) {
  g_autoptr(DemurVolume) v = make(&axial);
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_reformat_new(v, DEMUR_PLANE_SAGITTAL, 5, 1, DEMUR_SLAB_MEAN, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  g_clear_error(&error);
  g_assert_null(demur_reformat_new(v, DEMUR_PLANE_SAGITTAL, 0, 0, DEMUR_SLAB_MEAN, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  g_clear_error(&error);
  v->is_volume = FALSE;
  g_assert_null(demur_reformat_new(v, DEMUR_PLANE_SAGITTAL, 0, 1, DEMUR_SLAB_MEAN, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  for (int i = 0; i < 6; i++)
    v->orientation[i] = NAN;
  g_assert_cmpuint(demur_reformat_n_planes(v, DEMUR_PLANE_AXIAL), ==, 0);
  g_autoptr(DemurReformat) p = cut(v, DEMUR_PLANE_ACQUIRED, 0, 1, DEMUR_SLAB_MEAN);
  g_assert_cmpstr(p->right, ==, "");
  g_assert_cmpint(at(p, 1, 1), ==, 11);
}

/* philips-tilt: -18.5 degrees by its tag, 54 slices 2.371 mm apart along the normal. */
static void
test_a_real_tilted_series_is_straightened(void) {
  g_autoptr(DemurImport) import = fixture_import("real/philips-tilt");
  if (import == NULL)
    return;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVolume) v = demur_volume_read(fixture_series(import, 0), NULL, NULL, &error);
  g_assert_no_error(error);
  g_autoptr(DemurReformat) p = cut(v, DEMUR_PLANE_SAGITTAL, v->columns / 2, 1, DEMUR_SLAB_MAXIMUM);
  g_assert_true(p->tilt_corrected);
  g_assert_cmpuint(p->rows, ==, 54);
  /* 53 x 2.371 mm x tan(18.5 degrees) = 42.05 mm of shift beside the rows' own length. */
  const double extra_mm = (double)(p->columns - v->rows) * v->pixel_spacing_mm[0];
  demur_assert_close(extra_mm, 42.05, 0, 1.0);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/reformat/coronal-has-the-head-above-and-left-on-the-right",
                  test_coronal_has_the_head_above_and_left_on_the_right);
  g_test_add_func("/dicom/reformat/sagittal-has-the-back-on-the-right",
                  test_sagittal_has_the_back_on_the_right);
  g_test_add_func("/dicom/reformat/slices-running-to-the-feet-are-turned",
                  test_slices_running_to_the_feet_are_turned);
  g_test_add_func("/dicom/reformat/a-coronal-acquisition-is-cut-axially-across-its-slices",
                  test_a_coronal_acquisition_is_cut_axially_across_its_slices);
  g_test_add_func("/dicom/reformat/slabs-leave-padding-out", test_slabs_leave_padding_out);
  g_test_add_func("/dicom/reformat/positions-decide-and-a-gap-stays-empty",
                  test_positions_decide_and_a_gap_stays_empty);
  g_test_add_func("/dicom/reformat/between-slices-values-are-rounded-and-padding-stays",
                  test_between_slices_values_are_rounded_and_padding_stays);
  g_test_add_func("/dicom/reformat/a-tilted-gantry-is-corrected-or-refused",
                  test_a_tilted_gantry_is_corrected_or_refused);
  g_test_add_func("/dicom/reformat/without-pixel-spacing-there-are-no-millimetres",
                  test_without_pixel_spacing_there_are_no_millimetres);
  g_test_add_func("/dicom/reformat/stacks-and-absent-planes-are-refused",
                  test_stacks_and_absent_planes_are_refused);
  g_test_add_func("/dicom/reformat/a-real-tilted-series-is-straightened",
                  test_a_real_tilted_series_is_straightened);
  return g_test_run();
}
