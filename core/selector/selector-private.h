/* What a selector is made of: for core/selector only. A selector is built by training.c and
 * selector-file.c and immutable from then on. */
#pragma once

#include <json-glib/json-glib.h>

#include "base/json-writer.h"
#include "selector/federated.h"
#include "selector/release.h"
#include "selector/selector.h"
#include "selector/trainer.h"

G_BEGIN_DECLS

#define DEMUR_SELECTOR_MAX_KEPT 20000

#define DEMUR_RELEASE_MAP_LENGTH ((size_t)DEMUR_N_OUTLIER * 2 * DEMUR_RELEASE_KNOTS)

/* Of the document that is written now. 1: without the sites' prior and the method. */
#define DEMUR_SELECTOR_VERSION 3

/* One model: the average of n_average networks' g~. Several models are selectors of their own
 * trained from different initial weights (trials). */
typedef struct {
  size_t n_average;
  float *parameters; /* [n_average][shape.n_parameters] */
  gint64 *epochs;    /* [n_average] epoch that was kept */
} DemurSelectorModel;

/* The corrector of one kind of risk, with the inputs it reads. */
typedef struct {
  DemurScaler *scaler; /* of the confidence, outlier and acquisition columns */
  DemurCorrector *corrector;
} DemurSelectorCorrector;

/* A study that a selector comes from: as DemurFederatedOrigin, owned. */
typedef struct {
  DemurFederatedPart part;
  char *result, *selector;
  char **sites;
  guint64 n_scans;
} DemurSelectorOrigin;

struct DemurSelector {
  /* public, read-only */
  gboolean simulated;
  char *model;          /* whose scores it was trained on; others are refused */
  char *outcome;        /* what the risks are of, a noun; NULL: not recorded */
  double horizon_years; /* of the risks it was trained on; 0: not recorded */
  size_t n_classes, embedding_width;
  guint64 seed;
  DemurTrainSettings *settings;
  char *cohort;        /* trained on this cohort */
  char *cohort_digest; /* of the rows of all parts */
  size_t n_parts;
  DemurSelectorPart *parts;
  size_t n_patients;       /* patients of all parts */
  guint64 *patient_hashes; /* [n_patients] ascending; see demur_selector_patient_hash; NULL where it
                              was released */
  DemurRelease release;
  char *released_from;  /* digest of the selector it was made of; NULL: not released */
  double *outlier_maps; /* [DEMUR_N_OUTLIER][2][DEMUR_RELEASE_KNOTS]: values against prototypes,
                           values against the scans; NULL: none */

  DemurRecalibration *recalibration; /* NULL: risks as given */
  GPtrArray *federated;              /* of DemurSelectorOrigin, in order; NULL: of no study */

  DemurMetaColumns *columns; /* all meta features of a scan */
  DemurScaler *svd_scaler;   /* wide embeddings: standardised, then projected; NULL: as they are */
  double *svd_components;    /* [settings->embedding_svd][embedding_width] */
  size_t n_svd;
  DemurOutlierModel *outlier; /* NULL without embeddings */
  size_t n_reference;         /* rows the outlier model was fitted on */
  guint64 *reference_hashes;  /* [n_reference] of scan and embedding, in the order of fitting; NULL
                                 where  it was released */
  DemurAcquisition *acquisition;    /* NULL: how a scan was made is not looked at */
  struct DemurMaking *making;       /* that beside the training scans, where it is not looked at and
                                     * may be told; NULL: none */
  size_t n_components;              /* principal components that the correctors read */
  double *components;               /* [n_components][width of the outlier model] */
  DemurSelectorCorrector corrected; /* of the risks the selector sees; corrector NULL where K > 2 */
  DemurSelectorCorrector raw;       /* of the raw risks, where these differ; else all NULL */
  DemurSitePrior *sites; /* how far a hospital's risks are off, as the selector sees them; NULL
                            where K > 2 */
  double slope_sd, slope_centre; /* of selector/risk-interval.h; 0 where K > 2 */

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

  gint64 version; /* of the document's format */
  char *digest;   /* SHA-256 of the document without its digest */
  gint ref_count;
};

/* A value against prototypes on the scale of the scans: from, to [DEMUR_RELEASE_KNOTS], ascending.
 */
double demur_release_map(const double *from, const double *to, double value);

/* Used by core/selector/training.c only. A new selector with everything zero; embeddings of rows as
 * the outlier model takes them (projected where that is asked for; owned, g_aligned_free); the base
 * columns of the meta features; columns of principal components beside standardised base columns,
 * as a corrector reads them (owned, g_aligned_free); the digest computed at the end. */
DemurSelector *demur_selector_alloc(void);
float *demur_selector_embeddings(const DemurSelector *selector, const DemurCohort *cohort,
                                 const guint32 *rows, size_t n_rows, DemurParallel *parallel);
/* Fills meta [n_rows][columns->n_columns], 0 where others write behind it. */
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
/* Meta features [n_kept][columns->n_columns] of the training scans that it keeps, as far as networks
 * and risk bands read them (owned, g_aligned_free). */
double *demur_selector_kept_meta(const DemurSelector *selector);
/* Scores by model 0 as demur_selector_scores, where only those of the n_low lowest (at least 1) and all below a limit matter: others may
 * be lower than they are, and still above both. */
void demur_selector_lowest_scores(const DemurSelector *selector, const double *meta, size_t n_rows,
                                  size_t n_low, double below, double *scores);
void demur_selector_seal(DemurSelector *selector);

/* Its member "federated" read back; DEMUR_ERROR_INPUT where it is not sound. */
gboolean demur_selector_read_federated(DemurSelector *selector, JsonObject *root,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The document as an object under key; the root of a document's text (owned; an object), and
 * the selector that an object is. Errors: as demur_selector_from_json. */
void demur_selector_write_json(const DemurSelector *selector, DemurJson *json, const char *key);
JsonNode *demur_selector_load_root(const char *text, gssize length, const char *name,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
DemurSelector *demur_selector_from_object(JsonObject *root, const char *name,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* As demur_selector_from_json, whatever digest the document names: what a hostile one whose digest
 * is right would be. For tests. */
DemurSelector *demur_selector_from_json_unsealed(const char *text, gssize length, const char *name,
                                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
