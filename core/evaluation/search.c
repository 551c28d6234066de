#include "evaluation/search.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/side-by-side.h"

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
  const gssize i = demur_train_settings_find_number(name);
  if (i >= 0)
    return demur_train_settings_set_number(settings, (size_t)i, value, error);
  demur_error_set(error, DEMUR_ERROR_USAGE,
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
    demur_error_set(error, DEMUR_ERROR_USAGE,
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
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "the grid has more than %d combinations; leave some out", MAX_TRIALS);
    ok = FALSE;
  }
  return ok;
}

DemurSearch *
demur_search_new(const DemurTrainSettings *settings, const char *grid, GError **error) {
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
  return ok ? g_steal_pointer(&search) : NULL;
}

DemurTrainSettings *
demur_search_trial_settings(const DemurSearch *search, size_t trial) {
  DemurTrainSettings *settings = demur_train_settings_copy(search->trials[trial].settings);
  settings->average = settings->models = 1;
  return settings;
}

gboolean
demur_search_choose(DemurSearch *search, GError **error) {
  double least = INFINITY;
  for (size_t t = 0; t < search->n_trials; t++)
    if (search->trials[t].sbce2_auc < least) {
      least = search->trials[t].sbce2_auc;
      search->best = t;
    }
  if (isfinite(least))
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_NUMERIC,
                  "no combination of the grid could be trained; lower the learning rate");
  return FALSE;
}

typedef struct {
  DemurSearch *search;
  DemurCohort *cohort;
  guint64 seed;
  size_t n_folds;
} Searching;

static gboolean
try_one(size_t t, DemurParallel *parallel, const DemurProgress *progress, gpointer data,
        GError **error) {
  const Searching *searching = data;
  g_autoptr(DemurTrainSettings) settings = demur_search_trial_settings(searching->search, t);
  DemurProgressStage stage = {progress, 0.0, 1.0, "searching"};
  const DemurProgress staged = demur_progress_stage(&stage);
  g_autoptr(GError) local = NULL;
  g_autoptr(DemurValidation) validation =
      demur_validate(searching->cohort, settings, searching->seed, searching->n_folds, FALSE,
                     parallel, &staged, &local);
  if (validation != NULL) {
    searching->search->trials[t].sbce2_auc = validation->measures[0].selector;
    return TRUE;
  }
  /* A combination that diverges is a result; anything else ends the search. */
  if (g_error_matches(local, DEMUR_ERROR, DEMUR_ERROR_NUMERIC))
    return TRUE;
  g_propagate_error(error, g_steal_pointer(&local));
  return FALSE;
}

DemurSearch *
demur_search(DemurCohort *cohort, const DemurTrainSettings *settings, const char *grid,
             guint64 seed, size_t n_folds, DemurParallel *parallel, const DemurProgress *progress,
             GError **error) {
  g_autoptr(DemurSearch) search = demur_search_new(settings, grid, error);
  if (search == NULL)
    return NULL;
  Searching searching = {search, cohort, seed, n_folds};
  if (!demur_side_by_side(search->n_trials, parallel, progress, try_one, &searching, error) ||
      !demur_search_choose(search, error))
    return NULL;
  return g_steal_pointer(&search);
}
