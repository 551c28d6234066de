/* What leaves the program: hostile texts come out harmless wherever they come out, and the names
 * and identifiers of persons only where they belong (docs/privacy.md). Hostile texts are from the
 * manuals of what shows them: terminals (ECMA-48), Unicode's bidirectional algorithm, Pango markup,
 * XML, PDF strings, spreadsheets. */
#include "commands.h"

#include <string.h>

#include "base/csv-field.h"
#include "base/shown-text.h"
#include "support/store.h"

static const char *const hostile[] = {
    "=cmd|' /C calc'!A0",
    "=HYPERLINK(\"http://x\",\"y\")",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\xef\xbc\x9d"
    "1+1",
    "'=1",
    "<b>bold</b>",
    "<span foreground='white'>x",
    "&amp;&lt;&#7;",
    "<!--",
    "]]><x/>",
    "<?xml version='1.0'?>",
    "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;",
    "</svg><script>alert(1)</script>",
    "(unbalanced",
    ") Tj ET endstream endobj",
    "\\)\\\\",
    "<</S/JavaScript/JS(app.alert(1))>>",
    "%s%n%d",
    "%PDF-1.7",
    "a\xe2\x80\xae"
    "b", /* right-to-left override */
    "a\xe2\x81\xa6"
    "b\xe2\x81\xa9",
    "\xe2\x80\x8f"
    "rtl mark",
    "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
    "\"quoted\" and 'single'",
    "semi;colon,comma",
    "back\\slash",
    "line\nbreak",
    "{\"json\": [1]}",
};

/* Refused where a table holds them. */
static const char *const refused[] = {"\x1b[2J\x1b[31mred", "bell\x07",
                                      "\xc2\x9b"
                                      "31m",
                                      "nul\x01"};

/* Nothing that steers a terminal or the direction of text; line ends and tabs are the program's. */
static void
assert_shown_safely(const char *what, const char *text) {
  g_assert_true(g_utf8_validate(text, -1, NULL));
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char(p)) {
    const gunichar c = g_utf8_get_char(p);
    if (c != '\n' && c != '\t' && demur_shown_as_code_point(c))
      g_error("%s holds U+%04X", what, c);
  }
}

/* No cell begins what a spreadsheet runs. */
static void
assert_safe_cells(const char *what, const char *csv) {
  gboolean quoted = FALSE, begins = TRUE;
  for (const char *p = csv; *p != '\0'; p++) {
    if (begins && *p != '"' && strchr("=+@", *p) != NULL)
      g_error("%s has a cell that begins with %c", what, *p);
    if (begins && g_str_has_prefix(p, "\xef\xbc\x9d"))
      g_error("%s has a cell that begins with a full-width =", what);
    if (*p == '"' && begins && !quoted) {
      quoted = TRUE;
      continue; /* what stands behind it begins the cell */
    }
    if (*p == '"')
      quoted = !quoted;
    begins = !quoted && (*p == ',' || *p == '\n');
  }
}

static void
assert_markup(const char *what, const char *text) {
  const GMarkupParser parser = {NULL, NULL, NULL, NULL, NULL};
  g_autoptr(GMarkupParseContext) context =
      g_markup_parse_context_new(&parser, (GMarkupParseFlags)0, NULL, NULL);
  g_autoptr(GError) error = NULL;
  if (!g_markup_parse_context_parse(context, text, -1, &error) ||
      !g_markup_parse_context_end_parse(context, &error))
    g_error("%s is no well-formed XML: %s", what, error->message);
}

static char *
contents_of(const Sandbox *sandbox, const char *name, gsize *length) {
  g_autofree char *path = sandbox_path(sandbox, name);
  char *text = NULL;
  g_autoptr(GError) error = NULL;
  g_file_get_contents(path, &text, length, &error);
  g_assert_no_error(error);
  return text;
}

/* A cohort like simulate_small's whose patients and scans are called after the texts (each with its
 * number behind), its sites and its outcome too where asked, and that has an attribute of that name
 * with such values. */
static void
import_with_texts(const Sandbox *sandbox, const char *name, const char *const *texts, guint n_texts,
                  gboolean sites_too, const char *attribute, const char *value) {
  simulate_small(sandbox, "plain");
  g_autoptr(Run) out = run_demur(sandbox, "cohort", "export", "plain", "plain.csv", NULL);
  assert_status(out, 0);
  g_autofree char *csv = contents_of(sandbox, "plain.csv", NULL);
  g_auto(GStrv) lines = g_strsplit(csv, "\n", -1);
  g_autoptr(GString) table = g_string_new(lines[0]);
  g_string_append_c(table, ',');
  demur_csv_append(table, attribute);
  g_string_append_c(table, '\n');
  for (guint i = 1; lines[i] != NULL && *lines[i] != '\0'; i++) {
    g_auto(GStrv) fields = g_strsplit(lines[i], ",", 4);
    const char *text = texts[i % n_texts];
    const char *number = fields[2] + strcspn(fields[2], "0123456789");
    const guint site = (guint)g_ascii_strtoull(number, NULL, 10);
    g_autofree char *patient = g_strdup_printf("%s %s", text, fields[0]);
    g_autofree char *scan = g_strdup_printf("%s %s", text, fields[1]);
    g_autofree char *site_name =
        sites_too ? g_strdup_printf("%s %u", texts[site % n_texts], site) : g_strdup(fields[2]);
    g_autofree char *cell = g_strdup_printf("%s%s", value, text);
    demur_csv_append(table, patient);
    g_string_append_c(table, ',');
    demur_csv_append(table, scan);
    g_string_append_c(table, ',');
    demur_csv_append(table, site_name);
    g_string_append_printf(table, ",%s,", fields[3]);
    demur_csv_append(table, i % 2 == 0 ? cell : "other");
    g_string_append_c(table, '\n');
  }
  g_autofree char *path = sandbox_write(sandbox, "texts.csv", table->str, (gssize)table->len);
  g_autoptr(Run) in = run_json(sandbox, 0, "cohort", "import", name, path, "--model", "texts-model",
                               "--outcome", sites_too ? texts[0] : "relapse", NULL);
}

static void
test_tables_with_control_characters_are_refused(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
    g_autofree char *text =
        g_strdup_printf("patient_id,site,split,label,risk\np1,\"%s\",train,0,0.5\n", refused[i]);
    g_autofree char *path = sandbox_write(sandbox, "bad.csv", text, -1);
    g_autoptr(Run) run = run_demur(sandbox, "cohort", "import", "c", path, NULL);
    assert_status(run, 1);
    assert_shown_safely("the message", run->err);
  }
}

/* Runs each line as text and as JSON; each must end with 0 and show nothing that it should not. */
static void
assert_lines_show_safely(const Sandbox *sandbox, const char *const *lines) {
  for (size_t i = 0; lines[i] != NULL; i++) {
    g_test_message("%s", lines[i]);
    g_autoptr(Run) run = run_line(sandbox, lines[i]);
    assert_status(run, 0);
    assert_shown_safely(lines[i], run->out);
    assert_shown_safely(lines[i], run->err);
    g_autofree char *as_json = g_strconcat(lines[i], " --json", NULL);
    g_autoptr(Run) json = run_line(sandbox, as_json);
    assert_status(json, 0);
    g_assert_nonnull(json->json);
    assert_shown_safely(as_json, json->err);
  }
}

static void
test_hostile_texts(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  static const char *const attribute = "<b>=attribute</b>";
  import_with_texts(sandbox, "c", hostile, G_N_ELEMENTS(hostile), TRUE, attribute, "");
  g_autoptr(Run) trained = train_small(sandbox, "s", "c", NULL);
  assert_status(trained, 0);
  static const char *const lines[] = {
      "cohort list",
      "cohort show c",
      "tune s --cohort c --coverage 0.9",
      "assess s --cohort c",
      "selector show s",
      "evaluate --selector s --cohort c --resamples 1 --bootstrap 20 --group-by site",
      "chart forest sites.svg --selector s --cohort c --resamples 1 --bootstrap 20",
      "chart forest sites.csv --selector s --cohort c --resamples 1 --bootstrap 20",
      "report r.pdf --selector s --cohort c --resamples 1 --bootstrap 20",
      "report verify r.pdf",
      "export v.csv --cohort c",
      "cohort export c c.csv",
      NULL};
  assert_lines_show_safely(sandbox, lines);
  static const char *const tables[] = {"sites.csv", "v.csv", "c.csv"};
  for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
    g_autofree char *csv = contents_of(sandbox, tables[i], NULL);
    assert_safe_cells(tables[i], csv);
  }
  g_autofree char *svg = contents_of(sandbox, "sites.svg", NULL);
  assert_markup("sites.svg", svg);
  g_assert_null(strstr(svg, "<script>"));
  g_autofree char *json = contents_of(sandbox, "r.json", NULL);
  g_autoptr(JsonParser) parser = json_parser_new();
  g_assert_true(json_parser_load_from_data(parser, json, -1, NULL));
  /* Each text came back as it was: the table reads to the same digest. */
  g_autoptr(Run) back = run_json(sandbox, 0, "cohort", "import", "back", "c.csv", NULL);
  g_autofree char *digest = cohort_digest(sandbox, "c");
  g_assert_cmpstr(string_at(root_of(back), "digest"), ==, digest);
  /* The control of the test: cells as they are. */
  g_autoptr(Run) raw = run_demur(sandbox, "--raw-cells", "cohort", "export", "c", "raw.csv", NULL);
  assert_status(raw, 0);
  g_autofree char *cells = contents_of(sandbox, "raw.csv", NULL);
  g_assert_nonnull(strstr(cells, "\n=cmd|"));
}

/* ---- persons ------------------------------------------------------------------------------------
 */

#define N_PLANTED 100

static gboolean
holds(const char *bytes, gsize length, const char *text) {
  const gsize n = strlen(text);
  for (const char *p = bytes, *end = bytes + length; (gsize)(end - p) >= n; p++) {
    p = memchr(p, *text, (gsize)(end - p) - n + 1);
    if (p == NULL)
      return FALSE;
    if (memcmp(p, text, n) == 0)
      return TRUE;
  }
  return FALSE;
}

/* How many of the planted texts "PREFIXnnnZ" stand in the bytes. */
static guint
count_planted(const char *bytes, gsize length, const char *prefix) {
  guint n = 0;
  for (guint i = 0; i < N_PLANTED; i++) {
    g_autofree char *text = g_strdup_printf("%s%03uZ", prefix, i);
    n += holds(bytes, length, text) ? 1 : 0;
  }
  return n;
}

/* The table of docs/privacy.md. */
static const struct {
  const char *line; /* that writes it; NULL: it is there */
  const char *file; /* NULL: what the line prints */
  gboolean ids, names;
} outputs[] = {
    {NULL, "workspace.demur", TRUE, TRUE},
    {"workspace backup kept.demur", "kept.demur", TRUE, TRUE},
    {"cohort export c c.csv", "c.csv", TRUE, TRUE},
    {"cohort show c", NULL, FALSE, FALSE},
    {"assess s --cohort c --json", NULL, TRUE, FALSE},
    {"export v.csv --cohort c", "v.csv", TRUE, FALSE},
    {"export v.json --cohort c --format json", "v.json", TRUE, FALSE},
    {"evaluate --selector s --cohort c --resamples 1 --bootstrap 20 --group-by site --json", NULL,
     FALSE, FALSE},
    {"chart forest f.svg --selector s --cohort c --resamples 1 --bootstrap 20", "f.svg", FALSE,
     FALSE},
    {"chart forest f.csv --selector s --cohort c --resamples 1 --bootstrap 20", "f.csv", FALSE,
     FALSE},
    {"report r.pdf --selector s --cohort c --resamples 1 --bootstrap 20", "r.json", FALSE, FALSE},
    {"report r.pdf --selector s --cohort c --resamples 1 --bootstrap 20", "r.pdf", FALSE, FALSE},
    {"selector export s s.json", "s.json", FALSE, FALSE},
    {"selector show s --json", NULL, FALSE, FALSE},
};

static void
test_persons_stand_where_they_belong(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autoptr(GPtrArray) planted = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < N_PLANTED; i++)
    g_ptr_array_add(planted, g_strdup_printf("IDENT%03uZ", i));
  import_with_texts(sandbox, "c", (const char *const *)planted->pdata, N_PLANTED, FALSE, "referrer",
                    "NAMED-");
  g_autoptr(Run) trained = train_small(sandbox, "s", "c", NULL);
  assert_status(trained, 0);
  g_assert_cmpuint(count_planted(trained->out, strlen(trained->out), "IDENT"), ==, 0);
  g_autoptr(Run) tuned = run_line(sandbox, "tune s --cohort c --coverage 0.9");
  assert_status(tuned, 0);
  g_assert_cmpuint(count_planted(tuned->out, strlen(tuned->out), "IDENT"), ==, 0);
  for (size_t i = 0; i < G_N_ELEMENTS(outputs); i++) {
    g_autoptr(Run) run = NULL;
    if (outputs[i].line == NULL && demur_test_store_is_server())
      continue; /* it is no file there; what it holds is in its backup */
    if (outputs[i].line != NULL) {
      run = run_line(sandbox, outputs[i].line);
      assert_status(run, 0);
    }
    gsize length;
    g_autofree char *bytes = NULL;
    if (outputs[i].file != NULL) {
      bytes = contents_of(sandbox, outputs[i].file, &length);
    } else {
      bytes = g_strconcat(run->out, run->err, NULL);
      length = strlen(bytes);
    }
    g_test_message("%s: %s", outputs[i].line, outputs[i].file);
    g_assert_cmpint(count_planted(bytes, length, "NAMED-IDENT") > 0, ==, outputs[i].names);
    g_assert_cmpint(count_planted(bytes, length, "IDENT") > 0, ==, outputs[i].ids);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/outputs/control-characters-are-refused",
                  test_tables_with_control_characters_are_refused);
  g_test_add_func("/commands/outputs/hostile-texts", test_hostile_texts);
  g_test_add_func("/commands/outputs/persons-stand-where-they-belong",
                  test_persons_stand_where_they_belong);
  return g_test_run();
}
