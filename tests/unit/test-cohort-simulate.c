/* The simulated cohort against what docs/commands.md says of it, and laws: threads, knobs, seeds.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "cohort/simulate.h"
#include "support/support.h"

static DemurCohort *
simulate(const DemurSimulation *simulation, guint n_threads) {
  g_autoptr(DemurParallel) parallel = demur_parallel_new(n_threads);
  g_autoptr(GError) error = NULL;
  DemurCohort *cohort = demur_cohort_simulate(simulation, "nlst", "", parallel, NULL, &error);
  g_assert_no_error(error);
  return cohort;
}

static DemurSimulation
small(void) {
  DemurSimulation s;
  demur_simulation_defaults(&s);
  s.n_scans = 600;
  s.n_base_train = 500;
  s.n_tune = 50;
  s.n_test = 70;
  return s;
}

static void
test_shape(void) {
  DemurSimulation s;
  demur_simulation_defaults(&s);
  g_autoptr(DemurCohort) c = simulate(&s, 2);
  g_assert_true(c->simulated);
  g_assert_cmpuint(c->embedding_width, ==, 256);
  static const struct {
    const char *split;
    size_t n;
    gboolean outside;
  } splits[] = {{"base_train", 6000, FALSE},
                {"selector_train", 6282, FALSE},
                {"validation", 1256, FALSE},
                {"tune", 1000, TRUE},
                {"test", 1337, TRUE}};
  g_assert_cmpuint(c->n_splits, ==, G_N_ELEMENTS(splits));
  g_autofree guint32 *split_of = g_new(guint32, c->n_patients);
  memset(split_of, 0xff, c->n_patients * sizeof *split_of);
  for (size_t i = 0; i < c->n_scans; i++) {
    if (split_of[c->patients[i]] == G_MAXUINT32)
      split_of[c->patients[i]] = c->splits[i];
    g_assert_cmpuint(split_of[c->patients[i]], ==, c->splits[i]);
    const double *yearly = c->yearly_risks + i * DEMUR_N_YEARS;
    for (int k = 1; k < DEMUR_N_YEARS; k++)
      g_assert_cmpfloat(yearly[k], >, yearly[k - 1]);
    g_assert_cmpfloat(yearly[5], ==, c->risks[i]);
  }
  for (size_t k = 0; k < G_N_ELEMENTS(splits); k++) {
    size_t n;
    g_autoptr(GError) error = NULL;
    g_autofree guint32 *rows = demur_cohort_rows(c, splits[k].split, &n, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(n, ==, splits[k].n);
    size_t n_ill = 0;
    for (size_t i = 0; i < n; i++) {
      n_ill += c->labels[rows[i]] == 1;
      g_assert_cmpint(strcmp(c->site_names[c->sites[rows[i]]], "H34") == 0, ==, splits[k].outside);
    }
    /* "about 5 %": between 2 and 12 % whatever the seed's hospitals are like. */
    g_assert_cmpuint(n_ill * 50, >, n);
    g_assert_cmpuint(n_ill * 8, <, n);
    g_assert_cmpuint(demur_cohort_count_sites(c, rows, n), ==, splits[k].outside ? 1 : 33);
  }
  for (const char *const *name =
           (const char *const[]){"manufacturer", "model_name", "kernel", "slice_thickness_mm",
                                 "spacing_mm", "kvp", "contrast", "fov_mm", "tube_current_ma",
                                 "sex", "age", "years_to_cancer", "years_of_followup", NULL};
       *name != NULL; name++)
    g_assert_cmpint(demur_cohort_find_attribute(c, *name), >=, 0);
}

/* The label is the NLST rule applied to the two columns of follow-up, inside; rounded to 1/1000
 * year. */
static void
test_labels_follow_the_rule(void) {
  const DemurSimulation s = small();
  g_autoptr(DemurCohort) c = simulate(&s, 1);
  const size_t cancer = (size_t)demur_cohort_find_attribute(c, "years_to_cancer");
  const size_t followup = (size_t)demur_cohort_find_attribute(c, "years_of_followup");
  for (size_t i = 0; i < c->n_scans; i++) {
    const char *to_cancer = demur_cohort_attribute_text(c, cancer, i);
    const double years = *to_cancer != '\0' ? g_ascii_strtod(to_cancer, NULL) : INFINITY;
    g_assert_cmpfloat(years, >=, 0.0);
    if (fabs(years - 6.0) > 0.001)
      g_assert_cmpint(c->labels[i], ==, years < 6.0 ? 1 : 0);
    if (c->labels[i] == 0 && strcmp(c->site_names[c->sites[i]], "H34") != 0)
      g_assert_cmpfloat(g_ascii_strtod(demur_cohort_attribute_text(c, followup, i), NULL), >=,
                        5.999);
  }
}

static void
test_reproducible(void) {
  DemurSimulation s = small();
  g_autofree char *first = NULL;
  for (guint n_threads = 1; n_threads <= 7; n_threads += 3) {
    g_autoptr(DemurCohort) c = simulate(&s, n_threads);
    g_autofree char *digest = demur_cohort_digest(c, NULL, 0);
    if (first == NULL)
      first = g_strdup(digest);
    g_assert_cmpstr(digest, ==, first);
  }
  s.seed = 2;
  g_autoptr(DemurCohort) other = simulate(&s, 1);
  g_autofree char *digest = demur_cohort_digest(other, NULL, 0);
  g_assert_cmpstr(digest, !=, first);
}

/* Another size of one part leaves the patients of the others as they are (streams by part and
 * patient). */
static void
test_parts_are_independent(void) {
  DemurSimulation s = small();
  g_autoptr(DemurCohort) a = simulate(&s, 1);
  s.n_test = 30;
  g_autoptr(DemurCohort) b = simulate(&s, 1);
  size_t n_a, n_b;
  g_autoptr(GError) error = NULL;
  g_autofree guint32 *rows_a = demur_cohort_rows(a, "selector_train", &n_a, &error);
  g_autofree guint32 *rows_b = demur_cohort_rows(b, "selector_train", &n_b, &error);
  g_autofree char *digest_a = demur_cohort_digest(a, rows_a, n_a),
                  *digest_b = demur_cohort_digest(b, rows_b, n_b);
  g_assert_cmpstr(digest_a, ==, digest_b);
}

/* Nothing planted: f is well specified, so the sums of labels and risks of the unshifted test scans
 * agree within 5 standard errors (scans of a patient share a label: variance at most doubled
 * outside). */
static void
test_without_effects(void) {
  DemurSimulation s;
  demur_simulation_defaults(&s);
  s.site_effect = s.acquisition_effect = s.scanner_effect = s.hidden_effect = s.outside_shift = 0.0;
  g_autoptr(DemurCohort) c = simulate(&s, 2);
  size_t n;
  g_autoptr(GError) error = NULL;
  g_autofree guint32 *rows = demur_cohort_rows(c, "test", &n, &error);
  double difference = 0.0, variance = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double r = c->risks[rows[i]];
    difference += c->labels[rows[i]] - r;
    variance += 2.0 * r * (1.0 - r);
  }
  g_assert_cmpfloat(fabs(difference), <, 5.0 * sqrt(variance));
}

/* Drift reaches what comes after f was fitted and nothing else: base_train and every label are
 * those of the cohort without it, 20 to 45 % of the later scans change, and f tells less of them.
 */
static void
test_drift_comes_after_the_model(void) {
  DemurSimulation s = small();
  s.n_scans = 2000;
  g_autoptr(DemurCohort) before = simulate(&s, 2);
  s.drift_effect = 4.0;
  g_autoptr(DemurCohort) after = simulate(&s, 2);
  g_assert_cmpuint(before->n_scans, ==, after->n_scans);
  double told_before = 0.0, told_after = 0.0;
  size_t n_changed = 0, n_later = 0;
  for (size_t i = 0; i < before->n_scans; i++) {
    const char *split = before->split_names[before->splits[i]];
    g_assert_cmpint(before->labels[i], ==, after->labels[i]);
    if (strcmp(split, "base_train") == 0) {
      g_assert_cmpfloat(before->risks[i], ==, after->risks[i]);
      continue;
    }
    n_later++;
    n_changed += before->risks[i] != after->risks[i];
    told_before += before->risks[i];
    told_after += after->risks[i];
  }
  g_assert_cmpfloat((double)n_changed / (double)n_later, >, 0.20);
  g_assert_cmpfloat((double)n_changed / (double)n_later, <, 0.45);
  g_assert_cmpfloat(told_after, <, 0.95 * told_before);
}

/* Two hospitals outside: the denoising has kernels of its own, at the first alone. */
static void
test_drift_reaches_one_hospital_outside(void) {
  DemurSimulation s = small();
  s.drift_effect = 4.0;
  s.n_outside = 2;
  g_autoptr(DemurCohort) cohort = simulate(&s, 2);
  const size_t kernel = (size_t)demur_cohort_find_attribute(cohort, "kernel");
  g_autofree size_t *n_scans = g_new0(size_t, cohort->n_sites);
  g_autofree size_t *n_denoised = g_new0(size_t, cohort->n_sites);
  for (size_t i = 0; i < cohort->n_scans; i++) {
    const char *name = demur_cohort_attribute_text(cohort, kernel, i);
    n_scans[cohort->sites[i]]++;
    n_denoised[cohort->sites[i]] += g_str_has_suffix(name, "-DN") || *name == 'I';
  }
  g_assert_cmpuint(cohort->n_sites, ==, s.n_sites + 2);
  for (size_t site = 0; site < cohort->n_sites; site++) {
    g_autofree char *first = g_strdup_printf("H%02zu", s.n_sites + 1),
                    *second = g_strdup_printf("H%02zu", s.n_sites + 2);
    g_assert_cmpuint(n_scans[site], >, 0);
    if (g_str_equal(cohort->site_names[site], first))
      g_assert_cmpuint(n_denoised[site] * 10, >, n_scans[site]);
    if (g_str_equal(cohort->site_names[site], second))
      g_assert_cmpuint(n_denoised[site], ==, 0);
  }
}

/* What the reader by itself says of a scan: more with the nodule, less where denoising hides it;
 * the same bytes again; and the last yearly risk is the largest. */
static void
test_a_reader_by_itself(void) {
  DemurSimulation s = small();
  s.drift_effect = 4.0;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSimulatedReader) reader = demur_simulated_reader_new(&s, NULL, &error);
  g_assert_no_error(error);
  double risks[3], yearly[DEMUR_N_YEARS];
  float embedding[DEMUR_SIMULATION_WIDTH], again[DEMUR_SIMULATION_WIDTH];
  const DemurSimulatedScan scans[] = {
      {.number = 1, .maker = "GE"},
      {.number = 1, .maker = "GE", .clinical = {2.0}},
      {.number = 1, .maker = "GE", .clinical = {2.0}, .denoised = TRUE}};
  for (size_t i = 0; i < G_N_ELEMENTS(scans); i++) {
    demur_simulated_reader_read(reader, &scans[i], yearly, embedding);
    risks[i] = yearly[DEMUR_N_YEARS - 1];
    for (int y = 1; y < DEMUR_N_YEARS; y++)
      g_assert_cmpfloat(yearly[y], >, yearly[y - 1]);
  }
  g_assert_cmpfloat(risks[1], >, risks[0]);
  g_assert_cmpfloat(risks[2], <, risks[1]);
  demur_simulated_reader_read(reader, &scans[2], yearly, again);
  g_assert_true(memcmp(embedding, again, sizeof again) == 0);
  g_assert_cmpstr(demur_simulated_kernel("SIEMENS", TRUE, FALSE), ==, "B60f");
  g_assert_cmpstr(demur_simulated_kernel("SIEMENS", FALSE, TRUE), ==, "I30f");
}

static void
test_refuses(void) {
  for (int i = 0; i < 6; i++) {
    DemurSimulation s = small();
    if (i == 0)
      s.n_sites = 1;
    else if (i == 1)
      s.n_scans = 0;
    else if (i == 2)
      s.site_effect = -1.0;
    else if (i == 3)
      s.outside_shift = NAN;
    else if (i == 4)
      s.n_outside = 3;
    else
      s.n_test = G_MAXSIZE;
    g_autoptr(GError) error = NULL;
    g_assert_null(demur_cohort_simulate(&s, "x", "", NULL, NULL, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/cohort/simulate/shape", test_shape);
  g_test_add_func("/cohort/simulate/labels-follow-the-rule", test_labels_follow_the_rule);
  g_test_add_func("/cohort/simulate/same-bytes-at-any-thread-count", test_reproducible);
  g_test_add_func("/cohort/simulate/parts-are-independent", test_parts_are_independent);
  g_test_add_func("/cohort/simulate/calibrated-without-effects", test_without_effects);
  g_test_add_func("/cohort/simulate/drift-comes-after-the-model", test_drift_comes_after_the_model);
  g_test_add_func("/cohort/simulate/drift-reaches-one-hospital-outside",
                  test_drift_reaches_one_hospital_outside);
  g_test_add_func("/cohort/simulate/a-reader-by-itself", test_a_reader_by_itself);
  g_test_add_func("/cohort/simulate/refuses", test_refuses);
  return g_test_run();
}
