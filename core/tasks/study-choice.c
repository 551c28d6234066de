#include "tasks/study-choice.h"

#include <json-glib/json-glib.h>
#include <string.h>

#include "base/json-reader.h"
#include "dicom/eligibility.h"
#include "selector/reason.h"
#include "store/overrules.h"
#include "store/scores.h"

char *
demur_study_choice_conflict(const DemurSeriesRecord *record) {
  g_autoptr(DemurReason) reason = demur_reason_new(
      DEMUR_REASON_CONFLICT, NULL, demur_conflict_name(demur_conflict_of_name(record->conflict)));
  return demur_reason_kept(reason);
}

static char *
kept(DemurReasonKind kind, const char *series, const char *text) {
  g_autoptr(DemurReason) reason = demur_reason_new(kind, series, text);
  return demur_reason_kept(reason);
}

/* What tells the study that a record belongs to. */
static DemurCandidate
member_of(const DemurSeriesRecord *record) {
  return (DemurCandidate){.scan_id = record->scan_id,
                          .study_uid = record->study_uid,
                          .person = demur_series_person(record),
                          .eligible = record->eligible && record->conflict == NULL,
                          .thickness_mm = record->thickness_mm,
                          .n_slices = record->n_slices,
                          .series_number = DEMUR_NO_NUMBER};
}

/* What the choice between several needs; the facts hold the kernel's class and the series number. */
static DemurCandidate
candidate_of(const DemurSeriesRecord *record) {
  DemurCandidate candidate = member_of(record);
  g_autoptr(JsonNode) node = demur_json_parse(record->facts_json);
  JsonObject *facts =
      node != NULL && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
  if (facts == NULL)
    return candidate;
  JsonNode *number = json_object_get_member(facts, "series_number");
  if (number != NULL && JSON_NODE_HOLDS_VALUE(number))
    candidate.series_number = json_node_get_int(number);
  JsonNode *acquisition = json_object_get_member(facts, "acquisition");
  JsonNode *sharpness =
      acquisition != NULL && JSON_NODE_HOLDS_OBJECT(acquisition)
          ? json_object_get_member(json_node_get_object(acquisition), "kernel_class")
          : NULL;
  const char *name = sharpness != NULL && JSON_NODE_HOLDS_VALUE(sharpness)
                         ? json_node_get_string(sharpness)
                         : NULL;
  for (int k = DEMUR_KERNEL_SOFT; name != NULL && k <= DEMUR_KERNEL_SHARP; k++)
    if (strcmp(name, demur_vendor_kernel_class_name((DemurKernelClass)k)) == 0)
      candidate.kernel_class = (DemurKernelClass)k;
  return candidate;
}

char *
demur_study_choice_key(const DemurSeriesRecord *record) {
  return g_strdup(record->study_uid != NULL ? record->study_uid : record->scan_id);
}

GPtrArray *
demur_study_choice_series(DemurWorkspace *workspace, const char *key, GError **error) {
  g_autoptr(GPtrArray) study = demur_series_find(workspace, DEMUR_SERIES_OF_STUDY, key, error);
  if (study == NULL || study->len > 0)
    return g_steal_pointer(&study);
  g_autoptr(GPtrArray) itself = demur_series_find(workspace, DEMUR_SERIES_OF_SCAN, key, error);
  if (itself != NULL && itself->len > 0 &&
      ((const DemurSeriesRecord *)itself->pdata[0])->study_uid != NULL)
    g_ptr_array_set_size(itself, 0);
  return g_steal_pointer(&itself);
}

const DemurSeriesRecord *
demur_study_chosen_beside(const GPtrArray *all, const DemurSeriesRecord *record) {
  g_autofree DemurCandidate *candidates = g_new0(DemurCandidate, all->len + 1);
  g_autofree guint *studies = g_new0(guint, all->len + 1);
  for (guint i = 0; i <= all->len; i++) {
    const DemurSeriesRecord *one = i < all->len ? all->pdata[i] : record;
    candidates[i] = member_of(one);
  }
  demur_eligibility_studies(candidates, all->len + 1, studies);
  for (guint i = 0; i < all->len; i++) {
    const DemurSeriesRecord *other = all->pdata[i];
    if (other->accepted && strcmp(other->scan_id, record->scan_id) != 0 &&
        studies[i] == studies[all->len])
      return other;
  }
  return NULL;
}

static const DemurSeriesRecord *
find_record(const GPtrArray *records, const char *scan_id) {
  for (guint i = 0; records != NULL && i < records->len; i++) {
    const DemurSeriesRecord *record = records->pdata[i];
    if (strcmp(record->scan_id, scan_id) == 0)
      return record;
  }
  return NULL;
}

/* One study of the workspace. */
typedef struct {
  GPtrArray *now; /* its DemurSeriesRecord, borrowed */
  const DemurSeriesRecord *chosen_before;
  const DemurOverruleRecord *overrule;
  gboolean has_score;
} Study;

static gboolean
set_choice(DemurWorkspace *workspace, const DemurSeriesRecord *record, gboolean accepted,
           const char *reason, GError **error) {
  if (record->accepted == accepted && g_strcmp0(record->reason, reason) == 0)
    return TRUE;
  return demur_series_set_accepted(workspace, record->scan_id, accepted, reason, error);
}

/* Whether the rules' choice gives way: the scan_id that holds (NULL: none is assessed), and why the
 * others are not. */
static gboolean
choice_is_held(const Study *study, const char **holder, char **why) {
  if (study->overrule != NULL) {
    *holder = study->overrule->scan_id;
    *why = kept(DEMUR_REASON_PERSON_CHOSE, study->overrule->scan_id, study->overrule->reason);
    return TRUE;
  }
  if (study->chosen_before == NULL || !study->has_score)
    return FALSE;
  const DemurSeriesRecord *same = find_record(study->now, study->chosen_before->scan_id);
  *holder = same != NULL && same->eligible && same->conflict == NULL ? same->scan_id : NULL;
  *why = kept(*holder != NULL ? DEMUR_REASON_CHOSEN_BEFORE : DEMUR_REASON_CHOSEN_IS_OUT,
              study->chosen_before->scan_id, NULL);
  return TRUE;
}

static gboolean
choose_in_study(DemurWorkspace *workspace, const Study *study, GError **error) {
  const guint n = study->now->len;
  g_autofree DemurCandidate *candidates = g_new0(DemurCandidate, n);
  for (guint i = 0; i < n; i++)
    candidates[i] = n > 1 ? candidate_of(study->now->pdata[i]) : member_of(study->now->pdata[i]);
  demur_eligibility_choose(candidates, n);
  const char *holder = NULL;
  g_autofree char *why = NULL;
  const gboolean held = choice_is_held(study, &holder, &why);
  gboolean ok = TRUE;
  for (guint i = 0; i < n; i++) {
    const DemurSeriesRecord *record = study->now->pdata[i];
    g_autofree char *waits = record->conflict != NULL ? demur_study_choice_conflict(record) : NULL;
    g_autofree char *by_rules = candidates[i].preferred != NULL
                                    ? kept(DEMUR_REASON_PREFERRED, candidates[i].preferred,
                                           demur_preference_name(candidates[i].preferred_by))
                                    : NULL;
    const gboolean holds = held && holder != NULL && strcmp(holder, record->scan_id) == 0;
    if (!ok)
      continue;
    if (record->conflict != NULL)
      ok = set_choice(workspace, record, FALSE, waits, error);
    else if (holds || (!held && candidates[i].accepted))
      ok = set_choice(workspace, record, TRUE, NULL, error);
    else if (record->eligible)
      ok = set_choice(workspace, record, FALSE, held ? why : by_rules, error);
    else if (record->accepted) /* a person had chosen it, and then another */
      ok = set_choice(workspace, record, FALSE, why, error);
  }
  return ok;
}

static gboolean
look_for_scores(DemurWorkspace *workspace, Study *study, GError **error) {
  for (guint i = 0; i < study->now->len && !study->has_score; i++) {
    const DemurSeriesRecord *record = study->now->pdata[i];
    g_autoptr(GPtrArray) scores = demur_scores_list(workspace, record->scan_id, NULL, error);
    if (scores == NULL)
      return FALSE;
    study->has_score = scores->len > 0;
  }
  return TRUE;
}

/* The newest decision that names a series of the study. */
static const DemurOverruleRecord *
overrule_of(const GPtrArray *overrules, const GPtrArray *series) {
  for (guint i = 0; i < overrules->len; i++) {
    const DemurOverruleRecord *overrule = overrules->pdata[i];
    if (find_record(series, overrule->scan_id) != NULL)
      return overrule;
  }
  return NULL;
}

static void
array_unref(gpointer array) {
  g_ptr_array_unref(array);
}

/* The series that were assessed, by the key of their study (owned; records are borrowed). */
static GHashTable *
assessed_by_study(const GPtrArray *records) {
  GHashTable *by_study = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, array_unref);
  for (guint i = 0; i < records->len; i++) {
    const DemurSeriesRecord *record = records->pdata[i];
    if (!record->accepted)
      continue;
    g_autofree char *key = demur_study_choice_key(record);
    GPtrArray *of_study = g_hash_table_lookup(by_study, key);
    if (of_study == NULL) {
      of_study = g_ptr_array_new();
      g_hash_table_insert(by_study, g_steal_pointer(&key), of_study);
    }
    g_ptr_array_add(of_study, records->pdata[i]);
  }
  return by_study;
}

/* The choice of each person in one study. before: what was assessed in it; NULL: nothing. */
static gboolean
choose_study(DemurWorkspace *workspace, const char *key, const GPtrArray *before,
             const GPtrArray *overrules, GError **error) {
  g_autoptr(GPtrArray) now = demur_study_choice_series(workspace, key, error);
  if (now == NULL)
    return FALSE;
  /* Its series now, then the one that was assessed before. */
  g_autoptr(GPtrArray) all = g_ptr_array_new();
  const guint n_now = now->len;
  for (guint i = 0; i < n_now; i++)
    g_ptr_array_add(all, now->pdata[i]);
  for (guint i = 0; before != NULL && i < before->len; i++)
    g_ptr_array_add(all, before->pdata[i]);
  g_autofree DemurCandidate *candidates = g_new0(DemurCandidate, MAX(all->len, 1));
  g_autofree guint *studies = g_new0(guint, MAX(all->len, 1));
  for (guint i = 0; i < all->len; i++)
    candidates[i] = member_of(all->pdata[i]);
  demur_eligibility_studies(candidates, all->len, studies);
  for (guint i = 0; i < n_now; i++) {
    gboolean is_first = TRUE;
    for (guint k = 0; k < i && is_first; k++)
      is_first = studies[k] != studies[i];
    if (!is_first)
      continue;
    g_autoptr(GPtrArray) members = g_ptr_array_new();
    Study study = {.now = members};
    for (guint k = 0; k < all->len; k++)
      if (studies[k] == studies[i] && k < n_now)
        g_ptr_array_add(members, all->pdata[k]);
      else if (studies[k] == studies[i])
        study.chosen_before = all->pdata[k];
    study.overrule = overrule_of(overrules, members);
    if (!look_for_scores(workspace, &study, error) || !choose_in_study(workspace, &study, error))
      return FALSE;
  }
  return TRUE;
}

static int
compare_keys(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

gboolean
demur_study_choose(DemurWorkspace *workspace, GHashTable *keys, const GPtrArray *before,
                   GError **error) {
  g_autoptr(GPtrArray) overrules = demur_overrules_list(workspace, NULL, error);
  if (overrules == NULL)
    return FALSE;
  g_autoptr(GHashTable) assessed = assessed_by_study(before);
  guint n;
  g_autofree gpointer *studies = g_hash_table_get_keys_as_array(keys, &n);
  qsort(studies, n, sizeof *studies, compare_keys);
  for (guint i = 0; i < n; i++)
    if (!choose_study(workspace, studies[i], g_hash_table_lookup(assessed, studies[i]), overrules,
                      error))
      return FALSE;
  return TRUE;
}
