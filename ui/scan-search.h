/* Whether a scan holds every word of a search: in its patient, site, scanner with kernel, date, ID,
 * description or source, in any case of letters. One search serves one pass over the rows: what was
 * found in a text that many rows share is kept by the text's address. */
#pragma once

#include "tasks/scan.h"

G_BEGIN_DECLS

typedef struct DemurScanSearch DemurScanSearch;

/* words: lower case, NULL-terminated, borrowed; NULL or none: every scan matches. */
DemurScanSearch *demur_scan_search_new(char *const *words);
void demur_scan_search_free(DemurScanSearch *search);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurScanSearch, demur_scan_search_free)

gboolean demur_scan_search_matches(DemurScanSearch *search, const DemurScan *scan);

G_END_DECLS
