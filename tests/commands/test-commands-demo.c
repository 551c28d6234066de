/* The demo shows what the paper is about, on phantoms and hospitals that are told apart. Right
 * values: the story of core/cohort/simulate.h (the denoising reached the first outside hospital and
 * not the second) and of core/tasks/demo-studies.c (a series of 8 slices, an embedding of another
 * width, two patients with a prior). */
#include "commands.h"

#include <math.h>
#include <string.h>

static void
check_verdicts(const Sandbox *sandbox) {
  g_autoptr(Run) run =
      run_json(sandbox, 0, "assess", "as-published", "--all", "--reveal", "the reasons", NULL);
  JsonArray *scans = array_at(root_of(run), "verdicts");
  g_autoptr(GHashTable) n_of = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(GHashTable) leads = g_hash_table_new(g_str_hash, g_str_equal);
  g_assert_cmpuint(json_array_get_length(scans), ==, 12);
  for (guint i = 0; i < json_array_get_length(scans); i++) {
    JsonObject *scan = json_array_get_object_element(scans, i);
    const char *verdict = string_at(scan, "verdict");
    const guint n = GPOINTER_TO_UINT(g_hash_table_lookup(n_of, verdict));
    g_hash_table_insert(n_of, (gpointer)verdict, GUINT_TO_POINTER(n + 1));
    if (g_str_equal(verdict, "red_flag"))
      g_hash_table_add(leads, (gpointer)string_at(json_array_get_object_element(
                                                      array_at(scan, "reason_details"), 0),
                                                  "subject"));
  }
  g_assert_cmpuint(GPOINTER_TO_UINT(g_hash_table_lookup(n_of, "accepted")), >=, 6);
  g_assert_cmpuint(GPOINTER_TO_UINT(g_hash_table_lookup(n_of, "red_flag")), >=, 2);
  g_assert_cmpuint(GPOINTER_TO_UINT(g_hash_table_lookup(n_of, "not_eligible")), ==, 1);
  g_assert_cmpuint(GPOINTER_TO_UINT(g_hash_table_lookup(n_of, "failed")), ==, 1);
  /* For different reasons, which would tell the risk: seen where it is revealed. */
  g_assert_cmpuint(g_hash_table_size(leads), >=, 2);
  assert_says(run->out, "\"simulated\": true");
}

static void
assert_hides(const char *text, gsize length, const char *secret) {
  g_assert_null(g_strstr_len(text, (gssize)length, secret));
}

/* Text of a PDF without its line breaks (owned); NULL: there is no program that reads it. */
static char *
words_of_pdf(const char *path) {
  g_autofree char *program = g_find_program_in_path("pdftotext"), *text = NULL;
  if (program == NULL)
    return NULL;
  const char *const argv[] = {program, "-raw", path, "-", NULL};
  g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &text, NULL,
                             NULL, NULL));
  return g_strdelimit(g_steal_pointer(&text), "\n\f", ' ');
}

/* A held-back risk stands in no structured report and on no page, nor do its score and the reasons
 * that would tell it; what is told without it stands in both. */
static void
check_held_back(const Sandbox *sandbox) {
  g_autoptr(Run) plain = run_json(sandbox, 0, "assess", "as-published", "--all", NULL),
                 revealed = run_json(sandbox, 0, "assess", "as-published", "--all", "--reveal",
                                     "the reasons", NULL);
  JsonArray *scans = array_at(root_of(plain), "verdicts"),
            *told = array_at(root_of(revealed), "verdicts");
  g_autoptr(GHashTable) said_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < json_array_get_length(scans); i++) {
    JsonObject *scan = json_array_get_object_element(scans, i),
               *known = json_array_get_object_element(told, i);
    if (!g_str_equal(string_at(scan, "verdict"), "red_flag"))
      continue;
    g_autofree char *sr = sandbox_path(sandbox, "o.dcm"), *pdf = sandbox_path(sandbox, "p.pdf"),
                    *object = NULL;
    gsize length;
    const char *id = string_at(scan, "scan_id");
    g_autoptr(Run) as_sr = run_json(sandbox, 0, "export", sr, "--scan", id, NULL);
    g_autoptr(Run) as_pdf = run_demur(sandbox, "report", "patient", pdf, "--scan", id, NULL);
    assert_status(as_pdf, 0);
    g_assert_true(g_file_get_contents(sr, &object, &length, NULL));
    for (gsize b = 0; b < length; b++)
      object[b] = object[b] != '\0' ? object[b] : ' '; /* texts alone are looked for */
    g_autofree char *page = words_of_pdf(pdf);
    const struct {
      const char *text;
      gsize length;
    } texts[] = {{object, length}, {page, page != NULL ? strlen(page) : 0}};
    JsonArray *said = array_at(scan, "reasons"), *kept = array_at(known, "reasons");
    g_assert_cmpuint(json_array_get_length(said), >=, 3);
    g_autoptr(GString) all = g_string_new(NULL);
    for (guint k = 0; k < json_array_get_length(said); k++)
      g_string_append_printf(all, "%s\n", json_array_get_string_element(said, k));
    /* Beside each risk that is held back stands something else. */
    g_assert_true(g_hash_table_add(said_of, g_string_free(g_steal_pointer(&all), FALSE)));
    for (size_t t = 0; t < G_N_ELEMENTS(texts); t++) {
      if (texts[t].text == NULL)
        continue;
      for (guint k = 0; k < 3; k++) {
        static const char *const members[] = {"risk", "risk_raw", "score"};
        char number[G_ASCII_DTOSTR_BUF_SIZE];
        g_ascii_formatd(number, sizeof number, "%.4g", number_at(known, members[k]));
        assert_hides(texts[t].text, texts[t].length, number);
      }
      for (guint k = 0; k < json_array_get_length(kept); k++)
        if (bool_at(json_array_get_object_element(array_at(known, "reason_details"), k),
                    "tells_risk"))
          assert_hides(texts[t].text, texts[t].length, json_array_get_string_element(kept, k));
      for (guint k = 0; k < json_array_get_length(said); k++)
        g_assert_nonnull(g_strstr_len(texts[t].text, (gssize)texts[t].length,
                                      json_array_get_string_element(said, k)));
    }
  }
}

/* Which hospital is which, in the numbers and on the page. */
static void
check_report(const char *folder) {
  g_autofree char *path = g_build_filename(folder, "report.json", NULL), *text = NULL;
  g_autoptr(GError) error = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, &error));
  g_autoptr(JsonNode) node = json_from_string(text, &error);
  g_assert_no_error(error);
  JsonArray *groups = array_at(object_at(json_node_get_object(node), "evaluation"), "groups");
  const struct {
    const char *site, *verdict;
  } expected[] = {{"H34", "better"}, {"H35", "no difference shown"}};
  for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
    JsonObject *group = find_in(groups, "value", expected[i].site);
    g_assert_nonnull(group);
    JsonObject *against = json_array_get_object_element(array_at(group, "against_confidence"), 0);
    g_assert_cmpstr(string_at(against, "verdict"), ==, expected[i].verdict);
  }
}

static void
test_a_demo_tells_its_hospitals_and_studies_apart(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autofree char *folder = sandbox_path(sandbox, "demo");
  g_autoptr(Run) run = run_json(NULL, 0, "demo", folder, NULL);
  assert_holds(root_of(run), "workspace,pdf,dicom,scores,cohort,selector,simulated");
  g_assert_true(bool_at(root_of(run), "simulated"));
  g_free(sandbox->workspace);
  sandbox->workspace = g_build_filename(folder, "workspace.demur", NULL);
  check_verdicts(sandbox);
  check_held_back(sandbox);
  check_report(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/demo/hospitals-and-studies",
                  test_a_demo_tells_its_hospitals_and_studies_apart);
  return g_test_run();
}
