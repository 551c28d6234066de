/* chain_i = SHA-256(sequence, kind, key, digest, details, user, station, program, created,
 * chain_(i-1), and the seal where there is one), each value framed by its length; chain_0 = SHA-256 of nothing said, "". A cut end
 * is found by a head that was printed before; everything else by walking the table. */
#include "store/events.h"

#include <inttypes.h>
#include <string.h>

#include "base/sha256.h"
#include "base/error.h"
#include "store/connection.h"
#include "store/seal.h"

static const char *const kinds[DEMUR_N_EVENTS] = {
    [DEMUR_EVENT_IMPORT] = "import",         [DEMUR_EVENT_CHOICE] = "choice",
    [DEMUR_EVENT_OVERRULE] = "overrule",     [DEMUR_EVENT_CONFLICT] = "conflict",
    [DEMUR_EVENT_RESOLUTION] = "resolution", [DEMUR_EVENT_CORRECTION] = "correction",
    [DEMUR_EVENT_REMOVAL] = "removal",       [DEMUR_EVENT_SCORE] = "score",
    [DEMUR_EVENT_COHORT] = "cohort",         [DEMUR_EVENT_TRAINING] = "training",
    [DEMUR_EVENT_THRESHOLD] = "threshold",   [DEMUR_EVENT_DECISION] = "decision",
    [DEMUR_EVENT_AUDIT] = "audit",           [DEMUR_EVENT_ASSESSMENT] = "assessment",
    [DEMUR_EVENT_REVIEW] = "review",         [DEMUR_EVENT_REVEAL] = "reveal",
    [DEMUR_EVENT_ANNOTATION] = "annotation", [DEMUR_EVENT_EXPORT] = "export",
    [DEMUR_EVENT_REFUSAL] = "refusal",       [DEMUR_EVENT_RUN] = "run",
    [DEMUR_EVENT_ACCEPTANCE] = "acceptance", [DEMUR_EVENT_WATCH] = "watch",
    [DEMUR_EVENT_OPENING] = "opening",       [DEMUR_EVENT_OPENED] = "opened",
    [DEMUR_EVENT_SETTING] = "setting",
};

/* Those that change nothing that others see. */
#define UNSEEN(_)                                                                                  \
  _(EXPORT, "export") _(REFUSAL, "refusal") _(OPENING, "opening") _(OPENED, "opened")
#define UNSEEN_NAME(kind, name) ", '" name "'"
#define OF_CHANGE "kind NOT IN (''" UNSEEN(UNSEEN_NAME) ")"

static gboolean
is_change(DemurEventKind kind) {
#define UNSEEN_KIND(kind, name) case DEMUR_EVENT_##kind:
  switch (kind) {
    UNSEEN(UNSEEN_KIND)
    return FALSE;
  default:
    return TRUE;
  }
}

const char *
demur_event_kind_name(DemurEventKind kind) {
  return kinds[kind];
}

gboolean
demur_event_kind_from_name(const char *name, DemurEventKind *kind) {
  for (guint k = 0; k < DEMUR_N_EVENTS; k++)
    if (g_strcmp0(name, kinds[k]) == 0) {
      *kind = (DemurEventKind)k;
      return TRUE;
    }
  return FALSE;
}

void
demur_event_free(DemurEvent *event) {
  if (event == NULL)
    return;
  char *texts[] = {event->key,     event->digest,  event->details,  event->user,  event->station,
                   event->program, event->created, event->previous, event->chain, event->seal};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  g_free(event);
}

static void
free_event(gpointer event) {
  demur_event_free(event);
}

char *
demur_event_digest(const DemurEvent *event) {
  g_autofree char *sequence = g_strdup_printf("%" PRId64, event->sequence);
  const char *const texts[] = {sequence,       kinds[event->kind], event->key,     event->digest,
                               event->details, event->user,        event->station, event->program,
                               event->created, event->previous};
  DemurSha256 sha;
  demur_sha256_init(&sha);
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    demur_sha256_add_text(&sha, texts[i]);
  if (event->seal != NULL) /* events of before have none */
    demur_sha256_add_text(&sha, event->seal);
  return demur_sha256_finish_hex(&sha);
}

/* The last event's number and chain; 0 and "" before the first. */
static gboolean
ask_head(DemurWorkspace *workspace, gint64 *sequence, char **chain, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace, "SELECT sequence, chain FROM event ORDER BY sequence DESC LIMIT 1", error);
  gboolean row;
  if (statement == NULL || !demur_store_step(workspace, statement, &row, "reading the log", error))
    return FALSE;
  *sequence = row ? demur_store_int(statement, 0) : 0;
  *chain = row ? demur_store_text(statement, 1) : g_strdup("");
  demur_store_reset(statement);
  return TRUE;
}

/* Within a transaction it is asked once: nobody else writes, and on a server each question is a way there and back. */
static gboolean
read_head(DemurWorkspace *workspace, gint64 *sequence, char **chain, GError **error) {
  if (workspace->head_chain == NULL) {
    if (!ask_head(workspace, sequence, chain, error))
      return FALSE;
    if (workspace->depth > 0) {
      workspace->head = *sequence;
      workspace->head_chain = g_strdup(*chain);
    }
    return TRUE;
  }
  *sequence = workspace->head;
  *chain = g_strdup(workspace->head_chain);
  return TRUE;
}

void
demur_store_forget_head(DemurWorkspace *workspace) {
  g_clear_pointer(&workspace->head_chain, g_free);
}

gint64
demur_store_next_event(DemurWorkspace *workspace, GError **error) {
  gint64 last;
  g_autofree char *chain = NULL;
  return read_head(workspace, &last, &chain, error) ? last + 1 : -1;
}

static gboolean
insert(DemurWorkspace *workspace, const DemurEvent *event, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO event (sequence, kind, key, digest, details, \"user\", station, program, created,"
      " previous, chain, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      error);
  if (statement == NULL)
    return FALSE;
  const char *const texts[] = {kinds[event->kind], event->key,     event->digest,  event->details,
                               event->user,        event->station, event->program, event->created,
                               event->previous,    event->chain,   event->seal};
  demur_store_bind_int(statement, 1, event->sequence);
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    demur_store_bind_text(statement, 2 + (int)i, texts[i]);
  return demur_store_run_later(workspace, statement, "writing the log", error);
}

/* Takes seal over. */
static gboolean
add_event(DemurWorkspace *workspace, DemurEventKind kind, const char *key, const char *digest,
          const char *details, const char *created, char *seal, GError **error) {
  gint64 last = 0;
  g_autofree char *previous = NULL, *owned = seal;
  if (!read_head(workspace, &last, &previous, error))
    return FALSE;
  DemurEvent event = {.sequence = last + 1,
                      .kind = kind,
                      .key = (char *)key,
                      .digest = (char *)digest,
                      .details = (char *)details,
                      .user = workspace->user,
                      .station = workspace->station,
                      .program = (char *)DEMUR_VERSION,
                      .created = (char *)created,
                      .seal = owned,
                      .previous = previous};
  g_autofree char *chain = event.chain = demur_event_digest(&event);
  const gboolean ok = insert(workspace, &event, error);
  if (ok && is_change(kind)) {
    DemurOwnChanges *own =
        &g_array_index(workspace->uncommitted, DemurOwnChanges, workspace->depth - 1);
    own->n++;
    own->last = event.sequence;
  }
  g_free(workspace->head_chain);
  workspace->head_chain = g_steal_pointer(&chain);
  workspace->head = event.sequence;
  return ok;
}

gboolean
demur_events_add(DemurWorkspace *workspace, DemurEventKind kind, const char *key,
                 const char *digest, const char *details, const char *created, GError **error) {
  /* Within a transaction one more would undo nothing that the other doesn't. */
  const gboolean is_own = workspace->depth == 0;
  if (is_own && !demur_workspace_begin(workspace, error))
    return FALSE;
  g_autoptr(GError) unsealed = NULL;
  char *seal = digest != NULL ? demur_store_seal(workspace, key, &unsealed) : NULL;
  gboolean ok = unsealed == NULL;
  if (ok)
    ok = add_event(workspace, kind, key, digest, details, created, seal, error);
  else
    g_propagate_error(error, g_steal_pointer(&unsealed));
  return is_own ? demur_store_end(workspace, ok, error) : ok;
}

gboolean
demur_store_add_sealed_event(DemurWorkspace *workspace, DemurEventKind kind, const char *key,
                             const char *digest, const char *created, char *seal, GError **error) {
  return add_event(workspace, kind, key, digest, NULL, created, seal, error);
}

gboolean
demur_events_begin(DemurWorkspace *workspace, GError **error) {
  if (workspace->has_begun || workspace->user == NULL)
    return TRUE;
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT coalesce(\"user\", ''), coalesce(station, '') FROM event ORDER BY sequence DESC LIMIT 1",
      error);
  gboolean row;
  if (statement == NULL || !demur_store_step(workspace, statement, &row, "reading the log", error))
    return FALSE;
  const gboolean another =
      row && (g_strcmp0(demur_store_peek(statement, 0), workspace->user) != 0 ||
              g_strcmp0(demur_store_peek(statement, 1),
                        workspace->station != NULL ? workspace->station : "") != 0);
  demur_store_reset(statement);
  workspace->has_begun = TRUE;
  g_autofree char *now = demur_store_now(workspace);
  return !another ||
         demur_events_add(workspace, DEMUR_EVENT_OPENING, "workspace", NULL, NULL, now, error);
}

static gpointer
read_event(DemurStatement *statement) {
  DemurEvent *event = g_new0(DemurEvent, 1);
  event->sequence = demur_store_int(statement, 0);
  /* The table takes no other word. */
  if (!demur_event_kind_from_name(demur_store_peek(statement, 1), &event->kind))
    event->kind = DEMUR_EVENT_REFUSAL;
  char **texts[] = {&event->key,     &event->digest,  &event->details, &event->user,
                    &event->station, &event->program, &event->created, &event->previous,
                    &event->chain,   &event->seal};
  demur_store_read_texts(statement, 2, texts, G_N_ELEMENTS(texts));
  return event;
}

GPtrArray *
demur_events_list(DemurWorkspace *workspace, gint64 after, const char *key, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT sequence, kind, key, digest, details, \"user\", station, program, created, previous,"
      " chain, seal FROM event WHERE sequence > ?1 AND (?2 IS NULL OR key = ?2) ORDER BY sequence",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_int(statement, 1, after);
  demur_store_bind_text(statement, 2, key);
  return demur_store_list(workspace, statement, read_event, free_event, "reading the log", error);
}

char *
demur_events_head(DemurWorkspace *workspace, GError **error) {
  gint64 sequence;
  char *chain = NULL;
  return ask_head(workspace, &sequence, &chain, error) ? chain : NULL;
}

char *
demur_events_head_of_change(DemurWorkspace *workspace, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT chain FROM event WHERE kind NOT IN ('export', 'reveal', 'refusal', 'opening',"
      " 'opened', 'setting')"
      " ORDER BY sequence DESC LIMIT 1",
      error);
  gboolean row;
  if (statement == NULL || !demur_store_step(workspace, statement, &row, "reading the log", error))
    return NULL;
  char *chain = row ? demur_store_text(statement, 0) : g_strdup("");
  if (row)
    demur_store_reset(statement);
  return chain;
}

gboolean
demur_events_last_of_change(DemurWorkspace *workspace, gint64 *sequence, GError **error) {
  *sequence =
      demur_store_count(workspace, "SELECT coalesce(max(sequence), 0) FROM event WHERE " OF_CHANGE,
                        NULL, NULL, error);
  return *sequence >= 0;
}

gboolean
demur_events_see_own(DemurWorkspace *workspace, gint64 *seen, GError **error) {
  const DemurOwnChanges own = workspace->own;
  if (own.n == 0)
    return TRUE;
  DemurStatement *statement = demur_store_statement(
      workspace, "SELECT count(*) FROM event WHERE sequence > ? AND sequence <= ? AND " OF_CHANGE,
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, *seen);
  demur_store_bind_int(statement, 2, own.last);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "reading the log", error))
    return FALSE;
  const gboolean is_all = row && demur_store_int(statement, 0) == own.n;
  demur_store_reset(statement);
  if (is_all) {
    *seen = own.last;
    workspace->own = (DemurOwnChanges){0};
  }
  return TRUE;
}

gboolean
demur_events_last_of_evaluation(DemurWorkspace *workspace, gint64 *sequence, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT sequence FROM event WHERE kind IN ('cohort', 'training', 'threshold', 'audit')"
      " OR (kind = 'removal' AND key NOT LIKE 'series:%' AND key NOT LIKE 'score:%')"
      " ORDER BY sequence DESC LIMIT 1",
      error);
  gboolean row;
  if (statement == NULL || !demur_store_step(workspace, statement, &row, "reading the log", error))
    return FALSE;
  *sequence = row ? demur_store_int(statement, 0) : 0;
  demur_store_reset(statement);
  return TRUE;
}

gboolean
demur_events_trained_since(DemurWorkspace *workspace, const char *selector_digest, gint64 watch,
                           gboolean *since, GError **error) {
  g_autofree char *key = g_strdup_printf("watch:%" PRId64, watch);
  const gint64 began = demur_store_count(
                   workspace, "SELECT coalesce(min(sequence), 0) FROM event WHERE key = ?", key,
                   NULL, error),
               trained = began < 0
                             ? -1
                             : demur_store_count(workspace,
                                                 "SELECT coalesce(min(sequence), 0) FROM event"
                                                 " WHERE kind = 'training' AND digest = ?",
                                                 selector_digest, NULL, error);
  *since = began > 0 && trained > began;
  return trained >= 0;
}

gboolean
demur_events_find_head(DemurWorkspace *workspace, const char *head, gint64 *sequence,
                       GError **error) {
  const size_t length = strlen(head);
  *sequence = 0;
  if (length < DEMUR_EVENTS_SHORTEST_HEAD || strspn(head, "0123456789abcdef") != length) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "'%s' is no head: give at least %d of its hexadecimal digits", head,
                    DEMUR_EVENTS_SHORTEST_HEAD);
    return FALSE;
  }
  g_autoptr(GPtrArray) events = demur_events_list(workspace, 0, NULL, error);
  const char *previous = "";
  for (guint i = 0; events != NULL && i < events->len; i++) {
    const DemurEvent *event = events->pdata[i];
    g_autofree char *chain = demur_event_digest(event);
    if (event->sequence != (gint64)i + 1 || strcmp(event->previous, previous) != 0 ||
        strcmp(event->chain, chain) != 0)
      return TRUE;
    if (strncmp(event->chain, head, length) == 0) {
      *sequence = event->sequence;
      return TRUE;
    }
    previous = event->chain;
  }
  return events != NULL;
}
