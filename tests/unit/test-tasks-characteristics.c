/* Table 1. Right values: counted by hand from seven scans; quartiles as R's quantile (type 7). */
#include <math.h>
#include <string.h>

#include "tasks/report-characteristics.h"

static void
test_by_hand(void) {
  static char *const splits[] = {"a", "b"};
  static char *const sexes[] = {"f", "m", ""};
  static char *const ages[] = {"50", "51", "52", "60", "61", "70", "72"};
  guint32 split[] = {0, 0, 0, 0, 1, 1, 1}, sex[] = {0, 0, 1, 2, 1, 1, 0},
          age[] = {0, 1, 2, 3, 4, 5, 6};
  double risks[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
  DemurAttribute attributes[] = {{(char *)"sex", 3, (char **)sexes, sex},
                                 {(char *)"age", 7, (char **)ages, age},
                                 {(char *)"shift", 3, (char **)sexes, sex}};
  static char *const sites[] = {"S"};
  guint32 site[7] = {0};
  gint32 labels[7] = {0};
  DemurCohort cohort = {.n_scans = 7,
                        .n_classes = 2,
                        .n_sites = 1,
                        .site_names = (char **)sites,
                        .sites = site,
                        .labels = labels,
                        .n_splits = 2,
                        .split_names = (char **)splits,
                        .splits = split,
                        .risks = risks,
                        .n_attributes = G_N_ELEMENTS(attributes),
                        .attributes = attributes};
  g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
  DemurReportCohort facts = {0};
  demur_report_characteristics(&cohort, owned, &facts);
  g_assert_cmpuint(facts.n_characteristics, ==, 5); /* risk, three of sex, age; no shift */
  const DemurReportCharacteristic *rows = facts.characteristics;
  g_assert_cmpstr(rows[0].attribute, ==, "risk");
  g_assert_cmpfloat_with_epsilon(rows[0].low[0], 0.175, 1e-12);
  g_assert_cmpfloat_with_epsilon(rows[0].median[0], 0.25, 1e-12);
  g_assert_cmpfloat_with_epsilon(rows[0].high[1], 0.65, 1e-12);
  g_assert_cmpstr(rows[1].value, ==, "f"); /* three each: in the order of the values */
  g_assert_cmpuint(rows[1].counts[0], ==, 2);
  g_assert_cmpuint(rows[1].counts[1], ==, 1);
  g_assert_cmpstr(rows[2].value, ==, "m");
  g_assert_cmpuint(rows[2].counts[1], ==, 2);
  g_assert_cmpstr(rows[3].value, ==, "not recorded");
  g_assert_cmpuint(rows[3].counts[0], ==, 1);
  g_assert_cmpstr(rows[4].attribute, ==, "age");
  g_assert_null(rows[4].value);
  g_assert_cmpfloat_with_epsilon(rows[4].median[0], 51.5, 1e-12);
  g_assert_cmpfloat_with_epsilon(rows[4].low[1], 65.5, 1e-12);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/tasks/characteristics/by-hand", test_by_hand);
  return g_test_run();
}
