/* Another mix of patients: what a selector with its threshold would do if the scans came from other
 * sites, scanners or people than they do. Design: deployment.md, "shift".
 *
 * The sample is raked to the wanted shares (metrics/raking.h); every measure is then weighted, with
 * the present mix beside it. What it takes for granted: within what the mix names, the new scans
 * are like those that there are. It says nothing of scanners nobody has seen, and is refused where
 * few scans would stand for many.
 *
 *   coverage     sum w accept / sum w
 *   others       metrics of the weighted outcomes, w times the weight of censoring
 *
 * Intervals: `unit`s are drawn with replacement, and in each replicate weights (and censoring) are
 * fitted anew, so what is not known of the weights is in them. Both mixes meet the same replicates:
 * changes are paired. That of O:E's change is rather too wide than too narrow (docs/benchmarks.md); of no replicates at
 * all it is a little too narrow. O(n_replicates x (raking + n log n)). */
#pragma once

#include "base/parallel.h"
#include "base/progress.h"
#include "evaluation/evaluation.h"
#include "evaluation/sample.h"

G_BEGIN_DECLS

/* A weight beyond this is refused: one scan would stand for so many. */
#define DEMUR_MIX_MOST_WEIGHT 20.0

/* What is wanted of a column: values that are named with their shares; all other values keep their
 * proportions among themselves in what is left. */
typedef struct {
  char *by;          /* evaluation/grouping.h */
  GPtrArray *values; /* of texts */
  GArray *shares;    /* of double, in [0, 1], together at most 1 */
} DemurMixWish;

void demur_mix_wish_free(DemurMixWish *wish);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurMixWish, demur_mix_wish_free)

/* "scanner=Philips:0.6,GE:0.3" (the last colon of a part divides; a comma in a value is written
 * "\,"). DEMUR_ERROR_USAGE for anything else, a value twice, shares outside [0, 1] or of a sum
 * above 1. */
DemurMixWish *demur_mix_wish_parse(const char *text, GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  char *by;
  size_t n_values;
  char **values;             /* [n_values] */
  double *present, *mix;     /* [n_values] shares of scans */
  gboolean *withheld;        /* [n_values] too few scans to be told, or others would follow */
  gboolean *labels_withheld; /* [n_values] likewise of scans with a label (releases.h) */
  guint32 *codes;            /* [n] of the sample */
} DemurMixMargin;

typedef enum {
  DEMUR_MIX_COVERAGE,
  DEMUR_MIX_OUTCOMES,    /* share of scans with the outcome */
  DEMUR_MIX_OE_ALL,      /* observed over expected, all scans */
  DEMUR_MIX_OE_ACCEPTED, /* .. of the accepted */
  DEMUR_MIX_CALIBRATION, /* S-BCE_2 of the accepted, debiased, signed root */
  DEMUR_MIX_SITE_ERROR,  /* of the accepted, signed root */
  DEMUR_MIX_REJECTED_1,  /* share of the scans with the outcome that is refused */
  DEMUR_MIX_REJECTED_0,  /* .. without it */
  DEMUR_N_MIX_VALUES,
} DemurMixValue;

/* "coverage", "outcome_rate" .. of the JSON; in words, for people. */
const char *demur_mix_value_name(DemurMixValue value);
const char *demur_mix_value_title(DemurMixValue value);

/* NaN: undefined. An O:E of scans of which none has the outcome (0), and its change, have no interval: nothing in the sample
 * tells how many might have come. */
typedef struct {
  double present, mix, change;                                   /* change: mix - present */
  DemurInterval present_interval, mix_interval, change_interval; /* 95 % */
} DemurMixRow;

typedef struct {
  size_t n_scans, n_patients, n_sites;
  size_t n_margins;
  DemurMixMargin *margins; /* [n_margins] */
  double n_effective, largest_weight;
  DemurUnit unit;              /* what a replicate draws */
  size_t n_replicates, n_used; /* n_used: those whose weights could be fitted */
  gboolean enough_used;        /* otherwise nothing has an interval */
  /* Too few scans with, or without, the outcome, or with a named value: only coverage is told. */
  gboolean labels_withheld;
  DemurMixRow rows[DEMUR_N_MIX_VALUES];
} DemurMix;

typedef struct {
  const DemurCohort *cohort;
  const DemurSample *sample; /* K = 2 */
  const gboolean *accepted;  /* [n] of the sample's entries */
  const GPtrArray *wishes;   /* of DemurMixWish, at least one, no column twice */
  guint64 seed;
  size_t n_replicates, min_bin_size;
  /* For people: what counts the outcomes of the accepted is in steps of DEMUR_SMALL_CELL of them
   * (evaluation/point-releases.h). */
  gboolean released;
} DemurMixInput;

/* Draws sites where there are DEMUR_FEW_SITES of them and no margin is of sites; else patients, of
 * these sites. DEMUR_ERROR_NOT_FOUND for a column or a value that the scans don't have (with what
 * there is), DEMUR_ERROR_STATE where the mix is not supported: a wanted value with fewer than
 * DEMUR_SMALL_CELL scans, margins that contradict each other, a weight above
 * DEMUR_MIX_MOST_WEIGHT, an effective size below DEMUR_SMALL_CELL. */
DemurMix *demur_mix_new(const DemurMixInput *input, DemurParallel *parallel,
                        const DemurProgress *progress, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_mix_free(DemurMix *mix);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurMix, demur_mix_free)

G_END_DECLS
