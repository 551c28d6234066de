/* Slow work on a thread of its own: the worker gets plain values, everything else happens on the
 * main thread. A job that was dropped never calls back, so a late result can't reach a view that
 * shows something else by now. */
#pragma once

#include <gio/gio.h>

#include "base/progress.h"

G_BEGIN_DECLS

typedef struct DemurJob DemurJob;

/* On the worker's thread. NULL with error. */
typedef gpointer (*DemurJobFunc)(DemurJob *job, gpointer input, const DemurProgress *progress,
                                 GError **error);

/* On the main thread. result is the callback's to keep (NULL with error set, which is borrowed). */
typedef void (*DemurJobDone)(gpointer owner, guint64 tag, gpointer result, const GError *error);
/* On the main thread: what the worker handed over before its end (demur_job_deliver). */
typedef void (*DemurJobPart)(gpointer owner, guint64 tag, gpointer part);
typedef void (*DemurJobProgress)(gpointer owner, guint64 tag, double fraction, const char *stage);

typedef struct {
  DemurJobFunc func;
  gpointer input; /* taken over */
  GDestroyNotify free_input, free_result, free_part;
  GObject *owner; /* not kept alive: a job whose owner is gone is dropped */
  guint64 tag;    /* handed back: the owner's generation */
  DemurJobDone done;
  DemurJobPart part;         /* may be NULL */
  DemurJobProgress progress; /* may be NULL; coalesced: the newest value once an idle */
} DemurJobStart;

/* Starts it; the handle is good until done was called or the job dropped. */
DemurJob *demur_job_start(const DemurJobStart *start);

/* Asks the worker to stop; done is called with G_IO_ERROR_CANCELLED, or with a result that was
 * ready already. */
void demur_job_cancel(DemurJob *job);

/* Cancels, and no callback is ever called again. Clears *job; NULL is allowed. */
void demur_job_drop(DemurJob **job);

/* From the worker: part (freed with free_part where nobody takes it) goes to the main thread. */
void demur_job_deliver(DemurJob *job, gpointer part);

/* How many workers run, for tests and for closing the window. */
guint demur_job_n_running(void);

G_END_DECLS
