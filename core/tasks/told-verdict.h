/* A verdict with what may be told of it: a held-back or out-of-date risk goes out in no table and
 * no object, and neither does what it could be guessed from. */
#pragma once

#include "store/scores.h"
#include "store/verdicts.h"

G_BEGIN_DECLS

typedef struct {
  const DemurVerdictRecord *verdict; /* borrowed */
  DemurScoreRecord *score;           /* NULL: none, or of a cohort */
  char **reasons, **causes;          /* in English; causes: why the verdict no longer holds */
  gboolean told;                     /* the risk is */
} DemurToldVerdict;

/* told: all zero. reveal: what is held back is told too. */
gboolean demur_told_verdict_fill(DemurWorkspace *workspace, const DemurVerdictRecord *verdict,
                                 gboolean reveal, DemurToldVerdict *told,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_told_verdict_clear(DemurToldVerdict *told);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurToldVerdict, demur_told_verdict_clear)

/* "current", "out_of_date". */
const char *demur_told_state(const DemurToldVerdict *told);
/* NaN where they are not told. The score follows the risk and goes where it goes; so does the
 * interval. year: from 0. */
double demur_told_risk(const DemurToldVerdict *told);
double demur_told_score(const DemurToldVerdict *told);
double demur_told_bound(const DemurToldVerdict *told, gboolean upper);
double demur_told_year(const DemurToldVerdict *told, int year);

G_END_DECLS
