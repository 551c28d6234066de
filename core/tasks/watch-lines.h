/* What a watch sees in the words of people: one line a signal, for window and report alike. */
#pragma once

#include "base/translate.h"
#include "tasks/watch.h"

G_BEGIN_DECLS

typedef struct {
  DemurWatchSignal signal;
  const char *title;      /* in the reader's language, borrowed */
  char *change;           /* what changed most, NULL where of too few patients to be told; ""
                           * where nothing is to be told. Of DEMUR_WATCH_RANGE without a change: O:E,
                           * its interval at all looks together, and the agreed range */
  const double *evidence; /* [n] the e-value behind each patient; the state's */
  size_t n;
  double now;                 /* the last; 1 for n = 0 */
  double most;                /* the largest; an alarm is one that reached the limit */
  const char *most_reached;   /* when; NULL: it was never above 1 */
  double limit;               /* the e-value that is an alarm */
  size_t n_waiting, alarm_at; /* patients until the alarm; 0: none */
  gboolean alarm, withholds;  /* reached; and what it does */
} DemurWatchLine;

/* Array of DemurWatchLine (owned, frees its elements), of the signals that are not ignored. The
 * state outlives it. */
GPtrArray *demur_watch_lines(const DemurWatchState *state, DemurTranslate translate);

/* Its e-values for people (owned): "e-value now 3.2, highest 640 on 3 May 2026; alarm at 193", the second where it was
 * near an alarm or one, and is another now; "" where no patient counts. */
char *demur_watch_line_evidence(const DemurWatchLine *line, DemurTranslate translate);

/* Whether what changed would tell of fewer than DEMUR_SMALL_CELL patients: those since, those before (none before,
 * where it was so from the first patient on, tell of nobody), or those of them with the outcome, without it, with
 * the value or without it. */
gboolean demur_watch_change_is_few(const DemurWatchState *state, DemurWatchSignal signal,
                                   const DemurWatchSignalResult *result);

/* Patients of a reference as they are told: those of one site (NULL: of all) in whole tens, so that no
 * site left out of the others' is counted by subtraction. */
size_t demur_watch_told_reference(const char *site, size_t n);

/* One sentence on the whole (owned): that no change was shown, or what is stopped and since when. iso: its
 * date as documents have it, 2026-01-31; else in the reader's words. */
char *demur_watch_headline(const DemurWatchState *state, gboolean iso, DemurTranslate translate);

/* Alarms that are not lifted and stop new verdicts wherever the watch looks: its own, and those of other watches. */
size_t demur_watch_n_stops(const DemurWatchState *state);

/* An alarm of another watch (owned): which, and why it stops the selector of that name too. iso: as above. */
char *demur_watch_stop_words(const DemurWatchStop *stop, const char *name, gboolean iso,
                             DemurTranslate translate);

/* The title of an alarm's signal (borrowed), and, owned, what had changed when it was reached, NULL
 * where of too few patients to be told. state: of its watch. */
const char *demur_watch_alarm_title(const DemurWatchAlarm *alarm, DemurTranslate translate);
char *demur_watch_alarm_change(const DemurWatchState *state, const DemurWatchAlarm *alarm,
                               DemurTranslate translate);

/* What a person who decides on it reads (owned): what had changed; where those were too few to be told,
 * the signal and what has changed by now. */
char *demur_watch_alarm_words(const DemurWatchState *state, const DemurWatchAlarm *alarm,
                              DemurTranslate translate);

G_END_DECLS
