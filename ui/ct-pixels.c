/* The CT numbers of what is shown, cut from the volume where they are no slice of it, and their
 * grey, by a table of all 65,536. A slice costs its pixels: 0.3 million at 512 x 512. */
#include "ui/ct-view-private.h"

#include "dicom/geometry.h"

static void
letters_of_series(DemurCtView *view) {
  const DemurSeries *series = view->image->series;
  memset(view->left, 0, sizeof view->left);
  memset(view->right, 0, sizeof view->right);
  memset(view->up, 0, sizeof view->up);
  memset(view->down, 0, sizeof view->down);
  if (isnan(series->orientation[0]))
    return;
  double opposite[6];
  for (int i = 0; i < 6; i++)
    opposite[i] = -series->orientation[i];
  demur_geometry_letters(series->orientation, view->right);
  demur_geometry_letters(series->orientation + 3, view->down);
  demur_geometry_letters(opposite, view->left);
  demur_geometry_letters(opposite + 3, view->up);
}

static void
cut(DemurCtView *view) {
  g_clear_pointer(&view->cut, demur_reformat_free);
  view->hu = NULL;
  view->cut_stale = FALSE;
  view->texture_stale = TRUE;
  if (view->image == NULL)
    return;
  const DemurSeries *series = view->image->series;
  const DemurVolume *volume = view->image->volume;
  view->rows = series->rows;
  view->columns = series->columns;
  view->spacing[0] = series->pixel_spacing_mm[0];
  view->spacing[1] = series->pixel_spacing_mm[1];
  letters_of_series(view);
  if (volume == NULL) {
    view->hu = view->image->first;
    return;
  }
  const size_t slice = view->slice[view->plane];
  if (view->plane == DEMUR_CT_ACQUIRED && view->slab_mm <= 0) {
    view->hu = volume->hu + slice * volume->rows * volume->columns;
    return;
  }
  const double step = demur_ct_view_plane_spacing(view);
  size_t n_slab = 1;
  if (view->slab_mm > 0 && step > 0)
    n_slab = (size_t)fmax(1, round(view->slab_mm / step));
  g_autoptr(GError) error = NULL;
  view->cut = demur_reformat_new(volume, demur_ct_cut_planes[view->plane], slice, n_slab,
                                 view->slab, &error);
  if (view->cut == NULL) {
    g_free(view->sentence);
    view->sentence = demur_words_error(error);
    return;
  }
  view->hu = view->cut->hu;
  view->rows = view->cut->rows;
  view->columns = view->cut->columns;
  view->spacing[0] = view->cut->pixel_spacing_mm[0];
  view->spacing[1] = view->cut->pixel_spacing_mm[1];
  memcpy(view->left, view->cut->left, sizeof view->left);
  memcpy(view->right, view->cut->right, sizeof view->right);
  memcpy(view->up, view->cut->up, sizeof view->up);
  memcpy(view->down, view->cut->down, sizeof view->down);
}

/* Grey of every CT number, once a window (PS3.3 C.11.2.1.2.1, linear). */
static void
fill_table(DemurCtView *view) {
  const double width = fmax(view->width, 1);
  for (int hu = G_MININT16; hu <= G_MAXINT16; hu++) {
    const double grey = ((hu - (view->level - 0.5)) / fmax(width - 1, 1e-6) + 0.5) * 255.0;
    const double shown = view->invert ? 255.0 - grey : grey;
    view->table[(guint16)hu] = hu == DEMUR_HU_PADDING ? 0 : (guint8)CLAMP(lround(shown), 0, 255);
  }
  view->table_stale = FALSE;
  view->texture_stale = TRUE;
}

void
demur_ct_view_refresh(DemurCtView *view) {
  if (view->cut_stale)
    cut(view);
  if (view->table_stale)
    fill_table(view);
  if (!view->texture_stale)
    return;
  g_clear_object(&view->texture);
  view->texture_stale = FALSE;
  if (view->hu == NULL)
    return;
  const size_t n = view->rows * view->columns;
  /* Three bytes: GTK 4.8 draws them at once, but converts its own four by way of floats. */
  guint8 *bytes = g_malloc(n * 3);
  for (size_t i = 0; i < n; i++) {
    const guint8 grey = view->table[(guint16)view->hu[i]];
    bytes[3 * i] = bytes[3 * i + 1] = bytes[3 * i + 2] = grey;
  }
  g_autoptr(GBytes) data = g_bytes_new_take(bytes, n * 3);
  view->texture = gdk_memory_texture_new((int)view->columns, (int)view->rows, GDK_MEMORY_R8G8B8,
                                         data, view->columns * 3);
}

graphene_rect_t
demur_ct_view_image_rect(DemurCtView *view) {
  const double sx = isnan(view->spacing[1]) ? 1 : view->spacing[1];
  const double sy = isnan(view->spacing[0]) ? 1 : view->spacing[0];
  const double w = (double)view->columns * sx, h = (double)view->rows * sy;
  const double W = gtk_widget_get_width(GTK_WIDGET(view));
  const double H = gtk_widget_get_height(GTK_WIDGET(view));
  const double scale = fmin(W / w, H / h) * view->zoom;
  return GRAPHENE_RECT_INIT((float)((W - w * scale) / 2 + view->pan_x),
                            (float)((H - h * scale) / 2 + view->pan_y), (float)(w * scale),
                            (float)(h * scale));
}

gboolean
demur_ct_view_pointer_pixel(DemurCtView *view, size_t *row, size_t *column) {
  if (!view->has_pointer || view->hu == NULL)
    return FALSE;
  const graphene_rect_t rect = demur_ct_view_image_rect(view);
  const double x = (view->pointer_x - rect.origin.x) / rect.size.width;
  const double y = (view->pointer_y - rect.origin.y) / rect.size.height;
  if (!(x >= 0 && x < 1 && y >= 0 && y < 1))
    return FALSE;
  *column = (size_t)(x * (double)view->columns);
  *row = (size_t)(y * (double)view->rows);
  return TRUE;
}

DemurPlace
demur_ct_view_place_at(DemurCtView *view, double x, double y) {
  const graphene_rect_t rect = demur_ct_view_image_rect(view);
  return (DemurPlace){(x - rect.origin.x) / rect.size.width * (double)view->columns,
                      (y - rect.origin.y) / rect.size.height * (double)view->rows};
}
