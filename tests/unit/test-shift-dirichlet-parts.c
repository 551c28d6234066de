/* The groups' parts of [0, 2^32), quick and exact: by the weights of base/random.h, added one by one. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "shift/dirichlet-parts.h"
#include "support/support.h"

enum { MAX_GROUPS = 1000 };

static void
by_definition(DemurRandom *random, double alpha, size_t n, guint64 *ends) {
  double weights[MAX_GROUPS], sum = 0.0;
  demur_random_dirichlet(random, alpha, n, weights);
  for (size_t g = 0; g + 1 < n; g++) {
    sum += weights[g];
    ends[g] = (guint64)(fmin(sum, 1.0) * 0x1p32);
  }
  ends[n - 1] = (guint64)1 << 32;
}

/* Every end of 6,600 divisions, and the stream behind them; the quick way is sure of most draws, and of each it is right. */
static void
the_same_as_by_definition(void) {
  static const size_t sizes[] = {1, 2, 3, 7, 8, 9, 33, 114, 180, 181, 1000};
  static const double alphas[] = {1.0, .3, 4.0};
  DEMUR_AUTO_ALIGNED double *scratch = demur_new_array(double, DEMUR_DIRICHLET_SCRATCH(MAX_GROUPS));
  size_t n_sure = 0, n_unsure = 0;
  for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (size_t a = 0; a < G_N_ELEMENTS(alphas); a++)
      for (guint64 draw = 0; draw < 200; draw++) {
        const size_t n = sizes[s];
        guint64 ends[MAX_GROUPS], right[MAX_GROUPS];
        DemurRandom start = demur_random_stream(7, DEMUR_STREAM_TEST, n, a, draw);
        DemurRandom random = start, other = start;
        by_definition(&random, alphas[a], n, right);
        demur_dirichlet_parts(&other, alphas[a], n, scratch, ends);
        g_assert_true(memcmp(ends, right, n * sizeof *ends) == 0);
        g_assert_true(memcmp(&random, &other, sizeof random) == 0);
        if (alphas[a] != 1.0)
          continue;
        other = start;
        if (demur_dirichlet_parts_at_once(&other, n, scratch, ends)) {
          g_assert_true(memcmp(ends, right, n * sizeof *ends) == 0);
          g_assert_true(memcmp(&random, &other, sizeof random) == 0);
          n_sure += n <= 114;
        } else {
          g_assert_true(memcmp(&start, &other, sizeof start) == 0);
          n_unsure += n <= 114;
        }
      }
  g_assert_cmpuint(n_unsure, >, 0);
  g_assert_cmpuint(n_unsure, <, n_sure / 20);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/shift/dirichlet-parts/same", the_same_as_by_definition);
  return g_test_run();
}
