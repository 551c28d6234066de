/* Pieces side by side: each once, with all threads where they are left over, the error of the first
 * that failed, progress that never goes back. */
#include "base/error.h"
#include "base/side-by-side.h"
#include "support/support.h"

#define MOST 23

typedef struct {
  gint runs[MOST]; /* atomic */
  gint with_threads[MOST];
  size_t fails_at, fails_too;
} Work;

static gboolean
piece(size_t i, DemurParallel *parallel, const DemurProgress *progress, gpointer data,
      GError **error) {
  Work *work = data;
  g_atomic_int_inc(&work->runs[i]);
  g_atomic_int_set(&work->with_threads[i], parallel != NULL);
  for (int step = 0; step <= 4; step++)
    if (!demur_progress_step(progress, step / 4.0, "working", error))
      return FALSE;
  if (i != work->fails_at && i != work->fails_too)
    return TRUE;
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "piece %zu", i);
  return FALSE;
}

typedef struct {
  GThread *caller;
  double last;
  int n_told;
} Told;

static void
on_progress(double fraction, const char *stage, gpointer data) {
  Told *told = data;
  g_assert_true(g_thread_self() == told->caller);
  g_assert_cmpfloat(fraction, >=, told->last);
  g_assert_cmpfloat(fraction, <=, 1.0);
  told->last = fraction;
  told->n_told++;
}

static void
every_piece_runs_once(void) {
  for (guint threads = 1; threads <= 4; threads++)
    for (size_t n = 0; n <= MOST; n++) {
      g_autoptr(DemurParallel) parallel = demur_parallel_new(threads);
      Work work = {.fails_at = MOST, .fails_too = MOST};
      Told told = {g_thread_self(), 0.0, 0};
      const DemurProgress progress = {on_progress, &told, NULL};
      g_autoptr(GError) error = NULL;
      g_assert_true(demur_side_by_side(n, parallel, &progress, piece, &work, &error));
      g_assert_no_error(error);
      for (size_t i = 0; i < n; i++) {
        g_assert_cmpint(work.runs[i], ==, 1);
        g_assert_cmpint(work.with_threads[i], ==, threads == 1 || i >= n - n % threads);
      }
      if (n > 0 && n % threads > 0) { /* the last one is the caller's */
        g_assert_cmpint(told.n_told, >, 0);
        g_assert_cmpfloat(told.last, ==, 1.0);
      }
    }
}

static void
the_first_failure_is_told(void) {
  for (guint threads = 1; threads <= 4; threads++)
    for (size_t first = 0; first < MOST; first++)
      for (size_t other = first + 1; other <= MOST; other += 5) {
        g_autoptr(DemurParallel) parallel = demur_parallel_new(threads);
        Work work = {.fails_at = other, .fails_too = first};
        g_autoptr(GError) error = NULL;
        g_assert_false(demur_side_by_side(MOST, parallel, NULL, piece, &work, &error));
        g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
        g_autofree char *right = g_strdup_printf("piece %zu", first);
        g_assert_cmpstr(error->message, ==, right);
        for (size_t i = 0; i < first; i++)
          g_assert_cmpint(work.runs[i], ==, 1);
        if (threads == 1)
          g_assert_cmpint(work.runs[MIN(first + 1, MOST - 1)], ==, first + 1 >= MOST);
      }
}

static void
a_cancelled_piece_ends_it(void) {
  g_autoptr(DemurParallel) parallel = demur_parallel_new(3);
  g_autoptr(GCancellable) cancellable = g_cancellable_new();
  g_cancellable_cancel(cancellable);
  const DemurProgress progress = {NULL, NULL, cancellable};
  Work work = {.fails_at = MOST, .fails_too = MOST};
  g_autoptr(GError) error = NULL;
  g_assert_false(demur_side_by_side(MOST, parallel, &progress, piece, &work, &error));
  g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/side-by-side/once", every_piece_runs_once);
  g_test_add_func("/side-by-side/first-failure", the_first_failure_is_told);
  g_test_add_func("/side-by-side/cancelled", a_cancelled_piece_ends_it);
  return g_test_run();
}
