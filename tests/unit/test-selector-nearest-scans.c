/* The nearest kept scans, found by putting all of them in order: many at the same distance, and every number of them at which
 * something changes (blocks of 64, 50 and 200 neighbours). */
#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "selector/nearest-scans.h"
#include "selector/selector-private.h"
#include "support/support.h"

enum { N_SITES = 5 };

/* A selector that keeps n scans of few different inputs; of those of confidence, which are first, all differ. */
static DemurSelector *
keep(size_t n, gboolean with_image) {
  DemurSelector *s = demur_selector_alloc();
  s->columns = demur_meta_columns_new(2, with_image, FALSE, NULL);
  s->n_inputs = s->columns->n_columns;
  s->inputs = g_new(guint32, s->n_inputs);
  for (size_t c = 0; c < s->n_inputs; c++)
    s->inputs[c] = (guint32)c;
  s->n_kept = n;
  s->kept_inputs = demur_new_matrix(float, n, s->n_inputs);
  s->kept_risks = demur_new_array(float, n);
  s->kept_labels = demur_new_array(float, n);
  s->kept_sites = demur_new_array(guint32, n);
  s->n_site_names = N_SITES;
  s->site_names = g_new0(char *, N_SITES + 1);
  for (size_t site = 0; site < N_SITES; site++)
    s->site_names[site] = g_strdup_printf("site %zu", site);
  DemurRandom random = demur_random_stream(n, DEMUR_STREAM_TEST, (guint64)with_image, 0, 0);
  for (size_t i = 0; i < n; i++) {
    for (size_t c = 0; c < s->n_inputs; c++)
      s->kept_inputs[i * s->n_inputs + c] = with_image && c < s->columns->n_confidence
                                                ? (float)demur_random_normal(&random)
                                                : (float)demur_random_below(&random, 3);
    s->kept_risks[i] = (float)demur_random_uniform(&random);
    s->kept_labels[i] = (float)demur_random_below(&random, 2);
    s->kept_sites[i] = (guint32)demur_random_below(&random, N_SITES);
  }
  return s;
}

typedef struct {
  float distance;
  size_t scan;
} Found;

static int
compare(const void *a, const void *b) {
  const Found *x = a, *y = b;
  if (x->distance != y->distance)
    return x->distance < y->distance ? -1 : 1;
  return (x->scan > y->scan) - (x->scan < y->scan);
}

static void
check(const DemurSelector *s, const float *input, gssize exclude) {
  g_autofree Found *all = g_new(Found, s->n_kept);
  size_t n = 0;
  for (size_t i = 0; i < s->n_kept; i++) {
    if ((gssize)i == exclude)
      continue;
    float distance = 0.0f;
    for (size_t c = s->columns->n_outlier > 0 ? s->columns->n_confidence : 0; c < s->n_inputs;
         c++) {
      const float difference = s->kept_inputs[i * s->n_inputs + c] - input[c];
      distance += difference * difference;
    }
    all[n++] = (Found){distance, i};
  }
  if (n > 0)
    qsort(all, n, sizeof *all, compare);
  const size_t k = MIN(CLAMP(s->n_kept / 20, 50, 200), n);
  double expected = 0.0;
  guint counts[N_SITES] = {0}, found[N_SITES] = {0}, n_events = 0, n_top = 0, n_sites = 0;
  for (size_t j = 0; j < k; j++) {
    expected += (double)s->kept_risks[all[j].scan];
    n_events += s->kept_labels[all[j].scan] > 0.5f;
    counts[s->kept_sites[all[j].scan]]++;
  }
  for (size_t site = 0; site < N_SITES; site++) {
    n_sites += counts[site] > 0;
    n_top = MAX(n_top, counts[site]);
  }
  g_autoptr(DemurScanFinder) finder = demur_scan_finder_new(s);
  DemurNearestScans nearest;
  g_assert_true(demur_nearest_scans(finder, input, exclude, found, &nearest) == (k > 0));
  g_assert_cmpuint(nearest.n, ==, k);
  if (k == 0)
    return;
  g_assert_cmpfloat(nearest.expected, ==,
                    expected); /* in the order of distance, so to the last digit */
  g_assert_cmpuint(nearest.n_events, ==, n_events);
  g_assert_cmpuint(nearest.n_sites, ==, n_sites);
  g_assert_cmpuint(nearest.n_top, ==, n_top);
  g_assert_cmpuint(counts[nearest.top], ==, n_top);
  g_assert_true(memcmp(found, counts, sizeof counts) == 0);
  DemurNearestScans sites;
  g_assert_true(demur_nearest_sites(finder, input, exclude, &sites));
  g_assert_cmpuint(sites.n, ==, k);
  g_assert_cmpuint(sites.n_sites, ==, n_sites);
  g_assert_cmpuint(sites.top, ==, nearest.top);
  g_assert_cmpuint(sites.n_top, ==, n_top);
}

static void
they_are_the_first_of_all_in_order(void) {
  static const size_t sizes[] = {0, 1, 2, 49, 50, 51, 63, 64, 65, 128, 1000, 1020, 3999, 4100};
  for (size_t z = 0; z < G_N_ELEMENTS(sizes); z++)
    for (int with_image = 0; with_image < 2; with_image++) {
      g_autoptr(DemurSelector) s = keep(sizes[z], with_image != 0);
      g_autofree float *input = g_new0(float, s->n_inputs);
      check(s, input, -1);
      if (s->n_kept == 0)
        continue;
      for (size_t i = 0; i < s->n_kept; i += MAX(s->n_kept / 5, 1))
        check(s, s->kept_inputs + i * s->n_inputs, (gssize)i);
    }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/selector/nearest-scans/order", they_are_the_first_of_all_in_order);
  return g_test_run();
}
