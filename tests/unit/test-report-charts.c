/* Charts drawn on image surfaces. Right values: colours of the palette where data lie and none
 * where they do not (a gap, an empty chart), the same picture twice, and tables and texts written
 * by hand. */
#include "report-fixture.h"
#include "report/confidence-histogram.h"
#include "report/coverage-curve.h"
#include "report/forest.h"
#include "report/rejection-by-label.h"
#include "report/reliability.h"

#define WIDTH 360
#define HEIGHT 240

static const DemurRectangle whole = {0, 0, WIDTH, HEIGHT};

static cairo_surface_t *
canvas(const DemurPalette *palette, cairo_t **cr) {
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
  *cr = cairo_create(surface);
  demur_chart_colour(*cr, palette->paper, 1);
  cairo_paint(*cr);
  return surface;
}

/* Pixels within a small distance of colour in columns [x1, x2). */
static size_t
count_pixels(cairo_surface_t *surface, DemurColour colour, int x1, int x2) {
  cairo_surface_flush(surface);
  const unsigned char *data = cairo_image_surface_get_data(surface);
  const int stride = cairo_image_surface_get_stride(surface);
  const double wanted[3] = {255 * colour.blue, 255 * colour.green, 255 * colour.red};
  size_t n = 0;
  for (int y = 0; y < HEIGHT; y++)
    for (int x = x1; x < x2; x++) {
      gboolean same = TRUE;
      for (int k = 0; k < 3; k++) /* blue, green, red on a little-endian machine */
        same &= fabs((double)data[y * stride + 4 * x + k] - wanted[k]) < 24;
      n += same ? 1 : 0;
    }
  return n;
}

typedef struct {
  double coverages[20], point[20], mean[20], sd[20];
  DemurCoverageSeries series;
  DemurCoverageCurve chart;
} Curve;

static void
make_curve(Curve *c) {
  for (int i = 0; i < 20; i++) {
    c->coverages[i] = 0.05 * (i + 1);
    c->point[i] = 0.02 + 0.001 * i;
    c->mean[i] = 0.021 + 0.001 * i;
    c->sd[i] = 0.002;
  }
  c->series =
      (DemurCoverageSeries){"selector", DEMUR_SERIES_SELECTOR, c->point, c->mean, c->sd, FALSE};
  c->chart = (DemurCoverageCurve){.title = "S-BCE₂",
                                  .measure = "S-BCE₂",
                                  .n = 20,
                                  .coverages = c->coverages,
                                  .n_series = 1,
                                  .series = &c->series,
                                  .marker = 0.9,
                                  .from_zero = TRUE,
                                  .decimals = 3};
}

static size_t
curve_pixels(const Curve *c, const DemurPalette *palette, int x1, int x2) {
  cairo_t *cr;
  cairo_surface_t *surface = canvas(palette, &cr);
  demur_coverage_curve_chart.draw(&c->chart, cr, palette, whole);
  g_assert_cmpint(cairo_status(cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy(cr);
  const size_t n = count_pixels(surface, palette->series[DEMUR_SERIES_SELECTOR], x1, x2);
  cairo_surface_destroy(surface);
  return n;
}

static void
test_gap(void) {
  const DemurPalette *palettes[] = {demur_palette_paper(), demur_palette_light(),
                                    demur_palette_dark()};
  for (int k = 0; k < 3; k++) {
    Curve c;
    make_curve(&c);
    c.series.label = ""; /* the label has the line's colour */
    /* Coverage .5 to .7 lies between 0.55 and 0.67 of the picture at any of these font sizes. */
    const int x1 = (int)(WIDTH * 0.57), x2 = (int)(WIDTH * 0.65);
    g_assert_cmpuint(curve_pixels(&c, palettes[k], x1, x2), >, 10);
    for (int i = 8; i < 15; i++)
      c.point[i] = c.mean[i] = NAN;
    g_assert_cmpuint(curve_pixels(&c, palettes[k], x1, x2), ==, 0);
    g_assert_cmpuint(curve_pixels(&c, palettes[k], 0, WIDTH), >, 100);
  }
}

static void
test_undefined_everywhere(void) {
  Curve c;
  make_curve(&c);
  for (int i = 0; i < 20; i++)
    c.point[i] = c.mean[i] = c.sd[i] = NAN;
  g_assert_cmpuint(curve_pixels(&c, demur_palette_paper(), 0, WIDTH), ==, 0);
  g_autofree char *text = demur_coverage_curve_chart.describe(&c.chart);
  g_assert_cmpstr(text, ==, "S-BCE₂ against coverage. selector: undefined everywhere.");
}

static void
test_curve_numbers(void) {
  Curve c;
  make_curve(&c);
  c.point[0] = NAN;
  g_autoptr(DemurChartTable) table = demur_coverage_curve_chart.table(&c.chart);
  g_assert_cmpuint(table->n_columns, ==, 4);
  g_assert_cmpuint(table->n_rows, ==, 20);
  g_assert_cmpstr(table->cells[1], ==, "–");
  g_assert_cmpstr(table->cells[4 * 17], ==, ".90");
  g_assert_cmpstr(table->cells[4 * 17 + 1], ==, ".037");
  g_assert_cmpstr(table->cells[4 * 17 + 2], ==, ".038");
  g_assert_cmpstr(table->cells[4 * 17 + 3], ==, ".002");
  g_autofree char *text = demur_coverage_curve_chart.describe(&c.chart);
  g_assert_cmpstr(text, ==,
                  "S-BCE₂ against coverage. selector: .021 at coverage .10, .037 at coverage .90, "
                  ".039 at coverage 1.00.");
}

static void
test_reliability(void) {
  const DemurReliabilityBin bins[] = {{40, 0.02, 0.025, 0.004, 0.13}, {41, 0.3, 0.27, 0.16, 0.42}};
  const DemurReliability chart = {
      .label = "selector", .series = DEMUR_SERIES_SELECTOR, .n_bins = 2, .bins = bins};
  g_assert_cmpfloat_with_epsilon(demur_reliability_end(2, bins), 0.5, 1e-9);
  g_autofree char *text = demur_reliability_chart.describe(&chart);
  g_assert_nonnull(strstr(text, "2 bins of 40 or 41 scans"));
  g_assert_nonnull(strstr(text, ".300: .270 (.160 to .420)."));
  cairo_t *cr;
  cairo_surface_t *surface = canvas(demur_palette_paper(), &cr);
  demur_reliability_chart.draw(&chart, cr, demur_palette_paper(), whole);
  cairo_destroy(cr);
  g_assert_cmpuint(
      count_pixels(surface, demur_palette_paper()->series[DEMUR_SERIES_SELECTOR], 0, WIDTH), >, 12);
  cairo_surface_destroy(surface);
  const DemurReliability empty = {.label = "selector", .series = DEMUR_SERIES_SELECTOR};
  surface = canvas(demur_palette_paper(), &cr);
  demur_reliability_chart.draw(&empty, cr, demur_palette_paper(), whole);
  cairo_destroy(cr);
  g_assert_cmpuint(
      count_pixels(surface, demur_palette_paper()->series[DEMUR_SERIES_SELECTOR], 0, WIDTH), ==, 0);
  cairo_surface_destroy(surface);
}

/* The grid is not drawn through the words in the corner: two letters far apart hide as much of it as many
 * would. */
static void
test_corner_hides_the_grid(void) {
  const DemurReliabilityBin bins[] = {{40, 0.1, 0.1, 0.05, 0.2}};
  const char *wide[13] = {NULL}, *narrow[13] = {NULL};
  for (size_t i = 0; i < 12; i++) {
    wide[i] = "i                i";
    narrow[i] = "ii";
  }
  size_t n_grid[2];
  for (int k = 0; k < 2; k++) {
    const DemurReliability chart = {
        .n_bins = 1, .bins = bins, .axis_end = 1, .corner = k ? wide : narrow};
    cairo_t *cr;
    cairo_surface_t *surface = canvas(demur_palette_paper(), &cr);
    demur_reliability_chart.draw(&chart, cr, demur_palette_paper(), whole);
    cairo_destroy(cr);
    n_grid[k] = count_pixels(surface, demur_palette_paper()->grid, 0, WIDTH);
    cairo_surface_destroy(surface);
  }
  g_assert_cmpuint(n_grid[1] + 20, <, n_grid[0]);
}

/* A label that is too wide stands on two lines where it has a blank, and loses nothing. */
static void
test_long_labels_break(void) {
  const DemurRejection rejections[2] = {{.rate = 0.0, .rate_low = NAN, .rate_high = NAN},
                                        {.rate = 0.0, .rate_low = NAN, .rate_high = NAN}};
  const DemurRejectionSeries series = {
      .label = "selector", .series = DEMUR_SERIES_SELECTOR, .rejections = rejections};
  static const char *const labels[2] = {"mmmmmmmmmmmmmmmm.mmmmmmmmmmmmmmmm",
                                        "mmmmmmmmmmmmmmmm mmmmmmmmmmmmmmmm"};
  size_t n_ink[2];
  for (int k = 0; k < 2; k++) {
    const char *const both[2] = {labels[k], labels[k]};
    const DemurRejectionChart chart = {.kind = DEMUR_REJECTION_RATES,
                                       .n_labels = 2,
                                       .labels = both,
                                       .n_series = 1,
                                       .series = &series};
    cairo_t *cr;
    cairo_surface_t *surface = canvas(demur_palette_paper(), &cr);
    demur_rejection_chart.draw(&chart, cr, demur_palette_paper(), whole);
    cairo_destroy(cr);
    n_ink[k] =
        (size_t)WIDTH * HEIGHT - count_pixels(surface, demur_palette_paper()->paper, 0, WIDTH);
    cairo_surface_destroy(surface);
  }
  g_test_message("%zu pixels, %zu", n_ink[0], n_ink[1]);
  g_assert_cmpuint(n_ink[1], >, n_ink[0] + 300);
}

static void
test_histogram_and_rejections(void) {
  const size_t all[4] = {10, 0, 30, 60}, kept[4] = {1, 0, 20, 59}, none[4] = {0, 0, 0, 0};
  const DemurHistogramPanel panels[] = {{"selector", DEMUR_SERIES_SELECTOR, kept, 80},
                                        {"confidence", DEMUR_SERIES_CONFIDENCE, none, 0}};
  const DemurConfidenceHistogram chart = {
      .n_bins = 4, .low = 0.5, .width = 0.125, .all = all, .n_panels = 2, .panels = panels};
  g_autoptr(DemurChartTable) table = demur_confidence_histogram_chart.table(&chart);
  const char *const row[] = {".875", "1.000", "60", "59", "0"};
  for (size_t i = 0; i < 5; i++)
    g_assert_cmpstr(table->cells[3 * 5 + i], ==, row[i]);
  cairo_t *cr;
  cairo_surface_t *surface = canvas(demur_palette_dark(), &cr);
  demur_confidence_histogram_chart.draw(&chart, cr, demur_palette_dark(), whole);
  g_assert_cmpint(cairo_status(cr), ==, CAIRO_STATUS_SUCCESS);

  DemurRejection two[2] = {{.label = 0,
                            .n_all = 100,
                            .n_rejected = 9,
                            .share_of_rejected = 0.75,
                            .share_of_all = 0.8,
                            .rate = 0.09,
                            .rate_low = 0.05,
                            .rate_high = 0.15},
                           {.label = 1,
                            .n_all = 25,
                            .n_rejected = 3,
                            .share_of_rejected = 0.25,
                            .share_of_all = 0.2,
                            .rate = 0.12,
                            .rate_low = NAN,
                            .rate_high = NAN}};
  const char *const labels[] = {"no cancer", "cancer"};
  const DemurRejectionSeries series = {"selector", DEMUR_SERIES_SELECTOR, two};
  DemurRejectionChart rejection = {.kind = DEMUR_REJECTION_RATES,
                                   .n_labels = 2,
                                   .labels = labels,
                                   .n_series = 1,
                                   .series = &series};
  demur_rejection_chart.draw(&rejection, cr, demur_palette_dark(), whole);
  g_assert_cmpint(cairo_status(cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy(cr);
  cairo_surface_destroy(surface);
  g_autofree char *rates = demur_rejection_chart.describe(&rejection);
  g_assert_cmpstr(
      rates, ==,
      "Share of each label that is rejected. no cancer: selector 9.0\u00a0% (5.0\u00a0% "
      "to 15.0\u00a0%). cancer: selector 12.0\u00a0%.");
  rejection.kind = DEMUR_REJECTION_SHARES;
  g_autofree char *shares = demur_rejection_chart.describe(&rejection);
  g_assert_cmpstr(shares, ==,
                  "Each label's share of the rejected scans. no cancer: selector 75.0\u00a0%, of "
                  "all scans 80.0\u00a0%. cancer: selector 25.0\u00a0%, of all scans 20.0\u00a0%.");
}

/* Only the group whose interval leaves the overall rate out is in the warning colour. */
static void
test_forest(void) {
  DemurForestRow rows[] = {{"site 03", FALSE, 182, FALSE, 0.071, 0.04, 0.12},
                           {"site 34", FALSE, 164, FALSE, 0.232, 0.17, 0.3},
                           {"site 40", FALSE, 6, TRUE, NAN, NAN, NAN}};
  DemurForestPlot chart = {.value_label = "Refused",
                           .interval_label = "95 %",
                           .n_rows = 3,
                           .rows = rows,
                           .reference = 0.1};
  g_autofree char *text = demur_forest_chart.describe(&chart);
  g_assert_cmpstr(text, ==,
                  "Refused by group, overall 10.0\u00a0%. site 03: 7.1\u00a0% (4.0\u00a0% to "
                  "12.0\u00a0%); site 34: 23.2\u00a0% (17.0\u00a0% to 30.0\u00a0%); site 40: "
                  "withheld.");
  const DemurPalette *palette = demur_palette_paper();
  for (int out = 0; out < 2; out++) {
    rows[1].low = out ? 0.17 : 0.09;
    cairo_t *cr;
    cairo_surface_t *surface = canvas(palette, &cr);
    demur_forest_chart.draw(&chart, cr, palette, whole);
    g_assert_cmpint(cairo_status(cr), ==, CAIRO_STATUS_SUCCESS);
    cairo_destroy(cr);
    const size_t warned = count_pixels(surface, palette->warning, 0, WIDTH);
    if (out)
      g_assert_cmpuint(warned, >, 3);
    else
      g_assert_cmpuint(warned, ==, 0);
    cairo_surface_destroy(surface);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/report/charts/undefined-stretch-is-a-gap-in-every-palette", test_gap);
  g_test_add_func("/report/charts/undefined-everywhere-draws-no-line", test_undefined_everywhere);
  g_test_add_func("/report/charts/curve-yields-its-numbers", test_curve_numbers);
  g_test_add_func("/report/charts/reliability-marks-and-words", test_reliability);
  g_test_add_func("/report/charts/corner-hides-the-grid", test_corner_hides_the_grid);
  g_test_add_func("/report/charts/long-labels-break", test_long_labels_break);
  g_test_add_func("/report/charts/histogram-and-rejection-yield-their-numbers",
                  test_histogram_and_rejections);
  g_test_add_func("/report/charts/forest-marks-groups-that-stand-out", test_forest);
  return g_test_run();
}
