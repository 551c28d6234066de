/* What was left out of a cohort's table, and what was noticed in it. */
#include "store/cohort-rows.h"

void
demur_exclusion_free(DemurExclusion *exclusion) {
  if (exclusion == NULL)
    return;
  g_free(exclusion->reason);
  g_free(exclusion);
}

static void
exclusion_free(gpointer exclusion) {
  demur_exclusion_free(exclusion);
}

/* Runs a statement with one number bound. */
static gboolean
run_for(DemurWorkspace *workspace, const char *sql, gint64 id, GError **error) {
  DemurStatement *statement = demur_store_statement(workspace, sql, error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, id);
  return demur_store_run(workspace, statement, "saving what was left out", error);
}

gboolean
demur_cohorts_set_exclusions(DemurWorkspace *workspace, const char *name,
                             const DemurExclusion *exclusions, size_t n, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gint64 id = 0;
  DemurCohortSummary *summary = demur_store_find_cohort(workspace, name, &id, error);
  gboolean ok =
      summary != NULL &&
      run_for(workspace, "UPDATE cohort SET exclusions_recorded = 1 WHERE id = ?", id, error) &&
      run_for(workspace, "DELETE FROM cohort_exclusion WHERE cohort_id = ?", id, error);
  demur_cohort_summary_free(summary);
  demur_store_tell_cohort(workspace, name);
  for (size_t i = 0; ok && i < n; i++) {
    if (exclusions[i].n == 0)
      continue;
    DemurStatement *statement = demur_store_statement(
        workspace,
        "INSERT INTO cohort_exclusion (cohort_id, position, reason, n) VALUES (?, ?, ?, ?)", error);
    ok = statement != NULL;
    if (!ok)
      break;
    demur_store_bind_int(statement, 1, id);
    demur_store_bind_int(statement, 2, (gint64)i);
    demur_store_bind_text(statement, 3, exclusions[i].reason);
    demur_store_bind_int(statement, 4, (gint64)exclusions[i].n);
    ok = demur_store_run_later(workspace, statement, "saving what was left out", error);
  }
  return demur_store_end(workspace, ok, error);
}

static gpointer
read_exclusion(DemurStatement *statement) {
  DemurExclusion *exclusion = g_new0(DemurExclusion, 1);
  exclusion->reason = demur_store_text(statement, 0);
  exclusion->n = (size_t)demur_store_int(statement, 1);
  return exclusion;
}

gboolean
demur_cohorts_exclusions(DemurWorkspace *workspace, const char *name, gboolean *recorded,
                         GPtrArray **exclusions, GError **error) {
  const gint64 known = demur_store_count(
      workspace, "SELECT count(*) FROM cohort WHERE exclusions_recorded = 1 AND name = ?", name,
      NULL, error);
  if (known < 0)
    return FALSE;
  const gint64 there = known > 0 ? 1 : demur_store_cohort_exists(workspace, name, error);
  if (there <= 0)
    return there < 0 ? FALSE : demur_store_cohort_not_found(workspace, name, error);
  DemurStatement *statement =
      demur_store_statement(workspace,
                            "SELECT e.reason, e.n FROM cohort_exclusion e JOIN cohort c"
                            " ON c.id = e.cohort_id WHERE c.name = ? ORDER BY e.position",
                            error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, name);
  GPtrArray *list = demur_store_list(workspace, statement, read_exclusion, exclusion_free,
                                     "reading what was left out", error);
  if (list == NULL)
    return FALSE;
  *recorded = known > 0;
  *exclusions = list;
  return TRUE;
}

static gboolean
write_warning(DemurWorkspace *workspace, gint64 id, size_t position,
              const DemurTableWarning *warning, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "INSERT INTO cohort_warning (cohort_id, position, kind, column_name, first, second, n, n_all)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, id);
  demur_store_bind_int(statement, 2, (gint64)position);
  demur_store_bind_text(statement, 3, demur_table_warning_name(warning->kind));
  demur_store_bind_text(statement, 4, warning->column);
  demur_store_bind_text(statement, 5, warning->first);
  demur_store_bind_text(statement, 6, warning->second);
  demur_store_bind_int(statement, 7, (gint64)warning->n);
  demur_store_bind_int(statement, 8, (gint64)warning->n_all);
  return demur_store_run_later(workspace, statement, "saving what was noticed", error);
}

gboolean
demur_cohorts_set_warnings(DemurWorkspace *workspace, const char *name, const GPtrArray *warnings,
                           GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gint64 id = 0;
  g_autoptr(DemurCohortSummary) summary = demur_store_find_cohort(workspace, name, &id, error);
  gboolean ok = summary != NULL &&
                run_for(workspace, "DELETE FROM cohort_warning WHERE cohort_id = ?", id, error);
  demur_store_tell_cohort(workspace, name);
  for (guint i = 0; ok && i < warnings->len; i++)
    ok = write_warning(workspace, id, i, warnings->pdata[i], error);
  return demur_store_end(workspace, ok, error);
}

GPtrArray *
demur_cohorts_warnings(DemurWorkspace *workspace, const char *name, GError **error) {
  const gint64 there = demur_store_cohort_exists(workspace, name, error);
  if (there <= 0) {
    if (there == 0)
      demur_store_cohort_not_found(workspace, name, error);
    return NULL;
  }
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT w.kind, w.column_name, w.first, w.second, w.n, w.n_all FROM cohort_warning w"
      " JOIN cohort c ON c.id = w.cohort_id WHERE c.name = ? ORDER BY w.position",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, name);
  g_autoptr(GPtrArray) list = demur_table_warnings_new();
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "reading what was noticed", error)) &&
         row) {
    g_autofree char *kind = demur_store_text(statement, 0);
    const int known = demur_table_warning_find(kind);
    if (known < 0)
      continue;
    DemurTableWarning *warning = demur_table_warnings_add(
        list, (DemurTableWarningKind)known, NULL, NULL, NULL, (size_t)demur_store_int(statement, 4),
        (size_t)demur_store_int(statement, 5));
    warning->column = demur_store_text(statement, 1);
    warning->first = demur_store_text(statement, 2);
    warning->second = demur_store_text(statement, 3);
  }
  return ok ? g_steal_pointer(&list) : NULL;
}
