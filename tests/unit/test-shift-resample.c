/* The family T: what a drawn data set is, and how often a site or a scan is in it.
 *
 * Expectations are worked out from the header's definition (w ~ Dirichlet, then n draws with
 * replacement); a share averaged over D data sets lies within 5 standard errors of them. */
#include <math.h>
#include <string.h>

#include "shift/resample.h"
#include "support/support.h"

#define N_ERRORS 5.0

static const DemurShiftKind kinds[] = {DEMUR_SHIFT_GROUPS, DEMUR_SHIFT_NONE, DEMUR_SHIFT_EXAMPLE,
                                       DEMUR_SHIFT_OUTSIDE};

/* Groups 1, 2 and 4 of 6, uneven: 70 %, 25 % and 5 % of the scans, mixed over the rows. */
static guint32 *
uneven_groups(size_t n) {
  guint32 *groups = g_new(guint32, n);
  for (size_t i = 0; i < n; i++) {
    const size_t place = i * 7919 % n * 20 / n;
    groups[i] = place < 14 ? 1 : place < 19 ? 4 : 2;
  }
  return groups;
}

static void
assert_same(const DemurDataset *a, const DemurDataset *b) {
  g_assert_cmpuint(a->n_rows, ==, b->n_rows);
  g_assert_cmpuint(a->n_total, ==, b->n_total);
  g_assert_true(memcmp(a->rows, b->rows, a->n_rows * sizeof *a->rows) == 0);
  g_assert_true(memcmp(a->counts, b->counts, a->n_rows * sizeof *a->counts) == 0);
}

/* The contract of DemurDataset, for every member of the family and sizes around the words of the
 * bitmap. */
static void
every_draw_is_a_data_set(void) {
  static const size_t scans[] = {1, 2, 63, 64, 65, 128, 1000};
  static const size_t sizes[] = {1, 7, 64, 1024, 65535};
  for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++)
    for (size_t s = 0; s < G_N_ELEMENTS(scans); s++)
      for (size_t d = 0; d < G_N_ELEMENTS(sizes); d++) {
        const size_t n = scans[s], capacity = MIN(n, sizes[d]);
        g_autofree guint32 *groups = uneven_groups(n);
        g_autoptr(DemurResampler) resampler =
            demur_resampler_new(kinds[k], n, groups, 6, 1.0, sizes[d]);
        DemurResamplerScratch *scratch = demur_resampler_scratch_new(resampler);
        DemurDataset *dataset = demur_dataset_new(capacity);
        for (guint64 draw = 0; draw < 5; draw++) {
          DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, n, sizes[d], draw);
          demur_resampler_draw(resampler, &random, scratch, dataset);
          size_t total = 0;
          g_assert_cmpuint(dataset->n_rows, >=, 1);
          g_assert_cmpuint(dataset->n_rows, <=, capacity);
          for (size_t j = 0; j < dataset->n_rows; j++) {
            g_assert_cmpuint(dataset->rows[j], <, n);
            g_assert_true(j == 0 || dataset->rows[j - 1] < dataset->rows[j]);
            g_assert_cmpuint(dataset->counts[j], >=, 1);
            total += dataset->counts[j];
          }
          g_assert_cmpuint(total, ==, sizes[d]);
          g_assert_cmpuint(dataset->n_total, ==, sizes[d]);
        }
        demur_resampler_scratch_free(scratch);
        demur_dataset_free(dataset);
      }
}

/* A draw depends on its stream alone: not on what the scratch drew before, nor on which scratch. */
static void
same_stream_gives_the_same_data_set(void) {
  const size_t n = 777;
  g_autofree guint32 *groups = uneven_groups(n);
  for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
    g_autoptr(DemurResampler) resampler = demur_resampler_new(kinds[k], n, groups, 6, 0.3, 500);
    DemurResamplerScratch *used = demur_resampler_scratch_new(resampler);
    DemurDataset *first = demur_dataset_new(500), *other = demur_dataset_new(500),
                 *again = demur_dataset_new(500);
    for (guint64 draw = 0; draw < 20; draw++) {
      DemurRandom random = demur_random_stream(2, DEMUR_STREAM_TEST, draw, 0, 0);
      DemurResamplerScratch *fresh = demur_resampler_scratch_new(resampler);
      demur_resampler_draw(resampler, &random, fresh, first);
      demur_resampler_scratch_free(fresh);
      random = demur_random_stream(2, DEMUR_STREAM_TEST, draw, 1, 0);
      demur_resampler_draw(resampler, &random, used, other);
      random = demur_random_stream(2, DEMUR_STREAM_TEST, draw, 0, 0);
      demur_resampler_draw(resampler, &random, used, again);
      assert_same(first, again);
      g_assert_false(first->n_rows == other->n_rows &&
                     memcmp(first->rows, other->rows, first->n_rows * sizeof *first->rows) == 0 &&
                     memcmp(first->counts, other->counts, first->n_rows * sizeof *first->counts) ==
                         0);
    }
    demur_resampler_scratch_free(used);
    demur_dataset_free(first);
    demur_dataset_free(other);
    demur_dataset_free(again);
  }
}

/* Nor on which data sets are drawn with it, or how many; and the stream goes on behind what was taken. */
static void
side_by_side_gives_the_same_data_sets(void) {
  const size_t n = 777, sizes[] = {1, 127, 128, 300};
  g_autofree guint32 *groups = uneven_groups(n);
  for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++)
    for (size_t z = 0; z < G_N_ELEMENTS(sizes); z++) {
      g_autoptr(DemurResampler) r = demur_resampler_new(kinds[k], n, groups, 6, 0.3, sizes[z]);
      DemurResamplerScratch *scratch = demur_resampler_scratch_new(r);
      DemurDataset *together[DEMUR_RANDOM_LANES], *alone = demur_dataset_new(sizes[z]);
      for (size_t l = 0; l < DEMUR_RANDOM_LANES; l++)
        together[l] = demur_dataset_new(sizes[z]);
      for (size_t some = 1; some <= DEMUR_RANDOM_LANES; some++) {
        DemurRandom randoms[DEMUR_RANDOM_LANES];
        for (size_t l = 0; l < some; l++)
          randoms[l] = demur_random_stream(5, DEMUR_STREAM_TEST, some, l, 0);
        demur_resampler_draw_some(r, randoms, some, scratch, together);
        for (size_t l = 0; l < some; l++) {
          DemurRandom random = demur_random_stream(5, DEMUR_STREAM_TEST, some, l, 0);
          demur_resampler_draw(r, &random, scratch, alone);
          assert_same(together[l], alone);
          g_assert_cmpuint(demur_random_bits(&random), ==, demur_random_bits(&randoms[l]));
        }
      }
      for (size_t l = 0; l < DEMUR_RANDOM_LANES; l++)
        demur_dataset_free(together[l]);
      demur_dataset_free(alone);
      demur_resampler_scratch_free(scratch);
    }
}

/* Share s of a group in a data set of n. With G groups and p = 1/G:
 *   by groups: E s = p; var s = V + (p - p^2 - V)/n, V = (G - 1)/(G^2 (G alpha + 1)) the weight's;
 *   example:   E s = p; var s = p (1 - p)/n;
 *   outside:   s is 1 with probability p, else 0;
 *   none:      E s = the group's share f of all scans; var s = f (1 - f)/n.
 * Squared deviations lie in [0, 1], so their mean over D draws has an sd of at most sqrt(var/D). */
static void
groups_get_their_share(void) {
  static const struct {
    DemurShiftKind kind;
    double alpha;
  } rows[] = {{DEMUR_SHIFT_GROUPS, 1},    {DEMUR_SHIFT_GROUPS, 0.1}, {DEMUR_SHIFT_GROUPS, 50},
              {DEMUR_SHIFT_GROUPS, 1e-7}, {DEMUR_SHIFT_NONE, 1},     {DEMUR_SHIFT_EXAMPLE, 1},
              {DEMUR_SHIFT_OUTSIDE, 1}};
  static const double shares[] = {0.0, 0.70, 0.05, 0.0, 0.25, 0.0};
  const size_t n = 400, size = 100, n_draws = 8000;
  g_autofree guint32 *groups = uneven_groups(n);
  size_t n_in[6] = {0};
  for (size_t i = 0; i < n; i++)
    n_in[groups[i]]++;
  for (size_t g = 0; g < 6; g++)
    g_assert_cmpfloat((double)n_in[g] / (double)n, ==, shares[g]);
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autoptr(DemurResampler) resampler =
        demur_resampler_new(rows[r].kind, n, groups, 6, rows[r].alpha, size);
    DemurResamplerScratch *scratch = demur_resampler_scratch_new(resampler);
    DemurDataset *dataset = demur_dataset_new(size);
    double sums[6] = {0}, squares[6] = {0};
    g_autofree guint64 *scans = g_new0(guint64, n);
    const double p = 1.0 / 3;
    for (guint64 draw = 0; draw < n_draws; draw++) {
      DemurRandom random = demur_random_stream(3, DEMUR_STREAM_TEST, r, draw, 0);
      demur_resampler_draw(resampler, &random, scratch, dataset);
      double share[6] = {0};
      for (size_t j = 0; j < dataset->n_rows; j++) {
        share[groups[dataset->rows[j]]] += (double)dataset->counts[j] / (double)size;
        scans[dataset->rows[j]] += dataset->counts[j];
      }
      for (size_t g = 0; g < 6; g++) {
        const double expected = rows[r].kind == DEMUR_SHIFT_NONE ? shares[g] : p;
        sums[g] += share[g];
        squares[g] += (share[g] - expected) * (share[g] - expected);
      }
      if (rows[r].kind == DEMUR_SHIFT_OUTSIDE)
        g_assert_cmpint((share[1] > 0) + (share[2] > 0) + (share[4] > 0), ==, 1);
    }
    for (size_t g = 0; g < 6; g++) {
      if (shares[g] == 0.0) {
        g_assert_cmpfloat(sums[g], ==, 0.0); /* a group without scans is never drawn */
        continue;
      }
      const double weight = 2.0 / (9.0 * (3.0 * rows[r].alpha + 1.0)), f = shares[g];
      const double mean = rows[r].kind == DEMUR_SHIFT_NONE ? f : p;
      const double variance =
          rows[r].kind == DEMUR_SHIFT_GROUPS    ? weight + (p - p * p - weight) / (double)size
          : rows[r].kind == DEMUR_SHIFT_OUTSIDE ? p * (1 - p)
                                                : mean * (1 - mean) / (double)size;
      const double error = N_ERRORS * sqrt(variance / (double)n_draws);
      if (fabs(sums[g] / (double)n_draws - mean) > error)
        g_error("row %zu, group %zu: share %g, not %g", r, g, sums[g] / (double)n_draws, mean);
      if (fabs(squares[g] / (double)n_draws - variance) > error)
        g_error("row %zu, group %zu: variance %g, not %g", r, g, squares[g] / (double)n_draws,
                variance);
    }
    /* Within a group every scan alike: given the group's number of draws, chi-square. */
    for (size_t g = 0; g < 6; g++) {
      if (n_in[g] == 0)
        continue;
      double total = 0.0, chi2 = 0.0;
      for (size_t i = 0; i < n; i++)
        total += groups[i] == g ? (double)scans[i] : 0.0;
      const double expected = total / (double)n_in[g];
      for (size_t i = 0; i < n; i++)
        if (groups[i] == g)
          chi2 += ((double)scans[i] - expected) * ((double)scans[i] - expected) / expected;
      const double freedom = (double)n_in[g] - 1.0;
      g_assert_cmpfloat(fabs(chi2 - freedom), <, N_ERRORS * sqrt(2.0 * freedom) + 10.0);
    }
    demur_resampler_scratch_free(scratch);
    demur_dataset_free(dataset);
  }
}

/* One site: site-weighted resampling is plain resampling, whatever alpha; more sites than parts of
 * the guide table: every one is reached. */
static void
one_site_and_many_sites_are_drawn(void) {
  const guint32 one[] = {0, 0, 0};
  g_autoptr(DemurResampler) resampler =
      demur_resampler_new(DEMUR_SHIFT_GROUPS, 3, one, 1, 1e-6, 300);
  DemurResamplerScratch *scratch = demur_resampler_scratch_new(resampler);
  DemurDataset *dataset = demur_dataset_new(3);
  DemurRandom random = demur_random_stream(4, DEMUR_STREAM_TEST, 0, 0, 0);
  demur_resampler_draw(resampler, &random, scratch, dataset);
  g_assert_cmpuint(dataset->n_rows, ==, 3); /* missing one has probability 3 (2/3)^300 */
  demur_resampler_scratch_free(scratch);
  demur_dataset_free(dataset);

  const size_t n = 1500;
  g_autofree guint32 *many = g_new(guint32, n);
  for (size_t i = 0; i < n; i++)
    many[i] = (guint32)(n - 1 - i);
  g_autoptr(DemurResampler) wide = demur_resampler_new(DEMUR_SHIFT_GROUPS, n, many, n, 10.0, 60000);
  scratch = demur_resampler_scratch_new(wide);
  dataset = demur_dataset_new(n);
  demur_resampler_draw(wide, &random, scratch, dataset);
  g_assert_cmpuint(dataset->n_rows, ==, n);
  demur_resampler_scratch_free(scratch);
  demur_dataset_free(dataset);
}

/* The resampler copies what it needs. */
static void
groups_may_change_after(void) {
  guint32 groups[] = {0, 0, 1, 1};
  g_autoptr(DemurResampler) resampler =
      demur_resampler_new(DEMUR_SHIFT_OUTSIDE, 4, groups, 2, 1, 50);
  for (size_t i = 0; i < 4; i++)
    groups[i] = 1000;
  DemurResamplerScratch *scratch = demur_resampler_scratch_new(resampler);
  DemurDataset *dataset = demur_dataset_new(4);
  DemurRandom random = demur_random_stream(5, DEMUR_STREAM_TEST, 0, 0, 0);
  demur_resampler_draw(resampler, &random, scratch, dataset);
  g_assert_cmpuint(dataset->n_rows, ==, 2);
  g_assert_cmpuint(dataset->rows[0] / 2, ==, dataset->rows[1] / 2);
  demur_resampler_scratch_free(scratch);
  demur_dataset_free(dataset);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/shift/resample/data-set", every_draw_is_a_data_set);
  g_test_add_func("/shift/resample/stream", same_stream_gives_the_same_data_set);
  g_test_add_func("/shift/resample/side-by-side-gives-the-same-data-sets",
                  side_by_side_gives_the_same_data_sets);
  g_test_add_func("/shift/resample/shares", groups_get_their_share);
  g_test_add_func("/shift/resample/few-and-many", one_site_and_many_sites_are_drawn);
  g_test_add_func("/shift/resample/copies", groups_may_change_after);
  return g_test_run();
}
