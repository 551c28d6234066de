/* libdemur: Demur's numbers for programs in other languages, as a plain C interface over vectors.
 *
 * The paper's loss, the meta features, thresholds, selective calibration error and a trained
 * selector, equal to what the command line computes. Nothing here needs GLib: arrays are the
 * caller's, contiguous and row by row (`[n][d]`: n rows of d), read and never kept; results go into
 * the caller's arrays. Only symbols that begin with libdemur_ are exported, with the version
 * LIBDEMUR_0; within it they keep their meaning.
 *
 * Risks are probabilities in [0, 1], labels 0 or 1, coverages shares in [0, 1]. A number that is
 * not defined (an empty selection, a label that does not occur) is NaN. Functions that can fail
 * return 0, or -1 and a message in *error (NULL: not wanted): what is wrong, where, and what to do.
 * Every function may be called from several threads, a handle by several at once (the first has its
 * threads, the others work on their own) and in a process that was forked (on one thread); who frees a
 * handle is the last to use it.
 *
 * Memory is taken beside the caller's arrays, in proportion to the rows: 16 bytes a row by a
 * threshold, some 80 by a selective curve. Where that can't be had the process ends. Where the system
 * makes no more threads a handle works on those that it has, the caller's at least: the same numbers.
 *
 * For research use, not a cleared device. */
#ifndef LIBDEMUR_H
#define LIBDEMUR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  char message[1024]; /* UTF-8 */
} libdemur_error;

/* "0.1.0". */
const char *libdemur_version(void);

/* --- Coverage (Eq. quantile) --- */

/* tau: the ceil(coverage n)-th largest of scores [n]; kept are scores >= tau, ties all. Coverage 0:
 * +infinity. */
int libdemur_threshold(double coverage, const double *scores, size_t n, double *tau,
                       libdemur_error *error);
/* n points from 0.05 to 1, evenly spaced (the paper's grid: 50); a single one is 1. */
void libdemur_coverage_grid(size_t n, double *coverages);
/* The trapezoid over values [n] at coverages [n], divided by their range; NaN of fewer than two. */
double libdemur_coverage_auc(const double *coverages, const double *values, size_t n);

/* --- A sample --- */

typedef struct {
  size_t n;
  const double *risks;  /* [n], in any order */
  const double *labels; /* [n] */
  /* [n] of the outcome, 0 to 1e100, 0 where it is not known; NULL: all are. A common factor of all
   * changes nothing. */
  const double *weights;
  const double *scores; /* [n], high: kept first; NULL where nothing is selected by them */
} libdemur_sample;

/* --- Selective calibration error --- */

/* Columns of a point of the curve. */
enum {
  LIBDEMUR_REALISED,  /* the share kept: over the coverage asked for where scores tie */
  LIBDEMUR_SBCE1,     /* S-BCE_1: mean |gap| over equal-mass bins */
  LIBDEMUR_SBCE2,     /* S-BCE_2: root of the mean squared gap */
  LIBDEMUR_SBCE_INF,  /* S-BCE_inf: the largest gap */
  LIBDEMUR_DEBIASED2, /* square of S-BCE_2 less its noise: may be below 0 */
  LIBDEMUR_BRIER,
  LIBDEMUR_ACCURACY,
  LIBDEMUR_N_POINT
};

/* points [n_coverages][LIBDEMUR_N_POINT] of the scans that the scores keep at each coverage. Bins:
 * at most 15 of min_bin_size (25) scans or more. O(n log n + n n_coverages). */
int libdemur_selective_curve(const libdemur_sample *sample, const double *coverages,
                             size_t n_coverages, size_t min_bin_size, double *points,
                             libdemur_error *error);

/* --- The paper's loss (Eq. full_loss) --- */

typedef struct {
  int q;                   /* 1 or 2 */
  double kernel_width;     /* of k(a, b) = exp(-|a - b| / width); above 0, finite */
  double lambda1, lambda2; /* 0 or above, finite */
} libdemur_loss_settings;

/* The settings of the paper. */
void libdemur_loss_settings_init(libdemur_loss_settings *settings);

/* S-MMCE_u and its regulariser of one data set, g = sigmoid(logits) [n], and dL/dlogit of their sum
 * in gradient [n] (NULL: not wanted). Risks in any order. O(n log n). */
int libdemur_loss(const libdemur_loss_settings *settings, const double *risks, const double *labels,
                  const float *logits, size_t n, float *gradient, double *smmce,
                  double *regulariser, libdemur_error *error);

/* --- Calibration of a sample --- */

enum {
  LIBDEMUR_OE,              /* observed over expected */
  LIBDEMUR_INTERCEPT,       /* calibration in the large: slope held at 1 */
  LIBDEMUR_SLOPE,           /* of logit r */
  LIBDEMUR_SLOPE_INTERCEPT, /* beside that slope */
  LIBDEMUR_ICI,             /* mean |r - s(r)|, s loess */
  LIBDEMUR_E50,
  LIBDEMUR_E90,
  LIBDEMUR_AUROC,
  LIBDEMUR_N_CALIBRATION
};

/* values [LIBDEMUR_N_CALIBRATION] of all of the sample. */
int libdemur_calibration(const libdemur_sample *sample, double *values, libdemur_error *error);

/* Site error at each coverage, as a square (may be below 0): squares [n_coverages]. sites [n] and
 * patients [n] are any numbers that name them. */
int libdemur_site_error(const libdemur_sample *sample, const int64_t *sites,
                        const int64_t *patients, const double *coverages, size_t n_coverages,
                        double *squares, libdemur_error *error);

/* --- Meta features --- */

/* Columns of the confidence features of K classes: p, one-hot of the largest, largest, entropy. */
size_t libdemur_confidence_width(size_t n_classes);
/* probabilities [n][K] -> out [n][width]. */
int libdemur_confidence_features(const double *probabilities, size_t n, size_t n_classes,
                                 double *out, libdemur_error *error);

typedef struct libdemur_outlier libdemur_outlier;

enum {
  LIBDEMUR_KNN, /* mean distance to the 8 nearest */
  LIBDEMUR_KDE, /* log density */
  LIBDEMUR_OCSVM,
  LIBDEMUR_IFOREST,
  LIBDEMUR_LOF,
  LIBDEMUR_N_OUTLIER
};

/* The five outlier models fitted on reference embeddings [n][d]; NULL with a message. The same seed
 * gives the same bytes at any number of threads (0: all processors). */
libdemur_outlier *libdemur_outlier_fit(const float *embeddings, size_t n, size_t d, uint64_t seed,
                                       unsigned n_threads, libdemur_error *error);
/* embeddings [m][d] -> out [m][LIBDEMUR_N_OUTLIER]. exclude [m]: the reference row that is this
 * scan itself, -1: none; NULL: none of them is. */
int libdemur_outlier_score(libdemur_outlier *outlier, const float *embeddings, size_t m,
                           const int64_t *exclude, double *out, libdemur_error *error);
size_t libdemur_outlier_width(const libdemur_outlier *outlier); /* d */
void libdemur_outlier_free(libdemur_outlier *outlier);

/* --- A trained selector, from the file of `demur selector export` --- */

typedef struct libdemur_selector libdemur_selector;

/* NULL with a message for a file that is none, is damaged (its digest) or is not sound. */
libdemur_selector *libdemur_selector_read(const char *path, unsigned n_threads,
                                          libdemur_error *error);
void libdemur_selector_free(libdemur_selector *selector);

/* What it is of; texts live as long as it does. */
const char *libdemur_selector_digest(const libdemur_selector *selector); /* SHA-256 */
const char *libdemur_selector_model(const libdemur_selector *selector);  /* whose risks it reads */
double libdemur_selector_horizon_years(const libdemur_selector *selector); /* 0: not recorded */
int libdemur_selector_is_simulated(const libdemur_selector *selector);
size_t libdemur_selector_n_classes(const libdemur_selector *selector);
size_t libdemur_selector_embedding_width(const libdemur_selector *selector); /* 0: it reads none */
/* Whether it reads how a scan was made: such a selector scores by `demur assess` alone. */
int libdemur_selector_uses_acquisition(const libdemur_selector *selector);

/* scores [n] = g~(x), what thresholds are compared with, and shown [n], the risks as it shows them
 * (recalibrated; NULL: not wanted). risks [n] raw, of its model; embeddings [n][width], NULL where
 * it reads none. K = 2 only. */
int libdemur_selector_score(libdemur_selector *selector, const double *risks,
                            const float *embeddings, size_t n, double *scores, double *shown,
                            libdemur_error *error);

#ifdef __cplusplus
}
#endif

#endif
