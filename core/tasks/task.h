/* What every use case works with: the workspace, threads, progress, the time, and who works.
 *
 * A use case of Demur stands once, in this room, as functions that take a DemurTask, their own
 * parameters and a GError. The command line and the window are equals above it: they fill a
 * DemurTask, call, and say what came of it. Nothing here knows of arguments, GTK or standard
 * output; warnings and notes are part of what is returned. */
#pragma once

#include <glib.h>

#include "base/parallel.h"
#include "base/progress.h"
#include "store/workspace.h"

G_BEGIN_DECLS

typedef struct {
  char *workspace_path;        /* of the workspace; owned */
  DemurWorkspaceFlags opening; /* how it is opened where it may be written */
  guint64 seed;                /* of every random stream, default 1 */
  DemurParallel *parallel;     /* owned; not reentrant */
  DemurProgress progress;      /* borrowed; cancels too */
  char *(*now)(void);          /* the time, ISO 8601, UTC (owned); NULL: the clock */
  char *user;    /* who works, kept with what is done; owned, NULL: not known. On a server,
                                  once the workspace is open, as whom it knows them */
  char *station; /* the machine's name, likewise */
  DemurWorkspace *workspace; /* opened at first use; owned */
} DemurTask;

/* Frees what the task owns and leaves it empty. */
void demur_task_clear(DemurTask *task);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurTask, demur_task_clear)

/* The workspace, opened as `opening` says, or for reading where it may only be read: what would
 * write to it then says why it can't. NULL with error. Owned by the task, and used by one thread at
 * a time. */
DemurWorkspace *demur_task_workspace(DemurTask *task, GError **error);

/* The same for long work whose end is rows of a table: where the user may not write them, that is said before anything
 * is computed (store/roles.h). */
DemurWorkspace *demur_task_workspace_to_write(DemurTask *task, const char *table, GError **error);

/* The finished workspace of the task takes the place of the one at path, or of none, whole or not at
 * all (store/replace.h); from then on that is the task's. */
gboolean demur_task_put_workspace(DemurTask *task, const char *path,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Which workspace is meant where none is named (owned): DEMUR_WORKSPACE of the environment, else
 * last (the one of last time; NULL: none), else the one in the user's data folder. */
char *demur_task_usual_workspace(const char *last);

/* Whether a workspace's path is a server's address and no file's name (store/workspace.h). */
gboolean demur_task_workspace_is_address(const char *path);

/* How a workspace is called where there is room for a word (owned): the name of its file; of a server's the database, and
 * as whom it is opened where the address says that: "ward (anna)". */
char *demur_task_workspace_name(const char *path);

/* FALSE for the name of a file that is not there; whether a server's database is, is known when it is
 * opened. */
gboolean demur_task_workspace_may_be_there(const char *path);

/* From now on workspaces in files on a network's disk are opened too (--network-disk; store/network-disk.h). */
void demur_task_allow_network_disk(void);

/* The time by the task's clock: "2026-01-31T12:00:00Z", owned. */
char *demur_task_now(const DemurTask *task);

G_END_DECLS
