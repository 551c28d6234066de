/* Another maker's archive, Orthanc, started on the loopback with a folder of its own. */
#pragma once

#include "network-fixture.h"

#include <signal.h>

#define WEB_PLUGIN "/usr/share/orthanc/plugins/libOrthancDicomWeb.so"

typedef struct {
  GSubprocess *process;
  char *folder;
  guint port, web_port;
} Orthanc;

static inline const char *
orthanc_program(void) {
  static const char *const places[] = {"/usr/sbin/Orthanc", "/usr/bin/Orthanc"};
  for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
    if (g_file_test(places[i], G_FILE_TEST_IS_EXECUTABLE))
      return places[i];
  return NULL;
}

/* Starts it, knowing us as DEMUR at our_port; NULL with the test skipped where it is absent. */
static inline Orthanc *
orthanc_start(guint our_port) {
  const char *program = orthanc_program();
  if (program == NULL) {
    g_test_skip("Orthanc is not installed (apt: orthanc)");
    return NULL;
  }
  Orthanc *orthanc = g_new0(Orthanc, 1);
  orthanc->folder = fixture_folder();
  orthanc->port = fixture_port();
  orthanc->web_port = fixture_port();
  const gboolean web = g_file_test(WEB_PLUGIN, G_FILE_TEST_EXISTS);
  g_autofree char *settings = g_strdup_printf(
      "{\"Name\": \"test\", \"StorageDirectory\": \"%s/db\", \"IndexDirectory\": \"%s/db\","
      " \"HttpServerEnabled\": %s, \"HttpPort\": %u, \"AuthenticationEnabled\": false,"
      " \"DicomAet\": \"ORTHANC\", \"DicomPort\": %u,"
      " \"DicomCheckCalledAet\": true, \"DicomAlwaysAllowEcho\": true,"
      " \"DicomAlwaysAllowStore\": true, \"DicomAlwaysAllowFind\": true,"
      " \"DicomAlwaysAllowMove\": true, \"DicomAlwaysAllowGet\": true, \"RemoteAccessAllowed\": false, \"Plugins\": [%s],"
      " \"DicomModalities\": {\"demur\": [\"DEMUR\", \"127.0.0.1\", %u]}}",
      orthanc->folder, orthanc->folder, web ? "true" : "false", orthanc->web_port, orthanc->port,
      web ? "\"" WEB_PLUGIN "\"" : "", our_port);
  fixture_write(orthanc->folder, "settings.json", settings, strlen(settings));
  g_autofree char *path = g_build_filename(orthanc->folder, "settings.json", NULL);
  g_autoptr(GError) error = NULL;
  orthanc->process =
      g_subprocess_new(G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE,
                       &error, program, path, NULL);
  g_assert_no_error(error);
  const DemurPeer peer = {"127.0.0.1", orthanc->port, "ORTHANC", "DEMUR", 10, NULL};
  gboolean up = FALSE;
  for (int i = 0; i < 600 && !up; i++) {
    up = demur_network_echo(&peer, NULL);
    if (!up)
      g_usleep(100000);
  }
  g_assert_true(up);
  return orthanc;
}

static inline void
orthanc_stop(Orthanc *orthanc) {
  g_subprocess_send_signal(orthanc->process, SIGTERM);
  g_subprocess_wait(orthanc->process, NULL, NULL);
  g_object_unref(orthanc->process);
  fixture_remove(orthanc->folder);
  g_free(orthanc->folder);
  g_free(orthanc);
}

static inline DemurPeer
orthanc_peer(const Orthanc *orthanc) {
  return (DemurPeer){"127.0.0.1", orthanc->port, "ORTHANC", "DEMUR", 60, NULL};
}
