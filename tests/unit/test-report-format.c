/* Numbers as the report prints them. Right values: written by hand after the design's first page
 * (".031", "12.9 %", "−.013") and the rules of report/format.h. */
#include "report/chart-kit.h"
#include "report/format.h"

#include <math.h>

static void
test_decimals(void) {
  static const struct {
    double value;
    int decimals;
    const char *text;
  } cases[] = {{0.031, 3, ".031"},    {-0.013, 3, "−.013"}, {0, 3, ".000"},    {-0.0001, 3, ".000"},
               {1, 3, "1.000"},       {0.9996, 3, "1.000"}, {-1.5, 1, "−1.5"}, {12.25, 2, "12.25"},
               {0.05694, 4, ".0569"}, {3, 0, "3"},          {0.2, 0, "0"},     {NAN, 3, "–"},
               {INFINITY, 3, "–"}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = demur_text_decimal(cases[i].value, cases[i].decimals);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
  g_autofree char *tiny = demur_text_significant(0.0012345, 3),
                  *usual = demur_text_significant(0.412, 3), *none = demur_text_significant(0, 3);
  g_assert_cmpstr(tiny, ==, ".00123");
  g_assert_cmpstr(usual, ==, ".412");
  g_assert_cmpstr(none, ==, ".000");
  g_autofree char *plus = demur_text_signed(0.004, 3), *minus = demur_text_signed(-0.004, 3),
                  *zero = demur_text_signed(0, 3);
  g_assert_cmpstr(plus, ==, "+.004");
  g_assert_cmpstr(minus, ==, "−.004");
  g_assert_cmpstr(zero, ==, ".000");
}

static void
test_percents(void) {
  static const struct {
    double share;
    const char *text;
  } cases[] = {{0.129, "12.9\u00a0%"}, {0.9, "90.0\u00a0%"},   {0, "0\u00a0%"},
               {1, "100\u00a0%"},      {0.0004, "0.0\u00a0%"}, {NAN, "–"}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = demur_text_percent(cases[i].share, 1);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
  static const struct {
    double coverage;
    const char *text;
  } asked[] = {{0.9, "90\u00a0%"},
               {0.55, "55\u00a0%"},
               {0.925, "92.5\u00a0%"},
               {1, "100\u00a0%"},
               {0.12345, "12.35\u00a0%"}};
  for (size_t i = 0; i < G_N_ELEMENTS(asked); i++) {
    g_autofree char *text = demur_text_coverage(asked[i].coverage);
    g_assert_cmpstr(text, ==, asked[i].text);
  }
}

static void
test_counts_and_pairs(void) {
  static const struct {
    guint64 n;
    const char *text;
  } cases[] = {{0, "0"}, {999, "999"}, {1337, "1,337"}, {1000000, "1,000,000"}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = demur_text_count(cases[i].n);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
  g_autofree char *one = demur_text_counted(1, "scan", "scans"),
                  *many = demur_text_counted(2, "scan", "scans");
  g_assert_cmpstr(one, ==, "1\u00a0scan");
  g_assert_cmpstr(many, ==, "2\u00a0scans");
  g_autofree char *both = demur_text_mean_sd(0.031, 0.004, 3),
                  *mean = demur_text_mean_sd(0.031, NAN, 3), *none = demur_text_mean_sd(NAN, 1, 3);
  g_assert_cmpstr(both, ==, ".031\u00a0±\u00a0.004");
  g_assert_cmpstr(mean, ==, ".031");
  g_assert_cmpstr(none, ==, "–");
}

static void
test_digests_and_dates(void) {
  g_autofree char *digest = demur_text_digest("9f2c77a041d3ffff0000"),
                  *none = demur_text_digest(NULL);
  g_assert_cmpstr(digest, ==, "9f2c 77a0 41d3");
  g_assert_cmpstr(none, ==, "not recorded");
  g_autofree char *date = demur_text_date("2026-11-27T09:12:00Z"),
                  *other = demur_text_date("last week"), *wrong = demur_text_date("2026-13-01");
  g_assert_cmpstr(date, ==, "27\u00a0November\u00a02026");
  g_assert_cmpstr(other, ==, "last week");
  g_assert_cmpstr(wrong, ==, "2026-13-01");
}

/* Ticks at 1, 2 or 5 times a power of ten, worked by hand. */
static void
test_axes(void) {
  static const struct {
    double low, high;
    int n;
    double axis_low, axis_high, step;
    int decimals;
  } cases[] = {{0, 0.047, 4, 0, 0.05, 0.01, 2},
               {0, 0.4, 4, 0, 0.4, 0.1, 1},
               {0.913, 0.957, 4, 0.91, 0.96, 0.01, 2},
               {0, 380, 3, 0, 400, 100, 0},
               {-0.013, 0.021, 4, -0.02, 0.03, 0.01, 2},
               {2, 2, 4, 0, 1, 0.2, 1},
               {0, NAN, 4, 0, 1, 0.2, 1},
               {0, 30000, 3, 0, 30000, 10000, 0}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    const DemurAxis axis = demur_axis_nice(cases[i].low, cases[i].high, cases[i].n);
    g_assert_cmpfloat_with_epsilon(axis.low, cases[i].axis_low, 1e-12 + 1e-9 * cases[i].step);
    g_assert_cmpfloat_with_epsilon(axis.high, cases[i].axis_high, 1e-9 * cases[i].step);
    g_assert_cmpfloat_with_epsilon(axis.step, cases[i].step, 1e-9 * cases[i].step);
    g_assert_cmpint(axis.decimals, ==, cases[i].decimals);
  }
  const DemurAxis axis = demur_axis_nice(0, 0.047, 4);
  g_autofree char *zero = demur_axis_text(&axis, 0, DEMUR_NUMBER_DECIMAL),
                  *tick = demur_axis_text(&axis, 3 * axis.step, DEMUR_NUMBER_DECIMAL),
                  *share = demur_axis_text(&axis, 3 * axis.step, DEMUR_NUMBER_PERCENT);
  g_assert_cmpstr(zero, ==, "0");
  g_assert_cmpstr(tick, ==, ".03");
  g_assert_cmpstr(share, ==, "3\u00a0%");
}

/* The reader's own marks on this thread; the report's way is back with NULL. */
static void
test_numbers_in_the_readers_way(void) {
  static const struct {
    const char *point, *group, *decimal, *percent, *count;
  } rows[] = {{NULL, NULL, ".95", "1.5\302\240%", "1,337,000"},
              {",", ".", "0,95", "1,5\302\240%", "1.337.000"},
              {",", "\342\200\257", "0,95", "1,5\302\240%", "1\342\200\257337\342\200\257000"},
              {NULL, NULL, ".95", "1.5\302\240%", "1,337,000"}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    demur_text_marks_use(rows[i].point, rows[i].group);
    g_autofree char *decimal = demur_text_decimal(0.95, 2);
    g_autofree char *percent = demur_text_percent(0.015, 1);
    g_autofree char *count = demur_text_count(1337000);
    g_autofree char *mm = demur_text_formatted("%.2f", 1.25);
    g_assert_cmpstr(decimal, ==, rows[i].decimal);
    g_assert_cmpstr(percent, ==, rows[i].percent);
    g_assert_cmpstr(count, ==, rows[i].count);
    g_assert_cmpstr(mm, ==, rows[i].point != NULL ? "1,25" : "1.25");
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/report/format/decimals-have-no-leading-zero-and-a-true-minus", test_decimals);
  g_test_add_func("/report/format/percents-keep-their-decimals", test_percents);
  g_test_add_func("/report/format/counts-and-spreads", test_counts_and_pairs);
  g_test_add_func("/report/format/digests-and-dates", test_digests_and_dates);
  g_test_add_func("/report/format/axes-have-round-ticks", test_axes);
  g_test_add_func("/report/format/reader", test_numbers_in_the_readers_way);
  return g_test_run();
}
