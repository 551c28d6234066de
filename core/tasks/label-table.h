/* Tables of labels as people fill them in: scan_id, patient_id (may be left out), site, label, date (likewise: the day on
 * which the outcome was known). */
#pragma once

#include "cohort/column-map.h"
#include "cohort/table-warnings.h"

G_BEGIN_DECLS

typedef struct {
  char *scan_id, *patient_id; /* patient_id NULL: not given */
  double label;               /* NaN: left empty */
  char *date;                 /* "20260131"; NULL: not given */
  char *site;
  size_t line;
} DemurLabel;

/* Array of DemurLabel in the table's order, at least one (owned, clears its elements); *site: the
 * site that all rows are of (owned). Read as every table (cohort/table.h); identifiers without
 * blanks at their ends. map: other names for columns; NULL: none. warnings (of DemurTableWarning;
 * may be NULL) gets what was noticed. now: the time ("2026-01-31T12:00:00Z"). DEMUR_ERROR_INPUT with line and column for a
 * label that is not 0, 1 or missing, for a date that is none or is today nowhere yet, and for rows of two sites. */
GArray *demur_label_table_read(const char *path, DemurColumnMap *map, const char *now, char **site,
                               GPtrArray *warnings, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of as many sites as there are: array of array of DemurLabel (owned), one a site, in the
 * order in which sites first appear. */
GPtrArray *demur_label_table_read_sites(const char *path, DemurColumnMap *map, const char *now,
                                        GPtrArray *warnings,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same of scans of any site, or of which no site is said (NULL), in the table's order. */
GArray *demur_label_table_read_any(const char *path, DemurColumnMap *map, const char *now,
                                   GPtrArray *warnings, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
