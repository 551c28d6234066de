#include "tasks/evaluate.h"

#include <string.h>

#include <json-glib/json-glib.h>

#include "base/error.h"
#include "base/file-output.h"
#include "base/json-reader.h"
#include "base/number.h"
#include "selector/coverage.h"
#include "selector/outcome-weights.h"
#include "store/events.h"
#include "tasks/counts.h"
#include "tasks/shards.h"

void
demur_evaluating_clear(DemurEvaluating *e) {
  for (size_t s = 0; s < e->n_selectors; s++) {
    demur_selector_unref(e->selectors[s]);
    demur_selector_record_free(e->records[s]);
    g_clear_pointer(&e->thresholds[s], g_ptr_array_unref);
  }
  g_free(e->selectors);
  g_free(e->records);
  g_free(e->thresholds);
  g_clear_pointer(&e->audits, g_ptr_array_unref);
  g_clear_pointer(&e->exclusions, g_ptr_array_unref);
  g_free(e->log_head);
  demur_used_free(e->used);
  g_clear_pointer(&e->noticed, g_ptr_array_unref);
  g_free(e->group_by);
  g_free(e->net_benefit_threshold);
  demur_cohort_unref(e->cohort);
  demur_evaluation_free(e->evaluation);
}

/* The kept thresholds of one selector, for all its networks. *owned collects what has to live as
 * long as they do. */
static gboolean
load_thresholds(const GPtrArray *records, size_t n_networks, GPtrArray *owned,
                DemurTunedThreshold **tuned, GError **error) {
  *tuned = g_new0(DemurTunedThreshold, MAX(records->len, 1));
  g_ptr_array_add(owned, *tuned);
  for (guint i = 0; i < records->len; i++) {
    const DemurThresholdRecord *record = records->pdata[i];
    size_t n;
    double *thresholds = demur_tuning_read_thresholds(record->guarantee, &n, error);
    if (thresholds == NULL)
      return FALSE;
    g_ptr_array_add(owned, thresholds);
    if (n != n_networks) {
      demur_error_set(
          error, DEMUR_ERROR_STORE,
          "the threshold for coverage %g of selector '%s' was tuned for %zu networks, not "
          "%zu; tune it again",
          record->coverage, record->selector, n, n_networks);
      return FALSE;
    }
    (*tuned)[i] = (DemurTunedThreshold){record->coverage, thresholds};
  }
  return TRUE;
}

/* One list of names, commas within one text taken apart; NULL for none. */
static char **
take_names(char **texts, GError **error) {
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
    g_auto(GStrv) parts = g_strsplit(texts[i], ",", -1);
    for (size_t p = 0; parts[p] != NULL; p++) {
      if (*g_strstrip(parts[p]) == '\0') {
        demur_error_set(error, DEMUR_ERROR_USAGE,
                        "--group-by takes names with commas between, not '%s'", texts[i]);
        return NULL;
      }
      if (!g_ptr_array_find_with_equal_func(names, parts[p], g_str_equal, NULL))
        g_ptr_array_add(names, g_strdup(parts[p]));
    }
  }
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

static char **
usual_groups(const DemurCohort *cohort) {
  char **names = g_new0(char *, 3);
  names[0] = g_strdup("site");
  if (demur_cohort_find_attribute(cohort, "scanner") >= 0 ||
      demur_cohort_find_attribute(cohort, "manufacturer") >= 0)
    names[1] = g_strdup("scanner");
  return names;
}

/* The audits of the cohort's sites, and the scans that they labelled. */
typedef struct {
  DemurEvaluateSite *sites; /* [cohort->n_sites] */
  GArray *labels;           /* of DemurEvaluateLabel */
} Audits;

static void
audits_clear(Audits *audits) {
  g_free(audits->sites);
  g_clear_pointer(&audits->labels, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Audits, audits_clear)

static gboolean
take_labels(DemurCohort *cohort, const DemurAuditRecord *record, GArray *labels, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  if (record->labels == NULL || !demur_json_load(parser, record->labels, -1, NULL)) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "which scans the audit of site '%s' labelled is not kept (an older program applied "
        "it): apply it again before it is measured",
        record->site);
    return FALSE;
  }
  JsonObjectIter iter;
  const char *scan_id;
  JsonNode *label;
  const guint first = labels->len;
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(guint32));
  json_object_iter_init_ordered(&iter, json_node_get_object(json_parser_get_root(parser)));
  while (json_object_iter_next_ordered(&iter, &scan_id, &label)) {
    const gssize row = demur_cohort_find_scan(cohort, scan_id);
    const DemurEvaluateLabel one = {(guint32)row, (double)json_node_get_int(label), 1.0};
    if (row < 0)
      continue;
    g_array_append_val(labels, one);
    g_array_append_val(rows, one.row);
  }
  g_autofree double *weights = NULL;
  if (!demur_outcome_weights_labelled(cohort, (const guint32 *)(gconstpointer)rows->data, rows->len,
                                      &weights, error))
    return FALSE;
  for (guint i = 0; weights != NULL && i < rows->len; i++)
    g_array_index(labels, DemurEvaluateLabel, first + i).weight = weights[i];
  return TRUE;
}

static gboolean
take_audits(const DemurEvaluating *e, const char *split, Audits *audits, GError **error) {
  if (e->n_selectors != 1 || e->cohort->n_classes > 2) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "--audited measures one selector of binary risk: give one --selector");
    return FALSE;
  }
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(e->cohort, split, &n, error);
  if (rows == NULL)
    return FALSE;
  g_autofree guint8 *there = g_new0(guint8, MAX(e->cohort->n_sites, 1));
  for (size_t i = 0; i < n; i++)
    there[e->cohort->sites[rows[i]]] = 1;
  audits->sites = g_new0(DemurEvaluateSite, MAX(e->cohort->n_sites, 1));
  audits->labels = g_array_new(FALSE, FALSE, sizeof(DemurEvaluateLabel));
  gboolean any = FALSE;
  for (guint a = 0; a < e->audits->len; a++) {
    const DemurAuditRecord *record = e->audits->pdata[a];
    const gssize site = demur_cohort_find_site(e->cohort, record->site);
    if (site < 0 || !there[site])
      continue;
    audits->sites[site] = (DemurEvaluateSite){TRUE, record->intercept, record->low, record->high};
    any = TRUE;
    if (!take_labels(e->cohort, record, audits->labels, error))
      return FALSE;
  }
  if (!any)
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "no site of split '%s' was audited for selector '%s'; plan and apply an audit "
                    "(demur audit), or leave --audited out",
                    split, e->names[0]);
  return any;
}

static gboolean
take_options(const DemurEvaluateParams *options, DemurEvaluateInput *input, GError **error) {
  if (!demur_task_take_count(options->n_resamples, "--resamples", &input->n_resamples, error) ||
      !demur_task_take_count(options->n_bootstrap, "--bootstrap", &input->n_bootstrap, error) ||
      !demur_task_take_count(options->bin_size, "--bin-size", &input->min_bin_size, error))
    return FALSE;
  if (options->resample_unit != NULL &&
      !demur_unit_from_name(options->resample_unit, &input->resample_unit, error))
    return FALSE;
  if (options->net_benefit_threshold != NULL &&
      (!demur_number_parse(options->net_benefit_threshold, strlen(options->net_benefit_threshold),
                           &input->net_benefit_threshold) ||
       !(input->net_benefit_threshold >= 0.0 && input->net_benefit_threshold < 1.0))) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "--net-benefit-threshold takes a risk from 0 up to but not 1, not '%s'",
                    options->net_benefit_threshold);
    return FALSE;
  }
  return TRUE;
}

/* Everything of the workspace but the thresholds. */
static gboolean
load(DemurTask *task, char **names, const DemurEvaluateParams *options, DemurEvaluating *e,
     GError **error) {
  const guint n = g_strv_length(names);
  e->names = names;
  e->n_selectors = n;
  e->selectors = g_new0(DemurSelector *, n);
  e->records = g_new0(DemurSelectorRecord *, n);
  e->thresholds = g_new0(GPtrArray *, n);
  for (guint s = 0; s < n; s++) {
    /* Its rows would stand twice, and every verdict be corrected for one more. */
    for (guint k = 0; k < s; k++)
      if (strcmp(names[k], names[s]) == 0) {
        demur_error_set(error, DEMUR_ERROR_USAGE, "selector %s is named twice: name each once",
                        names[s]);
        return FALSE;
      }
    e->selectors[s] = demur_task_load_selector(task, names[s], &e->records[s], error);
    if (e->selectors[s] == NULL)
      return FALSE;
  }
  e->cohort = demur_task_load_cohort_for(task, options->cohort, e->selectors[0], error);
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (e->cohort == NULL || workspace == NULL ||
      (e->log_head = demur_events_head_of_change(workspace, error)) == NULL ||
      !demur_cohorts_exclusions(workspace, options->cohort, &e->exclusions_recorded, &e->exclusions,
                                error) ||
      (e->noticed = demur_cohorts_warnings(workspace, options->cohort, error)) == NULL)
    return FALSE;
  e->audits = demur_audits_list(workspace, names[0], error);
  if (e->audits == NULL ||
      (options->use && !demur_task_used(task, names[0], demur_selector_digest(e->selectors[0]),
                                        options->pin, &e->used, error)))
    return FALSE;
  if (options->pin != NULL) {
    demur_report_pin_audits(options->pin, e->audits);
    demur_report_pin_validation(options->pin, e->records[0]);
  }
  return TRUE;
}

/* tuned [n_selectors] (what they hold: of owned), n_tuned [n_selectors]. *tuned_here: one of them, or
 * a study of several sites that a selector's risks come from, is of the split that is measured, as --in-sample allows. */
static gboolean
load_tuned(DemurTask *task, const DemurEvaluateParams *options, const char *split,
           DemurEvaluating *e, GPtrArray *owned, DemurTunedThreshold **tuned, size_t *n_tuned,
           gboolean *tuned_here, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL)
    return FALSE;
  for (size_t s = 0; s < e->n_selectors; s++) {
    gboolean on_this_split;
    double coverage;
    e->thresholds[s] = demur_thresholds_list(workspace, e->names[s], error);
    const gboolean learnt =
        options->pin != NULL && e->thresholds[s] != NULL &&
        demur_report_pin_thresholds(options->pin, e->names[s], e->thresholds[s]) > 0;
    if (e->thresholds[s] == NULL ||
        !load_thresholds(e->thresholds[s], demur_selector_n_models(e->selectors[s]), owned,
                         &tuned[s], error) ||
        !demur_task_tuned_on(task, e->names[s], e->cohort, split, &on_this_split, &coverage, error))
      return FALSE;
    n_tuned[s] = e->thresholds[s]->len;
    gboolean answered;
    if (!demur_task_answered_of(task, e->selectors[s], e->cohort, split, &answered, error))
      return FALSE;
    *tuned_here |= answered;
    if (answered && !options->in_sample) {
      demur_error_set(error, DEMUR_ERROR_STATE,
                      "patients of split '%s' answered in a study that the risks of selector '%s' "
                      "come from: measured on them it would look better than it is; evaluate on "
                      "another split, or say --in-sample, which is printed on every result",
                      split, e->names[s]);
      return FALSE;
    }
    /* A threshold that came after the report may be of its very split. */
    *tuned_here |= on_this_split && !learnt;
    if (on_this_split && !options->in_sample && !learnt) {
      demur_error_set(
          error, DEMUR_ERROR_STATE,
          "selector '%s' was tuned on patients of split '%s' (coverage %g): that threshold "
          "would look better than it is; evaluate on another split, take the threshold from "
          "another one (demur tune %s --cohort %s --split %s --coverage %g), or say "
          "--in-sample, which is printed on every result",
          e->names[s], split, coverage, e->names[s], e->cohort->name,
          strcmp(split, DEMUR_SPLIT_TUNE) != 0 ? DEMUR_SPLIT_TUNE : "SPLIT", coverage);
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
demur_task_evaluate_check(char *const *names, const DemurEvaluateParams *options, GError **error) {
  if (names == NULL || names[0] == NULL || options->cohort == NULL) {
    demur_error_set(error, DEMUR_ERROR_USAGE, "give at least one --selector S and a --cohort C");
    return FALSE;
  }
  DemurEvaluateInput input;
  demur_evaluate_input_init(&input);
  g_auto(GStrv) group_by = take_names(options->group_by, error);
  return group_by != NULL && take_options(options, &input, error);
}

/* shard NULL: the whole. Else its part alone, written to path. */
static gboolean
evaluate(DemurTask *task, char **names, const DemurEvaluateParams *options, DemurEvaluating *e,
         const DemurShard *shard, const char *path, GError **error) {
  if (!demur_task_evaluate_check(names, options, error))
    return FALSE;
  DemurEvaluateInput input;
  demur_evaluate_input_init(&input);
  if (!take_options(options, &input, error))
    return FALSE;
  g_auto(GStrv) group_by = take_names(options->group_by, error);
  if (group_by == NULL)
    return FALSE;
  input.split = options->split != NULL ? options->split : DEMUR_SPLIT_TEST;
  input.seed = task->seed;
  input.in_sample = options->in_sample;
  input.released = TRUE;
  e->n_bootstrap = input.n_bootstrap;
  e->allow_in_sample = options->in_sample;

  if (!load(task, names, options, e, error))
    return FALSE;
  if (options->usual_groups && options->group_by == NULL) {
    g_strfreev(group_by);
    group_by = usual_groups(e->cohort);
  }
  input.group_by = (const char *const *)group_by;
  e->group_by = *group_by != NULL ? g_strjoinv(",", group_by) : NULL;
  e->net_benefit_threshold = g_strdup(options->net_benefit_threshold);

  g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
  g_autofree DemurTunedThreshold **tuned = g_new0(DemurTunedThreshold *, e->n_selectors);
  g_autofree size_t *n_tuned = g_new0(size_t, e->n_selectors);
  gboolean tuned_here = FALSE;
  if (!load_tuned(task, options, input.split, e, owned, tuned, n_tuned, &tuned_here, error))
    return FALSE;
  input.cohort = e->cohort;
  input.n_selectors = e->n_selectors;
  input.selectors = e->selectors;
  input.names = names;
  input.thresholds = (const DemurTunedThreshold *const *)tuned;
  input.n_thresholds = n_tuned;
  g_autofree double *across = g_new0(double, e->n_selectors);
  for (guint s = 0; s < e->n_selectors; s++)
    if (e->thresholds[s]->len > 0) {
      const DemurThresholdRecord *current = e->thresholds[s]->pdata[e->thresholds[s]->len - 1];
      across[s] = demur_tuning_read_hold_back(current->guarantee);
    }
  input.hold_back = across;
  g_auto(Audits) audits = {0};
  if (options->audited) {
    if (!take_audits(e, input.split, &audits, error))
      return FALSE;
    input.sites = audits.sites;
    input.labels = (const DemurEvaluateLabel *)(gconstpointer)audits.labels->data;
    input.n_labels = audits.labels->len;
  }
  if (shard != NULL)
    return demur_shards_evaluate_part(task, &input, shard, path, error);
  e->evaluation = options->parts != NULL
                      ? demur_shards_merge_evaluation(task, &input, options->parts, error)
                      : demur_evaluate(&input, task->parallel, &task->progress, error);
  if (e->evaluation == NULL)
    return FALSE;
  e->evaluation->in_sample |= tuned_here;
  return TRUE;
}

void
demur_evaluate_params_clear(DemurEvaluateParams *options) {
  g_clear_pointer(&options->cohort, g_free);
  g_clear_pointer(&options->split, g_free);
  g_clear_pointer(&options->resample_unit, g_free);
  g_clear_pointer(&options->n_resamples, g_free);
  g_clear_pointer(&options->n_bootstrap, g_free);
  g_clear_pointer(&options->bin_size, g_free);
  g_clear_pointer(&options->group_by, g_strfreev);
  g_clear_pointer(&options->net_benefit_threshold, g_free);
}

gboolean
demur_task_evaluate(DemurTask *task, char **names, DemurEvaluateParams *options,
                    DemurEvaluating *evaluation, GError **error) {
  const gboolean ok = evaluate(task, names, options, evaluation, NULL, NULL, error);
  demur_evaluate_params_clear(options);
  return ok;
}

gboolean
demur_task_evaluate_part(DemurTask *task, char **names, DemurEvaluateParams *options,
                         const DemurShard *shard, const char *path, GError **error) {
  g_auto(DemurEvaluating) evaluating = {0};
  const gboolean ok = demur_file_output_check(path, DEMUR_FILE_REPLACE, error) &&
                      evaluate(task, names, options, &evaluating, shard, path, error);
  demur_evaluate_params_clear(options);
  return ok;
}
