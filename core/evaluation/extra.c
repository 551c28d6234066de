/* Layout: the scans that a sample counts are copied once, in ascending risk, and cut down in place
 * from the largest coverage to the smallest, so that each coverage visits kept scans only. A fit
 * starts at the solution of the coverage before; a bootstrap replicate at that of the sample
 * itself. Cost of a curve: 20 coverages x (about 6 passes with one exp a scan, 25 windows of the
 * smooth); of a replicate: about 5 such passes. */
#include "evaluation/extra.h"

#include <math.h>
#include <string.h>

#include "metrics/brier.h"
#include "metrics/coverage.h"
#include "metrics/intervals.h"
#include "metrics/offset-logistic.h"
#include "metrics/selective.h"
#include "metrics/site-error.h"

#define LEVEL 0.95

DemurExtraSetup *
demur_extra_setup_new(const DemurSample *sample, size_t min_bin_size,
                      double net_benefit_threshold) {
  DemurExtraSetup *setup = g_new0(DemurExtraSetup, 1);
  setup->sample = sample;
  setup->logits = g_new(double, MAX(sample->n, 1));
  for (size_t i = 0; i < sample->n; i++)
    setup->logits[i] = demur_logit(sample->risks[i]);
  setup->min_bin_size = min_bin_size;
  setup->net_benefit_threshold = net_benefit_threshold;
  return setup;
}

void
demur_extra_setup_free(DemurExtraSetup *setup) {
  if (setup == NULL)
    return;
  g_free(setup->logits);
  g_free(setup);
}

void
demur_extra_coverages(double *coverages) {
  demur_coverage_grid(DEMUR_N_EXTRA_COVERAGES, coverages);
}

/* Kept scans, in ascending risk. */
typedef struct {
  size_t n;
  double *memory, *risks, *logits, *labels;
  guint32 *counts, *ranks;
} Kept;

static Kept
kept_new(size_t n) {
  Kept kept = {0, g_new(double, 3 * MAX(n, 1)), NULL, NULL, NULL, NULL, NULL};
  kept.risks = kept.memory;
  kept.logits = kept.memory + n;
  kept.labels = kept.memory + 2 * n;
  kept.counts = g_new(guint32, 2 * MAX(n, 1));
  kept.ranks = kept.counts + n;
  return kept;
}

static void
kept_clear(Kept *kept) {
  g_free(kept->memory);
  g_free(kept->counts);
}

static void
load(const DemurExtraSetup *setup, const guint32 *ranks, gssize max_rank, const guint32 *counts,
     Kept *kept) {
  const DemurSample *sample = setup->sample;
  size_t n = 0;
  for (size_t i = 0; i < sample->n; i++) {
    const guint32 count = counts != NULL ? counts[i] : 1;
    if (count == 0 || (gssize)ranks[i] > max_rank)
      continue;
    kept->risks[n] = sample->risks[i];
    kept->logits[n] = setup->logits[i];
    kept->labels[n] = sample->labels[i];
    kept->counts[n] = count;
    kept->ranks[n++] = ranks[i];
  }
  kept->n = n;
}

static void
cut_down(Kept *kept, guint32 max_rank) {
  size_t n = 0;
  for (size_t i = 0; i < kept->n; i++) {
    if (kept->ranks[i] > max_rank)
      continue;
    kept->risks[n] = kept->risks[i];
    kept->logits[n] = kept->logits[i];
    kept->labels[n] = kept->labels[i];
    kept->counts[n] = kept->counts[i];
    kept->ranks[n++] = kept->ranks[i];
  }
  kept->n = n;
}

/* start: where the fit begins; receives its solution. */
static void
measure(const DemurExtraSetup *setup, const Kept *kept, DemurCalibrationFit *start,
        double *values) {
  const size_t n = kept->n;
  for (DemurExtra extra = 0; extra < DEMUR_N_EXTRAS; extra++)
    values[extra] = NAN;
  values[DEMUR_EXTRA_OE_RATIO] =
      demur_calibration_oe_ratio(kept->risks, kept->labels, kept->counts, n);
  values[DEMUR_EXTRA_ICI] = demur_calibration_ici(kept->risks, kept->labels, kept->counts, n);
  const DemurBrierParts parts =
      demur_brier_parts(kept->risks, kept->labels, kept->counts, n, setup->min_bin_size);
  values[DEMUR_EXTRA_RELIABILITY] = parts.reliability;
  values[DEMUR_EXTRA_RESOLUTION] = parts.resolution;
  values[DEMUR_EXTRA_UNCERTAINTY] = parts.uncertainty;
  values[DEMUR_EXTRA_WITHIN] = parts.within;
  if (setup->sample->top_label)
    return;
  *start = demur_calibration_fit_logits(kept->logits, kept->labels, kept->counts, n, start);
  values[DEMUR_EXTRA_INTERCEPT] = start->intercept;
  values[DEMUR_EXTRA_SLOPE] = start->slope;
  values[DEMUR_EXTRA_AUROC] = demur_auroc(kept->risks, kept->labels, kept->counts, n);
  const DemurNetBenefit benefit =
      demur_net_benefit(kept->risks, kept->labels, kept->counts, n, setup->net_benefit_threshold);
  values[DEMUR_EXTRA_NET_BENEFIT] = benefit.model;
  values[DEMUR_EXTRA_TREAT_ALL] = benefit.all;
}

/* rank_counts [n_ranks]: scans of each rank; how many in all. */
static size_t
count_ranks(const guint32 *ranks, size_t n_ranks, const guint32 *counts, size_t n,
            guint32 *rank_counts) {
  size_t n_total = 0;
  memset(rank_counts, 0, n_ranks * sizeof *rank_counts);
  for (size_t i = 0; i < n; i++) {
    const guint32 count = counts != NULL ? counts[i] : 1;
    rank_counts[ranks[i]] += count;
    n_total += count;
  }
  return n_total;
}

void
demur_extra_curves(const DemurExtraSetup *setup, const guint32 *ranks, size_t n_ranks,
                   const guint32 *counts, DemurExtraCurves *curves) {
  const DemurSample *sample = setup->sample;
  double coverages[DEMUR_N_EXTRA_COVERAGES];
  demur_extra_coverages(coverages);
  gssize max_ranks[DEMUR_N_EXTRA_COVERAGES];
  g_autofree guint32 *rank_counts = g_new(guint32, MAX(n_ranks, 1));
  const size_t n_total = count_ranks(ranks, n_ranks, counts, sample->n, rank_counts);
  gssize rank = -1;
  size_t sum = 0;
  for (size_t c = 0; c < DEMUR_N_EXTRA_COVERAGES; c++) {
    const size_t wanted = demur_coverage_count(coverages[c], n_total);
    while (sum < wanted)
      sum += rank_counts[++rank];
    max_ranks[c] = rank;
    curves->n_selected[c] = sum;
  }
  Kept kept = kept_new(sample->n);
  DemurCalibrationFit start = {NAN, NAN, NAN};
  load(setup, ranks, rank, counts, &kept);
  for (size_t c = DEMUR_N_EXTRA_COVERAGES; c-- > 0;) {
    double values[DEMUR_N_EXTRAS];
    const gboolean same =
        c + 1 < DEMUR_N_EXTRA_COVERAGES && max_ranks[c] == max_ranks[c + 1]; /* as for "full" */
    if (!same) {
      cut_down(&kept, (guint32)MAX(max_ranks[c], 0));
      measure(setup, &kept, &start, values);
    }
    for (DemurExtra extra = 0; extra < DEMUR_N_EXTRAS; extra++)
      curves->values[extra][c] = same ? curves->values[extra][c + 1] : values[extra];
  }
  kept_clear(&kept);
  const DemurSelectiveSample selective = {.n = sample->n,
                                          .risks = sample->risks,
                                          .labels = sample->labels,
                                          .counts = counts,
                                          .ranks = ranks,
                                          .n_ranks = n_ranks,
                                          .top_label = sample->top_label};
  demur_aurc(&selective, &curves->aurc_error, &curves->aurc_brier);
}

void
demur_extra_at_rank(const DemurExtraSetup *setup, const guint32 *ranks, gssize max_rank,
                    const guint32 *counts, double *values, DemurNetBenefit *decision) {
  Kept kept = kept_new(setup->sample->n);
  load(setup, ranks, max_rank, counts, &kept);
  DemurCalibrationFit start = {NAN, NAN, NAN};
  measure(setup, &kept, &start, values);
  if (decision != NULL)
    demur_decision_curve(kept.risks, kept.labels, kept.counts, kept.n, demur_decision_thresholds,
                         DEMUR_N_DECISIONS, decision);
  if (decision != NULL && setup->sample->top_label)
    for (size_t t = 0; t < DEMUR_N_DECISIONS; t++)
      decision[t].model = decision[t].all = NAN;
  kept_clear(&kept);
}

/* --- bootstrap of an operating point --- */

typedef enum {
  VALUE_REALISED,
  VALUE_INTERCEPT,
  VALUE_SLOPE,
  VALUE_OE,
  VALUE_AUROC,
  VALUE_DEBIASED2,
  VALUE_PLAIN2, /* the plain square; of the sample itself only */
  VALUE_SITE2,
  VALUE_SITE2_SE,
  N_VALUES,
} Value;

typedef struct {
  const DemurOperatingBootstrap *b;
  DemurCalibrationFit *starts; /* [n_models] */
  double point[N_VALUES];
  double *replicates; /* [N_VALUES + n_classes][n_bootstrap] */
} OperatingWork;

static gssize
rank_for(const DemurOperatingBootstrap *b, size_t model, const guint32 *counts) {
  if (counts == NULL || b->fixed_threshold)
    return b->max_ranks[model];
  const DemurSample *sample = b->setup->sample;
  const size_t n_ranks = b->method->n_ranks[model];
  g_autofree guint32 *rank_counts = g_new(guint32, MAX(n_ranks, 1));
  const size_t n_total =
      count_ranks(b->method->ranks[model], n_ranks, counts, sample->n, rank_counts);
  const size_t wanted = demur_coverage_count(b->coverage, n_total);
  gssize rank = -1;
  for (size_t sum = 0; sum < wanted;)
    sum += rank_counts[++rank];
  return rank;
}

/* Share of the sample that is kept, and of each class that is refused (rates [n_classes], NaN for
 * an absent class). */
static double
rates_of(const DemurSample *sample, const guint32 *ranks, gssize max_rank, const guint32 *counts,
         double *rates) {
  const size_t k = sample->n_classes;
  g_autofree guint64 *all = g_new0(guint64, 2 * k);
  guint64 *refused = all + k, n_total = 0, n_refused = 0;
  for (size_t i = 0; i < sample->n; i++) {
    const guint32 count = counts != NULL ? counts[i] : 1;
    all[sample->classes[i]] += count;
    if ((gssize)ranks[i] > max_rank)
      refused[sample->classes[i]] += count;
  }
  for (size_t c = 0; c < k; c++) {
    rates[c] = all[c] > 0 ? (double)refused[c] / (double)all[c] : NAN;
    n_total += all[c];
    n_refused += refused[c];
  }
  return n_total > 0 ? (double)(n_total - n_refused) / (double)n_total : NAN;
}

/* From influences summed over models: sites are the independent units, a site drawn m times is m of
 * them. */
static double
standard_error(const DemurSample *sample, const guint32 *counts, const double *influences) {
  g_autofree double *times = g_new0(double, MAX(sample->n_sites, 1));
  for (size_t i = 0; i < sample->n; i++)
    times[sample->sites[i]] = counts != NULL ? (double)counts[i] : 1.0;
  double n = 0.0, sum = 0.0;
  for (size_t s = 0; s < sample->n_sites; s++)
    if (times[s] > 0.0) {
      n += times[s];
      sum += influences[s] * influences[s] / times[s];
    }
  return n > 1.0 ? sqrt(n / (n - 1.0) * sum) : NAN;
}

/* All values on one sample; rates [n_classes] of model 1. starts: read, and written where asked. */
static void
values_of(const OperatingWork *work, const guint32 *counts, DemurCalibrationFit *starts,
          double *values, double *rates) {
  const DemurOperatingBootstrap *b = work->b;
  const DemurSample *sample = b->setup->sample;
  const double share = 1.0 / (double)b->method->n_models;
  const gboolean by_site = b->unit == DEMUR_UNIT_SITE;
  Kept kept = kept_new(sample->n);
  g_autofree double *influences = g_new0(double, 2 * MAX(sample->n_sites, 1));
  double *of_model = influences + sample->n_sites;
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(sample->n);
  for (size_t v = 0; v < N_VALUES; v++)
    values[v] = 0.0;
  for (size_t m = 0; m < b->method->n_models; m++) {
    const guint32 *ranks = b->method->ranks[m];
    const gssize rank = rank_for(b, m, counts);
    if (m == 0)
      values[VALUE_REALISED] = rates_of(sample, ranks, rank, counts, rates);
    load(b->setup, ranks, rank, counts, &kept);
    values[VALUE_OE] +=
        share * demur_calibration_oe_ratio(kept.risks, kept.labels, kept.counts, kept.n);
    if (sample->top_label) {
      values[VALUE_INTERCEPT] = values[VALUE_SLOPE] = values[VALUE_AUROC] = NAN;
    } else {
      const DemurCalibrationFit fit = demur_calibration_fit_logits(
          kept.logits, kept.labels, kept.counts, kept.n, &work->starts[m]);
      values[VALUE_INTERCEPT] += share * fit.intercept;
      values[VALUE_SLOPE] += share * fit.slope;
      values[VALUE_AUROC] += share * demur_auroc(kept.risks, kept.labels, kept.counts, kept.n);
      if (starts != NULL)
        starts[m] = fit;
    }
    const DemurSelectiveSample selective = {.n = sample->n,
                                            .risks = sample->risks,
                                            .labels = sample->labels,
                                            .counts = counts,
                                            .ranks = ranks,
                                            .n_ranks = b->method->n_ranks[m],
                                            .top_label = sample->top_label};
    DemurSelectivePoint point;
    demur_selective_at_rank(&selective, rank, b->setup->min_bin_size, scratch, &point);
    values[VALUE_DEBIASED2] += share * point.debiased2;
    values[VALUE_PLAIN2] += share * point.error2 * point.error2;
    const DemurSiteSample sites = {.n = sample->n,
                                   .differences = sample->differences,
                                   .sites = sample->sites,
                                   .patients = sample->patients,
                                   .n_sites = sample->n_sites,
                                   .n_patients = sample->n_patients,
                                   .counts = counts,
                                   .ranks = ranks,
                                   .n_ranks = b->method->n_ranks[m]};
    values[VALUE_SITE2] +=
        share * demur_site_error_at_rank_influences(&sites, rank, by_site ? of_model : NULL);
    for (size_t s = 0; by_site && s < sample->n_sites; s++)
      influences[s] += share * of_model[s];
  }
  values[VALUE_SITE2_SE] = by_site ? standard_error(sample, counts, influences) : NAN;
  kept_clear(&kept);
}

static void
run_replicate(size_t replicate, guint worker, gpointer data) {
  OperatingWork *work = data;
  const DemurOperatingBootstrap *b = work->b;
  const DemurSample *sample = b->setup->sample;
  g_autofree guint32 *counts = g_new(guint32, MAX(sample->n, 1));
  g_autofree double *rates = g_new(double, sample->n_classes);
  demur_sample_resample(sample, b->unit,
                        demur_random_stream(b->seed, DEMUR_STREAM_BOOTSTRAP, replicate, 0, 0),
                        counts);
  double values[N_VALUES];
  values_of(work, counts, NULL, values, rates);
  for (size_t v = 0; v < N_VALUES; v++)
    work->replicates[v * b->n_bootstrap + replicate] = values[v];
  for (size_t c = 0; c < sample->n_classes; c++)
    work->replicates[(N_VALUES + c) * b->n_bootstrap + replicate] = rates[c];
}

static DemurInterval
expanded(double *replicates, size_t n, size_t n_units) {
  DemurInterval interval;
  demur_interval_expanded(replicates, n, n_units, LEVEL, &interval.low, &interval.high);
  return interval;
}

static DemurInterval
signed_roots(DemurInterval squares) {
  return (DemurInterval){demur_signed_root(squares.low), demur_signed_root(squares.high)};
}

void
demur_extra_intervals(const DemurOperatingBootstrap *b, DemurParallel *parallel,
                      DemurOperatingPoint *at) {
  const DemurSample *sample = b->setup->sample;
  const size_t n_units = demur_sample_n_units(sample, b->unit), n = b->n_bootstrap;
  g_autofree DemurCalibrationFit *starts = g_new(DemurCalibrationFit, b->method->n_models);
  g_autofree double *replicates = g_new(double, (N_VALUES + sample->n_classes) * MAX(n, 1));
  g_autofree double *rates = g_new(double, sample->n_classes);
  OperatingWork work = {b, starts, {0}, replicates};
  for (size_t m = 0; m < b->method->n_models; m++)
    starts[m] = (DemurCalibrationFit){NAN, NAN, NAN};
  values_of(&work, NULL, starts, work.point, rates);
  demur_parallel_map(parallel, n, run_replicate, &work);

  for (DemurExtra extra = 0; extra < DEMUR_N_EXTRAS; extra++)
    at->extra_intervals[extra] = (DemurInterval){NAN, NAN};
  at->extra_intervals[DEMUR_EXTRA_INTERCEPT] =
      expanded(replicates + VALUE_INTERCEPT * n, n, n_units);
  at->extra_intervals[DEMUR_EXTRA_SLOPE] = expanded(replicates + VALUE_SLOPE * n, n, n_units);
  at->extra_intervals[DEMUR_EXTRA_OE_RATIO] = expanded(replicates + VALUE_OE * n, n, n_units);
  at->extra_intervals[DEMUR_EXTRA_AUROC] = expanded(replicates + VALUE_AUROC * n, n, n_units);
  at->realised_interval = b->fixed_threshold ? expanded(replicates + VALUE_REALISED * n, n, n_units)
                                             : (DemurInterval){NAN, NAN};
  DemurInterval squares;
  demur_interval_basic(replicates + VALUE_DEBIASED2 * n, n, work.point[VALUE_DEBIASED2],
                       work.point[VALUE_PLAIN2], n_units, LEVEL, &squares.low, &squares.high);
  at->debiased_interval = signed_roots(squares);
  double *site2 = replicates + VALUE_SITE2 * n;
  if (b->unit == DEMUR_UNIT_SITE) {
    for (size_t r = 0; r < n; r++)
      site2[r] = (site2[r] - work.point[VALUE_SITE2]) / replicates[VALUE_SITE2_SE * n + r];
    demur_interval_studentised(site2, n, work.point[VALUE_SITE2], work.point[VALUE_SITE2_SE],
                               n_units, LEVEL, &squares.low, &squares.high);
  } else {
    squares = expanded(site2, n, n_units);
  }
  at->site_error_interval = signed_roots(squares);
  for (size_t l = 0; l < at->n_labels; l++) {
    const DemurInterval rate = expanded(replicates + (N_VALUES + l) * n, n, n_units);
    at->rejected_by_label[l].rate_low = rate.low;
    at->rejected_by_label[l].rate_high = rate.high;
  }
}
