/* The picture: the image, the cross, measurements, and the words on it. */
#include "ui/ct-view-private.h"

static const GdkRGBA ink = {0.93f, 0.93f, 0.93f, 1}, dark = {0, 0, 0, 0.85f},
                     caution = {0.95f, 0.71f, 0.30f, 1}, measure_ink = {0.97f, 0.82f, 0.35f, 1};

#define LETTER_SIZE 15
#define MOST_LINES 3 /* of one that is too wide */

const GArray *
demur_ct_view_drawn(DemurCtView *view) {
  return view->drawn;
}

/* Where it is narrow, texts have its whole width, one below the other, and the letters of the middle a
 * line of their own. */
#define NARROW 340 /* at the usual size of text */

static gboolean
is_narrow(DemurCtView *view) {
  return gtk_widget_get_width(GTK_WIDGET(view)) < NARROW * demur_shown_text_scale(GTK_WIDGET(view));
}

static int
letter_size(DemurCtView *view) {
  return (int)(LETTER_SIZE * demur_shown_text_scale(GTK_WIDGET(view)));
}

/* Text with a dark edge, so that it reads on white bone too. x, y: 0 left or top, 0.5, 1. */
/* size: at the usual size of text, with which it grows. Its height. */
static int
draw_text(DemurCtView *view, GtkSnapshot *snapshot, const char *text, double x, double y,
          double horizontal, double vertical, int size, const GdkRGBA *colour) {
  if (text == NULL || *text == '\0')
    return 0;
  g_autoptr(PangoLayout) layout = demur_shown_layout(GTK_WIDGET(view), text);
  PangoFontDescription *font = pango_font_description_from_string("Inter, DejaVu Sans");
  pango_font_description_set_absolute_size(font, size * demur_shown_text_scale(GTK_WIDGET(view)) *
                                                     PANGO_SCALE);
  pango_layout_set_font_description(layout, font);
  pango_font_description_free(font);
  pango_layout_set_alignment(layout, horizontal > 0.7 ? PANGO_ALIGN_RIGHT : PANGO_ALIGN_LEFT);
  const int whole = gtk_widget_get_width(GTK_WIDGET(view));
  /* What stands in a corner leaves the other one its half, and the middle the letter of its side. */
  const int room =
      horizontal == 0.5 || is_narrow(view) ? whole - 24 : whole / 2 - 16 - letter_size(view);
  int width, height;
  pango_layout_get_pixel_size(layout, &width, &height);
  if (width > room && room > 40) {
    pango_layout_set_width(layout, room * PANGO_SCALE);
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
    pango_layout_set_height(layout, -MOST_LINES);
    pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
    pango_layout_get_pixel_size(layout, NULL, &height);
    width = room; /* its lines stand at their side of it */
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
  const DemurDrawnText drawn = {
      .text = g_strdup(text),
      .bounds = GRAPHENE_RECT_INIT((float)left, (float)top, (float)width, (float)height),
      .is_cut = pango_layout_is_ellipsized(layout),
      .is_measure = colour == &measure_ink};
  g_array_append_val(view->drawn, drawn);
  return height;
}

/* A scale bar of a round length near a fifth of the width. */
static void
draw_scale(DemurCtView *view, GtkSnapshot *snapshot, double W, double H) {
  if (isnan(view->spacing[1]) || isnan(view->spacing[0]))
    return;
  const graphene_rect_t rect = demur_ct_view_image_rect(view);
  const double pixels_per_mm = rect.size.width / ((double)view->columns * view->spacing[1]);
  static const double lengths[] = {5, 10, 20, 50, 100, 200};
  double length = lengths[0];
  for (guint i = 0; i < G_N_ELEMENTS(lengths); i++)
    if (lengths[i] * pixels_per_mm <= W / 5)
      length = lengths[i];
  const double bar = length * pixels_per_mm, x = W - 12 - bar,
               y = H - 12 - 18 * demur_shown_text_scale(GTK_WIDGET(view));
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

static graphene_point_t
point_at(DemurCtView *view, DemurPlace place) {
  const graphene_rect_t rect = demur_ct_view_image_rect(view);
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

static void
draw_measures(DemurCtView *view, GtkSnapshot *snapshot, const graphene_rect_t *all) {
  gboolean any = FALSE;
  for (guint i = 0; i < view->measured->len && !any; i++)
    any = demur_ct_view_is_measured_on(view, &g_array_index(view->measured, DemurMeasured, i));
  if (!any || view->hu == NULL)
    return;
  cairo_t *cr = gtk_snapshot_append_cairo(snapshot, all);
  for (guint i = 0; i < view->measured->len; i++)
    if (demur_ct_view_is_measured_on(view, &g_array_index(view->measured, DemurMeasured, i)))
      draw_measured(view, cr, &g_array_index(view->measured, DemurMeasured, i));
  cairo_destroy(cr);
  for (guint i = 0; i < view->measured->len; i++) {
    const DemurMeasured *measured = &g_array_index(view->measured, DemurMeasured, i);
    if (!demur_ct_view_is_measured_on(view, measured))
      continue;
    const graphene_point_t at = point_at(view, measured->places[measured->n_places - 1]);
    g_autofree char *text = demur_ct_view_measured_text(view, measured);
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
  if (demur_ct_view_cross_place(view, &place))
    draw_cross(view, snapshot, place, &blue, 4096, all);
  if (view->has_cursor)
    draw_cross(view, snapshot, view->cursor, &measure_ink, 24, all);
}

void
demur_ct_view_snapshot(GtkWidget *widget, GtkSnapshot *snapshot) {
  DemurCtView *view = DEMUR_CT_VIEW(widget);
  const double W = gtk_widget_get_width(widget), H = gtk_widget_get_height(widget);
  const graphene_rect_t all = GRAPHENE_RECT_INIT(0, 0, (float)W, (float)H);
  const GdkRGBA black = {0, 0, 0, 1};
  g_array_set_size(view->drawn, 0);
  gtk_snapshot_append_color(snapshot, &black, &all);
  demur_ct_view_refresh(view);
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
  const graphene_rect_t rect = demur_ct_view_image_rect(view);
  gtk_snapshot_append_texture(snapshot, view->texture, &rect);
  gtk_snapshot_pop(snapshot);
  draw_crosses(view, snapshot, &all);
  draw_measures(view, snapshot, &all);
  g_autofree char *slice = demur_ct_view_slice_text(view);
  g_autofree char *window = demur_ct_view_window_text(view);
  g_autofree char *pointer = demur_ct_view_pointer_text(view);
  g_autofree char *bottom = g_strjoin("\n", slice, window, pointer, NULL);
  const gboolean narrow = is_narrow(view);
  const int line = narrow ? letter_size(view) + 6 : 0; /* of the middle's letter */
  const int on_the_left = draw_text(view, snapshot, view->top_left, 12, 10 + line, 0, 0, 12, &ink);
  const int on_the_right =
      narrow
          ? draw_text(view, snapshot, view->top_right, 12, 10 + line + on_the_left, 0, 0, 12, &ink)
          : draw_text(view, snapshot, view->top_right, W - 12, 10, 1, 0, 12, &ink);
  const int above = narrow ? line + on_the_left + on_the_right : MAX(on_the_left, on_the_right);
  draw_text(view, snapshot, bottom, 12, H - 10 - line, 0, 1, 12, &ink);
  draw_text(view, snapshot, view->left, 10, H / 2, 0, 0.5, LETTER_SIZE, &ink);
  draw_text(view, snapshot, view->right, W - 10, H / 2, 1, 0.5, LETTER_SIZE, &ink);
  draw_text(view, snapshot, view->up, W / 2, 8, 0.5, 0, LETTER_SIZE, &ink);
  draw_text(view, snapshot, view->down, W / 2, H - 8, 0.5, 1, LETTER_SIZE, &ink);
  draw_scale(view, snapshot, W, H);
  const char *warning = view->sentence != NULL ? view->sentence : view->warning;
  draw_text(view, snapshot, warning, W / 2, fmax(74, 18 + above), 0.5, 0, 13, &caution);
}
