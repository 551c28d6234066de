/* What the DICOM tests share: importing one shared folder, temporary folders, hand-made objects. */
#pragma once

#include "dicom/import.h"
#include "dicom/library.h"
#include "dicom/writer.h"
#include "support/folder.h"
#include "support/support.h"
#include "words/rule-words.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* What each of these tests begins with. */
static inline void
fixture_init(int *argc, char ***argv) {
  g_test_init(argc, argv, NULL);
  g_autoptr(GError) error = NULL;
  if (!demur_dicom_init(&error))
    g_error("%s", error->message);
}

/* Imports a folder below the shared DICOM files; NULL with the test skipped where it is absent. */
static inline DemurImport *
fixture_import(const char *relative) {
  g_autofree char *below = g_strconcat("dicom/", relative, NULL);
  g_autofree char *path = demur_test_shared(below);
  if (path == NULL)
    return NULL;
  const char *paths[] = {path, NULL};
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurParallel) parallel = demur_parallel_new(2);
  DemurImport *import = demur_import_run(paths, NULL, parallel, NULL, &error);
  g_assert_no_error(error);
  return import;
}

static inline const DemurSeries *
fixture_series(const DemurImport *import, guint i) {
  g_assert_cmpuint(i, <, import->series->len);
  return import->series->pdata[i];
}

/* What the findings say, in English; kept for ever. */
static inline const char *
fixture_words(const DemurRuleFinding *finding) {
  g_autoptr(DemurReason) reason = demur_reason_new(DEMUR_REASON_RULE, finding->code, NULL);
  g_autoptr(GStrvBuilder) values = g_strv_builder_new();
  for (int k = 0; k < DEMUR_RULE_FINDING_VALUES && finding->values[k] != NULL; k++)
    g_strv_builder_add(values, finding->values[k]);
  reason->values = g_strv_builder_end(values);
  reason->n = finding->variant;
  g_autofree char *words = demur_words_rule(reason, NULL);
  return g_intern_string(words);
}

/* Why a series is not accepted; NULL where it is. */
static inline const char *
fixture_reason(const DemurSeries *series) {
  g_autoptr(GString) words = g_string_new(NULL);
  for (size_t i = 0; i < series->n_findings; i++)
    if (series->findings[i].action == DEMUR_RULE_REFUSE)
      g_string_append_printf(words, "%s%s", words->len > 0 ? "; " : "not eligible: ",
                             fixture_words(&series->findings[i]));
  if (series->preferred != NULL)
    g_string_append_printf(words, "eligible, not chosen: %s is preferred", series->preferred);
  return words->len > 0 ? g_intern_string(words->str) : NULL;
}

static inline gboolean
fixture_warns(const DemurSeries *series, const char *words) {
  for (size_t i = 0; i < series->n_findings; i++)
    if (series->findings[i].action == DEMUR_RULE_WARN &&
        strstr(fixture_words(&series->findings[i]), words) != NULL)
      return TRUE;
  return FALSE;
}

static inline const DemurSkipped *
fixture_skipped(const DemurImport *import, const char *part) {
  for (guint i = 0; i < import->skipped->len; i++) {
    const DemurSkipped *skipped = import->skipped->pdata[i];
    if (strstr(skipped->path, part) != NULL)
      return skipped;
  }
  return NULL;
}

static inline char *
fixture_folder(void) {
  g_autoptr(GError) error = NULL;
  char *folder = g_dir_make_tmp("demur-dicom-XXXXXX", &error);
  g_assert_no_error(error);
  return folder;
}

static inline void
fixture_remove(const char *folder) {
  (void)demur_test_remove_folder(folder);
}

static inline void
fixture_write(const char *folder, const char *name, const void *bytes, gsize length) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_build_filename(folder, name, NULL);
  g_file_set_contents(path, bytes, (gssize)length, &error);
  g_assert_no_error(error);
}

/* A small CT image of 16 x 16 pixels, as a hospital's archive might send it; change what a test is
 * about. */
typedef struct {
  const char *series_uid, *uid_root; /* uid_root: of the instance's UID */
  const char *patient_id, *patient_name, *image_type, *kernel, *thickness;
  double position_mm[3], orientation[6];
  gint64 instance_number, acquisition_number;
  guint16 value;                                     /* of every pixel */
  const char *issuer, *birth_date, *sex, *study_uid; /* NULL: none, study 1.2.3 */
  guint images_in_acquisition;                       /* 0: it does not say */
  const char *institution;                           /* NULL: none */
} FixtureImage;

static inline FixtureImage
fixture_image(gint64 number, double z) {
  return (FixtureImage){.series_uid = "1.2.3.4",
                        .uid_root = "1.2.3.4",
                        .patient_id = "P1",
                        .patient_name = "One^Person",
                        .image_type = "ORIGINAL\\PRIMARY\\AXIAL",
                        .kernel = "B30f",
                        .thickness = "2.5",
                        .position_mm = {0, 0, z},
                        .orientation = {1, 0, 0, 0, 1, 0},
                        .instance_number = number,
                        .acquisition_number = 1,
                        .value = (guint16)(1000 + number)};
}

static inline void
fixture_save(const FixtureImage *image, const char *folder, const char *name) {
  guint16 words[16 * 16];
  for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
    words[i] = image->value;
  const double spacing[2] = {0.7, 0.7}, intercept = -1024, slope = 1;
  g_autofree char *uid =
      g_strdup_printf("%s.%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT, image->uid_root,
                      image->acquisition_number, image->instance_number);
  g_autofree char *path = g_build_filename(folder, name, NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurWriter) w = demur_writer_new("1.2.840.10008.5.1.4.1.1.2", uid);
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0008), DEMUR_VR_CS, image->image_type);
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0016), DEMUR_VR_UI, "1.2.840.10008.5.1.4.1.1.2");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0018), DEMUR_VR_UI, uid);
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0060), DEMUR_VR_CS, "CT");
  demur_writer_text(w, DEMUR_TAG(0x0008, 0x0070), DEMUR_VR_LO, "SIEMENS");
  if (image->institution != NULL)
    demur_writer_text(w, DEMUR_TAG(0x0008, 0x0080), DEMUR_VR_LO, image->institution);
  demur_writer_text(w, DEMUR_TAG(0x0010, 0x0010), DEMUR_VR_PN, image->patient_name);
  demur_writer_text(w, DEMUR_TAG(0x0010, 0x0020), DEMUR_VR_LO, image->patient_id);
  if (image->issuer != NULL)
    demur_writer_text(w, DEMUR_TAG(0x0010, 0x0021), DEMUR_VR_LO, image->issuer);
  if (image->birth_date != NULL)
    demur_writer_text(w, DEMUR_TAG(0x0010, 0x0030), DEMUR_VR_DA, image->birth_date);
  if (image->sex != NULL)
    demur_writer_text(w, DEMUR_TAG(0x0010, 0x0040), DEMUR_VR_CS, image->sex);
  demur_writer_text(w, DEMUR_TAG(0x0018, 0x0015), DEMUR_VR_CS, "CHEST");
  demur_writer_text(w, DEMUR_TAG(0x0018, 0x0050), DEMUR_VR_DS, image->thickness);
  demur_writer_text(w, DEMUR_TAG(0x0018, 0x1210), DEMUR_VR_SH, image->kernel);
  demur_writer_text(w, DEMUR_TAG(0x0020, 0x000D), DEMUR_VR_UI,
                    image->study_uid != NULL ? image->study_uid : "1.2.3");
  demur_writer_text(w, DEMUR_TAG(0x0020, 0x000E), DEMUR_VR_UI, image->series_uid);
  demur_writer_integer(w, DEMUR_TAG(0x0020, 0x0012), image->acquisition_number);
  demur_writer_integer(w, DEMUR_TAG(0x0020, 0x0013), image->instance_number);
  demur_writer_decimals(w, DEMUR_TAG(0x0020, 0x0032), image->position_mm, 3);
  demur_writer_decimals(w, DEMUR_TAG(0x0020, 0x0037), image->orientation, 6);
  if (image->images_in_acquisition > 0)
    demur_writer_integer(w, DEMUR_TAG(0x0020, 0x1002), image->images_in_acquisition);
  demur_writer_u16(w, DEMUR_TAG(0x0028, 0x0002), 1);
  demur_writer_text(w, DEMUR_TAG(0x0028, 0x0004), DEMUR_VR_CS, "MONOCHROME2");
  demur_writer_u16(w, DEMUR_TAG(0x0028, 0x0010), 16);
  demur_writer_u16(w, DEMUR_TAG(0x0028, 0x0011), 16);
  demur_writer_decimals(w, DEMUR_TAG(0x0028, 0x0030), spacing, 2);
  demur_writer_u16(w, DEMUR_TAG(0x0028, 0x0100), 16);
  demur_writer_u16(w, DEMUR_TAG(0x0028, 0x0101), 12);
  demur_writer_u16(w, DEMUR_TAG(0x0028, 0x0102), 11);
  demur_writer_u16(w, DEMUR_TAG(0x0028, 0x0103), 0);
  demur_writer_decimals(w, DEMUR_TAG(0x0028, 0x1052), &intercept, 1);
  demur_writer_decimals(w, DEMUR_TAG(0x0028, 0x1053), &slope, 1);
  demur_writer_words(w, DEMUR_TAG(0x7FE0, 0x0010), words, G_N_ELEMENTS(words));
  const gboolean saved = demur_writer_save(w, path, &error);
  g_assert_no_error(error);
  g_assert_true(saved);
}

static inline DemurImport *
fixture_import_folder(const char *folder) {
  const char *paths[] = {folder, NULL};
  g_autoptr(GError) error = NULL;
  DemurImport *import = demur_import_run(paths, NULL, NULL, NULL, &error);
  g_assert_no_error(error);
  return import;
}
