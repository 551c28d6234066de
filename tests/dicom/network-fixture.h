/* A storage server in a thread of the test, and a port for it. */
#pragma once

#include "dicom/network.h"
#include "dicom/receiver.h"
#include "dicom-fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* A port nobody listens on now. */
static inline guint
fixture_port(void) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  g_assert_cmpint(fd, >=, 0);
  g_assert_cmpint(bind(fd, (struct sockaddr *)&address, length), ==, 0);
  g_assert_cmpint(getsockname(fd, (struct sockaddr *)&address, &length), ==, 0);
  close(fd);
  return ntohs(address.sin_port);
}

typedef struct {
  DemurReceiver receiver;
  DemurReceived received;
  GCancellable *cancellable;
  GThread *thread;
  GMutex mutex;
  GCond changed;
  gboolean open, ended;
  guint n_again;       /* so many times what has settled can't be read */
  GPtrArray *settled;  /* char *, folders */
  GPtrArray *problems; /* char * */
} FixtureServer;

static inline gboolean
fixture_listening(gpointer data, GError **error) {
  FixtureServer *server = data;
  (void)error;
  g_mutex_lock(&server->mutex);
  server->open = TRUE;
  g_cond_broadcast(&server->changed);
  g_mutex_unlock(&server->mutex);
  return TRUE;
}

static inline DemurSettled
fixture_settled(const char *const *folders, gpointer data) {
  FixtureServer *server = data;
  g_mutex_lock(&server->mutex);
  for (; *folders != NULL; folders++)
    g_ptr_array_add(server->settled, g_strdup(*folders));
  const gboolean again = server->n_again > 0;
  server->n_again -= again ? 1 : 0;
  g_cond_broadcast(&server->changed);
  g_mutex_unlock(&server->mutex);
  return again ? DEMUR_SETTLED_AGAIN : DEMUR_SETTLED_DONE;
}

static inline void
fixture_problem(const char *sentence, gpointer data) {
  FixtureServer *server = data;
  g_mutex_lock(&server->mutex);
  g_ptr_array_add(server->problems, g_strdup(sentence));
  g_cond_broadcast(&server->changed);
  g_mutex_unlock(&server->mutex);
}

static inline gpointer
fixture_serve(gpointer data) {
  FixtureServer *server = data;
  g_autoptr(GError) error = NULL;
  const DemurProgress progress = {NULL, NULL, server->cancellable};
  const gboolean served =
      demur_network_receive(&server->receiver, &server->received, &progress, &error);
  g_assert_no_error(error);
  g_assert_true(served);
  return NULL;
}

static inline FixtureServer *
fixture_server_make(const char *folder, const char *const *callers, const char *const *hosts) {
  FixtureServer *server = g_new0(FixtureServer, 1);
  g_mutex_init(&server->mutex);
  g_cond_init(&server->changed);
  server->cancellable = g_cancellable_new();
  server->settled = g_ptr_array_new_with_free_func(g_free);
  server->problems = g_ptr_array_new_with_free_func(g_free);
  server->receiver = (DemurReceiver){.folder = folder,
                                     .port = fixture_port(),
                                     .ae = "DEMUR",
                                     .callers = callers,
                                     .hosts = hosts,
                                     .timeout_seconds = 10,
                                     .settle_seconds = 0,
                                     .listening = fixture_listening,
                                     .settled = fixture_settled,
                                     .problem = fixture_problem,
                                     .data = server};
  return server;
}

/* Starts and waits until the port is open. */
static inline FixtureServer *
fixture_server_start(FixtureServer *server) {
  server->thread = g_thread_new("server", fixture_serve, server);
  g_mutex_lock(&server->mutex);
  while (!server->open)
    g_cond_wait(&server->changed, &server->mutex);
  g_mutex_unlock(&server->mutex);
  return server;
}

/* A running server. hosts, callers: as in DemurReceiver. */
static inline FixtureServer *
fixture_server_new(const char *folder, const char *const *callers, const char *const *hosts) {
  return fixture_server_start(fixture_server_make(folder, callers, hosts));
}

/* .. that serves so many associations at once. */
static inline FixtureServer *
fixture_server_new_limited(const char *folder, guint max_associations) {
  FixtureServer *server = fixture_server_make(folder, NULL, NULL);
  server->receiver.max_associations = max_associations;
  return fixture_server_start(server);
}

/* .. that waits an hour before it tells of a study. */
static inline FixtureServer *
fixture_server_new_patient(const char *folder) {
  FixtureServer *server = fixture_server_make(folder, NULL, NULL);
  server->receiver.settle_seconds = 3600;
  return fixture_server_start(server);
}

/* Waits until at least n folders have settled / problems were told. */
static inline void
fixture_wait(FixtureServer *server, GPtrArray *list, guint n) {
  g_mutex_lock(&server->mutex);
  while (list->len < n)
    g_cond_wait(&server->changed, &server->mutex);
  g_mutex_unlock(&server->mutex);
}

/* Ends the server; received is valid behind it. */
static inline void
fixture_server_stop(FixtureServer *server) {
  g_cancellable_cancel(server->cancellable);
  g_thread_join(server->thread);
}

static inline void
fixture_server_free(FixtureServer *server) {
  g_object_unref(server->cancellable);
  g_ptr_array_unref(server->settled);
  g_ptr_array_unref(server->problems);
  g_mutex_clear(&server->mutex);
  g_cond_clear(&server->changed);
  g_free(server);
}

static inline DemurPeer
fixture_peer(const FixtureServer *server) {
  return (DemurPeer){"127.0.0.1", server->receiver.port, "DEMUR", "TESTER", 10, NULL};
}

/* n small CT images in folder/in; their paths (strv). */
static inline char **
fixture_write_series(const char *folder, guint n) {
  g_autofree char *in = g_build_filename(folder, "in", NULL);
  g_autoptr(GStrvBuilder) paths = g_strv_builder_new();
  g_mkdir(in, 0700);
  for (guint i = 0; i < n; i++) {
    FixtureImage image = fixture_image((gint64)i + 1, 0.5 * i);
    g_autofree char *name = g_strdup_printf("%05u.dcm", i);
    g_autofree char *path = g_build_filename(in, name, NULL);
    fixture_save(&image, in, name);
    g_strv_builder_add(paths, path);
  }
  return g_strv_builder_end(paths);
}

/* A folder of its own with n images in it and a place for what is received; removed with it. */
typedef struct {
  char *folder, *out, **paths; /* out is not there yet */
} FixturePlace;

static inline FixturePlace *
fixture_place_new(guint n) {
  FixturePlace *place = g_new0(FixturePlace, 1);
  place->folder = fixture_folder();
  place->out = g_build_filename(place->folder, "out", NULL);
  place->paths = fixture_write_series(place->folder, n);
  return place;
}

static inline void
fixture_place_free(FixturePlace *place) {
  fixture_remove(place->folder);
  g_free(place->folder);
  g_free(place->out);
  g_strfreev(place->paths);
  g_free(place);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FixturePlace, fixture_place_free)
