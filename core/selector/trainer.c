/* Algorithm 1: m perturbations drawn anew at every update, the kappa worst by selective calibration
 * error, one Adam step. Epoch e ends at update floor(e D / m), D data sets an epoch; the epoch with
 * the best worst-case AUC over the validation data sets (drawn once) is kept, the untrained network
 * included.
 *
 * With stopping "flat" training ends early, when the loss no longer falls, and the last update is
 * kept.
 *
 * Paper: Algorithm 1 and appendix "Training details". Data: scans are put in ascending risk once
 * for the whole training (ties by row), so every data set is sorted when drawn. Draws are streams
 * of (seed, model, network, update, data set): a DemurTrainerState is all that one update hands to
 * the next, and the loop below works on nothing else. */
#include "selector/trainer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "metrics/coverage.h"
#include "metrics/selective.h"

#define FORWARD_ROWS 256
#define N_AUC_POINTS 10

/* Flat: the mean loss of the last FLAT_WINDOW updates is not FLAT_GAIN (relative) below that of the
 * window before. */
#define FLAT_WINDOW 400
#define FLAT_GAIN 0.005

void
demur_trainer_result_free(DemurTrainerResult *result) {
  if (result == NULL)
    return;
  g_aligned_free(result->parameters);
  g_free(result->history);
  g_free(result);
}

DemurTrainerState *
demur_trainer_state_new(DemurMlpShape shape, size_t n_history) {
  DemurTrainerState *state = g_new0(DemurTrainerState, 1);
  state->shape = shape;
  state->last_window = state->best = INFINITY;
  state->parameters = demur_new_array(DemurReal, shape.n_parameters);
  state->kept = demur_new_array(DemurReal, shape.n_parameters);
  state->adam_first = demur_new_array(double, shape.n_parameters);
  state->adam_second = demur_new_array(double, shape.n_parameters);
  state->history = g_new0(DemurTrainerEpoch, MAX(n_history, 1));
  return state;
}

/* Everything but the history's room. */
static void
state_assign(DemurTrainerState *to, const DemurTrainerState *from) {
  const size_t n = from->shape.n_parameters;
  const DemurTrainerState old = *to;
  *to = *from;
  to->parameters = old.parameters;
  to->kept = old.kept;
  to->adam_first = old.adam_first;
  to->adam_second = old.adam_second;
  to->history = old.history;
  memcpy(to->parameters, from->parameters, n * sizeof(DemurReal));
  memcpy(to->kept, from->kept, n * sizeof(DemurReal));
  memcpy(to->adam_first, from->adam_first, n * sizeof(double));
  memcpy(to->adam_second, from->adam_second, n * sizeof(double));
  memcpy(to->history, from->history, from->n_history * sizeof *from->history);
}

DemurTrainerState *
demur_trainer_state_copy(const DemurTrainerState *state) {
  DemurTrainerState *copy = demur_trainer_state_new(state->shape, state->n_history);
  state_assign(copy, state);
  return copy;
}

void
demur_trainer_state_free(DemurTrainerState *state) {
  if (state == NULL)
    return;
  g_aligned_free(state->parameters);
  g_aligned_free(state->kept);
  g_aligned_free(state->adam_first);
  g_aligned_free(state->adam_second);
  g_free(state->history);
  g_free(state);
}

/* A part in ascending risk, with the resampler that draws from it. */
typedef struct {
  DemurTrainingScans scans;
  DemurReal *features;
  double *risks, *labels, *errors, *weights; /* weights NULL: 1 */
  DemurResampler *resampler;
} SortedPart;

static int
compare_rows(gconstpointer a, gconstpointer b, gpointer risks) {
  const guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
  const double x = ((const double *)risks)[i], y = ((const double *)risks)[j];
  return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

/* What makes the weights' mean 1, so that lambda2 means the same with and without them. */
static double
weight_scale(const DemurTrainerPart *part) {
  double sum = 0.0;
  for (size_t i = 0; part->weights != NULL && i < part->n_scans; i++)
    sum += part->weights[i];
  return sum > 0.0 ? (double)part->n_scans / sum : 1.0;
}

/* With weights the loss is that of v_i = w_i c_i e_i g_i: they go into e. */
static void
sort_part(const DemurTrainerPart *part, const DemurTrainSettings *settings, SortedPart *sorted) {
  const size_t n = part->n_scans, d = part->n_features;
  g_autofree guint32 *order = g_new(guint32, n);
  for (size_t i = 0; i < n; i++)
    order[i] = (guint32)i;
  g_qsort_with_data(order, (int)n, sizeof *order, compare_rows, (gpointer)part->risks);
  sorted->features = demur_new_matrix(DemurReal, n, d);
  sorted->risks = demur_new_array(double, n);
  sorted->labels = demur_new_array(double, n);
  sorted->errors = demur_new_array(double, n);
  sorted->weights = part->weights != NULL ? demur_new_array(double, n) : NULL;
  const double scale = weight_scale(part);
  g_autofree guint32 *groups = g_new(guint32, n);
  for (size_t i = 0; i < n; i++) {
    const guint32 row = order[i];
    for (size_t c = 0; c < d; c++)
      sorted->features[i * d + c] = (DemurReal)part->features[row * d + c];
    sorted->risks[i] = part->risks[row];
    sorted->labels[i] = part->labels[row];
    const double difference = fabs(part->labels[row] - part->risks[row]);
    sorted->errors[i] = part->errors != NULL ? part->errors[row]
                        : settings->q == 1   ? difference
                                             : difference * difference;
    if (sorted->weights != NULL) {
      sorted->weights[i] = scale * part->weights[row];
      sorted->errors[i] *= sorted->weights[i];
    }
    groups[i] = part->groups[row];
  }
  sorted->scans = (DemurTrainingScans){
      n, d, sorted->features, sorted->risks, sorted->labels, sorted->errors, sorted->weights};
  sorted->resampler = demur_resampler_new(settings->shift, n, groups, part->n_groups,
                                          settings->alpha, (size_t)settings->dataset_size);
}

static void
clear_part(SortedPart *sorted) {
  g_aligned_free(sorted->features);
  g_aligned_free(sorted->risks);
  g_aligned_free(sorted->labels);
  g_aligned_free(sorted->errors);
  g_aligned_free(sorted->weights);
  demur_resampler_free(sorted->resampler);
}

/* Drawing many data sets: a chunk is as many as are drawn side by side. */
typedef struct {
  size_t n_datasets;
  const DemurResampler *resampler;
  DemurResamplerScratch **scratch; /* [n_threads] */
  DemurDataset **datasets;
  guint64 seed;
  DemurStream purpose;
  guint64 model, update;
} DrawJob;

static void
draw_some(size_t chunk, guint worker, gpointer data) {
  const DrawJob *job = data;
  const size_t first = chunk * DEMUR_RANDOM_LANES;
  const size_t n = MIN(DEMUR_RANDOM_LANES, job->n_datasets - first);
  DemurRandom randoms[DEMUR_RANDOM_LANES];
  for (size_t l = 0; l < n; l++)
    randoms[l] = demur_random_stream(job->seed, job->purpose, job->model, job->update, first + l);
  demur_resampler_draw_some(job->resampler, randoms, n, job->scratch[worker],
                            job->datasets + first);
}

static size_t
n_draw_chunks(const DrawJob *job) {
  return (job->n_datasets + DEMUR_RANDOM_LANES - 1) / DEMUR_RANDOM_LANES;
}

static DemurDataset **
new_datasets(size_t n, size_t capacity) {
  DemurDataset **datasets = g_new(DemurDataset *, n);
  for (size_t k = 0; k < n; k++)
    datasets[k] = demur_dataset_new(capacity);
  return datasets;
}

static void
free_datasets(DemurDataset **datasets, size_t n) {
  for (size_t k = 0; k < n; k++)
    demur_dataset_free(datasets[k]);
  g_free(datasets);
}

/* The validation data sets and the memory to score them. */
typedef struct {
  const SortedPart *part;
  DemurMlpShape shape;
  size_t n_datasets, min_bin_size;
  DemurDataset **datasets;
  const DemurReal *parameters;
  DemurReal *z;
  double *scores;
  guint32 *ranks;
  size_t n_ranks;
  double coverages[N_AUC_POINTS];
  double *aucs; /* [n_datasets] */
} Validator;

static void
score_chunk(size_t chunk, guint worker, gpointer data) {
  Validator *v = data;
  const size_t start = chunk * FORWARD_ROWS;
  const size_t n = MIN(FORWARD_ROWS, v->part->scans.n_scans - start);
  DEMUR_AUTO_ALIGNED DemurReal *hidden =
      demur_new_matrix(DemurReal, 2 * FORWARD_ROWS, v->shape.n_hidden);
  const DemurMlpScans scans = {v->part->features + start * v->shape.n_inputs, NULL, n};
  demur_mlp_forward(&(DemurMlp){v->shape, v->parameters, NULL}, &scans, hidden,
                    hidden + FORWARD_ROWS * v->shape.n_hidden, v->z + start);
  for (size_t i = start; i < start + n; i++)
    v->scores[i] = (double)v->z[i];
}

static void
auc_of_dataset(size_t k, guint worker, gpointer data) {
  Validator *v = data;
  const DemurDataset *dataset = v->datasets[k];
  const size_t n = dataset->n_rows;
  g_autofree double *risks = g_new(double, n), *labels = g_new(double, n);
  g_autofree double *weights = v->part->weights != NULL ? g_new(double, n) : NULL;
  g_autofree guint32 *counts = g_new(guint32, n), *ranks = g_new(guint32, n);
  for (size_t j = 0; j < n; j++) {
    const guint32 row = dataset->rows[j];
    if (weights != NULL)
      weights[j] = v->part->weights[row];
    risks[j] = v->part->risks[row];
    labels[j] = v->part->labels[row];
    counts[j] = dataset->counts[j];
    ranks[j] = v->ranks[row];
  }
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(MAX(n, v->n_ranks));
  const DemurSelectiveSample sample = {.n = n,
                                       .risks = risks,
                                       .labels = labels,
                                       .weights = weights,
                                       .counts = counts,
                                       .ranks = ranks,
                                       .n_ranks = v->n_ranks};
  double errors[N_AUC_POINTS];
  demur_selective_errors(&sample, v->coverages, N_AUC_POINTS, v->min_bin_size, scratch, errors);
  v->aucs[k] = demur_coverage_auc(v->coverages, errors, N_AUC_POINTS);
}

static void
validate(Validator *v, const DemurReal *parameters, DemurParallel *parallel, double *mean,
         double *worst) {
  const size_t n = v->part->scans.n_scans;
  v->parameters = parameters;
  demur_parallel_map(parallel, (n + FORWARD_ROWS - 1) / FORWARD_ROWS, score_chunk, v);
  v->n_ranks = demur_coverage_ranks(v->scores, n, v->ranks);
  demur_parallel_map(parallel, v->n_datasets, auc_of_dataset, v);
  *mean = 0.0;
  *worst = -INFINITY;
  for (size_t k = 0; k < v->n_datasets; k++) {
    *mean += v->aucs[k] / (double)v->n_datasets;
    *worst = fmax(*worst, v->aucs[k]);
  }
}

/* Whether a state is one that a training of this shape and these settings passes through. */
static gboolean
check_state(const DemurTrainerState *state, DemurMlpShape shape, const DemurTrainSettings *settings,
            GError **error) {
  const gint64 begun =
      state->epoch > 0 ? demur_train_settings_epoch_end(settings, state->epoch - 1) : 0;
  const gboolean fits =
      state->shape.n_inputs == shape.n_inputs && state->shape.n_hidden == shape.n_hidden &&
      state->shape.n_parameters == shape.n_parameters && state->epoch >= 0 &&
      state->epoch <= settings->epochs + 1 && state->n_history == (size_t)state->epoch &&
      (state->finished ||
       (state->epoch <= settings->epochs && state->update >= begun &&
        state->update <= demur_train_settings_epoch_end(settings, state->epoch)));
  if (!fits)
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "what was kept of the interrupted training does not fit its settings and "
                    "scans; train anew, without going on from it");
  return fits;
}

static DemurTrainerResult *
result_of(const DemurTrainerState *state) {
  DemurTrainerResult *result = g_new0(DemurTrainerResult, 1);
  result->shape = state->shape;
  result->parameters = demur_new_array(DemurReal, state->shape.n_parameters);
  memcpy(result->parameters, state->kept, state->shape.n_parameters * sizeof(DemurReal));
  result->best_epoch = state->best_epoch;
  result->n_updates = state->update;
  result->n_history = state->n_history;
  result->history = g_memdup2(state->history, state->n_history * sizeof *state->history);
  return result;
}

DemurTrainerResult *
demur_trainer_run(const DemurTrainerPart *training, const DemurTrainerPart *validation,
                  const DemurTrainSettings *settings, guint64 seed, guint model, guint network,
                  DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  return demur_trainer_continue(training, validation, settings, seed, model, network, NULL, NULL,
                                NULL, parallel, progress, error);
}

/* Everything that one training works with. */
typedef struct {
  const DemurTrainSettings *settings;
  DemurParallel *parallel;
  SortedPart train, valid; /* valid without scans: nothing is validated */
  Validator validator;
  DemurResamplerScratch **scratch; /* [n_threads] */
  /* Of this update and of the next, which fills the gaps of this one: by the update's parity. */
  DemurDataset **datasets[2]; /* [batch] */
  DrawJob jobs[2];            /* draw them */
  gint64 begun;               /* the last update whose data sets are drawn or being drawn */
  DemurUpdater *updater;
} Training;

static void
renew_scratch(Training *t, const DemurResampler *resampler) {
  for (guint w = 0; w < demur_parallel_n_threads(t->parallel); w++) {
    if (t->scratch[w] != NULL)
      demur_resampler_scratch_free(t->scratch[w]);
    t->scratch[w] = resampler != NULL ? demur_resampler_scratch_new(resampler) : NULL;
  }
}

/* Validation data sets: drawn once, the same for every model. */
static void
start_validator(Training *t, DemurMlpShape shape, guint64 seed) {
  const size_t n = t->valid.scans.n_scans, n_datasets = (size_t)t->settings->validation_datasets;
  t->validator =
      (Validator){.part = &t->valid,
                  .shape = shape,
                  .n_datasets = n_datasets,
                  .min_bin_size = (size_t)t->settings->bin_size,
                  .datasets = new_datasets(n_datasets, MIN(n, (size_t)t->settings->dataset_size)),
                  .z = demur_new_array(DemurReal, n),
                  .scores = demur_new_array(double, n),
                  .ranks = demur_new_array(guint32, n),
                  .aucs = demur_new_array(double, n_datasets)};
  demur_coverage_grid(N_AUC_POINTS, t->validator.coverages);
  renew_scratch(t, t->valid.resampler);
  DrawJob job = {n_datasets, t->valid.resampler,      t->scratch, t->validator.datasets,
                 seed,       DEMUR_STREAM_VALIDATION, 0,          0};
  demur_parallel_map(t->parallel, n_draw_chunks(&job), draw_some, &job);
}

static void
training_start(Training *t, const DemurTrainerPart *training, const DemurTrainerPart *validation,
               DemurMlpShape shape, guint64 seed, guint64 network) {
  const DemurTrainSettings *settings = t->settings;
  const size_t batch = (size_t)settings->batch;
  sort_part(training, settings, &t->train);
  t->scratch = g_new0(DemurResamplerScratch *, demur_parallel_n_threads(t->parallel));
  if (validation->n_scans > 0) {
    sort_part(validation, settings, &t->valid);
    start_validator(t, shape, seed);
  }
  renew_scratch(t, t->train.resampler);
  const size_t capacity = MIN(training->n_scans, (size_t)settings->dataset_size);
  const DemurUpdateSettings update_settings = {
      .smmce = {(int)settings->q, settings->kernel_width, 1.0, settings->lambda2},
      .adam = {settings->learning_rate, settings->weight_decay, settings->clip},
      .kappa = (size_t)settings->kappa,
      .kappa_coverage = settings->kappa_coverage,
      .min_bin_size = (size_t)settings->bin_size};
  t->updater =
      demur_updater_new(&t->train.scans, shape, &update_settings, batch, capacity, t->parallel);
  t->begun = -1;
  for (int turn = 0; turn < 2; turn++) {
    t->datasets[turn] = new_datasets(batch, capacity);
    t->jobs[turn] = (DrawJob){batch, t->train.resampler,    t->scratch, t->datasets[turn],
                              seed,  DEMUR_STREAM_RESAMPLE, network,    0};
  }
}

static void
training_clear(Training *t) {
  demur_parallel_finish(t->parallel);
  renew_scratch(t, NULL);
  g_free(t->scratch);
  if (t->validator.part != NULL) {
    free_datasets(t->validator.datasets, t->validator.n_datasets);
    g_aligned_free(t->validator.z);
    g_aligned_free(t->validator.scores);
    g_aligned_free(t->validator.ranks);
    g_aligned_free(t->validator.aucs);
    clear_part(&t->valid);
  }
  demur_updater_free(t->updater);
  for (int turn = 0; turn < 2; turn++)
    free_datasets(t->datasets[turn], (size_t)t->settings->batch);
  clear_part(&t->train);
}

static void
begin_draw(Training *t, gint64 update) {
  DrawJob *job = &t->jobs[update % 2];
  job->update = (guint64)update;
  t->begun = update;
  demur_parallel_begin(t->parallel, n_draw_chunks(job), draw_some, job);
}

/* One update of n_updates; FALSE with error where its loss is not finite. The next one's data sets do
 * not hang on it: they are drawn in its gaps. */
static gboolean
make_update(Training *t, gint64 n_updates, DemurAdam *adam, DemurTrainerState *state,
            GError **error) {
  if (t->begun != state->update)
    begin_draw(t, state->update);
  demur_parallel_finish(t->parallel);
  if (state->update + 1 < n_updates && demur_parallel_n_threads(t->parallel) > 1)
    begin_draw(t, state->update + 1);
  DemurUpdateResult step;
  demur_updater_run(t->updater, t->datasets[state->update % 2], adam, state->parameters, &step);
  state->adam_step = adam->step;
  state->update++;
  state->loss += step.loss;
  state->window += step.loss;
  if (state->update % FLAT_WINDOW == 0) {
    state->flat = t->settings->stopping == DEMUR_STOPPING_FLAT &&
                  state->window > (1.0 - FLAT_GAIN) * state->last_window;
    state->last_window = state->window;
    state->window = 0.0;
  }
  if (isfinite(step.loss) && isfinite(step.gradient_norm))
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_NUMERIC,
                  "training diverged at update %" PRId64
                  ": the loss is not finite; lower the learning rate or set a clip",
                  state->update);
  return FALSE;
}

/* What the epoch came to, and whether it is the one to keep. */
static void
end_epoch(Training *t, gint64 start, DemurTrainerState *state) {
  const gboolean until_flat = t->settings->stopping == DEMUR_STOPPING_FLAT;
  DemurTrainerEpoch *entry = &state->history[state->n_history++];
  *entry = (DemurTrainerEpoch){state->epoch, NAN, NAN, NAN};
  if (state->update > start)
    entry->loss = state->loss / (double)(state->update - start);
  if (t->validator.part != NULL)
    validate(&t->validator, state->parameters, t->parallel, &entry->mean_auc, &entry->worst_auc);
  if (until_flat || entry->worst_auc < state->best) {
    state->best = entry->worst_auc;
    state->best_epoch = state->epoch;
    memcpy(state->kept, state->parameters, state->shape.n_parameters * sizeof(DemurReal));
  }
  state->epoch++;
  state->loss = 0.0;
  state->finished = state->flat || state->epoch > t->settings->epochs;
}

DemurTrainerResult *
demur_trainer_continue(const DemurTrainerPart *training, const DemurTrainerPart *validation,
                       const DemurTrainSettings *settings, guint64 seed, guint model, guint network,
                       const DemurTrainerState *from, DemurTrainerStateFunc func, gpointer data,
                       DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  g_return_val_if_fail(training->n_scans >= 1, NULL);
  g_return_val_if_fail(validation->n_scans >= 1 || settings->stopping == DEMUR_STOPPING_FLAT, NULL);
  const DemurMlpShape shape = demur_mlp_shape(training->n_features, (size_t)settings->hidden);
  if (from != NULL && !check_state(from, shape, settings, error))
    return NULL;
  if (from != NULL && from->finished)
    return result_of(from);

  Training t = {.settings = settings, .parallel = parallel};
  training_start(&t, training, validation, shape, seed, model | (guint64)network << 32);
  g_autoptr(DemurTrainerState) state = demur_trainer_state_new(shape, (size_t)settings->epochs + 1);
  if (from != NULL) {
    state_assign(state, from);
  } else {
    DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_WEIGHTS, model, network, 0);
    demur_mlp_initialise(shape, &random, state->parameters);
  }
  /* Adam works on the state's own arrays. */
  DemurAdam adam = {shape.n_parameters, state->adam_step, state->adam_first, state->adam_second};
  const gint64 n_updates = demur_train_settings_epoch_end(settings, settings->epochs);
  gboolean ok = TRUE;
  while (ok && !state->finished) {
    const gint64 end = demur_train_settings_epoch_end(settings, state->epoch);
    const gint64 start =
        state->epoch > 0 ? demur_train_settings_epoch_end(settings, state->epoch - 1) : 0;
    while (ok && !state->flat && state->update < end) {
      ok = make_update(&t, n_updates, &adam, state, error);
      if (!ok || (state->update - 1) % 16 != 0)
        continue;
      ok = demur_progress_step(progress, (double)(state->update - 1) / (double)n_updates,
                               "training", error);
      if (!ok && func != NULL)
        func(state, data);
    }
    if (!ok)
      break;
    end_epoch(&t, start, state);
    if (func != NULL)
      func(state, data);
  }
  training_clear(&t);
  return ok ? result_of(state) : NULL;
}
