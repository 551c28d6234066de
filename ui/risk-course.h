/* Risk over time: accepted risks as a line, held-back ones as a mark on the axis that tells no
 * height. */
#pragma once

#include "ui/drawing.h"
#include "ui/scan-list.h"

G_BEGIN_DECLS

/* Of the scans in rows [n] of the table, the newest first; six of them at most. NULL where there is
 * no course: less than two days, or nothing that was assessed. */
DemurDrawing *demur_risk_course_new(const DemurScanTable *table, const guint32 *rows, size_t n);

G_END_DECLS
