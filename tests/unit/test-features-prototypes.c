/* Prototypes: laws of groups and means. Values by hand. */
#include <math.h>

#include "base/random.h"
#include "features/prototypes.h"
#include "support/support.h"

/* Every row in one group, no group smaller than asked or twice as large, whatever the data. */
static void
test_sizes(void) {
  static const size_t shapes[][3] = {{1, 3, 5},   {9, 1, 5},     {10, 2, 5}, {1000, 4, 25},
                                     {997, 3, 1}, {500, 2, 500}, {64, 1, 4}};
  for (size_t s = 0; s < G_N_ELEMENTS(shapes); s++)
    for (int constant = 0; constant < 2; constant++) {
      const size_t n = shapes[s][0], d = shapes[s][1], least = shapes[s][2];
      DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, s, 0, 0);
      g_autofree double *rows = g_new(double, n *d);
      for (size_t i = 0; i < n * d; i++)
        rows[i] = constant ? 1.0 : demur_random_normal(&random);
      g_autofree guint32 *groups = g_new(guint32, n);
      const size_t n_groups = demur_prototypes_group(rows, n, d, least, groups);
      g_autofree size_t *sizes = g_new0(size_t, n_groups);
      for (size_t i = 0; i < n; i++) {
        g_assert_cmpuint(groups[i], <, n_groups);
        sizes[groups[i]]++;
      }
      for (size_t g = 0; g < n_groups; g++) {
        g_assert_cmpuint(sizes[g], >=, MIN(least, n));
        g_assert_cmpuint(sizes[g], <, MAX(2 * least, n + 1 < 2 * least ? n + 1 : 0));
      }
    }
}

/* Four points on a line, two and two: their means. */
static void
test_means(void) {
  const double rows[] = {10, 0, 11, 1};
  const float values[] = {10, 0, 11, 1};
  guint32 groups[4];
  g_assert_cmpuint(demur_prototypes_group(rows, 4, 1, 2, groups), ==, 2);
  g_assert_cmpuint(groups[1], ==, groups[3]);
  g_assert_cmpuint(groups[0], ==, groups[2]);
  g_assert_cmpuint(groups[1], ==, 0);
  float means[2];
  demur_prototypes_means(values, 4, 1, groups, 2, means);
  g_assert_cmpfloat(means[0], ==, 0.5f);
  g_assert_cmpfloat(means[1], ==, 10.5f);
}

/* The column of largest variance is cut: clusters far apart in one of three columns stay apart. */
static void
test_cuts_where_it_varies_most(void) {
  double rows[40][3];
  guint32 groups[40];
  for (int i = 0; i < 40; i++) {
    rows[i][0] = (i % 7) * 0.1;
    rows[i][1] = i % 2 == 0 ? -100.0 : 100.0;
    rows[i][2] = (i % 5) * 0.1;
  }
  g_assert_cmpuint(demur_prototypes_group(&rows[0][0], 40, 3, 20, groups), ==, 2);
  for (int i = 0; i < 40; i++)
    g_assert_cmpuint(groups[i], ==, (guint32)(i % 2));
}

/* The squared distance from a row to the nearest prototype. */
static double
nearest(const double *row, const float *means, size_t n_groups, size_t d) {
  double least = INFINITY;
  for (size_t g = 0; g < n_groups; g++) {
    double sum = 0.0;
    for (size_t j = 0; j < d; j++)
      sum += pow(row[j] - (double)means[g * d + j], 2.0);
    least = fmin(least, sum);
  }
  return least;
}

/* Who has a scan and the prototypes can't tell whether it was among those that they are means of: of
 * a member and another of the same kind the nearer to a prototype is the member in little more than
 * half of all pairs (AUC under .6; 1 where each row is a prototype of its own). */
static void
test_membership(void) {
  static const size_t leasts[] = {10, 1}, widths[] = {2, 8, 32};
  enum { N = 1000 };
  for (size_t l = 0; l < G_N_ELEMENTS(leasts); l++)
    for (size_t w = 0; w < G_N_ELEMENTS(widths); w++) {
      const size_t d = widths[w];
      DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, 77, d, 0);
      g_autofree double *rows = g_new(double, 2 * N * d); /* the second half are others */
      g_autofree float *values = g_new(float, N *d);
      for (size_t i = 0; i < 2 * N * d; i++)
        rows[i] = demur_random_normal(&random);
      for (size_t i = 0; i < N * d; i++)
        values[i] = (float)rows[i];
      g_autofree guint32 *groups = g_new(guint32, N);
      const size_t n_groups = demur_prototypes_group(rows, N, d, leasts[l], groups);
      g_autofree float *means = g_new(float, n_groups *d);
      demur_prototypes_means(values, N, d, groups, n_groups, means);
      g_autofree double *distances = g_new(double, 2 * N);
      for (size_t i = 0; i < 2 * N; i++)
        distances[i] = nearest(rows + i * d, means, n_groups, d);
      size_t n_nearer = 0;
      for (size_t i = 0; i < N; i++)
        for (size_t j = N; j < 2 * N; j++)
          n_nearer += distances[i] < distances[j] ? 1 : 0;
      const double auc = (double)n_nearer / ((double)N * N);
      g_test_message("least %zu, d %zu: AUC %.3f", leasts[l], d, auc);
      if (leasts[l] == 1)
        g_assert_cmpfloat(auc, >, 0.99);
      else
        g_assert_cmpfloat(auc, <, 0.6);
    }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/features/prototypes/sizes", test_sizes);
  g_test_add_func("/features/prototypes/means", test_means);
  g_test_add_func("/features/prototypes/membership", test_membership);
  g_test_add_func("/features/prototypes/cuts-where-it-varies-most", test_cuts_where_it_varies_most);
  return g_test_run();
}
