#include "tasks/accept.h"

#include <math.h>
#include <string.h>

#include "base/csv-field.h"
#include "base/sha256.h"
#include "base/error.h"
#include "base/person.h"
#include "base/file-output.h"
#include "base/random.h"
#include "metrics/intervals.h"
#include "selector/audit.h"
#include "selector/release.h"
#include "store/acceptances.h"
#include "store/audits.h"
#include "store/cohorts.h"
#include "store/selectors.h"
#include "tasks/assess.h"
#include "tasks/label-table.h"
#include "tasks/selection.h"
#include "tasks/site-scans.h"

/* ---- plan ---- */

void
demur_accept_planned_free(DemurAcceptPlanned *planned) {
  if (planned == NULL)
    return;
  g_free(planned->site);
  g_free(planned->digest);
  demur_acceptance_document_free(planned->document);
  demur_accept_before_clear(&planned->before);
  g_clear_pointer(&planned->warnings, g_ptr_array_unref);
  g_free(planned);
}

char *
demur_accept_planned_table(const DemurAcceptPlanned *planned) {
  const DemurAcceptanceDocument *d = planned->document;
  GString *table = g_string_new("scan_id,patient_id,site,label\n");
  for (size_t i = 0; i < d->plan->n_chosen; i++) {
    demur_csv_append(table, d->scan_ids[i]);
    g_string_append_c(table, ',');
    demur_csv_append(table, d->patient_ids[i]);
    g_string_append_c(table, ',');
    demur_csv_append(table, planned->site);
    g_string_append(table, ",\n");
  }
  return g_string_free(table, FALSE);
}

/* The threshold whose risks are shown; DEMUR_ERROR_STATE where there is none yet. */
static DemurThresholdRecord *
find_threshold(DemurTask *task, const char *selector, const char *coverage, GError **error) {
  DemurThresholdRecord *record = NULL;
  if (demur_task_find_threshold(task, selector, coverage, &record, error) && record == NULL)
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "selector '%s' is not tuned, so no risk is shown yet: `demur tune %s` first",
                    selector, selector);
  return record;
}

/* The intercept of the site's audit, 0 where there is none; FALSE with error. */
static gboolean
find_intercept(DemurTask *task, const char *selector, const char *site, double *intercept,
               GError **error) {
  *intercept = 0.0;
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) audits =
      workspace != NULL ? demur_audits_list(workspace, selector, error) : NULL;
  if (audits == NULL)
    return FALSE;
  for (guint i = 0; i < audits->len; i++) {
    const DemurAuditRecord *audit = audits->pdata[i];
    if (strcmp(audit->site, site) == 0)
      *intercept = audit->intercept;
  }
  return TRUE;
}

/* The scans of the site with its audit's intercept in their risks. */
static DemurCohort *
audited_view(const DemurSiteScans *site, const char *name, double intercept) {
  g_autoptr(GHashTable) audits = g_hash_table_new(g_str_hash, g_str_equal);
  const DemurAuditRecord record = {.site = (char *)name, .intercept = intercept};
  if (intercept != 0.0)
    g_hash_table_insert(audits, record.site, (gpointer)&record);
  return demur_task_audited_view(audits, site->view);
}

/* Places in the site's rows, one a patient, by the seed (owned). */
static guint32 *
one_a_patient(const DemurSiteScans *site, guint64 seed, size_t *n) {
  guint32 *places = g_new(guint32, site->n);
  for (size_t i = 0; i < site->n; i++)
    places[i] = (guint32)i;
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_ONE_SCAN, 1, 0, 0);
  demur_random_shuffle(&random, site->n, places);
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  *n = 0;
  for (size_t i = 0; i < site->n; i++)
    if (g_hash_table_add(seen, GUINT_TO_POINTER(site->cohort->patients[site->rows[places[i]]] + 1)))
      places[(*n)++] = places[i];
  return places;
}

/* Of places [n], one a patient, those whom nothing before leaves out, in place (how many are returned); *left_out: the others. */
static size_t
leave_out(const DemurSiteScans *site, const DemurAcceptBefore *before, guint32 *places, size_t n,
          size_t *left_out) {
  size_t n_left = 0;
  for (size_t i = 0; i < n; i++)
    if (!demur_accept_before_holds(before, site->cohort, site->rows[places[i]]))
      places[n_left++] = places[i];
  *left_out = n - n_left;
  return n_left;
}

/* Keys of the patients of places [n], so that no later plan takes one (owned). */
static char **
candidates_of(const DemurSiteScans *site, const guint32 *places, size_t n) {
  char **keys = g_new0(char *, n + 1);
  for (size_t i = 0; i < n; i++)
    keys[i] =
        demur_person_key(site->cohort->patient_ids[site->cohort->patients[site->rows[places[i]]]]);
  return keys;
}

/* The document of a plan for the shown ones of the site's patients. */
static DemurAcceptanceDocument *
make_document(DemurTask *task, const DemurSiteScans *site, const DemurAcceptPlanParams *params,
              const DemurThresholdRecord *threshold, double intercept, DemurAcceptPlanned *planned,
              GError **error) {
  DemurAcceptanceSettings settings = params->settings;
  if (!demur_accept_before_spend(&planned->before, params->site, params->settings.alpha,
                                 &settings.alpha, error))
    return NULL;
  g_autoptr(DemurCohort) view = audited_view(site, params->site, intercept);
  g_autofree double *scores =
      demur_site_scans_scores(task, site->selector, view, site->rows, site->n, error);
  if (scores == NULL)
    return NULL;
  size_t n_patients, n = 0;
  g_autofree guint32 *places = one_a_patient(site, task->seed, &n_patients);
  n_patients = leave_out(site, &planned->before, places, n_patients, &planned->n_left_out);
  if (n_patients == 0) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "every patient of site '%s' in cohort '%s' could have been drawn by an earlier "
                    "plan whose labels were looked at: a new plan takes patients whose labels "
                    "nobody has seen; import later ones",
                    params->site, params->cohort);
    return NULL;
  }
  g_autofree double *risks = g_new(double, MAX(n_patients, 1));
  g_auto(GStrv) candidates = candidates_of(site, places, n_patients);
  for (size_t i = 0; i < n_patients; i++)
    if (scores[places[i]] >= threshold->threshold) {
      places[n] = places[i];
      risks[n++] = view->risks[site->rows[places[i]]];
    }
  g_autoptr(DemurAcceptanceDocument) d = g_new0(DemurAcceptanceDocument, 1);
  d->plan = demur_acceptance_plan_new(risks, n, &settings, task->seed, error);
  if (d->plan == NULL)
    return NULL;
  d->alpha_of_all = params->settings.alpha;
  d->origin = g_strdup(demur_selector_origin(site->selector));
  d->candidates = g_steal_pointer(&candidates);
  d->coverage = threshold->coverage;
  d->threshold = threshold->threshold;
  d->intercept = intercept;
  d->n_patients = n_patients;
  d->n_shown = n;
  d->seed = task->seed;
  const size_t n_chosen = d->plan->n_chosen;
  d->scan_ids = g_new0(char *, n_chosen + 1);
  d->patient_ids = g_new0(char *, n_chosen + 1);
  d->risks = g_new(double, MAX(n_chosen, 1));
  d->unaudited = g_new(double, MAX(n_chosen, 1));
  for (size_t i = 0; i < n_chosen; i++) {
    const guint32 row = site->rows[places[d->plan->order[i]]];
    d->scan_ids[i] = g_strdup(site->cohort->scan_ids[row]);
    d->patient_ids[i] = g_strdup(site->cohort->patient_ids[site->cohort->patients[row]]);
    d->risks[i] = view->risks[row];
    d->unaudited[i] = site->view->risks[row];
  }
  return g_steal_pointer(&d);
}

static gboolean
keep_plan(DemurTask *task, const DemurAcceptPlanParams *params, const DemurSiteScans *site,
          const char *json, DemurAcceptPlanned *planned, GError **error) {
  g_autofree char *now = demur_task_now(task);
  DemurAcceptancePlanRecord record = {.selector = (char *)params->selector,
                                      .selector_digest =
                                          (char *)demur_selector_digest(site->selector),
                                      .cohort = (char *)params->cohort,
                                      .site = (char *)params->site,
                                      .document = (char *)json,
                                      .digest = planned->digest,
                                      .user = task->user,
                                      .created = now};
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  return workspace != NULL && demur_acceptance_plans_save(workspace, &record, error);
}

DemurAcceptPlanned *
demur_task_accept_plan(DemurTask *task, const DemurAcceptPlanParams *params, GError **error) {
  if (!demur_acceptance_settings_check(&params->settings, error))
    return NULL;
  g_auto(DemurSiteScans) site = {0};
  double intercept;
  if (!demur_site_scans_selector(task, params->selector, "a local acceptance test", &site, error))
    return NULL;
  g_autoptr(DemurThresholdRecord) threshold =
      find_threshold(task, params->selector, params->coverage, error);
  if (threshold == NULL ||
      !demur_site_scans_load(task, params->cohort, params->split, params->site, &site, error) ||
      !find_intercept(task, params->selector, params->site, &intercept, error))
    return NULL;
  g_autoptr(DemurAcceptPlanned) planned = g_new0(DemurAcceptPlanned, 1);
  planned->site = g_strdup(params->site);
  planned->simulated = site.cohort->simulated;
  planned->warnings = demur_task_warnings_new();
  if (site.trained)
    demur_task_warnings_add(planned->warnings, DEMUR_TASK_WARNING_SITE_TRAINED, 0, 0, params->site);
  if (!demur_accept_before_read(task, params->site, site.selector, G_MAXINT64, site.cohort,
                                &planned->before, error))
    return NULL;
  planned->document = make_document(task, &site, params, threshold, intercept, planned, error);
  if (planned->document == NULL)
    return NULL;
  demur_interval_wilson((double)planned->document->n_shown, (double)planned->document->n_patients,
                        0.95, &planned->share_low, &planned->share_high);
  g_autofree char *json = demur_acceptance_document_to_json(planned->document);
  planned->digest = demur_acceptance_document_digest(json);
  g_autofree char *table = demur_accept_planned_table(planned);
  if ((params->output != NULL &&
       !demur_file_write(params->output, table, -1, DEMUR_FILE_REPLACE, error)) ||
      !keep_plan(task, params, &site, json, planned, error))
    return NULL;
  return g_steal_pointer(&planned);
}

/* ---- run ---- */

void
demur_accepted_free(DemurAccepted *accepted) {
  if (accepted == NULL)
    return;
  g_free(accepted->site);
  g_free(accepted->cohort);
  g_free(accepted->plan_digest);
  g_free(accepted->labels_digest);
  g_free(accepted->planned);
  demur_acceptance_document_free(accepted->document);
  demur_accept_before_clear(&accepted->before);
  g_clear_pointer(&accepted->noticed, g_ptr_array_unref);
  g_free(accepted);
}

/* The plan is of what is shown now: the same selector, threshold and audit. */
static gboolean
check_bindings(DemurTask *task, const DemurAcceptancePlanRecord *plan,
               const DemurAcceptanceDocument *document, GError **error) {
  g_autoptr(DemurSelector) selector = demur_task_load_selector(task, plan->selector, NULL, error);
  if (selector == NULL)
    return FALSE;
  const char *changed = NULL;
  double intercept;
  if (!find_intercept(task, plan->selector, plan->site, &intercept, error))
    return FALSE;
  if (g_strcmp0(demur_selector_digest(selector), plan->selector_digest) != 0) {
    changed = "the selector was trained anew";
  } else {
    g_autoptr(DemurThresholdRecord) threshold = demur_thresholds_find(
        demur_task_workspace(task, NULL), plan->selector, document->coverage, error);
    if (threshold == NULL)
      return FALSE;
    if (threshold->threshold != document->threshold)
      changed = "the threshold was tuned anew";
    else if (intercept != document->intercept)
      changed = "the site was audited";
  }
  if (changed == NULL)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_STATE,
      "since the plan for site '%s' %s: what is shown there is something else now; plan "
      "again with `demur accept plan`",
      plan->site, changed);
  return FALSE;
}

/* Labels [n_chosen] in the plan's order, NaN where there is none (owned). */
static double *
join(const DemurAcceptanceDocument *d, const GArray *rows, const char *path, GError **error) {
  const size_t n = d->plan->n_chosen;
  g_autofree char *file = g_path_get_basename(path);
  g_autoptr(GHashTable) places = g_hash_table_new(g_str_hash, g_str_equal);
  for (size_t i = 0; i < n; i++)
    g_hash_table_insert(places, d->scan_ids[i], GSIZE_TO_POINTER(i + 1));
  g_autofree double *labels = g_new(double, MAX(n, 1));
  g_autofree guint8 *seen = g_new0(guint8, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    labels[i] = NAN;
  for (guint k = 0; k < rows->len; k++) {
    const DemurLabel *row = &g_array_index(rows, DemurLabel, k);
    const size_t place = GPOINTER_TO_SIZE(g_hash_table_lookup(places, row->scan_id));
    const char *wrong = NULL;
    if (place == 0)
      wrong = "is not in the plan";
    else if (row->patient_id != NULL && strcmp(row->patient_id, d->patient_ids[place - 1]) != 0)
      wrong = "is another patient's in the plan";
    else if (seen[place - 1]++)
      wrong = "stands in the table twice";
    if (wrong != NULL) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "%s: line %zu: scan '%s' %s; nothing was kept",
                      file, row->line, row->scan_id, wrong);
      return NULL;
    }
    labels[place - 1] = row->label;
  }
  return g_steal_pointer(&labels);
}

static void
decide(DemurAccepted *accepted, const double *labels, guint64 seed) {
  const DemurAcceptanceDocument *d = accepted->document;
  const size_t n_chosen = d->plan->n_chosen;
  size_t n = 0;
  while (n < n_chosen && isfinite(labels[n]))
    n++;
  for (size_t i = n; i < n_chosen; i++)
    accepted->n_later += isfinite(labels[i]) ? 1 : 0;
  accepted->acceptance = demur_acceptance_run(d->plan, d->risks, labels, d->plan->weights, n, seed);
  if (d->intercept != 0.0)
    accepted->unaudited =
        demur_acceptance_run(d->plan, d->unaudited, labels, d->plan->weights, n, seed);
  accepted->share = (double)d->n_shown / (double)d->n_patients;
  demur_interval_wilson((double)d->n_shown, (double)d->n_patients, 0.95, &accepted->share_low,
                        &accepted->share_high);
  accepted->coverage_kept = accepted->share_high >= d->coverage - DEMUR_ACCEPT_COVERAGE_SLACK;
  accepted->answer =
      accepted->coverage_kept ? accepted->acceptance.answer : DEMUR_ACCEPTANCE_NOT_ACCEPTED;
  DemurSha256 sha;
  demur_sha256_init(&sha);
  for (size_t i = 0; i < n; i++) {
    demur_sha256_add_text(&sha, d->scan_ids[i]);
    demur_sha256_add_bytes(&sha, &labels[i], sizeof(double));
  }
  accepted->labels_digest = demur_sha256_finish_hex(&sha);
}

static void
write_interval(DemurJson *json, const char *key, const char *interval_key, double value, double low,
               double high) {
  const double interval[] = {low, high};
  demur_json_double(json, key, value);
  demur_json_doubles(json, interval_key, interval, 2);
}

static void
write_acceptance(DemurJson *json, const char *key, const DemurAcceptance *a) {
  demur_json_begin_object(json, key);
  demur_json_string(json, "answer", demur_acceptance_answer_name(a->answer));
  demur_json_int(json, "n_labels", (gint64)a->n_labels);
  demur_json_int(json, "n_events", (gint64)a->n_events);
  demur_json_int(json, "n_more", (gint64)a->n_more);
  write_interval(json, "observed_over_expected", "observed_over_expected_interval", a->ratio,
                 a->ratio_low, a->ratio_high);
  demur_json_double(json, "evidence_above_low", a->evidence_above);
  demur_json_double(json, "evidence_below_high", a->evidence_below);
  write_interval(json, "calibration_intercept", "calibration_intercept_interval", a->intercept,
                 a->intercept_low, a->intercept_high);
  write_interval(json, "auroc", "auroc_interval", a->auroc, a->auroc_low, a->auroc_high);
  demur_json_end_object(json);
}

DemurJson *
demur_accepted_json(const DemurAccepted *accepted) {
  const DemurAcceptanceDocument *d = accepted->document;
  const double range[] = {d->plan->settings.low, d->plan->settings.high};
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "site", accepted->site);
  demur_json_string(json, "cohort", accepted->cohort);
  demur_json_bool(json, "simulated", accepted->simulated);
  demur_json_string(json, "answer", demur_acceptance_answer_name(accepted->answer));
  demur_json_string(json, "planned", accepted->planned);
  demur_json_string(json, "plan_digest", accepted->plan_digest);
  demur_json_string(json, "labels_digest", accepted->labels_digest);
  demur_json_doubles(json, "range", range, 2);
  demur_json_double(json, "alpha", d->plan->settings.alpha);
  demur_json_double(json, "alpha_of_all_plans", d->alpha_of_all);
  demur_accept_before_write(json, &accepted->before);
  demur_json_double(json, "power", d->plan->settings.power);
  demur_json_int(json, "n_needed", (gint64)d->plan->n_needed);
  demur_json_int(json, "n_planned", (gint64)d->plan->n_chosen);
  demur_json_int(json, "n_labels_later", (gint64)accepted->n_later);
  demur_json_begin_object(json, "labels_changed");
  demur_json_int(json, "n_changed", (gint64)accepted->changes.n_changed);
  demur_json_int(json, "n_gone", (gint64)accepted->changes.n_gone);
  demur_json_string(json, "first", accepted->changes.first);
  demur_json_end_object(json);
  demur_json_double(json, "requested_coverage", d->coverage);
  write_interval(json, "coverage", "coverage_interval", accepted->share, accepted->share_low,
                 accepted->share_high);
  demur_json_bool(json, "coverage_kept", accepted->coverage_kept);
  demur_json_double(json, "audit_intercept", d->intercept);
  write_acceptance(json, "shown", &accepted->acceptance);
  if (d->intercept != 0.0)
    write_acceptance(json, "without_audit", &accepted->unaudited);
  return json;
}

static gboolean
keep_answer(DemurTask *task, const DemurAccepted *accepted, const double *labels, gint64 plan,
            GError **error) {
  DemurJson *document = demur_accepted_json(accepted);
  g_autofree char *kept = demur_accept_labels_text(labels, accepted->document->plan->n_chosen);
  demur_json_string(document, "labels", kept);
  demur_json_end_object(document);
  g_autofree char *now = demur_task_now(task), *json = demur_json_finish(document);
  const DemurAcceptanceRecord record = {.plan = plan,
                                        .answer =
                                            (char *)demur_acceptance_answer_name(accepted->answer),
                                        .document = json,
                                        .labels_digest = accepted->labels_digest,
                                        .n_labels = accepted->acceptance.n_labels,
                                        .user = task->user,
                                        .created = now};
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  return workspace != NULL && demur_acceptances_save(workspace, &record, error);
}

DemurAccepted *
demur_task_accept_run(DemurTask *task, const char *selector, const char *path, const char *columns,
                      GError **error) {
  g_autoptr(DemurAccepted) accepted = g_new0(DemurAccepted, 1);
  accepted->noticed = demur_table_warnings_new();
  g_autoptr(DemurColumnMap) map = NULL;
  if (columns != NULL && (map = demur_column_map_read(columns, error)) == NULL)
    return NULL;
  g_autofree char *today = demur_task_now(task);
  g_autoptr(GArray) rows =
      demur_label_table_read(path, map, today, &accepted->site, accepted->noticed, error);
  DemurWorkspace *workspace = rows != NULL ? demur_task_workspace(task, error) : NULL;
  g_autoptr(DemurAcceptancePlanRecord) plan = NULL;
  if (workspace == NULL ||
      !demur_acceptance_plans_current(workspace, selector, accepted->site, &plan, error))
    return NULL;
  if (plan == NULL) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "no acceptance test of site '%s' was planned for selector '%s': run `demur accept "
        "plan` before labels are collected",
        accepted->site, selector);
    return NULL;
  }
  accepted->document = demur_acceptance_document_from_json(plan->document, error);
  if (accepted->document == NULL || !check_bindings(task, plan, accepted->document, error))
    return NULL;
  g_autoptr(DemurSelector) tested = demur_task_load_selector(task, plan->selector, NULL, error);
  if (tested == NULL || !demur_accept_before_read(task, plan->site, tested, plan->made, NULL,
                                                  &accepted->before, error))
    return NULL;
  if (accepted->before.newer != NULL) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the same selector has a newer plan for site '%s' under another name, of %s: "
                    "that one is in force",
                    plan->site, accepted->before.newer);
    return NULL;
  }
  g_autofree double *labels = join(accepted->document, rows, path, error);
  if (labels == NULL)
    return NULL;
  g_autoptr(DemurCohortSummary) cohort = demur_cohorts_summary(workspace, plan->cohort, error);
  if (cohort == NULL)
    return NULL;
  accepted->simulated = cohort->simulated;
  accepted->cohort = g_strdup(plan->cohort);
  accepted->plan_digest = g_strdup(plan->digest);
  accepted->planned = g_strdup(plan->created);
  decide(accepted, labels, accepted->document->seed);
  if (!demur_accept_changes_find(workspace, plan->id, accepted->document, labels,
                                 &accepted->changes, error))
    return NULL;
  return keep_answer(task, accepted, labels, plan->id, error) ? g_steal_pointer(&accepted) : NULL;
}
