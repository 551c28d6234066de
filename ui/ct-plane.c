/* Which slice of which plane is shown: scrolled, numbered as the archive does, and run through. */
#include "ui/ct-view-private.h"

const DemurPlane demur_ct_cut_planes[DEMUR_N_CT_PLANES] = {
    DEMUR_PLANE_ACQUIRED, DEMUR_PLANE_CORONAL, DEMUR_PLANE_SAGITTAL};

gboolean
demur_ct_view_runs_backwards(const DemurSeries *series) {
  const DemurSlice *first = &series->slices[0], *last = &series->slices[series->n_slices - 1];
  if (first->instance_number != DEMUR_NO_NUMBER && last->instance_number != DEMUR_NO_NUMBER &&
      first->instance_number != last->instance_number)
    return first->instance_number > last->instance_number;
  return !isnan(series->normal[2]) && series->normal[2] > 0.5;
}

size_t
demur_ct_view_numbered(DemurCtView *view, size_t slice, size_t n) {
  const gboolean backwards =
      view->plane == DEMUR_CT_ACQUIRED && demur_ct_view_runs_backwards(view->image->series);
  return backwards ? n - slice : slice + 1;
}

double
demur_ct_view_plane_spacing(DemurCtView *view) {
  const DemurVolume *volume = view->image->volume;
  if (volume == NULL)
    return NAN;
  switch (view->plane) {
  case DEMUR_CT_CORONAL:
    return volume->pixel_spacing_mm[0];
  case DEMUR_CT_SAGITTAL:
    return volume->pixel_spacing_mm[1];
  default:
    return volume->spacing_mm;
  }
}

size_t
demur_ct_view_n_slices(DemurCtView *view) {
  if (view->image == NULL)
    return 0;
  if (view->image->volume == NULL)
    return view->image->n_slices;
  if (view->plane == DEMUR_CT_ACQUIRED)
    return view->image->series->n_slices;
  return demur_reformat_n_planes(view->image->volume, demur_ct_cut_planes[view->plane]);
}

/* Whether some step from slice to slice is over 1.5 of the usual one: there the reformat is black
 * (dicom/reformat.h). */
static gboolean
has_gaps(const DemurVolume *volume) {
  if (!volume->is_volume || !(volume->spacing_mm > 0))
    return FALSE;
  for (size_t k = 1; k < volume->n_slices; k++)
    if (fabs(volume->distances_mm[k] - volume->distances_mm[k - 1]) > 1.5 * volume->spacing_mm)
      return TRUE;
  return FALSE;
}

gboolean
demur_ct_view_can_show(DemurCtView *view, DemurCtPlane plane, const char **reason) {
  *reason = NULL;
  if (plane == DEMUR_CT_ACQUIRED)
    return TRUE;
  const DemurVolume *volume = view->image != NULL ? view->image->volume : NULL;
  if (volume == NULL) {
    *reason = _("The volume is not read yet.");
    return FALSE;
  }
  if (has_gaps(volume)) {
    *reason = _("Not possible: slices are missing or unevenly spaced, and what lies between would "
                "be made up.");
    return FALSE;
  }
  if (demur_reformat_n_planes(volume, demur_ct_cut_planes[plane]) > 0)
    return TRUE;
  *reason = !volume->is_volume
                ? _("Not possible: the slices have no positions along one direction.")
                : _("Not possible: without pixel spacing this tilted stack can't be straightened.");
  return FALSE;
}

void
demur_ct_view_set_plane(DemurCtView *view, DemurCtPlane plane) {
  const char *reason;
  if (plane == view->plane || !demur_ct_view_can_show(view, plane, &reason))
    return;
  view->plane = plane;
  const size_t n = demur_ct_view_n_slices(view);
  if (plane != DEMUR_CT_ACQUIRED && view->slice[plane] == 0)
    view->slice[plane] = n / 2;
  view->slice[plane] = MIN(view->slice[plane], n - 1);
  view->cut_stale = TRUE;
  demur_ct_view_changed(view);
}

DemurCtPlane
demur_ct_view_plane(DemurCtView *view) {
  return view->plane;
}

/* Slabs. */

const char *
demur_ct_view_slab_name(DemurSlab slab) {
  return slab == DEMUR_SLAB_MEAN ? _("Mean") : slab == DEMUR_SLAB_MINIMUM ? "MinIP" : "MIP";
}

void
demur_ct_view_set_slab(DemurCtView *view, double mm) {
  view->slab_mm = mm;
  view->cut_stale = TRUE;
  demur_ct_view_changed(view);
}

double
demur_ct_view_slab(DemurCtView *view) {
  return view->slab_mm;
}

void
demur_ct_view_set_slab_kind(DemurCtView *view, DemurSlab slab) {
  view->slab = slab;
  view->cut_stale = TRUE;
  demur_ct_view_changed(view);
}

DemurSlab
demur_ct_view_slab_kind(DemurCtView *view) {
  return view->slab;
}

/* Slices. */

size_t
demur_ct_view_slice(DemurCtView *view) {
  if (view->image != NULL && view->image->volume == NULL)
    return view->image->first_index;
  return view->slice[view->plane];
}

void
demur_ct_view_set_slice(DemurCtView *view, size_t slice) {
  const size_t n = demur_ct_view_n_slices(view);
  if (n == 0 || view->image->volume == NULL || MIN(slice, n - 1) == view->slice[view->plane])
    return;
  view->slice[view->plane] = MIN(slice, n - 1);
  view->cut_stale = TRUE;
  demur_ct_view_changed(view);
}

void
demur_ct_view_scroll(DemurCtView *view, int slices) {
  const size_t n = demur_ct_view_n_slices(view);
  if (n == 0)
    return;
  if (view->plane == DEMUR_CT_ACQUIRED && demur_ct_view_runs_backwards(view->image->series))
    slices = -slices;
  if (view->image->volume == NULL) { /* the rest is being read: this one is asked for now */
    const gint64 wanted = CLAMP((gint64)view->wanted + slices, 0, (gint64)n - 1);
    if (wanted == (gint64)view->wanted)
      return;
    view->wanted = (size_t)wanted;
    g_signal_emit_by_name(view, "wanted", (guint)wanted);
    return;
  }
  const gint64 before = (gint64)view->slice[view->plane];
  const gint64 after = CLAMP(before + slices, 0, (gint64)n - 1);
  if (after == before)
    return;
  demur_ct_view_set_slice(view, (size_t)after);
  g_signal_emit_by_name(view, "scrolled");
}

/* Cine. */

#define SLICES_A_SECOND 15

static gboolean
on_cine_tick(GtkWidget *widget, GdkFrameClock *clock, gpointer data) {
  DemurCtView *view = DEMUR_CT_VIEW(widget);
  const gint64 now = gdk_frame_clock_get_frame_time(clock);
  if (now - view->cine_time < G_USEC_PER_SEC / SLICES_A_SECOND)
    return G_SOURCE_CONTINUE;
  view->cine_time = now;
  const size_t before = demur_ct_view_slice(view);
  demur_ct_view_scroll(view, 1);
  if (demur_ct_view_slice(view) == before) /* the last: from the first again */
    demur_ct_view_scroll(view, -G_MAXINT / 2);
  return G_SOURCE_CONTINUE;
}

void
demur_ct_view_set_cine(DemurCtView *view, gboolean run) {
  run = run && view->image != NULL && view->image->volume != NULL;
  if (run == (view->cine != 0))
    return;
  if (run) {
    view->cine_time = 0;
    view->cine = gtk_widget_add_tick_callback(GTK_WIDGET(view), on_cine_tick, NULL, NULL);
  } else {
    gtk_widget_remove_tick_callback(GTK_WIDGET(view), view->cine);
    view->cine = 0;
  }
  demur_ct_view_changed(view);
}

gboolean
demur_ct_view_cine(DemurCtView *view) {
  return view->cine != 0;
}
