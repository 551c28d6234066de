/* Progress and cancelling of slow work: passed in by the caller, never global. Every function that
 * may take over a second takes a `const DemurProgress *`, which may be NULL. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* fraction in [0, 1]; stage: a short translated-or-plain noun ("reading", "training"), borrowed.
 * May be called from the thread that does the work only. */
typedef void (*DemurProgressFunc)(double fraction, const char *stage, gpointer data);

typedef struct {
  DemurProgressFunc func; /* may be NULL */
  gpointer data;
  GCancellable *cancellable; /* may be NULL; borrowed */
} DemurProgress;

/* Reports, and tells whether to go on: FALSE with G_IO_ERROR_CANCELLED once cancelled. */
gboolean demur_progress_step(const DemurProgress *progress, double fraction, const char *stage,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* One stage of a longer piece of work: its fractions 0 to 1 become start to end of the whole. */
typedef struct {
  const DemurProgress *outer; /* borrowed; not NULL */
  double start, end;
  const char *name; /* told in place of the stage's own words; NULL: those */
} DemurProgressStage;

/* The progress to hand to the stage's work; stage must live as long, and may be changed between
 * stages. */
DemurProgress demur_progress_stage(DemurProgressStage *stage);

G_END_DECLS
