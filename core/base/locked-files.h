/* Files on which this process holds locks by fcntl, as SQLite does on a workspace that is open. POSIX ends all locks of
 * a process on a file when it closes any descriptor of it: another program could then take the workspace's log for an
 * abandoned one. A descriptor of such a file, whoever opened it and for what, is kept until no database is open, and
 * is handed out again. Any thread. */
#pragma once

#include <stdio.h>

#include <glib.h>

G_BEGIN_DECLS

/* A database at path is open from now on; its companions (-wal, -shm, -journal) count. Once for each handle. */
void demur_locked_files_add(const char *path);
/* A handle is closed. Behind the last of all what was kept is closed. */
void demur_locked_files_remove(const char *path);

/* A descriptor to read path from its begin, without waiting for anybody (a FIFO, a device); -1 with errno. Closed by
 * demur_locked_files_close only. */
int demur_locked_files_open(const char *path) G_GNUC_WARN_UNUSED_RESULT;
void demur_locked_files_close(int fd);
/* Likewise of a stream that was made of one. */
void demur_locked_files_close_stream(FILE *stream);

G_END_DECLS
