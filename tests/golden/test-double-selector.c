/* The loss and the optimiser, in double, against numbers of the authors' code (../shared/golden).
 */
#include "base/memory.h"
#include "metrics/smmce.h"
#include "selector/adam.h"
#include "selector/smmce.h"
#include "selector/update.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

static JsonObject *
root_of(JsonParser *parser) {
  return json_node_get_object(json_parser_get_root(parser));
}

static double *
doubles_of(JsonObject *object, const char *name, size_t *n) {
  return demur_test_doubles(json_object_get_array_member(object, name), n);
}

static double
number_of(JsonObject *object, const char *name) {
  return demur_test_number(json_object_get_member(object, name));
}

static int
compare_risks(gconstpointer a, gconstpointer b, gpointer risks) {
  const guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
  const double x = ((const double *)risks)[i], y = ((const double *)risks)[j];
  return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

static guint32 *
order_by_risk(double *risks, size_t n) {
  guint32 *order = g_new(guint32, n);
  for (size_t i = 0; i < n; i++)
    order[i] = (guint32)i;
  g_qsort_with_data(order, (int)n, sizeof *order, compare_risks, risks);
  return order;
}

/* golden smmce.json, rel 1e-10: loss, gradient and the normalised measure, q = 1 and 2. */
static void
test_loss_and_gradient_match(void) {
  g_autoptr(JsonParser) parser = demur_test_golden("golden/smmce.json");
  if (parser == NULL)
    return;
  JsonArray *cases = json_object_get_array_member(root_of(parser), "cases");
  g_assert_cmpuint(json_array_get_length(cases), ==, 24);
  for (guint i = 0; i < json_array_get_length(cases); i++) {
    JsonObject *c = json_array_get_object_element(cases, i);
    size_t n;
    g_autofree double *r = doubles_of(c, "r", &n), *y = doubles_of(c, "y", NULL),
                      *z = doubles_of(c, "logits", NULL), *w = doubles_of(c, "w", NULL),
                      *expected_gradient = doubles_of(c, "smmce_u_grad_logit", NULL);
    const int q = (int)json_object_get_int_member(c, "q");
    g_autofree guint32 *order = order_by_risk(r, n);
    g_autofree double *risks = g_new(double, n), *errors = g_new(double, n),
                      *logits = g_new(double, n), *labels = g_new(double, n),
                      *weights = g_new(double, n), *gradient = g_new(double, n);
    g_autofree guint16 *counts = g_new(guint16, n);
    for (size_t j = 0; j < n; j++) {
      const guint32 row = order[j];
      risks[j] = r[row];
      labels[j] = y[row];
      errors[j] = pow(fabs(y[row] - r[row]), q);
      logits[j] = z[row];
      weights[j] = w[row];
      counts[j] = 1;
    }
    /* smmce_u has no 1/sqrt(n): lambda1 = sqrt(n) takes it away; lambda2 = 0 leaves the first
     * term's gradient. */
    DemurSmmceSettings settings = {q, number_of(c, "kernel_width"), sqrt((double)n), 0.0};
    DemurSmmceLoss loss = demur_smmce_loss(&settings, risks, errors, counts, logits, n, gradient);
    demur_assert_close(loss.smmce, number_of(c, "smmce_u"), 1e-10, 0);
    double largest = 0;
    for (size_t j = 0; j < n; j++)
      largest = fmax(largest, fabs(expected_gradient[j]));
    for (size_t j = 0; j < n; j++)
      demur_assert_close(gradient[j], expected_gradient[order[j]], 1e-10, 1e-14 * largest);
    settings = (DemurSmmceSettings){q, number_of(c, "kernel_width"), 1.0, 0.01};
    loss = demur_smmce_loss(&settings, risks, errors, counts, logits, n, NULL);
    demur_assert_close(loss.smmce + loss.regulariser, number_of(c, "train_loss"), 1e-10, 0);
    demur_assert_close(loss.regulariser * (double)n / 0.01, number_of(c, "bce_reg"), 1e-10, 0);
    demur_assert_close(demur_smmce_normalised(risks, labels, weights, n, q, 0.2),
                       number_of(c, "eq9_normalised"), 1e-10, 0);
  }
}

/* golden edge_reg.json: logits of +-800, and q = 2 with all errors zero. */
static void
test_loss_is_finite_at_the_edges(void) {
  g_autoptr(JsonParser) parser = demur_test_golden("golden/edge_reg.json");
  if (parser == NULL)
    return;
  size_t n;
  g_autofree double *logits = doubles_of(root_of(parser), "bce_logits", &n),
                    *expected = doubles_of(root_of(parser), "bce_grad", NULL);
  g_autofree double *risks = g_new0(double, n), *errors = g_new0(double, n),
                    *gradient = g_new0(double, n);
  g_autofree guint16 *counts = g_new(guint16, n);
  for (size_t i = 0; i < n; i++)
    counts[i] = 1;
  const DemurSmmceSettings settings = {2, 0.2, 1.0, (double)n};
  const DemurSmmceLoss loss =
      demur_smmce_loss(&settings, risks, errors, counts, logits, n, gradient);
  g_assert_cmpfloat(loss.smmce, ==, 0.0);
  demur_assert_close(loss.regulariser, number_of(root_of(parser), "bce_reg"), 1e-12, 0);
  for (size_t i = 0; i < n; i++)
    demur_assert_close(gradient[i], expected[i], 1e-12, 1e-300);
}

typedef struct {
  DemurTrainingScans scans;
  DemurDataset **datasets; /* [m] */
} GoldenBatch;

/* Rows of all data sets as scans of their own, in ascending risk; data set k holds the rows it
 * brought. */
static GoldenBatch
load_batch(JsonObject *batch, size_t m, size_t n, size_t d) {
  GoldenBatch b = {0};
  const size_t total = m * n;
  g_autofree double *r = g_new(double, total), *y = g_new(double, total);
  JsonArray *r_rows = json_object_get_array_member(batch, "r");
  JsonArray *y_rows = json_object_get_array_member(batch, "y");
  JsonArray *x_rows = json_object_get_array_member(batch, "X");
  for (size_t k = 0; k < m; k++)
    for (size_t i = 0; i < n; i++) {
      r[k * n + i] =
          json_array_get_double_element(json_array_get_array_element(r_rows, (guint)k), (guint)i);
      y[k * n + i] =
          json_array_get_double_element(json_array_get_array_element(y_rows, (guint)k), (guint)i);
    }
  g_autofree guint32 *order = order_by_risk(r, total);
  double *risks = g_new(double, total), *labels = g_new(double, total),
         *errors = g_new(double, total);
  DemurReal *features = demur_new_matrix(DemurReal, total, d);
  b.datasets = g_new(DemurDataset *, m);
  for (size_t k = 0; k < m; k++) {
    b.datasets[k] = demur_dataset_new(n);
    b.datasets[k]->n_total = n;
  }
  for (size_t j = 0; j < total; j++) {
    const guint32 row = order[j];
    risks[j] = r[row];
    labels[j] = y[row];
    errors[j] = (y[row] - r[row]) * (y[row] - r[row]);
    JsonArray *x = json_array_get_array_element(x_rows, row);
    for (size_t c = 0; c < d; c++)
      features[j * d + c] = json_array_get_double_element(x, (guint)c);
    DemurDataset *dataset = b.datasets[row / n];
    dataset->rows[dataset->n_rows] = (guint32)j;
    dataset->counts[dataset->n_rows++] = 1;
  }
  b.scans = (DemurTrainingScans){total, d, features, risks, labels, errors, NULL};
  return b;
}

static void
clear_batch(GoldenBatch *b, size_t m) {
  g_aligned_free((gpointer)b->scans.features);
  g_free((gpointer)b->scans.risks);
  g_free((gpointer)b->scans.labels);
  g_free((gpointer)b->scans.errors);
  for (size_t k = 0; k < m; k++)
    demur_dataset_free(b->datasets[k]);
  g_free(b->datasets);
}

static void
copy_part(JsonArray *values, double *out) {
  for (guint i = 0; i < json_array_get_length(values); i++) {
    JsonNode *element = json_array_get_element(values, i);
    if (JSON_NODE_HOLDS_ARRAY(element)) {
      JsonArray *row = json_node_get_array(element);
      for (guint j = 0; j < json_array_get_length(row); j++)
        *out++ = json_array_get_double_element(row, j);
    } else {
      *out++ = json_node_get_double(element);
    }
  }
}

static void
load_parameters(JsonObject *object, DemurMlpShape shape, double *parameters) {
  const DemurMlpOffsets o = demur_mlp_offsets(shape);
  copy_part(json_object_get_array_member(object, "W1"), parameters + o.w1);
  copy_part(json_object_get_array_member(object, "b1"), parameters + o.b1);
  copy_part(json_object_get_array_member(object, "W2"), parameters + o.w2);
  copy_part(json_object_get_array_member(object, "b2"), parameters + o.b2);
  copy_part(json_object_get_array_member(object, "W3"), parameters + o.w3);
  copy_part(json_object_get_array_member(object, "b3"), parameters + o.b3);
}

/* golden adam_*.json: 100 steps of the whole update (choice of kappa, loss, backward, clipping,
 * Adam), rel 1e-10. */
static void
check_hundred_steps(const char *file) {
  g_autoptr(JsonParser) parser = demur_test_golden(file);
  if (parser == NULL)
    return;
  JsonObject *root = root_of(parser);
  const size_t m = (size_t)json_object_get_int_member(root, "m");
  const size_t n = (size_t)json_object_get_int_member(root, "n");
  const DemurMlpShape shape = demur_mlp_shape(11, 8);
  JsonArray *batches = json_object_get_array_member(root, "batches");
  const guint n_batches = json_array_get_length(batches);
  const gint64 kappa = json_object_get_int_member(root, "kappa");
  const DemurUpdateSettings settings = {
      .smmce = {2, 0.2, number_of(root, "smmce_weight"), number_of(root, "coverage_weight")},
      .adam = {number_of(root, "lr"), number_of(root, "weight_decay"), number_of(root, "clip")},
      .kappa = kappa < 0 ? 0 : (size_t)kappa,
      .min_bin_size = 50};
  g_autofree GoldenBatch *loaded = g_new(GoldenBatch, n_batches);
  g_autofree DemurUpdater **updaters = g_new(DemurUpdater *, n_batches);
  for (guint b = 0; b < n_batches; b++) {
    loaded[b] = load_batch(json_array_get_object_element(batches, b), m, n, 11);
    updaters[b] = demur_updater_new(&loaded[b].scans, shape, &settings, m, n, NULL);
  }
  DEMUR_AUTO_ALIGNED double *parameters = demur_new_array(double, shape.n_parameters);
  g_autofree double *expected = g_new(double, shape.n_parameters);
  load_parameters(json_object_get_object_member(root, "init"), shape, parameters);
  DemurAdam *adam = demur_adam_new(shape.n_parameters);
  JsonArray *steps = json_object_get_array_member(root, "steps");
  JsonObject *kept = json_object_get_object_member(root, "params");
  int n_compared = 0;
  for (guint s = 0; s < 100; s++) {
    DemurUpdateResult result;
    demur_updater_run(updaters[s % n_batches], loaded[s % n_batches].datasets, adam, parameters,
                      &result);
    if (s < json_array_get_length(steps)) {
      JsonObject *step = json_array_get_object_element(steps, s);
      demur_assert_close(result.loss, number_of(step, "loss"), 1e-10, 0);
      demur_assert_close(result.gradient_norm, number_of(step, "grad_norm"), 1e-10, 0);
    }
    g_autofree char *name = g_strdup_printf("%u", s + 1);
    if (json_object_has_member(kept, name)) {
      load_parameters(json_object_get_object_member(kept, name), shape, expected);
      for (size_t p = 0; p < shape.n_parameters; p++)
        demur_assert_close(parameters[p], expected[p], 1e-10, 1e-12);
      n_compared++;
    }
  }
  g_assert_cmpint(n_compared, ==, 3);
  demur_adam_free(adam);
  for (guint b = 0; b < n_batches; b++) {
    demur_updater_free(updaters[b]);
    clear_batch(&loaded[b], m);
  }
}

static void
test_adam_on_all_data_sets(void) {
  check_hundred_steps("golden/adam_all.json");
}

static void
test_adam_on_kappa_worst_with_clipping(void) {
  check_hundred_steps("golden/adam_kappa_clip.json");
}

static void
test_adam_with_strong_weight_decay(void) {
  check_hundred_steps("golden/adam_wd_strong.json");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/golden/smmce/loss-and-gradient", test_loss_and_gradient_match);
  g_test_add_func("/golden/smmce/edges", test_loss_is_finite_at_the_edges);
  g_test_add_func("/golden/adam/all", test_adam_on_all_data_sets);
  g_test_add_func("/golden/adam/kappa-clip", test_adam_on_kappa_worst_with_clipping);
  g_test_add_func("/golden/adam/weight-decay", test_adam_with_strong_weight_decay);
  return g_test_run();
}
