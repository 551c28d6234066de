/* Scan by scan: every measure walks the counted scans, O(25 n) a method and model. */
#include "evaluation/replicates-ways.h"

#include <string.h>

#include "metrics/coverage.h"

double
demur_replicates_exact_site2_auc(const DemurReplicates *r, const DemurMethod *method,
                                 DemurDrawn drawn, double *se) {
  const DemurSample *sample = r->input.setup->sample;
  const double *coverages = r->memory->site_coverages;
  const size_t n_sites = sample->n_sites;
  const gboolean with_se = r->input.unit == DEMUR_UNIT_SITE;
  g_autofree double *influences =
      with_se ? g_new(double, (size_t)DEMUR_N_SITE_COVERAGES *n_sites) : NULL;
  g_autofree double *sums = g_new0(double, MAX(n_sites, 1));
  double squares[DEMUR_N_SITE_COVERAGES], curve[DEMUR_N_SITE_COVERAGES], auc = 0.0;
  const double share = 1.0 / (double)method->n_models;
  for (size_t m = 0; m < method->n_models; m++) {
    const DemurSiteSample by_site = demur_method_sites(sample, method, m, drawn);
    demur_site_error_influences(&by_site, coverages, DEMUR_N_SITE_COVERAGES, squares, influences);
    auc += share * demur_coverage_auc(coverages, squares, DEMUR_N_SITE_COVERAGES);
    for (size_t s = 0; with_se && s < n_sites; s++) {
      for (size_t c = 0; c < DEMUR_N_SITE_COVERAGES; c++)
        curve[c] = influences[c * n_sites + s];
      sums[s] += share * demur_coverage_auc(coverages, curve, DEMUR_N_SITE_COVERAGES);
    }
  }
  *se = with_se ? standard_error(r, drawn.counts, sums) : NAN;
  return auc;
}

void
demur_replicates_exact_curves(DemurReplicates *r, size_t replicate, DemurDrawn drawn,
                              DemurReplicatesWorker *worker) {
  const DemurExtraSetup *setup = r->input.setup;
  const size_t n_methods = r->input.methods->len;
  for (size_t k = 0; k < n_methods; k++) {
    const DemurMethod *method = method_at(r, k);
    double plain = 0.0, debiased = 0.0;
    for (size_t m = 0; m < method->n_models; m++) {
      double errors[DEMUR_N_COVERAGES], squares[DEMUR_N_COVERAGES];
      const DemurSelectiveSample selective =
          demur_method_selective(setup->sample, method, m, drawn);
      demur_selective_debiased(&selective, r->memory->coverages, DEMUR_N_COVERAGES,
                               setup->min_bin_size, worker->selective, errors, squares);
      plain += demur_coverage_auc(r->memory->coverages, errors, DEMUR_N_COVERAGES);
      debiased += demur_coverage_auc(r->memory->coverages, squares, DEMUR_N_COVERAGES);
    }
    const size_t place = replicate * n_methods + k;
    r->plain_auc[place] = plain / (double)method->n_models;
    r->debiased2_auc[place] = debiased / (double)method->n_models;
    r->site2_auc[place] = demur_replicates_exact_site2_auc(r, method, drawn, &r->site2_se[place]);
  }
}

/* The last rank to keep: that of the point, or where a replicate reaches the coverage. */
static gssize
rank_for(const DemurOperating *point, const DemurSample *sample, const DemurMethod *method,
         size_t model, const guint32 *counts) {
  if (counts == NULL || point->fixed_threshold)
    return point->max_ranks[model];
  const guint32 *ranks = method->ranks[model];
  g_autofree guint32 *rank_counts = g_new0(guint32, MAX(method->n_ranks[model], 1));
  size_t n_total = 0;
  for (size_t i = 0; i < sample->n; i++) {
    rank_counts[ranks[i]] += counts[i];
    n_total += counts[i];
  }
  const size_t wanted = demur_coverage_count(point->coverage, n_total);
  gssize rank = -1;
  for (size_t sum = 0; sum < wanted;)
    sum += rank_counts[++rank];
  return rank;
}

/* Rates by class of weighted outcomes; returns the share of all scans that is kept. */
static double
exact_rates(const DemurSample *sample, const guint32 *ranks, gssize max_rank, DemurDrawn drawn,
            double *rates) {
  const size_t k = sample->n_classes;
  g_autofree double *all = g_new0(double, 2 * k);
  double *refused = all + k;
  size_t n_total = 0, n_kept = 0;
  for (size_t i = 0; i < sample->n; i++) {
    const guint32 count = drawn.counts != NULL ? drawn.counts[i] : 1;
    const gboolean kept = (gssize)ranks[i] <= max_rank;
    n_total += count;
    n_kept += kept ? count : 0;
    if (sample->classes[i] == DEMUR_NO_LABEL)
      continue;
    const double mass = (double)count * (drawn.weights != NULL ? drawn.weights[i] : 1.0);
    all[sample->classes[i]] += mass;
    refused[sample->classes[i]] += kept ? 0.0 : mass;
  }
  for (size_t c = 0; c < k; c++)
    rates[c] = all[c] > 0.0 ? refused[c] / all[c] : NAN;
  return n_total > 0 ? (double)n_kept / (double)n_total : NAN;
}

/* values [DEMUR_N_OPERATING_VALUES], rates [n_classes]. counts NULL: the sample as it is, whose
 * fits are kept for the replicates to start from. */
void
demur_replicates_exact_point(const DemurReplicates *r, DemurOperating *point, DemurDrawn drawn,
                             DemurReplicatesWorker *worker, double *values, double *rates) {
  const DemurExtraSetup *setup = r->input.setup;
  const DemurSample *sample = setup->sample;
  const DemurMethod *method = method_at(r, point->method);
  const double share = 1.0 / (double)method->n_models;
  const gboolean by_site = r->input.unit == DEMUR_UNIT_SITE;
  double *influences = worker->influences, *of_model = influences + sample->n_sites;
  memset(values, 0, DEMUR_N_OPERATING_VALUES * sizeof *values);
  memset(influences, 0, sample->n_sites * sizeof *influences);
  const gboolean all = point->intervals == DEMUR_INTERVALS_ALL;
  for (size_t m = 0; m < (all ? method->n_models : 1); m++) {
    const guint32 *ranks = method->ranks[m];
    const gssize rank = rank_for(point, sample, method, m, drawn.counts);
    if (m == 0)
      values[DEMUR_OPERATING_REALISED] = exact_rates(sample, ranks, rank, drawn, rates);
    if (!all)
      return;
    const DemurExtraFit fit =
        demur_extra_fit(setup, ranks, rank, drawn, drawn.counts != NULL ? &point->fits[m] : NULL);
    values[DEMUR_OPERATING_OE_RATIO] += share * fit.oe_ratio;
    values[DEMUR_OPERATING_INTERCEPT] += share * fit.fit.intercept;
    values[DEMUR_OPERATING_SLOPE] += share * fit.fit.slope;
    values[DEMUR_OPERATING_AUROC] += share * fit.auroc;
    if (drawn.counts == NULL)
      point->fits[m] = fit.fit;
    const DemurSelectiveSample selective = demur_method_selective(sample, method, m, drawn);
    DemurSelectivePoint at;
    demur_selective_at_rank(&selective, rank, setup->min_bin_size, worker->selective, &at);
    values[DEMUR_OPERATING_DEBIASED2] += share * at.debiased2;
    values[DEMUR_OPERATING_PLAIN2] += share * at.error2 * at.error2;
    if (r->input.no_site_error) {
      values[DEMUR_OPERATING_SITE2] = NAN;
      continue;
    }
    const DemurSiteSample sites = demur_method_sites(sample, method, m, drawn);
    values[DEMUR_OPERATING_SITE2] +=
        share * demur_site_error_at_rank_influences(&sites, rank, by_site ? of_model : NULL);
    for (size_t s = 0; by_site && s < sample->n_sites; s++)
      influences[s] += share * of_model[s];
  }
  values[DEMUR_OPERATING_SITE2_SE] = by_site ? standard_error(r, drawn.counts, influences) : NAN;
}

void
demur_replicates_exact_redraw(DemurReplicates *r, size_t draw, DemurReplicatesWorker *worker) {
  const DemurExtraSetup *setup = r->input.setup;
  size_t column = 0;
  for (size_t k = 0; r->input.with_curves && k < r->input.methods->len; k++)
    for (size_t m = 0; m < method_at(r, k)->n_models; m++, column++) {
      DemurSelectiveSample selective = demur_method_selective(setup->sample, method_at(r, k), m,
                                                              demur_sample_as_is(setup->sample));
      selective.labels = worker->labels;
      demur_selective_errors(&selective, r->memory->coverages, DEMUR_N_COVERAGES,
                             setup->min_bin_size, worker->selective,
                             r->noise + (draw * r->n_columns + column) * DEMUR_N_COVERAGES);
    }
  for (size_t p = 0; p < r->input.n_points; p++) {
    DemurOperating *point = &r->input.points[p];
    const DemurMethod *method = method_at(r, point->method);
    double sum = 0.0;
    for (size_t m = 0; m < method->n_models; m++) {
      DemurSelectiveSample selective =
          demur_method_selective(setup->sample, method, m, demur_sample_as_is(setup->sample));
      selective.labels = worker->labels;
      DemurSelectivePoint at;
      demur_selective_at_rank(&selective, point->max_ranks[m], setup->min_bin_size,
                              worker->selective, &at);
      sum += at.error2;
    }
    point->noise[draw] = sum / (double)method->n_models;
  }
}
