#include "tasks/horizon-family.h"

#include <string.h>

static const char *
family_of(const DemurAssessment *assessment) {
  return demur_selector_settings(assessment->selector)->family;
}

static gboolean
is_family(const DemurAssessment *assessment, const char *family, const char *model) {
  return family != NULL && g_strcmp0(family_of(assessment), family) == 0 &&
         strcmp(demur_selector_model(assessment->selector), model) == 0;
}

gboolean
demur_horizon_family_others(DemurWorkspace *workspace, const DemurAssessment *assessments, size_t n,
                            GPtrArray *names, GError **error) {
  gboolean any = FALSE;
  for (size_t i = 0; i < n; i++)
    any |= family_of(&assessments[i]) != NULL;
  if (!any)
    return TRUE;
  g_autoptr(GPtrArray) records = demur_selectors_list(workspace, error);
  for (guint r = 0; records != NULL && r < records->len; r++) {
    const DemurSelectorRecord *record = records->pdata[r];
    gboolean is_other = FALSE, is_asked = FALSE;
    for (size_t i = 0; i < n; i++) {
      is_other |= is_family(&assessments[i], record->family, record->model);
      is_asked |= strcmp(assessments[i].selector_name, record->name) == 0;
    }
    if (is_other && !is_asked)
      g_ptr_array_add(names, g_strdup(record->name));
  }
  return records != NULL;
}

/* The scans that each holds back by itself: tables of their ids, which are borrowed. */
static GHashTable *
find_held_back(const DemurAssessment *assessment) {
  GHashTable *held = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < assessment->verdicts->len; i++) {
    const DemurVerdictRecord *v = &g_array_index(assessment->verdicts, DemurVerdictRecord, i);
    if (v->verdict == DEMUR_VERDICT_RED_FLAG)
      g_hash_table_add(held, v->scan_id);
  }
  return held;
}

/* The reason stands before what was said of the verdict so far. */
static void
hold(DemurAssessment *assessment, DemurVerdictRecord *verdict, double years) {
  g_autoptr(GPtrArray) reasons = demur_reasons_from_json(verdict->reasons);
  DemurReason *together = demur_reason_new(DEMUR_REASON_TOGETHER, NULL, NULL);
  together->value = years;
  g_ptr_array_insert(reasons, 0, together);
  g_autofree char *json = demur_reasons_to_json(reasons), *lead = demur_reasons_lead(reasons);
  verdict->verdict = DEMUR_VERDICT_RED_FLAG;
  verdict->reasons = g_string_chunk_insert(assessment->texts, json);
  verdict->lead = g_string_chunk_insert_const(assessment->texts, lead);
}

void
demur_horizon_family_hold(DemurAssessment *const *assessments, size_t n) {
  g_autoptr(GPtrArray) held = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);
  for (size_t k = 0; k < n; k++)
    g_ptr_array_add(held, find_held_back(assessments[k]));
  for (size_t k = 0; k < n; k++) {
    DemurAssessment *assessment = assessments[k];
    const char *family = family_of(assessment), *model = demur_selector_model(assessment->selector);
    for (guint i = 0; i < assessment->verdicts->len; i++) {
      DemurVerdictRecord *v = &g_array_index(assessment->verdicts, DemurVerdictRecord, i);
      for (size_t other = 0; other < n && v->verdict == DEMUR_VERDICT_ACCEPTED; other++)
        if (other != k && is_family(assessments[other], family, model) &&
            g_hash_table_contains(held->pdata[other], v->scan_id))
          hold(assessment, v, demur_selector_horizon_years(assessments[other]->selector));
    }
  }
}
