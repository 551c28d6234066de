/* S-BCE_2 over coverage of drawn data sets. Right values: one worked by hand, and else what the measure of any sample
 * says (metrics/selective.h), which other tests hold to the definition. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "metrics/coverage.h"
#include "metrics/drawn-errors.h"
#include "metrics/selective.h"
#include "support/support.h"

enum { N_SCANS = 700, MAX_TOTAL = 2000 };

typedef struct {
  size_t n, n_total;
  double risks[N_SCANS], labels[N_SCANS], scores[N_SCANS];
  guint32 ranks[N_SCANS];
  DemurDrawnScan scans[N_SCANS];
  size_t n_ranks;
  guint16 drawn[N_SCANS]; /* by scan */
  /* The data set: of the scans drawn. */
  size_t n_rows;
  guint32 rows[N_SCANS];
  guint16 counts[N_SCANS];
} Case;

/* Scans whose risks (ties TRUE: a few) ascend; scores of n_scores values, or of as many as scans where 0. */
static void
draw_scans(Case *c, size_t n, gboolean ties, size_t n_scores, DemurRandom *random) {
  c->n = n;
  double risk = 0.0;
  for (size_t i = 0; i < n; i++) {
    if (!ties || demur_random_below(random, 5) == 0)
      risk += demur_random_uniform(random) / (double)n;
    c->risks[i] = risk;
    c->labels[i] = demur_random_uniform(random) < risk ? 1.0 : 0.0;
    c->scans[i].difference = c->labels[i] - c->risks[i];
    c->scans[i].risk = i == 0 ? 0 : c->scans[i - 1].risk + (c->risks[i] != c->risks[i - 1]);
    c->scores[i] =
        n_scores > 0 ? (double)demur_random_below(random, n_scores) : demur_random_normal(random);
  }
  c->n_ranks = demur_coverage_ranks(c->scores, n, c->ranks);
  for (size_t i = 0; i < n; i++)
    c->scans[i].rank = c->ranks[i];
}

/* n_total draws among the first n_among scans. */
static void
draw_set(Case *c, size_t n_total, size_t n_among, DemurRandom *random) {
  memset(c->drawn, 0, sizeof c->drawn);
  for (size_t k = 0; k < n_total; k++)
    c->drawn[demur_random_below(random, n_among)]++;
  c->n_total = n_total;
  c->n_rows = 0;
  for (guint32 i = 0; i < c->n; i++)
    if (c->drawn[i] > 0) {
      c->rows[c->n_rows] = i;
      c->counts[c->n_rows++] = c->drawn[i];
    }
}

static void
by_definition(const Case *c, const double *coverages, size_t n_coverages, double *errors) {
  double risks[N_SCANS], labels[N_SCANS];
  guint32 counts[N_SCANS], ranks[N_SCANS];
  for (size_t j = 0; j < c->n_rows; j++) {
    risks[j] = c->risks[c->rows[j]];
    labels[j] = c->labels[c->rows[j]];
    counts[j] = c->counts[j];
    ranks[j] = c->ranks[c->rows[j]];
  }
  const DemurSelectiveSample sample = {.n = c->n_rows,
                                       .risks = risks,
                                       .labels = labels,
                                       .counts = counts,
                                       .ranks = ranks,
                                       .n_ranks = c->n_ranks};
  g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(N_SCANS);
  demur_selective_errors(&sample, coverages, n_coverages, 25, scratch, errors);
}

static void
by_lanes(const Case *c, const double *coverages, size_t n_coverages, DemurDrawnScratch *scratch,
         double *errors) {
  const DemurDrawnScans scans = {c->scans, c->n, c->n_ranks};
  const DemurDrawnSet set = {c->n_rows, c->n_total, c->rows, c->counts};
  demur_drawn_errors(&scans, &set, coverages, n_coverages, 25, scratch, errors);
}

/* Two scans of risks .2 and .6, outcomes 0 and 1, drawn 30 and 20 times: 50 scans, two bins of 25. At coverage 1 the
 * first is -.2 x 25; the second 5 of the first and 20 of the other: -1 + 8 = 7. So the square is
 * (25 / 25 + 49 / 25) / 50 x 25 / 25: (1 + 1.96) / 50. At .3, 15 scans are wanted: those of the higher score,
 * 20, one bin: .4. */
static void
one_by_hand(void) {
  Case c = {.n = 2,
            .n_total = 50,
            .scans = {{-.2, 1, 0}, {.4, 0, 1}},
            .n_ranks = 2,
            .n_rows = 2,
            .rows = {0, 1},
            .counts = {30, 20}};
  const double coverages[] = {.3, 1.0};
  double errors[2];
  DemurDrawnScratch *scratch = demur_drawn_scratch_new(N_SCANS, N_SCANS);
  by_lanes(&c, coverages, 2, scratch, errors);
  g_assert_cmpfloat_with_epsilon(errors[0], .4, 1e-15);
  g_assert_cmpfloat_with_epsilon(errors[1], sqrt((1.0 + 1.96) / 50.0), 1e-15);
  c.n_total = c.n_rows = 0;
  by_lanes(&c, coverages, 2, scratch, errors);
  g_assert_true(isnan(errors[0]) && isnan(errors[1]));
  demur_drawn_scratch_free(scratch);
}

static void
the_same_as_of_any_sample(void) {
  static const struct {
    size_t n, n_total, n_among;
  } sizes[] = {{1, 1, 1},      {2, 60, 2},       {3, 24, 3},       {30, 25, 30},    {30, 500, 7},
               {200, 49, 200}, {700, 700, 90},   {700, 2000, 700}, {700, 375, 700}, {64, 1024, 64},
               {65, 1024, 65}, {128, 2000, 128}, {129, 2000, 129}, {257, 2000, 257}};
  static const size_t n_scores[] = {0, 1, 2, 9};
  static const double several[] = {1.0, .05, .5, .33, .9, .15, .5, .99, .25, .7, .6, .05};
  DemurRandom random = demur_random_stream(3, DEMUR_STREAM_TEST, 0, 0, 0);
  g_autofree Case *c = g_new0(Case, 1);
  DemurDrawnScratch *scratch = demur_drawn_scratch_new(N_SCANS, N_SCANS);
  for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (int kind = 0; kind < 2 * (int)G_N_ELEMENTS(n_scores); kind++) {
      draw_scans(c, sizes[s].n, kind % 2 == 1, n_scores[kind / 2], &random);
      draw_set(c, sizes[s].n_total, sizes[s].n_among, &random);
      for (size_t n = 1; n <= G_N_ELEMENTS(several); n += 11) {
        double wanted[G_N_ELEMENTS(several)], errors[G_N_ELEMENTS(several)];
        by_definition(c, several, n, wanted);
        by_lanes(c, several, n, scratch, errors);
        for (size_t l = 0; l < n; l++)
          g_assert_cmpfloat_with_epsilon(errors[l], wanted[l], 1e-12);
      }
    }
  demur_drawn_scratch_free(scratch);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/metrics/drawn-errors/by-hand", one_by_hand);
  g_test_add_func("/metrics/drawn-errors/same", the_same_as_of_any_sample);
  return g_test_run();
}
