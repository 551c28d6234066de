#include "evaluation/methods.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "metrics/coverage.h"

void
demur_method_free(gpointer data) {
  DemurMethod *method = data;
  for (size_t m = 0; m < method->n_models; m++) {
    g_free(method->scores[m]);
    g_free(method->ranks[m]);
  }
  g_free(method->scores);
  g_free(method->ranks);
  g_free(method->n_ranks);
  g_free(method->name);
  g_free(method->title);
  g_free(method);
}

static DemurMethod *
add_method(GPtrArray *methods, DemurMethodKind kind, const char *selector, char *title,
           size_t n_models, size_t n) { /* its scores and ranks are not set */
  DemurMethod *method = g_new0(DemurMethod, 1);
  method->kind = kind;
  method->name = demur_method_name(kind, selector);
  method->title = title;
  method->n_models = n_models;
  method->scores = g_new0(double *, n_models);
  method->ranks = g_new0(guint32 *, n_models);
  method->n_ranks = g_new0(size_t, n_models);
  for (size_t m = 0; m < n_models; m++) {
    method->scores[m] = g_new(double, n);
    method->ranks[m] = g_new(guint32, n);
  }
  g_ptr_array_add(methods, method);
  return method;
}

GPtrArray *
demur_methods_array_new(void) {
  return g_ptr_array_new_with_free_func(demur_method_free);
}

void
demur_methods_add(GPtrArray *methods, DemurMethodKind kind, const char *selector, const char *title,
                  const double *scores, size_t n) {
  DemurMethod *method = add_method(methods, kind, selector, g_strdup(title), 1, n);
  memcpy(method->scores[0], scores, n * sizeof(double));
  method->n_ranks[0] = demur_coverage_ranks(method->scores[0], n, method->ranks[0]);
}

DemurSelectiveSample
demur_method_selective(const DemurSample *sample, const DemurMethod *method, size_t model,
                       DemurDrawn drawn) {
  return (DemurSelectiveSample){.n = sample->n,
                                .risks = sample->risks,
                                .labels = sample->labels,
                                .counts = drawn.counts,
                                .weights = drawn.weights,
                                .ranks = method->ranks[model],
                                .n_ranks = method->n_ranks[model],
                                .top_label = sample->top_label};
}

DemurSiteSample
demur_method_sites(const DemurSample *sample, const DemurMethod *method, size_t model,
                   DemurDrawn drawn) {
  return (DemurSiteSample){.n = sample->n,
                           .differences = sample->differences,
                           .sites = sample->sites,
                           .patients = sample->patients,
                           .n_sites = sample->n_sites,
                           .n_patients = sample->n_patients,
                           .counts = drawn.counts,
                           .weights = drawn.weights,
                           .ranks = method->ranks[model],
                           .n_ranks = method->n_ranks[model]};
}

gssize
demur_method_rank_at(const DemurMethod *method, size_t model, size_t n, double threshold) {
  gssize rank = -1;
  for (size_t i = 0; i < n; i++)
    if (method->scores[model][i] >= threshold)
      rank = MAX(rank, (gssize)method->ranks[model][i]);
  return rank;
}

void
demur_method_ranks_at(const DemurMethod *method, size_t model, size_t n, const double *coverages,
                      size_t n_coverages, gssize *ranks) {
  g_autofree guint32 *rank_counts = g_new0(guint32, MAX(method->n_ranks[model], 1));
  for (size_t i = 0; i < n; i++)
    rank_counts[method->ranks[model][i]]++;
  for (size_t c = 0; c < n_coverages; c++) {
    const size_t wanted = demur_coverage_count(coverages[c], n);
    ranks[c] = -1;
    for (size_t sum = 0; sum < wanted;)
      sum += rank_counts[++ranks[c]];
  }
}

double
demur_method_threshold(const DemurMethod *method, size_t model, size_t n, double coverage,
                       gssize *rank) {
  demur_method_ranks_at(method, model, n, &coverage, 1, rank);
  for (size_t i = 0; i < n; i++)
    if ((gssize)method->ranks[model][i] == *rank)
      return method->scores[model][i];
  return INFINITY;
}

gboolean
demur_method_is_compared(const DemurMethod *method) {
  return method->kind == DEMUR_METHOD_SELECTOR || method->kind == DEMUR_METHOD_MC;
}

gboolean
demur_method_has_points(const DemurMethod *method) {
  return demur_method_is_compared(method) || method->kind == DEMUR_METHOD_FULL ||
         method->kind == DEMUR_METHOD_CONFIDENCE;
}

gboolean
demur_methods_check_alike(DemurSelector *const *selectors, char *const *names, size_t n_selectors,
                          GError **error) {
  const DemurSelector *first = selectors[0];
  for (size_t s = 1; s < n_selectors; s++) {
    const DemurSelector *other = selectors[s];
    const char *what = NULL;
    if (g_strcmp0(demur_selector_model(first), demur_selector_model(other)) != 0)
      what = "the scores of another model";
    else if (!demur_selector_same_reference(first, other))
      what = "another reference set or seed";
    if (what != NULL) {
      demur_error_set(
          error, DEMUR_ERROR_STATE,
          "selectors '%s' and '%s' can't be evaluated together: the second was trained on "
          "%s, so their baselines differ; evaluate them one by one",
          names[0], names[s], what);
      return FALSE;
    }
  }
  return TRUE;
}

#define ROWS 4096 /* of a chunk of scores */

typedef struct {
  DemurSelector *selector;
  const double *meta;
  size_t n, n_rows; /* of a chunk */
  DemurMethod *method;
} Scoring;

static void
score_rows(size_t chunk, guint worker, gpointer data) {
  const Scoring *s = data;
  const size_t n_chunks = (s->n + s->n_rows - 1) / s->n_rows; /* of a model */
  const size_t model = chunk / n_chunks, first = chunk % n_chunks * s->n_rows;
  demur_selector_scores(s->selector, model, s->meta + first * demur_selector_n_columns(s->selector),
                        MIN(s->n_rows, s->n - first), s->method->scores[model] + first);
}

static void
score_all(Scoring *scoring, DemurParallel *parallel) {
  /* Bands are made of the scans that the selector keeps, once a call. */
  const gboolean has_bands = demur_selector_settings(scoring->selector)->risk_bands > 0;
  scoring->n_rows = MAX(has_bands ? scoring->n : ROWS, 1);
  demur_parallel_map(
      parallel, scoring->method->n_models * ((scoring->n + scoring->n_rows - 1) / scoring->n_rows),
      score_rows, scoring);
}

/* Methods that are ranked side by side, and of baselines what they rank by: sign x a column of the meta features. */
typedef struct {
  const GPtrArray *methods;
  const DemurSelector *base;
  size_t n;
  const double *meta; /* [n][columns of the base] */
  guint64 seed;
} Ranking;

static gssize
column_of(const DemurSelector *base, DemurScoring scoring) {
  const DemurScoringRow *row = demur_scoring_row(scoring);
  return row->column != NULL ? demur_selector_column(base, row->column) : -1;
}

static void
fill_baseline(const Ranking *ranking, DemurMethod *method) {
  double *scores = method->scores[0];
  if (method->kind == DEMUR_METHOD_FULL) {
    memset(scores, 0, ranking->n * sizeof *scores);
    return;
  }
  if (method->kind == DEMUR_METHOD_RANDOM) {
    DemurRandom random = demur_random_stream(ranking->seed, DEMUR_STREAM_RANDOM_BASELINE, 0, 0, 0);
    for (size_t i = 0; i < ranking->n; i++)
      scores[i] = demur_random_uniform(&random);
    return;
  }
  const DemurScoring scoring = (DemurScoring)method->kind;
  const size_t column = (size_t)column_of(ranking->base, scoring);
  const double sign = demur_scoring_row(scoring)->keep_sign;
  for (size_t i = 0; i < ranking->n; i++)
    scores[i] = sign * ranking->meta[i * demur_selector_n_columns(ranking->base) + column];
}

static void
rank_method(size_t k, guint worker, gpointer data) {
  const Ranking *ranking = data;
  DemurMethod *method = ranking->methods->pdata[k];
  if (method->kind != DEMUR_METHOD_SELECTOR)
    fill_baseline(ranking, method);
  for (size_t m = 0; m < method->n_models; m++)
    method->n_ranks[m] = demur_coverage_ranks(method->scores[m], ranking->n, method->ranks[m]);
}

GPtrArray *
demur_methods_new(const DemurMethodsInput *input, DemurParallel *parallel,
                  const DemurProgress *progress, GError **error) {
  const DemurSelector *base = input->base;
  const DemurSample *sample = input->sample;
  const size_t n = sample->n;
  GPtrArray *methods = demur_methods_array_new();
  for (size_t s = 0; s < input->n_selectors; s++) {
    DEMUR_AUTO_ALIGNED double *meta =
        demur_selector_meta_features_from(input->selectors[s], input->cohort, FALSE, input->outlier,
                                          sample->rows, n, parallel, progress, error);
    if (meta == NULL) {
      g_ptr_array_unref(methods);
      return NULL;
    }
    DemurMethod *method = add_method(methods, DEMUR_METHOD_SELECTOR, input->names[s],
                                     g_strconcat("selector ", input->names[s], NULL),
                                     demur_selector_n_models(input->selectors[s]), n);
    Scoring scoring = {input->selectors[s], meta, n, 0, method};
    score_all(&scoring, parallel);
  }
  DEMUR_AUTO_ALIGNED double *meta = demur_selector_meta_features_from(
      base, input->cohort, input->raw, input->outlier, sample->rows, n, parallel, progress, error);
  if (meta == NULL) {
    g_ptr_array_unref(methods);
    return NULL;
  }
  add_method(methods, DEMUR_METHOD_FULL, NULL, g_strdup("everything"), 1, n);
  for (int k = 0; k < DEMUR_N_SCORINGS; k++)
    if (column_of(base, (DemurScoring)k) >= 0)
      add_method(methods, (DemurMethodKind)k, NULL,
                 g_strdup(demur_scoring_row((DemurScoring)k)->title), 1, n);
  add_method(methods, DEMUR_METHOD_RANDOM, NULL, g_strdup("random"), 1, n);
  Ranking ranking = {methods, base, n, meta, input->seed};
  demur_parallel_map(parallel, methods->len, rank_method, &ranking);
  return methods;
}
