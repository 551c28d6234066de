#include "store/cohorts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cohort/columns.h"
#include "cohort/order.h"
#include "store/cohort-rows.h"
#include "store/events.h"

void
demur_cohort_summary_free(DemurCohortSummary *summary) {
  if (summary == NULL)
    return;
  for (size_t s = 0; s < summary->n_splits; s++)
    g_free(summary->splits[s].name);
  g_free(summary->splits);
  g_free(summary->name);
  g_free(summary->model);
  g_free(summary->source);
  g_free(summary->created);
  g_free(summary->outcome);
  g_free(summary->digest);
  g_free(summary);
}

gint64
demur_store_cohort_exists(DemurWorkspace *workspace, const char *name, GError **error) {
  return demur_store_count(workspace, "SELECT count(*) FROM cohort WHERE name = ?", name, NULL,
                           error);
}

gboolean
demur_cohorts_save(DemurWorkspace *workspace, const DemurCohort *cohort,
                   const DemurProgress *progress, GError **error) {
  g_autofree guint32 *order = demur_cohort_order(cohort);
  g_autofree char *digest = demur_cohort_digest(cohort, order, cohort->n_scans);
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  const gint64 taken = demur_store_cohort_exists(workspace, cohort->name, error);
  gboolean ok = taken == 0;
  if (taken > 0)
    demur_error_set(error, DEMUR_ERROR_EXISTS,
                    "there is a cohort %s already; choose another name, or remove it first",
                    cohort->name);
  ok = ok && demur_store_write_cohort(workspace, cohort, digest, progress, error);
  demur_store_tell_cohort(workspace, cohort->name);
  return demur_store_end(workspace, ok, error);
}

static void
summary_free(gpointer summary) {
  demur_cohort_summary_free(summary);
}

/* Fills in the row that statement stands on, then its splits. */
static DemurCohortSummary *
read_summary(DemurWorkspace *workspace, DemurStatement *statement, gint64 *id, GError **error) {
  g_autoptr(DemurCohortSummary) summary = g_new0(DemurCohortSummary, 1);
  *id = demur_store_int(statement, 0);
  summary->name = demur_store_text(statement, 1);
  summary->model = demur_store_text(statement, 2);
  summary->source = demur_store_text(statement, 3);
  summary->simulated = demur_store_int(statement, 4) != 0;
  summary->digest = demur_store_text(statement, 5);
  summary->n_scans = (size_t)demur_store_int(statement, 6);
  summary->n_patients = (size_t)demur_store_int(statement, 7);
  summary->n_sites = (size_t)demur_store_int(statement, 8);
  summary->n_classes = (size_t)demur_store_int(statement, 9);
  summary->embedding_width = (size_t)demur_store_int(statement, 10);
  summary->created = demur_store_text(statement, 11);
  summary->outcome = demur_store_text(statement, 12);
  summary->horizon_years = demur_store_number(statement, 13); /* 0 of NULL */
  g_autoptr(GArray) splits = g_array_new(FALSE, FALSE, sizeof(DemurSplitSummary));
  DemurStatement *query = demur_store_statement(workspace,
                                                "SELECT name, n_scans, n_patients FROM cohort_split"
                                                " WHERE cohort_id = ? ORDER BY position",
                                                error);
  if (query == NULL)
    return NULL;
  demur_store_bind_int(query, 1, *id);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, query, &row, "reading splits", error)) && row) {
    const DemurSplitSummary split = {demur_store_text(query, 0), (size_t)demur_store_int(query, 1),
                                     (size_t)demur_store_int(query, 2)};
    g_array_append_val(splits, split);
  }
  summary->n_splits = splits->len;
  summary->splits = (DemurSplitSummary *)(gpointer)g_array_free(g_steal_pointer(&splits), FALSE);
  return ok ? g_steal_pointer(&summary) : NULL;
}

#define SELECT_SUMMARY                                                                             \
  "SELECT id, name, model, source, simulated, digest, n_scans, n_patients, n_sites, n_classes,"    \
  " embedding_width, created, outcome, horizon_years FROM cohort"

GPtrArray *
demur_cohorts_list(DemurWorkspace *workspace, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, SELECT_SUMMARY " ORDER BY name", error);
  if (statement == NULL)
    return NULL;
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(summary_free);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "listing cohorts", error)) && row) {
    gint64 id;
    DemurCohortSummary *summary = read_summary(workspace, statement, &id, error);
    if (summary == NULL) {
      demur_store_reset(statement);
      return NULL;
    }
    g_ptr_array_add(list, summary);
  }
  return ok ? g_steal_pointer(&list) : NULL;
}

gboolean
demur_store_cohort_not_found(DemurWorkspace *workspace, const char *name, GError **error) {
  g_autoptr(GPtrArray) list = demur_cohorts_list(workspace, error);
  if (list == NULL)
    return FALSE;
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < list->len; i++)
    g_string_append_printf(names, "%s%s", i > 0 ? ", " : "",
                           ((DemurCohortSummary *)list->pdata[i])->name);
  demur_error_set(error, DEMUR_ERROR_NOT_FOUND, "there is no cohort %s; %s%s", name,
                  list->len > 0 ? N_("there are: ") : N_("there is none yet (demur cohort import)"),
                  names->str);
  return FALSE;
}

DemurCohortSummary *
demur_store_find_cohort(DemurWorkspace *workspace, const char *name, gint64 *id, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, SELECT_SUMMARY " WHERE name = ?", error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, name);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "reading a cohort", error))
    return NULL;
  if (!row) {
    demur_store_cohort_not_found(workspace, name, error);
    return NULL;
  }
  DemurCohortSummary *summary = read_summary(workspace, statement, id, error);
  demur_store_reset(statement);
  return summary;
}

DemurCohortSummary *
demur_cohorts_summary(DemurWorkspace *workspace, const char *name, GError **error) {
  gint64 id;
  return demur_store_find_cohort(workspace, name, &id, error);
}

static DemurCohort *
load(DemurWorkspace *workspace, const char *name, gboolean with_embeddings,
     const DemurProgress *progress, GError **error) {
  gint64 id;
  g_autoptr(DemurCohortSummary) summary = demur_store_find_cohort(workspace, name, &id, error);
  if (summary == NULL)
    return NULL;
  g_autoptr(DemurCohort) cohort = demur_cohort_alloc();
  cohort->name = g_strdup(summary->name);
  cohort->model = g_strdup(summary->model);
  cohort->source = g_strdup(summary->source);
  cohort->created = g_strdup(summary->created);
  cohort->outcome = g_strdup(summary->outcome);
  cohort->horizon_years = summary->horizon_years;
  cohort->simulated = summary->simulated;
  cohort->n_scans = summary->n_scans;
  cohort->n_patients = summary->n_patients;
  cohort->n_sites = summary->n_sites;
  cohort->n_classes = summary->n_classes;
  cohort->embedding_width = with_embeddings ? summary->embedding_width : 0;
  cohort->n_splits = summary->n_splits;
  cohort->split_names = g_new0(char *, MAX(summary->n_splits, 1));
  for (size_t s = 0; s < summary->n_splits; s++)
    cohort->split_names[s] =
        demur_cohort_keep_text(cohort, summary->splits[s].name, strlen(summary->splits[s].name));
  if (!demur_store_read_cohort(workspace, id, cohort, progress, error))
    return NULL;
  return g_steal_pointer(&cohort);
}

DemurCohort *
demur_cohorts_load(DemurWorkspace *workspace, const char *name, const DemurProgress *progress,
                   GError **error) {
  return load(workspace, name, TRUE, progress, error);
}

DemurCohort *
demur_cohorts_load_facts(DemurWorkspace *workspace, const char *name, const DemurProgress *progress,
                         GError **error) {
  return load(workspace, name, FALSE, progress, error);
}

static gint64
cohort_id(DemurWorkspace *workspace, const char *name, size_t *n_scans, GError **error) {
  gint64 id = -1;
  g_autoptr(DemurCohortSummary) summary = demur_store_find_cohort(workspace, name, &id, error);
  if (summary == NULL)
    return -1;
  *n_scans = summary->n_scans;
  return id;
}

static gboolean
remove_attribute(DemurWorkspace *workspace, gint64 id, const char *name, GError **error) {
  static const char *const sql[] = {
      "DELETE FROM cohort_attribute WHERE cohort_id = ?1 AND name = ?2",
      "DELETE FROM cohort_column WHERE cohort_id = ?1 AND name = 'attribute:' || ?2",
      "DELETE FROM cohort_column WHERE cohort_id = ?1 AND name = 'values:' || ?2",
  };
  for (size_t i = 0; i < G_N_ELEMENTS(sql); i++) {
    DemurStatement *statement = demur_store_statement(workspace, sql[i], error);
    if (statement == NULL)
      return FALSE;
    demur_store_bind_int(statement, 1, id);
    demur_store_bind_text(statement, 2, name);
    if (!demur_store_run(workspace, statement, "replacing an attribute", error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
attach_one(DemurWorkspace *workspace, gint64 id, const char *name, size_t n_scans,
           const DemurAttribute *attribute, gboolean replace, GError **error) {
  const gint64 there = demur_store_count(workspace,
                                         "SELECT count(*) FROM cohort_attribute a JOIN cohort c"
                                         " ON c.id = a.cohort_id WHERE c.name = ? AND a.name = ?",
                                         name, attribute->name, error);
  if (there < 0)
    return FALSE;
  if (there > 0 && !replace) {
    demur_error_set(error, DEMUR_ERROR_EXISTS,
                    "cohort %s has a column %s already; ask for it to be replaced, or leave it out "
                    "(--columns)",
                    name, attribute->name);
    return FALSE;
  }
  if (there > 0 && !remove_attribute(workspace, id, attribute->name, error))
    return FALSE;
  const gint64 last = demur_store_count(
      workspace,
      "SELECT coalesce(max(position), -1) + 1 FROM cohort_attribute a JOIN cohort c"
      " ON c.id = a.cohort_id WHERE c.name = ?",
      name, NULL, error);
  return last >= 0 &&
         demur_store_write_attribute(workspace, id, (size_t)last, n_scans, attribute, error);
}

gboolean
demur_cohorts_attach(DemurWorkspace *workspace, const char *name, const DemurAttribute *attributes,
                     size_t n_attributes, gboolean replace, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  size_t n_scans = 0;
  const gint64 id = cohort_id(workspace, name, &n_scans, error);
  gboolean ok = id >= 0;
  for (size_t a = 0; ok && a < n_attributes; a++)
    ok = attach_one(workspace, id, name, n_scans, &attributes[a], replace, error);
  demur_store_tell_cohort(workspace, name);
  return demur_store_end(workspace, ok, error);
}

/* What was made from a cohort. */
static const DemurStoreMade made_from[] = {
    {"SELECT count(*) FROM selector WHERE cohort = ?", N_("%" PRId64 " selector"),
     N_("%" PRId64 " selectors")},
    {"SELECT count(*) FROM threshold WHERE cohort = ?", N_("%" PRId64 " threshold"),
     N_("%" PRId64 " thresholds")},
    {"SELECT count(*) FROM verdict v JOIN verdict_batch b ON b.id = v.batch_id WHERE b.cohort = ?",
     N_("%" PRId64 " verdict"), N_("%" PRId64 " verdicts")},
    {"SELECT count(*) FROM site_audit WHERE cohort = ?", N_("%" PRId64 " site audit"),
     N_("%" PRId64 " site audits")},
    {"SELECT count(*) FROM acceptance_plan WHERE cohort = ?", N_("%" PRId64 " acceptance test"),
     N_("%" PRId64 " acceptance tests")},
    {"SELECT count(*) FROM watch WHERE cohort = ?", N_("%" PRId64 " watch"),
     N_("%" PRId64 " watches")}};

static gboolean
check_unused(DemurWorkspace *workspace, const char *name, GError **error) {
  g_autoptr(GError) made = NULL;
  if (!demur_store_made(workspace, made_from, G_N_ELEMENTS(made_from), name, &made, error))
    return FALSE;
  if (made == NULL)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_STATE,
      "from cohort %s were made: %s; choose another name, remove the selectors first, or use "
      "`demur cohort remove --force` (what was made then keeps its name and digest)",
      name, made->message);
  demur_error_because(error, made);
  return FALSE;
}

gboolean
demur_cohorts_remove(DemurWorkspace *workspace, const char *name, gboolean force, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  size_t n_scans;
  const gint64 id = cohort_id(workspace, name, &n_scans, error);
  gboolean ok = id >= 0 && (force || check_unused(workspace, name, error));
  g_autofree char *key = g_strconcat("cohort:", name, NULL);
  g_autofree char *now = demur_store_now(workspace);
  if (ok) {
    DemurStatement *statement =
        demur_store_statement(workspace, "DELETE FROM cohort WHERE id = ?", error);
    ok = statement != NULL;
    if (ok) {
      demur_store_bind_int(statement, 1, id);
      ok = demur_store_run(workspace, statement, "removing a cohort", error) &&
           demur_events_add(workspace, DEMUR_EVENT_REMOVAL, key, NULL, NULL, now, error);
    }
  }
  return demur_store_end(workspace, ok, error);
}

gboolean
demur_store_write_cohort_event(DemurWorkspace *workspace, const char *name, GError **error) {
  const gint64 there = demur_store_cohort_exists(workspace, name, error);
  if (there <= 0) /* it went in the same transaction */
    return there == 0;
  gint64 id;
  g_autoptr(DemurCohortSummary) summary = demur_store_find_cohort(workspace, name, &id, error);
  g_autofree char *key = g_strconcat("cohort:", name, NULL);
  g_autofree char *now = demur_store_now(workspace);
  return summary != NULL &&
         demur_events_add(workspace, DEMUR_EVENT_COHORT, key, summary->digest, NULL, now, error);
}
