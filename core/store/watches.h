/* Watches over selectors in use: what was fixed when each began, its alarms, who lifted them and why,
 * and the labels that came since. Nothing is overwritten or taken out: a watch that begins anew
 * stands beside the one before, and the newest of a selector at a site is in force. Names are texts:
 * an alarm outlives the selector that it stops. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

typedef struct {
  gint64 id; /* set when saved and loaded; grows with time */
  char *selector, *selector_digest;
  char *site;     /* NULL: every site */
  char *cohort;   /* the reference's; NULL: none */
  char *document; /* JSON of evaluation/watch.h */
  char *digest;   /* of the document */
  char *user, *created;
} DemurWatchRecord;

void demur_watch_record_free(DemurWatchRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurWatchRecord, demur_watch_record_free)

/* Adds a watch and sets its id. */
gboolean demur_watches_save(DemurWorkspace *workspace, DemurWatchRecord *record,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A place in the history: the largest id of each kind of row then. */
typedef struct {
  gint64 watch, verdict, label, alarm, lift;
} DemurWatchMark;

/* Now. */
gboolean demur_watches_mark(DemurWorkspace *workspace, DemurWatchMark *mark,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurWatchRecord in force (owned), by selector and site; selector NULL: of all; then: as it
 * was then, NULL: now. DEMUR_ERROR_STORE where a document is not the one that was saved. */
GPtrArray *demur_watches_list(DemurWorkspace *workspace, const char *selector,
                              const DemurWatchMark *then, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The largest id of a verdict; 0: none. -1 with error. */
gint64 demur_watches_last_verdict(DemurWorkspace *workspace, GError **error);

/* One of them, in force or not. DEMUR_ERROR_NOT_FOUND, DEMUR_ERROR_STORE as above. */
DemurWatchRecord *demur_watches_load(DemurWorkspace *workspace, gint64 id,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  gint64 id; /* set when loaded */
  gint64 watch;
  char *signal;       /* its name (evaluation/watch.h) */
  gboolean withholds; /* no new verdict is accepted until it is lifted */
  gint64 at;          /* the verdict at which it was reached */
  char *document;     /* JSON: what changed, in numbers */
  char *created;
  char *selector, *selector_digest, *site; /* of its watch: set when loaded */
  /* Set when loaded; NULL and 0: not lifted. */
  char *lifted, *lifted_by, *lifted_why;
  gint64 lifted_after; /* the last verdict before it was lifted */
} DemurWatchAlarm;

void demur_watch_alarm_free(DemurWatchAlarm *alarm);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurWatchAlarm, demur_watch_alarm_free)

/* Adds an alarm of the watch alarm->watch; what is set when loaded is not read. */
gboolean demur_watch_alarms_save(DemurWorkspace *workspace, const DemurWatchAlarm *alarm,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurWatchAlarm of every watch of that selector, or of all (NULL), newest first (owned);
 * then: as above, alarms lifted later are not lifted. */
GPtrArray *demur_watch_alarms_list(DemurWorkspace *workspace, const char *selector,
                                   const DemurWatchMark *then,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A person lifts an alarm. DEMUR_ERROR_NOT_FOUND for no such alarm, DEMUR_ERROR_STATE for one that is
 * lifted already. why: not empty. */
gboolean demur_watch_alarms_lift(DemurWorkspace *workspace, gint64 alarm, const char *why,
                                 const char *user, const char *created,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  char *scan_id;
  double label; /* 0 or 1; NaN: there will be none */
} DemurWatchLabel;

/* Adds labels [n], a later one of the same scan in place of an earlier. */
gboolean demur_watch_labels_save(DemurWorkspace *workspace, const DemurWatchLabel *labels, size_t n,
                                 const char *user, const char *created,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* scan_id -> double (owned): the last label of each scan; then: as above. */
GHashTable *demur_watch_labels_load(DemurWorkspace *workspace, const DemurWatchMark *then,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
