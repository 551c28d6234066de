/* One result structure for every table, chart and document: selectors and baselines x trials.
 *
 * The numbers of design commands.md's `evaluate` document, and what the report's charts draw.
 * Undefined values are NaN here, gaps in charts, null in JSON. Plain data: views are functions of
 * it. */
#pragma once

#include "base/error.h"
#include "base/json-writer.h"

G_BEGIN_DECLS

#define DEMUR_N_COVERAGES 50      /* 0.05 to 1, evenly spaced */
#define DEMUR_N_HISTOGRAM_BINS 20 /* of the confidence in [0.5, 1] (K = 2) or [0, 1] */
#define DEMUR_MAX_RELIABILITY_BINS 15

typedef enum {
  DEMUR_MEASURE_SBCE2,   /* "sbce2", K > 2: "stce2" */
  DEMUR_MEASURE_SBCEINF, /* "sbceinf", "stceinf" */
  DEMUR_MEASURE_BRIER,
  DEMUR_MEASURE_ACCURACY,
  DEMUR_MEASURE_SITE_ERROR,
  DEMUR_MEASURE_SMMCE,
  DEMUR_N_MEASURES,
} DemurMeasure;

/* "sbce2" .. of the JSON; multi-class names for K > 2. */
const char *demur_measure_name(DemurMeasure measure, size_t n_classes);

typedef enum {
  DEMUR_VERDICT_BETTER,
  DEMUR_VERDICT_NO_DIFFERENCE_SHOWN,
  DEMUR_VERDICT_WORSE,
  DEMUR_VERDICT_CANNOT_BE_DECIDED,
} DemurComparisonVerdict;

/* "better", "no difference shown", "worse", "cannot be decided". */
const char *demur_comparison_verdict_words(DemurComparisonVerdict verdict);

/* point: the split as it is, mean over models. mean, sd: over models x resamples (sd with n - 1).
 */
typedef struct {
  double point, mean, sd;
} DemurEstimate;

typedef struct {
  double coverage; /* requested */
  double realised; /* of the split as it is, mean over models; ties are all kept */
  double point, mean, sd;
  double debiased;    /* signed root; S-BCE_2 only, else NaN */
  double noise_floor; /* S-BCE_2 only, else NaN */
  size_t n_bins;      /* of the split as it is; 0 for measures without bins */
} DemurCurvePoint;

/* Rejection of one label (class) at an operating point. */
typedef struct {
  int label;
  size_t n_all, n_rejected;
  double share_of_rejected, share_of_all;
  double rate, rate_low, rate_high; /* rejected / all with that label; 95 % bootstrap of the unit */
} DemurRejection;

/* One bin of a reliability diagram: accepted scans, equal mass. */
typedef struct {
  size_t n;
  double mean_risk, observed; /* mean r and mean y of the bin */
  double low, high;           /* 95 % Wilson interval of observed */
} DemurReliabilityBin;

/* One threshold applied: what is kept and what it is worth. */
typedef struct {
  double coverage;    /* requested */
  gboolean from_tune; /* FALSE: threshold from this split's own scores, labels unseen */
  double threshold;   /* of model 1; score >= threshold is accepted */
  double realised;    /* n_accepted / n_scans; of model 1, like all below but the measures */
  size_t n_accepted;
  double measures[DEMUR_N_MEASURES]; /* point values, mean over models */
  double debiased, noise_floor;      /* S-BCE_2 */
  size_t n_bins;
  size_t n_labels;
  DemurRejection *rejected_by_label; /* [n_labels] */
  size_t n_reliability;
  DemurReliabilityBin reliability[DEMUR_MAX_RELIABILITY_BINS];
  /* accepted scans by confidence max p; bin i covers [low + i w, low + (i+1) w), the last one
   * closed */
  size_t histogram[DEMUR_N_HISTOGRAM_BINS];
} DemurOperatingPoint;

typedef struct {
  char *name;  /* as in the JSON: "selector:NAME", "full", "confidence", "entropy", "knn", .. */
  char *title; /* for people: "selector nlst-a", "everything", "nearest training scans (kNN)" */
  gboolean recalibrated; /* JSON "risk": FALSE "raw", TRUE "recalibrated" */
  size_t n_models;
  DemurEstimate auc[DEMUR_N_MEASURES];
  double debiased_auc; /* S-BCE_2: of the square, then the signed root */
  double noise_floor_auc;
  DemurCurvePoint curve[DEMUR_N_MEASURES][DEMUR_N_COVERAGES];
  size_t n_at;
  DemurOperatingPoint *at; /* [n_at]: 0.9, 0.7, 0.5 from the split, then each tuned threshold */
} DemurMethodResult;

typedef struct {
  char *method, *against; /* method names */
  gboolean recalibrated;
  char *measure;                       /* "sbce2_auc", "sbce2_debiased_auc", "site_error_auc" */
  double difference, low, high, level; /* method minus against: below 0 is better */
  char *unit; /* "site", "patient" or "scan": what the bootstrap resamples */
  size_t n_units;
  DemurComparisonVerdict verdict;
} DemurComparison;

typedef struct {
  char *cohort, *split, *model, *source;
  gboolean simulated;
  gboolean in_sample; /* --in-sample: some of these scans trained, stopped, recalibrated or tuned a
                         selector */
  guint64 seed;
  size_t n_scans, n_patients, n_sites, n_classes;
  double *prevalence; /* [n_classes]: share of each label; K = 2: [1] is "prevalence" */
  char *digest;       /* of the rows used */
  size_t n_models, n_resamples;
  char *resample_unit; /* "scan", "patient" or "site" */
  size_t min_bin_size; /* 25 */
  double coverages[DEMUR_N_COVERAGES];
  size_t histogram_all[DEMUR_N_HISTOGRAM_BINS]; /* every scan by confidence */
  double histogram_low, histogram_width;
  size_t n_methods;
  DemurMethodResult *methods; /* selectors first, then full, confidence, .. */
  size_t n_comparisons;
  DemurComparison *comparisons;
  size_t n_warnings;
  char **warnings; /* sentences to print with every result */
} DemurEvaluation;

void demur_evaluation_free(DemurEvaluation *evaluation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurEvaluation, demur_evaluation_free)

/* The method of that JSON name and kind of risk; NULL where absent. */
const DemurMethodResult *demur_evaluation_method(const DemurEvaluation *evaluation,
                                                 const char *name, gboolean recalibrated);

/* Writes the members of the `evaluate` document into the open JSON object. */
void demur_evaluation_write_json(const DemurEvaluation *evaluation, DemurJson *json);

G_END_DECLS
