/* What a family shows beside the sets that a horizon tells of. Right values: the scans between, counted
 * by hand. */
#include <math.h>
#include <string.h>

#include "report/family.h"
#include "support/support.h"
#include "tasks/family-tells.h"

#define N 4000
#define YEAR 3

/* Every tenth scan has the outcome, after 2.5 years; scores fall from scan to scan. */
static DemurCohort *
make_cohort(guint32 *rows, double *scores) {
  static const double yearly[DEMUR_N_YEARS] = {.02, .04, .08, .10, .12, .14};
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  for (size_t i = 0; i < N; i++) {
    g_autofree char *id = g_strdup_printf("p%05zu", i);
    const gboolean event = i % 10 == 0;
    rows[i] = (guint32)demur_cohort_builder_add(builder, id, id, "s", "test", event, &yearly[5],
                                                yearly, NULL);
    demur_cohort_builder_outcome(builder, event ? 2.5 : 6.5,
                                 event ? DEMUR_STATUS_EVENT : DEMUR_STATUS_CENSORED, 6);
    scores[i] = -(double)i;
  }
  g_autoptr(GError) error = NULL;
  DemurCohort *cohort = demur_cohort_builder_finish(builder, "c", "m", "test", "", FALSE, &error);
  g_assert_no_error(error);
  return cohort;
}

/* A horizon that accepts n_accepted, counts outcomes among n_counted there, and tells of 2000 scans
 * (half of them) in its curves. */
static const struct {
  size_t n_accepted, n_counted;
  gboolean curve_told;
  size_t n_of;                    /* shown: the first so many .. */
  size_t less_with, less_without; /* .. without the first so many of each */
  gboolean tells;
} rows_of[] = {
    {3000, 3000, FALSE, 3000, 20, 20, FALSE},
    {3000, 3000, FALSE, 3000, 5, 200, TRUE},
    {3000, 3000, FALSE, 3000, 20, 5, TRUE},  /* few without the outcome */
    {3000, 3000, FALSE, 3000, 0, 0, FALSE},  /* the same set */
    {3000, 2500, FALSE, 2500, 5, 200, TRUE}, /* what counts there is of another set */
    {3000, 0, FALSE, 2500, 5, 200, FALSE},
    {3000, 3000, TRUE, 2000, 5, 200, TRUE}, /* told by a curve alone */
    {3000, 3000, TRUE, 2000, 20, 5, TRUE},
    {3000, 3000, FALSE, 2000, 5, 200, FALSE},
    {3000, 3000, TRUE, 2030, 0, 0, TRUE}, /* what is shown holds it */
};

static void
each_set_that_is_told_counts(void) {
  g_autofree guint32 *rows = g_new(guint32, N);
  g_autofree double *scores = g_new(double, N);
  g_autofree guint8 *shown = g_new(guint8, N);
  g_autoptr(DemurCohort) cohort = make_cohort(rows, scores);
  for (size_t r = 0; r < G_N_ELEMENTS(rows_of); r++) {
    DemurOperatingPoint at = {.threshold = -(double)rows_of[r].n_accepted + 1,
                              .n_accepted = rows_of[r].n_accepted,
                              .n_counted = rows_of[r].n_counted};
    g_autofree DemurMethodResult *method = g_new0(DemurMethodResult, 1);
    method->n_at = 1;
    method->at = &at;
    for (size_t c = 0; c < DEMUR_N_COARSE_COVERAGES; c++) {
      DemurCurvePoint *point = &method->curve[DEMUR_MEASURE_OE_RATIO][c];
      point->coverage = .05 * (double)(c + 1);
      point->withheld = c + 1 < DEMUR_N_COARSE_COVERAGES && (c != 9 || !rows_of[r].curve_told);
    }
    size_t with = 0, without = 0;
    for (size_t i = 0; i < N; i++) {
      const gboolean event = i % 10 == 0;
      shown[i] = i < rows_of[r].n_of &&
                 (event ? with++ >= rows_of[r].less_with : without++ >= rows_of[r].less_without);
    }
    if (demur_family_tells_of_few(cohort, method, scores, rows, shown, N, YEAR) != rows_of[r].tells)
      g_error("row %zu: not %d", r, rows_of[r].tells);
  }
}

/* By hand: of 1000 scans, and of those shown. */
static void
few_without_the_outcome_are_withheld(void) {
  static const struct {
    double observed;
    size_t n_shown;
    double observed_shown;
    gboolean all_withheld, shown_withheld;
  } rows[] = {{.995, 700, .5, TRUE, TRUE},  /* 5 without it */
              {.5, 700, .5, FALSE, FALSE},  /* 350 and 350 of each */
              {.5, 700, .99, FALSE, TRUE},  /* 7 without it are shown */
              {.5, 900, .45, FALSE, TRUE}}; /* 5 without it are held back */
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    const DemurFamilyYear year = {YEAR,
                                  {1000, .4, rows[r].observed, NAN, NAN},
                                  {rows[r].n_shown, .4, rows[r].observed_shown, NAN, NAN},
                                  FALSE};
    const DemurFamilyReport family = {.shown_known = TRUE};
    g_assert_cmpint(demur_family_withholds(&family, &year, FALSE), ==, rows[r].all_withheld);
    g_assert_cmpint(demur_family_withholds(&family, &year, TRUE), ==, rows[r].shown_withheld);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/tasks/family-tells/sets", each_set_that_is_told_counts);
  g_test_add_func("/tasks/family-tells/without", few_without_the_outcome_are_withheld);
  return g_test_run();
}
