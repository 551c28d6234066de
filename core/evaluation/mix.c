/* The interval of O:E's change is the wider of two on either side, by choice: where one hospital has most of what a mix
 * wants more of, each alone is too sure (docs/benchmarks.md), and one that is too wide claims less.
 *
 * Layout: every replicate writes its values [2][DEMUR_N_MIX_VALUES] (present, mix), the standard
 * errors [2] of those that are ratios (mix-ratios.h) and, for site error, the squares that intervals are of. Values named in a wish are a category each, all
 * others one together: within it proportions stay by themselves. */
#include "evaluation/mix.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/small-cells.h"
#include "evaluation/releases.h"
#include "evaluation/grouping.h"
#include "evaluation/mix-calibration.h"
#include "evaluation/mix-ratios.h"
#include "evaluation/point-releases.h"
#include "metrics/intervals.h"
#include "metrics/raking.h"
#include "metrics/selective.h"
#include "metrics/site-error.h"

/* --- values --- */

static const struct {
  const char *name, *title;
} values_table[DEMUR_N_MIX_VALUES] = {
    [DEMUR_MIX_COVERAGE] = {"coverage", "share that is shown"},
    [DEMUR_MIX_OUTCOMES] = {"outcome_rate", "share with the outcome"},
    [DEMUR_MIX_OE_ALL] = {"observed_over_expected_all", "observed over expected, all"},
    [DEMUR_MIX_OE_ACCEPTED] = {"observed_over_expected", "observed over expected, shown"},
    [DEMUR_MIX_CALIBRATION] = {"sbce2_debiased", "calibration error, shown"},
    [DEMUR_MIX_SITE_ERROR] = {"site_error", "site error, shown"},
    [DEMUR_MIX_REJECTED_1] = {"rejected_with_outcome", "held back, with the outcome"},
    [DEMUR_MIX_REJECTED_0] = {"rejected_without_outcome", "held back, without it"},
};

const char *
demur_mix_value_name(DemurMixValue value) {
  return values_table[value].name;
}

const char *
demur_mix_value_title(DemurMixValue value) {
  return values_table[value].title;
}

/* The values that are needed of outcomes. */
static gboolean
needs_outcomes(size_t value) {
  return value != DEMUR_MIX_COVERAGE;
}

/* What one weighting of the sample, or of a replicate, says. */
typedef struct {
  double values[DEMUR_N_MIX_VALUES];
  double plain2, debiased2; /* S-BCE_2 */
  double site2, site2_se;
} Measured;

/* A weighting each, and the change between them. */
enum { PRESENT, MIX, CHANGE, N_COMPARED };
typedef double StandardErrors[CHANGE][DEMUR_N_MIX_VALUES];

/* What is needed by every replicate. */
typedef struct {
  const DemurMixInput *input;
  size_t n_margins;
  const DemurRakingMargin *margins;
  guint32 *ranks;        /* [n] 0 accepted, 1 refused */
  guint32 *scan_of_site; /* [n_sites] some entry of each */
  DemurUnit unit;
  size_t first; /* replicate of chunk 0 */
  DemurMixRatios ratios;
  Measured *drawn;        /* [n_replicates][2] */
  StandardErrors *spread; /* [n_replicates] */
  gboolean *used;         /* [n_replicates] */
  struct Scratch {
    guint32 *counts;
    double *censoring, *raked, *weights, *influences;
    double *ratio_influences; /* [2][DEMUR_N_MIX_VALUES][n_units] */
    DemurMixRatiosScratch *ratios;
    DemurSelectiveScratch *selective;
  } * scratch; /* one a worker */
} Work;

static double
site_square(const Work *work, const guint32 *counts, const double *weights, double *influences,
            double *se) {
  const DemurSample *s = work->input->sample;
  const DemurSiteSample sites = {.n = s->n,
                                 .differences = s->differences,
                                 .sites = s->sites,
                                 .patients = s->patients,
                                 .n_sites = s->n_sites,
                                 .n_patients = s->n_patients,
                                 .counts = counts,
                                 .weights = weights,
                                 .ranks = work->ranks,
                                 .n_ranks = 2};
  const double square = demur_site_error_at_rank_influences(&sites, 0, influences);
  *se = demur_site_error_standard_error(influences, s->n_sites, counts, work->scan_of_site);
  return square;
}

/* raked [n]: weights of the mix; NULL: of the present one. influences: of the ratios. */
static Measured
measure(const Work *work, struct Scratch *scratch, DemurDrawn drawn, const double *raked,
        double *influences) {
  const DemurSample *s = work->input->sample;
  for (size_t i = 0; i < s->n; i++)
    scratch->weights[i] =
        (raked != NULL ? raked[i] : 1.0) * (drawn.weights != NULL ? drawn.weights[i] : 1.0);
  Measured m;
  demur_mix_ratios(&work->ratios, drawn, raked, scratch->ratios, m.values, influences);
  const DemurSelectiveSample selective = {.n = s->n,
                                          .risks = s->risks,
                                          .labels = s->labels,
                                          .counts = drawn.counts,
                                          .weights = scratch->weights,
                                          .ranks = work->ranks,
                                          .n_ranks = 2};
  DemurSelectivePoint point;
  demur_selective_at_rank(&selective, 0, work->input->min_bin_size, scratch->selective, &point);
  m.plain2 = point.error2 * point.error2;
  m.debiased2 = point.debiased2;
  m.values[DEMUR_MIX_CALIBRATION] = demur_signed_root(m.debiased2);
  m.site2 = site_square(work, drawn.counts, scratch->weights, scratch->influences, &m.site2_se);
  m.values[DEMUR_MIX_SITE_ERROR] = demur_signed_root(m.site2);
  return m;
}

/* Both mixes, and the standard errors of their ratios. */
static void
measure_both(const Work *work, struct Scratch *scratch, DemurDrawn drawn, Measured *both,
             StandardErrors *errors) {
  const size_t n_units = demur_sample_n_units(work->input->sample, work->unit);
  double *present = scratch->ratio_influences,
         *mix = scratch->ratio_influences + DEMUR_N_MIX_VALUES * n_units;
  both[PRESENT] = measure(work, scratch, drawn, NULL, present);
  both[MIX] = measure(work, scratch, drawn, scratch->raked, mix);
  for (size_t v = 0; v < DEMUR_N_MIX_VALUES; v++) {
    const double *a = present + v * n_units, *b = mix + v * n_units;
    (*errors)[PRESENT][v] = demur_mix_ratio_standard_error(&work->ratios, drawn.counts, a);
    (*errors)[MIX][v] = demur_mix_ratio_standard_error(&work->ratios, drawn.counts, b);
  }
}

/* What the intervals of the changes of ratios are made of [DEMUR_N_MIX_VALUES]. */
typedef struct {
  double error, degrees; /* standard error, degrees of freedom */
  double correlation;    /* of both mixes' estimates */
  double outcomes;       /* standard error by the chance of outcomes alone; 0: none is told */
} ChangeSpread;

/* The standard error of O:E's change were each outcome a draw of its own, of the present O:E times its risk: what
 * few outcomes that happened to come can't make smaller.
 *
 *   se^2 = sum_i (m_i / sum m r - p_i / sum p r)^2 e_i (1 - e_i),   e_i = min(theta r_i, 1)
 *
 * p: the weight of censoring, m: times that of raking, theta: sum p y / sum p r. accepted_only: of what is shown. */
static double
outcome_error(const Work *work, const double *raked, gboolean accepted_only) {
  const DemurSample *s = work->input->sample;
  const DemurDrawn as_is = demur_sample_as_is(s);
  double observed = 0.0, expected = 0.0, expected_mix = 0.0, squares = 0.0;
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < s->n; i++) {
      const double known = as_is.weights != NULL ? as_is.weights[i] : 1.0;
      if (!(known > 0.0) || (accepted_only && !work->input->accepted[i]))
        continue;
      if (pass == 0) {
        observed += known * s->labels[i];
        expected += known * s->risks[i];
        expected_mix += known * raked[i] * s->risks[i];
      } else {
        const double moves = known * raked[i] / expected_mix - known / expected,
                     e = fmin(observed / expected * s->risks[i], 1.0);
        squares += moves * moves * e * (1.0 - e);
      }
    }
  return squares > 0.0 && isfinite(squares) ? sqrt(squares) : 0.0;
}

/* From the influences of the sample as it is, which are still those that were measured last. */
static void
measure_changes(const Work *work, const double *raked, ChangeSpread *changes) {
  const size_t n_units = demur_sample_n_units(work->input->sample, work->unit);
  const double *present = work->scratch[0].ratio_influences,
               *mix = present + DEMUR_N_MIX_VALUES * n_units;
  g_autofree double *left = g_new(double, MAX(n_units, 1));
  demur_mix_leverages(&work->ratios, raked, left);
  for (size_t v = 0; v < DEMUR_N_MIX_VALUES; v++) {
    const double *a = present + v * n_units, *b = mix + v * n_units;
    changes[v].error =
        demur_mix_change_standard_error(&work->ratios, b, a, left, &changes[v].degrees);
    changes[v].correlation = demur_mix_correlation(&work->ratios, b, a);
    changes[v].outcomes = v == DEMUR_MIX_OE_ALL || v == DEMUR_MIX_OE_ACCEPTED
                              ? outcome_error(work, raked, v == DEMUR_MIX_OE_ACCEPTED)
                              : 0.0;
  }
}

static void
draw(size_t chunk, guint worker, gpointer data) {
  const Work *work = data;
  const size_t replicate = work->first + chunk;
  struct Scratch *scratch = &work->scratch[worker];
  const DemurSample *s = work->input->sample;
  const DemurRandom random =
      demur_random_stream(work->input->seed, DEMUR_STREAM_MIX, replicate, 0, 0);
  demur_sample_resample(s, work->unit, random, scratch->counts);
  work->used[replicate] = demur_raking(work->margins, work->n_margins, s->n, scratch->counts,
                                       scratch->raked) == DEMUR_RAKED;
  if (work->used[replicate])
    measure_both(work, scratch, demur_sample_drawn(s, scratch->counts, scratch->censoring),
                 &work->drawn[2 * replicate], &work->spread[replicate]);
}

/* --- intervals --- */

/* Fewer replicates than this share whose weights could be fitted, and there are no intervals. */
#define LEAST_USED 0.95

typedef struct {
  const Work *work;
  const Measured *points;       /* [2] */
  const StandardErrors *errors; /* of the points */
  const double *raked;          /* [n] weights of the mix */
  const ChangeSpread *changes;  /* [DEMUR_N_MIX_VALUES] of ratios */
  size_t n_units[N_COMPARED];   /* as many equal ones say as much */
  double *buffer;               /* [n_replicates] */
} Ends;

static size_t
collect(const Ends *ends, DemurMixValue value, int which) {
  size_t n = 0;
  for (size_t b = 0; b < ends->work->input->n_replicates; b++) {
    if (!ends->work->used[b])
      continue;
    const Measured *m = &ends->work->drawn[2 * b];
    ends->buffer[n++] =
        which < 2 ? m[which].values[value] : m[1].values[value] - m[0].values[value];
  }
  return n;
}

/* S-BCE_2: mix-calibration.h, and the debiased square, which may lie below 0, is always inside. The
 * change: of replicates, symmetric. */
static DemurInterval
calibration_interval(const Ends *ends, int which) {
  DemurInterval interval;
  const Measured *p = ends->points;
  if (which == CHANGE) {
    const size_t n = collect(ends, DEMUR_MIX_CALIBRATION, CHANGE);
    demur_interval_symmetric(
        ends->buffer, n, p[1].values[DEMUR_MIX_CALIBRATION] - p[0].values[DEMUR_MIX_CALIBRATION],
        sqrt(p[1].plain2) - sqrt(p[0].plain2), ends->n_units[which], 0.95, &interval.low,
        &interval.high);
    return interval;
  }
  const Work *work = ends->work;
  interval = demur_mix_calibration_interval(
      &work->ratios, demur_sample_as_is(work->input->sample), which == MIX ? ends->raked : NULL,
      work->scratch[0].ratios, work->input->min_bin_size, 0.95);
  if (isnan(interval.low))
    return interval;
  interval.low = demur_signed_root(fmin(interval.low, p[which].debiased2));
  interval.high = demur_signed_root(fmax(interval.high, p[which].debiased2));
  return interval;
}

/* Site error: bootstrap-t over sites; percentiles where patients are drawn. */
static DemurInterval
site_interval(const Ends *ends, int which) {
  DemurInterval interval;
  const Measured *p = ends->points;
  size_t n = 0;
  if (which == 2) {
    const double change = p[1].values[DEMUR_MIX_SITE_ERROR] - p[0].values[DEMUR_MIX_SITE_ERROR];
    n = collect(ends, DEMUR_MIX_SITE_ERROR, 2);
    demur_interval_symmetric(ends->buffer, n, change, change, ends->n_units[which], 0.95,
                             &interval.low, &interval.high);
    return interval;
  }
  const gboolean by_site = ends->work->unit == DEMUR_UNIT_SITE;
  for (size_t b = 0; b < ends->work->input->n_replicates; b++) {
    const Measured *m = &ends->work->drawn[2 * b + (size_t)which];
    if (ends->work->used[b])
      ends->buffer[n++] = by_site ? (m->site2 - p[which].site2) / m->site2_se : m->site2;
  }
  if (by_site)
    demur_interval_studentised(ends->buffer, n, p[which].site2, p[which].site2_se,
                               ends->n_units[which], 0.95, &interval.low, &interval.high);
  else
    demur_interval_expanded(ends->buffer, n, ends->n_units[which], 0.95, &interval.low,
                            &interval.high);
  interval.low = demur_signed_root(interval.low);
  interval.high = demur_signed_root(interval.high);
  return interval;
}

/* A value and its standard error, on the scale that its intervals are made on. */
static void
scaled(const Measured *measured, const StandardErrors *errors, DemurMixValue value, int which,
       double *on_scale, double *se) {
  DemurScale scale;
  demur_mix_value_is_ratio(value, &scale);
  const double x = measured[which].values[value];
  *on_scale = demur_to_scale(x, scale);
  *se = (*errors)[which][value] * demur_scale_slope(x, scale);
}

/* Percentiles: where a ratio has no place on its scale (a coverage of 1) or no spread. */
static DemurInterval
percentiles(const Ends *ends, DemurMixValue value, int which) {
  DemurInterval interval;
  const size_t n = collect(ends, value, which);
  demur_interval_expanded(ends->buffer, n, ends->n_units[which], 0.95, &interval.low,
                          &interval.high);
  return interval;
}

/* The change of a ratio, by Student's quantile of its linearised standard error (mix-ratios.h) or the replicates'
 * deviation, whichever is larger: a change is a product of two differences, and where both are near 0 it varies more
 * than it does at first order. Of O:E it is no narrower than the chance of outcomes makes it (outcome_error): where few
 * came, those that lack have no spread in the sample. */
static DemurInterval
student_interval(const Ends *ends, DemurMixValue value) {
  const ChangeSpread *spread = &ends->changes[value];
  const double change = ends->points[MIX].values[value] - ends->points[PRESENT].values[value];
  double mean, sd;
  demur_mean_sd(ends->buffer, collect(ends, value, CHANGE), &mean, &sd);
  const double se = isfinite(sd) ? fmax(sd, spread->error) : spread->error,
               of_units = se > 0.0 ? se * demur_student_quantile(0.975, spread->degrees) : 0.0,
               half = fmax(of_units, spread->outcomes * demur_normal_quantile(0.975));
  if (!(isfinite(change) && half > 0.0 && isfinite(half)))
    return percentiles(ends, value, CHANGE);
  return (DemurInterval){change - half, change + half};
}

/* Whether the value is an O:E, or its change, where no outcome came: replicates have none either, and 0 to 0 would be sure
 * of what is not known. Of a change by the present mix: what has no outcome there has none in another. */
static gboolean
no_outcome_came(const Ends *ends, DemurMixValue value, int which) {
  DemurScale scale;
  return demur_mix_value_is_ratio(value, &scale) && scale == DEMUR_SCALE_LOG &&
         ends->points[which == CHANGE ? PRESENT : which].values[value] == 0.0;
}

/* A share or O:E of one mix: bootstrap-t, of shares on the logit and of O:E on the logarithm. */
static DemurInterval
value_interval(const Ends *ends, DemurMixValue value, int which) {
  if (no_outcome_came(ends, value, which))
    return (DemurInterval){NAN, NAN};
  const Work *work = ends->work;
  DemurInterval interval;
  DemurScale scale;
  demur_mix_value_is_ratio(value, &scale);
  double point, point_se;
  scaled(ends->points, ends->errors, value, which, &point, &point_se);
  size_t n = 0, n_used = 0;
  for (size_t b = 0; b < work->input->n_replicates; b++) {
    if (!work->used[b])
      continue;
    double x, se;
    scaled(&work->drawn[2 * b], &work->spread[b], value, which, &x, &se);
    n_used++;
    if (isfinite((x - point) / se))
      ends->buffer[n++] = (x - point) / se;
  }
  if (isfinite(point) && point_se > 0.0 && (double)n >= LEAST_USED * (double)n_used) {
    demur_interval_studentised(ends->buffer, n, point, point_se, ends->n_units[which], 0.95,
                               &interval.low, &interval.high);
    interval.low = demur_from_scale(interval.low, scale);
    interval.high = demur_from_scale(interval.high, scale);
    return interval;
  }
  return percentiles(ends, value, which);
}

/* O:E's own intervals, and so the limits of its change by them (metrics/intervals.h); NaN without replicates. */
static DemurInterval
difference_interval(const Ends *ends, DemurMixValue value) {
  DemurLimited limited[CHANGE];
  for (int which = PRESENT; which < CHANGE; which++) {
    const DemurInterval own = value_interval(ends, value, which);
    limited[which] = (DemurLimited){ends->points[which].values[value], own.low, own.high};
  }
  DemurInterval interval;
  demur_interval_difference(&limited[PRESENT], &limited[MIX], ends->changes[value].correlation,
                            &interval.low, &interval.high);
  return interval;
}

/* O:E's change ends on either side where the farther of Student's and its own intervals' does. */
static DemurInterval
change_interval(const Ends *ends, DemurMixValue value) {
  if (no_outcome_came(ends, value, CHANGE))
    return (DemurInterval){NAN, NAN};
  DemurScale scale;
  demur_mix_value_is_ratio(value, &scale);
  DemurInterval interval = student_interval(ends, value);
  if (scale != DEMUR_SCALE_LOG)
    return interval;
  const DemurInterval other = difference_interval(ends, value);
  return (DemurInterval){fmin(interval.low, other.low), fmax(interval.high, other.high)};
}

static DemurInterval
ratio_interval(const Ends *ends, DemurMixValue value, int which) {
  return which == CHANGE ? change_interval(ends, value) : value_interval(ends, value, which);
}

static DemurInterval
interval_of(const Ends *ends, DemurMixValue value, int which) {
  return value == DEMUR_MIX_CALIBRATION  ? calibration_interval(ends, which)
         : value == DEMUR_MIX_SITE_ERROR ? site_interval(ends, which)
                                         : ratio_interval(ends, value, which);
}

static void
fill_rows(DemurMix *mix, const Ends *ends) {
  const DemurInterval none = {NAN, NAN};
  mix->enough_used = (double)mix->n_used >= LEAST_USED * (double)mix->n_replicates;
  for (size_t v = 0; v < DEMUR_N_MIX_VALUES; v++) {
    DemurMixRow *row = &mix->rows[v];
    *row = (DemurMixRow){NAN, NAN, NAN, none, none, none};
    if ((mix->labels_withheld && needs_outcomes(v)) ||
        (v == DEMUR_MIX_SITE_ERROR && mix->n_sites < 2))
      continue;
    row->present = ends->points[0].values[v];
    row->mix = ends->points[1].values[v];
    row->change = row->mix - row->present;
    if (!mix->enough_used)
      continue;
    row->present_interval = interval_of(ends, (DemurMixValue)v, 0);
    row->mix_interval = interval_of(ends, (DemurMixValue)v, 1);
    row->change_interval = interval_of(ends, (DemurMixValue)v, 2);
  }
}

/* What is told may be next to 0, or few steps large: its ends are in steps too, 0 among them, rounded outwards, and hold
 * it. */
static void
round_interval(double told, double change, DemurInterval *interval) {
  if (isnan(told) || isnan(interval->low) || isnan(interval->high)) {
    *interval = (DemurInterval){NAN, NAN};
    return;
  }
  interval->low = fmin(demur_told_low_end(interval->low, change), told);
  interval->high = fmax(demur_told_high_end(interval->high, change), told);
}

/* In steps of outcomes, where something is refused. */
static void
release_rows(const DemurMixInput *input, DemurMix *mix) {
  const DemurSample *s = input->sample;
  double n_of[2] = {0.0, 0.0}, expected = 0.0;
  size_t n_accepted = 0;
  for (size_t i = 0; i < s->n; i++) {
    n_accepted += input->accepted[i] ? 1 : 0;
    expected += input->accepted[i] ? s->risks[i] : 0.0;
    if (s->classes[i] != DEMUR_NO_LABEL)
      n_of[s->labels[i] > 0.5] += 1.0;
  }
  const struct {
    DemurMixValue value;
    double change;
  } counted[] = {{DEMUR_MIX_OE_ACCEPTED, 1.0 / expected},
                 {DEMUR_MIX_REJECTED_1, 1.0 / n_of[1]},
                 {DEMUR_MIX_REJECTED_0, 1.0 / n_of[0]}};
  for (size_t c = 0; n_accepted < s->n && c < G_N_ELEMENTS(counted); c++) {
    DemurMixRow *row = &mix->rows[counted[c].value];
    row->present = demur_told_rounded(row->present, counted[c].change);
    row->mix = demur_told_rounded(row->mix, counted[c].change);
    row->change = demur_told_difference(row->mix, row->present, counted[c].change);
    round_interval(row->present, counted[c].change, &row->present_interval);
    round_interval(row->mix, counted[c].change, &row->mix_interval);
    round_interval(row->change, counted[c].change, &row->change_interval);
  }
}

/* --- margins --- */

void
demur_mix_free(DemurMix *mix) {
  if (mix == NULL)
    return;
  for (size_t m = 0; m < mix->n_margins; m++) {
    g_free(mix->margins[m].by);
    g_strfreev(mix->margins[m].values);
    g_free(mix->margins[m].present);
    g_free(mix->margins[m].mix);
    g_free(mix->margins[m].withheld);
    g_free(mix->margins[m].labels_withheld);
    g_free(mix->margins[m].codes);
  }
  g_free(mix->margins);
  g_free(mix);
}

/* The column's values, their shares as they are, and which are too small to be told. */
static gboolean
fill_margin(const DemurMixInput *input, const DemurMixWish *wish, DemurMixMargin *margin,
            size_t **counts, GError **error) {
  const DemurSample *s = input->sample;
  if (!demur_grouping_check(input->cohort, wish->by, error))
    return FALSE;
  g_autoptr(DemurGrouping) grouping = demur_grouping_new(input->cohort, wish->by, s->rows, s->n);
  const size_t n = grouping->n_values;
  margin->by = g_strdup(wish->by);
  margin->n_values = n;
  margin->values = g_steal_pointer(&grouping->values);
  margin->codes = g_steal_pointer(&grouping->codes);
  margin->present = g_new0(double, n);
  margin->mix = g_new0(double, n);
  margin->withheld = g_new0(gboolean, n);
  *counts = g_new0(size_t, n);
  for (size_t i = 0; i < s->n; i++)
    (*counts)[margin->codes[i]]++;
  for (size_t v = 0; v < n; v++)
    margin->present[v] = (double)(*counts)[v] / (double)s->n;
  demur_small_cells(*counts, n, 1, margin->withheld);
  g_autoptr(DemurReleases) releases = demur_releases_new(input->cohort, s->rows, s->n, wish->by);
  const DemurReleasedWay *way = demur_releases_find(releases, wish->by);
  margin->labels_withheld = g_new0(gboolean, n);
  for (size_t v = 0; v < n && way != NULL; v++) { /* what other ways of grouping would tell */
    margin->withheld[v] |= demur_released_way_withholds(way, margin->values[v]);
    margin->labels_withheld[v] = demur_released_way_withholds_labels(way, margin->values[v]);
  }
  return TRUE;
}

static gboolean
refuse_value(const DemurMixMargin *margin, const char *value, GError **error) {
  g_autoptr(GString) list = g_string_new(NULL);
  for (size_t v = 0; v < margin->n_values; v++)
    if (!margin->withheld[v])
      g_string_append_printf(list, "%s%s", list->len > 0 ? ", " : "",
                             *margin->values[v] != '\0' ? margin->values[v] : "(not recorded)");
  demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                  "fewer than %d scans have the value '%s' of '%s', or would be told of by it, so "
                  "nothing is said of it here; there are %s",
                  DEMUR_SMALL_CELL, value, margin->by, list->str);
  return FALSE;
}

/* Categories of raking: the named values in their order, then all others together. shares
 * [n named + 1] and codes [n] are owned by the caller. */
static gboolean
categorise(const DemurMixWish *wish, const DemurMixMargin *margin, const size_t *counts, size_t n,
           double *shares, guint32 *codes, GError **error) {
  const guint n_named = wish->values->len;
  g_autofree guint32 *category = g_new(guint32, margin->n_values);
  for (size_t v = 0; v < margin->n_values; v++)
    category[v] = n_named;
  double sum = 0.0;
  for (guint k = 0; k < n_named; k++) {
    const char *value = wish->values->pdata[k];
    size_t v = 0;
    while (v < margin->n_values && strcmp(margin->values[v], value) != 0)
      v++;
    if (v == margin->n_values || counts[v] < DEMUR_SMALL_CELL || margin->withheld[v])
      return refuse_value(margin, value, error);
    category[v] = k;
    sum += shares[k] = g_array_index(wish->shares, double, k);
  }
  shares[n_named] = sum < 1.0 - 1e-9 ? 1.0 - sum : 0.0;
  size_t n_rest = 0;
  for (size_t i = 0; i < n; i++) {
    codes[i] = category[margin->codes[i]];
    n_rest += codes[i] == n_named;
  }
  if (n_rest == 0 && shares[n_named] > 0.0) {
    demur_error_set(
        error, DEMUR_ERROR_USAGE,
        "the mix names every value of '%s', but their shares are only %g together: they "
        "must be 1",
        margin->by, sum);
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_weights(DemurRaking raking, const DemurMix *mix, GError **error) {
  if (raking == DEMUR_RAKED && mix->largest_weight <= DEMUR_MIX_MOST_WEIGHT) {
    if (mix->n_effective >= DEMUR_SMALL_CELL)
      return TRUE;
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "the mix is not supported by these scans: they say as much of it as fewer than %d "
        "would",
        DEMUR_SMALL_CELL);
    return FALSE;
  }
  if (raking == DEMUR_RAKED)
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "the mix is not supported by these scans: some would have to stand for %.0f others "
        "each (at most %g); ask for a mix nearer to the present one, or bring scans of "
        "what it is to have more of",
        mix->largest_weight, DEMUR_MIX_MOST_WEIGHT);
  else
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "no weights of these scans have all the wanted shares at once: values that "
                    "the mix wants together never come together here");
  return FALSE;
}

/* --- all of it --- */

static void
work_clear(Work *work, guint n_threads) {
  for (guint t = 0; work->scratch != NULL && t < n_threads; t++) {
    g_free(work->scratch[t].counts);
    g_free(work->scratch[t].censoring);
    g_free(work->scratch[t].raked);
    g_free(work->scratch[t].weights);
    g_free(work->scratch[t].influences);
    g_free(work->scratch[t].ratio_influences);
    demur_mix_ratios_scratch_free(work->scratch[t].ratios);
    demur_selective_scratch_free(work->scratch[t].selective);
  }
  g_free(work->scratch);
  g_free(work->ranks);
  g_free(work->scan_of_site);
  g_free(work->drawn);
  g_free(work->spread);
  g_free(work->used);
}

static void
work_init(Work *work, guint n_threads) {
  const DemurSample *s = work->input->sample;
  work->ranks = g_new(guint32, MAX(s->n, 1));
  for (size_t i = 0; i < s->n; i++)
    work->ranks[i] = work->input->accepted[i] ? 0 : 1;
  work->scan_of_site = g_new0(guint32, MAX(s->n_sites, 1));
  for (guint32 i = 0; i < s->n; i++)
    work->scan_of_site[s->sites[i]] = i;
  work->drawn = g_new0(Measured, 2 * MAX(work->input->n_replicates, 1));
  work->used = g_new0(gboolean, MAX(work->input->n_replicates, 1));
  work->spread = g_new0(StandardErrors, MAX(work->input->n_replicates, 1));
  work->ratios =
      (DemurMixRatios){s, work->input->accepted, work->unit, work->n_margins, work->margins};
  const size_t n_units = demur_sample_n_units(s, work->unit);
  work->scratch = g_new0(struct Scratch, n_threads);
  for (guint t = 0; t < n_threads; t++)
    work->scratch[t] = (struct Scratch){g_new(guint32, MAX(s->n, 1)),
                                        g_new(double, MAX(s->n, 1)),
                                        g_new(double, MAX(s->n, 1)),
                                        g_new(double, MAX(s->n, 1)),
                                        g_new(double, MAX(s->n_sites, 1)),
                                        g_new(double, 2 * DEMUR_N_MIX_VALUES * MAX(n_units, 1)),
                                        demur_mix_ratios_scratch_new(&work->ratios),
                                        demur_selective_scratch_new(s->n)};
}

/* In parts, so that it can be cancelled. */
#define PART 50

static gboolean
draw_all(Work *work, DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  const size_t n = work->input->n_replicates;
  for (work->first = 0; work->first < n; work->first += PART) {
    if (!demur_progress_step(progress, (double)work->first / (double)n, "replicates", error))
      return FALSE;
    demur_parallel_map(parallel, MIN(PART, n - work->first), draw, work);
  }
  return TRUE;
}

/* The margins of the mix and their categories for raking: codes and shares, owned by the arrays. */
static gboolean
fill_margins(const DemurMixInput *input, DemurMix *mix, DemurRakingMargin *margins,
             GPtrArray *owned, GError **error) {
  for (size_t m = 0; m < mix->n_margins; m++) {
    const DemurMixWish *wish = input->wishes->pdata[m];
    for (size_t earlier = 0; earlier < m; earlier++)
      if (strcmp(((DemurMixWish *)input->wishes->pdata[earlier])->by, wish->by) == 0) {
        demur_error_set(error, DEMUR_ERROR_USAGE, "the mix has '%s' twice", wish->by);
        return FALSE;
      }
    g_autofree size_t *counts = NULL;
    double *shares = g_new0(double, wish->values->len + 1);
    guint32 *codes = g_new(guint32, MAX(input->sample->n, 1));
    g_ptr_array_add(owned, shares);
    g_ptr_array_add(owned, codes);
    if (!fill_margin(input, wish, &mix->margins[m], &counts, error) ||
        !categorise(wish, &mix->margins[m], counts, input->sample->n, shares, codes, error))
      return FALSE;
    margins[m] = (DemurRakingMargin){wish->values->len + 1, codes, shares};
  }
  return TRUE;
}

/* Shares under the weights [n]. */
static void
fill_shares(DemurMix *mix, const double *weights) {
  for (size_t m = 0; m < mix->n_margins; m++) {
    DemurMixMargin *margin = &mix->margins[m];
    for (size_t i = 0; i < mix->n_scans; i++)
      margin->mix[margin->codes[i]] += weights[i] / (double)mix->n_scans;
  }
}

static gboolean
is_known(const DemurSample *s, size_t i) {
  return s->weights == NULL || s->weights[i] > 0.0;
}

/* Whether rates under the weights [n] would rest on few scans with, or without, the outcome. */
static gboolean
rests_on_few(const DemurSample *s, const double *weights) {
  double sums[2] = {0.0, 0.0}, squares[2] = {0.0, 0.0};
  for (size_t i = 0; i < s->n; i++)
    if (is_known(s, i)) {
      const int label = s->labels[i] > 0.5 ? 1 : 0;
      sums[label] += weights[i];
      squares[label] += weights[i] * weights[i];
    }
  for (int label = 0; label < 2; label++)
    if (sums[label] * sums[label] < DEMUR_SMALL_CELL * squares[label] || squares[label] == 0.0)
      return TRUE;
  return FALSE;
}

/* Whether a named value has few scans with, or without, the outcome, or others' small numbers could
 * be had from its: a mix may be of one value alone, or without it. */
static gboolean
names_few(const DemurMixInput *input, const DemurMixWish *wish, const DemurMixMargin *margin) {
  const DemurSample *s = input->sample;
  g_autofree size_t *counts = g_new0(size_t, 2 * margin->n_values + 1);
  g_autofree gboolean *few = g_new0(gboolean, margin->n_values + 1);
  for (size_t i = 0; i < s->n; i++)
    if (is_known(s, i))
      counts[2 * margin->codes[i] + (s->labels[i] > 0.5 ? 1 : 0)]++;
  demur_small_cells(counts, margin->n_values, 2, few);
  for (size_t v = 0; v < margin->n_values; v++)
    for (guint k = 0; (few[v] || margin->labels_withheld[v]) && k < wish->values->len; k++)
      if (strcmp(margin->values[v], wish->values->pdata[k]) == 0)
        return TRUE;
  return FALSE;
}

static DemurUnit
choose_unit(const DemurMixInput *input) {
  gboolean of_sites = FALSE;
  for (guint m = 0; m < input->wishes->len; m++)
    of_sites |= demur_grouping_is_site(((DemurMixWish *)input->wishes->pdata[m])->by);
  return input->sample->n_sites >= DEMUR_FEW_SITES && !of_sites ? DEMUR_UNIT_SITE
                                                                : DEMUR_UNIT_PATIENT;
}

/* (sum W)^2 / sum W^2 of the units' weights W: what unequal units, and a mix that rests on few of them, are
 * worth. weights [n], NULL: 1. */
static size_t
effective_units(const DemurSample *s, DemurUnit unit, const double *weights) {
  const size_t n = demur_sample_n_units(s, unit);
  const guint32 *units = unit == DEMUR_UNIT_SITE ? s->sites : s->patients;
  g_autofree double *sums = g_new0(double, MAX(n, 1));
  double sum = 0.0, squares = 0.0;
  for (size_t i = 0; i < s->n; i++)
    sums[units[i]] += weights != NULL ? weights[i] : 1.0;
  for (size_t u = 0; u < n; u++) {
    sum += sums[u];
    squares += sums[u] * sums[u];
  }
  return squares > 0.0 ? (size_t)floor(sum * sum / squares) : 0;
}

static gboolean
run(Work *work, DemurMix *mix, DemurParallel *parallel, const DemurProgress *progress,
    GError **error) {
  const DemurMixInput *input = work->input;
  const DemurSample *s = input->sample;
  struct Scratch *scratch = &work->scratch[0];
  const DemurRaking raking =
      demur_raking(work->margins, work->n_margins, s->n, NULL, scratch->raked);
  if (raking == DEMUR_RAKED)
    mix->n_effective = demur_raking_n_effective(scratch->raked, NULL, s->n, &mix->largest_weight);
  if (!check_weights(raking, mix, error))
    return FALSE;
  fill_shares(mix, scratch->raked);
  g_autofree double *weights = g_memdup2(scratch->raked, s->n * sizeof(double));
  mix->labels_withheld = rests_on_few(s, scratch->raked);
  for (size_t m = 0; m < mix->n_margins && !mix->labels_withheld; m++)
    mix->labels_withheld = names_few(input, input->wishes->pdata[m], &mix->margins[m]);
  const DemurDrawn as_is = demur_sample_as_is(s);
  Measured points[2];
  StandardErrors errors;
  measure_both(work, scratch, as_is, points, &errors);
  ChangeSpread changes[DEMUR_N_MIX_VALUES];
  measure_changes(work, weights, changes);
  if (!draw_all(work, parallel, progress, error))
    return FALSE;
  for (size_t b = 0; b < input->n_replicates; b++)
    mix->n_used += work->used[b] ? 1 : 0;
  g_autofree double *buffer = g_new(double, MAX(input->n_replicates, 1));
  const size_t n_present = effective_units(s, work->unit, NULL),
               n_mix = effective_units(s, work->unit, weights);
  const Ends ends = {work, points, &errors, weights, changes, {n_present, n_mix, n_mix}, buffer};
  fill_rows(mix, &ends);
  if (input->released)
    release_rows(input, mix);
  return TRUE;
}

DemurMix *
demur_mix_new(const DemurMixInput *input, DemurParallel *parallel, const DemurProgress *progress,
              GError **error) {
  const DemurSample *s = input->sample;
  g_autoptr(DemurMix) mix = g_new0(DemurMix, 1);
  mix->n_scans = s->n;
  mix->n_patients = s->n_patients;
  mix->n_sites = s->n_sites;
  mix->n_margins = input->wishes->len;
  mix->margins = g_new0(DemurMixMargin, MAX(mix->n_margins, 1));
  mix->n_replicates = input->n_replicates;
  mix->unit = choose_unit(input);
  g_autofree DemurRakingMargin *margins = g_new0(DemurRakingMargin, MAX(mix->n_margins, 1));
  g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
  if (!fill_margins(input, mix, margins, owned, error))
    return NULL;
  const guint n_threads = parallel != NULL ? demur_parallel_n_threads(parallel) : 1;
  Work work = {.input = input, .n_margins = mix->n_margins, .margins = margins, .unit = mix->unit};
  work_init(&work, n_threads);
  const gboolean ok = run(&work, mix, parallel, progress, error);
  work_clear(&work, n_threads);
  return ok ? g_steal_pointer(&mix) : NULL;
}
