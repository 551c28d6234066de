/* Every chart goes through one interface and one exporter. Right values: what an interface is asked
 * for is there for each chart by name; a table for programs is English whatever language is in use;
 * a PDF carries what the picture says; a refused ending leaves no file. */
#include "base/error.h"
#include "report-fixture.h"

#include "report/chart-export.h"
#include "report/chart-words.h"
#include "report/charts-private.h"

#include <glib/gstdio.h>

static Fixture *
binary_fixture(void) {
  return fixture_new(&(FixtureKind){.n_classes = 2, .n_sites = 24});
}

static char *
place(const char *folder, const char *name) {
  return g_build_filename(folder, name, NULL);
}

static char *
contents(const char *path, gsize *n) {
  char *text;
  g_autoptr(GError) error = NULL;
  g_file_get_contents(path, &text, n, &error);
  g_assert_no_error(error);
  g_unlink(path);
  return text;
}

static void
test_every_chart_has_the_interface(void) {
  g_autoptr(Fixture) f = binary_fixture();
  size_t n_drawn = 0;
  const DemurChartKind *kind;
  for (size_t i = 0; (kind = demur_chart_kind(i)) != NULL; i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurChart) chart = demur_chart_new(kind->name, &f->input, 0.9, NULL, &error);
    if (!chart) { /* the fixture has nothing to draw for it, which is said */
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
      continue;
    }
    n_drawn++;
    g_assert_nonnull(chart->interface->draw);
    g_assert_cmpfloat(demur_chart_height(chart, demur_palette_paper(), 400), >, 40);
    g_autoptr(DemurChartTable) table = demur_chart_table(chart);
    g_assert_cmpuint(table->n_rows, >, 0);
    g_autofree char *words = demur_chart_describe(chart);
    g_assert_cmpuint(strlen(words), >, 20);
    if (chart->interface->hit)
      g_assert_cmpint(chart->interface->hit(&chart->data, demur_palette_paper(),
                                            (DemurRectangle){0, 0, 400, 300}, -5, -5),
                      ==, -1);
    g_assert_true(!chart->interface->draw_still == !chart->interface->draw_moving);
  }
  g_assert_cmpuint(n_drawn, >=, 10);
}

/* Two groups of one attribute and one that is withheld; errors are made up. */
static void
test_groups_have_bars_and_a_mean(void) {
  g_autoptr(Fixture) f = binary_fixture();
  const DemurMethodResult *methods = f->evaluation.methods;
  DemurGroupMethod of[2][2];
  for (size_t g = 0; g < 2; g++)
    for (size_t m = 0; m < 2; m++)
      of[g][m] = (DemurGroupMethod){.kind = methods[m].kind,
                                    .name = methods[m].name,
                                    .recalibrated = methods[m].recalibrated,
                                    .sbce2_auc = 0.01 * (double)(1 + g + 2 * m)};
  DemurGroup groups[] = {
      {.by = (char *)"shift",
       .value = (char *)"blur",
       .n_scans = 20,
       .n_methods = 2,
       .methods = of[0]},
      {.by = (char *)"shift",
       .value = (char *)"fog",
       .n_scans = 30,
       .n_methods = 2,
       .methods = of[1]},
      {.by = (char *)"shift", .value = (char *)"few", .n_scans = 3, .withheld = TRUE}};
  DemurGroup *kept = f->evaluation.groups;
  const size_t n_kept = f->evaluation.n_groups;
  f->evaluation.groups = groups;
  f->evaluation.n_groups = G_N_ELEMENTS(groups);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurChart) chart = demur_chart_new("per-shift", &f->input, 0.9, "shift", &error);
  g_assert_no_error(error);
  g_autoptr(DemurChartTable) table = demur_chart_table(chart);
  g_assert_cmpuint(table->n_rows, ==, 3); /* the larger first, then the mean */
  const char *const firsts[] = {"fog", "blur", "mean"};
  const double errors[] = {0.02, 0.01, 0.015};
  for (size_t r = 0; r < 3; r++) {
    g_assert_cmpstr(table->exact[r * table->n_columns], ==, firsts[r]);
    g_assert_cmpfloat_with_epsilon(g_ascii_strtod(table->exact[r * table->n_columns + 1], NULL),
                                   errors[r], 1e-15);
  }
  g_autoptr(DemurChart) none = demur_chart_new("per-shift", &f->input, 0.9, "sex", &error);
  g_assert_null(none);
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  f->evaluation.groups = kept;
  f->evaluation.n_groups = n_kept;
}

/* The rows of the distribution are the histograms of each coverage. */
static void
test_the_distribution_has_every_coverage(void) {
  g_autoptr(Fixture) f = binary_fixture();
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurChart) whole = demur_chart_new("risk-distribution", &f->input, 0.9, NULL, &error);
  g_assert_no_error(error);
  g_autoptr(DemurChartTable) all = demur_chart_table(whole);
  size_t at = 0;
  for (size_t c = 0; c < DEMUR_N_OPERATING_COVERAGES; c++) {
    g_autoptr(DemurChart) chart = demur_chart_new("confidence-histogram", &f->input,
                                                  demur_operating_coverages[c], NULL, NULL);
    if (chart == NULL)
      continue;
    g_autoptr(DemurChartTable) one = demur_chart_table(chart);
    g_assert_cmpuint(all->n_columns, ==, one->n_columns + 1);
    for (size_t r = 0; r < one->n_rows; r++, at++)
      for (size_t k = 0; k < one->n_columns; k++)
        g_assert_cmpstr(all->exact[at * all->n_columns + 1 + k], ==,
                        one->exact[r * one->n_columns + k]);
  }
  g_assert_cmpuint(at, ==, all->n_rows);
  g_assert_cmpuint(at, >=, DEMUR_N_HISTOGRAM_BINS);
}

static const char *
shout(const char *text) {
  return g_str_equal(text, "bin") ? "KASTEN" : g_str_equal(text, "no cancer") ? "KEIN KREBS" : text;
}

/* A word in the reader's language; a hospital of that name is called as it is. */
static void
test_values_are_words_or_names(void) {
  static const struct {
    const char *attribute, *value;
    gboolean is_word;
  } rows[] = {{"sex", "female", TRUE}, {"sex", "male", TRUE},        {"sex", "F", FALSE},
              {"site", "male", FALSE}, {"site", NULL, TRUE},         {"manufacturer", "", TRUE},
              {NULL, "female", FALSE}, {"manufacturer", "GE", FALSE}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
    g_assert_cmpint(demur_chart_is_word(rows[i].attribute, rows[i].value), ==, rows[i].is_word);
  const DemurForestRow forest_rows[] = {{.label = "bin", .is_word = TRUE, .n = 20, .value = 0.5},
                                        {.label = "bin", .n = 20, .value = 0.5}};
  const DemurForestPlot forest = {.value_label = "Refused",
                                  .interval_label = "95 %",
                                  .n_rows = G_N_ELEMENTS(forest_rows),
                                  .rows = forest_rows,
                                  .reference = 0.5};
  const double value = 0.1;
  const char *const labels[] = {"a"};
  const DemurChartSeries series[] = {DEMUR_SERIES_SELECTOR};
  const DemurBarGroup groups[] = {{"bin", &value, TRUE}, {"bin", &value, FALSE}};
  const DemurGroupBars bars = {.measure = "error",
                               .n_groups = G_N_ELEMENTS(groups),
                               .groups = groups,
                               .n_series = 1,
                               .labels = labels,
                               .series = series};
  demur_chart_words_use(shout);
  g_autoptr(DemurChartTable) of_forest = demur_forest_chart.table(&forest),
                             of_bars = demur_group_bars_chart.table(&bars);
  demur_chart_words_use(NULL);
  g_assert_cmpstr(of_forest->cells[0], ==, "KASTEN");
  g_assert_cmpstr(of_forest->cells[of_forest->n_columns], ==, "bin");
  g_assert_cmpstr(of_bars->cells[0], ==, "KASTEN");
  g_assert_cmpstr(of_bars->cells[of_bars->n_columns], ==, "bin");
}

/* What the labels are called is in the reader's language, in the table and in words. */
static void
test_labels_are_in_the_readers_language(void) {
  g_autoptr(Fixture) f = binary_fixture();
  g_autoptr(GError) error = NULL;
  static const char *const names[] = {"rejection-shares", "rejection-rates"};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autoptr(DemurChart) chart = demur_chart_new(names[i], &f->input, 0.9, NULL, &error);
    g_assert_no_error(error);
    demur_chart_words_use(shout);
    g_autoptr(DemurChartTable) shown = demur_chart_table(chart);
    g_autofree char *said = demur_chart_describe(chart);
    demur_chart_words_use(NULL);
    g_assert_cmpstr(shown->cells[1], ==, "KEIN KREBS");
    g_assert_nonnull(strstr(said, " KEIN KREBS:"));
  }
}

static void
test_tables_are_english(void) {
  g_autoptr(Fixture) f = binary_fixture();
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurChart) chart = demur_chart_new("reliability", &f->input, 0.9, NULL, &error);
  g_assert_no_error(error);
  g_autofree char *folder = g_dir_make_tmp("demur-chart-XXXXXX", NULL),
                  *csv = place(folder, "r.csv");
  g_assert_null(demur_chart_words_use(shout));
  const gboolean written = demur_chart_write(chart, csv, "of what", &error);
  g_autoptr(DemurChartTable) shown = demur_chart_table(chart);
  g_assert_true(demur_chart_words_use(NULL) == shout); /* given back by the exporter */
  g_assert_true(written);
  g_assert_cmpstr(shown->header[0], ==, "KASTEN");
  gsize n;
  g_autofree char *text = contents(csv, &n);
  g_assert_true(g_str_has_prefix(text, "bin,scans,"));
  g_assert_nonnull(strstr(text, "of what"));
  g_rmdir(folder);
}

/* The bins are of the scans that are counted, and O:E in groups too: so say their headings. */
static void
test_counts_are_of_what_is_counted(void) {
  g_autoptr(Fixture) f = binary_fixture();
  g_autoptr(GError) error = NULL;
  DemurReportInput input = f->input;
  input.coverage = 0.9;
  const DemurReportFinding finding = demur_finding(&input);
  DemurOperatingPoint *at = (DemurOperatingPoint *)finding.subject_at;
  at->n_accepted = 536;
  static const struct {
    size_t n_counted;
    const char *said;
  } rows[] = {{537, ": 537"}, {0, ": 536"}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    at->n_counted = rows[r].n_counted;
    g_autoptr(DemurChart) chart = demur_chart_new("reliability", &f->input, 0.9, NULL, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(demur_chart_title(chart), rows[r].said));
  }
  DemurOperatingPoint of_group = *at;
  of_group.n_counted = 537; /* of 536 accepted */
  of_group.measures[DEMUR_MEASURE_OE_RATIO] = 1.1;
  DemurGroupMethod method = {.kind = finding.subject->kind,
                             .name = finding.subject->name,
                             .recalibrated = finding.subject->recalibrated,
                             .n_at = 1,
                             .at = &of_group};
  DemurGroup group = {.by = (char *)"site",
                      .value = (char *)"a",
                      .n_scans = 600,
                      .n_methods = 1,
                      .methods = &method};
  DemurGroup *kept = f->evaluation.groups;
  const size_t n_kept = f->evaluation.n_groups;
  f->evaluation.groups = &group;
  f->evaluation.n_groups = 1;
  g_autoptr(DemurChart) forest = demur_chart_new("forest-oe", &f->input, 0.9, NULL, &error);
  g_assert_no_error(error);
  g_autoptr(DemurChartTable) table = demur_chart_table(forest);
  size_t n_found = 0;
  for (size_t c = 0; c < table->n_rows * table->n_columns; c++) {
    g_assert_cmpstr(table->cells[c], !=, "536");
    n_found += g_str_equal(table->cells[c], "537") ? 1 : 0;
  }
  g_assert_cmpuint(n_found, ==, 1);
  f->evaluation.groups = kept;
  f->evaluation.n_groups = n_kept;
}

static void
test_endings(void) {
  static const struct {
    const char *name, *magic;
  } files[] = {{"a.svg", "<?xml"}, {"a.PNG", "\x89PNG"}, {"a.pdf", "%PDF-"}, {"a.csv", "bin,"}};
  g_autoptr(Fixture) f = binary_fixture();
  g_autoptr(DemurChart) chart = demur_chart_new("reliability", &f->input, 0.9, NULL, NULL);
  g_autofree char *folder = g_dir_make_tmp("demur-chart-XXXXXX", NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
    g_autofree char *path = place(folder, files[i].name);
    char *bytes[2];
    gsize n[2];
    for (int k = 0; k < 2; k++) {
      /* A heading stands above a picture and belongs to no table. */
      const DemurChartPicture picture = {.interface = chart->interface,
                                         .data = &chart->data,
                                         .name = "n",
                                         .heading = k ? "above" : NULL};
      g_autoptr(GError) error = NULL;
      g_assert_true(demur_chart_export(&picture, path, &error));
      g_assert_no_error(error);
      bytes[k] = contents(path, &n[k]);
      g_assert_true(strncmp(bytes[k], files[i].magic, strlen(files[i].magic)) == 0);
    }
    g_assert_true((n[0] == n[1] && memcmp(bytes[0], bytes[1], n[0]) == 0) == (i == 3));
    g_free(bytes[0]);
    g_free(bytes[1]);
  }
  static const char *const refused[] = {"a.gif", "a", "a.svgz", ".svg.txt"};
  for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
    g_autofree char *path = place(folder, refused[i]);
    g_autoptr(GError) error = NULL;
    g_assert_false(demur_chart_write(chart, path, NULL, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
  }
  g_rmdir(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/report/chart/every-chart-has-the-interface",
                  test_every_chart_has_the_interface);
  g_test_add_func("/report/chart/tables-for-programs-are-english", test_tables_are_english);
  g_test_add_func("/report/chart/one-exporter-writes-every-ending", test_endings);
  g_test_add_func("/report/chart/counts-are-of-what-is-counted",
                  test_counts_are_of_what_is_counted);
  g_test_add_func("/report/chart-export/words-or-names", test_values_are_words_or_names);
  g_test_add_func("/report/chart-export/labels", test_labels_are_in_the_readers_language);
  g_test_add_func("/report/chart-export/group-bars", test_groups_have_bars_and_a_mean);
  g_test_add_func("/report/chart-export/distribution", test_the_distribution_has_every_coverage);
  return g_test_run();
}
