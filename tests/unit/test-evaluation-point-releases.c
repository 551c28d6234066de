/* Which sets of accepted scans are told of by numbers that count outcomes. Right values: worked by
 * hand on splits whose scores order the scans, and the law that two sets that are told differ by
 * enough of each label. */
#include <math.h>

#include "evaluation/evaluate.h"
#include "evaluation/point-releases.h"
#include "support/support.h"

/* n scans in descending score, every `each`-th with the outcome, of sites that take turns; a risk
 * that knows nothing. */
typedef struct {
  DemurCohort *cohort;
  guint32 *rows;
  DemurSample *sample;
  GPtrArray *methods; /* the selector "s" */
} World;

static World
world_new(size_t n, size_t each) {
  World w = {0};
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  for (size_t i = 0; i < n; i++) {
    g_autofree char *id = g_strdup_printf("p%05zu", i), *site = g_strdup_printf("S%zu", i % 2);
    const double risk = 0.1 + 0.0001 * (double)(i * 7919 % n);
    demur_cohort_builder_add(builder, id, id, site, "test", i % each == 0 ? 1 : 0, &risk, NULL,
                             NULL);
  }
  g_autoptr(GError) error = NULL;
  w.cohort = demur_cohort_builder_finish(builder, "c", "m", "test", "", FALSE, &error);
  g_assert_no_error(error);
  size_t n_rows;
  w.rows = demur_cohort_rows(w.cohort, "test", &n_rows, &error);
  w.sample = demur_sample_new(w.cohort, w.rows, n_rows, "test", &error);
  g_assert_no_error(error);
  g_autofree double *scores = g_new(double, n);
  for (size_t i = 0; i < n; i++) /* the scan's number is that of its row */
    scores[i] = -(double)w.sample->rows[i];
  w.methods = demur_methods_array_new();
  demur_methods_add(w.methods, DEMUR_METHOD_SELECTOR, "s", "selector s", scores, n);
  return w;
}

static void
world_clear(World *w) {
  g_ptr_array_unref(w->methods);
  demur_sample_free(w->sample);
  g_free(w->rows);
  demur_cohort_unref(w->cohort);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(World, world_clear)

static DemurEvaluation *
evaluate(const World *w, gboolean released, const char *const *group_by) {
  DemurEvaluateInput input;
  demur_evaluate_input_init(&input);
  input.cohort = w->cohort;
  input.split = "test";
  input.n_bootstrap = 10;
  input.n_noise_draws = 5;
  input.n_resamples = 1;
  input.net_benefit_threshold = 0.05;
  input.group_by = group_by;
  input.released = released;
  g_autoptr(GError) error = NULL;
  DemurEvaluation *e =
      demur_evaluate_methods(&input, w->sample, w->methods, w->rows, NULL, NULL, &error);
  g_assert_no_error(error);
  return e;
}

/* 400 scans, 40 outcomes evenly over the scores: 10 outcomes are a quarter. .9 refuses 4, .7 refuses
 * 12 and .5 is 8 outcomes away from it; .45 is 10 (18 kept, 22 refused), then .2 (8 kept) is not. */
static void
test_sets_by_hand(void) {
  static const struct {
    size_t n, each, n_told;
    double told[3];
  } rows[] = {{400, 10, 2, {0.7, 0.45}}, {4000, 10, 19, {0.9, 0.7, 0.5}},
              {400, 40, 0, {0}},   /* 10 outcomes: each set has, or lacks, fewer */
              {400, 20, 1, {0.5}}, /* 20: 10 and 10 */
              {40, 2, 1, {0.5}},   /* as many with as without */
              {30, 2, 0, {0}},           {60, 1, 3, {0.7, 0.5, 0.3}}}; /* one label alone */
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_auto(World) w = world_new(rows[r].n, rows[r].each);
    const DemurToldCoverages told = demur_told_coverages(w.sample, w.methods->pdata[0]);
    g_assert_cmpuint(told.n, ==, rows[r].n_told);
    for (size_t t = 0; t < MIN(told.n, 3); t++)
      g_assert_cmpfloat(told.coverages[t], ==, rows[r].told[t]);
  }
}

/* Whatever the outcomes: two sets differ by ten of each label, and from none and all. */
static void
test_sets_are_far_apart(void) {
  size_t n_told = 0;
  for (size_t each = 2; each < 40; each++) {
    g_auto(World) w = world_new(100 + 37 * each, each);
    const DemurMethod *method = w.methods->pdata[0];
    const DemurToldCoverages told = demur_told_coverages(w.sample, method);
    n_told += told.n;
    size_t kept[DEMUR_N_TOLD_COVERAGES + 2][2] = {{0}};
    for (size_t t = 0; t < told.n + 1; t++) {
      gssize rank = G_MAXSSIZE;
      if (t < told.n)
        demur_method_threshold(method, 0, w.sample->n, told.coverages[t], &rank);
      for (size_t i = 0; i < w.sample->n; i++)
        if ((gssize)method->ranks[0][i] <= rank)
          kept[t + 1][w.sample->classes[i]]++;
    }
    for (size_t a = 0; a < told.n + 2; a++)
      for (size_t b = 0; b < a; b++)
        for (size_t l = 0; l < 2; l++)
          g_assert_cmpuint(MAX(kept[a][l], kept[b][l]) - MIN(kept[a][l], kept[b][l]), >=,
                           DEMUR_SMALL_CELL);
  }
  g_assert_cmpuint(n_told, >, 60);
}

/* 400 scans, 40 outcomes: .7 is told in full, .9 and .5 are not; what counts is NaN there, errors of
 * many bins and the slope are as before, and AUROC has three decimals. */
static void
test_points_and_curves(void) {
  g_auto(World) w = world_new(400, 10);
  g_autoptr(DemurEvaluation) all = evaluate(&w, FALSE, NULL);
  g_autoptr(DemurEvaluation) e = evaluate(&w, TRUE, NULL);
  const DemurMethodResult *before = &all->methods[0], *after = &e->methods[0];
  static const size_t n_counted[DEMUR_N_OPERATING_COVERAGES] = {0, 280, 0};
  g_assert_cmpuint(after->n_at, ==, DEMUR_N_OPERATING_COVERAGES);
  for (size_t a = 0; a < after->n_at; a++) {
    const DemurOperatingPoint *was = &before->at[a], *is = &after->at[a];
    g_assert_cmpuint(was->n_counted, ==, was->n_accepted);
    g_assert_cmpuint(is->n_counted, ==, n_counted[a]);
    g_assert_cmpuint(is->n_accepted, ==, was->n_accepted);
    g_assert_cmpfloat(is->measures[DEMUR_MEASURE_SBCE2], ==, was->measures[DEMUR_MEASURE_SBCE2]);
    g_assert_cmpfloat(is->measures[DEMUR_MEASURE_SLOPE], ==, was->measures[DEMUR_MEASURE_SLOPE]);
    g_assert_cmpfloat(is->measures[DEMUR_MEASURE_ICI], ==, was->measures[DEMUR_MEASURE_ICI]);
    g_assert_true(a != 1 ||
                  is->measures[DEMUR_MEASURE_OE_RATIO] == was->measures[DEMUR_MEASURE_OE_RATIO]);
    g_assert_true((is->n_counted == 0) == isnan(is->measures[DEMUR_MEASURE_OE_RATIO]));
    g_assert_true((is->n_counted == 0) == isnan(is->decision[3].all));
    g_assert_true((is->n_counted == 0) == (is->n_reliability == 0));
    g_assert_true((is->n_counted == 0) == is->rejected_by_label[1].withheld);
    const double auroc = is->measures[DEMUR_MEASURE_AUROC];
    g_assert_cmpfloat(fabs(auroc - was->measures[DEMUR_MEASURE_AUROC]), <=, a == 1 ? 0.0 : 5e-4);
    g_assert_true(a == 1 || fabs(auroc * 1000.0 - round(auroc * 1000.0)) < 1e-9);
  }
  const DemurToldCoverages told = demur_told_coverages(w.sample, w.methods->pdata[0]),
                           said = demur_told_coverages_of_result(after);
  g_assert_cmpuint(told.n, ==, 2);
  g_assert_cmpuint(said.n, ==, told.n);
  for (size_t t = 0; t < told.n; t++)
    g_assert_cmpfloat(said.coverages[t], ==, told.coverages[t]);
  size_t n_told = 0;
  for (size_t c = 0; c < DEMUR_N_COARSE_COVERAGES; c++) {
    const DemurCurvePoint *oe = &after->curve[DEMUR_MEASURE_OE_RATIO][c];
    g_assert_true(oe->withheld == isnan(oe->point));
    n_told += oe->withheld ? 0 : 1;
  }
  g_assert_cmpuint(n_told, ==, 3); /* .7, .45, 1 */
  n_told = 0;
  for (size_t c = 0; c < DEMUR_N_COVERAGES; c++)
    n_told += isfinite(after->curve[DEMUR_MEASURE_ACCURACY][c].point) ? 1 : 0;
  g_assert_cmpuint(n_told, ==, 3);
  for (size_t c = 11; c < DEMUR_N_COVERAGES; c++) /* from 4 bins of 25 on */
    g_assert_cmpfloat(after->curve[DEMUR_MEASURE_SBCE2][c].point, ==,
                      before->curve[DEMUR_MEASURE_SBCE2][c].point);
  g_assert_true(isnan(after->curve[DEMUR_MEASURE_SBCE2][0].point)); /* 20 scans: one bin */
}

/* 10 of 400 x 20 changes of an area are .00125: in steps of .002. A number that is less than its step
 * is withheld. */
static void
test_steps(void) {
  demur_assert_close(demur_told_rounded(0.76543, 1.0 / 8000.0), 0.766, 1e-12, 0);
  demur_assert_close(demur_told_rounded(0.0021, 1.0 / 8000.0), 0.002, 1e-12, 0);
  g_assert_true(isnan(demur_told_rounded(0.0019, 1.0 / 8000.0)));
  g_assert_true(isnan(demur_told_rounded(NAN, 0.1)));
  demur_assert_close(demur_told_rounded(37.0, 1.0), 40.0, 1e-12, 0);
  g_assert_cmpfloat(demur_told_low_end(0.0019, 1.0 / 8000.0), ==, 0.0);
  g_assert_cmpfloat(demur_told_low_end(0.766, 1.0 / 8000.0), ==, 0.766);
  g_assert_cmpfloat(demur_told_high_end(0.766, 1.0 / 8000.0), ==, 0.766);
  g_assert_cmpfloat(demur_told_high_end(0.7641, 1.0 / 8000.0), ==, 0.766);
  g_assert_cmpfloat(demur_told_low_end(-31.0, 1.0), ==, -40.0);
  g_assert_cmpfloat(demur_told_high_end(31.0, 1.0), ==, 40.0);
  g_assert_false(signbit(demur_told_high_end(-0.0001, 1.0 / 8000.0)));
  g_assert_true(isinf(demur_told_high_end(INFINITY, 0.1)) && isnan(demur_told_low_end(NAN, 0.1)));
}

/* Two sites that take turns, 200 outcomes of 2,000 each: what is told of the whole is told of both;
 * of a site whose refused outcomes are few, nothing, nor then of the other. */
static void
test_groups(void) {
  static const char *const by[] = {"site", NULL};
  g_auto(World) w = world_new(4000, 9); /* odd, so that outcomes take turns too */
  g_autoptr(DemurEvaluation) e = evaluate(&w, TRUE, by);
  g_assert_cmpuint(e->n_groups, ==, 2);
  for (size_t g = 0; g < 2; g++) {
    const DemurGroupMethod *method = &e->groups[g].methods[0];
    g_assert_cmpuint(method->n_at, ==, DEMUR_N_OPERATING_COVERAGES);
    for (size_t a = 0; a < method->n_at; a++) {
      g_assert_cmpuint(method->at[a].n_counted, ==, method->at[a].n_accepted);
      g_assert_false(method->at[a].rejected_by_label[1].withheld);
    }
  }
  g_auto(World) few = world_new(1000, 9); /* 112 outcomes: .9 refuses 11, of each site 5 or 6 */
  g_autoptr(DemurEvaluation) f = evaluate(&few, TRUE, by);
  g_assert_cmpuint(f->methods[0].at[0].n_counted, ==, 900);
  for (size_t g = 0; g < 2; g++) {
    const DemurOperatingPoint *at = &f->groups[g].methods[0].at[0];
    g_assert_cmpuint(at->n_counted, ==, 0);
    g_assert_true(at->rejected_by_label[1].withheld);
    g_assert_true(isnan(at->measures[DEMUR_MEASURE_OE_RATIO]));
    g_assert_true(isnan(at->measures[DEMUR_MEASURE_INTERCEPT]));
    g_assert_true(isnan(at->intervals[DEMUR_MEASURE_OE_RATIO].low));
    g_assert_true(isnan(at->intervals[DEMUR_MEASURE_INTERCEPT].high));
    g_assert_true(isfinite(at->measures[DEMUR_MEASURE_SLOPE]));
    g_assert_true(isfinite(at->measures[DEMUR_MEASURE_SBCE2]));
    g_assert_cmpuint(f->groups[g].methods[0].at[1].n_counted, >, 0); /* .7 */
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/evaluation/point-releases/sets-by-hand", test_sets_by_hand);
  g_test_add_func("/evaluation/point-releases/sets-are-far-apart", test_sets_are_far_apart);
  g_test_add_func("/evaluation/point-releases/points-and-curves", test_points_and_curves);
  g_test_add_func("/evaluation/point-releases/steps", test_steps);
  g_test_add_func("/evaluation/point-releases/groups", test_groups);
  return g_test_run();
}
