/* A map by several ranks. Right values: what one rank alone writes, every byte, on every rank. */
#include "base/gather.h"

#include <string.h>

#include "base/error.h"
#include "base/ranks-tape.h"
#include "support/thread-ranks.h"

#define N_CHUNKS 23
#define N_ROWS 3

/* What a rank has: a row of three numbers a chunk, and N_ROWS columns of a number a chunk. */
typedef struct {
  double rows[N_CHUNKS][3], columns[N_ROWS][N_CHUNKS];
  int n_computed;
  size_t first, end;
  guint n_threads;
  gboolean fails;
  GError *error;
  gboolean well;
} Held;

static void
compute(size_t chunk, guint worker, gpointer data) {
  (void)worker;
  Held *held = data;
  g_atomic_int_inc(&held->n_computed);
  for (size_t i = 0; i < 3; i++)
    held->rows[chunk][i] = (double)(chunk * 3 + i) / 7.0;
  for (size_t r = 0; r < N_ROWS; r++)
    held->columns[r][chunk] = 100.0 * (double)r + (double)chunk;
}

static gboolean
gather(Held *held, const DemurRanks *ranks) {
  DemurParallel *parallel = demur_parallel_new(held->n_threads);
  demur_parallel_set_ranks(parallel, ranks);
  const DemurSlot slots[] = {
      {held->rows, sizeof held->rows[0], sizeof held->rows[0], 1, 0},
      {held->columns, sizeof(double), sizeof(double), N_ROWS, sizeof held->columns[0]}};
  const gboolean ok = demur_gather(parallel, held->first, held->end, compute, held, slots,
                                   G_N_ELEMENTS(slots), &held->error);
  demur_parallel_free(parallel);
  return ok;
}

static void
work(const DemurRanks *ranks, gpointer data) {
  Held *held = data;
  const gboolean ok = !held->fails && gather(held, ranks);
  held->well = demur_ranks_part(ranks, ok);
}

static void
every_rank_has_what_one_computes(void) {
  static const size_t ranges[][2] = {{0, N_CHUNKS}, {5, 17}, {4, 5}, {7, 7}, {1, 3}};
  for (size_t g = 0; g < G_N_ELEMENTS(ranges); g++) {
    Held alone = {.first = ranges[g][0], .end = ranges[g][1], .n_threads = 1};
    g_assert_true(gather(&alone, NULL));
    g_assert_cmpint(alone.n_computed, ==, (int)(alone.end - alone.first));
    for (size_t n = 1; n <= 5; n++) {
      g_autofree Held *held = g_new0(Held, n);
      gpointer data[5];
      for (size_t r = 0; r < n; r++) {
        held[r].first = alone.first;
        held[r].end = alone.end;
        held[r].n_threads = (guint)(1 + r % 2);
        data[r] = &held[r];
      }
      thread_ranks_run(n, work, data);
      int n_computed = 0;
      for (size_t r = 0; r < n; r++) {
        g_assert_no_error(held[r].error);
        g_assert_true(held[r].well);
        g_assert_true(memcmp(held[r].rows, alone.rows, sizeof alone.rows) == 0);
        g_assert_true(memcmp(held[r].columns, alone.columns, sizeof alone.columns) == 0);
        n_computed += held[r].n_computed;
      }
      g_assert_cmpint(n_computed, ==, alone.n_computed); /* nothing twice */
    }
  }
}

/* Nobody waits for one that failed, or that does something else. */
static void
a_rank_that_fails_ends_all(void) {
  for (size_t which = 0; which < 6; which++) {
    g_autofree Held *held = g_new0(Held, 3);
    gpointer data[3];
    for (size_t r = 0; r < 3; r++) {
      held[r].end = N_CHUNKS;
      held[r].n_threads = 1;
      data[r] = &held[r];
    }
    if (which < 3)
      held[which].fails = TRUE;
    else
      held[which - 3].end = N_CHUNKS - 1;
    thread_ranks_run(3, work, data);
    const DemurError expected = which < 3 ? DEMUR_ERROR_PEER : DEMUR_ERROR_INPUT;
    for (size_t r = 0; r < 3; r++) {
      g_assert_false(held[r].well);
      if (!held[r].fails)
        g_assert_error(held[r].error, DEMUR_ERROR, (int)expected);
      g_clear_error(&held[r].error);
    }
  }
}

/* One rank after another writes its tape; played together they give what one computes, and nothing is
 * computed. */
static void
tapes_that_are_played_are_the_ranks(void) {
  Held alone = {.end = N_CHUNKS, .n_threads = 1};
  g_assert_true(gather(&alone, NULL));
  for (size_t n = 1; n <= 5; n++) {
    GBytes *tapes[5];
    int n_computed = 0;
    for (size_t r = 0; r < n; r++) {
      Held held = {.end = N_CHUNKS, .n_threads = (guint)(1 + r % 2)};
      g_autoptr(DemurRanksTape) tape = demur_ranks_tape_record(r, n);
      g_assert_true(gather(&held, demur_ranks_tape_ranks(tape)));
      tapes[r] = demur_ranks_tape_bytes(tape);
      n_computed += held.n_computed;
    }
    g_assert_cmpint(n_computed, ==, alone.n_computed);
    Held played = {.end = N_CHUNKS, .n_threads = 1};
    g_autoptr(DemurRanksTape) tape = demur_ranks_tape_play(tapes, n);
    g_assert_true(gather(&played, demur_ranks_tape_ranks(tape)));
    g_assert_cmpint(played.n_computed, ==, 0);
    g_assert_true(memcmp(played.rows, alone.rows, sizeof alone.rows) == 0);
    g_assert_true(memcmp(played.columns, alone.columns, sizeof alone.columns) == 0);
    g_autoptr(GError) error = NULL;
    size_t at;
    g_assert_true(demur_ranks_tape_check_played(tape, &error));
    g_assert_false(demur_ranks_tape_fault(tape, &at));
    g_assert_no_error(error);

    /* Of another work; shorter than it should be; longer. */
    Held other = {.end = N_CHUNKS - 1, .n_threads = 1};
    g_autoptr(DemurRanksTape) of_other = demur_ranks_tape_play(tapes, n);
    g_assert_false(gather(&other, demur_ranks_tape_ranks(of_other)));
    g_assert_error(other.error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_clear_error(&other.error);
    g_assert_false(demur_ranks_tape_check_played(of_other, NULL));
    g_assert_true(demur_ranks_tape_fault(of_other, &at));
    g_assert_cmpuint(at, ==, 0);
    GBytes *whole = tapes[n - 1];
    tapes[n - 1] = g_bytes_new_from_bytes(whole, 0, g_bytes_get_size(whole) - 1);
    Held shorter = {.end = N_CHUNKS, .n_threads = 1};
    g_autoptr(DemurRanksTape) cut = demur_ranks_tape_play(tapes, n);
    g_assert_true(gather(&shorter, demur_ranks_tape_ranks(cut)));
    g_assert_false(demur_ranks_tape_check_played(cut, &error));
    g_assert_true(demur_ranks_tape_fault(cut, &at));
    g_assert_cmpuint(at, ==, n - 1);
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    for (size_t r = 0; r + 1 < n; r++)
      g_bytes_unref(tapes[r]);
    g_bytes_unref(tapes[n - 1]);
    g_bytes_unref(whole);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/gather/same", every_rank_has_what_one_computes);
  g_test_add_func("/gather/failed", a_rank_that_fails_ends_all);
  g_test_add_func("/gather/tapes", tapes_that_are_played_are_the_ranks);
  return g_test_run();
}
