#include "store/audits.h"

#include "base/error.h"
#include "store/connection.h"
#include "store/events.h"

void
demur_audit_plan_free(DemurAuditPlan *plan) {
  if (plan == NULL)
    return;
  g_free(plan->selector);
  g_free(plan->site);
  g_free(plan->cohort);
  g_free(plan->created);
  g_free(plan);
}

void
demur_audit_record_free(DemurAuditRecord *record) {
  if (record == NULL)
    return;
  g_free(record->selector);
  g_free(record->site);
  g_free(record->cohort);
  g_free(record->labels);
  g_free(record->created);
  g_free(record->digest);
  g_free(record);
}

static void
record_free(gpointer record) {
  demur_audit_record_free(record);
}

gboolean
demur_audit_plans_save(DemurWorkspace *workspace, const DemurAuditPlan *plan, GError **error) {
  const gint64 id = demur_store_selector_id(workspace, plan->selector, error);
  if (id == 0 || !demur_workspace_begin(workspace, error))
    return FALSE;
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO site_audit_plan (selector_id, site, cohort, n_scans, seed, created)"
      " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (selector_id, site) DO UPDATE SET id = excluded.id,"
      " cohort = excluded.cohort, n_scans = excluded.n_scans, seed = excluded.seed,"
      " created = excluded.created",
      error);
  if (statement == NULL)
    return demur_store_end(workspace, FALSE, error);
  demur_store_bind_int(statement, 1, id);
  demur_store_bind_text(statement, 2, plan->site);
  demur_store_bind_text(statement, 3, plan->cohort);
  demur_store_bind_int(statement, 4, (gint64)plan->n_scans);
  demur_store_bind_int(statement, 5, (gint64)plan->seed);
  demur_store_bind_text(statement, 6, plan->created);
  g_autofree char *key = g_strdup_printf("audit-plan:%s|%s", plan->selector, plan->site);
  g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, plan->seed);
  const char *const texts[] = {plan->selector, plan->site, plan->cohort, plan->created, seed};
  const double n = (double)plan->n_scans;
  g_autofree char *digest = demur_store_digest(texts, G_N_ELEMENTS(texts), &n, 1);
  const gboolean ok =
      demur_store_run(workspace, statement, "saving the plan of a site audit", error) &&
      demur_events_add(workspace, DEMUR_EVENT_AUDIT, key, digest, "{\"plan\": true}", plan->created,
                       error);
  return demur_store_end(workspace, ok, error);
}

gboolean
demur_audit_plans_find(DemurWorkspace *workspace, const char *selector, const char *site,
                       DemurAuditPlan **plan, GError **error) {
  *plan = NULL;
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT p.cohort, p.n_scans, p.seed, p.created FROM site_audit_plan p"
      " JOIN selector s ON s.id = p.selector_id WHERE s.name = ? AND p.site = ?",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, selector);
  demur_store_bind_text(statement, 2, site);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "finding the plan of a site audit", error))
    return FALSE;
  if (!row)
    return TRUE;
  *plan = g_new0(DemurAuditPlan, 1);
  (*plan)->selector = g_strdup(selector);
  (*plan)->site = g_strdup(site);
  (*plan)->cohort = demur_store_text(statement, 0);
  (*plan)->n_scans = (size_t)demur_store_int(statement, 1);
  (*plan)->seed = (guint64)demur_store_int(statement, 2);
  (*plan)->created = demur_store_text(statement, 3);
  demur_store_reset(statement);
  return TRUE;
}

char *
demur_audit_key(const char *selector, const char *site) {
  return g_strdup_printf("audit:%s|%s", selector, site);
}

char *
demur_audit_digest(const DemurAuditRecord *r) {
  g_autofree char *event = g_strdup_printf("%" G_GINT64_FORMAT, r->event);
  const char *const texts[] = {r->selector, r->site, r->cohort, r->created, event, r->labels};
  const double numbers[] = {r->intercept, r->low, r->high, r->tau2, (double)r->n_labels};
  /* Audits of before had no labels in them. */
  const size_t n_texts = G_N_ELEMENTS(texts) - (r->labels == NULL ? 1 : 0);
  return demur_store_digest(texts, n_texts, numbers, G_N_ELEMENTS(numbers));
}

static gboolean
insert(DemurWorkspace *workspace, gint64 id, const DemurAuditRecord *record, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace,
                            "INSERT INTO site_audit (selector_id, site, cohort,"
                            " intercept, low, high, tau2, n_labels, created, event, digest,"
                            " labels) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                            " ON CONFLICT (selector_id, site) DO UPDATE SET id = excluded.id,"
                            " cohort = excluded.cohort, intercept = excluded.intercept,"
                            " low = excluded.low, high = excluded.high, tau2 = excluded.tau2,"
                            " n_labels = excluded.n_labels, created = excluded.created,"
                            " event = excluded.event, digest = excluded.digest,"
                            " labels = excluded.labels",
                            error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, id);
  demur_store_bind_text(statement, 2, record->site);
  demur_store_bind_text(statement, 3, record->cohort);
  demur_store_bind_double(statement, 4, record->intercept);
  demur_store_bind_double(statement, 5, record->low);
  demur_store_bind_double(statement, 6, record->high);
  demur_store_bind_double(statement, 7, record->tau2);
  demur_store_bind_int(statement, 8, (gint64)record->n_labels);
  demur_store_bind_text(statement, 9, record->created);
  demur_store_bind_int(statement, 10, record->event);
  demur_store_bind_text(statement, 11, record->digest);
  demur_store_bind_text(statement, 12, record->labels);
  return demur_store_run(workspace, statement, "saving a site audit", error);
}

gboolean
demur_audits_save(DemurWorkspace *workspace, const DemurAuditRecord *record, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  const gint64 id = demur_store_selector_id(workspace, record->selector, error);
  DemurAuditRecord kept = *record;
  kept.event = id != 0 ? demur_store_next_event(workspace, error) : -1;
  g_autofree char *digest = kept.digest = demur_audit_digest(&kept);
  g_autofree char *key = demur_audit_key(record->selector, record->site);
  const gboolean ok =
      kept.event > 0 && insert(workspace, id, &kept, error) &&
      demur_events_add(workspace, DEMUR_EVENT_AUDIT, key, digest, NULL, record->created, error);
  return demur_store_end(workspace, ok, error);
}

static gpointer
read_audit(DemurStatement *statement) {
  DemurAuditRecord *record = g_new0(DemurAuditRecord, 1);
  record->selector = demur_store_text(statement, 11);
  record->site = demur_store_text(statement, 0);
  record->cohort = demur_store_text(statement, 1);
  record->intercept = demur_store_double(statement, 2);
  record->low = demur_store_double(statement, 3);
  record->high = demur_store_double(statement, 4);
  record->tau2 = demur_store_double(statement, 5);
  record->n_labels = (size_t)demur_store_int(statement, 6);
  record->created = demur_store_text(statement, 7);
  record->event = demur_store_int(statement, 8);
  record->digest = demur_store_text(statement, 9);
  record->labels = demur_store_text(statement, 10);
  return record;
}

GPtrArray *
demur_audits_list(DemurWorkspace *workspace, const char *selector, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT a.site, a.cohort, a.intercept, a.low, a.high, a.tau2, a.n_labels, a.created,"
      " a.event, a.digest, a.labels, s.name"
      " FROM site_audit a JOIN selector s ON s.id = a.selector_id WHERE s.name = ?"
      " ORDER BY a.site",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, selector);
  return demur_store_list(workspace, statement, read_audit, record_free, "listing site audits",
                          error);
}
