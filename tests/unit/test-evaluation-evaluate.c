/* The one result structure on a small simulated cohort: its shape, what must be equal in it, and
 * what is refused. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "cohort/simulate.h"
#include "evaluation/comparisons.h"
#include "evaluation/evaluate.h"
#include "metrics/goodness.h"
#include "metrics/brier.h"
#include "metrics/calibration-fit.h"
#include "metrics/coverage.h"
#include "metrics/discrimination.h"
#include "metrics/selective.h"
#include "metrics/site-error.h"
#include "metrics/smmce.h"
#include "selector/training.h"
#include "support/support.h"
#include "support/thread-ranks.h"

static DemurCohort *cohort;
static DemurSelector *selectors[3]; /* two of one reference set, one of another */

static DemurSelector *
quick_selector(double alpha, const char *reference) {
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_new_published();
  settings->epochs = 1;
  settings->datasets_per_epoch = 24;
  settings->batch = 8;
  settings->kappa = 2;
  settings->dataset_size = 60;
  settings->hidden = 6;
  settings->validation_datasets = 4;
  settings->models = 2;
  settings->reference_split = g_strdup(reference);
  settings->alpha = alpha;
  g_autoptr(GError) error = NULL;
  DemurSelector *selector = demur_selector_train(cohort, settings, 5, NULL, NULL, NULL, &error);
  g_assert_no_error(error);
  return selector;
}

static DemurEvaluateInput
quick_input(void) {
  static char *names[] = {(char *)"a", (char *)"b", (char *)"c"};
  DemurEvaluateInput input;
  demur_evaluate_input_init(&input);
  input.cohort = cohort;
  input.split = "test";
  input.n_selectors = 1;
  input.selectors = selectors;
  input.names = names;
  input.n_bootstrap = 30;
  input.n_noise_draws = 10;
  input.n_resamples = 3;
  return input;
}

static DemurEvaluation *
evaluate(const DemurEvaluateInput *input, DemurParallel *parallel) {
  g_autoptr(GError) error = NULL;
  DemurEvaluation *evaluation = demur_evaluate(input, parallel, NULL, &error);
  g_assert_no_error(error);
  return evaluation;
}

static char *
json_of(const DemurEvaluation *evaluation) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_evaluation_write_json(evaluation, json);
  demur_json_end_object(json);
  return demur_json_finish(json);
}

static void
evaluate_as_rank(const DemurRanks *ranks, gpointer data) {
  char **text = data;
  DemurParallel *parallel = demur_parallel_new((guint)(1 + ranks->rank % 2));
  demur_parallel_set_ranks(parallel, ranks);
  DemurEvaluateInput input = quick_input();
  input.group_by = (const char *const[]){"site", NULL};
  g_autoptr(DemurEvaluation) evaluation = evaluate(&input, parallel);
  *text = json_of(evaluation);
  g_assert_true(demur_ranks_part(ranks, TRUE));
  demur_parallel_free(parallel);
}

static void
same_bytes_at_any_number_of_ranks(void) {
  char *texts[6];
  gpointer data[3];
  for (size_t n = 1; n <= 3; n++) {
    char **own = texts + n * (n - 1) / 2;
    for (size_t r = 0; r < n; r++)
      data[r] = &own[r];
    thread_ranks_run(n, evaluate_as_rank, data);
  }
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_assert_cmpstr(texts[i], ==, texts[0]);
    if (i > 0)
      g_free(texts[i]);
  }
  g_free(texts[0]);
}

static void
evaluate_by_own_seed(const DemurRanks *ranks, gpointer data) {
  GError **error = data;
  DemurParallel *parallel = demur_parallel_new(1);
  demur_parallel_set_ranks(parallel, ranks);
  DemurEvaluateInput input = quick_input();
  input.seed = 1 + ranks->rank / 2;
  g_assert_null(demur_evaluate(&input, parallel, NULL, error));
  g_assert_false(demur_ranks_part(ranks, FALSE));
  demur_parallel_free(parallel);
}

/* Nothing of two evaluations is mixed. */
static void
ranks_that_evaluate_otherwise_are_refused(void) {
  GError *errors[3] = {NULL, NULL, NULL};
  gpointer data[3] = {&errors[0], &errors[1], &errors[2]};
  thread_ranks_run(3, evaluate_by_own_seed, data);
  for (size_t r = 0; r < 3; r++) {
    g_assert_error(errors[r], DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_error_free(errors[r]);
  }
}

static void
same_bytes_at_any_number_of_threads(void) {
  DemurEvaluateInput input = quick_input();
  input.n_selectors = 2;
  g_autoptr(DemurEvaluation) alone = evaluate(&input, NULL);
  g_autofree char *expected = json_of(alone);
  static const guint threads[] = {1, 2, 7};
  for (size_t t = 0; t < G_N_ELEMENTS(threads); t++) {
    g_autoptr(DemurParallel) parallel = demur_parallel_new(threads[t]);
    g_autoptr(DemurEvaluation) evaluation = evaluate(&input, parallel);
    g_autofree char *json = json_of(evaluation);
    g_assert_cmpstr(json, ==, expected);
  }
  input.seed = 2;
  g_autoptr(DemurEvaluation) other = evaluate(&input, NULL);
  g_autofree char *json = json_of(other);
  g_assert_cmpstr(json, !=, expected);
}

/* Laws of the structure: names once; at coverage 1 every method keeps every scan, so all their
 * measures are those of "full", which is the same at every coverage; rejections add up. */
static void
everything_kept_is_everything_kept(void) {
  const DemurEvaluateInput input = quick_input();
  g_autoptr(DemurEvaluation) e = evaluate(&input, NULL);
  const DemurMethodResult *full = demur_evaluation_method(e, "full", FALSE);
  g_assert_nonnull(full);
  g_assert_nonnull(demur_evaluation_method(e, "selector:a", FALSE));
  g_assert_nonnull(demur_evaluation_method(e, "confidence", FALSE));
  g_assert_null(demur_evaluation_method(e, "nobody", FALSE));
  const size_t last = DEMUR_N_COVERAGES - 1;
  size_t n_histogram = 0;
  for (size_t b = 0; b < DEMUR_N_HISTOGRAM_BINS; b++)
    n_histogram += e->histogram_all[b];
  g_assert_cmpuint(n_histogram, ==, e->n_scans);
  demur_assert_close(e->prevalence[0] + e->prevalence[1], 1.0, 1e-12, 0);
  for (size_t k = 0; k < e->n_methods; k++) {
    const DemurMethodResult *m = &e->methods[k];
    g_assert_true(demur_evaluation_method(e, m->name, m->recalibrated) == m);
    if (m->recalibrated)
      continue;
    for (DemurMeasure measure = 0; measure < DEMUR_N_FINE_MEASURES; measure++) {
      demur_assert_close(m->curve[measure][last].point, full->curve[measure][last].point, 1e-9,
                         1e-12);
      demur_assert_close(m->curve[measure][last].mean, full->curve[measure][last].mean, 1e-9,
                         1e-12);
      demur_assert_close(m->curve[measure][last].realised, 1.0, 1e-15, 0);
      demur_assert_close(full->curve[measure][k].point, full->curve[measure][last].point, 1e-9,
                         1e-12);
      for (size_t c = 0; c < DEMUR_N_COVERAGES; c++)
        g_assert_cmpfloat(m->curve[measure][c].realised, >=, m->curve[measure][c].coverage - 1e-12);
    }
    g_assert_cmpuint(m->n_at, >=, 3);
    for (size_t a = 0; a < m->n_at; a++) {
      const DemurOperatingPoint *at = &m->at[a];
      size_t n_all = 0, n_rejected = 0, n_kept = 0, n_binned = 0;
      for (size_t l = 0; l < at->n_labels; l++) {
        const DemurRejection *r = &at->rejected_by_label[l];
        n_all += r->n_all;
        n_rejected += r->n_rejected;
        if (r->withheld) {
          g_assert_true(isnan(r->rate) && isnan(r->rate_low) && isnan(r->share_of_rejected));
          continue;
        }
        g_assert_true(
            at->n_accepted == e->n_scans ||
            (r->n_rejected >= DEMUR_SMALL_CELL && r->n_all - r->n_rejected >= DEMUR_SMALL_CELL));
        g_assert_true(r->n_all == 0 || r->rate == (double)r->n_rejected / (double)r->n_all);
        g_assert_true(r->rate_low <= r->rate_high);
      }
      for (size_t b = 0; b < DEMUR_N_HISTOGRAM_BINS; b++)
        n_kept += at->histogram[b];
      for (size_t b = 0; b < at->n_reliability; b++) {
        n_binned += at->reliability[b].n;
        g_assert_true(at->reliability[b].low <= at->reliability[b].observed &&
                      at->reliability[b].observed <= at->reliability[b].high);
      }
      g_assert_cmpuint(n_all, ==, e->n_scans);
      g_assert_cmpuint(n_rejected + at->n_accepted, ==, e->n_scans);
      g_assert_cmpuint(n_kept, ==, at->n_accepted);
      g_assert_cmpuint(n_binned, ==, at->n_accepted);
      g_assert_cmpfloat(at->realised, ==, (double)at->n_accepted / (double)e->n_scans);
    }
  }
}

/* Confidence's numbers, made from the cohort's columns and the metrics directly. */
static void
point_values_are_the_metrics(void) {
  const DemurEvaluateInput input = quick_input();
  g_autoptr(DemurEvaluation) e = evaluate(&input, NULL);
  const DemurMethodResult *m = demur_evaluation_method(e, "confidence", FALSE);
  g_autoptr(GError) error = NULL;
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, "test", &n, &error);
  g_autoptr(DemurSample) s = demur_sample_new(cohort, rows, n, "test", &error);
  g_assert_no_error(error);
  g_autofree guint32 *ranks = g_new(guint32, n);
  const size_t n_ranks = demur_coverage_ranks(s->confidences, n, ranks);
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(n);
  const DemurSelectiveSample sample = {
      .n = n, .risks = s->risks, .labels = s->labels, .ranks = ranks, .n_ranks = n_ranks};
  DemurSelectivePoint points[DEMUR_N_COVERAGES];
  demur_selective_curve(&sample, e->coverages, DEMUR_N_COVERAGES, 25, scratch, points);
  double errors[DEMUR_N_COVERAGES];
  for (size_t c = 0; c < DEMUR_N_COVERAGES; c++) {
    demur_assert_close(m->curve[DEMUR_MEASURE_SBCE2][c].point, points[c].error2, 1e-12, 0);
    demur_assert_close(m->curve[DEMUR_MEASURE_SBCEINF][c].point, points[c].error_inf, 1e-12, 0);
    demur_assert_close(m->curve[DEMUR_MEASURE_BRIER][c].point, points[c].brier, 1e-12, 0);
    demur_assert_close(m->curve[DEMUR_MEASURE_ACCURACY][c].point, points[c].accuracy, 1e-12, 0);
    demur_assert_close(m->curve[DEMUR_MEASURE_SBCE2][c].debiased,
                       demur_signed_root(points[c].debiased2), 1e-12, 0);
    g_assert_cmpuint(m->curve[DEMUR_MEASURE_SBCE2][c].n_bins, ==, points[c].n_bins);
    errors[c] = points[c].error2;
    g_autofree double *weights = g_new(double, n);
    for (size_t i = 0; i < n; i++)
      weights[i] = ranks[i] <= points[c].rank ? 1.0 : 0.0;
    demur_assert_close(m->curve[DEMUR_MEASURE_SMMCE][c].point,
                       demur_smmce_normalised(s->risks, s->labels, weights, n, 2, 0.2), 1e-12, 0);
  }
  demur_assert_close(m->auc[DEMUR_MEASURE_SBCE2].point,
                     demur_coverage_auc(e->coverages, errors, DEMUR_N_COVERAGES), 1e-12, 0);
}

/* method.md: "better" only if the interval lies below 0, "worse" above, under 20 units (or without
 * an interval) nothing can be decided. */
static void
verdicts_follow_their_interval(void) {
  DemurEvaluateInput input = quick_input();
  for (int without = 0; without < 2; without++) {
    input.n_bootstrap = without ? 0 : 30;
    g_autoptr(DemurEvaluation) e = evaluate(&input, NULL);
    g_assert_cmpuint(e->n_comparisons, >, 0);
    for (size_t c = 0; c < e->n_comparisons; c++) {
      const DemurComparison *p = &e->comparisons[c];
      /* Fewer than 20 sites: whatever the interval says. */
      g_assert_cmpuint(e->n_sites, <, 20);
      g_assert_cmpint(p->verdict, ==, DEMUR_VERDICT_CANNOT_BE_DECIDED);
      g_assert_true(without || (p->low <= p->difference && p->difference <= p->high));
      g_assert_true(without || p->low <= p->high);
      g_assert_true(!without || p->verdict == DEMUR_VERDICT_CANNOT_BE_DECIDED);
      if (p->measure == DEMUR_COMPARED_SBCE2 && !p->recalibrated)
        demur_assert_close(
            p->difference,
            demur_evaluation_method(e, p->method, FALSE)->auc[DEMUR_MEASURE_SBCE2].point -
                demur_evaluation_method(e, p->against, FALSE)->auc[DEMUR_MEASURE_SBCE2].point,
            1e-12, 1e-15);
    }
  }
}

/* A tuned threshold is applied unchanged: none kept, all kept. */
static void
tuned_thresholds_are_applied_unchanged(void) {
  const double all[] = {-1, -1}, none[] = {2, 2};
  const DemurTunedThreshold tuned[] = {{0.95, all}, {0.05, none}};
  const DemurTunedThreshold *const thresholds[] = {tuned};
  const size_t n_thresholds[] = {2};
  DemurEvaluateInput input = quick_input();
  input.thresholds = thresholds;
  input.n_thresholds = n_thresholds;
  g_autoptr(DemurEvaluation) e = evaluate(&input, NULL);
  const DemurMethodResult *m = demur_evaluation_method(e, "selector:a", FALSE);
  g_assert_cmpuint(m->n_at, ==, 5);
  g_assert_true(m->at[3].from_tune && m->at[4].from_tune && !m->at[2].from_tune);
  g_assert_cmpuint(m->at[3].n_accepted, ==, e->n_scans);
  g_assert_cmpuint(m->at[4].n_accepted, ==, 0);
  g_assert_true(isnan(m->at[4].measures[DEMUR_MEASURE_SBCE2])); /* undefined, not 0 */
  g_assert_true(isnan(m->at[4].measures[DEMUR_MEASURE_SITE_ERROR]));
  g_autofree char *json = json_of(e); /* gaps are null, so that it is JSON */
  g_autoptr(JsonParser) parser = json_parser_new();
  g_assert_true(json_parser_load_from_data(parser, json, -1, NULL));
}

/* What is said of a selector is said of confidence: a label that either refuses 1.5 times as often
 * as scans in general. */
static void
refusals_are_warned_of_alike(void) {
  DemurEvaluateInput input = quick_input();
  g_autoptr(DemurEvaluation) e = evaluate(&input, NULL);
  guint expected = 0, n = 0;
  for (size_t k = 0; k < e->n_methods; k++) {
    const DemurMethodResult *m = &e->methods[k];
    if (m->kind != DEMUR_METHOD_SELECTOR && m->kind != DEMUR_METHOD_CONFIDENCE)
      continue;
    for (size_t l = 0; l < m->at[0].n_labels; l++) {
      const DemurRejection *r = &m->at[0].rejected_by_label[l];
      const gboolean much = m->at[0].realised < 1.0 && r->n_rejected >= DEMUR_REFUSED_FEWEST &&
                            (double)r->n_rejected / (double)r->n_all >
                                DEMUR_REFUSED_MUCH_MORE * (1.0 - m->at[0].realised);
      expected += much ? 1 : 0;
      for (size_t w = 0; much && w < e->n_warnings; w++)
        n += e->warnings[w].kind == DEMUR_WARNING_REFUSAL && e->warnings[w].label == r->label &&
             isnan(e->warnings[w].rate) == r->withheld &&
             (r->withheld || e->warnings[w].rate == r->rate) &&
             g_str_has_prefix(e->warnings[w].subject, m->title);
    }
  }
  g_assert_cmpuint(expected, >, 0);
  g_assert_cmpuint(n, ==, expected);
}

static void
what_can_not_be_compared_is_refused(void) {
  static const struct {
    const char *split;
    size_t first, n_selectors;
    gboolean in_sample;
    int code; /* -1: fine */
  } rows[] = {
      {"selector_train", 0, 1, FALSE, DEMUR_ERROR_STATE}, /* seen in training */
      {"selector_train", 0, 1, TRUE, -1},
      {"nowhere", 0, 1, FALSE, DEMUR_ERROR_NOT_FOUND},
      {"test", 1, 2, FALSE, DEMUR_ERROR_STATE}, /* of another reference set */
      {"test", 0, 2, FALSE, -1},
  };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    DemurEvaluateInput input = quick_input();
    input.split = rows[r].split;
    input.selectors = selectors + rows[r].first;
    input.n_selectors = rows[r].n_selectors;
    input.in_sample = rows[r].in_sample;
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurEvaluation) e = demur_evaluate(&input, NULL, NULL, &error);
    if (rows[r].code < 0) {
      g_assert_no_error(error);
      g_assert_cmpint(e->in_sample, ==, rows[r].in_sample);
      g_assert_true(!rows[r].in_sample || e->n_warnings > 0);
    } else {
      g_assert_null(e);
      g_assert_error(error, DEMUR_ERROR, rows[r].code);
    }
  }
}

/* As many units as there are are drawn; scans of one unit have one count; the mean count is 1. */
static void
resamples_draw_whole_units(void) {
  g_autoptr(GError) error = NULL;
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, "selector_train", &n, &error);
  g_autoptr(DemurSample) s = demur_sample_new(cohort, rows, n, "selector_train", &error);
  g_assert_no_error(error);
  for (size_t i = 1; i < n; i++)
    g_assert_true(s->risks[i - 1] < s->risks[i] ||
                  (s->risks[i - 1] == s->risks[i] && s->rows[i - 1] < s->rows[i]));
  g_autofree guint32 *counts = g_new(guint32, n);
  for (DemurUnit unit = DEMUR_UNIT_SCAN; unit <= DEMUR_UNIT_SITE; unit++) {
    const size_t n_units = demur_sample_n_units(s, unit);
    g_autofree gint64 *of_unit = g_new(gint64, n_units);
    for (guint64 draw = 0; draw < 20; draw++) {
      demur_sample_resample(s, unit, demur_random_stream(1, DEMUR_STREAM_TEST, draw, 0, 0), counts);
      for (size_t u = 0; u < n_units; u++)
        of_unit[u] = -1;
      gint64 total = 0;
      for (size_t i = 0; i < n; i++) {
        const size_t u = unit == DEMUR_UNIT_SCAN      ? i
                         : unit == DEMUR_UNIT_PATIENT ? s->patients[i]
                                                      : s->sites[i];
        if (of_unit[u] < 0) {
          of_unit[u] = counts[i];
          total += counts[i];
        }
        g_assert_cmpint(of_unit[u], ==, counts[i]);
      }
      g_assert_cmpint(total, ==, (gint64)n_units);
    }
    DemurUnit named;
    g_assert_true(demur_unit_from_name(demur_unit_name(unit), &named, &error) && named == unit);
  }
  DemurUnit named;
  g_assert_false(demur_unit_from_name("hospital", &named, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE);
}

/* The extra measures are the metrics of the kept scans, made here from the cohort's columns; at
 * coverage 1 every method has them alike; Brier parts sum; intervals hold their points. */
static void
extra_measures_are_the_metrics(void) {
  const DemurEvaluateInput input = quick_input();
  g_autoptr(DemurEvaluation) e = evaluate(&input, NULL);
  const DemurMethodResult *m = demur_evaluation_method(e, "confidence", FALSE);
  g_autoptr(GError) error = NULL;
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, "test", &n, &error);
  g_autoptr(DemurSample) s = demur_sample_new(cohort, rows, n, "test", &error);
  g_assert_no_error(error);
  demur_assert_close(e->net_benefit_threshold, e->prevalence[1], 1e-12, 0);
  for (size_t c = 0; c < DEMUR_N_COARSE_COVERAGES; c++) {
    const double coverage = m->curve[DEMUR_MEASURE_ICI][c].coverage;
    demur_assert_close(coverage, 0.05 * (double)(c + 1), 1e-12, 0);
    const double threshold = demur_coverage_threshold(coverage, s->confidences, n);
    g_autofree guint32 *counts = g_new(guint32, n);
    for (size_t i = 0; i < n; i++)
      counts[i] = s->confidences[i] >= threshold;
    const DemurCalibrationFit fit =
        demur_calibration_fit(&(DemurOutcomes){n, s->risks, s->labels, counts, NULL}, NULL);
    const DemurBrierParts parts =
        demur_brier_parts(&(DemurOutcomes){n, s->risks, s->labels, counts, NULL}, 25);
    const DemurCalibrationGaps gaps =
        demur_calibration_gaps(&(DemurOutcomes){n, s->risks, s->labels, counts, NULL});
    const double expected[DEMUR_N_MEASURES] = {
        [DEMUR_MEASURE_INTERCEPT] = fit.intercept,
        [DEMUR_MEASURE_SLOPE] = fit.slope,
        [DEMUR_MEASURE_SLOPE_INTERCEPT] = fit.slope_intercept,
        [DEMUR_MEASURE_OE_RATIO] =
            demur_calibration_oe_ratio(&(DemurOutcomes){n, s->risks, s->labels, counts, NULL}),
        [DEMUR_MEASURE_ICI] =
            demur_calibration_ici(&(DemurOutcomes){n, s->risks, s->labels, counts, NULL}),
        [DEMUR_MEASURE_E50] = gaps.median,
        [DEMUR_MEASURE_E90] = gaps.percent_90,
        [DEMUR_MEASURE_SBCE1] =
            demur_binned_error1(&(DemurOutcomes){n, s->risks, s->labels, counts, NULL}, 25),
        [DEMUR_MEASURE_SPIEGELHALTER] =
            demur_spiegelhalter_z(&(DemurOutcomes){n, s->risks, s->labels, counts, NULL}),
        [DEMUR_MEASURE_HOSMER_LEMESHOW] =
            demur_hosmer_lemeshow(&(DemurOutcomes){n, s->risks, s->labels, counts, NULL}),
        [DEMUR_MEASURE_RELIABILITY] = parts.reliability,
        [DEMUR_MEASURE_RESOLUTION] = parts.resolution,
        [DEMUR_MEASURE_UNCERTAINTY] = parts.uncertainty,
        [DEMUR_MEASURE_WITHIN] = parts.within,
        [DEMUR_MEASURE_AUROC] = demur_auroc(&(DemurOutcomes){n, s->risks, s->labels, counts, NULL}),
        [DEMUR_MEASURE_NET_BENEFIT] =
            demur_net_benefit(&(DemurOutcomes){n, s->risks, s->labels, counts, NULL},
                              e->net_benefit_threshold)
                .model,
        [DEMUR_MEASURE_TREAT_ALL] =
            demur_net_benefit(&(DemurOutcomes){n, s->risks, s->labels, counts, NULL},
                              e->net_benefit_threshold)
                .all};
    for (DemurMeasure extra = DEMUR_N_FINE_MEASURES; extra < DEMUR_N_MEASURES; extra++) {
      g_test_message("%s at coverage %g", demur_measure_row(extra)->name, coverage);
      demur_assert_close(m->curve[extra][c].point, expected[extra], 1e-8, 1e-10);
    }
  }
  for (size_t k = 0; k < e->n_methods; k++) {
    const DemurMethodResult *method = &e->methods[k];
    if (method->recalibrated)
      continue;
    for (DemurMeasure extra = DEMUR_N_FINE_MEASURES; extra < DEMUR_N_MEASURES; extra++)
      demur_assert_close(method->curve[extra][DEMUR_N_COARSE_COVERAGES - 1].point,
                         m->curve[extra][DEMUR_N_COARSE_COVERAGES - 1].point, 1e-8, 1e-10);
    g_assert_true(isnan(method->auc[DEMUR_MEASURE_SLOPE].point));
    g_assert_true(method->aurc_error.point >= 0.0 && method->aurc_error.point <= 1.0);
    for (size_t a = 0; a < method->n_at; a++) {
      const DemurOperatingPoint *at = &method->at[a];
      demur_assert_close(
          at->measures[DEMUR_MEASURE_RELIABILITY] - at->measures[DEMUR_MEASURE_RESOLUTION] +
              at->measures[DEMUR_MEASURE_UNCERTAINTY] + at->measures[DEMUR_MEASURE_WITHIN],
          at->measures[DEMUR_MEASURE_BRIER], 1e-9, 1e-12);
      /* Baselines have intervals of their rejection rates only. */
      const gboolean all = method->kind == DEMUR_METHOD_SELECTOR ||
                           strcmp(method->name, "full") == 0 || strcmp(method->name, "mc") == 0 ||
                           strcmp(method->name, "confidence") == 0;
      g_assert_true((at->intervals[DEMUR_MEASURE_SLOPE].low <=
                     at->intervals[DEMUR_MEASURE_SLOPE].high) == all);
      for (size_t l = 0; l < at->n_labels; l++)
        g_assert_true(at->rejected_by_label[l].withheld ||
                      at->rejected_by_label[l].rate_low <= at->rejected_by_label[l].rate_high);
      g_assert_true(isnan(at->intervals[DEMUR_MEASURE_ICI].low));
      g_assert_true(isnan(at->realised_interval.low) == !at->from_tune);
      for (size_t t = 1; t < DEMUR_N_DECISIONS; t++)
        g_assert_true(at->decision[t].all <= at->decision[t - 1].all);
    }
  }
}

/* Laws of groups: the test split is one hospital, so the group of its site is the whole; scanners
 * part the scans, so their counts add up; a name that is not there is refused with what is. */
static void
groups_part_the_whole(void) {
  static const char *const by[] = {"site", "manufacturer", NULL};
  static const char *const unknown[] = {"colour", NULL};
  DemurEvaluateInput input = quick_input();
  input.group_by = by;
  g_autoptr(DemurEvaluation) e = evaluate(&input, NULL);
  g_autoptr(DemurParallel) parallel = demur_parallel_new(3);
  g_autoptr(DemurEvaluation) again = evaluate(&input, parallel);
  g_autofree char *json = json_of(e), *json_again = json_of(again);
  g_assert_cmpstr(json, ==, json_again);
  g_assert_nonnull(strstr(json, "\"groups\""));

  g_assert_cmpuint(e->n_sites, ==, 1);
  g_assert_cmpuint(e->n_groups, >=, 2);
  const DemurGroup *whole = &e->groups[0];
  g_assert_cmpstr(whole->by, ==, "site");
  g_assert_cmpuint(whole->n_scans, ==, e->n_scans);
  g_assert_cmpuint(whole->n_patients, ==, e->n_patients);
  g_assert_cmpuint(whole->n_methods, ==, e->n_methods);
  for (size_t m = 0; m < whole->n_methods; m++) {
    const DemurGroupMethod *part = &whole->methods[m];
    const DemurMethodResult *all = demur_evaluation_method(e, part->name, part->recalibrated);
    g_assert_nonnull(all);
    demur_assert_close(part->sbce2_auc, all->auc[DEMUR_MEASURE_SBCE2].point, 1e-12, 0);
    demur_assert_close(part->debiased_auc, all->debiased_auc, 1e-12, 0);
    for (size_t a = 0; a < part->n_at; a++) {
      g_assert_cmpuint(part->at[a].n_accepted, ==, all->at[a].n_accepted);
      demur_assert_close(part->at[a].measures[DEMUR_MEASURE_SBCE2],
                         all->at[a].measures[DEMUR_MEASURE_SBCE2], 1e-12, 0);
      demur_assert_close(part->at[a].measures[DEMUR_MEASURE_OE_RATIO],
                         all->at[a].measures[DEMUR_MEASURE_OE_RATIO], 1e-12, 0);
      g_assert_true(part->at[a].realised_interval.low <= part->at[a].realised &&
                    part->at[a].realised <= part->at[a].realised_interval.high);
    }
  }
  size_t n_scans = 0, n_accepted = 0, n_withheld = 0;
  for (size_t g = 1; g < e->n_groups; g++) {
    g_assert_cmpstr(e->groups[g].by, ==, "manufacturer");
    n_scans += e->groups[g].n_scans;
    n_withheld += e->groups[g].withheld ? e->groups[g].n_scans : 0;
    if (!e->groups[g].withheld)
      n_accepted += e->groups[g].methods[0].at[0].n_accepted;
  }
  g_assert_cmpuint(n_scans, ==, e->n_scans);
  g_assert_cmpuint(n_accepted, <=, e->methods[0].at[0].n_accepted);
  g_assert_cmpuint(n_accepted + n_withheld, >=, e->methods[0].at[0].n_accepted);
  g_assert_cmpuint(e->n_group_averages, ==, 2 * e->n_methods);
  demur_assert_close(e->group_averages[0].sbce2_auc, whole->methods[0].sbce2_auc, 1e-12, 0);

  input.group_by = unknown;
  g_autoptr(GError) error = NULL;
  g_assert_null(demur_evaluate(&input, NULL, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
  g_assert_nonnull(strstr(error->message, "manufacturer"));
}

/* Of small groups: no interval without width, and no count by subtraction. Kernels part the scans
 * finely enough that some group keeps all of its scans and some label is of fewer than ten. */
static void
small_groups_promise_and_tell_nothing(void) {
  static const char *const by[] = {"kernel", "age", NULL};
  DemurEvaluateInput input = quick_input();
  input.group_by = by;
  g_autoptr(DemurEvaluation) e = evaluate(&input, NULL);
  size_t n_all = 0, n_small = 0;
  for (size_t g = 0; g < e->n_groups; g++)
    for (size_t m = 0; m < e->groups[g].n_methods; m++) {
      const DemurGroupMethod *method = &e->groups[g].methods[m];
      for (size_t a = 0; a < method->n_at && strcmp(method->name, "full") != 0; a++) {
        const DemurOperatingPoint *at = &method->at[a];
        n_all += at->n_accepted == e->groups[g].n_scans || at->n_accepted == 0 ? 1 : 0;
        g_assert_cmpfloat(at->realised_interval.high, >, at->realised_interval.low);
        for (DemurMeasure x = DEMUR_N_FINE_MEASURES; x < DEMUR_N_MEASURES; x++)
          g_assert_false(at->intervals[x].high <= at->intervals[x].low);
        gboolean small = FALSE;
        for (size_t l = 0; l < at->n_labels; l++)
          small |= at->rejected_by_label[l].n_all < DEMUR_SMALL_CELL;
        n_small += small ? 1 : 0;
        g_assert_true(e->groups[g].labels_withheld || !small);
        /* "No events" would be read from an O:E of 0. */
        if (e->groups[g].labels_withheld)
          g_assert_true(isnan(at->measures[DEMUR_MEASURE_OE_RATIO]) &&
                        isnan(at->measures[DEMUR_MEASURE_SBCE2]));
        for (size_t l = 0; l < at->n_labels; l++) {
          const DemurRejection *r = &at->rejected_by_label[l];
          g_assert_true(isnan(r->rate) || (r->n_rejected >= DEMUR_SMALL_CELL && !small));
          g_assert_false(r->rate_high <= r->rate_low);
        }
      }
    }
  g_assert_cmpuint(n_all, >, 0);
  g_assert_cmpuint(n_small, >, 0);
  g_autofree char *json = json_of(e);
  g_assert_nonnull(strstr(json, "\"withheld\""));
}

/* A program that tries: what the document says of the groups of one kind, taken from the total. */
static void
subtraction_tells_no_small_count(void) {
  static const char *const by[] = {"kernel", "age", "site", "sex", "manufacturer", NULL};
  DemurEvaluateInput input = quick_input();
  input.group_by = by;
  g_autoptr(DemurEvaluation) e = evaluate(&input, NULL);
  g_autofree char *text = json_of(e);
  g_autoptr(JsonParser) parser = json_parser_new();
  g_assert_true(json_parser_load_from_data(parser, text, -1, NULL));
  JsonArray *groups =
      json_object_get_array_member(json_node_get_object(json_parser_get_root(parser)), "groups");
  const double total_label = e->prevalence[1] * (double)e->n_scans;
  size_t n_tried = 0;
  for (size_t b = 0; by[b] != NULL; b++) {
    double scans = (double)e->n_scans, label = total_label;
    gboolean scans_open = FALSE, label_open = FALSE;
    size_t scans_hidden = 0, label_hidden = 0;
    for (guint g = 0; g < json_array_get_length(groups); g++) {
      JsonObject *group = json_array_get_object_element(groups, g);
      if (strcmp(json_object_get_string_member(group, "by"), by[b]) != 0)
        continue;
      JsonNode *n = json_object_get_member(group, "n_scans");
      if (json_node_get_value_type(n) == G_TYPE_INT64) {
        g_assert_cmpint(json_node_get_int(n), >=, DEMUR_SMALL_CELL);
        scans -= (double)json_node_get_int(n);
      } else
        scans_hidden++;
      JsonArray *methods = json_object_get_array_member(group, "methods");
      JsonNode *count = NULL;
      for (guint m = 0; m < json_array_get_length(methods) && count == NULL; m++) {
        JsonArray *at =
            json_object_get_array_member(json_array_get_object_element(methods, m), "at");
        if (json_array_get_length(at) > 0)
          count = json_object_get_member(
              json_array_get_object_element(
                  json_object_get_array_member(json_array_get_object_element(at, 0),
                                               "rejected_by_label"),
                  1),
              "n_all");
      }
      if (count != NULL && json_node_get_value_type(count) == G_TYPE_INT64) {
        g_assert_cmpint(json_node_get_int(count), >=, DEMUR_SMALL_CELL);
        label -= (double)json_node_get_int(count);
        label_open = TRUE;
      } else
        label_hidden++;
      scans_open = TRUE;
    }
    g_assert_true(scans_open);
    n_tried += scans_hidden + label_hidden;
    /* What is hidden is of several groups, and not few. */
    if (scans_hidden > 0)
      g_assert_true(scans_hidden > 1 && scans > DEMUR_SMALL_CELL - 0.5);
    if (label_open && label_hidden > 0)
      g_assert_true(label_hidden > 1 && label > DEMUR_SMALL_CELL - 0.5);
  }
  g_assert_cmpuint(n_tried, >, 0);
}

typedef struct {
  const char *method, *against;
  DemurMethodKind against_kind;
  DemurCompared measure;
  double difference, se;
  DemurComparisonVerdict verdict; /* with 25 sites */
} Row;

/* With 25 sites a 95 % interval is difference -+ 2.064 se; of k + 1 hypotheses that are left Holm
 * asks for the Student quantile of 1 - .0125 / (k + 1), half of what one alone may have: 2.70 for
 * two, 2.391 for one. */
static void
verdicts_go_by_pairs_and_number(void) {
  static const Row rows[] = {/* The headline: 2.2 standard errors, both rows. */
                             {"selector:a", "confidence", DEMUR_METHOD_CONFIDENCE,
                              DEMUR_COMPARED_SBCE2, -2.2, 1, DEMUR_VERDICT_BETTER},
                             {"selector:a", "confidence", DEMUR_METHOD_CONFIDENCE,
                              DEMUR_COMPARED_DEBIASED, -2.3, 1, DEMUR_VERDICT_BETTER},
                             /* As far, but one of two others: not shown. */
                             {"selector:a", "full", DEMUR_METHOD_FULL, DEMUR_COMPARED_SBCE2, -2.2,
                              1, DEMUR_VERDICT_NO_DIFFERENCE_SHOWN},
                             {"selector:a", "full", DEMUR_METHOD_FULL, DEMUR_COMPARED_DEBIASED,
                              -2.3, 1, DEMUR_VERDICT_NO_DIFFERENCE_SHOWN},
                             /* Plain alone is not enough. */
                             {"selector:a", "lof", DEMUR_METHOD_LOF, DEMUR_COMPARED_SBCE2, 9.0, 1,
                              DEMUR_VERDICT_NO_DIFFERENCE_SHOWN},
                             {"selector:a", "lof", DEMUR_METHOD_LOF, DEMUR_COMPARED_DEBIASED, 0.1,
                              1, DEMUR_VERDICT_NO_DIFFERENCE_SHOWN}};
  DemurComparison comparisons[G_N_ELEMENTS(rows)];
  DemurEvaluation e = {
      .n_sites = 25, .n_comparisons = G_N_ELEMENTS(rows), .comparisons = comparisons};
  for (int far = 0; far < 2; far++) {
    for (size_t c = 0; c < G_N_ELEMENTS(rows); c++)
      comparisons[c] = (DemurComparison){.method = (char *)rows[c].method,
                                         .against = (char *)rows[c].against,
                                         .method_kind = DEMUR_METHOD_SELECTOR,
                                         .against_kind = rows[c].against_kind,
                                         .measure = rows[c].measure,
                                         .difference = rows[c].difference,
                                         .standard_error = rows[c].se,
                                         .statistic = rows[c].difference / rows[c].se,
                                         .low = rows[c].difference - 2.064 * rows[c].se,
                                         .high = rows[c].difference + 2.064 * rows[c].se,
                                         .n_units = 25};
    if (far) /* beyond 2.70 it is shown */
      for (size_t c = 2; c < 4; c++) {
        comparisons[c].difference -= 0.7;
        comparisons[c].statistic -= 0.7;
        comparisons[c].high -= 0.7;
      }
    demur_comparisons_judge(&e, "selector:a");
    for (size_t c = 0; c < G_N_ELEMENTS(rows); c++) {
      g_assert_cmpint(comparisons[c].verdict, ==,
                      far && (c == 2 || c == 3) ? DEMUR_VERDICT_BETTER : rows[c].verdict);
      g_assert_true(comparisons[c].corrected == (c > 1));
    }
  }
  e.n_sites = 19;
  demur_comparisons_judge(&e, "selector:a");
  for (size_t c = 0; c < G_N_ELEMENTS(rows); c++)
    g_assert_cmpint(comparisons[c].verdict, ==, DEMUR_VERDICT_CANNOT_BE_DECIDED);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  DemurSimulation options;
  demur_simulation_defaults(&options);
  options.n_scans = 150;
  options.n_sites = 6;
  options.n_base_train = 100;
  options.n_tune = 30;
  options.n_test = 140;
  options.base_rate_logit = 2;
  g_autoptr(GError) error = NULL;
  cohort = demur_cohort_simulate(&options, "small", "2026-01-01T00:00:00Z", NULL, NULL, &error);
  g_assert_no_error(error);
  selectors[0] = quick_selector(1, NULL);
  selectors[1] = quick_selector(2, NULL);
  selectors[2] = quick_selector(2, "selector_train");
  g_test_add_func("/evaluation/threads", same_bytes_at_any_number_of_threads);
  g_test_add_func("/evaluation/ranks", same_bytes_at_any_number_of_ranks);
  g_test_add_func("/evaluation/ranks-otherwise", ranks_that_evaluate_otherwise_are_refused);
  g_test_add_func("/evaluation/full", everything_kept_is_everything_kept);
  g_test_add_func("/evaluation/points", point_values_are_the_metrics);
  g_test_add_func("/evaluation/extras", extra_measures_are_the_metrics);
  g_test_add_func("/evaluation/groups", groups_part_the_whole);
  g_test_add_func("/evaluation/small-groups", small_groups_promise_and_tell_nothing);
  g_test_add_func("/evaluation/subtraction", subtraction_tells_no_small_count);
  g_test_add_func("/evaluation/verdicts", verdicts_follow_their_interval);
  g_test_add_func("/evaluation/tuned", tuned_thresholds_are_applied_unchanged);
  g_test_add_func("/evaluation/refusals-warned", refusals_are_warned_of_alike);
  g_test_add_func("/evaluation/refused", what_can_not_be_compared_is_refused);
  g_test_add_func("/evaluation/resamples", resamples_draw_whole_units);
  g_test_add_func("/evaluation/verdicts-by-pairs", verdicts_go_by_pairs_and_number);
  const int status = g_test_run();
  for (size_t s = 0; s < 3; s++)
    demur_selector_unref(selectors[s]);
  demur_cohort_unref(cohort);
  return status;
}
