/* The watch over a selector in use (evaluation/watch.h): begun by a person, fed by every assessment,
 * its alarms kept, obeyed by whoever gives verdicts, and lifted only by a person. */
#pragma once

#include "evaluation/watch.h"
#include "store/watches.h"
#include "selector/selector.h"
#include "tasks/task.h"

G_BEGIN_DECLS

typedef struct {
  const char *selector;
  const char *site;     /* NULL: every site */
  const char *cohort;   /* the reference; NULL: who was assessed so far */
  const char *split;    /* of the cohort; NULL: every one */
  const char *coverage; /* of the threshold, as written; NULL: the one in use */
  double alpha, low, high;
  DemurWatchRule rules[DEMUR_N_WATCH];
} DemurWatchStartParams;

typedef struct {
  gint64 id;
  char *digest; /* of the plan */
  DemurWatchPlan *plan;
  size_t n_reference; /* patients */
  size_t n_trained;   /* .. left out, as they made the selector */
  gint64 ended;       /* the watch of the selector at the site that this one ends; 0: none */
} DemurWatchStarted;

/* Fixes what is watched, against whom, and what an alarm does; of each patient one scan, drawn by
 * the seed. Another watch of the selector at the site ends; its alarms stay until they are lifted.
 * DEMUR_ERROR_STATE for a selector that is not tuned. */
DemurWatchStarted *demur_task_watch_start(DemurTask *task, const DemurWatchStartParams *params,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_watch_started_free(DemurWatchStarted *started);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurWatchStarted, demur_watch_started_free)

/* An alarm that withholds a selector's verdicts. */
typedef struct {
  DemurWatchAlarm *alarm;
  gboolean unsure; /* what was watched can't be told any more: it may be another selector */
} DemurWatchStop;

/* A watch and what it sees now. */
typedef struct {
  DemurWatchRecord *record;
  DemurWatchPlan *plan;
  gboolean
      outdated; /* the selector was trained anew, is gone or can't be read: nothing new is seen */
  gboolean
      unreadable;   /* .. it can't be read: who made it is not left out, and no new alarm is kept */
  GArray *patients; /* of DemurWatchPatient */
  DemurWatchResult *result;
  GPtrArray *alarms; /* of DemurWatchAlarm, newest first: of this watch and of those before it that
                      * are not lifted */
  GPtrArray *
      stops; /* of DemurWatchStop, newest first: alarms of other watches that withhold what stands under the name
                      * at some of its sites; empty where that can't be read */
  size_t n_scans;   /* assessed since it began */
  size_t n_again;   /* .. of them further scans of patients who count with another */
  size_t n_before;  /* .. of the reference's patients, or assessed before it began */
  size_t n_trained; /* .. of patients who made the selector */
  size_t n_gone;    /* .. whose images or cohort are gone, or whose person is not certain */
} DemurWatchState;

void demur_watch_state_free(DemurWatchState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurWatchState, demur_watch_state_free)

/* Array of DemurWatchState (owned) of the selector's watches, or of all (NULL). What they see is
 * computed from the history as it stands: verdicts in the order in which they were given, persons,
 * images and labels as they are known now. Alarms that are new are kept first. */
GPtrArray *demur_task_watch_look(DemurTask *task, const char *selector,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same as it was then, NULL: now. Looking back keeps no alarm. */
GPtrArray *demur_task_watch_look_back(DemurTask *task, const char *selector,
                                      const DemurWatchMark *then,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same behind an assessment, where there is a watch. */
gboolean demur_task_watch_follow(DemurTask *task, const char *selector,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurWatchStop (owned): the alarms that withhold the verdicts of this selector of that name; then: as it
 * was then, NULL: now. An alarm holds what was watched (demur_selector_origin), whatever it is called; the name that was watched, whatever was
 * trained under it since; and what stands under that name now, whatever else it is called. The watch's document tells what was watched: a selector is loaded only where that
 * name has another now, or an older program began the watch. Where that one is damaged or gone, nothing tells what it
 * was made of: then every selector is held that was not trained here since (unsure), until a person lifts the alarm. */
GPtrArray *demur_task_watch_stops(DemurTask *task, const char *name, const DemurSelector *selector,
                                  const DemurWatchMark *then,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Those of them that the watch of that name at the site (NULL: every site) does not list: of watches over other
 * names and, for one site's, over every site. */
GPtrArray *demur_task_watch_stops_elsewhere(DemurTask *task, const char *name, const char *site,
                                            const DemurSelector *selector,
                                            const DemurWatchMark *then,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A selector that alarms of watches over other names hold. */
typedef struct {
  char *selector;
  GPtrArray *stops; /* of DemurWatchStop, newest first: those that no watch over the name lists */
} DemurWatchHeld;

/* Array of DemurWatchHeld (owned), by name: of this one, or of every selector (NULL). states: of the watches over it,
 * or over all; then: as above. */
GPtrArray *demur_task_watch_held(DemurTask *task, const char *name, const GPtrArray *states,
                                 const DemurWatchMark *then,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A person (the task's user) lifts an alarm: its signal begins anew. DEMUR_ERROR_USAGE without a
 * reason or a user. */
gboolean demur_task_watch_lift(DemurTask *task, gint64 alarm, const char *why,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  size_t n, n_censored; /* labels kept, and scans kept as ones that will have none */
  size_t n_empty;       /* rows without a label that say nothing */
  GPtrArray *noticed;   /* of DemurTableWarning */
} DemurWatchLabelled;

/* Reads a table scan_id, label. A label left empty says nothing yet; censored: it says that there will
 * be none. DEMUR_ERROR_INPUT for a scan that was never assessed. columns: other names for columns;
 * NULL: none. */
gboolean demur_task_watch_labels(DemurTask *task, const char *path, const char *columns,
                                 gboolean censored, DemurWatchLabelled *labelled,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_watch_labelled_clear(DemurWatchLabelled *labelled);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurWatchLabelled, demur_watch_labelled_clear)

G_END_DECLS
