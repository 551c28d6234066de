/* Our network against another maker's archive: Orthanc, started here on the loopback with a folder
 * of its own, and ended again. Label long; skipped where Orthanc is not installed. */
#include "base/error.h"
#include "dicom/commitment.h"
#include "dicom/web.h"
#include "orthanc-fixture.h"

static void
send_all(const Orthanc *orthanc, char **paths, gsize n) {
  g_autoptr(GError) error = NULL;
  const DemurPeer peer = orthanc_peer(orthanc);
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
    const DemurPeer peer = orthanc_peer(orthanc);
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

/* The same archive over the web: stored, found, and back as they were. */
static void
test_there_and_back_over_the_web(void) {
  enum { N_IMAGES = 120 };
  if (!g_file_test(WEB_PLUGIN, G_FILE_TEST_EXISTS)) {
    g_test_skip("Orthanc's DICOMweb plug-in is not installed (apt: orthanc-dicomweb)");
    return;
  }
  Orthanc *orthanc = orthanc_start(fixture_port());
  if (orthanc == NULL)
    return;
  g_autofree char *folder = fixture_folder();
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  g_autofree char *url = g_strdup_printf("http://127.0.0.1:%u/dicom-web", orthanc->web_port);
  g_auto(GStrv) paths = fixture_write_series(folder, N_IMAGES);
  const DemurWeb web = {.url = url, .timeout_seconds = 60};
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSending) sending = demur_web_send(&web, (const char *const *)paths, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(sending->n_sent, ==, N_IMAGES);
  const DemurQuery by_patient = {.patient_id = "P1"}, nobody = {.patient_id = "P2"},
                   of_study = {.study_uid = "1.2.3"};
  g_autoptr(GPtrArray) studies = demur_web_find(&web, &by_patient, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(studies->len, ==, 1);
  g_assert_cmpstr(((DemurFound *)studies->pdata[0])->study_uid, ==, "1.2.3");
  g_assert_cmpstr(((DemurFound *)studies->pdata[0])->n_instances, ==, "120");
  g_autoptr(GPtrArray) series = demur_web_find(&web, &of_study, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(series->len, ==, 1);
  g_assert_cmpstr(((DemurFound *)series->pdata[0])->series_uid, ==, "1.2.3.4");
  g_assert_cmpstr(((DemurFound *)series->pdata[0])->modality, ==, "CT");
  g_autoptr(GPtrArray) none = demur_web_find(&web, &nobody, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(none->len, ==, 0);
  DemurWebRetrieved retrieved;
  const gboolean fetched =
      demur_web_retrieve(&web, "1.2.3", "1.2.3.4", out, &retrieved, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(fetched);
  g_assert_cmpuint(retrieved.n_objects, ==, N_IMAGES);
  g_autoptr(DemurImport) import = fixture_import_folder(out);
  g_assert_cmpuint(fixture_series(import, 0)->n_slices, ==, N_IMAGES);
  g_assert_false(demur_web_retrieve(&web, "9.9.9", NULL, out, &retrieved, NULL, &error));
  orthanc_stop(orthanc);
  fixture_remove(folder);
}

/* C-GET over the association that asks; and storage commitment, which Orthanc gives over one of its
 * own to our port, and refuses for what it does not hold. */
static void
test_fetched_and_committed_to(void) {
  enum { N_IMAGES = 60 };
  g_autofree char *folder = fixture_folder();
  g_autofree char *own = g_build_filename(folder, "own", NULL);
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  FixtureServer *server = fixture_server_new(own, NULL, NULL);
  Orthanc *orthanc = orthanc_start(server->receiver.port);
  if (orthanc != NULL) {
    g_auto(GStrv) paths = fixture_write_series(folder, N_IMAGES + 1);
    g_autofree char *last = g_steal_pointer(&paths[N_IMAGES]);
    send_all(orthanc, paths, N_IMAGES);
    const DemurPeer peer = orthanc_peer(orthanc);
    g_autoptr(GError) error = NULL;
    DemurGot got;
    const gboolean fetched = demur_network_get(&peer, "1.2.3", "1.2.3.4", out, &got, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(fetched);
    g_assert_cmpuint(got.n_objects, ==, N_IMAGES);
    g_autoptr(DemurImport) import = fixture_import_folder(out);
    g_assert_cmpuint(fixture_series(import, 0)->n_slices, ==, N_IMAGES);
    g_assert_true(demur_network_get(&peer, "1.2.3", NULL, out, &got, NULL, &error));
    g_assert_cmpuint(got.n_known, ==, N_IMAGES);
    const char *const missing[] = {paths[0], last, NULL};
    const struct {
      const char *transaction;
      const char *const *paths;
      DemurCommitment outcome;
    } rows[] = {{"2.25.11", (const char *const *)paths, DEMUR_COMMITMENT_GIVEN},
                {"2.25.12", missing, DEMUR_COMMITMENT_REFUSED}};
    for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
      DemurCommitment outcome;
      g_assert_true(demur_commitment_await(own, rows[r].transaction, &error));
      g_assert_true(
          demur_network_commit(&peer, rows[r].paths, rows[r].transaction, &outcome, &error));
      for (int i = 0; i < 600 && outcome == DEMUR_COMMITMENT_AWAITED; i++) {
        g_usleep(50000);
        outcome = demur_commitment_heard(own, rows[r].transaction);
      }
      g_assert_cmpint(outcome, ==, rows[r].outcome);
    }
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
  DemurPeer peer = orthanc_peer(orthanc);
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
      const DemurPeer peer = orthanc_peer(orthanc);
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
  g_test_add_func("/dicom/orthanc/there-and-back-over-the-web", test_there_and_back_over_the_web);
  g_test_add_func("/dicom/orthanc/fetched-and-committed-to", test_fetched_and_committed_to);
  g_test_add_func("/dicom/orthanc/a-wrong-title-is-refused", test_a_wrong_title_is_refused);
  g_test_add_func("/dicom/orthanc/compressed-objects-pass-through",
                  test_compressed_objects_pass_through);
  return g_test_run();
}
