/* The last event of a key (store/events.h) carries the digest of what must be there, or none where
 * it was taken out. So three faults are told apart: a row that is not what was written (its digest
 * is another one), a row that was never written by the program (no event), and one that is gone.
 * Rows of an older program have no digest and no event; they are counted, and nothing is said of
 * them. They stand before the first that the log tells of, by number: one behind is none of a program's, and neither is an
 * event without a seal behind one that has one. Cost: one SHA-256 a row. */
#include "store/verify-history.h"

#include <inttypes.h>
#include <string.h>

#include "base/json-reader.h"
#include "store/audits.h"
#include "store/connection.h"
#include "store/events.h"
#include "store/overrules.h"
#include "store/reviews.h"
#include "store/schema.h"
#include "store/seal.h"
#include "store/scores.h"
#include "store/selectors.h"
#include "store/series.h"
#include "store/verdicts.h"

#define MOST_TOLD 20

typedef struct {
  DemurWorkspace *workspace;
  GArray *findings;
  GHashTable *seals;   /* key -> seal of its last event, where that has one */
  GHashTable *last;    /* key -> digest, "" where it was taken out; a key that was met is removed */
  GHashTable *digests; /* every digest that an event carries */
  GHashTable *
      firsts; /* prefix of keys that end with a number, "review:" -> the least that was told of (gint64) */
  GHashTable *numbers; /* key of an assessment -> Numbers of its verdicts, where it tells them */
  size_t n_faults, n_old, n_rows;
} History;

typedef struct {
  gint64 first, last;
  gint64 batch; /* of all of them; 0: it is not told */
} Numbers;

/* Takes subject and message over. */
static void
fault(History *history, char *subject, char *message) {
  if (history->n_faults++ < MOST_TOLD) {
    const DemurFinding finding = {FALSE, subject, message};
    g_array_append_val(history->findings, finding);
    return;
  }
  g_free(subject);
  g_free(message);
}

/* Whether what is wrong with a cohort or a selector was found in its content already. */
static gboolean
is_told(const History *history, const char *key) {
  g_autofree char *subject = g_strdelimit(g_strdup(key), ":", ' ');
  for (guint f = 0; f < history->findings->len; f++) {
    const DemurFinding *finding = &g_array_index(history->findings, DemurFinding, f);
    if (!finding->ok && strcmp(finding->subject, subject) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Whether the rows of a key are as its last event sealed them; of an event of before nobody can say.
 */
static gboolean
is_as_sealed(const History *history, const char *key) {
  const char *seal = g_hash_table_lookup(history->seals, key);
  if (seal == NULL || is_told(history, key))
    return TRUE;
  g_autofree char *now = demur_store_seal(history->workspace, key, NULL);
  return g_strcmp0(seal, now) == 0;
}

/* The number at the end of a key whose rows are written once and known by it; 0: none. *prefix (owned) is set with it. */
static gint64
number_of(const char *key, char **prefix) {
  const char *colon = strrchr(key, ':');
  char *end = NULL;
  const gint64 number =
      colon != NULL && g_ascii_isdigit(colon[1]) ? g_ascii_strtoll(colon + 1, &end, 10) : 0;
  if (number <= 0 || *end != '\0' || !demur_store_seal_is_numbered(key))
    return 0;
  *prefix = g_strndup(key, (gsize)(colon + 1 - key));
  return number;
}

static void
note_first(History *history, const char *key) {
  g_autofree char *prefix = NULL;
  const gint64 number = number_of(key, &prefix);
  const gint64 *before = number > 0 ? g_hash_table_lookup(history->firsts, prefix) : NULL;
  if (number > 0 && (before == NULL || *before > number))
    g_hash_table_insert(history->firsts, g_steal_pointer(&prefix),
                        g_memdup2(&number, sizeof number));
}

/* Whether a row that the log doesn't tell of stands behind one of its table that it does. */
static gboolean
is_behind(const History *history, const char *key) {
  g_autofree char *prefix = NULL;
  const gint64 number = number_of(key, &prefix);
  const gint64 *first = number > 0 ? g_hash_table_lookup(history->firsts, prefix) : NULL;
  return first != NULL && number > *first;
}

/* ---- the schema ---- */

/* A trigger can turn a verdict into another one while every row is sound. */
static gboolean
check_schema(DemurWorkspace *workspace, History *history, GError **error) {
  g_autoptr(GHashTable) right = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr(GHashTable) here = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  if (!workspace->connection->driver->schema(workspace->connection, here, right))
    return demur_store_fail(workspace, "reading the schema", error);
  const size_t before = history->n_faults;
  GHashTableIter iter;
  gpointer name, sql;
  g_hash_table_iter_init(&iter, here);
  while (g_hash_table_iter_next(&iter, &name, &sql)) {
    const char *wanted = g_hash_table_lookup(right, name);
    if (g_strcmp0(wanted, sql) != 0)
      fault(history, g_strdup("schema"),
            g_strdup_printf("%s is %s; bring back a copy of the workspace", (const char *)name,
                            wanted == NULL ? "none of this program's"
                                           : "not what this program makes"));
    g_hash_table_remove(right, name);
  }
  g_hash_table_iter_init(&iter, right);
  while (g_hash_table_iter_next(&iter, &name, NULL))
    fault(history, g_strdup("schema"),
          g_strdup_printf("%s is missing; bring back a copy of the workspace", (const char *)name));
  if (history->n_faults == before) {
    const DemurFinding finding = {TRUE, g_strdup("schema"), g_strdup("as this program makes it")};
    g_array_append_val(history->findings, finding);
  }
  return TRUE;
}

/* ---- the chain ---- */

/* Which numbers the verdicts of an assessment, and their batch, have. */
static void
note_numbers(History *history, const DemurEvent *event) {
  if (event->kind != DEMUR_EVENT_ASSESSMENT || event->details == NULL)
    return;
  g_autoptr(JsonNode) node = demur_json_parse(event->details);
  JsonObject *object =
      node != NULL && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
  Numbers numbers = {0};
  if (object == NULL ||
      !demur_json_read_int(object, "first", 1, G_MAXINT64, &numbers.first, NULL) ||
      !demur_json_read_int(object, "last", numbers.first, G_MAXINT64, &numbers.last, NULL))
    return;
  /* An older program did not tell it. */
  if (!demur_json_read_int(object, "batch", 1, G_MAXINT64, &numbers.batch, NULL))
    numbers.batch = 0;
  g_hash_table_insert(history->numbers, g_strdup(event->key), g_memdup2(&numbers, sizeof numbers));
}

static gboolean
walk_chain(DemurWorkspace *workspace, History *history, GError **error) {
  g_autoptr(GPtrArray) events = demur_events_list(workspace, 0, NULL, error);
  if (events == NULL)
    return FALSE;
  const char *previous = "";
  const size_t before = history->n_faults;
  for (guint i = 0; i < events->len; i++) {
    const DemurEvent *event = events->pdata[i];
    g_autofree char *chain = demur_event_digest(event);
    if (event->sequence != (gint64)i + 1 || strcmp(event->previous, previous) != 0 ||
        strcmp(event->chain, chain) != 0) {
      fault(history, g_strdup_printf("event %" PRId64, event->sequence),
            g_strdup_printf("the chain breaks here (%s of %s, %s): an event was changed, put in or "
                            "taken out; bring back a copy of the workspace",
                            demur_event_kind_name(event->kind), event->key, event->created));
      break;
    }
    previous = event->chain;
  }
  gboolean seals = FALSE; /* such events stood before */
  for (guint i = 0; i < events->len; i++) {
    const DemurEvent *event = events->pdata[i];
    if (seals && event->seal == NULL && event->digest != NULL &&
        demur_store_seal_is_row(event->key))
      fault(
          history, g_strdup_printf("event %" PRId64, event->sequence),
          g_strdup_printf("it tells of %s without a seal, which those before it have; bring back a "
                          "copy of the workspace",
                          event->key));
    seals |= event->seal != NULL;
    note_first(history, event->key);
    g_hash_table_insert(history->last, g_strdup(event->key),
                        g_strdup(event->digest != NULL ? event->digest : ""));
    if (event->seal != NULL)
      g_hash_table_insert(history->seals, g_strdup(event->key), g_strdup(event->seal));
    else
      g_hash_table_remove(history->seals, event->key);
    if (event->digest != NULL)
      g_hash_table_add(history->digests, g_strdup(event->digest));
    note_numbers(history, event);
  }
  if (history->n_faults == before) {
    const DemurFinding finding = {TRUE, g_strdup("log"),
                                  g_strdup_printf("%u event%s, the chain holds, head %.12s",
                                                  events->len, events->len == 1 ? "" : "s",
                                                  *previous != '\0' ? previous : "-")};
    g_array_append_val(history->findings, finding);
  }
  return TRUE;
}

/* ---- rows against the log ---- */

/* Takes key over. now: the digest that the row gives; kept: the one that stands beside it, where it
 * has one. */
static void
meet(History *history, char *key, const char *now, const char *kept, gboolean keeps) {
  const char *told = g_hash_table_lookup(history->last, key);
  history->n_rows++;
  if (told == NULL && (!keeps || kept == NULL) && !is_behind(history, key)) {
    history->n_old++;
  } else if (told == NULL) {
    fault(history, g_strdup(key),
          g_strdup("the log knows nothing of it: it was not written by this "
                   "program; bring back a copy of the workspace"));
  } else if (strcmp(told, now) != 0 || (keeps && g_strcmp0(kept, now) != 0) ||
             !is_as_sealed(history, key)) {
    fault(history, g_strdup(key),
          g_strdup("it is not what was written; bring back a copy of the workspace"));
  }
  g_hash_table_remove(history->last, key);
  g_free(key);
}

static gboolean
meet_series(DemurWorkspace *workspace, History *history, GError **error) {
  g_autoptr(GPtrArray) series = demur_series_list(workspace, error);
  for (guint i = 0; series != NULL && i < series->len; i++) {
    const DemurSeriesRecord *record = series->pdata[i];
    const DemurPerson person = demur_series_person(record);
    g_autofree char *of_person = demur_person_digest(&person);
    DemurSeriesRecord now = *record;
    if (record->person_digest != NULL)
      now.person_digest = of_person;
    g_autofree char *digest = demur_series_digest(&now);
    meet(history, g_strconcat("series:", record->scan_id, NULL), digest, record->person_digest,
         FALSE);
  }
  return series != NULL;
}

static gboolean
meet_scores(DemurWorkspace *workspace, History *history, GError **error) {
  g_autoptr(GPtrArray) scores = demur_scores_list(workspace, NULL, NULL, error);
  for (guint i = 0; scores != NULL && i < scores->len; i++) {
    const DemurScoreRecord *record = scores->pdata[i];
    g_autofree char *digest = demur_score_digest(record);
    meet(history, demur_score_key(record->scan_id, record->model), digest, record->digest, TRUE);
  }
  return scores != NULL;
}

static gboolean
begins_with(gpointer key, gpointer value, gpointer prefix) {
  return g_str_has_prefix(key, prefix);
}

static gboolean
meet_selectors(DemurWorkspace *workspace, History *history, GError **error) {
  g_autoptr(GPtrArray) selectors = demur_selectors_list(workspace, error);
  for (guint i = 0; selectors != NULL && i < selectors->len; i++) {
    const DemurSelectorRecord *record = selectors->pdata[i];
    meet(history, g_strconcat("selector:", record->name, NULL), record->digest, NULL, FALSE);
    /* What is wrong with a threshold itself is found beside the selectors. */
    g_autoptr(GPtrArray) thresholds = demur_thresholds_list(workspace, record->name, NULL);
    g_autofree char *prefix = g_strdup_printf("threshold:%s|", record->name);
    if (thresholds == NULL)
      g_hash_table_foreach_remove(history->last, begins_with, prefix);
    for (guint t = 0; thresholds != NULL && t < thresholds->len; t++) {
      const DemurThresholdRecord *threshold = thresholds->pdata[t];
      meet(history, demur_threshold_key(record->name, threshold->coverage),
           threshold->digest != NULL ? threshold->digest : "", threshold->digest, TRUE);
    }
    g_autoptr(GPtrArray) audits = demur_audits_list(workspace, record->name, error);
    if (audits == NULL)
      return FALSE;
    for (guint a = 0; a < audits->len; a++) {
      const DemurAuditRecord *audit = audits->pdata[a];
      g_autofree char *digest = demur_audit_digest(audit);
      meet(history, demur_audit_key(record->name, audit->site), digest, audit->digest, TRUE);
    }
  }
  return selectors != NULL;
}

static gboolean
meet_opinions(DemurWorkspace *workspace, History *history, GError **error) {
  g_autoptr(GPtrArray) reviews = demur_reviews_list(workspace, error);
  g_autoptr(GPtrArray) decisions =
      reviews != NULL ? demur_decisions_list(workspace, NULL, error) : NULL;
  g_autoptr(GPtrArray) overrules =
      decisions != NULL ? demur_overrules_list(workspace, NULL, error) : NULL;
  if (overrules == NULL)
    return FALSE;
  for (guint i = 0; i < reviews->len; i++) {
    const DemurReviewRecord *record = reviews->pdata[i];
    g_autofree char *digest = demur_review_digest(record);
    meet(history, demur_review_key(record->id), digest, record->digest, TRUE);
  }
  for (guint i = 0; i < decisions->len; i++) {
    const DemurDecisionRecord *record = decisions->pdata[i];
    g_autofree char *digest = demur_decision_digest(record);
    meet(history, demur_decision_key(record->id), digest, NULL, FALSE);
  }
  for (guint i = 0; i < overrules->len; i++) {
    const DemurOverruleRecord *record = overrules->pdata[i];
    g_autofree char *digest = demur_overrule_digest(record);
    meet(history, demur_overrule_key(record->id), digest, NULL, FALSE);
  }
  return TRUE;
}

/* ---- verdicts ---- */

typedef struct {
  History *history;
  gint64 event;
  gint64 next;        /* the number that comes next in it, where it tells its numbers */
  GPtrArray *digests; /* of the verdicts of that event so far */
  gboolean is_told;   /* one of an assessment that the log tells of stood before */
} Verdicts;

/* Names the verdicts from first to last, which are gone. */
static void
tell_gone(History *history, gint64 first, gint64 last) {
  for (gint64 id = first; id <= last && history->n_faults < MOST_TOLD; id++)
    fault(history, g_strdup_printf("verdict %" PRId64, id),
          g_strdup("it is gone, and the log tells of no removal; bring back a copy of the "
                   "workspace"));
}

/* Verdicts come by number: those between the one before and this one are gone. */
static void
check_number(Verdicts *verdicts, const DemurVerdictRecord *record) {
  g_autofree char *key = g_strdup_printf("verdicts:%" PRId64, record->event);
  const Numbers *numbers = g_hash_table_lookup(verdicts->history->numbers, key);
  if (numbers == NULL)
    return;
  if (record->id < verdicts->next || record->id > numbers->last)
    fault(verdicts->history, g_strdup_printf("verdict %" PRId64, record->id),
          g_strdup_printf("of scan %s: it is none of the assessment's, which has %" PRId64
                          " to %" PRId64 "; bring back a copy of the workspace",
                          record->scan_id, numbers->first, numbers->last));
  if (numbers->batch != 0 && numbers->batch != record->batch)
    fault(verdicts->history, g_strdup_printf("verdict %" PRId64, record->id),
          g_strdup_printf("of scan %s: it was written with batch %" PRId64 ", not %" PRId64
                          "; bring back a copy of the workspace",
                          record->scan_id, numbers->batch, record->batch));
  tell_gone(verdicts->history, verdicts->next, MIN(record->id - 1, numbers->last));
  verdicts->next = record->id + 1;
}

static void
begin_event(Verdicts *verdicts, gint64 event) {
  g_autofree char *key = g_strdup_printf("verdicts:%" PRId64, event);
  const Numbers *numbers = g_hash_table_lookup(verdicts->history->numbers, key);
  verdicts->event = event;
  verdicts->next = numbers != NULL ? numbers->first : 0;
}

static void
end_event(Verdicts *verdicts) {
  if (verdicts->event == 0)
    return;
  g_autofree char *key = g_strdup_printf("verdicts:%" PRId64, verdicts->event);
  const Numbers *numbers = g_hash_table_lookup(verdicts->history->numbers, key);
  if (numbers != NULL)
    tell_gone(verdicts->history, verdicts->next, numbers->last);
  g_autofree char *digest = demur_store_digest((const char *const *)verdicts->digests->pdata,
                                               verdicts->digests->len, NULL, 0);
  meet(verdicts->history, g_strdup_printf("verdicts:%" PRId64, verdicts->event), digest, digest,
       TRUE);
  g_ptr_array_set_size(verdicts->digests, 0);
}

/* What a verdict rests on must once have been there. */
static void
check_arrow(Verdicts *verdicts, const DemurVerdictRecord *record, const char *what,
            const char *digest) {
  /* Of an older program: not a digest but a number. */
  if (digest == NULL || strchr(digest, ' ') != NULL ||
      g_hash_table_contains(verdicts->history->digests, digest))
    return;
  fault(verdicts->history, g_strdup_printf("verdict %" PRId64, record->id),
        g_strdup_printf(
            "the %s that it rests on was never there; bring back a copy of the workspace", what));
}

static gboolean
meet_verdict(const DemurVerdictRecord *record, gpointer data) {
  Verdicts *verdicts = data;
  if (record->digest == NULL && record->event == 0 && verdicts->is_told) {
    fault(verdicts->history, g_strdup_printf("verdict %" PRId64, record->id),
          g_strdup_printf(
              "of scan %s: the log knows nothing of it, and of those before it does; bring "
              "back a copy of the workspace",
              record->scan_id));
    return TRUE;
  }
  if (record->digest == NULL && record->event == 0) {
    verdicts->history->n_rows++;
    verdicts->history->n_old++;
    return TRUE;
  }
  verdicts->is_told = TRUE;
  if (record->event != verdicts->event) {
    end_event(verdicts);
    begin_event(verdicts, record->event);
  }
  check_number(verdicts, record);
  char *digest = demur_verdict_digest(record);
  if (g_strcmp0(digest, record->digest) != 0)
    fault(verdicts->history, g_strdup_printf("verdict %" PRId64, record->id),
          g_strdup_printf("of scan %s: it is not what was written; bring back a copy of the "
                          "workspace",
                          record->scan_id));
  check_arrow(verdicts, record, "score", record->score_digest);
  check_arrow(verdicts, record, "threshold", record->threshold_digest);
  check_arrow(verdicts, record, "site audit", record->audit_digest);
  g_ptr_array_add(verdicts->digests, digest);
  return TRUE;
}

static gboolean
meet_verdicts(DemurWorkspace *workspace, History *history, GError **error) {
  g_autoptr(GPtrArray) digests = g_ptr_array_new_with_free_func(g_free);
  Verdicts verdicts = {.history = history, .digests = digests};
  if (!demur_verdicts_walk(workspace, meet_verdict, &verdicts, error))
    return FALSE;
  end_event(&verdicts);
  return TRUE;
}

/* ---- rows that nothing else looks at ---- */

static gboolean
meet_others(DemurWorkspace *workspace, History *history, GError **error) {
  g_auto(GStrv) keys = demur_store_seal_keys(workspace, error);
  for (char **key = keys; key != NULL && *key != NULL; key++) {
    const char *told = g_hash_table_lookup(history->last, *key);
    g_autofree char *now = g_strdup(told != NULL ? told : "");
    meet(history, g_strdup(*key), now, NULL, FALSE);
  }
  return keys != NULL;
}

/* ---- what is gone ---- */

static void
find_gone(History *history) {
  g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(history->last), (GCompareFunc)strcmp);
  for (GList *at = keys; at != NULL; at = at->next) {
    const char *digest = g_hash_table_lookup(history->last, at->data);
    const Numbers *numbers = g_hash_table_lookup(history->numbers, at->data);
    if (numbers != NULL)
      tell_gone(history, numbers->first, numbers->last);
    if (demur_store_seal_is_row(at->data) && *digest != '\0')
      fault(history, g_strdup(at->data),
            g_strdup("it is gone, and the log tells of no removal; bring back a copy of the "
                     "workspace"));
  }
}

gboolean
demur_store_verify_history(DemurWorkspace *workspace, GArray *findings, GError **error) {
  History history = {.workspace = workspace,
                     .findings = findings,
                     .seals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                     .last = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                     .digests = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                     .firsts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                     .numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
  const gboolean ok =
      check_schema(workspace, &history, error) && walk_chain(workspace, &history, error) &&
      meet_series(workspace, &history, error) && meet_scores(workspace, &history, error) &&
      meet_selectors(workspace, &history, error) && meet_opinions(workspace, &history, error) &&
      meet_verdicts(workspace, &history, error) && meet_others(workspace, &history, error);
  if (ok)
    find_gone(&history);
  if (ok && history.n_faults == 0) {
    const DemurFinding finding = {
        TRUE, g_strdup("history"),
        history.n_old > 0
            ? g_strdup_printf("%zu rows and assessments as the log tells them; %zu are of an older "
                              "program, of which it tells nothing",
                              history.n_rows, history.n_old)
            : g_strdup_printf("%zu rows and assessments as the log tells them", history.n_rows)};
    g_array_append_val(findings, finding);
  }
  g_hash_table_unref(history.last);
  g_hash_table_unref(history.seals);
  g_hash_table_unref(history.digests);
  g_hash_table_unref(history.firsts);
  g_hash_table_unref(history.numbers);
  return ok;
}
