#include "tasks/family-study.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/finding.h"
#include "tasks/family-tells.h"

void
demur_family_study_clear(DemurFamilyStudy *study) {
  for (size_t h = 0; h < study->horizons.n; h++) {
    demur_report_task_free(study->reports[h]);
    demur_evaluating_clear(&study->each[h]);
    g_free(study->lists[h][0]);
  }
  g_free(study->name);
  *study = (DemurFamilyStudy){0};
}

gboolean
demur_task_family_asked(DemurTask *task, char *const *names, DemurHorizons *horizons,
                        GError **error) {
  *horizons = (DemurHorizons){0};
  const guint n = names != NULL ? g_strv_length((char **)names) : 0;
  for (guint i = 0; i < n; i++) {
    if (!demur_horizons_of_family(task, names[i], horizons, error))
      return FALSE;
    if (horizons->n > 0 && n > 1) {
      demur_error_set(error, DEMUR_ERROR_USAGE,
                      "%s is a family, one selector a horizon, and stands alone; set one of its "
                      "selectors beside others (%s-%dy)",
                      names[i], names[i], horizons->years[0]);
      return FALSE;
    }
  }
  return TRUE;
}

/* The options once more, for one horizon: demur_task_evaluate takes their texts. */
static DemurEvaluateParams
copy_options(const DemurEvaluateParams *options, const DemurReportPin *pin) {
  DemurEvaluateParams copy = *options;
  copy.cohort = g_strdup(options->cohort);
  copy.split = g_strdup(options->split);
  copy.resample_unit = g_strdup(options->resample_unit);
  copy.n_resamples = g_strdup(options->n_resamples);
  copy.n_bootstrap = g_strdup(options->n_bootstrap);
  copy.bin_size = g_strdup(options->bin_size);
  copy.group_by = g_strdupv(options->group_by);
  copy.net_benefit_threshold = g_strdup(options->net_benefit_threshold);
  copy.pin = pin;
  return copy;
}

static gboolean
evaluate_each(DemurTask *task, const DemurEvaluateParams *options, double coverage,
              const DemurReportPin *pins, DemurFamilyStudy *study, GError **error) {
  const DemurProgress whole = task->progress;
  const size_t n = study->horizons.n;
  gboolean ok = TRUE;
  for (size_t h = 0; ok && h < n; h++) {
    DemurProgressStage stage = {
        .outer = &whole, .start = (double)h / (double)n, .end = (double)(h + 1) / (double)n};
    task->progress = demur_progress_stage(&stage);
    study->lists[h][0] = demur_horizon_selector(study->name, study->horizons.years[h]);
    DemurEvaluateParams own = copy_options(options, pins != NULL ? &pins[h] : NULL);
    ok = demur_task_evaluate(task, study->lists[h], &own, &study->each[h], error) &&
         (study->reports[h] = demur_report_task_new(&study->each[h], coverage, error)) != NULL;
    if (ok)
      study->inputs[h] = &study->reports[h]->input;
    else
      demur_error_prefix(error, "%s: ", study->lists[h][0]);
  }
  task->progress = whole;
  return ok;
}

/* Whether the horizons were read from one state of the workspace: they are set side by side. */
static gboolean
check_one_moment(const DemurFamilyStudy *study, GError **error) {
  for (size_t h = 1; h < study->horizons.n; h++)
    if (g_strcmp0(study->each[h].log_head, study->each[0].log_head) != 0) {
      demur_error_set(error, DEMUR_ERROR_STATE,
                      "the workspace was changed while family %s was evaluated; do it again",
                      study->name);
      return FALSE;
    }
  return TRUE;
}

/* scores [n] of the rows, by the first network. */
static gboolean
score_rows(DemurTask *task, const DemurEvaluating *e, const guint32 *rows, size_t n, double *scores,
           GError **error) {
  DemurSelector *selector = e->selectors[0];
  g_autoptr(DemurCohort) view = demur_selector_view_rows(selector, e->cohort, rows, n,
                                                         task->parallel, &task->progress, error);
  DEMUR_AUTO_ALIGNED double *meta =
      view != NULL ? demur_selector_meta_features(selector, view, FALSE, rows, n, task->parallel,
                                                  &task->progress, error)
                   : NULL;
  if (meta != NULL)
    demur_selector_scores(selector, 0, meta, n, scores);
  return meta != NULL;
}

/* What the family shows: by year, of all and of that. */
static gboolean
find_together(DemurTask *task, DemurFamilyStudy *study, GError **error) {
  DemurFamilyReport *report = &study->report;
  const size_t last = study->horizons.n - 1;
  const DemurCohort *cohort = study->each[last].cohort;
  size_t n;
  g_autofree guint32 *rows =
      demur_cohort_rows(cohort, study->each[last].evaluation->split, &n, error);
  if (rows == NULL)
    return FALSE;
  g_autofree guint8 *shown = g_new(guint8, MAX(n, 1));
  g_autofree double *scores = g_new(double, MAX(n, 1) * (last + 1)); /* [horizons][n] */
  memset(shown, 1, n);
  report->shown_known = TRUE;
  for (size_t h = 0; h <= last; h++) {
    const DemurOperatingPoint *at = demur_finding(study->inputs[h]).subject_at;
    if (!score_rows(task, &study->each[h], rows, n, scores + h * n, error))
      return FALSE;
    report->shown_known &= at != NULL;
    for (size_t i = 0; at != NULL && i < n; i++)
      shown[i] &= scores[h * n + i] >= at->threshold;
  }
  g_autofree guint32 *kept = g_new(guint32, MAX(n, 1));
  for (size_t i = 0; i < n && report->shown_known; i++)
    if (shown[i])
      kept[report->n_shown++] = rows[i];
  report->n_scans = n;
  DemurReportYear all[DEMUR_N_YEARS], of_shown[DEMUR_N_YEARS] = {{0}};
  const char *estimator;
  const size_t n_years = demur_report_years(cohort, rows, n, all, &report->estimator);
  (void)demur_report_years(cohort, kept, report->n_shown, of_shown, &estimator);
  for (size_t y = 0; y < n_years && (int)y < study->horizons.years[last]; y++)
    study->by_year[report->n_by_year++] = (DemurFamilyYear){(int)y + 1, all[y], of_shown[y], FALSE};
  for (size_t h = 0; h <= last && report->n_by_year > 0; h++) {
    const int year = study->horizons.years[h];
    study->by_year[year - 1].shown_tells = demur_family_tells_of_few(
        cohort, demur_finding(study->inputs[h]).subject, scores + h * n, rows, shown, n, year);
  }
  report->by_year = study->by_year;
  return TRUE;
}

static gboolean
make_study(DemurTask *task, const char *name, const DemurHorizons *horizons,
           const DemurEvaluateParams *options, double coverage, const DemurReportPin *pins,
           DemurFamilyStudy *study, GError **error) {
  if (options->audited) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "--audited measures one selector of binary risk: give one --selector");
    return FALSE;
  }
  study->name = g_strdup(name);
  study->horizons = *horizons;
  if (!evaluate_each(task, options, coverage, pins, study, error) ||
      !check_one_moment(study, error))
    return FALSE;
  const DemurReportFinding finding = demur_finding(study->inputs[0]);
  study->report = (DemurFamilyReport){.name = study->name,
                                      .n = horizons->n,
                                      .years = study->horizons.years,
                                      .horizons = study->inputs,
                                      .coverage = finding.coverage};
  return find_together(task, study, error);
}

gboolean
demur_task_family_study(DemurTask *task, const char *name, const DemurHorizons *horizons,
                        DemurEvaluateParams *options, double coverage, const DemurReportPin *pins,
                        DemurFamilyStudy *study, GError **error) {
  const gboolean ok = make_study(task, name, horizons, options, coverage, pins, study, error);
  demur_evaluate_params_clear(options);
  return ok;
}

gboolean
demur_task_family_report(DemurTask *task, const char *name, const DemurHorizons *horizons,
                         DemurEvaluateParams *options, double coverage, DemurPaper paper,
                         const char *path, gboolean *simulated, GError **error) {
  g_auto(DemurFamilyStudy) study = {0};
  if (!demur_task_family_study(task, name, horizons, options, coverage, NULL, &study, error))
    return FALSE;
  for (size_t h = 0; h < horizons->n; h++)
    study.reports[h]->input.paper = paper;
  *simulated = study.each[0].evaluation->simulated;
  return demur_family_report_write(&study.report, path, &task->progress, error);
}
