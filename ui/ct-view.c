#include "ui/ct-view.h"

#include <math.h>
#include <string.h>

#include "dicom/geometry.h"
#include "dicom/reformat.h"
#include "report/format.h"
#include "ui/image-data.h"
#include "ui/plane-frame.h"
#include "ui/shown.h"
#include "ui/words.h"

static const DemurPlane cut_planes[DEMUR_N_CT_PLANES] = {DEMUR_PLANE_ACQUIRED, DEMUR_PLANE_CORONAL,
                                                         DEMUR_PLANE_SAGITTAL};

struct _DemurCtView {
  GtkWidget parent_instance;
  char *sentence;
  DemurImage *image;
  /* What stands on it, copied from the scan. */
  char *top_left, *top_right, *warning;
  DemurCtPlane plane;
  size_t slice[DEMUR_N_CT_PLANES]; /* by plane */
  double width, level;
  int preset;            /* -1: by hand */
  gboolean own_is_range; /* the file has no window: its range instead */
  gboolean invert;
  double slab_mm;
  double zoom, pan_x, pan_y;
  /* What is shown now. */
  DemurReformat *cut; /* NULL: a slice as acquired */
  const gint16 *hu;   /* [rows][columns] */
  size_t rows, columns;
  double spacing[2]; /* between rows, between columns */
  char left[4], right[4], up[4], down[4];
  GdkTexture *texture;
  guint8 *table; /* [65536] grey of each CT number */
  gboolean table_stale, texture_stale, cut_stale;
  double pointer_x, pointer_y;
  gboolean has_pointer;
  double drag_width, drag_level, drag_x, drag_y;
  size_t wanted; /* the slice that was asked for while the rest is being read */
  DemurSlab slab;
  DemurTool tool;
  GArray *measured;   /* of DemurMeasured, of this image */
  GArray *keys;       /* of DemurMeasured without places: key images */
  gboolean measuring; /* the last one is being drawn */
  gboolean has_cross, has_placed;
  double cross_mm[3], placed_mm[3];
  gboolean has_cursor, placing; /* measuring by keys; the last place follows the cursor */
  DemurPlace cursor;
  guint cine; /* a tick callback; 0: it stands */
  gint64 cine_time;
};

G_DEFINE_FINAL_TYPE(DemurCtView, demur_ct_view, GTK_TYPE_WIDGET)

enum { CHANGED, SCROLLED, WANTED, PLACED, MEASURED, N_SIGNALS };
static guint signals[N_SIGNALS];

/* What is shown. */

/* Slices lie in the volume by their place along the normal. They are numbered and scrolled as the
 * archive has them, by InstanceNumber, or from the head down where that is not recorded. */
static gboolean
runs_backwards(const DemurSeries *series) {
  const DemurSlice *first = &series->slices[0], *last = &series->slices[series->n_slices - 1];
  if (first->instance_number != DEMUR_NO_NUMBER && last->instance_number != DEMUR_NO_NUMBER &&
      first->instance_number != last->instance_number)
    return first->instance_number > last->instance_number;
  return !isnan(series->normal[2]) && series->normal[2] > 0.5;
}

/* The number that is shown for a slice of the plane, and back. */
static size_t
numbered(DemurCtView *view, size_t slice, size_t n) {
  const gboolean backwards =
      view->plane == DEMUR_CT_ACQUIRED && runs_backwards(view->image->series);
  return backwards ? n - slice : slice + 1;
}

size_t
demur_ct_view_n_slices(DemurCtView *view) {
  if (view->image == NULL)
    return 0;
  if (view->image->volume == NULL)
    return view->image->n_slices;
  if (view->plane == DEMUR_CT_ACQUIRED)
    return view->image->series->n_slices;
  return demur_reformat_n_planes(view->image->volume, cut_planes[view->plane]);
}

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

static double
plane_spacing(DemurCtView *view) {
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
  const double step = plane_spacing(view);
  size_t n_slab = 1;
  if (view->slab_mm > 0 && step > 0)
    n_slab = (size_t)fmax(1, round(view->slab_mm / step));
  g_autoptr(GError) error = NULL;
  view->cut =
      demur_reformat_new(volume, cut_planes[view->plane], slice, n_slab, view->slab, &error);
  if (view->cut == NULL) {
    g_free(view->sentence);
    view->sentence = g_strdup(error->message);
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

static void
refresh_texture(DemurCtView *view) {
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
  guint8 *bytes = g_malloc(n * 3);
  for (size_t i = 0; i < n; i++) {
    const guint8 grey = view->table[(guint16)view->hu[i]];
    bytes[3 * i] = bytes[3 * i + 1] = bytes[3 * i + 2] = grey;
  }
  g_autoptr(GBytes) data = g_bytes_new_take(bytes, n * 3);
  view->texture = gdk_memory_texture_new((int)view->columns, (int)view->rows, GDK_MEMORY_R8G8B8,
                                         data, view->columns * 3);
}

/* Where the image lies in the widget. */
static graphene_rect_t
image_rect(DemurCtView *view) {
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

/* The pixel under the pointer; FALSE where there is none. */
static gboolean
pointer_pixel(DemurCtView *view, size_t *row, size_t *column) {
  if (!view->has_pointer || view->hu == NULL)
    return FALSE;
  const graphene_rect_t rect = image_rect(view);
  const double x = (view->pointer_x - rect.origin.x) / rect.size.width;
  const double y = (view->pointer_y - rect.origin.y) / rect.size.height;
  if (!(x >= 0 && x < 1 && y >= 0 && y < 1))
    return FALSE;
  *column = (size_t)(x * (double)view->columns);
  *row = (size_t)(y * (double)view->rows);
  return TRUE;
}

/* Text on the image. */

const char *
demur_ct_view_slab_name(DemurSlab slab) {
  return slab == DEMUR_SLAB_MEAN ? _("Mean") : slab == DEMUR_SLAB_MINIMUM ? "MinIP" : "MIP";
}

static const char *
plane_name(DemurCtPlane plane) {
  switch (plane) {
  case DEMUR_CT_CORONAL:
    return _("coronal");
  case DEMUR_CT_SAGITTAL:
    return _("sagittal");
  default:
    return _("slice");
  }
}

static void
append_mm(GString *text, const char *before, double mm) {
  g_autofree char *number = demur_text_formatted("%.2f", fabs(mm));
  g_string_append_printf(text, "%s%s%s mm", before, mm < 0 ? "−" : "", number);
}

/* Whether it lies on what is shown: plane, slice and slab. */
static gboolean
is_of_slice(DemurCtView *view, const DemurMeasured *measured) {
  return measured->plane == (guint)view->plane && measured->slice == demur_ct_view_slice(view) &&
         measured->slab_mm == view->slab_mm &&
         (!(view->slab_mm > 0) || measured->slab == view->slab);
}

static gboolean
is_key_image(DemurCtView *view) {
  for (guint i = 0; i < view->keys->len; i++)
    if (is_of_slice(view, &g_array_index(view->keys, DemurMeasured, i)))
      return TRUE;
  return FALSE;
}

static char *
slice_text(DemurCtView *view) {
  const size_t n = demur_ct_view_n_slices(view);
  const gboolean whole = view->image->volume != NULL;
  const size_t slice = whole ? view->slice[view->plane] : view->image->first_index;
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text, _("%s %zu of %zu"), plane_name(view->plane),
                         numbered(view, slice, n), n);
  const size_t place = whole ? slice : view->image->place;
  const DemurSlice *facts =
      view->plane == DEMUR_CT_ACQUIRED && place < view->image->series->n_slices
          ? &view->image->series->slices[place]
          : NULL;
  if (facts != NULL && !isnan(facts->distance_mm))
    append_mm(text, " · z ", facts->distance_mm);
  else if (view->cut != NULL && !isnan(view->cut->origin_mm[0])) {
    const double at = view->plane == DEMUR_CT_SAGITTAL  ? view->cut->origin_mm[0]
                      : view->plane == DEMUR_CT_CORONAL ? view->cut->origin_mm[1]
                                                        : view->cut->origin_mm[2];
    append_mm(text, " · ", at);
  }
  if (view->slab_mm > 0)
    g_string_append_printf(text, " · %s %.0f mm", demur_ct_view_slab_name(view->slab),
                           view->slab_mm);
  if (is_key_image(view))
    g_string_append(text, _(" · ★ key image"));
  if (!whole)
    g_string_append(text, _(" · reading the rest"));
  return g_string_free(g_steal_pointer(&text), FALSE);
}

static char *
window_text(DemurCtView *view) {
  const char *name = view->preset < 0                     ? _("by hand")
                     : view->preset < DEMUR_N_PRESETS - 1 ? _(demur_ct_presets[view->preset].title)
                     : view->own_is_range                 ? _("whole range, the file has no window")
                                                          : _("the file's own");
  return g_strdup_printf("W %.0f L %s%.0f · %s%s", view->width, view->level < 0 ? "−" : "",
                         fabs(view->level), name, view->invert ? _(" · inverted") : "");
}

static char *
pointer_text(DemurCtView *view) {
  size_t row, column;
  const char *unit = view->image->series->unit;
  const gboolean is_hu = strcmp(unit, "HU") == 0;
  if (!pointer_pixel(view, &row, &column))
    return g_strdup(is_hu ? _("HU at pointer –") : _("Value at pointer –"));
  const gint16 hu = view->hu[row * view->columns + column];
  if (hu == DEMUR_HU_PADDING)
    return g_strdup(is_hu ? _("HU at pointer: not measured") : _("Value at pointer: not measured"));
  if (!is_hu) /* a map of something else: never called HU */
    return g_strdup_printf(_("Value at pointer %s%d (%s)"), hu < 0 ? "−" : "", ABS(hu), unit);
  return g_strdup_printf(_("HU at pointer %s%d"), hu < 0 ? "−" : "", ABS(hu));
}

/* Measurements. */

static gboolean
is_here(DemurCtView *view, const DemurMeasured *measured) {
  return is_of_slice(view, measured) && measured->n_places >= 2;
}

static char *
measured_text(DemurCtView *view, const DemurMeasured *measured) {
  DemurAnnotation annotation = {0};
  demur_measured_fill(measured, view->hu, view->rows, view->columns, view->spacing,
                      view->image->series->unit, &annotation);
  return demur_annotation_words(&annotation, demur_words_translate);
}

/* A place of the widget on the plane, in pixels. */
static DemurPlace
place_at(DemurCtView *view, double x, double y) {
  const graphene_rect_t rect = image_rect(view);
  return (DemurPlace){(x - rect.origin.x) / rect.size.width * (double)view->columns,
                      (y - rect.origin.y) / rect.size.height * (double)view->rows};
}

static graphene_point_t
point_at(DemurCtView *view, DemurPlace place) {
  const graphene_rect_t rect = image_rect(view);
  return GRAPHENE_POINT_INIT(
      (float)(rect.origin.x + place.x / (double)view->columns * rect.size.width),
      (float)(rect.origin.y + place.y / (double)view->rows * rect.size.height));
}

static void
draw_measured(DemurCtView *view, cairo_t *cr, const DemurMeasured *measured) {
  const graphene_point_t a = point_at(view, measured->places[0]),
                         b = point_at(view, measured->places[1]);
  if (measured->tool == DEMUR_TOOL_REGION) {
    cairo_save(cr);
    cairo_translate(cr, (a.x + b.x) / 2, (a.y + b.y) / 2);
    cairo_scale(cr, fmax(fabs(b.x - a.x) / 2, 0.5), fmax(fabs(b.y - a.y) / 2, 0.5));
    cairo_arc(cr, 0, 0, 1, 0, 2 * G_PI);
    cairo_restore(cr);
  } else {
    cairo_move_to(cr, a.x, a.y);
    cairo_line_to(cr, b.x, b.y);
    if (measured->n_places == 3) {
      const graphene_point_t c = point_at(view, measured->places[2]);
      cairo_line_to(cr, c.x, c.y);
    }
  }
  cairo_set_source_rgba(cr, 0, 0, 0, 0.8);
  cairo_set_line_width(cr, 3.5);
  cairo_stroke_preserve(cr);
  cairo_set_source_rgb(cr, 0.97, 0.82, 0.35);
  cairo_set_line_width(cr, 1.5);
  cairo_stroke(cr);
}

/* Where the plane lies; FALSE where that is not known. */
static gboolean
frame_of(DemurCtView *view, DemurPlaneFrame *frame) {
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

/* The cross on the plane, in pixels. */
static gboolean
cross_place(DemurCtView *view, DemurPlace *place) {
  DemurPlaneFrame frame;
  if (!view->has_cross || !frame_of(view, &frame))
    return FALSE;
  *place = demur_plane_frame_place(&frame, view->cross_mm);
  return TRUE;
}

static void
describe_cross(DemurCtView *view, GString *text) {
  DemurPlace place;
  if (!cross_place(view, &place))
    return;
  g_string_append(text, _("; crosshair at"));
  for (int i = 0; i < 3; i++)
    append_mm(text, i > 0 ? ", " : " ", view->cross_mm[i]);
}

static void
describe(DemurCtView *view) {
  g_autoptr(GString) text = g_string_new(NULL);
  if (view->image == NULL) {
    g_string_append(text, view->sentence != NULL ? view->sentence : _("no image"));
  } else {
    g_autofree char *slice = slice_text(view);
    g_autofree char *window = window_text(view);
    g_autofree char *pointer = pointer_text(view);
    g_string_append_printf(text, "%s; %s; %s; %s", view->top_left, slice, window, pointer);
    size_t row, column;
    if (pointer_pixel(view, &row, &column))
      g_string_append_printf(text, _("; row %zu column %zu"), row, column);
    if (view->sentence != NULL)
      g_string_append_printf(text, "; %s", view->sentence);
    for (guint i = 0; view->hu != NULL && i < view->measured->len; i++) {
      const DemurMeasured *measured = &g_array_index(view->measured, DemurMeasured, i);
      g_autofree char *said = is_here(view, measured) ? measured_text(view, measured) : NULL;
      if (said != NULL)
        g_string_append_printf(text, _("; measured: %s"), said);
    }
    describe_cross(view, text);
    if (view->has_cursor)
      g_string_append_printf(text, _("; cursor at row %.0f column %.0f"), floor(view->cursor.y),
                             floor(view->cursor.x));
  }
  demur_shown_description_set(GTK_WIDGET(view), text->str);
}

static void
changed(DemurCtView *view) {
  refresh_texture(view);
  describe(view);
  gtk_widget_queue_draw(GTK_WIDGET(view));
  g_signal_emit(view, signals[CHANGED], 0);
}

static const GdkRGBA ink = {0.93f, 0.93f, 0.93f, 1}, dark = {0, 0, 0, 0.85f},
                     caution = {0.95f, 0.71f, 0.30f, 1};

/* Text with a dark edge, so that it reads on white bone too. x, y: 0 left or top, 0.5, 1. */
/* size: at the usual size of text, with which it grows. */
static void
draw_text(DemurCtView *view, GtkSnapshot *snapshot, const char *text, double x, double y,
          double horizontal, double vertical, int size, const GdkRGBA *colour) {
  if (text == NULL || *text == '\0')
    return;
  g_autoptr(PangoLayout) layout = demur_shown_layout(GTK_WIDGET(view), text);
  PangoFontDescription *font = pango_font_description_from_string("Inter, DejaVu Sans");
  pango_font_description_set_absolute_size(font, size * demur_shown_text_scale(GTK_WIDGET(view)) *
                                                     PANGO_SCALE);
  pango_layout_set_font_description(layout, font);
  pango_font_description_free(font);
  pango_layout_set_alignment(layout, horizontal > 0.7 ? PANGO_ALIGN_RIGHT : PANGO_ALIGN_LEFT);
  const int whole = gtk_widget_get_width(GTK_WIDGET(view));
  /* What stands in a corner leaves the other one its half. */
  const int room = horizontal == 0.5 ? whole - 24 : whole / 2 - 16;
  int width, height;
  pango_layout_get_pixel_size(layout, &width, &height);
  if (width > room && room > 40) {
    pango_layout_set_width(layout, room * PANGO_SCALE);
    pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
    pango_layout_get_pixel_size(layout, &width, &height);
  }
  const double left = x - width * horizontal, top = y - height * vertical;
  static const int around[][2] = {{-1, 0}, {1, 0},  {0, -1},  {0, 1},
                                  {-1, 1}, {1, -1}, {-1, -1}, {1, 1}};
  for (guint i = 0; i <= G_N_ELEMENTS(around); i++) {
    const gboolean last = i == G_N_ELEMENTS(around);
    gtk_snapshot_save(snapshot);
    gtk_snapshot_translate(snapshot,
                           &GRAPHENE_POINT_INIT((float)(round(left) + (last ? 0 : around[i][0])),
                                                (float)(round(top) + (last ? 0 : around[i][1]))));
    gtk_snapshot_append_layout(snapshot, layout, last ? colour : &dark);
    gtk_snapshot_restore(snapshot);
  }
}

/* A scale bar of a round length near a fifth of the width. */
static void
draw_scale(DemurCtView *view, GtkSnapshot *snapshot, double W, double H) {
  if (isnan(view->spacing[1]) || isnan(view->spacing[0]))
    return;
  const graphene_rect_t rect = image_rect(view);
  const double pixels_per_mm = rect.size.width / ((double)view->columns * view->spacing[1]);
  static const double lengths[] = {5, 10, 20, 50, 100, 200};
  double length = lengths[0];
  for (guint i = 0; i < G_N_ELEMENTS(lengths); i++)
    if (lengths[i] * pixels_per_mm <= W / 5)
      length = lengths[i];
  const double bar = length * pixels_per_mm, x = W - 12 - bar, y = H - 30;
  const GdkRGBA *colours[] = {&dark, &ink};
  for (int pass = 0; pass < 2; pass++) {
    const float edge = pass == 0 ? 1 : 0;
    const graphene_rect_t parts[] = {
        GRAPHENE_RECT_INIT((float)x - edge, (float)y - edge, (float)bar + 2 * edge,
                           1.5f + 2 * edge),
        GRAPHENE_RECT_INIT((float)x - edge, (float)y - 5 - edge, 1.5f + 2 * edge, 6 + 2 * edge),
        GRAPHENE_RECT_INIT((float)(x + bar) - 1.5f - edge, (float)y - 5 - edge, 1.5f + 2 * edge,
                           6 + 2 * edge)};
    for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
      gtk_snapshot_append_color(snapshot, colours[pass], &parts[i]);
  }
  g_autofree char *text =
      length >= 10 ? g_strdup_printf("%.0f cm", length / 10) : g_strdup_printf("%.0f mm", length);
  draw_text(view, snapshot, text, x + bar / 2, y + 4, 0.5, 0, 12, &ink);
}

static const GdkRGBA measure_ink = {0.97f, 0.82f, 0.35f, 1};

static void
draw_measures(DemurCtView *view, GtkSnapshot *snapshot, const graphene_rect_t *all) {
  gboolean any = FALSE;
  for (guint i = 0; i < view->measured->len && !any; i++)
    any = is_here(view, &g_array_index(view->measured, DemurMeasured, i));
  if (!any || view->hu == NULL)
    return;
  cairo_t *cr = gtk_snapshot_append_cairo(snapshot, all);
  for (guint i = 0; i < view->measured->len; i++)
    if (is_here(view, &g_array_index(view->measured, DemurMeasured, i)))
      draw_measured(view, cr, &g_array_index(view->measured, DemurMeasured, i));
  cairo_destroy(cr);
  for (guint i = 0; i < view->measured->len; i++) {
    const DemurMeasured *measured = &g_array_index(view->measured, DemurMeasured, i);
    if (!is_here(view, measured))
      continue;
    const graphene_point_t at = point_at(view, measured->places[measured->n_places - 1]);
    g_autofree char *text = measured_text(view, measured);
    draw_text(view, snapshot, text, at.x + 8, at.y + 4, 0, 0, 13, &measure_ink);
  }
}

/* Two lines with a gap where they cross, so that what lies there is seen. */
static void
draw_cross(DemurCtView *view, GtkSnapshot *snapshot, DemurPlace place, const GdkRGBA *colour,
           double reach, const graphene_rect_t *all) {
  const graphene_point_t at = point_at(view, place);
  const double gap = 9;
  const struct {
    double x, y, w, h;
  } lines[] = {{at.x - reach, at.y - 0.5, reach - gap, 1},
               {at.x + gap, at.y - 0.5, reach - gap, 1},
               {at.x - 0.5, at.y - reach, 1, reach - gap},
               {at.x - 0.5, at.y + gap, 1, reach - gap}};
  gtk_snapshot_push_clip(snapshot, all);
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
    const graphene_rect_t line = GRAPHENE_RECT_INIT((float)lines[i].x, (float)lines[i].y,
                                                    (float)lines[i].w, (float)lines[i].h);
    gtk_snapshot_append_color(snapshot, colour, &line);
  }
  gtk_snapshot_pop(snapshot);
}

static void
draw_crosses(DemurCtView *view, GtkSnapshot *snapshot, const graphene_rect_t *all) {
  const GdkRGBA blue = {0.34f, 0.71f, 0.91f, 0.75f};
  DemurPlace place;
  if (cross_place(view, &place))
    draw_cross(view, snapshot, place, &blue, 4096, all);
  if (view->has_cursor)
    draw_cross(view, snapshot, view->cursor, &measure_ink, 24, all);
}

static void
demur_ct_view_snapshot(GtkWidget *widget, GtkSnapshot *snapshot) {
  DemurCtView *view = DEMUR_CT_VIEW(widget);
  const double W = gtk_widget_get_width(widget), H = gtk_widget_get_height(widget);
  const graphene_rect_t all = GRAPHENE_RECT_INIT(0, 0, (float)W, (float)H);
  const GdkRGBA black = {0, 0, 0, 1};
  gtk_snapshot_append_color(snapshot, &black, &all);
  refresh_texture(view);
  if (view->texture == NULL) {
    g_autoptr(PangoLayout) layout = demur_shown_layout(widget, view->sentence);
    pango_layout_set_width(layout, (int)fmin(W - 60, 520) * PANGO_SCALE);
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
    pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER);
    int width, height;
    pango_layout_get_pixel_size(layout, &width, &height);
    gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT((float)((W - fmin(W - 60, 520)) / 2),
                                                          (float)((H - height) / 2)));
    const GdkRGBA muted = {0.7f, 0.7f, 0.7f, 1};
    gtk_snapshot_append_layout(snapshot, layout, &muted);
    return;
  }
  gtk_snapshot_push_clip(snapshot, &all);
  const graphene_rect_t rect = image_rect(view);
  gtk_snapshot_append_texture(snapshot, view->texture, &rect);
  gtk_snapshot_pop(snapshot);
  draw_crosses(view, snapshot, &all);
  draw_measures(view, snapshot, &all);
  g_autofree char *slice = slice_text(view);
  g_autofree char *window = window_text(view);
  g_autofree char *pointer = pointer_text(view);
  g_autofree char *bottom = g_strjoin("\n", slice, window, pointer, NULL);
  draw_text(view, snapshot, view->top_left, 12, 10, 0, 0, 12, &ink);
  draw_text(view, snapshot, view->top_right, W - 12, 10, 1, 0, 12, &ink);
  draw_text(view, snapshot, bottom, 12, H - 10, 0, 1, 12, &ink);
  draw_text(view, snapshot, view->left, 10, H / 2, 0, 0.5, 15, &ink);
  draw_text(view, snapshot, view->right, W - 10, H / 2, 1, 0.5, 15, &ink);
  draw_text(view, snapshot, view->up, W / 2, 8, 0.5, 0, 15, &ink);
  draw_text(view, snapshot, view->down, W / 2, H - 8, 0.5, 1, 15, &ink);
  draw_scale(view, snapshot, W, H);
  const char *warning = view->sentence != NULL ? view->sentence : view->warning;
  draw_text(view, snapshot, warning, W / 2, 74, 0.5, 0, 13, &caution);
}

static void
demur_ct_view_measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                      int *natural, int *minimum_baseline, int *natural_baseline) {
  *minimum = 200;
  *natural = 512;
}

/* Window. */

void
demur_ct_view_window(DemurCtView *view, double width, double level) {
  view->width = CLAMP(width, 1, 8000);
  view->level = CLAMP(level, -4000, 8000);
  view->preset = -1;
  view->table_stale = TRUE;
  changed(view);
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
  changed(view);
}

void
demur_ct_view_invert(DemurCtView *view) {
  view->invert = !view->invert;
  view->table_stale = TRUE;
  changed(view);
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
  changed(view);
}

/* Planes and slices. */

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
  if (demur_reformat_n_planes(volume, cut_planes[plane]) > 0)
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
  changed(view);
}

DemurCtPlane
demur_ct_view_plane(DemurCtView *view) {
  return view->plane;
}

void
demur_ct_view_set_slab(DemurCtView *view, double mm) {
  view->slab_mm = mm;
  view->cut_stale = TRUE;
  changed(view);
}

void
demur_ct_view_set_slab_kind(DemurCtView *view, DemurSlab slab) {
  view->slab = slab;
  view->cut_stale = TRUE;
  changed(view);
}

DemurSlab
demur_ct_view_slab_kind(DemurCtView *view) {
  return view->slab;
}

void
demur_ct_view_set_tool(DemurCtView *view, DemurTool tool) {
  view->tool = tool;
  view->has_cursor = view->placing = FALSE;
  gtk_widget_set_cursor_from_name(GTK_WIDGET(view), tool != DEMUR_TOOL_NONE ? "crosshair" : NULL);
  changed(view);
}

DemurTool
demur_ct_view_tool(DemurCtView *view) {
  return view->tool;
}

void
demur_ct_view_remove_measures(DemurCtView *view) {
  for (guint i = view->measured->len; i-- > 0;) {
    const DemurMeasured *measured = &g_array_index(view->measured, DemurMeasured, i);
    if (measured->id == 0 && is_of_slice(view, measured))
      g_array_remove_index(view->measured, i);
  }
  view->measuring = view->placing = FALSE;
  changed(view);
}

/* What is kept. */

static const char *const annotated_planes[DEMUR_N_CT_PLANES] = {"acquired", "coronal", "sagittal"};

/* Which slice is shown, and how. */
static void
fill_place(DemurCtView *view, DemurAnnotation *annotation) {
  const size_t n = demur_ct_view_n_slices(view), slice = demur_ct_view_slice(view);
  *annotation = (DemurAnnotation){.scan_id = view->image->scan_id,
                                  .images_digest = view->image->images_digest,
                                  .kind = DEMUR_ANNOTATION_KEY_IMAGE,
                                  .plane = (char *)annotated_planes[view->plane],
                                  .slice = (gint64)slice,
                                  .number = (gint64)numbered(view, slice, n),
                                  .n_slices = (gint64)n,
                                  .slab_mm = view->slab_mm,
                                  .slab = (char *)demur_slab_name(view->slab),
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
                 last->n_places == demur_tool_places(last->tool) && is_of_slice(view, last)
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

static guint
plane_of(const DemurAnnotation *annotation) {
  guint plane = 0;
  while (plane + 1 < DEMUR_N_CT_PLANES && strcmp(annotated_planes[plane], annotation->plane) != 0)
    plane++;
  return plane;
}

static DemurMeasured
measured_of(const DemurAnnotation *annotation) {
  static const DemurTool tools[DEMUR_N_ANNOTATIONS] = {
      [DEMUR_ANNOTATION_LENGTH] = DEMUR_TOOL_LENGTH,
      [DEMUR_ANNOTATION_ANGLE] = DEMUR_TOOL_ANGLE,
      [DEMUR_ANNOTATION_REGION] = DEMUR_TOOL_REGION};
  DemurMeasured measured = {.id = annotation->id,
                            .tool = tools[annotation->kind],
                            .plane = plane_of(annotation),
                            .slice = (size_t)annotation->slice,
                            .slab_mm = annotation->slab_mm,
                            .slab = demur_slab_of_name(annotation->slab),
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
  changed(view);
}

gint64 *
demur_ct_view_here(DemurCtView *view, gboolean key_images, gsize *n) {
  GArray *from = key_images ? view->keys : view->measured;
  GArray *ids = g_array_new(FALSE, FALSE, sizeof(gint64));
  for (guint i = 0; view->image != NULL && i < from->len; i++) {
    const DemurMeasured *one = &g_array_index(from, DemurMeasured, i);
    if (one->id > 0 && is_of_slice(view, one))
      g_array_append_val(ids, one->id);
  }
  *n = ids->len;
  return (gint64 *)(gpointer)g_array_free(ids, FALSE);
}

void
demur_ct_view_show_annotation(DemurCtView *view, const DemurAnnotation *annotation) {
  const char *reason;
  const DemurCtPlane plane = (DemurCtPlane)plane_of(annotation);
  if (view->image == NULL || view->image->volume == NULL ||
      !demur_ct_view_can_show(view, plane, &reason))
    return;
  view->plane = plane;
  view->slice[plane] = MIN((size_t)annotation->slice, demur_ct_view_n_slices(view) - 1);
  view->slab_mm = annotation->slab_mm;
  view->slab = demur_slab_of_name(annotation->slab);
  view->cut_stale = TRUE;
  if (annotation->kind == DEMUR_ANNOTATION_KEY_IMAGE)
    demur_ct_view_window(view, annotation->window_width, annotation->window_level);
  else
    changed(view);
  g_signal_emit(view, signals[SCROLLED], 0);
}

double
demur_ct_view_slab(DemurCtView *view) {
  return view->slab_mm;
}

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
  changed(view);
}

void
demur_ct_view_scroll(DemurCtView *view, int slices) {
  const size_t n = demur_ct_view_n_slices(view);
  if (n == 0)
    return;
  if (view->plane == DEMUR_CT_ACQUIRED && runs_backwards(view->image->series))
    slices = -slices;
  if (view->image->volume == NULL) { /* the rest is being read: this one is asked for now */
    const gint64 wanted = CLAMP((gint64)view->wanted + slices, 0, (gint64)n - 1);
    if (wanted == (gint64)view->wanted)
      return;
    view->wanted = (size_t)wanted;
    g_signal_emit(view, signals[WANTED], 0, (guint)wanted);
    return;
  }
  const gint64 before = (gint64)view->slice[view->plane];
  const gint64 after = CLAMP(before + slices, 0, (gint64)n - 1);
  if (after == before)
    return;
  demur_ct_view_set_slice(view, (size_t)after);
  g_signal_emit(view, signals[SCROLLED], 0);
}

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
  return isfinite(*first) && plane_spacing(view) > 0;
}

/* Of a slice along the axis, in mm. */
static double
along(DemurCtView *view, size_t slice, double first) {
  const DemurVolume *volume = view->image->volume;
  if (view->plane == DEMUR_CT_ACQUIRED)
    return first + volume->distances_mm[slice] - volume->distances_mm[0];
  return first + (double)slice * plane_spacing(view);
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
  return nearest(view, point, &slice, &distance) && distance <= plane_spacing(view) / 2 + 1e-6;
}

gboolean
demur_ct_view_axis(DemurCtView *view, double direction[3], double *at_mm) {
  double first;
  if (demur_ct_view_n_slices(view) == 0 || !axis(view, direction, &first))
    return FALSE;
  *at_mm = along(view, view->slice[view->plane], first);
  return isfinite(*at_mm);
}

void
demur_ct_view_set_cross(DemurCtView *view, const double point_mm[3]) {
  view->has_cross = point_mm != NULL;
  if (point_mm != NULL)
    memcpy(view->cross_mm, point_mm, sizeof view->cross_mm);
  describe(view);
  gtk_widget_queue_draw(GTK_WIDGET(view));
}

gboolean
demur_ct_view_placed(DemurCtView *view, double point_mm[3]) {
  memcpy(point_mm, view->placed_mm, sizeof view->placed_mm);
  return view->has_placed;
}

static void
place_cross(DemurCtView *view, DemurPlace place) {
  DemurPlaneFrame frame;
  if (!view->has_cross || !frame_of(view, &frame))
    return;
  place.x = CLAMP(place.x, 0.5, (double)view->columns - 0.5);
  place.y = CLAMP(place.y, 0.5, (double)view->rows - 0.5);
  demur_plane_frame_point(&frame, place, view->placed_mm);
  view->has_placed = TRUE;
  g_signal_emit(view, signals[PLACED], 0);
}

/* Pixels of the screen to a mm; 0 where there is none. */
static double
scale_of(DemurCtView *view) {
  if (view->hu == NULL || isnan(view->spacing[1]) || gtk_widget_get_width(GTK_WIDGET(view)) < 1)
    return 0;
  return image_rect(view).size.width / ((double)view->columns * view->spacing[1]);
}

void
demur_ct_view_follow_grey(DemurCtView *view, DemurCtView *leader) {
  view->table_stale |= view->width != leader->width || view->level != leader->level ||
                       view->invert != leader->invert;
  view->width = leader->width;
  view->level = leader->level;
  view->preset = leader->preset;
  view->invert = leader->invert;
  refresh_texture(view);
  describe(view);
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
  changed(view);
}

gboolean
demur_ct_view_cine(DemurCtView *view) {
  return view->cine != 0;
}

/* Images. */

static void
clear_facts(DemurCtView *view) {
  g_clear_pointer(&view->top_left, g_free);
  g_clear_pointer(&view->top_right, g_free);
  g_clear_pointer(&view->warning, g_free);
  g_clear_pointer(&view->sentence, g_free);
}

static void
append_line(GString *text, const char *line) {
  if (line != NULL && *line != '\0')
    g_string_append_printf(text, "%s%s", text->len > 0 ? "\n" : "", line);
}

static void
copy_facts(DemurCtView *view, const DemurScan *scan) {
  clear_facts(view);
  g_autofree char *age = demur_age_sex_text(scan->age, scan->sex);
  g_autofree char *who = g_strdup_printf("%s · %s", scan->patient_id, age);
  g_autofree char *series =
      scan->series_number >= 0
          ? g_strdup_printf(_("Series %d · %s"), scan->series_number, scan->description)
          : g_strdup(scan->description);
  g_autoptr(GString) left = g_string_new(who);
  append_line(left, scan->date);
  append_line(left, series);
  if (scan->simulated)
    append_line(left, _("SIMULATED DATA"));
  view->top_left = g_string_free(g_steal_pointer(&left), FALSE);
  g_autoptr(GString) right = g_string_new(NULL);
  g_autofree char *scanner =
      g_strstrip(g_strdup_printf("%s %s", scan->manufacturer, scan->model_name));
  append_line(right, scanner);
  g_autoptr(GString) kernel = g_string_new(NULL);
  if (*scan->kernel != '\0')
    g_string_append_printf(kernel, _("kernel %s"), scan->kernel);
  if (!isnan(scan->kvp))
    g_string_append_printf(kernel, "%s%.0f kVp", kernel->len > 0 ? " · " : "", scan->kvp);
  append_line(right, kernel->str);
  g_autoptr(GString) sizes = g_string_new(NULL);
  g_autofree char *thickness = demur_text_formatted("%.4g", scan->thickness_mm);
  g_autofree char *spacing = demur_text_formatted("%.4g", scan->spacing_mm);
  if (!isnan(scan->thickness_mm))
    g_string_append_printf(sizes, _("thickness %s mm"), thickness);
  else
    g_string_append(sizes, _("thickness not recorded"));
  if (!isnan(scan->spacing_mm))
    g_string_append_printf(sizes, _(" · spacing %s mm"), spacing);
  append_line(right, sizes->str);
  view->top_right = g_string_free(g_steal_pointer(&right), FALSE);
  if (scan->lossy)
    view->warning = g_strdup(_("lossy: these pixels were compressed with loss"));
}

void
demur_ct_view_clear(DemurCtView *view, const char *sentence) {
  demur_ct_view_set_cine(view, FALSE);
  view->has_cross = view->has_placed = view->has_cursor = view->placing = FALSE;
  g_clear_pointer(&view->image, demur_image_unref);
  g_array_set_size(view->measured, 0);
  g_array_set_size(view->keys, 0);
  view->measuring = FALSE;
  clear_facts(view);
  view->sentence = g_strdup(sentence);
  view->cut_stale = TRUE;
  changed(view);
}

void
demur_ct_view_set_image(DemurCtView *view, DemurImage *image, const DemurScan *scan) {
  const gboolean same = view->image != NULL && g_strcmp0(view->image->scan_id, image->scan_id) == 0;
  const gboolean was_part = same && view->image->volume == NULL;
  const gboolean was_whole = same && view->image->volume != NULL;
  demur_image_ref(image);
  g_clear_pointer(&view->image, demur_image_unref);
  view->image = image;
  copy_facts(view, scan);
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
  changed(view);
}

DemurImage *
demur_ct_view_image(DemurCtView *view) {
  return view->image;
}

/* Mouse and keys. */

static gboolean
on_scroll(GtkEventControllerScroll *controller, double dx, double dy, DemurCtView *view) {
  const GdkModifierType state =
      gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(controller));
  if ((state & GDK_CONTROL_MASK) != 0)
    demur_ct_view_zoom(view, dy < 0 ? 1.15 : 1 / 1.15);
  else
    demur_ct_view_scroll(view, dy > 0 ? 1 : -1);
  return TRUE;
}

static void
on_motion(GtkEventControllerMotion *controller, double x, double y, DemurCtView *view) {
  view->pointer_x = x;
  view->pointer_y = y;
  view->has_pointer = TRUE;
  describe(view);
  gtk_widget_queue_draw(GTK_WIDGET(view));
}

static void
on_leave(GtkEventControllerMotion *controller, DemurCtView *view) {
  view->has_pointer = FALSE;
  gtk_widget_queue_draw(GTK_WIDGET(view));
}

/* Begins a measurement, or sets the last place of an angle. */
static void
begin_measure(DemurCtView *view, DemurPlace place) {
  const guint n = view->measured->len;
  DemurMeasured *last = n > 0 ? &g_array_index(view->measured, DemurMeasured, n - 1) : NULL;
  if (last != NULL && last->tool == view->tool && is_here(view, last) &&
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

static void
go_on_measuring(DemurCtView *view, DemurPlace place) {
  DemurMeasured *last = &g_array_index(view->measured, DemurMeasured, view->measured->len - 1);
  last->places[last->n_places - 1] = place;
  changed(view);
}

/* Whether the last measurement still has a place to be set on this plane. */
static gboolean
is_open(DemurCtView *view) {
  const guint n = view->measured->len;
  const DemurMeasured *last = n > 0 ? &g_array_index(view->measured, DemurMeasured, n - 1) : NULL;
  return last != NULL && is_here(view, last) && last->tool == view->tool;
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
      begin_measure(view, view->cursor);
    else
      g_signal_emit(view, signals[MEASURED], 0);
  } else {
    begin_measure(view, view->cursor);
    view->placing = TRUE;
  }
  changed(view);
}

/* Shift and an arrow: the cursor of a tool, else the cross. */
static gboolean
nudge(DemurCtView *view, double dx, double dy) {
  DemurPlace place;
  if (view->tool != DEMUR_TOOL_NONE && view->hu != NULL) {
    if (!view->has_cursor)
      view->cursor = (DemurPlace){(double)view->columns / 2, (double)view->rows / 2};
    view->has_cursor = TRUE;
    view->cursor.x = CLAMP(view->cursor.x + dx, 0, (double)view->columns);
    view->cursor.y = CLAMP(view->cursor.y + dy, 0, (double)view->rows);
    view->placing = view->placing && is_open(view);
    if (view->placing)
      go_on_measuring(view, view->cursor);
    else
      changed(view);
    return TRUE;
  }
  if (!cross_place(view, &place))
    return FALSE;
  place_cross(view, (DemurPlace){place.x + dx, place.y + dy});
  return TRUE;
}

static void
on_drag_end(GtkGestureDrag *gesture, double dx, double dy, DemurCtView *view) {
  if (!view->measuring) {
    double x, y;
    if (fabs(dx) + fabs(dy) <= 2 && gtk_gesture_drag_get_start_point(gesture, &x, &y) &&
        gtk_gesture_single_get_current_button(GTK_GESTURE_SINGLE(gesture)) == GDK_BUTTON_PRIMARY)
      place_cross(view, place_at(view, x, y));
    return;
  }
  view->measuring = FALSE;
  const DemurMeasured *last =
      &g_array_index(view->measured, DemurMeasured, view->measured->len - 1);
  /* A click without a way measures nothing. */
  if (last->n_places == 2 && fabs(dx) + fabs(dy) < 2)
    g_array_set_size(view->measured, view->measured->len - 1);
  else if (last->n_places == demur_tool_places(last->tool))
    g_signal_emit(view, signals[MEASURED], 0);
  changed(view);
}

static void
on_drag_begin(GtkGestureDrag *gesture, double x, double y, DemurCtView *view) {
  gtk_widget_grab_focus(GTK_WIDGET(view));
  view->drag_width = view->width;
  view->drag_level = view->level;
  view->drag_x = view->pan_x;
  view->drag_y = view->pan_y;
  if (view->tool != DEMUR_TOOL_NONE && view->hu != NULL &&
      gtk_gesture_single_get_current_button(GTK_GESTURE_SINGLE(gesture)) == GDK_BUTTON_PRIMARY) {
    begin_measure(view, place_at(view, x, y));
    view->measuring = TRUE;
    view->placing = FALSE;
  }
}

static void
on_drag_update(GtkGestureDrag *gesture, double dx, double dy, DemurCtView *view) {
  if (view->image == NULL)
    return;
  if (view->measuring) {
    double x, y;
    gtk_gesture_drag_get_start_point(gesture, &x, &y);
    go_on_measuring(view, place_at(view, x + dx, y + dy));
    return;
  }
  if (gtk_gesture_single_get_current_button(GTK_GESTURE_SINGLE(gesture)) == GDK_BUTTON_PRIMARY) {
    if (fabs(dx) + fabs(dy) > 2)
      demur_ct_view_window(view, view->drag_width + dx * 4, view->drag_level + dy * 2);
    return;
  }
  view->pan_x = view->drag_x + dx;
  view->pan_y = view->drag_y + dy;
  changed(view);
}

static gboolean
on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
       DemurCtView *view) {
  if ((state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) != 0)
    return FALSE;
  if ((state & GDK_SHIFT_MASK) != 0)
    return key == GDK_KEY_Up      ? nudge(view, 0, -1)
           : key == GDK_KEY_Down  ? nudge(view, 0, 1)
           : key == GDK_KEY_Left  ? nudge(view, -1, 0)
           : key == GDK_KEY_Right ? nudge(view, 1, 0)
                                  : FALSE;
  switch (key) {
  case GDK_KEY_Up:
    demur_ct_view_scroll(view, -1);
    return TRUE;
  case GDK_KEY_Down:
    demur_ct_view_scroll(view, 1);
    return TRUE;
  case GDK_KEY_Page_Up:
    demur_ct_view_scroll(view, -10);
    return TRUE;
  case GDK_KEY_Page_Down:
    demur_ct_view_scroll(view, 10);
    return TRUE;
  case GDK_KEY_Home:
    demur_ct_view_scroll(view, -G_MAXINT / 2);
    return TRUE;
  case GDK_KEY_End:
    demur_ct_view_scroll(view, G_MAXINT / 2);
    return TRUE;
  default:
    return FALSE;
  }
}

static void
demur_ct_view_finalize(GObject *object) {
  DemurCtView *view = DEMUR_CT_VIEW(object);
  clear_facts(view);
  demur_image_unref(view->image);
  demur_reformat_free(view->cut);
  g_clear_object(&view->texture);
  g_free(view->table);
  g_array_unref(view->measured);
  g_array_unref(view->keys);
  G_OBJECT_CLASS(demur_ct_view_parent_class)->finalize(object);
}

static void
demur_ct_view_class_init(DemurCtViewClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->finalize = demur_ct_view_finalize;
  widget_class->snapshot = demur_ct_view_snapshot;
  widget_class->measure = demur_ct_view_measure;
  gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  signals[CHANGED] = g_signal_new("changed", DEMUR_TYPE_CT_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 0);
  signals[WANTED] = g_signal_new("wanted", DEMUR_TYPE_CT_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  signals[PLACED] = g_signal_new("placed", DEMUR_TYPE_CT_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 0);
  signals[MEASURED] = g_signal_new("measured", DEMUR_TYPE_CT_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                   NULL, G_TYPE_NONE, 0);
  signals[SCROLLED] = g_signal_new("scrolled", DEMUR_TYPE_CT_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                   NULL, G_TYPE_NONE, 0);
}

static void
demur_ct_view_init(DemurCtView *view) {
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
  GtkEventController *scroll = gtk_event_controller_scroll_new(
      GTK_EVENT_CONTROLLER_SCROLL_VERTICAL | GTK_EVENT_CONTROLLER_SCROLL_DISCRETE);
  g_signal_connect(scroll, "scroll", G_CALLBACK(on_scroll), view);
  gtk_widget_add_controller(GTK_WIDGET(view), scroll);
  GtkEventController *motion = gtk_event_controller_motion_new();
  g_signal_connect(motion, "motion", G_CALLBACK(on_motion), view);
  g_signal_connect(motion, "leave", G_CALLBACK(on_leave), view);
  gtk_widget_add_controller(GTK_WIDGET(view), motion);
  GtkGesture *drag = gtk_gesture_drag_new();
  gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(drag), 0);
  g_signal_connect(drag, "drag-begin", G_CALLBACK(on_drag_begin), view);
  g_signal_connect(drag, "drag-end", G_CALLBACK(on_drag_end), view);
  g_signal_connect(drag, "drag-update", G_CALLBACK(on_drag_update), view);
  gtk_widget_add_controller(GTK_WIDGET(view), GTK_EVENT_CONTROLLER(drag));
  GtkEventController *keys = gtk_event_controller_key_new();
  g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), view);
  gtk_widget_add_controller(GTK_WIDGET(view), keys);
}
