/* The order of the work: the plan (kinds of risk, thresholds), then for each kind of risk its
 * methods; trials, redrawn labels and bootstrap replicates side by side; and from their numbers the
 * one result. */
#include "evaluation/evaluate.h"

#include <math.h>
#include <string.h>

#include "cohort/order.h"
#include "evaluation/audit-curve.h"
#include "evaluation/comparisons.h"
#include "evaluation/groups.h"
#include "evaluation/site-contrast.h"
#include "evaluation/hold-back.h"
#include "evaluation/plan.h"
#include "evaluation/points.h"
#include "evaluation/program-id.h"
#include "evaluation/trials.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "base/told-map.h"
#include "metrics/coverage.h"
#include "selector/outcome-weights.h"
#include "selector/mlp-kernel.h"

void
demur_evaluate_input_init(DemurEvaluateInput *input) {
  *input = (DemurEvaluateInput){.seed = 1,
                                .n_resamples = 5,
                                .resample_unit = DEMUR_UNIT_SCAN,
                                .n_bootstrap = 1000,
                                .n_noise_draws = 200,
                                .min_bin_size = 25,
                                .net_benefit_threshold = NAN};
}

#define JOBS_A_RANK 16 /* at the least, between two exchanges */

static const DemurRanks *
ranks_of(const DemurParallel *parallel) {
  return parallel != NULL ? demur_parallel_ranks(parallel) : NULL;
}

/* Ranks exchange what they have after each group of jobs, which all cut alike, whatever their threads. */
static gboolean
gather_by_groups(DemurParallel *parallel, size_t n_jobs, DemurParallelFunc func, gpointer data,
                 const GArray *slots, const DemurProgress *progress, GError **error) {
  const size_t group = MAX((n_jobs + 49) / 50, JOBS_A_RANK * ranks_of(parallel)->size);
  for (size_t first = 0; first < n_jobs; first += group)
    if (!demur_progress_step(progress, (double)first / (double)n_jobs, "evaluating", error) ||
        !demur_gather(parallel, first, MIN(first + group, n_jobs), func, data,
                      (const DemurSlot *)(gconstpointer)slots->data, slots->len, error))
      return FALSE;
  return TRUE;
}

/* slots: an array of DemurSlot of all jobs, freed. */
static gboolean
gather_with_progress(DemurParallel *parallel, size_t n_jobs, DemurParallelFunc func, gpointer data,
                     GArray *slots, const DemurProgress *progress, double start, double end,
                     GError **error) {
  g_autoptr(GArray) owned = slots;
  DemurProgressStage stage = {progress, start, end, NULL};
  const DemurProgress staged = demur_progress_stage(&stage);
  return ranks_of(parallel) != NULL
             ? gather_by_groups(parallel, n_jobs, func, data, owned, &staged, error)
             : demur_told_map(parallel, n_jobs, func, data, &staged, "evaluating", error);
}

static DemurWarning *
add_warning(DemurEvaluation *e, DemurWarningKind kind, const char *subject) {
  e->warnings = g_renew(DemurWarning, e->warnings, e->n_warnings + 1);
  DemurWarning *warning = &e->warnings[e->n_warnings++];
  *warning = (DemurWarning){.kind = kind, .subject = g_strdup(subject)};
  return warning;
}

static gboolean
has_both_kinds(const DemurEvaluation *e) {
  gboolean both = FALSE;
  for (size_t k = 1; k < e->n_methods; k++)
    both |= !e->methods[k].recalibrated != !e->methods[0].recalibrated;
  return both;
}

/* Warns where a selector, or plain confidence, refuses one label much more often than scans in
 * general. */
static void
warn_of_refusals(DemurEvaluation *e) {
  for (size_t k = 0; k < e->n_methods; k++) {
    const DemurMethodResult *method = &e->methods[k];
    const gboolean confidence = method->kind == DEMUR_METHOD_CONFIDENCE;
    if ((method->kind != DEMUR_METHOD_SELECTOR && !confidence) || method->n_at == 0)
      continue;
    g_autofree char *title = confidence && has_both_kinds(e)
                                 ? g_strdup_printf("%s on %s risks", method->title,
                                                   method->recalibrated ? "recalibrated" : "raw")
                                 : g_strdup(method->title);
    const DemurOperatingPoint *at = &method->at[0];
    for (size_t l = 0; l < at->n_labels; l++) {
      const DemurRejection *r = &at->rejected_by_label[l];
      if (!demur_rejection_is_much(r, demur_operating_counted(at)))
        continue;
      DemurWarning *warning = add_warning(e, DEMUR_WARNING_REFUSAL, title);
      warning->coverage = at->coverage;
      warning->label = r->label;
      warning->rate = r->rate;
      warning->rate_of_all = 1.0 - demur_operating_counted(at);
    }
  }
}

static void
add_warnings(const DemurEvaluateInput *input, DemurEvaluation *e) {
  if (e->in_sample)
    add_warning(e, DEMUR_WARNING_IN_SAMPLE, NULL);
  for (size_t s = 0; s < input->n_selectors; s++) {
    size_t n_networks;
    const size_t n = demur_selector_count_untrained(input->selectors[s], &n_networks);
    if (n == 0)
      continue;
    DemurWarning *warning = add_warning(e, DEMUR_WARNING_UNTRAINED, input->names[s]);
    warning->n = n;
    warning->n_networks = n_networks;
  }
  warn_of_refusals(e);
}

static DemurUnit
unit_of_intervals(const DemurSample *sample) {
  return sample->n_sites >= DEMUR_SITES_TO_RESAMPLE ? DEMUR_UNIT_SITE : DEMUR_UNIT_PATIENT;
}

static double
net_benefit_threshold(const DemurEvaluateInput *input, const DemurSample *sample) {
  if (sample->top_label)
    return NAN;
  if (!isnan(input->net_benefit_threshold))
    return input->net_benefit_threshold;
  const DemurOutcomes outcomes = {sample->n, sample->risks, sample->labels, NULL, sample->weights};
  double positives = 0.0, total = 0.0;
  for (size_t i = 0; i < sample->n; i++) {
    positives += demur_outcomes_mass(&outcomes, i) * sample->labels[i];
    total += demur_outcomes_mass(&outcomes, i);
  }
  return positives / total;
}

#define BEYOND 0.01 /* of the risks: they stand in the histogram's last bin */

/* Where the histogram ends: 1 for confidences; for risks the round number above nearly all of them,
 * since where an outcome is rare they lie near 0. */
static double
histogram_end(const DemurSample *sample) {
  static const double ends[] = {0.05, 0.1, 0.2, 0.5};
  for (size_t e = 0; !sample->top_label && e < G_N_ELEMENTS(ends); e++) {
    size_t n_beyond = 0;
    for (size_t i = 0; i < sample->n; i++)
      n_beyond += sample->risks[i] > ends[e] ? 1 : 0;
    if ((double)n_beyond <= BEYOND * (double)sample->n)
      return ends[e];
  }
  return 1.0;
}

static char *
digest_of(const DemurCohort *cohort, const guint32 *rows, size_t n_rows) {
  g_autofree guint32 *sorted = demur_cohort_order_rows(cohort, rows, n_rows);
  return demur_cohort_digest(cohort, sorted, n_rows);
}

/* Without the digest. */
static DemurEvaluation *
describe(const DemurEvaluateInput *input, const DemurSample *sample) {
  DemurCohort *cohort = input->cohort;
  DemurEvaluation *e = g_new0(DemurEvaluation, 1);
  e->cohort = g_strdup(cohort->name);
  e->split = g_strdup(input->split);
  e->model = g_strdup(cohort->model);
  e->source = g_strdup(cohort->source);
  e->simulated = cohort->simulated;
  e->seed = input->seed;
  e->n_scans = sample->n;
  e->n_sites = sample->n_sites;
  e->n_classes = cohort->n_classes;
  e->n_patients = demur_cohort_count_patients(cohort, sample->rows, sample->n);
  e->prevalence = g_new0(double, e->n_classes);
  double total = 0.0;
  for (size_t i = 0; i < sample->n; i++) {
    if (sample->classes[i] == DEMUR_NO_LABEL)
      continue;
    const double weight = sample->weights != NULL ? sample->weights[i] : 1.0;
    e->prevalence[sample->classes[i]] += weight;
    total += weight;
  }
  for (size_t k = 0; k < e->n_classes; k++)
    e->prevalence[k] /= total;
  e->horizon = demur_cohort_horizon(cohort);
  e->weighted = sample->weights != NULL;
  e->n_known = sample->n_known;
  e->n_capped = sample->n_capped;
  e->n_effective = sample->weights != NULL ? demur_censoring_n_effective(sample->weights, sample->n)
                                           : (double)sample->n;
  e->n_resamples = input->n_resamples;
  e->resample_unit = g_strdup(demur_unit_name(input->resample_unit));
  e->min_bin_size = input->min_bin_size;
  e->net_benefit_threshold = net_benefit_threshold(input, sample);
  e->interval_unit = unit_of_intervals(sample);
  demur_coverage_grid(DEMUR_N_COVERAGES, e->coverages);
  e->histogram_width = histogram_end(sample) / DEMUR_N_HISTOGRAM_BINS;
  for (size_t i = 0; i < sample->n; i++)
    e->histogram_all[demur_points_histogram_bin(e, sample->risks[i])]++;
  return e;
}

/* Results of the methods behind those there are; points [plans->len] receives where the operating
 * points of the plans go. */
static DemurMethodResult *
add_results(DemurEvaluation *e, const DemurRiskGroup *group, const GPtrArray *methods,
            const GArray *plans, DemurOperatingPoint **points) {
  e->methods = g_renew(DemurMethodResult, e->methods, e->n_methods + methods->len);
  DemurMethodResult *results = e->methods + e->n_methods;
  memset(results, 0, methods->len * sizeof *results);
  e->n_methods += methods->len;
  guint plan = 0;
  for (guint k = 0; k < methods->len; k++) {
    const DemurMethod *method = methods->pdata[k];
    DemurMethodResult *result = &results[k];
    result->name = g_strdup(method->name);
    result->title = g_strdup(method->title);
    result->kind = method->kind;
    result->recalibrated = group->recalibrated;
    result->n_models = method->n_models;
    e->n_models = MAX(e->n_models, method->n_models);
    const guint first = plan;
    while (plan < plans->len && g_array_index(plans, DemurPointPlan, plan).method == k)
      plan++;
    result->n_at = plan - first;
    result->at = g_new0(DemurOperatingPoint, result->n_at);
    for (guint p = first; p < plan; p++)
      points[p] = &result->at[p - first];
  }
  return results;
}

/* The operating points of the whole split, applied to every group. */
static gboolean
add_groups(const DemurEvaluateInput *input, const DemurRiskGroup *risk,
           const DemurReplicates *replicates, const GArray *plans, const DemurToldCoverages *told,
           DemurEvaluation *e, DemurParallel *parallel, const DemurProgress *progress,
           GError **error) {
  const DemurSample *sample = replicates->input.setup->sample;
  const GPtrArray *methods = replicates->input.methods;
  g_autoptr(GArray) thresholds = g_array_new(FALSE, FALSE, sizeof(DemurGroupThreshold));
  g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
  g_autofree gssize *place_of = g_new(gssize, plans->len + 1); /* of a plan, among thresholds */
  for (guint p = 0, place = 0; p < plans->len; p++) {
    const DemurPointPlan *plan = &g_array_index(plans, DemurPointPlan, p);
    place_of[p] = demur_method_has_points(methods->pdata[plan->method]) ? (gssize)place++ : -1;
  }
  for (guint p = 0; p < plans->len; p++) {
    const DemurPointPlan *plan = &g_array_index(plans, DemurPointPlan, p);
    const DemurMethod *method = methods->pdata[plan->method];
    if (!demur_method_has_points(method))
      continue;
    DemurGroupThreshold threshold = {.method = plan->method,
                                     .coverage = plan->coverage,
                                     .from_tune = plan->tuned != NULL,
                                     .thresholds = plan->tuned,
                                     .told = plan->told >= 0 ? place_of[plan->told] : -1,
                                     .aside = plan->aside};
    if (plan->tuned == NULL) {
      double *values = g_new(double, method->n_models);
      for (size_t m = 0; m < method->n_models; m++) {
        gssize rank;
        values[m] = demur_method_threshold(method, m, sample->n, plan->coverage, &rank);
      }
      g_ptr_array_add(owned, values);
      threshold.thresholds = values;
    }
    g_array_append_val(thresholds, threshold);
  }
  const DemurGroupsInput groups = {.cohort = risk->view != NULL ? risk->view : input->cohort,
                                   .split = input->split,
                                   .group_by = input->group_by,
                                   .sample = sample,
                                   .methods = methods,
                                   .recalibrated = risk->recalibrated,
                                   .n_thresholds = thresholds->len,
                                   .thresholds =
                                       (const DemurGroupThreshold *)(gconstpointer)thresholds->data,
                                   .told = told,
                                   .seed = input->seed,
                                   .n_bootstrap = input->n_bootstrap,
                                   .n_noise_draws = input->n_noise_draws,
                                   .min_bin_size = input->min_bin_size};
  return demur_groups_add(&groups, e, parallel, progress, error);
}

typedef struct {
  const DemurSample *sample;
  const GPtrArray *methods;
  DemurToldCoverages *told; /* [n_methods] */
} Telling;

static void
tell_method(size_t k, guint worker, gpointer data) {
  const Telling *t = data;
  t->told[k] = demur_told_coverages(t->sample, t->methods->pdata[k]);
}

static DemurToldCoverages *
told_coverages(const DemurSample *sample, const GPtrArray *methods, DemurParallel *parallel) {
  Telling telling = {sample, methods, g_new0(DemurToldCoverages, methods->len + 1)};
  demur_parallel_map(parallel, methods->len, tell_method, &telling);
  return telling.told;
}

typedef struct {
  const GPtrArray *methods;
  size_t n;
  GArray *plans;          /* of DemurPointPlan */
  DemurOperating *points; /* [plans->len] */
} Finding;

static void
find_point(size_t p, guint worker, gpointer data) {
  const Finding *f = data;
  demur_points_find(f->methods, f->n, &g_array_index(f->plans, DemurPointPlan, p), &f->points[p]);
}

typedef struct {
  const DemurTrials *trials;
  const DemurReplicates *replicates;
  DemurMethodResult *results; /* [n_methods] */
} Curves;

static void
fill_method(size_t k, guint worker, gpointer data) {
  const Curves *c = data;
  demur_trials_fill(c->trials, c->replicates, k, &c->results[k]);
}

typedef struct {
  const DemurSample *sample;
  const GPtrArray *methods;
  const DemurToldCoverages *told; /* [n_methods] */
  size_t min_bin_size;
  DemurMethodResult *results; /* [n_methods] */
} CurveRelease;

static void
release_curves(size_t k, guint worker, gpointer data) {
  const CurveRelease *r = data;
  demur_curves_release(r->sample, r->methods->pdata[k], &r->told[k], r->min_bin_size,
                       &r->results[k]);
}

/* What may be told of the points and curves (evaluation/point-releases.h); asides leave the result.
 * at [plans->len]. */
static void
release(const DemurSample *sample, const GPtrArray *methods, const DemurToldCoverages *told,
        const GArray *plans, size_t min_bin_size, DemurOperatingPoint *const *at,
        DemurMethodResult *results, DemurParallel *parallel) {
  for (int pass = 0; pass < 2; pass++) /* those that others are told by keep theirs until then */
    for (guint p = 0; p < plans->len; p++) {
      const gssize by = g_array_index(plans, DemurPointPlan, p).told;
      if ((by == (gssize)p) == (pass == 1))
        demur_point_release(at[p], by < 0 ? NULL : at[by]);
    }
  CurveRelease curves = {sample, methods, told, min_bin_size, results};
  demur_parallel_map(parallel, methods->len, release_curves, &curves);
  for (guint k = 0; k < methods->len; k++) {
    DemurMethodResult *result = &results[k];
    size_t n = 0;
    for (guint p = 0; p < plans->len; p++) {
      const DemurPointPlan *plan = &g_array_index(plans, DemurPointPlan, p);
      if (plan->method == k && plan->aside)
        g_free(at[p]->rejected_by_label);
      n += plan->method == k && !plan->aside ? 1 : 0;
    }
    result->n_at = n; /* asides are behind the others */
  }
}

/* That all ranks measure the same numbers: a machine of another kind may have come to other risks or
 * scores by the same settings. */
static gboolean
meet_with_sample(const DemurSample *sample, const GPtrArray *methods, DemurParallel *parallel,
                 GError **error) {
  const DemurRanks *ranks = ranks_of(parallel);
  if (ranks == NULL)
    return TRUE;
  DemurSha256 sha;
  demur_sha256_init(&sha);
  demur_sha256_update(&sha, sample->risks, sample->n * sizeof *sample->risks);
  demur_sha256_update(&sha, sample->labels, sample->n * sizeof *sample->labels);
  for (guint k = 0; k < methods->len; k++) {
    const DemurMethod *method = methods->pdata[k];
    for (size_t m = 0; m < method->n_models; m++)
      demur_sha256_update(&sha, method->ranks[m], sample->n * sizeof *method->ranks[m]);
  }
  guint8 digest[DEMUR_SHA256_BYTES];
  demur_sha256_finish(&sha, digest);
  guint64 label;
  memcpy(&label, digest, sizeof label);
  return demur_ranks_meet(ranks, label, error);
}

/* Trials, noise floor and bootstrap of the methods on one sample; appended to the evaluation. */
static gboolean
evaluate_sample(const DemurEvaluateInput *input, const DemurRiskGroup *group,
                const DemurSample *sample, const GPtrArray *methods, DemurParallel *parallel,
                const DemurProgress *progress, DemurEvaluation *evaluation, GError **error) {
  g_autoptr(DemurExtraSetup) setup =
      demur_extra_setup_new(sample, input->min_bin_size, net_benefit_threshold(input, sample));
  g_autoptr(DemurTrials) trials = demur_trials_new(input, setup, methods, parallel);
  g_autofree DemurToldCoverages *told =
      input->released ? told_coverages(sample, methods, parallel) : NULL;
  g_autoptr(GArray) plans = demur_plan_points(input, group, methods, sample->n, told);
  g_autofree DemurOperating *points = g_new0(DemurOperating, MAX(plans->len, 1));
  Finding finding = {methods, sample->n, plans, points};
  demur_parallel_map(parallel, plans->len, find_point, &finding);
  const DemurReplicatesInput replicates_input = {.setup = setup,
                                                 .methods = methods,
                                                 .unit = unit_of_intervals(sample),
                                                 .seed = input->seed,
                                                 .n_bootstrap = input->n_bootstrap,
                                                 .n_noise_draws = input->n_noise_draws,
                                                 .with_curves = TRUE,
                                                 .n_points = plans->len,
                                                 .points = points};
  g_autoptr(DemurReplicates) replicates = demur_replicates_new(&replicates_input, parallel);
  evaluation->in_cells |= replicates->in_cells;
  gboolean ok =
      meet_with_sample(sample, methods, parallel, error) &&
      gather_with_progress(parallel, trials->n_columns * trials->n_trials, demur_trials_run, trials,
                           demur_trials_slots(trials), progress, 0.05, 0.25, error) &&
      gather_with_progress(parallel, input->n_noise_draws, demur_replicates_redraw, replicates,
                           demur_replicates_redraw_slots(replicates), progress, 0.25, 0.35,
                           error) &&
      gather_with_progress(parallel, replicates->n, demur_replicates_draw, replicates,
                           demur_replicates_draw_slots(replicates), progress, 0.35, 0.9, error);
  if (ok && !input->drawn_only) {
    g_autofree DemurOperatingPoint **at = g_new(DemurOperatingPoint *, MAX(plans->len, 1));
    DemurMethodResult *results = add_results(evaluation, group, methods, plans, at);
    Curves curves = {trials, replicates, results};
    demur_parallel_map(parallel, methods->len, fill_method, &curves);
    DemurPoints fill = {replicates, (const DemurPointPlan *)(gconstpointer)plans->data, evaluation,
                        at};
    demur_parallel_map(parallel, plans->len, demur_points_fill, &fill);
    demur_comparisons_add(replicates, results, input->with_first, evaluation);
    if (told != NULL)
      release(sample, methods, told, plans, input->min_bin_size, at, results, parallel);
    ok = add_groups(input, group, replicates, plans, told, evaluation, parallel, progress, error);
  }
  demur_operating_clear(points, plans->len);
  return ok;
}

/* Outlier scores of rows, in the order of the sample. */
static double *
in_sample_order(const DemurCohort *cohort, const guint32 *rows, size_t n_rows,
                const double *outlier, const DemurSample *sample) {
  g_autofree guint32 *places = g_new0(guint32, MAX(cohort->n_scans, 1));
  for (size_t i = 0; i < n_rows; i++)
    places[rows[i]] = (guint32)i;
  double *ordered = g_new(double, MAX(n_rows, 1) * DEMUR_N_OUTLIER);
  for (size_t i = 0; i < sample->n; i++)
    memcpy(ordered + i * DEMUR_N_OUTLIER,
           outlier + (size_t)places[sample->rows[i]] * DEMUR_N_OUTLIER,
           DEMUR_N_OUTLIER * sizeof(double));
  return ordered;
}

/* Outlier scores of the split [n_rows][DEMUR_N_OUTLIER], for each kind of risk: they go with the last that reads
 * them, before its methods and replicates come. NULL: no embeddings. */
typedef struct {
  double *scores;
  size_t n_readers;
} OutlierScores;

static void
outlier_scores_clear(OutlierScores *outlier) {
  g_free(outlier->scores);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(OutlierScores, outlier_scores_clear)

/* One kind of risk: its sample and methods, then the above. */
static gboolean
evaluate_group(const DemurEvaluateInput *input, const DemurRiskGroup *group, const guint32 *rows,
               size_t n_rows, OutlierScores *outlier, DemurParallel *parallel,
               const DemurProgress *progress, DemurEvaluation *evaluation, GError **error) {
  g_autoptr(DemurSample) sample = demur_sample_new(group->view, rows, n_rows, input->split, error);
  if (sample == NULL)
    return FALSE;
  g_autofree DemurSelector **selectors = g_new0(DemurSelector *, group->n_selectors + 1);
  g_autofree char **names = g_new0(char *, group->n_selectors + 1);
  for (size_t s = 0; s < group->n_selectors; s++) {
    selectors[s] = input->selectors[group->selectors[s]];
    names[s] = input->names[group->selectors[s]];
  }
  g_autofree double *ordered =
      outlier->scores != NULL ? in_sample_order(group->view, rows, n_rows, outlier->scores, sample)
                              : NULL;
  if (--outlier->n_readers == 0)
    g_clear_pointer(&outlier->scores, g_free);
  const DemurMethodsInput methods_input = {.n_selectors = group->n_selectors,
                                           .selectors = selectors,
                                           .names = names,
                                           .base = group->base,
                                           .cohort = group->view,
                                           .raw = !group->recalibrated,
                                           .sample = sample,
                                           .outlier = ordered,
                                           .seed = input->seed};
  g_autoptr(GPtrArray) methods = demur_methods_new(&methods_input, parallel, progress, error);
  g_clear_pointer(&ordered, g_free);
  if (methods == NULL ||
      !evaluate_sample(input, group, sample, methods, parallel, progress, evaluation, error))
    return FALSE;
  if (input->drawn_only)
    return TRUE;
  g_autofree double *decisions = g_new0(double, group->n_selectors + 1);
  for (size_t s = 0; input->hold_back != NULL && s < group->n_selectors; s++)
    decisions[s] = input->hold_back[group->selectors[s]];
  const DemurHoldBackInput hold_back = {.n_selectors = group->n_selectors,
                                        .selectors = selectors,
                                        .names = names,
                                        .decisions = decisions,
                                        .recalibrated = group->recalibrated,
                                        .cohort = group->view,
                                        .sites = input->sites,
                                        .sample = sample,
                                        .methods = methods,
                                        .released = input->released};
  demur_hold_back_add(&hold_back, parallel, evaluation);
  return TRUE;
}

/* The rows that are measured: without those that an audit labelled. */
static size_t
leave_labelled(const DemurEvaluateInput *input, guint32 *rows, size_t n_rows) {
  g_autofree guint8 *labelled = g_new0(guint8, MAX(input->cohort->n_patients, 1));
  for (size_t i = 0; i < input->n_labels; i++)
    labelled[input->cohort->patients[input->labels[i].row]] = 1;
  size_t n = 0;
  for (size_t i = 0; i < n_rows; i++)
    if (!labelled[input->cohort->patients[rows[i]]])
      rows[n++] = rows[i];
  return n;
}

/* What the audits were worth, by their number of labels. */
static gboolean
add_audits(const DemurEvaluateInput *input, const guint32 *rows, size_t n_rows,
           DemurParallel *parallel, DemurEvaluation *e, GError **error) {
  if (input->sites == NULL)
    return TRUE;
  DemurSelector *selector = input->selectors[0];
  const size_t n_all = n_rows + input->n_labels;
  g_autofree guint32 *all = g_new(guint32, MAX(n_all, 1));
  memcpy(all, rows, n_rows * sizeof *all);
  for (size_t i = 0; i < input->n_labels; i++)
    all[n_rows + i] = input->labels[i].row;
  g_autoptr(DemurCohort) view =
      demur_selector_view_rows(selector, input->cohort, all, n_all, parallel, NULL, error);
  DEMUR_AUTO_ALIGNED double *meta =
      view != NULL
          ? demur_selector_meta_features(selector, view, FALSE, rows, n_rows, parallel, NULL, error)
          : NULL;
  if (meta == NULL)
    return FALSE;
  g_autofree double *scores = g_new(double, MAX(n_rows, 1));
  demur_selector_scores(selector, 0, meta, n_rows, scores);
  for (size_t s = 0; s < input->cohort->n_sites; s++)
    e->n_audited_sites += input->sites[s].audited != FALSE;
  e->n_audit_labels = input->n_labels;
  g_autofree double *weights = NULL;
  if (!demur_outcome_weights(input->cohort, rows, n_rows, &weights, error))
    return FALSE;
  const DemurAuditMeasured measured = {n_rows, rows, scores, weights};
  demur_audit_curve_fill(selector, view, input->labels, input->n_labels, &measured, input->seed, e);
  return TRUE;
}

static const char *
first_selector(const DemurEvaluation *e) {
  for (size_t k = 0; k < e->n_methods; k++)
    if (e->methods[k].kind == DEMUR_METHOD_SELECTOR)
      return e->methods[k].name;
  return "";
}

DemurEvaluation *
demur_evaluate_methods(const DemurEvaluateInput *input, const DemurSample *sample,
                       const GPtrArray *methods, const guint32 *rows, DemurParallel *parallel,
                       const DemurProgress *progress, GError **error) {
  const DemurProgress none = {0};
  if (!demur_groups_check(input->cohort, input->group_by, error))
    return NULL;
  g_autoptr(DemurEvaluation) evaluation = describe(input, sample);
  evaluation->digest = digest_of(input->cohort, rows, sample->n);
  evaluation->n_models = 1;
  g_autofree size_t *selectors = g_new0(size_t, methods->len + 1);
  const DemurRiskGroup group = {.n_selectors = 1, .selectors = selectors};
  if (!evaluate_sample(input, &group, sample, methods, parallel, progress ? progress : &none,
                       evaluation, error))
    return NULL;
  demur_comparisons_judge(evaluation, first_selector(evaluation));
  demur_site_contrasts_judge(evaluation);
  return g_steal_pointer(&evaluation);
}

char *
demur_evaluate_settings_digest(const DemurEvaluateInput *input) {
  g_autoptr(GString) what = g_string_new(NULL);
  g_string_printf(what, "%s %zu %d %zu %zu %zu %a %d %d %zu", input->split, input->n_resamples,
                  (int)input->resample_unit, input->n_bootstrap, input->n_noise_draws,
                  input->min_bin_size, input->net_benefit_threshold, (int)input->with_first,
                  (int)input->in_sample, input->n_labels);
  for (size_t s = 0; s < input->n_selectors; s++) {
    g_string_append_printf(what, " %s %a", demur_selector_digest(input->selectors[s]),
                           input->hold_back != NULL ? input->hold_back[s] : 0.0);
    for (size_t t = 0; input->n_thresholds != NULL && t < input->n_thresholds[s]; t++) {
      const DemurTunedThreshold *tuned = &input->thresholds[s][t];
      g_string_append_printf(what, " %a", tuned->coverage);
      for (size_t m = 0; m < demur_selector_n_models(input->selectors[s]); m++)
        g_string_append_printf(what, " %a", tuned->thresholds[m]);
    }
  }
  for (size_t g = 0; input->group_by != NULL && input->group_by[g] != NULL; g++)
    g_string_append_printf(what, " %s", input->group_by[g]);
  return demur_sha256_of_text(what->str);
}

/* That all ranks evaluate the same: before anything of theirs is mixed. */
static gboolean
meet_alike(const DemurEvaluateInput *input, const DemurEvaluation *e, DemurParallel *parallel,
           GError **error) {
  const DemurRanks *ranks = ranks_of(parallel);
  if (ranks == NULL)
    return TRUE;
  g_autofree char *settings = demur_evaluate_settings_digest(input);
  g_autofree char *what =
      g_strdup_printf("%s %s %s %" G_GUINT64_FORMAT " %s", demur_program_id(),
                      demur_mlp_kernel()->name, e->digest, input->seed, settings);
  return demur_ranks_meet(ranks, demur_ranks_label(what), error);
}

/* What is evaluated, and its digest, which takes as long. */
typedef struct {
  const DemurEvaluateInput *input;
  const guint32 *rows;
  size_t n_rows;
  DemurEvaluation *evaluation; /* NULL with error */
  char *digest;
  GError *error;
} Beginning;

static void
begin_part(size_t part, guint worker, gpointer data) {
  Beginning *b = data;
  if (part == 0) {
    b->digest = digest_of(b->input->cohort, b->rows, b->n_rows);
    return;
  }
  /* Each kind of risk makes a sample of its own. */
  g_autoptr(DemurSample) sample =
      demur_sample_new(b->input->cohort, b->rows, b->n_rows, b->input->split, &b->error);
  b->evaluation = sample != NULL ? describe(b->input, sample) : NULL;
}

static DemurEvaluation *
begin(const DemurEvaluateInput *input, const guint32 *rows, size_t n_rows, DemurParallel *parallel,
      GError **error) {
  Beginning b = {.input = input, .rows = rows, .n_rows = n_rows};
  demur_parallel_map(parallel, 2, begin_part, &b);
  if (b.evaluation == NULL) {
    g_free(b.digest);
    g_propagate_error(error, b.error);
    return NULL;
  }
  b.evaluation->digest = b.digest;
  return b.evaluation;
}

DemurEvaluation *
demur_evaluate(const DemurEvaluateInput *input, DemurParallel *parallel,
               const DemurProgress *progress, GError **error) {
  g_return_val_if_fail(input->n_selectors >= 1, NULL);
  const DemurProgress none = {0};
  if (progress == NULL)
    progress = &none;
  size_t n_rows;
  gboolean in_sample;
  if (!demur_methods_check_alike(input->selectors, input->names, input->n_selectors, error) ||
      !demur_selector_check_cohort(input->selectors[0], input->cohort, error))
    return NULL;
  g_autofree guint32 *rows = demur_cohort_rows(input->cohort, input->split, &n_rows, error);
  if (rows != NULL)
    n_rows = leave_labelled(input, rows, n_rows);
  if (rows == NULL || !demur_groups_check(input->cohort, input->group_by, error) ||
      !demur_plan_check_unseen(input, rows, n_rows, &in_sample, parallel, error))
    return NULL;
  g_autoptr(DemurEvaluation) evaluation = begin(input, rows, n_rows, parallel, error);
  g_autoptr(GArray) groups =
      evaluation != NULL ? demur_plan_risks(input, rows, n_rows, parallel, error) : NULL;
  if (groups == NULL)
    return NULL;
  evaluation->in_sample = in_sample;
  evaluation->n_models = 1;
  if (!meet_alike(input, evaluation, parallel, error))
    return NULL;
  g_auto(OutlierScores) outlier = {NULL, groups->len};
  if (demur_selector_uses_embeddings(input->selectors[0])) {
    DemurProgressStage stage = {progress, 0.0, 0.2, NULL};
    const DemurProgress staged = demur_progress_stage(&stage);
    outlier.scores = demur_selector_outlier_scores(input->selectors[0], input->cohort, rows, n_rows,
                                                   NULL, parallel, &staged, error);
    if (outlier.scores == NULL)
      return NULL;
  }
  /* Selectors stand first in the result: the groups that have any come before raw risks without. */
  for (int pass = 0; pass < 2; pass++)
    for (guint g = 0; g < groups->len; g++) {
      const DemurRiskGroup *group = &g_array_index(groups, DemurRiskGroup, g);
      if ((group->n_selectors > 0) != (pass == 0))
        continue;
      DemurProgressStage stage = {progress, 0.2 + 0.8 * (double)g / (double)groups->len,
                                  0.2 + 0.8 * (double)(g + 1) / (double)groups->len, NULL};
      const DemurProgress staged = demur_progress_stage(&stage);
      if (!evaluate_group(input, group, rows, n_rows, &outlier, parallel, &staged, evaluation,
                          error))
        return NULL;
    }
  if (input->drawn_only)
    return g_steal_pointer(&evaluation);
  g_autofree char *headline = demur_method_name(DEMUR_METHOD_SELECTOR, input->names[0]);
  demur_comparisons_judge(evaluation, headline);
  demur_site_contrasts_judge(evaluation);
  add_warnings(input, evaluation);
  if (!add_audits(input, rows, n_rows, parallel, evaluation, error))
    return NULL;
  return g_steal_pointer(&evaluation);
}
