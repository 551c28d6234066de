/* Counting in cells against walking the scans: the same replicates, both ways.
 *
 * Right values: the exact way of the same code, which the tests of the evaluation hold to the
 * metrics. What does not hang on where a bin or a threshold is cut (rejection, realised coverage,
 * site error at a fixed threshold) must agree to rounding; the rest must differ by far less than it
 * varies from replicate to replicate. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "evaluation/cells.h"
#include "evaluation/replicates.h"
#include "metrics/coverage.h"
#include "metrics/discrimination.h"
#include "tests/support/support.h"

#define N_SCANS 9000
#define N_SITES 24
#define N_REPLICATES 40
#define N_DRAWS 10
#define N_POINTS 3

/* Risks off by site, up to three scans a patient, a score with and one without ties. */
static DemurSample *
draw_sample(size_t n_classes) {
  DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, 77, 0, 0);
  DemurSample *s = g_new0(DemurSample, 1);
  s->n = N_SCANS;
  s->n_classes = n_classes;
  s->top_label = n_classes > 2;
  s->risks = g_new(double, N_SCANS);
  s->labels = g_new(double, N_SCANS);
  s->differences = g_new(double, N_SCANS);
  s->confidences = g_new(double, N_SCANS);
  s->classes = g_new(gint32, N_SCANS);
  s->patients = g_new(guint32, N_SCANS);
  s->sites = g_new(guint32, N_SCANS);
  s->n_sites = N_SITES;
  for (size_t i = 0; i < N_SCANS; i++) {
    const double u = ((double)i + demur_random_uniform(&random)) / N_SCANS;
    s->risks[i] =
        s->top_label ? 1.0 / (double)n_classes + u * (1.0 - 1.0 / (double)n_classes) : 0.6 * u * u;
    const guint32 patient = (guint32)demur_random_below(&random, N_SCANS / 2);
    s->patients[i] = patient;
    s->sites[i] = patient % 7 == 0 ? 0 : patient % N_SITES;
    const double truth = s->risks[i] * (1.0 + 0.03 * (double)(s->sites[i] % 5));
    s->labels[i] = demur_random_uniform(&random) < truth ? 1.0 : 0.0;
    s->classes[i] =
        s->top_label ? (gint32)demur_random_below(&random, n_classes) : (gint32)s->labels[i];
    s->differences[i] = s->labels[i] - s->risks[i];
    s->confidences[i] = s->top_label ? s->risks[i] : fmax(s->risks[i], 1.0 - s->risks[i]);
  }
  s->n_patients = N_SCANS / 2;
  return s;
}

static void
free_method(gpointer data) {
  DemurMethod *method = data;
  g_free(method->name);
  g_free(method->scores[0]);
  g_free(method->ranks[0]);
  g_free(method->scores);
  g_free(method->ranks);
  g_free(method->n_ranks);
  g_free(method);
}

static GPtrArray *
draw_methods(const DemurSample *s) {
  GPtrArray *methods = g_ptr_array_new_with_free_func(free_method);
  DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, 78, 0, 0);
  static const char *const names[] = {"smooth", "tied", "full"};
  for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
    DemurMethod *method = g_new0(DemurMethod, 1);
    method->name = g_strdup(names[k]);
    method->n_models = 1;
    method->scores = g_new(double *, 1);
    method->ranks = g_new(guint32 *, 1);
    method->n_ranks = g_new(size_t, 1);
    double *scores = method->scores[0] = g_new(double, s->n);
    for (size_t i = 0; i < s->n; i++)
      scores[i] = k == 0   ? s->confidences[i] + demur_random_uniform(&random)
                  : k == 1 ? floor(20.0 * demur_random_uniform(&random) - (double)(s->sites[i] % 3))
                           : 0.0;
    method->ranks[0] = g_new(guint32, s->n);
    method->n_ranks[0] = demur_coverage_ranks(scores, s->n, method->ranks[0]);
    g_ptr_array_add(methods, method);
  }
  return methods;
}

static void
plan(const GPtrArray *methods, DemurOperating *points) {
  static const struct {
    size_t method;
    gboolean fixed;
    double coverage;
  } wanted[N_POINTS] = {{0, TRUE, 0.8}, {0, FALSE, 0.5}, {1, TRUE, 0.7}};
  for (size_t p = 0; p < N_POINTS; p++) {
    const DemurMethod *method = methods->pdata[wanted[p].method];
    const double threshold =
        demur_coverage_threshold(wanted[p].coverage, method->scores[0], N_SCANS);
    gssize *rank = g_new(gssize, 1);
    *rank = -1;
    for (size_t i = 0; i < N_SCANS; i++)
      if (method->scores[0][i] >= threshold)
        *rank = MAX(*rank, (gssize)method->ranks[0][i]);
    points[p] = (DemurOperating){.method = wanted[p].method,
                                 .fixed_threshold = wanted[p].fixed,
                                 .coverage = wanted[p].coverage,
                                 .max_ranks = rank,
                                 .intervals = DEMUR_INTERVALS_ALL};
  }
}

static DemurReplicates *
run(const DemurExtraSetup *setup, const GPtrArray *methods, DemurUnit unit, size_t cells_from,
    DemurOperating *points, DemurParallel *parallel) {
  plan(methods, points);
  const DemurReplicatesInput input = {.setup = setup,
                                      .methods = methods,
                                      .unit = unit,
                                      .seed = 5,
                                      .n_bootstrap = N_REPLICATES,
                                      .n_noise_draws = N_DRAWS,
                                      .with_curves = TRUE,
                                      .cells_from = cells_from,
                                      .n_points = N_POINTS,
                                      .points = points};
  DemurReplicates *r = demur_replicates_new(&input, parallel);
  demur_parallel_map(parallel, r->n, demur_replicates_draw, r);
  demur_parallel_map(parallel, N_DRAWS, demur_replicates_redraw, r);
  return r;
}

static double
mean(const double *x, size_t n, size_t stride) {
  double sum = 0.0;
  for (size_t i = 0; i < n; i++)
    sum += x[i * stride];
  return sum / (double)n;
}

/* Root mean square of the differences over the standard deviation of the first. */
static double
relative_difference(const double *x, const double *y, size_t n, size_t stride) {
  const double centre = mean(x, n, stride);
  double variance = 0.0, square = 0.0;
  for (size_t i = 0; i < n; i++) {
    variance += (x[i * stride] - centre) * (x[i * stride] - centre) / (double)n;
    square += (x[i * stride] - y[i * stride]) * (x[i * stride] - y[i * stride]) / (double)n;
  }
  return variance > 0.0 ? sqrt(square / variance) : square > 0.0 ? INFINITY : 0.0;
}

static void
cells_say_what_scans_say(DemurUnit unit, size_t n_classes) {
  g_autoptr(DemurSample) sample = draw_sample(n_classes);
  g_autoptr(GPtrArray) methods = draw_methods(sample);
  g_autoptr(DemurExtraSetup) setup = demur_extra_setup_new(sample, 25, 0.1);
  DemurOperating exact_points[N_POINTS], cell_points[N_POINTS];
  g_autoptr(DemurReplicates) exact = run(setup, methods, unit, G_MAXSIZE, exact_points, NULL);
  g_autoptr(DemurReplicates) cells = run(setup, methods, unit, 1, cell_points, NULL);
  g_assert_false(exact->in_cells);
  g_assert_true(cells->in_cells);
  const size_t n_methods = methods->len;
  for (size_t k = 0; k < n_methods; k++) {
    g_assert_cmpfloat(
        relative_difference(exact->plain_auc + k, cells->plain_auc + k, N_REPLICATES, n_methods), <,
        0.2);
    g_assert_cmpfloat(relative_difference(exact->debiased2_auc + k, cells->debiased2_auc + k,
                                          N_REPLICATES, n_methods),
                      <, 0.2);
    g_assert_cmpfloat(
        relative_difference(exact->site2_auc + k, cells->site2_auc + k, N_REPLICATES, n_methods), <,
        0.1);
  }
  for (size_t i = 0; i < N_REPLICATES * n_methods; i++)
    if (unit == DEMUR_UNIT_SITE)
      demur_assert_close(cells->site2_se[i], exact->site2_se[i], 0.15, 0.0);
    else
      g_assert_true(isnan(cells->site2_se[i]) && isnan(exact->site2_se[i]));
  for (size_t p = 0; p < N_POINTS; p++) {
    const DemurOperating *x = &exact_points[p], *y = &cell_points[p];
    const gboolean sharp = x->fixed_threshold;
    for (size_t v = 0; v < DEMUR_N_OPERATING_VALUES + n_classes; v++) {
      const double *of_scans = x->values + v * exact->n, *of_cells = y->values + v * cells->n;
      if (isnan(of_scans[0])) {
        for (size_t i = 0; i < N_REPLICATES; i++)
          g_assert_true(isnan(of_scans[i]) && isnan(of_cells[i]));
        continue;
      }
      const gboolean to_rounding =
          sharp && (v == DEMUR_OPERATING_REALISED || v == DEMUR_OPERATING_SITE2 ||
                    v == DEMUR_OPERATING_SITE2_SE || v >= DEMUR_N_OPERATING_VALUES);
      if (to_rounding)
        for (size_t i = 0; i < N_REPLICATES; i++)
          demur_assert_close(of_cells[i], of_scans[i], 1e-9, 1e-12);
      else if (v == DEMUR_OPERATING_REALISED || v >= DEMUR_N_OPERATING_VALUES)
        for (size_t i = 0; i < N_REPLICATES; i++) /* hardly vary where the coverage is given */
          demur_assert_close(of_cells[i], of_scans[i], 0.0, 0.005);
      else
        g_assert_cmpfloat(relative_difference(of_scans, of_cells, N_REPLICATES, 1), <, 0.2);
    }
    demur_assert_close(mean(y->noise, N_DRAWS, 1), mean(x->noise, N_DRAWS, 1), 0.04, 0.0);
  }
  const size_t n_values = exact->n_columns * DEMUR_N_COVERAGES;
  for (size_t v = 0; v < n_values; v++)
    demur_assert_close(mean(cells->noise + v, N_DRAWS, n_values),
                       mean(exact->noise + v, N_DRAWS, n_values), 0.08, 0.0);
  demur_operating_clear(exact_points, N_POINTS);
  demur_operating_clear(cell_points, N_POINTS);
}

static void
sites_in_cells(void) {
  cells_say_what_scans_say(DEMUR_UNIT_SITE, 2);
}

static void
patients_in_cells(void) {
  cells_say_what_scans_say(DEMUR_UNIT_PATIENT, 2);
}

static void
many_classes_in_cells(void) {
  cells_say_what_scans_say(DEMUR_UNIT_SITE, 5);
}

/* Same seed, same bytes at 1 and 3 threads. */
static void
threads_change_nothing(void) {
  g_autoptr(DemurSample) sample = draw_sample(2);
  g_autoptr(GPtrArray) methods = draw_methods(sample);
  g_autoptr(DemurExtraSetup) setup = demur_extra_setup_new(sample, 25, 0.1);
  g_autoptr(DemurParallel) parallel = demur_parallel_new(3);
  DemurOperating alone_points[N_POINTS], shared_points[N_POINTS];
  g_autoptr(DemurReplicates) alone = run(setup, methods, DEMUR_UNIT_SITE, 1, alone_points, NULL);
  g_autoptr(DemurReplicates) shared =
      run(setup, methods, DEMUR_UNIT_SITE, 1, shared_points, parallel);
  const size_t n = alone->n * methods->len * sizeof(double);
  g_assert_true(memcmp(alone->plain_auc, shared->plain_auc, n) == 0);
  g_assert_true(memcmp(alone->site2_auc, shared->site2_auc, n) == 0);
  for (size_t p = 0; p < N_POINTS; p++) {
    const size_t size = (DEMUR_N_OPERATING_VALUES + 2) * alone->n * sizeof(double);
    g_assert_true(memcmp(alone_points[p].values, shared_points[p].values, size) == 0);
    g_assert_true(memcmp(alone_points[p].noise, shared_points[p].noise, N_DRAWS * sizeof(double)) ==
                  0);
  }
  demur_operating_clear(alone_points, N_POINTS);
  demur_operating_clear(shared_points, N_POINTS);
}

/* Twelve scans by hand: three columns of scores, two cells of risk. */
static void
a_table_by_hand(void) {
  double risks[12], labels[12] = {0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1}, logits[12];
  for (size_t i = 0; i < 12; i++) {
    risks[i] = 0.05 * (double)(i + 1);
    logits[i] = (double)i;
  }
  const DemurSample sample = {.n = 12, .n_classes = 2, .risks = risks, .labels = labels};
  g_autoptr(DemurCells) cells = demur_cells_new(&sample, logits, 2);
  demur_assert_close(cells->risks[0], 0.175, 1e-12, 0.0); /* mean of .05 .. .3 */
  demur_assert_close(cells->logits[3], 8.5, 1e-12, 0.0);
  const guint32 ranks[12] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
  const gssize cut = 0;
  DemurCellColumns *columns = demur_cell_columns_new(ranks, 12, 4, 2, &cut, 1);
  g_assert_cmpuint(columns->n_columns, ==, 3); /* rank 0; rank 1; ranks 2 and 3 */
  g_assert_cmpuint(demur_cell_columns_up_to(columns, 0), ==, 1);
  g_assert_cmpuint(demur_cell_columns_up_to(columns, -1), ==, 0);
  const guint32 drawn[12] = {2, 0, 1, 1, 1, 1, 1, 1, 0, 2, 1, 1};
  DemurCellTable *table = demur_cell_table_new(2, 3);
  demur_cell_table_fill(table, cells->rows, columns, drawn, 12);
  g_assert_cmpuint(table->n_drawn, ==, 12);
  /* Rows: cell 0 label 0, cell 0 label 1, cell 1 label 0, cell 1 label 1. */
  const guint32 expected[12] = {2, 1, 2, 1, 0, 0, 0, 2, 1, 0, 0, 3};
  g_assert_true(memcmp(table->counts, expected, sizeof expected) == 0);
  const size_t kept[3] = {0, 2, 3};
  guint32 selected[12];
  demur_cell_table_select(table, kept, 3, selected, 4);
  const guint32 cumulated[12] = {0, 0, 0, 0, 3, 1, 2, 0, 5, 1, 3, 3};
  g_assert_true(memcmp(selected, cumulated, sizeof cumulated) == 0);
  /* 3, 3 and 6 scans a column. The last, of two ranks, may start up to 12 / (2 x 2) scans late; the
   * others are of equal scores and may not. */
  g_assert_cmpuint(demur_cell_table_keep(table, 1.0 / 12.0), ==, 1);
  g_assert_cmpuint(demur_cell_table_keep(table, 4.0 / 12.0), ==, 2);
  g_assert_cmpuint(demur_cell_table_keep(table, 9.0 / 12.0), ==, 2);
  g_assert_cmpuint(demur_cell_table_keep(table, 10.0 / 12.0), ==, 3);
  g_assert_cmpuint(demur_cell_table_keep(table, 1.0), ==, 3);
  g_assert_cmpuint(demur_cell_table_keep(table, 0.0), ==, 0);
  demur_cell_table_free(table);
  demur_cell_columns_free(columns);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/evaluation/replicates/table-by-hand", a_table_by_hand);
  g_test_add_func("/evaluation/replicates/sites-in-cells", sites_in_cells);
  g_test_add_func("/evaluation/replicates/patients-in-cells", patients_in_cells);
  g_test_add_func("/evaluation/replicates/many-classes-in-cells", many_classes_in_cells);
  g_test_add_func("/evaluation/replicates/threads", threads_change_nothing);
  return g_test_run();
}
