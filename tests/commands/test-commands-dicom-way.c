/* A scan's whole way: received off the network with a selector, its facts as acquisition features,
 * a person's choice, and out as CSV, JSON, structured report and PDF. Right values follow from the
 * images written here, or from the same scan given as a cohort table. */
#include "commands.h"
#include "dicom/dicom-fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* n slices 2.5 mm apart in a folder of the sandbox; its path (owned). */
static char *
write_series(const Sandbox *sandbox, const char *uid, int n, const char *thickness) {
  char *folder = sandbox_path(sandbox, uid);
  g_mkdir(folder, 0700);
  for (int k = 0; k < n; k++) {
    FixtureImage image = fixture_image(k + 1, 2.5 * k);
    g_autofree char *name = g_strdup_printf("%03d.dcm", k);
    image.series_uid = uid;
    image.thickness = thickness;
    image.acquisition_number = (gint64)strlen(uid); /* SOPInstanceUIDs of their own */
    fixture_save(&image, folder, name);
  }
  return folder;
}

/* A tuned selector "s" of the features named. */
static Sandbox *
with_selector(const char *features) {
  Sandbox *sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  g_autoptr(Run) train = train_small(sandbox, "s", "sim", "--features", features, NULL);
  assert_status(train, 0);
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.7", NULL);
  return sandbox;
}

/* Embedding columns of the first test scan of "sim": ",emb_0,.." and ",0.1,..", both owned. */
static void
embedding_of(const Sandbox *sandbox, char **header, char **row) {
  g_autoptr(Run) out = run_json(sandbox, 0, "cohort", "export", "sim", "sim.csv", NULL);
  g_autofree char *path = sandbox_path(sandbox, "sim.csv"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(text, "\n", 3);
  g_auto(GStrv) names = g_strsplit(lines[0], ",", -1), fields = g_strsplit(lines[1], ",", -1);
  GString *head = g_string_new(NULL), *values = g_string_new(NULL);
  for (guint f = 0; names[f] != NULL; f++)
    if (g_str_has_prefix(names[f], "emb_")) {
      g_string_append_printf(head, ",%s", g_strchomp(names[f]));
      g_string_append_printf(values, ",%s", g_strchomp(fields[f]));
    }
  *header = g_string_free(head, FALSE);
  *row = g_string_free(values, FALSE);
}

static void
import_risk(const Sandbox *sandbox, const char *uid, const char *risk) {
  g_autofree char *header = NULL, *row = NULL;
  embedding_of(sandbox, &header, &row);
  g_autofree char *table = g_strdup_printf("series_uid,risk%s\n%s,%s%s\n", header, uid, risk, row);
  g_autofree char *path = sandbox_write(sandbox, "scores.csv", table, -1);
  g_autoptr(Run) show = run_json(sandbox, 0, "cohort", "show", "sim", NULL);
  g_autoptr(Run) scores = run_json(sandbox, 0, "scores", "import", path, "--model",
                                   string_at(root_of(show), "model"), NULL);
  g_assert_cmpuint(json_array_get_length(array_at(root_of(scores), "matched")), ==, 1);
}

static guint
free_port(void) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  g_assert_cmpint(bind(fd, (struct sockaddr *)&address, length), ==, 0);
  g_assert_cmpint(getsockname(fd, (struct sockaddr *)&address, &length), ==, 0);
  close(fd);
  return ntohs(address.sin_port);
}

/* One study of three series arrives: one to be assessed, one of too few slices, one too thick. Sent
 * by DCMTK's storescu where it is installed, else by `demur dicom send`. */
static void
test_what_arrives_is_assessed_and_kept(void) {
  g_autoptr(Sandbox) sandbox = with_selector("confidence,acquisition");
  g_autofree char *good = write_series(sandbox, "1.1", 12, "2.5");
  g_autofree char *few = write_series(sandbox, "1.22", 5, "2.5");
  g_autofree char *thick = write_series(sandbox, "1.333", 12, "6");
  g_autofree char *inbox = sandbox_path(sandbox, "inbox");
  const guint port = free_port();
  g_autofree char *text = g_strdup_printf("%u", port);
  g_autofree char *peer = g_strdup_printf("127.0.0.1:%u", port);
  g_autoptr(GSubprocess) receiver =
      start_demur_heard(sandbox, "--json", "dicom", "receive", inbox, "--port", text, "--selector",
                        "s", "--settle", "0", "--once", NULL);
  g_autoptr(GDataInputStream) heard =
      g_data_input_stream_new(g_subprocess_get_stderr_pipe(receiver));
  g_autoptr(GError) error = NULL;
  for (;;) { /* until the port is open */
    g_autofree char *line = g_data_input_stream_read_line(heard, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_nonnull(line);
    if (strstr(line, "listening on port") != NULL)
      break;
  }
  g_autofree char *storescu = g_find_program_in_path("storescu");
  if (storescu != NULL) {
    g_autoptr(GSubprocess) sender =
        g_subprocess_new(G_SUBPROCESS_FLAGS_NONE, &error, storescu, "-aec", "DEMUR", "+sd",
                         "127.0.0.1", text, good, few, thick, NULL);
    g_assert_no_error(error);
    g_assert_true(g_subprocess_wait_check(sender, NULL, &error));
    g_assert_no_error(error);
  } else {
    g_autoptr(Run) sent =
        run_json(sandbox, 0, "dicom", "send", peer, good, few, thick, "--called", "DEMUR", NULL);
  }
  g_autoptr(GInputStream) out = g_object_ref(g_subprocess_get_stdout_pipe(receiver));
  g_autoptr(GString) said = g_string_new(NULL);
  char buffer[4096];
  gssize n;
  while ((n = g_input_stream_read(out, buffer, sizeof buffer, NULL, &error)) > 0)
    g_string_append_len(said, buffer, n);
  g_assert_no_error(error);
  g_assert_true(g_subprocess_wait_check(receiver, NULL, &error));
  g_assert_no_error(error);
  g_autoptr(JsonParser) parser = json_parser_new();
  g_assert_true(json_parser_load_from_data(parser, said->str, -1, NULL));
  JsonObject *root = json_node_get_object(json_parser_get_root(parser));
  g_assert_cmpfloat(number_at(root, "n_received"), ==, 29);
  g_assert_cmpuint(json_array_get_length(array_at(root, "problems")), ==, 0);
  JsonArray *series = array_at(root, "series");
  static const char *const right[][2] = {
      {"1.1", "no_score"}, {"1.22", "not_eligible"}, {"1.333", "not_eligible"}};
  for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
    JsonObject *one = find_in(series, "scan_id", right[i][0]);
    g_assert_nonnull(one);
    g_assert_cmpstr(string_at(one, "verdict"), ==, right[i][1]);
    /* The verdict is in the workspace, as an export shows. */
    g_autofree char *path = sandbox_path(sandbox, "kept.json");
    g_autoptr(Run) kept =
        run_json(sandbox, 0, "export", path, "--scan", right[i][0], "--selector", "s", NULL);
    g_autofree char *written = NULL;
    g_assert_true(g_file_get_contents(path, &written, NULL, NULL));
    assert_says(written, right[i][1]);
  }
  /* What was received is read again from the inbox. */
  import_risk(sandbox, "1.1", "0.04");
  g_autoptr(Run) scored =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--scan", "1.1", NULL);
  JsonObject *verdict = json_array_get_object_element(array_at(root_of(scored), "verdicts"), 0);
  g_assert_cmpfloat(number_at(verdict, "risk"), ==, 0.04);
}

/* The same scan as a series and as a row of a table gets the same score: its facts are read from
 * the images as the table names them. Another kernel gives another score. */
static void
test_a_series_facts_are_the_selector_s_acquisition_features(void) {
  g_autoptr(Sandbox) sandbox = with_selector("confidence,acquisition");
  g_autofree char *folder = write_series(sandbox, "1.1", 12, "2.5");
  g_autoptr(Run) in = run_json(sandbox, 0, "dicom", "import", folder, NULL);
  import_risk(sandbox, "1.1", "0.04");
  g_autoptr(Run) one =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--scan", "1.1", NULL);
  JsonObject *by_series = json_array_get_object_element(array_at(root_of(one), "verdicts"), 0);
  /* Field of view: 16 pixels of 0.7 mm. */
  g_autofree char *header = NULL, *row = NULL;
  embedding_of(sandbox, &header, &row);
  g_autofree char *table = g_strdup_printf("patient_id,site,split,label,risk,manufacturer,kernel,"
                                           "slice_thickness_mm,spacing_mm,fov_mm%s\n"
                                           "P1,A,test,0,0.04,SIEMENS,B30f,2.5,2.5,11.2%s\n"
                                           "P2,A,test,0,0.04,SIEMENS,B70f,2.5,2.5,11.2%s\n"
                                           "P3,A,test,1,0.04,SIEMENS,B30f,1,1,11.2%s\n",
                                           header, row, row, row);
  g_autofree char *path = sandbox_write(sandbox, "same.csv", table, -1);
  g_autoptr(Run) show = run_json(sandbox, 0, "cohort", "show", "sim", NULL);
  g_autoptr(Run) cohort = run_json(sandbox, 0, "cohort", "import", "same", path, "--model",
                                   string_at(root_of(show), "model"), NULL);
  g_autoptr(Run) all =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--cohort", "same", NULL);
  JsonArray *verdicts = array_at(root_of(all), "verdicts");
  JsonObject *same = find_in(verdicts, "scan_id", "P1"),
             *sharp = find_in(verdicts, "scan_id", "P2"),
             *thin = find_in(verdicts, "scan_id", "P3");
  const double score = number_at(by_series, "score");
  g_assert_true(isfinite(score));
  demur_assert_close(number_at(same, "score"), score, 1e-6, 0);
  g_assert_cmpfloat(fabs(number_at(sharp, "score") - score), >, 1e-6);
  g_assert_cmpfloat(fabs(number_at(thin, "score") - score), >, 1e-6);
}

/* A person overrules the rules: what leaves the workspace tells the rules' verdict and the
 * person's. */
static void
test_an_overruled_choice_is_told_on_the_way_out(void) {
  g_autoptr(Sandbox) sandbox = with_selector("confidence,acquisition");
  g_autofree char *thick = write_series(sandbox, "1.1", 12, "6");
  g_autofree char *thin = write_series(sandbox, "1.22", 12, "2.5");
  g_autoptr(Run) in = run_json(sandbox, 0, "dicom", "import", thick, thin, NULL);
  g_autoptr(Run) before =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--scan", "1.1", NULL);
  JsonObject *refused = json_array_get_object_element(array_at(root_of(before), "verdicts"), 0);
  g_assert_cmpstr(string_at(refused, "verdict"), ==, "not_eligible");
  g_autoptr(Run) chosen =
      run_json(sandbox, 0, "dicom", "choose", "1.1", "--reason", "the thin one has motion", NULL);
  import_risk(sandbox, "1.1", "0.04");
  g_autoptr(Run) after =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--scan", "1.1", NULL);
  JsonObject *given = json_array_get_object_element(array_at(root_of(after), "verdicts"), 0);
  g_assert_cmpstr(string_at(given, "verdict"), !=, "not_eligible");
  static const char *const files[] = {"o.csv", "o.json", "o.dcm"};
  for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
    g_autofree char *path = sandbox_path(sandbox, files[i]), *text = NULL;
    gsize length = 0;
    g_autoptr(Run) run = run_json(sandbox, 0, "export", path, "--scan", "1.1", NULL);
    g_assert_true(g_file_get_contents(path, &text, &length, NULL));
    for (gsize k = 0; k < length; k++) /* a structured report holds zeros */
      text[k] = text[k] == '\0' ? ' ' : text[k];
    assert_says(text, "the thin one has motion");
    assert_says(text, "slices too thick: 6 mm");
  }
}

/* Without --pdf the scan's own page is wrapped. */
static void
test_a_pdf_of_the_scan_s_page(void) {
  g_autoptr(Sandbox) sandbox = with_selector("confidence,acquisition");
  g_autofree char *folder = write_series(sandbox, "1.1", 12, "2.5");
  g_autoptr(Run) in = run_json(sandbox, 0, "dicom", "import", folder, NULL);
  import_risk(sandbox, "1.1", "0.04");
  g_autoptr(Run) assessed =
      run_json(sandbox, 0, "assess", "s", "--reveal", "a test", "--scan", "1.1", NULL);
  g_autofree char *path = sandbox_path(sandbox, "page.dcm");
  g_autoptr(Run) run = run_json(sandbox, 0, "export", path, "--format", "pdf", "--scan", "1.1",
                                "--selector", "s", NULL);
  g_autofree char *bytes = NULL;
  gsize length = 0;
  g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
  g_autoptr(GBytes) whole = g_bytes_new_static(bytes, length);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSource) source = demur_source_bytes(whole);
  g_autoptr(DemurHeader) header = demur_header_read(&source, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(header->sop_class_uid, ==, "1.2.840.10008.5.1.4.1.1.104.1");
  g_assert_cmpstr(header->patient_id, ==, "P1");
  gboolean has_pdf = FALSE;
  for (gsize i = 0; i + 5 < length && !has_pdf; i++)
    has_pdf = memcmp(bytes + i, "%PDF-", 5) == 0;
  g_assert_true(has_pdf);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/dicom-way/what-arrives-is-assessed-and-kept",
                  test_what_arrives_is_assessed_and_kept);
  g_test_add_func("/commands/dicom-way/a-series-facts-are-the-selector-s-acquisition-features",
                  test_a_series_facts_are_the_selector_s_acquisition_features);
  g_test_add_func("/commands/dicom-way/an-overruled-choice-is-told-on-the-way-out",
                  test_an_overruled_choice_is_told_on_the_way_out);
  g_test_add_func("/commands/dicom-way/a-pdf-of-the-scan-s-page", test_a_pdf_of_the_scan_s_page);
  return g_test_run();
}
