#include "words/words.h"
#include "base/translate.h"

#include <math.h>

#include "features/acquisition.h"
#include "selector/meta-features.h"
#include "words/rule-words.h"

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
    N_("the cohort's scores are kept under another model's name than the selector reads"),
    N_("what is recorded of its site or of how it was made changed"),
    N_("SAFETY: it is not what was written, but was changed past the program (`demur verify` names "
       "all that was)"),
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
      audited
          ? N_("How far this risk may be off at this hospital, which was audited: from %s to %s (95 %% "
               "interval).")
          : N_("How far this risk may be off at this hospital, which was not audited: from %s to %s "
               "(95 %% interval).");
  return g_strdup_printf(demur_translate(translate, format), low, high);
}

/* text with " within N years" behind it, where N is known. */
static char *
within_years(const char *text, double years, DemurTranslate translate) {
  if (!(years > 0.0))
    return g_strdup(text);
  const char *format = years == 1.0 ? N_("%s within %s year") : N_("%s within %s years");
  g_autofree char *number = demur_translate_number(translate, "%g", years);
  return g_strdup_printf(demur_translate(translate, format), text, number);
}

char *
demur_words_risk_of(const char *noun, double years, DemurTranslate translate) {
  g_autofree char *risk =
      noun != NULL && *noun != '\0'
          ? g_strdup_printf(demur_translate(translate, N_("risk of %s")),
                            demur_translate(translate, noun)) /* a cohort's own stands as it is */
          : g_strdup(demur_translate(translate, N_("risk")));
  return years > 0.0
             ? within_years(risk, years, translate)
             : g_strdup_printf(demur_translate(translate, N_("%s (years not recorded)")), risk);
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

char *
demur_words_became(const DemurOutcome *outcome, double label, DemurTranslate translate) {
  const gboolean had = label > 0.5;
  if (isnan(label))
    return within_years(demur_translate(translate, N_("not known")), outcome->horizon_years,
                        translate);
  if (outcome->kind == DEMUR_OUTCOME_RIGHT)
    return g_strdup(
        demur_translate(translate, had ? N_("predicted rightly") : N_("predicted wrongly")));
  g_autofree char *named =
      outcome->kind == DEMUR_OUTCOME_NAMED
          ? g_strdup_printf(
                demur_translate(translate, had ? N_("outcome “%s”") : N_("no outcome “%s”")),
                outcome->name)
          : NULL;
  const char *text = named != NULL ? named
                     : outcome->kind == DEMUR_OUTCOME_CANCER
                         ? (had ? N_("cancer") : N_("no cancer"))
                     : had ? N_("outcome (label 1)")
                           : N_("no outcome (label 0)");
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
  const DemurRemedy remedy = demur_outdated_remedy(why);
  const char *format =
      remedy == DEMUR_REMEDY_RESOLVE
          ? N_("Out of date: %s. Decide which is right: `demur dicom resolve`, in the window "
               "“Resolve…”.")
      : remedy == DEMUR_REMEDY_COHORT
          ? N_("Out of date: %s. If they are of its model, import the table again with that name in "
               "place of the cohort: `demur cohort import NAME FILE --model M --replace` (where it "
               "names another one, behind `demur cohort remove NAME --force`). Then assess again.")
          : N_("Out of date: %s. Assess again.");
  return g_strdup_printf(demur_translate(translate, format), all);
}

char *
demur_words_outdated_first(DemurOutdated why, DemurTranslate translate) {
  g_auto(GStrv) list = demur_words_causes(why, translate);
  /* Whatever else ended it: first the contradiction is resolved. */
  if (demur_outdated_remedy(why) == DEMUR_REMEDY_RESOLVE)
    return g_strdup_printf(
        demur_translate(translate, N_("resolve: %s")),
        demur_translate(translate, causes[g_bit_nth_lsf(DEMUR_OUTDATED_CONFLICT, -1)]));
  if (demur_outdated_remedy(why) == DEMUR_REMEDY_COHORT)
    return g_strdup_printf(
        demur_translate(translate, N_("import again: %s")),
        demur_translate(translate, causes[g_bit_nth_lsf(DEMUR_OUTDATED_MODEL, -1)]));
  return list[0] == NULL
             ? NULL
             : g_strdup_printf(demur_translate(translate, N_("assess again: %s")), list[0]);
}

static const char *
title_of(const char *subject, DemurTranslate translate) {
  DemurAcquisitionSubject acquisition;
  const char *title = demur_acquisition_find_subject(subject, &acquisition)
                          ? demur_acquisition_title(acquisition)
                          : demur_meta_column_title(subject);
  return demur_translate(translate, title);
}

const char *
demur_words_subject(const char *subject, DemurTranslate translate) {
  return title_of(subject, translate);
}

static const char *
unit_of(const char *subject) {
  DemurAcquisitionSubject acquisition;
  return demur_acquisition_find_subject(subject, &acquisition) ? demur_acquisition_unit(acquisition)
                                                               : "";
}

/* What lies beyond %s of the scans that the model was checked on, above them or below. odd: the
 * side on which an image is unlike the others; ALONE: a sentence that says of whom it speaks. */
static const struct {
  const char *subject, *high, *low;
  enum { ALONE, HIGH_IS_ODD, LOW_IS_ODD, BOTH_ARE_ODD } odd;
} comparisons[] = {
    {"knn", N_("farther from its nearest neighbours than %s of them"),
     N_("nearer to its nearest neighbours than %s of them"), HIGH_IS_ODD},
    {"kde", N_("more scans lie around it than around %s of them"),
     N_("fewer scans lie around it than around %s of them"), LOW_IS_ODD},
    {"ocsvm", N_("deeper inside their range than %s of them"),
     N_("farther outside their range than %s of them"), LOW_IS_ODD},
    {"iforest", N_("harder to tell apart from the rest than %s of them"),
     N_("easier to tell apart from the rest than %s of them"), LOW_IS_ODD},
    {"lof", N_("closer among its neighbours than %s of them"),
     N_("more isolated from its neighbours than %s of them"), LOW_IS_ODD},
    {"slice_thickness_mm", N_("thicker slices than %s of them"),
     N_("thinner slices than %s of them"), BOTH_ARE_ODD},
    {"spacing_mm", N_("slices farther apart than in %s of them"),
     N_("slices closer together than in %s of them"), BOTH_ARE_ODD},
    {"kvp", N_("a higher tube voltage than %s of them"), N_("a lower tube voltage than %s of them"),
     BOTH_ARE_ODD},
    {"fov_mm", N_("a larger field of view than %s of them"),
     N_("a smaller field of view than %s of them"), BOTH_ARE_ODD},
    {"tube_current_ma", N_("a higher tube current than %s of them"),
     N_("a lower tube current than %s of them"), BOTH_ARE_ODD},
    {"kernel", N_("a sharper kernel than %s of them"), N_("a softer kernel than %s of them"),
     BOTH_ARE_ODD},
    {"p_1", N_("its risk is higher than that of %s of the scans the model was checked on"),
     N_("its risk is lower than that of %s of the scans the model was checked on"), ALONE},
    {"max_p", N_("the model is surer of it than of %s of the scans it was checked on"),
     N_("the model is less sure of it than of %s of the scans it was checked on"), ALONE},
    {"entropy", N_("the model is less sure of it than of %s of the scans it was checked on"),
     N_("the model is surer of it than of %s of the scans it was checked on"), ALONE},
    {"correction",
     N_("risks like its own turned out too low, by more than those of %s of the scans the model "
        "was checked on"),
     N_("risks like its own turned out too high, by more than those of %s of the scans the model "
        "was checked on"),
     ALONE},
    {"correction_size",
     N_("risks like its own were off by more than those of %s of the scans the model was checked "
        "on"),
     N_("risks like its own were off by less than those of %s of the scans the model was checked "
        "on"),
     ALONE},
    {"expected_miscalibration",
     N_("how far its risk may be off at a hospital is more than for %s of the scans the model was "
        "checked on"),
     N_("how far its risk may be off at a hospital is less than for %s of the scans the model was "
        "checked on"),
     ALONE},
};

/* From this share on an image is unlike those that it lies beyond. */
#define UNLIKE 0.9

/* "97 %", "at least 95 %" (owned). */
static char *
share_words(const DemurReason *r, DemurTranslate translate) {
  /* Never "100 %" of what is not all. */
  const double percent = floor(100.0 * r->beyond + 1e-9);
  if (r->rough)
    return r->beyond > 0.0
               ? g_strdup_printf(demur_translate(translate, N_("at least %g %%")), percent)
               : g_strdup(demur_translate(translate, N_("some")));
  return r->beyond >= 1.0 ? g_strdup(demur_translate(translate, N_("all")))
                          : g_strdup_printf("%g %%", percent);
}

static gboolean
is_high(const DemurReason *r) {
  return r->place == DEMUR_PLACE_HIGH || r->place == DEMUR_PLACE_ABOVE;
}

/* What a reader would say of a value beside the scans that the model was checked on (owned). NULL:
 * there is nothing to compare, or no words for it. */
static char *
comparison_words(const DemurReason *r, DemurTranslate translate) {
  if (!isfinite(r->beyond) || r->place == DEMUR_PLACE_MEDIAN || r->place == DEMUR_PLACE_UNKNOWN)
    return NULL;
  g_autofree char *share = share_words(r, translate);
  for (size_t i = 0; i < G_N_ELEMENTS(comparisons); i++) {
    if (g_strcmp0(r->subject, comparisons[i].subject) != 0)
      continue;
    const gboolean high = is_high(r);
    g_autofree char *words = g_strdup_printf(
        demur_translate(translate, high ? comparisons[i].high : comparisons[i].low), share);
    if (comparisons[i].odd == ALONE)
      return g_steal_pointer(&words);
    const gboolean odd = comparisons[i].odd == BOTH_ARE_ODD ||
                         comparisons[i].odd == (high ? HIGH_IS_ODD : LOW_IS_ODD);
    return g_strdup_printf(
        demur_translate(translate,
                        odd && r->beyond >= UNLIKE
                            ? N_("the image looks unlike those the model was checked on: %s")
                            : N_("beside the images the model was checked on: %s")),
        words);
  }
  return g_strdup_printf(
      demur_translate(translate,
                      is_high(r) ? N_("%s is higher than for %s of the scans the model was checked "
                                      "on")
                                 : N_("%s is lower than for %s of the scans the model was checked "
                                      "on")),
      title_of(r->subject, translate), share);
}

/* One measure or more, which is not said. */
static char *
unlike_words(const DemurReason *r, DemurTranslate translate) {
  g_autofree char *share = share_words(r, translate);
  return g_strdup_printf(
      demur_translate(translate, r->beyond >= UNLIKE
                                     ? N_("the image looks unlike those the model was checked on: "
                                          "farther out than %s of them by at least one measure")
                                     : N_("beside the images the model was checked on: farther out "
                                          "than %s of them by at least one measure")),
      share);
}

/* A measured value, as the reader's language writes it (owned). */
static char *
value_text(double value, DemurTranslate translate) {
  return demur_translate_number(translate, "%.3g", value);
}

/* The same with the value itself, where it may be told and has a unit. */
static char *
number_words(const DemurReason *r, gboolean accepted, DemurTranslate translate) {
  const char *title = title_of(r->subject, translate), *unit = unit_of(r->subject);
  g_autofree char *value = value_text(r->value, translate),
                  *median = value_text(r->median, translate);
  g_autofree char *compared = comparison_words(r, translate);
  if (compared != NULL && (isnan(r->value) || *unit == '\0'))
    return g_steal_pointer(&compared);
  if (compared != NULL)
    return g_strdup_printf(demur_translate(translate, N_("%s (%s%s; their median is %s%s)")),
                           compared, value, unit, median, unit);
  if (isnan(r->value))
    return r->place == DEMUR_PLACE_UNKNOWN
               ? g_strdup_printf(demur_translate(translate, N_("%s is unusual")), title)
               : g_strdup_printf(
                     demur_translate(translate, accepted ? N_("%s is %s accepted training scans")
                                                         : N_("%s is %s the training scans")),
                     title, demur_translate(translate, places[r->place]));
  if (isnan(r->median))
    return g_strdup_printf(
        demur_translate(translate, N_("%s is %s%s; it was recorded in no training scan")), title,
        value, unit);
  g_autofree char *low = value_text(r->low, translate), *high = value_text(r->high, translate);
  return g_strdup_printf(
      demur_translate(translate,
                      accepted ? N_("%s is %s%s, %s accepted training scans (median %s%s, 98 %% of "
                                    "them from %s to %s%s)")
                               : N_("%s is %s%s, %s the training scans (median %s%s, 98 %% of them "
                                    "from %s to %s%s)")),
      title, value, unit, demur_translate(translate, places[r->place]), median, unit, low, high,
      unit);
}

/* A text beside those of the training scans. */
static char *
group_words(const DemurReason *r, DemurTranslate translate) {
  const char *title = title_of(r->subject, translate);
  g_autofree char *compared = comparison_words(r, translate);
  if (compared != NULL && r->text != NULL) /* a kernel, by its sharpness */
    return g_strdup_printf("%s (%s)", compared, r->text);
  if (compared != NULL)
    return g_steal_pointer(&compared);
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
  g_autofree char *share = demur_translate_number(translate, "%.2g", 100.0 * r->share);
  return g_strdup_printf(demur_translate(translate, N_("%s %s was in %s %% of the training scans")),
                         title, r->text, share);
}

/* The training scans most like it, by outcome. */
static char *
similar_words(const DemurReason *r, DemurTranslate translate) {
  const gboolean risk = demur_reason_is_of_risk(r);
  g_autofree char *sites = g_strdup_printf(
      demur_translate(
          translate,
          r->n_sites == 1
              ? (risk
                     ? N_("among the %u training scans most like it the risk was too high at %u of "
                          "%u site")
                     : N_("among the %u training scans most like it the top probability was too "
                          "high at %u of %u site"))
          : risk ? N_("among the %u training scans most like it the risk was too high at %u of %u "
                      "sites")
                 : N_("among the %u training scans most like it the top probability was too high "
                      "at %u of %u sites")),
      r->n, r->n_over, r->n_sites);
  if (isnan(r->value))
    return g_steal_pointer(&sites);
  if (r->n_events == 0)
    return g_strdup_printf(
        demur_translate(translate, N_("%s (how many had the outcome is withheld: a small count)")),
        sites);
  g_autofree char *expected = demur_translate_number(translate, "%.1f", r->value);
  return g_strdup_printf(
      demur_translate(translate, risk ? N_("%s; %u of them had the outcome, their risks expect %s")
                                      : N_("%s; the top class was right in %u of them, expected "
                                           "are %s")),
      sites, r->n_events, expected);
}

/* The same scans by site. */
static char *
nearest_words(const DemurReason *r, DemurTranslate translate) {
  const char *site = r->subject != NULL && *r->subject != '\0'
                         ? r->subject
                         : demur_translate(translate, N_("not recorded"));
  if (r->rough && r->share > 0.0)
    return g_strdup_printf(
        demur_translate(translate, N_("of the %u training scans most like it at least %g %% are "
                                      "from site %s")),
        r->n, 100.0 * r->share, site);
  if (r->rough)
    return g_strdup_printf(
        demur_translate(translate, N_("of the %u training scans most like it more are from site %s "
                                      "than from any other")),
        r->n, site);
  if (r->text == NULL)
    return g_strdup_printf(
        demur_translate(translate, N_("the %u training scans most like it are from %u sites, few "
                                      "from each")),
        r->n, r->n_sites);
  if (r->n_sites == 1)
    return g_strdup_printf(
        demur_translate(translate, N_("the %u training scans most like it are from %u site (%s)")),
        r->n, r->n_sites, r->text);
  return g_strdup_printf(
      demur_translate(translate, N_("the %u training scans most like it are from %u sites (%s; few "
                                    "from each other one)")),
      r->n, r->n_sites, r->text);
}

/* How it was made, which the selector does not read. */
static char *
made_words(const DemurReason *r, DemurTranslate translate) {
  const char *title = title_of(r->subject, translate), *unit = unit_of(r->subject);
  if (isfinite(r->value)) {
    g_autofree char *value = value_text(r->value, translate), *low = value_text(r->low, translate),
                    *high = value_text(r->high, translate);
    return g_strdup_printf(
        demur_translate(translate, N_("%s is %s%s, outside what the model was checked on: 98 %% "
                                      "of those scans have %s to %s%s")),
        title, value, unit, low, high, unit);
  }
  if (r->text != NULL)
    return g_strdup_printf(
        demur_translate(translate, N_("%s %s is in fewer than 1 %% of the scans the model was "
                                      "checked on")),
        title, r->text);
  return g_strdup_printf(
      demur_translate(translate,
                      N_("%s is not recorded; it is in nearly all scans the model was checked on")),
      title);
}

static char *
made_within_words(const DemurReason *r, DemurTranslate translate) {
  g_auto(GStrv) subjects = g_strsplit(r->text != NULL ? r->text : "", ",", -1);
  for (char **subject = subjects; *subject != NULL; subject++) {
    char *title = g_strdup(title_of(*subject, translate));
    g_free(*subject);
    *subject = title;
  }
  g_autofree char *list = g_strjoinv(", ", subjects);
  return g_strdup_printf(
      demur_translate(translate, N_("as in the scans the model was checked on: %s")), list);
}

/* For what the selector refuses scans, whichever this one is. */
static char *
mostly_words(const DemurReason *r, DemurTranslate translate) {
  static const struct {
    const char *subject, *words;
  } rows[] = {
      {"risk",
       N_("in general: of %u training scans that this selector holds back, %.0f %% are held "
          "back first for the risk itself, how high it is and how sure the model is")},
      {"image", N_("in general: of %u training scans that this selector holds back, %.0f %% are "
                   "held back first for how the image lies beside those the model was checked on")},
      {"making", N_("in general: of %u training scans that this selector holds back, %.0f %% are "
                    "held back first for how the scan was made")}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
    if (g_strcmp0(r->subject, rows[i].subject) == 0)
      return g_strdup_printf(demur_translate(translate, rows[i].words), r->n, 100.0 * r->share);
  return g_strdup("");
}

/* Words of a text that is one of a few names. */
typedef struct {
  const char *name, *words;
} NamedWords;

static const char *
named_words(const NamedWords *rows, size_t n, const char *name, DemurTranslate translate) {
  for (size_t i = 0; i < n; i++)
    if (g_strcmp0(rows[i].name, name) == 0)
      return demur_translate(translate, rows[i].words);
  return name != NULL ? name : "";
}

static char *
preferred_words(const DemurReason *r, DemurTranslate translate) {
  static const NamedWords rows[] = {
      {"thinner_slices", N_("its slices are thinner")},
      {"softer_kernel", N_("its kernel is softer")},
      {"more_slices", N_("it has more slices")},
      {"lower_series_number", N_("its series number is lower")},
      {"lower_scan_id", N_("its scan_id is lower")},
  };
  return g_strdup_printf(
      demur_translate(translate,
                      N_("eligible, not chosen: series %s of the study is preferred (%s)")),
      r->subject != NULL ? r->subject : "",
      named_words(rows, G_N_ELEMENTS(rows), r->text, translate));
}

static char *
conflict_words(const DemurReason *r, DemurTranslate translate) {
  static const NamedWords rows[] = {
      {"person", N_("SAFETY: the same images came under another person too; both wait until one "
                    "decides (`demur dicom resolve`)")},
      {"content", N_("SAFETY: the same images came with other content or in another series too; "
                     "both wait until one decides (`demur dicom resolve`)")},
  };
  if (r->text != NULL)
    return g_strdup(named_words(rows, G_N_ELEMENTS(rows), r->text, translate));
  return g_strdup(
      demur_translate(translate, N_("SAFETY: the same images came with other content or under "
                                    "another person; decide with `demur dicom resolve`")));
}

/* A sentence of an older program. */
static char *
earlier_words(const DemurReason *r, DemurTranslate translate) {
  const char *text = r->text != NULL ? r->text : "";
  return translate != NULL
             ? g_strdup_printf(translate(N_("%s (in the words of an earlier version)")), text)
             : g_strdup(text);
}

static char *
with_subject(const char *format, const char *subject) {
  return g_strdup_printf(format, subject != NULL ? subject : "");
}

/* Why a series is not assessed, or is so by a person; NULL: the reason is of another kind. */
static char *
series_words(const DemurReason *r, DemurTranslate translate) {
#define SAY(text) demur_translate(translate, text)
  switch (r->kind) {
  case DEMUR_REASON_RULE: {
    g_autofree char *rule = demur_words_rule(r, translate);
    return g_strdup_printf(SAY(N_("not eligible: %s")), rule);
  }
  case DEMUR_REASON_PREFERRED:
    return preferred_words(r, translate);
  case DEMUR_REASON_PERSON_CHOSE:
    return g_strdup_printf(SAY(N_("a person chose series %s of the study instead: %s")),
                           r->subject != NULL ? r->subject : "", r->text != NULL ? r->text : "");
  case DEMUR_REASON_CHOSEN_BEFORE:
    return with_subject(SAY(N_("eligible, not chosen: series %s of the study was chosen before, "
                               "and a score is known; a person may choose (`demur dicom "
                               "choose`)")),
                        r->subject);
  case DEMUR_REASON_CHOSEN_IS_OUT:
    return with_subject(SAY(N_("eligible, not chosen: series %s of the study was chosen before, is "
                               "not eligible now, and a score is known; a person may choose "
                               "(`demur dicom choose`)")),
                        r->subject);
  case DEMUR_REASON_LEGACY:
  case DEMUR_REASON_SERIES:
    return earlier_words(r, translate);
  case DEMUR_REASON_NOT_CHOSEN:
    return g_strdup(SAY(N_("not chosen for assessment")));
  case DEMUR_REASON_OVERRULED: {
    g_autofree char *by_rules = demur_words_kept(r->text, translate);
    return g_strdup_printf(SAY(N_("assessed by a person's decision (%s); by the rules: %s")),
                           r->subject != NULL ? r->subject : "",
                           by_rules != NULL ? by_rules : SAY(N_("accepted")));
  }
  case DEMUR_REASON_CONFLICT:
    return conflict_words(r, translate);
  case DEMUR_REASON_FILES:
    return g_strdup(SAY(N_("what lies at its stored paths is not what was imported: import it "
                           "again")));
  default:
    return NULL;
  }
#undef SAY
}

static char *
watch_words(const DemurReason *r, DemurTranslate translate) {
  static const NamedWords rows[] = {
      {"score", N_("the selector's scores changed")},
      {"risk", N_("the model's risks changed")},
      {"distance", N_("the distance of the scans to the reference scans changed")},
      {"coverage", N_("the share of risks that are shown changed")},
      {"eligible", N_("what becomes of the patients changed")},
      {"manufacturer", N_("the mix of manufacturers changed")},
      {"kernel", N_("the mix of reconstruction kernels changed")},
      {"thickness", N_("the mix of slice thicknesses changed")},
      {"version", N_("the version of the model changed")},
      {"outcome", N_("the share with the outcome changed")},
      {"calibration", N_("observed over expected outcomes changed")},
      {"slope", N_("the calibration slope changed")},
      {"range", N_("observed over expected outcomes of what is shown changed")},
      {"flagged", N_("observed over expected outcomes of red flags changed")},
  };
  const char *text = r->text != NULL ? r->text : "";
  g_autofree char *day = translate != NULL ? demur_translate_day(translate, text)
                                           : g_strndup(text, strlen("2026-11-29"));
  return g_strdup_printf(
      demur_translate(translate,
                      N_("withheld by the watch since %s: %s (alarm %u); no risk is shown "
                         "until a person lifts the alarm")),
      day, named_words(rows, G_N_ELEMENTS(rows), r->subject, translate), r->n);
}

/* A sentence without what the score would be. */
static char *
plain_words(const DemurReason *r, DemurTranslate translate) {
  g_autofree char *of_series = series_words(r, translate), *number = NULL;
  if (of_series != NULL)
    return g_steal_pointer(&of_series);
#define SAY(text) demur_translate(translate, text)
  switch (r->kind) {
  case DEMUR_REASON_FEATURE:
    return number_words(r, TRUE, translate);
  case DEMUR_REASON_NUMBER:
    return number_words(r, FALSE, translate);
  case DEMUR_REASON_GROUP:
    return group_words(r, translate);
  case DEMUR_REASON_NOT_RECORDED:
    number = value_text(100.0 * r->share, translate);
    return g_strdup_printf(SAY(N_("%s is not recorded, as in %s %% of the training scans")),
                           title_of(r->subject, translate), number);
  case DEMUR_REASON_SIMILAR:
    return similar_words(r, translate);
  case DEMUR_REASON_UNLIKE:
    return unlike_words(r, translate);
  case DEMUR_REASON_NEAREST:
    return nearest_words(r, translate);
  case DEMUR_REASON_MADE:
    return made_words(r, translate);
  case DEMUR_REASON_MADE_WITHIN:
    return made_within_words(r, translate);
  case DEMUR_REASON_MOSTLY:
    return mostly_words(r, translate);
  case DEMUR_REASON_WITHHELD:
    return g_strdup(
        SAY(N_("the reason would give the risk away, so it is shown together with the risk, once "
               "that is revealed")));
  case DEMUR_REASON_NOT_TUNED:
    return g_strdup(SAY(N_(
        "the selector has no threshold yet: choose its coverage (the Cohort page, or `demur tune`)")));
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
    return g_strdup_printf(SAY(N_("the score came with %u numbers that describe the image (its "
                                  "embedding), but the selector needs %u: import the score again "
                                  "with all of them")),
                           r->n, r->n_over);
  case DEMUR_REASON_CROSSES:
    number = demur_translate_number(translate, "%g", r->value);
    return g_strdup_printf(SAY(N_("what is known of this hospital leaves open on which side of %s "
                                  "its risk lies")),
                           number);
  case DEMUR_REASON_HORIZON:
    number = demur_translate_number(translate, "%g", r->value);
    return g_strdup_printf(SAY(N_("the selector reads the risk within %s years, and the score of "
                                  "model '%s' has none for them: import a score with yearly "
                                  "risks, or use a selector of the score's years")),
                           number, r->subject != NULL ? r->subject : "");
  case DEMUR_REASON_TOGETHER:
    number = demur_translate_number(translate, "%g", r->value);
    return g_strdup_printf(
        r->value == 1.0
            ? SAY(N_(
                  "held back together with the risk within %s year, much of which it would tell"))
            : SAY(N_("held back together with the risk within %s years, much of which it would "
                     "tell")),
        number);
  case DEMUR_REASON_RUN_FAILED:
    return g_strdup_printf(SAY(N_("model '%s' gave no score: %s")),
                           r->subject != NULL ? r->subject : "", r->text != NULL ? r->text : "");
  case DEMUR_REASON_WATCH:
    return watch_words(r, translate);
  default:
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
          ? N_("%s; as most accepted scans have it the score would be %s in place of %s")
          : N_("%s; at the accepted scans' median the score would be %s in place of %s");
  g_autofree char *changed = demur_translate_number(translate, "%.4g", reason->changed),
                  *score = demur_translate_number(translate, "%.4g", reason->score);
  return g_strdup_printf(demur_translate(translate, format), words, changed, score);
}

/* One of several; i: its place. Whether there are more than are told is not said: that would tell
 * something of the risk. */
static char *
listed_words(const DemurReason *reason, guint i, DemurTranslate translate) {
  return i > 0 && reason->kind == DEMUR_REASON_WITHHELD
             ? g_strdup(
                   demur_translate(translate, N_("further reasons, if there are any, would give "
                                                 "the risk away: they are shown when it is "
                                                 "revealed")))
             : demur_words_reason(reason, translate);
}

static char **
list_words(const GPtrArray *reasons, gboolean beside, guint *n_numbered, DemurTranslate translate) {
  g_autoptr(GStrvBuilder) list = g_strv_builder_new();
  guint n_own = 0;
  gboolean own = TRUE;
  for (guint i = 0; reasons != NULL && i < reasons->len; i++) {
    g_autoptr(GString) words = NULL;
    own = own && !demur_reason_is_remark(reasons->pdata[i]);
    n_own += own ? 1 : 0;
    for (; i < reasons->len && ((DemurReason *)reasons->pdata[i])->kind == DEMUR_REASON_RULE; i++) {
      g_autofree char *rule = demur_words_rule(reasons->pdata[i], translate);
      if (words == NULL)
        words = g_string_new(rule);
      else
        g_string_append_printf(words, "; %s", rule);
    }
    g_autofree char *told =
        words != NULL && beside ? g_strdup(words->str)
        : words != NULL
            ? g_strdup_printf(demur_translate(translate, N_("not eligible: %s")), words->str)
            : listed_words(reasons->pdata[i], i, translate);
    i -= words != NULL ? 1 : 0;
    g_strv_builder_add(list, told);
  }
  if (n_numbered != NULL)
    *n_numbered = n_own;
  return g_strv_builder_end(list);
}

char **
demur_words_reasons(const GPtrArray *reasons, guint *n_numbered, DemurTranslate translate) {
  return list_words(reasons, FALSE, n_numbered, translate);
}

char **
demur_words_reasons_beside(const GPtrArray *reasons, guint *n_numbered, DemurTranslate translate) {
  return list_words(reasons, TRUE, n_numbered, translate);
}

char *
demur_words_kept(const char *kept, DemurTranslate translate) {
  if (kept == NULL)
    return NULL;
  g_autoptr(GPtrArray) reasons = demur_reasons_from_kept(kept);
  g_auto(GStrv) words = demur_words_reasons(reasons, NULL, translate);
  return g_strjoinv("; ", words);
}
