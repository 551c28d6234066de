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

/* Three models: on two threads a pair side by side and one on both, on seven each on all. */
static void
test_threads_do_not_change_a_byte(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  static const char *const threads[] = {"1", "2", "7"};
  g_autofree char *digest = NULL, *document = NULL, *verdicts = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(threads); i++) {
    g_autoptr(Run) train = train_small(sandbox, "s", "sim", "--models", "3", "--replace", "--force",
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

/* The BLAS and the C library take their code by the processor, or by what these variables say of it: with
 * the portable kernel neither matters. */
static void
test_portable_kernel_gives_one_selector_on_every_processor(void) {
  g_autoptr(Sandbox) sandbox = sandbox_new();
  simulate_small(sandbox, "sim");
  static const struct {
    const char *blas, *library;
  } processors[] = {{NULL, NULL},
                    {"Nehalem", "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"},
                    {"Haswell", "glibc.malloc.check=0"}};
  g_autofree char *digest = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(processors); i++) {
    if (processors[i].blas != NULL) {
      g_setenv("OPENBLAS_CORETYPE", processors[i].blas, TRUE);
      g_setenv("GLIBC_TUNABLES", processors[i].library, TRUE);
    }
    g_autoptr(Run) train =
        train_small(sandbox, "s", "sim", "--replace", "--force", "--kernel", "portable", NULL);
    assert_status(train, 0);
    if (digest == NULL)
      digest = g_strdup(string_at(root_of(train), "digest"));
    g_assert_cmpstr(string_at(root_of(train), "digest"), ==, digest);
  }
  g_unsetenv("OPENBLAS_CORETYPE");
  g_unsetenv("GLIBC_TUNABLES");
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

/* The lines of a table behind its header, in an order of their own: 0 as they are, 1 backwards, 2
 * by strides. (owned) */
static char *
permuted(const char *table, int way) {
  g_auto(GStrv) lines = g_strsplit(table, "\n", -1);
  size_t first = 0, n = 0;
  while (lines[first][0] == '#')
    first++;
  first++; /* the header */
  while (lines[first + n] != NULL && lines[first + n][0] != '\0')
    n++;
  g_autoptr(GString) text = g_string_new(NULL);
  for (size_t i = 0; i < first; i++)
    g_string_append_printf(text, "%s\n", lines[i]);
  size_t stride = 37;
  while (n % stride == 0)
    stride += 2;
  for (size_t i = 0; i < n; i++) /* 37 is no divisor of n: every line comes once */
    g_string_append_printf(text, "%s\n",
                           lines[first + (way == 0   ? i
                                          : way == 1 ? n - 1 - i
                                                     : i * stride % n)]);
  return g_string_free(g_steal_pointer(&text), FALSE);
}

/* A report's JSON without the head of the log, which tells what was noticed of the table's lines
 * (owned). */
static char *
report_without_head(const Sandbox *sandbox) {
  g_autofree char *json = contents_of(sandbox, "r.json");
  g_autoptr(GRegex) head = g_regex_new("\"log_head\": \"[0-9a-f]{64}\"", 0, 0, NULL);
  g_assert_true(g_regex_match(head, json, 0, NULL));
  return g_regex_replace_literal(head, json, -1, 0, "", 0, NULL);
}

/* Everything that is computed, on the same table with its rows in another order. */
static void
test_the_order_of_rows_does_not_change_a_byte(void) {
  g_autoptr(Sandbox) origin = sandbox_new();
  simulate_small(origin, "sim");
  g_autoptr(Run) out = run_json(origin, 0, "cohort", "export", "sim", "sim.csv", NULL);
  assert_status(out, 0);
  g_autofree char *table = contents_of(origin, "sim.csv");
  enum { N_DOCUMENTS = 7 };
  char *first[N_DOCUMENTS] = {NULL};
  for (int way = 0; way < 3; way++) {
    g_autoptr(Sandbox) sandbox = sandbox_new();
    g_autofree char *text = permuted(table, way),
                    *path = sandbox_write(sandbox, "sim.csv", text, -1);
    g_autoptr(Run) in = run_json(sandbox, 0, "cohort", "import", "sim", path, NULL);
    assert_status(in, 0);
    g_autoptr(Run) train = train_small(sandbox, "s", "sim", NULL);
    assert_status(train, 0);
    g_autoptr(Run) exported = run_json(sandbox, 0, "selector", "export", "s", "s.json", NULL);
    assert_status(exported, 0);
    g_autoptr(Run) tune = run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "0.9",
                                   "--guarantee-coverage", "0.1", NULL);
    g_autoptr(Run) validate = run_json(sandbox, 0, "validate", "s", "--cohort", "sim", NULL);
    g_autoptr(Run) evaluate = run_json(sandbox, 0, "evaluate", "--selector", "s", "--cohort", "sim",
                                       "--bootstrap", "30", NULL);
    g_autoptr(Run) assess = run_json(sandbox, 0, "assess", "s", "--cohort", "sim", NULL);
    g_autoptr(Run) report = run_json(sandbox, 0, "report", "r.pdf", "--selector", "s", "--cohort",
                                     "sim", "--bootstrap", "30", NULL);
    assert_status(report, 0);
    char *documents[N_DOCUMENTS] = {g_strdup(string_at(root_of(in), "digest")),
                                    contents_of(sandbox, "s.json"),
                                    g_strdup(tune->out),
                                    g_strdup(validate->out),
                                    g_strdup(evaluate->out),
                                    g_strdup(assess->out),
                                    report_without_head(sandbox)};
    for (size_t d = 0; d < N_DOCUMENTS; d++) {
      if (way > 0 && strcmp(documents[d], first[d]) != 0)
        g_error("document %zu differs when rows are permuted (way %d)", d, way);
      if (way == 0)
        first[d] = documents[d];
      else
        g_free(documents[d]);
    }
  }
  for (size_t d = 0; d < N_DOCUMENTS; d++)
    g_free(first[d]);
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
  g_test_add_func("/commands/determinism/portable-kernel",
                  test_portable_kernel_gives_one_selector_on_every_processor);
  g_test_add_func("/commands/determinism/order of rows",
                  test_the_order_of_rows_does_not_change_a_byte);
  g_test_add_func("/commands/determinism/workspaces", test_two_workspaces_give_one_selector_file);
  g_test_add_func("/commands/determinism/seed", test_another_seed_gives_another_selector);
  g_test_add_func("/commands/determinism/baselines", test_baselines_do_not_depend_on_the_selectors);
  return g_test_run();
}
