#include "evaluation/ablation.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "evaluation/comparisons.h"
#include "evaluation/plan.h"
#include "selector/training.h"

/* What is left out, and the group of features that it is (0: no group). */
static const struct {
  const char *name, *title;
  guint features;
} parts[DEMUR_N_ABLATED] = {
    [DEMUR_ABLATED_NOTHING] = {"whole", "the whole selector", 0},
    [DEMUR_ABLATED_CONFIDENCE] = {"without_confidence", "without confidence features",
                                  DEMUR_FEATURES_CONFIDENCE},
    [DEMUR_ABLATED_CLASS] = {"without_class", "without class features", DEMUR_FEATURES_CLASS},
    [DEMUR_ABLATED_OUTLIER] = {"without_outlier", "without outlier features",
                               DEMUR_FEATURES_OUTLIER},
    [DEMUR_ABLATED_CORRECTOR] = {"without_corrector", "without the corrector's features",
                                 DEMUR_FEATURES_CORRECTOR},
    [DEMUR_ABLATED_ACQUISITION] = {"without_acquisition", "without acquisition features",
                                   DEMUR_FEATURES_ACQUISITION},
    [DEMUR_ABLATED_PERTURBATIONS] = {"without_perturbations", "without perturbations", 0},
    [DEMUR_ABLATED_SHARED] = {"per_example", "perturbations by example", 0},
    [DEMUR_ABLATED_WORST] = {"without_worst", "all data sets, not the worst", 0},
    [DEMUR_ABLATED_TARGET] = {"paper_target", "the paper's target", 0},
    [DEMUR_ABLATED_AVERAGE] = {"one_network", "one network", 0},
};

const char *
demur_ablated_name(DemurAblated ablated) {
  return parts[ablated].name;
}

const char *
demur_ablated_title(DemurAblated ablated) {
  return parts[ablated].title;
}

gboolean
demur_ablated_from_name(const char *name, DemurAblated *ablated, GError **error) {
  g_autoptr(GString) list = g_string_new(NULL);
  for (guint a = DEMUR_ABLATED_NOTHING + 1; a < DEMUR_N_ABLATED; a++) {
    if (strcmp(name, parts[a].name) == 0) {
      *ablated = (DemurAblated)a;
      return TRUE;
    }
    g_string_append_printf(list, "%s%s", list->len > 0 ? ", " : "", parts[a].name);
  }
  demur_error_set(error, DEMUR_ERROR_USAGE, "'%s' is nothing that can be left out; there are %s",
                  name, list->str);
  return FALSE;
}

/* Whether the settings have the part. */
static gboolean
has(const DemurTrainSettings *s, DemurAblated ablated) {
  const guint group = parts[ablated].features;
  switch (ablated) {
  case DEMUR_ABLATED_PERTURBATIONS:
    return s->shift != DEMUR_SHIFT_NONE;
  case DEMUR_ABLATED_SHARED:
    return s->shift == DEMUR_SHIFT_GROUPS;
  case DEMUR_ABLATED_WORST:
    return s->kappa > 0 && s->kappa < s->batch;
  case DEMUR_ABLATED_TARGET:
    return s->target == DEMUR_TARGET_DENOISED;
  case DEMUR_ABLATED_AVERAGE:
    return s->average > 1;
  default:
    return group == 0 || ((s->features & group) != 0 && (s->features & ~group) != 0);
  }
}

DemurTrainSettings *
demur_ablated_settings(const DemurTrainSettings *settings, DemurAblated ablated) {
  if (!has(settings, ablated))
    return NULL;
  DemurTrainSettings *s = demur_train_settings_copy(settings);
  s->models = 1;
  if (ablated == DEMUR_ABLATED_NOTHING)
    return s;
  s->as_published = FALSE;
  s->scoring_explicit = s->features_explicit = s->target_explicit = TRUE;
  s->features &= ~parts[ablated].features;
  if (ablated == DEMUR_ABLATED_PERTURBATIONS)
    s->shift = DEMUR_SHIFT_NONE;
  else if (ablated == DEMUR_ABLATED_SHARED)
    s->shift = DEMUR_SHIFT_EXAMPLE;
  else if (ablated == DEMUR_ABLATED_WORST)
    s->kappa = 0;
  else if (ablated == DEMUR_ABLATED_TARGET)
    s->target = DEMUR_TARGET_PAPER;
  else if (ablated == DEMUR_ABLATED_AVERAGE)
    s->average = 1;
  return s;
}

void
demur_ablation_free(DemurAblation *ablation) {
  if (ablation == NULL)
    return;
  g_free(ablation->rows);
  demur_evaluation_free(ablation->evaluation);
  g_free(ablation);
}

/* The scans under measure, and the places of their rows. */
typedef struct {
  const DemurEvaluateInput *input;
  const guint32 *rows;
  size_t n;
  DemurSample *sample;
  GPtrArray *methods;
} Measuring;

/* Scores of the first model by the selector's own view of the risks, in the order of the sample. */
static gboolean
add_scores(const Measuring *m, const DemurSelector *selector, DemurAblated ablated,
           DemurParallel *parallel, GError **error) {
  g_autoptr(DemurCohort) view =
      demur_selector_view_rows(selector, m->input->cohort, m->rows, m->n, parallel, NULL, error);
  DEMUR_AUTO_ALIGNED double *meta =
      view != NULL ? demur_selector_meta_features(selector, view, FALSE, m->sample->rows, m->n,
                                                  parallel, NULL, error)
                   : NULL;
  if (meta == NULL)
    return FALSE;
  g_autofree double *scores = g_new(double, MAX(m->n, 1));
  demur_selector_scores(selector, 0, meta, m->n, scores);
  demur_methods_add(m->methods, DEMUR_METHOD_SELECTOR, parts[ablated].name, parts[ablated].title,
                    scores, m->n);
  return TRUE;
}

/* --- the table --- */

static void
take_comparison(DemurAblationRow *row, const DemurComparison *c) {
  const gboolean of_whole = c->against_kind == DEMUR_METHOD_SELECTOR;
  if (!of_whole && c->against_kind != DEMUR_METHOD_CONFIDENCE)
    return;
  if (of_whole) {
    row->whole[c->measure].difference = c->difference;
    row->whole[c->measure].low = c->low;
    row->whole[c->measure].high = c->high;
    row->whole[c->measure].verdict = c->verdict;
  } else {
    row->confidence[c->measure].difference = c->difference;
    row->confidence[c->measure].low = c->low;
    row->confidence[c->measure].high = c->high;
    row->confidence[c->measure].verdict = c->verdict;
  }
}

static void
fill_row(const DemurEvaluation *e, DemurAblationRow *row) {
  const DemurMethodResult *result =
      demur_evaluation_selector(e, parts[row->ablated].name, e->methods[0].recalibrated);
  for (guint k = 0; k < DEMUR_N_COMPARED; k++) {
    row->values[k] = demur_compared_point(result, (DemurCompared)k);
    row->whole[k].difference = row->whole[k].low = row->whole[k].high = NAN;
    row->whole[k].verdict = DEMUR_VERDICT_CANNOT_BE_DECIDED;
  }
  for (size_t c = 0; c < e->n_comparisons; c++)
    if (strcmp(e->comparisons[c].method, result->name) == 0)
      take_comparison(row, &e->comparisons[c]);
}

static DemurAblation *
tabulate(const GArray *ablated, DemurEvaluation *evaluation) {
  DemurAblation *ablation = g_new0(DemurAblation, 1);
  ablation->evaluation = evaluation;
  ablation->n_rows = ablated->len;
  ablation->rows = g_new0(DemurAblationRow, MAX(ablated->len, 1));
  ablation->unit = evaluation->interval_unit;
  for (guint r = 0; r < ablated->len; r++) {
    ablation->rows[r].ablated = g_array_index(ablated, DemurAblated, r);
    fill_row(evaluation, &ablation->rows[r]);
  }
  const DemurMethodResult *confidence = demur_evaluation_baseline(
      evaluation, DEMUR_METHOD_CONFIDENCE, evaluation->methods[0].recalibrated);
  for (guint k = 0; k < DEMUR_N_COMPARED; k++)
    ablation->confidence[k] = demur_compared_point(confidence, (DemurCompared)k);
  return ablation;
}

/* Every row's selector, trained and asked for its scores. ablated receives the rows. */
static gboolean
score_all(const Measuring *m, DemurSelector *selector, const gboolean *wanted, GArray *ablated,
          DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  const DemurTrainSettings *own = demur_selector_settings(selector);
  for (guint a = 0; a < DEMUR_N_ABLATED; a++) {
    const DemurAblated part = (DemurAblated)a;
    g_autoptr(DemurTrainSettings) settings = demur_ablated_settings(own, part);
    const gboolean whole = part == DEMUR_ABLATED_NOTHING;
    if (settings == NULL || (!whole && wanted != NULL && !wanted[a]))
      continue;
    DemurProgressStage stage = {progress, 0.9 * (double)a / (double)DEMUR_N_ABLATED,
                                0.9 * (double)(a + 1) / (double)DEMUR_N_ABLATED, NULL};
    const DemurProgress staged = demur_progress_stage(&stage);
    g_autoptr(DemurSelector) trained =
        whole ? demur_selector_ref(selector)
              : demur_selector_train(m->input->cohort, settings, demur_selector_seed(selector),
                                     parallel, &staged, NULL, error);
    if (trained == NULL || !add_scores(m, trained, part, parallel, error))
      return FALSE;
    g_array_append_val(ablated, part);
  }
  return TRUE;
}

static gboolean
check(const DemurEvaluateInput *input, DemurSelector *selector, const guint32 *rows, size_t n_rows,
      gboolean *in_sample, DemurParallel *parallel, GError **error) {
  if (demur_selector_settings(selector)->scoring != DEMUR_SCORING_NETWORK) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the selector scores by %s: there is no network whose parts could be left out "
                    "(train it with --method network)",
                    demur_scoring_row(demur_selector_settings(selector)->scoring)->name);
    return FALSE;
  }
  static const char *const name = "whole";
  DemurEvaluateInput one = *input;
  one.n_selectors = 1;
  one.selectors = &selector;
  one.names = (char *const *)(gconstpointer)&name;
  return demur_selector_check_cohort(selector, input->cohort, error) &&
         demur_plan_check_unseen(&one, rows, n_rows, in_sample, parallel, error);
}

DemurAblation *
demur_ablate(const DemurEvaluateInput *input, DemurSelector *selector, const gboolean *wanted,
             DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  const DemurProgress none = {0};
  if (progress == NULL)
    progress = &none;
  size_t n;
  gboolean in_sample;
  g_autofree guint32 *rows = demur_cohort_rows(input->cohort, input->split, &n, error);
  if (rows == NULL || !check(input, selector, rows, n, &in_sample, parallel, error))
    return NULL;
  g_autoptr(DemurCohort) view =
      demur_selector_view_rows(selector, input->cohort, rows, n, parallel, NULL, error);
  g_autoptr(DemurSample) sample =
      view != NULL ? demur_sample_new(view, rows, n, input->split, error) : NULL;
  if (sample == NULL)
    return NULL;
  g_autoptr(GPtrArray) methods = demur_methods_array_new();
  g_autoptr(GArray) ablated = g_array_new(FALSE, FALSE, sizeof(DemurAblated));
  const Measuring measuring = {input, rows, n, sample, methods};
  if (!score_all(&measuring, selector, wanted, ablated, parallel, progress, error))
    return NULL;
  demur_methods_add(methods, DEMUR_METHOD_CONFIDENCE, NULL, "confidence", sample->confidences, n);
  DemurEvaluateInput measured = *input;
  measured.cohort = view;
  measured.with_first = TRUE;
  measured.n_noise_draws = 0;
  measured.n_resamples = 1;
  measured.group_by = NULL;
  DemurProgressStage stage = {progress, 0.9, 1.0, NULL};
  const DemurProgress staged = demur_progress_stage(&stage);
  DemurEvaluation *evaluation =
      demur_evaluate_methods(&measured, sample, methods, rows, parallel, &staged, error);
  if (evaluation == NULL)
    return NULL;
  evaluation->in_sample = in_sample;
  return tabulate(ablated, evaluation);
}

/* --- the document --- */

static void
write_difference(DemurJson *json, const char *key, double difference, double low, double high,
                 DemurComparisonVerdict verdict) {
  const double interval[2] = {low, high};
  demur_json_begin_object(json, key);
  demur_json_double(json, "difference", difference);
  demur_json_doubles(json, "interval", interval, 2);
  demur_json_string(json, "verdict", demur_comparison_verdict_words(verdict));
  demur_json_end_object(json);
}

static void
write_row(const DemurAblationRow *row, size_t n_classes, DemurJson *json) {
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "name", parts[row->ablated].name);
  demur_json_string(json, "title", parts[row->ablated].title);
  demur_json_begin_array(json, "measures");
  for (guint k = 0; k < DEMUR_N_COMPARED; k++) {
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "measure", demur_compared_name((DemurCompared)k, n_classes));
    demur_json_double(json, "auc", row->values[k]);
    if (row->ablated == DEMUR_ABLATED_NOTHING)
      demur_json_null(json, "against_whole");
    else
      write_difference(json, "against_whole", row->whole[k].difference, row->whole[k].low,
                       row->whole[k].high, row->whole[k].verdict);
    write_difference(json, "against_confidence", row->confidence[k].difference,
                     row->confidence[k].low, row->confidence[k].high, row->confidence[k].verdict);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
}

void
demur_ablation_write_json(const DemurAblation *ablation, DemurJson *json) {
  const DemurEvaluation *e = ablation->evaluation;
  demur_json_string(json, "cohort", e->cohort);
  demur_json_string(json, "split", e->split);
  demur_json_int(json, "seed", (gint64)e->seed);
  demur_json_bool(json, "simulated", e->simulated);
  demur_json_bool(json, "in_sample", e->in_sample);
  demur_json_int(json, "n_scans", (gint64)e->n_scans);
  demur_json_int(json, "n_sites", (gint64)e->n_sites);
  demur_json_string(json, "unit", demur_unit_name(ablation->unit));
  demur_json_begin_array(json, "rows");
  for (size_t r = 0; r < ablation->n_rows; r++)
    write_row(&ablation->rows[r], e->n_classes, json);
  demur_json_end_array(json);
  demur_json_begin_object(json, "confidence");
  for (guint k = 0; k < DEMUR_N_COMPARED; k++)
    demur_json_double(json, demur_compared_name((DemurCompared)k, e->n_classes),
                      ablation->confidence[k]);
  demur_json_end_object(json);
}
