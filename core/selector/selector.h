/* A trained selector: an immutable scorer g~(x), with all that scoring needs and all that tells
 * where it came from.
 *
 * Its file is one canonical JSON document: settings, feature models, scaler, weights, the training
 * scans' meta features (for reasons), hashes of the patients it has seen, digests. It holds no
 * patient or scan identifier. */
#pragma once

#include "selector/meta-features.h"
#include "selector/trainer.h"

G_BEGIN_DECLS

typedef struct DemurSelector DemurSelector;

/* One network; several are selectors of their own trained from different initial weights (trials).
 */
typedef struct {
  float *parameters; /* [shape.n_parameters] */
  gint64 best_epoch;
} DemurSelectorNetwork;

/* What made a part of the selector: a split of a cohort. */
typedef struct {
  char *role;  /* "reference", "training", "validation" */
  char *split; /* name; for a validation part drawn from the training split "selector_train (drawn)"
                */
  gsize n_scans, n_patients, n_sites;
} DemurSelectorPart;

struct DemurSelector {
  /* public, read-only */
  gboolean simulated;
  char *model; /* whose scores it was trained on; others are refused */
  size_t n_classes, embedding_width;
  guint64 seed;
  DemurTrainSettings *settings;
  char *cohort;        /* trained on this cohort */
  char *cohort_digest; /* of the training, validation and reference rows */
  size_t n_parts;
  DemurSelectorPart *parts;
  size_t n_patients;       /* patients of all parts */
  guint64 *patient_hashes; /* [n_patients] ascending; see demur_selector_patient_hash */

  DemurMetaColumns *columns;  /* all meta features of a scan */
  size_t n_inputs;            /* d of the network: the columns its feature groups keep */
  guint32 *inputs;            /* [n_inputs] index into columns */
  DemurScaler *scaler;        /* of the inputs, fitted on the training scans */
  DemurOutlierModel *outlier; /* NULL without embeddings */
  size_t n_reference;         /* rows the outlier model was fitted on */
  guint64 *reference_hashes;  /* [n_reference] of scan and embedding, in the order of fitting */

  DemurMlpShape shape;
  size_t n_networks;
  DemurSelectorNetwork *networks; /* [n_networks] */

  /* The training scans, at most DEMUR_SELECTOR_MAX_KEPT of them drawn by the seed: what an accepted
   * scan looks like. */
  size_t n_kept;
  float *kept_inputs; /* [n_kept][n_inputs], standardised */
  float *kept_scores; /* [n_kept] g~ of network 0 */

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

/* Raw meta features [n_rows][columns->n_columns] of a cohort's rows (owned, g_aligned_free); rows
 * that are reference scans themselves are left out of their own distances. NULL with error. */
double *demur_selector_meta_features(const DemurSelector *selector, const DemurCohort *cohort,
                                     const guint32 *rows, size_t n_rows, DemurParallel *parallel,
                                     const DemurProgress *progress,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* scores [n_rows] = g~(x) of one network from raw meta features. In double from a float logit, so
 * scores that differ in z differ here. */
void demur_selector_scores(const DemurSelector *selector, size_t network, const double *meta,
                           size_t n_rows, double *scores);

/* 64-bit hash of a patient ID, or of a scan with its embedding (NULL: none): membership without
 * identity. */
guint64 demur_selector_patient_hash(const char *patient_id);
guint64 demur_selector_scan_hash(const char *patient_id, const char *scan_id,
                                 const float *embedding, size_t d);

/* How many of the rows' patients the selector has seen in any part. */
size_t demur_selector_count_seen(const DemurSelector *selector, const DemurCohort *cohort,
                                 const guint32 *rows, size_t n_rows);

/* The document (owned). Reading it back gives the same bytes. */
char *demur_selector_to_json(const DemurSelector *selector);

/* NULL with DEMUR_ERROR_INPUT for a document that is no selector, is damaged (digest), or hostile.
 * name: what to call it in messages. */
DemurSelector *demur_selector_from_json(const char *text, gssize length, const char *name,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Used by core/selector/training.c only: a new selector with everything zero, and its digest
 * computed at the end. */
DemurSelector *demur_selector_alloc(void);
void demur_selector_seal(DemurSelector *selector);

G_END_DECLS
