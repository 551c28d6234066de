#include "tasks/audit.h"

#include <math.h>
#include <string.h>

#include "base/csv-field.h"
#include "base/error.h"
#include "base/json-writer.h"
#include "base/file-output.h"
#include "selector/outcome-weights.h"
#include "store/audits.h"
#include "tasks/assess.h"
#include "tasks/label-table.h"
#include "tasks/selection.h"
#include "tasks/site-scans.h"

/* ---- plan ---- */

static void
scan_clear(gpointer data) {
  DemurAuditScan *scan = data;
  g_free(scan->scan_id);
  g_free(scan->patient_id);
}

static void
change_clear(gpointer data) {
  g_free(((DemurAuditChange *)data)->scan_id);
}

static void
append_scans(const DemurAuditPlanned *planned, GString *table) {
  for (guint i = 0; i < planned->scans->len; i++) {
    const DemurAuditScan *scan = &g_array_index(planned->scans, DemurAuditScan, i);
    demur_csv_append(table, scan->scan_id);
    g_string_append_c(table, ',');
    demur_csv_append(table, scan->patient_id);
    g_string_append_c(table, ',');
    demur_csv_append(table, planned->site);
    g_string_append(table, ",\n");
  }
}

#define HEADER "scan_id,patient_id,site,label\n"

char *
demur_audit_planned_table(const DemurAuditPlanned *planned) {
  GString *table = g_string_new(HEADER);
  append_scans(planned, table);
  return g_string_free(table, FALSE);
}

char *
demur_audit_planned_table_sites(const GPtrArray *planned) {
  GString *table = g_string_new(HEADER);
  for (guint i = 0; i < planned->len; i++)
    append_scans(planned->pdata[i], table);
  return g_string_free(table, FALSE);
}

void
demur_audit_planned_free(DemurAuditPlanned *planned) {
  if (planned == NULL)
    return;
  g_free(planned->site);
  g_clear_pointer(&planned->scans, g_array_unref);
  g_clear_pointer(&planned->warnings, g_ptr_array_unref);
  g_free(planned);
}

static void
take_scans(DemurTask *task, const DemurSiteScans *site, size_t n_wanted,
           DemurAuditPlanned *planned) {
  g_autofree double *risks = g_new(double, site->n);
  g_autofree guint32 *patients = g_new(guint32, site->n);
  for (size_t i = 0; i < site->n; i++) {
    risks[i] = site->view->risks[site->rows[i]];
    patients[i] = site->cohort->patients[site->rows[i]];
  }
  size_t n_chosen;
  g_autofree guint32 *chosen =
      demur_audit_choose(risks, site->scores, patients, site->n, n_wanted, task->seed, &n_chosen);
  for (size_t i = 0; i < n_chosen; i++) {
    const guint32 row = site->rows[chosen[i]];
    const DemurAuditScan scan = {g_strdup(site->cohort->scan_ids[row]),
                                 g_strdup(site->cohort->patient_ids[site->cohort->patients[row]]),
                                 risks[chosen[i]], site->scores[chosen[i]]};
    g_array_append_val(planned->scans, scan);
  }
}

DemurAuditPlanned *
demur_task_audit_plan(DemurTask *task, const DemurAuditPlanParams *params, GError **error) {
  g_auto(DemurSiteScans) site = {0};
  if (!demur_site_scans_selector(task, params->selector, "a site audit", &site, error) ||
      !demur_site_scans_load(task, params->cohort, params->split, params->site, &site, error))
    return NULL;
  g_autoptr(DemurAuditPlanned) planned = g_new0(DemurAuditPlanned, 1);
  planned->site = g_strdup(params->site);
  planned->simulated = site.cohort->simulated;
  planned->site_trained = site.trained;
  planned->n_site_scans = site.n;
  planned->scans = g_array_new(FALSE, FALSE, sizeof(DemurAuditScan));
  g_array_set_clear_func(planned->scans, scan_clear);
  planned->warnings = demur_task_warnings_new();
  if (site.trained)
    demur_task_warnings_add(planned->warnings, DEMUR_TASK_WARNING_SITE_TRAINED, 0, 0, params->site);
  take_scans(task, &site, params->n_scans, planned);
  g_autofree char *table = demur_audit_planned_table(planned);
  if (params->output != NULL &&
      !demur_file_write(params->output, table, -1, DEMUR_FILE_REPLACE, error))
    return NULL;
  g_autofree char *now = demur_task_now(task);
  const DemurAuditPlan plan = {(char *)params->selector, planned->site, (char *)params->cohort,
                               planned->scans->len,      task->seed,    now};
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL || !demur_audit_plans_save(workspace, &plan, error))
    return NULL;
  return g_steal_pointer(&planned);
}

static int
compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
free_planned(gpointer planned) {
  demur_audit_planned_free(planned);
}

/* Names of the split's sites, each once, in order (owned, the names are the cohort's). */
static GPtrArray *
sites_of_split(const DemurCohort *cohort, const char *split, GError **error) {
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, split, &n, error);
  if (rows == NULL)
    return NULL;
  g_autofree guint8 *there = g_new0(guint8, MAX(cohort->n_sites, 1));
  GPtrArray *names = g_ptr_array_new();
  for (size_t i = 0; i < n; i++) {
    const guint32 site = cohort->sites[rows[i]];
    if (!there[site])
      g_ptr_array_add(names, cohort->site_names[site]);
    there[site] = 1;
  }
  g_ptr_array_sort(names, compare_texts);
  return names;
}

GPtrArray *
demur_task_audit_plan_sites(DemurTask *task, const DemurAuditPlanParams *params, GError **error) {
  const char *split = params->split != NULL ? params->split : DEMUR_SPLIT_TEST;
  g_autoptr(DemurCohort) cohort = demur_task_load_cohort(task, params->cohort, error);
  g_autoptr(GPtrArray) names = cohort != NULL ? sites_of_split(cohort, split, error) : NULL;
  if (names == NULL)
    return NULL;
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(free_planned);
  for (guint i = 0; i < names->len; i++) {
    DemurAuditPlanParams one = *params;
    one.site = names->pdata[i];
    one.split = split;
    one.output = NULL;
    g_autoptr(GError) local = NULL;
    DemurAuditPlanned *planned = demur_task_audit_plan(task, &one, &local);
    if (planned != NULL)
      g_ptr_array_add(all, planned);
    else if (!g_error_matches(local, DEMUR_ERROR,
                              DEMUR_ERROR_STATE)) { /* none is unseen: no site */
      g_propagate_error(error, g_steal_pointer(&local));
      return NULL;
    }
  }
  if (all->len == 0) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "split '%s' of cohort '%s' has no site with scans that the selector has not seen", split,
        params->cohort);
    return NULL;
  }
  g_autofree char *table = demur_audit_planned_table_sites(all);
  if (params->output != NULL &&
      !demur_file_write(params->output, table, -1, DEMUR_FILE_REPLACE, error))
    return NULL;
  return g_steal_pointer(&all);
}

/* ---- apply ---- */

/* The labelled scans' risks and labels, in the table's order: joined by scan_id, each once, one a
 * patient (the first). */
typedef struct {
  double *risks, *labels;
  double *weights;       /* selector/outcome-weights.h; NULL: 1 */
  guint32 *rows;         /* of the cohort */
  const char **scan_ids; /* the cohort's */
  size_t n, n_empty, n_repeated;
  size_t n_known, n_contrary; /* labels that the cohort has too, and has otherwise */
  const char *contrary;       /* the first of the latter */
} Joined;

static void
joined_clear(Joined *joined) {
  g_free(joined->risks);
  g_free(joined->scan_ids);
  g_free(joined->weights);
  g_free(joined->rows);
  g_free(joined->labels);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Joined, joined_clear)

static gboolean
join_labels(const DemurSiteScans *site, const char *site_name, const GArray *rows, const char *path,
            Joined *joined, GError **error) {
  g_autofree char *file = g_path_get_basename(path);
  g_autoptr(GHashTable) scans = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(GHashTable) patients = g_hash_table_new(NULL, NULL);
  joined->risks = g_new(double, rows->len);
  joined->labels = g_new(double, rows->len);
  joined->scan_ids = g_new(const char *, rows->len);
  joined->rows = g_new(guint32, MAX(rows->len, 1));
  for (guint i = 0; i < rows->len; i++) {
    const DemurLabel *row = &g_array_index(rows, DemurLabel, i);
    const gssize scan = demur_cohort_find_scan(site->cohort, row->scan_id);
    const char *wrong = NULL;
    if (scan < 0)
      wrong = "is not in the cohort";
    else if (strcmp(site->cohort->site_names[site->cohort->sites[scan]], site_name) != 0)
      wrong = "is of another site in the cohort";
    else if (row->patient_id != NULL &&
             strcmp(site->cohort->patient_ids[site->cohort->patients[scan]], row->patient_id) != 0)
      wrong = "is another patient's in the cohort";
    else if (demur_selector_has_seen(site->selector,
                                     site->cohort->patient_ids[site->cohort->patients[scan]]))
      wrong = "is of a patient that made the selector";
    else if (!g_hash_table_add(scans, row->scan_id))
      wrong = "stands in the table twice";
    if (wrong != NULL) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "%s: line %zu: scan '%s' %s ('%s'); nothing was kept", file, row->line,
                      row->scan_id, wrong, site->cohort->name);
      return FALSE;
    }
    if (!isfinite(row->label))
      joined->n_empty++;
    else if (!g_hash_table_add(patients, GUINT_TO_POINTER(site->cohort->patients[scan] + 1)))
      joined->n_repeated++;
    else {
      joined->risks[joined->n] = site->view->risks[scan];
      joined->scan_ids[joined->n] = site->cohort->scan_ids[scan];
      joined->rows[joined->n] = (guint32)scan;
      const gint32 known = site->cohort->labels[scan];
      joined->n_known += known != DEMUR_NO_LABEL;
      if (known != DEMUR_NO_LABEL && (double)known != row->label && joined->n_contrary++ == 0)
        joined->contrary = site->cohort->scan_ids[scan];
      joined->labels[joined->n++] = row->label;
    }
  }
  if (joined->n > 0)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_INPUT,
                  "%s: no row has a label; fill the column label with 0 or 1", file);
  return FALSE;
}

/* The labels as they are kept (owned). */
static char *
labels_text(const Joined *joined) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  for (size_t i = 0; i < joined->n; i++)
    demur_json_int(json, joined->scan_ids[i], joined->labels[i] > 0.5 ? 1 : 0);
  demur_json_end_object(json);
  return demur_json_finish(json);
}

/* Which verdicts the intercept changes at the current threshold. */
static gboolean
compare_verdicts(DemurTask *task, const DemurSiteScans *site, const DemurAuditRecord *record,
                 DemurAuditApplied *applied, GError **error) {
  g_autoptr(GHashTable) audits = g_hash_table_new(g_str_hash, g_str_equal);
  g_hash_table_insert(audits, record->site, (gpointer)record);
  g_autoptr(DemurCohort) audited = demur_task_audited_view(audits, site->view);
  g_autofree double *scores =
      demur_site_scans_scores(task, site->selector, audited, site->rows, site->n, error);
  if (scores == NULL)
    return FALSE;
  for (size_t i = 0; isfinite(applied->threshold) && i < site->n; i++) {
    const gboolean before = site->scores[i] >= applied->threshold;
    const gboolean after = scores[i] >= applied->threshold;
    const DemurAuditChange change = {g_strdup(site->cohort->scan_ids[site->rows[i]]), after};
    if (before != after)
      g_array_append_val(applied->changes, change);
    else
      g_free(change.scan_id);
  }
  return TRUE;
}

/* The cohort asked for, or the plan's (owned). */
static char *
cohort_of_plan(DemurWorkspace *workspace, const DemurAuditApplyParams *params, const char *site,
               GError **error) {
  if (params->cohort != NULL)
    return g_strdup(params->cohort);
  g_autoptr(DemurAuditPlan) plan = NULL;
  if (!demur_audit_plans_find(workspace, params->selector, site, &plan, error))
    return NULL;
  if (plan != NULL)
    return g_strdup(plan->cohort);
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "no audit of site '%s' was planned for selector '%s'; give --cohort C with its "
                  "scans, or run `demur audit plan` first",
                  site, params->selector);
  return NULL;
}

void
demur_audit_applied_free(DemurAuditApplied *applied) {
  if (applied == NULL)
    return;
  g_free(applied->site);
  g_free(applied->cohort);
  g_free(applied->replaced);
  g_clear_pointer(&applied->changes, g_array_unref);
  g_free(applied);
}

/* Notes the audit of the site that is about to be replaced. */
static gboolean
note_replaced(DemurWorkspace *workspace, const char *selector, DemurAuditApplied *applied,
              GError **error) {
  g_autoptr(GPtrArray) audits = demur_audits_list(workspace, selector, error);
  for (guint i = 0; audits != NULL && i < audits->len; i++) {
    const DemurAuditRecord *audit = audits->pdata[i];
    if (g_strcmp0(audit->site, applied->site) != 0)
      continue;
    applied->replaced = g_strdup(audit->created);
    applied->n_replaced_labels = audit->n_labels;
  }
  return audits != NULL;
}

static gboolean
apply(DemurTask *task, const DemurAuditApplyParams *params, const GArray *rows,
      DemurAuditApplied *applied, GPtrArray *warnings, GError **error) {
  g_auto(DemurSiteScans) site = {0};
  g_auto(Joined) joined = {0};
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL ||
      !demur_site_scans_selector(task, params->selector, "a site audit", &site, error))
    return FALSE;
  applied->cohort = cohort_of_plan(workspace, params, applied->site, error);
  g_autoptr(DemurThresholdRecord) threshold = NULL;
  if (applied->cohort == NULL ||
      !demur_site_scans_load(task, applied->cohort, NULL, applied->site, &site, error) ||
      !join_labels(&site, applied->site, rows, params->path, &joined, error) ||
      !demur_outcome_weights_labelled(site.cohort, joined.rows, joined.n, &joined.weights, error) ||
      !demur_thresholds_current(workspace, params->selector, &threshold, error))
    return FALSE;
  if (joined.n_contrary > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_CONTRARY, NULL, joined.contrary, NULL,
                             joined.n_contrary, joined.n_known);
  g_autofree double *risks = g_new(double, site.n);
  for (size_t i = 0; i < site.n; i++)
    risks[i] = site.view->risks[site.rows[i]];
  applied->audit =
      demur_audit_fit_weighted(joined.risks, joined.labels, joined.weights, joined.n,
                               demur_selector_site_prior(site.selector), risks, site.n);
  applied->simulated = site.cohort->simulated;
  applied->n_site_scans = site.n;
  applied->n_empty = joined.n_empty;
  applied->n_repeated = joined.n_repeated;
  applied->threshold = threshold != NULL ? threshold->threshold : NAN;
  g_autofree char *now = demur_task_now(task);
  g_autofree char *labels = labels_text(&joined);
  const DemurAuditRecord record = {.selector = (char *)params->selector,
                                   .site = applied->site,
                                   .cohort = applied->cohort,
                                   .intercept = applied->audit.intercept,
                                   .low = applied->audit.low,
                                   .high = applied->audit.high,
                                   .tau2 = applied->audit.tau2,
                                   .n_labels = joined.n,
                                   .labels = labels,
                                   .created = now};
  return compare_verdicts(task, &site, &record, applied, error) &&
         note_replaced(workspace, params->selector, applied, error) &&
         demur_audits_save(workspace, &record, error);
}

static void
free_applied(gpointer applied) {
  demur_audit_applied_free(applied);
}

GPtrArray *
demur_task_audit_apply(DemurTask *task, const DemurAuditApplyParams *params, GPtrArray **noticed,
                       GError **error) {
  g_autoptr(GPtrArray) warnings = demur_table_warnings_new();
  g_autoptr(DemurColumnMap) map = NULL;
  if (params->columns != NULL && (map = demur_column_map_read(params->columns, error)) == NULL)
    return NULL;
  g_autofree char *today = demur_task_now(task);
  g_autoptr(GPtrArray) sites =
      demur_label_table_read_sites(params->path, map, today, warnings, error);
  DemurWorkspace *workspace = sites != NULL ? demur_task_workspace(task, error) : NULL;
  if (workspace == NULL || !demur_workspace_begin(workspace, error))
    return NULL;
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(free_applied);
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < sites->len; i++) {
    const GArray *rows = sites->pdata[i];
    DemurAuditApplied *applied = g_new0(DemurAuditApplied, 1);
    applied->changes = g_array_new(FALSE, FALSE, sizeof(DemurAuditChange));
    g_array_set_clear_func(applied->changes, change_clear);
    applied->site = g_strdup(g_array_index(rows, DemurLabel, 0).site);
    g_ptr_array_add(all, applied);
    ok = apply(task, params, rows, applied, warnings, error);
  }
  if (!ok)
    demur_workspace_rollback(workspace);
  if (!ok || !demur_workspace_commit(workspace, error))
    return NULL;
  *noticed = g_steal_pointer(&warnings);
  return g_steal_pointer(&all);
}
