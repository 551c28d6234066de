#include "report/chart-export.h"

#include "base/error.h"
#include "base/file-output.h"
#include "report/chart-words.h"
#include "report/pdf-finish.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>
#include <string.h>

/* Points. */
#define PICTURE_WIDTH 480
#define PICTURE_MARGIN 14
#define HEADING 18
#define CAPTION 16
#define PNG_SCALE (300.0 / 72.0)

typedef enum {
  FILE_SVG,
  FILE_PNG,
  FILE_PDF,
  FILE_CSV,
  N_FILES,
} FileKind;

static const char *const endings[N_FILES] = {".svg", ".png", ".pdf", ".csv"};

static FileKind
kind_of(const char *path) {
  const char *dot = strrchr(path, '.');
  FileKind kind = FILE_SVG;
  while (kind < N_FILES && g_ascii_strcasecmp(dot ? dot : "", endings[kind]) != 0)
    kind++;
  return kind;
}

gboolean
demur_chart_export_check(const char *path, GError **error) {
  if (kind_of(path) < N_FILES)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_USAGE,
      "'%s' names no picture: a chart's file ends in .svg, .png, .pdf or .csv (the table of "
      "its numbers)",
      path);
  return FALSE;
}

static cairo_status_t
append_bytes(void *closure, const unsigned char *data, unsigned int length) {
  g_byte_array_append(closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

static double
chart_height(const DemurChartPicture *picture) {
  return demur_chart_interface_height(picture->interface, picture->data, demur_palette_paper(),
                                      PICTURE_WIDTH - 2 * PICTURE_MARGIN);
}

static double
page_height(const DemurChartPicture *picture) {
  return chart_height(picture) + 2 * PICTURE_MARGIN + (picture->heading ? HEADING : 0) +
         (picture->caption ? CAPTION : 0);
}

static void
draw_picture(const DemurChartPicture *picture, cairo_t *cr) {
  const DemurPalette *palette = demur_palette_paper();
  const double inner = PICTURE_WIDTH - 2 * PICTURE_MARGIN, height = chart_height(picture);
  double y = PICTURE_MARGIN;
  if (picture->heading) {
    demur_chart_text(cr, palette, picture->heading, palette->font_size * 1.1, TRUE, palette->ink,
                     PICTURE_MARGIN, y, 0, 0, inner);
    y += HEADING;
  }
  picture->interface->draw(picture->data, cr, palette,
                           (DemurRectangle){PICTURE_MARGIN, y, inner, height});
  if (picture->caption)
    demur_chart_text(cr, palette, picture->caption, 6.5, FALSE, palette->muted, PICTURE_MARGIN,
                     y + height + 8, 0, 0, inner);
}

/* Cairo numbers the glyphs of an SVG by a counter of the process: they are counted anew here, in
 * the order in which they first appear, so that the same chart gives the same bytes. */
static void
steady_names(GByteArray *svg) {
  static const char *const marks[] = {"glyph",  "clip",   "surface", "image", "pattern",
                                      "linear", "radial", "mask",    "source"};
  g_autoptr(GHashTable) numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  GByteArray *out = g_byte_array_new();
  guint counters[G_N_ELEMENTS(marks)] = {0};
  for (guint i = 0; i < svg->len;) {
    const char *text = (const char *)svg->data + i;
    size_t mark = 0, length = 0;
    const gboolean starts = i > 0 && (text[-1] == '"' || text[-1] == '#');
    for (; starts && mark < G_N_ELEMENTS(marks); mark++) {
      const size_t n = strlen(marks[mark]);
      if (svg->len - i > n && strncmp(text, marks[mark], n) == 0 && g_ascii_isdigit(text[n])) {
        length = n + strspn(text + n, "0123456789-");
        break;
      }
    }
    if (length == 0) {
      g_byte_array_append(out, svg->data + i, 1);
      i++;
      continue;
    }
    g_autofree char *name = g_strndup(text, length);
    const char *known = g_hash_table_lookup(numbers, name);
    if (!known) {
      char *made = g_strdup_printf("%s%u", marks[mark], counters[mark]++);
      g_hash_table_insert(numbers, g_steal_pointer(&name), made);
      known = made;
    }
    g_byte_array_append(out, (const guint8 *)known, (guint)strlen(known));
    i += (guint)length;
  }
  g_byte_array_set_size(svg, 0);
  g_byte_array_append(svg, out->data, out->len);
  g_byte_array_unref(out);
}

static cairo_surface_t *
surface_new(FileKind kind, double height, GByteArray *bytes) {
  if (kind == FILE_PNG)
    return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(PICTURE_WIDTH * PNG_SCALE),
                                      (int)ceil(height * PNG_SCALE));
  if (kind == FILE_PDF)
    return cairo_pdf_surface_create_for_stream(append_bytes, bytes, PICTURE_WIDTH, height);
  cairo_surface_t *surface =
      cairo_svg_surface_create_for_stream(append_bytes, bytes, PICTURE_WIDTH, height);
  cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PT);
  return surface;
}

/* The picture's bytes as Cairo writes them. */
static gboolean
paint(const DemurChartPicture *picture, FileKind kind, GByteArray *bytes, GError **error) {
  cairo_surface_t *surface = surface_new(kind, page_height(picture), bytes);
  cairo_t *cr = cairo_create(surface);
  if (kind == FILE_PNG)
    cairo_scale(cr, PNG_SCALE, PNG_SCALE);
  /* Before any tag: painting the whole page makes Cairo forget what was recorded so far. */
  demur_chart_colour(cr, demur_palette_paper()->paper, 1);
  cairo_paint(cr);
  if (kind == FILE_PDF) {
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, picture->name);
    cairo_tag_begin(cr, "Document", NULL);
    cairo_tag_begin(cr, "Figure", NULL);
  }
  draw_picture(picture, cr);
  if (kind == FILE_PDF) {
    cairo_tag_end(cr, "Figure");
    cairo_show_page(cr);
    cairo_tag_end(cr, "Document");
  }
  cairo_status_t status = cairo_status(cr);
  cairo_destroy(cr);
  if (kind == FILE_PNG && status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_write_to_png_stream(surface, append_bytes, bytes);
  cairo_surface_finish(surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  if (status == CAIRO_STATUS_SUCCESS)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_STATE, "Cairo could not draw the chart: %s",
                  cairo_status_to_string(status));
  return FALSE;
}

static gboolean
finish_pdf(const DemurChartPicture *picture, GByteArray *bytes, GError **error) {
  g_autofree char *description = picture->interface->describe(picture->data);
  const char *const alternatives[] = {description, NULL};
  const DemurPdfFacts facts = {.title = picture->name, .alternatives = alternatives};
  size_t n;
  g_autofree guchar *finished = demur_pdf_finish(bytes->data, bytes->len, &facts, &n, error);
  if (!finished)
    return FALSE;
  g_byte_array_set_size(bytes, 0);
  g_byte_array_append(bytes, finished, (guint)n);
  return TRUE;
}

static char *
table_text(const DemurChartPicture *picture) {
  const DemurChartTranslate in_use = demur_chart_words_use(NULL);
  g_autoptr(DemurChartTable) table = picture->interface->table(picture->data);
  demur_chart_words_use(in_use);
  return demur_chart_table_csv(table, picture->caption);
}

gboolean
demur_chart_export(const DemurChartPicture *picture, const char *path, GError **error) {
  const DemurFileFlags flags = DEMUR_FILE_REPLACE | DEMUR_FILE_PUBLIC;
  const FileKind kind = kind_of(path);
  if (!demur_chart_export_check(path, error))
    return FALSE;
  if (kind == FILE_CSV) {
    g_autofree char *csv = table_text(picture);
    return demur_file_write(path, csv, -1, flags, error);
  }
  g_autoptr(GByteArray) bytes = g_byte_array_new();
  if (!paint(picture, kind, bytes, error))
    return FALSE;
  if (kind == FILE_SVG)
    steady_names(bytes);
  if (kind == FILE_PDF && !finish_pdf(picture, bytes, error))
    return FALSE;
  return demur_file_write(path, bytes->data, (gssize)bytes->len, flags, error);
}
