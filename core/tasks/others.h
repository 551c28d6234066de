/* What others do in the workspace that is open (store/changes.h), heard by a thread of its own and told where a main
 * context runs: so a window shows another's review without being asked to read again. */
#pragma once

#include "tasks/task.h"

G_BEGIN_DECLS

typedef struct DemurOthers DemurOthers;

/* Who has which scan open, besides this line: one moment's. */
typedef struct DemurOpenScans DemurOpenScans;

DemurOpenScans *demur_open_scans_ref(DemurOpenScans *scans);
void demur_open_scans_unref(DemurOpenScans *scans); /* NULL is allowed */
/* Whether nobody has any; NULL: nobody is known. */
gboolean demur_open_scans_none(const DemurOpenScans *scans);
/* The database's user who has it open (borrowed), the first by name of several; NULL: nobody. scans may be NULL. */
const char *demur_open_scans_by(const DemurOpenScans *scans, const char *scan_id);

typedef struct {
  gint64 last;           /* the last event that changed what is shown */
  DemurOpenScans *scans; /* borrowed */
  gboolean
      is_another; /* the line was made anew: whatever its number, what stands there may be another workspace */
} DemurOthersNews;

/* In the default main context, at most once a second; what comes in between is told as one. */
typedef void (*DemurOthersFunc)(const DemurOthersNews *news, gpointer data);

/* Begins to listen; a line that is lost, or can't be made yet, is tried again until stop. data is borrowed until then.
 * DEMUR_ERROR_STATE where the system makes no more threads. */
DemurOthers *demur_others_start(const char *path, DemurOthersFunc func, gpointer data,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* This window has that scan open (NULL: none). */
void demur_others_set_open(DemurOthers *others, const char *scan_id);

/* The last event that has been seen by who had seen `seen`, now that this task wrote too: its own where nobody changed
 * anything in between. */
gint64 demur_others_seen(const DemurTask *task, gint64 seen);

/* func is not called any more. What still waits for a disk or a server is waited for two seconds at most. NULL is
 * allowed. */
void demur_others_stop(DemurOthers *others);

G_END_DECLS
