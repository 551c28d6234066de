/* The networks of a training, several side by side. */
#include "selector/training-networks.h"

#include <string.h>

#include "base/sha256.h"
#include "base/memory.h"
#include "selector/selector-private.h"

/* Columns that the settings' feature groups keep, from raw meta features: out [n][n_inputs]. */
static double *
select_inputs(const DemurSelector *s, const double *meta, size_t n) {
  double *inputs = demur_new_matrix(double, n, s->n_inputs);
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < s->n_inputs; c++)
      inputs[i * s->n_inputs + c] = meta[i * s->columns->n_columns + s->inputs[c]];
  return inputs;
}

void
demur_trainer_input_clear(DemurTrainerInput *input) {
  g_aligned_free(input->inputs);
  g_free(input->risks);
  g_free(input->labels);
  g_free(input->errors);
  g_free(input->groups);
}

gboolean
demur_trainer_input_load(const DemurSelector *s, const DemurCohort *view,
                         const DemurTrainingPart *part, const double *meta,
                         DemurTrainerInput *input, GError **error) {
  size_t n_groups;
  if (!demur_training_groups(view, s->settings, part, &input->groups, &n_groups, error))
    return FALSE;
  const size_t n = part->n_rows;
  input->inputs = select_inputs(s, meta, n);
  input->risks = g_new(double, MAX(n, 1));
  input->labels = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++) {
    input->risks[i] = demur_cohort_confidence_risk(view, part->rows[i]);
    input->labels[i] = demur_cohort_confidence_label(view, part->rows[i]);
  }
  input->part = (DemurTrainerPart){.n_scans = n,
                                   .n_features = s->n_inputs,
                                   .features = input->inputs,
                                   .risks = input->risks,
                                   .labels = input->labels,
                                   .weights = part->weights,
                                   .groups = input->groups,
                                   .n_groups = n_groups};
  return TRUE;
}

/* Training several networks side by side, each in one thread: every thread has one chunk and takes
 * networks while there are any. A rest that would leave half of the threads idle or more is trained
 * after them, one network after the other by all threads. Workers leave their state in `kept` at the
 * end of every epoch; the calling thread (worker 0) alone reports and keeps, and when there is no
 * network left for it, it waits for the others and goes on doing that. */
typedef struct {
  const DemurTrainerPart *training, *validation;
  const DemurTrainSettings *settings;
  guint64 seed;
  size_t n_average, first, n_networks; /* numbered from first on */
  const DemurTrainingKeeper *keeper;   /* may be NULL */
  DemurTrainerResult **results;
  GError **errors; /* [n_networks] */
  const DemurProgress *outer;
  GCancellable
      *cancellable;     /* of the networks: cancelled with the outer one, or by a failed keep */
  DemurParallel *inner; /* of a network that is trained alone */

  GMutex mutex; /* over all below */
  GCond changed;
  DemurCheckpoint *kept; /* NULL where nothing is kept */
  gboolean dirty;        /* kept has changed since it was handed over */
  GError *keep_error;
  double *fractions;              /* [n_networks] */
  size_t n_begun, n_ended, n_due; /* n_due: the networks before this one are of this round */
  gboolean caller_came;           /* the calling thread has its share */
} NetworkJob;

typedef struct {
  NetworkJob *job;
  size_t network;
  guint worker;
} NetworkProgress;

/* Hands the checkpoint over where it changed. In the calling thread, with the mutex held. */
static void
hand_over(NetworkJob *job) {
  const gboolean wanted =
      job->dirty && job->keep_error == NULL && job->keeper != NULL && job->keeper->keep != NULL;
  job->dirty = FALSE;
  if (wanted && !job->keeper->keep(job->kept, job->keeper->data, &job->keep_error))
    g_cancellable_cancel(job->cancellable);
}

static void
network_report(double fraction, const char *text, gpointer data) {
  NetworkProgress *p = data;
  NetworkJob *job = p->job;
  double sum = 0.0;
  g_mutex_lock(&job->mutex);
  job->fractions[p->network] = fraction;
  for (size_t i = 0; i < job->n_networks; i++)
    sum += job->fractions[i];
  if (p->worker == 0)
    hand_over(job);
  else
    g_cond_broadcast(&job->changed);
  g_mutex_unlock(&job->mutex);
  if (p->worker == 0 && job->outer->func != NULL)
    job->outer->func(sum / (double)job->n_networks, text, job->outer->data);
  if (g_cancellable_is_cancelled(job->outer->cancellable))
    g_cancellable_cancel(job->cancellable);
}

static void
network_state(const DemurTrainerState *state, gpointer data) {
  NetworkProgress *p = data;
  NetworkJob *job = p->job;
  DemurTrainerState *copy = demur_trainer_state_copy(state);
  g_mutex_lock(&job->mutex);
  DemurTrainerState **kept = &job->kept->networks[job->first + p->network];
  demur_trainer_state_free(*kept);
  *kept = copy;
  job->dirty = TRUE;
  if (p->worker == 0)
    hand_over(job);
  else
    g_cond_broadcast(&job->changed);
  g_mutex_unlock(&job->mutex);
}

/* The calling thread has nothing left to train: it reports and keeps for the others to their end.
 */
static void
wait_for_others(NetworkJob *job) {
  g_mutex_lock(&job->mutex);
  while (job->n_ended < job->n_due) {
    hand_over(job);
    double sum = 0.0;
    for (size_t i = 0; i < job->n_networks; i++)
      sum += job->fractions[i];
    g_mutex_unlock(&job->mutex);
    if (job->outer->func != NULL)
      job->outer->func(sum / (double)job->n_networks, "training", job->outer->data);
    if (g_cancellable_is_cancelled(job->outer->cancellable))
      g_cancellable_cancel(job->cancellable);
    g_mutex_lock(&job->mutex);
    if (job->n_ended < job->n_due && !job->dirty)
      g_cond_wait(&job->changed, &job->mutex);
  }
  g_mutex_unlock(&job->mutex);
}

static void
train_network(NetworkJob *job, size_t i, guint worker) {
  NetworkProgress place = {job, i, worker};
  const DemurProgress progress = {network_report, &place, job->cancellable};
  const size_t number = job->first + i;
  const DemurTrainerState *from =
      job->keeper != NULL && job->keeper->from != NULL ? job->keeper->from->networks[number] : NULL;
  if (!g_cancellable_set_error_if_cancelled(job->cancellable, &job->errors[i]))
    job->results[i] = demur_trainer_continue(
        job->training, job->validation, job->settings, job->seed, (guint)(number / job->n_average),
        (guint)(number % job->n_average), from, job->kept != NULL ? network_state : NULL, &place,
        job->inner, &progress, &job->errors[i]);
}

static void
train_share(size_t chunk, guint worker, gpointer data) {
  NetworkJob *job = data;
  g_mutex_lock(&job->mutex);
  if (worker == 0) {
    job->caller_came = TRUE;
    g_cond_broadcast(&job->changed);
  }
  while (job->n_begun < job->n_due) {
    const size_t i = job->n_begun++;
    g_mutex_unlock(&job->mutex);
    train_network(job, i, worker);
    g_mutex_lock(&job->mutex);
    job->fractions[i] = 1.0;
    job->n_ended++;
    g_cond_broadcast(&job->changed);
  }
  /* Each thread keeps its chunk until the calling one has come, so that there is one for it. */
  while (!job->caller_came)
    g_cond_wait(&job->changed, &job->mutex);
  g_mutex_unlock(&job->mutex);
  if (worker == 0)
    wait_for_others(job);
}

/* Those side by side, then the rest. Which is which changes no byte. */
static void
train_networks(NetworkJob *job, DemurParallel *parallel) {
  const size_t n_threads = demur_parallel_n_threads(parallel), rest = job->n_networks % n_threads;
  job->n_due = 2 * rest <= n_threads ? job->n_networks - rest : job->n_networks;
  job->inner = NULL;
  if (job->n_due > 0)
    demur_parallel_map(parallel, n_threads, train_share, job);
  job->n_due = job->n_networks;
  job->inner = parallel;
  if (job->n_begun < job->n_due)
    demur_parallel_map(NULL, 1, train_share, job);
}

/* What the networks are trained on, to the last bit. */
static char *
digest_inputs(const DemurTrainerInput *training, const DemurTrainerInput *validation) {
  DemurSha256 sha;
  demur_sha256_init(&sha);
  const DemurTrainerInput *both[2] = {training, validation};
  for (int k = 0; k < 2; k++) {
    const DemurTrainerPart *part = &both[k]->part;
    demur_sha256_add_bytes(&sha, part->features, part->n_scans * part->n_features * sizeof(double));
    demur_sha256_add_bytes(&sha, part->risks, part->n_scans * sizeof(double));
    demur_sha256_add_bytes(&sha, part->labels, part->n_scans * sizeof(double));
    demur_sha256_add_bytes(&sha, part->errors,
                           (part->errors != NULL ? part->n_scans : 0) * sizeof(double));
    demur_sha256_add_bytes(&sha, part->weights,
                           (part->weights != NULL ? part->n_scans : 0) * sizeof(double));
    demur_sha256_add_bytes(&sha, part->groups, part->n_scans * sizeof *part->groups);
  }
  return demur_sha256_finish_hex(&sha);
}

/* Runs the job, whose members down to kept are set; results and errors are its own. FALSE with the
 * first error. */
static gboolean
run_job(NetworkJob *job, DemurParallel *parallel, GError **error) {
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  g_autofree GError **errors = g_new0(GError *, job->n_networks);
  g_autofree double *fractions = g_new0(double, job->n_networks);
  job->cancellable = cancellable;
  job->errors = errors;
  job->fractions = fractions;
  g_mutex_init(&job->mutex);
  g_cond_init(&job->changed);
  if (job->outer->func != NULL)
    job->outer->func(0.0, "training", job->outer->data);
  if (g_cancellable_is_cancelled(job->outer->cancellable))
    g_cancellable_cancel(cancellable);
  train_networks(job, parallel);
  hand_over(job);
  g_mutex_clear(&job->mutex);
  g_cond_clear(&job->changed);
  gboolean ok = job->keep_error == NULL;
  if (!ok)
    g_propagate_error(error, job->keep_error);
  for (size_t i = 0; i < job->n_networks; i++)
    if (errors[i] != NULL) {
      if (ok)
        g_propagate_error(error, errors[i]);
      else
        g_error_free(errors[i]);
      ok = FALSE;
    }
  return ok;
}

static DemurCheckpoint *
checkpoint_begin(const DemurSelector *s, const char *digest, const DemurCheckpoint *from) {
  DemurCheckpoint *kept = demur_checkpoint_new(s->settings, s->seed, s->cohort_digest, digest);
  for (size_t i = 0; from != NULL && i < kept->n_networks; i++)
    if (from->networks[i] != NULL)
      kept->networks[i] = demur_trainer_state_copy(from->networks[i]);
  return kept;
}

gboolean
demur_training_networks(DemurSelector *s, const DemurTrainerInput *training,
                        const DemurTrainerInput *validation, const DemurTrainingKeeper *keeper,
                        DemurParallel *parallel, const DemurProgress *progress,
                        DemurTrainingLog *log, GError **error) {
  const size_t n_models = (size_t)s->settings->models, n_average = (size_t)s->settings->average;
  const size_t n = n_models * n_average;
  g_autoptr(DemurCheckpoint) kept = NULL;
  if (keeper != NULL) {
    g_autofree char *digest = digest_inputs(training, validation);
    if (keeper->from != NULL && !demur_checkpoint_check(keeper->from, s->settings, s->seed,
                                                        s->cohort_digest, digest, error))
      return FALSE;
    if (keeper->keep != NULL)
      kept = checkpoint_begin(s, digest, keeper->from);
  }
  log->n_models = n_models;
  log->n_average = n_average;
  log->networks = g_new0(DemurTrainerResult *, n);
  NetworkJob job = {.training = &training->part,
                    .validation = &validation->part,
                    .settings = s->settings,
                    .seed = s->seed,
                    .n_average = n_average,
                    .n_networks = n,
                    .keeper = keeper,
                    .results = log->networks,
                    .outer = progress,
                    .kept = kept};
  if (!run_job(&job, parallel, error))
    return FALSE;
  s->shape = log->networks[0]->shape;
  s->models = g_new0(DemurSelectorModel, n_models);
  for (size_t m = 0; m < n_models; m++) {
    DemurSelectorModel *model = &s->models[s->n_models++];
    model->n_average = n_average;
    model->parameters = demur_new_matrix(float, n_average, s->shape.n_parameters);
    model->epochs = g_new0(gint64, n_average);
    for (size_t a = 0; a < n_average; a++) {
      const DemurTrainerResult *result = log->networks[m * n_average + a];
      memcpy(model->parameters + a * s->shape.n_parameters, result->parameters,
             s->shape.n_parameters * sizeof(float));
      model->epochs[a] = result->best_epoch;
    }
  }
  return TRUE;
}

DemurCheckpoint *
demur_training_networks_some(const DemurSelector *s, const DemurTrainerInput *training,
                             const DemurTrainerInput *validation, size_t first, size_t end,
                             DemurParallel *parallel, const DemurProgress *progress,
                             GError **error) {
  g_autofree char *digest = digest_inputs(training, validation);
  g_autoptr(DemurCheckpoint) kept = checkpoint_begin(s, digest, NULL);
  g_return_val_if_fail(first < end && end <= kept->n_networks, NULL);
  g_autofree DemurTrainerResult **results = g_new0(DemurTrainerResult *, end - first);
  NetworkJob job = {.training = &training->part,
                    .validation = &validation->part,
                    .settings = s->settings,
                    .seed = s->seed,
                    .n_average = (size_t)s->settings->average,
                    .first = first,
                    .n_networks = end - first,
                    .results = results,
                    .outer = progress,
                    .kept = kept};
  const gboolean ok = run_job(&job, parallel, error);
  for (size_t i = 0; i < end - first; i++)
    demur_trainer_result_free(results[i]);
  return ok ? g_steal_pointer(&kept) : NULL;
}
