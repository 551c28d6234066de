#include "tasks/serve-metrics.h"

#include <inttypes.h>
#include <gio/gio.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"

#define PATIENCE 5        /* seconds for one who asks */
#define MAX_REQUEST 16384 /* bytes */

char *
demur_serve_metrics_text(const DemurServeStatus *status) {
  const struct {
    const char *name, *help;
    gint64 value;
  } gauges[] = {
      {"demur_serve_running", "whether the service runs", status->running},
      {"demur_serve_arriving", "studies that have not come whole", status->n_arriving},
      {"demur_serve_broken", "of them, that may be a part: broken off, or objects refused",
       status->n_broken},
      {"demur_serve_queue", "studies on their way", status->n_queue},
      {"demur_serve_answering", "of them, whose answers are being delivered",
       status->n_step[DEMUR_SERVE_ANSWER]},
      {"demur_serve_held", "studies that ended without an answer", status->n_held},
      {"demur_serve_answered", "studies answered that are still listed", status->n_answered},
      {"demur_serve_oldest_seconds", "how long the oldest open study waits", status->oldest},
      {"demur_serve_last_answer_timestamp_seconds", "when the last study was answered",
       status->last_answer},
      {"demur_serve_disk_free_bytes", "of the received objects' disk", status->free_mb << 20}};
  GString *text = g_string_new(NULL);
  for (gsize g = 0; g < G_N_ELEMENTS(gauges); g++)
    g_string_append_printf(text, "# HELP %s %s\n# TYPE %s gauge\n%s %" PRId64 "\n", gauges[g].name,
                           gauges[g].help, gauges[g].name, gauges[g].name, gauges[g].value);
  return g_string_free(text, FALSE);
}

struct DemurServeMetrics {
  const DemurServeConfig *config;
  GSocketListener *listener;
  GCancellable *ended;
  GThread *thread;
};

/* The first line of a request, once its head came whole; NULL where that took too long. */
static char *
read_request(GInputStream *input, GCancellable *ended) {
  g_autoptr(GString) request = g_string_new(NULL);
  const gint64 until = g_get_monotonic_time() + PATIENCE * G_USEC_PER_SEC;
  while (strstr(request->str, "\r\n\r\n") == NULL) {
    char bytes[1024];
    const gssize n = g_input_stream_read(input, bytes, sizeof bytes, ended, NULL);
    if (n <= 0 || request->len > MAX_REQUEST || g_get_monotonic_time() >= until)
      return NULL;
    g_string_append_len(request, bytes, n);
  }
  return g_strndup(request->str, strcspn(request->str, "\r"));
}

static char *
answer_to(const DemurServeMetrics *metrics, const char *request) {
  const gboolean known = g_str_has_prefix(request, "GET /metrics ");
  g_autoptr(DemurServeStatus) status =
      known ? demur_task_serve_status(metrics->config, NULL) : NULL;
  g_autofree char *text =
      status != NULL ? demur_serve_metrics_text(status) : g_strdup("ask for GET /metrics\n");
  return g_strdup_printf("HTTP/1.0 %s\r\nContent-Type: text/plain; version=0.0.4\r\n"
                         "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
                         status != NULL ? "200 OK"
                         : known        ? "503 Service Unavailable"
                                        : "404 Not Found",
                         strlen(text), text);
}

static gpointer
answer_all(gpointer data) {
  DemurServeMetrics *metrics = data;
  while (!g_cancellable_is_cancelled(metrics->ended)) {
    g_autoptr(GSocketConnection) connection =
        g_socket_listener_accept(metrics->listener, NULL, metrics->ended, NULL);
    if (connection == NULL) {
      g_usleep(G_USEC_PER_SEC / 10); /* no descriptor left, say */
      continue;
    }
    g_socket_set_timeout(g_socket_connection_get_socket(connection), PATIENCE);
    GIOStream *stream = G_IO_STREAM(connection);
    g_autofree char *request = read_request(g_io_stream_get_input_stream(stream), metrics->ended);
    if (request == NULL)
      continue;
    g_autofree char *answer = answer_to(metrics, request);
    (void)g_output_stream_write_all(g_io_stream_get_output_stream(stream), answer, strlen(answer),
                                    NULL, metrics->ended, NULL);
    (void)g_io_stream_close(stream, metrics->ended, NULL);
  }
  return NULL;
}

DemurServeMetrics *
demur_serve_metrics_open(const DemurServeConfig *config, GError **error) {
  g_autoptr(DemurServeMetrics) metrics = g_new0(DemurServeMetrics, 1);
  metrics->config = config;
  metrics->listener = g_socket_listener_new();
  metrics->ended = g_cancellable_new();
  g_autoptr(GInetAddress) loopback = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
  g_autoptr(GSocketAddress) address =
      g_inet_socket_address_new(loopback, (guint16)config->metrics_port);
  g_autoptr(GError) cause = NULL;
  if (g_socket_listener_add_address(metrics->listener, address, G_SOCKET_TYPE_STREAM,
                                    G_SOCKET_PROTOCOL_TCP, NULL, NULL, &cause))
    return g_steal_pointer(&metrics);
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "port %u for the counters can't be opened: %s; name another one",
                  config->metrics_port, cause->message);
  return NULL;
}

gboolean
demur_serve_metrics_start(DemurServeMetrics *metrics, GError **error) {
  metrics->thread = demur_thread_new("metrics", answer_all, metrics, error);
  return metrics->thread != NULL;
}

void
demur_serve_metrics_free(DemurServeMetrics *metrics) {
  if (metrics == NULL)
    return;
  g_cancellable_cancel(metrics->ended);
  g_clear_pointer(&metrics->thread, g_thread_join);
  g_socket_listener_close(metrics->listener);
  g_object_unref(metrics->listener);
  g_object_unref(metrics->ended);
  g_free(metrics);
}
