/* What a watch sees, as JSON. */
#pragma once

#include "base/json-writer.h"
#include "tasks/watch.h"

G_BEGIN_DECLS

/* One object of an open array: the watch, each signal with its e-value, and its alarms. path: each
 * signal's e-values behind every DEMUR_SMALL_CELL patients too. What changed is null where it is of
 * too few patients to be told. */
void demur_watch_state_write(DemurJson *json, const DemurWatchState *state, gboolean path);

/* Into an open object: `limit`, the e-value that is an alarm, where all signals share one (null otherwise), and
 * `limits`, that of each signal that is not ignored. */
void demur_watch_limits_write(DemurJson *json, const DemurWatchPlan *plan);

/* An array of that key in an open object: of each DemurWatchAlarm its number, under which name its selector was
 * watched, its signal, what it does, and who lifted it. */
void demur_watch_alarms_write(DemurJson *json, const char *key, const GPtrArray *alarms);

G_END_DECLS
