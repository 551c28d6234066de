/* Reading a study takes the int16 volume and a constant: of 200 slices of 512 x 512 (100 MiB) no
 * more than 32 MiB beyond it may be used, measured as the peak of a process of its own. */
#include "dicom-fixture.h"
#include "dicom/phantom.h"
#include "dicom/volume.h"

#include <sys/resource.h>

#define N_SLICES 200
#define SIZE 512
#define CONSTANT_KIB (32 * 1024)

static long
peak_kib(void) {
  struct rusage usage;
  g_assert_cmpint(getrusage(RUSAGE_SELF, &usage), ==, 0);
  return usage.ru_maxrss;
}

/* The child: imports the folder and reads its volume on two threads. */
static int
read_study(const char *folder) {
  const long before = peak_kib();
  const char *paths[] = {folder, NULL};
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurParallel) parallel = demur_parallel_new(2);
  g_autoptr(DemurImport) import = demur_import_run(paths, NULL, parallel, NULL, &error);
  g_assert_no_error(error);
  g_autoptr(DemurVolume) volume =
      demur_volume_read(fixture_series(import, 0), parallel, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(volume->n_slices, ==, N_SLICES);
  const long volume_kib = (long)(volume->n_slices * volume->rows * volume->columns * 2 / 1024);
  const long beyond = peak_kib() - before - volume_kib;
  g_print("# %ld KiB beyond the volume's %ld\n", beyond, volume_kib);
  return beyond <= CONSTANT_KIB ? 0 : 1;
}

static void
test_a_study_takes_its_volume_and_a_constant(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  g_test_skip("the sanitizer keeps memory of its own");
#else
  g_autofree char *folder = fixture_folder();
  g_autoptr(GError) error = NULL;
  /* Drawn by another process too, so that its memory is not counted. */
  const char *const turns[] = {"--draw", "--read"};
  for (size_t i = 0; i < G_N_ELEMENTS(turns); i++) {
    g_autofree char *self = g_file_read_link("/proc/self/exe", &error);
    g_assert_no_error(error);
    const char *words[] = {self, turns[i], folder, NULL};
    int status = -1;
    g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL, NULL, NULL,
                 &status, &error);
    g_assert_no_error(error);
    g_assert_cmpint(status, ==, 0);
  }
  fixture_remove(folder);
#endif
}

int
main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--read") == 0)
    return read_study(argv[2]);
  if (argc == 3 && strcmp(argv[1], "--draw") == 0) {
    DemurPhantomOptions options = demur_phantom_defaults(1);
    options.n_slices = N_SLICES;
    options.size = SIZE;
    options.spacing_mm = 1;
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurParallel) parallel = demur_parallel_new(2);
    return demur_phantom_write(&options, argv[2], parallel, NULL, NULL, &error) ? 0 : 1;
  }
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/memory/a-study-takes-its-volume-and-a-constant",
                  test_a_study_takes_its_volume_and_a_constant);
  return g_test_run();
}
