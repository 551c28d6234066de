/* Recalibration, where it earns its place on sites left out: training scans get the risk of the fit
 * without their fold, everyone else that of the whole fit. */
#include "selector/training-recalibration.h"

#include <string.h>

#include "base/memory.h"
#include "selector/selector-private.h"

DemurCohort *
demur_training_recalibrate(DemurSelector *s, DemurCohort *cohort, const DemurTrainingPart *part,
                           char **note, GError **error) {
  const DemurTrainSettings *settings = s->settings;
  const size_t k = cohort->n_classes, width = k == 2 ? 1 : k, n = part->n_rows;
  if (k > 2 && settings->recalibrate != DEMUR_RECALIBRATION_NONE &&
      settings->recalibrate != DEMUR_RECALIBRATION_AUTO &&
      settings->recalibrate != DEMUR_RECALIBRATION_TEMPERATURE) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                "the recalibration '%s' needs binary risk; with %zu classes there is temperature",
                demur_recalibration_name(settings->recalibrate), k);
    return NULL;
  }
  if (settings->recalibrate == DEMUR_RECALIBRATION_NONE) {
    *note = g_strdup("risks are used as given");
    return demur_cohort_ref(cohort);
  }
  const double *all = k == 2 ? cohort->risks : cohort->probabilities;
  g_autofree double *p = g_new(double, MAX(n, 1) * width),
                    *out_of_fold = g_new(double, MAX(n, 1) * width);
  g_autofree gint32 *labels = g_new(gint32, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    memcpy(p + i * width, all + (size_t)part->rows[i] * width, width * sizeof(double));
    labels[i] = cohort->labels[part->rows[i]];
  }
  g_autofree guint32 *units = demur_training_fold_units(cohort, part);
  DemurRecalibrationTrial trials[3];
  size_t n_trials;
  const DemurRecalibrationKind kind = demur_recalibration_choose(
      settings->recalibrate, p, k, labels, units, n, s->seed, out_of_fold, trials, &n_trials);
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text,
                         "recalibration: %s (on sites left out, calibration error and log "
                         "loss:",
                         demur_recalibration_name(kind));
  for (size_t t = 0; t < n_trials; t++)
    g_string_append_printf(text, "%s %s %.4f and %.4f", t > 0 ? "," : "",
                           demur_recalibration_name(trials[t].kind), trials[t].sbce2,
                           trials[t].log_loss);
  g_string_append(text, ")");
  *note = g_strdup(text->str);
  if (kind == DEMUR_RECALIBRATION_NONE)
    return demur_cohort_ref(cohort);
  s->recalibration = demur_recalibration_fit(kind, p, k, labels, NULL, n);
  double *risks = demur_new_matrix(double, cohort->n_scans, width);
  demur_recalibration_apply(s->recalibration, all, cohort->n_scans, risks);
  if (strcmp(part->role, "training") == 0)
    for (size_t i = 0; i < n; i++)
      memcpy(risks + (size_t)part->rows[i] * width, out_of_fold + i * width,
             width * sizeof(double));
  return demur_cohort_with_risks(cohort, risks);
}
