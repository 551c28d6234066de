/* Interrupted training: cut at moments counted in calls of its progress, kept as bytes, read back
 * and carried on, it ends in the document of a training that was never cut; and nothing else goes
 * on from it. */
#include <string.h>

#include "base/error.h"
#include "selector-fixture.h"

static DemurCohort *cohort;

/* 3 epochs of 40 updates. */
static DemurTrainSettings *
quick_settings(gint64 average) {
  return fixture_settings(3, 320, 60, average);
}

/* Keeps the bytes, as a workspace does, and cancels when training has called for the n-th time. */
typedef struct {
  GThread *caller;
  guint calls, cancel_at; /* calls while the networks train */
  GCancellable *cancellable;
  GBytes *bytes;
  guint n_kept;
  gboolean fail;
} Keeper;

static void
on_progress(double fraction, const char *stage, gpointer data) {
  Keeper *keeper = data;
  g_assert_true(g_thread_self() == keeper->caller);
  if (strcmp(stage, "training") == 0 && ++keeper->calls == keeper->cancel_at)
    g_cancellable_cancel(keeper->cancellable);
}

static gboolean
keep(const DemurCheckpoint *checkpoint, gpointer data, GError **error) {
  Keeper *keeper = data;
  g_assert_true(g_thread_self() == keeper->caller);
  if (keeper->fail) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_STORE, "the disk is full");
    return FALSE;
  }
  g_clear_pointer(&keeper->bytes, g_bytes_unref);
  keeper->bytes = demur_checkpoint_to_bytes(checkpoint);
  keeper->n_kept++;
  return TRUE;
}

/* One attempt that is cut at a call of the progress (0: never), from the keeper's bytes. */
static DemurSelector *
attempt(Keeper *keeper, const DemurTrainSettings *settings, guint64 seed, guint cancel_at,
        DemurParallel *parallel, GError **error) {
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  keeper->caller = g_thread_self();
  keeper->calls = 0;
  keeper->cancel_at = cancel_at;
  keeper->cancellable = cancellable;
  g_autoptr(DemurCheckpoint) from = NULL;
  if (keeper->bytes != NULL && (from = demur_checkpoint_from_bytes(keeper->bytes, error)) == NULL)
    return NULL;
  const DemurProgress progress = {on_progress, keeper, cancellable};
  const DemurTrainingKeeper training = {from, keep, keeper};
  return demur_selector_train_kept(cohort, settings, seed, &training, parallel, &progress, NULL,
                                   error);
}

static void
keeper_clear(Keeper *keeper) {
  g_clear_pointer(&keeper->bytes, g_bytes_unref);
}

/* The whole document must be the same text: weights, epochs, digest. */
static void
interrupted_training_resumes_to_the_same_bytes(void) {
  static const gint64 averages[] = {1, 5};
  for (size_t a = 0; a < G_N_ELEMENTS(averages); a++) {
    g_autoptr(DemurTrainSettings) settings = quick_settings(averages[a]);
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurSelector) whole =
        demur_selector_train(cohort, settings, 5, NULL, NULL, NULL, &error);
    g_assert_no_error(error);
    g_autofree char *expected = demur_selector_to_json(whole);
    static const guint threads[] = {1, 2, 7};
    for (size_t t = 0; t < G_N_ELEMENTS(threads); t++) {
      if (demur_test_at_memory() && threads[t] == 2) /* seven meet more */
        continue;
      g_autoptr(DemurParallel) parallel = demur_parallel_new(threads[t]);
      Keeper keeper = {0};
      g_autoptr(DemurSelector) selector = NULL;
      guint n_cuts = 0;
      gint64 n_updates = 0;
      /* Later every time, so that it ends; the first time before any network has begun. Where
       * several threads train, the moment of a cut is of the calling one only. */
      for (guint cancel_at = 1; selector == NULL; cancel_at++) {
        g_autoptr(GError) local = NULL;
        selector = attempt(&keeper, settings, 5, cancel_at, parallel, &local);
        if (selector != NULL)
          break;
        g_assert_error(local, G_IO_ERROR, G_IO_ERROR_CANCELLED);
        if (n_cuts++ == 0) {
          g_assert_null(keeper.bytes);
          continue;
        }
        if (keeper.bytes == NULL)
          continue;
        g_autoptr(DemurCheckpoint) kept = demur_checkpoint_from_bytes(keeper.bytes, &error);
        g_assert_no_error(error);
        if (threads[t] == 1)
          g_assert_cmpint(demur_checkpoint_n_updates(kept), >, n_updates);
        n_updates = demur_checkpoint_n_updates(kept);
      }
      g_assert_cmpuint(n_cuts, >=, threads[t] == 1 ? 3 : 1);
      g_autofree char *json = demur_selector_to_json(selector);
      g_assert_cmpstr(json, ==, expected);
      keeper_clear(&keeper);
    }
  }
}

/* Killed without a word: what was kept at the end of the last epoch is enough. 1 + 3 times for one
 * network (the untrained one and three epochs), and any of them ends in the same bytes. */
static void
every_epoch_is_kept(void) {
  g_autoptr(DemurTrainSettings) settings = quick_settings(1);
  settings->stopping = DEMUR_STOPPING_WORST_CASE;
  g_autoptr(GError) error = NULL;
  Keeper keeper = {0};
  g_autoptr(DemurSelector) whole = attempt(&keeper, settings, 5, 0, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(keeper.n_kept, ==, 4);
  g_autoptr(DemurCheckpoint) last = demur_checkpoint_from_bytes(keeper.bytes, &error);
  g_assert_no_error(error);
  g_assert_cmpint(demur_checkpoint_n_updates(last), ==, 120);
  g_assert_true(last->networks[0]->finished);
  /* The digest of a selector from the finished checkpoint. */
  g_autoptr(DemurSelector) again = attempt(&keeper, settings, 5, 0, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(demur_selector_digest(whole), ==, demur_selector_digest(again));
  keeper_clear(&keeper);
}

static void
another_training_is_refused(void) {
  g_autoptr(DemurTrainSettings) settings = quick_settings(2);
  g_autoptr(GError) error = NULL;
  Keeper keeper = {0};
  g_assert_null(attempt(&keeper, settings, 5, 3, NULL, &error));
  g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error(&error);
  /* Settings: what differs is named with both values. */
  settings->epochs = 4;
  g_assert_null(attempt(&keeper, settings, 5, 0, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_nonnull(strstr(error->message, "epochs 3, now 4"));
  g_clear_error(&error);
  settings->epochs = 3;
  settings->average = 3;
  g_assert_null(attempt(&keeper, settings, 5, 0, NULL, &error));
  g_assert_nonnull(strstr(error->message, "average 2, now 3"));
  g_clear_error(&error);
  settings->average = 2;
  g_assert_null(attempt(&keeper, settings, 6, 0, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_nonnull(strstr(error->message, "seed 5, now it is 6"));
  g_clear_error(&error);
  /* Other scans. */
  DemurCohort *mine = cohort;
  cohort = fixture_cohort(2);
  g_assert_null(attempt(&keeper, settings, 5, 0, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_nonnull(strstr(error->message, "other scans"));
  g_clear_error(&error);
  demur_cohort_unref(cohort);
  cohort = mine;
  keeper_clear(&keeper);
}

/* A checkpoint that can't be written ends the training with the reason. */
static void
failing_to_keep_is_an_error(void) {
  g_autoptr(DemurParallel) parallel = demur_parallel_new(3);
  g_autoptr(DemurTrainSettings) settings = quick_settings(5);
  g_autoptr(GError) error = NULL;
  Keeper keeper = {.fail = TRUE};
  g_assert_null(attempt(&keeper, settings, 5, 0, parallel, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
}

/* Appends the right digest to a document that was changed, so that the shapes themselves are
 * tested. */
static GBytes *
sealed(const guint8 *data, size_t n) {
  g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
  g_checksum_update(checksum, data, (gssize)n);
  guint8 digest[32];
  gsize length = sizeof digest;
  g_checksum_get_digest(checksum, digest, &length);
  GByteArray *bytes = g_byte_array_new();
  g_byte_array_append(bytes, data, (guint)n);
  g_byte_array_append(bytes, digest, sizeof digest);
  return g_byte_array_free_to_bytes(bytes);
}

/* Cut at any byte, with any byte changed, or with any 8 bytes made a huge number under a right
 * digest: refused, or read as something whose form is right; never a crash or a huge allocation
 * (this is run under the sanitizers too). */
static void
damaged_checkpoints_are_refused(void) {
  g_autoptr(DemurTrainSettings) settings = quick_settings(2);
  settings->hidden = 2;
  settings->features = DEMUR_FEATURES_CONFIDENCE;
  g_autoptr(GError) error = NULL;
  Keeper keeper = {0};
  g_assert_null(attempt(&keeper, settings, 5, 4, NULL, &error));
  g_clear_error(&error);
  size_t n;
  const guint8 *data = g_bytes_get_data(keeper.bytes, &n);
  /* Reading it back and writing it gives the same bytes. */
  g_autoptr(DemurCheckpoint) read = demur_checkpoint_from_bytes(keeper.bytes, &error);
  g_assert_no_error(error);
  g_autoptr(GBytes) written = demur_checkpoint_to_bytes(read);
  g_assert_true(g_bytes_equal(written, keeper.bytes));
  for (size_t length = 0; length < n; length += length < 200 ? 1 : 37) {
    g_autoptr(GBytes) cut = g_bytes_new(data, length);
    g_assert_null(demur_checkpoint_from_bytes(cut, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_clear_error(&error);
    if (length + 32 >= n)
      continue;
    g_autoptr(GBytes) short_one = sealed(data, length);
    g_assert_null(demur_checkpoint_from_bytes(short_one, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_clear_error(&error);
  }
  g_autofree guint8 *copy = g_memdup2(data, n);
  for (size_t at = 0; at + 40 <= n; at++) {
    copy[at] ^= 0x41;
    g_autoptr(GBytes) changed = g_bytes_new(copy, n);
    g_assert_null(demur_checkpoint_from_bytes(changed, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_clear_error(&error);
    copy[at] ^= 0x41;
    memset(copy + at, 0xff, 8);
    g_autoptr(GBytes) huge = sealed(copy, n - 32);
    g_autoptr(DemurCheckpoint) hostile = demur_checkpoint_from_bytes(huge, &error);
    g_assert_true((hostile == NULL) == (error != NULL));
    g_clear_error(&error);
    memcpy(copy + at, data + at, 8);
  }
  keeper_clear(&keeper);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  cohort = fixture_cohort(1);
  g_test_add_func("/selector/checkpoint/resumes", interrupted_training_resumes_to_the_same_bytes);
  g_test_add_func("/selector/checkpoint/epochs", every_epoch_is_kept);
  g_test_add_func("/selector/checkpoint/refused", another_training_is_refused);
  g_test_add_func("/selector/checkpoint/fails", failing_to_keep_is_an_error);
  g_test_add_func("/selector/checkpoint/damaged", damaged_checkpoints_are_refused);
  const int status = g_test_run();
  demur_cohort_unref(cohort);
  return status;
}
