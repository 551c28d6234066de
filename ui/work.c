#include "ui/work.h"

static void
line_free(gpointer data) {
  DemurImportLine *line = data;
  g_free(line->title);
  g_free(line->detail);
  g_free(line);
}

DemurImportOutcome *
demur_import_outcome_new(void) {
  DemurImportOutcome *outcome = g_new0(DemurImportOutcome, 1);
  outcome->accepted = g_ptr_array_new_with_free_func(line_free);
  outcome->rejected = g_ptr_array_new_with_free_func(line_free);
  outcome->skipped = g_ptr_array_new_with_free_func(line_free);
  return outcome;
}

void
demur_import_outcome_add(GPtrArray *lines, char *title, char *detail) {
  DemurImportLine *line = g_new0(DemurImportLine, 1);
  line->title = title;
  line->detail = detail;
  g_ptr_array_add(lines, line);
}

void
demur_import_outcome_free(DemurImportOutcome *outcome) {
  if (outcome == NULL)
    return;
  g_ptr_array_unref(outcome->accepted);
  g_ptr_array_unref(outcome->rejected);
  g_ptr_array_unref(outcome->skipped);
  g_free(outcome);
}

DemurStudy *
demur_study_new(void) {
  DemurStudy *study = g_new0(DemurStudy, 1);
  study->ref_count = 1;
  return study;
}

DemurStudy *
demur_study_ref(DemurStudy *study) {
  g_atomic_int_inc(&study->ref_count);
  return study;
}

void
demur_study_unref(DemurStudy *study) {
  if (study == NULL || !g_atomic_int_dec_and_test(&study->ref_count))
    return;
  g_free(study->selector);
  g_free(study->digest);
  g_free(study->cohort);
  g_free(study->split);
  g_free(study->validation);
  demur_sample_free(study->sample);
  g_free(study->scores);
  g_free(study->ranks);
  g_free(study->confidence_ranks);
  for (size_t g = 0; g < study->n_groups; g++) {
    g_free(study->groups[g].name);
    g_strfreev(study->groups[g].values);
    g_free(study->groups[g].codes);
  }
  g_free(study->groups);
  demur_cohort_unref(study->view);
  if (study->free_owner != NULL)
    study->free_owner(study->owner);
  g_free(study);
}

void
demur_meaning_free(DemurMeaning *meaning) {
  if (meaning == NULL)
    return;
  g_free(meaning->cohort);
  g_free(meaning);
}
