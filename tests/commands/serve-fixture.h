/* A running `demur serve`, a stand-in for the external model, and studies to send to it: what the
 * tests of the service share. */
#pragma once

#include "life-fixture.h"
#include "dicom/network-fixture.h"

#include <signal.h>

#define N_SERVE_SLICES 24
#define PATIENCE_SECONDS 120 /* for what must come; a test that waits in vain fails */

typedef struct {
  Sandbox *sandbox;
  char *folder, *settings;
  guint port;
  GSubprocess *process; /* NULL: ended */
} Service;

/* The model: a risk that is the same for all. more: shell lines before it writes. */
static inline char *
serve_model(const Sandbox *sandbox, const char *more) {
  g_autofree char *text = g_strdup_printf("%s\necho '{\"risk\": 0.125}' > \"$2/scores.json\"\n",
                                          more != NULL ? more : "");
  g_autofree char *script = sandbox_write(sandbox, "model.sh", text, -1);
  return g_strdup_printf("sh '%s' {series} {output}", script);
}

/* Settings with a quick receiver; more: lines behind the usual ones ("" is allowed). */
static inline void
serve_settings(Service *service, const char *command, const char *more) {
  g_autofree char *text =
      g_strdup_printf("# a test\n[receive]\nfolder = %s\nport = %u\nsettle = 0\nreserve = 0\n"
                      "[model]\nname = m\ncommand = %s\npause = 0\n[assess]\nselector = s\n%s\n",
                      service->folder, service->port, command, more);
  g_free(service->settings);
  service->settings = sandbox_write(service->sandbox, "serve.conf", text, -1);
}

static inline Service *
service_new(const char *more) {
  Service *service = g_new0(Service, 1);
  service->sandbox = with_selector();
  service->folder = sandbox_path(service->sandbox, "received");
  service->port = fixture_port();
  g_autofree char *command = serve_model(service->sandbox, NULL);
  serve_settings(service, command, more);
  return service;
}

static inline DemurPeer
service_peer(const Service *service) {
  return (DemurPeer){"127.0.0.1", service->port, "DEMUR", "TESTER", 10, NULL};
}

/* Starts it and waits until it answers. */
static inline void
service_start(Service *service) {
  service->process = start_demur(service->sandbox, "serve", service->settings, NULL);
  const DemurPeer peer = service_peer(service);
  gboolean up = FALSE;
  for (int i = 0; i < PATIENCE_SECONDS * 100 && !up; i++) {
    up = demur_network_echo(&peer, NULL);
    if (!up)
      g_usleep(10000);
    if (!up && g_subprocess_get_identifier(service->process) == NULL)
      g_error("the service ended at once");
  }
  g_assert_true(up);
}

static inline void
service_end(Service *service, int number) {
  g_subprocess_send_signal(service->process, number);
  g_assert_true(g_subprocess_wait(service->process, NULL, NULL));
  if (number == SIGTERM)
    g_assert_cmpint(g_subprocess_get_exit_status(service->process), ==, 0);
  g_clear_object(&service->process);
}

/* Ends the service, then the archive that it answers to, and takes away what that kept. */
static inline void
service_end_all(Service *service, FixtureServer *archive, const char *folder) {
  service_end(service, SIGTERM);
  fixture_server_stop(archive);
  fixture_server_free(archive);
  fixture_remove(folder);
}

static inline void
service_free(Service *service) {
  if (service->process != NULL)
    service_end(service, SIGKILL);
  g_free(service->folder);
  g_free(service->settings);
  sandbox_free(service->sandbox);
  g_free(service);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Service, service_free)

static inline Run *
service_status(const Service *service) {
  return run_json(service->sandbox, 0, "serve", "--status", service->settings, NULL);
}

/* Until the number of that name is n, with nothing on its way. */
static inline void
service_wait(const Service *service, const char *name, guint n) {
  for (int i = 0; i < PATIENCE_SECONDS * 10; i++) {
    g_autoptr(Run) run = service_status(service);
    JsonObject *root = root_of(run);
    if (number_at(root, name) == n && number_at(root, "n_arriving") == 0 &&
        (number_at(root, "n_queue") == 0 || strcmp(name, "n_answer") == 0))
      return;
    g_usleep(100000);
  }
  g_autoptr(Run) run = service_status(service);
  g_error("%s never was %u: %s", name, n, run->out);
}

/* Slices from..to-1 of study number k, of a person of its own; their paths. n: how many they say
 * that their acquisition has, 0: nothing. */
static inline char **
write_study_of(const Sandbox *sandbox, guint k, int from, int to, guint n) {
  g_autofree char *name = g_strdup_printf("study-%u-%d", k, from);
  g_autofree char *folder = sandbox_path(sandbox, name);
  g_autofree char *study = g_strdup_printf("1.2.77.%u", k);
  g_autofree char *series = g_strdup_printf("1.2.77.%u.1", k);
  g_autofree char *patient = g_strdup_printf("P%u", k);
  g_autofree char *person = g_strdup_printf("Somebody^Number%u", k);
  g_autoptr(GStrvBuilder) paths = g_strv_builder_new();
  g_mkdir(folder, 0700);
  for (int s = from; s < to; s++) {
    FixtureImage image = fixture_image(s + 1, 2.5 * s);
    image.study_uid = study;
    image.series_uid = image.uid_root = series;
    image.patient_id = patient;
    image.patient_name = person;
    image.images_in_acquisition = n;
    g_autofree char *file = g_strdup_printf("%03d.dcm", s);
    g_autofree char *path = g_build_filename(folder, file, NULL);
    fixture_save(&image, folder, file);
    g_strv_builder_add(paths, path);
  }
  return g_strv_builder_end(paths);
}

static inline char **
write_study(const Sandbox *sandbox, guint k, int from, int to) {
  return write_study_of(sandbox, k, from, to, 0);
}

/* How many of them the peer acknowledged; 0 too where it is not there. */
static inline size_t
send_some(const DemurPeer *peer, char **paths) {
  g_autoptr(DemurSending) sending =
      demur_network_send(peer, (const char *const *)paths, NULL, NULL);
  return sending != NULL ? sending->n_sent : 0;
}

static inline void
send_study(const Service *service, guint k, int from, int to) {
  g_auto(GStrv) paths = write_study(service->sandbox, k, from, to);
  const DemurPeer peer = service_peer(service);
  g_assert_cmpuint(send_some(&peer, paths), ==, (size_t)(to - from));
}

/* The files of a study in an archive's folder. */
static inline char **
archived(const char *folder, guint k) {
  g_autofree char *name = g_strdup_printf("1.2.77.%u", k);
  g_autofree char *study = g_build_filename(folder, name, NULL);
  g_autoptr(GStrvBuilder) paths = g_strv_builder_new();
  g_autoptr(GDir) dir = g_dir_open(study, 0, NULL);
  const char *series, *file;
  while (dir != NULL && (series = g_dir_read_name(dir)) != NULL) {
    g_autofree char *path = g_build_filename(study, series, NULL);
    g_autoptr(GDir) inner = g_dir_open(path, 0, NULL);
    while (inner != NULL && (file = g_dir_read_name(inner)) != NULL) {
      g_autofree char *object = g_build_filename(path, file, NULL);
      g_strv_builder_add(paths, object);
    }
  }
  return g_strv_builder_end(paths);
}

static inline guint
n_archived(const char *folder, guint k) {
  g_auto(GStrv) files = archived(folder, k);
  return g_strv_length(files);
}

static inline char *
answer_to(const FixtureServer *archive, const char *more) {
  return g_strdup_printf("[answer archive]\nto = 127.0.0.1:%u\ncalled = DEMUR\n%s",
                         archive->receiver.port, more);
}

/* Whether any file below path holds the text. */
static inline gboolean
holds_text(const char *path, const char *text) {
  if (!g_file_test(path, G_FILE_TEST_IS_DIR)) {
    g_autofree char *bytes = NULL;
    gsize n = 0;
    return g_file_get_contents(path, &bytes, &n, NULL) &&
           memmem(bytes, n, text, strlen(text)) != NULL;
  }
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *child = g_build_filename(path, name, NULL);
    if (holds_text(child, text))
      return TRUE;
  }
  return FALSE;
}
