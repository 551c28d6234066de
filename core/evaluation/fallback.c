#include "evaluation/fallback.h"

#include "base/limits.h"

static const struct {
  DemurScoring scoring;
  const char *title;
  double share; /* of the progress */
} candidates[] = {{DEMUR_SCORING_NETWORK, "networks", 0.8},
                  {DEMUR_SCORING_MC, "expected miscalibration (mc)", 1.0}};

void
demur_fallback_free(DemurFallback *fallback) {
  if (fallback == NULL)
    return;
  g_free(fallback->note);
  g_free(fallback);
}

DemurFallback *
demur_fallback_choose(DemurCohort *cohort, const DemurTrainSettings *settings, guint64 seed,
                      size_t n_folds, DemurParallel *parallel, const DemurProgress *progress,
                      GError **error) {
  const DemurProgress none = {0};
  if (progress == NULL)
    progress = &none;
  size_t n_rows;
  g_autofree guint32 *rows = demur_cohort_rows(
      cohort, settings->split != NULL ? settings->split : "selector_train", &n_rows, error);
  if (rows == NULL)
    return NULL;
  g_autoptr(DemurFallback) fallback = g_new0(DemurFallback, 1);
  fallback->scoring = DEMUR_SCORING_CONFIDENCE;
  const size_t n_sites = demur_cohort_count_sites(cohort, rows, n_rows);
  fallback->n_sites = n_sites;
  fallback->decided = n_sites >= DEMUR_FEW_SITES;
  if (!fallback->decided) {
    fallback->note = g_strdup_printf(
        "it scores by confidence: whether networks help at other hospitals needs %d training sites "
        "to decide, there are %zu; --method network trains them all the same",
        DEMUR_FEW_SITES, n_sites);
    return g_steal_pointer(&fallback);
  }
  g_autoptr(GString) told = g_string_new(NULL);
  double begin = 0.0;
  gboolean better = FALSE;
  for (size_t c = 0; c < G_N_ELEMENTS(candidates) && !better; c++) {
    if (demur_scoring_row(candidates[c].scoring)->needs_binary && cohort->n_classes > 2)
      continue;
    DemurProgressStage stage = {progress, begin, candidates[c].share, NULL};
    const DemurProgress staged = demur_progress_stage(&stage);
    begin = candidates[c].share;
    g_autoptr(DemurTrainSettings) tried = demur_train_settings_copy(settings);
    tried->scoring = candidates[c].scoring;
    tried->average = tried->models = 1;
    g_autoptr(DemurValidation) validation =
        demur_validate(cohort, tried, seed, n_folds, FALSE, parallel, &staged, error);
    if (validation == NULL)
      return NULL;
    better = validation->verdict == DEMUR_VERDICT_BETTER;
    if (better)
      fallback->scoring = candidates[c].scoring;
    const DemurValidationMeasure *plain = &validation->measures[0];
    g_string_append_printf(told,
                           "%s%s %s (difference of calibration error %+.4f, 95 %% interval "
                           "%+.4f to %+.4f)",
                           c > 0 ? ", " : "", candidates[c].title,
                           better ? "are better than confidence"
                                  : "not shown better than confidence",
                           plain->difference, plain->low, plain->high);
  }
  fallback->note = g_strdup_printf("it scores by %s: on %zu sites left out, %s%s",
                                   demur_scoring_row(fallback->scoring)->name, n_sites, told->str,
                                   fallback->scoring != DEMUR_SCORING_NETWORK
                                       ? "; --method network trains networks all the same"
                                       : "");
  return g_steal_pointer(&fallback);
}
