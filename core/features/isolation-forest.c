/* Isolation forest: Liu, Ting and Zhou (2008), sections 3 and 4; golden/outlier.json, isoforest.
 *
 * Data layout: the nodes of all trees in one array, each tree's root first, children in pairs
 * behind their parent. A leaf names itself as its left child and holds an infinite cut, so that a
 * walk takes the same number of steps for every query, has no branch to guess, and several walks
 * overlap.
 *
 * Cost: fit O(trees psi log psi), scoring m x trees x ceil(log2 psi) steps. */
#include "features/isolation-forest.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/memory.h"
#include "base/random.h"

#define EULER_GAMMA 0.57721566490153286061
#define QUERIES_A_CHUNK 64
#define WALKS 8 /* queries that walk a tree side by side */
#define MAX_TREES 100000
#define MAX_SAMPLE (1 << 20)

typedef struct {
  float cut;      /* x > cut goes right; infinite in a leaf */
  guint32 column; /* 0 in a leaf */
  guint32 left;   /* index in nodes; right = left + 1; a leaf: itself */
} Node;

struct DemurForest {
  size_t d;
  size_t n_trees;
  size_t sample;   /* psi */
  guint32 depth;   /* deepest leaf there may be */
  guint32 *roots;  /* [n_trees + 1]; roots[t + 1] - roots[t] nodes in tree t */
  Node *nodes;     /* [roots[n_trees]] */
  guint32 *counts; /* [nodes]: training rows in a leaf, 0 in other nodes */
  double *paths;   /* [nodes]: h of a leaf, 0 in other nodes */
};

/* Mean depth at which n rows are told apart. */
static double
mean_path(double n) {
  if (n <= 1.0)
    return 0.0;
  if (n <= 2.0)
    return 1.0;
  return 2.0 * (log(n - 1.0) + EULER_GAMMA) - 2.0 * (n - 1.0) / n;
}

static guint32
depth_limit(size_t sample) {
  guint32 depth = 0;
  while (((size_t)1 << depth) < sample)
    depth++;
  return MAX(depth, 1);
}

/* ---- growing ---- */

typedef struct {
  const float *rows;
  size_t n, d, sample;
  guint32 depth;
  guint64 seed;
  size_t max_nodes;  /* of a tree */
  Node *nodes;       /* [n_trees][max_nodes]; left within the tree */
  guint32 *counts;   /* [n_trees][max_nodes] */
  size_t *n_nodes;   /* [n_trees] */
  guint32 **members; /* [n_threads][n] */
  guint32 **columns; /* [n_threads][d] */
} Growing;

typedef struct {
  guint32 node, begin, end, depth;
} Branch;

/* A column that is not constant on the members, uniformly among those; its range. FALSE where there
 * is none. */
static gboolean
draw_column(const Growing *g, DemurRandom *random, const guint32 *members, const Branch *branch,
            guint32 *columns, guint32 *column, float *low, float *high) {
  for (size_t t = 0; t < g->d; t++) {
    const size_t drawn = t + (size_t)demur_random_below(random, g->d - t);
    const guint32 candidate = columns[drawn];
    columns[drawn] = columns[t];
    columns[t] = candidate;
    *low = *high = g->rows[(size_t)members[branch->begin] * g->d + candidate];
    for (guint32 i = branch->begin + 1; i < branch->end; i++) {
      const float x = g->rows[(size_t)members[i] * g->d + candidate];
      *low = x < *low ? x : *low;
      *high = x > *high ? x : *high;
    }
    if (*low < *high) {
      *column = candidate;
      return TRUE;
    }
  }
  return FALSE;
}

static void
grow_tree(size_t tree, guint worker, gpointer data) {
  const Growing *g = data;
  DemurRandom random = demur_random_stream(g->seed, DEMUR_STREAM_FOREST, tree, 0, 0);
  guint32 *members = g->members[worker], *columns = g->columns[worker];
  for (size_t i = 0; i < g->n; i++)
    members[i] = (guint32)i;
  for (size_t j = 0; j < g->d; j++)
    columns[j] = (guint32)j;
  for (size_t i = 0; i < g->sample; i++) {
    const size_t drawn = i + (size_t)demur_random_below(&random, g->n - i);
    const guint32 member = members[drawn];
    members[drawn] = members[i];
    members[i] = member;
  }
  Node *nodes = g->nodes + tree * g->max_nodes;
  guint32 *counts = g->counts + tree * g->max_nodes;
  guint32 n_nodes = 1;
  Branch stack[64]; /* depth first: one open sibling a level */
  size_t n_open = 0;
  stack[n_open++] = (Branch){0, 0, (guint32)g->sample, 0};
  while (n_open > 0) {
    const Branch branch = stack[--n_open];
    guint32 column;
    float low, high;
    if (branch.depth == g->depth || branch.end - branch.begin < 2 ||
        !draw_column(g, &random, members, &branch, columns, &column, &low, &high)) {
      nodes[branch.node] = (Node){INFINITY, 0, branch.node};
      counts[branch.node] = branch.end - branch.begin;
      continue;
    }
    const double uniform = demur_random_uniform(&random);
    float cut = (float)((double)low + uniform * ((double)high - (double)low));
    if (!(cut >= low && cut < high))
      cut = low;
    guint32 middle = branch.begin;
    for (guint32 i = branch.begin; i < branch.end; i++)
      if (!(g->rows[(size_t)members[i] * g->d + column] > cut)) {
        const guint32 member = members[i];
        members[i] = members[middle];
        members[middle++] = member;
      }
    nodes[branch.node] = (Node){cut, column, n_nodes};
    stack[n_open++] = (Branch){n_nodes + 1, middle, branch.end, branch.depth + 1};
    stack[n_open++] = (Branch){n_nodes, branch.begin, middle, branch.depth + 1};
    n_nodes += 2;
  }
  g->n_nodes[tree] = n_nodes;
}

static DemurForest *
forest_alloc(size_t d, size_t n_trees, size_t sample, size_t n_nodes) {
  DemurForest *forest = g_new0(DemurForest, 1);
  forest->d = d;
  forest->n_trees = n_trees;
  forest->sample = sample;
  forest->depth = depth_limit(sample);
  forest->roots = demur_new_array(guint32, n_trees + 1);
  forest->nodes = demur_new_array(Node, n_nodes);
  forest->counts = demur_new_array(guint32, n_nodes);
  forest->paths = demur_new_array(double, n_nodes);
  return forest;
}

/* h of every leaf, from the depths that the links give. Every child lies behind its parent. */
static void
fill_paths(DemurForest *forest) {
  const size_t n_nodes = forest->roots[forest->n_trees];
  g_autofree guint32 *depths = g_new0(guint32, MAX(n_nodes, 1));
  for (size_t i = 0; i < n_nodes; i++) {
    const guint32 left = forest->nodes[i].left;
    if (left == i)
      forest->paths[i] = (double)depths[i] + mean_path((double)forest->counts[i]);
    else
      depths[left] = depths[left + 1] = depths[i] + 1;
  }
}

DemurForest *
demur_forest_fit(const float *rows, size_t n, size_t d, size_t n_trees, size_t sample, guint64 seed,
                 DemurParallel *parallel) {
  g_return_val_if_fail(n >= 2 && d >= 1 && n_trees >= 1 && n_trees <= MAX_TREES && sample >= 2 &&
                           sample <= MAX_SAMPLE,
                       NULL);
  const size_t psi = MIN(n, sample), n_threads = demur_parallel_n_threads(parallel);
  Growing g = {.rows = rows,
               .n = n,
               .d = d,
               .sample = psi,
               .depth = depth_limit(psi),
               .seed = seed,
               .max_nodes = 2 * psi - 1};
  DEMUR_AUTO_ALIGNED Node *nodes = g.nodes = demur_new_matrix(Node, n_trees, g.max_nodes);
  DEMUR_AUTO_ALIGNED guint32 *counts = g.counts = demur_new_matrix(guint32, n_trees, g.max_nodes);
  DEMUR_AUTO_ALIGNED size_t *n_nodes = g.n_nodes = demur_new_array(size_t, n_trees);
  g.members = g_new0(guint32 *, n_threads);
  g.columns = g_new0(guint32 *, n_threads);
  for (size_t t = 0; t < n_threads; t++) {
    g.members[t] = demur_new_array(guint32, n);
    g.columns[t] = demur_new_array(guint32, d);
  }
  demur_parallel_map(parallel, n_trees, grow_tree, &g);
  for (size_t t = 0; t < n_threads; t++) {
    g_aligned_free(g.members[t]);
    g_aligned_free(g.columns[t]);
  }
  g_free(g.members);
  g_free(g.columns);

  size_t total = 0;
  for (size_t t = 0; t < n_trees; t++)
    total += n_nodes[t];
  DemurForest *forest = forest_alloc(d, n_trees, psi, total);
  for (size_t t = 0; t < n_trees; t++) {
    const guint32 root = forest->roots[t];
    for (size_t i = 0; i < n_nodes[t]; i++) {
      forest->nodes[root + i] = nodes[t * g.max_nodes + i];
      forest->nodes[root + i].left += root;
      forest->counts[root + i] = counts[t * g.max_nodes + i];
    }
    forest->roots[t + 1] = root + (guint32)n_nodes[t];
  }
  fill_paths(forest);
  return forest;
}

void
demur_forest_free(DemurForest *forest) {
  if (forest == NULL)
    return;
  g_aligned_free(forest->roots);
  g_aligned_free(forest->nodes);
  g_aligned_free(forest->counts);
  g_aligned_free(forest->paths);
  g_free(forest);
}

size_t
demur_forest_width(const DemurForest *forest) {
  return forest->d;
}

/* ---- scoring ---- */

typedef struct {
  const DemurForest *forest;
  const float *queries;
  size_t m;
  double *out;
  size_t out_stride;
} Scoring;

static void
score_chunk(size_t chunk, guint worker, gpointer data) {
  const Scoring *s = data;
  const DemurForest *f = s->forest;
  const size_t begin = chunk * QUERIES_A_CHUNK, n_rows = MIN(QUERIES_A_CHUNK, s->m - begin);
  double sums[QUERIES_A_CHUNK] = {0.0};
  const float *rows[QUERIES_A_CHUNK];
  for (size_t i = 0; i < QUERIES_A_CHUNK; i++)
    rows[i] = s->queries + (begin + MIN(i, n_rows - 1)) * f->d;
  const Node *nodes = f->nodes;
  for (size_t t = 0; t < f->n_trees; t++)
    for (size_t first = 0; first < n_rows; first += WALKS) {
      guint32 at[WALKS];
      for (size_t w = 0; w < WALKS; w++)
        at[w] = f->roots[t];
      for (guint32 depth = 0; depth < f->depth; depth++)
        for (size_t w = 0; w < WALKS; w++) {
          const Node *node = &nodes[at[w]];
          at[w] = node->left + (rows[first + w][node->column] > node->cut);
        }
      for (size_t w = 0; w < WALKS; w++)
        sums[first + w] += f->paths[at[w]];
    }
  const double scale = (double)f->n_trees * mean_path((double)f->sample);
  for (size_t i = 0; i < n_rows; i++)
    s->out[(begin + i) * s->out_stride] = -exp2(-sums[i] / scale);
}

void
demur_forest_score(const DemurForest *forest, const float *queries, size_t m, double *out,
                   size_t out_stride, DemurParallel *parallel) {
  Scoring s = {forest, queries, m, out, out_stride};
  demur_parallel_map(parallel, (m + QUERIES_A_CHUNK - 1) / QUERIES_A_CHUNK, score_chunk, &s);
}

/* ---- JSON ---- */

/* Whole numbers through the writer of doubles, which prints them without a fraction. */
static void
write_indices(DemurJson *json, const char *key, const guint32 *values, size_t n) {
  g_autofree double *numbers = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    numbers[i] = values[i];
  demur_json_doubles(json, key, numbers, n);
}

void
demur_forest_write_json(const DemurForest *forest, DemurJson *json) {
  const size_t n = forest->roots[forest->n_trees];
  g_autofree guint32 *columns = g_new(guint32, n), *lefts = g_new(guint32, n);
  g_autofree float *cuts = g_new(float, n);
  for (size_t i = 0; i < n; i++) {
    const gboolean leaf = forest->nodes[i].left == i;
    columns[i] = forest->nodes[i].column;
    lefts[i] = leaf ? 0 : forest->nodes[i].left;
    cuts[i] = leaf ? 0.0f : forest->nodes[i].cut;
  }
  demur_json_int(json, "n_trees", (gint64)forest->n_trees);
  demur_json_int(json, "sample", (gint64)forest->sample);
  demur_json_int(json, "n_nodes", (gint64)n);
  write_indices(json, "roots", forest->roots, forest->n_trees);
  write_indices(json, "columns", columns, n);
  write_indices(json, "lefts", lefts, n);
  write_indices(json, "counts", forest->counts, n);
  demur_json_floats_base64(json, "cuts", cuts, n);
}

static gboolean
unsound(const char *what, size_t node, GError **error) {
  demur_error_set(error, DEMUR_ERROR_INPUT, "isolation forest, node %zu: %s", node, what);
  return FALSE;
}

/* Each tree's nodes form one binary tree that is rooted at its first node and no deeper than
 * allowed. */
static gboolean
check_trees(const DemurForest *forest, GError **error) {
  for (size_t t = 0; t < forest->n_trees; t++) {
    const guint32 root = forest->roots[t], end = forest->roots[t + 1];
    g_autofree guint32 *depths = g_new0(guint32, end - root);
    g_autofree gboolean *has_parent = g_new0(gboolean, end - root);
    for (guint32 i = root; i < end; i++) {
      const guint32 left = forest->nodes[i].left;
      if (i > root && !has_parent[i - root])
        return unsound(N_("no parent"), i, error);
      if (left == i) {
        if (forest->counts[i] == 0 || forest->counts[i] > forest->sample)
          return unsound(N_("a leaf needs 1 to \"sample\" rows"), i, error);
        continue;
      }
      if (left <= i || left >= end - 1)
        return unsound(N_("children must lie behind their parent in the same tree"), i, error);
      if (has_parent[left - root] || has_parent[left + 1 - root])
        return unsound(N_("a child has two parents"), i, error);
      has_parent[left - root] = has_parent[left + 1 - root] = TRUE;
      depths[left - root] = depths[left + 1 - root] = depths[i - root] + 1;
      if (depths[left - root] > forest->depth)
        return unsound(N_("deeper than log2 of the sample"), i, error);
    }
  }
  return TRUE;
}

DemurForest *
demur_forest_read_json(JsonObject *object, const DemurJsonApart *apart, size_t d, GError **error) {
  gint64 n_trees, sample, n_nodes;
  if (!demur_json_read_int(object, "n_trees", 1, MAX_TREES, &n_trees, error) ||
      !demur_json_read_int(object, "sample", 2, MAX_SAMPLE, &sample, error) ||
      !demur_json_read_int(object, "n_nodes", n_trees, G_MAXINT32, &n_nodes, error))
    return NULL;
  const size_t n = (size_t)n_nodes;
  DEMUR_AUTO_ALIGNED guint32 *roots = NULL, *columns = NULL, *lefts = NULL, *counts = NULL;
  DEMUR_AUTO_ALIGNED float *cuts = NULL;
  const guint32 last = (guint32)n - 1;
  if (!demur_json_read_indices(object, "roots", (size_t)n_trees, 0, last, &roots, error) ||
      !demur_json_read_indices_of(object, apart, "columns", n, 0, (guint32)d - 1, &columns,
                                  error) ||
      !demur_json_read_indices_of(object, apart, "lefts", n, 0, last, &lefts, error) ||
      !demur_json_read_indices_of(object, apart, "counts", n, 0, MAX_SAMPLE, &counts, error) ||
      !demur_json_read_floats_base64_of(object, apart, "cuts", n, &cuts, error))
    return NULL;
  for (size_t t = 0; t < (size_t)n_trees; t++)
    if (t == 0 ? roots[t] != 0 : roots[t] <= roots[t - 1]) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "member \"roots\": must start at 0 and grow");
      return NULL;
    }

  g_autoptr(DemurForest) forest = forest_alloc(d, (size_t)n_trees, (size_t)sample, n);
  memcpy(forest->roots, roots, (size_t)n_trees * sizeof(guint32));
  forest->roots[n_trees] = (guint32)n;
  memcpy(forest->counts, counts, n * sizeof(guint32));
  for (size_t i = 0; i < n; i++) {
    const gboolean leaf = lefts[i] == 0;
    forest->nodes[i] =
        leaf ? (Node){INFINITY, 0, (guint32)i} : (Node){cuts[i], columns[i], lefts[i]};
  }
  if (!check_trees(forest, error))
    return NULL;
  fill_paths(forest);
  return g_steal_pointer(&forest);
}
