#include "ui/ct-view.h"

#include "ui/ct-view-private.h"

static const char *const plane_names[DEMUR_N_CT_PLANES] = {
    [DEMUR_CT_ACQUIRED] = "axial",
    [DEMUR_CT_CORONAL] = "coronal",
    [DEMUR_CT_SAGITTAL] = "sagittal",
};

G_DEFINE_FINAL_TYPE(DemurCtView, demur_ct_view, GTK_TYPE_WIDGET)

const char *
demur_ct_plane_name(DemurCtPlane plane) {
  return plane_names[plane];
}

gboolean
demur_ct_plane_from_name(const char *name, DemurCtPlane *plane) {
  for (guint i = 0; i < DEMUR_N_CT_PLANES; i++)
    if (g_strcmp0(name, plane_names[i]) == 0) {
      *plane = (DemurCtPlane)i;
      return TRUE;
    }
  return FALSE;
}

void
demur_ct_view_changed(DemurCtView *view) {
  demur_ct_view_refresh(view);
  demur_ct_view_describe(view);
  gtk_widget_queue_draw(GTK_WIDGET(view));
  g_signal_emit_by_name(view, "changed");
}

void
demur_ct_view_set_beside(DemurCtView *view) {
  view->is_beside = TRUE;
}

void
demur_ct_view_clear(DemurCtView *view, const char *sentence) {
  demur_ct_view_set_cine(view, FALSE);
  view->has_cross = view->has_placed = view->has_cursor = view->placing = FALSE;
  g_clear_pointer(&view->image, demur_image_unref);
  g_array_set_size(view->measured, 0);
  g_array_set_size(view->keys, 0);
  view->measuring = FALSE;
  demur_ct_view_clear_facts(view);
  view->sentence = g_strdup(sentence);
  view->cut_stale = TRUE;
  demur_ct_view_changed(view);
}

void
demur_ct_view_set_image(DemurCtView *view, DemurImage *image, const DemurScan *scan) {
  const gboolean same = view->image != NULL && g_strcmp0(view->image->scan_id, image->scan_id) == 0;
  const gboolean was_part = same && view->image->volume == NULL;
  const gboolean was_whole = same && view->image->volume != NULL;
  demur_image_ref(image);
  g_clear_pointer(&view->image, demur_image_unref);
  view->image = image;
  demur_ct_view_copy_facts(view, scan);
  if (!same) {
    g_array_set_size(view->measured, 0);
    g_array_set_size(view->keys, 0);
    view->measuring = view->placing = view->has_cursor = FALSE;
    memset(view->slice, 0, sizeof view->slice);
    view->plane = DEMUR_CT_ACQUIRED;
    view->slice[DEMUR_CT_ACQUIRED] =
        image->volume != NULL ? image->series->n_slices / 2 : image->first_index;
    view->slab_mm = 0;
    view->zoom = 1;
    view->pan_x = view->pan_y = 0;
    view->invert = FALSE;
    view->width = demur_ct_presets[DEMUR_CT_PRESET_LUNG].width;
    view->level = demur_ct_presets[DEMUR_CT_PRESET_LUNG].level;
    view->preset = 0;
    view->table_stale = TRUE;
  }
  /* Slices that were asked for before the whole was there: it goes on from the last. What is read
   * again goes on from where it was. */
  if (image->volume == NULL) {
    if (!same)
      view->wanted = image->first_index;
    else if (was_whole)
      view->wanted = view->slice[DEMUR_CT_ACQUIRED];
    view->slice[DEMUR_CT_ACQUIRED] = image->first_index;
  } else if (was_part) {
    view->slice[DEMUR_CT_ACQUIRED] = MIN(view->wanted, image->series->n_slices - 1);
  }
  view->cut_stale = TRUE;
  demur_ct_view_changed(view);
}

DemurImage *
demur_ct_view_image(DemurCtView *view) {
  return view->image;
}

/* The widget. */

static void
demur_ct_view_measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                      int *natural, int *minimum_baseline, int *natural_baseline) {
  *minimum = 200;
  *natural = 512;
}

static void
demur_ct_view_finalize(GObject *object) {
  DemurCtView *view = DEMUR_CT_VIEW(object);
  demur_ct_view_clear_facts(view);
  demur_image_unref(view->image);
  demur_reformat_free(view->cut);
  g_clear_object(&view->texture);
  g_free(view->table);
  g_array_unref(view->measured);
  g_array_unref(view->keys);
  g_array_unref(view->drawn);
  G_OBJECT_CLASS(demur_ct_view_parent_class)->finalize(object);
}

static void
demur_ct_view_class_init(DemurCtViewClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->finalize = demur_ct_view_finalize;
  widget_class->snapshot = demur_ct_view_snapshot;
  widget_class->measure = demur_ct_view_measure;
  gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  static const char *const plain[] = {"changed", "scrolled", "placed", "measured"};
  for (guint i = 0; i < G_N_ELEMENTS(plain); i++)
    g_signal_new(plain[i], DEMUR_TYPE_CT_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                 0);
  g_signal_new("wanted", DEMUR_TYPE_CT_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
               G_TYPE_UINT);
}

static void
drawn_clear(gpointer drawn) {
  g_free(((DemurDrawnText *)drawn)->text);
}

static void
demur_ct_view_init(DemurCtView *view) {
  view->drawn = g_array_new(FALSE, TRUE, sizeof(DemurDrawnText));
  g_array_set_clear_func(view->drawn, drawn_clear);
  view->table = g_malloc(65536);
  view->measured = g_array_new(FALSE, TRUE, sizeof(DemurMeasured));
  view->keys = g_array_new(FALSE, TRUE, sizeof(DemurMeasured));
  view->zoom = 1;
  view->width = demur_ct_presets[DEMUR_CT_PRESET_LUNG].width;
  view->level = demur_ct_presets[DEMUR_CT_PRESET_LUNG].level;
  view->table_stale = view->texture_stale = view->cut_stale = TRUE;
  gtk_widget_set_focusable(GTK_WIDGET(view), TRUE);
  gtk_widget_add_css_class(GTK_WIDGET(view), "ct");
  gtk_widget_set_overflow(GTK_WIDGET(view), GTK_OVERFLOW_HIDDEN);
  demur_ct_view_add_controllers(view);
}
