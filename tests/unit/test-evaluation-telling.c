/* How points are told. Right values: worked by hand; and laws that hold for drawn samples: what is
 * told exactly differs by nothing or by ten and more, and every number of a point that is not tells
 * of the same whole fives and of nothing else. */
#include "evaluation/telling.h"

#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "base/random.h"
#include "evaluation/evaluation.h"
#include "support/support.h"

static void
fives(void) {
  static const double rows[][3] = {{0, 40, 0},  {2, 40, 0},   {3, 40, 5},   {7, 40, 5},
                                   {8, 40, 10}, {38, 39, 39}, {37, 39, 35}, {12.4, 40, 10}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
    g_assert_cmpfloat(demur_told_fives(rows[i][0], rows[i][1]), ==, rows[i][2]);
  g_assert_cmpfloat_with_epsilon(demur_told_accuracy(0.93, 100), 0.95, 1e-12); /* 7 errors: 5 */
}

/* Outcomes 3 4 1 0 7 in bins of 25: sums 3 7 8 8 15, told 5 5 10 10 15. */
static void
bins_are_told_by_their_running_sum(void) {
  double outcomes[] = {3, 4, 1, 0, 7};
  const double mass[] = {25, 25, 25, 25, 25}, right[] = {5, 0, 5, 0, 5};
  demur_told_running(outcomes, mass, 5);
  for (size_t b = 0; b < 5; b++)
    g_assert_cmpfloat(outcomes[b], ==, right[b]);
}

static DemurSample *
make_sample(DemurRandom *random, size_t n, double prevalence, guint32 *ranks) {
  DemurSample *s = g_new0(DemurSample, 1);
  s->n = s->n_known = n;
  s->n_classes = 2;
  s->risks = g_new(double, n);
  s->labels = g_new(double, n);
  s->classes = g_new(gint32, n);
  for (size_t i = 0; i < n; i++) {
    s->risks[i] = demur_random_uniform(random);
    s->classes[i] = demur_random_uniform(random) < prevalence ? 1 : 0;
    s->labels[i] = s->classes[i];
    ranks[i] = (guint32)i;
  }
  for (size_t i = n; i > 1; i--) {
    const size_t j = (size_t)demur_random_below(random, i);
    const guint32 rank = ranks[i - 1];
    ranks[i - 1] = ranks[j];
    ranks[j] = rank;
  }
  return s;
}

static void
count(const DemurSample *s, const guint32 *ranks, gssize max_rank, gint64 *cells) {
  memset(cells, 0, 5 * sizeof *cells);
  for (size_t i = 0; i < s->n; i++)
    if ((gssize)ranks[i] <= max_rank) {
      cells[0]++;
      cells[1 + s->classes[i]]++;
      cells[(s->risks[i] >= 0.5) == (s->classes[i] == 1) ? 3 : 4]++;
    }
}

/* Every pair of points that are told exactly, and all scans. */
static void
exact_points_leave_no_few(void) {
  static const size_t from[DEMUR_N_TOLD] = {0, 1, 1}, to[DEMUR_N_TOLD] = {1, 3, 5};
  size_t n_exact = 0, n_told = 0;
  for (guint64 seed = 0; seed < 60; seed++) {
    DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 14, 0, 0);
    const size_t n = 20 + (size_t)demur_random_below(&random, 900);
    g_autofree guint32 *ranks = g_new(guint32, n);
    g_autoptr(DemurSample) s = make_sample(&random, n, seed % 3 == 0 ? 0.05 : 0.4, ranks);
    gssize points[9];
    for (size_t p = 0; p < 8; p++)
      points[p] = (gssize)demur_random_below(&random, n + 1) - 1;
    points[8] = (gssize)n - 1;
    static const double coverages[] = {0.9, 0.5};
    g_autoptr(DemurTelling) t =
        demur_telling_new(s, ranks, points, 8, coverages, G_N_ELEMENTS(coverages));
    for (DemurTold what = 0; what < DEMUR_N_TOLD; what++)
      for (size_t a = 0; a < 9; a++) {
        const gboolean exact = demur_telling_is_exact(t, what, points[a]);
        n_exact += exact ? 1 : 0;
        n_told += exact ? 0 : 1;
        for (size_t b = 0; exact && b < 9; b++) {
          gint64 x[5], y[5];
          count(s, ranks, points[a], x);
          count(s, ranks, points[b], y);
          if (!demur_telling_is_exact(t, what, points[b]) ||
              memcmp(x + from[what], y + from[what], (to[what] - from[what]) * sizeof *x) == 0)
            continue;
          for (size_t c = from[what]; c < to[what]; c++)
            g_assert_cmpint(ABS(x[c] - y[c]), >=, DEMUR_SMALL_CELL);
        }
      }
    g_assert_true(demur_telling_is_exact(t, DEMUR_TOLD_LABELS, (gssize)n - 1));
    g_assert_true(demur_telling_is_exact(NULL, DEMUR_TOLD_LABELS, 3));
  }
  g_assert_cmpuint(n_exact, >, 100);
  g_assert_cmpuint(n_told, >, 100);
}

/* The kept ones' outcomes are in fives, all scans' are as they are. */
static void
weights_tell_of_fives(void) {
  for (guint64 seed = 0; seed < 200; seed++) {
    DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 15, 0, 0);
    const size_t n = 30 + (size_t)demur_random_below(&random, 200);
    g_autofree guint32 *ranks = g_new(guint32, n);
    g_autoptr(DemurSample) s = make_sample(&random, n, 0.3, ranks);
    g_autofree guint32 *kept = g_new0(guint32, n);
    for (size_t i = 0; i < n; i++)
      kept[i] = ranks[i] < n - n / 4;
    g_autofree double *weights = g_new(double, n);
    demur_told_weights(s, kept, weights);
    double mass[2] = {0}, outcomes[2] = {0}, all = 0.0, n_kept = 0.0;
    for (size_t i = 0; i < n; i++) {
      mass[kept[i]] += weights[i];
      outcomes[kept[i]] += s->labels[i] * weights[i];
      all += s->labels[i];
      n_kept += kept[i];
    }
    demur_assert_close(mass[1], n_kept, 1e-9, 0);
    demur_assert_close(outcomes[1] / 5.0, round(outcomes[1] / 5.0), 1e-9, 1e-9);
    if (outcomes[0] > 0.0 && all - outcomes[1] > 0.0)
      demur_assert_close(outcomes[0] + outcomes[1], all, 1e-9, 0);
  }
}

/* 40 with the outcome, 12 refused; 160 without, 18 refused: 28 kept are told as 30, so 10 of the 30
 * refused have it and 20 have not. */
static void
both_labels_follow_from_one(void) {
  DemurRejection labels[] = {
      {.label = 0, .n_all = 160, .n_rejected = 18, .rate = 18 / 160.0, .share_of_rejected = 0.6},
      {.label = 1, .n_all = 40, .n_rejected = 12, .rate = 12 / 40.0, .share_of_rejected = 0.4}};
  demur_rejections_tell(labels, 2);
  g_assert_cmpuint(labels[1].n_rejected, ==, 10);
  g_assert_cmpuint(labels[0].n_rejected, ==, 20);
  g_assert_cmpfloat_with_epsilon(labels[1].rate, 0.25, 1e-12);
  g_assert_cmpfloat_with_epsilon(labels[0].share_of_rejected, 2 / 3.0, 1e-12);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/telling/fives", fives);
  g_test_add_func("/telling/bins", bins_are_told_by_their_running_sum);
  g_test_add_func("/telling/exact", exact_points_leave_no_few);
  g_test_add_func("/telling/weights", weights_tell_of_fives);
  g_test_add_func("/telling/labels", both_labels_follow_from_one);
  return g_test_run();
}
