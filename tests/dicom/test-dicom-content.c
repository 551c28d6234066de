/* The content digest: one other pixel, place or identity is another; a name or a file is not. */
#include "dicom-fixture.h"

/* Digest of a series of 12 images; `change` may alter the bytes of file 5. */
static char *
digest_after(void (*change)(FixtureImage *image, int k), void (*alter)(guint8 *bytes, gsize size),
             const char *prefix) {
  g_autofree char *folder = fixture_folder();
  for (int k = 0; k < 12; k++) {
    FixtureImage image = fixture_image(k + 1, 2.5 * k);
    g_autofree char *name = g_strdup_printf("%s%03d.dcm", prefix, k);
    if (change != NULL)
      change(&image, k);
    fixture_save(&image, folder, name);
    if (alter != NULL && k == 5) {
      g_autofree char *path = g_build_filename(folder, name, NULL), *bytes = NULL;
      gsize size;
      g_assert_true(g_file_get_contents(path, &bytes, &size, NULL));
      alter((guint8 *)bytes, size);
      g_assert_true(g_file_set_contents(path, bytes, (gssize)size, NULL));
    }
  }
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  const DemurSeries *series = fixture_series(import, 0);
  for (size_t i = 0; i < series->n_slices; i++)
    g_assert_cmpuint(strlen(series->slices[i].content_digest), ==, 64);
  char *digest = g_strdup(series->content_digest);
  fixture_remove(folder);
  return digest;
}

static void
change_position(FixtureImage *image, int k) {
  image->position_mm[0] = k == 5 ? 0.001 : 0;
}

static void
change_uid(FixtureImage *image, int k) {
  if (k == 5)
    image->acquisition_number = 2; /* which the fixture puts in the UID */
}

static void
change_person(FixtureImage *image, int k) {
  image->patient_name = "Other^Person";
  image->patient_id = "P2";
}

static void
flip_last_pixel(guint8 *bytes, gsize size) {
  bytes[size - 2] ^= 1;
}

static void
test_one_other_pixel_is_another_digest(void) {
  g_autofree char *base = digest_after(NULL, NULL, "");
  g_autofree char *pixel = digest_after(NULL, flip_last_pixel, "");
  g_autofree char *position = digest_after(change_position, NULL, "");
  g_autofree char *uid = digest_after(change_uid, NULL, "");
  g_assert_cmpstr(base, !=, pixel);
  g_assert_cmpstr(base, !=, position);
  g_assert_cmpstr(base, !=, uid);
}

static void
test_names_are_not_contents(void) {
  g_autofree char *base = digest_after(NULL, NULL, "");
  g_autofree char *person = digest_after(change_person, NULL, "");
  g_autofree char *file = digest_after(NULL, NULL, "other-");
  g_assert_cmpstr(base, ==, person);
  g_assert_cmpstr(base, ==, file);
}

/* A cut slice has none, the volume of the others has. */
static void
test_a_cut_slice_has_no_digest(void) {
  g_autoptr(DemurImport) import = fixture_import("derived/19_truncated_last");
  if (import == NULL)
    return;
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_nonnull(series->content_digest);
  g_assert_cmpuint(series->n_left_out, ==, 1);
  g_assert_null(series->slices[series->n_slices].content_digest);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_dicom_init(&error));
  g_test_add_func("/dicom/content/one-other-pixel", test_one_other_pixel_is_another_digest);
  g_test_add_func("/dicom/content/names", test_names_are_not_contents);
  g_test_add_func("/dicom/content/cut", test_a_cut_slice_has_no_digest);
  return g_test_run();
}
