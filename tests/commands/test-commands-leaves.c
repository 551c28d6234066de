/* What leaves the workspace in a file is in its log, before the file has its name; what does not leave is not. */
#include "commands.h"

#include <string.h>

static void
prepare(const Sandbox *sandbox) {
  static const char *const lines[] = {
      "cohort simulate c --scans 600 --base-train 400 --sites 4 --tune 200 --test 200 --quiet",
      "train s --cohort c --method confidence --quiet", "tune s --cohort c --coverage 0.8 --quiet",
      "assess s --cohort c --split test --quiet", "log --keep-openings on"};
  for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_autoptr(Run) run = run_line(sandbox, lines[i]);
    assert_status(run, 0);
  }
}

/* Details of the last event of the kind (owned by the parser), NULL: there is none; *n how many there are. */
static JsonObject *
last_event(const Sandbox *sandbox, const char *kind, JsonParser *parser, guint *n) {
  g_autofree char *line = g_strdup_printf("--json log --event %s", kind);
  g_autoptr(Run) run = run_line(sandbox, line);
  assert_status(run, 0);
  JsonArray *events = array_at(root_of(run), "events");
  *n = json_array_get_length(events);
  if (*n == 0)
    return NULL;
  const char *details = string_at(json_array_get_object_element(events, *n - 1), "details");
  g_assert_true(json_parser_load_from_data(parser, details, -1, NULL));
  return json_node_get_object(json_parser_get_root(parser));
}

static void
test_an_export_is_told(void) {
  g_autoptr(Sandbox) sandbox = sandbox_prepared(prepare);
  static const struct {
    const char *line, *members;
  } rows[] = {
      {"selector export s s.json", "format,selector,digest,with_reference"},
      {"selector export s r.json --with-reference", "format,selector,digest,with_reference"},
      {"cohort export c c.csv", "format,cohort,n_scans"}};
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    guint n;
    g_autoptr(Run) done = run_line(sandbox, rows[i].line);
    assert_status(done, 0);
    g_autoptr(JsonParser) parser = json_parser_new();
    JsonObject *details = last_event(sandbox, "export", parser, &n);
    g_assert_cmpuint(n, ==, i + 1);
    assert_members(details, rows[i].members);
  }
  guint n;
  static const char *const failing[] = {"selector export s none/s.json",
                                        "selector export nobody s.json",
                                        "cohort export c none/c.csv"};
  for (size_t i = 0; i < G_N_ELEMENTS(failing); i++) {
    g_autoptr(Run) run = run_line(sandbox, failing[i]);
    assert_status(run, 1);
  }
  g_autoptr(JsonParser) parser = json_parser_new();
  JsonObject *details = last_event(sandbox, "export", parser, &n);
  g_assert_cmpuint(n, ==, G_N_ELEMENTS(rows));
  g_assert_cmpfloat(number_at(details, "n_scans"), ==, 1520.0);
}

static void
test_a_page_is_told(void) {
  g_autoptr(Sandbox) sandbox = sandbox_prepared(prepare);
  g_autoptr(Run) table = run_line(sandbox, "--json assess s --cohort c --split test");
  assert_status(table, 0);
  const char *scan =
      string_at(json_array_get_object_element(array_at(root_of(table), "verdicts"), 0), "scan_id");
  g_autofree char *right = g_strdup_printf("report patient p.pdf --cohort c --scan %s", scan),
                  *wrong = g_strdup_printf("report patient none/p.pdf --cohort c --scan %s", scan);
  guint n;
  g_autoptr(Run) failed = run_line(sandbox, wrong);
  assert_status(failed, 1);
  g_autoptr(JsonParser) parser = json_parser_new();
  g_assert_null(last_event(sandbox, "opened", parser, &n));
  g_autoptr(Run) written = run_line(sandbox, right);
  assert_status(written, 0);
  JsonObject *details = last_event(sandbox, "opened", parser, &n);
  g_assert_cmpuint(n, ==, 1);
  g_assert_cmpstr(string_at(details, "by"), ==, "report");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/leaves/exports", test_an_export_is_told);
  g_test_add_func("/commands/leaves/pages", test_a_page_is_told);
  return g_test_run();
}
