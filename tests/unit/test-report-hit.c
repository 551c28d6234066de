/* What lies under a point of a chart: drawn with one mark only, the place of that mark's pixels
 * must give back its row of the table. The right value is the row that was given the mark. */
#include <cairo.h>
#include <glib.h>
#include <math.h>

#include "report/confidence-histogram.h"
#include "report/coverage-curve.h"
#include "report/rejection-by-label.h"
#include "report/reliability.h"
#include "tests/support/font-caches.h"

#define WIDTH 480
#define HEIGHT 320

static const DemurRectangle place = {20, 10, WIDTH - 40, HEIGHT - 20};

static cairo_t *
blank(void) {
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
  cairo_t *cr = cairo_create(surface);
  cairo_surface_destroy(surface);
  demur_chart_colour(cr, demur_palette_dark()->paper, 1);
  cairo_paint(cr);
  return cr;
}

/* The middle of the pixels below y that have the colour; ends cr. */
static void
middle_of(cairo_t *cr, DemurColour colour, int from, double *x, double *y) {
  cairo_surface_t *surface = cairo_get_target(cr);
  cairo_surface_flush(surface);
  const guint8 *data = cairo_image_surface_get_data(surface);
  const int stride = cairo_image_surface_get_stride(surface);
  double sum_x = 0, sum_y = 0, n = 0;
  for (int row = from; row < HEIGHT; row++)
    for (int column = 0; column < WIDTH; column++) {
      const guint32 pixel = *(const guint32 *)(gconstpointer)(data + row * stride + column * 4);
      const double red = (pixel >> 16 & 255) / 255.0, green = (pixel >> 8 & 255) / 255.0,
                   blue = (pixel & 255) / 255.0;
      if (fabs(red - colour.red) + fabs(green - colour.green) + fabs(blue - colour.blue) < 0.06) {
        sum_x += column + 0.5;
        sum_y += row + 0.5;
        n++;
      }
    }
  g_assert_cmpfloat(n, >, 4);
  *x = sum_x / n;
  *y = sum_y / n;
  cairo_destroy(cr);
}

static void
test_curve(void) {
  const DemurPalette *palette = demur_palette_dark();
  double coverages[50], point[50];
  for (int mark = 3; mark < 50; mark += 7) {
    for (int i = 0; i < 50; i++) {
      coverages[i] = 0.02 * (i + 1);
      point[i] = i == mark ? 0.03 : NAN;
    }
    /* A value between two gaps has a glyph alone. */
    const DemurCoverageSeries series = {"", DEMUR_SERIES_SELECTOR, point, NULL, NULL, FALSE};
    const DemurCoverageCurve chart = {.measure = "m",
                                      .n = 50,
                                      .coverages = coverages,
                                      .n_series = 1,
                                      .series = &series,
                                      .marker = NAN,
                                      .from_zero = TRUE,
                                      .decimals = 3};
    double x, y;
    cairo_t *cr = blank();
    demur_coverage_curve_chart.draw(&chart, cr, palette, place);
    middle_of(cr, palette->series[DEMUR_SERIES_SELECTOR], 0, &x, &y);
    g_assert_cmpint(demur_coverage_curve_chart.hit(&chart, palette, place, x, y), ==, mark);
    g_assert_cmpint(demur_coverage_curve_chart.hit(&chart, palette, place, 1, 1), ==, -1);
  }
}

static void
test_reliability(void) {
  const DemurPalette *palette = demur_palette_dark();
  for (int mark = 0; mark < 4; mark++) {
    DemurReliabilityBin bins[4];
    for (int b = 0; b < 4; b++)
      bins[b] = (DemurReliabilityBin){25, 0.1 * (b + 1), 0.09 * (b + 1), NAN, NAN};
    DemurReliability chart = {
        .label = "s", .series = DEMUR_SERIES_SELECTOR, .n_bins = 4, .bins = bins, .axis_end = 0.5};
    const DemurReliabilityBin only = bins[mark];
    DemurReliability one = chart;
    one.n_bins = 1;
    one.bins = &only;
    double x, y;
    cairo_t *cr = blank();
    demur_reliability_chart.draw(&one, cr, palette, place);
    middle_of(cr, palette->series[DEMUR_SERIES_SELECTOR], 0, &x, &y);
    g_assert_cmpint(demur_reliability_chart.hit(&chart, palette, place, x, y), ==, mark);
  }
}

static void
test_histogram(void) {
  const DemurPalette *palette = demur_palette_dark();
  for (size_t mark = 0; mark < 20; mark += 3) {
    size_t all[20], none[20] = {0}, accepted[20] = {0};
    for (size_t i = 0; i < 20; i++)
      all[i] = 100;
    accepted[mark] = 100;
    const DemurHistogramPanel panels[2] = {{"", DEMUR_SERIES_OTHER_1, none, 0},
                                           {"", DEMUR_SERIES_SELECTOR, accepted, 100}};
    const DemurConfidenceHistogram chart = {
        .n_bins = 20, .low = 0.5, .width = 0.025, .all = all, .n_panels = 2, .panels = panels};
    const DemurColour c = palette->series[DEMUR_SERIES_SELECTOR], p = palette->paper;
    /* Bars are drawn with 85 % of the colour, hatched with the rest. */
    const DemurColour bar = {0.85 * c.red + 0.15 * p.red, 0.85 * c.green + 0.15 * p.green,
                             0.85 * c.blue + 0.15 * p.blue};
    double x, y;
    cairo_t *cr = blank();
    demur_confidence_histogram_chart.draw(&chart, cr, palette, place);
    middle_of(cr, bar, 0, &x, &y);
    g_assert_cmpint(demur_confidence_histogram_chart.hit(&chart, palette, place, x, y), ==,
                    (gssize)mark);
  }
}

static void
test_rejection(void) {
  const DemurPalette *palette = demur_palette_dark();
  for (int mark = 0; mark < 4; mark++) {
    DemurRejection rejections[2][2];
    for (int s = 0; s < 2; s++)
      for (int l = 0; l < 2; l++)
        rejections[s][l] = (DemurRejection){
            .label = l, .rate = 2 * s + l == mark ? 0.3 : 0, .rate_low = NAN, .rate_high = NAN};
    const char *const labels[] = {"no", "yes"};
    const DemurChartSeries of_series[] = {DEMUR_SERIES_SELECTOR, DEMUR_SERIES_SELECTOR};
    const DemurRejectionSeries series[2] = {{"a", of_series[0], rejections[0]},
                                            {"b", of_series[1], rejections[1]}};
    const DemurRejectionChart chart = {.kind = DEMUR_REJECTION_RATES,
                                       .n_labels = 2,
                                       .labels = labels,
                                       .n_series = 2,
                                       .series = series};
    const DemurColour c = palette->series[of_series[mark / 2]], p = palette->paper;
    const DemurColour bar = {0.85 * c.red + 0.15 * p.red, 0.85 * c.green + 0.15 * p.green,
                             0.85 * c.blue + 0.15 * p.blue};
    double x, y;
    cairo_t *cr = blank();
    demur_rejection_chart.draw(&chart, cr, palette, place);
    middle_of(cr, bar, 60, &x, &y); /* below the key */
    g_assert_cmpint(demur_rejection_chart.hit(&chart, palette, place, x, y), ==, mark);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/report/hit/coverage-curve", test_curve);
  g_test_add_func("/report/hit/reliability", test_reliability);
  g_test_add_func("/report/hit/confidence-histogram", test_histogram);
  g_test_add_func("/report/hit/rejection-by-label", test_rejection);
  return g_test_run();
}
