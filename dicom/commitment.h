/* Storage commitment (PS3.4 annex J, push model): an archive is asked to answer for objects that were
 * stored in it, and its answer comes over the association that asked, or over one of its own to our
 * storage server (receiver.h), now or in the night.
 *
 * Which answers are awaited, and what came, are files in FOLDER/.journal/commitments, named by the
 * transaction's UID: empty while it is awaited, then a byte, '1' or '0'. The server takes an answer
 * to nothing that was not asked. */
#pragma once

#include "dicom/network.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_COMMITMENT_NONE,    /* not awaited */
  DEMUR_COMMITMENT_AWAITED, /* asked, and not answered */
  DEMUR_COMMITMENT_GIVEN,   /* for all objects */
  DEMUR_COMMITMENT_REFUSED, /* for some or all of them */
} DemurCommitment;

/* From here on an answer to the transaction is taken. DEMUR_ERROR_OUTPUT. */
gboolean demur_commitment_await(const char *folder, const char *transaction_uid,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

DemurCommitment demur_commitment_heard(const char *folder, const char *transaction_uid);

/* Notes the answer; FALSE where none is awaited, or the disk has no room. */
gboolean demur_commitment_note(const char *folder, const char *transaction_uid, gboolean given);

void demur_commitment_forget(const char *folder, const char *transaction_uid);

/* Asks the peer for the objects of the files (NULL-terminated paths), and waits a few seconds for an
 * answer over the same association: *outcome is AWAITED where none came. DEMUR_ERROR_STATE where the
 * peer can't be reached, knows no storage commitment or does not take the question;
 * DEMUR_ERROR_INPUT where a file can't be read. */
gboolean demur_network_commit(const DemurPeer *peer, const char *const *paths,
                              const char *transaction_uid, DemurCommitment *outcome,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
