/* Reads a workspace into a scan table. */
#include <math.h>
#include <string.h>

#include "store/cohorts.h"
#include "store/events.h"
#include "store/reviews.h"
#include "store/scores.h"
#include "store/selectors.h"
#include "tasks/history.h"
#include "tasks/horizons.h"
#include "tasks/scan-fill.h"
#include "tasks/selectors.h"
#include "tasks/task.h"

static gboolean
add_reviews(DemurScanTable *table, DemurWorkspace *workspace, GError **error) {
  g_autoptr(GPtrArray) reviews = demur_reviews_list(workspace, error);
  if (reviews == NULL)
    return FALSE;
  for (guint i = 0; i < reviews->len; i++) {
    const DemurReviewRecord *review = reviews->pdata[i];
    const gssize row = demur_scan_table_find(table, review->cohort, review->scan_id);
    if (row < 0)
      continue;
    DemurScanReview *mine = &table->reviews[row];
    const DemurScan *scan = &table->scans[row];
    mine->has_history = TRUE;
    /* All belongs to the verdict that was on the screen then; what was said of an earlier one, or of
     * one that no longer holds, is in the history. */
    if (review->verdict_id != scan->verdict_id || scan->outdated != DEMUR_CURRENT)
      continue;
    if (review->kind == DEMUR_REVIEW_REVEAL)
      mine->revealed = TRUE;
    else if (mine->n_reviews++ == 0)
      mine->opinion = review->kind;
  }
  return TRUE;
}

static gint
compare_created(gconstpointer a, gconstpointer b) {
  const DemurSelectorRecord *const *x = a, *const *y = b;
  const int order = g_strcmp0((*y)->created, (*x)->created);
  return order != 0 ? order : strcmp((*x)->name, (*y)->name);
}

static gboolean
add_names(DemurScanTable *table, DemurWorkspace *workspace, GError **error) {
  g_autoptr(GPtrArray) cohorts = demur_cohorts_list(workspace, error);
  g_autoptr(GPtrArray) selectors = cohorts != NULL ? demur_selectors_list(workspace, error) : NULL;
  if (selectors == NULL)
    return FALSE;
  table->splits = g_new0(char **, cohorts->len + 1);
  g_autoptr(GStrvBuilder) names = g_strv_builder_new();
  for (guint i = 0; i < cohorts->len; i++) {
    const DemurCohortSummary *cohort = cohorts->pdata[i];
    g_strv_builder_add(names, cohort->name);
    table->simulated |= cohort->simulated;
    table->splits[i] = g_new0(char *, cohort->n_splits + 1);
    for (size_t k = 0; k < cohort->n_splits; k++)
      table->splits[i][k] = g_strdup(cohort->splits[k].name);
  }
  table->cohorts = g_strv_builder_end(names);
  g_ptr_array_sort(selectors, compare_created);
  g_autoptr(GStrvBuilder) selector_names = g_strv_builder_new();
  g_autoptr(GStrvBuilder) families = g_strv_builder_new();
  table->selector_years = g_new0(double, MAX(selectors->len, 1));
  for (guint i = 0; i < selectors->len; i++) {
    const DemurSelectorRecord *record = selectors->pdata[i];
    g_autofree char *family = record->family != NULL
                                  ? demur_horizon_family_name(record->name, record->horizon_years)
                                  : NULL;
    g_strv_builder_add(selector_names, record->name);
    g_strv_builder_add(families, family != NULL ? family : "");
    table->selector_years[i] = record->horizon_years;
  }
  table->selectors = g_strv_builder_end(selector_names);
  table->families = g_strv_builder_end(families);
  table->models = demur_scores_models(workspace, error);
  if (table->models == NULL)
    return FALSE;
  if (selectors->len == 0)
    return TRUE;
  /* The newest that has a threshold; where none has, the newest. */
  const DemurSelectorRecord *in_use = selectors->pdata[0];
  for (guint i = 0; i < selectors->len; i++) {
    const DemurSelectorRecord *record = selectors->pdata[i];
    g_autoptr(DemurThresholdRecord) threshold = NULL;
    if (!demur_thresholds_current(workspace, record->name, &threshold, error))
      return FALSE;
    if (threshold == NULL)
      continue;
    in_use = record;
    table->in_use.coverage = threshold->coverage;
    table->in_use.threshold = threshold->threshold;
    break;
  }
  table->in_use.selector = g_strdup(in_use->name);
  table->in_use.digest = g_strdup(in_use->digest);
  table->in_use.model = g_strdup(in_use->model);
  table->in_use.cohort = g_strdup(in_use->cohort);
  return TRUE;
}

static gboolean
add_scans(DemurScanFill *fill, DemurWorkspace *workspace, const DemurProgress *progress,
          GError **error) {
  if (!demur_scan_add_series(fill, workspace, error))
    return FALSE;
  for (char **name = fill->table->cohorts; *name != NULL; name++)
    if (!demur_scan_add_cohort(fill, workspace, *name, progress, error))
      return FALSE;
  DemurScanTable *table = fill->table;
  demur_scan_fill_reserve(fill, 1); /* never NULL */
  table->n_scans = fill->n_scans;
  table->reviews = g_new0(DemurScanReview, MAX(table->n_scans, 1));
  table->scans = g_steal_pointer(&fill->scans);
  return TRUE;
}

/* What the risks are of: of each selector that gave one it is looked up once. */
static void
add_outcomes(DemurScanFill *fill, DemurTask *task) {
  DemurScanTable *table = fill->table;
  g_autoptr(GHashTable) outcomes = g_hash_table_new(g_str_hash, g_str_equal);
  for (size_t i = 0; i < table->n_scans; i++) {
    DemurScan *scan = &table->scans[i];
    if (isnan(scan->risk) && isnan(scan->withheld_risk))
      continue;
    const char *known = g_hash_table_lookup(outcomes, scan->selector);
    if (known == NULL) {
      g_autofree char *outcome = demur_task_selector_outcome(task, scan->selector);
      known = demur_scan_keep(fill, outcome);
      g_hash_table_insert(outcomes, (gpointer)(gsize)scan->selector, (gpointer)(gsize)known);
    }
    scan->outcome = known;
  }
}

DemurScanTable *
demur_scan_table_load(const char *path, gboolean may_create, const DemurProgress *progress,
                      GError **error) {
  const DemurWorkspaceFlags flags = demur_workspace_is_read_only(path) ? DEMUR_WORKSPACE_READ_ONLY
                                    : may_create                       ? DEMUR_WORKSPACE_CREATE
                                                                       : DEMUR_WORKSPACE_DEFAULT;
  const gboolean is_new = !demur_task_workspace_may_be_there(path);
  g_auto(DemurTask) task = {.workspace_path = g_strdup(path), .opening = flags};
  if (progress != NULL)
    task.progress = *progress;
  DemurWorkspace *workspace = demur_task_workspace(&task, error);
  if (workspace == NULL)
    return NULL;
  g_autoptr(DemurScanTable) table = demur_scan_table_new();
  table->path = g_strdup(path);
  table->read_only = (flags & DEMUR_WORKSPACE_READ_ONLY) != 0;
  table->is_new = is_new;
  if (!demur_events_last_of_change(workspace, &table->last_event, error) ||
      !demur_history_keeps_openings(&task, &table->keeps_openings, error) ||
      !add_names(table, workspace, error))
    return NULL;
  DemurScanFill fill;
  demur_scan_fill_init(&fill, table);
  const gboolean filled = add_scans(&fill, workspace, progress, error);
  if (filled)
    add_outcomes(&fill, &task);
  demur_scan_fill_clear(&fill);
  if (!filled)
    return NULL;
  return add_reviews(table, workspace, error) ? g_steal_pointer(&table) : NULL;
}
