/* What a watch sees, as JSON. */
#pragma once

#include "base/json-writer.h"
#include "tasks/watch.h"

G_BEGIN_DECLS

/* One object of an open array: the watch, each signal with its e-value, and its alarms. path: each
 * signal's e-values behind every DEMUR_SMALL_CELL patients too. What changed is null where it is of
 * too few patients to be told. */
void demur_watch_state_write(DemurJson *json, const DemurWatchState *state, gboolean path);

G_END_DECLS
