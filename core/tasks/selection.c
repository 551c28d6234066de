#include "tasks/selection.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "cohort/order.h"
#include "evaluation/validation.h"
#include "selector/coverage.h"
#include "selector/federated.h"
#include "tasks/federate-install.h"
#include "tasks/history.h"
#include "store/cohorts.h"
#include "tasks/horizons.h"

/* In place of "there is no selector", where the name is of a family: those to choose from. */
static void
say_family(DemurTask *task, const char *name, GError **error) {
  DemurHorizons horizons;
  if (error == NULL || !g_error_matches(*error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND) ||
      !demur_horizons_of_family(task, name, &horizons, NULL) || horizons.n == 0)
    return;
  g_auto(GStrv) members = demur_horizon_selectors(name, &horizons);
  g_autofree char *names = g_strjoinv(", ", members);
  g_clear_error(error);
  demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                  "%s is a family of selectors, one a horizon; this takes one of them: %s", name,
                  names);
}

DemurSelector *
demur_task_load_selector(DemurTask *task, const char *name, DemurSelectorRecord **record,
                         GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL)
    return NULL;
  g_autoptr(DemurSelectorRecord) beside = NULL;
  g_autofree char *title = g_strdup_printf("selector '%s'", name);
  DemurSelector *selector = demur_selectors_read(workspace, name, title, &beside, error);
  if (selector == NULL) {
    say_family(task, name, error);
    return NULL;
  }
  /* A document of before doesn't say; its cohort may have. */
  if (demur_selector_horizon_years(selector) == 0.0)
    demur_selector_set_horizon_years(selector, beside->horizon_years);
  if (record != NULL)
    *record = g_steal_pointer(&beside);
  return selector;
}

gboolean
demur_task_selector_is_unreadable(const GError *error) {
  return g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND) ||
         g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_INPUT) ||
         g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_STORE) ||
         g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_UNSUPPORTED);
}

char *
demur_task_validation_sentence(DemurTask *task, const char *name) {
  DemurWorkspace *workspace = demur_task_workspace(task, NULL);
  g_autoptr(GPtrArray) records = workspace != NULL ? demur_selectors_list(workspace, NULL) : NULL;
  for (guint i = 0; records != NULL && i < records->len; i++) {
    const DemurSelectorRecord *record = records->pdata[i];
    if (strcmp(record->name, name) != 0)
      continue;
    char *sentence = demur_validation_read_sentence(record->validation);
    if (sentence != NULL)
      return sentence;
  }
  return g_strdup(
      "Whether this selector helps at other hospitals has not been looked at: run `demur "
      "validate`.");
}

void
demur_task_warn_untrained(const DemurSelector *selector, GPtrArray *warnings) {
  size_t n_all;
  const size_t n = demur_selector_count_untrained(selector, &n_all);
  if (n > 0)
    demur_task_warnings_add(warnings, DEMUR_TASK_WARNING_UNTRAINED, n, n_all, NULL);
}

void
demur_task_warn_federated(const DemurSelector *selector, GPtrArray *warnings) {
  const size_t n = demur_selector_n_federated(selector);
  if (n == 0)
    return;
  g_autoptr(GString) sites = g_string_new(NULL);
  const DemurFederatedOrigin last = demur_selector_federated(selector, n - 1);
  for (const char *const *site = last.sites; *site != NULL; site++)
    g_string_append_printf(sites, "%s%s", sites->len > 0 ? ", " : "", *site);
  demur_task_warnings_add(warnings, DEMUR_TASK_WARNING_FEDERATED, n, 0, sites->str);
}

DemurCohort *
demur_task_load_cohort(DemurTask *task, const char *name, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  DemurCohort *cohort =
      workspace != NULL ? demur_cohorts_load(workspace, name, &task->progress, error) : NULL;
  if (cohort != NULL)
    demur_cohort_put_in_order(cohort);
  return cohort;
}

DemurCohort *
demur_task_cohort_for(DemurCohort *cohort, const DemurSelector *selector, GError **error) {
  const double years = demur_selector_horizon_years(selector);
  return years > 0.0 && cohort->horizon_years > 0.0 && cohort->yearly_risks != NULL &&
                 cohort->times != NULL
             ? demur_cohort_at_horizon(cohort, years, error)
             : demur_cohort_ref(cohort);
}

DemurCohort *
demur_task_load_cohort_for(DemurTask *task, const char *name, const DemurSelector *selector,
                           GError **error) {
  g_autoptr(DemurCohort) cohort = demur_task_load_cohort(task, name, error);
  return cohort != NULL ? demur_task_cohort_for(cohort, selector, error) : NULL;
}

double *
demur_task_parse_coverages(const char *text, size_t *n, GError **error) {
  g_auto(GStrv) words = g_strsplit(text, ",", -1);
  *n = g_strv_length(words);
  g_autofree double *coverages = g_new0(double, MAX(*n, 1));
  for (size_t i = 0; i < *n; i++) {
    if (!demur_number_parse(words[i], strlen(words[i]), &coverages[i]) ||
        !(coverages[i] > 0.0 && coverages[i] <= 1.0)) {
      demur_error_set(
          error, DEMUR_ERROR_USAGE,
          "'%s' is no coverage: it must be a number above 0 and not above 1, for example "
          "0.9",
          words[i]);
      return NULL;
    }
    for (size_t k = 0; k < i; k++)
      if (coverages[k] == coverages[i]) {
        demur_error_set(error, DEMUR_ERROR_USAGE, "coverage %g is named twice: name each once",
                        coverages[i]);
        return NULL;
      }
  }
  if (*n == 0) {
    demur_error_set(error, DEMUR_ERROR_USAGE, "give a coverage, for example --coverage 0.9");
    return NULL;
  }
  return g_steal_pointer(&coverages);
}

gboolean
demur_task_find_threshold(DemurTask *task, const char *selector, const char *coverage,
                          DemurThresholdRecord **threshold, GError **error) {
  *threshold = NULL;
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL)
    return FALSE;
  if (coverage == NULL)
    return demur_thresholds_current(workspace, selector, threshold, error);
  size_t n;
  g_autofree double *coverages = demur_task_parse_coverages(coverage, &n, error);
  if (coverages == NULL)
    return FALSE;
  if (n != 1) {
    demur_error_set(error, DEMUR_ERROR_USAGE, "--coverage takes one coverage");
    return FALSE;
  }
  *threshold = demur_thresholds_find(workspace, selector, coverages[0], error);
  return *threshold != NULL;
}

gboolean
demur_task_check_tuned(DemurTask *task, const char *selector, const char *coverage,
                       GError **error) {
  g_autoptr(DemurThresholdRecord) threshold = NULL;
  if (!demur_task_find_threshold(task, selector, coverage, &threshold, error))
    return FALSE;
  if (threshold != NULL)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "the selector %s has no threshold: run `demur tune %s ..` first", selector,
                  selector);
  return FALSE;
}

/* Whether two cohorts share a patient among the given rows of the first and a split of the second.
 */
static gboolean
share_patients(const DemurCohort *cohort, const char *split, const DemurCohort *other,
               const char *other_split, gboolean *shared, GError **error) {
  size_t n, n_other;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, split, &n, error);
  if (rows == NULL)
    return FALSE;
  g_autofree guint32 *other_rows = demur_cohort_rows(other, other_split, &n_other, error);
  if (other_rows == NULL)
    return FALSE;
  g_autoptr(GHashTable) patients = g_hash_table_new(g_str_hash, g_str_equal);
  for (size_t i = 0; i < n_other; i++)
    g_hash_table_add(patients, other->patient_ids[other->patients[other_rows[i]]]);
  *shared = FALSE;
  for (size_t i = 0; i < n && !*shared; i++)
    *shared = g_hash_table_contains(patients, cohort->patient_ids[cohort->patients[rows[i]]]);
  return TRUE;
}

/* Whether a split of this cohort holds patients of one that another time was used; of a cohort that was
 * removed since they can't be looked up any more: not. */
static gboolean
is_of_split(DemurTask *task, const DemurCohort *cohort, const char *split, const char *other_name,
            const char *other_split, gboolean *shared, GError **error) {
  *shared = FALSE;
  if (g_strcmp0(other_name, cohort->name) == 0) {
    *shared = g_strcmp0(other_split, split) == 0; /* no patient of a cohort is in two splits */
    return TRUE;
  }
  g_autoptr(GError) local = NULL;
  g_autoptr(DemurCohort) other =
      demur_cohorts_load(task->workspace, other_name, &task->progress, &local);
  if (other != NULL)
    return share_patients(cohort, split, other, other_split, shared, error);
  if (g_error_matches(local, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND))
    return TRUE;
  g_propagate_error(error, g_steal_pointer(&local));
  return FALSE;
}

typedef struct {
  DemurTask *task;
  const DemurSelector *selector;
  const DemurCohort *cohort;
  const char *split;
  gboolean answered;
} Answering;

/* As DemurHistoryAnswerFunc: whether the scans of that answer are in the selector. */
static gboolean
look_at_answer(const DemurHistoryAnswer *answer, gpointer data, GError **error) {
  Answering *a = data;
  DemurFederatedPart part;
  if (a->answered || answer->withheld || !demur_task_federate_part(answer->study, &part))
    return TRUE;
  for (size_t i = 0; i < demur_selector_n_federated(a->selector); i++) {
    const DemurFederatedOrigin origin = demur_selector_federated(a->selector, i);
    if (origin.part == part && g_strcmp0(origin.selector, answer->selector) == 0)
      return is_of_split(a->task, a->cohort, a->split, answer->cohort, answer->split, &a->answered,
                         error);
  }
  return TRUE;
}

gboolean
demur_task_answered_of(DemurTask *task, const DemurSelector *selector, const DemurCohort *cohort,
                       const char *split, gboolean *answered, GError **error) {
  Answering answering = {task, selector, cohort, split, FALSE};
  *answered = FALSE;
  if (demur_selector_n_federated(selector) == 0)
    return TRUE;
  const gboolean ok = demur_history_each_answer(task, look_at_answer, &answering, error);
  *answered = answering.answered;
  return ok;
}

gboolean
demur_task_tuned_on(DemurTask *task, const char *selector, const DemurCohort *cohort,
                    const char *split, gboolean *tuned, double *coverage, GError **error) {
  *tuned = FALSE;
  *coverage = NAN;
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL)
    return FALSE;
  g_autoptr(GPtrArray) thresholds = demur_thresholds_list(workspace, selector, error);
  if (thresholds == NULL)
    return FALSE;
  for (guint i = 0; i < thresholds->len && !*tuned; i++) {
    const DemurThresholdRecord *record = thresholds->pdata[i];
    *coverage = record->coverage;
    if (!is_of_split(task, cohort, split, record->cohort, record->split, tuned, error))
      return FALSE;
  }
  return TRUE;
}
