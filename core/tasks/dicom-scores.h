/* DICOM series with the scores of one model, as a cohort that a selector can score; and why the
 * others have none. */
#pragma once

#include "cohort/cohort.h"
#include "selector/reason.h"
#include "selector/verdict.h"
#include "store/bindings.h"

G_BEGIN_DECLS

/* A series that can't be scored. */
typedef struct {
  char *scan_id, *patient_id;
  double risk;          /* NaN where there is none */
  DemurVerdict verdict; /* not eligible, no score or failed */
  GPtrArray *reasons;   /* of DemurReason */
  gboolean refused;     /* there is a score, but of another model or width */
} DemurUnscored;

typedef struct {
  DemurCohort *cohort; /* the series that can be scored; NULL: none */
  size_t n_unscored;
  DemurUnscored *unscored;
} DemurDicomScores;

/* bindings: of the same moment. scan_id NULL: every series. horizon_years: the risk within so many years is taken, and a score
 * that has none is refused; 0: not recorded, the score's own. width: of the embeddings needed, 0: none needed.
 * DEMUR_ERROR_NOT_FOUND for an unknown scan; DEMUR_ERROR_STATE where a series UID names several
 * volumes. */
DemurDicomScores *demur_dicom_scores_load(DemurWorkspace *workspace, const DemurBindings *bindings,
                                          const char *scan_id, const char *model,
                                          double horizon_years, size_t width,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_dicom_scores_free(DemurDicomScores *scores);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurDicomScores, demur_dicom_scores_free)

G_END_DECLS
