/* What stood in a workspace before it had a log. Inside the store only. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

#define DEMUR_STORE_FIRST_LOG 9 /* the first user_version with a log */

/* Begins the log of a workspace that had none, in the open transaction of its migration: one event
 * for each row that had a digest already (thresholds), at the time the row says. Rows without one
 * are counted by verify as older than the log. A threshold that is not what was written gets none,
 * and stays wrong. */
gboolean demur_store_adopt(DemurWorkspace *workspace, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
