/* Every folder of shared/dicom/real with the right answer its README gives. */
#include "dicom-fixture.h"
#include "dicom/volume.h"

static void
test_siemens_emotion_is_accepted_with_a_warning_about_the_body_part(void) {
  g_autoptr(DemurImport) import = fixture_import("real/siemens-emotion");
  if (import == NULL)
    return;
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpuint(import->series->len, ==, 1);
  g_assert_cmpuint(series->n_slices, ==, 18);
  demur_assert_close(series->spacing_mm, 2.5, 0, 1e-6);
  demur_assert_close(series->thickness_mm, 3, 0, 0);
  g_assert_true(series->accepted);
  g_assert_true(fixture_warns(series, "body part is not chest: ABDOMEN"));
}

static void
test_empty_identifiers_leave_twenty_slices(void) {
  g_autoptr(DemurImport) import = fixture_import("real/siemens-jpeg2000");
  if (import == NULL)
    return;
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpuint(import->series->len, ==, 1);
  g_assert_cmpuint(series->n_slices, ==, 20);
  demur_assert_close(series->spacing_mm, 2, 0, 1e-6);
  g_assert_cmpstr(series->kernel, ==, "Br38f\\3");
  g_assert_cmpstr(series->kernel_family, ==, "Br");
  g_assert_true(series->scan_id_from_digest);
  g_assert_true(g_str_has_prefix(series->scan_id, "digest-"));
  g_assert_nonnull(strstr(fixture_reason(series), "no patient ID"));
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVolume) volume = demur_volume_read(series, NULL, NULL, &error);
  g_assert_no_error(error);
  /* Air is about -1000 and nothing in a body reaches beyond bone and metal. */
  g_assert_cmpint(volume->min_hu, ==, -1024);
  g_assert_cmpint(volume->max_hu, <, 3072);
}

static void
test_one_series_of_the_study_is_chosen(void) {
  g_autoptr(DemurImport) import = fixture_import("real/philips-series-choice");
  if (import == NULL)
    return;
  guint n_accepted = 0, n_localizers = 0, n_secondary = 0;
  for (guint i = 0; i < import->series->len; i++) {
    const DemurSeries *series = fixture_series(import, i);
    n_localizers += series->type == DEMUR_SERIES_LOCALIZER ? 1u : 0u;
    n_secondary += series->type == DEMUR_SERIES_SECONDARY ? 1u : 0u;
    if (!series->accepted) {
      g_assert_nonnull(fixture_reason(series));
      continue;
    }
    n_accepted++;
    g_assert_cmpuint(series->n_slices, ==, 28);
    demur_assert_close(series->spacing_mm, 5, 0, 1e-6);
    demur_assert_close(series->thickness_mm, 5, 0, 0);
    for (size_t k = 1; k < series->n_slices; k++)
      g_assert_cmpfloat(series->slices[k - 1].distance_mm, <, series->slices[k].distance_mm);
  }
  g_assert_cmpuint(n_accepted, ==, 1);
  g_assert_cmpuint(n_localizers, ==, 1);
  g_assert_cmpuint(n_secondary, ==, 3);
  g_assert_nonnull(strstr(fixture_skipped(import, "DICOMDIR")->reason, "directory"));
  g_assert_nonnull(strstr(fixture_skipped(import, "DIRFILE")->reason, "directory"));
}

/* A DICOMDIR named by itself gives what its folder gives. */
static void
test_a_dicomdir_stands_for_its_folder(void) {
  g_autoptr(DemurImport) folder = fixture_import("real/philips-series-choice");
  g_autoptr(DemurImport) file =
      folder != NULL ? fixture_import("real/philips-series-choice/DICOMDIR") : NULL;
  if (file == NULL)
    return;
  g_assert_cmpuint(file->series->len, ==, folder->series->len);
  for (guint i = 0; i < file->series->len; i++)
    g_assert_cmpstr(fixture_series(file, i)->scan_id, ==, fixture_series(folder, i)->scan_id);
}

static void
test_philips_tilt_is_measured_along_the_normal(void) {
  g_autoptr(DemurImport) import = fixture_import("real/philips-tilt");
  if (import == NULL)
    return;
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpuint(series->n_slices, ==, 54);
  demur_assert_close(series->spacing_mm, 2.371, 0, 0.001);
  demur_assert_close(series->tilt_degrees, -18.5, 0, 0.05);
  g_assert_true(fixture_warns(series, "tilt"));
}

static void
test_ge_irregular_is_shown_and_not_eligible(void) {
  g_autoptr(DemurImport) import = fixture_import("real/ge-irregular");
  if (import == NULL)
    return;
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpuint(series->n_slices, ==, 28);
  g_assert_false(series->accepted);
  g_assert_nonnull(strstr(fixture_reason(series), "irregular spacing: gaps 1.081 to 6.999 mm"));
  g_assert_true(fixture_warns(series, "tilt"));
  g_assert_true(fixture_warns(series, "HEAD"));
  g_assert_null(series->site);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVolume) volume = demur_volume_read(series, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(volume->n_padding, >, 0);
}

static void
test_missing_and_tilted_are_told_apart(void) {
  static const struct {
    const char *folder;
    double spacing_mm, tilt_degrees;
    gsize n_missing;
  } rows[] = {
      {"real/missing-and-tilted/sliceincrement/001", 5, 0, 1},
      {"real/missing-and-tilted/sliceincrement/002", 0.75, 15.5, 1},
      {"real/missing-and-tilted/gantrytilting/001", 4.8515, 14, 0},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(DemurImport) import = fixture_import(rows[i].folder);
    if (import == NULL)
      return;
    const DemurSeries *series = fixture_series(import, 0);
    g_assert_cmpuint(series->n_slices, ==, 4);
    demur_assert_close(series->spacing_mm, rows[i].spacing_mm, 0, 0.001);
    demur_assert_close(series->tilt_degrees, rows[i].tilt_degrees, 0, 0.05);
    g_assert_cmpuint(series->n_missing, ==, rows[i].n_missing);
    g_assert_cmpuint(series->n_irregular, ==, 0);
    g_assert_false(series->accepted);
  }
}

static void
test_images_at_one_position_are_no_volume(void) {
  g_autoptr(DemurImport) import = fixture_import("real/missing-and-tilted/notavolume/001");
  if (import == NULL)
    return;
  g_assert_cmpuint(import->series->len, ==, 1);
  g_assert_cmpuint(fixture_series(import, 0)->n_slices, ==, 4);
  g_assert_nonnull(strstr(fixture_reason(fixture_series(import, 0)), "4 images at one position"));
}

/* One image of a GE scanner in 15 encodings; the first slice is the original. */
static void
test_every_lossless_encoding_decodes_to_the_original(void) {
  static const char *const lossy[] = {"4.50", "4.51", "4.53", "4.55", "4.81", "4.91"};
  g_autoptr(DemurImport) import = fixture_import("real/transfer-syntaxes/one-image-15-encodings");
  if (import == NULL)
    return;
  const DemurSeries *series = NULL;
  for (guint i = 0; i < import->series->len; i++)
    if (fixture_series(import, i)->n_slices > 1)
      series = fixture_series(import, i);
  g_assert_nonnull(series);
  /* The four other uncompressed encodings hold the same bytes of pixels: one image, counted once. */
  g_assert_cmpuint(series->n_slices, ==, 12);
  g_assert_true(fixture_warns(series, "duplicate files: 4 counted once"));
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVolume) volume = demur_volume_read(series, NULL, NULL, &error);
  g_assert_no_error(error);
  const size_t n = volume->rows * volume->columns;
  const gint16 *original = NULL;
  for (size_t i = 0; i < series->n_slices && original == NULL; i++)
    if (g_str_has_suffix(series->slices[i].path, "/CTImage.dcm"))
      original = volume->hu + i * n;
  g_assert_nonnull(original);
  guint n_lossy = 0;
  for (size_t i = 0; i < series->n_slices; i++) {
    gboolean expected = FALSE;
    for (size_t k = 0; k < G_N_ELEMENTS(lossy); k++)
      expected |= g_str_has_suffix(series->slices[i].transfer_syntax_uid, lossy[k]);
    g_assert_cmpint(series->slices[i].lossy, ==, expected);
    n_lossy += expected ? 1u : 0u;
    if (!expected) {
      g_assert_true(memcmp(original, volume->hu + i * n, n * sizeof(gint16)) == 0);
      continue;
    }
    /* A lossy copy is another picture of the same patient: near on average, not the same. */
    double sum = 0;
    for (size_t k = 0; k < n; k++)
      sum += fabs((double)original[k] - volume->hu[i * n + k]);
    g_assert_cmpfloat(sum / (double)n, >, 0);
    g_assert_cmpfloat(sum / (double)n, <, 60);
  }
  g_assert_cmpuint(n_lossy, ==, 6);
  g_assert_nonnull(strstr(fixture_reason(series), "lossy"));
}

static void
test_single_frame_encodings_are_identical(void) {
  g_autoptr(DemurImport) import = fixture_import("real/transfer-syntaxes/single-frame");
  if (import == NULL)
    return;
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_cmpuint(series->n_slices + series->n_same_file, ==, 7);
  g_assert_true(series->shared_sop_uids);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVolume) volume = demur_volume_read(series, NULL, NULL, &error);
  g_assert_no_error(error);
  const size_t size = volume->rows * volume->columns * sizeof(gint16);
  for (size_t i = 1; i < volume->n_slices; i++)
    g_assert_true(memcmp(volume->hu, volume->hu + i * volume->rows * volume->columns, size) == 0);
}

static void
test_enhanced_multi_frame_is_listed_and_not_assessed(void) {
  g_autoptr(DemurImport) import = fixture_import("real/transfer-syntaxes/enhanced-multiframe");
  if (import == NULL)
    return;
  const DemurSeries *series = fixture_series(import, 0);
  g_assert_true(series->multi_frame);
  g_assert_cmpuint(series->n_slices, ==, 2);
  demur_assert_close(series->spacing_mm, 10, 0, 1e-6);
  g_assert_false(series->accepted);
  g_assert_nonnull(strstr(fixture_reason(series), "PERFUSION"));
}

static void
test_other_objects_are_skipped_by_type(void) {
  g_autoptr(DemurImport) import = fixture_import("real/not-images");
  if (import == NULL)
    return;
  g_assert_cmpuint(import->series->len, ==, 1);
  g_assert_cmpstr(fixture_series(import, 0)->modality, ==, "DX");
  g_assert_nonnull(strstr(fixture_reason(fixture_series(import, 0)), "not CT: modality DX"));
  g_assert_nonnull(strstr(fixture_skipped(import, "sr_document")->reason, "SR"));
  g_assert_nonnull(strstr(fixture_skipped(import, "seg_image")->reason, "SEG"));
  g_assert_nonnull(strstr(fixture_skipped(import, "rt.dcm")->reason, "RTSTRUCT"));
}

static void
test_phantoms_are_shown_and_not_assessed(void) {
  static const struct {
    const char *folder;
    gsize n_slices;
    const char *reason;
  } rows[] = {
      {"real/phantoms/ge-discovery", 2, "too few slices: 2"},
      {"real/phantoms/oblique", 3, "derived"},
      {"real/phantoms/orientation", 64, "derived"},
      {"real/phantoms/checkerboard", 64, "derived"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(DemurImport) import = fixture_import(rows[i].folder);
    if (import == NULL)
      return;
    g_assert_cmpuint(import->series->len, ==, 1);
    const DemurSeries *series = fixture_series(import, 0);
    g_assert_cmpuint(series->n_slices, ==, rows[i].n_slices);
    g_assert_false(series->accepted);
    g_assert_nonnull(strstr(fixture_reason(series), rows[i].reason));
    g_assert_true(series->kvp > 0 || isnan(series->kvp)); /* 0 kV is not recorded */
  }
}

static void
test_headers_only_media(void) {
  g_autoptr(DemurImport) import = fixture_import("real/headers-only");
  if (import == NULL)
    return;
  guint n_ct = 0, n_cr = 0;
  for (guint i = 0; i < import->series->len; i++) {
    const DemurSeries *series = fixture_series(import, i);
    g_assert_false(series->accepted);
    n_ct += g_strcmp0(series->modality, "CT") == 0 ? 1u : 0u;
    n_cr += g_strcmp0(series->modality, "CR") == 0 ? 1u : 0u;
    if (series->n_slices == 5)
      demur_assert_close(series->spacing_mm, 2.5, 0, 1e-6);
    if (series->n_slices == 4) {
      g_assert_nonnull(strstr(fixture_reason(series), "irregular spacing: gaps 1.25 to 202.5 mm"));
      g_assert_true(fixture_warns(series, "HEAD"));
    }
  }
  g_assert_cmpuint(n_ct, ==, 4); /* two localizers, 5 slices, 4 slices */
  g_assert_cmpuint(n_cr, ==, 3);
}

/* pydicom's own expectations for these files (its charset tests). */
static void
test_names_in_every_character_set(void) {
  static const struct {
    const char *file, *name;
  } rows[] = {
      {"chrArab.dcm", "قباني^لنزار"},
      {"chrFren.dcm", "Buc^Jérôme"},
      {"chrFrenMulti.dcm", "Buc^Jérôme"},
      {"chrGerm.dcm", "Äneas^Rüdiger"},
      {"chrGreek.dcm", "Διονυσιος"},
      {"chrH31.dcm", "Yamada^Tarou=山田^太郎=やまだ^たろう"},
      {"chrH32.dcm", "ﾔﾏﾀﾞ^ﾀﾛｳ=山田^太郎=やまだ^たろう"},
      {"chrHbrw.dcm", "שרון^דבורה"},
      {"chrJapMulti.dcm", "やまだ^たろう"},
      {"chrJapMultiExplicitIR6.dcm", "やまだ^たろう"},
      {"chrKoreanMulti.dcm", "김희중"},
      {"chrRuss.dcm", "Люкceмбypг"},
      {"chrX1.dcm", "Wang^XiaoDong=王^小東="},
      {"chrX2.dcm", "Wang^XiaoDong=王^小东="},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *relative = g_strconcat("dicom/real/charsets/", rows[i].file, NULL);
    g_autofree char *path = demur_test_shared(relative);
    if (path == NULL)
      return;
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurSource) source = demur_source_open(path, &error);
    g_autoptr(DemurHeader) header = demur_header_read(&source, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(header->patient_name, ==, rows[i].name);
  }
}

/* What a workspace remembers is the files of the slices: measured anew they are the same series. */
static void
test_a_series_reopens_from_its_files(void) {
  g_autoptr(DemurImport) import = fixture_import("derived/21_two_phases_one_series");
  if (import == NULL)
    return;
  const DemurSeries *second = fixture_series(import, 1);
  g_autofree const char **paths = g_new0(const char *, second->n_slices + 1);
  for (size_t i = 0; i < second->n_slices; i++)
    paths[i] = second->slices[i].path;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSeries) again = demur_import_reopen(second->scan_id, paths, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(again->scan_id, ==, second->scan_id);
  g_assert_cmpuint(again->n_slices, ==, second->n_slices);
  for (size_t i = 0; i < second->n_slices; i++)
    g_assert_cmpstr(again->slices[i].path, ==, second->slices[i].path);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_true(demur_dicom_init(NULL));
#define ADD(name) g_test_add_func("/dicom/real/" #name, test_##name)
  ADD(siemens_emotion_is_accepted_with_a_warning_about_the_body_part);
  ADD(empty_identifiers_leave_twenty_slices);
  ADD(one_series_of_the_study_is_chosen);
  ADD(a_dicomdir_stands_for_its_folder);
  ADD(philips_tilt_is_measured_along_the_normal);
  ADD(ge_irregular_is_shown_and_not_eligible);
  ADD(missing_and_tilted_are_told_apart);
  ADD(images_at_one_position_are_no_volume);
  ADD(every_lossless_encoding_decodes_to_the_original);
  ADD(single_frame_encodings_are_identical);
  ADD(enhanced_multi_frame_is_listed_and_not_assessed);
  ADD(other_objects_are_skipped_by_type);
  ADD(phantoms_are_shown_and_not_assessed);
  ADD(headers_only_media);
  ADD(names_in_every_character_set);
  ADD(a_series_reopens_from_its_files);
  const int status = g_test_run();
  demur_dicom_cleanup();
  return status;
}
