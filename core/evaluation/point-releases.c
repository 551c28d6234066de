#include "evaluation/point-releases.h"

#include <math.h>
#include <string.h>

#include "metrics/coverage.h"

static const double canonical[] = {0.9,  0.7, 0.5,  0.95, 0.85, 0.8, 0.75, 0.65, 0.6, 0.55,
                                   0.45, 0.4, 0.35, 0.3,  0.25, 0.2, 0.15, 0.1,  0.05};
G_STATIC_ASSERT(G_N_ELEMENTS(canonical) <= DEMUR_N_TOLD_COVERAGES);

#define PAIRS_STEP 1e-3

/* --- which sets --- */

/* Scans of each label whose rank is at most cuts [n_cuts]: kept [n_cuts][n_classes]; all [n_classes]:
 * of all. places [n]: which entries; NULL: the first n. One walk over the scans. */
static void
count_kept(const DemurSample *sample, const guint32 *ranks, const gssize *cuts, size_t n_cuts,
           const guint32 *places, size_t n, size_t *kept, size_t *all) {
  const size_t K = sample->n_classes;
  g_autofree guint64 *counts = g_new0(guint64, K * n_cuts + 1);
  memset(all, 0, K * sizeof *all);
  for (size_t i = 0; i < n; i++) {
    const size_t place = places != NULL ? places[i] : i;
    if (sample->classes[place] == DEMUR_NO_LABEL)
      continue;
    const gssize rank = ranks[place];
    guint64 *own = counts + (size_t)sample->classes[place] * n_cuts;
    all[sample->classes[place]]++;
    for (size_t c = 0; c < n_cuts; c++)
      own[c] += rank <= cuts[c];
  }
  for (size_t c = 0; c < n_cuts; c++)
    for (size_t l = 0; l < K; l++)
      kept[c * K + l] = counts[l * n_cuts + c];
}

/* Whether two sets, one within the other, differ by enough of every label that there is. */
static gboolean
far_apart(const size_t *a, const size_t *b, const size_t *all, size_t n_classes) {
  for (size_t l = 0; l < n_classes; l++)
    if (all[l] > 0 && MAX(a[l], b[l]) - MIN(a[l], b[l]) < DEMUR_SMALL_CELL)
      return FALSE;
  return TRUE;
}

/* Takes candidates in their order. kept_of [n_models][n_candidates][K], all [K] of the same entries;
 * equal sets of a whole sample tell nothing new. */
static DemurToldCoverages
take(const size_t *all, size_t K, size_t n_models, const double *candidates, size_t n_candidates,
     const size_t *kept_of, gboolean of_part) {
  g_autofree size_t *none = g_new0(size_t, K);
  size_t taken[DEMUR_N_TOLD_COVERAGES];
  DemurToldCoverages told = {0};
  for (size_t c = 0; c < n_candidates; c++) {
    gboolean may = TRUE;
    for (size_t m = 0; may && m < n_models; m++) {
      const size_t *own = kept_of + (m * n_candidates + c) * K;
      if (!of_part && memcmp(own, all, K * sizeof *own) == 0)
        continue;
      may = far_apart(own, none, all, K) && far_apart(own, all, all, K);
      for (size_t t = 0; may && t < told.n; t++) {
        const size_t *other = kept_of + (m * n_candidates + taken[t]) * K;
        may =
            (!of_part && memcmp(own, other, K * sizeof *own) == 0) || far_apart(own, other, all, K);
      }
    }
    if (!may)
      continue;
    taken[told.n] = c;
    told.coverages[told.n++] = candidates[c];
  }
  return told;
}

/* cuts [n_models][n_candidates]. */
static DemurToldCoverages
find(const DemurSample *sample, const DemurMethod *method, const double *candidates,
     size_t n_candidates, const gssize *cuts, const guint32 *places, size_t n,
     size_t *kept_of_first) {
  const size_t K = sample->n_classes, n_models = method->n_models;
  g_autofree size_t *kept = g_new(size_t, n_candidates * n_models * K + 1);
  g_autofree size_t *all = g_new(size_t, K);
  for (size_t m = 0; m < n_models; m++)
    count_kept(sample, method->ranks[m], cuts + m * n_candidates, n_candidates, places, n,
               kept + m * n_candidates * K, all);
  if (kept_of_first != NULL)
    memcpy(kept_of_first, kept, n_candidates * K * sizeof *kept);
  return take(all, K, n_models, candidates, n_candidates, kept, places != NULL);
}

static void
find_cuts(const DemurSample *sample, const DemurMethod *method, const double *coverages,
          size_t n_coverages, gssize *cuts) {
  for (size_t m = 0; m < method->n_models; m++)
    demur_method_ranks_at(method, m, sample->n, coverages, n_coverages, cuts + m * n_coverages);
}

DemurToldCoverages
demur_told_coverages(const DemurSample *sample, const DemurMethod *method) {
  g_autofree gssize *cuts = g_new(gssize, method->n_models * G_N_ELEMENTS(canonical));
  find_cuts(sample, method, canonical, G_N_ELEMENTS(canonical), cuts);
  return find(sample, method, canonical, G_N_ELEMENTS(canonical), cuts, NULL, sample->n, NULL);
}

void
demur_told_cuts(const DemurSample *sample, const DemurMethod *method,
                const DemurToldCoverages *told, gssize *cuts) {
  find_cuts(sample, method, told->coverages, told->n, cuts);
}

DemurToldCoverages
demur_told_coverages_of_part(const DemurSample *sample, const DemurMethod *method,
                             const DemurToldCoverages *whole, const gssize *cuts,
                             const guint32 *places, size_t n, size_t *kept) {
  return find(sample, method, whole->coverages, whole->n, cuts, places, n, kept);
}

DemurToldCoverages
demur_told_coverages_of_result(const DemurMethodResult *released) {
  DemurToldCoverages told = {0};
  for (size_t k = 0; k < G_N_ELEMENTS(canonical); k++)
    for (size_t c = 0; c < demur_measure_n_coverages(DEMUR_MEASURE_OE_RATIO); c++) {
      const DemurCurvePoint *point = &released->curve[DEMUR_MEASURE_OE_RATIO][c];
      if (fabs(point->coverage - canonical[k]) < 1e-9 && !point->withheld)
        told.coverages[told.n++] = canonical[k];
    }
  return told;
}

gboolean
demur_told_coverages_have(const DemurToldCoverages *told, double coverage) {
  for (size_t t = 0; t < told->n; t++)
    if (fabs(told->coverages[t] - coverage) < 1e-9)
      return TRUE;
  return coverage >= 1.0;
}

double
demur_told_coverages_nearest(const DemurToldCoverages *told, double coverage) {
  double nearest = NAN, least = DEMUR_TOLD_NEAR;
  for (size_t t = 0; t < told->n; t++)
    if (fabs(told->coverages[t] - coverage) < least) {
      least = fabs(told->coverages[t] - coverage);
      nearest = told->coverages[t];
    }
  return nearest;
}

/* --- numbers --- */

/* Steps below 1 are parts of a whole, so that the number is the one nearest to its decimals. */
static double
steps(double count, double step) {
  return step < 1.0 ? count / round(1.0 / step) : count * step;
}

static double
in_steps(double value, double step) {
  return steps(round(value / step), step);
}

/* NaN: nothing is to be rounded. */
static double
step_of(double change) {
  static const double steps[] = {1.0, 2.0, 5.0, 10.0};
  const double least = DEMUR_SMALL_CELL * change;
  if (!(least > 0.0))
    return NAN;
  const double power = pow(10.0, floor(log10(least)));
  double step = steps[G_N_ELEMENTS(steps) - 1] * power;
  for (size_t s = G_N_ELEMENTS(steps); s-- > 0;)
    if (steps[s] * power >= least * (1.0 - 1e-9))
      step = steps[s] * power;
  return step;
}

double
demur_told_rounded(double value, double change) {
  const double step = step_of(change);
  if (!isfinite(value) || isnan(step))
    return value;
  return step <= fabs(value) ? in_steps(value, step) : (double)NAN;
}

double
demur_told_difference(double value, double from, double change) {
  const double step = step_of(change);
  return isnan(step) ? value - from : in_steps(value - from, step);
}

/* An end that is a step already is not moved by its last digit. */
#define SAME_STEP 1e-9

double
demur_told_low_end(double low, double change) {
  const double step = step_of(change);
  return isnan(step) || !isfinite(low) ? low : steps(floor(low / step + SAME_STEP), step);
}

double
demur_told_high_end(double high, double change) {
  const double step = step_of(change);
  return isnan(step) || !isfinite(high) ? high : steps(ceil(high / step - SAME_STEP), step) + 0.0;
}

/* Few bins are few differences of observed and expected, and the mean, root mean square and largest of
 * them as many equations: with the bins' risks known by a histogram the counts follow. */
#define FEW_BINS 3

static gboolean
tells_by_bins(const DemurMeasureRow *row, size_t n_bins) {
  return row->binned && n_bins <= FEW_BINS;
}

static void
withhold_point(DemurOperatingPoint *at) {
  const DemurInterval none = {NAN, NAN};
  at->n_counted = 0;
  for (DemurMeasure m = 0; m < DEMUR_N_MEASURES; m++)
    if (demur_measure_row(m)->tells == DEMUR_TELLS_COUNT) {
      at->measures[m] = NAN;
      at->intervals[m] = none;
    }
  for (size_t t = 0; t < DEMUR_N_DECISIONS; t++)
    at->decision[t].model = at->decision[t].all = NAN;
  for (size_t l = 0; l < at->n_labels; l++) {
    DemurRejection *r = &at->rejected_by_label[l];
    r->withheld = TRUE;
    r->rate = r->rate_low = r->rate_high = r->share_of_rejected = NAN;
  }
  at->n_reliability = at->n_smooth = 0;
}

/* What counts, from another set. */
static void
take_over(DemurOperatingPoint *at, const DemurOperatingPoint *told) {
  at->n_counted = told->n_accepted;
  for (DemurMeasure m = 0; m < DEMUR_N_MEASURES; m++)
    if (demur_measure_row(m)->tells == DEMUR_TELLS_COUNT) {
      at->measures[m] = told->measures[m];
      at->intervals[m] = told->intervals[m];
    }
  memcpy(at->decision, told->decision, sizeof at->decision);
  for (size_t l = 0; l < at->n_labels; l++)
    at->rejected_by_label[l] = told->rejected_by_label[l];
  at->n_reliability = told->n_reliability;
  memcpy(at->reliability, told->reliability, sizeof at->reliability);
  at->n_smooth = told->n_smooth;
  memcpy(at->smooth, told->smooth, sizeof at->smooth);
}

void
demur_point_release(DemurOperatingPoint *at, const DemurOperatingPoint *told) {
  const DemurInterval none = {NAN, NAN};
  at->n_counted = at->n_accepted;
  if (told == at)
    return;
  const gboolean same = told != NULL && told->n_accepted == at->n_accepted;
  for (DemurMeasure m = 0; !same && m < DEMUR_N_MEASURES; m++) {
    const DemurMeasureRow *row = demur_measure_row(m);
    if (row->tells == DEMUR_TELLS_PAIRS) {
      at->measures[m] = in_steps(at->measures[m], PAIRS_STEP);
      at->intervals[m].low = in_steps(at->intervals[m].low, PAIRS_STEP);
      at->intervals[m].high = in_steps(at->intervals[m].high, PAIRS_STEP);
    }
    if (tells_by_bins(row, at->n_bins))
      at->measures[m] = NAN;
  }
  if (!same && at->n_bins <= FEW_BINS) {
    at->debiased = NAN;
    at->debiased_interval = none;
  }
  if (told == NULL)
    withhold_point(at);
  else
    take_over(at, told);
}

/* --- curves --- */

static void
withhold_curve_point(DemurCurvePoint *point) {
  point->withheld = TRUE;
  point->point = point->mean = point->sd = point->debiased = NAN;
}

/* What one canonical set's scans say, mean over models. */
typedef struct {
  double brier, accuracy, realised;
} FineSet;

/* sets [told->n] */
static void
measure_sets(const DemurSample *sample, const DemurMethod *method, const DemurToldCoverages *told,
             size_t min_bin_size, FineSet *sets) {
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(sample->n);
  g_autofree gssize *cuts = g_new(gssize, method->n_models * MAX(told->n, 1));
  const double n_models = (double)method->n_models;
  demur_told_cuts(sample, method, told, cuts);
  for (size_t t = 0; t < told->n; t++) {
    sets[t] = (FineSet){0};
    for (size_t m = 0; m < method->n_models; m++) {
      DemurSelectivePoint point;
      const DemurSelectiveSample selective =
          demur_method_selective(sample, method, m, demur_sample_as_is(sample));
      demur_selective_at_rank(&selective, cuts[m * told->n + t], min_bin_size, scratch, &point);
      sets[t].brier += point.brier / n_models;
      sets[t].accuracy += point.accuracy / n_models;
      sets[t].realised += (double)point.n_selected / (double)sample->n / n_models;
    }
  }
}

/* Brier score and accuracy of the canonical sets, each at the coverage of the fine curve next to its
 * own. */
static void
fill_fine(const DemurToldCoverages *told, const FineSet *sets, DemurMeasure measure,
          DemurCurvePoint *curve) {
  for (size_t c = 0; c + 1 < DEMUR_N_COVERAGES; c++)
    withhold_curve_point(&curve[c]);
  for (size_t t = 0; t < told->n; t++) {
    size_t place = 0;
    for (size_t c = 1; c + 1 < DEMUR_N_COVERAGES; c++)
      if (fabs(curve[c].coverage - told->coverages[t]) <
          fabs(curve[place].coverage - told->coverages[t]))
        place = c;
    curve[place].withheld = FALSE;
    curve[place].point = measure == DEMUR_MEASURE_BRIER ? sets[t].brier : sets[t].accuracy;
    curve[place].realised = sets[t].realised;
  }
}

static void
release_pairs(DemurCurvePoint *point) {
  point->point = in_steps(point->point, PAIRS_STEP);
  point->mean = in_steps(point->mean, PAIRS_STEP);
  point->sd = in_steps(point->sd, PAIRS_STEP);
}

static void
round_estimate(DemurEstimate *estimate, double change) {
  estimate->point = demur_told_rounded(estimate->point, change);
  estimate->mean = demur_told_rounded(estimate->mean, change);
  estimate->sd = demur_told_rounded(estimate->sd, change);
}

void
demur_curves_release(const DemurSample *sample, const DemurMethod *method,
                     const DemurToldCoverages *told, size_t min_bin_size,
                     DemurMethodResult *result) {
  const double n = (double)MAX(sample->n, 1);
  if (method->n_ranks[0] <= 1) /* everything is kept at every coverage */
    return;
  FineSet sets[DEMUR_N_TOLD_COVERAGES];
  measure_sets(sample, method, told, min_bin_size, sets);
  for (DemurMeasure m = 0; m < DEMUR_N_MEASURES; m++) {
    const DemurMeasureRow *row = demur_measure_row(m);
    const size_t n_points = demur_measure_n_coverages(m);
    DemurCurvePoint *curve = result->curve[m];
    if (row->tells == DEMUR_TELLS_COUNT && m < DEMUR_N_FINE_MEASURES)
      fill_fine(told, sets, m, curve);
    for (size_t c = 0; c < n_points; c++) {
      if (demur_told_coverages_have(told, curve[c].coverage))
        continue;
      if (row->tells == DEMUR_TELLS_PAIRS)
        release_pairs(&curve[c]);
      else if ((row->tells == DEMUR_TELLS_COUNT && m >= DEMUR_N_FINE_MEASURES) ||
               tells_by_bins(row, (size_t)lround(curve[c].realised * n) / MAX(min_bin_size, 1)))
        withhold_curve_point(&curve[c]);
    }
    if (row->tells != DEMUR_TELLS_NOTHING)
      round_estimate(&result->auc[m], 1.0 / (n * (double)n_points));
  }
  round_estimate(&result->aurc_error, 1.0 / (n * DEMUR_N_COVERAGES));
  round_estimate(&result->aurc_brier, 1.0 / (n * DEMUR_N_COVERAGES));
}
