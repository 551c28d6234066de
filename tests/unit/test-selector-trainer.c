/* Algorithm 1 on arrays: the same bytes at any number of threads, and that it learns what it
 * should. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "selector/trainer.h"
#include "support/support.h"

enum { N_TRAIN = 900, N_VALID = 400, N_FEATURES = 3, N_SITES = 6 };

/* Scans whose first feature says whether r can be believed: where it is 1, y ~ Bernoulli(r); where
 * it is -1, y ~ Bernoulli of a risk pushed up by 0.35. The other features are noise. */
typedef struct {
  DemurTrainerPart part;
  double features[N_TRAIN * N_FEATURES], risks[N_TRAIN], labels[N_TRAIN];
  guint32 groups[N_TRAIN];
} Scans;

static Scans *
scans_new(size_t n, guint64 seed) {
  Scans *s = g_new0(Scans, 1);
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 0, 0, 0);
  for (size_t i = 0; i < n; i++) {
    const gboolean flagged = demur_random_below(&random, 2) == 0;
    s->risks[i] = 0.6 * demur_random_uniform(&random);
    const double truth = flagged ? s->risks[i] + 0.35 : s->risks[i];
    s->labels[i] = demur_random_uniform(&random) < truth ? 1.0 : 0.0;
    s->features[i * N_FEATURES] = flagged ? -1.0 : 1.0;
    for (size_t c = 1; c < N_FEATURES; c++)
      s->features[i * N_FEATURES + c] = demur_random_normal(&random);
    s->groups[i] = (guint32)demur_random_below(&random, N_SITES);
  }
  s->part = (DemurTrainerPart){.n_scans = n,
                               .n_features = N_FEATURES,
                               .features = s->features,
                               .risks = s->risks,
                               .labels = s->labels,
                               .groups = s->groups,
                               .n_groups = N_SITES};
  return s;
}

static DemurTrainSettings *
small_settings(void) {
  DemurTrainSettings *settings = demur_train_settings_new_published();
  settings->epochs = 3;
  settings->datasets_per_epoch = 130; /* no multiple of the batch: epochs end at 16, 32, 48 */
  settings->batch = 8;
  settings->kappa = 2;
  settings->dataset_size = 300;
  settings->hidden = 12;
  settings->validation_datasets = 9;
  return settings;
}

static DemurTrainerResult *
train(const Scans *training, const Scans *validation, const DemurTrainSettings *settings,
      guint64 seed, guint model, DemurParallel *parallel, const DemurProgress *progress,
      GError **error) {
  return demur_trainer_run(&training->part, &validation->part, settings, seed, model, 0, parallel,
                           progress, error);
}

static gboolean
same_result(const DemurTrainerResult *a, const DemurTrainerResult *b) {
  return a->n_updates == b->n_updates && a->best_epoch == b->best_epoch &&
         a->n_history == b->n_history &&
         memcmp(a->parameters, b->parameters, a->shape.n_parameters * sizeof(DemurReal)) == 0 &&
         memcmp(&a->history[1], &b->history[1], (a->n_history - 1) * sizeof *a->history) == 0;
}

static void
any_number_of_threads_gives_the_same_bytes(void) {
  g_autofree Scans *training = scans_new(N_TRAIN, 1), *validation = scans_new(N_VALID, 2);
  g_autoptr(DemurTrainSettings) settings = small_settings();
  g_autoptr(GError) error = NULL;
  for (int kind = 0; kind < 3; kind++) {
    settings->q = kind == 1 ? 1 : 2;
    settings->kappa = kind == 2 ? 0 : 2;
    g_autoptr(DemurTrainerResult) alone =
        train(training, validation, settings, 1, 0, NULL, NULL, &error);
    g_assert_no_error(error);
    static const guint threads[] = {1, 2, 7};
    for (size_t t = 0; t < G_N_ELEMENTS(threads); t++) {
      g_autoptr(DemurParallel) parallel = demur_parallel_new(threads[t]);
      g_autoptr(DemurTrainerResult) result =
          train(training, validation, settings, 1, 0, parallel, NULL, &error);
      g_assert_no_error(error);
      g_assert_true(same_result(alone, result));
    }
    g_autoptr(DemurTrainerResult) seed =
        train(training, validation, settings, 2, 0, NULL, NULL, &error);
    g_autoptr(DemurTrainerResult) model =
        train(training, validation, settings, 1, 1, NULL, NULL, &error);
    g_assert_false(same_result(alone, seed));
    g_assert_false(same_result(alone, model));
    g_assert_false(same_result(seed, model));
  }
}

/* Cancels from the progress callback, which is called once every 16 updates: at its n-th call. */
typedef struct {
  guint calls, cancel_at;
  GCancellable *cancellable;
} Cutter;

static void
cut_at_call(double fraction, const char *stage, gpointer data) {
  Cutter *cutter = data;
  if (++cutter->calls == cutter->cancel_at)
    g_cancellable_cancel(cutter->cancellable);
}

static void
keep_state(const DemurTrainerState *state, gpointer data) {
  DemurTrainerState **kept = data;
  demur_trainer_state_free(*kept);
  *kept = demur_trainer_state_copy(state);
}

/* A training that is cut after every call of its progress, each time carried on from what was kept
 * alone, ends in the bytes of one that was never cut. Both stopping rules; the flat one ends by
 * itself, past the window of 400 updates. */
static void
cut_training_goes_on_to_the_same_bytes(void) {
  g_autofree Scans *training = scans_new(N_TRAIN, 1), *validation = scans_new(N_VALID, 2);
  for (int flat = 0; flat < 2; flat++) {
    g_autoptr(DemurTrainSettings) settings = small_settings();
    g_autoptr(GError) error = NULL;
    settings->epochs = 6;
    if (flat) {
      settings->stopping = DEMUR_STOPPING_FLAT;
      settings->epochs = 7;
      settings->datasets_per_epoch = 2500;
    }
    g_autoptr(DemurTrainerResult) whole =
        train(training, validation, settings, 1, 0, NULL, NULL, &error);
    g_assert_no_error(error);
    if (flat) /* the rule ended it, within an epoch */
      g_assert_cmpint(whole->n_updates, <, 7 * 2500 / 8);
    static const guint threads[] = {1, 2, 7};
    for (size_t t = 0; t < G_N_ELEMENTS(threads); t++) {
      g_autoptr(DemurParallel) parallel = demur_parallel_new(threads[t]);
      g_autoptr(DemurTrainerState) kept = NULL;
      g_autoptr(DemurTrainerResult) result = NULL;
      guint n_cuts = 0;
      while (result == NULL) {
        g_autoptr(GCancellable) cancellable = g_cancellable_new();
        Cutter cutter = {0, flat ? 11 : 1, cancellable};
        const DemurProgress progress = {cut_at_call, &cutter, cancellable};
        g_autoptr(DemurTrainerState) from = g_steal_pointer(&kept);
        g_autoptr(GError) local = NULL;
        result = demur_trainer_continue(&training->part, &validation->part, settings, 1, 0, 0, from,
                                        keep_state, &kept, parallel, &progress, &local);
        if (result == NULL) {
          g_assert_error(local, G_IO_ERROR, G_IO_ERROR_CANCELLED);
          n_cuts++;
          /* Cancelled at the step after the call: 16 updates further, never lost. */
          g_assert_cmpint(kept->update, >, from != NULL ? from->update : 0);
        }
      }
      g_assert_cmpuint(n_cuts, >=, 2);
      g_assert_true(same_result(whole, result));
      /* What is finished stays finished. */
      g_assert_true(kept->finished);
      g_autoptr(DemurTrainerResult) again =
          demur_trainer_continue(&training->part, &validation->part, settings, 1, 0, 0, kept, NULL,
                                 NULL, parallel, NULL, &error);
      g_assert_no_error(error);
      g_assert_true(same_result(whole, again));
      /* Of other settings it is no state: here the epochs are too few for it. */
      settings->epochs--;
      g_autoptr(DemurTrainerState) late = demur_trainer_state_copy(kept);
      late->finished = FALSE;
      late->epoch = (gint64)(late->n_history = (size_t)settings->epochs);
      late->update = whole->n_updates + 10000;
      g_assert_null(demur_trainer_continue(&training->part, &validation->part, settings, 1, 0, 0,
                                           late, NULL, NULL, parallel, NULL, &error));
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
      g_clear_error(&error);
      settings->epochs++;
    }
  }
}

/* What the header says of the result. */
static void
history_tells_every_epoch(void) {
  g_autofree Scans *training = scans_new(N_TRAIN, 1), *validation = scans_new(N_VALID, 2);
  g_autoptr(DemurTrainSettings) settings = small_settings();
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTrainerResult) result =
      train(training, validation, settings, 1, 0, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpint(result->n_updates, ==, 3 * 130 / 8);
  g_assert_cmpuint(result->n_history, ==, 4);
  g_assert_cmpuint(result->shape.n_inputs, ==, N_FEATURES);
  g_assert_cmpuint(result->shape.n_hidden, ==, 12);
  g_assert_true(isnan(result->history[0].loss)); /* the untrained network */
  for (size_t e = 0; e < 4; e++) {
    const DemurTrainerEpoch *epoch = &result->history[e];
    g_assert_cmpint(epoch->epoch, ==, (gint64)e);
    g_assert_true(e == 0 || (isfinite(epoch->loss) && epoch->loss > 0.0));
    g_assert_cmpfloat(epoch->worst_auc, >=, epoch->mean_auc);
    g_assert_cmpfloat(epoch->mean_auc, >, 0.0);
    g_assert_cmpfloat(epoch->worst_auc, <, 1.0);
  }
}

/* The order of the scans in the arrays matters only for ties in risk; here there are none, so a
 * reversed copy whose groups are the same trains the same network. */
static void
order_of_scans_does_not_matter(void) {
  g_autofree Scans *training = scans_new(N_TRAIN, 1), *validation = scans_new(N_VALID, 2);
  g_autofree Scans *reversed = scans_new(N_TRAIN, 1);
  for (size_t i = 0; i < N_TRAIN; i++) {
    const size_t j = N_TRAIN - 1 - i;
    reversed->risks[i] = training->risks[j];
    reversed->labels[i] = training->labels[j];
    reversed->groups[i] = training->groups[j];
    memcpy(reversed->features + i * N_FEATURES, training->features + j * N_FEATURES,
           N_FEATURES * sizeof(double));
  }
  g_autoptr(DemurTrainSettings) settings = small_settings();
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTrainerResult) a = train(training, validation, settings, 1, 0, NULL, NULL, &error);
  g_autoptr(DemurTrainerResult) b = train(reversed, validation, settings, 1, 0, NULL, NULL, &error);
  g_assert_true(same_result(a, b));
}

/* Mean logit of the scans that can be believed minus that of the others. */
static double
margin_of(const DemurTrainerResult *result, const Scans *scans) {
  const size_t n = scans->part.n_scans, h = result->shape.n_hidden;
  g_autofree float *inputs = g_new(float, n *N_FEATURES), *hidden = g_new(float, 2 * n * h),
                   *z = g_new(float, n);
  for (size_t i = 0; i < n * N_FEATURES; i++)
    inputs[i] = (float)scans->features[i];
  const DemurMlpScans taken = {inputs, NULL, n};
  demur_mlp_forward(&(DemurMlp){result->shape, result->parameters, NULL}, &taken, hidden,
                    hidden + n * h, z);
  double sums[2] = {0, 0}, counts[2] = {0, 0};
  for (size_t i = 0; i < n; i++) {
    const int believed = inputs[i * N_FEATURES] > 0;
    sums[believed] += (double)z[i];
    counts[believed] += 1.0;
  }
  return sums[1] / counts[1] - sums[0] / counts[0];
}

/* The planted flag is found, whichever way the untrained network leans: it is told with either
 * sign, so that one of the two starts wrong. The scans that can be believed end above the others in
 * z, and the selective error where it started wrong falls. By the definition of the errors: |y -
 * r|^2 is on average .35 against .21 at r = .3, so g falls faster where it is larger. */
static void
training_finds_what_is_miscalibrated(void) {
  g_autoptr(DemurTrainSettings) settings = small_settings();
  settings->datasets_per_epoch = 2000;
  settings->learning_rate = 5e-3;
  settings->weight_decay = 0;
  double untrained[2], trained[2];
  for (int sign = 0; sign < 2; sign++) {
    g_autofree Scans *training = scans_new(N_TRAIN, 1), *validation = scans_new(N_VALID, 2);
    for (size_t i = 0; sign == 1 && i < N_TRAIN; i++) {
      training->features[i * N_FEATURES] *= -1.0;
      validation->features[i * N_FEATURES] *= -1.0;
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurTrainerResult) result =
        train(training, validation, settings, 1, 0, NULL, NULL, &error);
    g_assert_no_error(error);
    const DemurTrainerEpoch *last = &result->history[result->n_history - 1];
    untrained[sign] = result->history[0].mean_auc;
    trained[sign] = last->mean_auc;
    g_test_message("mean AUC %g, untrained %g, margin %g", trained[sign], untrained[sign],
                   margin_of(result, validation) * (sign == 1 ? -1.0 : 1.0));
    g_assert_cmpfloat(last->loss, <, result->history[1].loss);
    g_assert_cmpfloat(margin_of(result, validation) * (sign == 1 ? -1.0 : 1.0), >, 0.2);
  }
  const int wrong = untrained[1] > untrained[0];
  g_assert_cmpfloat(trained[wrong], <, 0.8 * untrained[wrong]);
  demur_assert_close(trained[0], trained[1], 0.25, 0); /* both find the same */
}

static void
a_loss_that_is_not_finite_is_told(void) {
  g_autofree Scans *training = scans_new(N_TRAIN, 1), *validation = scans_new(N_VALID, 2);
  training->features[5] = INFINITY;
  g_autoptr(DemurTrainSettings) settings = small_settings();
  settings->dataset_size = 20000; /* every scan is in every data set */
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTrainerResult) result =
      train(training, validation, settings, 1, 0, NULL, NULL, &error);
  g_assert_null(result);
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_NUMERIC);
}

static void
cancel_at_half(double fraction, const char *stage, gpointer data) {
  g_assert_true(fraction >= 0.0 && fraction <= 1.0);
  if (fraction >= 0.3)
    g_cancellable_cancel(data);
}

static void
training_can_be_cancelled(void) {
  g_autofree Scans *training = scans_new(N_TRAIN, 1), *validation = scans_new(N_VALID, 2);
  g_autoptr(DemurTrainSettings) settings = small_settings();
  for (int early = 0; early < 2; early++) {
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    if (early)
      g_cancellable_cancel(cancellable);
    const DemurProgress progress = {early ? NULL : cancel_at_half, cancellable, cancellable};
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurTrainerResult) result =
        train(training, validation, settings, 1, 0, NULL, &progress, &error);
    g_assert_null(result);
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  }
}

/* One scan, one feature, one site, data sets of one: the smallest training there is. */
static void
the_smallest_training_ends(void) {
  const double feature = 0.5, risk = 0.3, label = 1.0;
  const guint32 group = 0;
  const DemurTrainerPart part = {.n_scans = 1,
                                 .n_features = 1,
                                 .features = &feature,
                                 .risks = &risk,
                                 .labels = &label,
                                 .groups = &group,
                                 .n_groups = 1};
  Scans scans = {.part = part};
  g_autoptr(DemurTrainSettings) settings = small_settings();
  settings->dataset_size = settings->hidden = settings->batch = settings->kappa = 1;
  settings->validation_datasets = settings->datasets_per_epoch = 1;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurTrainerResult) result = train(&scans, &scans, settings, 1, 0, NULL, NULL, &error);
  g_assert_no_error(error);
  /* One scan in one bin: the error is |y - r| at every coverage. */
  for (size_t e = 0; e < result->n_history; e++)
    demur_assert_close(result->history[e].worst_auc, 0.7, 1e-12, 0);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/selector/trainer/cut", cut_training_goes_on_to_the_same_bytes);
  g_test_add_func("/selector/trainer/threads", any_number_of_threads_gives_the_same_bytes);
  g_test_add_func("/selector/trainer/history", history_tells_every_epoch);
  g_test_add_func("/selector/trainer/order", order_of_scans_does_not_matter);
  g_test_add_func("/selector/trainer/learns", training_finds_what_is_miscalibrated);
  g_test_add_func("/selector/trainer/diverged", a_loss_that_is_not_finite_is_told);
  g_test_add_func("/selector/trainer/cancelled", training_can_be_cancelled);
  g_test_add_func("/selector/trainer/smallest", the_smallest_training_ends);
  return g_test_run();
}
