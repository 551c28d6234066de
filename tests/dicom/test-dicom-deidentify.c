/* De-identified copies: every element of every result is walked, and every text of the original
 * that names somebody or something is looked for in its bytes. */
#define _GNU_SOURCE
#include "base/error.h"
#include "dicom/deidentify.h"
#include "dicom/volume.h"
#include "dicom/data-set.h"
#include "dicom-fixture.h"

static const char key[] = "a key of the tests, not secret";

static DemurDeidentified *
copy(const char *from, const char *to, const char *secret) {
  const char *paths[] = {from, NULL};
  g_autoptr(GError) error = NULL;
  DemurDeidentified *result =
      demur_deidentify(paths, to, secret, strlen(secret), NULL, NULL, &error);
  g_assert_no_error(error);
  return result;
}

static DemurWalk
check_element(const DemurElement *element, gpointer data) {
  const guint group = element->tag >> 16;
  if (group % 2 != 0)
    g_error("private element %08X", element->tag);
  if (!demur_deidentify_may_stand(element->tag))
    g_error("element %08X stands at depth %u", element->tag, element->depth);
  if (element->vr == DEMUR_VR_PN && element->tag != DEMUR_TAG(0x0010, 0x0010) &&
      element->length > 0)
    g_error("a name in %08X", element->tag);
  ++*(size_t *)data;
  return DEMUR_WALK_ON;
}

static void
walk_file(const char *path, size_t *n_elements) {
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSource) source = demur_source_open(path, &error);
  g_auto(DemurDataSet) set = {0};
  g_assert_true(demur_data_set_locate(&source, &set, &error));
  g_assert_true(demur_elements_walk(source, set.offset, set.encoding, TRUE, check_element,
                                    n_elements, &error));
  g_assert_no_error(error);
}

/* Calls walk_file for every file; how many there are. */
static guint
walk_folder(const char *folder, size_t *n_elements) {
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  const char *name;
  guint n = 0;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
      n += walk_folder(path, n_elements);
      continue;
    }
    walk_file(path, n_elements);
    n++;
  }
  return n;
}

static void
test_every_element_of_every_real_copy_may_stand(void) {
  static const char *const folders[] = {"real", "derived"};
  for (size_t f = 0; f < G_N_ELEMENTS(folders); f++) {
    g_autofree char *below = g_strconcat("dicom/", folders[f], NULL);
    g_autofree char *from = demur_test_shared(below);
    if (from == NULL)
      return;
    g_autofree char *folder = fixture_folder();
    g_autofree char *to = g_build_filename(folder, "out", NULL);
    g_autoptr(DemurDeidentified) result = copy(from, to, key);
    g_assert_cmpuint(result->n_written, >, 100);
    size_t n_elements = 0;
    g_assert_cmpuint(walk_folder(to, &n_elements), ==, result->n_written);
    g_assert_cmpuint(n_elements, >, 20 * result->n_written);
    fixture_remove(folder);
  }
}

static void
test_marks_dates_and_uids(void) {
  g_autofree char *from = demur_test_shared("dicom/real/siemens-emotion");
  if (from == NULL)
    return;
  g_autofree char *folder = fixture_folder();
  g_autofree char *to = g_build_filename(folder, "out", NULL);
  g_autofree char *other = g_build_filename(folder, "other", NULL);
  g_autofree char *again = g_build_filename(folder, "again", NULL);
  g_autoptr(DemurDeidentified) result = copy(from, to, key);
  g_autoptr(DemurDeidentified) elsewhere = copy(from, other, "another key of the tests");
  g_autoptr(DemurDeidentified) repeated = copy(from, again, key);
  g_autoptr(DemurImport) before = fixture_import_folder(from);
  g_autoptr(DemurImport) after = fixture_import_folder(to);
  g_autoptr(DemurImport) third = fixture_import_folder(other);
  g_autoptr(DemurImport) fourth = fixture_import_folder(again);
  const DemurSeries *a = fixture_series(before, 0), *b = fixture_series(after, 0);
  const DemurSeries *c = fixture_series(third, 0), *d = fixture_series(fourth, 0);
  /* One series stays one series, with the same slices in the same places and the same verdict. */
  g_assert_cmpuint(after->series->len, ==, 1);
  g_assert_cmpuint(b->n_slices, ==, a->n_slices);
  demur_assert_close(b->spacing_mm, a->spacing_mm, 1e-9, 0);
  g_assert_cmpstr(b->kernel, ==, a->kernel);
  g_assert_cmpint(b->accepted, ==, a->accepted);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVolume) v = demur_volume_read(a, NULL, NULL, &error);
  g_autoptr(DemurVolume) w = demur_volume_read(b, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(memcmp(v->hu, w->hu, v->n_slices * v->rows * v->columns * sizeof *v->hu) == 0);
  /* Nobody's names and numbers. */
  g_assert_true(g_str_has_prefix(b->patient_id, "DEID-"));
  g_assert_cmpstr(b->patient_name, ==, b->patient_id);
  g_assert_null(b->institution);
  g_assert_null(b->station);
  g_assert_null(b->description);
  g_assert_null(b->patient_birth_date);
  g_assert_cmpstr(b->series_uid, !=, a->series_uid);
  g_assert_cmpstr(b->study_uid, !=, a->study_uid);
  g_assert_true(g_str_has_prefix(b->series_uid, "2.25."));
  /* The same key, the same identities; another, others. */
  g_assert_cmpstr(d->series_uid, ==, b->series_uid);
  g_assert_cmpstr(d->patient_id, ==, b->patient_id);
  g_assert_cmpstr(c->series_uid, !=, b->series_uid);
  g_assert_cmpstr(c->patient_id, !=, b->patient_id);
  /* Dates went back, by one shift. */
  g_assert_cmpuint(strlen(b->study_date), ==, 8);
  g_assert_cmpstr(b->study_date, <, a->study_date);
  g_assert_cmpstr(d->study_date, ==, b->study_date);
  /* The marks of the profile stand in the bytes. */
  g_autofree char *bytes = NULL;
  gsize n;
  g_assert_true(g_file_get_contents(b->slices[0].path, &bytes, &n, NULL));
  static const char *const marks[] = {"113100", "113107", "MODIFIED"};
  for (size_t i = 0; i < G_N_ELEMENTS(marks); i++)
    g_assert_nonnull(memmem(bytes, n, marks[i], strlen(marks[i])));
  static const guint8 removed[] = {0x12, 0, 0x62, 0, 'C', 'S', 4, 0, 'Y', 'E', 'S', ' '};
  g_assert_nonnull(memmem(bytes, n, removed, sizeof removed));
  /* And nothing of the person, old UIDs included. */
  const char *const gone[] = {a->patient_id,
                              a->patient_name,
                              a->series_uid,
                              a->study_uid,
                              a->slices[0].sop_instance_uid,
                              a->study_date,
                              a->frame_of_reference_uid};
  for (size_t i = 0; i < G_N_ELEMENTS(gone); i++)
    if (gone[i] != NULL && strlen(gone[i]) > 3)
      g_assert_null(memmem(bytes, n, gone[i], strlen(gone[i])));
  fixture_remove(folder);
}

static void
test_what_may_show_a_name_is_left_behind(void) {
  g_autofree char *from = demur_test_shared("dicom/real/philips-series-choice");
  if (from == NULL)
    return;
  g_autofree char *folder = fixture_folder();
  g_autofree char *to = g_build_filename(folder, "out", NULL);
  g_autoptr(DemurDeidentified) result = copy(from, to, key);
  g_autoptr(DemurImport) after = fixture_import_folder(to);
  for (guint i = 0; i < after->series->len; i++)
    g_assert_cmpstr(fixture_series(after, i)->modality, ==, "CT");
  for (guint i = 0; i < after->series->len; i++)
    g_assert_cmpint(fixture_series(after, i)->type, !=, DEMUR_SERIES_SECONDARY);
  fixture_remove(folder);
}

/* Images whose data sets have no UIDs at all, only their meta headers: told as that. */
static void
test_images_without_uids_are_told_as_such(void) {
  g_autofree char *from = demur_test_shared("dicom/real/siemens-jpeg2000");
  if (from == NULL)
    return;
  g_autofree char *folder = fixture_folder();
  g_autofree char *to = g_build_filename(folder, "out", NULL);
  g_autoptr(DemurDeidentified) result = copy(from, to, key);
  g_assert_cmpuint(result->n_written, ==, 0);
  guint n_told = 0;
  for (guint i = 0; i < result->skipped->len; i++)
    n_told += g_str_equal(((DemurSkipped *)result->skipped->pdata[i])->reason,
                          "it lacks a study, series or instance UID")
                  ? 1
                  : 0;
  g_assert_cmpuint(n_told, ==, 20);
  fixture_remove(folder);
}

static void
test_a_full_folder_and_a_short_key_are_refused(void) {
  g_autofree char *folder = fixture_folder();
  FixtureImage image = fixture_image(1, 0);
  fixture_save(&image, folder, "1.dcm");
  const char *paths[] = {folder, NULL};
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_deidentify(paths, folder, key, strlen(key), NULL, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS);
  g_clear_error(&error);
  g_autofree char *to = g_build_filename(folder, "out", NULL);
  g_assert_null(demur_deidentify(paths, to, "short", 5, NULL, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  fixture_remove(folder);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/deidentify/every-element-of-every-real-copy-may-stand",
                  test_every_element_of_every_real_copy_may_stand);
  g_test_add_func("/dicom/deidentify/marks-dates-and-uids", test_marks_dates_and_uids);
  g_test_add_func("/dicom/deidentify/what-may-show-a-name-is-left-behind",
                  test_what_may_show_a_name_is_left_behind);
  g_test_add_func("/dicom/deidentify/images-without-uids-are-told-as-such",
                  test_images_without_uids_are_told_as_such);
  g_test_add_func("/dicom/deidentify/a-full-folder-and-a-short-key-are-refused",
                  test_a_full_folder_and_a_short_key_are_refused);
  return g_test_run();
}
