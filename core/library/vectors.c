/* Vectors as the measures take them: in ascending risk. The caller's arrays are read in their own
 * order and gathered once, O(n log n); nothing of theirs is kept or changed. */
#include "library/libdemur-private.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "metrics/calibration-fit.h"
#include "metrics/coverage.h"
#include "metrics/discrimination.h"
#include "metrics/selective.h"
#include "metrics/site-error.h"
#include "selector/settings.h"
#include "selector/smmce.h"

#define LARGEST_WEIGHT 1e100 /* squares and sums of weights stay finite */

const char *
libdemur_version(void) {
  return DEMUR_VERSION;
}

int
demur_library_fail(libdemur_error *error, GError *cause) {
  if (error != NULL && cause != NULL)
    g_strlcpy(error->message, cause->message, sizeof error->message);
  g_clear_error(&cause);
  return -1;
}

gboolean
demur_library_check(const char *argument, const double *vector, size_t n, double low, double high,
                    GError **error) {
  for (size_t i = 0; i < n; i++)
    if (!(vector[i] >= low && vector[i] <= high)) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "%s, value %zu of %zu: %g is not from %g to %g", argument, i + 1, n, vector[i],
                  low, high);
      return FALSE;
    }
  return TRUE;
}

typedef struct {
  double value;
  guint32 row;
} Entry;

static int
compare_entries(gconstpointer a, gconstpointer b) {
  const Entry *x = a, *y = b;
  if (x->value != y->value)
    return x->value < y->value ? -1 : 1;
  return x->row < y->row ? -1 : 1;
}

guint32 *
demur_library_order(const double *values, size_t n) {
  g_autofree Entry *entries = g_new(Entry, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    entries[i] = (Entry){values[i], (guint32)i};
  qsort(entries, n, sizeof *entries, compare_entries);
  guint32 *rows = g_new(guint32, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    rows[i] = entries[i].row;
  return rows;
}

static double *
gather(const double *values, const guint32 *rows, size_t n) {
  if (values == NULL)
    return NULL;
  double *gathered = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    gathered[i] = values[rows[i]];
  return gathered;
}

/* A sample in ascending risk. */
typedef struct {
  size_t n;
  guint32 *rows;
  double *risks, *labels, *weights, *scores; /* [n]; weights and scores NULL where not given */
  guint32 *ranks;                            /* [n] of the scores */
  size_t n_ranks;
} Sample;

static void
sample_clear(Sample *sample) {
  g_free(sample->rows);
  g_free(sample->risks);
  g_free(sample->labels);
  g_free(sample->weights);
  g_free(sample->scores);
  g_free(sample->ranks);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sample, sample_clear)

static gboolean
check_labels(const double *labels, const double *weights, size_t n, GError **error) {
  for (size_t i = 0; i < n; i++)
    if (labels[i] != 0.0 && labels[i] != 1.0 && (weights == NULL || weights[i] > 0.0)) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "labels, value %zu of %zu: %g is neither 0 nor 1 (give it the weight 0 where the "
                  "outcome is not known)",
                  i + 1, n, labels[i]);
      return FALSE;
    }
  return TRUE;
}

/* To a largest weight in [1, 2): what comes of a sample depends on no common factor of its weights, and their products
 * neither vanish nor overflow. A power of two changes no digit. */
static void
scale_weights(double *weights, size_t n) {
  double largest = 0.0;
  for (size_t i = 0; i < n; i++)
    largest = fmax(largest, weights[i]);
  const int exponent = largest > 0.0 ? ilogb(largest) : 0;
  for (size_t i = 0; exponent != 0 && i < n; i++)
    weights[i] = ldexp(weights[i], -exponent);
}

/* with_scores: they are needed. */
static gboolean
sample_fill(Sample *sample, const libdemur_sample *given, gboolean with_scores, GError **error) {
  const size_t n = given->n;
  if (n > G_MAXINT32 || (with_scores && given->scores == NULL)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                n > G_MAXINT32 ? "more rows than 2147483647" : "the sample has no scores");
    return FALSE;
  }
  const double *scores = with_scores ? given->scores : NULL, *weights = given->weights;
  if (!demur_library_check("risks", given->risks, n, 0.0, 1.0, error) ||
      (weights != NULL &&
       !demur_library_check("weights", weights, n, 0.0, LARGEST_WEIGHT, error)) ||
      (scores != NULL && !demur_library_check("scores", scores, n, -INFINITY, INFINITY, error)) ||
      !check_labels(given->labels, weights, n, error))
    return FALSE;
  sample->n = n;
  sample->rows = demur_library_order(given->risks, n);
  sample->risks = gather(given->risks, sample->rows, n);
  sample->labels = gather(given->labels, sample->rows, n);
  sample->weights = gather(weights, sample->rows, n);
  sample->scores = gather(scores, sample->rows, n);
  for (size_t i = 0; sample->weights != NULL && i < n; i++)
    if (sample->weights[i] == 0.0)
      sample->labels[i] = 0.0; /* not looked at, whatever stands for "not known" */
  if (sample->weights != NULL)
    scale_weights(sample->weights, n);
  if (sample->scores != NULL) {
    sample->ranks = g_new(guint32, MAX(n, 1));
    sample->n_ranks = demur_coverage_ranks(sample->scores, n, sample->ranks);
  }
  return TRUE;
}

int
libdemur_threshold(double coverage, const double *scores, size_t n, double *tau,
                   libdemur_error *error) {
  GError *cause = NULL;
  if (!demur_library_check("coverage", &coverage, 1, 0.0, 1.0, &cause) ||
      !demur_library_check("scores", scores, n, -INFINITY, INFINITY, &cause))
    return demur_library_fail(error, cause);
  *tau = n > 0 ? demur_coverage_threshold(coverage, scores, n) : INFINITY;
  return 0;
}

void
libdemur_coverage_grid(size_t n, double *coverages) {
  if (n >= 2)
    demur_coverage_grid(n, coverages);
  else if (n == 1)
    coverages[0] = 1.0;
}

double
libdemur_coverage_auc(const double *coverages, const double *values, size_t n) {
  return n >= 2 ? demur_coverage_auc(coverages, values, n) : NAN;
}

#define MAX_COVERAGES 64 /* of demur_selective_curve at a time */

int
libdemur_selective_curve(const libdemur_sample *given, const double *coverages, size_t n_coverages,
                         size_t min_bin_size, double *points, libdemur_error *error) {
  GError *cause = NULL;
  g_auto(Sample) sample = {0};
  if (!demur_library_check("coverages", coverages, n_coverages, 0.0, 1.0, &cause) ||
      !sample_fill(&sample, given, TRUE, &cause))
    return demur_library_fail(error, cause);
  const size_t n = sample.n;
  if (min_bin_size < 1) {
    g_set_error(&cause, DEMUR_ERROR, DEMUR_ERROR_INPUT, "min_bin_size is 0; 1 is the smallest");
    return demur_library_fail(error, cause);
  }
  const DemurSelectiveSample selective = {.n = n,
                                          .risks = sample.risks,
                                          .labels = sample.labels,
                                          .weights = sample.weights,
                                          .ranks = sample.ranks,
                                          .n_ranks = sample.n_ranks};
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(MAX(n, 1));
  for (size_t from = 0; from < n_coverages; from += MAX_COVERAGES) {
    DemurSelectivePoint some[MAX_COVERAGES];
    const size_t n_some = MIN(n_coverages - from, MAX_COVERAGES);
    demur_selective_curve(&selective, coverages + from, n_some, min_bin_size, scratch, some);
    for (size_t c = 0; c < n_some; c++) {
      double *out = points + (from + c) * LIBDEMUR_N_POINT;
      out[LIBDEMUR_REALISED] = n > 0 ? (double)some[c].n_selected / (double)n : NAN;
      out[LIBDEMUR_SBCE1] = some[c].error1;
      out[LIBDEMUR_SBCE2] = some[c].error2;
      out[LIBDEMUR_SBCE_INF] = some[c].error_inf;
      out[LIBDEMUR_DEBIASED2] = some[c].debiased2;
      out[LIBDEMUR_BRIER] = some[c].brier;
      out[LIBDEMUR_ACCURACY] = some[c].accuracy;
    }
  }
  return 0;
}

void
libdemur_loss_settings_init(libdemur_loss_settings *settings) {
  g_autoptr(DemurTrainSettings) published = demur_train_settings_new_published();
  *settings = (libdemur_loss_settings){.q = (int)published->q,
                                       .kernel_width = published->kernel_width,
                                       .lambda1 = 1.0,
                                       .lambda2 = published->lambda2};
}

int
libdemur_loss(const libdemur_loss_settings *settings, const double *risks, const double *labels,
              const float *logits, size_t n, float *gradient, double *smmce, double *regulariser,
              libdemur_error *error) {
  GError *cause = NULL;
  if (settings->q != 1 && settings->q != 2)
    g_set_error(&cause, DEMUR_ERROR, DEMUR_ERROR_INPUT, "q is %d; it must be 1 or 2", settings->q);
  else if (!(settings->kernel_width > 0.0) || !isfinite(settings->kernel_width) ||
           !(settings->lambda1 >= 0.0) || !isfinite(settings->lambda1) ||
           !(settings->lambda2 >= 0.0) || !isfinite(settings->lambda2))
    g_set_error(&cause, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "kernel_width must be above 0, lambda1 and lambda2 0 or above, all finite");
  g_auto(Sample) sample = {0};
  if (cause != NULL ||
      !sample_fill(&sample, &(libdemur_sample){.n = n, .risks = risks, .labels = labels}, FALSE,
                   &cause))
    return demur_library_fail(error, cause);
  g_autofree double *errors = g_new(double, MAX(n, 1));
  g_autofree guint16 *counts = g_new(guint16, MAX(n, 1));
  g_autofree DemurReal *z = g_new(DemurReal, MAX(n, 1));
  g_autofree DemurReal *dz = g_new(DemurReal, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    const double gap = fabs(sample.labels[i] - sample.risks[i]);
    errors[i] = settings->q == 1 ? gap : gap * gap;
    counts[i] = 1;
    z[i] = logits[sample.rows[i]];
    if (!isfinite(z[i])) {
      g_set_error(&cause, DEMUR_ERROR, DEMUR_ERROR_INPUT, "logits, value %u of %zu is not finite",
                  sample.rows[i] + 1, n);
      return demur_library_fail(error, cause);
    }
  }
  const DemurSmmceSettings given = {settings->q, settings->kernel_width, settings->lambda1,
                                    settings->lambda2};
  const DemurSmmceLoss loss =
      demur_smmce_loss(&given, sample.risks, errors, counts, z, n, gradient != NULL ? dz : NULL);
  for (size_t i = 0; gradient != NULL && i < n; i++)
    gradient[sample.rows[i]] = (float)dz[i];
  *smmce = loss.smmce;
  *regulariser = loss.regulariser;
  return 0;
}

int
libdemur_calibration(const libdemur_sample *given, double *values, libdemur_error *error) {
  GError *cause = NULL;
  g_auto(Sample) sample = {0};
  if (!sample_fill(&sample, given, FALSE, &cause))
    return demur_library_fail(error, cause);
  const DemurOutcomes outcomes = {
      .n = sample.n, .risks = sample.risks, .labels = sample.labels, .weights = sample.weights};
  const DemurCalibrationFit fit = demur_calibration_fit(&outcomes, NULL);
  const DemurCalibrationGaps gaps = demur_calibration_gaps(&outcomes);
  values[LIBDEMUR_OE] = demur_calibration_oe_ratio(&outcomes);
  values[LIBDEMUR_INTERCEPT] = fit.intercept;
  values[LIBDEMUR_SLOPE] = fit.slope;
  values[LIBDEMUR_SLOPE_INTERCEPT] = fit.slope_intercept;
  values[LIBDEMUR_ICI] = gaps.mean;
  values[LIBDEMUR_E50] = gaps.median;
  values[LIBDEMUR_E90] = gaps.percent_90;
  values[LIBDEMUR_AUROC] = demur_auroc(&outcomes);
  return 0;
}

/* names [n] as indices in the order of first appearance, of the sample's rows (owned). */
static guint32 *
number_names(const int64_t *names, const Sample *sample, size_t *n_names) {
  g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal);
  guint32 *codes = g_new(guint32, MAX(sample->n, 1));
  for (size_t i = 0; i < sample->n; i++) {
    const gint64 *name = (const gint64 *)&names[sample->rows[i]];
    gpointer code;
    if (!g_hash_table_lookup_extended(seen, name, NULL, &code)) {
      code = GUINT_TO_POINTER(g_hash_table_size(seen));
      g_hash_table_insert(seen, (gpointer)name, code);
    }
    codes[i] = GPOINTER_TO_UINT(code);
  }
  *n_names = g_hash_table_size(seen);
  return codes;
}

int
libdemur_site_error(const libdemur_sample *given, const int64_t *sites, const int64_t *patients,
                    const double *coverages, size_t n_coverages, double *squares,
                    libdemur_error *error) {
  GError *cause = NULL;
  g_auto(Sample) sample = {0};
  if (!demur_library_check("coverages", coverages, n_coverages, 0.0, 1.0, &cause) ||
      !sample_fill(&sample, given, TRUE, &cause))
    return demur_library_fail(error, cause);
  const size_t n = sample.n;
  g_autofree double *differences = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    differences[i] = sample.labels[i] - sample.risks[i];
  size_t n_sites, n_patients;
  g_autofree guint32 *site_codes = number_names(sites, &sample, &n_sites);
  g_autofree guint32 *patient_codes = number_names(patients, &sample, &n_patients);
  const DemurSiteSample site_sample = {.n = n,
                                       .differences = differences,
                                       .sites = site_codes,
                                       .patients = patient_codes,
                                       .n_sites = n_sites,
                                       .n_patients = n_patients,
                                       .ranks = sample.ranks,
                                       .n_ranks = sample.n_ranks};
  demur_site_error_curve(&site_sample, coverages, n_coverages, squares);
  return 0;
}
