/* Both ends of the network against each other, on the loopback. (Against another maker's archive:
 * orthanc.c, label long.) */
#include "network-fixture.h"
#include "dicom/volume.h"

#include <signal.h>
#include <sys/wait.h>

static DemurSending *
send_all(const FixtureServer *server, char **paths) {
  g_autoptr(GError) error = NULL;
  const DemurPeer peer = fixture_peer(server);
  DemurSending *sending = demur_network_send(&peer, (const char *const *)paths, NULL, &error);
  g_assert_no_error(error);
  if (sending->problems->len > 0)
    g_test_message("%s", (const char *)sending->problems->pdata[0]);
  return sending;
}

static void
test_echo_is_answered_and_refusals_are_told(void) {
  static const char *const callers[] = {"TESTER", NULL};
  g_autofree char *folder = fixture_folder();
  FixtureServer *server = fixture_server_new(folder, callers, NULL);
  g_autoptr(GError) error = NULL;
  DemurPeer peer = fixture_peer(server);
  const gboolean answered = demur_network_echo(&peer, &error);
  g_assert_no_error(error);
  g_assert_true(answered);
  peer.called = "SOMEONE";
  g_assert_false(demur_network_echo(&peer, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_assert_nonnull(strstr(error->message, "no association with SOMEONE at 127.0.0.1"));
  g_clear_error(&error);
  peer.called = "DEMUR";
  peer.calling = "STRANGER";
  g_assert_false(demur_network_echo(&peer, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_clear_error(&error);
  fixture_wait(server, server->problems, 2);
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_refused, ==, 2);
  /* Nobody is there any more. */
  g_assert_false(demur_network_echo(&peer, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  fixture_server_free(server);
  fixture_remove(folder);
}

static void
test_other_hosts_are_refused(void) {
  static const char *const hosts[] = {"192.0.2.1", NULL};
  g_autofree char *folder = fixture_folder();
  FixtureServer *server = fixture_server_new(folder, NULL, hosts);
  g_autoptr(GError) error = NULL;
  DemurPeer peer = fixture_peer(server);
  g_assert_false(demur_network_echo(&peer, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_refused, ==, 1);
  fixture_server_free(server);
  fixture_remove(folder);
}

static void
test_two_thousand_slices_arrive_as_one_series(void) {
  g_autofree char *folder = fixture_folder();
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  g_auto(GStrv) paths = fixture_write_series(folder, 2000);
  FixtureServer *server = fixture_server_new(out, NULL, NULL);
  g_autoptr(DemurSending) sending = send_all(server, paths);
  g_assert_cmpuint(sending->n_sent, ==, 2000);
  g_assert_cmpuint(sending->problems->len, ==, 0);
  fixture_wait(server, server->settled, 1);
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_received, ==, 2000);
  g_autofree char *study = g_build_filename(out, "1.2.3", NULL);
  g_assert_cmpstr(server->settled->pdata[0], ==, study);
  g_autoptr(DemurImport) import = fixture_import_folder(study);
  g_assert_cmpuint(import->series->len, ==, 1);
  g_assert_cmpuint(fixture_series(import, 0)->n_slices, ==, 2000);
  fixture_server_free(server);
  fixture_remove(folder);
}

/* Compressed objects keep their transfer syntax and their bytes. */
static void
test_objects_arrive_as_sent(void) {
  g_autofree char *given = demur_test_shared("dicom/derived/37_jpeg_lossless");
  if (given == NULL)
    return;
  g_autoptr(DemurImport) before = fixture_import("derived/37_jpeg_lossless");
  const DemurSeries *sent = fixture_series(before, 0);
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  for (size_t i = 0; i < sent->n_slices; i++)
    g_strv_builder_add(builder, sent->slices[i].path);
  g_auto(GStrv) paths = g_strv_builder_end(builder);
  g_autofree char *folder = fixture_folder();
  FixtureServer *server = fixture_server_new(folder, NULL, NULL);
  g_autoptr(DemurSending) sending = send_all(server, paths);
  g_assert_cmpuint(sending->n_sent, ==, sent->n_slices);
  fixture_wait(server, server->settled, 1);
  /* Again: known already, nothing twice. */
  g_autoptr(DemurSending) again = send_all(server, paths);
  fixture_wait(server, server->settled, 2);
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_known, ==, sent->n_slices);
  g_autoptr(DemurImport) after = fixture_import_folder(server->settled->pdata[0]);
  const DemurSeries *got = fixture_series(after, 0);
  g_assert_cmpuint(got->n_slices, ==, sent->n_slices);
  g_assert_cmpstr(got->transfer_syntax_uid, ==, sent->transfer_syntax_uid);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurVolume) a = demur_volume_read(sent, NULL, NULL, &error);
  g_autoptr(DemurVolume) b = demur_volume_read(got, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(memcmp(a->hu, b->hu, a->n_slices * a->rows * a->columns * sizeof *a->hu) == 0);
  fixture_server_free(server);
  fixture_remove(folder);
}

static void
die_half_way(double fraction, const char *stage, gpointer data) {
  if (fraction > 0.5)
    raise(SIGKILL);
}

/* The other process of the test below: sends and dies. */
static int
send_and_die(guint port, char **paths) {
  const DemurPeer peer = {"127.0.0.1", port, "DEMUR", "TESTER", 10};
  const DemurProgress progress = {die_half_way, NULL, NULL};
  DemurSending *sending = demur_network_send(&peer, (const char *const *)paths, &progress, NULL);
  demur_sending_free(sending);
  return 0;
}

static char *program;

static void
test_half_a_study_waits_for_the_rest(void) {
  g_autofree char *folder = fixture_folder();
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  g_auto(GStrv) paths = fixture_write_series(folder, 20);
  FixtureServer *server = fixture_server_new(out, NULL, NULL);
  g_autoptr(GPtrArray) argv = g_ptr_array_new();
  g_autofree char *port = g_strdup_printf("%u", server->receiver.port);
  g_ptr_array_add(argv, program);
  g_ptr_array_add(argv, (gpointer) "--send-and-die");
  g_ptr_array_add(argv, port);
  for (char **path = paths; *path != NULL; path++)
    g_ptr_array_add(argv, *path);
  g_ptr_array_add(argv, NULL);
  int status = 0;
  g_autoptr(GError) error = NULL;
  g_spawn_sync(NULL, (char **)argv->pdata, NULL, 0, NULL, NULL, NULL, NULL, &status, &error);
  g_assert_no_error(error);
  g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  fixture_wait(server, server->problems, 1);
  g_assert_nonnull(strstr(server->problems->pdata[0], "broke off"));
  /* The whole study settles what the half did not. */
  g_autoptr(DemurSending) sending = send_all(server, paths);
  g_assert_cmpuint(sending->n_sent, ==, 20);
  fixture_wait(server, server->settled, 1);
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_broken, ==, 1);
  g_assert_cmpuint(server->settled->len, ==, 1);
  g_assert_cmpuint(server->received.n_received, ==, 20);
  g_assert_cmpuint(server->received.n_known, >=, 10);
  fixture_server_free(server);
  fixture_remove(folder);
}

static gpointer
accept_and_close(gpointer data) {
  const int fd = accept(GPOINTER_TO_INT(data), NULL, NULL);
  char bytes[64];
  g_assert_cmpint(fd, >=, 0);
  g_assert_cmpint(read(fd, bytes, sizeof bytes), >, 0); /* some of the request */
  close(fd);
  return NULL;
}

static void
test_a_peer_that_hangs_up_is_an_error(void) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  g_assert_cmpint(bind(fd, (struct sockaddr *)&address, length), ==, 0);
  g_assert_cmpint(getsockname(fd, (struct sockaddr *)&address, &length), ==, 0);
  g_assert_cmpint(listen(fd, 1), ==, 0);
  GThread *thread = g_thread_new("peer", accept_and_close, GINT_TO_POINTER(fd));
  const DemurPeer peer = {"127.0.0.1", ntohs(address.sin_port), "DEMUR", "TESTER", 10};
  g_autoptr(GError) error = NULL;
  g_assert_false(demur_network_echo(&peer, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_thread_join(thread);
  close(fd);
}

static void
test_what_is_no_dicom_is_not_sent(void) {
  g_autofree char *folder = fixture_folder();
  g_auto(GStrv) paths = fixture_write_series(folder, 2);
  fixture_write(folder, "text", "hello", 5);
  g_autofree char *text = g_build_filename(folder, "text", NULL);
  char *mixed[] = {paths[0], text, paths[1], NULL};
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  FixtureServer *server = fixture_server_new(out, NULL, NULL);
  g_autoptr(DemurSending) sending = send_all(server, mixed);
  g_assert_cmpuint(sending->n_sent, ==, 2);
  g_assert_cmpuint(sending->n_skipped, ==, 1);
  fixture_server_stop(server);
  fixture_server_free(server);
  fixture_remove(folder);
}

int
main(int argc, char **argv) {
  if (argc > 3 && strcmp(argv[1], "--send-and-die") == 0)
    return send_and_die((guint)g_ascii_strtoull(argv[2], NULL, 10), argv + 3);
  program = argv[0];
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/network/echo-is-answered-and-refusals-are-told",
                  test_echo_is_answered_and_refusals_are_told);
  g_test_add_func("/dicom/network/other-hosts-are-refused", test_other_hosts_are_refused);
  g_test_add_func("/dicom/network/two-thousand-slices-arrive-as-one-series",
                  test_two_thousand_slices_arrive_as_one_series);
  g_test_add_func("/dicom/network/objects-arrive-as-sent", test_objects_arrive_as_sent);
  g_test_add_func("/dicom/network/half-a-study-waits-for-the-rest",
                  test_half_a_study_waits_for_the_rest);
  g_test_add_func("/dicom/network/a-peer-that-hangs-up-is-an-error",
                  test_a_peer_that_hangs_up_is_an_error);
  g_test_add_func("/dicom/network/what-is-no-dicom-is-not-sent", test_what_is_no_dicom_is_not_sent);
  return g_test_run();
}
