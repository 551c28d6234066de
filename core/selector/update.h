/* One update of Algorithm 1: m perturbed data sets in, one Adam step on the kappa worst of them. */
#pragma once

#include "base/parallel.h"
#include "selector/adam.h"
#include "selector/mlp.h"
#include "selector/smmce.h"
#include "shift/resample.h"

G_BEGIN_DECLS

/* The scans that data sets are drawn from, in ascending risk (ties in the order of their rows).
 * Borrowed. */
typedef struct {
  size_t n_scans, n_features;
  const DemurReal *features; /* [n_scans][n_features], standardised */
  const double *risks;       /* [n_scans] ascending */
  const double *labels;      /* [n_scans] */
  const double *errors;      /* [n_scans] e = |y - r|^q or the denoised target, times the weight */
  const double *weights;     /* [n_scans] of the outcomes in the selection error; NULL: 1 */
} DemurTrainingScans;

typedef struct {
  DemurSmmceSettings smmce;
  DemurAdamSettings adam;
  size_t kappa;          /* worst data sets to keep; 0: all */
  double kappa_coverage; /* judge them at this coverage; 0: by the 10-point AUC over coverage */
  size_t min_bin_size;   /* 25 */
} DemurUpdateSettings;

typedef struct {
  double loss;               /* mean over the chosen data sets */
  double smmce, regulariser; /* its two parts */
  double gradient_norm;      /* before clipping */
} DemurUpdateResult;

typedef struct DemurUpdater DemurUpdater;

/* Working memory for updates of n_datasets data sets drawn from scans, each of at most
 * dataset_capacity distinct scans: some 4 (n_hidden + 8) bytes for each scan that one update can see,
 * min(n_scans, n_datasets dataset_capacity), and 20 for each other. scans and parallel are borrowed for the updater's life; parallel
 * may be NULL. */
DemurUpdater *demur_updater_new(const DemurTrainingScans *scans, DemurMlpShape shape,
                                const DemurUpdateSettings *settings, size_t n_datasets,
                                size_t dataset_capacity, DemurParallel *parallel);
void demur_updater_free(DemurUpdater *updater);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurUpdater, demur_updater_free)

/* One update: parameters and adam change. The same inputs give the same bytes at any number of
 * threads. */
void demur_updater_run(DemurUpdater *updater, DemurDataset *const *datasets, DemurAdam *adam,
                       DemurReal *parameters, DemurUpdateResult *result);

/* Of the last update: the selection error of each data set [n_datasets], by which the kappa worst
 * were chosen. All 0 where kappa keeps all. Borrowed. */
const double *demur_updater_dataset_errors(const DemurUpdater *updater);

G_END_DECLS
