/* The report, its check and single charts, as a user runs them. Right values: round trips (what was
 * written verifies; one changed number, row, weight or page does not), the report's own JSON
 * against the text taken out of the PDF, and refusals. */
#include "commands.h"
#include "support/store.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

typedef struct {
  Sandbox *sandbox;
  char *pdf, *json;
} Fixture;

static void
prepare(const Sandbox *sandbox) {
  simulate_small(sandbox, "c");
  g_autoptr(Run) train = train_small(sandbox, "s", "c", NULL);
  assert_status(train, 0);
  g_autoptr(Run) tune =
      run_demur(sandbox, "tune", "s", "--cohort", "c", "--coverage", "0.9,0.7", NULL);
  assert_status(tune, 0);
  g_autofree char *pdf = sandbox_path(sandbox, "report.pdf");
  g_autoptr(Run) report = run_json(sandbox, 0, "report", pdf, "--selector", "s", "--cohort", "c",
                                   "--bootstrap", "60", NULL);
  assert_status(report, 0);
}

static void
set_up(Fixture *fixture, gconstpointer data) {
  fixture->sandbox = sandbox_prepared(prepare);
  fixture->pdf = sandbox_path(fixture->sandbox, "report.pdf");
  fixture->json = sandbox_path(fixture->sandbox, "report.json");
}

static void
tear_down(Fixture *fixture, gconstpointer data) {
  sandbox_free(fixture->sandbox);
  g_free(fixture->pdf);
  g_free(fixture->json);
}

static char *
read_text(const char *path, gsize *n) {
  g_autoptr(GError) error = NULL;
  char *text = NULL;
  g_file_get_contents(path, &text, n, &error);
  g_assert_no_error(error);
  return text;
}

static void
write_text(const char *path, const char *text, gssize n) {
  g_autoptr(GError) error = NULL;
  g_file_set_contents(path, text, n, &error);
  g_assert_no_error(error);
}

static void
assert_same_bytes(const char *a, gsize n_a, const char *b, gsize n_b) {
  g_assert_cmpuint(n_a, ==, n_b);
  g_assert_cmpint(memcmp(a, b, n_a), ==, 0);
}

/* Whether `report verify` agrees; where it does not, some difference's place must hold where. The
 * run, for what else it says; owned. */
static Run *
verify(const Fixture *fixture, const char *pdf, const char *where) {
  Run *run = run_json(fixture->sandbox, where == NULL ? 0 : 1, "report", "verify", pdf, NULL);
  JsonObject *root = root_of(run);
  g_assert_cmpint(bool_at(root, "verified"), ==, where == NULL);
  JsonArray *differences = array_at(root, "differences");
  gboolean found = where == NULL;
  for (guint i = 0; i < json_array_get_length(differences); i++)
    found |= where != NULL &&
             strstr(string_at(json_array_get_object_element(differences, i), "where"), where);
  g_assert_true(found);
  return run;
}

static void
check_verify(const Fixture *fixture, const char *pdf, const char *where) {
  run_free(verify(fixture, pdf, where));
}

static void
execute_sql(const Fixture *fixture, const char *sql) {
  demur_test_store_run(fixture->sandbox->workspace, sql);
}

static void
test_what_was_written_verifies(Fixture *fixture, gconstpointer data) {
  check_verify(fixture, fixture->pdf, NULL);
  /* Under another name and from another folder's view it is the same report. */
  g_autofree char *other = sandbox_path(fixture->sandbox, "other.pdf"),
                  *other_json = sandbox_path(fixture->sandbox, "other.json");
  gsize n, n_json, n_again;
  g_autofree char *pdf = read_text(fixture->pdf, &n), *json = read_text(fixture->json, &n_json);
  write_text(other, pdf, (gssize)n);
  write_text(other_json, json, (gssize)n_json);
  check_verify(fixture, other, NULL);
  /* Same input, same bytes. */
  g_autoptr(Run) again = run_json(fixture->sandbox, 0, "report", other, "--selector", "s",
                                  "--cohort", "c", "--bootstrap", "60", NULL);
  assert_status(again, 0);
  g_autofree char *pdf_again = read_text(other, &n_again);
  assert_same_bytes(pdf, n, pdf_again, n_again);
}

/* One digit of one number. */
static void
test_a_changed_number_is_found(Fixture *fixture, gconstpointer data) {
  gsize n;
  g_autofree char *json = read_text(fixture->json, &n);
  char *number = strstr(json, "\"noise_floor\": 0.0");
  if (number == NULL)
    number = strstr(json, "\"noise_floor\":0.0");
  g_assert_nonnull(number);
  char *digit = strstr(number, "0.0") + 3;
  *digit = *digit == '9' ? '1' : (char)(*digit + 1);
  write_text(fixture->json, json, (gssize)n);
  g_autoptr(Run) run = verify(fixture, fixture->pdf, "noise_floor");
  assert_says(run->out, "digest");
}

/* A PDF beside the JSON of another report. */
static void
test_a_foreign_pdf_is_found(Fixture *fixture, gconstpointer data) {
  g_autofree char *letter = sandbox_path(fixture->sandbox, "letter.pdf");
  g_autoptr(Run) report = run_json(fixture->sandbox, 0, "report", letter, "--selector", "s",
                                   "--cohort", "c", "--bootstrap", "60", "--paper", "letter", NULL);
  assert_status(report, 0);
  gsize n;
  g_autofree char *pdf = read_text(letter, &n);
  write_text(fixture->pdf, pdf, (gssize)n);
  check_verify(fixture, fixture->pdf, "digest of the JSON");
}

/* One scan's risk, changed behind the program's back. Rows are kept in blocks of bytes. */
static void
test_a_changed_scan_is_found(Fixture *fixture, gconstpointer data) {
  g_autofree char *table = sandbox_path(fixture->sandbox, "c.csv");
  g_autoptr(Run) export = run_demur(fixture->sandbox, "cohort", "export", "c", table, NULL);
  assert_status(export, 0);
  gsize n;
  g_autofree char *text = read_text(table, &n);
  /* The last row's last risk digit. */
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_auto(GStrv) header = g_strsplit(lines[0], ",", -1);
  gint risk = -1;
  for (gint i = 0; header[i] != NULL; i++)
    if (strcmp(header[i], "risk") == 0 || strcmp(header[i], "risk_year_6") == 0)
      risk = i;
  g_assert_cmpint(risk, >=, 0);
  guint last = g_strv_length(lines) - 1;
  while (*lines[last] == '\0')
    last--;
  g_auto(GStrv) cells = g_strsplit(lines[last], ",", -1);
  for (gint i = 0; header[i] != NULL; i++)
    if (strcmp(header[i], "risk") == 0 || strcmp(header[i], "risk_year_6") == 0) {
      g_free(cells[i]);
      cells[i] = g_strdup("0.4999");
    }
  g_free(lines[last]);
  lines[last] = g_strjoinv(",", cells);
  g_autofree char *changed = g_strjoinv("\n", lines);
  write_text(table, changed, -1);
  g_autoptr(Run) removed = run_demur(fixture->sandbox, "cohort", "remove", "c", "--force", NULL);
  assert_status(removed, 0);
  g_autoptr(Run) import =
      run_demur(fixture->sandbox, "cohort", "import", "c", table, "--model", "simulated-cnn", NULL);
  assert_status(import, 0);
  check_verify(fixture, fixture->pdf, "evaluation.digest");
}

/* One weight of the selector. */
static void
test_a_changed_weight_is_found(Fixture *fixture, gconstpointer data) {
  /* The 30th character of the first network's base64 becomes another. */
  g_autofree char *sql =
      g_strdup_printf("UPDATE selector SET document = substr(document, 1, spot + 29) || "
                      "CASE substr(document, spot + 30, 1) WHEN 'A' THEN 'B' ELSE 'A' END || "
                      "substr(document, spot + 31) FROM (SELECT id AS of_id, "
                      "%s(document, '\"parameters\": \"') AS spot FROM selector) AS found "
                      "WHERE of_id = selector.id AND spot > 0",
                      demur_test_store_position());
  execute_sql(fixture, sql);
  check_verify(fixture, fixture->pdf, "the workspace");
}

/* A threshold, changed behind the program's back: refused wherever it would be used. */
static void
test_a_changed_threshold_is_found(Fixture *fixture, gconstpointer data) {
  static const char *const changes[] = {
      "UPDATE threshold SET threshold = threshold * 1.01 WHERE coverage = 0.9",
      "UPDATE threshold SET guarantee = replace(guarantee, '\"thresholds\"', '\"threshold_s\"')",
      "UPDATE threshold SET digest = NULL, threshold = threshold * 1.02 WHERE coverage = 0.9"};
  check_verify(fixture, fixture->pdf, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
    execute_sql(fixture, changes[i]);
    const gboolean without_digest = strstr(changes[i], "digest = NULL") != NULL;
    if (without_digest) /* as if nothing had a digest: the numbers differ all the same */
      execute_sql(fixture, "UPDATE threshold SET digest = NULL");
    else {
      check_verify(fixture, fixture->pdf, "the workspace");
      g_autoptr(Run) checked = run_demur(fixture->sandbox, "verify", NULL);
      assert_status(checked, 1);
      assert_says(checked->out, "not what was saved");
      g_autoptr(Run) evaluate = run_demur(fixture->sandbox, "evaluate", "--selector", "s",
                                          "--cohort", "c", "--bootstrap", "20", NULL);
      assert_status(evaluate, 1);
      /* Tuning again mends it, and the report is right again but for its date. */
      g_autoptr(Run) tune =
          run_demur(fixture->sandbox, "tune", "s", "--cohort", "c", "--coverage", "0.9,0.7", NULL);
      assert_status(tune, 0);
    }
  }
  check_verify(fixture, fixture->pdf, "threshold");
}

/* A kill between the two renamings leaves new numbers beside old pages (or, the first time, no
 * pages): that is said, and never taken for a sound report. */
static void
test_writing_that_was_cut_off_is_found(Fixture *fixture, gconstpointer data) {
  gsize n_pdf, n_json;
  g_autofree char *pdf = read_text(fixture->pdf, &n_pdf), *json = read_text(fixture->json, &n_json);
  g_autoptr(Run) newer = run_json(fixture->sandbox, 0, "report", fixture->pdf, "--selector", "s",
                                  "--cohort", "c", "--bootstrap", "61", NULL);
  assert_status(newer, 0);
  write_text(fixture->pdf, pdf, (gssize)n_pdf); /* new JSON, old PDF */
  check_verify(fixture, fixture->pdf, "cut off");
  g_assert_cmpint(g_unlink(fixture->pdf), ==, 0);
  g_autoptr(Run) no_pdf = run_demur(fixture->sandbox, "report", "verify", fixture->pdf, NULL);
  assert_status(no_pdf, 1);
  write_text(fixture->pdf, pdf, (gssize)n_pdf);
  g_assert_cmpint(g_unlink(fixture->json), ==, 0);
  g_autoptr(Run) no_json = run_demur(fixture->sandbox, "report", "verify", fixture->pdf, NULL);
  assert_status(no_json, 1);
  assert_says(no_json->err, "without its numbers");
  /* Nothing of a writing is left beside them. */
  g_autoptr(GDir) folder = g_dir_open(fixture->sandbox->folder, 0, NULL);
  const char *name;
  while ((name = g_dir_read_name(folder)) != NULL)
    g_assert_false(g_str_has_prefix(name, "report.pdf.") || g_str_has_prefix(name, "report.json."));
  /* A folder that can't be written, and a PDF's place that is taken by a folder: nothing changes.
   */
  write_text(fixture->json, json, (gssize)n_json);
  g_autofree char *taken = sandbox_path(fixture->sandbox, "taken.pdf"),
                  *taken_json = sandbox_path(fixture->sandbox, "taken.json");
  g_assert_cmpint(g_mkdir(taken, 0755), ==, 0);
  g_autoptr(Run) refused = run_demur(fixture->sandbox, "report", taken, "--selector", "s",
                                     "--cohort", "c", "--bootstrap", "20", NULL);
  assert_status(refused, 1);
  g_assert_false(g_file_test(taken_json, G_FILE_TEST_EXISTS));
}

/* A JSON that nests without end must be refused before the reader runs out of stack. */
static void
test_deep_nesting_is_refused(Fixture *fixture, gconstpointer data) {
  const struct { char open, close; } kinds[] = {{'[', ']'}, {'{', '}'}};
  for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
    g_autoptr(GString) text = g_string_new(NULL);
    const int depth = 1000000;
    for (int i = 0; i < depth; i++)
      g_string_append(text, kinds[k].open == '[' ? "[" : "{\"a\":");
    g_string_append(text, "1");
    for (int i = 0; i < depth; i++)
      g_string_append_c(text, kinds[k].close);
    write_text(fixture->json, text->str, (gssize)text->len);
    g_autoptr(Run) run = run_demur(fixture->sandbox, "report", "verify", fixture->pdf, NULL);
    assert_status(run, 1);
    assert_says(run->err, "report.json");
  }
}

/* A site audit stands in the report, and that verdicts use it. */
static void
test_an_audit_is_reported(Fixture *fixture, gconstpointer data) {
  execute_sql(fixture,
              "INSERT INTO site_audit (selector_id, site, cohort, intercept, low, high, tau2, "
              "n_labels, created) SELECT id, 'H08', 'c', 0.5, 0.25, 0.75, 0.1, 50, "
              "'2026-01-02T00:00:00Z' FROM selector");
  g_autoptr(Run) report = run_json(fixture->sandbox, 0, "report", fixture->pdf, "--selector", "s",
                                   "--cohort", "c", "--bootstrap", "20", NULL);
  assert_status(report, 0);
  g_autoptr(JsonParser) parser = json_parser_new();
  g_autoptr(GError) error = NULL;
  json_parser_load_from_file(parser, fixture->json, &error);
  g_assert_no_error(error);
  JsonObject *root = json_node_get_object(json_parser_get_root(parser));
  JsonArray *audits = array_at(root, "audits");
  g_assert_cmpuint(json_array_get_length(audits), ==, 1);
  JsonObject *audit = json_array_get_object_element(audits, 0);
  g_assert_cmpfloat(number_at(audit, "intercept"), ==, 0.5);
  /* The sandbox's one outside hospital is the split's only site. */
  JsonArray *sites = array_at(object_at(root, "cohort"), "sites");
  const gboolean there = find_in(sites, "name", "H08") != NULL;
  g_assert_cmpint(bool_at(audit, "in_split"), ==, there);
  check_verify(fixture, fixture->pdf, NULL);
  execute_sql(fixture, "UPDATE site_audit SET intercept = 0.6");
  check_verify(fixture, fixture->pdf, "audits[0].intercept");
}

/* Tuned anew to the very threshold that the report has, for one coverage or all of them. */
static void
test_tuned_anew_to_the_same_is_no_difference(Fixture *fixture, gconstpointer data) {
  execute_sql(fixture, "UPDATE threshold SET digest = NULL, created = '2027-01-01T00:00:00Z' WHERE "
                       "coverage = 0.7");
  for (int all = 0; all < 2; all++) {
    g_autoptr(Run) run = run_json(fixture->sandbox, 0, "report", "verify", fixture->pdf, NULL);
    g_assert_true(bool_at(root_of(run), "verified"));
    g_assert_cmpuint(json_array_get_length(array_at(root_of(run), "since_then")), ==, all ? 2 : 1);
    execute_sql(fixture, "UPDATE threshold SET digest = NULL, created = '2027-01-01T00:00:00Z'");
  }
}

/* A selector of elsewhere that comes and is tuned is told, and is no difference. */
static void
tell_of_another_selector(Fixture *fixture) {
  g_autofree char *file = sandbox_path(fixture->sandbox, "s.json");
  const char *const commands[][8] = {{"selector", "export", "s", file},
                                     {"selector", "import", "u", file},
                                     {"tune", "u", "--cohort", "c", "--coverage", "0.6"}};
  for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
    g_autoptr(Run) run = run_demur(fixture->sandbox, commands[i][0], commands[i][1], commands[i][2],
                                   commands[i][3], commands[i][4], commands[i][5], NULL);
    assert_status(run, 0);
  }
  g_autoptr(Run) run = verify(fixture, fixture->pdf, NULL);
  assert_says(run->out, "another selector, 'u', was kept on");
  assert_says(run->out, "another selector, 'u', was tuned for coverage 0.6 on");
}

/* What came after a report is told and is no difference: a threshold added, one tuned anew for a
 * coverage that the report has, an audit. What it rests on is still looked at. */
static void
test_what_came_after_is_no_difference(Fixture *fixture, gconstpointer data) {
  g_autoptr(Run) added =
      run_demur(fixture->sandbox, "tune", "s", "--cohort", "c", "--coverage", "0.5", NULL);
  assert_status(added, 0);
  execute_sql(fixture,
              "INSERT INTO site_audit (selector_id, site, cohort, intercept, low, high, tau2, "
              "n_labels, created) SELECT id, 'H08', 'c', 0.5, 0.25, 0.75, 0.1, 50, "
              "'2026-01-02T00:00:00Z' FROM selector");
  execute_sql(fixture, "UPDATE threshold SET threshold = threshold * 1.01, guarantee = "
                       "replace(guarantee, '\"thresholds\": [', '\"thresholds\": [1'), "
                       "digest = NULL, created = '2027-01-01T00:00:00Z' WHERE coverage = 0.7");
  g_autoptr(Run) run = run_json(fixture->sandbox, 0, "report", "verify", fixture->pdf, NULL);
  g_assert_true(bool_at(root_of(run), "verified"));
  JsonArray *since = array_at(root_of(run), "since_then");
  g_autoptr(GString) all = g_string_new(NULL);
  for (guint i = 0; i < json_array_get_length(since); i++)
    g_string_append_printf(all, "%s\n", json_array_get_string_element(since, i));
  assert_says(all->str, "coverage 0.5");
  assert_says(all->str, "coverage 0.7 on 2027-01-01");
  assert_says(all->str, "'H08' was audited on 2026-01-02");
  g_assert_null(strstr(all->str, "another selector"));
  tell_of_another_selector(fixture);
  /* One of the same date that is another is a change. */
  execute_sql(fixture, "UPDATE threshold SET threshold = threshold * 1.02, digest = NULL WHERE "
                       "coverage = 0.9");
  check_verify(fixture, fixture->pdf, "threshold");
}

/* Writes text as the JSON of a report under another name whose PDF names its digest: as if a program
 * of another state had written both. The PDF's path; owned. */
static char *
write_elsewhere(const Fixture *fixture, const char *text) {
  gsize n, n_json;
  g_autofree char *pdf = read_text(fixture->pdf, &n), *json = read_text(fixture->json, &n_json);
  g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, json, -1),
                  *other = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
  for (char *at = pdf; (at = g_strstr_len(at, (gssize)(pdf + n - at), digest)) != NULL;)
    memcpy(at, other, strlen(other));
  char *path = sandbox_path(fixture->sandbox, "older.pdf");
  g_autofree char *json_path = sandbox_path(fixture->sandbox, "older.json");
  write_text(path, pdf, (gssize)n);
  write_text(json_path, text, -1);
  return path;
}

/* A report of an older program: sentences in other words and a member that it did not write, under
 * a digest that the PDF names. Told, and no difference; a number beside them is one. */
static void
test_other_words_are_no_difference(Fixture *fixture, gconstpointer data) {
  for (int changed = 0; changed < 2; changed++) {
    g_autofree char *json = read_text(fixture->json, NULL);
    g_autoptr(GString) text = g_string_new(json);
    g_assert_cmpuint(g_string_replace(text, "\"headline\": \"", "\"headline\": \"In short: ", 0), >,
                     0);
    g_assert_cmpuint(g_string_replace(text, "For research use", "Meant for research", 0), >, 0);
    if (changed)
      g_assert_cmpuint(g_string_replace(text, "\"n_sites\": ", "\"n_sites\": 1", 1), ==, 1);
    g_autofree char *path = write_elsewhere(fixture, text->str);
    g_autoptr(Run) run = verify(fixture, path, changed ? "n_sites" : NULL);
    g_assert_cmpuint(json_array_get_length(array_at(root_of(run), "since_then")), >, 0);
  }
}

/* A paper of a newer program, under a digest that the PDF names: never drawn on another. */
static void
test_an_unknown_paper_is_refused(Fixture *fixture, gconstpointer data) {
  g_autofree char *json = read_text(fixture->json, NULL);
  g_autoptr(GString) text = g_string_new(json);
  g_assert_cmpuint(g_string_replace(text, "\"paper\": \"a4\"", "\"paper\": \"a3\"", 0), ==, 1);
  g_autofree char *path = write_elsewhere(fixture, text->str);
  g_autoptr(Run) run = run_demur(fixture->sandbox, "report", "verify", path, NULL);
  assert_status(run, 1);
  assert_says(run->err, "\"paper\"");
}

/* A report whose calibration fits were other methods: told once, whether it names their revision or
 * is of before they were kept. Another family's number, the same number under today's revision, or
 * one in a JSON that was changed alone is a difference all the same. */
static void
test_methods_defined_anew_are_told_once(Fixture *fixture, gconstpointer data) {
  static const struct {
    const char *revisions; /* what stands in place of the family's; NULL: no revisions at all */
    const char *number;    /* the first of this name becomes another */
    gboolean alone;        /* the PDF names another digest */
    const char *differs;   /* NULL: nothing */
  } cases[] = {
      {"\"calibration_fits\": 1", "\"oe_ratio\": ", FALSE, NULL},
      {"\"calibration_fits\": 3", "\"calibration_slope\": ", FALSE, NULL},
      {NULL, "\"calibration_intercept\": ", FALSE, NULL},
      {NULL, "\"ici\": ", FALSE, "ici"},
      {"\"calibration_fits\": 1", "\"brier\": ", FALSE, "brier"},
      {"\"calibration_fits\": 2", "\"oe_ratio\": ", FALSE, "oe_ratio"},
      {"\"calibration_fits\": 1", "\"oe_ratio\": ", TRUE, "oe_ratio"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *json = read_text(fixture->json, NULL);
    g_autoptr(GString) text = g_string_new(json);
    if (cases[i].revisions != NULL)
      g_assert_cmpuint(g_string_replace(text, "\"calibration_fits\": 2", cases[i].revisions, 0), ==,
                       1);
    else
      g_assert_cmpuint(g_string_replace(text, "\"method_revisions\"", "\"notice\"", 0), ==, 1);
    const char *at = strstr(text->str, "\"n_accepted\"");
    g_assert_nonnull(at);
    const char *number = strstr(at, cases[i].number);
    g_assert_nonnull(number);
    number += strlen(cases[i].number);
    g_string_insert(text, number - text->str + (*number == '-'), "1");
    g_autofree char *path = write_elsewhere(fixture, text->str);
    if (cases[i].alone) {
      g_autofree char *json_path = sandbox_path(fixture->sandbox, "older.json");
      g_string_append_c(text, '\n');
      write_text(json_path, text->str, -1);
    }
    g_autoptr(Run) run = verify(fixture, path, cases[i].differs);
    JsonArray *methods = array_at(root_of(run), "methods_changed");
    if (cases[i].differs == NULL) {
      g_assert_cmpuint(json_array_get_length(methods), ==, 1);
      g_assert_cmpstr(json_array_get_string_element(methods, 0), ==, "calibration_fits");
      g_assert_false(bool_at(root_of(run), "pages_compared"));
    } else if (cases[i].alone) {
      g_assert_cmpuint(json_array_get_length(methods), ==, 0);
    }
  }
}

/* Another processor's rounding: each number within 1e-9 is the same; a tenth of a millionth is not.
 */
static void
test_rounding_is_no_difference(Fixture *fixture, gconstpointer data) {
  static const struct {
    double factor;
    gboolean same;
  } cases[] = {{1 + 1e-11, TRUE}, {1 + 1e-7, FALSE}};
  gsize n;
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *json = read_text(fixture->json, &n);
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(GStrv) parts = g_strsplit(json, "\"noise_floor\": ", 2);
    g_assert_nonnull(parts[1]);
    char *end;
    const double value = g_ascii_strtod(parts[1], &end);
    g_ascii_dtostr(text, sizeof text, value * cases[i].factor);
    g_autofree char *changed = g_strdup_printf("%s\"noise_floor\": %s%s", parts[0], text, end);
    write_text(fixture->json, changed, -1);
    g_autoptr(Run) run = run_json(fixture->sandbox, 1, "report", "verify", fixture->pdf, NULL);
    JsonArray *differences = array_at(root_of(run), "differences");
    gboolean number_differs = FALSE; /* the PDF names another digest in either case */
    for (guint d = 0; d < json_array_get_length(differences); d++)
      number_differs |= strstr(string_at(json_array_get_object_element(differences, d), "where"),
                               "noise_floor") != NULL;
    g_assert_cmpint(number_differs, ==, !cases[i].same);
    g_assert_cmpint(bool_at(root_of(run), "rounded"), ==, cases[i].same);
  }
}

/* What an import left out is counted in the flow of the report: NLST tables whose four persons give
 * one scan with cancer, one followed, one followed too short, one without a score. */
static void
test_what_was_left_out_is_reported(Fixture *fixture, gconstpointer data) {
  g_autofree char *persons = sandbox_write(fixture->sandbox, "persons.csv",
                                           "pid,cen,scr_days0,scr_days1,scr_days2,candx_days,"
                                           "fup_days,death_days\n"
                                           "1,A,10,,,500,2600,\n2,A,10,,,,2600,\n"
                                           "3,A,10,,,,900,\n4,A,10,,,,2600,\n",
                                           -1),
                  *scores =
                      sandbox_write(fixture->sandbox, "scores.csv",
                                    "pid,study_yr,risk\n1,0,0.5\n2,0,0.1\n3,0,0.2\n9,0,0.2\n", -1);
  g_autoptr(Run) import = run_json(fixture->sandbox, 0, "cohort", "import", "nlst",
                                   "--nlst-persons", persons, "--scores", scores, "--model", "m",
                                   "--split", "test", "--short-followup", "left-out", NULL);
  assert_status(import, 0);
  static const char *const reasons[] = {"screens without a score",
                                        "scores whose person is not in the table",
                                        "scored screens: followed for less than the horizon"};
  static const char of_cohort[] =
      "FROM cohort_exclusion e JOIN cohort c ON c.id = e.cohort_id WHERE c.name = 'nlst'";
  for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++) {
    g_autofree char *of_row = g_strdup_printf(
        "SELECT e.reason || ' ' || e.n %s ORDER BY e.position LIMIT 1 OFFSET %zu", of_cohort, i);
    g_autofree char *row = demur_test_store_text(fixture->sandbox->workspace, of_row),
                    *expected = g_strdup_printf("%s 1", reasons[i]);
    g_assert_cmpstr(row, ==, expected);
  }
  g_autofree char *all = g_strdup_printf("SELECT count(*) %s", of_cohort);
  g_assert_cmpint(demur_test_store_number(fixture->sandbox->workspace, all), ==,
                  (gint64)G_N_ELEMENTS(reasons));
  /* In the report of a cohort that has some. */
  execute_sql(fixture,
              "INSERT INTO cohort_exclusion SELECT id, 0, 'no score', 17 FROM cohort WHERE "
              "name = 'c'");
  execute_sql(fixture, "UPDATE cohort SET exclusions_recorded = 1 WHERE name = 'c'");
  g_autoptr(Run) report = run_json(fixture->sandbox, 0, "report", fixture->pdf, "--selector", "s",
                                   "--cohort", "c", "--bootstrap", "20", NULL);
  assert_status(report, 0);
  g_autofree char *flow = sandbox_path(fixture->sandbox, "flow.csv");
  g_autoptr(Run) chart = run_json(fixture->sandbox, 0, "chart", "cohort-flow", flow, "--selector",
                                  "s", "--cohort", "c", "--bootstrap", "20", NULL);
  assert_status(chart, 0);
  gsize n;
  g_autofree char *csv = read_text(flow, &n);
  assert_says(csv, "no score");
  assert_says(csv, "17");
  check_verify(fixture, fixture->pdf, NULL);
}

/* A folder that is not there: said before anything is computed, and not made. */
static void
test_a_missing_folder_is_an_error(Fixture *fixture, gconstpointer data) {
  static const char *const lines[] = {"report %s/none/r.pdf --selector s --cohort c",
                                      "report patient %s/none/r.pdf --scan x --selector s",
                                      "chart reliability %s/none/r.svg --selector s --cohort c"};
  for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_auto(GStrv) parts = g_strsplit(lines[i], "%s", 2);
    g_autofree char *line = g_strjoinv(fixture->sandbox->folder, parts);
    g_autoptr(Run) run = run_line(fixture->sandbox, line);
    assert_status(run, 1);
    assert_says(run->err, "there is no folder");
  }
  g_autofree char *folder = sandbox_path(fixture->sandbox, "none");
  g_assert_false(g_file_test(folder, G_FILE_TEST_EXISTS));
}

/* A refused scan's risk stands neither on its page nor in its JSON. */
static void
test_a_risk_held_back_is_not_written(Fixture *fixture, gconstpointer data) {
  g_autoptr(Run) assess = run_json(fixture->sandbox, 0, "assess", "s", "--reveal", "a test",
                                   "--cohort", "c", "--coverage", "0.7", NULL);
  JsonArray *verdicts = array_at(root_of(assess), "verdicts");
  const char *words[] = {"red_flag", "accepted"};
  for (size_t k = 0; k < G_N_ELEMENTS(words); k++) {
    JsonObject *verdict = find_in(verdicts, "verdict", words[k]);
    g_assert_nonnull(verdict);
    g_autofree char *pdf = sandbox_path(fixture->sandbox, "patient.pdf"),
                    *json = sandbox_path(fixture->sandbox, "patient.json");
    g_autoptr(Run) run = run_json(fixture->sandbox, 0, "report", "patient", pdf, "--scan",
                                  string_at(verdict, "scan_id"), "--selector", "s", "--cohort", "c",
                                  "--coverage", "0.7", NULL);
    assert_status(run, 0);
    check_verify(fixture, pdf, NULL);
    g_autoptr(JsonParser) parser = json_parser_new();
    g_autoptr(GError) error = NULL;
    json_parser_load_from_file(parser, json, &error);
    g_assert_no_error(error);
    JsonObject *root = json_node_get_object(json_parser_get_root(parser));
    g_assert_cmpstr(string_at(root, "verdict"), ==, words[k]);
    g_assert_cmpint(is_null_at(root, "risk"), ==, k == 0);
    g_assert_cmpint(is_null_at(root, "risk_raw"), ==, k == 0);
    g_assert_cmpint(is_null_at(root, "risk_interval"), ==, k == 0);
    if (k == 1) {
      g_assert_cmpfloat(number_at(root, "risk"), ==, number_at(verdict, "risk"));
      JsonArray *printed = array_at(root, "risk_interval"),
                *assessed = array_at(verdict, "risk_interval");
      for (guint e = 0; e < 2; e++)
        g_assert_cmpfloat(json_array_get_double_element(printed, e), ==,
                          json_array_get_double_element(assessed, e));
    }
    g_assert_cmpuint(json_array_get_length(array_at(root, "reasons")), >=, k == 0 ? 1 : 0);
  }
}

/* A page in German is made again word for word, whatever the locale is; its numbers are English. */
static void
test_a_page_in_german_is_made_again(Fixture *fixture, gconstpointer data) {
  g_autofree char *catalogue =
      g_build_filename(DEMUR_TEST_LOCALE, "de", "LC_MESSAGES", "demur.mo", NULL);
  if (!g_file_test(catalogue, G_FILE_TEST_EXISTS)) {
    g_test_skip("no catalogues are built without the window");
    return;
  }
  g_autoptr(Run) assess = run_json(fixture->sandbox, 0, "assess", "s", "--cohort", "c", NULL);
  const char *scan =
      string_at(json_array_get_object_element(array_at(root_of(assess), "verdicts"), 0), "scan_id");
  g_autofree char *german = sandbox_path(fixture->sandbox, "de.pdf"),
                  *english = sandbox_path(fixture->sandbox, "en.pdf");
  g_setenv("DEMUR_LOCALEDIR", DEMUR_TEST_LOCALE, TRUE);
  const struct { const char *pdf, *language; } pages[] = {{german, "de"}, {english, "en"}};
  for (size_t p = 0; p < G_N_ELEMENTS(pages); p++)
    run_free(run_json(fixture->sandbox, 0, "report", "patient", pages[p].pdf, "--scan", scan,
                      "--cohort", "c", "--language", pages[p].language, NULL));
  gsize n, n_english;
  g_autofree char *pdf = read_text(german, &n), *other = read_text(english, &n_english);
  g_assert_true(n != n_english || memcmp(pdf, other, n) != 0);
  g_autoptr(Run) same = verify(fixture, german, NULL);
  g_assert_null(strstr(same->out, "not installed"));
  check_verify(fixture, english, NULL);
  /* One byte of its pages. */
  const char was = pdf[n / 2];
  pdf[n / 2] = (char)(was ^ 1);
  write_text(german, pdf, (gssize)n);
  check_verify(fixture, german, "PDF's pages");
  pdf[n / 2] = was;
  write_text(german, pdf, (gssize)n);
  /* Where German is not installed the numbers are compared, and it is said. */
  g_setenv("DEMUR_LOCALEDIR", "/nowhere", TRUE);
  g_autoptr(Run) without = verify(fixture, german, NULL);
  assert_says(without->out, "not installed (de)");
  g_autoptr(Run) unknown = run_demur(fixture->sandbox, "report", "patient", english, "--scan", scan,
                                     "--cohort", "c", "--language", "de", NULL);
  assert_status(unknown, 1);
  assert_says(unknown->err, "no translation into 'de'");
  g_unsetenv("DEMUR_LOCALEDIR");
}

/* The CSV of a chart holds what `evaluate` prints, digit for digit. */
static void
test_a_charts_table_is_the_evaluations(Fixture *fixture, gconstpointer data) {
  g_autofree char *csv = sandbox_path(fixture->sandbox, "curve.csv");
  g_autoptr(Run) chart = run_json(fixture->sandbox, 0, "chart", "coverage-sbce2", csv, "--selector",
                                  "s", "--cohort", "c", "--bootstrap", "20", NULL);
  assert_status(chart, 0);
  g_autoptr(Run) evaluate = run_json(fixture->sandbox, 0, "evaluate", "--selector", "s", "--cohort",
                                     "c", "--bootstrap", "20", NULL);
  JsonObject *method = json_array_get_object_element(array_at(root_of(evaluate), "methods"), 0);
  JsonArray *curve = array_at(object_at(method, "curve"), "sbce2");
  gsize n;
  g_autofree char *text = read_text(csv, &n);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), ==, json_array_get_length(curve) + 2);
  for (guint i = 0; i < json_array_get_length(curve); i++) {
    JsonObject *point = json_array_get_object_element(curve, i);
    g_auto(GStrv) cells = g_strsplit(lines[i + 1], ",", -1);
    g_assert_cmpfloat(g_ascii_strtod(cells[0], NULL), ==, number_at(point, "coverage"));
    if (*cells[1] != '\0')
      g_assert_cmpfloat(g_ascii_strtod(cells[1], NULL), ==, number_at(point, "point"));
    else
      g_assert_true(is_null_at(point, "point"));
  }
}

/* Charts of what this workspace does not hold: perturbed scans, an acceptance test, a watch. */
static gboolean
needs_more(const char *name) {
  return g_str_has_prefix(name, "watch-") || strcmp(name, "acceptance") == 0 ||
         strcmp(name, "per-shift") == 0;
}

/* Draws a chart to a file of the sandbox; its bytes (owned) and their number. */
static char *
draw(const Fixture *fixture, const char *name, const char *file, gsize *n) {
  g_autofree char *path = sandbox_path(fixture->sandbox, file);
  g_autoptr(Run) run = run_json(fixture->sandbox, 0, "chart", name, path, "--selector", "s",
                                "--cohort", "c", "--bootstrap", "20", NULL);
  assert_status(run, 0);
  g_assert_cmpuint(strlen(string_at(root_of(run), "alternative_text")), >, 20);
  return read_text(path, n);
}

/* Every chart in a kind of file, in turn, twice to the same bytes; refused without a file where there
 * is nothing that it is of. -m thorough: in every kind (which is one path for all charts:
 * unit-report-chart-export). */
static void
test_every_chart_in_every_format(Fixture *fixture, gconstpointer data) {
  static const char *const endings[] = {"svg", "png", "pdf", "csv"};
  g_autoptr(Run) list = run_json(fixture->sandbox, 0, "chart", "--list", NULL);
  JsonArray *charts = array_at(root_of(list), "charts");
  g_assert_cmpuint(json_array_get_length(charts), >=, 10);
  for (guint i = 0; i < json_array_get_length(charts); i++) {
    const char *name = string_at(json_array_get_object_element(charts, i), "name");
    if (needs_more(name)) {
      g_autofree char *file = g_strdup_printf("%s.svg", name);
      g_autofree char *path = sandbox_path(fixture->sandbox, file);
      g_autoptr(Run) refused = run_json(fixture->sandbox, 1, "chart", name, path, "--selector", "s",
                                        "--cohort", "c", "--bootstrap", "20", NULL);
      g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
      continue;
    }
    for (guint e = 0; e < G_N_ELEMENTS(endings); e++) {
      if (e != i % G_N_ELEMENTS(endings) && !g_test_thorough())
        continue;
      g_autofree char *file = g_strdup_printf("%s.%s", name, endings[e]);
      gsize n, n_again;
      g_autofree char *bytes = draw(fixture, name, file, &n);
      g_assert_cmpuint(n, >, 0);
      if (e != i % G_N_ELEMENTS(endings))
        continue;
      g_autofree char *again = draw(fixture, name, file, &n_again);
      assert_same_bytes(bytes, n, again, n_again);
    }
  }
}

/* Headline numbers of the JSON stand in the PDF's text. */
static void
test_the_pages_say_what_the_json_holds(Fixture *fixture, gconstpointer data) {
  g_autofree char *program = g_find_program_in_path("pdftotext");
  if (program == NULL) {
    g_test_skip("poppler-utils is not installed");
    return;
  }
  const char *const words[] = {program, "-raw", fixture->pdf, "-", NULL};
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;
  g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &text, NULL,
               NULL, &error);
  g_assert_no_error(error);
  g_autoptr(JsonParser) parser = json_parser_new();
  json_parser_load_from_file(parser, fixture->json, &error);
  g_assert_no_error(error);
  JsonObject *root = json_node_get_object(json_parser_get_root(parser)),
             *evaluation = object_at(root, "evaluation");
  JsonArray *methods = array_at(evaluation, "methods");
  guint n_checked = 0;
  for (guint m = 0; m < json_array_get_length(methods); m++) {
    JsonObject *auc = object_at(json_array_get_object_element(methods, m), "auc");
    static const char *const measures[] = {"sbce2", "sbceinf", "brier", "accuracy", "smmce"};
    for (size_t k = 0; k < G_N_ELEMENTS(measures); k++) {
      const double value = number_at(object_at(auc, measures[k]), "point");
      if (!isfinite(value))
        continue;
      char printed[32];
      g_ascii_formatd(printed, sizeof printed, "%.3f", value);
      g_assert_nonnull(strstr(text, *printed == '0' ? printed + 1 : printed));
      n_checked++;
    }
  }
  g_assert_cmpuint(n_checked, >=, 40);
}

static void
test_wrong_usage(Fixture *fixture, gconstpointer data) {
  static const struct {
    const char *line, *says;
  } wrong[] = {
      {"report verify", "one FILE.pdf"},
      {"report verify a b", "one FILE.pdf"},
      {"report verify a.txt", ".pdf"},
      {"report patient p.pdf", "--scan"},
      {"report patient p.pdf --scan x --split test", "--cohort"},
      {"report patient p.pdf --scan x --paper a3", "a4 or letter"},
      {"chart frobnicate a.svg --selector s --cohort c", "there are"},
      {"chart reliability a.gif --selector s --cohort c", ".svg"},
      {"chart reliability", "NAME and FILE"},
      {"chart reliability a.svg --selector s --cohort c --coverage 0.123", "measured at"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_autoptr(Run) run = run_line(fixture->sandbox, wrong[i].line);
    assert_status(run, 2);
    assert_says(run->err, wrong[i].says);
  }
  g_autofree char *absent = sandbox_path(fixture->sandbox, "absent.pdf");
  g_autoptr(Run) run = run_demur(fixture->sandbox, "report", "verify", absent, NULL);
  assert_status(run, 1);
}

/* Beside a selector of raw risks, whose methods stand first in the evaluation, a recalibrating one
 * that is named first is the one that everything is about. Right values: the names that were given,
 * and the same numbers as in its report alone. */
static void
test_the_first_selector_is_reported(Fixture *fixture, gconstpointer data) {
  const Sandbox *sandbox = fixture->sandbox;
  g_autoptr(Run) train = train_small(sandbox, "own", "c", "--recalibrate", "intercept", NULL);
  assert_status(train, 0);
  g_autoptr(Run) tune =
      run_demur(sandbox, "tune", "own", "--cohort", "c", "--coverage", "0.9", NULL);
  assert_status(tune, 0);
  static const char *const orders[][2] = {{"own", "s"}, {"s", "own"}};
  for (size_t i = 0; i < G_N_ELEMENTS(orders); i++) {
    g_autofree char *pdf = sandbox_path(sandbox, "both.pdf");
    g_autofree char *json = sandbox_path(sandbox, "both.json");
    g_autofree char *alone_pdf = sandbox_path(sandbox, "alone.pdf");
    g_autofree char *alone_json = sandbox_path(sandbox, "alone.json");
    g_autoptr(Run) both =
        run_json(sandbox, 0, "report", pdf, "--selector", orders[i][0], "--selector", orders[i][1],
                 "--cohort", "c", "--bootstrap", "60", NULL);
    g_autoptr(Run) alone = run_json(sandbox, 0, "report", alone_pdf, "--selector", orders[i][0],
                                    "--cohort", "c", "--bootstrap", "60", NULL);
    g_autofree char *text = read_text(json, NULL), *alone_text = read_text(alone_json, NULL);
    g_autoptr(JsonNode) node = json_from_string(text, NULL);
    g_autoptr(JsonNode) alone_node = json_from_string(alone_text, NULL);
    JsonObject *root = json_node_get_object(node), *alone_root = json_node_get_object(alone_node);
    g_autofree char *method = g_strconcat("selector:", orders[i][0], NULL);
    JsonObject *finding = object_at(root, "finding");
    g_assert_cmpstr(string_at(object_at(root, "selector"), "name"), ==, orders[i][0]);
    g_assert_cmpstr(string_at(finding, "method"), ==, method);
    JsonObject *alone_finding = object_at(alone_root, "finding");
    g_assert_cmpstr(string_at(finding, "method"), ==, string_at(alone_finding, "method"));
    g_assert_cmpstr(string_at(finding, "headline"), ==, string_at(alone_finding, "headline"));
    /* And the curve that is called "selector". */
    g_autofree char *chart = sandbox_path(sandbox, "both.csv");
    g_autofree char *alone_chart = sandbox_path(sandbox, "alone.csv");
    g_autoptr(Run) drawn =
        run_json(sandbox, 0, "chart", "coverage-sbce2", chart, "--selector", orders[i][0],
                 "--selector", orders[i][1], "--cohort", "c", "--bootstrap", "60", NULL);
    g_autoptr(Run) drawn_alone =
        run_json(sandbox, 0, "chart", "coverage-sbce2", alone_chart, "--selector", orders[i][0],
                 "--cohort", "c", "--bootstrap", "60", NULL);
    g_autofree char *csv = read_text(chart, NULL), *alone_csv = read_text(alone_chart, NULL);
    g_auto(GStrv) lines = g_strsplit(csv, "\n", -1), alone_lines = g_strsplit(alone_csv, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, g_strv_length(alone_lines));
    for (guint l = 0; lines[l] != NULL && *lines[l] != '\0'; l++) {
      g_auto(GStrv) cells = g_strsplit(lines[l], ",", 3);
      g_auto(GStrv) alone_cells = g_strsplit(alone_lines[l], ",", 3);
      g_assert_cmpstr(cells[1], ==, alone_cells[1]);
    }
    g_assert_nonnull(strstr(csv, "imulated data"));
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  static const struct {
    const char *name;
    void (*func)(Fixture *, gconstpointer);
  } tests[] = {
      {"what was written verifies", test_what_was_written_verifies},
      {"a changed number is found", test_a_changed_number_is_found},
      {"a foreign PDF is found", test_a_foreign_pdf_is_found},
      {"a changed scan is found", test_a_changed_scan_is_found},
      {"a changed weight is found", test_a_changed_weight_is_found},
      {"a changed threshold is found", test_a_changed_threshold_is_found},
      {"writing that was cut off is found", test_writing_that_was_cut_off_is_found},
      {"deep nesting is refused", test_deep_nesting_is_refused},
      {"an audit is reported", test_an_audit_is_reported},
      {"what came after is no difference", test_what_came_after_is_no_difference},
      {"an unknown paper is refused", test_an_unknown_paper_is_refused},
      {"other words are no difference", test_other_words_are_no_difference},
      {"a threshold tuned anew to what it was is no difference",
       test_tuned_anew_to_the_same_is_no_difference},
      {"methods defined anew are told once", test_methods_defined_anew_are_told_once},
      {"rounding is no difference", test_rounding_is_no_difference},
      {"what was left out is reported", test_what_was_left_out_is_reported},
      {"a missing folder is an error", test_a_missing_folder_is_an_error},
      {"a page in German is made again", test_a_page_in_german_is_made_again},
      {"a risk held back is not written", test_a_risk_held_back_is_not_written},
      {"a chart's table is the evaluation's", test_a_charts_table_is_the_evaluations},
      {"every chart in every format", test_every_chart_in_every_format},
      {"the pages say what the JSON holds", test_the_pages_say_what_the_json_holds},
      {"the first selector is reported", test_the_first_selector_is_reported},
      {"wrong usage", test_wrong_usage},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(tests); i++) {
    g_autofree char *path = g_strdup_printf("/commands/report/%s", tests[i].name);
    g_test_add(path, Fixture, NULL, set_up, tests[i].func, tear_down);
  }
  return g_test_run();
}
