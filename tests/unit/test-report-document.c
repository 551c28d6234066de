/* The PDF and its JSON as files. Right values: round trips (JSON read back, text taken out of the
 * PDF by pdftotext where it is installed), metamorphic laws (same input, other name: same bytes)
 * and refusals. */
#include "base/error.h"
#include "report-fixture.h"
#include "support/folder.h"
#include "support/support.h"

#include <glib/gstdio.h>

typedef struct {
  char *folder;
} Scratch;

static void
scratch_set_up(Scratch *scratch, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  scratch->folder = g_dir_make_tmp("demur-report-XXXXXX", &error);
  g_assert_no_error(error);
}

static void
scratch_tear_down(Scratch *scratch, gconstpointer data) {
  demur_test_remove_folder(scratch->folder);
  g_free(scratch->folder);
}

static GBytes *
read_file(const Scratch *scratch, const char *name) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_build_filename(scratch->folder, name, NULL);
  char *text = NULL;
  gsize n;
  g_file_get_contents(path, &text, &n, &error);
  g_assert_no_error(error);
  return g_bytes_new_take(text, n);
}

static void
write_report(const Scratch *scratch, const DemurReportInput *input, const char *name) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_build_filename(scratch->folder, name, NULL);
  const gboolean done = demur_report_write(input, path, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(done);
}

/* Standard output of a program on the file, NULL with the test skipped where it is not installed.
 */
static char *
run_on(const Scratch *scratch, const char *name, const char *program, const char *option) {
  g_autofree char *found = g_find_program_in_path(program);
  if (!found) {
    g_test_skip("poppler-utils or qpdf is not installed");
    return NULL;
  }
  g_autofree char *path = g_build_filename(scratch->folder, name, NULL);
  g_autoptr(GPtrArray) words = g_ptr_array_new();
  g_ptr_array_add(words, found);
  if (option)
    g_ptr_array_add(words, (gpointer)option);
  g_ptr_array_add(words, path);
  if (g_str_equal(program, "pdftotext"))
    g_ptr_array_add(words, (gpointer) "-");
  g_ptr_array_add(words, NULL);
  char *output = NULL;
  int status;
  g_autoptr(GError) error = NULL;
  g_spawn_sync(NULL, (char **)words->pdata, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &output,
               NULL, &status, &error);
  g_assert_no_error(error);
  g_assert_true(g_spawn_check_wait_status(status, &error));
  g_assert_no_error(error);
  return output;
}

static void
test_same_bytes(Scratch *scratch, gconstpointer data) {
  const FixtureKind kind = {.n_classes = 2, .n_sites = 34};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  for (int dated = 0; dated < 2; dated++) {
    fixture->input.created = dated ? "2026-11-27T09:40:00Z" : NULL;
    write_report(scratch, &fixture->input, "one.pdf");
    write_report(scratch, &fixture->input, "another name.PDF");
    g_autoptr(GBytes) a = read_file(scratch, "one.pdf"), b = read_file(scratch, "another name.PDF"),
                      c = read_file(scratch, "one.json"),
                      d = read_file(scratch, "another name.json");
    g_assert_true(g_bytes_equal(a, b));
    g_assert_true(g_bytes_equal(c, d));
  }
  /* Undated: the clock has left no trace. */
  g_autofree char *info = run_on(scratch, "one.pdf", "pdfinfo", NULL);
  g_assert_true(!info || strstr(info, "CreationDate:"));
  fixture->input.created = NULL;
  write_report(scratch, &fixture->input, "one.pdf");
  g_autofree char *undated = run_on(scratch, "one.pdf", "pdfinfo", NULL);
  g_assert_true(!undated || !strstr(undated, "Date:"));
}

static void
test_one_number_changes_the_digest(Scratch *scratch, gconstpointer data) {
  const FixtureKind kind = {.n_classes = 2, .n_sites = 34};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  g_autofree char *before = demur_report_json(&fixture->input);
  fixture->evaluation.methods[0].at[0].measures[DEMUR_MEASURE_SBCE2] += 1e-9;
  g_autofree char *after = demur_report_json(&fixture->input);
  g_assert_false(g_str_equal(before, after));
}

static void
test_every_page_is_marked(Scratch *scratch, gconstpointer data) {
  const FixtureKind kind = {.n_classes = 2, .n_sites = 34, .in_sample = TRUE};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  fixture->input.selector.federated = "Its risks come from sums of several sites: an audit.";
  write_report(scratch, &fixture->input, "marked.pdf");
  g_autofree char *text = run_on(scratch, "marked.pdf", "pdftotext", "-raw");
  if (!text)
    return;
  g_autoptr(GBytes) json = read_file(scratch, "marked.json");
  g_autofree char *digest = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, json);
  g_autofree char *footer =
      g_strdup_printf("digest %.4s %.4s %.4s · page", digest, digest + 4, digest + 8);
  g_assert_nonnull(strstr(text, "From several sites")); /* the model card's line */
  g_assert_nonnull(strstr(text, "sums of several sites: an audit"));
  g_auto(GStrv) pages = g_strsplit(text, "\f", -1);
  const guint n = g_strv_length(pages) - 1; /* a form feed ends each page */
  g_assert_cmpuint(n, >, 5);
  for (guint i = 0; i < n; i++) {
    g_autofree char *number = g_strdup_printf("page %u of %u", i + 1, n);
    g_assert_nonnull(strstr(pages[i], "For research use, not a cleared device."));
    g_assert_nonnull(strstr(pages[i], "Simulated data"));
    g_assert_nonnull(strstr(pages[i], "In-sample"));
    g_assert_nonnull(strstr(pages[i], number));
    g_assert_nonnull(strstr(pages[i], footer));
  }
  fixture->evaluation.simulated = fixture->evaluation.in_sample = FALSE;
  write_report(scratch, &fixture->input, "marked.pdf");
  g_autofree char *real = run_on(scratch, "marked.pdf", "pdftotext", "-raw");
  g_assert_null(strstr(real, "Simulated data"));
  g_assert_null(strstr(real, "In-sample:"));
}

static void
test_json_holds_what_is_printed(Scratch *scratch, gconstpointer data) {
  const FixtureKind kind = {.n_classes = 2, .n_sites = 34};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  g_autofree char *text = demur_report_json(&fixture->input);
  g_autoptr(JsonParser) parser = json_parser_new();
  g_autoptr(GError) error = NULL;
  json_parser_load_from_data(parser, text, -1, &error);
  g_assert_no_error(error);
  JsonObject *root = json_node_get_object(json_parser_get_root(parser));
  JsonObject *cohort = json_object_get_object_member(root, "cohort"),
             *evaluation = json_object_get_object_member(root, "evaluation"),
             *finding = json_object_get_object_member(root, "finding");
  g_assert_cmpint(json_object_get_int_member(evaluation, "n_scans"), ==, 1337);
  g_assert_cmpstr(json_object_get_string_member(finding, "verdict"), ==, "better");
  JsonArray *splits = json_object_get_array_member(cohort, "splits");
  g_assert_cmpuint(json_array_get_length(splits), ==, 5);
  /* Nobody of tune is labelled: its prevalence is undefined, null. */
  g_assert_true(
      json_object_get_null_member(json_array_get_object_element(splits, 3), "prevalence"));
  /* The seventh site has six scans: its labels are withheld, its size is not. */
  JsonObject *small =
      json_array_get_object_element(json_object_get_array_member(cohort, "sites"), 6);
  g_assert_true(json_object_get_null_member(small, "n_scans"));
  g_assert_true(json_object_get_null_member(small, "n_positive"));
  JsonArray *thresholds = json_object_get_array_member(root, "thresholds");
  g_assert_cmpfloat(
      json_object_get_double_member(json_array_get_object_element(thresholds, 1), "threshold"), ==,
      0.412);
  JsonObject *selector = json_object_get_object_member(root, "selector");
  JsonArray *settings = json_object_get_array_member(selector, "settings");
  g_assert_cmpuint(json_array_get_length(settings), ==, fixture->input.selector.n_settings);
  g_assert_cmpstr(json_object_get_string_member(json_array_get_object_element(settings, 5), "key"),
                  ==, "kappa");
}

/* What a program that subtracts finds in the JSON: of 26 people with the outcome at the two
 * smallest scanners nothing tells which. */
static void
test_subtraction(Scratch *scratch, gconstpointer data) {
  static const DemurReportGroup scanners[] = {{"A", 599, 540, 599, 46, FALSE, FALSE},
                                              {"B", 320, 303, 320, 23, FALSE, FALSE},
                                              {"C", 272, 266, 272, 21, FALSE, FALSE},
                                              {"D", 146, 142, 146, 5, FALSE, FALSE}};
  const FixtureKind kind = {.n_classes = 2, .n_sites = 34};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  fixture->input.cohort.scanners = scanners;
  fixture->input.cohort.n_scanners = G_N_ELEMENTS(scanners);
  g_autofree char *text = demur_report_json(&fixture->input);
  g_autoptr(JsonParser) parser = json_parser_new();
  g_assert_true(json_parser_load_from_data(parser, text, -1, NULL));
  JsonArray *rows = json_object_get_array_member(
      json_object_get_object_member(json_node_get_object(json_parser_get_root(parser)), "cohort"),
      "scanners");
  gint64 positive = 46 + 23 + 21 + 5;
  guint hidden = 0;
  for (guint i = 0; i < json_array_get_length(rows); i++) {
    JsonObject *row = json_array_get_object_element(rows, i);
    g_assert_false(json_object_get_null_member(row, "n_scans"));
    g_assert_cmpint(json_object_get_null_member(row, "n_positive"), ==,
                    json_object_get_null_member(row, "n_labelled"));
    if (json_object_get_null_member(row, "n_positive"))
      hidden++;
    else
      positive -= json_object_get_int_member(row, "n_positive");
  }
  g_assert_cmpuint(hidden, ==, 2);
  g_assert_cmpint(positive, ==, 26);
  /* Nor does the printed share. */
  write_report(scratch, &fixture->input, "cells.pdf");
  g_autofree char *printed = run_on(scratch, "cells.pdf", "pdftotext", "-layout");
  if (!printed)
    return;
  g_assert_null(strstr(printed, "3.4 %"));
  g_assert_nonnull(strstr(printed, "7.2 %"));
}

/* Odd inputs: each becomes a sound, tagged PDF with fonts embedded. */
static void
test_odd_inputs(Scratch *scratch, gconstpointer data) {
  const FixtureKind kinds[] = {
      {.n_classes = 2, .n_sites = 34, .undefined = TRUE},
      {.n_classes = 2, .n_sites = 3, .one_method = TRUE, .untuned = TRUE},
      {.n_classes = 2,
       .n_sites = 34,
       .recalibrated = TRUE,
       .title =
           "selector of the Very Long Named University Hospital Consortium of Northern Regions"},
      {.n_classes = 2, .n_sites = 1, .title = "選択器 肺がん מסנן הסיכון"},
      {.n_classes = 10, .n_sites = 40},
      {.n_classes = 2, .n_sites = 400}};
  for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
    g_autoptr(Fixture) fixture = fixture_new(&kinds[i]);
    fixture->input.paper = i % 2 ? DEMUR_PAPER_LETTER : DEMUR_PAPER_A4;
    write_report(scratch, &fixture->input, "odd.pdf");
    g_autofree char *check = run_on(scratch, "odd.pdf", "qpdf", "--check");
    g_autofree char *info = run_on(scratch, "odd.pdf", "pdfinfo", NULL);
    g_autofree char *fonts = run_on(scratch, "odd.pdf", "pdffonts", NULL);
    if (!check || !info || !fonts)
      return;
    g_assert_nonnull(strstr(check, "No syntax or stream encoding errors"));
    const gchar *tagged = strstr(info, "Tagged:");
    g_assert_true(tagged && strstr(tagged, "yes"));
    g_assert_nonnull(strstr(info, i % 2 ? "(letter)" : "(A4)"));
    g_assert_null(strstr(fonts, " no  yes"));
    g_assert_nonnull(strstr(fonts, " yes yes yes "));
  }
}

static guint
count_of(const char *text, const char *words) {
  guint n = 0;
  for (const char *at = text; (at = strstr(at, words)); at += strlen(words))
    n++;
  return n;
}

/* On A4 the first page ends in the document's contents, and the next begins with the cohort: by which rule outcomes
 * are counted stands once, among the results. */
static void
test_first_page(Scratch *scratch, gconstpointer data) {
  const FixtureKind kind = {.n_classes = 2, .n_sites = 34, .untuned = TRUE};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  fixture->input.paper = DEMUR_PAPER_A4;
  DemurMethodResult *method = &fixture->evaluation.methods[0];
  for (size_t a = 0; a < method->n_at; a++)
    method->at[a].n_counted = method->at[a].n_accepted - 10;
  write_report(scratch, &fixture->input, "first.pdf");
  g_autofree char *text = run_on(scratch, "first.pdf", "pdftotext", "-layout");
  if (!text)
    return;
  const char *rule = strstr(text, "So that from no two numbers"), *page_2 = strchr(text, '\f'),
             *contents = strstr(text, "Reporting guidelines");
  g_assert_cmpuint(count_of(text, "So that from no two numbers"), ==, 1);
  g_assert_true(contents != NULL && contents < page_2 && rule > page_2);
}

/* What a screen reader goes by: each row of a table has its header, each link says where it goes,
 * tabs follow the structure. */
static void
test_tags(Scratch *scratch, gconstpointer data) {
  const FixtureKind kind = {.n_classes = 2, .n_sites = 34};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  write_report(scratch, &fixture->input, "tags.pdf");
  g_autofree char *raw = run_on(scratch, "tags.pdf", "qpdf", "--json");
  g_autofree char *info = run_on(scratch, "tags.pdf", "pdfinfo", NULL);
  if (!raw || !info)
    return;
  const guint n_rows = count_of(raw, "\"/S\": \"/TR\""),
              n_row_heads = count_of(raw, "\"/Scope\": \"/Row\""),
              n_pages = (guint)g_ascii_strtoull(strstr(info, "Pages:") + 6, NULL, 10);
  g_assert_cmpuint(count_of(raw, "\"/Tabs\": \"/S\""), ==, n_pages);
  g_assert_cmpuint(n_row_heads, ==, n_rows - count_of(raw, "\"/S\": \"/Table\""));
  g_assert_cmpuint(n_row_heads, >, 50);
  const guint n_links = count_of(raw, "\"/Subtype\": \"/Link\"");
  g_assert_cmpuint(n_links, >=, 5);
  g_assert_cmpuint(count_of(raw, "\"/Contents\": \"u:"), ==, n_links);
  g_assert_nonnull(strstr(raw, "\"/Contents\": \"u:Results, page "));
}

/* What was left out is counted among that and not once more below what was noticed; the first page has
 * what to read with care on either paper. */
static void
test_told_once(Scratch *scratch, gconstpointer data) {
  static const DemurReportCount noticed[] = {{"71 screens without a score", 71, TRUE},
                                             {"column age: 3 cells are 999", 3, FALSE}};
  const FixtureKind kind = {.n_classes = 2, .n_sites = 3, .untuned = TRUE};
  const DemurPaper papers[] = {DEMUR_PAPER_A4, DEMUR_PAPER_LETTER};
  for (size_t i = 0; i < G_N_ELEMENTS(papers); i++) {
    g_autoptr(Fixture) fixture = fixture_new(&kind);
    fixture->input.paper = papers[i];
    fixture->input.cohort.noticed = noticed;
    fixture->input.cohort.n_noticed = G_N_ELEMENTS(noticed);
    write_report(scratch, &fixture->input, "once.pdf");
    g_autofree char *text = run_on(scratch, "once.pdf", "pdftotext", "-layout"),
                    *path = g_build_filename(scratch->folder, "once.json", NULL), *json = NULL;
    if (!text)
      return;
    g_assert_null(strstr(text, "71 screens"));
    g_assert_cmpuint(count_of(text, "column age: 3 cells"), ==, 2); /* flow and table */
    g_assert_true(g_file_get_contents(path, &json, NULL, NULL));
    g_assert_nonnull(strstr(json, "71 screens without a score"));
    const char *care = strstr(text, "Read with care");
    g_assert_true(care != NULL && care < strchr(text, '\f'));
  }
}

static void
test_refusals(Scratch *scratch, gconstpointer data) {
  const FixtureKind kind = {.n_classes = 2, .n_sites = 34};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  static const char *const names[] = {"report", "report.txt", ".pdf", "folder/.pdf"};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_false(demur_report_write(&fixture->input, names[i], NULL, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  }
  g_autofree char *path = g_build_filename(scratch->folder, "a.pdf", NULL);
  g_autoptr(GError) empty = NULL;
  const size_t n_methods = fixture->evaluation.n_methods;
  fixture->evaluation.n_methods = 0;
  g_assert_false(demur_report_write(&fixture->input, path, NULL, &empty));
  g_assert_error(empty, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  fixture->evaluation.n_methods = n_methods;
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  g_cancellable_cancel(cancellable);
  const DemurProgress progress = {.cancellable = cancellable};
  g_autoptr(GError) cancelled = NULL;
  g_assert_false(demur_report_write(&fixture->input, path, &progress, &cancelled));
  g_assert_error(cancelled, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_autofree char *missing = g_build_filename(scratch->folder, "no such folder", "a.pdf", NULL);
  g_autoptr(GError) absent = NULL;
  g_assert_false(demur_report_write(&fixture->input, missing, NULL, &absent));
  g_assert_error(absent, DEMUR_ERROR, DEMUR_ERROR_OUTPUT);
  g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
}

static void
test_preview_has_the_same_pages(Scratch *scratch, gconstpointer data) {
  const FixtureKind kind = {.n_classes = 2, .n_sites = 34};
  g_autoptr(Fixture) fixture = fixture_new(&kind);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurReportPages) pages = demur_report_pages_new(&fixture->input, &error);
  g_assert_no_error(error);
  double width, height;
  demur_report_pages_size(pages, &width, &height);
  g_assert_cmpfloat_with_epsilon(width, 595.276, 0.01);
  const size_t n = demur_report_pages_count(pages);
  for (size_t i = 0; i < n; i++) {
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 596, 842);
    cairo_t *cr = cairo_create(surface);
    demur_report_pages_draw(pages, i, cr);
    g_assert_cmpint(cairo_status(cr), ==, CAIRO_STATUS_SUCCESS);
    cairo_destroy(cr);
    cairo_surface_flush(surface);
    /* Ink on the page, none in its outer margin of 20 points. */
    const unsigned char *alpha = cairo_image_surface_get_data(surface);
    const int stride = cairo_image_surface_get_stride(surface);
    size_t inside = 0, outside = 0;
    for (int y = 0; y < 842; y++)
      for (int x = 0; x < 596; x++) {
        const gboolean margin = x < 20 || x >= 576 || y < 20 || y >= 822;
        *(margin ? &outside : &inside) += alpha[y * stride + x] > 0;
      }
    cairo_surface_destroy(surface);
    g_assert_cmpuint(inside, >, 1000);
    g_assert_cmpuint(outside, ==, 0);
  }
  write_report(scratch, &fixture->input, "pages.pdf");
  g_autofree char *info = run_on(scratch, "pages.pdf", "pdfinfo", NULL);
  if (!info)
    return;
  const char *found = strstr(info, "Pages:");
  g_assert_cmpuint(g_ascii_strtoull(found + 6, NULL, 10), ==, n);
}

#define ADD(name, func)                                                                            \
  g_test_add("/report/document/" name, Scratch, NULL, scratch_set_up, func, scratch_tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  ADD("same-input-same-bytes-under-any-name", test_same_bytes);
  ADD("one-number-changes-the-digest", test_one_number_changes_the_digest);
  ADD("every-page-is-marked-and-numbered", test_every_page_is_marked);
  ADD("json-holds-what-is-printed", test_json_holds_what_is_printed);
  ADD("no-small-count-by-subtraction", test_subtraction);
  ADD("odd-inputs-make-sound-documents", test_odd_inputs);
  ADD("the-first-page-ends-in-the-contents", test_first_page);
  ADD("a-screen-reader-finds-headers-and-links", test_tags);
  ADD("what-is-left-out-is-told-once", test_told_once);
  ADD("refusals-leave-no-file", test_refusals);
  ADD("preview-has-the-same-pages", test_preview_has_the_same_pages);
  return g_test_run();
}
