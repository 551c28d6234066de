/* The outlier model: laws it must keep, its file, and documents that are no model. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/processor.h"
#include "base/random.h"
#include "features/isolation-forest.h"
#include "features/one-class-svm.h"
#include "features/outlier.h"
#include "support/support.h"

#define D 12

static float *
draw(size_t n, guint64 index) {
  float *rows = demur_new_matrix(float, n, D);
  DemurRandom random = demur_random_stream(11, DEMUR_STREAM_TEST, index, 0, 0);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < D; j++)
      rows[i * D + j] = (float)((double)j + 3.0 * demur_random_normal(&random));
  for (size_t i = 0; i < n; i++)
    rows[i * D] = (float)(i % 2); /* an indicator, which scaling leaves alone */
  return rows;
}

static DemurOutlierModel *
fit(const float *rows, size_t n, const DemurOutlierSettings *settings, DemurParallel *parallel) {
  g_autoptr(GError) error = NULL;
  DemurOutlierModel *model =
      demur_outlier_model_fit(rows, n, D, settings, 5, parallel, NULL, &error);
  g_assert_no_error(error);
  return model;
}

static double *
score(const DemurOutlierModel *model, const float *rows, size_t m, const gssize *exclude,
      DemurParallel *parallel) {
  double *out = demur_new_matrix(double, m, DEMUR_N_OUTLIER);
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_outlier_model_score(model, rows, m, exclude, out, parallel, NULL, &error));
  g_assert_no_error(error);
  return out;
}

static void
any_number_of_threads_gives_the_same_bytes(void) {
  const size_t n = 500, m = 900;
  DEMUR_AUTO_ALIGNED float *rows = draw(n, 0), *queries = draw(m, 1);
  g_autoptr(DemurOutlierModel) model = fit(rows, n, NULL, NULL);
  DEMUR_AUTO_ALIGNED double *right = score(model, queries, m, NULL, NULL);
  const guint threads[] = {1, 2, 7};
  for (size_t t = 0; t < G_N_ELEMENTS(threads); t++) {
    g_autoptr(DemurParallel) parallel = demur_parallel_new(threads[t]);
    g_autoptr(DemurOutlierModel) other = fit(rows, n, NULL, parallel);
    DEMUR_AUTO_ALIGNED double *found = score(other, queries, m, NULL, parallel);
    g_assert_true(memcmp(found, right, m * DEMUR_N_OUTLIER * sizeof(double)) == 0);
  }
}

static void
scan_alone_gives_the_bytes_it_gives_among_others(void) {
  const size_t n = 300, m = 800;
  DEMUR_AUTO_ALIGNED float *rows = draw(n, 0), *queries = draw(m, 1);
  g_autoptr(DemurOutlierModel) model = fit(rows, n, NULL, NULL);
  DEMUR_AUTO_ALIGNED double *all = score(model, queries, m, NULL, NULL);
  for (size_t i = 0; i < m; i += 97) {
    DEMUR_AUTO_ALIGNED double *alone = score(model, queries + i * D, 1, NULL, NULL);
    g_assert_true(memcmp(alone, all + i * DEMUR_N_OUTLIER, DEMUR_N_OUTLIER * sizeof(double)) == 0);
  }
}

/* All but the forest, which draws rows by place, see the reference as a set. */
static void
order_of_the_reference_does_not_matter(void) {
  const size_t n = 260, m = 60;
  DEMUR_AUTO_ALIGNED float *rows = draw(n, 0), *queries = draw(m, 1);
  DEMUR_AUTO_ALIGNED float *shuffled = demur_new_matrix(float, n, D);
  g_autofree guint32 *order = g_new(guint32, n);
  for (size_t i = 0; i < n; i++)
    order[i] = (guint32)i;
  DemurRandom random = demur_random_stream(11, DEMUR_STREAM_TEST, 2, 0, 0);
  demur_random_shuffle(&random, n, order);
  for (size_t i = 0; i < n; i++)
    memcpy(shuffled + i * D, rows + order[i] * D, D * sizeof(float));
  g_autoptr(DemurOutlierModel) one = fit(rows, n, NULL, NULL);
  g_autoptr(DemurOutlierModel) two = fit(shuffled, n, NULL, NULL);
  DEMUR_AUTO_ALIGNED double *a = score(one, queries, m, NULL, NULL);
  DEMUR_AUTO_ALIGNED double *b = score(two, queries, m, NULL, NULL);
  for (size_t i = 0; i < m; i++)
    for (size_t f = 0; f < DEMUR_N_OUTLIER; f++) {
      const double x = a[i * DEMUR_N_OUTLIER + f], y = b[i * DEMUR_N_OUTLIER + f];
      if (f == DEMUR_OUTLIER_FOREST)
        continue;
      demur_assert_close(x, y, f == DEMUR_OUTLIER_SVM ? 1e-6 : 1e-11, 0);
    }
}

/* Every reference row twice: the density stays, the one-class SVM's score doubles (twice the weight
 * to give away, the same scaling and gamma). */
static void
doubling_the_reference_keeps_density_and_doubles_the_svm(void) {
  const size_t n = 150, m = 40;
  DEMUR_AUTO_ALIGNED float *rows = draw(n, 0), *queries = draw(m, 1);
  DEMUR_AUTO_ALIGNED float *twice = demur_new_matrix(float, 2 * n, D);
  memcpy(twice, rows, n * D * sizeof(float));
  memcpy(twice + n * D, rows, n * D * sizeof(float));
  g_autoptr(DemurOutlierModel) one = fit(rows, n, NULL, NULL);
  g_autoptr(DemurOutlierModel) two = fit(twice, 2 * n, NULL, NULL);
  DEMUR_AUTO_ALIGNED double *a = score(one, queries, m, NULL, NULL);
  DEMUR_AUTO_ALIGNED double *b = score(two, queries, m, NULL, NULL);
  for (size_t i = 0; i < m; i++) {
    const double *x = a + i * DEMUR_N_OUTLIER, *y = b + i * DEMUR_N_OUTLIER;
    demur_assert_close(y[DEMUR_OUTLIER_KDE], x[DEMUR_OUTLIER_KDE], 1e-11, 0);
    demur_assert_close(y[DEMUR_OUTLIER_SVM], 2.0 * x[DEMUR_OUTLIER_SVM], 1e-6, 0);
    g_assert_cmpfloat(y[DEMUR_OUTLIER_KNN], <, x[DEMUR_OUTLIER_KNN]);
  }
}

/* A scan of the reference, left out, is scored as by a reference that never held it: kNN and KDE,
 * with the same scaler (LOF keeps the other rows' densities, see its header). The scaler is held
 * fixed by the columns: each is an indicator, which scaling leaves alone. */
static void
leaving_a_row_out_equals_a_reference_without_it(void) {
  const size_t n = 64;
  DEMUR_AUTO_ALIGNED float *rows = demur_new_matrix(float, n, D);
  DemurRandom random = demur_random_stream(11, DEMUR_STREAM_TEST, 3, 0, 0);
  for (size_t i = 0; i < n * D; i++)
    rows[i] = (float)demur_random_below(&random, 2);
  g_autoptr(DemurOutlierModel) whole = fit(rows, n, NULL, NULL);
  for (gssize left = 0; left < (gssize)n; left += 9) {
    DEMUR_AUTO_ALIGNED float *others = demur_new_matrix(float, n - 1, D);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
      if ((gssize)i != left)
        memcpy(others + kept++ * D, rows + i * D, D * sizeof(float));
    g_autoptr(DemurOutlierModel) without = fit(others, n - 1, NULL, NULL);
    const float *query = rows + (size_t)left * D;
    DEMUR_AUTO_ALIGNED double *a = score(whole, query, 1, &left, NULL);
    DEMUR_AUTO_ALIGNED double *b = score(without, query, 1, NULL, NULL);
    DEMUR_AUTO_ALIGNED double *in = score(whole, query, 1, NULL, NULL);
    demur_assert_close(a[DEMUR_OUTLIER_KNN], b[DEMUR_OUTLIER_KNN], 1e-14, 0);
    demur_assert_close(a[DEMUR_OUTLIER_KDE], b[DEMUR_OUTLIER_KDE], 1e-13, 0);
    g_assert_cmpfloat(in[DEMUR_OUTLIER_KNN], <, a[DEMUR_OUTLIER_KNN]);
    g_assert_cmpfloat(in[DEMUR_OUTLIER_KDE], >, a[DEMUR_OUTLIER_KDE]);
    g_assert_cmpfloat(in[DEMUR_OUTLIER_SVM], ==, a[DEMUR_OUTLIER_SVM]);
    g_assert_cmpfloat(in[DEMUR_OUTLIER_FOREST], ==, a[DEMUR_OUTLIER_FOREST]);
  }
}

static void
far_scan_is_an_outlier_by_every_score(void) {
  const size_t n = 400;
  DEMUR_AUTO_ALIGNED float *rows = draw(n, 0);
  g_autoptr(DemurOutlierModel) model = fit(rows, n, NULL, NULL);
  float far[D];
  for (size_t j = 0; j < D; j++)
    far[j] = 40.0f;
  DEMUR_AUTO_ALIGNED double *normal = score(model, rows, n, NULL, NULL);
  DEMUR_AUTO_ALIGNED double *outside = score(model, far, 1, NULL, NULL);
  for (size_t i = 0; i < n; i++)
    for (size_t f = 0; f < DEMUR_N_OUTLIER; f++) {
      const int sign = demur_outlier_columns[f].keep_sign;
      g_assert_cmpfloat(sign * outside[f], <, sign * normal[i * DEMUR_N_OUTLIER + f]);
    }
}

/* More rows than allowed: so many are drawn, by the seed, and places still mean the caller's rows.
 */
static void
large_reference_is_drawn_from_and_keeps_its_row_numbers(void) {
  const size_t n = 500;
  DEMUR_AUTO_ALIGNED float *rows = draw(n, 0);
  DemurOutlierSettings settings;
  demur_outlier_settings_init(&settings);
  settings.max_reference = 120;
  settings.svm_max_rows = 50;
  g_autoptr(DemurOutlierModel) model = fit(rows, n, &settings, NULL);
  g_assert_cmpuint(demur_outlier_model_n_fitted(model), ==, n);
  g_assert_cmpuint(demur_outlier_model_n_reference(model), ==, 120);
  g_assert_cmpuint(demur_outlier_model_n_svm_rows(model), ==, 50);
  const size_t n_vectors = demur_outlier_model_n_svm_vectors(model);
  g_assert_true(n_vectors >= 25 && n_vectors <= 50); /* 25 to give away, at most 1 each */
  const guint32 *kept = demur_outlier_model_rows(model);
  g_autoptr(GError) error = NULL;
  for (size_t i = 0; i < 120; i++) {
    guint32 nearest;
    double distance;
    const float *row = rows + (size_t)kept[i] * D;
    g_assert_true(demur_outlier_model_nearest(model, row, 1, NULL, 1, &nearest, &distance, NULL,
                                              NULL, &error));
    g_assert_cmpuint(nearest, ==, kept[i]);
    g_assert_cmpfloat(distance, ==, 0.0);
    const gssize exclude = kept[i];
    g_assert_true(demur_outlier_model_nearest(model, row, 1, &exclude, 1, &nearest, &distance, NULL,
                                              NULL, &error));
    g_assert_cmpuint(nearest, !=, kept[i]);
    g_assert_cmpfloat(distance, >, 0.0);
  }
  g_autofree gboolean *is_kept = g_new0(gboolean, n);
  for (size_t i = 0; i < 120; i++)
    is_kept[kept[i]] = TRUE;
  for (gssize i = 0; i < (gssize)n; i++) {
    if (is_kept[i])
      continue; /* a row that was not drawn has nothing to be left out of */
    DEMUR_AUTO_ALIGNED double *a = score(model, rows + i * D, 1, &i, NULL);
    DEMUR_AUTO_ALIGNED double *b = score(model, rows + i * D, 1, NULL, NULL);
    g_assert_true(memcmp(a, b, DEMUR_N_OUTLIER * sizeof(double)) == 0);
  }
}

static char *
write_document(const DemurOutlierModel *model) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_outlier_model_write_json(model, json);
  demur_json_end_object(json);
  return demur_json_finish(json);
}

static void
file_gives_back_the_same_scores_and_the_same_bytes(void) {
  const size_t n = 300, m = 100;
  DEMUR_AUTO_ALIGNED float *rows = draw(n, 0), *queries = draw(m, 1);
  DemurOutlierSettings settings;
  demur_outlier_settings_init(&settings);
  settings.max_reference = 250;
  g_autoptr(DemurOutlierModel) model = fit(rows, n, &settings, NULL);
  g_autofree char *text = write_document(model);
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  g_autoptr(GError) error = NULL;
  g_assert_true(json_parser_load_from_data(parser, text, -1, &error));
  g_autoptr(DemurOutlierModel) read = demur_outlier_model_read_json(
      json_node_get_object(json_parser_get_root(parser)), NULL, &error);
  g_assert_no_error(error);
  gssize exclude[100];
  for (gssize i = 0; i < 100; i++)
    exclude[i] = i;
  DEMUR_AUTO_ALIGNED double *a = score(model, queries, m, NULL, NULL);
  DEMUR_AUTO_ALIGNED double *b = score(read, queries, m, NULL, NULL);
  g_assert_true(memcmp(a, b, m * DEMUR_N_OUTLIER * sizeof(double)) == 0);
  DEMUR_AUTO_ALIGNED double *c = score(model, rows, m, exclude, NULL);
  DEMUR_AUTO_ALIGNED double *e = score(read, rows, m, exclude, NULL);
  g_assert_true(memcmp(c, e, m * DEMUR_N_OUTLIER * sizeof(double)) == 0);
  g_autofree char *again = write_document(read);
  g_assert_cmpstr(again, ==, text);
}

/* One member of a sound document replaced (path "forest/lefts": a member of a member; index >= 0:
 * one element), or taken away (value NULL). */
typedef struct {
  const char *path;
  int index;
  const char *value;
} Damage;

static const Damage damages[] = {
    {"format", -1, "\"demur-outlier-9\""},
    {"format", -1, "3"},
    {"width", -1, "0"},
    {"width", -1, "13"},
    {"width", -1, "1e300"},
    {"width", -1, "4611686018427387904"},
    {"n_fitted", -1, "40"},
    {"n_reference", -1, "1"},
    {"n_reference", -1, "61"},
    {"n_reference", -1, "-5"},
    {"knn_k", -1, "0"},
    {"lof_k", -1, "1.5"},
    {"svm_rows", -1, "1000000"},
    {"svm_gamma", -1, "-1"},
    {"svm_gamma", -1, "null"},
    {"scaler_means", 3, "\"x\""},
    {"scaler_means", -1, "[]"},
    {"scaler_sds", 2, "0"},
    {"scaler_sds", 2, "-1"},
    {"scaler_sds", 2, "1e-320"},
    {"rows", 4, "3"},
    {"rows", 4, "4000000000"},
    {"rows", 4, "[4]"},
    {"rows", 59, "60"},
    {"reference", -1, "\"\""},
    {"reference", -1, "\"AAAA\""},
    {"reference", -1, "{}"},
    {"svm_alphas", 0, "1.5"},
    {"svm_alphas", 0, "-0.1"},
    {"svm_alphas", -1, "[1]"},
    {"lof_kdist", 7, "-1"},
    {"lof_kdist", 7, "1e999"},
    {"lof_kdist", 7, "1e200"},
    {"lof_lrd", 7, "null"},
    {"forest", -1, "[]"},
    {"forest/n_trees", -1, "0"},
    {"forest/n_trees", -1, "99999999999"},
    {"forest/n_nodes", -1, "2147483647"},
    {"forest/sample", -1, "1"},
    {"forest/roots", 0, "1"},
    {"forest/roots", 2, "0"},
    {"forest/columns", 0, "12"},
    {"forest/columns", 0, "-1"},
    {"forest/lefts", 0, "0"},
    {"forest/lefts", 0, "2"},
    {"forest/lefts", 2, "1"},
    {"forest/lefts", 0, "4294967295"},
    {"forest/counts", 0, "99999999"},
    {"forest/cuts", -1, "\"////\""},
    {"reference", -1, NULL},
    {"forest", -1, NULL},
    {"lof_lrd", -1, NULL},
    {"forest/cuts", -1, NULL},
};

static void
unsound_documents_are_refused(void) {
  const size_t n = 60;
  DEMUR_AUTO_ALIGNED float *rows = draw(n, 0);
  g_autoptr(DemurOutlierModel) model = fit(rows, n, NULL, NULL);
  g_autofree char *text = write_document(model);
  for (size_t i = 0; i < G_N_ELEMENTS(damages); i++) {
    const Damage *damage = &damages[i];
    g_autoptr(JsonParser) parser = json_parser_new();
    g_autoptr(GError) error = NULL;
    g_assert_true(json_parser_load_from_data(parser, text, -1, &error));
    JsonObject *root = json_node_get_object(json_parser_get_root(parser)), *object = root;
    g_auto(GStrv) parts = g_strsplit(damage->path, "/", 2);
    const char *member = parts[0];
    if (parts[1] != NULL) {
      object = json_object_get_object_member(root, parts[0]);
      member = parts[1];
    }
    g_assert_true(json_object_has_member(object, member));
    JsonNode *value = damage->value != NULL ? json_from_string(damage->value, &error) : NULL;
    g_assert_no_error(error);
    if (damage->index >= 0) {
      /* The array again with one element changed. */
      JsonArray *old = json_object_get_array_member(object, member);
      JsonArray *changed = json_array_new();
      for (guint j = 0; j < json_array_get_length(old); j++)
        json_array_add_element(changed, (int)j == damage->index ? json_node_ref(value)
                                                                : json_array_dup_element(old, j));
      json_node_unref(value);
      json_object_set_array_member(object, member, changed);
    } else if (value != NULL) {
      json_object_set_member(object, member, value);
    } else {
      json_object_remove_member(object, member);
    }
    g_autoptr(DemurOutlierModel) read = demur_outlier_model_read_json(root, NULL, &error);
    if (read != NULL || error == NULL)
      g_error("damage %zu (%s[%d] = %s) went through", i, damage->path, damage->index,
              damage->value);
    g_assert_true(error->domain == DEMUR_ERROR);
  }
}

static void
input_that_is_not_finite_is_refused_with_its_place(void) {
  DEMUR_AUTO_ALIGNED float *rows = draw(50, 0);
  g_autoptr(DemurOutlierModel) model = fit(rows, 50, NULL, NULL);
  rows[31 * D + 4] = NAN;
  double out[50 * DEMUR_N_OUTLIER];
  g_autoptr(GError) error = NULL;
  g_assert_false(demur_outlier_model_score(model, rows, 50, NULL, out, NULL, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  g_assert_nonnull(strstr(error->message, "row 31, column 4"));
  g_clear_error(&error);
  rows[31 * D + 4] = INFINITY;
  g_assert_null(demur_outlier_model_fit(rows, 50, D, NULL, 1, NULL, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  g_assert_nonnull(strstr(error->message, "row 31, column 4"));
  g_clear_error(&error);
  g_assert_null(demur_outlier_model_fit(rows, 1, D, NULL, 1, NULL, NULL, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
}

/* Two rows are the least there can be; equal rows leave every score finite. */
static void
smallest_and_constant_references_give_finite_scores(void) {
  float rows[10 * D];
  for (size_t i = 0; i < 10 * D; i++)
    rows[i] = 2.0f;
  DEMUR_AUTO_ALIGNED float *queries = draw(5, 1);
  const size_t sizes[] = {2, 10};
  for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
    g_autoptr(DemurOutlierModel) model = fit(rows, sizes[s], NULL, NULL);
    const gssize exclude[5] = {-1, 0, 1, -1, -1};
    DEMUR_AUTO_ALIGNED double *out = score(model, queries, 5, exclude, NULL);
    for (size_t i = 0; i < 5 * DEMUR_N_OUTLIER; i++)
      g_assert_true(isfinite(out[i]));
  }
}

/* Optimality conditions of the quadratic programme (Schoelkopf et al. 2001): with rho between them,
 * rows with alpha 0 have G >= rho, rows with alpha 1 G <= rho. */
static void
svm_solution_meets_the_optimality_conditions(void) {
  enum { N = 390 }; /* more than the rows that the start's density and one block of rows look at */
  double points[2 * N], alphas[N];
  DemurRandom random = demur_random_stream(11, DEMUR_STREAM_TEST, 4, 0, 0);
  for (size_t i = 0; i < 2 * N; i++)
    points[i] = demur_random_normal(&random);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurDistanceReference) reference = demur_distance_reference_new(points, N, 2, &error);
  g_assert_no_error(error);
  const double nus[] = {0.001, 0.013, 0.25, 0.5, 0.777, 1.0};
  for (size_t v = 0; v < G_N_ELEMENTS(nus); v++) {
    g_assert_true(demur_svm_fit(reference, 1.0, nus[v], 1e-9, alphas, NULL, NULL, &error));
    double sum = 0.0, highest = -INFINITY, lowest = INFINITY;
    for (size_t i = 0; i < N; i++) {
      double gradient = 0.0;
      for (size_t j = 0; j < N; j++)
        gradient += alphas[j] * exp(-pow(points[2 * i] - points[2 * j], 2) -
                                    pow(points[2 * i + 1] - points[2 * j + 1], 2));
      g_assert_true(alphas[i] >= 0.0 && alphas[i] <= 1.0);
      sum += alphas[i];
      if (alphas[i] > 0.0)
        highest = fmax(highest, gradient);
      if (alphas[i] < 1.0)
        lowest = fmin(lowest, gradient);
    }
    demur_assert_close(sum, nus[v] * N, 1e-12, 0);
    if (nus[v] < 1.0)
      g_assert_cmpfloat(highest - lowest, <, 1.1e-9);
  }
}

/* On a grid of quarters every product is exact, so that the levels differ in how many numbers they look at together, and in nothing
 * else. */
static void
svm_takes_the_same_steps_at_every_level(void) {
  enum { N = 301 };
  double points[3 * N], first[N], alphas[N];
  DemurRandom random = demur_random_stream(11, DEMUR_STREAM_TEST, 5, 0, 0);
  for (size_t i = 0; i < 3 * N; i++)
    points[i] = 0.25 * (double)demur_random_below(&random, 9);
  const double nus[] = {0.01, 0.3, 0.777};
  for (size_t v = 0; v < G_N_ELEMENTS(nus); v++)
    for (int level = DEMUR_PROCESSOR_PLAIN; level <= DEMUR_PROCESSOR_AVX512; level++) {
      demur_processor_limit((DemurProcessor)level);
      g_autoptr(GError) error = NULL;
      g_autoptr(DemurDistanceReference) reference =
          demur_distance_reference_new(points, N, 3, &error);
      g_assert_no_error(error);
      double *to = level == DEMUR_PROCESSOR_PLAIN ? first : alphas;
      g_assert_true(demur_svm_fit(reference, 1.0, nus[v], 0.0, to, NULL, NULL, &error));
      g_assert_true(memcmp(first, to, sizeof first) == 0);
    }
}

/* Worked by hand: rows 0 and 1 of one column, psi = 2, c(2) = 1. Every tree cuts once, in [0, 1);
 * both leaves hold one row at depth 1: h = 1, score -2^-1 for any x. */
static void
forest_of_two_rows_is_worked_by_hand(void) {
  const float rows[] = {0.0f, 1.0f}, queries[] = {-5.0f, 0.0f, 0.5f, 9.0f};
  double out[4];
  g_autoptr(DemurForest) forest = demur_forest_fit(rows, 2, 1, 10, 256, 3, NULL);
  demur_forest_score(forest, queries, 4, out, 1, NULL);
  for (size_t i = 0; i < 4; i++)
    g_assert_cmpfloat(out[i], ==, -0.5);
  /* Four equal rows can't be cut: the root is a leaf of 4, h = c(4) = c(psi), score -1/2 too. */
  const float equal[] = {3.0f, 3.0f, 3.0f, 3.0f};
  g_autoptr(DemurForest) one_leaf = demur_forest_fit(equal, 4, 1, 10, 256, 3, NULL);
  demur_forest_score(one_leaf, queries, 4, out, 1, NULL);
  for (size_t i = 0; i < 4; i++)
    demur_assert_close(out[i], -0.5, 1e-15, 0);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/features/outlier/threads", any_number_of_threads_gives_the_same_bytes);
  g_test_add_func("/features/outlier/alone", scan_alone_gives_the_bytes_it_gives_among_others);
  g_test_add_func("/features/outlier/order", order_of_the_reference_does_not_matter);
  g_test_add_func("/features/outlier/doubled",
                  doubling_the_reference_keeps_density_and_doubles_the_svm);
  g_test_add_func("/features/outlier/leave-out", leaving_a_row_out_equals_a_reference_without_it);
  g_test_add_func("/features/outlier/far", far_scan_is_an_outlier_by_every_score);
  g_test_add_func("/features/outlier/drawn",
                  large_reference_is_drawn_from_and_keeps_its_row_numbers);
  g_test_add_func("/features/outlier/file", file_gives_back_the_same_scores_and_the_same_bytes);
  g_test_add_func("/features/outlier/unsound", unsound_documents_are_refused);
  g_test_add_func("/features/outlier/not-finite",
                  input_that_is_not_finite_is_refused_with_its_place);
  g_test_add_func("/features/outlier/small", smallest_and_constant_references_give_finite_scores);
  g_test_add_func("/features/svm/optimal", svm_solution_meets_the_optimality_conditions);
  g_test_add_func("/features/svm/levels", svm_takes_the_same_steps_at_every_level);
  g_test_add_func("/features/forest/by-hand", forest_of_two_rows_is_worked_by_hand);
  return g_test_run();
}
