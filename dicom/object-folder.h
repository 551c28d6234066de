/* Objects that came over a network, kept as they were sent at FOLDER/STUDY/SERIES/INSTANCE.dcm. */
#pragma once

#include "dicom/arrival-log.h"

G_BEGIN_DECLS

/* Whether text is a UID: 1 to 64 digits and dots. NULL is none. */
gboolean demur_object_is_uid(const char *text);

/* Where an object belongs. */
typedef struct {
  const char *folder; /* of all objects */
  const char *series; /* STUDY/SERIES below it, made where it is not there */
  const char *instance_uid;
} DemurObjectPlace;

/* Puts the object of these bytes under the instance's name, or behind a number beside another object
 * of that name, and brings it to the disk: by the log, or where that is NULL or takes no more by a
 * sync of file and folder. *known: the same data set in the same encoding was there before (who
 * sent it, group 0002, may differ), and nothing is written. DEMUR_ERROR_OUTPUT. */
gboolean demur_object_put(const DemurObjectPlace *place, const char *bytes, size_t n,
                          DemurArrivalLog *log, gboolean *known,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Keeps an object of a study, or of one series of it (NULL: any), that was asked of an archive: walked
 * whole first. DEMUR_ERROR_INPUT for one that can't be read or is another's, DEMUR_ERROR_OUTPUT. */
gboolean demur_object_keep(const char *folder, const char *study_uid, const char *series_uid,
                           gconstpointer bytes, size_t n, gboolean *known,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Puts back what a power cut took of objects that came by logs, and removes those; process as in
 * demur_arrival_logs_read. DEMUR_ERROR_OUTPUT: a log stays, and is read the next time. */
gboolean demur_objects_recover(const char *folder, int process,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
