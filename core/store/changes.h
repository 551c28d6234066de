/* What others do in a workspace while it is open: that something was written to the log, told at once where the
 * workspace is on a server (LISTEN, NOTIFY), and within a second by a file (SQLite's data_version); and, on a server,
 * who has which scan open. A line of its own, for one thread that waits. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct DemurChanges DemurChanges;

/* How long a file is not looked at, in milliseconds: a look is one read of a page that is in memory. */
#define DEMUR_CHANGES_LOOK_MS 500

/* Begins to listen at an address or file that is there; *last: the last event that tells of a change (see wait), as it
 * is now. NULL with DEMUR_ERROR_STORE or the errors of opening. */
DemurChanges *demur_changes_new(const char *path, gint64 *last,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;
void
demur_changes_free(DemurChanges *changes); /* NULL is allowed; who had a scan open has it no more */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurChanges, demur_changes_free)

typedef struct {
  gint64
      last; /* the number of the last event that changed what others see: no report that was written, no
                      case that was looked at */
  gboolean written; /* anything, be it of no change */
  gboolean opened;  /* another has another scan open than before, or none */
  gboolean
      is_another; /* another file lies there than the one listened to, or none, or one that may only be read was
                          written: only another line sees it */
} DemurChanged;

/* Waits until something was written or opened, something can be read from the descriptor wake (-1: none), or timeout_ms is
 * over: *changed tells, last alone where nothing was. FALSE with DEMUR_ERROR_STORE: the line is lost, and another is to
 * be made; this one is never made anew by itself, since who has what open, and what was written meanwhile, went with it. */
gboolean demur_changes_wait(DemurChanges *changes, guint timeout_ms, int wake,
                            DemurChanged *changed, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* This line's user has that scan open from now on, alone (NULL: none). A file doesn't know. */
gboolean demur_changes_open(DemurChanges *changes, const char *scan_id,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Who else has which scan open: users by the scan's mark, a list of both (array of DemurOpenedBy, owned; empty of a
 * file). NULL with error. */
typedef struct {
  guint32 mark;
  char *user;
} DemurOpenedBy;

GPtrArray *demur_changes_opened(DemurChanges *changes, GError **error) G_GNUC_WARN_UNUSED_RESULT;
guint32 demur_changes_mark(const char *scan_id);

G_END_DECLS
