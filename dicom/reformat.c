/* Grid (c, r, k): columns, rows and depth along the first slice's axes. A slice's position relative
 * to the first one's, p_i - p_0 = u_i * row + v_i * column + d_i * normal, gives its shift within
 * the grid, (u_i - min u) / column spacing and (v_i - min v) / row spacing, and its depth; without
 * tilt u_i = v_i = 0 and the grid is the slices themselves. Depth k stands at d_0 + k * spacing and
 * takes the two slices beside it with linear weights. Cost: O(pixels * planes of the slab), line by
 * line; two reads a pixel, eight where slices are shifted. */
#include "dicom/reformat.h"
#include "base/error.h"
#include "dicom/geometry.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

#define NO_SHIFT 0.02 /* of a pixel */
#define GAP 1.5       /* of the spacing */
#define NO_TILT_DEGREES 0.01

enum { COLUMN_AXIS, ROW_AXIS, SLICE_AXIS };

typedef struct {
  double shift[2]; /* in columns, rows of the grid */
  gboolean shifted;
} SliceShift;

typedef struct {
  gssize before, after; /* slices; both -1: nothing there */
  double weight;        /* of after */
} Depth;

typedef struct {
  const DemurVolume *volume;
  size_t size[3];     /* columns, rows, depths */
  SliceShift *shifts; /* [n_slices] */
  Depth *depths;      /* [size[SLICE_AXIS]] */
  double first_mm[2]; /* of column 0 and row 0 along the axes, from the first slice's position */
  gboolean shifted, interpolated;
} Grid;

static void
grid_clear(Grid *grid) {
  g_free(grid->shifts);
  g_free(grid->depths);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Grid, grid_clear)

/* Depths between the slices, from their distances, which ascend. */
static void
fill_depths(Grid *grid) {
  const DemurVolume *volume = grid->volume;
  const double *d = volume->distances_mm, step = volume->spacing_mm;
  size_t i = 0;
  for (size_t k = 0; k < grid->size[SLICE_AXIS]; k++) {
    const double at = d[0] + (double)k * step;
    while (i + 2 < volume->n_slices && d[i + 1] <= at)
      i++;
    const double gap = d[i + 1] - d[i];
    const double weight = (at - d[i]) / gap;
    const double slack = 1e-3 * step / gap; /* positions are written with about 1e-3 mm */
    Depth depth = {(gssize)i, (gssize)i + 1, weight};
    if (gap > GAP * step) {
      if (at - d[i] <= 0.5 * step)
        depth = (Depth){(gssize)i, (gssize)i, 0};
      else if (d[i + 1] - at <= 0.5 * step)
        depth = (Depth){(gssize)i + 1, (gssize)i + 1, 0};
      else
        depth = (Depth){-1, -1, 0};
    } else if (weight <= slack) {
      depth = (Depth){(gssize)i, (gssize)i, 0};
    } else if (weight >= 1 - slack) {
      depth = (Depth){(gssize)i + 1, (gssize)i + 1, 0};
    } else {
      grid->interpolated = TRUE;
    }
    grid->depths[k] = depth;
  }
}

/* Shifts of the slices within their planes; FALSE where there are some and no PixelSpacing. */
static gboolean
fill_shifts(Grid *grid) {
  const DemurVolume *volume = grid->volume;
  const double *first = volume->positions_mm;
  const gboolean measured =
      isfinite(volume->pixel_spacing_mm[0]) && isfinite(volume->pixel_spacing_mm[1]);
  const double size_mm[2] = {volume->pixel_spacing_mm[1], volume->pixel_spacing_mm[0]};
  double low[2] = {0, 0}, high[2] = {0, 0};
  for (size_t i = 0; i < volume->n_slices; i++) {
    const double *p = volume->positions_mm + 3 * i;
    const double step[3] = {p[0] - first[0], p[1] - first[1], p[2] - first[2]};
    for (size_t a = 0; a < 2; a++) {
      const double mm = demur_geometry_dot(step, volume->orientation + 3 * a);
      grid->shifts[i].shift[a] = measured ? mm / size_mm[a] : 0;
      low[a] = fmin(low[a], grid->shifts[i].shift[a]);
      high[a] = fmax(high[a], grid->shifts[i].shift[a]);
    }
  }
  if (!measured)
    return !(fabs(volume->tilt_degrees) > NO_TILT_DEGREES);
  for (size_t a = 0; a < 2; a++) {
    const double range = high[a] - low[a];
    const size_t extra = range < NO_SHIFT ? 0 : (size_t)fmin(ceil(range), 65535);
    grid->size[a] += extra;
    grid->first_mm[a] = extra > 0 ? low[a] * size_mm[a] : 0;
    for (size_t i = 0; i < volume->n_slices; i++) {
      double *shift = &grid->shifts[i].shift[a];
      *shift = extra > 0 ? *shift - low[a] : 0;
      const double nearest = round(*shift);
      if (fabs(*shift - nearest) < NO_SHIFT)
        *shift = nearest;
      else
        grid->interpolated = TRUE;
      grid->shifts[i].shifted |= *shift != 0;
      grid->shifted |= *shift != 0;
    }
  }
  return TRUE;
}

static gboolean
grid_init(Grid *grid, const DemurVolume *volume) {
  *grid = (Grid){.volume = volume};
  if (!volume->is_volume || volume->n_slices < 2 || !(volume->spacing_mm > 0) ||
      !isfinite(volume->orientation[0]))
    return FALSE;
  const double extent = volume->distances_mm[volume->n_slices - 1] - volume->distances_mm[0];
  const double n_depths = floor(extent / volume->spacing_mm + 0.01) + 1;
  if (!(n_depths >= 2 && n_depths < 65536))
    return FALSE;
  grid->size[COLUMN_AXIS] = volume->columns;
  grid->size[ROW_AXIS] = volume->rows;
  grid->size[SLICE_AXIS] = (size_t)n_depths;
  grid->shifts = g_new0(SliceShift, volume->n_slices);
  grid->depths = g_new0(Depth, grid->size[SLICE_AXIS]);
  if (!fill_shifts(grid))
    return FALSE;
  fill_depths(grid);
  return TRUE;
}

/* Value of one slice at a place of the grid; padding where it was not measured there. */
static double
slice_value(const Grid *grid, size_t slice, size_t c, size_t r) {
  const DemurVolume *volume = grid->volume;
  const gint16 *hu = volume->hu + slice * volume->rows * volume->columns;
  const SliceShift *shift = &grid->shifts[slice];
  if (!shift->shifted)
    return c < volume->columns && r < volume->rows ? hu[r * volume->columns + c] : DEMUR_HU_PADDING;
  const double x = (double)c - shift->shift[0], y = (double)r - shift->shift[1];
  const double left = floor(x), top = floor(y);
  const double fx = x - left, fy = y - top;
  double sum = 0;
  for (int k = 0; k < 4; k++) {
    const double weight = (k & 1 ? fx : 1 - fx) * (k & 2 ? fy : 1 - fy);
    if (weight == 0)
      continue;
    const double column = left + (k & 1), row = top + (k >> 1);
    if (column < 0 || row < 0 || column >= (double)volume->columns || row >= (double)volume->rows)
      return DEMUR_HU_PADDING;
    const gint16 value = hu[(size_t)row * volume->columns + (size_t)column];
    if (value == DEMUR_HU_PADDING)
      return DEMUR_HU_PADDING;
    sum += weight * value;
  }
  return sum;
}

static double
grid_value(const Grid *grid, const size_t at[3]) {
  const Depth *depth = &grid->depths[at[SLICE_AXIS]];
  if (depth->before < 0)
    return DEMUR_HU_PADDING;
  const double before = slice_value(grid, (size_t)depth->before, at[0], at[1]);
  if (depth->before == depth->after || before == DEMUR_HU_PADDING)
    return before;
  const double after = slice_value(grid, (size_t)depth->after, at[0], at[1]);
  return after == DEMUR_HU_PADDING ? after : before + depth->weight * (after - before);
}

/* The volume's axes nearest to the patient's x, y and z: the assignment with the largest sum of
 * cosines; ties go to the earlier one, which is that of an axial stack. */
static void
assign_axes(const DemurVolume *volume, int axes[3]) {
  static const int permutations[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1},
                                         {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
  const double *directions[3] = {volume->orientation, volume->orientation + 3, volume->normal};
  double best = -1;
  for (size_t p = 0; p < G_N_ELEMENTS(permutations); p++) {
    double sum = 0;
    for (int i = 0; i < 3; i++)
      sum += fabs(directions[permutations[p][i]][i]);
    if (sum > best + 1e-9) {
      best = sum;
      memcpy(axes, permutations[p], 3 * sizeof *axes);
    }
  }
}

/* How the picture lies in the volume. */
typedef struct {
  int fixed, across, down; /* axes of the volume */
  gboolean flip_across, flip_down;
} Layout;

static Layout
layout_of(const DemurVolume *volume, DemurPlane plane) {
  if (plane == DEMUR_PLANE_ACQUIRED || !isfinite(volume->orientation[0]))
    return (Layout){SLICE_AXIS, COLUMN_AXIS, ROW_AXIS, FALSE, FALSE};
  static const int patient[4][3] = {{0, 0, 0}, {2, 0, 1}, {1, 0, 2}, {0, 1, 2}};
  const double *directions[3] = {volume->orientation, volume->orientation + 3, volume->normal};
  int axes[3];
  assign_axes(volume, axes);
  const int *want = patient[plane];
  Layout layout = {axes[want[0]], axes[want[1]], axes[want[2]], FALSE, FALSE};
  layout.flip_across = directions[layout.across][want[1]] < 0;
  /* Down the picture is +y (back), but -z (feet). */
  layout.flip_down = (directions[layout.down][want[2]] < 0) != (want[2] == 2);
  return layout;
}

static gboolean
is_cut(const DemurVolume *volume, DemurPlane plane) {
  return plane != DEMUR_PLANE_ACQUIRED && layout_of(volume, plane).fixed != SLICE_AXIS;
}

size_t
demur_reformat_n_planes(const DemurVolume *volume, DemurPlane plane) {
  if (!is_cut(volume, plane))
    return plane == DEMUR_PLANE_ACQUIRED || isfinite(volume->orientation[0]) ? volume->n_slices : 0;
  g_auto(Grid) grid = {0};
  return grid_init(&grid, volume) ? grid.size[layout_of(volume, plane).fixed] : 0;
}

/* Gathers the planes of a slab. */
typedef struct {
  DemurSlab slab;
  double value; /* extreme or sum */
  size_t n;
} Gather;

static inline void
gather_add(Gather *gather, double value) {
  if (value == DEMUR_HU_PADDING)
    return;
  if (gather->n++ == 0)
    gather->value = value;
  else if (gather->slab == DEMUR_SLAB_MEAN)
    gather->value += value;
  else if (gather->slab == DEMUR_SLAB_MAXIMUM)
    gather->value = MAX(gather->value, value);
  else
    gather->value = MIN(gather->value, value);
}

/* To the nearest, halves away from zero: round() without a call for each pixel. Padding, the lowest
 * value, stays what it is. */
static inline gint16
to_hu(double value) {
  const int whole = (int)value;
  const double rest = value - whole;
  return (gint16)(whole + (rest >= 0.5) - (rest <= -0.5));
}

static inline gint16
gather_end(const Gather *gather) {
  if (gather->n == 0)
    return DEMUR_HU_PADDING;
  return to_hu(gather->slab == DEMUR_SLAB_MEAN ? gather->value / (double)gather->n : gather->value);
}

static inline void
blend_line(const gint16 *before, const gint16 *after, size_t stride, double weight, size_t n,
           double *values) {
  if (before == after) {
    for (size_t c = 0; c < n; c++)
      values[c] = before[c * stride];
    return;
  }
  for (size_t c = 0; c < n; c++) {
    const double b = before[c * stride], a = after[c * stride];
    values[c] =
        b == DEMUR_HU_PADDING || a == DEMUR_HU_PADDING ? DEMUR_HU_PADDING : b + weight * (a - b);
  }
}

/* One line of one plane, values [n] along the volume's own axis. grid NULL: slices as they are. */
static void
read_line(const DemurVolume *volume, const Grid *grid, const Layout *layout, size_t fixed,
          size_t down, size_t n, double *values) {
  const size_t strides[3] = {1, volume->columns, volume->rows * volume->columns};
  size_t at[3] = {0, 0, 0};
  at[layout->fixed] = fixed;
  at[layout->down] = down;
  if (grid != NULL && (grid->shifted || layout->across == SLICE_AXIS)) {
    for (size_t c = 0; c < n; c++) {
      at[layout->across] = c;
      values[c] = grid_value(grid, at);
    }
    return;
  }
  const Depth depth = grid != NULL ? grid->depths[down] : (Depth){(gssize)fixed, (gssize)fixed, 0};
  if (depth.before < 0) {
    for (size_t c = 0; c < n; c++)
      values[c] = DEMUR_HU_PADDING;
    return;
  }
  at[SLICE_AXIS] = 0;
  const gint16 *hu = volume->hu + at[0] + at[1] * strides[1];
  const gint16 *before = hu + (size_t)depth.before * strides[SLICE_AXIS],
               *after = hu + (size_t)depth.after * strides[SLICE_AXIS];
  if (layout->across == COLUMN_AXIS) /* without a stride: several at once */
    blend_line(before, after, 1, depth.weight, n, values);
  else
    blend_line(before, after, strides[layout->across], depth.weight, n, values);
}

/* The picture, from planes index to end. grid NULL: slices as they are. */
static void
fill(DemurReformat *reformat, const DemurVolume *volume, const Grid *grid, const Layout *layout,
     size_t index, size_t end, DemurSlab slab) {
  const size_t n = reformat->columns;
  g_autofree double *values = g_new(double, n);
  g_autofree Gather *gathers = g_new(Gather, n);
  for (size_t r = 0; r < reformat->rows; r++) {
    const size_t down = layout->flip_down ? reformat->rows - 1 - r : r;
    gint16 *hu = reformat->hu + r * n;
    if (end - index == 1) {
      read_line(volume, grid, layout, index, down, n, values);
      for (size_t c = 0; c < n; c++)
        hu[layout->flip_across ? n - 1 - c : c] = to_hu(values[c]);
      continue;
    }
    for (size_t c = 0; c < n; c++)
      gathers[c] = (Gather){.slab = slab};
    for (size_t i = index; i < end; i++) {
      read_line(volume, grid, layout, i, down, n, values);
      for (size_t c = 0; c < n; c++)
        gather_add(&gathers[c], values[c]);
    }
    for (size_t c = 0; c < n; c++)
      hu[layout->flip_across ? n - 1 - c : c] = gather_end(&gathers[c]);
  }
}

static void
place(DemurReformat *reformat, const DemurVolume *volume, const Grid *grid, Layout layout,
      size_t index) {
  const double *directions[3] = {volume->orientation, volume->orientation + 3, volume->normal};
  const double size_mm[3] = {volume->pixel_spacing_mm[1], volume->pixel_spacing_mm[0],
                             volume->spacing_mm};
  const gboolean measured = isfinite(size_mm[0]) && isfinite(size_mm[1]) &&
                            (layout.fixed == SLICE_AXIS || isfinite(size_mm[2]));
  reformat->pixel_spacing_mm[0] = measured ? size_mm[layout.down] : (double)NAN;
  reformat->pixel_spacing_mm[1] = measured ? size_mm[layout.across] : (double)NAN;
  const gboolean oriented = isfinite(volume->orientation[0]);
  for (int i = 0; i < 3; i++) {
    const double right = directions[layout.across][i], down = directions[layout.down][i];
    reformat->orientation[i] = oriented ? (layout.flip_across ? -right : right) : (double)NAN;
    reformat->orientation[3 + i] = oriented ? (layout.flip_down ? -down : down) : (double)NAN;
    reformat->origin_mm[i] = NAN;
  }
  if (!oriented)
    return;
  const double *o = reformat->orientation;
  const double left[3] = {-o[0], -o[1], -o[2]}, up[3] = {-o[3], -o[4], -o[5]};
  demur_geometry_letters(o, reformat->right);
  demur_geometry_letters(left, reformat->left);
  demur_geometry_letters(o + 3, reformat->down);
  demur_geometry_letters(up, reformat->up);
  const gboolean cut = layout.fixed != SLICE_AXIS;
  const double *from = volume->positions_mm + (cut ? 0 : 3 * index);
  if (!measured || !isfinite(from[0]))
    return;
  double at[3] = {0, 0, 0}; /* of the first pixel along the three axes, in steps */
  at[layout.across] = layout.flip_across ? (double)reformat->columns - 1 : 0;
  at[layout.down] = layout.flip_down ? (double)reformat->rows - 1 : 0;
  if (cut)
    at[layout.fixed] = (double)index;
  for (int i = 0; i < 3; i++) {
    reformat->origin_mm[i] = from[i];
    for (int a = 0; a < 3; a++)
      if (a != SLICE_AXIS || cut)
        reformat->origin_mm[i] +=
            (at[a] * size_mm[a] + (cut && a < 2 ? grid->first_mm[a] : 0)) * directions[a][i];
  }
}

DemurReformat *
demur_reformat_new(const DemurVolume *volume, DemurPlane plane, size_t index, size_t n_slab,
                   DemurSlab slab, GError **error) {
  g_auto(Grid) grid = {0};
  const gboolean cut = is_cut(volume, plane);
  if (cut ? !grid_init(&grid, volume) : demur_reformat_n_planes(volume, plane) == 0) {
    demur_error_set(error, DEMUR_ERROR_STATE, "%s",
                    fabs(volume->tilt_degrees) > NO_TILT_DEGREES && volume->is_volume
                        ? N_("the gantry was tilted and there is no PixelSpacing: a reformat "
                             "would show a sheared body; look at the acquired slices")
                        : N_("the slices have no positions to cut along; look at the acquired "
                             "slices"));
    return NULL;
  }
  const Layout layout = layout_of(volume, plane);
  const size_t stack[3] = {volume->columns, volume->rows, volume->n_slices};
  const size_t *size = cut ? grid.size : stack;
  if (index >= size[layout.fixed] || n_slab < 1) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "there are planes 0 to %zu, not %zu; a slab has at least 1 plane",
                    size[layout.fixed] - 1, index);
    return NULL;
  }
  g_autoptr(DemurReformat) reformat = g_new0(DemurReformat, 1);
  reformat->rows = size[layout.down];
  reformat->columns = size[layout.across];
  reformat->tilt_corrected = cut && grid.shifted;
  reformat->interpolated = cut && grid.interpolated;
  reformat->hu = demur_memory_unset(reformat->rows, reformat->columns, sizeof *reformat->hu, error);
  if (reformat->hu == NULL)
    return NULL;
  const size_t end = index + MIN(n_slab, size[layout.fixed] - index);
  fill(reformat, volume, cut ? &grid : NULL, &layout, index, end, slab);
  place(reformat, volume, &grid, layout, index);
  return g_steal_pointer(&reformat);
}

void
demur_reformat_free(DemurReformat *reformat) {
  if (reformat == NULL)
    return;
  g_aligned_free(reformat->hu);
  g_free(reformat);
}
