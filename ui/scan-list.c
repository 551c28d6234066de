#include "ui/scan-list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct _DemurScanRow {
  GObject parent_instance;
  DemurScanTable *table;
  guint32 index;
};
G_DEFINE_FINAL_TYPE(DemurScanRow, demur_scan_row, G_TYPE_OBJECT)

static void
demur_scan_row_finalize(GObject *object) {
  demur_scan_table_unref(DEMUR_SCAN_ROW(object)->table);
  G_OBJECT_CLASS(demur_scan_row_parent_class)->finalize(object);
}

static void
demur_scan_row_class_init(DemurScanRowClass *class) {
  G_OBJECT_CLASS(class)->finalize = demur_scan_row_finalize;
}

static void
demur_scan_row_init(DemurScanRow *row) {
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

struct _DemurScanList {
  GObject parent_instance;
  DemurScanTable *table;
  guint32 *order;   /* [n_scans] every row, sorted */
  guint32 *visible; /* [n_visible] */
  guint n_visible;
  int shown;
  char **words; /* folded, NULL-terminated */
  char *site, *scanner, *source;
  DemurSort sort;
  gboolean descending;
  guint counts[DEMUR_N_SHOWN + 2];
};

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
  DemurScanRow *row = g_object_new(DEMUR_TYPE_SCAN_ROW, NULL);
  row->table = demur_scan_table_ref(list->table);
  row->index = list->visible[position];
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

static int
compare_numbers(double a, double b) {
  /* What is not known stands last in ascending order. */
  if (isnan(a) || isnan(b))
    return (isnan(a) ? 1 : 0) - (isnan(b) ? 1 : 0);
  return (a > b) - (a < b);
}

static int
compare_texts(const char *a, const char *b) {
  if (a == b) /* texts of a table are kept once */
    return 0;
  return strcmp(a, b);
}

static int
compare_by(const DemurScanList *list, guint32 a, guint32 b) {
  const DemurScan *x = &list->table->scans[a], *y = &list->table->scans[b];
  switch (list->sort) {
  case DEMUR_SORT_VERDICT:
    return (int)x->shown - (int)y->shown;
  case DEMUR_SORT_PATIENT:
    return compare_texts(x->patient_id, y->patient_id);
  case DEMUR_SORT_AGE:
    return x->age - y->age;
  case DEMUR_SORT_DATE:
    return compare_texts(x->date, y->date);
  case DEMUR_SORT_SITE:
    return compare_texts(x->site, y->site);
  case DEMUR_SORT_SCANNER:
    return compare_texts(x->scanner, y->scanner);
  case DEMUR_SORT_RISK:
    return compare_numbers(x->risk, y->risk);
  case DEMUR_SORT_REASON:
    return compare_texts(x->n_reasons > 0 ? x->reasons[0] : "",
                         y->n_reasons > 0 ? y->reasons[0] : "");
  case DEMUR_SORT_REVIEWED:
    return (list->table->reviews[a].n_reviews > 0) - (list->table->reviews[b].n_reviews > 0);
  default:
    return 0;
  }
}

static int
compare_rows(gconstpointer a, gconstpointer b, gpointer data) {
  const DemurScanList *list = data;
  const guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
  const int order = compare_by(list, x, y);
  if (order != 0)
    return list->descending ? -order : order;
  return (x > y) - (x < y);
}

static void
sort_rows(DemurScanList *list) {
  if (list->table != NULL && list->table->n_scans > 1)
    g_qsort_with_data(list->order, (int)list->table->n_scans, sizeof(guint32), compare_rows, list);
}

static gboolean
passes_others(const DemurScanList *list, const DemurScan *scan) {
  if (list->site != NULL && strcmp(scan->site, list->site) != 0)
    return FALSE;
  if (list->scanner != NULL && strcmp(scan->manufacturer, list->scanner) != 0)
    return FALSE;
  if (list->source != NULL && strcmp(scan->source != NULL ? scan->source : "", list->source) != 0)
    return FALSE;
  for (char **word = list->words; word != NULL && *word != NULL; word++)
    if (strstr(scan->key, *word) == NULL)
      return FALSE;
  return TRUE;
}

static void
filter_rows(DemurScanList *list) {
  const guint before = list->n_visible;
  memset(list->counts, 0, sizeof list->counts);
  list->n_visible = 0;
  for (size_t i = 0; list->table != NULL && i < list->table->n_scans; i++) {
    const guint32 row = list->order[i];
    const DemurScan *scan = &list->table->scans[row];
    if (!passes_others(list, scan))
      continue;
    const gboolean reviewed = list->table->reviews[row].n_reviews > 0;
    list->counts[scan->shown]++;
    list->counts[DEMUR_N_SHOWN] += !reviewed;
    list->counts[DEMUR_N_SHOWN + 1]++;
    if (list->shown == DEMUR_SHOW_ALL || list->shown == (int)scan->shown ||
        (list->shown == DEMUR_SHOW_NOT_REVIEWED && !reviewed))
      list->visible[list->n_visible++] = row;
  }
  g_list_model_items_changed(G_LIST_MODEL(list), 0, before, list->n_visible);
}

void
demur_scan_list_set_table(DemurScanList *list, DemurScanTable *table) {
  const guint before = list->n_visible;
  list->n_visible = 0;
  g_list_model_items_changed(G_LIST_MODEL(list), 0, before, 0);
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

void
demur_scan_list_set_filter(DemurScanList *list, const DemurScanFilter *filter) {
  list->shown = filter->shown;
  g_strfreev(list->words);
  g_autofree char *folded = filter->text != NULL ? g_utf8_strdown(filter->text, -1) : NULL;
  list->words = folded != NULL ? g_strsplit_set(folded, " \t", -1) : NULL;
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
  for (size_t i = 0; list->table != NULL && i < list->table->n_scans; i++)
    list->counts[DEMUR_N_SHOWN] +=
        list->table->reviews[i].n_reviews == 0 && passes_others(list, &list->table->scans[i]);
  const gssize position = demur_scan_list_position_of(list, row);
  if (position >= 0)
    g_list_model_items_changed(G_LIST_MODEL(list), (guint)position, 1, 1);
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
