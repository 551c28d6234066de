/* A trained selector with the history of its training: kept alike by the command and the window. */
#pragma once

#include "selector/training.h"
#include "store/selectors.h"

G_BEGIN_DECLS

/* Keeps the selector under the name, and removes what was kept there to resume its training: both
 * or neither. replace and errors: as demur_selectors_save. created: "2026-01-31T12:00:00Z". */
gboolean demur_trained_save(DemurWorkspace *workspace, const char *name,
                            const DemurSelector *selector, const DemurTrainingLog *log,
                            DemurSelectorReplace replace, const char *created,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
