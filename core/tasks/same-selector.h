/* Inside the room: whether what stands under a name is the same selector, whatever both are called. */
#pragma once

#include "selector/selector.h"
#include "tasks/task.h"

G_BEGIN_DECLS

/* *same |= whether the selector of that name has the origin (selector/release.h) of this one; a name that is none any
 * more has not. */
gboolean demur_task_same_selector(DemurTask *task, const char *name, const DemurSelector *selector,
                                  gboolean *same, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
