/* What became of a selector in use, gathered from the workspace for the report and its charts. */
#pragma once

#include "report/use.h"
#include "tasks/report-pin.h"
#include "tasks/task.h"

G_BEGIN_DECLS

typedef struct {
  DemurReportUse use;
  GPtrArray *owned, *states, *held; /* what it points to */
} DemurUsed;

/* Its acceptance tests and watches as they stand; digest: the selector's, NULL: it is loaded to know it; pin: as they stood when that report was made, NULL:
 * now. NULL without error where the pinned report knows nothing of use. Keeps nothing. */
gboolean demur_task_used(DemurTask *task, const char *selector, const char *digest,
                         const DemurReportPin *pin, DemurUsed **used,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_used_free(DemurUsed *used);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurUsed, demur_used_free)

G_END_DECLS
