#include "support/store.h"
#include "commands.h"
#include "support/folder.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

Sandbox *
sandbox_new(void) {
  Sandbox *sandbox = g_new0(Sandbox, 1);
  g_autoptr(GError) error = NULL;
  sandbox->folder = g_dir_make_tmp("demur-commands-XXXXXX", &error);
  g_assert_no_error(error);
  sandbox->workspace = demur_test_store_path(sandbox->folder, "workspace.demur");
  return sandbox;
}

void
sandbox_free(Sandbox *sandbox) {
  if (sandbox == NULL)
    return;
  demur_test_remove_folder(sandbox->folder);
  demur_test_store_drop(sandbox->workspace);
  g_free(sandbox->folder);
  g_free(sandbox->workspace);
  g_free(sandbox);
}

static void
copy_folder(const char *from, const char *to) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GDir) dir = g_dir_open(from, 0, &error);
  g_assert_no_error(error);
  const char *name;
  while ((name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *source = g_build_filename(from, name, NULL),
                    *target = g_build_filename(to, name, NULL);
    if (g_file_test(source, G_FILE_TEST_IS_DIR)) {
      g_assert_cmpint(g_mkdir(target, 0700), ==, 0);
      copy_folder(source, target);
      continue;
    }
    g_autoptr(GFile) source_file = g_file_new_for_path(source);
    g_autoptr(GFile) target_file = g_file_new_for_path(target);
    g_file_copy(source_file, target_file, G_FILE_COPY_NONE, NULL, NULL, NULL, &error);
    g_assert_no_error(error);
  }
}

static GHashTable *prepared; /* what prepared it: its Sandbox */

static void
free_prepared(void) {
  g_hash_table_unref(prepared);
}

Sandbox *
sandbox_prepared(void (*prepare)(const Sandbox *sandbox)) {
  if (prepared == NULL) {
    prepared =
        g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, (GDestroyNotify)sandbox_free);
    atexit(free_prepared);
  }
  Sandbox *original = g_hash_table_lookup(prepared, (gpointer)(guintptr)prepare);
  if (original == NULL) {
    original = sandbox_new();
    prepare(original);
    g_hash_table_insert(prepared, (gpointer)(guintptr)prepare, original);
  }
  Sandbox *sandbox = sandbox_new();
  copy_folder(original->folder, sandbox->folder);
  if (demur_test_store_is_server()) /* else it lies in the folder */
    demur_test_store_copy(original->workspace, sandbox->workspace);
  return sandbox;
}

char *
sandbox_path(const Sandbox *sandbox, const char *name) {
  return g_build_filename(sandbox->folder, name, NULL);
}

char *
sandbox_write(const Sandbox *sandbox, const char *name, const char *bytes, gssize length) {
  char *path = sandbox_path(sandbox, name);
  g_autoptr(GError) error = NULL;
  g_file_set_contents(path, bytes, length, &error);
  g_assert_no_error(error);
  return path;
}

void
run_free(Run *run) {
  if (run == NULL)
    return;
  g_free(run->line);
  g_free(run->out);
  g_free(run->err);
  g_clear_pointer(&run->json, json_node_unref);
  g_free(run);
}

/* Owned argv: the program, its workspace, the words. */
static GPtrArray *
command_line(const Sandbox *sandbox) {
  GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(argv, g_strdup(DEMUR_PROGRAM));
  if (sandbox != NULL) {
    g_ptr_array_add(argv, g_strdup("--workspace"));
    g_ptr_array_add(argv, g_strdup(sandbox->workspace));
  }
  return argv;
}

static void
add_words(GPtrArray *argv, va_list words) {
  const char *word;
  while ((word = va_arg(words, const char *)) != NULL)
    g_ptr_array_add(argv, g_strdup(word));
}

/* Environment of a run: nothing of the user's own workspace can be touched. */
static GSubprocessLauncher *
launcher_new(const Sandbox *sandbox, GSubprocessFlags flags) {
  GSubprocessLauncher *launcher = g_subprocess_launcher_new(flags);
  const char *folder = sandbox != NULL ? sandbox->folder : g_get_tmp_dir();
  g_subprocess_launcher_set_cwd(launcher, folder);
  g_subprocess_launcher_setenv(launcher, "XDG_DATA_HOME", folder, TRUE);
  g_subprocess_launcher_setenv(launcher, "SOURCE_DATE_EPOCH", "1700000000", TRUE);
  if (sandbox != NULL)
    g_subprocess_launcher_setenv(launcher, "DEMUR_WORKSPACE", sandbox->workspace, TRUE);
  else
    g_subprocess_launcher_setenv(launcher, "DEMUR_WORKSPACE", "/dev/null/workspace.demur", TRUE);
  return launcher;
}

/* One object and behind it nothing but a line end: JsonParser would take several in a row. */
static gboolean
is_one_document(const char *text) {
  int depth = 0;
  gboolean in_string = FALSE;
  if (*text != '{')
    return FALSE;
  for (; *text != '\0'; text++) {
    if (in_string) {
      if (*text == '\\' && text[1] != '\0')
        text++;
      else if (*text == '"')
        in_string = FALSE;
    } else if (*text == '"') {
      in_string = TRUE;
    } else if (*text == '{' || *text == '[') {
      depth++;
    } else if ((*text == '}' || *text == ']') && --depth == 0) {
      return text[1] == '\0' || strcmp(text + 1, "\n") == 0;
    }
  }
  return FALSE;
}

static char *
text_of(GBytes *bytes) {
  gsize length;
  const char *data = g_bytes_get_data(bytes, &length);
  return data != NULL ? g_strndup(data, length) : g_strdup("");
}

static Run *
run_argv(const Sandbox *sandbox, GPtrArray *argv) {
  g_ptr_array_add(argv, NULL);
  char *line = g_strjoinv(" ", (char **)argv->pdata + 1);
  g_autoptr(GSubprocessLauncher) launcher =
      launcher_new(sandbox, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_autoptr(GError) error = NULL;
  g_autoptr(GSubprocess) process =
      g_subprocess_launcher_spawnv(launcher, (const char *const *)argv->pdata, &error);
  g_assert_no_error(error);
  g_autoptr(GBytes) out = NULL, err = NULL;
  g_subprocess_communicate(process, NULL, NULL, &out, &err, &error);
  g_assert_no_error(error);
  Run *run = g_new0(Run, 1);
  run->line = line;
  run->status = g_subprocess_get_if_exited(process) ? g_subprocess_get_exit_status(process) : -1;
  run->out = text_of(out);
  run->err = text_of(err);
  if (is_one_document(run->out))
    run->json = json_from_string(run->out, NULL);
  return run;
}

Run *
run_words(const Sandbox *sandbox, const char *const *words) {
  g_autoptr(GPtrArray) argv = command_line(sandbox);
  for (; *words != NULL; words++)
    g_ptr_array_add(argv, g_strdup(*words));
  return run_argv(sandbox, argv);
}

Run *
run_demur(const Sandbox *sandbox, ...) {
  g_autoptr(GPtrArray) argv = command_line(sandbox);
  va_list words;
  va_start(words, sandbox);
  add_words(argv, words);
  va_end(words);
  return run_argv(sandbox, argv);
}

Run *
run_json(const Sandbox *sandbox, int status, ...) {
  g_autoptr(GPtrArray) argv = command_line(sandbox);
  va_list words;
  va_start(words, status);
  add_words(argv, words);
  va_end(words);
  g_ptr_array_add(argv, g_strdup("--json"));
  Run *run = run_argv(sandbox, argv);
  assert_status(run, status);
  if (run->json == NULL)
    g_error("%s: stdout is not one JSON document: %s\nstderr: %s", run->line, run->out, run->err);
  return run;
}

Run *
run_line(const Sandbox *sandbox, const char *line) {
  g_auto(GStrv) words = g_strsplit(line, " ", -1);
  return run_words(sandbox, (const char *const *)words);
}

static GSubprocess *
start_argv(const Sandbox *sandbox, GPtrArray *argv, GSubprocessFlags flags) {
  g_ptr_array_add(argv, NULL);
  g_autoptr(GSubprocessLauncher) launcher = launcher_new(sandbox, flags);
  g_autoptr(GError) error = NULL;
  GSubprocess *process =
      g_subprocess_launcher_spawnv(launcher, (const char *const *)argv->pdata, &error);
  g_assert_no_error(error);
  return process;
}

GSubprocess *
start_demur(const Sandbox *sandbox, ...) {
  g_autoptr(GPtrArray) argv = command_line(sandbox);
  va_list words;
  va_start(words, sandbox);
  add_words(argv, words);
  va_end(words);
  return start_argv(sandbox, argv,
                    G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
}

GSubprocess *
start_demur_heard(const Sandbox *sandbox, ...) {
  g_autoptr(GPtrArray) argv = command_line(sandbox);
  va_list words;
  va_start(words, sandbox);
  add_words(argv, words);
  va_end(words);
  return start_argv(sandbox, argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
}

static void
fail(const char *file, int line, char *message) {
  g_printerr("%s:%d: %s\n", file, line, message);
  g_free(message);
  g_test_fail();
}

void
check_status(const char *file, int line, const Run *run, int expected) {
  if (run->status != expected)
    fail(file, line,
         g_strdup_printf("%s: exit status %d, not %d\nstdout: %.2000s\nstderr: %.2000s", run->line,
                         run->status, expected, run->out, run->err));
}

void
check_wrong_usage(const char *file, int line, const Sandbox *sandbox, const char *const *lines,
                  size_t n) {
  for (size_t i = 0; i < n; i++) {
    g_autoptr(Run) run = run_line(sandbox, lines[i]);
    check_status(file, line, run, 2);
  }
}

void
check_says(const char *file, int line, const char *text, const char *part) {
  if (strstr(text, part) == NULL)
    fail(file, line, g_strdup_printf("\"%s\" is not said in: %.2000s", part, text));
}

void
check_members(const char *file, int line, JsonObject *object, const char *names, gboolean exactly) {
  g_auto(GStrv) list = g_strsplit(names, ",", -1);
  for (char **name = list; *name != NULL; name++)
    if (!json_object_has_member(object, *name))
      g_error("%s:%d: no member \"%s\"", file, line, *name);
  if (!exactly)
    return;
  g_autoptr(GList) members = json_object_get_members(object);
  g_autoptr(GString) found = g_string_new(NULL);
  for (const GList *m = members; m != NULL; m = m->next)
    g_string_append_printf(found, "%s%s", found->len > 0 ? "," : "", (const char *)m->data);
  if (strcmp(found->str, names) != 0)
    g_error("%s:%d: members %s, not %s", file, line, found->str, names);
}

JsonObject *
root_of(const Run *run) {
  if (run->json == NULL || !JSON_NODE_HOLDS_OBJECT(run->json))
    g_error("%s: stdout is not one JSON document: %s\nstderr: %s", run->line, run->out, run->err);
  return json_node_get_object(run->json);
}

static JsonNode *
member_of(JsonObject *object, const char *name) {
  JsonNode *node = json_object_get_member(object, name);
  if (node == NULL)
    g_error("no member \"%s\"", name);
  return node;
}

JsonObject *
object_at(JsonObject *object, const char *name) {
  JsonNode *node = member_of(object, name);
  g_assert_true(JSON_NODE_HOLDS_OBJECT(node));
  return json_node_get_object(node);
}

JsonArray *
array_at(JsonObject *object, const char *name) {
  JsonNode *node = member_of(object, name);
  if (!JSON_NODE_HOLDS_ARRAY(node))
    g_error("\"%s\" is no array", name);
  return json_node_get_array(node);
}

const char *
string_at(JsonObject *object, const char *name) {
  JsonNode *node = member_of(object, name);
  if (json_node_get_value_type(node) != G_TYPE_STRING)
    g_error("\"%s\" is no text", name);
  return json_node_get_string(node);
}

double
number_at(JsonObject *object, const char *name) {
  JsonNode *node = member_of(object, name);
  if (JSON_NODE_HOLDS_NULL(node))
    return NAN;
  const GType type = json_node_get_value_type(node);
  if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
    g_error("\"%s\" is no number", name);
  return json_node_get_double(node);
}

gboolean
bool_at(JsonObject *object, const char *name) {
  JsonNode *node = member_of(object, name);
  if (json_node_get_value_type(node) != G_TYPE_BOOLEAN)
    g_error("\"%s\" is neither true nor false", name);
  return json_node_get_boolean(node);
}

gboolean
is_null_at(JsonObject *object, const char *name) {
  return JSON_NODE_HOLDS_NULL(member_of(object, name));
}

JsonObject *
find_in(JsonArray *array, const char *member, const char *text) {
  for (guint i = 0; i < json_array_get_length(array); i++) {
    JsonObject *object = json_array_get_object_element(array, i);
    if (!is_null_at(object, member) && strcmp(string_at(object, member), text) == 0)
      return object;
  }
  return NULL;
}

char *
cohort_digest(const Sandbox *sandbox, const char *name) {
  g_autoptr(Run) run = run_json(sandbox, 0, "cohort", "show", name, NULL);
  return g_strdup(string_at(root_of(run), "digest"));
}

char *
cohort_list(const Sandbox *sandbox) {
  g_autoptr(Run) run = run_json(sandbox, 0, "cohort", "list", NULL);
  return g_steal_pointer(&run->out);
}

void
simulate_small(const Sandbox *sandbox, const char *name) {
  g_autoptr(Run) run =
      run_json(sandbox, 0, "cohort", "simulate", name, "--scans", "600", "--sites", "8",
               "--base-train", "500", "--tune", "300", "--test", "400", "--quiet", NULL);
  g_assert_true(bool_at(root_of(run), "simulated"));
}

Run *
train_small(const Sandbox *sandbox, const char *name, const char *cohort, ...) {
  static const char *const small[] = {"--as-published",
                                      "--epochs",
                                      "2",
                                      "--datasets-per-epoch",
                                      "96",
                                      "--batch",
                                      "8",
                                      "--dataset-size",
                                      "128",
                                      "--kappa",
                                      "2",
                                      "--validation-datasets",
                                      "20"};
  g_autoptr(GPtrArray) argv = command_line(sandbox);
  const char *const first[] = {"--json", "train", name, "--cohort", cohort};
  for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
    g_ptr_array_add(argv, g_strdup(first[i]));
  for (size_t i = 0; i < G_N_ELEMENTS(small); i++)
    g_ptr_array_add(argv, g_strdup(small[i]));
  va_list words;
  va_start(words, cohort);
  add_words(argv, words);
  va_end(words);
  return run_argv(sandbox, argv);
}
