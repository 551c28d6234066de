#include "report/verdict-picture.h"

#include <string.h>

#include "report/chart-kit.h"

#define MARGIN 64.0
#define HEADING_SIZE 44.0
#define LINE_SIZE 22.0
#define FOOT_SIZE 15.0
#define GAP 10.0 /* below a line */

/* One paragraph with its left upper corner at (MARGIN, y); its height. draw: else it is measured. */
static double
put_paragraph(cairo_t *cr, const char *text, double size, gboolean bold, DemurColour colour,
              double y, gboolean draw) {
  g_autoptr(PangoLayout) layout = demur_chart_layout(cr, demur_palette_light(), size, bold);
  int height = 0;
  pango_layout_set_width(layout, (int)((DEMUR_VERDICT_PICTURE_WIDTH - 2 * MARGIN) * PANGO_SCALE));
  pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
  (void)demur_chart_set_text(layout, text);
  pango_layout_get_pixel_size(layout, NULL, &height);
  if (draw) {
    demur_chart_colour(cr, colour, 1.0);
    cairo_move_to(cr, MARGIN, y);
    pango_cairo_show_layout(cr, layout);
  }
  return height;
}

static void
draw(cairo_t *cr, const DemurVerdictPicture *picture) {
  static const char cut[] = "More is told in the structured report.";
  const DemurPalette *palette = demur_palette_light();
  demur_chart_colour(cr, palette->paper, 1.0);
  cairo_paint(cr);
  double y = MARGIN;
  if (picture->simulated)
    y += put_paragraph(cr, "SIMULATED DATA", LINE_SIZE, TRUE, palette->warning, y, TRUE) + GAP;
  y += put_paragraph(cr, picture->heading, HEADING_SIZE, TRUE, palette->ink, y, TRUE) + 2 * GAP;
  const double foot =
      DEMUR_VERDICT_PICTURE_HEIGHT - MARGIN / 2 -
      put_paragraph(cr, picture->foot, FOOT_SIZE, FALSE, palette->muted, 0.0, FALSE);
  const double end =
      foot - GAP - put_paragraph(cr, cut, LINE_SIZE, FALSE, palette->muted, 0.0, FALSE);
  for (const char *const *line = picture->lines; *line != NULL; line++) {
    const double height = put_paragraph(cr, *line, LINE_SIZE, FALSE, palette->ink, y, FALSE);
    if (y + height > end) {
      (void)put_paragraph(cr, cut, LINE_SIZE, FALSE, palette->muted, end, TRUE);
      break;
    }
    y += put_paragraph(cr, *line, LINE_SIZE, FALSE, palette->ink, y, TRUE) + GAP;
  }
  (void)put_paragraph(cr, picture->foot, FOOT_SIZE, FALSE, palette->muted, foot, TRUE);
}

guint8 *
demur_verdict_picture_draw(const DemurVerdictPicture *picture) {
  const int width = DEMUR_VERDICT_PICTURE_WIDTH, height = DEMUR_VERDICT_PICTURE_HEIGHT;
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  cairo_t *cr = cairo_create(surface);
  draw(cr, picture);
  cairo_destroy(cr);
  cairo_surface_flush(surface);
  const guint8 *rows = cairo_image_surface_get_data(surface);
  const int stride = cairo_image_surface_get_stride(surface);
  guint8 *rgb = g_malloc((gsize)width * (gsize)height * 3);
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      guint32 pixel;
      memcpy(&pixel, rows + y * stride + 4 * x, sizeof pixel);
      guint8 *at = rgb + 3 * (y * width + x);
      at[0] = (guint8)(pixel >> 16);
      at[1] = (guint8)(pixel >> 8);
      at[2] = (guint8)pixel;
    }
  cairo_surface_destroy(surface);
  return rgb;
}
