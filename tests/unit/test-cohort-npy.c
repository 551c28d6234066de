/* .npy files written here byte by byte by NumPy's published format; halves by IEEE 754's own rule.
 */
#include <string.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "cohort/import.h"
#include "cohort/npy.h"
#include "support/support.h"

static char *path;

static void
write_npy(int version, const char *descr, const char *order, const char *shape, const void *data,
          size_t n_bytes) {
  g_autofree char *dictionary =
      g_strdup_printf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, order, shape);
  g_autoptr(GByteArray) file = g_byte_array_new();
  const guint8 head[] = {0x93, 'N', 'U', 'M', 'P', 'Y', (guint8)version, 0};
  const size_t length = strlen(dictionary);
  const guint8 size[] = {(guint8)(length & 0xff), (guint8)(length >> 8), 0, 0};
  g_byte_array_append(file, head, sizeof head);
  g_byte_array_append(file, size, version == 1 ? 2 : 4);
  g_byte_array_append(file, (const guint8 *)dictionary, (guint)length);
  g_byte_array_append(file, data, (guint)n_bytes);
  g_autoptr(GError) error = NULL;
  g_file_set_contents(path, (const char *)file->data, file->len, &error);
  g_assert_no_error(error);
}

static void
check(const float expected[6]) {
  g_autoptr(GError) error = NULL;
  size_t n, d;
  float *values = demur_npy_read(path, &n, &d, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(n, ==, 2);
  g_assert_cmpuint(d, ==, 3);
  for (int i = 0; i < 6; i++)
    g_assert_cmpfloat(values[i], ==, expected[i]);
  g_aligned_free(values);
}

static void
test_reads_every_layout(void) {
  const float expected[] = {1.0f, -2.0f, 0.5f, 65504.0f, 5.9604644775390625e-08f, 0.0f};
  /* 1, -2, .5, the largest half, the smallest one, 0 */
  const guint16 halves[] = {0x3c00, 0xc000, 0x3800, 0x7bff, 0x0001, 0x0000};
  double doubles[6];
  guint16 big_halves[6];
  guint32 big_floats[6];
  float fortran[6];
  for (int i = 0; i < 6; i++) {
    doubles[i] = expected[i];
    big_halves[i] = (guint16)GUINT16_SWAP_LE_BE(halves[i]);
    guint32 bits;
    memcpy(&bits, &expected[i], 4);
    big_floats[i] = GUINT32_SWAP_LE_BE(bits);
    fortran[i % 3 * 2 + i / 3] = expected[i];
  }
  write_npy(1, "<f2", "False", "(2, 3)", halves, sizeof halves);
  check(expected);
  write_npy(1, ">f2", "False", "(2, 3)", big_halves, sizeof big_halves);
  check(expected);
  write_npy(2, "<f4", "False", "(2, 3)", expected, sizeof expected);
  check(expected);
  write_npy(3, ">f4", "False", "(2, 3)", big_floats, sizeof big_floats);
  check(expected);
  write_npy(1, "<f8", "False", "(2, 3)", doubles, sizeof doubles);
  check(expected);
  write_npy(1, "<f4", "True", "(2, 3)", fortran, sizeof fortran);
  check(expected);
}

static void
test_refuses(void) {
  const float data[6] = {0};
  const guint16 infinite[6] = {0, 0, 0, 0, 0x7c00, 0};
  static const struct {
    const char *descr, *order, *shape;
    size_t n_bytes;
    const char *says;
  } cases[] = {
      {"|O", "False", "(2, 3)", 24, "Python objects"},
      {"<i8", "False", "(2, 3)", 24, "of type"},
      {"<f4", "False", "(6,)", 24, "two-dimensional"},
      {"<f4", "False", "(2, 3, 1)", 24, "two-dimensional"},
      {"<f4", "False", "(2, 3)", 20, "bytes follow"},
      {"<f4", "False", "(3, 3)", 24, "bytes follow"},
      {"<f4", "False", "(9223372036854775807, 9223372036854775807)", 24, "bytes follow"},
      {"<f4", "Maybe", "(2, 3)", 24, "order"},
      {"<f4", "False", "(0, 3)", 0, "empty"},
  };
  size_t n, d;
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    write_npy(1, cases[i].descr, cases[i].order, cases[i].shape, data, cases[i].n_bytes);
    g_assert_null(demur_npy_read(path, &n, &d, NULL, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    if (strstr(error->message, cases[i].says) == NULL)
      g_error("case %zu: \"%s\" lacks \"%s\"", i, error->message, cases[i].says);
  }
  g_autoptr(GError) error = NULL;
  write_npy(1, "<f2", "False", "(2, 3)", infinite, sizeof infinite);
  g_assert_null(demur_npy_read(path, &n, &d, NULL, &error));
  g_assert_nonnull(strstr(error->message, "row 1, column 1"));
  g_clear_error(&error);
  g_file_set_contents(path, "PK\003\004 no numpy", -1, NULL);
  g_assert_null(demur_npy_read(path, &n, &d, NULL, &error));
  g_assert_nonnull(strstr(error->message, "not an .npy file"));
}

/* Three scans; ids in another order put each row where its scan is. */
static void
test_joins(void) {
  g_autofree char *table = g_strconcat(path, ".csv", NULL), *ids = g_strconcat(path, ".ids", NULL);
  g_file_set_contents(table,
                      "patient_id,site,split,label,risk\na,A,test,1,0\nb,A,test,1,0\n"
                      "c,A,test,1,0\n",
                      -1, NULL);
  const float data[] = {1, 2, 3, 4, 5, 6};
  write_npy(1, "<f4", "False", "(3, 2)", data, sizeof data);
  DemurImportOptions options = {.name = "x", .embeddings_path = path};
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) warnings = NULL;
  g_autoptr(DemurCohort) by_row = demur_cohort_import(table, &options, NULL, &warnings, &error);
  g_assert_no_error(error);
  g_assert_cmpint(((const DemurTableWarning *)warnings->pdata[0])->kind, ==, DEMUR_TABLE_BY_ORDER);
  g_assert_cmpfloat(by_row->embeddings[2], ==, 3.0f);

  options.embedding_ids_path = ids;
  static const struct {
    const char *text;
    const char *says; /* NULL: fine */
  } cases[] = {{"scan_id\nb\nc\na\n", NULL},
               {"b\nc\na\n", NULL},
               {"b\nc\n", "2 scan_ids where the table has 3"},
               {"b\nc\nb\n", "line 3, column 1: this scan_id stands here a second time"},
               {"b\nc\nx\n", "line 3, column 1: this scan_id is not in the cohort table"}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_file_set_contents(ids, cases[i].text, -1, NULL);
    g_autoptr(GError) fault = NULL;
    g_autoptr(DemurCohort) c = demur_cohort_import(table, &options, NULL, NULL, &fault);
    if (cases[i].says == NULL) {
      g_assert_no_error(fault);
      const float expected[] = {5, 6, 1, 2, 3, 4};
      for (int k = 0; k < 6; k++)
        g_assert_cmpfloat(c->embeddings[k], ==, expected[k]);
    } else {
      g_assert_null(c);
      g_assert_nonnull(strstr(fault->message, cases[i].says));
    }
  }

  write_npy(1, "<f4", "False", "(2, 3)", data, sizeof data);
  options.embedding_ids_path = NULL;
  g_assert_null(demur_cohort_import(table, &options, NULL, NULL, &error));
  g_assert_nonnull(strstr(error->message, "2 rows where"));
  g_unlink(table);
  g_unlink(ids);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autofree char *folder = g_dir_make_tmp("demur-npy-XXXXXX", NULL);
  path = g_build_filename(folder, "array.npy", NULL);
  g_test_add_func("/cohort/npy/reads-every-layout", test_reads_every_layout);
  g_test_add_func("/cohort/npy/refuses", test_refuses);
  g_test_add_func("/cohort/npy/joins-by-order-or-ids", test_joins);
  const int status = g_test_run();
  g_unlink(path);
  g_rmdir(folder);
  g_free(path);
  return status;
}
