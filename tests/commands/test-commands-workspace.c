/* `demur workspace copy`: from a file or a server's database to a file (into a database: unit-tasks-workspace-copy). Right values:
 * what the first one says of itself. */
#include <string.h>

#include "commands.h"

#include "support/store.h"
#include "support/support.h"

static void
test_a_copy_is_the_same(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "c");
  g_autoptr(Run) made =
      run_json(sandbox, 0, "workspace", "copy", sandbox->workspace, "b.demur", NULL);
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
      run_json(sandbox, 1, "workspace", "copy", sandbox->workspace, "b.demur", NULL);
  g_autoptr(Run) nothing = run_json(sandbox, 1, "workspace", "copy", "none.demur", "d.demur", NULL);
  g_autofree char *never = sandbox_path(sandbox, "d.demur");
  g_assert_false(g_file_test(never, G_FILE_TEST_EXISTS));
}

/* Right values: the copy's digest of the same workspace. It is brought back, and is the same again. */
static void
test_a_backup_is_whole_and_comes_back(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "c");
  g_autofree char *kept = sandbox_path(sandbox, "kept.demur"),
                  *back = sandbox_path(sandbox, "back.demur");
  g_autoptr(Run) made = run_json(sandbox, 0, "workspace", "backup", kept, NULL);
  assert_members(root_of(made),
                 "from,to,n_rows,digest,n_cohorts,n_selectors,n_series,n_scores,n_verdicts");
  g_autoptr(Run) again = run_json(sandbox, 1, "workspace", "backup", kept, NULL);
  g_autoptr(Run) came = run_json(sandbox, 0, "workspace", "copy", kept, back, NULL);
  g_assert_cmpstr(string_at(root_of(came), "digest"), ==, string_at(root_of(made), "digest"));
  g_autoptr(Run) sound = run_demur(NULL, "--workspace", back, "verify", NULL);
  assert_status(sound, 0);
  g_autofree char *third = sandbox_path(sandbox, "third.demur");
  g_autoptr(Run) text = run_demur(sandbox, "workspace", "backup", third, NULL);
  assert_status(text, 0);
  assert_says(text->out, "to bring it back");
}

/* A file has none, and says what has. */
static void
test_roles_are_a_server_s(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  if (demur_test_store_is_server()) {
    g_test_skip("tests/postgres/roles.c");
    return;
  }
  simulate_small(sandbox, "c");
  g_autoptr(Run) run = run_json(sandbox, 1, "workspace", "roles", NULL);
  assert_says(run->err, "workspace copy");
}

/* Right value: docs/server.md. */
static void
test_help_says_what_each_role_may(void) {
  static const char *const says[] = {
      "reader may: read everything",
      "service may not: review, comment",
      "reader may not: import images",
      "analyst may not: dicom remove",
      "service may: read everything, verify, write reports and exports, keep a backup; import images",
      "admin may: read everything"};
  g_autoptr(Sandbox) sandbox = sandbox_new();
  g_autoptr(Run) help = run_demur(sandbox, "workspace", "roles", "--help", NULL);
  assert_status(help, 0);
  for (size_t i = 0; i < G_N_ELEMENTS(says); i++)
    assert_says(help->out, says[i]);
  g_assert_null(strstr(help->out, "admin may not"));
}

static void
test_wrong_use(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  static const char *const lines[] = {"workspace",
                                      "workspace copy",
                                      "workspace copy a.demur",
                                      "workspace copy a.demur b.demur c.demur",
                                      "workspace move a.demur b.demur",
                                      "workspace backup",
                                      "workspace backup a.demur b.demur",
                                      "workspace backup postgresql://localhost/none",
                                      "workspace roles anna",
                                      "workspace roles =reader",
                                      "workspace roles anna=owner"};
  assert_wrong_usage(sandbox, lines);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/commands/workspace/a-copy-is-the-same", test_a_copy_is_the_same);
  g_test_add_func("/commands/workspace/a-backup-is-whole-and-comes-back",
                  test_a_backup_is_whole_and_comes_back);
  g_test_add_func("/commands/workspace/roles-are-a-server-s", test_roles_are_a_server_s);
  g_test_add_func("/commands/workspace/help-of-roles", test_help_says_what_each_role_may);
  g_test_add_func("/commands/workspace/wrong-use", test_wrong_use);
  return g_test_run();
}
