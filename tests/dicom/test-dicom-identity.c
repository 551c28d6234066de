/* A volume keeps its scan_id whatever comes later, before or beside it. */
#include "dicom-fixture.h"
#include "dicom/identity.h"

/* Volumes of 12 slices of one series, each an acquisition of its own that begins at z. */
static GPtrArray *
volumes(const double *z, const gint64 *acquisitions, size_t n) {
  g_autofree char *folder = fixture_folder();
  for (size_t v = 0; v < n; v++)
    for (int k = 0; k < 12; k++) {
      FixtureImage image = fixture_image(k + 1, z[v] + 2.5 * k);
      g_autofree char *name = g_strdup_printf("%zu-%03d.dcm", v, k);
      image.acquisition_number = acquisitions[v];
      fixture_save(&image, folder, name);
    }
  g_autoptr(DemurImport) import = fixture_import_folder(folder);
  fixture_remove(folder);
  return g_ptr_array_ref(import->series);
}

/* What a workspace keeps of a volume. */
typedef struct {
  DemurKnownVolume volume;
  const char *uids[64];
  guint32 frames[64];
} Kept;

static void
keep(Kept *kept, const DemurSeries *series) {
  kept->volume = (DemurKnownVolume){series->scan_id, series->series_uid, kept->uids, kept->frames,
                                    series->n_slices};
  for (size_t i = 0; i < series->n_slices; i++) {
    kept->uids[i] = series->slices[i].sop_instance_uid;
    kept->frames[i] = series->slices[i].frame;
  }
}

static const char *
id_of(GPtrArray *series, gint64 acquisition) {
  for (guint i = 0; i < series->len; i++) {
    const DemurSeries *one = series->pdata[i];
    if (one->acquisition_number == acquisition)
      return one->scan_id;
  }
  return NULL;
}

static void
test_the_first_keeps_its_id(void) {
  static const double z[] = {0, -5};
  static const gint64 acquisitions[] = {7, 3};
  Kept kept;
  g_autoptr(GPtrArray) first = volumes(z, acquisitions, 1);
  keep(&kept, first->pdata[0]);
  g_assert_cmpstr(kept.volume.scan_id, ==, "1.2.3.4");
  /* The second lies lower and has the lower number: by itself it would be the first. */
  g_autoptr(GPtrArray) both = volumes(z, acquisitions, 2);
  g_assert_cmpstr(id_of(both, 3), ==, "1.2.3.4");
  demur_identity_keep(both, &kept.volume, 1);
  g_assert_cmpstr(id_of(both, 7), ==, "1.2.3.4");
  g_assert_cmpstr(id_of(both, 3), ==, "1.2.3.4#2");
  for (guint i = 0; i < 2; i++)
    g_assert_cmpuint(((DemurSeries *)both->pdata[i])->n_parts, ==, 2);
}

static void
test_a_second_that_comes_alone_takes_no_id(void) {
  static const double z[] = {0, 0};
  static const gint64 acquisitions[] = {7, 3};
  Kept kept;
  g_autoptr(GPtrArray) first = volumes(z, acquisitions, 1);
  keep(&kept, first->pdata[0]);
  g_autoptr(GPtrArray) second = volumes(z + 1, acquisitions + 1, 1);
  demur_identity_keep(second, &kept.volume, 1);
  g_assert_cmpstr(id_of(second, 3), ==, "1.2.3.4#2");
  g_assert_cmpuint(((DemurSeries *)second->pdata[0])->part, ==, 2);
}

static void
test_new_ids_are_the_lowest_that_are_free(void) {
  static const double z[] = {0, 0, 0};
  static const gint64 acquisitions[] = {1, 2, 3};
  Kept kept[2];
  g_autoptr(GPtrArray) two = volumes(z, acquisitions + 1, 2);
  keep(&kept[0], two->pdata[0]);
  keep(&kept[1], two->pdata[1]);
  kept[1].volume.scan_id = "1.2.3.4#3";
  const DemurKnownVolume known[] = {kept[0].volume, kept[1].volume};
  g_autoptr(GPtrArray) all = volumes(z, acquisitions, 3);
  demur_identity_keep(all, known, 2);
  g_assert_cmpstr(id_of(all, 1), ==, "1.2.3.4#2");
  g_assert_cmpstr(id_of(all, 2), ==, "1.2.3.4");
  g_assert_cmpstr(id_of(all, 3), ==, "1.2.3.4#3");
}

static void
test_nothing_known_changes_nothing(void) {
  static const double z[] = {0, 0};
  static const gint64 acquisitions[] = {1, 2};
  g_autoptr(GPtrArray) series = volumes(z, acquisitions, 2);
  demur_identity_keep(series, NULL, 0);
  g_assert_cmpstr(id_of(series, 1), ==, "1.2.3.4");
  g_assert_cmpstr(id_of(series, 2), ==, "1.2.3.4#2");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_dicom_init(&error));
  g_test_add_func("/dicom/identity/first", test_the_first_keeps_its_id);
  g_test_add_func("/dicom/identity/second-alone", test_a_second_that_comes_alone_takes_no_id);
  g_test_add_func("/dicom/identity/lowest-free", test_new_ids_are_the_lowest_that_are_free);
  g_test_add_func("/dicom/identity/nothing-known", test_nothing_known_changes_nothing);
  return g_test_run();
}
