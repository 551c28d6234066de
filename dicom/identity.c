#include "dicom/identity.h"

#include <string.h>

typedef struct {
  size_t known;
  guint series;
  guint n_shared;
} Match;

static char *
image_key(const char *uid, guint32 frame) {
  return g_strdup_printf("%s/%u", uid, frame);
}

/* Most shared images first; ties as the header says. */
static int
compare_matches(gconstpointer a, gconstpointer b) {
  const Match *x = a, *y = b;
  if (x->n_shared != y->n_shared)
    return x->n_shared > y->n_shared ? -1 : 1;
  if (x->known != y->known)
    return x->known < y->known ? -1 : 1;
  return x->series < y->series ? -1 : x->series > y->series;
}

/* Images of the known volume -> its index + 1. */
static GHashTable *
index_images(const DemurKnownVolume *known, size_t n_known) {
  GHashTable *images = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (size_t k = 0; k < n_known; k++)
    for (size_t i = 0; i < known[k].n; i++)
      if (known[k].sop_instance_uids[i] != NULL)
        g_hash_table_insert(images, image_key(known[k].sop_instance_uids[i], known[k].frames[i]),
                            GSIZE_TO_POINTER(k + 1));
  return images;
}

static void
count_shared(const DemurSeries *series, guint index, GHashTable *images,
             const DemurKnownVolume *known, size_t n_known, GArray *matches) {
  g_autofree guint *shared = g_new0(guint, MAX(n_known, 1));
  for (size_t i = 0; i < series->n_slices + series->n_left_out; i++) {
    const DemurSlice *slice = &series->slices[i];
    if (slice->sop_instance_uid == NULL)
      continue;
    g_autofree char *key = image_key(slice->sop_instance_uid, slice->frame);
    const size_t found = GPOINTER_TO_SIZE(g_hash_table_lookup(images, key));
    if (found > 0 && g_strcmp0(known[found - 1].series_uid, series->series_uid) == 0)
      shared[found - 1]++;
  }
  for (size_t k = 0; k < n_known; k++)
    if (shared[k] > 0) {
      const Match match = {k, index, shared[k]};
      g_array_append_val(matches, match);
    }
}

static void
set_id(DemurSeries *series, const char *scan_id) {
  const char *mark = strrchr(scan_id, '#');
  g_autofree char *copy = g_strdup(scan_id);
  g_free(series->scan_id);
  series->scan_id = g_steal_pointer(&copy);
  series->part = mark != NULL ? (guint)g_ascii_strtoull(mark + 1, NULL, 10) : 1;
}

/* The lowest id of the series that is not taken. */
static void
set_free_id(DemurSeries *series, GHashTable *taken) {
  g_autofree char *scan_id = g_strdup(series->series_uid);
  for (guint part = 2; g_hash_table_contains(taken, scan_id); part++) {
    g_free(scan_id);
    scan_id = g_strdup_printf("%s#%u", series->series_uid, part);
  }
  set_id(series, scan_id);
  g_hash_table_add(taken, g_steal_pointer(&scan_id));
}

static void
count_parts(GPtrArray *series, GHashTable *taken) {
  g_autoptr(GHashTable) counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  GHashTableIter iter;
  gpointer scan_id;
  g_hash_table_iter_init(&iter, taken);
  while (g_hash_table_iter_next(&iter, &scan_id, NULL)) {
    const char *mark = strrchr(scan_id, '#');
    char *uid = mark != NULL ? g_strndup(scan_id, (gsize)(mark - (const char *)scan_id))
                             : g_strdup(scan_id);
    const guint before = GPOINTER_TO_UINT(g_hash_table_lookup(counts, uid));
    g_hash_table_insert(counts, uid, GUINT_TO_POINTER(before + 1));
  }
  for (guint i = 0; i < series->len; i++) {
    DemurSeries *one = series->pdata[i];
    if (one->series_uid != NULL)
      one->n_parts = GPOINTER_TO_UINT(g_hash_table_lookup(counts, one->series_uid));
  }
}

void
demur_identity_keep(GPtrArray *series, const DemurKnownVolume *known, size_t n_known) {
  g_autoptr(GHashTable) images = index_images(known, n_known);
  g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GArray) matches = g_array_new(FALSE, FALSE, sizeof(Match));
  g_autofree gboolean *named = g_new0(gboolean, MAX(series->len, 1));
  g_autofree gboolean *found = g_new0(gboolean, MAX(n_known, 1));
  for (size_t k = 0; k < n_known; k++)
    g_hash_table_add(taken, g_strdup(known[k].scan_id));
  for (guint i = 0; i < series->len; i++)
    count_shared(series->pdata[i], i, images, known, n_known, matches);
  g_array_sort(matches, compare_matches);
  for (guint m = 0; m < matches->len; m++) {
    const Match *match = &g_array_index(matches, Match, m);
    if (named[match->series] || found[match->known])
      continue;
    set_id(series->pdata[match->series], known[match->known].scan_id);
    named[match->series] = found[match->known] = TRUE;
  }
  for (guint i = 0; i < series->len; i++) {
    DemurSeries *one = series->pdata[i];
    if (!named[i] && one->series_uid != NULL)
      set_free_id(one, taken);
  }
  count_parts(series, taken);
}
