/* What resamples and redrawn labels of an evaluation's sample say of every method: its areas under
 * the curves, and its operating points.
 *
 * Every method meets the same resamples, so that differences are paired. Small samples are measured
 * exactly; from DEMUR_CELLS_FROM scans on they are counted in cells (evaluation/cells.h), which
 * turns a replicate of 10^6 scans from seconds into milliseconds. */
#pragma once

#include "evaluation/evaluation.h"
#include "base/gather.h"
#include "evaluation/extra.h"

G_BEGIN_DECLS

#define DEMUR_JACKKNIFE_SITES 40 /* up to so many are left out one by one */
/* From so many the site error, and differences of site errors and of debiased errors, have an
 * interval: of fewer it would be as wide as what they can be, and hold more often than it says. */
#define DEMUR_SQUARES_SITES 8
#define DEMUR_N_SITE_COVERAGES 20 /* of the site error's area: 0.05, 0.10, .. 1 */

typedef enum {
  DEMUR_OPERATING_REALISED, /* of model 1; the others are means over models */
  DEMUR_OPERATING_INTERCEPT,
  DEMUR_OPERATING_SLOPE,
  DEMUR_OPERATING_OE_RATIO,
  DEMUR_OPERATING_AUROC,
  DEMUR_OPERATING_DEBIASED2,
  DEMUR_OPERATING_PLAIN2, /* the plain square; meant for the sample itself */
  DEMUR_OPERATING_SITE2,
  DEMUR_OPERATING_SITE2_SE, /* NaN where patients are drawn */
  DEMUR_N_OPERATING_VALUES,
} DemurOperatingValue;

typedef enum {
  DEMUR_INTERVALS_NONE,  /* only the noise floor is drawn */
  DEMUR_INTERVALS_RATES, /* of what is kept and of each class that is refused */
  DEMUR_INTERVALS_ALL,
} DemurOperatingIntervals;

/* One method at one threshold, to be resampled. */
typedef struct {
  size_t method;
  gboolean fixed_threshold; /* TRUE: max_ranks are kept in every replicate; FALSE: a replicate finds
                               the threshold of `coverage` among its own scores */
  double coverage;
  gssize *max_ranks; /* [n_models] in the sample as it is; owned */
  DemurOperatingIntervals intervals;
  /* Of the sample as it is; values of replicates [DEMUR_N_OPERATING_VALUES +
   * n_classes][n replicates], the last n_classes rows the share of each class that is refused (NaN:
   * absent); S-BCE_2 under redrawn labels [n_noise_draws], mean over models. Owned. */
  double point[DEMUR_N_OPERATING_VALUES];
  DemurCalibrationFit *fits; /* [n_models] of the sample as it is */
  double *values, *noise;
} DemurOperating;

typedef struct {
  const DemurExtraSetup *setup;
  const GPtrArray *methods; /* of DemurMethod */
  DemurUnit unit;
  guint64 seed;
  size_t n_bootstrap, n_noise_draws;
  guint32 noise_part;     /* which noise: 0 of the whole split, 1 of groups */
  gboolean with_curves;   /* FALSE: operating points only */
  gboolean no_site_error; /* its values are NaN: groups, which have none */
  size_t cells_from;      /* this many scans are counted in cells; 0: DEMUR_CELLS_FROM */
  size_t n_points;
  DemurOperating *points; /* [n_points], of one method together, in the methods' order; method and
                             threshold are set, the results are filled */
} DemurReplicatesInput;

typedef struct DemurReplicatesMemory DemurReplicatesMemory;

typedef struct {
  DemurReplicatesInput input;
  gboolean in_cells;
  size_t n_columns; /* pairs of method and model, in order */
  /* Where sites are drawn and there are at most DEMUR_JACKKNIFE_SITES, replicate n_bootstrap + s is
   * the sample without site s; else 0. */
  size_t n_left_out;
  size_t n; /* replicates in all: n_bootstrap + n_left_out */
  /* [n][n_methods], means over models; with curves only. */
  double *plain_auc, *debiased2_auc, *site2_auc;
  double *site2_se; /* of site2_auc; NaN where patients are drawn */
  double *noise;    /* [n_noise_draws][n_columns][DEMUR_N_COVERAGES] S-BCE_2; with curves only */
  DemurReplicatesMemory *memory;
} DemurReplicates;

/* input is copied, what it points to is borrowed. parallel may be NULL. Measures the points in the
 * sample as it is. */
DemurReplicates *demur_replicates_new(const DemurReplicatesInput *input, DemurParallel *parallel);
void demur_replicates_free(DemurReplicates *replicates);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurReplicates, demur_replicates_free)

/* One replicate in [0, replicates->n), one draw of labels in [0, n_noise_draws): a DemurParallelFunc
 * of demur_parallel_map, data the DemurReplicates. */
void demur_replicates_draw(size_t replicate, guint worker, gpointer replicates);
void demur_replicates_redraw(size_t draw, guint worker, gpointer replicates);

/* What these two write, of all replicates or draws: an array of DemurSlot (base/gather.h), owned. */
GArray *demur_replicates_draw_slots(const DemurReplicates *replicates);
GArray *demur_replicates_redraw_slots(const DemurReplicates *replicates);

/* AUC over coverage of a method's squared site error in the sample as it is, mean over its models,
 * and (where sites are drawn) its standard error from the sites' influences. */
double demur_replicates_site2_auc(const DemurReplicates *replicates, size_t method, double *se);

/* Fills the 95 % intervals and the noise floor of the operating point, whose values and
 * rejected_by_label [n_labels] stand there already; rearranges the replicates:
 *   rejection rates, realised coverage, intercept, slope, O:E, AUROC   expanded percentile; of at
 *                 most DEMUR_JACKKNIFE_SITES sites the jackknife's (shares and AUROC on the logit,
 *                 O:E on the log scale)
 *   site error    bootstrap-t over sites (percentiles miss it: squares have a long upper tail),
 *                 none of fewer than DEMUR_SQUARES_SITES; expanded percentile where patients are
 *                 drawn
 *   debiased      basic, around the plain square, which is what a replicate's debiased square
 *                 estimates (see metrics/intervals.h); of few sites the jackknife's
 * NaN for those that were not asked for. */
void demur_operating_intervals(const DemurReplicates *replicates, size_t point,
                               DemurOperatingPoint *at);

/* Frees what the points own. */
void demur_operating_clear(DemurOperating *points, size_t n_points);

G_END_DECLS
