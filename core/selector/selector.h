/* A trained selector: an immutable scorer g~(x), with all that scoring needs and all that tells
 * where it came from.
 *
 * Its document is canonical JSON: settings, recalibration, feature models, corrector, scalers,
 * weights, the training scans' meta features (for reasons), hashes of the patients it has seen,
 * digests. It holds no patient or scan identifier, but stays in its workspace: what leaves is
 * selector/release.h.
 *
 * A selector that recalibrates sees recalibrated risks only: callers first take the view of a
 * cohort (demur_selector_view) and pass that to everything else. */
#pragma once

#include "metrics/site-prior.h"
#include "selector/corrector.h"
#include "selector/meta-features.h"
#include "selector/recalibration.h"
#include "selector/trainer.h"

G_BEGIN_DECLS

typedef struct DemurSelector DemurSelector;

/* What a split of a cohort was to a training. */
typedef enum {
  DEMUR_PART_TRAINING,
  DEMUR_PART_VALIDATION,
  DEMUR_PART_REFERENCE,
  DEMUR_PART_RECALIBRATION,
} DemurPartRole;

#define DEMUR_N_PART_ROLES 4

/* "training", ..: as documents have it, and back. FALSE where there is no such role. */
const char *demur_part_role_name(DemurPartRole role);
gboolean demur_part_role_from_name(const char *name, DemurPartRole *role);

/* What made a part of the selector: a split of a cohort. */
typedef struct {
  DemurPartRole role;
  char *split; /* name; for a validation part drawn from the training split "selector_train (drawn)"
                */
  size_t n_scans, n_patients, n_sites;
} DemurSelectorPart;

DemurSelector *demur_selector_ref(DemurSelector *selector);
void demur_selector_unref(DemurSelector *selector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSelector, demur_selector_unref)

/* What it is of. All that is returned is the selector's own and lives as long as it does. */
const char *demur_selector_digest(const DemurSelector *selector); /* SHA-256 of the document */
gboolean demur_selector_is_simulated(const DemurSelector *selector);
const char *
demur_selector_model(const DemurSelector *selector); /* whose scores it was trained on */
double demur_selector_horizon_years(const DemurSelector *selector); /* of those; 0: not recorded */
/* For whoever reads a document that doesn't say, before anybody else sees the selector; the digest
 * stays. */
void demur_selector_set_horizon_years(DemurSelector *selector, double years);
/* What its risks are of ("stroke", "lung cancer"); NULL: not recorded. Set as the horizon is. */
const char *demur_selector_outcome(const DemurSelector *selector);
void demur_selector_set_outcome(DemurSelector *selector, const char *outcome);
size_t demur_selector_n_classes(const DemurSelector *selector);
guint64 demur_selector_seed(const DemurSelector *selector);
const DemurTrainSettings *demur_selector_settings(const DemurSelector *selector);
const char *demur_selector_cohort(const DemurSelector *selector); /* trained on this cohort */
const char *demur_selector_cohort_digest(const DemurSelector *selector); /* of all parts' rows */
size_t demur_selector_n_parts(const DemurSelector *selector);
const DemurSelectorPart *demur_selector_part(const DemurSelector *selector, size_t i);
const DemurSelectorPart *demur_selector_part_of(const DemurSelector *selector,
                                                DemurPartRole role);         /* NULL: none */
size_t demur_selector_n_patients(const DemurSelector *selector);             /* of all parts */
const char *const *demur_selector_site_names(const DemurSelector *selector); /* of the training
                                                                                scans, to NULL */

/* How the risks are recalibrated before it sees them; NULL: they are used as given. */
const DemurRecalibration *demur_selector_recalibration(const DemurSelector *selector);

/* The corrector of the risks that the selector sees, or of the raw ones (the same where it does not
 * recalibrate); NULL where K > 2. */
const DemurCorrector *demur_selector_corrector(const DemurSelector *selector, gboolean raw);

/* What the training sites say of the intercept of a site never seen, on the logit of the risks that
 * the selector sees; NULL where K > 2. Of a selector written by an earlier version: the prior
 * alone. */
const DemurSitePrior *demur_selector_site_prior(const DemurSelector *selector);

/* Whether scans need embeddings, of width demur_selector_embedding_width; whether it looks at how a
 * scan was made; whether it tells how one was made all the same (selector/making.h). */
gboolean demur_selector_uses_embeddings(const DemurSelector *selector);
size_t demur_selector_embedding_width(const DemurSelector *selector);
gboolean demur_selector_uses_acquisition(const DemurSelector *selector);
gboolean demur_selector_tells_making(const DemurSelector *selector);

/* Meta features of a scan in a row of demur_selector_meta_features; the names of those that the
 * networks read. */
size_t demur_selector_n_columns(const DemurSelector *selector);
/* The place of the column of that name ("knn") in such a row; -1: it has none. */
gssize demur_selector_find_column(const DemurSelector *selector, const char *name);
size_t demur_selector_n_inputs(const DemurSelector *selector);
const char *demur_selector_input_name(const DemurSelector *selector, size_t i);

/* Models (trained from different initial weights: trials), the networks whose g~ each of them
 * averages, and the epoch that network `network` of a model was kept at. */
size_t demur_selector_n_models(const DemurSelector *selector);
size_t demur_selector_n_networks(const DemurSelector *selector);
gint64 demur_selector_epoch(const DemurSelector *selector, size_t model, size_t network);

/* Whether both give a scan the same outlier features: the same reference set, and seed. */
gboolean demur_selector_same_reference(const DemurSelector *selector, const DemurSelector *other);

/* FALSE with DEMUR_ERROR_STATE where the cohort's scores are not the kind this selector was trained
 * on: other model, K or embedding width, or another horizon where both are recorded. */
gboolean demur_selector_check_cohort(const DemurSelector *selector, const DemurCohort *cohort,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The cohort as the selector sees it: with recalibrated risks, or the cohort itself (a new
 * reference) where it does not recalibrate. NULL with error as above. */
DemurCohort *demur_selector_view(const DemurSelector *selector, DemurCohort *cohort,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same where only these rows matter. Where the corrector's h is what is seen, it costs the meta
 * features of the rows, and all others have no risk (NaN). */
DemurCohort *demur_selector_view_rows(const DemurSelector *selector, DemurCohort *cohort,
                                      const guint32 *rows, size_t n_rows, DemurParallel *parallel,
                                      const DemurProgress *progress,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether both see the same risks of every scan. */
gboolean demur_selector_same_risks(const DemurSelector *selector, const DemurSelector *other);

/* Raw meta features [n_rows][columns->n_columns] of a view's rows (owned, g_aligned_free); rows
 * that are reference scans themselves are left out of their own distances. raw: cohort is not a
 * view but holds raw risks, and the corrector's columns are those of raw risks (for the baseline
 * `mc`). NULL with error. */
double *demur_selector_meta_features(const DemurSelector *selector, const DemurCohort *cohort,
                                     gboolean raw, const guint32 *rows, size_t n_rows,
                                     DemurParallel *parallel, const DemurProgress *progress,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What the corrector of raw risks reads of rows of a cohort with raw risks: [n_rows][*width] (owned,
 * g_aligned_free). NULL with error as above, or with DEMUR_ERROR_UNSUPPORTED where K > 2. */
double *demur_selector_corrector_rows(const DemurSelector *selector, const DemurCohort *cohort,
                                      const guint32 *rows, size_t n_rows, size_t *width,
                                      DemurParallel *parallel, const DemurProgress *progress,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The outlier columns among the meta features, [n_rows][DEMUR_N_OUTLIER] (owned): the costly part, and the same
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

/* scores [n_rows] = g~(x) of one model (without networks: demur_scoring_score of its column) from
 * raw meta features. In double from float logits, so
 * scores that differ in z differ here. With risk bands: the share of the training scans of the same
 * band that score lower. */
void demur_selector_scores(const DemurSelector *selector, size_t model, const double *meta,
                           size_t n_rows, double *scores);

/* Whether a selector of the same training that scored by one meta feature alone would differ in nothing
 * but its scores: what that scoring needs was fitted, and nothing hung on the networks. */
gboolean demur_selector_can_score_by(const DemurSelector *selector, DemurScoring scoring);

/* The scores of that selector, as demur_selector_scores gives them; it can score by `scoring`. */
void demur_selector_scores_by(const DemurSelector *selector, DemurScoring scoring,
                              const double *meta, size_t n_rows, double *scores);

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
/* How many of its networks worst-case stopping kept as they were drawn; *n_networks: of how many.
 */
size_t demur_selector_count_untrained(const DemurSelector *selector, size_t *n_networks);

/* Whether a patient is in any of its parts. */
gboolean demur_selector_has_seen(const DemurSelector *selector, const char *patient_id);

/* How many of the rows' patients the selector has seen in any part. */
size_t demur_selector_count_seen(const DemurSelector *selector, const DemurCohort *cohort,
                                 const guint32 *rows, size_t n_rows, DemurParallel *parallel);

/* The document (owned). Reading it back gives the same bytes. */
char *demur_selector_to_json(const DemurSelector *selector);

/* NULL with DEMUR_ERROR_INPUT for a document that is no selector, is damaged (digest), or hostile.
 * name: what to call it in messages. */
DemurSelector *demur_selector_from_json(const char *text, gssize length, const char *name,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether a text is, byte for byte, the document that demur_selector_to_json writes of a content with this digest. One
 * SHA-256 of it. */
gboolean demur_selector_is_document(const char *text, gsize length, const char *digest);

/* The selector of a text for which demur_selector_is_document is TRUE, which is not looked at again. text [length + 1], with
 * its NUL, is the caller's alone: it is written to meanwhile, and is as it was afterwards. */
DemurSelector *demur_selector_from_document(char *text, gsize length, const char *name,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of a document that this program wrote and kept: its digest is that of its text, where
 * the text is as it was written; a text that is not is judged as by demur_selector_from_json, which
 * writes the whole content anew (twice the cost of reading it). */
DemurSelector *demur_selector_from_kept_json(const char *text, const char *name,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
