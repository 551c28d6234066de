/* The DICOM network as a user of services: echo, store, find and move, through DCMTK's dcmnet. The
 * storage server is receiver.h.
 *
 * Objects that arrive are written as they were sent, without being parsed, and are walked by our
 * own reader before anything else looks at them; so are those that are sent. What DCMTK parses
 * while it comes (commands, answers to a query) may have 16 KiB a message: more ends the connection
 * before DCMTK sees it, since its parser would follow any nesting until its stack is used up.
 * Nothing here logs, and no message holds a patient's name. Without TLS (tls.h) nothing is
 * encrypted: then use it inside a hospital's network or through a tunnel. */
#pragma once

#include <glib.h>

#include "base/progress.h"
#include "dicom/tls.h"

G_BEGIN_DECLS

typedef struct DemurPeer {
  const char *host;
  guint port;
  const char *called;    /* AE title of the peer */
  const char *calling;   /* our own */
  guint timeout_seconds; /* for each answer, and for connecting */
  const DemurTls *tls;   /* NULL: not encrypted */
} DemurPeer;

/* C-ECHO. DEMUR_ERROR_STATE where the peer can't be reached, refuses or does not answer. */
gboolean demur_network_echo(const DemurPeer *peer, GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  size_t n_sent, n_failed, n_skipped; /* skipped: no DICOM objects */
  GPtrArray *problems;                /* char *, one sentence each */
} DemurSending;

/* C-STORE of the files (NULL-terminated paths), each in the transfer syntax it is stored in. What
 * the peer refuses is a problem and stops nothing; NULL with DEMUR_ERROR_STATE where there is no
 * association, or it broke off, with how many had been sent. */
DemurSending *demur_network_send(const DemurPeer *peer, const char *const *paths,
                                 const DemurProgress *progress,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_sending_free(DemurSending *sending);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurSending, demur_sending_free)

/* Keys of a query; NULL: any. A study_uid lists the study's series, else studies are listed. */
typedef struct {
  const char *patient_id, *accession_number, *study_date, *modality, *study_uid, *series_uid;
} DemurQuery;

/* UTF-8, owned; "" where the peer says nothing. */
typedef struct {
  char *patient_id, *study_uid, *study_date, *accession_number, *study_description;
  char *series_uid, *series_number, *modality, *series_description, *n_instances;
} DemurFound;

void demur_found_free(DemurFound *found);

/* C-FIND: array of DemurFound, in the peer's order (owned, frees its elements). */
GPtrArray *demur_network_find(const DemurPeer *peer, const DemurQuery *query,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  guint n_completed, n_failed, n_warnings;
} DemurMoved;

/* C-MOVE of a study, or of one series of it, to the archive's peer of AE title destination.
 * DEMUR_ERROR_STATE where it is refused or some objects could not be sent. */
gboolean demur_network_move(const DemurPeer *peer, const char *destination, const char *study_uid,
                            const char *series_uid, DemurMoved *moved,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  size_t n_objects, n_known; /* kept; known: the same object was there before */
  guint n_failed;            /* that the archive could not send */
} DemurGot;

/* C-GET of a study, or of one series of it (NULL: all), over the association that asks: into
 * FOLDER/STUDY/SERIES/INSTANCE.dcm, as they are sent. An object of another study, or one that can't
 * be read, is refused and counted as failed. DEMUR_ERROR_STATE where the archive refuses, breaks off
 * or could not send all; what came before stays. */
gboolean demur_network_get(const DemurPeer *peer, const char *study_uid, const char *series_uid,
                           const char *folder, DemurGot *got, const DemurProgress *progress,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
