/* A group is a sample of its own, with the scores of its scans cut out of each method. Its AUC
 * takes thresholds from its own scores, as if it were the data set (so the paper measures
 * perturbations); its operating points take those of the whole split, as a hospital would meet
 * them. One job a group; a large group's replicates are jobs of their own. */
#include "evaluation/groups.h"

#include <math.h>
#include <string.h>

#include "base/small-cells.h"
#include "base/told-map.h"
#include "evaluation/extra.h"
#include "evaluation/group-releases.h"
#include "evaluation/grouping.h"
#include "evaluation/points.h"
#include "evaluation/releases.h"
#include "evaluation/replicates.h"
#include "evaluation/site-contrast.h"
#include "metrics/coverage.h"
#include "metrics/selective.h"

gboolean
demur_groups_check(const DemurCohort *cohort, const char *const *group_by, GError **error) {
  for (size_t i = 0; group_by != NULL && group_by[i] != NULL; i++)
    if (!demur_grouping_check(cohort, group_by[i], error))
      return FALSE;
  return TRUE;
}

/* Groups are many: from this many scans on their replicates are counted in cells. */
#define CELLS_FROM 1024
/* From this many scans on a group's replicates are shared out among the threads. */
#define LARGE_GROUP 4096

/* --- one group --- */

typedef struct {
  const DemurGroupsInput *input;
  const DemurGroup *group;
  const DemurSample *sample; /* of the group */
  const guint32 *places;     /* [sample->n] in the whole sample */
  DemurGroupMethod *results; /* [n_methods] */
  size_t n_contrasts;
  DemurSiteContrast *contrasts; /* [n_contrasts], one a selector, in the methods' order */
} Job;

/* The method's scores of the group's scans. */
static DemurMethod *
cut_out(const Job *job, const DemurMethod *whole) {
  DemurMethod *method = g_new0(DemurMethod, 1);
  const size_t n = job->sample->n;
  method->n_models = whole->n_models;
  method->scores = g_new(double *, whole->n_models);
  method->ranks = g_new(guint32 *, whole->n_models);
  method->n_ranks = g_new(size_t, whole->n_models);
  for (size_t m = 0; m < whole->n_models; m++) {
    method->scores[m] = g_new(double, n);
    method->ranks[m] = g_new(guint32, n);
    for (size_t i = 0; i < n; i++)
      method->scores[m][i] = whole->scores[m][job->places[i]];
    method->n_ranks[m] = demur_coverage_ranks(method->scores[m], n, method->ranks[m]);
  }
  return method;
}

static void
fill_auc(const Job *job, const DemurMethod *method, DemurSelectiveScratch *scratch,
         DemurGroupMethod *result) {
  double coverages[DEMUR_N_COVERAGES], errors[DEMUR_N_COVERAGES], squares[DEMUR_N_COVERAGES];
  demur_coverage_grid(DEMUR_N_COVERAGES, coverages);
  double plain = 0.0, debiased2 = 0.0;
  for (size_t m = 0; m < method->n_models; m++) {
    const DemurSelectiveSample sample =
        demur_method_selective(job->sample, method, m, demur_sample_as_is(job->sample));
    demur_selective_debiased(&sample, coverages, DEMUR_N_COVERAGES, job->input->min_bin_size,
                             scratch, errors, squares);
    plain += demur_coverage_auc(coverages, errors, DEMUR_N_COVERAGES);
    debiased2 += demur_coverage_auc(coverages, squares, DEMUR_N_COVERAGES);
  }
  result->sbce2_auc = plain / (double)method->n_models;
  result->debiased_auc = demur_signed_root(debiased2 / (double)method->n_models);
}

/* Takes away what too few scans say, or from which few could be counted. */
static void
withhold(const DemurGroup *group, size_t n_classes, size_t n_of_rarer_label,
         DemurOperatingPoint *at) {
  const DemurInterval none = {NAN, NAN};
  for (size_t l = 0; l < at->n_labels; l++) {
    DemurRejection *r = &at->rejected_by_label[l];
    /* of a group even none, or all, is a fact about few */
    r->withheld |=
        group->labels_withheld || MIN(r->n_rejected, r->n_all - r->n_rejected) < DEMUR_SMALL_CELL;
    if (r->withheld)
      r->rate = r->rate_low = r->rate_high = NAN;
  }
  const size_t fewest = n_classes == 2 ? n_of_rarer_label : at->n_accepted;
  if (fewest >= DEMUR_SMALL_CELL && !(n_classes == 2 && group->labels_withheld))
    return;
  for (DemurMeasure measure = 0; measure < DEMUR_N_MEASURES; measure++) {
    at->measures[measure] = NAN;
    at->intervals[measure] = none;
  }
  at->debiased = NAN;
  at->debiased_interval = at->site_error_interval = none;
  if (at->n_accepted < DEMUR_SMALL_CELL)
    at->noise_floor = NAN;
}

static void
fill_point(const Job *job, const DemurMethod *method, const DemurGroupThreshold *threshold,
           const DemurReplicates *replicates, size_t index, DemurSelectiveScratch *scratch,
           DemurOperatingPoint *at) {
  const DemurSample *sample = job->sample;
  const gssize *max_ranks = replicates->input.points[index].max_ranks;
  *at = (DemurOperatingPoint){.coverage = threshold->coverage,
                              .from_tune = threshold->from_tune,
                              .threshold = threshold->thresholds[0]};
  demur_points_measure(replicates->input.setup, method, max_ranks, FALSE, scratch, at);
  demur_operating_intervals(replicates, index, at);
  size_t n_accepted[2] = {0}; /* by whether the label is 1 */
  for (size_t i = 0; i < sample->n; i++)
    if ((gssize)method->ranks[0][i] <= max_ranks[0] && sample->classes[i] != DEMUR_NO_LABEL)
      n_accepted[sample->labels[i] >= 0.5]++;
  withhold(job->group, job->input->cohort->n_classes, MIN(n_accepted[0], n_accepted[1]), at);
}

static gssize
find_confidence(const GPtrArray *methods) {
  for (guint k = 0; k < methods->len; k++)
    if (((DemurMethod *)methods->pdata[k])->kind == DEMUR_METHOD_CONFIDENCE)
      return k;
  return -1;
}

static void
fill_contrasts(const Job *job, const DemurExtraSetup *setup, const GPtrArray *methods,
               DemurParallel *parallel) {
  const DemurGroupsInput *input = job->input;
  const gssize confidence = find_confidence(input->methods);
  size_t at = 0;
  for (guint k = 0; k < methods->len && at < job->n_contrasts; k++)
    if (job->results[k].kind == DEMUR_METHOD_SELECTOR)
      demur_site_contrast_fill(setup, methods, k, (size_t)confidence, job->results, input->seed,
                               input->n_bootstrap, parallel, &job->contrasts[at++]);
}

/* One group's methods, and its points, side by side. */
typedef struct {
  const Job *job;
  GPtrArray *methods; /* of the group, NULL until they are cut out */
  const DemurReplicates *replicates;
  DemurOperatingPoint **at; /* [n_thresholds] */
} Filling;

static void
fill_method(size_t k, guint worker, gpointer data) {
  const Filling *f = data;
  DemurMethod *method = cut_out(f->job, f->job->input->methods->pdata[k]);
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(f->job->sample->n);
  f->methods->pdata[k] = method;
  fill_auc(f->job, method, scratch, &f->job->results[k]);
}

static void
fill_threshold(size_t t, guint worker, gpointer data) {
  const Filling *f = data;
  const DemurGroupThreshold *threshold = &f->job->input->thresholds[t];
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(f->job->sample->n);
  fill_point(f->job, f->methods->pdata[threshold->method], threshold, f->replicates, t, scratch,
             f->at[t]);
}

/* parallel: for methods, replicates and points; NULL where the caller maps already. */
static void
run_group(const Job *job, DemurParallel *parallel) {
  const DemurGroupsInput *input = job->input;
  const DemurSample *sample = job->sample;
  g_autoptr(GPtrArray) methods = g_ptr_array_new_with_free_func(demur_method_free);
  g_ptr_array_set_size(methods, (int)input->methods->len);
  g_autofree DemurOperatingPoint **at = g_new(DemurOperatingPoint *, MAX(input->n_thresholds, 1));
  Filling filling = {job, methods, NULL, at};
  demur_parallel_map(parallel, methods->len, fill_method, &filling);
  g_autoptr(DemurExtraSetup) setup = demur_extra_setup_new(sample, input->min_bin_size, NAN);
  g_autofree DemurOperating *points = g_new0(DemurOperating, MAX(input->n_thresholds, 1));
  for (size_t t = 0; t < input->n_thresholds; t++) {
    const DemurGroupThreshold *threshold = &input->thresholds[t];
    const DemurMethod *method = methods->pdata[threshold->method];
    points[t] = (DemurOperating){.method = threshold->method,
                                 .fixed_threshold = TRUE,
                                 .coverage = threshold->coverage,
                                 .max_ranks = g_new(gssize, method->n_models),
                                 .intervals = DEMUR_INTERVALS_ALL};
    for (size_t m = 0; m < method->n_models; m++)
      points[t].max_ranks[m] = demur_method_rank_at(method, m, sample->n, threshold->thresholds[m]);
  }
  const DemurReplicatesInput replicates_input = {.setup = setup,
                                                 .methods = methods,
                                                 .unit = DEMUR_UNIT_PATIENT,
                                                 .seed = input->seed,
                                                 .n_bootstrap = input->n_bootstrap,
                                                 .n_noise_draws = input->n_noise_draws,
                                                 .noise_part = 1,
                                                 .no_site_error = TRUE,
                                                 .cells_from = CELLS_FROM,
                                                 .n_points = input->n_thresholds,
                                                 .points = points};
  g_autoptr(DemurReplicates) replicates = demur_replicates_new(&replicates_input, parallel);
  demur_parallel_map(parallel, input->n_noise_draws, demur_replicates_redraw, replicates);
  demur_parallel_map(parallel, replicates->n, demur_replicates_draw, replicates);
  for (guint k = 0; k < methods->len; k++) {
    size_t n_at = 0;
    for (size_t t = 0; t < input->n_thresholds; t++)
      n_at += input->thresholds[t].method == k;
    job->results[k].at = g_new0(DemurOperatingPoint, n_at);
  }
  for (size_t t = 0; t < input->n_thresholds; t++) {
    DemurGroupMethod *result = &job->results[input->thresholds[t].method];
    at[t] = &result->at[result->n_at++];
  }
  filling.replicates = replicates;
  demur_parallel_map(parallel, input->n_thresholds, fill_threshold, &filling);
  demur_operating_clear(points, input->n_thresholds);
  fill_contrasts(job, setup, methods, parallel);
}

static void
run_job(size_t index, guint worker, gpointer data) {
  run_group(&g_array_index((const GArray *)data, Job, index), NULL);
}

/* --- the groups --- */

static DemurGroup *
find_group(DemurEvaluation *e, const char *by, const char *value) {
  for (size_t g = 0; g < e->n_groups; g++)
    if (strcmp(e->groups[g].by, by) == 0 && strcmp(e->groups[g].value, value) == 0)
      return &e->groups[g];
  e->groups = g_renew(DemurGroup, e->groups, e->n_groups + 1);
  DemurGroup *group = &e->groups[e->n_groups++];
  *group = (DemurGroup){.by = g_strdup(by), .value = g_strdup(value)};
  return group;
}

/* The means of one method over the groups of one `by`. */
static void
add_average(DemurEvaluation *e, const char *by, const char *method, gboolean recalibrated) {
  DemurGroupAverage average = {g_strdup(by), g_strdup(method), recalibrated, 0, 0.0, 0.0};
  for (size_t g = 0; g < e->n_groups; g++) {
    const DemurGroup *group = &e->groups[g];
    for (size_t m = 0; strcmp(group->by, by) == 0 && m < group->n_methods; m++)
      if (strcmp(group->methods[m].name, method) == 0 &&
          group->methods[m].recalibrated == recalibrated) {
        average.n_groups++;
        average.sbce2_auc += group->methods[m].sbce2_auc;
        average.debiased_auc += group->methods[m].debiased_auc;
      }
  }
  average.sbce2_auc = average.n_groups > 0 ? average.sbce2_auc / (double)average.n_groups : NAN;
  average.debiased_auc =
      average.n_groups > 0 ? average.debiased_auc / (double)average.n_groups : NAN;
  e->group_averages = g_renew(DemurGroupAverage, e->group_averages, e->n_group_averages + 1);
  e->group_averages[e->n_group_averages++] = average;
}

/* Scans of one group, while it is worked on. */
typedef struct {
  const DemurSample *whole;
  size_t n;
  guint32 *places; /* [n] in the whole */
  DemurSample *sample;
} Part;

static void
part_clear(gpointer data) {
  Part *part = data;
  demur_sample_free(part->sample);
  g_free(part->places);
}

/* Which groups have too few patients, or would tell of those that have. [n_groups] */
static void
withhold_patients(const DemurGroupsInput *input, GArray *const *members, size_t n_groups,
                  gboolean *withheld) {
  g_autofree size_t *patients = g_new0(size_t, n_groups + 1);
  for (size_t t = 0; t < n_groups; t++) {
    const GArray *places = members[t];
    g_autofree guint32 *rows = g_new(guint32, places->len);
    for (guint i = 0; i < places->len; i++)
      rows[i] = input->sample->rows[g_array_index(places, guint32, i)];
    patients[t] = demur_cohort_count_patients(input->cohort, rows, places->len);
  }
  demur_small_cells(patients, n_groups, 1, withheld);
}

static void
make_part(size_t p, guint worker, gpointer data) {
  Part *part = &g_array_index((GArray *)data, Part, p);
  part->sample = demur_sample_part(part->whole, part->places, part->n);
}

static size_t
count_contrasts(const DemurGroupsInput *input, const char *by) {
  size_t n = 0;
  for (guint k = 0; k < input->methods->len; k++)
    n += ((DemurMethod *)input->methods->pdata[k])->kind == DEMUR_METHOD_SELECTOR;
  return demur_grouping_is_site(by) && input->n_bootstrap > 0 &&
                 find_confidence(input->methods) >= 0
             ? n
             : 0;
}

/* What may be told of the groups that are told of. */
static void
release_parts(const DemurGroupsInput *input, const GArray *parts, const size_t *group_of_part,
              DemurEvaluation *e, DemurParallel *parallel) {
  g_autofree const guint32 **places = g_new(const guint32 *, parts->len + 1);
  g_autofree size_t *n_places = g_new(size_t, parts->len + 1);
  g_autofree DemurGroupMethod **results = g_new(DemurGroupMethod *, parts->len + 1);
  for (guint p = 0; p < parts->len; p++) {
    const Part *part = &g_array_index(parts, Part, p);
    DemurGroup *group = &e->groups[group_of_part[p]];
    places[p] = part->places;
    n_places[p] = part->sample->n;
    results[p] = &group->methods[group->n_methods - input->methods->len];
  }
  demur_group_points_release(input, parts->len, places, n_places, results, parallel);
}

static gboolean
add_by(const DemurGroupsInput *input, const char *by, DemurEvaluation *e, DemurParallel *parallel,
       const DemurProgress *progress, double start, double end, GError **error) {
  const DemurSample *whole = input->sample;
  g_autoptr(DemurGrouping) grouping = demur_grouping_new(input->cohort, by, whole->rows, whole->n);
  const size_t n_groups = grouping->n_values;
  g_autoptr(GPtrArray) kept = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
  for (size_t t = 0; t < n_groups; t++)
    g_ptr_array_add(kept, g_array_new(FALSE, FALSE, sizeof(guint32)));
  GArray *const *members = (GArray *const *)(gconstpointer)kept->pdata; /* places of each */
  for (guint32 i = 0; i < whole->n; i++)
    g_array_append_val(members[grouping->codes[i]], i);

  g_autofree gboolean *patients_withheld = g_new0(gboolean, n_groups);
  withhold_patients(input, members, n_groups, patients_withheld);
  g_autoptr(DemurReleases) releases = demur_releases_new(input->cohort, whole->rows, whole->n, by);
  const DemurReleasedWay *way = demur_releases_find(releases, by);
  g_assert(way != NULL && way->grouping->n_values == n_groups);

  const size_t n_contrasts = count_contrasts(input, by);
  g_autoptr(GArray) parts = g_array_new(FALSE, TRUE, sizeof(Part));
  g_array_set_clear_func(parts, part_clear);
  g_autofree size_t *group_of_part = g_new(size_t, n_groups);
  for (size_t t = 0; t < n_groups; t++) {
    const GArray *places = members[t];
    g_autofree guint32 *rows = g_new(guint32, places->len);
    for (guint i = 0; i < places->len; i++)
      rows[i] = whole->rows[g_array_index(places, guint32, i)];
    DemurGroup *group = find_group(e, by, grouping->values[t]);
    group->n_scans = places->len;
    group->n_patients = demur_cohort_count_patients(input->cohort, rows, places->len);
    group->withheld = way->scans_withheld[t];
    group->labels_withheld = way->labels_withheld[t];
    group->patients_withheld = patients_withheld[t];
    if (group->withheld)
      continue;
    const Part part = {whole, places->len, g_memdup2(places->data, places->len * sizeof(guint32)),
                       NULL};
    g_array_append_val(parts, part);
    group_of_part[parts->len - 1] = (size_t)(group - e->groups);
    group->methods =
        g_renew(DemurGroupMethod, group->methods, group->n_methods + input->methods->len);
    memset(group->methods + group->n_methods, 0, input->methods->len * sizeof(DemurGroupMethod));
    for (guint k = 0; k < input->methods->len; k++) {
      const DemurMethod *method = input->methods->pdata[k];
      DemurGroupMethod *result = &group->methods[group->n_methods++];
      result->kind = method->kind;
      result->name = g_strdup(method->name);
      result->recalibrated = input->recalibrated;
    }
    if (n_contrasts > 0 && !group->labels_withheld) {
      group->contrasts =
          g_renew(DemurSiteContrast, group->contrasts, group->n_contrasts + n_contrasts);
      memset(group->contrasts + group->n_contrasts, 0, n_contrasts * sizeof *group->contrasts);
      group->n_contrasts += n_contrasts;
    }
  }
  demur_parallel_map(parallel, parts->len, make_part, parts);
  g_autoptr(GArray) jobs = g_array_new(FALSE, FALSE, sizeof(Job)); /* the small ones */
  for (guint p = 0; p < parts->len; p++) {
    const Part *part = &g_array_index(parts, Part, p);
    DemurGroup *group = &e->groups[group_of_part[p]];
    const size_t n_here = group->labels_withheld ? 0 : n_contrasts;
    const Job job = {.input = input,
                     .group = group,
                     .sample = part->sample,
                     .places = part->places,
                     .results = &group->methods[group->n_methods - input->methods->len],
                     .n_contrasts = n_here,
                     .contrasts = group->contrasts + group->n_contrasts - n_here};
    if (part->sample->n < LARGE_GROUP) {
      g_array_append_val(jobs, job);
      continue;
    }
    if (!demur_progress_step(progress, start + (double)p / (double)parts->len * (end - start),
                             "groups", error))
      return FALSE;
    run_group(&job, parallel);
  }
  const double n_large = (double)(parts->len - jobs->len), n_parts = (double)MAX(parts->len, 1);
  DemurProgressStage stage = {progress, start + n_large / n_parts * (end - start), end, NULL};
  const DemurProgress staged = demur_progress_stage(&stage);
  if (!demur_told_map(parallel, jobs->len, run_job, jobs, &staged, "groups", error))
    return FALSE;
  if (input->told != NULL)
    release_parts(input, parts, group_of_part, e, parallel);
  for (guint k = 0; k < input->methods->len; k++)
    add_average(e, by, ((DemurMethod *)input->methods->pdata[k])->name, input->recalibrated);
  return TRUE;
}

gboolean
demur_groups_add(const DemurGroupsInput *input, DemurEvaluation *evaluation,
                 DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  const double n = input->group_by != NULL ? (double)g_strv_length((char **)input->group_by) : 0.0;
  for (size_t i = 0; input->group_by != NULL && input->group_by[i] != NULL; i++)
    if (!add_by(input, input->group_by[i], evaluation, parallel, progress,
                0.95 + 0.05 * (double)i / n, 0.95 + 0.05 * (double)(i + 1) / n, error))
      return FALSE;
  return TRUE;
}
