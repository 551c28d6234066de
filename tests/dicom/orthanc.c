/* Our network against another maker's archive: Orthanc, started here on the loopback with a folder
 * of its own, and ended again. Label long; skipped where Orthanc is not installed. */
#include "network-fixture.h"

#include <signal.h>

typedef struct {
  GSubprocess *process;
  char *folder;
  guint port;
} Orthanc;

static const char *
orthanc_program(void) {
  static const char *const places[] = {"/usr/sbin/Orthanc", "/usr/bin/Orthanc"};
  for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
    if (g_file_test(places[i], G_FILE_TEST_IS_EXECUTABLE))
      return places[i];
  return NULL;
}

/* Starts it, knowing us as DEMUR at our_port; NULL with the test skipped where it is absent. */
static Orthanc *
orthanc_start(guint our_port) {
  const char *program = orthanc_program();
  if (program == NULL) {
    g_test_skip("Orthanc is not installed (apt: orthanc)");
    return NULL;
  }
  Orthanc *orthanc = g_new0(Orthanc, 1);
  orthanc->folder = fixture_folder();
  orthanc->port = fixture_port();
  g_autofree char *settings = g_strdup_printf(
      "{\"Name\": \"test\", \"StorageDirectory\": \"%s/db\", \"IndexDirectory\": \"%s/db\","
      " \"HttpServerEnabled\": false, \"DicomAet\": \"ORTHANC\", \"DicomPort\": %u,"
      " \"DicomCheckCalledAet\": true, \"DicomAlwaysAllowEcho\": true,"
      " \"DicomAlwaysAllowStore\": true, \"DicomAlwaysAllowFind\": true,"
      " \"DicomAlwaysAllowMove\": true, \"RemoteAccessAllowed\": false, \"Plugins\": [],"
      " \"DicomModalities\": {\"demur\": [\"DEMUR\", \"127.0.0.1\", %u]}}",
      orthanc->folder, orthanc->folder, orthanc->port, our_port);
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

static void
orthanc_stop(Orthanc *orthanc) {
  g_subprocess_send_signal(orthanc->process, SIGTERM);
  g_subprocess_wait(orthanc->process, NULL, NULL);
  g_object_unref(orthanc->process);
  fixture_remove(orthanc->folder);
  g_free(orthanc->folder);
  g_free(orthanc);
}

static DemurPeer
peer_of(const Orthanc *orthanc) {
  return (DemurPeer){"127.0.0.1", orthanc->port, "ORTHANC", "DEMUR", 60, NULL};
}

static void
send_all(const Orthanc *orthanc, char **paths, gsize n) {
  g_autoptr(GError) error = NULL;
  const DemurPeer peer = peer_of(orthanc);
  g_autoptr(DemurSending) sending =
      demur_network_send(&peer, (const char *const *)paths, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(sending->n_sent, ==, n);
}

static void
test_two_thousand_slices_there_and_back(void) {
  g_autofree char *folder = fixture_folder();
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  FixtureServer *server = fixture_server_new(out, NULL, NULL);
  Orthanc *orthanc = orthanc_start(server->receiver.port);
  if (orthanc != NULL) {
    g_auto(GStrv) paths = fixture_write_series(folder, 2000);
    send_all(orthanc, paths, 2000);
    g_autoptr(GError) error = NULL;
    const DemurPeer peer = peer_of(orthanc);
    const DemurQuery by_patient = {.patient_id = "P1"};
    g_autoptr(GPtrArray) studies = demur_network_find(&peer, &by_patient, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(studies->len, ==, 1);
    const DemurFound *study = studies->pdata[0];
    g_assert_cmpstr(study->study_uid, ==, "1.2.3");
    g_assert_cmpstr(study->n_instances, ==, "2000");
    const DemurQuery of_study = {.study_uid = study->study_uid};
    g_autoptr(GPtrArray) series = demur_network_find(&peer, &of_study, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(series->len, ==, 1);
    g_assert_cmpstr(((DemurFound *)series->pdata[0])->series_uid, ==, "1.2.3.4");
    g_assert_cmpstr(((DemurFound *)series->pdata[0])->modality, ==, "CT");
    const DemurQuery nobody = {.patient_id = "P2"};
    g_autoptr(GPtrArray) none = demur_network_find(&peer, &nobody, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(none->len, ==, 0);
    DemurMoved moved;
    const gboolean sent = demur_network_move(&peer, "DEMUR", "1.2.3", NULL, &moved, &error);
    g_assert_no_error(error);
    g_assert_true(sent);
    g_assert_cmpuint(moved.n_completed, ==, 2000);
    fixture_wait(server, server->settled, 1);
    g_autoptr(DemurImport) import = fixture_import_folder(out);
    g_assert_cmpuint(import->series->len, ==, 1);
    g_assert_cmpuint(fixture_series(import, 0)->n_slices, ==, 2000);
    g_assert_false(demur_network_move(&peer, "NOBODY", "1.2.3", NULL, &moved, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
    orthanc_stop(orthanc);
  }
  fixture_server_stop(server);
  fixture_server_free(server);
  fixture_remove(folder);
}

static void
test_a_wrong_title_is_refused(void) {
  Orthanc *orthanc = orthanc_start(fixture_port());
  if (orthanc == NULL)
    return;
  g_autoptr(GError) error = NULL;
  DemurPeer peer = peer_of(orthanc);
  peer.called = "SOMEONE";
  g_assert_false(demur_network_echo(&peer, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  orthanc_stop(orthanc);
}

/* Compressed slices go as they are and come back as they were. */
static void
test_compressed_objects_pass_through(void) {
  static const char *const folders[] = {"derived/37_jpeg_lossless", "derived/38_jpegls",
                                        "derived/39_rle", "real/siemens-emotion"};
  g_autofree char *given = demur_test_shared("dicom/derived/37_jpeg_lossless");
  if (given == NULL)
    return;
  for (size_t f = 0; f < G_N_ELEMENTS(folders); f++) {
    g_autofree char *folder = fixture_folder();
    FixtureServer *server = fixture_server_new(folder, NULL, NULL);
    Orthanc *orthanc = orthanc_start(server->receiver.port);
    if (orthanc != NULL) {
      g_autoptr(DemurImport) before = fixture_import(folders[f]);
      const DemurSeries *sent = fixture_series(before, 0);
      g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
      for (size_t i = 0; i < sent->n_slices; i++)
        g_strv_builder_add(builder, sent->slices[i].path);
      g_auto(GStrv) paths = g_strv_builder_end(builder);
      send_all(orthanc, paths, sent->n_slices);
      g_autoptr(GError) error = NULL;
      const DemurPeer peer = peer_of(orthanc);
      DemurMoved moved;
      const gboolean back =
          demur_network_move(&peer, "DEMUR", sent->study_uid, sent->series_uid, &moved, &error);
      g_assert_no_error(error);
      g_assert_true(back);
      fixture_wait(server, server->settled, 1);
      g_autoptr(DemurImport) after = fixture_import_folder(folder);
      const DemurSeries *got = fixture_series(after, 0);
      g_assert_cmpuint(got->n_slices, ==, sent->n_slices);
      g_assert_cmpstr(got->transfer_syntax_uid, ==, sent->transfer_syntax_uid);
      orthanc_stop(orthanc);
    }
    fixture_server_stop(server);
    fixture_server_free(server);
    fixture_remove(folder);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/orthanc/two-thousand-slices-there-and-back",
                  test_two_thousand_slices_there_and_back);
  g_test_add_func("/dicom/orthanc/a-wrong-title-is-refused", test_a_wrong_title_is_refused);
  g_test_add_func("/dicom/orthanc/compressed-objects-pass-through",
                  test_compressed_objects_pass_through);
  return g_test_run();
}
