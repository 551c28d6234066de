/* Objects for the archive. What is in them is read back with our own reader; that they are what the
 * standard asks for is for dciodvfy to say (dicom3tools) and for dsrdump and dcm2pdf to read. */
#define _GNU_SOURCE
#include "base/error.h"
#include "dicom/result.h"
#include "dicom/study.h"
#include "dicom-fixture.h"

/* Runs a tool; FALSE where it is not installed. */
static gboolean
run_tool(char **out, int *status, const char *program, ...) {
  g_autofree char *found = g_find_program_in_path(program);
  if (found == NULL) {
    g_test_message("%s is not installed: not asked", program);
    return FALSE;
  }
  g_autoptr(GPtrArray) argv = g_ptr_array_new();
  g_ptr_array_add(argv, found);
  va_list words;
  va_start(words, program);
  const char *word;
  while ((word = va_arg(words, const char *)) != NULL)
    g_ptr_array_add(argv, (gpointer)word);
  va_end(words);
  g_ptr_array_add(argv, NULL);
  g_autoptr(GError) error = NULL;
  g_autofree char *errors = NULL;
  char *text = NULL;
  int wait_status = 0;
  g_spawn_sync(NULL, (char **)argv->pdata, NULL, 0, NULL, NULL, &text, &errors, &wait_status,
               &error);
  g_assert_no_error(error);
  *status = g_spawn_check_wait_status(wait_status, NULL) ? 0 : 1;
  *out = g_strconcat(text, errors, NULL);
  g_free(text);
  return TRUE;
}

/* dciodvfy says what the object is, and nothing but that it does not know our own coding scheme and
 * that a study without date or ID has none. */
static void
assert_valid(const char *path) {
  g_autofree char *out = NULL;
  int status;
  if (!run_tool(&out, &status, "dciodvfy", path, NULL))
    return;
  g_auto(GStrv) lines = g_strsplit(out, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    if ((g_str_has_prefix(*line, "Error") || g_str_has_prefix(*line, "Warning")) &&
        strstr(*line, "<99DEMUR>") == NULL && strstr(*line, "to build DICOMDIR") == NULL)
      g_error("dciodvfy: %s", out);
}

static DemurImport *
write_images(const char *folder, const char *name) {
  g_autofree char *images = g_build_filename(folder, "images", NULL);
  g_mkdir(images, 0700);
  for (int k = 0; k < 12; k++) {
    FixtureImage image = fixture_image(k + 1, 2.5 * k);
    g_autofree char *file = g_strdup_printf("%d.dcm", k);
    image.patient_name = name;
    fixture_save(&image, images, file);
  }
  return fixture_import_folder(images);
}

static DemurResult
make_result(const char *verdict, gboolean told) {
  static const char *const reasons[] = {"far from what the model was trained on", "µ-Ω <&>", NULL};
  DemurResult result = {.verdict = verdict,
                        .verdict_meaning = "as said",
                        .reasons = reasons,
                        .outcome = "lung cancer",
                        .risk = told ? 0.06 : (double)NAN,
                        .risk_low = told ? 0.021 : (double)NAN,
                        .risk_high = told ? 0.143 : (double)NAN,
                        .score = 0.25,
                        .threshold = 0.5,
                        .coverage = 0.9,
                        .model = "sybil",
                        .selector = "ours",
                        .selector_digest = "abc",
                        .version = "0.1.0",
                        .created = "2026-01-31T12:34:56Z"};
  for (int y = 0; y < 6; y++)
    result.yearly_risks[y] = told ? 0.01 * (y + 1) : (double)NAN;
  return result;
}

static void
save(const DemurResult *result, const DemurImport *import, const char *path) {
  g_autoptr(GError) error = NULL;
  const gboolean saved = demur_result_write_report(result, fixture_series(import, 0), path, &error);
  g_assert_no_error(error);
  g_assert_true(saved);
}

static void
test_a_report_holds_risks_verdict_and_references(void) {
  g_autofree char *folder = fixture_folder();
  g_autofree char *path = g_build_filename(folder, "report.dcm", NULL);
  g_autofree char *again = g_build_filename(folder, "again.dcm", NULL);
  g_autoptr(DemurImport) import = write_images(folder, "M\xfcller^Zo\xeb"); /* no charset: kept */
  DemurResult result = make_result("ACCEPTED", TRUE);
  save(&result, import, path);
  save(&result, import, again);
  g_autofree char *first = NULL, *second = NULL;
  gsize n_first, n_second;
  g_assert_true(g_file_get_contents(path, &first, &n_first, NULL));
  g_assert_true(g_file_get_contents(again, &second, &n_second, NULL));
  g_assert_cmpuint(n_first, ==, n_second);
  g_assert_true(memcmp(first, second, n_first) == 0); /* the same result, the same bytes */
  g_autoptr(GError) error = NULL;
  g_assert_nonnull(memmem(first, n_first, "µ-Ω <&>", strlen("µ-Ω <&>"))); /* UTF-8 */
  g_auto(DemurStudy) study = {0};
  g_assert_true(demur_study_read(path, NULL, &study, &error));
  g_assert_cmpstr(study.patient_id, ==, "P1");
  g_assert_cmpstr(study.study_uid, ==, "1.2.3");
  assert_valid(path);
  g_autofree char *text = NULL;
  int status;
  if (run_tool(&text, &status, "dsrdump", "+Pl", path, NULL)) {
    g_assert_cmpint(status, ==, 0);
    static const char *const parts[] = {"Enhanced SR",
                                        "Predicted risk of lung cancer within 1 year",
                                        "not recorded",
                                        "0.06",
                                        "Lower 95 % limit of the risk at its hospital",
                                        "0.021",
                                        "Upper 95 % limit of the risk at its hospital",
                                        "0.143",
                                        "Selector score",
                                        "as said",
                                        "far from what the model was trained on",
                                        "Demur selector ours",
                                        "sybil",
                                        "Image Library"};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
      if (strstr(text, parts[i]) == NULL)
        g_error("\"%s\" is not in %s", parts[i], text);
  }
  fixture_remove(folder);
}

/* A later verdict names the report before it; what a report says of itself does not depend on it.
 */
static void
test_a_later_report_names_its_predecessor(void) {
  g_autofree char *folder = fixture_folder();
  g_autofree char *path = g_build_filename(folder, "report.dcm", NULL);
  g_autoptr(DemurImport) import = write_images(folder, "One^Person");
  DemurResult first = make_result("REDFLAG", FALSE), second = make_result("ACCEPTED", TRUE);
  second.model_version = "1.5.0";
  g_autofree char *series_uid = NULL, *uid = NULL, *own_series = NULL, *own = NULL, *again = NULL;
  demur_result_report_uids(&first, fixture_series(import, 0), &series_uid, &uid);
  demur_result_report_uids(&second, fixture_series(import, 0), &own_series, &own);
  second.predecessor_series_uid = series_uid;
  second.predecessor_uid = uid;
  g_free(own_series);
  demur_result_report_uids(&second, fixture_series(import, 0), &own_series, &again);
  g_assert_cmpstr(own, ==, again);
  g_assert_cmpstr(own, !=, uid);
  save(&second, import, path);
  assert_valid(path);
  g_autofree char *bytes = NULL;
  gsize n;
  g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
  static const guint8 predecessors[] = {0x40, 0x00, 0x60, 0xA3, 'S', 'Q'};
  g_assert_nonnull(memmem(bytes, n, predecessors, sizeof predecessors));
  const char *const parts[] = {uid, series_uid, own, "1.5.0"};
  for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
    g_assert_nonnull(memmem(bytes, n, parts[i], strlen(parts[i])));
  /* A prediction, no finding. */
  g_assert_null(memmem(bytes, n, "umor", strlen("umor")));
  fixture_remove(folder);
}

static void
test_a_report_without_risk_has_none(void) {
  static const char *const verdicts[] = {"REDFLAG", "NOTELIG", "NOSCORE", "FAILED"};
  g_autofree char *folder = fixture_folder();
  g_autofree char *path = g_build_filename(folder, "report.dcm", NULL);
  g_autoptr(DemurImport) import = write_images(folder, "One^Person");
  for (size_t i = 0; i < G_N_ELEMENTS(verdicts); i++) {
    DemurResult result = make_result(verdicts[i], FALSE);
    if (i > 0)
      result.score = result.threshold = result.coverage = NAN;
    result.simulated = TRUE;
    result.remark = i % 2 == 0 ? "The verdict is of a part of the study: 3 of 9 objects" : NULL;
    save(&result, import, path);
    assert_valid(path);
    g_autofree char *bytes = NULL;
    gsize n;
    g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
    g_assert_nonnull(memmem(bytes, n, "Simulated data", strlen("Simulated data")));
    g_assert_null(memmem(bytes, n, "risk of lung", strlen("risk of lung")));
    g_autofree char *text = NULL;
    int status;
    if (run_tool(&text, &status, "dsrdump", path, NULL))
      g_assert_cmpint(status, ==, 0);
  }
  fixture_remove(folder);
}

/* What the risk is of stands in the report as the cohort names it, and nowhere else: a code's
 * meaning holds 64 characters and no backslash (PS3.5, 6.2), and a longer name stands beside it. */
static void
test_the_outcome_is_named_as_it_is(void) {
  static const struct {
    const char *outcome, *meaning, *title, *beside;
  } rows[] = {
      {"stroke", "Predicted risk of stroke within 1 year", "Demur: stroke risk", NULL},
      {"Schlaganfall ü", "Predicted risk of Schlaganfall ü within 1 year",
       "Demur: Schlaganfall ü risk", NULL},
      {NULL, "Predicted risk within 1 year", "Demur: predicted risk", NULL},
      {"death or dependency at six months after a first stroke of any kind",
       "Predicted risk within 1 year", "Demur: predicted risk", "Predicted outcome"},
      {"stroke\\death", "Predicted risk within 1 year", "Demur: predicted risk",
       "Predicted outcome"},
  };
  g_autofree char *folder = fixture_folder();
  g_autofree char *path = g_build_filename(folder, "report.dcm", NULL);
  g_autoptr(DemurImport) import = write_images(folder, "One^Person");
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    DemurResult result = make_result("ACCEPTED", TRUE);
    result.outcome = rows[i].outcome;
    save(&result, import, path);
    assert_valid(path);
    g_autofree char *bytes = NULL;
    gsize n;
    g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
    g_assert_null(memmem(bytes, n, "cancer", strlen("cancer")));
    const char *const parts[] = {rows[i].meaning, rows[i].title,
                                 rows[i].beside != NULL ? rows[i].beside : rows[i].title,
                                 rows[i].outcome != NULL ? rows[i].outcome : rows[i].title};
    for (size_t p = 0; p < G_N_ELEMENTS(parts); p++)
      if (memmem(bytes, n, parts[p], strlen(parts[p])) == NULL)
        g_error("row %zu: \"%s\" is not in the report", i, parts[p]);
    g_autofree char *title = demur_result_title(rows[i].outcome);
    g_assert_cmpstr(title, ==, rows[i].title);
  }
  fixture_remove(folder);
}

static void
test_a_pdf_comes_out_as_it_went_in(void) {
  static const char pdf[] = "%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer <<>>\n%%EOF\n!"; /* odd */
  g_autofree char *folder = fixture_folder();
  g_autofree char *path = g_build_filename(folder, "pdf.dcm", NULL);
  g_autofree char *back = g_build_filename(folder, "back.pdf", NULL);
  g_autoptr(DemurImport) import = write_images(folder, "One^Person");
  g_autoptr(GError) error = NULL;
  const size_t length = strlen(pdf);
  g_assert_cmpuint(length % 2, ==, 1);
  g_assert_true(demur_result_write_pdf(pdf, length, "A title", "2026-01-31T12:34:56Z",
                                       fixture_series(import, 0), path, &error));
  g_assert_no_error(error);
  assert_valid(path);
  g_autofree char *text = NULL, *bytes = NULL;
  int status;
  gsize n;
  if (run_tool(&text, &status, "dcm2pdf", path, back, NULL)) {
    g_assert_cmpint(status, ==, 0);
    g_assert_true(g_file_get_contents(back, &bytes, &n, NULL));
    g_assert_cmpuint(n, >=, length);
    g_assert_true(memcmp(bytes, pdf, length) == 0);
  }
  g_assert_false(demur_result_write_pdf("plain text", 10, "A title", "2026-01-31T12:34:56Z",
                                        fixture_series(import, 0), path, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  fixture_remove(folder);
}

/* The picture is a sound Secondary Capture of the study; the same one has the same bytes. */
static void
test_a_picture_is_a_secondary_capture(void) {
  enum { WIDTH = 31, HEIGHT = 7 }; /* an odd number of bytes */
  g_autofree char *folder = fixture_folder();
  g_autofree char *path = g_build_filename(folder, "picture.dcm", NULL);
  g_autofree char *again = g_build_filename(folder, "again.dcm", NULL);
  g_autoptr(DemurImport) import = write_images(folder, "One^Person");
  guint8 rgb[HEIGHT * WIDTH * 3];
  for (gsize i = 0; i < sizeof rgb; i++)
    rgb[i] = (guint8)i;
  const DemurResultPicture picture = {rgb, WIDTH, HEIGHT, "a verdict", "2026-01-31T12:34:56Z"};
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_result_write_picture(&picture, fixture_series(import, 0), path, &error));
  g_assert_true(demur_result_write_picture(&picture, fixture_series(import, 0), again, &error));
  g_assert_no_error(error);
  assert_valid(path);
  g_autofree char *one = NULL, *other = NULL;
  gsize n, m;
  g_assert_true(g_file_get_contents(path, &one, &n, NULL));
  g_assert_true(g_file_get_contents(again, &other, &m, NULL));
  g_assert_true(n == m && memcmp(one, other, n) == 0);
  g_assert_nonnull(memmem(one, n, rgb, sizeof rgb));
  fixture_remove(folder);
}

static void
test_images_without_uids_cannot_be_referred_to(void) {
  g_autoptr(DemurImport) import = fixture_import("real/siemens-jpeg2000");
  if (import == NULL)
    return;
  g_autoptr(GError) error = NULL;
  DemurResult result = make_result("ACCEPTED", TRUE);
  g_assert_false(
      demur_result_write_report(&result, fixture_series(import, 0), "/dev/null", &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/result/predecessor", test_a_later_report_names_its_predecessor);
  g_test_add_func("/dicom/result/a-report-holds-risks-verdict-and-references",
                  test_a_report_holds_risks_verdict_and_references);
  g_test_add_func("/dicom/result/a-report-without-risk-has-none",
                  test_a_report_without_risk_has_none);
  g_test_add_func("/dicom/result/a-pdf-comes-out-as-it-went-in",
                  test_a_pdf_comes_out_as_it_went_in);
  g_test_add_func("/dicom/result/outcome", test_the_outcome_is_named_as_it_is);
  g_test_add_func("/dicom/result/images-without-uids-cannot-be-referred-to",
                  test_images_without_uids_cannot_be_referred_to);
  g_test_add_func("/dicom/result/a-picture-is-a-secondary-capture",
                  test_a_picture_is_a_secondary_capture);
  return g_test_run();
}
