#include "evaluation/site-contrast.h"

#include <math.h>
#include <string.h>

#include "metrics/coverage.h"
#include "metrics/intervals.h"
#include "metrics/selective.h"

#define LEVEL 0.95

/* The root of the plain square's area, which is what a replicate's debiased square estimates. */
static double
plain_root(const DemurExtraSetup *setup, const DemurMethod *method) {
  double coverages[DEMUR_N_COVERAGES], errors[DEMUR_N_COVERAGES], squares[DEMUR_N_COVERAGES];
  demur_coverage_grid(DEMUR_N_COVERAGES, coverages);
  const DemurSample *sample = setup->sample;
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(sample->n);
  double sum = 0.0;
  for (size_t m = 0; m < method->n_models; m++) {
    const DemurSelectiveSample selective =
        demur_method_selective(sample, method, m, demur_sample_as_is(sample));
    demur_selective_debiased(&selective, coverages, DEMUR_N_COVERAGES, setup->min_bin_size, scratch,
                             errors, squares);
    for (int c = 0; c < DEMUR_N_COVERAGES; c++)
      errors[c] *= errors[c];
    sum += demur_coverage_auc(coverages, errors, DEMUR_N_COVERAGES);
  }
  return sqrt(sum / (double)method->n_models);
}

typedef struct {
  const DemurExtraSetup *setup;
  const GPtrArray *methods; /* two */
  double roots[2];
} Roots;

static void
find_root(size_t k, guint worker, gpointer data) {
  Roots *roots = data;
  roots->roots[k] = plain_root(roots->setup, roots->methods->pdata[k]);
}

void
demur_site_contrast_fill(const DemurExtraSetup *setup, const GPtrArray *methods, size_t selector,
                         size_t confidence, const DemurGroupMethod *results, guint64 seed,
                         size_t n_bootstrap, DemurParallel *parallel, DemurSiteContrast *c) {
  g_autoptr(GPtrArray) pair = g_ptr_array_new();
  g_ptr_array_add(pair, methods->pdata[selector]);
  g_ptr_array_add(pair, methods->pdata[confidence]);
  const DemurReplicatesInput input = {.setup = setup,
                                      .methods = pair,
                                      .unit = DEMUR_UNIT_PATIENT,
                                      .seed = seed,
                                      .n_bootstrap = n_bootstrap,
                                      .with_curves = TRUE,
                                      .no_site_error = TRUE};
  g_autoptr(DemurReplicates) replicates = demur_replicates_new(&input, parallel);
  demur_parallel_map(parallel, replicates->n, demur_replicates_draw, replicates);
  Roots roots = {.setup = setup, .methods = pair};
  demur_parallel_map(parallel, pair->len, find_root, &roots);
  g_autofree double *plain = g_new(double, n_bootstrap + 1);
  g_autofree double *debiased = g_new(double, n_bootstrap + 1);
  for (size_t b = 0; b < n_bootstrap; b++) {
    const double *errors = replicates->plain_auc + 2 * b,
                 *squares = replicates->debiased2_auc + 2 * b;
    plain[b] = errors[0] - errors[1];
    debiased[b] = demur_signed_root(squares[0]) - demur_signed_root(squares[1]);
  }
  const DemurGroupMethod *a = &results[selector], *other = &results[confidence];
  *c = (DemurSiteContrast){.method = g_strdup(a->name),
                           .recalibrated = a->recalibrated,
                           .n_patients = demur_sample_n_units(setup->sample, DEMUR_UNIT_PATIENT)};
  double mean;
  c->plain.difference = a->sbce2_auc - other->sbce2_auc;
  c->debiased.difference = a->debiased_auc - other->debiased_auc;
  demur_mean_sd(plain, n_bootstrap, &mean, &c->plain.standard_error);
  demur_mean_sd(debiased, n_bootstrap, &mean, &c->debiased.standard_error);
  demur_interval_expanded(plain, n_bootstrap, c->n_patients, LEVEL, &c->plain.low, &c->plain.high);
  demur_interval_symmetric(debiased, n_bootstrap, c->debiased.difference,
                           roots.roots[0] - roots.roots[1], c->n_patients, LEVEL, &c->debiased.low,
                           &c->debiased.high);
}

/* --- verdicts --- */

/* -1 better, 1 worse, 0 neither. */
static int
side_of(const DemurSiteContrast *c) {
  const int plain = c->plain.high < 0.0 ? -1 : c->plain.low > 0.0;
  const int debiased = c->debiased.high < 0.0 ? -1 : c->debiased.low > 0.0;
  return plain == debiased ? plain : 0;
}

/* The smaller |difference / standard error|. */
static double
ratio_of(const DemurSiteContrast *c) {
  const double ratio = fmin(fabs(c->plain.difference / c->plain.standard_error),
                            fabs(c->debiased.difference / c->debiased.standard_error));
  return isfinite(ratio) ? ratio : 0.0;
}

static gboolean
is_known(const DemurSiteContrast *c) {
  return c->n_patients > 1 && isfinite(c->plain.low) && isfinite(c->plain.high) &&
         isfinite(c->debiased.low) && isfinite(c->debiased.high);
}

static int
compare_ratios(gconstpointer a, gconstpointer b) {
  const double x = ratio_of(*(DemurSiteContrast *const *)a),
               y = ratio_of(*(DemurSiteContrast *const *)b);
  return (x < y) - (x > y);
}

static void
judge_family(GPtrArray *family) {
  g_ptr_array_sort(family, compare_ratios);
  gboolean stands = TRUE; /* Holm: the first that does not stand takes all behind it along */
  for (guint i = 0; i < family->len; i++) {
    DemurSiteContrast *c = family->pdata[i];
    const double tail = (1.0 - LEVEL) / (2.0 * (double)(family->len - i));
    stands = stands && is_known(c) &&
             ratio_of(c) > demur_student_quantile(1.0 - tail, (double)c->n_patients - 1.0);
    c->verdict = !is_known(c)                 ? DEMUR_VERDICT_CANNOT_BE_DECIDED
                 : !stands || side_of(c) == 0 ? DEMUR_VERDICT_NO_DIFFERENCE_SHOWN
                 : side_of(c) < 0             ? DEMUR_VERDICT_BETTER
                                              : DEMUR_VERDICT_WORSE;
  }
}

void
demur_site_contrasts_judge(DemurEvaluation *e) {
  g_autoptr(GHashTable) families =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
  for (size_t g = 0; g < e->n_groups; g++)
    for (size_t i = 0; i < e->groups[g].n_contrasts; i++) {
      DemurSiteContrast *c = &e->groups[g].contrasts[i];
      char *key = g_strconcat(c->recalibrated ? "1" : "0", c->method, NULL);
      GPtrArray *family = g_hash_table_lookup(families, key);
      if (family == NULL)
        g_hash_table_insert(families, key, family = g_ptr_array_new());
      else
        g_free(key);
      g_ptr_array_add(family, c);
    }
  GHashTableIter iter;
  gpointer family;
  g_hash_table_iter_init(&iter, families);
  while (g_hash_table_iter_next(&iter, NULL, &family))
    judge_family(family);
}
