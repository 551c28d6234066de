/* A report pinned to what it was made from: what the workspace has learnt since (a threshold added
 * or tuned anew, an audit, a validation) is set aside and told, so that it is no difference; what
 * the report rests on stays what the workspace holds, so that a change of it is found. A threshold
 * or an audit that a later one replaced is taken from the report itself. */
#pragma once

#include "store/audits.h"
#include "store/selectors.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

typedef struct {
  JsonObject *document; /* the report's JSON; borrowed */
  GPtrArray *since;     /* of owned sentences, English: what came after it */
} DemurReportPin;

/* Leaves in records (of DemurThresholdRecord) of that selector those that the report was made with.
 * Returns how many were set aside. */
size_t demur_report_pin_thresholds(const DemurReportPin *pin, const char *selector,
                                   GPtrArray *records);

/* The same of audits (of DemurAuditRecord). */
void demur_report_pin_audits(const DemurReportPin *pin, GPtrArray *records);

/* Sets a validation aside that the report does not know. */
void demur_report_pin_validation(const DemurReportPin *pin, DemurSelectorRecord *record);

G_END_DECLS
