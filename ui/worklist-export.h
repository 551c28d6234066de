/* The worklist as a table: the rows that are listed, in their order, with what stands on the screen.
 * What is held back there is not in it. */
#pragma once

#include "ui/scan-list.h"

G_BEGIN_DECLS

/* CSV (base/csv-field.h): verdict, patient_id, age, sex, study, site, scanner, risk, reason,
 * reviewed, scan_id. */
gboolean demur_worklist_export(DemurScanList *list, const char *path,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
