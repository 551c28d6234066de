/* What is drawn on the images: measured with a tool, by mouse or keys, kept (tasks/annotations.h)
 * and shown again; key images. */
#include "ui/ct-view-private.h"

gboolean
demur_ct_view_is_on(DemurCtView *view, const DemurMeasured *measured) {
  return measured->plane == (guint)view->plane && measured->slice == demur_ct_view_slice(view) &&
         measured->slab_mm == view->slab_mm &&
         (!(view->slab_mm > 0) || measured->slab == view->slab);
}

gboolean
demur_ct_view_is_measured_on(DemurCtView *view, const DemurMeasured *measured) {
  return demur_ct_view_is_on(view, measured) && measured->n_places >= 2;
}

void
demur_ct_view_set_tool(DemurCtView *view, DemurTool tool) {
  view->tool = tool;
  view->has_cursor = view->placing = FALSE;
  gtk_widget_set_cursor_from_name(GTK_WIDGET(view), tool != DEMUR_TOOL_NONE ? "crosshair" : NULL);
  demur_ct_view_changed(view);
}

DemurTool
demur_ct_view_tool(DemurCtView *view) {
  return view->tool;
}

void
demur_ct_view_remove_measures(DemurCtView *view) {
  for (guint i = view->measured->len; i-- > 0;) {
    const DemurMeasured *measured = &g_array_index(view->measured, DemurMeasured, i);
    if (measured->id == 0 && demur_ct_view_is_on(view, measured))
      g_array_remove_index(view->measured, i);
  }
  view->measuring = view->placing = FALSE;
  demur_ct_view_changed(view);
}

/* Begins a measurement, or sets the last place of an angle. */
void
demur_ct_view_begin_measure(DemurCtView *view, DemurPlace place) {
  const guint n = view->measured->len;
  DemurMeasured *last = n > 0 ? &g_array_index(view->measured, DemurMeasured, n - 1) : NULL;
  if (last != NULL && last->tool == view->tool && demur_ct_view_is_measured_on(view, last) &&
      last->n_places < demur_tool_places(view->tool)) {
    last->places[last->n_places++] = place;
  } else {
    const DemurMeasured measured = {.tool = view->tool,
                                    .plane = (guint)view->plane,
                                    .slice = demur_ct_view_slice(view),
                                    .slab_mm = view->slab_mm,
                                    .slab = view->slab,
                                    .n_places = 2,
                                    .places = {place, place, place}};
    g_array_append_val(view->measured, measured);
  }
}

void
demur_ct_view_go_on_measuring(DemurCtView *view, DemurPlace place) {
  DemurMeasured *last = &g_array_index(view->measured, DemurMeasured, view->measured->len - 1);
  last->places[last->n_places - 1] = place;
  demur_ct_view_changed(view);
}

/* Whether the last measurement still has a place to be set on this plane. */
static gboolean
is_open(DemurCtView *view) {
  const guint n = view->measured->len;
  const DemurMeasured *last = n > 0 ? &g_array_index(view->measured, DemurMeasured, n - 1) : NULL;
  return last != NULL && demur_ct_view_is_measured_on(view, last) && last->tool == view->tool;
}

void
demur_ct_view_set_place(DemurCtView *view) {
  if (view->tool == DEMUR_TOOL_NONE || view->hu == NULL)
    return;
  if (!view->has_cursor) {
    view->cursor = (DemurPlace){(double)view->columns / 2, (double)view->rows / 2};
    view->has_cursor = TRUE;
  } else if (view->placing && is_open(view)) {
    const DemurMeasured *last =
        &g_array_index(view->measured, DemurMeasured, view->measured->len - 1);
    view->placing = last->n_places < demur_tool_places(view->tool);
    if (view->placing)
      demur_ct_view_begin_measure(view, view->cursor);
    else
      g_signal_emit_by_name(view, "measured");
  } else {
    demur_ct_view_begin_measure(view, view->cursor);
    view->placing = TRUE;
  }
  demur_ct_view_changed(view);
}

/* Shift and an arrow: the cursor of a tool, else the cross. */
gboolean
demur_ct_view_nudge(DemurCtView *view, double dx, double dy) {
  DemurPlace place;
  if (view->tool != DEMUR_TOOL_NONE && view->hu != NULL) {
    if (!view->has_cursor)
      view->cursor = (DemurPlace){(double)view->columns / 2, (double)view->rows / 2};
    view->has_cursor = TRUE;
    view->cursor.x = CLAMP(view->cursor.x + dx, 0, (double)view->columns);
    view->cursor.y = CLAMP(view->cursor.y + dy, 0, (double)view->rows);
    view->placing = view->placing && is_open(view);
    if (view->placing)
      demur_ct_view_go_on_measuring(view, view->cursor);
    else
      demur_ct_view_changed(view);
    return TRUE;
  }
  if (!demur_ct_view_cross_place(view, &place))
    return FALSE;
  demur_ct_view_place_cross(view, (DemurPlace){place.x + dx, place.y + dy});
  return TRUE;
}

/* What is kept. */

G_STATIC_ASSERT((int)DEMUR_DRAWN_CORONAL == (int)DEMUR_CT_CORONAL &&
                (int)DEMUR_DRAWN_SAGITTAL == (int)DEMUR_CT_SAGITTAL &&
                (int)DEMUR_N_DRAWN_PLANES == (int)DEMUR_N_CT_PLANES &&
                (int)DEMUR_DRAWN_MEAN == (int)DEMUR_SLAB_MEAN &&
                (int)DEMUR_DRAWN_MINIMUM == (int)DEMUR_SLAB_MINIMUM);

/* Which slice is shown, and how. */
static void
fill_place(DemurCtView *view, DemurAnnotation *annotation) {
  const size_t n = demur_ct_view_n_slices(view), slice = demur_ct_view_slice(view);
  *annotation = (DemurAnnotation){.scan_id = view->image->scan_id,
                                  .images_digest = view->image->images_digest,
                                  .kind = DEMUR_ANNOTATION_KEY_IMAGE,
                                  .plane = (DemurDrawnPlane)view->plane,
                                  .slice = (gint64)slice,
                                  .number = (gint64)demur_ct_view_numbered(view, slice, n),
                                  .n_slices = (gint64)n,
                                  .slab_mm = view->slab_mm,
                                  .slab = (DemurDrawnSlab)view->slab,
                                  .value = NAN,
                                  .sd = NAN,
                                  .area_mm2 = NAN,
                                  .window_width = view->width,
                                  .window_level = view->level};
}

/* The last one, complete, of which nobody keeps anything yet. */
static DemurMeasured *
unkept(DemurCtView *view) {
  const guint n = view->measured->len;
  DemurMeasured *last = n > 0 ? &g_array_index(view->measured, DemurMeasured, n - 1) : NULL;
  return last != NULL && last->id == 0 && !view->measuring && !view->placing &&
                 last->n_places == demur_tool_places(last->tool) && demur_ct_view_is_on(view, last)
             ? last
             : NULL;
}

gboolean
demur_ct_view_measured(DemurCtView *view, DemurAnnotation *annotation) {
  const DemurMeasured *last = view->image != NULL && view->hu != NULL ? unkept(view) : NULL;
  if (last == NULL)
    return FALSE;
  fill_place(view, annotation);
  demur_measured_fill(last, view->hu, view->rows, view->columns, view->spacing,
                      view->image->series->unit, annotation);
  return TRUE;
}

void
demur_ct_view_set_kept(DemurCtView *view, gint64 id) {
  DemurMeasured *last = view->image != NULL ? unkept(view) : NULL;
  if (last != NULL)
    last->id = id;
}

gboolean
demur_ct_view_key_image(DemurCtView *view, DemurAnnotation *annotation) {
  if (view->image == NULL || view->hu == NULL)
    return FALSE;
  fill_place(view, annotation);
  return TRUE;
}

static DemurMeasured
measured_of(const DemurAnnotation *annotation) {
  static const DemurTool tools[DEMUR_N_ANNOTATIONS] = {
      [DEMUR_ANNOTATION_LENGTH] = DEMUR_TOOL_LENGTH,
      [DEMUR_ANNOTATION_ANGLE] = DEMUR_TOOL_ANGLE,
      [DEMUR_ANNOTATION_REGION] = DEMUR_TOOL_REGION};
  DemurMeasured measured = {.id = annotation->id,
                            .tool = tools[annotation->kind],
                            .plane = annotation->plane,
                            .slice = (size_t)annotation->slice,
                            .slab_mm = annotation->slab_mm,
                            .slab = (DemurSlab)annotation->slab,
                            .n_places = annotation->n_places};
  for (guint i = 0; i < annotation->n_places; i++)
    measured.places[i] = (DemurPlace){annotation->x[i], annotation->y[i]};
  return measured;
}

void
demur_ct_view_set_annotations(DemurCtView *view, const GPtrArray *annotations) {
  GArray *measured = g_array_new(FALSE, TRUE, sizeof(DemurMeasured));
  g_array_set_size(view->keys, 0);
  for (guint i = 0; i < annotations->len; i++) {
    const DemurAnnotation *annotation = annotations->pdata[i];
    const DemurMeasured one = measured_of(annotation);
    if (annotation->kind == DEMUR_ANNOTATION_KEY_IMAGE)
      g_array_append_val(view->keys, one);
    else
      g_array_append_val(measured, one);
  }
  /* The one that is being drawn stays the last. */
  for (guint i = 0; i < view->measured->len; i++)
    if (g_array_index(view->measured, DemurMeasured, i).id == 0)
      g_array_append_val(measured, g_array_index(view->measured, DemurMeasured, i));
  g_array_unref(view->measured);
  view->measured = measured;
  demur_ct_view_changed(view);
}

gint64 *
demur_ct_view_here(DemurCtView *view, gboolean key_images, gsize *n) {
  GArray *from = key_images ? view->keys : view->measured;
  GArray *ids = g_array_new(FALSE, FALSE, sizeof(gint64));
  for (guint i = 0; view->image != NULL && i < from->len; i++) {
    const DemurMeasured *one = &g_array_index(from, DemurMeasured, i);
    if (one->id > 0 && demur_ct_view_is_on(view, one))
      g_array_append_val(ids, one->id);
  }
  *n = ids->len;
  return (gint64 *)(gpointer)g_array_free(ids, FALSE);
}

void
demur_ct_view_show_annotation(DemurCtView *view, const DemurAnnotation *annotation) {
  const char *reason;
  const DemurCtPlane plane = (DemurCtPlane)annotation->plane;
  if (view->image == NULL || view->image->volume == NULL ||
      !demur_ct_view_can_show(view, plane, &reason))
    return;
  view->plane = plane;
  view->slice[plane] = MIN((size_t)annotation->slice, demur_ct_view_n_slices(view) - 1);
  view->slab_mm = annotation->slab_mm;
  view->slab = (DemurSlab)annotation->slab;
  view->cut_stale = TRUE;
  if (annotation->kind == DEMUR_ANNOTATION_KEY_IMAGE)
    demur_ct_view_window(view, annotation->window_width, annotation->window_level);
  else
    demur_ct_view_changed(view);
  g_signal_emit_by_name(view, "scrolled");
}
