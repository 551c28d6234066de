/* Whether few scans can be had by subtraction between two ways of grouping. The attack is brute
 * force over sets of scans and knows nothing of how releases.c looks for it. */
#include <string.h>

#include "base/limits.h"
#include "base/random.h"
#include "evaluation/releases.h"
#include "support/support.h"

#define MOST 400

/* A cohort of n scans whose sites, networks of sites and other groups are nested, crossed or equal,
 * many of them nearly. */
static DemurCohort *
make_cohort(guint64 seed, size_t n) {
  DemurRandom random = demur_random_stream(seed, DEMUR_STREAM_TEST, 7, 0, 0);
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  const guint n_sites = 3 + (guint)demur_random_below(&random, 6);
  for (size_t i = 0; i < n; i++) {
    char id[16], site[16], text[16];
    const guint s = (guint)demur_random_below(&random, n_sites) *
                    (guint)demur_random_below(&random, n_sites) / n_sites;
    g_snprintf(id, sizeof id, "p%zu", i);
    g_snprintf(site, sizeof site, "S%u", s);
    const double risk = 0.5;
    demur_cohort_builder_add(builder, id, id, site, "test",
                             demur_random_below(&random, 3) == 0 ? 1 : 0, &risk, NULL, NULL);
    /* Two sites make a network, but for a few scans. */
    g_snprintf(text, sizeof text, "N%u", demur_random_below(&random, 60) == 0 ? 9 : s / 2);
    demur_cohort_builder_attribute(builder, "network", text);
    g_snprintf(text, sizeof text, "T%u", s == 0 && demur_random_below(&random, 9) == 0 ? 7 : s);
    demur_cohort_builder_attribute(builder, "team", text);
    demur_cohort_builder_attribute(builder, "sex", demur_random_below(&random, 2) == 0 ? "f" : "m");
    g_snprintf(text, sizeof text, "%u", 40 + (guint)demur_random_below(&random, 40));
    demur_cohort_builder_attribute(builder, "age", text);
    demur_cohort_builder_attribute(builder, "ward", s < n_sites - 1 ? "main" : "annexe");
  }
  g_autoptr(GError) error = NULL;
  DemurCohort *cohort = demur_cohort_builder_finish(builder, "c", "m", "test", "", FALSE, &error);
  g_assert_no_error(error);
  return cohort;
}

typedef struct {
  guint8 in[MOST];
} Set;

/* The sets that a way tells of: its told groups, what they leave, all scans. */
static GArray *
told_sets(const DemurReleasedWay *way, const gboolean *withheld, size_t n) {
  GArray *sets = g_array_new(FALSE, TRUE, sizeof(Set));
  Set rest = {{0}}, all = {{0}};
  gboolean any = FALSE;
  memset(all.in, 1, n);
  for (size_t g = 0; g < way->grouping->n_values; g++) {
    Set set = {{0}};
    for (size_t i = 0; i < n; i++)
      set.in[i] = way->grouping->codes[i] == g;
    if (!withheld[g])
      g_array_append_val(sets, set);
    for (size_t i = 0; withheld[g] && i < n; i++)
      rest.in[i] |= set.in[i], any |= set.in[i] != 0;
  }
  if (any)
    g_array_append_val(sets, rest);
  g_array_append_val(sets, all);
  return sets;
}

/* Subtracts from P every told set of the other way that lies within it; TRUE where few are left. */
static gboolean
tells_few(const guint8 *p, const GArray *sets, const DemurCohort *cohort, gboolean of_labels) {
  guint8 left[MOST];
  const size_t n = cohort->n_scans;
  memcpy(left, p, n);
  for (guint k = 0; k + 1 < sets->len; k++) { /* all but the last, which is everything */
    const Set *q = &g_array_index(sets, Set, k);
    gboolean within = TRUE;
    for (size_t i = 0; i < n; i++)
      within &= !q->in[i] || p[i];
    for (size_t i = 0; within && i < n; i++)
      left[i] &= (guint8)!q->in[i];
  }
  size_t n_left = 0, n_of[2] = {0};
  for (size_t i = 0; i < n; i++)
    if (left[i]) {
      n_left++;
      n_of[cohort->labels[i]]++;
    }
  if (n_left == 0)
    return FALSE;
  return of_labels ? MIN(n_of[0], n_of[1]) < DEMUR_SMALL_CELL : n_left < DEMUR_SMALL_CELL;
}

/* How many subtractions of one or two sets of a way, or of what they leave, tell of few. */
static size_t
attack(const DemurReleases *r, const DemurCohort *cohort, gboolean of_labels, gboolean as_told) {
  static const gboolean nothing[MOST] = {FALSE};
  size_t n_found = 0;
  for (size_t a = 0; a < r->n_ways; a++)
    for (size_t b = 0; b < r->n_ways; b++) {
      const gboolean *withheld[2];
      const size_t ways[2] = {a, b};
      for (int k = 0; k < 2; k++) {
        const DemurReleasedWay *way = &r->ways[ways[k]];
        withheld[k] = !as_told ? nothing : of_labels ? way->labels_withheld : way->scans_withheld;
      }
      g_autoptr(GArray) of_a = told_sets(&r->ways[a], withheld[0], r->n);
      g_autoptr(GArray) of_b = told_sets(&r->ways[b], withheld[1], r->n);
      for (guint x = 0; x < of_a->len; x++)
        for (guint y = x; y < of_a->len; y++) {
          guint8 p[MOST], out[MOST];
          for (size_t i = 0; i < r->n; i++) {
            p[i] = g_array_index(of_a, Set, x).in[i] | g_array_index(of_a, Set, y).in[i];
            out[i] = !p[i];
          }
          n_found += tells_few(p, of_b, cohort, of_labels) ? 1 : 0;
          n_found += tells_few(out, of_b, cohort, of_labels) ? 1 : 0;
        }
    }
  return n_found;
}

static void
test_nothing_by_subtraction(void) {
  size_t n_told = 0, n_without = 0;
  for (guint64 seed = 0; seed < 40; seed++) {
    const size_t n = 60 + (size_t)(seed * 8) % (MOST - 60);
    g_autoptr(DemurCohort) cohort = make_cohort(seed, n);
    g_autofree guint32 *rows = g_new(guint32, n);
    for (size_t i = 0; i < n; i++)
      rows[i] = (guint32)i;
    g_autoptr(DemurReleases) r = demur_releases_new(cohort, rows, n, NULL);
    g_assert_cmpuint(r->n_ways, ==, 6);
    g_assert_cmpuint(attack(r, cohort, FALSE, TRUE), ==, 0);
    g_assert_cmpuint(attack(r, cohort, TRUE, TRUE), ==, 0);
    n_without += attack(r, cohort, FALSE, FALSE);
    for (size_t w = 0; w < r->n_ways; w++)
      for (size_t g = 0; g < r->ways[w].grouping->n_values; g++)
        n_told += r->ways[w].scans_withheld[g] ? 0 : 1;
  }
  /* The attack works where nothing is withheld, and not everything is withheld. */
  g_assert_cmpuint(n_without, >, 1000);
  g_assert_cmpuint(n_told, >, 200);
}

/* The hospital of 55 inside a network of 58: the network gives way, and what it would tell
 * together with the other one. */
static void
test_a_network_of_hospitals(void) {
  g_autoptr(DemurCohortBuilder) builder = demur_cohort_builder_new(2, 0);
  static const struct {
    const char *site, *network;
    int n;
  } parts[] = {{"A", "north", 55},
               {"B", "north", 3},
               {"C", "south", 40},
               {"D", "south", 30},
               {"E", "west", 50}};
  int id = 0;
  for (size_t k = 0; k < G_N_ELEMENTS(parts); k++)
    for (int i = 0; i < parts[k].n; i++) {
      g_autofree char *text = g_strdup_printf("p%d", id++);
      const double risk = 0.5;
      demur_cohort_builder_add(builder, text, text, parts[k].site, "test", i % 2, &risk, NULL,
                               NULL);
      demur_cohort_builder_attribute(builder, "network", parts[k].network);
    }
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurCohort) cohort =
      demur_cohort_builder_finish(builder, "c", "m", "test", "", FALSE, &error);
  g_assert_no_error(error);
  size_t n;
  g_autofree guint32 *rows = demur_cohort_rows(cohort, "test", &n, &error);
  g_autoptr(DemurReleases) r = demur_releases_new(cohort, rows, n, NULL);
  const DemurReleasedWay *site = demur_releases_find(r, "site"),
                         *network = demur_releases_find(r, "network");
  /* B is small, and D (the smallest) must go with it. */
  static const gboolean sites[] = {FALSE, TRUE, FALSE, TRUE, FALSE};
  for (size_t g = 0; g < 5; g++)
    g_assert_cmpint(site->scans_withheld[g], ==, sites[g]);
  g_assert_true(demur_released_way_withholds(network, "north"));
  g_assert_null(demur_releases_find(r, "scanner"));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/evaluation/releases/nothing-by-subtraction", test_nothing_by_subtraction);
  g_test_add_func("/evaluation/releases/a-network-of-hospitals", test_a_network_of_hospitals);
  return g_test_run();
}
