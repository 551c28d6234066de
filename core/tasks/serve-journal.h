/* What a service knows of each study, kept as one small file a study: so that whatever ends the
 * service, the next one goes on where it was.
 *
 *   FOLDER/.journal/queue/STUDY.json     on its way: read, model, assess, answer
 *   FOLDER/.journal/held/STUDY.json      ended without an answer, and why
 *   FOLDER/.journal/answered/STUDY.json  answered
 *   FOLDER/.journal/again/STUDY          a mark: to go through all steps again
 *
 * beside the marks of the receiver (dicom/receiver.h) for what has not come whole yet. A study has
 * one file: the one in queue holds where there are two, since a finished one is written before that
 * is removed. No patient's name or ID stands in any of them. */
#pragma once

#include <glib.h>

#include "base/json-writer.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_SERVE_READ,   /* into the workspace, once it is complete */
  DEMUR_SERVE_MODEL,  /* the external model's run */
  DEMUR_SERVE_ASSESS, /* and writing what goes out */
  DEMUR_SERVE_ANSWER, /* being delivered */
  DEMUR_SERVE_DONE,
  DEMUR_N_SERVE_STEPS,
} DemurServeStep;

/* "read", "model" .. */
const char *demur_serve_step_name(DemurServeStep step);

typedef enum {
  DEMUR_DELIVERY_WAITING,
  DEMUR_DELIVERY_STORED, /* .. acknowledged every object, and is asked to commit to them */
  DEMUR_DELIVERY_SENT,   /* the peer acknowledged, and committed to, every object */
  DEMUR_DELIVERY_GIVEN_UP,
  DEMUR_N_DELIVERY_STATES,
} DemurDeliveryState;

/* What goes to one destination. Times are seconds since 1970. */
typedef struct {
  char *to;
  char **files; /* paths */
  DemurDeliveryState state;
  guint tries;
  gint64 since, next; /* next: not before */
  char *why;          /* the last failure; NULL: none */
  char *transaction;  /* UID of the question for storage commitment; NULL: none is open */
  gint64 asked;       /* when */
} DemurDelivery;

typedef struct {
  char *study; /* the name of its folder: its StudyInstanceUID */
  DemurServeStep step;
  guint tries;                 /* of this step */
  gint64 arrived, next;        /* next: not before */
  char *why;                   /* it waits, or was held; NULL */
  guint n_objects, n_expected; /* n_expected 0: nobody says */
  gboolean part;               /* it is read though objects are missing */
  gboolean held;               /* done without an answer */
  char *scan_id, *verdict;     /* NULL until then */
  char *answered;              /* digest of the verdict that is told; NULL: none yet */
  GPtrArray *deliveries;       /* DemurDelivery */
  gboolean busy;               /* not kept: a thread works on it */
} DemurServeStudy;

DemurServeStudy *demur_serve_study_new(const char *study, gint64 now);
void demur_serve_study_free(DemurServeStudy *study);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurServeStudy, demur_serve_study_free)
DemurDelivery *demur_delivery_new(const char *to, gint64 now);

/* Makes the folders. */
gboolean demur_serve_journal_open(const char *folder, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Brings the study to the disk, where its step and held put it. */
gboolean demur_serve_journal_save(const char *folder, const DemurServeStudy *study,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef enum {
  DEMUR_JOURNAL_QUEUE,
  DEMUR_JOURNAL_HELD,
  DEMUR_JOURNAL_ANSWERED,
  DEMUR_N_JOURNAL_PLACES,
} DemurJournalPlace;

/* What is kept in one place: array of DemurServeStudy by arrival (owned, frees its elements).
 * damaged: names of files that are no such record (char *, owned by the array; may be NULL). */
GPtrArray *demur_serve_journal_list(const char *folder, DemurJournalPlace place,
                                    GPtrArray *damaged);
guint demur_serve_journal_count(const char *folder, DemurJournalPlace place, gint64 *newest);

/* Names of studies whose answers were delivered before `before`, and that are not on their way again
 * (owned). */
char **demur_serve_journal_answered(const char *folder, gint64 before);

/* The record of a study that was answered or held before; NULL: there is none. */
DemurServeStudy *demur_serve_journal_find(const char *folder, const char *study);

/* Takes finished records out that were written before `before`; how many. */
guint demur_serve_journal_prune(const char *folder, gint64 before);

/* Members of an open object. */
void demur_serve_study_write(DemurJson *json, const DemurServeStudy *study);

G_END_DECLS
