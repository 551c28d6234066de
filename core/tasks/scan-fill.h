/* Filling a scan table, for those who read a workspace (scan-load.c, scan-series.c, scan-cohort.c):
 * the rows so far, and what repeats from row to row, so that it is made once. */
#pragma once

#include "store/verdicts.h"
#include "tasks/scan.h"

G_BEGIN_DECLS

typedef struct {
  DemurScanTable *table;
  DemurScan *scans; /* [n_scans] of room for [capacity] */
  size_t n_scans, capacity;
  GHashTable *scanners; /* manufacturer, model and kernel as one text */
  gint64 batch;         /* whose texts these are; 0: none yet */
  const char *selector, *selector_digest, *model, *assessed;
} DemurScanFill;

void demur_scan_fill_init(DemurScanFill *fill, DemurScanTable *table);
void demur_scan_fill_clear(DemurScanFill *fill);

/* The table's copy of a text that repeats (sites, scanners, selectors): kept once. NULL: "". */
const char *demur_scan_keep(DemurScanFill *fill, const char *text);
/* The table's copy of one that doesn't. */
const char *demur_scan_copy(DemurScanFill *fill, const char *text);

/* Room for n more rows. */
void demur_scan_fill_reserve(DemurScanFill *fill, size_t n);
/* A new last row, of which nothing is known: good until the next one. */
DemurScan *demur_scan_fill_new(DemurScanFill *fill);
void demur_scan_take_verdict(DemurScanFill *fill, DemurScan *scan,
                             const DemurVerdictRecord *verdict);
/* Sets what follows from the rest, once that is set. */
void demur_scan_complete(DemurScanFill *fill, DemurScan *scan);

/* Adds the DICOM series. */
gboolean demur_scan_add_series(DemurScanFill *fill, DemurWorkspace *workspace,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Adds the assessed scans of a cohort. */
gboolean demur_scan_add_cohort(DemurScanFill *fill, DemurWorkspace *workspace, const char *name,
                               const DemurProgress *progress,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
