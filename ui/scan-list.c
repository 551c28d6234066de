#include "ui/scan-list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ui/scan-search.h"

struct _DemurScanRow {
  GObject parent_instance;
  DemurScanList *list; /* not owned; NULL: its place, or the list, is gone */
  guint place;
  DemurScanTable *table;
  guint32 index;
};
G_DEFINE_FINAL_TYPE(DemurScanRow, demur_scan_row, G_TYPE_OBJECT)

struct _DemurScanList {
  GObject parent_instance;
  DemurScanTable *table;
  guint32 *order;   /* [n_scans] every row, sorted */
  guint32 *visible; /* [n_visible] */
  guint n_visible;
  GHashTable *rows; /* place -> DemurScanRow that somebody holds, not owned */
  int shown;
  char **words; /* folded, NULL-terminated */
  char *site, *scanner, *source;
  DemurSort sort;
  gboolean descending;
  guint counts[DEMUR_N_SHOWN + 2];
};

static guint row_changed;

static void
demur_scan_row_finalize(GObject *object) {
  DemurScanRow *row = DEMUR_SCAN_ROW(object);
  if (row->list != NULL)
    g_hash_table_remove(row->list->rows, GUINT_TO_POINTER(row->place));
  demur_scan_table_unref(row->table);
  G_OBJECT_CLASS(demur_scan_row_parent_class)->finalize(object);
}

static void
demur_scan_row_class_init(DemurScanRowClass *class) {
  G_OBJECT_CLASS(class)->finalize = demur_scan_row_finalize;
  row_changed = g_signal_new("changed", DEMUR_TYPE_SCAN_ROW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                             G_TYPE_NONE, 0);
}

static void
demur_scan_row_init(DemurScanRow *row) {
}

static void
show_scan(DemurScanRow *row, DemurScanTable *table, guint32 index) {
  DemurScanTable *old = row->table;
  row->table = demur_scan_table_ref(table);
  row->index = index;
  demur_scan_table_unref(old);
}

guint32
demur_scan_row_index(DemurScanRow *row) {
  return row->index;
}

const DemurScan *
demur_scan_row_scan(DemurScanRow *row) {
  return &row->table->scans[row->index];
}

const DemurScanReview *
demur_scan_row_review(DemurScanRow *row) {
  return &row->table->reviews[row->index];
}

static GType
get_item_type(GListModel *model) {
  return DEMUR_TYPE_SCAN_ROW;
}

static guint
get_n_items(GListModel *model) {
  return DEMUR_SCAN_LIST(model)->n_visible;
}

static gpointer
get_item(GListModel *model, guint position) {
  DemurScanList *list = DEMUR_SCAN_LIST(model);
  if (position >= list->n_visible)
    return NULL;
  DemurScanRow *row = g_hash_table_lookup(list->rows, GUINT_TO_POINTER(position));
  if (row != NULL)
    return g_object_ref(row);
  row = g_object_new(DEMUR_TYPE_SCAN_ROW, NULL);
  row->list = list;
  row->place = position;
  show_scan(row, list->table, list->visible[position]);
  g_hash_table_insert(list->rows, GUINT_TO_POINTER(position), row);
  return row;
}

static void
model_init(GListModelInterface *interface) {
  interface->get_item_type = get_item_type;
  interface->get_n_items = get_n_items;
  interface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE(DemurScanList, demur_scan_list, G_TYPE_OBJECT,
                              G_IMPLEMENT_INTERFACE(G_TYPE_LIST_MODEL, model_init))

static void
demur_scan_list_finalize(GObject *object) {
  DemurScanList *list = DEMUR_SCAN_LIST(object);
  GHashTableIter iter;
  gpointer row;
  g_hash_table_iter_init(&iter, list->rows);
  while (g_hash_table_iter_next(&iter, NULL, &row))
    ((DemurScanRow *)row)->list = NULL;
  g_hash_table_unref(list->rows);
  demur_scan_table_unref(list->table);
  g_free(list->order);
  g_free(list->visible);
  g_strfreev(list->words);
  g_free(list->site);
  g_free(list->scanner);
  g_free(list->source);
  G_OBJECT_CLASS(demur_scan_list_parent_class)->finalize(object);
}

static void
demur_scan_list_class_init(DemurScanListClass *class) {
  G_OBJECT_CLASS(class)->finalize = demur_scan_list_finalize;
}

static void
demur_scan_list_init(DemurScanList *list) {
  list->rows = g_hash_table_new(NULL, NULL);
  list->shown = DEMUR_SHOW_ALL;
  list->sort = DEMUR_SORT_DATE;
  list->descending = TRUE;
}

DemurScanList *
demur_scan_list_new(void) {
  return g_object_new(DEMUR_TYPE_SCAN_LIST, NULL);
}

DemurScanTable *
demur_scan_list_table(DemurScanList *list) {
  return list->table;
}

/* Sorting: each row's value becomes its rank among the different values, and rows are laid out by
 * rank, in the order of the table where ranks are equal. A column has few different values, mostly;
 * where each is another (patients), only these are compared. */

typedef struct {
  double number; /* NaN stands last */
  const char *text;
  guint32 place;
} Value;

static int
compare_values(gconstpointer a, gconstpointer b) {
  const Value *x = a, *y = b;
  if (x->text != NULL)
    return strcmp(x->text, y->text);
  if (isnan(x->number) || isnan(y->number))
    return (isnan(x->number) ? 1 : 0) - (isnan(y->number) ? 1 : 0);
  return (x->number > y->number) - (x->number < y->number);
}

static Value
value_of(const DemurScanList *list, guint32 row) {
  const DemurScan *scan = &list->table->scans[row];
  switch (list->sort) {
  case DEMUR_SORT_VERDICT:
    return (Value){.number = (double)scan->shown};
  case DEMUR_SORT_PATIENT:
    return (Value){.text = scan->patient_id};
  case DEMUR_SORT_NAME:
    return (Value){.text = scan->patient_name};
  case DEMUR_SORT_AGE:
    return (Value){.number = scan->age};
  case DEMUR_SORT_DATE:
    return (Value){.text = scan->date};
  case DEMUR_SORT_SITE:
    return (Value){.text = scan->site};
  case DEMUR_SORT_SCANNER:
    return (Value){.text = scan->scanner};
  case DEMUR_SORT_RISK:
    return (Value){.number = scan->risk};
  case DEMUR_SORT_REASON:
    return (Value){.text = scan->lead};
  default:
    return (Value){.number = list->table->reviews[row].n_reviews > 0};
  }
}

/* values [n] -> ranks [n]; the number of different ones. */
static guint32
rank_values(Value *values, size_t n, guint32 *ranks) {
  qsort(values, n, sizeof(Value), compare_values);
  guint32 rank = 0;
  for (size_t i = 0; i < n; i++) {
    rank += i > 0 && compare_values(&values[i - 1], &values[i]) != 0;
    ranks[values[i].place] = rank;
  }
  return n > 0 ? rank + 1 : 0;
}

/* The table keeps texts that repeat once, so most are known by their address. */
static guint32
rank_rows(const DemurScanList *list, guint32 *ranks) {
  const size_t n = list->table->n_scans;
  g_autofree Value *values = g_new(Value, n);
  g_autofree guint32 *value_of_row = g_new(guint32, n);
  g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
  size_t n_values = 0;
  for (size_t i = 0; i < n; i++) {
    const Value value = value_of(list, (guint32)i);
    gpointer place;
    if (value.text != NULL && g_hash_table_lookup_extended(known, value.text, NULL, &place)) {
      value_of_row[i] = GPOINTER_TO_UINT(place);
      continue;
    }
    if (value.text != NULL)
      g_hash_table_insert(known, (gpointer)value.text, GUINT_TO_POINTER(n_values));
    value_of_row[i] = (guint32)n_values;
    values[n_values] = value;
    values[n_values].place = (guint32)n_values;
    n_values++;
  }
  g_autofree guint32 *value_ranks = g_new(guint32, n_values);
  const guint32 n_ranks = rank_values(values, n_values, value_ranks);
  for (size_t i = 0; i < n; i++)
    ranks[i] = value_ranks[value_of_row[i]];
  return n_ranks;
}

/* How many ranks are of risks that are shown. */
static guint32
n_known_ranks(const DemurScanList *list, const guint32 *ranks) {
  guint32 n_known = 0;
  for (size_t i = 0; i < list->table->n_scans; i++)
    if (!isnan(list->table->scans[i].risk))
      n_known = MAX(n_known, ranks[i] + 1);
  return n_known;
}

static void
sort_rows(DemurScanList *list) {
  const size_t n = list->table != NULL ? list->table->n_scans : 0;
  if (n == 0)
    return;
  g_autofree guint32 *ranks = g_new(guint32, n);
  const guint32 n_ranks = rank_rows(list, ranks);
  /* What is not known stands last in both directions: risks that are held back before all. */
  const guint32 n_known = list->sort == DEMUR_SORT_RISK ? n_known_ranks(list, ranks) : n_ranks;
  if (list->descending)
    for (size_t i = 0; i < n; i++)
      if (ranks[i] < n_known)
        ranks[i] = n_known - 1 - ranks[i];
  g_autofree size_t *at = g_new0(size_t, (size_t)n_ranks + 1); /* where the next of a rank goes */
  for (size_t i = 0; i < n; i++)
    at[ranks[i] + 1]++;
  for (guint32 r = 0; r < n_ranks; r++)
    at[r + 1] += at[r];
  for (size_t i = 0; i < n; i++)
    list->order[at[ranks[i]]++] = (guint32)i;
}

static gboolean
passes_others(const DemurScanList *list, DemurScanSearch *search, const DemurScan *scan) {
  if (list->site != NULL && strcmp(scan->site, list->site) != 0)
    return FALSE;
  if (list->scanner != NULL && strcmp(scan->manufacturer, list->scanner) != 0)
    return FALSE;
  if (list->source != NULL && strcmp(scan->source != NULL ? scan->source : "", list->source) != 0)
    return FALSE;
  return demur_scan_search_matches(search, scan);
}

/* Tells who holds rows and who shows the list what became of it. Everything is in its new state
 * before the first is told. */
static void
publish(DemurScanList *list, guint before) {
  g_autoptr(GPtrArray) kept = g_ptr_array_new_with_free_func(g_object_unref);
  GHashTableIter iter;
  gpointer key;
  g_hash_table_iter_init(&iter, list->rows);
  while (g_hash_table_iter_next(&iter, NULL, &key)) {
    DemurScanRow *row = key;
    if (row->place < list->n_visible) {
      show_scan(row, list->table, list->visible[row->place]);
      g_ptr_array_add(kept, g_object_ref(row));
    } else {
      row->list = NULL;
      g_hash_table_iter_remove(&iter);
    }
  }
  const guint after = list->n_visible, least = MIN(before, after);
  if (before != after)
    g_list_model_items_changed(G_LIST_MODEL(list), least, before - least, after - least);
  for (guint i = 0; i < kept->len; i++)
    g_signal_emit(kept->pdata[i], row_changed, 0);
}

static void
filter_rows(DemurScanList *list) {
  const guint before = list->n_visible;
  memset(list->counts, 0, sizeof list->counts);
  list->n_visible = 0;
  g_autoptr(DemurScanSearch) search = demur_scan_search_new(list->words);
  for (size_t i = 0; list->table != NULL && i < list->table->n_scans; i++) {
    const guint32 row = list->order[i];
    const DemurScan *scan = &list->table->scans[row];
    if (!passes_others(list, search, scan))
      continue;
    const gboolean reviewed = list->table->reviews[row].n_reviews > 0;
    list->counts[scan->shown]++;
    list->counts[DEMUR_N_SHOWN] += !reviewed;
    list->counts[DEMUR_N_SHOWN + 1]++;
    if (list->shown == DEMUR_SHOW_ALL || list->shown == (int)scan->shown ||
        (list->shown == DEMUR_SHOW_NOT_REVIEWED && !reviewed))
      list->visible[list->n_visible++] = row;
  }
  publish(list, before);
}

void
demur_scan_list_set_table(DemurScanList *list, DemurScanTable *table) {
  DemurScanTable *old = list->table;
  list->table = table != NULL ? demur_scan_table_ref(table) : NULL;
  demur_scan_table_unref(old);
  g_free(list->order);
  g_free(list->visible);
  const size_t n = table != NULL ? table->n_scans : 0;
  list->order = g_new(guint32, MAX(n, 1));
  list->visible = g_new(guint32, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    list->order[i] = (guint32)i;
  sort_rows(list);
  filter_rows(list);
}

static gboolean
same_words(char **a, char **b) {
  return a != NULL && g_strv_equal((const char *const *)a, (const char *const *)b);
}

void
demur_scan_list_set_filter(DemurScanList *list, const DemurScanFilter *filter) {
  g_autofree char *folded = filter->text != NULL ? g_utf8_strdown(filter->text, -1) : NULL;
  g_auto(GStrv) words = g_strsplit_set(folded != NULL ? folded : "", " \t", -1);
  if (list->shown == filter->shown && same_words(list->words, words) &&
      g_strcmp0(list->site, filter->site) == 0 && g_strcmp0(list->scanner, filter->scanner) == 0 &&
      g_strcmp0(list->source, filter->source) == 0)
    return;
  list->shown = filter->shown;
  g_strfreev(list->words);
  list->words = g_steal_pointer(&words);
  g_free(list->site);
  list->site = g_strdup(filter->site);
  g_free(list->scanner);
  list->scanner = g_strdup(filter->scanner);
  g_free(list->source);
  list->source = g_strdup(filter->source);
  filter_rows(list);
}

void
demur_scan_list_set_sort(DemurScanList *list, DemurSort sort, gboolean descending) {
  if (list->sort == sort && list->descending == descending)
    return;
  list->sort = sort;
  list->descending = descending;
  sort_rows(list);
  filter_rows(list);
}

DemurSort
demur_scan_list_sort(DemurScanList *list, gboolean *descending) {
  *descending = list->descending;
  return list->sort;
}

void
demur_scan_list_touch(DemurScanList *list, guint32 row) {
  list->counts[DEMUR_N_SHOWN] = 0;
  g_autoptr(DemurScanSearch) search = demur_scan_search_new(list->words);
  for (size_t i = 0; list->table != NULL && i < list->table->n_scans; i++)
    list->counts[DEMUR_N_SHOWN] += list->table->reviews[i].n_reviews == 0 &&
                                   passes_others(list, search, &list->table->scans[i]);
  const gssize position = demur_scan_list_position_of(list, row);
  DemurScanRow *shown =
      position >= 0 ? g_hash_table_lookup(list->rows, GSIZE_TO_POINTER(position)) : NULL;
  if (shown != NULL)
    g_signal_emit(shown, row_changed, 0);
}

void
demur_scan_list_touch_all(DemurScanList *list) {
  GHashTableIter iter;
  gpointer row;
  g_hash_table_iter_init(&iter, list->rows);
  while (g_hash_table_iter_next(&iter, NULL, &row))
    g_signal_emit(row, row_changed, 0);
}

void
demur_scan_list_counts(DemurScanList *list, guint *counts) {
  memcpy(counts, list->counts, sizeof list->counts);
}

guint32
demur_scan_list_row_at(DemurScanList *list, guint position) {
  g_return_val_if_fail(position < list->n_visible, 0);
  return list->visible[position];
}

gssize
demur_scan_list_position_of(DemurScanList *list, guint32 row) {
  for (guint i = 0; i < list->n_visible; i++)
    if (list->visible[i] == row)
      return (gssize)i;
  return -1;
}
