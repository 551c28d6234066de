#include "ui/risk-course.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/person.h"
#include "report/format.h"
#include "ui/scan-words.h"
#include "ui/theme.h"
#include "ui/words.h"

/* Risk over time: accepted risks as a line, held-back ones as a mark on the axis that tells no
 * height. */
typedef struct {
  guint n;
  double *at;    /* [n] in [0, 1] of the axis */
  double *risks; /* [n] NaN: not shown */
  DemurShown *shown;
  char **dates;
} Course;

static void
course_free(gpointer data) {
  Course *course = data;
  g_free(course->at);
  g_free(course->risks);
  g_free(course->shown);
  g_strfreev(course->dates);
  g_free(course);
}

static void
draw_course(cairo_t *cr, const DemurPalette *palette, DemurRectangle r, gpointer data) {
  const Course *course = data;
  double most = 0.02;
  for (guint i = 0; i < course->n; i++)
    most = isnan(course->risks[i]) ? most : fmax(most, course->risks[i]);
  const double base = r.y + r.height - 18, top = r.y + 18, left = r.x + 16, width = r.width - 32;
  demur_chart_colour(cr, palette->grid, 1);
  cairo_set_line_width(cr, 1);
  cairo_move_to(cr, r.x, base + 0.5);
  cairo_line_to(cr, r.x + r.width, base + 0.5);
  cairo_stroke(cr);
  const GdkRGBA line = demur_theme_verdict_colour(DEMUR_SHOWN_ACCEPTED);
  cairo_set_source_rgba(cr, line.red, line.green, line.blue, 0.8);
  cairo_set_line_width(cr, 1.5);
  gboolean begun = FALSE;
  for (guint i = 0; i < course->n; i++)
    if (!isnan(course->risks[i])) {
      const double x = left + width * course->at[i],
                   y = base - (base - top) * course->risks[i] / most;
      if (begun)
        cairo_line_to(cr, x, y);
      else
        cairo_move_to(cr, x, y);
      begun = TRUE;
    } else {
      begun = FALSE; /* no line through a year whose risk is not shown */
    }
  cairo_stroke(cr);
  for (guint i = 0; i < course->n; i++) {
    const double x = left + width * course->at[i];
    const GdkRGBA colour = demur_theme_verdict_colour((int)course->shown[i]);
    cairo_set_source_rgba(cr, colour.red, colour.green, colour.blue, 1);
    if (!isnan(course->risks[i])) {
      const double y = base - (base - top) * course->risks[i] / most;
      cairo_arc(cr, x, y, 4.5, 0, 2 * G_PI);
      cairo_fill(cr);
      g_autofree char *text = demur_text_percent(course->risks[i], 1);
      demur_chart_text(cr, palette, text, palette->font_size * 0.95, FALSE, palette->ink, x, y - 6,
                       0.5, 1, 0);
    } else {
      demur_chart_text(cr, palette, demur_shown_glyph(course->shown[i]), palette->font_size * 1.1,
                       FALSE, (DemurColour){colour.red, colour.green, colour.blue}, x, base - 1,
                       0.5, 1, 0);
    }
    demur_chart_text(cr, palette, course->dates[i], palette->font_size * 0.92, FALSE,
                     palette->muted, x, r.y + r.height, 0.5, 1, 0);
  }
}

/* Days, or the number of a screen, as a place in time. */
static double
time_of(const char *date) {
  gint64 days;
  if (demur_person_date(date, &days))
    return (double)days;
  return *date == 'T' ? atof(date + 1) * 365.25 : NAN;
}

DemurDrawing *
demur_risk_course_new(const DemurScanTable *table, const guint32 *rows, size_t n) {
  /* A course is of two days at least, and of something that was assessed. */
  gboolean dates = FALSE, assessed = FALSE;
  for (size_t i = 0; i < n; i++) {
    const DemurScan *scan = &table->scans[rows[i]];
    dates |= strcmp(scan->date, table->scans[rows[0]].date) != 0;
    assessed |= scan->shown == DEMUR_SHOWN_ACCEPTED || scan->shown == DEMUR_SHOWN_RED_FLAG;
  }
  if (!dates || !assessed)
    return NULL;
  Course *course = g_new0(Course, 1);
  course->n = (guint)MIN(n, 6);
  course->at = g_new(double, course->n);
  course->risks = g_new(double, course->n);
  course->shown = g_new(DemurShown, course->n);
  course->dates = g_new0(char *, course->n + 1);
  g_autoptr(GString) text = g_string_new(NULL);
  double first = INFINITY, last = -INFINITY;
  for (guint i = 0; i < course->n; i++) {
    const DemurScan *scan = &table->scans[rows[course->n - 1 - i]]; /* oldest first */
    course->at[i] = time_of(scan->date);
    first = fmin(first, course->at[i]);
    last = fmax(last, course->at[i]);
    course->risks[i] = scan->risk;
    course->shown[i] = scan->shown;
    course->dates[i] = g_strndup(scan->date, *scan->date == 'T' ? 3 : 4);
    g_autofree char *risk = demur_scan_risk_text(scan);
    g_string_append_printf(text, "%s%s: %s, %s", i > 0 ? "; " : "", scan->date,
                           demur_shown_title(scan->shown), risk);
  }
  for (guint i = 0; i < course->n; i++)
    course->at[i] = last > first && !isnan(course->at[i]) ? (course->at[i] - first) / (last - first)
                                                          : (double)i / (course->n - 1);
  DemurDrawing *drawing = demur_drawing_new(_("Risk over time"), 160, 104);
  demur_drawing_set(drawing, draw_course, NULL, course, course_free);
  demur_drawing_describe(drawing, text->str);
  return drawing;
}
