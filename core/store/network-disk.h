/* Workspaces in files on a network's file system. SQLite's write-ahead log has its index in memory that
 * programs share (SQLite, "Write-Ahead Logging"): between two machines there is none, and what both write is
 * lost or damaged. So a file there is refused, with the ways out; what can only be read is read as it lies.
 *
 * Which file systems are meant is one table of their numbers (statfs(2), linux/magic.h). 9P is not in it: a
 * virtual machine has its own host's disk by it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The number of the file system that holds a path or, of one that is not there, the folder it would be in; 0:
 * not known. */
typedef guint32 (*DemurFileSystemLook)(const char *path);

/* Who looks from now on, for tests; NULL, as it begins: statfs. A setting of the process. */
void demur_network_disk_set_look(DemurFileSystemLook look);

/* From now on a file on a network's disk is opened like any other (--network-disk): a setting of the process,
 * made once at its start, by who knows that one machine alone writes there. */
void demur_network_disk_allow(void);

/* Its name where the number is that of a network's file system ("NFS"), else NULL. */
const char *demur_network_disk_name(guint32 type);

/* Refuses (DEMUR_ERROR_STORE) a workspace's file, there or to be made, on a network's disk. */
gboolean demur_network_disk_check(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
