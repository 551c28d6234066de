/* One result structure for every table, chart and document: selectors and baselines x trials.
 *
 * The numbers of docs/commands.md's `evaluate` document, and what the report's charts draw.
 * Undefined values are NaN here, gaps in charts, null in JSON. Plain data: views are functions of
 * it. */
#pragma once

#include <glib.h>

#include "base/json-writer.h"
#include "base/limits.h"
#include "evaluation/method-kind.h"
#include "evaluation/unit.h"
#include "evaluation/warnings.h"
#include "metrics/calibration-curve.h"
#include "metrics/discrimination.h"
#include "metrics/measures.h"

G_BEGIN_DECLS

#define DEMUR_N_COVERAGES 50      /* 0.05 to 1, evenly spaced */
#define DEMUR_N_HISTOGRAM_BINS 20 /* of the risk (K = 2) or of the confidence in [0, 1] */
#define DEMUR_MAX_RELIABILITY_BINS 15
#define DEMUR_N_SMOOTH 21 /* places of the smooth calibration curve */

#define DEMUR_N_COARSE_COVERAGES 20 /* 0.05, 0.10, .. 1: the other measures cost more */
#define DEMUR_N_DECISIONS 19 /* thresholds of the decision curve, demur_decision_thresholds */

/* How many points the curve of a measure has: DEMUR_N_COVERAGES or DEMUR_N_COARSE_COVERAGES. */
size_t demur_measure_n_coverages(DemurMeasure measure);
/* At which every method is measured, by thresholds of the split itself: 0.9, 0.7, 0.5. */
#define DEMUR_N_OPERATING_COVERAGES 3
extern const double demur_operating_coverages[DEMUR_N_OPERATING_COVERAGES];
/* 0.01 .. 0.99; [DEMUR_N_DECISIONS]. */
extern const double demur_decision_thresholds[DEMUR_N_DECISIONS];

typedef struct {
  double low, high;
} DemurInterval;

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
  /* It would tell of few outcomes (evaluation/point-releases.h): values are NaN, and a line goes on
   * from the told one before to the next. */
  gboolean withheld;
} DemurCurvePoint;

/* Rejection of one label (class) at an operating point. Where withheld, only n_all and share_of_all
 * are told, and the rest is NaN: fewer than DEMUR_SMALL_CELL scans of the label are rejected, or
 * kept, or such a number would follow from what the other labels have and how many are rejected. */
typedef struct {
  int label;
  gboolean withheld;
  size_t n_all, n_rejected;
  double share_of_rejected, share_of_all;
  double rate, rate_low, rate_high; /* rejected / all with that label; 95 % bootstrap of the unit */
} DemurRejection;

/* Sets withheld in the n labels of one point, and NaN where it is; nothing where nothing is
 * rejected. */
void demur_rejections_withhold(DemurRejection *labels, size_t n);

/* Whether the label is rejected DEMUR_REFUSED_MUCH_MORE times as often as scans in general, of which
 * realised are kept, and not by one or two: to be said, without a number where it is withheld. */
gboolean demur_rejection_is_much(const DemurRejection *label, double realised);

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
  /* What counts outcomes (rejected_by_label, decision, reliability, smooth, and measures whose row
   * says so) is of so many scans with the highest scores: those accepted, or, for people, the set
   * nearest to them that may be told; 0: withheld, NaN (evaluation/point-releases.h). */
  size_t n_counted;
  /* Mean over models; 95 % bootstrap intervals of the unit (evaluation/replicates.h), NaN for
   * measures that have none, and all but the rejection rates' for baselines other than "full" and
   * "confidence". Of realised for tuned thresholds only: the others make it so. */
  double measures[DEMUR_N_MEASURES];
  DemurInterval intervals[DEMUR_N_MEASURES];
  double debiased, noise_floor; /* S-BCE_2 */
  DemurInterval debiased_interval, site_error_interval, realised_interval;
  DemurNetBenefit decision[DEMUR_N_DECISIONS]; /* of model 1; NaN for K > 2 */
  size_t n_bins;
  size_t n_labels;
  DemurRejection *rejected_by_label; /* [n_labels] */
  size_t n_reliability;
  DemurReliabilityBin reliability[DEMUR_MAX_RELIABILITY_BINS];
  size_t n_smooth;                        /* 0: not drawn; of selectors, "full" and "confidence" */
  DemurCurvePlace smooth[DEMUR_N_SMOOTH]; /* of model 1, ascending in risk */
  /* accepted scans by risk (K > 2: by confidence, max p); bin i covers [low + i w, low + (i+1) w),
   * the last one closed, with what lies beyond */
  size_t histogram[DEMUR_N_HISTOGRAM_BINS];
} DemurOperatingPoint;

/* The share of the scans that what counts outcomes is of; realised where that is withheld. */
double demur_operating_counted(const DemurOperatingPoint *at);
/* What counts outcomes is told, but of another set than those accepted. */
gboolean demur_operating_counts_others(const DemurOperatingPoint *at);

typedef struct {
  DemurMethodKind kind;
  char *name;  /* as in the JSON: "selector:NAME", "full", "confidence", "entropy", "knn", .. */
  char *title; /* for people: "selector nlst-a", "everything", "nearest training scans (kNN)" */
  gboolean recalibrated; /* JSON "risk": FALSE "raw", TRUE "recalibrated" */
  size_t n_models;
  DemurEstimate auc[DEMUR_N_MEASURES]; /* NaN where the table says that it has none */
  double debiased_auc;                 /* S-BCE_2: of the square, then the signed root */
  double noise_floor_auc;
  double plain2_auc; /* area of the plain square, mean over models */
  DemurInterval debiased_auc_interval, site_error_auc_interval; /* 95 %, of the unit */
  /* Area under the risk-coverage curve of the 0/1 error and of the Brier score
   * (metrics/discrimination.h). */
  DemurEstimate aurc_error, aurc_brier;
  /* [..][demur_measure_n_coverages] are filled. */
  DemurCurvePoint curve[DEMUR_N_MEASURES][DEMUR_N_COVERAGES];
  size_t n_at;
  DemurOperatingPoint *at; /* [n_at]: 0.9, 0.7, 0.5 from the split, then each tuned threshold */
} DemurMethodResult;

typedef struct {
  char *method, *against; /* method names */
  DemurMethodKind method_kind, against_kind;
  gboolean recalibrated;
  DemurCompared measure;
  double difference, low, high, level; /* method minus against: below 0 is better */
  double standard_error;               /* of the replicates */
  double statistic;   /* a difference over its standard error, that verdicts are corrected by */
  gboolean corrected; /* the verdict, for the number of comparisons; not the interval */
  DemurUnit unit;     /* what the bootstrap resamples */
  size_t n_units;
  DemurComparisonVerdict verdict;
} DemurComparison;

/* A method among the scans of one group. */
typedef struct {
  DemurMethodKind kind;
  char *name;
  gboolean recalibrated;
  double sbce2_auc, debiased_auc; /* thresholds from the group's own scores; mean over models */
  /* Selectors, full, confidence and mc: the operating points of the whole split, applied to the
   * group unchanged. Intervals are 95 % bootstraps of the group's patients. Of fewer than
   * DEMUR_SMALL_CELL accepted scans, of either label where K = 2, nothing is said but the coverage
   * and the noise floor. reliability and histogram are left empty. */
  size_t n_at;
  DemurOperatingPoint *at;
} DemurGroupMethod;

/* A selector against plain confidence among the scans of one site, averaged over coverage; filled by
 * evaluation/site-contrast.h. */
typedef struct {
  char *method; /* "selector:NAME" */
  gboolean recalibrated;
  size_t n_patients; /* that the bootstrap resamples */
  struct {
    double difference, low, high; /* selector minus confidence, below 0 is better; 95 % */
    double standard_error;
  } plain, debiased;
  DemurComparisonVerdict verdict; /* of both, corrected for the number of sites */
} DemurSiteContrast;

/* Scans that share a site, a scanner or the text of an attribute. */
typedef struct {
  char *by, *value; /* "site" and its name, .. ; value "" is "not recorded" */
  size_t n_scans, n_patients;
  /* Fewer than DEMUR_SMALL_CELL scans, or so many that such a group's would follow from them
   * (base/small-cells.h): no methods, n is not printed. */
  gboolean withheld;
  /* The same of the scans of each label: counts and rates by label and O:E, intercept, slope and
   * calibration error of its operating points are left out. */
  gboolean labels_withheld;
  gboolean patients_withheld; /* the same of the number of patients */
  size_t n_methods;
  DemurGroupMethod *methods;
  size_t n_contrasts; /* by "site" only, one a selector */
  DemurSiteContrast *contrasts;
} DemurGroup;

/* The mean of an AUC over the groups that have one, each group counting alike: the paper's average
 * over perturbations where by is "shift". */
typedef struct {
  char *by, *method;
  gboolean recalibrated;
  size_t n_groups;
  double sbce2_auc, debiased_auc;
} DemurGroupAverage;

/* Scans shown by one rule, and decisions by them at one threshold (evaluation/hold-back.h). */
typedef struct {
  gboolean is_rule; /* "interval"; else a method */
  DemurMethodKind kind;
  char *method; /* "full", "interval", "selector:NAME", "confidence" */
  size_t n_shown;
  double coverage;    /* n_shown / n_scans */
  double net_benefit; /* of those shown; NaN: none is */
  double selectivity; /* mean cost of the scans held back over that of all; NaN: none is */
} DemurHoldBackRow;

#define DEMUR_N_HOLD_BACK_ROWS 4

typedef struct {
  char *selector;
  gboolean recalibrated;
  size_t n_sites, n_held; /* of DEMUR_SMALL_CELL scans; whose number of outcomes the 95 % intervals
                           * of their risks hold */
  double mean_width;      /* of the intervals */
  double decision;        /* threshold of the rule */
  gboolean tuned;         /* it is the current threshold's; else that of net benefit */
  size_t n_rows;
  DemurHoldBackRow rows[DEMUR_N_HOLD_BACK_ROWS];
} DemurHoldBack;

/* With the first `labels` labels of every audited site (evaluation/audit-curve.h). */
typedef struct {
  size_t labels;
  size_t n_labels; /* there were, of all sites */
  size_t n_scans;  /* measured: at these sites, without a label */
  double site_error, sbce2, accepted_site_error, accepted_sbce2;
} DemurAuditCurvePoint;

#define DEMUR_N_AUDIT_CURVE 5

typedef struct {
  char *cohort, *split, *model, *source;
  gboolean simulated;
  /* Site audits are in the risks; what they labelled is not measured. 0: without audits. */
  size_t n_audited_sites, n_audit_labels;
  gboolean in_sample; /* --in-sample: some of these scans trained, stopped, recalibrated or tuned a
                         selector */
  guint64 seed;
  size_t n_scans, n_patients, n_sites, n_classes;
  double *prevalence; /* [n_classes]: (weighted) share of each label; K = 2: [1] is "prevalence" */
  char *digest;       /* of the rows used, in the order of their scan_ids */
  /* Outcomes by a horizon (metrics/censoring.h): where some scans were left before it, the others
   * stand for them and every number here is of weighted outcomes. */
  double horizon; /* years; NaN: outcomes have no times */
  gboolean weighted;
  size_t n_known, n_capped; /* scans whose outcome is known; whose weight was cut to the cap */
  double n_effective;
  size_t n_models, n_resamples;
  char *resample_unit; /* "scan", "patient" or "site" */
  size_t min_bin_size; /* 25 */
  gboolean in_cells;   /* resamples and redrawn labels counted in cells, evaluation/cells.h */
  double net_benefit_threshold; /* of "net_benefit"; K > 2: NaN */
  DemurUnit interval_unit;      /* what the bootstrap of intervals draws: sites or patients */
  double coverages[DEMUR_N_COVERAGES];
  size_t histogram_all[DEMUR_N_HISTOGRAM_BINS]; /* every scan by risk (K > 2: by confidence) */
  double histogram_low, histogram_width;
  size_t n_methods;
  DemurMethodResult *methods; /* selectors first, then full, confidence, .. */
  size_t n_comparisons;
  DemurComparison *comparisons;
  size_t n_groups;
  DemurGroup *groups; /* groups of one `by` stand together */
  size_t n_group_averages;
  DemurGroupAverage *group_averages;
  size_t n_hold_back;
  DemurHoldBack *hold_back; /* one a selector; none for K > 2 */
  size_t n_audit_curve;     /* 0 without audits */
  DemurAuditCurvePoint audit_curve[DEMUR_N_AUDIT_CURVE];
  size_t n_warnings;
  DemurWarning *warnings; /* to print with every result */
} DemurEvaluation;

void demur_evaluation_free(DemurEvaluation *evaluation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurEvaluation, demur_evaluation_free)

/* The method of that JSON name and kind of risk; NULL where absent. */
const DemurMethodResult *demur_evaluation_method(const DemurEvaluation *evaluation,
                                                 const char *name, gboolean recalibrated);
/* The same of a selector by its own name, and of a baseline. */
const DemurMethodResult *demur_evaluation_selector(const DemurEvaluation *evaluation,
                                                   const char *selector, gboolean recalibrated);
const DemurMethodResult *demur_evaluation_baseline(const DemurEvaluation *evaluation,
                                                   DemurMethodKind kind, gboolean recalibrated);

/* Writes the members of the `evaluate` document into the open JSON object. */
void demur_evaluation_write_json(const DemurEvaluation *evaluation, DemurJson *json);

G_END_DECLS
