/* The receiver under load beside DCMTK's storescp, peers that are killed in the middle, an archive
 * over DICOM and over the web. Label long; numbers are printed. */
#include "tls-fixture.h"

#include <signal.h>
#include <sys/wait.h>

enum { N_OBJECTS = 2000 };

typedef struct {
  DemurPeer peer;
  char **paths; /* borrowed */
  size_t n_sent;
} Sender;

static gpointer
send_in_thread(gpointer data) {
  Sender *sender = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSending) sending =
      demur_network_send(&sender->peer, (const char *const *)sender->paths, NULL, &error);
  g_assert_no_error(error);
  sender->n_sent = sending->n_sent;
  return NULL;
}

/* Sends all paths in n associations at once; seconds. */
static double
send_in(const DemurPeer *peer, char **paths, guint n) {
  const guint n_paths = g_strv_length(paths);
  g_autofree Sender *senders = g_new0(Sender, n);
  g_autofree GThread **threads = g_new0(GThread *, n);
  const gint64 begun = g_get_monotonic_time();
  for (guint i = 0; i < n; i++) {
    const guint from = n_paths * i / n, to = n_paths * (i + 1) / n;
    senders[i] = (Sender){.peer = *peer, .paths = g_new0(char *, to - from + 1)};
    for (guint p = from; p < to; p++)
      senders[i].paths[p - from] = paths[p];
    threads[i] = g_thread_new("sender", send_in_thread, &senders[i]);
  }
  size_t n_sent = 0;
  for (guint i = 0; i < n; i++) {
    g_thread_join(threads[i]);
    n_sent += senders[i].n_sent;
    g_free(senders[i].paths);
  }
  g_assert_cmpuint(n_sent, ==, n_paths);
  return (double)(g_get_monotonic_time() - begun) / G_USEC_PER_SEC;
}

static GSubprocess *
start_storescp(const char *folder, guint port) {
  g_autofree char *number = g_strdup_printf("%u", port);
  g_autoptr(GError) error = NULL;
  GSubprocess *process =
      g_subprocess_new(G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE,
                       &error, "storescp", "--fork", "-aet", "DEMUR", "-od", folder, number, NULL);
  if (process == NULL)
    return NULL;
  const DemurPeer peer = {"127.0.0.1", port, "DEMUR", "TESTER", 5, NULL};
  for (int i = 0; i < 600 && !demur_network_echo(&peer, NULL); i++)
    g_usleep(50000);
  return process;
}

/* A peer that says a byte of a request each second until it is hung up on. */
static gpointer
say_a_byte_a_second(gpointer data) {
  const int fd = *(const int *)data;
  const guint8 request[] = {0x01, 0x00, 0x00, 0x00, 0x00, 0xC8, 0x00, 0x01};
  for (gsize i = 0; send(fd, &request[MIN(i, sizeof request - 1)], 1, MSG_NOSIGNAL) == 1; i++)
    g_usleep(G_USEC_PER_SEC);
  return NULL;
}

/* 2,000 objects over 1, 5 and 20 associations, beside ten peers that say nothing and one that says a
 * byte a second; and the same to storescp. */
static void
test_two_thousand_objects_beside_storescp(void) {
  static const guint associations[] = {1, 5, 20};
  g_autofree char *folder = fixture_folder();
  g_auto(GStrv) paths = fixture_write_series(folder, N_OBJECTS);
  for (gsize a = 0; a < G_N_ELEMENTS(associations); a++) {
    g_autofree char *ours = g_strdup_printf("%s/ours-%" G_GSIZE_FORMAT, folder, a);
    g_autofree char *theirs = g_strdup_printf("%s/theirs-%" G_GSIZE_FORMAT, folder, a);
    FixtureServer *server = fixture_server_new(ours, NULL, NULL);
    const DemurPeer peer = fixture_peer(server);
    int silent[11]; /* the last says a byte a second */
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                        .sin_port = htons((guint16)peer.port)};
    for (gsize i = 0; i < G_N_ELEMENTS(silent); i++) {
      silent[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      g_assert_cmpint(connect(silent[i], (const struct sockaddr *)&address, sizeof address), ==, 0);
    }
    GThread *slow = g_thread_new("slow", say_a_byte_a_second, &silent[10]);
    const double seconds = send_in(&peer, paths, associations[a]);
    for (gsize i = 0; i < G_N_ELEMENTS(silent); i++)
      shutdown(silent[i], SHUT_RDWR);
    g_thread_join(slow);
    for (gsize i = 0; i < G_N_ELEMENTS(silent); i++)
      close(silent[i]);
    fixture_wait(server, server->settled, 1);
    fixture_server_stop(server);
    g_assert_cmpuint(server->received.n_received, ==, N_OBJECTS);
    fixture_server_free(server);
    g_mkdir(theirs, 0700);
    const guint port = fixture_port();
    GSubprocess *storescp = start_storescp(theirs, port);
    if (storescp == NULL) {
      g_test_skip("storescp is not installed (apt: dcmtk)");
      break;
    }
    DemurPeer other = peer;
    other.port = port;
    const double their_seconds = send_in(&other, paths, associations[a]);
    g_subprocess_send_signal(storescp, SIGTERM);
    g_subprocess_wait(storescp, NULL, NULL);
    g_object_unref(storescp);
    g_print("# %d objects over %u associations: %.2f s here (each synced to the disk), %.2f s "
            "storescp\n",
            N_OBJECTS, associations[a], seconds, their_seconds);
  }
  fixture_remove(folder);
}

/* A sender that is killed in the middle, ten times: its study is told when it was sent whole. */
static void
test_peers_killed_in_the_middle(void) {
  enum { N_KILLS = 10 };
  g_autofree char *folder = fixture_folder();
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  g_auto(GStrv) paths = fixture_write_series(folder, N_OBJECTS);
  FixtureServer *server = fixture_server_new(out, NULL, NULL);
  const DemurPeer peer = fixture_peer(server);
  for (int k = 0; k < N_KILLS; k++) {
    const pid_t child = fork();
    if (child == 0) {
      g_autoptr(DemurSending) sending =
          demur_network_send(&peer, (const char *const *)paths, NULL, NULL);
      _exit(0);
    }
    g_usleep((gulong)(50000 + 20000 * k));
    kill(child, SIGKILL);
    g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
  }
  (void)send_in(&peer, paths, 1);
  fixture_wait(server, server->settled, 1);
  fixture_server_stop(server);
  g_autoptr(DemurImport) import = fixture_import_folder(server->settled->pdata[0]);
  g_assert_cmpuint(fixture_series(import, 0)->n_slices, ==, N_OBJECTS);
  g_print("# %d senders killed: %" G_GSIZE_FORMAT " associations broke off, all %d objects are "
          "there\n",
          N_KILLS, server->received.n_broken, N_OBJECTS);
  fixture_server_free(server);
  fixture_remove(folder);
}

/* DCMTK's own storescu over TLS, with the right certificate and without one. */
static void
test_dcmtk_over_tls(void) {
  g_autofree char *storescu = g_find_program_in_path("storescu");
  FixtureCertificates *c = storescu != NULL ? fixture_certificates() : NULL;
  if (c == NULL) {
    g_test_skip("storescu or openssl is not installed");
    return;
  }
  g_autofree char *folder = fixture_folder();
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  g_auto(GStrv) paths = fixture_write_series(folder, 3);
  const DemurTls tls = {c->right, c->key, c->authorities, FALSE};
  FixtureServer *server = fixture_server_make(out, NULL, NULL);
  server->receiver.tls = &tls;
  fixture_server_start(server);
  g_autofree char *port = g_strdup_printf("%u", server->receiver.port);
  const char *const right[] = {storescu,       "+tls",   c->key,   c->right,    "+cf",
                               c->authorities, "-aec",   "DEMUR",  "127.0.0.1", port,
                               paths[0],       paths[1], paths[2], NULL};
  const char *const none[] = {storescu, "+tla",      "+cf", c->authorities, "-aec",
                              "DEMUR",  "127.0.0.1", port,  paths[0],       NULL};
  g_autoptr(GSubprocess) good = g_subprocess_newv(
      right, G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL);
  g_assert_true(g_subprocess_wait_check(good, NULL, NULL));
  g_autoptr(GSubprocess) bad = g_subprocess_newv(
      none, G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL);
  g_assert_false(g_subprocess_wait_check(bad, NULL, NULL));
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_received, ==, 3);
  fixture_server_free(server);
  fixture_remove(folder);
  fixture_certificates_free(c);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/network-long/two-thousand-objects-beside-storescp",
                  test_two_thousand_objects_beside_storescp);
  g_test_add_func("/dicom/network-long/peers-killed-in-the-middle",
                  test_peers_killed_in_the_middle);
  g_test_add_func("/dicom/network-long/dcmtk-over-tls", test_dcmtk_over_tls);
  return g_test_run();
}
