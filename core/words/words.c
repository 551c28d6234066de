#include "words/words.h"

#include <math.h>

#include "features/acquisition.h"
#include "selector/meta-features.h"

static const struct {
  const char *title, *code, *meaning;
} verdicts[DEMUR_N_VERDICTS] = {
    [DEMUR_VERDICT_ACCEPTED] = {N_("Accepted"), "ACCEPTED", "Accepted: the risk may be used"},
    [DEMUR_VERDICT_RED_FLAG] = {N_("Red flag"), "REDFLAG", "Red flag: the risk is held back"},
    [DEMUR_VERDICT_NOT_ELIGIBLE] = {N_("Not eligible"), "NOTELIG", "Not eligible for assessment"},
    [DEMUR_VERDICT_NO_SCORE] = {N_("No score"), "NOSCORE", "No score"},
    [DEMUR_VERDICT_NOT_TUNED] = {N_("Not tuned"), "NOTTUNED", "No threshold yet"},
    [DEMUR_VERDICT_FAILED] = {N_("Failed"), "FAILED", "Assessment failed"},
};

static const char *const causes[DEMUR_N_OUTDATED] = {
    N_("the person was corrected"),
    N_("the images changed"),
    N_("SAFETY: the same images came with other content or under another person"),
    N_("what is assessed of the study was chosen anew"),
    N_("the score was replaced"),
    N_("the selector was trained anew or removed"),
    N_("another threshold is in use"),
    N_("the site was audited"),
    N_("the cohort was replaced or removed"),
    N_("it was given by an older program and is bound by name only"),
};

static const char *const places[] = {
    [DEMUR_PLACE_UNKNOWN] = "",
    [DEMUR_PLACE_BELOW] = N_("below the 1st percentile of"),
    [DEMUR_PLACE_LOW] = N_("below the median of"),
    [DEMUR_PLACE_MEDIAN] = N_("at the median of"),
    [DEMUR_PLACE_HIGH] = N_("above the median of"),
    [DEMUR_PLACE_ABOVE] = N_("above the 99th percentile of"),
};

const char *
demur_words_verdict(DemurVerdict verdict, DemurTranslate translate) {
  return demur_translate(translate, verdicts[verdict].title);
}

const char *
demur_words_verdict_code(DemurVerdict verdict) {
  return verdicts[verdict].code;
}

const char *
demur_words_verdict_meaning(DemurVerdict verdict) {
  return verdicts[verdict].meaning;
}

char *
demur_words_risk_interval(const char *low, const char *high, gboolean audited,
                          DemurTranslate translate) {
  const char *format =
      audited ? N_("After this hospital's audit the risk may lie from %s to %s (95 %% interval).")
              : N_("At a hospital that was not audited the risk may lie from %s to %s (95 %% "
                   "interval).");
  return g_strdup_printf(demur_translate(translate, format), low, high);
}

/* text with " within N years" behind it, where N is known. */
static char *
within_years(const char *text, double years, DemurTranslate translate) {
  if (!(years > 0.0))
    return g_strdup(text);
  const char *format = years == 1.0 ? N_("%s within %g year") : N_("%s within %g years");
  return g_strdup_printf(demur_translate(translate, format), text, years);
}

char *
demur_words_outcome(const DemurOutcome *outcome, DemurTranslate translate) {
  if (outcome->kind == DEMUR_OUTCOME_RIGHT)
    return g_strdup(demur_translate(translate, N_("had a right prediction")));
  g_autofree char *named =
      outcome->kind == DEMUR_OUTCOME_NAMED
          ? g_strdup_printf(demur_translate(translate, N_("had the outcome “%s”")), outcome->name)
          : NULL;
  const char *text = named != NULL                           ? named
                     : outcome->kind == DEMUR_OUTCOME_CANCER ? N_("developed cancer")
                                                             : N_("had the outcome (label 1)");
  return within_years(named != NULL ? named : demur_translate(translate, text),
                      outcome->horizon_years, translate);
}

char **
demur_words_causes(DemurOutdated why, DemurTranslate translate) {
  g_autoptr(GStrvBuilder) list = g_strv_builder_new();
  for (guint i = 0; i < DEMUR_N_OUTDATED; i++)
    if (why & (1u << i))
      g_strv_builder_add(list, demur_translate(translate, causes[i]));
  return g_strv_builder_end(list);
}

char *
demur_words_outdated(DemurOutdated why, DemurTranslate translate) {
  if (why == DEMUR_CURRENT)
    return NULL;
  g_auto(GStrv) list = demur_words_causes(why, translate);
  g_autofree char *all = g_strjoinv("; ", list);
  return g_strdup_printf(demur_translate(translate, N_("Out of date: %s. Assess again.")), all);
}

static const char *
title_of(const char *subject, DemurTranslate translate) {
  DemurAcquisitionSubject acquisition;
  const char *title = demur_acquisition_find_subject(subject, &acquisition)
                          ? demur_acquisition_title(acquisition)
                          : demur_meta_column_title(subject);
  return demur_translate(translate, title);
}

static const char *
unit_of(const char *subject) {
  DemurAcquisitionSubject acquisition;
  return demur_acquisition_find_subject(subject, &acquisition) ? demur_acquisition_unit(acquisition)
                                                               : "";
}

/* A value beside the training scans. */
static char *
number_words(const DemurReason *r, gboolean accepted, DemurTranslate translate) {
  const char *title = title_of(r->subject, translate), *unit = unit_of(r->subject);
  if (isnan(r->median))
    return g_strdup_printf(
        demur_translate(translate, N_("%s is %.3g%s; it was recorded in no training scan")), title,
        r->value, unit);
  return g_strdup_printf(
      demur_translate(
          translate, accepted ? N_("%s is %.3g%s, %s accepted training scans (median %.3g%s, 98 %% "
                                   "of them from %.3g to %.3g%s)")
                              : N_("%s is %.3g%s, %s the training scans (median %.3g%s, 98 %% of "
                                   "them from %.3g to %.3g%s)")),
      title, r->value, unit, demur_translate(translate, places[r->place]), r->median, unit, r->low,
      r->high, unit);
}

/* A text beside those of the training scans. */
static char *
group_words(const DemurReason *r, DemurTranslate translate) {
  const char *title = title_of(r->subject, translate);
  if (r->text == NULL)
    return g_strdup_printf(
        demur_translate(translate, N_("%s is not that of most accepted training scans")), title);
  if (isnan(r->share))
    return g_strdup_printf(
        demur_translate(translate, N_("%s %s is none of the most frequent of the training scans")),
        title, r->text);
  if (!(r->share > 0.0))
    return g_strdup_printf(
        demur_translate(translate, N_("%s %s was in none of the training scans")), title, r->text);
  return g_strdup_printf(
      demur_translate(translate, N_("%s %s was in %.2g %% of the training scans")), title, r->text,
      100.0 * r->share);
}

static char *
similar_words(const DemurReason *r, DemurTranslate translate) {
  return g_strdup_printf(
      demur_translate(translate, g_strcmp0(r->subject, "risk") == 0
                                     ? N_("among the %u training scans most like it the risk was "
                                          "too high at %u of %u sites")
                                     : N_("among the %u training scans most like it the top "
                                          "probability was too high at %u of %u sites")),
      r->n, r->n_over, r->n_sites);
}

static char *
with_subject(const char *format, const char *subject) {
  return g_strdup_printf(format, subject != NULL ? subject : "");
}

/* A sentence without what the score would be. */
static char *
plain_words(const DemurReason *r, DemurTranslate translate) {
#define SAY(text) demur_translate(translate, text)
  switch (r->kind) {
  case DEMUR_REASON_FEATURE:
    return number_words(r, TRUE, translate);
  case DEMUR_REASON_NUMBER:
    return number_words(r, FALSE, translate);
  case DEMUR_REASON_GROUP:
    return group_words(r, translate);
  case DEMUR_REASON_NOT_RECORDED:
    return g_strdup_printf(SAY(N_("%s is not recorded, as in %.3g %% of the training scans")),
                           title_of(r->subject, translate), 100.0 * r->share);
  case DEMUR_REASON_SIMILAR:
    return similar_words(r, translate);
  case DEMUR_REASON_WITHHELD:
    return g_strdup(SAY(N_("what else lowers its score would tell the risk that is held back")));
  case DEMUR_REASON_NOT_TUNED:
    return g_strdup(SAY(N_("the selector has no threshold yet: run `demur tune`")));
  case DEMUR_REASON_NO_SCORE:
    return with_subject(SAY(N_("no score of model '%s' was imported for this scan")), r->subject);
  case DEMUR_REASON_OTHER_MODEL:
    return g_strdup_printf(
        SAY(N_(
            "the scan has a score of model '%s', but the selector was trained on scores of '%s': "
            "scores of another model are refused")),
        r->text != NULL ? r->text : "", r->subject != NULL ? r->subject : "");
  case DEMUR_REASON_OTHER_IMAGES:
    return with_subject(
        SAY(N_("the score of model '%s' is of images that have changed since: score "
               "the scan again")),
        r->subject);
  case DEMUR_REASON_WIDTH:
    return g_strdup_printf(SAY(N_("the score has an embedding of width %u, but the selector was "
                                  "trained on width %u: import the score with all of it")),
                           r->n, r->n_over);
  case DEMUR_REASON_NOT_CHOSEN:
    return g_strdup(SAY(N_("not chosen for assessment")));
  case DEMUR_REASON_OVERRULED:
    return g_strdup_printf(SAY(N_("assessed by a person's decision (%s); by the rules: %s")),
                           r->subject != NULL ? r->subject : "",
                           r->text != NULL ? r->text : SAY(N_("accepted")));
  case DEMUR_REASON_CONFLICT:
    return g_strdup(SAY(N_("SAFETY: the same images came with other content or under another "
                           "person; decide with `demur dicom resolve`")));
  case DEMUR_REASON_CROSSES:
    return g_strdup_printf(SAY(N_("what is known of this hospital leaves open on which side of %g "
                                  "its risk lies")),
                           r->value);
  case DEMUR_REASON_HORIZON:
    return g_strdup_printf(SAY(N_("the selector reads the risk within %g years, and the score of "
                                  "model '%s' has none for them: import a score with yearly "
                                  "risks, or use a selector of the score's years")),
                           r->value, r->subject != NULL ? r->subject : "");
  case DEMUR_REASON_FILES:
    return g_strdup(SAY(N_("what lies at its stored paths is not what was imported: import it "
                           "again")));
  case DEMUR_REASON_RUN_FAILED:
    return g_strdup_printf(SAY(N_("model '%s' gave no score: %s")),
                           r->subject != NULL ? r->subject : "", r->text != NULL ? r->text : "");
  case DEMUR_REASON_WATCH:
    return g_strdup_printf(SAY(N_("withheld by the watch since %s (alarm %u, %s): no risk is shown "
                                  "until a person lifts the alarm")),
                           r->text != NULL ? r->text : "", r->n,
                           r->subject != NULL ? r->subject : "");
  case DEMUR_REASON_LEGACY:
  case DEMUR_REASON_SERIES:
  case DEMUR_N_REASONS:
    break;
  }
#undef SAY
  return g_strdup(r->text != NULL ? r->text : "");
}

char *
demur_words_reason(const DemurReason *reason, DemurTranslate translate) {
  g_autofree char *words = plain_words(reason, translate);
  if (isnan(reason->score) || isnan(reason->changed))
    return g_steal_pointer(&words);
  const char *format =
      reason->kind == DEMUR_REASON_GROUP || reason->kind == DEMUR_REASON_NOT_RECORDED
          ? N_("%s; as most accepted scans have it the score would be %.4g in place of %.4g")
          : N_("%s; at the accepted scans' median the score would be %.4g in place of %.4g");
  return g_strdup_printf(demur_translate(translate, format), words, reason->changed, reason->score);
}

char **
demur_words_reasons(const GPtrArray *reasons, DemurTranslate translate) {
  g_autoptr(GStrvBuilder) list = g_strv_builder_new();
  for (guint i = 0; reasons != NULL && i < reasons->len; i++) {
    g_autofree char *words = demur_words_reason(reasons->pdata[i], translate);
    g_strv_builder_add(list, words);
  }
  return g_strv_builder_end(list);
}
