/* The networks of a training, several side by side. */
#include "selector/training-networks.h"

#include <string.h>

#include "base/digest.h"
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
  size_t n_average, n_networks;
  const DemurTrainingKeeper *keeper; /* may be NULL */
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
  const gboolean wanted = job->dirty && job->keep_error == NULL;
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
  demur_trainer_state_free(job->kept->networks[p->network]);
  job->kept->networks[p->network] = copy;
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
  const DemurTrainerState *from =
      job->keeper != NULL && job->keeper->from != NULL ? job->keeper->from->networks[i] : NULL;
  if (!g_cancellable_set_error_if_cancelled(job->cancellable, &job->errors[i]))
    job->results[i] = demur_trainer_continue(
        job->training, job->validation, job->settings, job->seed, (guint)(i / job->n_average),
        (guint)(i % job->n_average), from, job->kept != NULL ? network_state : NULL, &place,
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
  g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
  const DemurTrainerInput *both[2] = {training, validation};
  for (int k = 0; k < 2; k++) {
    const DemurTrainerPart *part = &both[k]->part;
    demur_digest_add_doubles(checksum, part->features, part->n_scans * part->n_features);
    demur_digest_add_doubles(checksum, part->risks, part->n_scans);
    demur_digest_add_doubles(checksum, part->labels, part->n_scans);
    demur_digest_add_doubles(checksum, part->errors, part->errors != NULL ? part->n_scans : 0);
    demur_digest_add_doubles(checksum, part->weights, part->weights != NULL ? part->n_scans : 0);
    demur_digest_add_bytes(checksum, part->groups, part->n_scans * sizeof *part->groups);
  }
  return g_strdup(g_checksum_get_string(checksum));
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
      kept = demur_checkpoint_new(s->settings, s->seed, s->cohort_digest, digest);
    for (size_t i = 0; kept != NULL && keeper->from != NULL && i < n; i++)
      if (keeper->from->networks[i] != NULL)
        kept->networks[i] = demur_trainer_state_copy(keeper->from->networks[i]);
  }
  log->n_models = n_models;
  log->n_average = n_average;
  log->networks = g_new0(DemurTrainerResult *, n);
  g_autofree GError **errors = g_new0(GError *, n);
  g_autofree double *fractions = g_new0(double, n);
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  NetworkJob job = {.training = &training->part,
                    .validation = &validation->part,
                    .settings = s->settings,
                    .seed = s->seed,
                    .n_average = n_average,
                    .n_networks = n,
                    .keeper = keeper,
                    .results = log->networks,
                    .errors = errors,
                    .fractions = fractions,
                    .outer = progress,
                    .cancellable = cancellable,
                    .kept = kept};
  g_mutex_init(&job.mutex);
  g_cond_init(&job.changed);
  if (progress->func != NULL)
    progress->func(0.0, "training", progress->data);
  if (g_cancellable_is_cancelled(progress->cancellable))
    g_cancellable_cancel(cancellable);
  train_networks(&job, parallel);
  hand_over(&job);
  g_mutex_clear(&job.mutex);
  g_cond_clear(&job.changed);
  if (job.keep_error != NULL) {
    g_propagate_error(error, job.keep_error);
    for (size_t i = 0; i < n; i++)
      g_clear_error(&errors[i]);
    return FALSE;
  }
  gboolean ok = TRUE;
  for (size_t i = 0; i < n; i++)
    if (errors[i] != NULL) {
      if (ok)
        g_propagate_error(error, errors[i]);
      else
        g_error_free(errors[i]);
      ok = FALSE;
    }
  if (!ok)
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
