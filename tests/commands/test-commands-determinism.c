/* Same seed, build and machine: the same bytes at any number of threads, in any workspace, whatever
 * else was asked for. Right values: each other. */
#include "commands.h"

#include <string.h>

static char *
contents_of(const Sandbox *sandbox, const char *name) {
  g_autofree char *path = sandbox_path(sandbox, name);
  char *text;
  g_autoptr(GError) error = NULL;
  g_file_get_contents(path, &text, NULL, &error);
  g_assert_no_error(error);
  return text;
}

static void
test_threads_do_not_change_a_byte(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  static const char *const threads[] = {"1", "2", "7"};
  g_autofree char *digest = NULL, *document = NULL, *verdicts = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(threads); i++) {
    g_autoptr(Run) train = train_small(sandbox, "s", "sim", "--models", "2", "--replace",
                                       "--threads", threads[i], NULL);
    assert_status(train, 0);
    g_autoptr(Run) tune = run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.9",
                                   "--threads", threads[i], NULL);
    g_autoptr(Run) assess =
        run_json(sandbox, 0, "assess", "s", "--cohort", "sim", "--threads", threads[i], NULL);
    g_autoptr(Run) evaluate = run_json(sandbox, 0, "evaluate", "--selector", "s", "--cohort", "sim",
                                       "--bootstrap", "100", "--threads", threads[i], NULL);
    if (i == 0) {
      digest = g_strdup(string_at(root_of(train), "digest"));
      document = g_steal_pointer(&evaluate->out);
      verdicts = g_steal_pointer(&assess->out);
      continue;
    }
    g_assert_cmpstr(string_at(root_of(train), "digest"), ==, digest);
    g_assert_cmpstr(evaluate->out, ==, document);
    g_assert_cmpstr(assess->out, ==, verdicts);
  }
}

static void
test_two_workspaces_give_one_selector_file(void) {
  g_autofree char *first = NULL, *first_table = NULL;
  for (int i = 0; i < 2; i++) {
    g_autoptr(Sandbox) sandbox = sandbox_new();
    if (i == 1)
      simulate_small(sandbox, "another"); /* what else there is does not matter */
    simulate_small(sandbox, "sim");
    g_autoptr(Run) train = train_small(sandbox, i == 0 ? "s" : "other-name", "sim", NULL);
    assert_status(train, 0);
    g_autoptr(Run) out =
        run_json(sandbox, 0, "selector", "export", i == 0 ? "s" : "other-name", "s.json", NULL);
    g_autoptr(Run) table = run_json(sandbox, 0, "cohort", "export", "sim", "sim.csv", NULL);
    g_autofree char *text = contents_of(sandbox, "s.json");
    g_autofree char *csv = contents_of(sandbox, "sim.csv");
    if (i == 0) {
      first = g_steal_pointer(&text);
      first_table = g_steal_pointer(&csv);
      continue;
    }
    g_assert_cmpstr(text, ==, first);
    g_assert_cmpstr(csv, ==, first_table);
  }
}

static void
test_another_seed_gives_another_selector(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  g_autoptr(Run) one = train_small(sandbox, "a", "sim", "--seed", "1", NULL);
  g_autoptr(Run) two = train_small(sandbox, "b", "sim", "--seed", "2", NULL);
  g_assert_cmpstr(string_at(root_of(one), "digest"), !=, string_at(root_of(two), "digest"));
  g_assert_cmpfloat(number_at(root_of(two), "seed"), ==, 2);
}

/* A baseline's numbers do not depend on which selectors stand beside it. */
static void
test_baselines_do_not_depend_on_the_selectors(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  g_autoptr(Run) a = train_small(sandbox, "a", "sim", NULL);
  g_autoptr(Run) b = train_small(sandbox, "b", "sim", "--models", "2", "--kappa", "1", NULL);
  assert_status(a, 0);
  assert_status(b, 0);
  g_autoptr(Run) alone = run_json(sandbox, 0, "evaluate", "--selector", "a", "--cohort", "sim",
                                  "--bootstrap", "50", NULL);
  g_autoptr(Run) together = run_json(sandbox, 0, "evaluate", "--selector", "b", "--selector", "a",
                                     "--cohort", "sim", "--bootstrap", "50", NULL);
  static const char *const names[] = {"selector:a", "full",  "confidence", "entropy", "knn",
                                      "kde",        "ocsvm", "iforest",    "lof"};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    JsonObject *x = find_in(array_at(root_of(alone), "methods"), "name", names[i]);
    JsonObject *y = find_in(array_at(root_of(together), "methods"), "name", names[i]);
    g_autoptr(JsonNode) p = json_node_alloc(), q = json_node_alloc();
    json_node_init_object(p, x);
    json_node_init_object(q, y);
    g_autofree char *left = json_to_string(p, FALSE), *right = json_to_string(q, FALSE);
    g_test_message("%s", names[i]);
    g_assert_cmpstr(left, ==, right);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/determinism/threads", test_threads_do_not_change_a_byte);
  g_test_add_func("/commands/determinism/workspaces", test_two_workspaces_give_one_selector_file);
  g_test_add_func("/commands/determinism/seed", test_another_seed_gives_another_selector);
  g_test_add_func("/commands/determinism/baselines", test_baselines_do_not_depend_on_the_selectors);
  return g_test_run();
}
