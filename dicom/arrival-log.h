/* A log of objects that arrive, so that one sync of a disk keeps each of them.
 *
 * A file that is written, named and kept costs two syncs, and both make the file system write its
 * own journal. Here an object's bytes are appended to a file whose blocks were written before, which
 * one fdatasync brings to the disk; the object's own file is then written without a sync. Every
 * CAPACITY bytes one syncfs brings all those files to the disk together and the log begins anew; at
 * the end the log is left, and one syncfs for many that were left removes them. What a power cut
 * takes of the files is in the log: whoever opens the folder next reads it
 * (demur_arrival_logs_read) and puts the objects back.
 *
 * Layout, little-endian: records, one behind another. A record is magic "DemurLog", a number that is
 * drawn anew whenever the log begins (8 bytes: records of before end it), the lengths of the
 * place, the name (4 each) and the object (8), CRC-32 of everything else in it (4), 4 zero bytes,
 * place, name, object. The first that is not whole ends the log: its object was not acknowledged.
 *
 * One log is used by one thread at a time. It lies in FOLDER/.journal and holds what its objects
 * hold: rights 0600. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct DemurArrivalLog DemurArrivalLog;

/* The log of one process for objects below folder. DEMUR_ERROR_OUTPUT where it can't be made, or
 * where one of this process is there. */
DemurArrivalLog *demur_arrival_log_open(const char *folder, int process,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Brings an object to the disk: the file of name in place, a folder below the log's. FALSE, with
 * nothing kept, where it is too large or the disk has no room: the caller syncs the object's file
 * instead. */
gboolean demur_arrival_log_add(DemurArrivalLog *log, const char *place, const char *name,
                               gconstpointer bytes, size_t n);

/* Ends the writing and frees the log; NULL is allowed. Its file stays, and keeps its objects, until
 * demur_arrival_logs_remove or demur_arrival_logs_read. */
void demur_arrival_log_leave(DemurArrivalLog *log);

/* Brings everything that was written below the folder to the disk, then removes the logs of these n
 * processes that left them. DEMUR_ERROR_OUTPUT: none is removed. */
gboolean demur_arrival_logs_remove(const char *folder, const int *processes, size_t n,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Called with each object of a log; FALSE ends the reading. */
typedef gboolean (*DemurArrivalLogged)(const char *place, const char *name, gconstpointer bytes,
                                       size_t n, gpointer data, GError **error);

/* Reads the logs below folder that processes left (process 0: of all, none of which runs; else of
 * that one, which ended), brings what logged has done to the disk and removes them. A log stays
 * where any of that fails: error of logged or DEMUR_ERROR_OUTPUT. */
gboolean demur_arrival_logs_read(const char *folder, int process, DemurArrivalLogged logged,
                                 gpointer data, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
