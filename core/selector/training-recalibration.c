/* Recalibration, where it earns its place on sites left out: training scans get the risk of the fit
 * without their site, everyone else that of the whole fit. */
#include "selector/training-recalibration.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "metrics/offset-logistic.h"
#include "selector/risk-interval.h"
#include "selector/selector-private.h"

static gboolean
check_kind(const DemurTrainSettings *settings, size_t n_classes, gboolean own_part,
           GError **error) {
  const DemurRecalibrationKind kind = settings->recalibrate;
  if (n_classes > 2 && kind != DEMUR_RECALIBRATION_NONE && kind != DEMUR_RECALIBRATION_AUTO &&
      kind != DEMUR_RECALIBRATION_TEMPERATURE)
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "the recalibration '%s' needs binary risk; with %zu classes there is temperature",
        demur_recalibration_name(kind), n_classes);
  else if (kind == DEMUR_RECALIBRATION_CORRECTOR && !own_part)
    demur_error_set(
        error, DEMUR_ERROR_USAGE,
        "the corrector is fitted on the training split; leave --recalibration-split '%s' out",
        settings->recalibration_split);
  else
    return TRUE;
  return FALSE;
}

/* The only label of the part's scans; DEMUR_NO_LABEL: there are several, or none is known. */
static gint32
only_label(const DemurCohort *cohort, const DemurTrainingPart *part) {
  gint32 only = DEMUR_NO_LABEL;
  for (size_t i = 0; i < part->n_rows; i++) {
    const gint32 label = cohort->labels[part->rows[i]];
    if (label == DEMUR_NO_LABEL || (part->weights != NULL && !(part->weights[i] > 0.0)))
      continue;
    if (only != DEMUR_NO_LABEL && label != only)
      return DEMUR_NO_LABEL;
    only = label;
  }
  return only;
}

/* One label alone would take every risk to it, at a log loss of 0. FALSE with DEMUR_ERROR_STATE
 * where a recalibration was asked for by name; else *note says why there is none. */
static gboolean
check_labels(const DemurTrainSettings *settings, gint32 only, char **note, GError **error) {
  if (settings->recalibrate == DEMUR_RECALIBRATION_AUTO) {
    *note = g_strdup_printf("risks are used as given: every scan that could recalibrate them has "
                            "label %d",
                            only);
    return TRUE;
  }
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "every scan that could recalibrate the risks has label %d, which would take each "
                  "risk to it; give scans of both kinds, or say --recalibrate none",
                  only);
  return FALSE;
}

/* What was tried, for people. */
static char *
tell(DemurRecalibrationKind kind, const DemurRecalibrationTrial *trials, size_t n_trials,
     size_t n_sites) {
  g_autoptr(GString) text = g_string_new(NULL);
  if (n_sites < 2)
    g_string_append_printf(text, "recalibration: %s (one site: none can be left out)",
                           demur_recalibration_name(kind));
  else
    g_string_append_printf(text,
                           "recalibration: %s (log loss on %zu sites, each left out: none %.4f",
                           demur_recalibration_name(kind), n_sites, trials[0].log_loss);
  for (size_t t = 1; n_sites >= 2 && t < n_trials; t++)
    g_string_append_printf(text, ", %s %.4f, against %s %+.4f (%g %% bounds %+.4f and %+.4f)",
                           demur_recalibration_name(trials[t].kind), trials[t].log_loss,
                           demur_recalibration_name(trials[t].against), trials[t].difference,
                           100.0 * trials[t].bound, trials[t].low, trials[t].high);
  if (n_sites >= 2)
    g_string_append_c(text, ')');
  return g_strdup(text->str);
}

/* The cohort with the risks that the fitted recalibration gives the parts. */
static DemurCohort *
take_view(const DemurSelector *s, DemurCohort *cohort, const DemurTrainingParts *parts,
          DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  const size_t n_first = parts->training.n_rows, n_second = parts->validation.n_rows;
  g_autofree guint32 *rows = g_new(guint32, n_first + n_second + 1);
  memcpy(rows, parts->training.rows, n_first * sizeof *rows);
  if (n_second > 0)
    memcpy(rows + n_first, parts->validation.rows, n_second * sizeof *rows);
  return demur_selector_view_rows(s, cohort, rows, n_first + n_second, parallel, progress, error);
}

DemurCohort *
demur_training_recalibrate(DemurSelector *s, DemurCohort *cohort, const DemurTrainingParts *parts,
                           const DemurCorrectorTraining *raw, DemurParallel *parallel,
                           const DemurProgress *progress, char **note, GError **error) {
  const gboolean own_part = parts->recalibration.n_rows == 0;
  const DemurTrainingPart *part = own_part ? &parts->training : &parts->recalibration;
  const size_t k = cohort->n_classes, width = k == 2 ? 1 : k, n = part->n_rows;
  if (!check_kind(s->settings, k, own_part, error))
    return NULL;
  if (s->settings->recalibrate == DEMUR_RECALIBRATION_NONE) {
    *note = g_strdup("risks are used as given");
    return demur_cohort_ref(cohort);
  }
  const gint32 only = only_label(cohort, part);
  if (only != DEMUR_NO_LABEL)
    return check_labels(s->settings, only, note, error) ? demur_cohort_ref(cohort) : NULL;
  const double *all = k == 2 ? cohort->risks : cohort->probabilities;
  g_autofree double *p = g_new(double, MAX(n, 1) * width),
                    *out_of_fold = g_new(double, MAX(n, 1) * width);
  g_autofree gint32 *labels = g_new(gint32, MAX(n, 1));
  g_autofree guint32 *sites = g_new(guint32, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    memcpy(p + i * width, all + (size_t)part->rows[i] * width, width * sizeof(double));
    labels[i] = cohort->labels[part->rows[i]];
    sites[i] = cohort->sites[part->rows[i]];
  }
  const DemurRecalibrationQuestion question = {.kind = s->settings->recalibrate,
                                               .probabilities = p,
                                               .n_classes = k,
                                               .labels = labels,
                                               .weights = part->weights,
                                               .sites = sites,
                                               .corrected = own_part ? raw->left_out : NULL,
                                               .n = n,
                                               .seed = s->seed};
  DemurRecalibrationTrial trials[DEMUR_RECALIBRATION_MAX_TRIALS];
  size_t n_trials;
  const DemurRecalibrationKind kind =
      demur_recalibration_choose(&question, out_of_fold, trials, &n_trials);
  *note = tell(kind, trials, n_trials, demur_cohort_count_sites(cohort, part->rows, n));
  if (kind == DEMUR_RECALIBRATION_NONE)
    return demur_cohort_ref(cohort);
  s->recalibration = demur_recalibration_fit(kind, p, k, labels, part->weights, n);
  DemurCohort *view = take_view(s, cohort, parts, parallel, progress, error);
  double *risks = view == NULL ? NULL : k == 2 ? view->risks : view->probabilities;
  for (size_t i = 0; risks != NULL && own_part && i < n; i++)
    memcpy(risks + (size_t)part->rows[i] * width, out_of_fold + i * width, width * sizeof(double));
  return view;
}

void
demur_training_fit_sites(DemurSelector *s, const DemurCohort *cohort,
                         const DemurTrainingPart *training, const DemurCorrectorTraining *raw) {
  if (cohort->n_classes > 2)
    return;
  const gboolean corrector =
      s->recalibration != NULL && s->recalibration->kind == DEMUR_RECALIBRATION_CORRECTOR;
  const size_t n = training->n_rows;
  g_autofree double *offsets = g_new(double, MAX(n, 1)), *labels = g_new(double, MAX(n, 1));
  g_autofree guint32 *sites = g_new(guint32, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    const guint32 row = training->rows[i];
    double risk = corrector ? raw->left_out[i] : cohort->risks[row];
    if (s->recalibration != NULL && !corrector)
      demur_recalibration_apply(s->recalibration, &risk, 1, &risk);
    offsets[i] = demur_logit(risk);
    labels[i] = (double)cohort->labels[row];
    sites[i] = cohort->sites[row];
  }
  s->sites = corrector ? demur_site_prior_copy(raw->sites)
                       : demur_site_prior_fit(offsets, labels, training->weights, sites, n, NULL);
  demur_risk_interval_fit_slope(offsets, labels, sites, n, &s->slope_sd, &s->slope_centre);
}
