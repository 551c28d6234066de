/* Thresholds, measures and their AUC against numbers of the authors' code (../shared/golden). */
#include "metrics/coverage.h"
#include "metrics/selective.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

static JsonObject *
root_of(JsonParser *parser) {
  return json_node_get_object(json_parser_get_root(parser));
}

/* golden threshold.json: index_exact_rational is the paper's Eq. quantile in exact thousandths. */
static void
test_threshold_is_the_exact_quantile(void) {
  g_autoptr(JsonParser) parser = demur_test_golden("golden/threshold.json");
  if (parser == NULL)
    return;
  JsonObject *all_scores = json_object_get_object_member(root_of(parser), "scores");
  JsonArray *cases = json_object_get_array_member(root_of(parser), "cases");
  int n_compared = 0, n_inexact = 0;
  for (guint i = 0; i < json_array_get_length(cases); i++) {
    JsonObject *c = json_array_get_object_element(cases, i);
    const gint64 n = json_object_get_int_member(c, "n");
    const double xi = demur_test_number(json_object_get_member(c, "xi"));
    g_autofree char *name =
        g_strdup_printf("n%d_ties%d", (int)n, (int)json_object_get_boolean_member(c, "ties"));
    size_t n_scores;
    g_autofree double *scores =
        demur_test_doubles(json_object_get_array_member(all_scores, name), &n_scores);
    g_assert_cmpuint(n_scores, ==, (guint64)n);
    const double threshold = demur_coverage_threshold(xi, scores, n_scores);
    JsonNode *exact = json_object_get_member(c, "index_exact_rational");
    if (JSON_NODE_HOLDS_NULL(exact)) {
      g_assert_true(isinf(threshold));
      continue;
    }
    g_assert_cmpuint(demur_coverage_count(xi, n_scores), ==, (guint64)json_node_get_int(exact) + 1);
    if (json_node_get_int(exact) != json_object_get_int_member(c, "index")) {
      n_inexact++; /* float64 ceil(xi n) is one too many there: the exact index decides */
      continue;
    }
    size_t n_selected = 0;
    for (size_t s = 0; s < n_scores; s++)
      n_selected += scores[s] >= threshold;
    g_assert_cmpfloat(threshold, ==, demur_test_number(json_object_get_member(c, "threshold")));
    g_assert_cmpuint(n_selected, ==, (guint64)json_object_get_int_member(c, "n_selected"));
    n_compared++;
  }
  g_assert_cmpint(n_compared, >, 100);
  g_assert_cmpint(n_inexact, >, 0);
}

typedef struct {
  size_t n;
  double *risks, *labels, *scores; /* in ascending risk, ties in their own order */
  guint32 *ranks;
  DemurSelectiveSample sample;
} GoldenSample;

static int
compare_risks(gconstpointer a, gconstpointer b, gpointer risks) {
  const guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
  const double x = ((const double *)risks)[i], y = ((const double *)risks)[j];
  return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

static GoldenSample
load_sample(JsonObject *c) {
  GoldenSample s;
  g_autofree double *r = demur_test_doubles(json_object_get_array_member(c, "r"), &s.n);
  g_autofree double *y = demur_test_doubles(json_object_get_array_member(c, "y"), NULL);
  g_autofree double *w = demur_test_doubles(json_object_get_array_member(c, "w"), NULL);
  g_autofree guint32 *order = g_new(guint32, s.n);
  for (size_t i = 0; i < s.n; i++)
    order[i] = (guint32)i;
  g_qsort_with_data(order, (int)s.n, sizeof *order, compare_risks, r);
  s.risks = g_new(double, s.n);
  s.labels = g_new(double, s.n);
  s.scores = g_new(double, s.n);
  s.ranks = g_new(guint32, s.n);
  for (size_t i = 0; i < s.n; i++) {
    /* The golden numbers fill bins in file order where risks tie (Demur: by their mean outcome), so
     * ties are moved apart by far less than the tolerance. */
    s.risks[i] = r[order[i]] + 1e-15 * (double)i;
    s.labels[i] = y[order[i]];
    s.scores[i] = w[order[i]];
  }
  s.sample = (DemurSelectiveSample){.n = s.n,
                                    .risks = s.risks,
                                    .labels = s.labels,
                                    .ranks = s.ranks,
                                    .n_ranks = demur_coverage_ranks(s.scores, s.n, s.ranks)};
  return s;
}

static void
clear_sample(GoldenSample *s) {
  g_free(s->risks);
  g_free(s->labels);
  g_free(s->scores);
  g_free(s->ranks);
}

/* golden metrics.json: float64, rel 1e-10, bins of 25 and of 50. */
static void
test_measures_match_at_each_coverage(void) {
  g_autoptr(JsonParser) parser = demur_test_golden("golden/metrics.json");
  if (parser == NULL)
    return;
  JsonArray *cases = json_object_get_array_member(root_of(parser), "cases");
  int n_compared = 0;
  for (guint i = 0; i < json_array_get_length(cases); i++) {
    JsonObject *c = json_array_get_object_element(cases, i);
    GoldenSample s = load_sample(c);
    g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(s.n);
    JsonArray *at = json_object_get_array_member(c, "at");
    for (guint a = 0; a < json_array_get_length(at); a++) {
      JsonObject *expected = json_array_get_object_element(at, a);
      const double coverage = demur_test_number(json_object_get_member(expected, "coverage"));
      const size_t bin_sizes[2] = {25, 50};
      for (int b = 0; b < 2; b++) {
        DemurSelectivePoint point;
        demur_selective_curve(&s.sample, &coverage, 1, bin_sizes[b], scratch, &point);
        g_autofree char *ce2 = g_strdup_printf("ce2_bin%zu", bin_sizes[b]);
        g_autofree char *ceinf = g_strdup_printf("ceinf_bin%zu", bin_sizes[b]);
        demur_assert_close(point.error2, demur_test_number(json_object_get_member(expected, ce2)),
                           1e-10, 1e-15);
        demur_assert_close(point.error_inf,
                           demur_test_number(json_object_get_member(expected, ceinf)), 1e-10,
                           1e-15);
        demur_assert_close(point.brier,
                           demur_test_number(json_object_get_member(expected, "brier")), 1e-10, 0);
        demur_assert_close(point.accuracy,
                           demur_test_number(json_object_get_member(expected, "acc")), 1e-10, 0);
        g_assert_cmpuint(point.n_selected, ==,
                         (guint64)json_object_get_int_member(expected, "n_selected"));
        n_compared++;
      }
    }
    clear_sample(&s);
  }
  g_assert_cmpint(n_compared, >, 200);
}

/* golden auc.json divides by (range + 1e-8), the program by the range: rel 2e-8. */
static void
test_auc_over_coverage_matches(void) {
  g_autoptr(JsonParser) metrics = demur_test_golden("golden/metrics.json");
  g_autoptr(JsonParser) aucs = metrics != NULL ? demur_test_golden("golden/auc.json") : NULL;
  if (aucs == NULL)
    return;
  JsonArray *samples = json_object_get_array_member(root_of(metrics), "cases");
  JsonArray *cases = json_object_get_array_member(root_of(aucs), "cases");
  int n_compared = 0;
  for (guint i = 0; i < json_array_get_length(cases); i++) {
    JsonObject *c = json_array_get_object_element(cases, i);
    JsonObject *sample = NULL;
    for (guint j = 0; j < json_array_get_length(samples) && sample == NULL; j++) {
      JsonObject *candidate = json_array_get_object_element(samples, j);
      if (json_object_get_int_member(candidate, "n") == json_object_get_int_member(c, "n") &&
          strcmp(json_object_get_string_member(candidate, "kind"),
                 json_object_get_string_member(c, "kind")) == 0)
        sample = candidate;
    }
    g_assert_nonnull(sample);
    GoldenSample s = load_sample(sample);
    g_autoptr(DemurSelectiveScratch) scratch = demur_selective_scratch_new(s.n);
    double coverages[50], values[50];
    demur_coverage_grid(50, coverages);
    DemurSelectivePoint points[50];
    for (int b = 25; b <= 50; b += 25) {
      demur_selective_curve(&s.sample, coverages, 50, (size_t)b, scratch, points);
      const char *names[4] = {"ce2_bin%d", "ceinf_bin%d", "brier", "acc"};
      for (int m = 0; m < 4; m++) {
        for (int p = 0; p < 50; p++)
          values[p] = m == 0   ? points[p].error2
                      : m == 1 ? points[p].error_inf
                      : m == 2 ? points[p].brier
                               : points[p].accuracy;
        g_autofree char *name =
            m < 2 ? g_strdup_printf(m == 0 ? "ce2_bin%d" : "ceinf_bin%d", b) : g_strdup(names[m]);
        JsonObject *expected = json_object_get_object_member(c, name);
        demur_assert_close(demur_coverage_auc(coverages, values, 50),
                           demur_test_number(json_object_get_member(expected, "auc")), 3e-8, 0);
        n_compared++;
      }
    }
    double ten[10], errors[10];
    demur_coverage_grid(10, ten);
    demur_selective_errors(&s.sample, ten, 10, 50, scratch, errors);
    demur_assert_close(
        demur_coverage_auc(ten, errors, 10),
        demur_test_number(json_object_get_member(c, "train_kappa_auc_10pt_ce2_bin50")), 3e-8, 0);
    clear_sample(&s);
  }
  g_assert_cmpint(n_compared, >, 80);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/golden/threshold/exact-quantile", test_threshold_is_the_exact_quantile);
  g_test_add_func("/golden/metrics/at-coverage", test_measures_match_at_each_coverage);
  g_test_add_func("/golden/metrics/auc", test_auc_over_coverage_matches);
  return g_test_run();
}
