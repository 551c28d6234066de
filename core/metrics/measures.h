/* The one table of measures: what each is called in JSON and for people, and which way is better.
 * Evaluation, report, charts, window and documents go by it; a new measure is a row here. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* "K = 2": undefined for more classes, where the others are of the top probability and whether its
 * class is right. */
typedef enum {
  DEMUR_MEASURE_SBCE2,
  DEMUR_MEASURE_SBCEINF,
  DEMUR_MEASURE_BRIER,
  DEMUR_MEASURE_ACCURACY,
  DEMUR_MEASURE_SITE_ERROR,
  DEMUR_MEASURE_SMMCE,
  DEMUR_N_FINE_MEASURES,                           /* those above: over the paper's 50 coverages */
  DEMUR_MEASURE_INTERCEPT = DEMUR_N_FINE_MEASURES, /* slope held at 1; K = 2 */
  DEMUR_MEASURE_SLOPE_INTERCEPT,                   /* of the fit with the slope; K = 2 */
  DEMUR_MEASURE_SLOPE,                             /* K = 2 */
  DEMUR_MEASURE_OE_RATIO,
  DEMUR_MEASURE_ICI,
  DEMUR_MEASURE_E50, /* median and 90 % quantile of what ICI is the mean of */
  DEMUR_MEASURE_E90,
  DEMUR_MEASURE_SBCE1,
  DEMUR_MEASURE_SPIEGELHALTER,   /* z */
  DEMUR_MEASURE_HOSMER_LEMESHOW, /* chi-squared of 10 groups */
  DEMUR_MEASURE_RELIABILITY,     /* of the Brier score: the square of S-BCE_2 */
  DEMUR_MEASURE_RESOLUTION,
  DEMUR_MEASURE_UNCERTAINTY,
  DEMUR_MEASURE_WITHIN,      /* Brier = reliability - resolution + uncertainty + this */
  DEMUR_MEASURE_AUROC,       /* K = 2 */
  DEMUR_MEASURE_NET_BENEFIT, /* of treating where r >= the threshold; K = 2 */
  DEMUR_MEASURE_TREAT_ALL,   /* K = 2 */
  DEMUR_N_MEASURES,
} DemurMeasure;

typedef enum {
  DEMUR_BETTER_LOW,
  DEMUR_BETTER_HIGH,
  DEMUR_BETTER_ZERO, /* near 0, from either side */
  DEMUR_BETTER_ONE,  /* near 1 */
  DEMUR_BETTER_NEITHER,
} DemurBetter;

/* What the digits of a measure, with what else is told of the scans that it is of (how many, in which
 * bins of risk), say of how many of them have the outcome. */
typedef enum {
  DEMUR_TELLS_NOTHING, /* cannot be turned round without each scan's risk */
  DEMUR_TELLS_COUNT,   /* the number, at once or by a sum over bins of risk */
  DEMUR_TELLS_PAIRS,   /* a ratio of pairs: the number from all digits, nothing from three */
} DemurMeasureTells;

typedef struct {
  const char *name, *multi_name;     /* in JSON; for K > 2 */
  const char *symbol, *multi_symbol; /* short, for people: "S-BCE₂" */
  const char *title;                 /* in words: "Calibration error" */
  DemurBetter better;
  gboolean binned; /* of the equal-mass bins of metrics/selective.h */
  gboolean square; /* estimated as a square that may fall below 0, shown as its signed root */
  /* Whether its average over coverage says something: not where too high at one coverage and too
   * low at another would cancel. */
  gboolean has_auc;
  gboolean has_interval;   /* a bootstrap interval that covers, at an operating point */
  DemurMeasureTells tells; /* evaluation/point-releases.h goes by it */
} DemurMeasureRow;

/* The row of a measure (static). */
const DemurMeasureRow *demur_measure_row(DemurMeasure measure);

/* Its name in JSON and its symbol, by the number of classes. */
const char *demur_measure_name(DemurMeasure measure, size_t n_classes);
const char *demur_measure_symbol(DemurMeasure measure, size_t n_classes);

/* What comparisons between methods are of. */
typedef enum {
  DEMUR_COMPARED_SBCE2,      /* AUC over coverage */
  DEMUR_COMPARED_DEBIASED,   /* of the debiased square, then the signed root */
  DEMUR_COMPARED_SITE_ERROR, /* likewise */
  DEMUR_N_COMPARED,
} DemurCompared;

/* "sbce2_auc", "sbce2_debiased_auc", "site_error_auc" of the JSON; K > 2: "stce2_auc" .. */
const char *demur_compared_name(DemurCompared compared, size_t n_classes);

G_END_DECLS
