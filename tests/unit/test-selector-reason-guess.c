/* What can be guessed from what is said: the fit written out plainly, scan by scan, and laws. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "selector/reason-guess.h"

enum { LENGTH = 4, PLACES = LENGTH + 2, MOST = 120 };

static int
compare(const void *a, const void *b) {
  const guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
  return (x > y) - (x < y);
}

/* Whether two scans share the indicator of a place; none is shared where nothing is said there. */
static gboolean
alike(const guint32 *a, const guint32 *b, size_t place) {
  guint32 x[LENGTH], y[LENGTH];
  if (place < LENGTH)
    return a[place] == b[place] && a[place] != DEMUR_GUESS_NONE;
  memcpy(x, a, sizeof x);
  memcpy(y, b, sizeof y);
  if (place > LENGTH) {
    qsort(x, LENGTH, sizeof *x, compare);
    qsort(y, LENGTH, sizeof *y, compare);
  }
  return memcmp(x, y, sizeof x) == 0;
}

/* Each scan has the effect of its own indicator at hand: those that share one have the same. */
static double
plainly(const guint32 (*lists)[LENGTH], size_t n, const double *targets) {
  double of_fit = 0.0, of_mean = 0.0;
  for (size_t fold = 0; fold < 5; fold++) {
    double mean = 0.0, m = 0.0, residuals[MOST], effects[PLACES][MOST] = {{0.0}};
    for (size_t i = 0; i < n; i++)
      if (i % 5 != fold) {
        mean += targets[i];
        m++;
      }
    mean /= m;
    for (size_t i = 0; i < n; i++)
      residuals[i] = targets[i] - mean;
    for (int s = 0; s < 12; s++)
      for (size_t p = 0; p < PLACES; p++) {
        double fresh[MOST];
        for (size_t i = 0; i < n; i++) {
          double sum = 0.0, count = 0.0;
          for (size_t j = 0; j < n; j++)
            if (j % 5 != fold && alike(lists[i], lists[j], p)) {
              sum += residuals[j] + effects[p][i];
              count++;
            }
          fresh[i] = sum / (count + 4.0);
        }
        for (size_t i = 0; i < n; i++) {
          if (p < LENGTH && lists[i][p] == DEMUR_GUESS_NONE)
            continue;
          residuals[i] += effects[p][i] - fresh[i];
          effects[p][i] = fresh[i];
        }
      }
    for (size_t i = fold; i < n; i += 5) {
      double guess = mean;
      for (size_t p = 0; p < PLACES; p++)
        guess += effects[p][i];
      of_fit += (targets[i] - guess) * (targets[i] - guess);
      of_mean += (targets[i] - mean) * (targets[i] - mean);
    }
  }
  return of_mean > 0.0 ? 1.0 - of_fit / of_mean : 0.0;
}

static void
it_is_the_fit_written_out(void) {
  for (guint64 draw = 0; draw < 6; draw++) {
    DemurRandom random = demur_random_stream(draw, DEMUR_STREAM_TEST, 0, 0, 0);
    const size_t n = 20 + demur_random_below(&random, MOST - 20);
    guint32 lists[MOST][LENGTH];
    double first[MOST], second[MOST];
    for (size_t i = 0; i < n; i++) {
      for (size_t p = 0; p < LENGTH; p++) {
        const guint32 said = (guint32)demur_random_below(&random, 4);
        lists[i][p] = said == 3 ? DEMUR_GUESS_NONE : said; /* 0 is a statement like any */
      }
      first[i] = demur_random_normal(&random) + 2.0 * (lists[i][0] == 1);
      second[i] =
          demur_random_normal(&random) + (draw % 2 == 0) * 3.0 * (lists[i][1] == lists[i][2]);
    }
    const double *const targets[] = {first, second};
    const double a = demur_reason_guess(lists[0], n, LENGTH, targets, 1),
                 b = demur_reason_guess(lists[0], n, LENGTH, targets + 1, 1);
    g_assert_cmpfloat(a, ==, plainly((const guint32(*)[LENGTH])lists, n, first));
    g_assert_cmpfloat(b, ==, plainly((const guint32(*)[LENGTH])lists, n, second));
    g_assert_cmpfloat(demur_reason_guess(lists[0], n, LENGTH, targets, 2), ==, MAX(a, b));
    const double *const thrice[] = {first, first, second};
    g_assert_cmpfloat(demur_reason_guess(lists[0], n, LENGTH, thrice, 3), ==, MAX(a, b));
  }
}

static void
nothing_is_guessed_of_what_is_the_same(void) {
  guint32 lists[40][LENGTH] = {{0}};
  double same[40], alternate[40];
  for (size_t i = 0; i < 40; i++) {
    same[i] = 0.3;
    alternate[i] = (double)(i / 5 % 2);
    lists[i][2] = (guint32)(i / 5 % 2);
  }
  const double *const targets[] = {same, alternate};
  g_assert_cmpfloat(demur_reason_guess(lists[0], 40, LENGTH, targets, 1), ==, 0.0);
  g_assert_cmpfloat(demur_reason_guess(lists[0], 40, LENGTH, targets, 2), >, 0.8);
  g_assert_cmpfloat(demur_reason_guess(lists[0], 9, LENGTH, targets, 2), ==, 0.0); /* too few */
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/selector/reason-guess/plainly", it_is_the_fit_written_out);
  g_test_add_func("/selector/reason-guess/nothing", nothing_is_guessed_of_what_is_the_same);
  return g_test_run();
}
