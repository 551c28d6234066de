/* A trained selector: an immutable scorer g~(x), with all that scoring needs and all that tells
 * where it came from.
 *
 * Its file is one canonical JSON document: settings, recalibration, feature models, corrector,
 * scalers, weights, the training scans' meta features (for reasons), hashes of the patients it has
 * seen, digests. It holds no patient or scan identifier.
 *
 * A selector that recalibrates sees recalibrated risks only: callers first take the view of a
 * cohort (demur_selector_view) and pass that to everything else. */
#pragma once

#include "selector/corrector.h"
#include "selector/meta-features.h"
#include "selector/recalibration.h"
#include "selector/trainer.h"

G_BEGIN_DECLS

typedef struct DemurSelector DemurSelector;

/* One model: the average of n_average networks' g~. Several models are selectors of their own
 * trained from different initial weights (trials). */
typedef struct {
  size_t n_average;
  float *parameters; /* [n_average][shape.n_parameters] */
  gint64 *epochs;    /* [n_average] epoch that was kept */
} DemurSelectorModel;

/* What made a part of the selector: a split of a cohort. */
typedef struct {
  char *role;  /* "reference", "training", "validation", "recalibration" */
  char *split; /* name; for a validation part drawn from the training split "selector_train (drawn)"
                */
  size_t n_scans, n_patients, n_sites;
} DemurSelectorPart;

/* The corrector of one kind of risk, with the inputs it reads. */
typedef struct {
  DemurScaler *scaler; /* of the confidence, outlier and acquisition columns */
  DemurCorrector *corrector;
} DemurSelectorCorrector;

struct DemurSelector {
  /* public, read-only */
  gboolean simulated;
  char *model; /* whose scores it was trained on; others are refused */
  size_t n_classes, embedding_width;
  guint64 seed;
  DemurTrainSettings *settings;
  char *cohort;        /* trained on this cohort */
  char *cohort_digest; /* of the rows of all parts */
  size_t n_parts;
  DemurSelectorPart *parts;
  size_t n_patients;       /* patients of all parts */
  guint64 *patient_hashes; /* [n_patients] ascending; see demur_selector_patient_hash */

  DemurRecalibration *recalibration; /* NULL: risks as given */

  DemurMetaColumns *columns; /* all meta features of a scan */
  DemurScaler *svd_scaler;   /* wide embeddings: standardised, then projected; NULL: as they are */
  double *svd_components;    /* [settings->embedding_svd][embedding_width] */
  size_t n_svd;
  DemurOutlierModel *outlier;    /* NULL without embeddings */
  size_t n_reference;            /* rows the outlier model was fitted on */
  guint64 *reference_hashes;     /* [n_reference] of scan and embedding, in the order of fitting */
  DemurAcquisition *acquisition; /* NULL: how a scan was made is not looked at */
  size_t n_components;           /* principal components that the correctors read */
  double *components;            /* [n_components][width of the outlier model] */
  DemurSelectorCorrector corrected; /* of the risks the selector sees; corrector NULL where K > 2 */
  DemurSelectorCorrector raw;       /* of the raw risks, where these differ; else all NULL */

  size_t n_inputs;     /* d of the networks: the columns its feature groups keep */
  guint32 *inputs;     /* [n_inputs] index into columns */
  DemurScaler *scaler; /* of the inputs, fitted on the training scans */
  DemurMlpShape shape;
  size_t n_models;
  DemurSelectorModel *models; /* [n_models] */

  /* The training scans, at most DEMUR_SELECTOR_MAX_KEPT of them drawn by the seed: what an accepted
   * scan looks like. */
  size_t n_kept;
  float *kept_inputs;              /* [n_kept][n_inputs], standardised */
  float *kept_scores;              /* [n_kept] g~ of model 0, before risk bands */
  float *kept_risks, *kept_labels; /* [n_kept] r as the selector sees it, y (K > 2: top label) */
  guint32 *kept_sites;             /* [n_kept] index into site_names */
  size_t n_site_names;
  char **site_names; /* [n_site_names] sites of the training scans */

  char *digest; /* SHA-256 of the document without its digest */
  gint ref_count;
};

#define DEMUR_SELECTOR_MAX_KEPT 20000

DemurSelector *demur_selector_ref(DemurSelector *selector);
void demur_selector_unref(DemurSelector *selector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSelector, demur_selector_unref)

/* FALSE with DEMUR_ERROR_STATE where the cohort's scores are not the kind this selector was trained
 * on: other model, K or embedding width. */
gboolean demur_selector_check_cohort(const DemurSelector *selector, const DemurCohort *cohort,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The cohort as the selector sees it: with recalibrated risks, or the cohort itself (a new
 * reference) where it does not recalibrate. NULL with error as above. */
DemurCohort *demur_selector_view(const DemurSelector *selector, DemurCohort *cohort,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Raw meta features [n_rows][columns->n_columns] of a view's rows (owned, g_aligned_free); rows
 * that are reference scans themselves are left out of their own distances. raw: cohort is not a
 * view but holds raw risks, and the corrector's columns are those of raw risks (for the baseline
 * `mc`). NULL with error. */
double *demur_selector_meta_features(const DemurSelector *selector, const DemurCohort *cohort,
                                     gboolean raw, const guint32 *rows, size_t n_rows,
                                     DemurParallel *parallel, const DemurProgress *progress,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The outlier columns among them, [n_rows][DEMUR_N_OUTLIER] (owned): the costly part, and the same
 * for every selector with this reference set and seed, whatever the risks. The selector has an
 * outlier model; embeddings [n_rows][width] as demur_selector_embeddings gives them, or NULL. NULL
 * with error. */
double *demur_selector_outlier_scores(const DemurSelector *selector, const DemurCohort *cohort,
                                      const guint32 *rows, size_t n_rows, const float *embeddings,
                                      DemurParallel *parallel, const DemurProgress *progress,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* demur_selector_meta_features with those columns at hand (NULL: not). */
double *demur_selector_meta_features_from(const DemurSelector *selector, const DemurCohort *cohort,
                                          gboolean raw, const double *outlier, const guint32 *rows,
                                          size_t n_rows, DemurParallel *parallel,
                                          const DemurProgress *progress,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* scores [n_rows] = g~(x) of one model from raw meta features. In double from float logits, so
 * scores that differ in z differ here. With risk bands: the share of the training scans of the same
 * band that score lower. */
void demur_selector_scores(const DemurSelector *selector, size_t model, const double *meta,
                           size_t n_rows, double *scores);

/* Standardised inputs of the networks from raw meta features, out [n_rows][n_inputs]. */
void demur_selector_inputs(const DemurSelector *selector, const double *meta, size_t n_rows,
                           float *out);

/* Column of a meta feature by name; -1 where there is none. */
gssize demur_selector_column(const DemurSelector *selector, const char *name);

/* 64-bit hash of a patient ID, or of a scan with its embedding (NULL: none): membership without
 * identity. */
guint64 demur_selector_patient_hash(const char *patient_id);
guint64 demur_selector_scan_hash(const char *patient_id, const char *scan_id,
                                 const float *embedding, size_t d);

/* A sentence where worst-case stopping kept the weights of before the first update (owned), for
 * everybody who is about to use the selector; NULL where it kept trained ones. */
char *demur_selector_untrained_sentence(const DemurSelector *selector);

/* How many of the rows' patients the selector has seen in any part. */
size_t demur_selector_count_seen(const DemurSelector *selector, const DemurCohort *cohort,
                                 const guint32 *rows, size_t n_rows);

/* The document (owned). Reading it back gives the same bytes. */
char *demur_selector_to_json(const DemurSelector *selector);

/* NULL with DEMUR_ERROR_INPUT for a document that is no selector, is damaged (digest), or hostile.
 * name: what to call it in messages. */
DemurSelector *demur_selector_from_json(const char *text, gssize length, const char *name,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Used by core/selector/training.c only. A new selector with everything zero; embeddings of rows as
 * the outlier model takes them (projected where that is asked for; owned, g_aligned_free); the base
 * columns of the meta features; columns of principal components beside standardised base columns,
 * as a corrector reads them (owned, g_aligned_free); the digest computed at the end. */
DemurSelector *demur_selector_alloc(void);
float *demur_selector_embeddings(const DemurSelector *selector, const DemurCohort *cohort,
                                 const guint32 *rows, size_t n_rows);
gboolean demur_selector_base_features(const DemurSelector *selector, const DemurCohort *cohort,
                                      const guint32 *rows, size_t n_rows, const float *embeddings,
                                      const double *outlier, DemurParallel *parallel,
                                      const DemurProgress *progress, double *meta,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;
double *demur_selector_corrector_inputs(const DemurSelector *selector, const DemurScaler *scaler,
                                        const double *meta, const float *embeddings, size_t n_rows,
                                        DemurParallel *parallel);
/* How many columns of the meta features a corrector reads (all but its own), and those of one
 * scan. */
size_t demur_selector_n_corrector_base(const DemurSelector *selector);
void demur_selector_corrector_base(const DemurSelector *selector, const double *meta, double *out);
void demur_selector_seal(DemurSelector *selector);

G_END_DECLS
