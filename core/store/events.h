/* Who did what: one append-only table of events, each chained to the one before by its digest.
 *
 * Every change of the workspace that a verdict could rest on is an event, written in the
 * transaction of the change itself by the function that makes it (and nowhere else): what it is of
 * (a key such as "score:SCAN|MODEL"), the digest of what is there now (NULL: it was taken out),
 * who, where, when and by which program. No patient's name or ID stands in it. So the last event of
 * a key says what its row must be, and `demur verify` says where a row, or the chain, is not what
 * was written. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_EVENT_IMPORT,     /* a series came, or came again */
  DEMUR_EVENT_CHOICE,     /* which series of a study is assessed */
  DEMUR_EVENT_OVERRULE,   /* a person chose against the rules */
  DEMUR_EVENT_CONFLICT,   /* the same UIDs with other content or under another person */
  DEMUR_EVENT_RESOLUTION, /* a person decided a conflict */
  DEMUR_EVENT_CORRECTION, /* of the person that a series is of */
  DEMUR_EVENT_REMOVAL,
  DEMUR_EVENT_SCORE,
  DEMUR_EVENT_RUN,      /* of an external model on a scan */
  DEMUR_EVENT_COHORT,   /* a cohort came, or what is kept with it changed */
  DEMUR_EVENT_TRAINING, /* a selector was kept: trained or imported */
  DEMUR_EVENT_THRESHOLD,
  DEMUR_EVENT_DECISION, /* why a coverage */
  DEMUR_EVENT_AUDIT,
  DEMUR_EVENT_ACCEPTANCE, /* a local acceptance test: its plan, and its answer */
  DEMUR_EVENT_WATCH, /* a watch over a selector: its beginning, labels, alarms, who lifted them */
  DEMUR_EVENT_ASSESSMENT,
  DEMUR_EVENT_REVIEW,
  DEMUR_EVENT_REVEAL,
  DEMUR_EVENT_ANNOTATION, /* something was drawn on an image, or taken off */
  DEMUR_EVENT_EXPORT,
  DEMUR_EVENT_REFUSAL, /* an attempt that was refused */
  DEMUR_EVENT_OPENING, /* another user, or another station, began to write */
  DEMUR_EVENT_OPENED,  /* a patient's scan was looked at; kept where the site wants it */
  DEMUR_EVENT_SETTING, /* what the site wants of the workspace */
  DEMUR_N_EVENTS,
} DemurEventKind;

#define DEMUR_EVENTS_SHORTEST_HEAD 12 /* digits of one that is looked for */

/* "import", "choice" ..; FALSE where the name is none of them. */
const char *demur_event_kind_name(DemurEventKind kind);
gboolean demur_event_kind_from_name(const char *name,
                                    DemurEventKind *kind) G_GNUC_WARN_UNUSED_RESULT;

/* Texts may be NULL but for key. */
typedef struct {
  gint64 sequence;
  DemurEventKind kind;
  char *key, *digest;
  char *details; /* words of a person, file names: a JSON object */
  char *user, *station, *program, *created;
  char *seal;             /* of the rows that key stands for, whole (store/seal.h); NULL: of none */
  char *previous, *chain; /* the digest of the event before, and its own */
} DemurEvent;

void demur_event_free(DemurEvent *event);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurEvent, demur_event_free)

/* Adds one at the end, in the open transaction or one of its own, behind the change that it tells
 * of: the rows of its key are sealed as they stand. created: ISO 8601, UTC. Who and
 * where: demur_workspace_set_actor. */
gboolean demur_events_add(DemurWorkspace *workspace, DemurEventKind kind, const char *key,
                          const char *digest, const char *details, const char *created,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurEvent in order (owned): those behind `after` (0: all), of that key (NULL: any). */
GPtrArray *demur_events_list(DemurWorkspace *workspace, gint64 after, const char *key,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The digest of the last event: what stands on reports and exports, and finds a rewritten history.
 * "" where there is none yet; owned; NULL with error. */
char *demur_events_head(DemurWorkspace *workspace, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The first event that this handle writes is told to begin where the last one is another's: of
 * another user or station. In the open transaction. */
gboolean demur_events_begin(DemurWorkspace *workspace, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of the last event that changed something: what leaves the workspace, is looked at, refused
 * or opened leaves it, so that the same report has the same bytes whenever it is written. */
char *demur_events_head_of_change(DemurWorkspace *workspace,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The last event that changed something, by its number, counted without reports, refusals, openings and what was looked at:
 * who has seen it has seen what others see. 0: there is none. */
gboolean demur_events_last_of_change(DemurWorkspace *workspace, gint64 *sequence,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Of who has seen the changes up to *seen (as last_of_change counts them), now that this handle wrote too: *seen is
 * the last that it wrote, where nobody else wrote one in between, and else stays. What was taken back, or is not committed
 * yet, was not written. */
gboolean demur_events_see_own(DemurWorkspace *workspace, gint64 *seen,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The last event of what evaluations are made of: cohorts, selectors with their validation,
 * thresholds, site audits, and what of these was taken out. 0: there is none. */
gboolean demur_events_last_of_evaluation(DemurWorkspace *workspace, gint64 *sequence,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether that selector's training is in the log, and all of it behind the beginning of that watch: by the log's order,
 * not by clocks. */
gboolean demur_events_trained_since(DemurWorkspace *workspace, const char *selector_digest,
                                    gint64 watch, gboolean *since,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Looks for a head that was printed or kept before, whole or its first 12 digits and more, and walks
 * the chain as far as it: *sequence is the event that it is the digest of, 0 where the log holds
 * none, or not in an unbroken chain: it was cut or written anew, or is another workspace's.
 * DEMUR_ERROR_USAGE for what is too short or no hexadecimal number. */
gboolean demur_events_find_head(DemurWorkspace *workspace, const char *head, gint64 *sequence,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What an event's chain must be (owned). */
char *demur_event_digest(const DemurEvent *event);

G_END_DECLS
