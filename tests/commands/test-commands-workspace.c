/* `demur workspace copy`: from one file to another (a server's database: unit-tasks-workspace-copy). Right values:
 * what the first one says of itself. */
#include "commands.h"

#include "support/support.h"

static void
test_a_copy_is_the_same(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "c");
  g_autoptr(Run) made =
      run_json(sandbox, 0, "workspace", "copy", "workspace.demur", "b.demur", NULL);
  assert_members(root_of(made),
                 "from,to,n_rows,digest,n_cohorts,n_selectors,n_series,n_scores,n_verdicts");
  g_assert_cmpfloat(number_at(root_of(made), "n_cohorts"), ==, 1);
  g_autoptr(Run) text = run_line(sandbox, "workspace copy b.demur c.demur");
  assert_status(text, 0);
  assert_says(text->out, "1 cohort");
  g_autofree char *digest = g_strndup(string_at(root_of(made), "digest"), 12);
  assert_says(text->out, digest);
  g_autofree char *path = sandbox_path(sandbox, "c.demur");
  g_autoptr(Run) there =
      run_demur(NULL, "--json", "--workspace", path, "cohort", "show", "c", NULL);
  assert_status(there, 0);
  g_autofree char *right = cohort_digest(sandbox, "c");
  g_assert_cmpstr(string_at(root_of(there), "digest"), ==, right);
  g_autoptr(Run) again =
      run_json(sandbox, 1, "workspace", "copy", "workspace.demur", "b.demur", NULL);
  g_autoptr(Run) nothing = run_json(sandbox, 1, "workspace", "copy", "none.demur", "d.demur", NULL);
  g_autofree char *never = sandbox_path(sandbox, "d.demur");
  g_assert_false(g_file_test(never, G_FILE_TEST_EXISTS));
}

static void
test_wrong_use(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  static const char *const lines[] = {"workspace", "workspace copy", "workspace copy a.demur",
                                      "workspace copy a.demur b.demur c.demur",
                                      "workspace move a.demur b.demur"};
  assert_wrong_usage(sandbox, lines);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/workspace/a-copy-is-the-same", test_a_copy_is_the_same);
  g_test_add_func("/commands/workspace/wrong-use", test_wrong_use);
  return g_test_run();
}
