/* Cells that a spreadsheet would run: made harmless where a table is written, and as they were
 * where it is read. What runs is from the vendors' manuals: a cell that begins with = + - @, in
 * full width too, behind blanks, tabs and line ends as well. */
#include <string.h>

#include <glib/gstdio.h>

#include "base/csv-field.h"
#include "cohort/table.h"
#include "support/support.h"

static const struct {
  const char *text, *cell;
} cells[] = {
    {"", ""},
    {"plain", "plain"},
    {"O'Neill", "O'Neill"},
    {"'quoted'", "'quoted'"},
    {"=1+1", "'=1+1"},
    {"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
    {"=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""},
    {"+1+1", "'+1+1"},
    {"-1+1", "'-1+1"},
    {"@SUM(A1)", "'@SUM(A1)"},
    {"\t=1", "\"'\t=1\""},
    {"\r=1", "\"'\r=1\""},
    {"\n=1", "\"'\n=1\""},
    {" =1", "\"' =1\""},
    {"\tx", "\"'\tx\""},
    {"'=1", "''=1"},
    {"''=1", "'''=1"},
    {"\xef\xbc\x9d"
     "1",
     "'\xef\xbc\x9d"
     "1"},
    {"\xef\xbc\xa0"
     "x",
     "'\xef\xbc\xa0"
     "x"},
    {"-", "'-"},
    {"-0.25", "-0.25"},
    {"-3e-05", "-3e-05"},
    {"+5", "'+5"},
    {"-0.25x", "'-0.25x"},
    {"a=1", "a=1"},
};

static void
test_written(void) {
  for (size_t i = 0; i < G_N_ELEMENTS(cells); i++) {
    g_autoptr(GString) line = g_string_new(NULL);
    demur_csv_append(line, cells[i].text);
    g_assert_cmpstr(line->str, ==, cells[i].cell);
  }
}

static void
test_read_back(void) {
  g_autoptr(GString) text = g_string_new("name,n\n");
  for (size_t i = 0; i < G_N_ELEMENTS(cells); i++) {
    demur_csv_append(text, cells[i].text);
    g_string_append_printf(text, ",%zu\n", i);
  }
  g_autofree char *folder = g_dir_make_tmp("demur-cells-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "t.csv", NULL);
  g_autoptr(GError) error = NULL;
  g_assert_true(g_file_set_contents(path, text->str, (gssize)text->len, &error));
  g_autoptr(DemurTable) table = demur_table_open(path, &error);
  g_assert_no_error(error);
  const DemurTableField *fields;
  size_t n;
  g_assert_true(demur_table_next(table, &fields, &n, &error));
  for (size_t i = 0; i < G_N_ELEMENTS(cells); i++) {
    g_assert_true(demur_table_next(table, &fields, &n, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(n, ==, 2);
    /* Blanks around an unquoted field are no part of it. */
    g_assert_cmpstr(fields[0].text, ==, cells[i].text);
    g_assert_cmpuint(fields[0].length, ==, strlen(cells[i].text));
  }
  g_unlink(path);
  g_rmdir(folder);
}

static void
test_raw(void) {
  if (g_test_subprocess()) {
    demur_csv_use_raw_cells();
    g_autoptr(GString) line = g_string_new(NULL);
    demur_csv_append(line, "=1+1");
    g_assert_cmpstr(line->str, ==, "=1+1");
    return;
  }
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed();
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/cohort/cells/written", test_written);
  g_test_add_func("/cohort/cells/read-back", test_read_back);
  g_test_add_func("/cohort/cells/raw", test_raw);
  return g_test_run();
}
