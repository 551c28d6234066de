/* In what unit the values of a series are: PS3.3 C.8.2.1 (RescaleType), C.11.1 (Modality LUT),
 * C.7.6.16.2.11 (Real World Value Mapping), and the words of ImageType, those of makers too. Nothing
 * that is not in Hounsfield units, and no virtual mono-energetic image, is ever to be assessed. */
#include "dicom-object.h"
#include "dicom/deidentify.h"

enum { N_SLICES = 12 };

#define IMAGE_TYPE DEMUR_TAG(0x0008, 0x0008)
#define DESCRIPTION DEMUR_TAG(0x0008, 0x103E)
#define RESCALE_TYPE DEMUR_TAG(0x0028, 0x1054)
#define LUT_TYPE DEMUR_TAG(0x0028, 0x3004)  /* in a Modality LUT */
#define UNIT_CODE DEMUR_TAG(0x0008, 0x0100) /* in a Real World Value Mapping */
#define TWO_UNITS DEMUR_TAG(0x0040, 0x9096) /* .. in one, beside another of HU */

typedef struct {
  guint32 tag;
  const char *value;
  const char *rule; /* that the series breaks; NULL: eligible, and nothing is told of a unit */
} Row;

static const Row rows[] = {
    {RESCALE_TYPE, "HU", NULL},
    {RESCALE_TYPE, " hu ", NULL},
    {RESCALE_TYPE, "", NULL},
    {RESCALE_TYPE, "US", "not-hu"},
    {RESCALE_TYPE, "MGML", "not-hu"},
    {RESCALE_TYPE, "mg/ml", "not-hu"},
    {RESCALE_TYPE, "Z_EFF", "not-hu"},
    {RESCALE_TYPE, "HU_MOD", "not-hu"},
    {LUT_TYPE, "MGML", "not-hu"},
    {LUT_TYPE, "HU", "not-hu"}, /* by a table that is not gone through */
    {LUT_TYPE, "", "not-hu"},
    {UNIT_CODE, "[hnsf'U]", NULL},
    {UNIT_CODE, "HU", NULL},
    {UNIT_CODE, "mg/mL", "not-hu"},
    {UNIT_CODE, "{Zeff}", "not-hu"},
    {TWO_UNITS, "mg/mL", NULL},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\CT_SOM5 SPI", NULL},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\CT_SOM5 MON", NULL}, /* monitoring of a bolus */
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\MONOCHROME2", NULL},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\VOLUME\\MAT_SPECIFIC", "not-hu"},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\IODINE_MAP", "not-hu"},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\CT_SOM7 SPI DUAL\\VNC", "not-hu"},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\GSI VUE", "not-hu"},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\Z_EFF", "not-hu"},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\RHO_Z", "not-hu"},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\DE_PBV", "not-hu"},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\VMI", "mono-energetic"},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\VOLUME\\MONOE", "mono-energetic"},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\CT_SOM7 SPI DUAL\\MONOPLUS_40", "mono-energetic"},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\GSI MONOCHROMATIC", "mono-energetic"},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\DE_MONO", "mono-energetic"},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\MONO70KEV", "mono-energetic"},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\VMI_70", "mono-energetic"},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\MONOTONE", NULL},
    {IMAGE_TYPE, "DERIVED\\PRIMARY\\AXIAL\\MD_WATER", "not-hu"},
    {IMAGE_TYPE, "DERIVED\\PRIMARY\\AXIAL\\JODKARTE", "not-hu"},
    {IMAGE_TYPE, "DERIVED\\PRIMARY\\AXIAL\\VNCA", "not-hu"},
    {IMAGE_TYPE, "ORIGINAL\\PRIMARY\\AXIAL\\SPECTRAL_70KEV", "mono-energetic"},
    {DESCRIPTION, "Thorax Lunge 1.0 B60", NULL},
    {DESCRIPTION, "Iodine Map", "spectral-words"},
    {DESCRIPTION, "Chest MD Iodine (Water)", "spectral-words"},
    {DESCRIPTION, "Mono+ 40keV", "spectral-words"},
    {DESCRIPTION, "Virtuell Nativ", "spectral-words"},
    {DESCRIPTION, "rho/z", "spectral-words"},
};

/* A mapping with an item for each unit; second NULL: one. */
static void
put_mapping(GArray *object, const char *unit, const char *second) {
  g_autoptr(GByteArray) items = g_byte_array_new();
  for (const char *each = unit; each != NULL; each = each == unit ? second : NULL) {
    g_autoptr(GArray) code = object_new(), mapping = object_new();
    object_text(code, DEMUR_TAG(0x0008, 0x0100), "SH", each);
    object_text(code, DEMUR_TAG(0x0008, 0x0102), "SH", "UCUM");
    object_sequence(mapping, DEMUR_TAG(0x0040, 0x08EA), code);
    g_autoptr(GByteArray) item = object_item(mapping);
    g_byte_array_append(items, item->data, item->len);
  }
  object_put(object, DEMUR_TAG(0x0040, 0x9096), "SQ", items->data, items->len);
}

static void
put(GArray *object, const Row *row) {
  if (row->tag == UNIT_CODE || row->tag == TWO_UNITS) {
    put_mapping(object, row->value, row->tag == TWO_UNITS ? "[hnsf'U]" : NULL);
  } else if (row->tag == LUT_TYPE) {
    static const guint16 descriptor[3] = {4, 0, 16}, table[4] = {0, 1, 2, 3};
    g_autoptr(GArray) lut = object_new();
    object_put(lut, DEMUR_TAG(0x0028, 0x3002), "US", descriptor, sizeof descriptor);
    object_text(lut, LUT_TYPE, "LO", row->value);
    object_put(lut, DEMUR_TAG(0x0028, 0x3006), "OW", table, sizeof table);
    object_sequence(object, DEMUR_TAG(0x0028, 0x3000), lut);
  } else {
    object_text(object, row->tag, row->tag == IMAGE_TYPE ? "CS" : "LO", row->value);
  }
}

/* only: the slice that has it; -1: all. */
static DemurImport *
import_row(const Row *row, int only) {
  g_autofree char *folder = fixture_folder();
  for (int k = 0; k < N_SLICES; k++) {
    g_autoptr(GArray) object = object_slice(0, k, 2.5 * k, k + 1);
    if (only < 0 || only == k)
      put(object, row);
    g_autofree char *name = g_strdup_printf("%02d.dcm", k);
    object_save(object, folder, name);
  }
  DemurImport *import = fixture_import_folder(folder);
  fixture_remove(folder);
  return import;
}

static void
test_every_way_of_telling_a_unit(void) {
  static const char *const rules[] = {"not-hu", "mono-energetic", "spectral-words"};
  for (int implicit = 0; implicit < 2; implicit++)
    for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
      const Row *row = &rows[r];
      object_is_implicit = implicit != 0;
      g_test_message("%08x %s%s", row->tag, row->value, implicit != 0 ? ", implicit" : "");
      g_autoptr(DemurImport) import = import_row(row, -1);
      const DemurSeries *series = fixture_series(import, 0);
      for (gsize i = 0; i < G_N_ELEMENTS(rules); i++)
        g_assert_cmpint(demur_series_found(series, rules[i]), ==,
                        g_strcmp0(row->rule, rules[i]) == 0);
      g_assert_cmpint(series->eligible, ==,
                      row->rule == NULL || g_str_equal(row->rule, "spectral-words"));
    }
  object_is_implicit = FALSE;
}

/* One slice in another unit spoils the series, whatever tells it. */
static void
test_one_slice_of_another_unit(void) {
  for (gsize r = 0; r < G_N_ELEMENTS(rows); r++)
    if (g_strcmp0(rows[r].rule, "not-hu") == 0 || g_strcmp0(rows[r].rule, "mono-energetic") == 0)
      for (int only = 0; only < N_SLICES; only += N_SLICES - 1) {
        g_test_message("%s in slice %d", rows[r].value, only);
        g_autoptr(DemurImport) import = import_row(&rows[r], only);
        for (guint i = 0; i < import->series->len; i++)
          g_assert_true(!fixture_series(import, i)->eligible ||
                        fixture_series(import, i)->n_slices < N_SLICES);
      }
}

/* A de-identified copy of what is no image in Hounsfield units says so too. */
static void
test_a_copy_keeps_its_unit(void) {
  static const guint8 key[32] = {1};
  g_autoptr(DemurParallel) parallel = demur_parallel_new(1);
  for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
    const Row *row = &rows[r];
    if (row->tag == DESCRIPTION) /* does not go along, and decides nothing */
      continue;
    g_test_message("%08x %s", row->tag, row->value);
    g_autofree char *folder = fixture_folder();
    g_autofree char *in = g_build_filename(folder, "in", NULL);
    g_autofree char *out = g_build_filename(folder, "out", NULL);
    g_mkdir(in, 0700);
    for (int k = 0; k < N_SLICES; k++) {
      g_autoptr(GArray) object = object_slice(0, k, 2.5 * k, k + 1);
      put(object, row);
      g_autofree char *name = g_strdup_printf("%02d.dcm", k);
      object_save(object, in, name);
    }
    g_autoptr(GError) error = NULL;
    const char *const paths[] = {in, NULL};
    g_autoptr(DemurDeidentified) result =
        demur_deidentify(paths, out, key, sizeof key, parallel, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(result->n_written, ==, N_SLICES);
    g_autoptr(DemurImport) import = fixture_import_folder(out);
    g_assert_cmpint(fixture_series(import, 0)->eligible, ==, row->rule == NULL);
    if (row->rule != NULL)
      g_assert_true(demur_series_found(fixture_series(import, 0), row->rule));
    fixture_remove(folder);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/units/every-way-of-telling-a-unit", test_every_way_of_telling_a_unit);
  g_test_add_func("/dicom/units/one-slice-of-another-unit", test_one_slice_of_another_unit);
  g_test_add_func("/dicom/units/a-copy-keeps-its-unit", test_a_copy_keeps_its_unit);
  return g_test_run();
}
