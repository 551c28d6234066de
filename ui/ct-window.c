/* Window, level and zoom: by hand, by preset, as the file asks, as another view has them. */
#include "ui/ct-view-private.h"

void
demur_ct_view_window(DemurCtView *view, double width, double level) {
  view->width = CLAMP(width, 1, 8000);
  view->level = CLAMP(level, -4000, 8000);
  view->preset = -1;
  view->table_stale = TRUE;
  demur_ct_view_changed(view);
}

void
demur_ct_view_get_window(DemurCtView *view, double *width, double *level) {
  *width = view->width;
  *level = view->level;
}

/* The window that the file of the slice asks to be shown with (0028,1050) and (0028,1051); where it
 * has none, from the lowest to the highest value that was measured. NaN: not known yet. */
static void
own_window(DemurCtView *view, double *width, double *level) {
  *width = *level = NAN;
  if (view->image == NULL)
    return;
  const DemurSeries *series = view->image->series;
  const DemurVolume *volume = view->image->volume;
  const size_t at = volume == NULL                     ? view->image->place
                    : view->plane == DEMUR_CT_ACQUIRED ? view->slice[view->plane]
                                                       : series->n_slices / 2;
  const DemurSlice *slice = &series->slices[MIN(at, series->n_slices - 1)];
  view->own_is_range = isnan(slice->window_width);
  if (!view->own_is_range) {
    *width = slice->window_width;
    *level = slice->window_center;
  } else if (volume != NULL) {
    *width = fmax(1, volume->max_hu - volume->min_hu);
    *level = (volume->max_hu + volume->min_hu) / 2.0;
  }
}

void
demur_ct_view_preset(DemurCtView *view, guint preset) {
  double width, level;
  if (preset < DEMUR_N_PRESETS - 1) {
    width = demur_ct_presets[preset].width;
    level = demur_ct_presets[preset].level;
  } else {
    own_window(view, &width, &level);
    if (isnan(width))
      return;
  }
  view->width = width;
  view->level = level;
  view->preset = (int)preset;
  view->table_stale = TRUE;
  demur_ct_view_changed(view);
}

void
demur_ct_view_invert(DemurCtView *view) {
  view->invert = !view->invert;
  view->table_stale = TRUE;
  demur_ct_view_changed(view);
}

void
demur_ct_view_reset(DemurCtView *view) {
  view->zoom = 1;
  view->pan_x = view->pan_y = 0;
  view->invert = FALSE;
  demur_ct_view_preset(view, 0);
}

void
demur_ct_view_zoom(DemurCtView *view, double factor) {
  view->zoom = CLAMP(view->zoom * factor, 0.25, 16);
  demur_ct_view_changed(view);
}

/* Pixels of the screen to a mm; 0 where there is none. */
static double
scale_of(DemurCtView *view) {
  if (view->hu == NULL || isnan(view->spacing[1]) || gtk_widget_get_width(GTK_WIDGET(view)) < 1)
    return 0;
  return demur_ct_view_image_rect(view).size.width / ((double)view->columns * view->spacing[1]);
}

void
demur_ct_view_follow_grey(DemurCtView *view, DemurCtView *leader) {
  view->table_stale |= view->width != leader->width || view->level != leader->level ||
                       view->invert != leader->invert;
  view->width = leader->width;
  view->level = leader->level;
  view->preset = leader->preset;
  view->invert = leader->invert;
  demur_ct_view_refresh(view);
  demur_ct_view_describe(view);
  gtk_widget_queue_draw(GTK_WIDGET(view));
}

void
demur_ct_view_follow(DemurCtView *view, DemurCtView *leader) {
  const double now = scale_of(view), wanted = scale_of(leader);
  if (now > 0 && wanted > 0)
    view->zoom *= wanted / now;
  view->pan_x = leader->pan_x;
  view->pan_y = leader->pan_y;
  view->cut_stale |= view->slab_mm != leader->slab_mm;
  view->cut_stale |= view->slab != leader->slab;
  view->slab_mm = leader->slab_mm;
  view->slab = leader->slab;
  demur_ct_view_follow_grey(view, leader);
}
