#include "tasks/scan.h"

#include <math.h>
#include <string.h>

#include "base/person.h"

DemurScanTable *
demur_scan_table_new(void) {
  DemurScanTable *table = g_new0(DemurScanTable, 1);
  table->ref_count = 1;
  table->texts = g_string_chunk_new(1 << 16);
  table->blocks = g_ptr_array_new_with_free_func(g_free);
  table->in_use.coverage = table->in_use.threshold = NAN;
  return table;
}

static guint
hash_scan(gconstpointer key) {
  const DemurScan *scan = key;
  return g_str_hash(scan->scan_id) ^ (scan->source != NULL ? g_str_hash(scan->source) : 0);
}

static gboolean
equal_scans(gconstpointer a, gconstpointer b) {
  const DemurScan *x = a, *y = b;
  return strcmp(x->scan_id, y->scan_id) == 0 && g_strcmp0(x->source, y->source) == 0;
}

/* What a row is found by beside its fellows (owned): its study, or its person's ID. */
static char *
chain_key(const DemurScan *scan, gboolean study) {
  return study ? g_strdup(scan->study_uid) : demur_person_key(scan->patient_id);
}

/* Rows that share a key; those without one stand alone. */
static void
fill_chain(DemurScanTable *table, DemurScanChain *chain, gboolean study) {
  chain->first = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  chain->next = g_new0(guint32, MAX(table->n_scans, 1));
  for (size_t i = table->n_scans; i-- > 0;) {
    char *key = chain_key(&table->scans[i], study);
    if (*key == '\0') {
      g_free(key);
      continue;
    }
    chain->next[i] = (guint32)GPOINTER_TO_SIZE(g_hash_table_lookup(chain->first, key));
    g_hash_table_insert(chain->first, key, GSIZE_TO_POINTER(i + 1));
  }
}

void
demur_scan_table_link(DemurScanTable *table) {
  if (table->index != NULL)
    return;
  table->index = g_hash_table_new(hash_scan, equal_scans);
  for (size_t i = 0; i < table->n_scans; i++)
    g_hash_table_insert(table->index, &table->scans[i], &table->scans[i]);
  fill_chain(table, &table->of_patient, FALSE);
  fill_chain(table, &table->of_study, TRUE);
}

DemurScanTable *
demur_scan_table_ref(DemurScanTable *table) {
  g_atomic_int_inc(&table->ref_count);
  return table;
}

void
demur_scan_table_unref(DemurScanTable *table) {
  if (table == NULL || !g_atomic_int_dec_and_test(&table->ref_count))
    return;
  g_free(table->path);
  g_aligned_free(table->scans);
  g_free(table->reviews);
  for (char ***splits = table->splits; splits != NULL && *splits != NULL; splits++)
    g_strfreev(*splits);
  g_free(table->splits);
  g_free(table->in_use.cohort);
  g_strfreev(table->cohorts);
  g_strfreev(table->selectors);
  g_strfreev(table->families);
  g_free(table->selector_years);
  g_strfreev(table->models);
  g_free(table->in_use.selector);
  g_free(table->in_use.digest);
  g_free(table->in_use.model);
  g_string_chunk_free(table->texts);
  g_ptr_array_unref(table->blocks);
  g_clear_pointer(&table->index, g_hash_table_unref);
  g_clear_pointer(&table->of_patient.first, g_hash_table_unref);
  g_clear_pointer(&table->of_study.first, g_hash_table_unref);
  g_free(table->of_patient.next);
  g_free(table->of_study.next);
  g_free(table);
}

gssize
demur_scan_table_find(const DemurScanTable *table, const char *source, const char *scan_id) {
  demur_scan_table_link((DemurScanTable *)table);
  const DemurScan wanted = {.source = source, .scan_id = scan_id};
  const DemurScan *found = g_hash_table_lookup(table->index, &wanted);
  return found != NULL ? found - table->scans : -1;
}

typedef struct {
  const DemurScanTable *table;
  gboolean by_series;
} OrderData;

/* As days, whatever they are written like; what is no date (a screen: "T1") as text, and last. */
static int
compare_dates(const char *a, const char *b) {
  gint64 x, y;
  const gboolean is_date = demur_person_date(a, &x);
  if (is_date != demur_person_date(b, &y))
    return is_date ? 1 : -1;
  return is_date ? (x > y) - (x < y) : strcmp(a, b);
}

static gint
compare_rows(gconstpointer a, gconstpointer b, gpointer data) {
  const OrderData *order = data;
  const DemurScan *x = &order->table->scans[*(const guint32 *)a];
  const DemurScan *y = &order->table->scans[*(const guint32 *)b];
  if (order->by_series && x->series_number != y->series_number)
    return x->series_number < y->series_number ? -1 : 1;
  const int newest = order->by_series ? 0 : compare_dates(y->date, x->date);
  return newest != 0 ? newest : strcmp(x->scan_id, y->scan_id);
}

gboolean
demur_scan_is_earlier(const DemurScan *a, const DemurScan *b) {
  gint64 x, y;
  return demur_person_date(a->date, &x) && demur_person_date(b->date, &y) && x < y;
}

static DemurPersonMatch
compare_persons(const DemurScan *a, const DemurScan *b, gboolean study) {
  const DemurPerson x = {a->issuer, a->patient_id, a->patient_name, a->birth_date, a->sex},
                    y = {b->issuer, b->patient_id, b->patient_name, b->birth_date, b->sex};
  return study ? demur_person_compare_in_study(&x, &y) : demur_person_compare(&x, &y);
}

static guint32 *
collect(const DemurScanTable *table, size_t row, gboolean study, size_t *n) {
  demur_scan_table_link((DemurScanTable *)table);
  const DemurScan *one = &table->scans[row];
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(guint32));
  const guint32 self = (guint32)row;
  g_array_append_val(rows, self);
  const DemurScanChain *chain = study ? &table->of_study : &table->of_patient;
  g_autofree char *key = chain_key(one, study);
  for (gsize at = GPOINTER_TO_SIZE(g_hash_table_lookup(chain->first, key)); at > 0;
       at = chain->next[at - 1]) {
    const guint32 i = (guint32)at - 1;
    const DemurScan *other = &table->scans[i];
    if (i != row && other->source == one->source && (study || other->chosen) &&
        compare_persons(one, other, study) == DEMUR_PERSON_SAME) /* else it is none of them */
      g_array_append_val(rows, i);
  }
  OrderData order = {table, study};
  g_array_sort_with_data(rows, compare_rows, &order);
  *n = rows->len;
  return (guint32 *)(gpointer)g_array_free(g_steal_pointer(&rows), FALSE);
}

guint32 *
demur_scan_table_of_patient(const DemurScanTable *table, size_t row, size_t *n) {
  return collect(table, row, FALSE, n);
}

void
demur_scan_table_namesakes(const DemurScanTable *table, size_t row, size_t *n_others,
                           size_t *n_untold) {
  const DemurScan *one = &table->scans[row];
  *n_others = *n_untold = 0;
  if (*one->patient_id == '\0')
    return;
  demur_scan_table_link((DemurScanTable *)table);
  g_autofree char *key = chain_key(one, FALSE);
  for (gsize at = GPOINTER_TO_SIZE(g_hash_table_lookup(table->of_patient.first, key)); at > 0;
       at = table->of_patient.next[at - 1]) {
    const DemurScan *other = &table->scans[at - 1];
    if (other == one || other->source != one->source || !other->chosen)
      continue;
    const DemurPersonMatch match = compare_persons(one, other, FALSE);
    *n_others += match == DEMUR_PERSON_OTHER;
    *n_untold += match == DEMUR_PERSON_UNKNOWN;
  }
}

guint32 *
demur_scan_table_of_study(const DemurScanTable *table, size_t row, size_t *n) {
  return collect(table, row, TRUE, n);
}

void
demur_scan_table_images_changed(DemurScanTable *table, size_t row) {
  DemurScan *scan = &table->scans[row];
  scan->outdated = (DemurOutdated)(scan->outdated | DEMUR_OUTDATED_IMAGES);
  scan->shown = DEMUR_SHOWN_OUT_OF_DATE;
  table->reviews[row] = (DemurScanReview){.has_history = table->reviews[row].has_history};
  scan->risk = scan->withheld_risk = scan->score = scan->interval_low = scan->interval_high = NAN;
  for (int y = 0; y < DEMUR_N_YEARS; y++)
    scan->yearly_risks[y] = NAN;
}

DemurRemedy
demur_scan_remedy(const DemurScanTable *table, const DemurScan *scan) {
  if (scan->waits)
    return DEMUR_REMEDY_RESOLVE;
  const DemurRemedy remedy = scan->shown == DEMUR_SHOWN_NOT_ASSESSED ? DEMUR_REMEDY_ASSESS
                             : scan->shown == DEMUR_SHOWN_OUT_OF_DATE
                                 ? demur_outdated_remedy(scan->outdated)
                                 : demur_verdict_remedy((DemurVerdict)scan->shown, DEMUR_CURRENT);
  const gboolean has_selector = table->selectors != NULL && table->selectors[0] != NULL;
  return remedy == DEMUR_REMEDY_ASSESS && !has_selector ? DEMUR_REMEDY_TRAIN : remedy;
}

double
demur_scan_revealed_risk(const DemurScan *scan) {
  return isnan(scan->risk) ? scan->withheld_risk : scan->risk;
}

gboolean
demur_scan_told_interval(const DemurScan *scan, gboolean revealed, double *low, double *high) {
  const double risk = revealed ? demur_scan_revealed_risk(scan) : scan->risk;
  *low = scan->interval_low;
  *high = scan->interval_high;
  return isfinite(risk) && *high > *low;
}

DemurShown
demur_shown_of_verdict(DemurVerdict verdict, DemurOutdated why) {
  return why == DEMUR_CURRENT ? (DemurShown)verdict : DEMUR_SHOWN_OUT_OF_DATE;
}

GPtrArray *
demur_scan_told_reasons(const DemurScan *scan, gboolean revealed) {
  /* Of a verdict that no longer holds they were about what is not there any more. */
  g_autoptr(GPtrArray) reasons =
      demur_reasons_from_json(scan->shown != DEMUR_SHOWN_OUT_OF_DATE ? scan->reasons : NULL);
  return demur_reasons_shown(reasons, revealed || scan->shown != DEMUR_SHOWN_RED_FLAG);
}
