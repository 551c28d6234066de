#include "evaluation/releases.h"

#include <string.h>

#include "base/limits.h"
#include "base/small-cells.h"

/* Ways of more groups are looked at one group at a time. */
#define MOST_IN_PAIRS 64

static void
release_clear(DemurReleasedWay *way) {
  demur_grouping_free(way->grouping);
  g_free(way->name);
  g_free(way->sizes);
  g_free(way->labels);
  g_free(way->scans_withheld);
  g_free(way->labels_withheld);
}

void
demur_releases_free(DemurReleases *releases) {
  if (releases == NULL)
    return;
  for (size_t w = 0; w < releases->n_ways; w++)
    release_clear(&releases->ways[w]);
  g_free(releases->ways);
  g_free(releases);
}

static void
count(DemurReleasedWay *way, const DemurCohort *cohort, const guint32 *rows, size_t n) {
  const size_t K = cohort->n_classes, n_groups = way->grouping->n_values;
  const guint32 *codes = way->grouping->codes;
  way->sizes = g_new0(size_t, n_groups + 1);
  way->labels = g_new0(size_t, n_groups * K + 1);
  way->scans_withheld = g_new0(gboolean, n_groups + 1);
  way->labels_withheld = g_new0(gboolean, n_groups + 1);
  for (size_t i = 0; i < n; i++) {
    const gint32 label = cohort->labels[rows[i]];
    way->sizes[codes[i]]++;
    if (label >= 0 && (size_t)label < K)
      way->labels[codes[i] * K + (size_t)label]++;
  }
}

/* ---- one way against another ---- */

/* One way as it is told: its groups, and behind them the rest that is withheld, if any. */
typedef struct {
  size_t n_groups;     /* of the way; the rest is n_groups */
  size_t n_cells;      /* of counts */
  const size_t *cells; /* [n_groups][n_cells] */
  size_t *rest;        /* [n_cells] what all withheld ones have */
  size_t rest_size;    /* scans */
  const size_t *sizes; /* [n_groups] */
  const gboolean *withheld;
} Told;

static void
told_init(Told *told, const DemurReleasedWay *way, const size_t *cells, size_t n_cells,
          const gboolean *withheld) {
  *told = (Told){.n_groups = way->grouping->n_values,
                 .n_cells = n_cells,
                 .cells = cells,
                 .rest = g_new0(size_t, n_cells),
                 .sizes = way->sizes,
                 .withheld = withheld};
  for (size_t g = 0; g < way->grouping->n_values; g++)
    if (withheld[g]) {
      told->rest_size += way->sizes[g];
      for (size_t c = 0; c < n_cells; c++)
        told->rest[c] += cells[g * n_cells + c];
    }
}

/* A group as it is told: itself, or the rest. */
static size_t
as_told(const Told *told, size_t group) {
  return told->withheld[group] ? told->n_groups : group;
}

static size_t
size_of(const Told *told, size_t t) {
  return t < told->n_groups ? told->sizes[t] : told->rest_size;
}

static size_t
cell_of(const Told *told, size_t t, size_t c) {
  return t < told->n_groups ? told->cells[t * told->n_cells + c] : told->rest[c];
}

typedef struct {
  size_t group; /* as told, of the other way */
  size_t n;     /* scans in both */
} Overlap;

/* lists[t]: GArray of Overlap, ascending, of each told group of p with those of q. */
static GPtrArray *
overlaps(const DemurReleasedWay *p, const Told *told_p, const DemurReleasedWay *q,
         const Told *told_q, size_t n) {
  const size_t n_p = told_p->n_groups + 1, n_q = told_q->n_groups + 1;
  GPtrArray *lists = g_ptr_array_new_with_free_func((GDestroyNotify)(void (*)(void))g_array_unref);
  g_autofree size_t *starts = g_new0(size_t, n_p + 1);
  g_autofree guint32 *others = g_new(guint32, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    starts[as_told(told_p, p->grouping->codes[i]) + 1]++;
  for (size_t t = 0; t < n_p; t++)
    starts[t + 1] += starts[t];
  g_autofree size_t *next = g_memdup2(starts, n_p * sizeof *starts);
  for (size_t i = 0; i < n; i++)
    others[next[as_told(told_p, p->grouping->codes[i])]++] =
        (guint32)as_told(told_q, q->grouping->codes[i]);
  g_autofree size_t *counts = g_new0(size_t, n_q);
  for (size_t t = 0; t < n_p; t++) {
    GArray *list = g_array_new(FALSE, FALSE, sizeof(Overlap));
    for (size_t k = starts[t]; k < starts[t + 1]; k++)
      counts[others[k]]++;
    for (size_t k = starts[t]; k < starts[t + 1]; k++) {
      const Overlap one = {others[k], counts[others[k]]};
      if (one.n > 0)
        g_array_append_val(list, one);
      counts[others[k]] = 0;
    }
    g_ptr_array_add(lists, list);
  }
  return lists;
}

/* What is left of a set of scans, by label or as one count, tells of few. */
static gboolean
tells(const gint64 *left, size_t n_cells, gint64 n_left) {
  if (n_left <= 0)
    return FALSE;
  for (size_t c = 0; c < n_cells; c++)
    if (left[c] < DEMUR_SMALL_CELL)
      return TRUE;
  return FALSE;
}

typedef struct {
  const Told *p, *q;
  GPtrArray *lists; /* of p with q */
  size_t *inside;   /* [n of q + 1] scratch, all 0: scans of a group of q inside P */
} Pair;

/* P is group a, or a and b (b = a: one): TRUE where P without the groups of q inside it, or the
 * scans outside P without those of q outside it, are few. *within gets the smallest told group of q
 * that was subtracted, or n_groups. */
static gboolean
leaves_few(const Pair *pair, size_t a, size_t b, size_t n, const gint64 *all, size_t *within) {
  const Told *p = pair->p, *q = pair->q;
  const size_t K = p->n_cells, parts[2] = {a, b}, n_parts = a == b ? 1 : 2;
  g_autofree gint64 *in = g_new0(gint64, K), *out = g_new0(gint64, K);
  gint64 n_in = 0, n_out = (gint64)n;
  memcpy(out, all, K * sizeof *out);
  g_autoptr(GArray) touched = g_array_new(FALSE, FALSE, sizeof(size_t));
  for (size_t k = 0; k < n_parts; k++) {
    n_in += (gint64)size_of(p, parts[k]);
    for (size_t c = 0; c < K; c++)
      in[c] += (gint64)cell_of(p, parts[k], c);
    const GArray *list = pair->lists->pdata[parts[k]];
    for (guint o = 0; o < list->len; o++) {
      const Overlap *one = &g_array_index(list, Overlap, o);
      if (pair->inside[one->group] == 0)
        g_array_append_val(touched, one->group);
      pair->inside[one->group] += one->n;
    }
  }
  n_out -= n_in;
  for (size_t c = 0; c < K; c++)
    out[c] -= in[c];
  /* Outside P lie all groups of q that P does not touch: what P touches and is not inside is left. */
  gint64 n_left_out = -n_in;
  g_autofree gint64 *left_out = g_new0(gint64, K);
  for (size_t c = 0; c < K; c++)
    left_out[c] = -in[c];
  *within = q->n_groups;
  size_t least = G_MAXSIZE;
  for (guint k = 0; k < touched->len; k++) {
    const size_t g = g_array_index(touched, size_t, k);
    n_left_out += (gint64)size_of(q, g);
    for (size_t c = 0; c < K; c++)
      left_out[c] += (gint64)cell_of(q, g, c);
    if (pair->inside[g] == size_of(q, g)) {
      n_in -= (gint64)size_of(q, g);
      for (size_t c = 0; c < K; c++)
        in[c] -= (gint64)cell_of(q, g, c);
      if (g < q->n_groups && size_of(q, g) < least) {
        least = size_of(q, g);
        *within = g;
      }
    }
    pair->inside[g] = 0;
  }
  return tells(in, K, n_in) || tells(left_out, K, n_left_out);
}

/* The smallest told group of a way; n_groups: there is none. */
static size_t
smallest(const Told *told, const size_t *among, size_t n_among) {
  size_t found = told->n_groups, least = G_MAXSIZE;
  for (size_t k = 0; k < n_among; k++)
    if (among[k] < told->n_groups && !told->withheld[among[k]] && told->sizes[among[k]] < least) {
      least = told->sizes[among[k]];
      found = among[k];
    }
  return found;
}

/* A group of `later` that must give way beside `earlier`; n_groups: none. */
static size_t
find_fault(const DemurReleasedWay *later, const Told *told_later, const DemurReleasedWay *earlier,
           const Told *told_earlier, size_t n, const gint64 *all) {
  for (int direction = 0; direction < 2; direction++) {
    const Told *p = direction == 0 ? told_later : told_earlier,
               *q = direction == 0 ? told_earlier : told_later;
    g_autoptr(GPtrArray) lists =
        direction == 0 ? overlaps(later, p, earlier, q, n) : overlaps(earlier, p, later, q, n);
    g_autofree size_t *inside = g_new0(size_t, q->n_groups + 1);
    const Pair pair = {p, q, lists, inside};
    const size_t n_p = p->n_groups + 1;
    for (size_t a = 0; a < n_p; a++) {
      if (((const GArray *)lists->pdata[a])->len == 0)
        continue;
      for (size_t b = a; b < (n_p <= MOST_IN_PAIRS ? n_p : a + 1); b++) {
        size_t within;
        if (((const GArray *)lists->pdata[b])->len == 0 ||
            !leaves_few(&pair, a, b, n, all, &within))
          continue;
        const size_t own[2] = {a, b};
        size_t found = direction == 0 ? smallest(p, own, 2) : within;
        for (size_t g = 0; found == told_later->n_groups && g < told_later->n_groups; g++)
          found = smallest(told_later, &g, 1);
        if (found < told_later->n_groups)
          return found;
      }
    }
  }
  return told_later->n_groups;
}

/* Withholds groups of way w until nothing follows from it beside the earlier ones. */
static void
settle(DemurReleases *r, size_t w, const size_t *cells, size_t n_cells, gboolean of_labels) {
  DemurReleasedWay *way = &r->ways[w];
  gboolean *withheld = of_labels ? way->labels_withheld : way->scans_withheld;
  g_autofree gboolean *forced = g_new0(gboolean, way->grouping->n_values + 1);
  g_autofree gint64 *all = g_new0(gint64, n_cells);
  for (size_t g = 0; g < way->grouping->n_values; g++)
    for (size_t c = 0; c < n_cells; c++)
      all[c] += (gint64)cells[g * n_cells + c];
  demur_small_cells_beside(cells, way->grouping->n_values, n_cells, forced, withheld);
  for (size_t e = 0; e < w;) {
    const DemurReleasedWay *earlier = &r->ways[e];
    Told mine, other;
    told_init(&mine, way, cells, n_cells, withheld);
    told_init(&other, earlier, of_labels ? earlier->labels : earlier->sizes, n_cells,
              of_labels ? earlier->labels_withheld : earlier->scans_withheld);
    const size_t fault = find_fault(way, &mine, earlier, &other, r->n, all);
    g_free(mine.rest);
    g_free(other.rest);
    if (fault == way->grouping->n_values) {
      e++;
      continue;
    }
    forced[fault] = TRUE;
    demur_small_cells_beside(cells, way->grouping->n_values, n_cells, forced, withheld);
    e = 0;
  }
}

static void
add_way(DemurReleases *r, const char *name, const DemurCohort *cohort, const guint32 *rows) {
  DemurReleasedWay *way = &r->ways[r->n_ways++];
  way->name = g_strdup(name);
  way->grouping = demur_grouping_new(cohort, name, rows, r->n);
  count(way, cohort, rows, r->n);
  settle(r, r->n_ways - 1, way->sizes, 1, FALSE);
  settle(r, r->n_ways - 1, way->labels, cohort->n_classes, TRUE);
}

DemurReleases *
demur_releases_new(const DemurCohort *cohort, const guint32 *rows, size_t n, const char *up_to) {
  DemurReleases *r = g_new0(DemurReleases, 1);
  r->n = n;
  r->n_classes = cohort->n_classes;
  r->ways = g_new0(DemurReleasedWay, cohort->n_attributes + 2);
  add_way(r, "site", cohort, rows);
  const gboolean has_scanner = demur_cohort_find_attribute(cohort, "scanner") < 0 &&
                               demur_grouping_check(cohort, "scanner", NULL);
  if (has_scanner && (up_to == NULL || !demur_grouping_is_site(up_to)))
    add_way(r, "scanner", cohort, rows);
  for (size_t a = 0; a < cohort->n_attributes; a++) {
    if (g_strcmp0(r->ways[r->n_ways - 1].name, up_to) == 0)
      break;
    add_way(r, cohort->attributes[a].name, cohort, rows);
  }
  return r;
}

const DemurReleasedWay *
demur_releases_find(const DemurReleases *releases, const char *name) {
  for (size_t w = 0; w < releases->n_ways; w++)
    if (strcmp(releases->ways[w].name, name) == 0)
      return &releases->ways[w];
  return NULL;
}

gboolean
demur_released_way_withholds(const DemurReleasedWay *release, const char *text) {
  for (size_t g = 0; release != NULL && g < release->grouping->n_values; g++)
    if (strcmp(release->grouping->values[g], text) == 0)
      return release->scans_withheld[g];
  return FALSE;
}

gboolean
demur_released_way_withholds_labels(const DemurReleasedWay *release, const char *text) {
  for (size_t g = 0; release != NULL && g < release->grouping->n_values; g++)
    if (strcmp(release->grouping->values[g], text) == 0)
      return release->labels_withheld[g];
  return FALSE;
}
