/* Writing a file: whole or not at all. The only way by which the program writes one.
 *
 *   g_autoptr(DemurFileOutput) output = demur_file_output_open(path, DEMUR_FILE_REPLACE, error);
 *   ok = output && demur_file_output_write(output, bytes, n, error) .. &&
 *        demur_file_output_commit(output, error);
 *
 * What stands at path changes at the commit only, by one renaming: the bytes go to a file of
 * another name in the same folder, every write, the sync of file and folder and the closing are
 * checked, and whatever has its final name is whole. An output that is freed uncommitted leaves
 * nothing.
 *
 * - Rights: 0600, whatever the umask grants; DEMUR_FILE_PUBLIC for what names no patient. A file of
 *   the same owner that is replaced passes its rights on; one that may not be written is refused.
 *   Access lists and hard links are not taken over.
 * - What holds what can't be made again is not replaced (base/kept-file.h): a database, as a workspace is, and what belongs
 *   to it; a ledger of what was told, but by DEMUR_FILE_LEDGER; a round, an answer or a result of a study between sites;
 *   a plan's table with labels.
 * - "-" is standard output; a character device, a FIFO, and a path that leads to standard output
 *   (/dev/stdout) are written to as they are, as a stream: whole or not is then the reader's to
 * see, by the exit status. Folders, sockets and disks are refused.
 * - A symbolic link is kept and what it leads to is written; one that leads nowhere is refused, and
 *   so is one that another user put into a folder that all may write (/tmp).
 * - The unfinished file is called .demur-XXXXXXXX.part and is locked while its writer lives. What a
 *   killed run left is removed by the next one that writes into that folder: same owner, no lock.
 *
 * Errors are DEMUR_ERROR_OUTPUT (DEMUR_ERROR_EXISTS without DEMUR_FILE_REPLACE where the name is
 * taken): which file, what went wrong, what to do. One output is used by one thread at a time. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_FILE_STDOUT "-"

typedef struct DemurFileOutput DemurFileOutput;

typedef enum {
  DEMUR_FILE_NEW = 0,           /* the name must be free; another's file is never replaced */
  DEMUR_FILE_REPLACE = 1 << 0,  /* what is there is replaced */
  DEMUR_FILE_PUBLIC = 1 << 1,   /* rights 0666 less the umask */
  DEMUR_FILE_UNSYNCED = 1 << 2, /* whole or not at all while the machine runs; the caller keeps
                                 * the bytes on the disk elsewhere until it has synced this file */
  DEMUR_FILE_LEDGER = 1 << 3,   /* it is a ledger that grows: the one before is replaced */
} DemurFileFlags;

/* What can be said before anything is computed: whether opening path would succeed as things stand.
 * Nothing is made or waited for. */
gboolean demur_file_output_check(const char *path, DemurFileFlags flags,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What a command writes is none of the files that it reads, by whatever name or link: inputs ends in NULL. A file that is
 * not there yet is known by its name. */
gboolean demur_file_output_check_apart(const char *path, const char *const *inputs,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A FIFO waits for its reader. */
DemurFileOutput *demur_file_output_open(const char *path, DemurFileFlags flags,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Behind a failure everything else on this output fails too, with the same reason. */
gboolean demur_file_output_write(DemurFileOutput *output, gconstpointer bytes, size_t n,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Brings everything to the disk, without the final name: for several files that belong together,
 * each finished before the first is committed. Nothing can be written behind it. */
gboolean demur_file_output_finish(DemurFileOutput *output,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Finishes, and gives the file its name. Once only. Where it fails the name is as it was, but for
 * a failure to sync the folder: the file then has its name, and is whole. */
gboolean demur_file_output_commit(DemurFileOutput *output,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Discards what is not committed. NULL is allowed. */
void demur_file_output_free(DemurFileOutput *output);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurFileOutput, demur_file_output_free)

/* Gives a finished file, made by others in the same file system, the final name path by the rules
 * above (a regular file's; rights as they are), brought to the disk. */
gboolean demur_file_put(const char *made, const char *path, DemurFileFlags flags,
                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Removes a file that was committed to path and may not stand after all; what it replaced does not come
 * back. Streams are left. */
void demur_file_take_back(const char *path);

/* Brings the names in a folder to the disk. TRUE too for one that may not be listed or knows no
 * sync; FALSE with errno. */
gboolean demur_folder_sync(const char *path);

/* Makes a folder and those above it that are missing, 0700 less the umask, each on the disk (synced
 * in the one above) when it returns: what is later committed into it can be found. One that is
 * there is left as it is. DEMUR_ERROR_OUTPUT. */
gboolean demur_folder_make(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether it goes to standard output: what else is said there would then be mixed into it. */
gboolean demur_file_output_is_stdout(const char *path);

/* A whole file at once. n is -1 for text that ends in a null. */
gboolean demur_file_write(const char *path, gconstpointer bytes, gssize n, DemurFileFlags flags,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
