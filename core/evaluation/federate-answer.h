/* What a site tells of its scans: the sums that a round asks for, and nothing of fewer than
 * DEMUR_SMALL_CELL patients with a scan of a label, nor what would tell of so few by subtraction inside the answer.
 * What several answers would tell together is federate-ledger.h's. */
#pragma once

#include "evaluation/federate.h"

G_BEGIN_DECLS

/* The scans as a round needs them; what its study does not read may be NULL. */
typedef struct {
  size_t n, n_classes;
  const double *risks;     /* [n] of the model, [n][K] for K > 2: recalibration, corrector */
  const gint32 *labels;    /* [n] class index */
  const guint32 *patients; /* [n] whose each is, below n_patients */
  size_t n_patients;
  gboolean simulated;
  const double *inputs; /* [n][width] what the corrector reads */
  size_t width;
  const double *seen;   /* [n] risks as the selector sees them: audit, evaluation */
  const double *scores; /* [n] of the selector: evaluation */
} DemurFederateScans;

/* Never NULL but for a round that may not be answered: DEMUR_ERROR_INPUT where its coefficients are
 * steeper than DEMUR_FEDERATE_STEEPEST, or its corrector reads other columns; DEMUR_ERROR_STATE where a
 * column of few values (a class, a scanner) would tell of few scans by itself or beside another.
 * DEMUR_ERROR_NUMERIC where a sum is not finite. withheld where a label has scans of too few patients. O(n m^2). */
DemurFederateAnswer *demur_federate_answer(const DemurFederateRound *round, const char *site,
                                           const DemurFederateScans *scans,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
