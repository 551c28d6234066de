/* Inside the store only: whether the log, what it tells of and the schema are what was written. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

/* Adds to findings (of DemurFinding): the schema against the program's; the chain of events; the
 * last event of every key against its row; every digest that a verdict or an opinion rests on. */
gboolean demur_store_verify_history(DemurWorkspace *workspace, GArray *findings,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
