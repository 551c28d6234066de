#include "evaluation/fallback.h"

#include "base/limits.h"

static const struct {
  DemurScoring scoring;
  const char *title;
  double share; /* of the progress */
} candidates[] = {{DEMUR_SCORING_NETWORK, "networks", 0.8},
                  {DEMUR_SCORING_MC, "expected miscalibration (mc)", 1.0}};
#define N_CANDIDATES G_N_ELEMENTS(candidates)

/* What the candidates say of sites left out; those that one training answers for are filled together. */
typedef struct {
  DemurLeftOut *of[N_CANDIDATES];
} Trials;

static void
trials_clear(Trials *trials) {
  for (size_t c = 0; c < N_CANDIDATES; c++)
    demur_left_out_free(trials->of[c]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Trials, trials_clear)

static gboolean
is_done(const DemurLeftOut *left_out) {
  gboolean done = TRUE;
  for (size_t fold = 0; fold < left_out->n_folds; fold++)
    done = done && left_out->done[fold];
  return done;
}

/* Candidate c's scores, where no earlier one's training gave them, with the next one's beside. */
static gboolean
fill_trial(Trials *trials, size_t c, DemurCohort *cohort, const DemurTrainSettings *tried,
           DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  if (is_done(trials->of[c]))
    return TRUE;
  if (c + 1 < N_CANDIDATES)
    return demur_left_out_fill_both(trials->of[c], trials->of[c + 1], candidates[c + 1].scoring,
                                    cohort, tried, parallel, progress, error);
  return demur_left_out_fill(trials->of[c], cohort, tried, 0, trials->of[c]->n_folds, parallel,
                             progress, error);
}

static DemurValidation *
try_candidate(Trials *trials, size_t c, DemurCohort *cohort, const DemurTrainSettings *settings,
              DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  g_autoptr(DemurTrainSettings) tried = demur_train_settings_copy(settings);
  tried->scoring = candidates[c].scoring;
  tried->average = tried->models = 1;
  DemurProgressStage stage = {progress, 0.0, 0.9, NULL};
  DemurProgress staged = demur_progress_stage(&stage);
  if (!fill_trial(trials, c, cohort, tried, parallel, &staged, error))
    return NULL;
  stage.start = 0.9;
  stage.end = 1.0;
  return demur_validation_of(cohort, tried, trials->of[c], FALSE, parallel, &staged, error);
}

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
  g_auto(Trials) trials = {{NULL}};
  for (size_t c = 0; c < N_CANDIDATES; c++) {
    trials.of[c] = demur_left_out_new(cohort, settings, seed, n_folds, error);
    if (trials.of[c] == NULL)
      return NULL;
  }
  double begin = 0.0;
  gboolean better = FALSE;
  for (size_t c = 0; c < N_CANDIDATES && !better; c++) {
    if (demur_scoring_row(candidates[c].scoring)->needs_binary && cohort->n_classes > 2)
      continue;
    DemurProgressStage stage = {progress, begin, candidates[c].share, NULL};
    const DemurProgress staged = demur_progress_stage(&stage);
    begin = candidates[c].share;
    g_autoptr(DemurValidation) validation =
        try_candidate(&trials, c, cohort, settings, parallel, &staged, error);
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
