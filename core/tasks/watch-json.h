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

/* An array of that key in an open object: of each DemurWatchStop its alarm's number, under which name and where its
 * selector was watched, its signal, and whether it can't be told that it was this one. */
void demur_watch_stops_write(DemurJson *json, const char *key, const GPtrArray *stops);

/* The array `held` in an open object, of DemurWatchHeld: each selector, and what stops it. */
void demur_watch_held_write(DemurJson *json, const GPtrArray *held);

G_END_DECLS
