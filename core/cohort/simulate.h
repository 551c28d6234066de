/* A simulated lung-screening cohort in the manner of NLST, and an outside hospital. Marked as
 * simulated on every screen, file and page. Nothing here is fitted to any selector.
 *
 * Story. Hospitals 1..n_sites are uneven in size; each has its own scanner mix, habits (slice
 * thickness, kernel, contrast, dose) and base rate. A patient has clinical latents c (nodule
 * burden, emphysema, age, pack-years, family history, body mass) and one to three yearly screens;
 * cancer within six years of the first screen is Bernoulli(sigmoid(b0 + a_hospital + beta . c)),
 * its time follows the share of risk that falls due by then. A scan SHOWS the latents through its
 * acquisition: thick slices hide part of the nodule signal, sharp kernels, contrast and noise add
 * to it. The black box f is a logistic regression on what scans show, fitted on base_train and
 * Platt-scaled on a draw of its own (not exported): calibrated on average, miscalibrated within
 * kinds of scan. The 256-d embedding mixes (tanh, ReLU) what is shown, anatomy, the acquisition and
 * a weak trace of the hospital, with noise that grows with the scan's own. The outside hospital
 * sees all-comers: more contrast, thick slices and sharp kernels, older patients, another base
 * rate; some of its cancers have no follow-up record and are labelled 0.
 *
 * Planted effects, each with a knob that multiplies it (1: as told above, 0: none):
 *   site_effect         a_hospital: INVISIBLE in the embedding but for the hospital's trace
 *   acquisition_effect  thickness, kernel, contrast, noise change what is shown: VISIBLE in it
 *   scanner_effect      the manufacturer changes what is shown: VISIBLE
 *   hidden_effect       a software version that no column and no embedding shows shifts the nodule
 *                       signal: INVISIBLE
 *   outside_shift       the outside hospital's population, base rate, acquisition mix and lost
 *                       follow-up
 *   drift_effect        0 unless asked for: after f was fitted, a denoising reconstruction reached
 *                       part of the scans (20 to 45 % of a hospital's); it takes out noise, VISIBLE
 *                       in the embedding, and faint nodules with it, so that f tells too little;
 *                       its kernels have names of their own
 *
 * All at 0: f is a well specified model of an unshifted population, and no selector can help.
 *
 * Each patient is a stream of its own: same seed, same cohort at any number of threads. */
#pragma once

#include "base/parallel.h"
#include "base/progress.h"
#include "cohort/cohort.h"

G_BEGIN_DECLS

#define DEMUR_SIMULATION_WIDTH 256

typedef struct {
  guint64 seed;
  size_t n_scans;         /* selector_train; validation holds n_scans / 5 */
  size_t n_sites;         /* hospitals inside, >= 2 */
  size_t n_base_train;    /* 6000 */
  size_t n_tune, n_test;  /* outside: 1000, 1337 */
  size_t n_outside;       /* hospitals outside: 1, or 2, of which drift reaches the first alone */
  double base_rate_logit; /* added to b0; 0: about 5 % */
  double site_effect, acquisition_effect, scanner_effect, hidden_effect, outside_shift,
      drift_effect;
} DemurSimulation;

/* The design's numbers: 6282 scans, 33 sites, all effects 1, seed 1. */
void demur_simulation_defaults(DemurSimulation *simulation);

/* Draws the cohort. NULL with DEMUR_ERROR_USAGE where a number is out of range. parallel may be
 * NULL. */
DemurCohort *demur_cohort_simulate(const DemurSimulation *simulation, const char *name,
                                   const char *created, DemurParallel *parallel,
                                   const DemurProgress *progress,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The simulated CNN by itself: reads one scan of its world, as it read those of the cohort that the
 * same simulation draws. */
typedef struct DemurSimulatedReader DemurSimulatedReader;

/* What the reader meets. */
typedef struct {
  guint64 number;     /* of the scan: its anatomy and noise */
  double clinical[6]; /* nodule burden, emphysema, age, pack-years, family history, body mass;
                           in standard deviations of the inside population */
  const char *maker;  /* a manufacturer of the simulation; another one has no effect */
  gboolean thick, sharp, contrast, denoised;
  double log_noise; /* in the image, beside a scan of usual dose and this kernel and thickness */
} DemurSimulatedScan;

/* Fits f as the simulation does. NULL with DEMUR_ERROR_USAGE where a number is out of range. */
DemurSimulatedReader *demur_simulated_reader_new(const DemurSimulation *simulation,
                                                 DemurParallel *parallel,
                                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_simulated_reader_free(DemurSimulatedReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSimulatedReader, demur_simulated_reader_free)

/* yearly [DEMUR_N_YEARS], embedding [DEMUR_SIMULATION_WIDTH]; the last yearly risk is the risk. */
void demur_simulated_reader_read(const DemurSimulatedReader *reader, const DemurSimulatedScan *scan,
                                 double *yearly, float *embedding);

/* The kernel's name at a maker's scanners; the standard one of the first maker for another. */
const char *demur_simulated_kernel(const char *maker, gboolean sharp, gboolean denoised);

G_END_DECLS
