/* The table of measures: the guide tells every row of it, and no two share a name. */
#include <string.h>

#include "metrics/measures.h"
#include "support/support.h"

static const char *const better[] = {[DEMUR_BETTER_LOW] = "low",
                                     [DEMUR_BETTER_HIGH] = "high",
                                     [DEMUR_BETTER_ZERO] = "near 0",
                                     [DEMUR_BETTER_ONE] = "near 1",
                                     [DEMUR_BETTER_NEITHER] = ""};

static void
the_guide_tells_every_measure(void) {
  g_autofree char *path = g_test_build_filename(G_TEST_DIST, "docs", "commands.md", NULL);
  g_autofree char *guide = NULL;
  if (!g_file_get_contents(path, &guide, NULL, NULL)) {
    g_test_skip("docs/commands.md is not found: set G_TEST_SRCDIR to the source folder");
    return;
  }
  for (DemurMeasure measure = 0; measure < DEMUR_N_MEASURES; measure++) {
    const DemurMeasureRow *row = demur_measure_row(measure);
    const gboolean same = strcmp(row->name, row->multi_name) == 0;
    g_autofree char *line = g_strdup_printf(
        "| `%s`%s%s%s | %s | %s | %s | %s |\n", row->name, same ? "" : ", `",
        same ? "" : row->multi_name, same ? "" : "`", row->title, better[row->better],
        row->has_auc ? "yes" : "", row->has_interval ? "yes" : "");
    if (strstr(guide, line) == NULL)
      g_error("docs/commands.md lacks the row %s", line);
  }
}

static void
a_name_is_of_one_measure(void) {
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (DemurMeasure measure = 0; measure < DEMUR_N_MEASURES; measure++) {
    const DemurMeasureRow *row = demur_measure_row(measure);
    g_assert_nonnull(row->name);
    g_assert_true(g_hash_table_add(seen, (gpointer)row->name));
    g_assert_true(strcmp(row->name, row->multi_name) == 0 ||
                  g_hash_table_add(seen, (gpointer)row->multi_name));
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/names/guide", the_guide_tells_every_measure);
  g_test_add_func("/metrics/names/one-measure", a_name_is_of_one_measure);
  return g_test_run();
}
