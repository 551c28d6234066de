/* The state of a service as counters in Prometheus' text form: for a file (node exporter's textfile
 * collector), or read over HTTP from a port of the loopback. Numbers only: no study, no person. */
#pragma once

#include "tasks/serve.h"

G_BEGIN_DECLS

/* Owned. */
char *demur_serve_metrics_text(const DemurServeStatus *status);

/* A port of the loopback that gives them to whoever asks, one after the other; who asks and then
 * says nothing has five seconds. */
typedef struct DemurServeMetrics DemurServeMetrics;

/* DEMUR_ERROR_STATE where the port can't be opened. config is borrowed until it is freed. */
DemurServeMetrics *demur_serve_metrics_open(const DemurServeConfig *config,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Answers from here on, in a thread of its own: behind the last fork. DEMUR_ERROR_STATE where the system makes none. */
gboolean demur_serve_metrics_start(DemurServeMetrics *metrics,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Ends the thread. NULL is allowed. */
void demur_serve_metrics_free(DemurServeMetrics *metrics);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurServeMetrics, demur_serve_metrics_free)

G_END_DECLS
