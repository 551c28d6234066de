/* The workspace: one SQLite file, or one database of a PostgreSQL server, that holds cohorts,
 * selectors, thresholds, DICOM series, scores and verdicts.
 *
 * Only driver-sqlite.c knows SQLite. The command line and the workstation may have the same file open at
 * the same time (WAL, one writer, a writer waits for another: up to 10 s, or a minute where that is
 * told, see demur_workspace_tell_waiting). A handle is used by one thread at a time; a thread that
 * needs the workspace too opens a handle of its own. Names and times are given by the caller (ISO
 * 8601, UTC): this room has no clock. Where SQLite fails, the error is DEMUR_ERROR_STORE. */
#pragma once

#include <glib.h>

#include "base/progress.h"

G_BEGIN_DECLS

typedef struct DemurWorkspace DemurWorkspace;

typedef enum {
  DEMUR_WORKSPACE_DEFAULT = 0,
  DEMUR_WORKSPACE_CREATE = 1 << 0, /* an absent (or empty) file, and its folder, are created */
  DEMUR_WORKSPACE_READ_ONLY =
      1 << 1, /* nothing is written, no migration: an older schema is refused */
} DemurWorkspaceFlags;

/* Whether path is the address of a PostgreSQL server's database (postgresql://HOST/DATABASE) and not the
 * name of a file. */
gboolean demur_workspace_is_server(const char *path);

/* Whether the first n bytes of a file are those of an SQLite database. */
gboolean demur_workspace_is_database(const char *bytes, size_t n);

/* Whether there is such a file and it may only be read, because of its own rights or its folder's:
 * to be opened with DEMUR_WORKSPACE_READ_ONLY, which then leaves nothing beside it. */
gboolean demur_workspace_is_read_only(const char *path);

/* Opens the workspace and brings an older schema up to this program's. NULL with
 * DEMUR_ERROR_NOT_FOUND where the file is absent and not to be created; DEMUR_ERROR_STORE where it
 * is not a workspace, belongs to a newer program (both left untouched), can't be read or written,
 * is on a network's disk (store/network-disk.h), or is locked for too long; DEMUR_ERROR_USAGE for an empty path. */
DemurWorkspace *demur_workspace_open(const char *path, DemurWorkspaceFlags flags,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same, and progress hears of waits from the first on (demur_workspace_tell_waiting). */
DemurWorkspace *demur_workspace_open_told(const char *path, DemurWorkspaceFlags flags,
                                          const DemurProgress *progress,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* NULL is allowed. A transaction still open is rolled back. */
void demur_workspace_close(DemurWorkspace *workspace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurWorkspace, demur_workspace_close)

/* From now on a wait for another program's lock is a step of progress, which may cancel it, and
 * lasts up to a minute; so is a wait for a server that takes more than a second for an answer, as long as that takes.
 * Cancelled, nothing of the open transaction is written, but where a server has its end already
 * (DEMUR_ERROR_AWAY: as a whole or not at all). progress is borrowed until the workspace is closed; NULL: as before. */
void demur_workspace_tell_waiting(DemurWorkspace *workspace, const DemurProgress *progress);

/* How long a writer waits while another program holds the lock. */
typedef enum {
  DEMUR_PATIENCE_USUAL,   /* 10 s, or a minute where it is told */
  DEMUR_PATIENCE_SHORT,   /* a second: what can be kept a little later as well */
  DEMUR_PATIENCE_ENDLESS, /* where it is told: until the lock is free, or it is cancelled; what took
                             long to compute is not lost to another program's lock */
} DemurPatience;

/* From now on; gives what was before. */
DemurPatience demur_workspace_set_patience(DemurWorkspace *workspace, DemurPatience patience);

/* Whether what failed last (DEMUR_ERROR_STORE) failed because another program holds the lock for
 * longer than is waited for, and is worth another try. */
gboolean demur_workspace_is_locked_out(const DemurWorkspace *workspace);

const char *demur_workspace_path(const DemurWorkspace *workspace);

/* USER_DATA_DIR/demur/workspace.demur (owned). */
char *demur_workspace_default_path(const char *user_data_dir);

/* Who works, where, and the clock (NULL: times stay empty), for the events that this handle writes.
 * Texts are copied, may be NULL. */
void demur_workspace_set_actor(DemurWorkspace *workspace, const char *user, const char *station,
                               char *(*now)(void));

/* As whom who works is known: by the server, whatever the actor was said to be, else as the actor (borrowed; NULL: not
 * known). What is written names this user; a server refuses another name. */
const char *demur_workspace_user(const DemurWorkspace *workspace);

/* What lies at the stored places of a series' images now. */
typedef enum {
  DEMUR_PLACES_AS_IMPORTED,
  DEMUR_PLACES_CHANGED, /* something else than what was imported, or some of it is gone */
  DEMUR_PLACES_AWAY,    /* nothing can be read there: a medium that was taken out */
} DemurPlaces;

/* Looks at the places: this room knows no images. It may read the workspace, and writes nothing. */
typedef DemurPlaces (*DemurPlacesLook)(DemurWorkspace *workspace, const char *scan_id,
                                       gpointer data);

/* Who looks for the bindings of verdicts (store/bindings.h); data is borrowed until the workspace is
 * closed. NULL, as it begins: nobody, and all is taken to be as it was imported. */
void demur_workspace_set_places_look(DemurWorkspace *workspace, DemurPlacesLook look,
                                     gpointer data);

/* One view: whatever is read until end_read is as it was at the first of it, whoever writes
 * meanwhile. Nothing may be written in between; inside a transaction it is that one. */
gboolean demur_workspace_begin_read(DemurWorkspace *workspace,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_workspace_end_read(DemurWorkspace *workspace);

/* One transaction for what belongs together: every save below is a transaction of its own, or part
 * of the one that is open. They nest: only the outermost commit writes; a rollback undoes as far as
 * its own begin. */
gboolean demur_workspace_begin(DemurWorkspace *workspace, GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean demur_workspace_commit(DemurWorkspace *workspace,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_workspace_rollback(DemurWorkspace *workspace);

/* One thing that verify looked at. */
typedef struct {
  gboolean ok;
  char *subject; /* "database", "cohort ist", "selector a" */
  char *message; /* what was checked, or what is wrong and what to do */
} DemurFinding;

typedef struct {
  gboolean ok; /* every finding is */
  size_t n_findings;
  DemurFinding *findings;
  size_t n_cohorts, n_selectors, n_series, n_scores, n_verdicts;
} DemurVerification;

/* SQLite's own integrity and foreign key checks, then every cohort loaded and its digest computed
 * anew, every selector document digested anew. What is wrong is a finding, not an error; NULL with
 * error only where the workspace can't be read at all or the work was cancelled. */
DemurVerification *demur_workspace_verify(DemurWorkspace *workspace, const DemurProgress *progress,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_verification_free(DemurVerification *verification);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurVerification, demur_verification_free)

G_END_DECLS
