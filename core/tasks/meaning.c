#include "tasks/meaning.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "metrics/intervals.h"
#include "store/cohorts.h"
#include "store/selectors.h"
#include "tasks/assess.h"
#include "tasks/selection.h"

#define FEWEST_NEIGHBOURS 30
#define MOST_NEIGHBOURS 200

/* The cohort that tuned the threshold in use (owned); NULL: not tuned. FALSE with error. */
static gboolean
find_tuning_cohort(DemurTask *task, const char *selector, char **name, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(DemurThresholdRecord) threshold = NULL;
  if (workspace == NULL || !demur_thresholds_current(workspace, selector, &threshold, error))
    return FALSE;
  *name = threshold != NULL ? g_strdup(threshold->cohort) : NULL;
  return TRUE;
}

/* The same; DEMUR_ERROR_STATE where it is not tuned. */
static char *
tuning_cohort(DemurTask *task, const char *selector, GError **error) {
  char *name = NULL;
  if (find_tuning_cohort(task, selector, &name, error) && name == NULL)
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "selector '%s' is not tuned: no scan is accepted by it yet", selector);
  return name;
}

gboolean
demur_task_meaning_choose(DemurTask *task, const char *selector, const char *scan_cohort,
                          const char *scan_split, char **cohort, char **split, GError **error) {
  *cohort = *split = NULL;
  g_autofree char *name = g_strdup(scan_cohort);
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  if (workspace == NULL || (name == NULL && !find_tuning_cohort(task, selector, &name, error)))
    return FALSE;
  if (name == NULL)
    return TRUE;
  g_autoptr(GError) cause = NULL;
  g_autoptr(DemurCohortSummary) summary = demur_cohorts_summary(workspace, name, &cause);
  if (summary == NULL) { /* removed since */
    const gboolean gone = g_error_matches(cause, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND);
    if (!gone)
      g_propagate_error(error, g_steal_pointer(&cause));
    return gone;
  }
  const char *chosen = scan_cohort != NULL ? scan_split : NULL;
  for (size_t s = 0; s < summary->n_splits; s++)
    if (demur_split_is_test(summary->splits[s].name))
      chosen = DEMUR_SPLIT_TEST;
  if (chosen == NULL)
    return TRUE;
  *cohort = g_steal_pointer(&name);
  *split = g_strdup(chosen);
  return TRUE;
}

typedef struct {
  double risk, label;
  const char *patient_id;
} Entry;

static int
compare_entries(gconstpointer a, gconstpointer b) {
  const Entry *x = a, *y = b;
  return x->risk != y->risk ? (x->risk < y->risk ? -1 : 1) : strcmp(x->patient_id, y->patient_id);
}

static void
take_accepted(DemurMeaningReference *reference, DemurCohort *cohort,
              const DemurAssessment *assessment) {
  g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(Entry));
  for (guint i = 0; i < assessment->verdicts->len; i++) {
    const DemurVerdictRecord *v = &g_array_index(assessment->verdicts, DemurVerdictRecord, i);
    reference->n_scans++;
    if (v->verdict != DEMUR_VERDICT_ACCEPTED)
      continue;
    reference->n_accepted++;
    const gssize row = demur_cohort_find_scan(cohort, v->scan_id);
    const double label = row >= 0 ? demur_cohort_confidence_label(cohort, (size_t)row) : NAN;
    const Entry entry = {v->risk, label, v->patient_id != NULL ? v->patient_id : ""};
    if (isfinite(label))
      g_array_append_val(entries, entry);
  }
  g_array_sort(entries, compare_entries);
  reference->n = entries->len;
  reference->risks = g_new(double, MAX(entries->len, 1));
  reference->labels = g_new(double, MAX(entries->len, 1));
  reference->patient_ids = g_new0(char *, entries->len + 1);
  for (guint i = 0; i < entries->len; i++) {
    const Entry *entry = &g_array_index(entries, Entry, i);
    reference->risks[i] = entry->risk;
    reference->labels[i] = entry->label;
    reference->patient_ids[i] = g_strdup(entry->patient_id);
  }
}

DemurMeaningReference *
demur_task_meaning_reference(DemurTask *task, const DemurMeaningParams *params, GError **error) {
  g_autofree char *name = params->cohort != NULL ? g_strdup(params->cohort)
                                                 : tuning_cohort(task, params->selector, error);
  const char *split = params->split != NULL ? params->split : DEMUR_SPLIT_TEST;
  if (name == NULL)
    return NULL;
  g_auto(DemurAssessment) assessment = {0};
  const DemurAssessParams all = {.selector = params->selector,
                                 .cohort = name,
                                 .split = split,
                                 .coverage = params->coverage,
                                 .unwatched = TRUE};
  if (!demur_task_assess(task, &all, &assessment, error))
    return NULL;
  g_autoptr(DemurCohort) cohort =
      demur_task_load_cohort_for(task, name, assessment.selector, error);
  if (cohort == NULL)
    return NULL;
  if (assessment.n_seen > 0) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "%zu scans of split '%s' of cohort '%s' are of patients that made selector '%s': "
        "what became of them says too little about others; name another split",
        assessment.n_seen, split, cohort->name, params->selector);
    return NULL;
  }
  DemurMeaningReference *reference = g_new0(DemurMeaningReference, 1);
  reference->cohort = g_strdup(cohort->name);
  reference->split = g_strdup(split);
  reference->simulated = cohort->simulated;
  reference->outcome = demur_outcome_of_cohort(cohort);
  reference->outcome_name = g_strdup(reference->outcome.name);
  reference->outcome.name = reference->outcome_name;
  reference->cohort_created = g_strdup(cohort->created);
  take_accepted(reference, cohort, &assessment);
  return reference;
}

void
demur_meaning_reference_free(DemurMeaningReference *reference) {
  if (reference == NULL)
    return;
  g_free(reference->cohort);
  g_free(reference->split);
  g_free(reference->outcome_name);
  g_free(reference->risks);
  g_free(reference->labels);
  g_strfreev(reference->patient_ids);
  g_free(reference->cohort_created);
  g_free(reference);
}

/* The place beyond which nothing more is taken: walks from the risk's place outward, the nearer
 * side first, until as many others' scans are found as are wanted. */
static void
span(const DemurMeaningReference *r, const guint8 *own, double risk, size_t wanted, size_t *first,
     size_t *last) {
  size_t right = 0;
  while (right < r->n && r->risks[right] < risk)
    right++;
  size_t left = right; /* [left, right) is taken */
  while (wanted > 0 && (left > 0 || right < r->n)) {
    const gboolean down =
        right == r->n || (left > 0 && risk - r->risks[left - 1] <= r->risks[right] - risk);
    const size_t at = down ? --left : right++;
    wanted -= !own[at];
  }
  *first = left;
  *last = right;
}

gboolean
demur_meaning_is_told(const DemurMeaning *meaning) {
  return meaning->n >= DEMUR_SMALL_CELL;
}

DemurMeaning
demur_meaning_find(const DemurMeaningReference *reference, double risk, const char *patient_id) {
  const DemurMeaningReference *r = reference;
  DemurMeaning meaning = {
      .risk_low = NAN, .risk_high = NAN, .mean_risk = NAN, .rate_low = NAN, .rate_high = NAN};
  g_autofree guint8 *own = g_new0(guint8, r->n + 1);
  size_t n_others = 0;
  for (size_t i = 0; i < r->n; i++) {
    own[i] = g_strcmp0(r->patient_ids[i], patient_id) == 0;
    n_others += !own[i];
  }
  if (n_others == 0 || !isfinite(risk))
    return meaning;
  const size_t wanted =
      MIN(n_others, CLAMP(n_others / 10, FEWEST_NEIGHBOURS, (size_t)MOST_NEIGHBOURS));
  size_t first, last;
  span(r, own, risk, wanted, &first, &last);
  double low = INFINITY, high = -INFINITY, sum = 0.0;
  for (size_t i = first; i < last; i++)
    if (!own[i]) {
      low = fmin(low, r->risks[i]);
      high = fmax(high, r->risks[i]);
    }
  for (size_t i = 0; i < r->n; i++)
    if (!own[i] && r->risks[i] >= low && r->risks[i] <= high) {
      meaning.n++;
      meaning.n_positive += r->labels[i] > 0.5;
      sum += r->risks[i];
    }
  meaning.risk_low = low;
  meaning.risk_high = high;
  meaning.mean_risk = sum / (double)meaning.n;
  demur_interval_wilson((double)meaning.n_positive, (double)meaning.n, 0.95, &meaning.rate_low,
                        &meaning.rate_high);
  return meaning;
}
