/* The worklist as a GListModel: the rows of a scan table that pass a filter, in an order. Filtering
 * and sorting work on plain arrays, so 100,000 rows take a few milliseconds; an object exists only
 * for rows that are asked for.
 *
 * An object stands for a place in the list, not for a scan. When a search, a filter, an order or
 * another table brings another scan there, it says "changed", and only places at the end are added
 * or removed: GTK 4.8 would make new widgets for two hundred rows otherwise, at every letter that
 * is typed. */
#pragma once

#include <gio/gio.h>

#include "tasks/scan.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_SCAN_ROW (demur_scan_row_get_type())
G_DECLARE_FINAL_TYPE(DemurScanRow, demur_scan_row, DEMUR, SCAN_ROW, GObject)

/* Signal "changed": another scan stands here, or something was said of it. */
guint32 demur_scan_row_index(DemurScanRow *row);
const DemurScan *demur_scan_row_scan(DemurScanRow *row);
const DemurScanReview *demur_scan_row_review(DemurScanRow *row);

typedef enum {
  DEMUR_SORT_VERDICT,
  DEMUR_SORT_PATIENT,
  DEMUR_SORT_NAME,
  DEMUR_SORT_AGE,
  DEMUR_SORT_DATE,
  DEMUR_SORT_SITE,
  DEMUR_SORT_SCANNER,
  DEMUR_SORT_RISK, /* held-back risks keep no order among themselves: it would tell them */
  DEMUR_SORT_REASON,
  DEMUR_SORT_REVIEWED,
  DEMUR_N_SORTS,
} DemurSort;

#define DEMUR_SHOW_ALL (-1)
#define DEMUR_SHOW_NOT_REVIEWED (DEMUR_N_SHOWN)

typedef struct {
  int shown;           /* DemurShown, DEMUR_SHOW_ALL or DEMUR_SHOW_NOT_REVIEWED */
  const char *text;    /* every word must be found; NULL: any */
  const char *site;    /* NULL: any */
  const char *scanner; /* manufacturer; NULL: any */
  const char *source;  /* NULL: any; "": DICOM series; else a cohort */
} DemurScanFilter;

#define DEMUR_TYPE_SCAN_LIST (demur_scan_list_get_type())
G_DECLARE_FINAL_TYPE(DemurScanList, demur_scan_list, DEMUR, SCAN_LIST, GObject)

DemurScanList *demur_scan_list_new(void);
DemurScanTable *demur_scan_list_table(DemurScanList *list); /* borrowed; NULL before the first */
void demur_scan_list_set_table(DemurScanList *list, DemurScanTable *table);
void demur_scan_list_set_filter(DemurScanList *list, const DemurScanFilter *filter);
void demur_scan_list_set_sort(DemurScanList *list, DemurSort sort, gboolean descending);
DemurSort demur_scan_list_sort(DemurScanList *list, gboolean *descending);

/* A review was added: what depends on it is counted anew, nothing reorders by itself. */
void demur_scan_list_touch(DemurScanList *list, guint32 row);
/* Something is said of other rows that is not of the table: those that are shown say so. */
void demur_scan_list_touch_all(DemurScanList *list);

/* counts [DEMUR_N_SHOWN + 2]: by verdict, then not reviewed, then all, of what the other filters
 * let through. */
void demur_scan_list_counts(DemurScanList *list, guint *counts);

/* Table row at a position; position of a table row, -1 where it is filtered out. */
guint32 demur_scan_list_row_at(DemurScanList *list, guint position);
gssize demur_scan_list_position_of(DemurScanList *list, guint32 row);

G_END_DECLS
