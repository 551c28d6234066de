#include "selector/verdict.h"

static const char *const names[DEMUR_N_VERDICTS] = {
    [DEMUR_VERDICT_ACCEPTED] = "accepted",         [DEMUR_VERDICT_RED_FLAG] = "red_flag",
    [DEMUR_VERDICT_NOT_ELIGIBLE] = "not_eligible", [DEMUR_VERDICT_NO_SCORE] = "no_score",
    [DEMUR_VERDICT_NOT_TUNED] = "not_tuned",       [DEMUR_VERDICT_FAILED] = "failed",
};

static const char *const causes[DEMUR_N_OUTDATED] = {
    "person_corrected", "images_changed",    "conflict",       "choice_changed", "score_replaced",
    "selector_changed", "threshold_changed", "site_audited",   "cohort_changed", "bound_by_name",
    "other_model",      "making_changed",    "record_changed",
};

const char *
demur_verdict_name(DemurVerdict verdict) {
  return names[verdict];
}

gboolean
demur_verdict_from_name(const char *name, DemurVerdict *verdict) {
  for (guint v = 0; v < DEMUR_N_VERDICTS; v++)
    if (g_strcmp0(name, names[v]) == 0) {
      *verdict = (DemurVerdict)v;
      return TRUE;
    }
  return FALSE;
}

DemurVerdictState
demur_verdict_state(DemurOutdated why) {
  return why == DEMUR_CURRENT ? DEMUR_VERDICT_CURRENT : DEMUR_VERDICT_OUT_OF_DATE;
}

const char *
demur_verdict_state_name(DemurVerdictState state) {
  return state == DEMUR_VERDICT_CURRENT ? "current" : "out_of_date";
}

const char *
demur_outdated_name(DemurOutdated cause) {
  const gint at = g_bit_nth_lsf((gulong)cause, -1);
  return causes[CLAMP(at, 0, DEMUR_N_OUTDATED - 1)];
}

DemurRemedy
demur_outdated_remedy(DemurOutdated why) {
  return why == DEMUR_CURRENT                   ? DEMUR_REMEDY_NONE
         : (why & DEMUR_OUTDATED_CONFLICT) != 0 ? DEMUR_REMEDY_RESOLVE
         : (why & DEMUR_OUTDATED_MODEL) != 0    ? DEMUR_REMEDY_COHORT
                                                : DEMUR_REMEDY_ASSESS;
}

DemurRemedy
demur_verdict_remedy(DemurVerdict verdict, DemurOutdated why) {
  if (why != DEMUR_CURRENT)
    return demur_outdated_remedy(why);
  return verdict == DEMUR_VERDICT_NOT_TUNED                                     ? DEMUR_REMEDY_TUNE
         : verdict == DEMUR_VERDICT_NO_SCORE || verdict == DEMUR_VERDICT_FAILED ? DEMUR_REMEDY_SCORE
                                                                                : DEMUR_REMEDY_NONE;
}

const char *
demur_remedy_name(DemurRemedy remedy) {
  static const char *const remedies[] = {NULL,    "assess", "resolve", "tune",
                                         "score", "train",  "cohort"};
  return remedies[remedy];
}

gboolean
demur_verdict_is_decision(DemurVerdict verdict) {
  return verdict == DEMUR_VERDICT_ACCEPTED || verdict == DEMUR_VERDICT_RED_FLAG ||
         verdict == DEMUR_VERDICT_NOT_ELIGIBLE;
}

gboolean
demur_verdict_tells_risk(DemurVerdict verdict, DemurOutdated why) {
  return verdict == DEMUR_VERDICT_ACCEPTED && why == DEMUR_CURRENT;
}
