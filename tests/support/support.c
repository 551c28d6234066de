#define _GNU_SOURCE
#include "support/support.h"

#include <ftw.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <glib/gstdio.h>

#include <math.h>

char *
demur_test_shared(const char *relative) {
  const char *named = g_getenv("DEMUR_SHARED"), *sources = g_getenv("G_TEST_SRCDIR");
  g_autofree char *root = named != NULL     ? g_strdup(named)
                          : sources != NULL ? g_build_filename(sources, "..", "shared", NULL)
                                            : NULL;
  if (root == NULL || !g_file_test(root, G_FILE_TEST_IS_DIR)) {
    if (named != NULL)
      g_error("DEMUR_SHARED names %s, which is no folder", named);
    g_autofree char *reason =
        g_strdup_printf("no shared test data (set DEMUR_SHARED): %s", relative);
    g_test_skip(reason);
    return NULL;
  }
  g_autofree char *path = g_build_filename(root, relative, NULL);
  if (!g_file_test(path, G_FILE_TEST_EXISTS))
    g_error("the shared test data in %s lack %s: a test that should run would not", root, relative);
  return g_steal_pointer(&path);
}

JsonParser *
demur_test_golden(const char *relative) {
  g_autofree char *path = demur_test_shared(relative);
  if (path == NULL)
    return NULL;
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  g_autoptr(GError) error = NULL;
  json_parser_load_from_mapped_file(parser, path, &error);
  g_assert_no_error(error);
  return g_steal_pointer(&parser);
}

double
demur_test_number(JsonNode *node) {
  if (json_node_get_value_type(node) == G_TYPE_STRING)
    return g_ascii_strtod(json_node_get_string(node), NULL);
  if (JSON_NODE_HOLDS_NULL(node))
    return NAN;
  return json_node_get_double(node);
}

double *
demur_test_doubles(JsonArray *array, size_t *n) {
  const guint length = json_array_get_length(array);
  double *values = g_new(double, MAX(length, 1));
  for (guint i = 0; i < length; i++)
    values[i] = demur_test_number(json_array_get_element(array, i));
  if (n != NULL)
    *n = length;
  return values;
}

gboolean
demur_test_at_memory(void) {
#ifdef __SANITIZE_ADDRESS__
  return TRUE;
#else
  return FALSE;
#endif
}

size_t
demur_test_repeats(size_t quick, size_t full) {
  if (g_getenv("DEMUR_LONG") != NULL)
    return full;
  return demur_test_at_memory() ? MAX(quick / 5, 2) : quick;
}

gboolean
demur_test_close(double a, double b, double relative, double absolute) {
  if (isnan(a) || isnan(b))
    return isnan(a) && isnan(b);
  if (isinf(a) || isinf(b))
    return a == b;
  return fabs(a - b) <= relative * fmax(fabs(a), fabs(b)) + absolute;
}

char *
demur_test_write(const char *folder, const char *name, const char *bytes, gssize length) {
  char *path = g_build_filename(folder, name, NULL);
  g_autoptr(GError) error = NULL;
  /* Writing does not cut an old file short. */
  g_unlink(path);
  g_file_set_contents_full(path, bytes, length, G_FILE_SET_CONTENTS_NONE, 0600, &error);
  g_assert_no_error(error);
  return path;
}

/* Numbers of users that nobody has, another for each process: tests run beside each other. */
static uid_t
nobody_else(void) {
  return (uid_t)(10000 + getpid() % 50000);
}

static int
give_to(const char *path, const struct stat *about, int kind, struct FTW *at) {
  (void)about;
  (void)kind;
  (void)at;
  return lchown(path, nobody_else(), nobody_else());
}

void
demur_test_with_few_threads(guint n, const char *folder, int (*function)(gpointer), gpointer data) {
  if (geteuid() != 0) {
    g_test_skip("only root can become a user who has no threads yet");
    return;
  }
  const uid_t user = nobody_else();
  if (folder != NULL)
    g_assert_cmpint(nftw(folder, give_to, 16, FTW_PHYS), ==, 0);
  const pid_t child = fork();
  if (child == 0) {
    const struct rlimit few = {n, n};
    if (setrlimit(RLIMIT_NPROC, &few) != 0 || setgid(user) != 0 || setuid(user) != 0)
      _exit(2);
    _exit(function(data));
  }
  int status;
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  g_assert_true(WIFEXITED(status));
  g_assert_cmpint(WEXITSTATUS(status), ==, 0);
}

static int
call_alone(gpointer data) {
  int (*const *function)(void) = data;
  return (*function)();
}

void
demur_test_without_threads(int (*function)(void)) {
  demur_test_with_few_threads(1, NULL, call_alone, &function);
}
