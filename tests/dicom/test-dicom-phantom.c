/* The phantom: accepted by the rules without a warning, says that it is simulated, and is the same
 * at any number of threads. CT numbers of its organs are those drawn in phantom.c. */
#include "base/error.h"
#include "dicom-fixture.h"
#include "dicom/phantom.h"
#include "dicom/volume.h"

static char *
write_phantom(const DemurPhantomOptions *options, DemurParallel *parallel) {
  char *folder = fixture_folder();
  g_autoptr(GError) error = NULL;
  const gboolean written = demur_phantom_write(options, folder, parallel, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(written);
  return folder;
}

static double
mean_around(const DemurVolume *volume, size_t slice, size_t row, size_t column) {
  double sum = 0;
  for (size_t r = row - 1; r <= row + 1; r++)
    for (size_t c = column - 1; c <= column + 1; c++)
      sum += volume->hu[(slice * volume->rows + r) * volume->columns + c];
  return sum / 9;
}

static void
test_the_phantom_is_accepted_without_a_warning(void) {
  const DemurPhantomOptions options = demur_phantom_defaults(1);
  g_autofree char *folder = write_phantom(&options, NULL);
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpuint(import->series->len, ==, 1);
  g_assert_true(series->accepted);
  g_assert_cmpuint(series->n_findings, ==, 0);
  g_assert_cmpstr(series->patient_id, ==, "PHANTOM-1");
  g_assert_cmpstr(series->patient_name, ==, "Simulated^Phantom");
  g_assert_nonnull(strstr(series->description, "simulated"));
  g_assert_cmpuint(series->n_slices, ==, 96);
  demur_assert_close(series->spacing_mm, 2.5, 1e-9, 0);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVolume) volume = demur_volume_read(series, NULL, NULL, &error);
  g_assert_no_error(error);
  /* 1.40625 mm a pixel, the middle at 127.5; slice k lies at 2.5 k - 118.75 mm. The middle of a
   * vertebra, the right lung away from vessels, the liver, the air above, the nodule at (-84, -8,
   * 42) mm. */
  demur_assert_close(mean_around(volume, 47, 172, 128), 190, 0, 60);
  demur_assert_close(mean_around(volume, 5, 125, 80), 60, 0, 40);
  demur_assert_close(mean_around(volume, 47, 5, 128), -1000, 0, 40);
  demur_assert_close(mean_around(volume, 64, 122, 68), 28, 0, 60);
  g_assert_cmpfloat(mean_around(volume, 80, 125, 80), <, -700);
  fixture_remove(folder);
}

/* What the options ask for is measured in the pixels and the geometry: a tilt by the positions, a
 * sharp kernel by its noise in the air, contrast in the heart. */
static void
test_the_options_are_in_the_pixels(void) {
  DemurPhantomOptions options = demur_phantom_defaults(3);
  options.n_slices = 24;
  options.spacing_mm = 10;
  options.size = 128;
  options.patient = 7;
  double noise[2], heart[2];
  for (int sharp = 0; sharp < 2; sharp++) {
    options.sharpness = sharp;
    options.contrast_hu = 100 * sharp;
    options.tilt_degrees = 12 * sharp;
    options.index = 8 + (guint)sharp;
    options.kernel = sharp ? "B70f" : "B30f";
    g_autofree char *folder = write_phantom(&options, NULL);
    g_autoptr(DemurImport) import = fixture_import_folder(folder);
    const DemurSeries *series = fixture_series(import, 0);
    g_assert_cmpstr(series->patient_id, ==, "PHANTOM-7");
    g_assert_cmpstr(series->kernel, ==, options.kernel);
    demur_assert_close(fabs(series->tilt_degrees), options.tilt_degrees, 0, 0.01);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurVolume) volume = demur_volume_read(series, NULL, NULL, &error);
    g_assert_no_error(error);
    double sum = 0, squares = 0;
    for (size_t r = 2; r < 12; r++)
      for (size_t c = 2; c < 12; c++) {
        const double hu = volume->hu[(12 * volume->rows + r) * volume->columns + c];
        sum += hu;
        squares += hu * hu;
      }
    noise[sharp] = squares / 100 - sum * sum / 1e4;
    heart[sharp] = mean_around(volume, 6, 54, 71);
    fixture_remove(folder);
  }
  g_assert_cmpfloat(noise[1], >, 1.5 * noise[0]);
  demur_assert_close(heart[0], 50, 0, 45);
  demur_assert_close(heart[1] - heart[0], 100, 0, 60);
}

static void
test_threads_change_no_byte_and_the_seed_does(void) {
  DemurPhantomOptions options = demur_phantom_defaults(7);
  options.n_slices = 6;
  options.size = 64;
  g_autoptr(DemurParallel) parallel = demur_parallel_new(2);
  g_autofree char *one = write_phantom(&options, NULL), *two = write_phantom(&options, parallel);
  options.seed = 8;
  g_autofree char *other = write_phantom(&options, NULL);
  const char *const folders[] = {one, two, other};
  char *bytes[3];
  gsize lengths[3];
  for (int i = 0; i < 3; i++) {
    g_autofree char *path = g_build_filename(folders[i], "slice-003.dcm", NULL);
    g_assert_true(g_file_get_contents(path, &bytes[i], &lengths[i], NULL));
    fixture_remove(folders[i]);
  }
  g_assert_cmpuint(lengths[0], ==, lengths[1]);
  g_assert_true(memcmp(bytes[0], bytes[1], lengths[0]) == 0);
  g_assert_true(lengths[0] != lengths[2] || memcmp(bytes[0], bytes[2], lengths[0]) != 0);
  for (int i = 0; i < 3; i++)
    g_free(bytes[i]);
}

/* A slice of 512 x 512, more than is read at once, is the words at the end of its file. */
static void
test_a_large_slice_is_read_whole(void) {
  DemurPhantomOptions options = demur_phantom_defaults(3);
  options.n_slices = 2;
  options.size = 512;
  g_autofree char *folder = write_phantom(&options, NULL);
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  const DemurSeries *series = fixture_series(import, 0);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVolume) volume = demur_volume_read(series, NULL, NULL, &error);
  g_assert_no_error(error);
  const gsize n = 512 * 512;
  for (gsize k = 0; k < 2; k++) {
    g_autofree char *bytes = NULL;
    gsize length = 0;
    g_assert_true(g_file_get_contents(series->slices[k].path, &bytes, &length, NULL));
    const guint8 *words = (const guint8 *)bytes + length - 2 * n;
    for (gsize i = 0; i < n; i++) {
      const gint16 word = (gint16)(words[2 * i] | words[2 * i + 1] << 8);
      g_assert_cmpfloat(volume->hu[k * n + i], ==,
                        series->slices[k].slope * word + series->slices[k].intercept);
    }
  }
  fixture_remove(folder);
}

static void
test_options_out_of_range_are_refused(void) {
  DemurPhantomOptions options = demur_phantom_defaults(1);
  g_autoptr(GError) error = NULL;
  options.n_slices = 1;
  g_assert_false(demur_phantom_write(&options, "/nonexistent", NULL, NULL, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_true(demur_dicom_init(NULL));
#define ADD(name) g_test_add_func("/dicom/phantom/" #name, test_##name)
  ADD(the_phantom_is_accepted_without_a_warning);
  ADD(the_options_are_in_the_pixels);
  ADD(threads_change_no_byte_and_the_seed_does);
  ADD(a_large_slice_is_read_whole);
  ADD(options_out_of_range_are_refused);
  const int status = g_test_run();
  demur_dicom_cleanup();
  return status;
}
