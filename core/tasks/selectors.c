#include "tasks/selectors.h"

#include <string.h>

#include "base/error.h"
#include "base/file-input.h"
#include "base/file-output.h"
#include "base/limits.h"
#include "cohort/outcome.h"
#include "selector/coverage.h"
#include "store/cohorts.h"
#include "store/selectors.h"
#include "tasks/history.h"
#include "tasks/names.h"

static void
threshold_free(gpointer data) {
  DemurSelectorThreshold *threshold = data;
  g_free(threshold->cohort);
  g_free(threshold->split);
  g_free(threshold->created);
  g_free(threshold->guarantee);
  g_free(threshold);
}

void
demur_selector_facts_free(DemurSelectorFacts *facts) {
  if (facts == NULL)
    return;
  g_free(facts->name);
  g_free(facts->cohort);
  g_free(facts->model);
  g_free(facts->digest);
  g_free(facts->created);
  g_free(facts->family);
  demur_selector_unref(facts->selector);
  g_clear_pointer(&facts->thresholds, g_ptr_array_unref);
  g_free(facts->validation);
  g_clear_pointer(&facts->warnings, g_ptr_array_unref);
  g_free(facts);
}

static DemurSelectorFacts *
facts_of(DemurTask *task, const DemurSelectorRecord *record, GError **error) {
  g_autoptr(GPtrArray) records =
      demur_thresholds_list(demur_task_workspace(task, NULL), record->name, error);
  if (records == NULL)
    return NULL;
  DemurSelectorFacts *facts = g_new0(DemurSelectorFacts, 1);
  facts->name = g_strdup(record->name);
  facts->cohort = g_strdup(record->cohort);
  facts->model = g_strdup(record->model);
  facts->digest = g_strdup(record->digest);
  facts->created = g_strdup(record->created);
  facts->family = g_strdup(record->family);
  facts->horizon_years = record->horizon_years;
  facts->simulated = record->simulated;
  facts->validation = demur_task_validation_sentence(task, record->name);
  facts->is_validated = demur_validation_read_found(record->validation, &facts->validated);
  facts->thresholds = g_ptr_array_new_with_free_func(threshold_free);
  for (guint t = 0; t < records->len; t++) {
    const DemurThresholdRecord *r = records->pdata[t];
    DemurSelectorThreshold *threshold = g_new(DemurSelectorThreshold, 1);
    *threshold = (DemurSelectorThreshold){.coverage = r->coverage,
                                          .threshold = r->threshold,
                                          .realised = r->realised,
                                          .n_scans = r->n_scans,
                                          .n_patients = r->n_patients,
                                          .cohort = g_strdup(r->cohort),
                                          .split = g_strdup(r->split),
                                          .created = g_strdup(r->created),
                                          .guarantee = demur_tuning_read_sentence(r->guarantee),
                                          .margin = demur_tuning_read_margin(r->guarantee),
                                          .current = t + 1 == records->len};
    g_ptr_array_add(facts->thresholds, threshold);
  }
  return facts;
}

static void
facts_free(gpointer facts) {
  demur_selector_facts_free(facts);
}

GPtrArray *
demur_task_selectors(DemurTask *task, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) records = workspace != NULL ? demur_selectors_list(workspace, error) : NULL;
  if (records == NULL)
    return NULL;
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(facts_free);
  for (guint i = 0; i < records->len; i++) {
    DemurSelectorFacts *facts = facts_of(task, records->pdata[i], error);
    if (facts == NULL)
      return NULL;
    g_ptr_array_add(all, facts);
  }
  return g_steal_pointer(&all);
}

static DemurSelectorFacts *
show_one(DemurTask *task, const char *name, GError **error) {
  g_autoptr(DemurSelectorRecord) record = NULL;
  g_autoptr(DemurSelector) selector = demur_task_load_selector(task, name, &record, error);
  DemurSelectorFacts *facts = selector != NULL ? facts_of(task, record, error) : NULL;
  if (facts == NULL)
    return NULL;
  facts->warnings = demur_task_warnings_new();
  demur_task_warn_untrained(selector, facts->warnings);
  demur_task_warn_federated(selector, facts->warnings);
  facts->selector = g_steal_pointer(&selector);
  return facts;
}

/* The selectors that the name stands for (owned); NULL with error. */
static char **
names_of(DemurTask *task, const char *name, DemurHorizons *horizons, GError **error) {
  return demur_horizons_of_family(task, name, horizons, error)
             ? demur_horizon_selectors(name, horizons)
             : NULL;
}

GPtrArray *
demur_task_selector_show(DemurTask *task, const char *name, DemurHorizons *horizons,
                         GError **error) {
  g_auto(GStrv) names = names_of(task, name, horizons, error);
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(facts_free);
  for (char **one = names; one != NULL && *one != NULL; one++) {
    DemurSelectorFacts *facts = show_one(task, *one, error);
    if (facts == NULL)
      return NULL;
    g_ptr_array_add(all, facts);
  }
  return names != NULL ? g_steal_pointer(&all) : NULL;
}

/* The selectors of those names as they may leave, in their order; frees its elements. */
static GPtrArray *
release_all(DemurTask *task, char *const *names, DemurRelease release, GError **error) {
  g_autoptr(GPtrArray) released =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_selector_unref);
  const guint n = g_strv_length((char **)names);
  for (guint i = 0; i < n; i++) {
    DemurProgressStage stage = {
        .outer = &task->progress, .start = (double)i / n, .end = (double)(i + 1) / n};
    const DemurProgress progress = demur_progress_stage(&stage);
    g_autoptr(DemurSelectorRecord) record = NULL;
    g_autoptr(DemurSelector) selector = demur_task_load_selector(task, names[i], &record, error);
    DemurSelector *one = selector != NULL ? demur_selector_release(selector, release,
                                                                   task->parallel, &progress, error)
                                          : NULL;
    if (one == NULL) {
      if (n > 1)
        demur_error_prefix(error, "%s: ", names[i]);
      return NULL;
    }
    g_ptr_array_add(released, one);
  }
  return g_steal_pointer(&released);
}

/* A selector's file on its way out, for its event and for itself. */
typedef struct {
  DemurTask *task;
  const char *name, *path, *document;
  const DemurSelectorBundle *bundle;
  DemurRelease release;
} Going;

static gboolean
tell(gpointer data, GError **error) {
  const Going *going = data;
  return demur_history_add_selector(going->task, going->path, going->name, going->bundle->digest,
                                    going->release == DEMUR_RELEASE_REFERENCE, error);
}

static gboolean
give(gpointer data, GError **error) {
  const Going *going = data;
  return demur_file_write(going->path, going->document, -1, DEMUR_FILE_REPLACE | DEMUR_FILE_PUBLIC,
                          error);
}

gboolean
demur_task_selector_export(DemurTask *task, const char *name, const char *path,
                           DemurRelease release, DemurSelectorBundle *written, GError **error) {
  DemurHorizons horizons;
  g_auto(GStrv) names = names_of(task, name, &horizons, error);
  g_autoptr(GPtrArray) released = names != NULL ? release_all(task, names, release, error) : NULL;
  if (released == NULL)
    return FALSE;
  if (horizons.n == 0)
    demur_selector_bundle_of_one(released->pdata[0], written);
  else if (!demur_selector_bundle_of_family((DemurSelector *const *)released->pdata,
                                            (const char *const *)names, released->len, written,
                                            error))
    return FALSE;
  g_autofree char *document = demur_selector_bundle_to_json(written);
  Going going = {task, name, path, document, written, release};
  return demur_history_let_out(task, path, tell, give, &going, error);
}

static gboolean
has_year(const DemurHorizons *horizons, int years) {
  for (size_t h = 0; h < horizons->n; h++)
    if (horizons->years[h] == years)
      return TRUE;
  return FALSE;
}

static DemurHorizons
horizons_of(const DemurSelectorBundle *bundle) {
  DemurHorizons horizons = {.n = bundle->family != NULL ? bundle->n : 0};
  memcpy(horizons.years, bundle->years, sizeof horizons.years);
  return horizons;
}

/* Whether one selector of a family, of no file of it, can stand beside those whose name it would
 * share: "NAME-3y" beside NAME-1y. */
static gboolean
check_beside(DemurTask *task, const char *name, const DemurSelector *selector, GError **error) {
  for (int year = 1; year <= DEMUR_N_YEARS; year++) {
    g_autofree char *family = demur_horizon_family_name(name, year);
    const DemurHorizons kept = {.n = 1, .years = {year}};
    if (family != NULL)
      return demur_horizons_check_others(task, family, &kept,
                                         demur_selector_settings(selector)->family,
                                         demur_selector_model(selector), error);
  }
  return TRUE;
}

/* Whether what the file holds can be called by the name beside what is there. */
static gboolean
check_name_free(DemurTask *task, const char *name, const DemurSelectorBundle *bundle,
                GError **error) {
  const DemurHorizons file = horizons_of(bundle);
  DemurHorizons there;
  if (!demur_horizons_check_name(task, name, file.n > 0, error))
    return FALSE;
  if (file.n == 0)
    return check_beside(task, name, bundle->members[0], error);
  if (!demur_horizons_check_others(task, name, &file, bundle->family,
                                   demur_selector_model(bundle->members[0]), error) ||
      !demur_horizons_of_family(task, name, &there, error))
    return FALSE;
  for (size_t h = 0; h < there.n; h++)
    if (!has_year(&file, there.years[h])) {
      demur_error_set(error, DEMUR_ERROR_EXISTS,
                      "there is a family %s already, with a selector %s-%dy that the file has not; "
                      "choose another name, or remove it first",
                      name, name, there.years[h]);
      return FALSE;
    }
  return TRUE;
}

static gboolean
save_bundle(DemurTask *task, const char *name, const DemurSelectorBundle *bundle,
            DemurSelectorReplace replace, GError **error) {
  const DemurHorizons horizons = horizons_of(bundle);
  g_auto(GStrv) names = demur_horizon_selectors(name, &horizons);
  g_autoptr(GPtrArray) documents = g_ptr_array_new_with_free_func(g_free);
  g_autofree char *now = demur_task_now(task);
  DemurSelectorRecord records[DEMUR_N_YEARS];
  for (size_t i = 0; i < bundle->n; i++) {
    const DemurSelector *s = bundle->members[i];
    g_ptr_array_add(documents, demur_selector_to_json(s));
    records[i] = (DemurSelectorRecord){.name = names[i],
                                       .horizon_years = demur_selector_horizon_years(s),
                                       .family = demur_selector_settings(s)->family,
                                       .document = documents->pdata[i],
                                       .digest = (char *)demur_selector_digest(s),
                                       .cohort = (char *)demur_selector_cohort(s),
                                       .cohort_digest = (char *)demur_selector_cohort_digest(s),
                                       .model = (char *)demur_selector_model(s),
                                       .simulated = demur_selector_is_simulated(s),
                                       .created = now};
  }
  return demur_selectors_save_all(task->workspace, records, bundle->n, replace, error);
}

gboolean
demur_task_selector_import(DemurTask *task, const char *name, const char *path,
                           DemurSelectorReplace replace, DemurSelectorBundle *read,
                           GError **error) {
  gsize length;
  g_autofree char *text =
      demur_task_check_name("selector", name, error)
          ? demur_file_input_read(path, DEMUR_LIMIT_SELECTOR_BYTES, &length, error)
          : NULL;
  if (text == NULL)
    return FALSE;
  g_autofree char *file = g_path_get_basename(path);
  if (!demur_selector_bundle_from_json(text, (gssize)length, file, read, error) ||
      demur_task_workspace(task, error) == NULL)
    return FALSE;
  return check_name_free(task, name, read, error) && save_bundle(task, name, read, replace, error);
}

gboolean
demur_task_selector_keep(DemurTask *task, const char *name, DemurSelector *selector,
                         DemurSelectorReplace replace, GError **error) {
  g_auto(DemurSelectorBundle) bundle = {0};
  demur_selector_bundle_of_one(selector, &bundle);
  return demur_task_check_name("selector", name, error) &&
         demur_task_workspace(task, error) != NULL && check_name_free(task, name, &bundle, error) &&
         save_bundle(task, name, &bundle, replace, error);
}

gboolean
demur_task_selector_remove(DemurTask *task, const char *name, gboolean force,
                           DemurHorizons *horizons, GError **error) {
  g_auto(GStrv) names = names_of(task, name, horizons, error);
  return names != NULL && demur_selectors_remove_all(task->workspace, (const char *const *)names,
                                                     g_strv_length(names), force, error);
}

char *
demur_task_selector_outcome(DemurTask *task, const char *name) {
  char *outcome = NULL;
  if (name == NULL || demur_task_workspace(task, NULL) == NULL ||
      !demur_selectors_outcome(task->workspace, name, &outcome, NULL) || outcome != NULL)
    return outcome;
  g_autoptr(DemurSelector) selector = demur_task_load_selector(task, name, NULL, NULL);
  g_autoptr(DemurCohort) cohort =
      selector != NULL
          ? demur_cohorts_load_facts(task->workspace, demur_selector_cohort(selector), NULL, NULL)
          : NULL;
  if (cohort == NULL)
    return NULL;
  const DemurOutcome of_cohort = demur_outcome_of_cohort(cohort);
  return g_strdup(demur_outcome_noun(&of_cohort));
}
