/* Where what is shown lies in the patient, in mm: along the direction in which the plane's slices
 * follow, and the cross on it. */
#include "ui/ct-view-private.h"

/* Where slice 0 lies along direction, and the direction in which slices follow. */
static gboolean
axis(DemurCtView *view, double direction[3], double *first) {
  const DemurVolume *volume = view->image != NULL ? view->image->volume : NULL;
  if (volume == NULL || !volume->is_volume || isnan(volume->orientation[0]))
    return FALSE;
  switch (view->plane) {
  case DEMUR_CT_CORONAL:
    memcpy(direction, volume->orientation + 3, 3 * sizeof *direction);
    break;
  case DEMUR_CT_SAGITTAL:
    memcpy(direction, volume->orientation, 3 * sizeof *direction);
    break;
  default:
    memcpy(direction, volume->normal, 3 * sizeof *direction);
  }
  *first = 0.0;
  for (int i = 0; i < 3; i++)
    *first += direction[i] * volume->positions_mm[i];
  return isfinite(*first) && demur_ct_view_plane_spacing(view) > 0;
}

/* Of a slice along the axis, in mm. */
static double
along(DemurCtView *view, size_t slice, double first) {
  const DemurVolume *volume = view->image->volume;
  if (view->plane == DEMUR_CT_ACQUIRED)
    return first + volume->distances_mm[slice] - volume->distances_mm[0];
  return first + (double)slice * demur_ct_view_plane_spacing(view);
}

static gboolean
point_of(DemurCtView *view, size_t slice, double point[3]) {
  double direction[3], first;
  if (!axis(view, direction, &first))
    return FALSE;
  const double at = along(view, slice, first);
  for (int i = 0; i < 3; i++)
    point[i] = direction[i] * at;
  return isfinite(at);
}

gboolean
demur_ct_view_point(DemurCtView *view, double point[3]) {
  return demur_ct_view_n_slices(view) > 0 && point_of(view, view->slice[view->plane], point);
}

gboolean
demur_ct_view_middle(DemurCtView *view, double point[3]) {
  const size_t n = demur_ct_view_n_slices(view);
  return n > 0 && point_of(view, n / 2, point);
}

/* The nearest slice, and how far it is. */
static gboolean
nearest(DemurCtView *view, const double point[3], size_t *slice, double *distance) {
  double direction[3], first;
  const size_t n = demur_ct_view_n_slices(view);
  if (n == 0 || !axis(view, direction, &first))
    return FALSE;
  const double wanted = direction[0] * point[0] + direction[1] * point[1] + direction[2] * point[2];
  *slice = 0;
  *distance = INFINITY;
  for (size_t i = 0; i < n; i++) {
    const double d = fabs(along(view, i, first) - wanted);
    if (d < *distance) {
      *distance = d;
      *slice = i;
    }
  }
  return isfinite(*distance);
}

void
demur_ct_view_show_point(DemurCtView *view, const double point[3]) {
  size_t slice;
  double distance;
  if (nearest(view, point, &slice, &distance))
    demur_ct_view_set_slice(view, slice);
}

gboolean
demur_ct_view_has_point(DemurCtView *view, const double point[3]) {
  size_t slice;
  double distance;
  return nearest(view, point, &slice, &distance) &&
         distance <= demur_ct_view_plane_spacing(view) / 2 + 1e-6;
}

gboolean
demur_ct_view_axis(DemurCtView *view, double direction[3], double *at_mm) {
  double first;
  if (demur_ct_view_n_slices(view) == 0 || !axis(view, direction, &first))
    return FALSE;
  *at_mm = along(view, view->slice[view->plane], first);
  return isfinite(*at_mm);
}

/* The cross. */

gboolean
demur_ct_view_frame(DemurCtView *view, DemurPlaneFrame *frame) {
  const DemurVolume *volume = view->image != NULL ? view->image->volume : NULL;
  if (volume == NULL || view->hu == NULL)
    return FALSE;
  const double *origin = view->cut != NULL
                             ? view->cut->origin_mm
                             : volume->positions_mm + 3 * view->slice[DEMUR_CT_ACQUIRED];
  const double *orientation = view->cut != NULL ? view->cut->orientation : volume->orientation;
  memcpy(frame->origin_mm, origin, sizeof frame->origin_mm);
  memcpy(frame->orientation, orientation, sizeof frame->orientation);
  memcpy(frame->spacing_mm, view->spacing, sizeof frame->spacing_mm);
  return isfinite(origin[0]) && isfinite(orientation[0]) && isfinite(orientation[3]) &&
         view->spacing[0] > 0 && view->spacing[1] > 0;
}

gboolean
demur_ct_view_cross_place(DemurCtView *view, DemurPlace *place) {
  DemurPlaneFrame frame;
  if (!view->has_cross || !demur_ct_view_frame(view, &frame))
    return FALSE;
  *place = demur_plane_frame_place(&frame, view->cross_mm);
  return TRUE;
}

void
demur_ct_view_set_cross(DemurCtView *view, const double point_mm[3]) {
  view->has_cross = point_mm != NULL;
  if (point_mm != NULL)
    memcpy(view->cross_mm, point_mm, sizeof view->cross_mm);
  demur_ct_view_describe(view);
  gtk_widget_queue_draw(GTK_WIDGET(view));
}

gboolean
demur_ct_view_placed(DemurCtView *view, double point_mm[3]) {
  memcpy(point_mm, view->placed_mm, sizeof view->placed_mm);
  return view->has_placed;
}

void
demur_ct_view_place_cross(DemurCtView *view, DemurPlace place) {
  DemurPlaneFrame frame;
  if (!view->has_cross || !demur_ct_view_frame(view, &frame))
    return;
  place.x = CLAMP(place.x, 0.5, (double)view->columns - 0.5);
  place.y = CLAMP(place.y, 0.5, (double)view->rows - 0.5);
  demur_plane_frame_point(&frame, place, view->placed_mm);
  view->has_placed = TRUE;
  g_signal_emit_by_name(view, "placed");
}
