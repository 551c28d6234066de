#include "tasks/told-verdict.h"

#include <math.h>

#include "words/words.h"

void
demur_told_verdict_clear(DemurToldVerdict *told) {
  g_clear_pointer(&told->score, demur_score_record_free);
  g_clear_pointer(&told->reasons, g_strfreev);
  g_clear_pointer(&told->causes, g_strfreev);
}

gboolean
demur_told_verdict_fill(DemurWorkspace *workspace, const DemurVerdictRecord *verdict,
                        gboolean reveal, DemurToldVerdict *told, GError **error) {
  g_autoptr(GPtrArray) reasons = demur_reasons_from_json(verdict->reasons);
  const gboolean tells =
      verdict->verdict != DEMUR_VERDICT_RED_FLAG || (reveal && verdict->outdated == DEMUR_CURRENT);
  g_autoptr(GPtrArray) shown = demur_reasons_shown(reasons, tells);
  *told = (DemurToldVerdict){.verdict = verdict, .reasons = demur_words_reasons(shown, NULL, NULL)};
  told->told =
      verdict->outdated == DEMUR_CURRENT && (reveal || verdict->verdict == DEMUR_VERDICT_ACCEPTED);
  told->causes = demur_words_causes(verdict->outdated, NULL);
  return verdict->cohort != NULL ||
         demur_scores_load(workspace, verdict->scan_id, verdict->model, &told->score, error);
}

const char *
demur_told_state(const DemurToldVerdict *told) {
  return demur_verdict_state_name(demur_verdict_state(told->verdict->outdated));
}

double
demur_told_risk(const DemurToldVerdict *told) {
  return told->told ? told->verdict->risk : (double)NAN;
}

double
demur_told_score(const DemurToldVerdict *told) {
  const DemurVerdictRecord *v = told->verdict;
  const gboolean held = v->outdated != DEMUR_CURRENT || v->verdict == DEMUR_VERDICT_RED_FLAG;
  return told->told || !held ? v->score : (double)NAN;
}

double
demur_told_bound(const DemurToldVerdict *told, gboolean upper) {
  const DemurVerdictRecord *v = told->verdict;
  return !told->told ? (double)NAN : upper ? v->risk_high : v->risk_low;
}

double
demur_told_year(const DemurToldVerdict *told, int year) {
  return told->told && told->score != NULL ? told->score->yearly_risks[year] : (double)NAN;
}
