/* Stands in for libFuzzer where there is none: runs the target once over each file of the folders
 * (or files) given, in order of name, and over every file cut short at a few places. What is read or
 * refused leaves no file open. */
#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static guint n_inputs;

/* Files that this process has open; 0 where the system does not tell. */
static guint
count_open(void) {
  g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);
  guint n = 0;
  while (dir != NULL && g_dir_read_name(dir) != NULL)
    n++;
  return n;
}

static void
replay(const char *path) {
  g_autofree char *bytes = NULL;
  gsize size;
  g_autoptr(GError) error = NULL;
  if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
    g_autoptr(GDir) dir = g_dir_open(path, 0, &error);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const char *name;
    while ((name = g_dir_read_name(dir)) != NULL)
      g_ptr_array_add(names, g_build_filename(path, name, NULL));
    for (guint i = 0; i < names->len; i++)
      replay(names->pdata[i]);
    return;
  }
  g_file_get_contents(path, &bytes, &size, &error);
  g_assert_no_error(error);
  static const guint parts[] = {1, 3, 5, 7, 8}; /* eighths */
  for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
    /* A copy of just that length, so that a read behind its end is seen. */
    const gsize length = size / 8 * parts[i] + (parts[i] == 8 ? size % 8 : 0);
    g_autofree uint8_t *copy = g_memdup2(bytes, length);
    const guint before = count_open();
    LLVMFuzzerTestOneInput(copy, length);
    if (n_inputs++ > 0) /* what a library opens once stays */
      g_assert_cmpuint(count_open(), ==, before);
  }
}

int
main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    replay(argv[i]);
  printf("%u inputs\n", n_inputs);
  return n_inputs > 0 ? 0 : 1;
}
