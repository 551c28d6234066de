/* A signal's change in the words of people. */
#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "evaluation/watch.h"
#include "base/translate.h"

/* "41", "6", "0.4": a share in percent. */
static char *
percent(double share, DemurTranslate translate) {
  return isfinite(share)
             ? demur_translate_number(translate, share < 0.0995 ? "%.1f" : "%.0f", 100.0 * share)
             : g_strdup("?");
}

/* What is counted: "reconstruction kernel B60f", with a word for what is not recorded. */
static char *
subject(DemurWatchSignal signal, const char *text, DemurTranslate translate) {
  static const struct {
    const char *text, *words;
  } known[] = {{"", N_("not recorded")},
               {"shown", N_("risk shown")},
               {"held back", N_("risk held back")},
               {"assessed", N_("assessed")},
               {"red_flag", N_("red flag")},
               {"not_eligible", N_("not eligible")},
               {"no_score", N_("no score")},
               {"failed", N_("failed")}};
  const char *title = demur_translate(translate, demur_watch_columns[signal].title);
  const gboolean own = signal == DEMUR_WATCH_COVERAGE || signal == DEMUR_WATCH_ELIGIBLE;
  for (size_t k = 0; k < G_N_ELEMENTS(known); k++)
    if (strcmp(known[k].text, text) == 0 && (own || k == 0))
      return own ? g_strdup(demur_translate(translate, known[k].words))
                 : g_strdup_printf("%s: %s", title, demur_translate(translate, known[k].words));
  g_autofree char *told = signal == DEMUR_WATCH_THICKNESS /* "3.20 mm" */
                              ? demur_translate_digits(translate, text)
                              : g_strdup(text);
  return g_strdup_printf("%s %s", title, told);
}

gboolean
demur_watch_before_is_few(DemurWatchSignal signal, const DemurWatchSignalResult *result) {
  const gboolean share =
      demur_watch_columns[signal].kind == DEMUR_WATCH_CATEGORY || signal == DEMUR_WATCH_OUTCOME;
  if (!share || !isfinite(result->before))
    return FALSE;
  const double n = (double)(result->n_reference + result->n - result->n_since);
  const double with = round(result->before * n), without = n - with;
  return (with > 0.0 && with < DEMUR_SMALL_CELL) || (without > 0.0 && without < DEMUR_SMALL_CELL);
}

static char *
share_words(DemurWatchSignal signal, const char *what, const DemurWatchSignalResult *result,
            const char *when, DemurTranslate translate) {
  g_autofree char *since = percent(result->since, translate),
                  *before = percent(result->before, translate);
  if (!isfinite(result->before))
    return g_strdup_printf(
        demur_translate(translate, N_("%s: %s %% of %zu patients since %s, no one before")), what,
        since, result->n_since, when);
  if (demur_watch_before_is_few(signal, result))
    return g_strdup_printf(
        demur_translate(translate, result->before < 0.5
                                       ? N_("%s: %s %% of %zu patients since %s, few before")
                                       : N_("%s: %s %% of %zu patients since %s, most before")),
        what, since, result->n_since, when);
  return g_strdup_printf(
      demur_translate(translate, N_("%s: %s %% of %zu patients since %s, %s %% before")), what,
      since, result->n_since, when, before);
}

char *
demur_watch_change_words(const DemurWatchPlan *plan, DemurWatchSignal signal,
                         const DemurWatchSignalResult *result, const DemurWatchPatient *patients,
                         DemurTranslate translate) {
  if (result->n_since == 0 || result->n == 0)
    return g_strdup("");
  const char *title = demur_translate(translate, demur_watch_columns[signal].title);
  const char *time = patients[result->rows[result->change]].when;
  g_autofree char *when = translate != NULL
                              ? demur_translate_day(translate, time != NULL ? time : "")
                              : g_strndup(time != NULL ? time : "", strlen("2026-01-31"));
  if (demur_watch_columns[signal].kind == DEMUR_WATCH_CATEGORY) {
    g_autofree char *what = subject(signal, result->text, translate);
    return share_words(signal, what, result, when, translate);
  }
  if (signal == DEMUR_WATCH_OUTCOME)
    return share_words(signal, title, result, when, translate);
  const gboolean labelled = demur_watch_columns[signal].kind == DEMUR_WATCH_LABELLED;
  const char *digits = labelled || signal == DEMUR_WATCH_RANGE ? "%.2f" : "%.3g";
  g_autofree char *since = demur_translate_number(translate, digits, result->since),
                  *before = demur_translate_number(translate, digits, result->before);
  if (signal == DEMUR_WATCH_RANGE) {
    g_autofree char *low = demur_translate_number(translate, "%g", plan->low),
                    *high = demur_translate_number(translate, "%g", plan->high);
    return g_strdup_printf(
        demur_translate(translate, N_("%s: %s in %zu patients since %s, agreed are %s to %s")),
        title, since, result->n_since, when, low, high);
  }
  const char *format =
      labelled ? (isfinite(result->before) ? N_("%s: %s in %zu patients since %s, %s before")
                                           : N_("%s: %s in %zu patients since %s"))
               : (isfinite(result->before) ? N_("%s: median %s in %zu patients since %s, %s before")
                                           : N_("%s: median %s in %zu patients since %s"));
  return g_strdup_printf(demur_translate(translate, format), title, since, result->n_since, when,
                         before);
}
