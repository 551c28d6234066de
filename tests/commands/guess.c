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

/* Of the rows of one node, and of each of their bins of each feature: how many, and the sum of what
 * is to be guessed. */
typedef struct {
  size_t n;
  double total;
  double (*sums)[N_BINS + 1]; /* [d] */
  guint32 (*counts)[N_BINS + 1];
} Bins;

static Bins
bins_new(const Table *table) {
  return (Bins){.sums = g_malloc_n(MAX(table->d, 1), sizeof(double[N_BINS + 1])),
                .counts = g_malloc_n(MAX(table->d, 1), sizeof(guint32[N_BINS + 1]))};
}

static void
bins_clear(Bins *bins) {
  g_free(bins->sums);
  g_free(bins->counts);
}

static void
bins_count(Bins *bins, const Table *table, const guint32 *rows, size_t n, const double *residuals) {
  bins->n = n;
  bins->total = 0.0;
  for (size_t i = 0; i < n; i++)
    bins->total += residuals[rows[i]];
  for (size_t f = 0; f < table->d; f++) {
    const guint8 *of = table->bins + f * table->n;
    double *sums = bins->sums[f];
    guint32 *counts = bins->counts[f];
    memset(sums, 0, sizeof bins->sums[f]);
    memset(counts, 0, sizeof bins->counts[f]);
    for (size_t i = 0; i < n; i++) {
      sums[of[rows[i]]] += residuals[rows[i]];
      counts[of[rows[i]]]++;
    }
  }
}

/* Those of whole that are not of part: of its other child. */
static void
bins_subtract(Bins *whole, const Table *table, const Bins *part) {
  whole->n -= part->n;
  whole->total -= part->total;
  for (size_t f = 0; f < table->d; f++)
    for (guint b = 0; b <= N_BINS; b++) {
      whole->sums[f][b] -= part->sums[f][b];
      whole->counts[f][b] -= part->counts[f][b];
    }
}

static Split
find_split(const Table *table, const Bins *bins) {
  Split best = {0, N_BINS, 0.0, 0.0, 0.0};
  best.left = best.right = bins->n > 0 ? bins->total / (double)bins->n : 0.0;
  for (size_t f = 0; f < table->d; f++) {
    double left = 0.0;
    size_t n_left = 0;
    for (guint b = 0; b < N_BINS; b++) {
      left += bins->sums[f][b];
      n_left += bins->counts[f][b];
      if (n_left < FEWEST || bins->n - n_left < FEWEST || bins->counts[f][b] == 0)
        continue;
      const size_t n_right = bins->n - n_left;
      const double right = bins->total - left, gain = left * left / (double)n_left +
                                                      right * right / (double)n_right -
                                                      bins->total * bins->total / (double)bins->n;
      if (gain > best.gain)
        best = (Split){f, b, gain, left / (double)n_left, right / (double)n_right};
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
  g_autofree guint32 *all = g_new(guint32, n_fit), *left = g_new(guint32, n_fit);
  for (size_t i = 0; i < n_fit; i++)
    all[i] = (guint32)i;
  Bins whole = bins_new(&table), part = bins_new(&table);
  for (size_t i = 0; i < table.n; i++)
    guesses[i] = mean;
  for (int t = 0; t < N_TREES && table.d > 0; t++) {
    for (size_t i = 0; i < n_fit; i++)
      residuals[i] = targets[i] - guesses[i];
    bins_count(&whole, &table, all, n_fit, residuals);
    const Split first = find_split(&table, &whole);
    size_t n_left = 0;
    for (size_t i = 0; i < n_fit; i++)
      if (goes_left(&table, &first, i))
        left[n_left++] = (guint32)i;
    bins_count(&part, &table, left, n_left, residuals);
    bins_subtract(&whole, &table, &part);
    const Split second[2] = {find_split(&table, &part), find_split(&table, &whole)};
    for (size_t i = 0; i < table.n; i++) {
      const Split *split = &second[goes_left(&table, &first, i) ? 0 : 1];
      guesses[i] += RATE * (goes_left(&table, split, i) ? split->left : split->right);
    }
  }
  bins_clear(&whole);
  bins_clear(&part);
  double of_guess = 0.0, of_mean = 0.0;
  for (size_t i = n_fit; i < table.n; i++) {
    of_guess += (targets[i] - guesses[i]) * (targets[i] - guesses[i]);
    of_mean += (targets[i] - mean) * (targets[i] - mean);
  }
  g_free(table.bins);
  return 1.0 - of_guess / of_mean;
}
