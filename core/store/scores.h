/* What external models said of DICOM scans: one score for each (scan, model). */
#pragma once

#include "cohort/cohort.h" /* DEMUR_N_YEARS */
#include "store/workspace.h"

G_BEGIN_DECLS

typedef struct {
  char *scan_id;
  char *model, *model_version;        /* version: NULL where it is not recorded */
  char *patient_id;                   /* as the score file gave it; NULL where it did not */
  double risk;                        /* in [0, 1], within horizon_years */
  double horizon_years;               /* NaN, or 0 when saved: not recorded, six by the
                                       * meaning of the column risk */
  double yearly_risks[DEMUR_N_YEARS]; /* NaN where not given */
  size_t embedding_width;             /* 0 where there is none */
  float *embedding;                   /* [embedding_width] */
  char *source;                       /* in words: "table scores.csv" */
  char *created;
  char *images_digest; /* of the images it was made from; when saved, NULL: its series' */
  char *digest; /* of all of this and its event; NULL: of an older program; set when loaded */
  gint64 event; /* set when loaded */
} DemurScoreRecord;

void demur_score_record_free(DemurScoreRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurScoreRecord, demur_score_record_free)

/* The risk within so many years (0: of whatever years, not recorded): NaN where the score has none.
 */
double demur_score_risk_within(const DemurScoreRecord *record, double years);

/* Its key in the log (owned), and what its digest must be (owned). */
char *demur_score_key(const char *scan_id, const char *model);
char *demur_score_digest(const DemurScoreRecord *record);

/* Saves all or none, each for the images that its series has now; one that names others
 * (images_digest, where it was made from the images and not read from a table) is refused with
 * DEMUR_ERROR_STATE. The same values for the same
 * images again are no change; other values for a (scan, model) that has
 * a score are DEMUR_ERROR_EXISTS, unless replace. *n_new, *n_replaced, *n_same may be NULL. */
gboolean demur_scores_save(DemurWorkspace *workspace, const DemurScoreRecord *records,
                           size_t n_records, gboolean replace, size_t *n_new, size_t *n_replaced,
                           size_t *n_same, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The score of that scan by that model: *record is NULL (and no error set) where there is none. */
gboolean demur_scores_load(DemurWorkspace *workspace, const char *scan_id, const char *model,
                           DemurScoreRecord **record, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurScoreRecord by scan_id, model. model NULL: of every model; scan_id NULL: of every
 * scan. */
GPtrArray *demur_scores_list(DemurWorkspace *workspace, const char *scan_id, const char *model,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Adds scan_id -> version of the model that its last score is of (owned texts) for each that says one.
 */
gboolean demur_scores_versions(DemurWorkspace *workspace, GHashTable *versions,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Names of the models that have scores, sorted (strv, owned). */
char **demur_scores_models(DemurWorkspace *workspace, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
