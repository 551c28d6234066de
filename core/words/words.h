/* Verdicts, their states and their reasons in the words of people: the one place where they become
 * sentences, for command line, report, window and exports alike.
 *
 * translate brings the reader's language; NULL is English, which data (JSON, CSV, DICOM) keep.
 * Nothing here is read back: code asks the types (selector/verdict.h, selector/reason.h). */
#pragma once

#include "base/translate.h"
#include "cohort/outcome.h"
#include "selector/reason.h"
#include "selector/verdict.h"

G_BEGIN_DECLS

/* "Accepted", "Red flag" .. (borrowed). */
const char *demur_words_verdict(DemurVerdict verdict, DemurTranslate translate);

/* The code and its meaning in a structured report: "REDFLAG", "Red flag: the risk is held back". */
const char *demur_words_verdict_code(DemurVerdict verdict);
const char *demur_words_verdict_meaning(DemurVerdict verdict);

/* Why a verdict no longer holds, in one sentence and what to do (owned): "Out of date: the score
 * was replaced. Assess again." NULL for a current one. */
char *demur_words_outdated(DemurOutdated why, DemurTranslate translate);
/* The causes alone, the first of verdict.h first: "the score was replaced" (owned, NULL-terminated;
 * empty for a current one). */
char **demur_words_causes(DemurOutdated why, DemurTranslate translate);

/* What to do and the first cause, for a line of a list: "assess again: the score was replaced" (owned).
 * NULL for a current one. */
char *demur_words_outdated_first(DemurOutdated why, DemurTranslate translate);

/* What a risk is of, within how many years (owned): "risk of lung cancer within 6 years". noun: as
 * demur_outcome_noun gives it; NULL or "": not known. years: of the risk; 0 or NaN: not recorded. */
char *demur_words_risk_of(const char *noun, double years, DemurTranslate translate);

/* How far a risk may be off at its hospital (owned); low, high: a 95 % interval's ends as they are
 * shown; audited: that hospital was. */
char *demur_words_risk_interval(const char *low, const char *high, gboolean audited,
                                DemurTranslate translate);

/* What became of scans, as a sentence goes on behind a share of them (owned): "developed cancer
 * within 6 years", "had the outcome “stroke”". */
char *demur_words_outcome(const DemurOutcome *outcome, DemurTranslate translate);

/* What became of one scan (owned): "cancer within 6 years" of label 1, "no cancer within 6 years" of 0,
 * "not known within 6 years" of NaN. */
char *demur_words_became(const DemurOutcome *outcome, double label, DemurTranslate translate);

/* What a meta feature or a column of how scans are made is called: "slice thickness" (borrowed). */
const char *demur_words_subject(const char *subject, DemurTranslate translate);

/* One reason (owned): "distance to the 8 nearest reference scans is 9.41, above the 99th percentile
 * of accepted training scans (median 3.2, 98 % of them from 1.1 to 7)". */
char *demur_words_reason(const DemurReason *reason, DemurTranslate translate);
/* Each of an array (owned, NULL-terminated); rules of eligibility that stand side by side are one
 * sentence. n_numbered (may be NULL): how many, from the first, are the scan's own and bear a number;
 * what follows are remarks (demur_reason_is_remark). */
char **demur_words_reasons(const GPtrArray *reasons, guint *n_numbered, DemurTranslate translate);
/* The same beside a verdict that says "not eligible" itself: of a rule only what it found. */
char **demur_words_reasons_beside(const GPtrArray *reasons, guint *n_numbered,
                                  DemurTranslate translate);
/* All of them as they are kept (demur_reasons_from_kept) in one line (owned); NULL: none are. What an
 * older program kept as a sentence stands as it is, marked as such where there is a translation. */
char *demur_words_kept(const char *kept, DemurTranslate translate);

G_END_DECLS
