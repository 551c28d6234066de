#include "store/site-seen.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "selector/release.h"
#include "store/acceptances.h"
#include "store/audits.h"
#include "store/connection.h"
#include "store/events.h"
#include "store/selectors.h"

void
demur_site_seen_free(DemurSiteSeen *seen) {
  if (seen == NULL)
    return;
  char *texts[] = {seen->selector, seen->selector_digest, seen->cohort,
                   seen->site,     seen->document,        seen->digest,
                   seen->made,     seen->answer,          seen->origin};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  g_free(seen);
}

static void
seen_free(gpointer seen) {
  demur_site_seen_free(seen);
}

static gpointer
read_seen(DemurStatement *statement) {
  DemurSiteSeen *seen = g_new0(DemurSiteSeen, 1);
  seen->id = demur_store_int(statement, 0);
  seen->by = demur_store_int(statement, 1) != 0 ? DEMUR_SEEN_BY_AUDIT : DEMUR_SEEN_BY_PLAN;
  seen->plan = demur_store_int(statement, 2);
  seen->n_labels = (size_t)demur_store_int(statement, 3);
  char **texts[] = {&seen->selector, &seen->selector_digest, &seen->cohort,
                    &seen->site,     &seen->document,        &seen->digest,
                    &seen->made,     &seen->answer,          &seen->origin};
  demur_store_read_texts(statement, 4, texts, G_N_ELEMENTS(texts));
  return seen;
}

GPtrArray *
demur_site_seen_list(DemurWorkspace *workspace, const char *site, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT id, CASE seen_by WHEN 'audit' THEN 1 ELSE 0 END, coalesce(plan, 0), n_labels, selector,"
      " selector_digest, cohort, site, document, digest, made, answer, origin FROM site_seen"
      " WHERE site = ? ORDER BY id",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, site);
  g_autoptr(GPtrArray) list = demur_store_list(workspace, statement, read_seen, seen_free,
                                               "finding what was seen of a site", error);
  for (guint i = 0; list != NULL && i < list->len; i++) {
    const DemurSiteSeen *seen = list->pdata[i];
    g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, seen->document, -1);
    if (g_strcmp0(digest, seen->digest) != 0) {
      demur_error_set(
          error, DEMUR_ERROR_STORE,
          "what an ended plan or audit of site '%s' saw is not what was saved: find out who changed "
          "the workspace",
          seen->site);
      return NULL;
    }
  }
  return g_steal_pointer(&list);
}

static gboolean
insert(DemurWorkspace *workspace, const DemurSiteSeen *seen, const char *created, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO site_seen (seen_by, plan, selector, selector_digest, cohort, site, document,"
      " digest, made, answer, origin, n_labels, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
      " RETURNING id",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, seen->by == DEMUR_SEEN_BY_AUDIT ? "audit" : "plan");
  if (seen->by == DEMUR_SEEN_BY_PLAN)
    demur_store_bind_int(statement, 2, seen->plan);
  const char *const texts[] = {seen->selector, seen->selector_digest, seen->cohort,
                               seen->site,     seen->document,        seen->digest,
                               seen->made,     seen->answer,          seen->origin};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    demur_store_bind_text(statement, 3 + (int)i, texts[i]);
  demur_store_bind_int(statement, 12, (gint64)seen->n_labels);
  demur_store_bind_text(statement, 13, created);
  if (!demur_store_run(workspace, statement, "keeping what was seen of a site", error))
    return FALSE;
  g_autofree char *key = g_strdup_printf("site-seen:%" PRId64, demur_store_inserted_id(workspace));
  return demur_events_add(workspace, DEMUR_EVENT_ACCEPTANCE, key, seen->digest, NULL, created,
                          error);
}

static gboolean
keep_plan(DemurWorkspace *workspace, const DemurAcceptancePlanRecord *plan, char *origin,
          const char *created, GError **error) {
  g_autoptr(GPtrArray) answers = demur_acceptances_list(workspace, plan->id, error);
  if (answers == NULL)
    return FALSE;
  size_t n_labels;
  if (demur_acceptances_seen(answers, &n_labels) == 0)
    return TRUE;
  const DemurSiteSeen of_plan = {.by = DEMUR_SEEN_BY_PLAN,
                                 .plan = plan->made,
                                 .selector = plan->selector,
                                 .selector_digest = plan->selector_digest,
                                 .origin = origin,
                                 .cohort = plan->cohort,
                                 .site = plan->site,
                                 .document = plan->document,
                                 .digest = plan->digest,
                                 .made = plan->created,
                                 .answer =
                                     ((const DemurAcceptanceRecord *)answers->pdata[0])->answer,
                                 .n_labels = n_labels};
  return insert(workspace, &of_plan, created, error);
}

/* The selector that ends, as the lists have it (owned); NULL with error. */
static DemurSelectorRecord *
find_selector(DemurWorkspace *workspace, const char *name, GError **error) {
  g_autoptr(GPtrArray) records = demur_selectors_list(workspace, error);
  for (guint r = 0; records != NULL && r < records->len; r++)
    if (strcmp(((const DemurSelectorRecord *)records->pdata[r])->name, name) == 0)
      return g_ptr_array_steal_index(records, r);
  if (records != NULL)
    demur_error_set(error, DEMUR_ERROR_STORE, "selector '%s' is not in the list of selectors",
                    name);
  return NULL;
}

/* What it was made of (owned); NULL where it can't be read: one that was trained here is made of nothing else. */
static char *
origin_of(DemurWorkspace *workspace, const DemurSelectorRecord *record) {
  if (record->history != NULL)
    return g_strdup(record->digest);
  g_autoptr(DemurSelector) selector =
      demur_selectors_read(workspace, record->name, record->name, NULL, NULL);
  return selector != NULL ? g_strdup(demur_selector_origin(selector)) : NULL;
}

gboolean
demur_site_seen_keep(DemurWorkspace *workspace, const char *selector, const char *created,
                     GError **error) {
  g_autoptr(GPtrArray) plans = demur_acceptance_plans_of_selector(workspace, selector, error);
  g_autoptr(GPtrArray) audits =
      plans != NULL ? demur_audits_list(workspace, selector, error) : NULL;
  if (audits == NULL)
    return FALSE;
  if (plans->len == 0 && audits->len == 0)
    return TRUE;
  g_autoptr(DemurSelectorRecord) record = find_selector(workspace, selector, error);
  if (record == NULL)
    return FALSE;
  g_autofree char *origin = origin_of(workspace, record);
  for (guint i = 0; i < plans->len; i++)
    if (!keep_plan(workspace, plans->pdata[i], origin, created, error))
      return FALSE;
  for (guint i = 0; i < audits->len; i++) {
    const DemurAuditRecord *audit = audits->pdata[i];
    if (audit->labels == NULL)
      continue;
    g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, audit->labels, -1);
    const DemurSiteSeen of_audit = {.by = DEMUR_SEEN_BY_AUDIT,
                                    .selector = audit->selector,
                                    .selector_digest = record->digest,
                                    .origin = origin,
                                    .cohort = audit->cohort,
                                    .site = audit->site,
                                    .document = audit->labels,
                                    .digest = digest,
                                    .made = audit->created,
                                    .n_labels = audit->n_labels};
    if (!insert(workspace, &of_audit, created, error))
      return FALSE;
  }
  return TRUE;
}
