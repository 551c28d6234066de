/* The demo shows what the paper is about, on phantoms and hospitals that are told apart. Right
 * values: the story of core/cohort/simulate.h (the denoising reached the first outside hospital and
 * not the second) and of core/tasks/demo-studies.c (a series of 8 slices, an embedding of another
 * width, two patients with a prior). */
#include "commands.h"

#include <math.h>

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
  check_report(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/demo/hospitals-and-studies",
                  test_a_demo_tells_its_hospitals_and_studies_apart);
  return g_test_run();
}
