/* DICOMweb as a user of services (PS3.18), through libcurl: QIDO-RS (search), WADO-RS (retrieve) and
 * STOW-RS (store).
 *
 * Only https and http are spoken, no redirection is followed, certificates are checked. What a
 * server sends is bounded: an answer in JSON to 64 MiB and 64 levels, an object to 1 GiB, and a
 * server that sends next to nothing for as long as the timeout is given up. Objects are walked by
 * our own reader before they are kept, as those of the receiver are. No message holds a patient's
 * name. */
#pragma once

#include "dicom/network.h"

G_BEGIN_DECLS

typedef struct {
  const char *url;       /* of the service's root: https://host/dicom-web */
  const DemurTls *tls;   /* authorities (NULL: the machine's), and our own certificate; NULL */
  const char *login;     /* "USER:PASSWORD", or a token without a colon; NULL: none. Never sent
                         * unencrypted to another machine */
  guint timeout_seconds; /* for connecting, and for silence */
} DemurWeb;

/* Whether a peer is given as an address of the web. */
gboolean demur_web_is_url(const char *peer);

/* QIDO-RS: array of DemurFound, as demur_network_find. */
GPtrArray *demur_web_find(const DemurWeb *web, const DemurQuery *query,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct {
  size_t n_objects, n_known; /* kept; known: the same object was there before */
} DemurWebRetrieved;

/* WADO-RS of a study, or of one series (NULL: all), into FOLDER/STUDY/SERIES/INSTANCE.dcm. An object
 * of another study than was asked for, and one that can't be read, end it; what came before stays.
 * DEMUR_ERROR_STATE where the server can't be reached, refuses or breaks off. */
gboolean demur_web_retrieve(const DemurWeb *web, const char *study_uid, const char *series_uid,
                            const char *folder, DemurWebRetrieved *retrieved,
                            const DemurProgress *progress,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* STOW-RS of the files (NULL-terminated paths), a few at a time. As demur_network_send. */
DemurSending *demur_web_send(const DemurWeb *web, const char *const *paths,
                             const DemurProgress *progress,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
