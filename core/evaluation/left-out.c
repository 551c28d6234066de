#include "evaluation/left-out.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/side-by-side.h"
#include "metrics/coverage.h"
#include "selector/folds.h"

#define LEFT_OUT "left out by validation"

void
demur_left_out_free(DemurLeftOut *left_out) {
  if (left_out == NULL)
    return;
  g_free(left_out->split);
  g_free(left_out->rows);
  g_free(left_out->folds);
  g_free(left_out->done);
  g_free(left_out->scores);
  g_free(left_out->risks);
  g_free(left_out);
}

DemurLeftOut *
demur_left_out_new(const DemurCohort *cohort, const DemurTrainSettings *settings, guint64 seed,
                   size_t n_folds, GError **error) {
  if (n_folds < 2 || n_folds > 1000) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "%zu folds; at least 2 are needed to leave sites out in turn, at most 1,000",
                    n_folds);
    return NULL;
  }
  g_autoptr(DemurLeftOut) left_out = g_new0(DemurLeftOut, 1);
  left_out->split = g_strdup(settings->split != NULL ? settings->split : "selector_train");
  left_out->seed = seed;
  left_out->rows = demur_cohort_rows(cohort, left_out->split, &left_out->n, error);
  if (left_out->rows == NULL)
    return NULL;
  const size_t n = left_out->n;
  g_autofree guint32 *sites = g_new(guint32, n);
  for (size_t i = 0; i < n; i++)
    sites[i] = cohort->sites[left_out->rows[i]];
  left_out->folds = g_new(guint32, n);
  left_out->n_folds = demur_folds_assign(sites, n, n_folds, seed, 2, left_out->folds);
  if (left_out->n_folds < 2) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "split '%s' holds one site only: no site can be left out", left_out->split);
    return NULL;
  }
  left_out->width = cohort->risks != NULL ? 1 : cohort->n_classes;
  left_out->done = g_new0(gboolean, left_out->n_folds);
  left_out->scores = g_new0(double, n);
  left_out->risks = g_new0(double, n * left_out->width);
  return g_steal_pointer(&left_out);
}

typedef struct {
  DemurLeftOut *left_out, *beside; /* beside may be NULL */
  DemurScoring scoring;            /* of beside */
  DemurCohort *cohort;
  const DemurTrainSettings *settings;
  size_t first;
} Filling;

/* The scans of a fold: places [n] among those of a DemurLeftOut. */
typedef struct {
  size_t fold, n;
  const guint32 *places;
} Fold;

/* Keeps g [n], as shares of the fold where it says nothing beyond it, and the risks [n][width] of its scans in the order of places. */
static void
keep_fold(DemurLeftOut *out, const Fold *fold, gboolean one_scale, const double *g,
          const double *risks) {
  g_autofree guint32 *ranks = g_new(guint32, MAX(fold->n, 1));
  const size_t n_ranks = demur_coverage_ranks(g, fold->n, ranks);
  for (size_t k = 0; k < fold->n; k++) {
    out->scores[fold->places[k]] =
        one_scale ? g[k] : 1.0 - ((double)ranks[k] + 0.5) / (double)n_ranks;
    memcpy(out->risks + (size_t)fold->places[k] * out->width, risks + k * out->width,
           out->width * sizeof(double));
  }
  out->done[fold->fold] = TRUE;
}

static gboolean
is_one_scale(DemurScoring scoring, const DemurTrainSettings *settings) {
  return demur_scoring_row(scoring)->one_scale && settings->risk_bands == 0;
}

/* Folds share nothing that is written but the scores and risks of their own scans. */
static gboolean
fill_fold(size_t i, DemurParallel *parallel, const DemurProgress *progress, gpointer data,
          GError **error) {
  const Filling *filling = data;
  DemurLeftOut *out = filling->left_out;
  const size_t fold = filling->first + i;
  g_autofree guint8 *moved = g_new0(guint8, MAX(filling->cohort->n_scans, 1));
  g_autofree guint32 *left = g_new(guint32, out->n), *places = g_new(guint32, out->n);
  size_t n_left = 0;
  for (size_t k = 0; k < out->n; k++)
    if (out->folds[k] == fold) {
      moved[out->rows[k]] = 1;
      places[n_left] = (guint32)k;
      left[n_left++] = out->rows[k];
    }
  g_autoptr(DemurCohort) rest = demur_cohort_with_split(filling->cohort, LEFT_OUT, moved);
  g_autoptr(DemurSelector) selector =
      demur_selector_train(rest, filling->settings, out->seed, parallel, progress, NULL, error);
  g_autoptr(DemurCohort) view =
      selector != NULL
          ? demur_selector_view_rows(selector, filling->cohort, left, n_left, parallel, NULL, error)
          : NULL;
  DEMUR_AUTO_ALIGNED double *meta =
      view != NULL
          ? demur_selector_meta_features(selector, view, FALSE, left, n_left, parallel, NULL, error)
          : NULL;
  if (meta == NULL)
    return FALSE;
  const double *seen = view->risks != NULL ? view->risks : view->probabilities;
  g_autofree double *g = g_new(double, MAX(n_left, 1)),
                    *risks = g_new(double, MAX(n_left, 1) * out->width);
  for (size_t k = 0; k < n_left; k++)
    memcpy(risks + k * out->width, seen + (size_t)left[k] * out->width,
           out->width * sizeof(double));
  const Fold done = {fold, n_left, places};
  demur_selector_scores(selector, 0, meta, n_left, g);
  keep_fold(out, &done, is_one_scale(filling->settings->scoring, filling->settings), g, risks);
  if (filling->beside != NULL && demur_selector_can_score_by(selector, filling->scoring)) {
    demur_selector_scores_by(selector, filling->scoring, meta, n_left, g);
    keep_fold(filling->beside, &done, is_one_scale(filling->scoring, filling->settings), g, risks);
  }
  return TRUE;
}

/* Of the folds from filling->first up to end; settings are set here. */
static gboolean
fill(Filling *filling, const DemurTrainSettings *settings, size_t end, DemurParallel *parallel,
     const DemurProgress *progress, GError **error) {
  g_autoptr(DemurTrainSettings) own = demur_train_settings_copy(settings);
  own->models = 1;
  filling->settings = own;
  return demur_side_by_side(end - filling->first, parallel, progress, fill_fold, filling, error);
}

gboolean
demur_left_out_fill(DemurLeftOut *left_out, DemurCohort *cohort, const DemurTrainSettings *settings,
                    size_t first, size_t end, DemurParallel *parallel,
                    const DemurProgress *progress, GError **error) {
  g_return_val_if_fail(first <= end && end <= left_out->n_folds, FALSE);
  Filling filling = {.left_out = left_out, .cohort = cohort, .first = first};
  return fill(&filling, settings, end, parallel, progress, error);
}

gboolean
demur_left_out_fill_both(DemurLeftOut *left_out, DemurLeftOut *beside, DemurScoring scoring,
                         DemurCohort *cohort, const DemurTrainSettings *settings,
                         DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  Filling filling = {.left_out = left_out, .beside = beside, .scoring = scoring, .cohort = cohort};
  return fill(&filling, settings, left_out->n_folds, parallel, progress, error);
}
