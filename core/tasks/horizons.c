#include "tasks/horizons.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"

/* "3" or "2-4". */
static gboolean
read_range(const char *text, gint64 *first, gint64 *last) {
  g_auto(GStrv) ends = g_strsplit(text, "-", 2);
  const guint n = g_strv_length(ends);
  return n >= 1 && demur_number_parse_int(ends[0], strlen(ends[0]), first) &&
         demur_number_parse_int(ends[n - 1], strlen(ends[n - 1]), last) && *first >= 1 &&
         *last <= DEMUR_N_YEARS && *first <= *last;
}

gboolean
demur_horizons_parse(const char *text, DemurHorizons *horizons, GError **error) {
  gboolean wanted[DEMUR_N_YEARS + 1] = {FALSE}, ok = TRUE;
  g_auto(GStrv) parts = g_strsplit(text, ",", -1);
  for (char **part = parts; ok && *part != NULL; part++) {
    gint64 first = 0, last = 0;
    ok = read_range(g_strstrip(*part), &first, &last);
    for (gint64 year = first; ok && year <= last; year++) {
      ok = !wanted[year];
      wanted[year] = TRUE;
    }
  }
  *horizons = (DemurHorizons){0};
  for (int year = 1; year <= DEMUR_N_YEARS; year++)
    if (wanted[year])
      horizons->years[horizons->n++] = year;
  if (ok && horizons->n > 0)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_USAGE,
      "--horizons takes years from 1 to %d, each once, for example 1-6 or 1,3,6, not '%s'",
      DEMUR_N_YEARS, text);
  return FALSE;
}

char *
demur_horizon_selector(const char *name, int years) {
  return g_strdup_printf("%s-%dy", name, years);
}

char *
demur_horizon_family_name(const char *selector, double years) {
  g_autofree char *ending = demur_horizon_selector("", (int)years);
  const size_t n = strlen(selector), n_ending = strlen(ending);
  return n > n_ending && g_str_has_suffix(selector, ending) ? g_strndup(selector, n - n_ending)
                                                            : NULL;
}

/* The selectors NAME-Ny that are of a family: [year], borrowed of records, NULL: none. FALSE where a
 * selector has the name itself. */
static gboolean
find_members(const GPtrArray *records, const char *name,
             const DemurSelectorRecord *members[DEMUR_N_YEARS + 1]) {
  for (int year = 0; year <= DEMUR_N_YEARS; year++) {
    g_autofree char *member = demur_horizon_selector(name, year);
    members[year] = NULL;
    for (guint r = 0; r < records->len; r++) {
      const DemurSelectorRecord *record = records->pdata[r];
      if (strcmp(record->name, name) == 0)
        return FALSE;
      if (year > 0 && record->family != NULL && strcmp(record->name, member) == 0)
        members[year] = record;
    }
  }
  return TRUE;
}

/* Whether the two hold risks back together (tasks/horizon-family.h). */
static gboolean
are_together(const DemurSelectorRecord *a, const DemurSelectorRecord *b) {
  return g_strcmp0(a->family, b->family) == 0 && g_strcmp0(a->model, b->model) == 0;
}

gboolean
demur_horizons_of_family(DemurTask *task, const char *name, DemurHorizons *horizons,
                         GError **error) {
  *horizons = (DemurHorizons){0};
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) records = workspace != NULL ? demur_selectors_list(workspace, error) : NULL;
  if (records == NULL)
    return FALSE;
  const DemurSelectorRecord *members[DEMUR_N_YEARS + 1], *first = NULL, *own = NULL;
  if (!find_members(records, name, members))
    return TRUE;
  for (int year = DEMUR_N_YEARS; year >= 1; year--)
    if (members[year] != NULL) {
      first = members[year];
      own = strcmp(first->family, name) == 0 ? first : own;
    }
  for (int year = 1; year <= DEMUR_N_YEARS; year++)
    if (members[year] != NULL && are_together(members[year], own != NULL ? own : first))
      horizons->years[horizons->n++] = year;
  return TRUE;
}

gboolean
demur_horizons_check_others(DemurTask *task, const char *name, const DemurHorizons *kept,
                            const char *family, const char *model, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) records = workspace != NULL ? demur_selectors_list(workspace, error) : NULL;
  if (records == NULL)
    return FALSE;
  const DemurSelectorRecord *members[DEMUR_N_YEARS + 1];
  if (family == NULL || !find_members(records, name, members))
    return TRUE;
  for (size_t h = 0; h < kept->n; h++)
    members[kept->years[h]] = NULL;
  for (int year = 1; year <= DEMUR_N_YEARS; year++) {
    const DemurSelectorRecord *other = members[year];
    if (other == NULL)
      continue;
    if (strcmp(other->family, family) != 0)
      demur_error_set(
          error, DEMUR_ERROR_EXISTS,
          "selector %s was trained as family %s, this one as %s: under the name %s they "
          "would be taken for one family; choose another name",
          other->name, other->family, family, name);
    else if (model != NULL && g_strcmp0(other->model, model) != 0)
      demur_error_set(error, DEMUR_ERROR_EXISTS,
                      "selector %s reads the scores of model %s, this one those of %s: under the "
                      "name %s they would be taken for one family; choose another name",
                      other->name, other->model, model, name);
    else
      continue;
    return FALSE;
  }
  return TRUE;
}

gboolean
demur_horizons_check_name(DemurTask *task, const char *name, gboolean family, GError **error) {
  DemurHorizons there;
  if (family)
    return demur_task_workspace(task, error) != NULL &&
           demur_selectors_check_free(task->workspace, name, DEMUR_SELECTOR_REPLACE_NONE, error);
  if (!demur_horizons_of_family(task, name, &there, error))
    return FALSE;
  if (there.n > 0)
    demur_error_set(
        error, DEMUR_ERROR_EXISTS,
        "there is a family %s already, of selectors %s-1y and so on, which could not be "
        "called by its name any more; choose another name",
        name, name);
  return there.n == 0;
}

char **
demur_horizon_selectors(const char *name, const DemurHorizons *horizons) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (size_t h = 0; h < horizons->n; h++)
    g_ptr_array_add(names, demur_horizon_selector(name, horizons->years[h]));
  if (horizons->n == 0)
    g_ptr_array_add(names, g_strdup(name));
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

void
demur_horizon_bounds(const double *risks, size_t n, size_t at, double *at_least, double *at_most) {
  *at_least = *at_most = NAN;
  for (size_t h = 0; h < at; h++)
    *at_least = fmax(*at_least, risks[h]); /* fmax and fmin pass over NaN */
  for (size_t h = at + 1; h < n; h++)
    *at_most = fmin(*at_most, risks[h]);
}

gboolean
demur_task_train_horizons(DemurTask *task, const DemurTrainParams *params,
                          const DemurHorizons *horizons, DemurTrained *trained, GError **error) {
  const DemurRecalibrationKind asked = params->settings->recalibrate;
  const gboolean several = horizons->n > 1;
  if (several && asked != DEMUR_RECALIBRATION_NONE && asked != DEMUR_RECALIBRATION_AUTO) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "recalibrated one by one, the risk of a later year could fall below an "
                    "earlier year's: train several horizons with --recalibrate none, or each "
                    "by itself (--horizons N)");
    return FALSE;
  }
  g_autoptr(DemurTrainSettings) settings = demur_train_settings_copy(params->settings);
  if (several) {
    settings->recalibrate = DEMUR_RECALIBRATION_NONE;
    g_free(settings->family);
    settings->family = g_strdup(params->selector);
  }
  const DemurProgress whole = task->progress;
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  gboolean ok = workspace != NULL &&
                (!several || (demur_horizons_check_name(task, params->selector, TRUE, error) &&
                              demur_horizons_check_others(task, params->selector, horizons,
                                                          params->selector, NULL, error)));
  for (size_t h = 0; ok && h < horizons->n; h++) {
    g_autofree char *name = demur_horizon_selector(params->selector, horizons->years[h]);
    ok = demur_selectors_check_free(workspace, name, params->replace, error);
  }
  for (size_t h = 0; ok && h < horizons->n; h++) {
    g_autofree char *name = demur_horizon_selector(params->selector, horizons->years[h]);
    DemurTrainParams one = *params;
    one.selector = name;
    one.settings = settings;
    one.horizon_years = horizons->years[h];
    DemurProgressStage stage = {.outer = &whole,
                                .start = (double)h / (double)horizons->n,
                                .end = (double)(h + 1) / (double)horizons->n};
    task->progress = demur_progress_stage(&stage);
    ok = demur_task_train(task, &one, &trained[h], error);
    if (!ok)
      demur_error_prefix(error, "%s: ", name);
  }
  task->progress = whole;
  return ok;
}
