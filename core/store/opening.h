/* Inside the store only: what stands at a workspace's path, who may do what with it, and by which
 * name SQLite opens it. Nothing outside core/store includes this header.
 *
 * Rights. A workspace is made readable and writable for its owner alone; in a folder that a group
 * shares (set-group-ID and writable for the group) for that group too. SQLite gives the side files
 * (-wal, -shm) the rights of the file. A writer whose side files would lock the owner out is
 * refused.
 *
 * Readers. Who may write neither file nor folder leaves nothing: where no change stands in the log
 * the file is read as it lies there (immutable); else the log's own index is read, and where that
 * can't be, opening is refused. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

/* Whether there is a workspace of this program's schema or an older one at path; *is_empty:
 * nothing, or a file of no bytes. DEMUR_ERROR_STORE for what is no workspace (folder, FIFO, another
 * file), is of a newer program or can't be read. Drops no lock that another handle of this process
 * holds. */
gboolean demur_store_look(const char *path, gboolean *is_empty,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Makes the empty file, and its folder, with the rights above. DEMUR_ERROR_STORE where it can't. */
gboolean demur_store_make_file(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Gives a finished file, which is to be put at path, the rights that one made there would have. FALSE with
 * errno. */
gboolean demur_store_share_as_in(const char *made, const char *path) G_GNUC_WARN_UNUSED_RESULT;

/* Refuses (DEMUR_ERROR_STORE) a writer whose side files would lock the file's owner out. */
gboolean demur_store_check_writer(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The name that SQLite opens (owned). ":memory:" and "file:.." are names of files here; *is_uri:
 * to be opened with SQLITE_OPEN_URI. NULL with DEMUR_ERROR_STORE where what it reads can't be read
 * without writing beside it. */
char *demur_store_database_name(const char *path, gboolean read_only, gboolean *is_uri,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* DEMUR_ERROR_STORE "of a newer program", always FALSE. */
gboolean demur_store_refuse_newer(const char *path, gint64 version, GError **error);

G_END_DECLS
