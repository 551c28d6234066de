/* A DICOM storage server that takes several peers at once and forgets nothing it acknowledged. It
 * commits to what it holds where it is asked to (PS3.4 annex J), and takes the answers to what we
 * asked others (commitment.h).
 *
 * A listening process hands every connection to a process of its own: a peer that is silent, slow
 * or hostile costs only itself. An object is in memory until it has come whole, is looked at, is
 * brought to the disk (file and folder synced) and only then acknowledged; where the disk has no
 * room the peer is told so (A700) and its association goes on. Files lie at
 * FOLDER/STUDY/SERIES/INSTANCE.dcm.
 *
 * The journal lies beside them (FOLDER/.journal, receiver-journal.hh). A study that was acknowledged
 * and not read is read by the next server on the folder, whatever ended this one. What a study lacks
 * is named: each object that was refused, until it came; an association that broke off, or was open
 * when the server ended, by its calling AE title, until one of the same title that began later sent
 * objects of the study, had none refused and was released. Until then the study may be a part. */
#pragma once

#include <glib.h>

#include "base/progress.h"
#include "dicom/stow.h"
#include "dicom/tls.h"

G_BEGIN_DECLS

/* What came of reading studies. */
typedef enum {
  DEMUR_SETTLED_DONE,  /* they were read */
  DEMUR_SETTLED_AGAIN, /* they could not be read now: they stay in the journal and are told again */
  DEMUR_SETTLED_END,   /* they were read, and the server ends */
} DemurSettled;

typedef struct {
  const char *folder;
  guint port;
  const char *ae;               /* our own: another called title is refused */
  const char *const *callers;   /* AE titles accepted; NULL: any */
  const char *const *hosts;     /* addresses accepted, or "any"; NULL: the loopback only. Others are
                               * closed before a byte is read */
  const char *const *commit_to; /* "AE=HOST:PORT": where a peer that asks for storage commitment
                                 * takes it; others get it over the association that asks. NULL */
  const DemurTls *tls;          /* NULL: not encrypted */
  const DemurStow *stow;        /* objects come over HTTP too, from the same hosts; NULL: none do */
  guint timeout_seconds; /* for a peer that falls silent, and for a whole association request */
  guint settle_seconds;  /* of quiet of a study before it is told */
  guint give_up_seconds; /* .. of one that may be a part; 0: never, it waits until what was lost
                          * came */
  guint reserve_mb; /* MiB of the disk that are left free: an object for which that is not so is
                     * refused as where there is no room */
  guint
      max_lacking; /* studies of which an association, or the server, knows what lacks while the disk
                      * takes no mark of it: behind so many, none is taken for whole; 0: 10,000 */
  guint max_associations; /* at once; a further one waits for its turn, then is refused; 0: 20 */
  /* Called once the port is open, behind the last process that is forked off this one; FALSE ends the server with that
   * error. May be NULL. */
  gboolean (*listening)(gpointer data, GError **error);
  /* Called with the folders of studies that changed and are complete (NULL-terminated): no
   * association with them is open, they lack nothing that was lost, and nothing came for
   * settle_seconds; or they may be a part, and nothing came for give_up_seconds. Associations go on
   * meanwhile. */
  DemurSettled (*settled)(const char *const *folders, gpointer data);
  /* A refusal, a broken association, a damaged object: one sentence. May be NULL. */
  void (*problem)(const char *sentence, gpointer data);
  gpointer data;
} DemurReceiver;

typedef struct {
  size_t n_associations, n_refused, n_broken;
  size_t n_received, n_rejected, n_known; /* known: the same object again */
  size_t n_missing; /* of the rejected: could not be kept here, and were not sent again since */
  size_t n_unread; /* studies that are kept and wait: they may be a part, the journal takes no mark,
                    * they were not quiet for long enough, or: */
  size_t n_cut;    /* of them: an association that stored them was open, and was ended */
} DemurReceived;

/* Serves until settled ends it or progress is cancelled, both of which are a good end; associations
 * that are open then are ended. The callbacks run on the calling thread. To be called before
 * threads that hold locks are busy: it forks. DEMUR_ERROR_STATE where the port can't be opened,
 * DEMUR_ERROR_INPUT where the folder can't be made. */
gboolean demur_network_receive(const DemurReceiver *receiver, DemurReceived *received,
                               const DemurProgress *progress,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the study in FOLDER/STUDY may be a part: objects of it were refused, or lost by an
 * association that broke off, and did not come since. */
gboolean demur_receiver_is_broken(const char *folder, const char *study);

/* Whether objects of the study came, or are coming, that were not read yet. */
gboolean demur_receiver_is_arriving(const char *folder, const char *study);

G_END_DECLS
