#include "tasks/scan-fill.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* Texts that the table keeps once: compared by address. */
typedef struct {
  const char *manufacturer, *model_name, *kernel;
  const char *text; /* "SIEMENS Definition AS · B30f" */
} Scanner;

static guint
hash_scanner(gconstpointer key) {
  const Scanner *scanner = key;
  return 31 * (31 * g_direct_hash(scanner->manufacturer) + g_direct_hash(scanner->model_name)) +
         g_direct_hash(scanner->kernel);
}

static gboolean
equal_scanners(gconstpointer a, gconstpointer b) {
  const Scanner *x = a, *y = b;
  return x->manufacturer == y->manufacturer && x->model_name == y->model_name &&
         x->kernel == y->kernel;
}

void
demur_scan_fill_init(DemurScanFill *fill, DemurScanTable *table) {
  *fill = (DemurScanFill){.table = table,
                          .scanners =
                              g_hash_table_new_full(hash_scanner, equal_scanners, g_free, NULL)};
}

void
demur_scan_fill_clear(DemurScanFill *fill) {
  g_aligned_free(fill->scans);
  g_hash_table_unref(fill->scanners);
}

const char *
demur_scan_keep(DemurScanFill *fill, const char *text) {
  return text == NULL || *text == '\0' ? "" : g_string_chunk_insert_const(fill->table->texts, text);
}

const char *
demur_scan_copy(DemurScanFill *fill, const char *text) {
  return text == NULL || *text == '\0' ? "" : g_string_chunk_insert(fill->table->texts, text);
}

static const DemurScan blank = {.patient_id = "",
                                .patient_name = "",
                                .issuer = "",
                                .birth_date = "",
                                .sex = "",
                                .date = "",
                                .site = "",
                                .manufacturer = "",
                                .model_name = "",
                                .kernel = "",
                                .scanner = "",
                                .study_uid = "",
                                .series_uid = "",
                                .description = "",
                                .type = "",
                                .contrast = "",
                                .series_number = -1,
                                .spacing_mm = NAN,
                                .thickness_mm = NAN,
                                .kvp = NAN,
                                .shown = DEMUR_SHOWN_NOT_ASSESSED,
                                .risk = NAN,
                                .withheld_risk = NAN,
                                .interval_low = NAN,
                                .interval_high = NAN,
                                .score = NAN,
                                .threshold = NAN,
                                .coverage = NAN,
                                .selector = "",
                                .selector_digest = "",
                                .model = "",
                                .assessed = "",
                                .outcome = "",
                                .lead = "",
                                .warnings = "",
                                .yearly_risks = {NAN, NAN, NAN, NAN, NAN, NAN}};
G_STATIC_ASSERT(DEMUR_N_YEARS == 6);

void
demur_scan_fill_reserve(DemurScanFill *fill, size_t n) {
  if (fill->n_scans + n <= fill->capacity)
    return;
  fill->capacity = fill->n_scans + n;
  DemurScan *scans = demur_new_array(DemurScan, fill->capacity);
  if (fill->n_scans > 0)
    memcpy(scans, fill->scans, fill->n_scans * sizeof(DemurScan));
  g_aligned_free(fill->scans);
  fill->scans = scans;
}

DemurScan *
demur_scan_fill_new(DemurScanFill *fill) {
  if (fill->n_scans == fill->capacity)
    demur_scan_fill_reserve(fill, fill->n_scans + 64);
  DemurScan *scan = &fill->scans[fill->n_scans++];
  *scan = blank;
  return scan;
}

void
demur_scan_take_verdict(DemurScanFill *fill, DemurScan *scan, const DemurVerdictRecord *verdict) {
  if (fill->batch != verdict->batch) {
    fill->batch = verdict->batch;
    fill->selector = demur_scan_keep(fill, verdict->selector);
    fill->selector_digest = demur_scan_keep(fill, verdict->selector_digest);
    fill->model = demur_scan_keep(fill, verdict->model);
    fill->assessed = demur_scan_keep(fill, verdict->created);
  }
  scan->shown = demur_shown_of_verdict(verdict->verdict, verdict->outdated);
  scan->outdated = verdict->outdated;
  scan->verdict_id = verdict->id;
  /* What no longer holds is not even there to be revealed. */
  if (scan->shown == DEMUR_SHOWN_ACCEPTED)
    scan->risk = verdict->risk;
  else if (scan->shown != DEMUR_SHOWN_OUT_OF_DATE)
    scan->withheld_risk = verdict->risk;
  if (scan->shown != DEMUR_SHOWN_OUT_OF_DATE) {
    scan->interval_low = verdict->risk_low;
    scan->interval_high = verdict->risk_high;
    scan->audited = verdict->audit_digest != NULL;
  }
  scan->horizon_years = verdict->horizon_years;
  scan->score = verdict->score;
  scan->threshold = verdict->threshold;
  scan->coverage = verdict->coverage;
  scan->selector = fill->selector;
  scan->selector_digest = fill->selector_digest;
  scan->model = fill->model;
  scan->assessed = fill->assessed;
  scan->reasons = demur_scan_copy(fill, verdict->reasons);
  scan->lead = demur_scan_keep(fill, scan->shown == DEMUR_SHOWN_OUT_OF_DATE
                                         ? demur_outdated_name(verdict->outdated)
                                         : verdict->lead);
}

static const char *
scanner_text(DemurScanFill *fill, const DemurScan *scan) {
  const Scanner wanted = {scan->manufacturer, scan->model_name, scan->kernel, NULL};
  const Scanner *known = g_hash_table_lookup(fill->scanners, &wanted);
  if (known != NULL)
    return known->text;
  g_autoptr(GString) text = g_string_new(scan->manufacturer);
  if (*scan->model_name != '\0')
    g_string_append_printf(text, "%s%s", text->len > 0 ? " " : "", scan->model_name);
  if (*scan->kernel != '\0')
    g_string_append_printf(text, "%s%s", text->len > 0 ? " · " : "", scan->kernel);
  Scanner *scanner = g_new(Scanner, 1);
  *scanner = wanted;
  scanner->text = demur_scan_keep(fill, text->str);
  g_hash_table_add(fill->scanners, scanner);
  return scanner->text;
}

void
demur_scan_complete(DemurScanFill *fill, DemurScan *scan) {
  scan->scanner = scanner_text(fill, scan);
  fill->table->simulated |= scan->simulated;
}
