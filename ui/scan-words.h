/* What a list and a card say of a scan. */
#pragma once

#include "tasks/review.h"
#include "tasks/scan.h"

G_BEGIN_DECLS

/* The reasons in the reader's language, most important first (owned, NULL-terminated). While the
 * risk is held back those that tell it by another name are left out, and that is said. n_numbered (NULL: not asked): how many of them are the scan's own; what
 * holds of any scan stands behind. */
char **demur_scan_reasons(const DemurScan *scan, gboolean revealed, guint *n_numbered);
/* The first of them, of a verdict that no longer holds why and what to do; "" where there is none
 * (owned). */
char *demur_scan_first_reason(const DemurScan *scan);

/* "3.2 %", "held back", "–" (owned). */
char *demur_scan_risk_text(const DemurScan *scan);

/* A patient's name as people write it ("Doe, Jane" of "Doe^Jane"), owned; "–" where not recorded. */
char *demur_scan_name_text(const DemurScan *scan);

/* Why nothing of that kind can be kept of the scan (NULL: none is shown), in the reader's language;
 * NULL: it can. read_only: of the workspace. */
const char *demur_scan_why_no_review(const DemurScan *scan, gboolean read_only,
                                     DemurReviewKind kind);

G_END_DECLS
