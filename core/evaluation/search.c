#include "evaluation/search.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

#define MAX_TRIALS 200

void
demur_search_free(DemurSearch *search) {
  if (search == NULL)
    return;
  for (size_t t = 0; t < search->n_trials; t++) {
    demur_train_settings_free(search->trials[t].settings);
    g_free(search->trials[t].text);
  }
  g_free(search->trials);
  g_free(search);
}

static gboolean
set_value(DemurTrainSettings *settings, const char *name, const char *value, GError **error) {
  if (strcmp(name, "target") == 0)
    return demur_train_settings_set_target(settings, value, error);
  for (size_t i = 0; demur_train_settings_number_name(i) != NULL; i++)
    if (strcmp(name, demur_train_settings_number_name(i)) == 0)
      return demur_train_settings_set_number(settings, i, value, error);
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
              "the grid names '%s', which is no number of training; see `demur train --help`",
              name);
  return FALSE;
}

static void
add_trial(GArray *trials, DemurTrainSettings *settings, const char *text) {
  const DemurSearchTrial trial = {settings, g_strdup(text), NAN};
  g_array_append_val(trials, trial);
}

/* Puts every value of one name into every combination so far. */
static gboolean
multiply(GArray **trials, const char *assignment, GError **error) {
  g_auto(GStrv) sides = g_strsplit(assignment, "=", 2);
  if (g_strv_length(sides) != 2) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                "'%s' is no part of a grid; write name=value,value;name=value", assignment);
    return FALSE;
  }
  const char *name = g_strdelimit(g_strstrip(sides[0]), "-", '_');
  g_auto(GStrv) values = g_strsplit(sides[1], ",", -1);
  GArray *next = g_array_new(FALSE, TRUE, sizeof(DemurSearchTrial));
  gboolean ok = TRUE;
  for (guint t = 0; t < (*trials)->len; t++) {
    DemurSearchTrial *trial = &g_array_index(*trials, DemurSearchTrial, t);
    for (char **value = values; ok && *value != NULL; value++) {
      DemurTrainSettings *settings = demur_train_settings_copy(trial->settings);
      g_autofree char *text = g_strdup_printf("%s%s%s=%s", trial->text, *trial->text ? " " : "",
                                              name, g_strstrip(*value));
      ok = set_value(settings, name, *value, error);
      add_trial(next, settings, text);
    }
    demur_train_settings_free(trial->settings);
    g_free(trial->text);
  }
  g_array_free(*trials, TRUE);
  *trials = next;
  if (ok && next->len > MAX_TRIALS) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                "the grid has more than %d combinations; leave some out", MAX_TRIALS);
    ok = FALSE;
  }
  return ok;
}

DemurSearch *
demur_search(DemurCohort *cohort, const DemurTrainSettings *settings, const char *grid,
             guint64 seed, size_t n_folds, DemurParallel *parallel, const DemurProgress *progress,
             GError **error) {
  const DemurProgress none = {0};
  if (progress == NULL)
    progress = &none;
  GArray *trials = g_array_new(FALSE, TRUE, sizeof(DemurSearchTrial));
  add_trial(trials, demur_train_settings_copy(settings), "");
  g_auto(GStrv) assignments = g_strsplit(grid, ";", -1);
  gboolean ok = TRUE;
  for (char **assignment = assignments; ok && *assignment != NULL; assignment++)
    if (**assignment != '\0')
      ok = multiply(&trials, *assignment, error);
  g_autoptr(DemurSearch) search = g_new0(DemurSearch, 1);
  search->n_trials = trials->len;
  search->trials = (DemurSearchTrial *)(gpointer)g_array_free(trials, FALSE);
  double least = INFINITY;
  for (size_t t = 0; ok && t < search->n_trials; t++) {
    DemurSearchTrial *trial = &search->trials[t];
    g_autoptr(DemurTrainSettings) single = demur_train_settings_copy(trial->settings);
    single->average = 1;
    DemurProgressStage stage = {progress, (double)t / (double)search->n_trials,
                                (double)(t + 1) / (double)search->n_trials, "searching"};
    const DemurProgress staged = demur_progress_stage(&stage);
    g_autoptr(GError) local = NULL;
    g_autoptr(DemurValidation) validation =
        demur_validate(cohort, single, seed, n_folds, parallel, &staged, &local);
    if (validation == NULL) {
      /* A combination that diverges is a result; anything else ends the search. */
      if (!g_error_matches(local, DEMUR_ERROR, DEMUR_ERROR_NUMERIC)) {
        g_propagate_error(error, g_steal_pointer(&local));
        ok = FALSE;
      }
      continue;
    }
    trial->sbce2_auc = validation->measures[0].selector;
    if (trial->sbce2_auc < least) {
      least = trial->sbce2_auc;
      search->best = t;
    }
  }
  if (ok && !isfinite(least)) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_NUMERIC,
                        "no combination of the grid could be trained; lower the learning rate");
    ok = FALSE;
  }
  return ok ? g_steal_pointer(&search) : NULL;
}
