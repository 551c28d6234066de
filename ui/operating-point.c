#include "ui/operating-point.h"

#include <math.h>
#include <string.h>

#include "base/small-cells.h"
#include "metrics/calibration-fit.h"
#include "metrics/intervals.h"

struct DemurOperatingScratch {
  DemurSelectiveScratch *selective;
  size_t *n_of, *n_rejected_of; /* [most values of a group] */
  DemurGroupRejection *groups;
};

DemurOperatingScratch *
demur_operating_scratch_new(const DemurCoverageStudy *study) {
  DemurOperatingScratch *scratch = g_new0(DemurOperatingScratch, 1);
  scratch->selective = demur_selective_scratch_new(study->sample->n);
  size_t most = 1, all = 1;
  for (size_t g = 0; g < study->n_groups; g++) {
    most = MAX(most, study->groups[g].n_values);
    all += study->groups[g].n_values;
  }
  scratch->n_of = g_new(size_t, most);
  scratch->n_rejected_of = g_new(size_t, most);
  scratch->groups = g_new(DemurGroupRejection, all);
  return scratch;
}

void
demur_operating_scratch_free(DemurOperatingScratch *scratch) {
  if (scratch == NULL)
    return;
  demur_selective_scratch_free(scratch->selective);
  g_free(scratch->n_of);
  g_free(scratch->n_rejected_of);
  g_free(scratch->groups);
  g_free(scratch);
}

static DemurSelectivePoint
point_of(const DemurCoverageStudy *study, const guint32 *ranks, size_t n_ranks, double coverage,
         DemurSelectiveScratch *scratch) {
  const DemurSample *s = study->sample;
  const DemurSelectiveSample sample = {.n = s->n,
                                       .risks = s->risks,
                                       .labels = s->labels,
                                       .ranks = ranks,
                                       .n_ranks = n_ranks,
                                       .top_label = s->top_label};
  DemurSelectivePoint point;
  demur_selective_curve(&sample, &coverage, 1, study->evaluation->min_bin_size, scratch, &point);
  return point;
}

static void
count_labels(const DemurCoverageStudy *study, const guint32 *ranks, guint32 rank, size_t n_labels,
             DemurRejection *rejected) {
  const DemurSample *s = study->sample;
  memset(rejected, 0, n_labels * sizeof *rejected);
  size_t n_rejected = 0;
  for (size_t i = 0; i < s->n; i++) {
    const size_t label = (size_t)s->classes[i];
    const size_t out = ranks[i] > rank ? 1 : 0;
    n_rejected += out;
    if (label < n_labels) {
      rejected[label].n_all++;
      rejected[label].n_rejected += out;
    }
  }
  for (size_t l = 0; l < n_labels; l++) {
    DemurRejection *r = &rejected[l];
    r->label = (int)l;
    r->share_of_rejected = n_rejected > 0 ? (double)r->n_rejected / (double)n_rejected : NAN;
    r->share_of_all = (double)r->n_all / (double)s->n;
    r->rate = r->n_all > 0 ? (double)r->n_rejected / (double)r->n_all : NAN;
    demur_interval_wilson((double)r->n_rejected, (double)r->n_all, 0.95, &r->rate_low,
                          &r->rate_high);
  }
  demur_rejections_withhold(rejected, n_labels);
}

/* Equal-mass bins of the accepted, who stand in ascending risk. */
static void
fill_reliability(const DemurCoverageStudy *study, guint32 rank, DemurShownPoint *operating) {
  const DemurSample *s = study->sample;
  const size_t n = operating->n_accepted;
  const size_t n_bins = demur_bins_count(n, study->evaluation->min_bin_size);
  operating->n_reliability = n_bins;
  size_t i = 0;
  for (size_t b = 0; b < n_bins; b++) {
    DemurReliabilityBin *bin = &operating->reliability[b];
    *bin = (DemurReliabilityBin){.n = n / n_bins + (b < n % n_bins ? 1 : 0)};
    double risk = 0, label = 0;
    for (size_t left = bin->n; left > 0; i++)
      if (study->ranks[i] <= rank) {
        risk += s->risks[i];
        label += s->labels[i];
        left--;
      }
    bin->mean_risk = risk / (double)bin->n;
    bin->observed = label / (double)bin->n;
    demur_interval_wilson(label, (double)bin->n, 0.95, &bin->low, &bin->high);
  }
}

static size_t
fill_histogram(const DemurCoverageStudy *study, const guint32 *ranks, guint32 rank,
               size_t *histogram) {
  const DemurEvaluation *e = study->evaluation;
  size_t n = 0;
  memset(histogram, 0, DEMUR_N_HISTOGRAM_BINS * sizeof *histogram);
  for (size_t i = 0; i < study->sample->n; i++) {
    if (ranks[i] > rank)
      continue;
    const double at = (study->sample->risks[i] - e->histogram_low) / e->histogram_width;
    histogram[(size_t)CLAMP(floor(at), 0, DEMUR_N_HISTOGRAM_BINS - 1)]++;
    n++;
  }
  return n;
}

/* Which of the n rows of one way of grouping are not told. */
static void
withhold(DemurGroupRejection *rows, size_t n) {
  g_autofree size_t *sizes = g_new(size_t, n + 1);
  g_autofree gboolean *withheld = g_new0(gboolean, n + 1);
  for (size_t i = 0; i < n; i++)
    sizes[i] = rows[i].n;
  demur_small_cells(sizes, n, 1, withheld);
  for (size_t i = 0; i < n; i++)
    rows[i].withheld = withheld[i];
}

static void
fill_groups(const DemurCoverageStudy *study, guint32 rank, DemurOperatingScratch *scratch,
            DemurShownPoint *operating) {
  operating->groups = scratch->groups;
  operating->n_groups = 0;
  for (size_t g = 0; g < study->n_groups; g++) {
    const DemurCoverageGroup *group = &study->groups[g];
    memset(scratch->n_of, 0, group->n_values * sizeof(size_t));
    memset(scratch->n_rejected_of, 0, group->n_values * sizeof(size_t));
    for (size_t i = 0; i < study->sample->n; i++) {
      scratch->n_of[group->codes[i]]++;
      scratch->n_rejected_of[group->codes[i]] += study->ranks[i] > rank;
    }
    const size_t first = operating->n_groups;
    for (size_t v = 0; v < group->n_values; v++) {
      if (scratch->n_of[v] == 0)
        continue;
      DemurGroupRejection *r = &scratch->groups[operating->n_groups++];
      *r = (DemurGroupRejection){.group = group->kind,
                                 .value = group->values[v],
                                 .n = scratch->n_of[v],
                                 .withheld = group->withheld != NULL && group->withheld[v],
                                 .n_rejected = scratch->n_rejected_of[v]};
      r->rate = (double)r->n_rejected / (double)r->n;
      demur_interval_wilson((double)r->n_rejected, (double)r->n, 0.95, &r->low, &r->high);
    }
    if (group->withheld == NULL)
      withhold(scratch->groups + first, operating->n_groups - first);
  }
}

void
demur_operating_compute(const DemurCoverageStudy *study, double coverage,
                        DemurOperatingScratch *scratch, DemurShownPoint *operating) {
  const DemurSample *s = study->sample;
  memset(operating, 0, sizeof *operating);
  operating->coverage = coverage;
  operating->n = s->n;
  operating->selector = point_of(study, study->ranks, study->n_ranks, coverage, scratch->selective);
  operating->confidence = point_of(study, study->confidence_ranks, study->n_confidence_ranks,
                                   coverage, scratch->selective);
  const guint32 rank = operating->selector.rank, confidence_rank = operating->confidence.rank;
  operating->n_accepted = operating->selector.n_selected;
  operating->realised = (double)operating->n_accepted / (double)s->n;
  operating->threshold = NAN;
  for (size_t i = 0; i < s->n; i++)
    if (study->ranks[i] <= rank)
      operating->threshold =
          fmin(isnan(operating->threshold) ? INFINITY : operating->threshold, study->scores[i]);
  operating->n_labels = MIN(s->n_classes, DEMUR_OPERATING_MAX_LABELS);
  count_labels(study, study->ranks, rank, operating->n_labels, operating->rejected);
  count_labels(study, study->confidence_ranks, confidence_rank, operating->n_labels,
               operating->rejected_by_confidence);
  fill_reliability(study, rank, operating);
  fill_histogram(study, study->ranks, rank, operating->histogram);
  operating->n_confidence_accepted = fill_histogram(study, study->confidence_ranks, confidence_rank,
                                                    operating->histogram_of_confidence);
  fill_groups(study, rank, scratch, operating);
}

void
demur_operating_calibration(const DemurCoverageStudy *study, const DemurShownPoint *operating,
                            DemurShownCalibration *calibration) {
  const DemurSample *s = study->sample;
  g_autofree guint32 *counts = g_new(guint32, MAX(s->n, 1));
  for (size_t i = 0; i < s->n; i++)
    counts[i] = study->ranks[i] <= operating->selector.rank ? 1 : 0;
  const DemurOutcomes accepted = {
      .n = s->n, .risks = s->risks, .labels = s->labels, .counts = counts, .weights = s->weights};
  const DemurCalibrationFit fit = demur_calibration_fit(&accepted, NULL);
  calibration->oe_ratio = demur_calibration_oe_ratio(&accepted);
  calibration->slope = fit.slope;
  calibration->intercept = fit.intercept;
  calibration->n_smooth = demur_calibration_curve(&accepted, s->patients, s->n_patients,
                                                  calibration->smooth, DEMUR_N_SMOOTH);
}
