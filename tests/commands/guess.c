#include "guess.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_TREES 60
#define RATE 0.15
#define N_BINS 16
#define FEWEST 20 /* rows on each side of a split, and that have a feature */

struct Shown {
  size_t n_rows;
  GHashTable *features; /* name -> double [n_rows], NaN where a row lacks it */
};

Shown *
shown_new(size_t n_rows) {
  Shown *shown = g_new0(Shown, 1);
  shown->n_rows = n_rows;
  shown->features = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  return shown;
}

void
shown_free(Shown *shown) {
  if (shown == NULL)
    return;
  g_hash_table_unref(shown->features);
  g_free(shown);
}

void
shown_add(Shown *shown, size_t row, const char *name, double value) {
  double *values = g_hash_table_lookup(shown->features, name);
  if (values == NULL) {
    values = g_new(double, shown->n_rows);
    for (size_t i = 0; i < shown->n_rows; i++)
      values[i] = NAN;
    g_hash_table_insert(shown->features, g_strdup(name), values);
  }
  values[row] = value;
}

void
shown_add_text(Shown *shown, size_t row, const char *name, const char *text) {
  g_autofree char *whole = g_strdup_printf("%s=%s", name, text);
  shown_add(shown, row, whole, 1.0);
  g_auto(GStrv) words = g_strsplit_set(text, " ,;:()", -1);
  guint n_numbers = 0;
  for (char **word = words; *word != NULL; word++) {
    char *end;
    const double number = g_ascii_strtod(*word, &end);
    g_autofree char *feature = end != *word ? g_strdup_printf("%s#%u", name, n_numbers++)
                                            : g_strdup_printf("%s~%s", name, *word);
    shown_add(shown, row, feature, end != *word ? number : 1.0);
  }
}

void
shown_add_json(Shown *shown, size_t row, const char *name, JsonNode *node,
               const char *const *except) {
  if (JSON_NODE_HOLDS_OBJECT(node)) {
    JsonObjectIter iter;
    const char *member;
    JsonNode *value;
    json_object_iter_init(&iter, json_node_get_object(node));
    while (json_object_iter_next(&iter, &member, &value)) {
      g_autofree char *path = g_strdup_printf("%s/%s", name, member);
      if (!g_strv_contains(except, member))
        shown_add_json(shown, row, path, value, except);
    }
  } else if (JSON_NODE_HOLDS_ARRAY(node)) {
    JsonArray *array = json_node_get_array(node);
    for (guint i = 0; i < json_array_get_length(array); i++) {
      g_autofree char *path = g_strdup_printf("%s/%u", name, i);
      shown_add_json(shown, row, path, json_array_get_element(array, i), except);
    }
  } else if (JSON_NODE_HOLDS_VALUE(node)) {
    if (json_node_get_value_type(node) == G_TYPE_STRING)
      shown_add_text(shown, row, name, json_node_get_string(node));
    else
      shown_add(shown, row, name,
                json_node_get_value_type(node) == G_TYPE_BOOLEAN
                    ? (double)json_node_get_boolean(node)
                    : json_node_get_double(node));
  }
}

/* The features that differ, in bins: 0 where a row lacks it, else 1 .. N_BINS by quantiles of the
 * rows that are learnt from. */
typedef struct {
  size_t n, d;
  guint8 *bins; /* [d][n] */
} Table;

static int
compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static gboolean
bin_feature(const double *values, size_t n, size_t n_fit, guint8 *bins) {
  g_autofree double *known = g_new(double, n_fit);
  size_t m = 0;
  for (size_t i = 0; i < n_fit; i++)
    if (!isnan(values[i]))
      known[m++] = values[i];
  if (m < FEWEST)
    return FALSE;
  qsort(known, m, sizeof *known, compare_doubles);
  if (m > n_fit - FEWEST && known[0] == known[m - 1])
    return FALSE;
  for (size_t i = 0; i < n; i++) {
    guint bin = 0;
    for (guint b = 1; b <= N_BINS && !isnan(values[i]); b++)
      if (b == 1 || values[i] > known[(b - 1) * m / N_BINS])
        bin = b;
    bins[i] = (guint8)bin;
  }
  return TRUE;
}

static Table
table_new(const Shown *shown, size_t n_fit) {
  Table table = {shown->n_rows, 0,
                 g_new(guint8, shown->n_rows * MAX(g_hash_table_size(shown->features), 1))};
  g_autoptr(GList) names =
      g_list_sort(g_hash_table_get_keys(shown->features), (GCompareFunc)strcmp);
  for (GList *name = names; name != NULL; name = name->next)
    if (bin_feature(g_hash_table_lookup(shown->features, name->data), shown->n_rows, n_fit,
                    table.bins + table.d * table.n))
      table.d++;
  return table;
}

typedef struct {
  size_t feature;
  guint bin; /* rows of this bin or below go left */
  double gain, left, right;
} Split;

/* The best split of the rows whose node is the given one. */
static Split
find_split(const Table *table, size_t n_fit, const guint8 *nodes, guint8 node,
           const double *residuals) {
  Split best = {0, N_BINS, 0.0, 0.0, 0.0};
  double total = 0.0;
  size_t n = 0;
  for (size_t i = 0; i < n_fit; i++)
    if (nodes[i] == node) {
      total += residuals[i];
      n++;
    }
  best.left = best.right = n > 0 ? total / (double)n : 0.0;
  for (size_t f = 0; f < table->d; f++) {
    double sums[N_BINS + 1] = {0.0};
    size_t counts[N_BINS + 1] = {0};
    for (size_t i = 0; i < n_fit; i++)
      if (nodes[i] == node) {
        sums[table->bins[f * table->n + i]] += residuals[i];
        counts[table->bins[f * table->n + i]]++;
      }
    double left = 0.0;
    size_t n_left = 0;
    for (guint b = 0; b < N_BINS; b++) {
      left += sums[b];
      n_left += counts[b];
      if (n_left < FEWEST || n - n_left < FEWEST)
        continue;
      const double right = total - left, gain = left * left / (double)n_left +
                                                right * right / (double)(n - n_left) -
                                                total * total / (double)n;
      if (gain > best.gain)
        best = (Split){f, b, gain, left / (double)n_left, right / (double)(n - n_left)};
    }
  }
  return best;
}

static gboolean
goes_left(const Table *table, const Split *split, size_t row) {
  return table->bins[split->feature * table->n + row] <= split->bin;
}

double
shown_guess(const Shown *shown, const double *targets, size_t n_fit, size_t *n_features) {
  Table table = table_new(shown, n_fit);
  *n_features = table.d;
  double mean = 0.0;
  for (size_t i = 0; i < n_fit; i++)
    mean += targets[i] / (double)n_fit;
  g_autofree double *guesses = g_new(double, table.n), *residuals = g_new(double, table.n);
  g_autofree guint8 *nodes = g_new0(guint8, table.n);
  for (size_t i = 0; i < table.n; i++)
    guesses[i] = mean;
  for (int t = 0; t < N_TREES && table.d > 0; t++) {
    for (size_t i = 0; i < table.n; i++) {
      residuals[i] = targets[i] - guesses[i];
      nodes[i] = 0;
    }
    const Split first = find_split(&table, n_fit, nodes, 0, residuals);
    for (size_t i = 0; i < table.n; i++)
      nodes[i] = goes_left(&table, &first, i) ? 1 : 2;
    const Split second[2] = {find_split(&table, n_fit, nodes, 1, residuals),
                             find_split(&table, n_fit, nodes, 2, residuals)};
    for (size_t i = 0; i < table.n; i++) {
      const Split *split = &second[nodes[i] - 1];
      guesses[i] += RATE * (goes_left(&table, split, i) ? split->left : split->right);
    }
  }
  double of_guess = 0.0, of_mean = 0.0;
  for (size_t i = n_fit; i < table.n; i++) {
    of_guess += (targets[i] - guesses[i]) * (targets[i] - guesses[i]);
    of_mean += (targets[i] - mean) * (targets[i] - mean);
  }
  g_free(table.bins);
  return 1.0 - of_guess / of_mean;
}
