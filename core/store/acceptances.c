#include "store/acceptances.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "store/connection.h"
#include "store/events.h"

void
demur_acceptance_plan_record_free(DemurAcceptancePlanRecord *record) {
  if (record == NULL)
    return;
  g_free(record->selector);
  g_free(record->selector_digest);
  g_free(record->cohort);
  g_free(record->site);
  g_free(record->document);
  g_free(record->digest);
  g_free(record->user);
  g_free(record->created);
  g_free(record);
}

void
demur_acceptance_record_free(DemurAcceptanceRecord *record) {
  if (record == NULL)
    return;
  g_free(record->answer);
  g_free(record->document);
  g_free(record->labels_digest);
  g_free(record->user);
  g_free(record->created);
  g_free(record);
}

static void
record_free(gpointer record) {
  demur_acceptance_record_free(record);
}

gboolean
demur_acceptance_plans_save(DemurWorkspace *workspace, DemurAcceptancePlanRecord *record,
                            GError **error) {
  const gint64 selector = demur_store_selector_id(workspace, record->selector, error);
  if (selector == 0)
    return FALSE;
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO acceptance_plan (selector_id, selector_digest, cohort, site, document, digest,"
      " \"user\", created) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, selector);
  demur_store_bind_text(statement, 2, record->selector_digest);
  demur_store_bind_text(statement, 3, record->cohort);
  demur_store_bind_text(statement, 4, record->site);
  demur_store_bind_text(statement, 5, record->document);
  demur_store_bind_text(statement, 6, record->digest);
  demur_store_bind_text(statement, 7, record->user);
  demur_store_bind_text(statement, 8, record->created);
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gboolean ok =
      demur_store_run(workspace, statement, "saving the plan of an acceptance test", error);
  if (ok) {
    record->id = demur_store_inserted_id(workspace);
    g_autofree char *key = g_strdup_printf("acceptance-plan:%" PRId64, record->id);
    ok = demur_events_add(workspace, DEMUR_EVENT_ACCEPTANCE, key, record->digest,
                          "{\"plan\": true}", record->created, error);
  }
  return demur_store_end(workspace, ok, error);
}

static void
plan_free(gpointer record) {
  demur_acceptance_plan_record_free(record);
}

static gpointer
read_plan(DemurStatement *statement) {
  DemurAcceptancePlanRecord *record = g_new0(DemurAcceptancePlanRecord, 1);
  record->id = demur_store_int(statement, 0);
  char **texts[] = {&record->selector, &record->site,     &record->selector_digest,
                    &record->cohort,   &record->document, &record->digest,
                    &record->user,     &record->created};
  demur_store_read_texts(statement, 1, texts, G_N_ELEMENTS(texts));
  record->made = demur_store_int(statement, 9);
  return record;
}

/* Whether a plan is as it was saved. */
static gboolean
check_plan(const DemurAcceptancePlanRecord *record, GError **error) {
  g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, record->document, -1);
  if (g_strcmp0(digest, record->digest) == 0)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_STORE,
      "the plan of the acceptance test of site '%s' is not the one that was saved: plan "
      "again, and find out who changed the workspace",
      record->site);
  return FALSE;
}

#define SELECT_PLAN                                                                                \
  "SELECT p.id, s.name, p.site, p.selector_digest, p.cohort, p.document, p.digest, p.user,"        \
  " p.created, (SELECT coalesce(max(e.sequence), 0) FROM event e WHERE e.digest IS NOT NULL"       \
  " AND e.key = 'acceptance-plan:' || p.id) FROM acceptance_plan p JOIN selector s ON s.id = p.selector_id"

/* What the statement finds, each as it was saved. */
static GPtrArray *
read_plans(DemurWorkspace *workspace, DemurStatement *statement, GError **error) {
  g_autoptr(GPtrArray) list = demur_store_list(workspace, statement, read_plan, plan_free,
                                               "finding plans of acceptance tests", error);
  gboolean ok = list != NULL;
  for (guint i = 0; ok && i < list->len; i++)
    ok = check_plan(list->pdata[i], error);
  return ok ? g_steal_pointer(&list) : NULL;
}

/* The newest plan of each site; site NULL: of every one. */
static GPtrArray *
list_plans(DemurWorkspace *workspace, const char *selector, const char *site, gint64 to,
           GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      SELECT_PLAN " WHERE s.name = ?1 AND (?2 IS NULL OR p.site = ?2) AND p.id = (SELECT max(o.id)"
                  " FROM acceptance_plan o WHERE o.selector_id = p.selector_id AND o.site = p.site"
                  " AND o.id <= ?3) ORDER BY p.site",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, selector);
  demur_store_bind_text(statement, 2, site);
  demur_store_bind_int(statement, 3, to);
  return read_plans(workspace, statement, error);
}

GPtrArray *
demur_acceptance_plans_of_site(DemurWorkspace *workspace, const char *site, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, SELECT_PLAN " WHERE p.site = ?1 ORDER BY p.id", error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, site);
  return read_plans(workspace, statement, error);
}

GPtrArray *
demur_acceptance_plans_of_selector(DemurWorkspace *workspace, const char *selector,
                                   GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, SELECT_PLAN " WHERE s.name = ?1 ORDER BY p.id", error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, selector);
  return demur_store_list(workspace, statement, read_plan, plan_free,
                          "finding plans of acceptance tests", error);
}

gboolean
demur_acceptance_plans_current(DemurWorkspace *workspace, const char *selector, const char *site,
                               DemurAcceptancePlanRecord **record, GError **error) {
  g_autoptr(GPtrArray) list = list_plans(workspace, selector, site, G_MAXINT64, error);
  *record = list != NULL && list->len > 0 ? g_ptr_array_steal_index(list, 0) : NULL;
  return list != NULL;
}

GPtrArray *
demur_acceptance_plans_list(DemurWorkspace *workspace, const char *selector, gint64 to,
                            GError **error) {
  return list_plans(workspace, selector, NULL, to, error);
}

gboolean
demur_acceptances_last(DemurWorkspace *workspace, gint64 *plan, gint64 *acceptance,
                       GError **error) {
  *plan = demur_store_count(workspace, "SELECT coalesce(max(id), 0) FROM acceptance_plan", NULL,
                            NULL, error);
  *acceptance = *plan < 0
                    ? -1
                    : demur_store_count(workspace, "SELECT coalesce(max(id), 0) FROM acceptance",
                                        NULL, NULL, error);
  return *acceptance >= 0;
}

gboolean
demur_acceptances_save(DemurWorkspace *workspace, const DemurAcceptanceRecord *record,
                       GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO acceptance (plan_id, answer, document, labels_digest,"
      " n_labels, \"user\", created) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, record->plan);
  demur_store_bind_text(statement, 2, record->answer);
  demur_store_bind_text(statement, 3, record->document);
  demur_store_bind_text(statement, 4, record->labels_digest);
  demur_store_bind_int(statement, 5, (gint64)record->n_labels);
  demur_store_bind_text(statement, 6, record->user);
  demur_store_bind_text(statement, 7, record->created);
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gboolean ok =
      demur_store_run(workspace, statement, "saving the answer of an acceptance test", error);
  if (ok) {
    g_autofree char *key =
        g_strdup_printf("acceptance:%" PRId64, demur_store_inserted_id(workspace));
    const char *const texts[] = {record->answer, record->document, record->labels_digest};
    g_autofree char *digest = demur_store_digest(texts, G_N_ELEMENTS(texts), NULL, 0);
    ok = demur_events_add(workspace, DEMUR_EVENT_ACCEPTANCE, key, digest, NULL, record->created,
                          error);
  }
  return demur_store_end(workspace, ok, error);
}

static gpointer
read_acceptance(DemurStatement *statement) {
  DemurAcceptanceRecord *record = g_new0(DemurAcceptanceRecord, 1);
  record->id = demur_store_int(statement, 0);
  record->plan = demur_store_int(statement, 7);
  record->answer = demur_store_text(statement, 1);
  record->document = demur_store_text(statement, 2);
  record->labels_digest = demur_store_text(statement, 3);
  record->n_labels = (size_t)demur_store_int(statement, 4);
  record->user = demur_store_text(statement, 5);
  record->created = demur_store_text(statement, 6);
  return record;
}

GPtrArray *
demur_acceptances_list(DemurWorkspace *workspace, gint64 plan, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT id, answer, document, labels_digest, n_labels, \"user\", created, plan_id FROM acceptance"
      " WHERE plan_id = ? ORDER BY id DESC",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_int(statement, 1, plan);
  return demur_store_list(workspace, statement, read_acceptance, record_free,
                          "listing acceptance tests", error);
}

/* Of one answer's table. */
static size_t
labels_seen(const DemurAcceptanceRecord *answer) {
  g_autoptr(JsonNode) root = demur_json_parse(answer->document);
  gint64 later = 0;
  if (root != NULL && JSON_NODE_HOLDS_OBJECT(root) &&
      !demur_json_read_int(json_node_get_object(root), "n_labels_later", 0, G_MAXINT32, &later,
                           NULL))
    later = 0;
  return answer->n_labels + (size_t)later;
}

size_t
demur_acceptances_seen(const GPtrArray *answers, size_t *looked_at) {
  size_t seen = 0;
  *looked_at = 0;
  for (guint i = 0; i < answers->len; i++) {
    const DemurAcceptanceRecord *answer = answers->pdata[i];
    seen = MAX(seen, labels_seen(answer));
    *looked_at = MAX(*looked_at, answer->n_labels);
  }
  return seen;
}
