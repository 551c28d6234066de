/* Mutated associations against the storage server, in the clear and over TLS: recorded bytes of an
 * honest sender are flipped, cut, doubled and spliced, and sent in any pieces. Right: no process of
 * the server ends by a fault, it still answers, and every object that it holds can be read. Label
 * long; DEMUR_FUZZ_SECONDS (60) for each kind. */
#include "tls-fixture.h"

#include <poll.h>
#include <signal.h>

#define N_THREADS 3
#define MAX_BYTES (1 << 20)

static int
connect_to(guint port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                      .sin_port = htons((guint16)port)};
  if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
    return fd;
  if (fd >= 0)
    close(fd);
  return -1;
}

/* A relay that keeps what the caller says. */
typedef struct {
  int listener;
  guint to;
  GByteArray *said;
} Relay;

static gpointer
relay(gpointer data) {
  Relay *r = data;
  const int caller = accept(r->listener, NULL, NULL), server = connect_to(r->to);
  g_assert_cmpint(caller, >=, 0);
  g_assert_cmpint(server, >=, 0);
  struct pollfd ends[] = {{caller, POLLIN, 0}, {server, POLLIN, 0}};
  for (;;) {
    guint8 bytes[65536];
    (void)poll(ends, 2, -1);
    const int from = ends[0].revents != 0 ? 0 : 1;
    const ssize_t n = read(ends[from].fd, bytes, sizeof bytes);
    if (n <= 0 || write(ends[1 - from].fd, bytes, (size_t)n) != n)
      break;
    if (from == 0)
      g_byte_array_append(r->said, bytes, (guint)n);
  }
  close(caller);
  close(server);
  return NULL;
}

/* What an honest sender says to the server (owned). */
static GByteArray *
record(const DemurPeer *peer, char **paths) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  Relay r = {socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), peer->port, g_byte_array_new()};
  g_assert_cmpint(bind(r.listener, (struct sockaddr *)&address, length), ==, 0);
  g_assert_cmpint(listen(r.listener, 1), ==, 0);
  g_assert_cmpint(getsockname(r.listener, (struct sockaddr *)&address, &length), ==, 0);
  GThread *thread = g_thread_new("relay", relay, &r);
  DemurPeer through = *peer;
  through.port = ntohs(address.sin_port);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSending) sending =
      demur_network_send(&through, (const char *const *)paths, NULL, &error);
  g_assert_no_error(error);
  g_thread_join(thread);
  close(r.listener);
  g_assert_cmpuint(r.said->len, >, 0);
  return r.said;
}

static void
mutate(GRand *random, GByteArray *bytes) {
  static const guint8 edges[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
  const int n_changes = g_rand_int_range(random, 1, 8);
  for (int c = 0; c < n_changes && bytes->len > 8; c++) {
    /* The heads of PDUs and commands are where lengths stand. */
    const guint32 reach = g_rand_boolean(random) ? MIN(bytes->len, 2000) : bytes->len;
    const guint at = (guint)g_rand_int_range(random, 0, (gint32)reach - 4);
    const guint n = (guint)g_rand_int_range(random, 1, (gint32)MIN(bytes->len - at, 600));
    switch (g_rand_int_range(random, 0, 6)) {
    case 0:
      bytes->data[at] = (guint8)g_rand_int(random);
      break;
    case 1:
      bytes->data[at] ^= (guint8)(1u << g_rand_int_range(random, 0, 8));
      break;
    case 2:
      memset(bytes->data + at, edges[g_rand_int_range(random, 0, 5)], 4);
      break;
    case 3:
      g_byte_array_remove_range(bytes, at, n);
      break;
    case 4:
      if (bytes->len + n < MAX_BYTES) { /* said again; what is appended may not move meanwhile */
        g_autofree guint8 *again = g_memdup2(bytes->data + at, n);
        g_byte_array_append(bytes, again, n);
      }
      break;
    default:
      g_byte_array_set_size(bytes, bytes->len - n);
      break;
    }
  }
}

typedef struct {
  const GByteArray *said;
  guint port, seed;
  gint64 until;
  guint n;
} Attack;

static gpointer
attack(gpointer data) {
  Attack *a = data;
  g_autoptr(GRand) random = g_rand_new_with_seed(a->seed);
  while (g_get_monotonic_time() < a->until) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_byte_array_append(bytes, a->said->data, a->said->len);
    mutate(random, bytes);
    const int fd = connect_to(a->port);
    if (fd < 0)
      continue;
    for (guint at = 0; at < bytes->len;) {
      const guint piece = (guint)g_rand_int_range(random, 1, 40000); /* MIN would draw twice */
      const guint n = MIN(bytes->len - at, piece);
      if (send(fd, bytes->data + at, n, MSG_NOSIGNAL) != (ssize_t)n)
        break;
      at += n;
    }
    /* What it answers, until it has nothing more to say. */
    struct pollfd end = {fd, POLLIN, 0};
    guint8 answer[4096];
    while (poll(&end, 1, 30) > 0 && read(fd, answer, sizeof answer) > 0)
      ;
    close(fd);
    a->n++;
  }
  return NULL;
}

static void
attack_server(const DemurTls *tls, const char *what) {
  const char *given = g_getenv("DEMUR_FUZZ_SECONDS");
  const gint64 seconds = given != NULL ? g_ascii_strtoll(given, NULL, 10) : 60;
  g_autofree char *folder = fixture_folder();
  g_autofree char *out = g_build_filename(folder, "out", NULL);
  g_auto(GStrv) paths = fixture_write_series(folder, 6);
  FixtureServer *server = fixture_server_make(out, NULL, NULL);
  server->receiver.tls = tls;
  server->receiver.max_associations = 100;
  server->receiver.timeout_seconds = 2;
  fixture_server_start(server);
  DemurPeer peer = fixture_peer(server);
  peer.tls = tls;
  g_autoptr(GByteArray) said = record(&peer, paths);
  Attack attacks[N_THREADS];
  GThread *threads[N_THREADS];
  const gint64 until = g_get_monotonic_time() + seconds * G_USEC_PER_SEC;
  guint n = 0;
  for (guint t = 0; t < N_THREADS; t++) {
    attacks[t] = (Attack){said, peer.port, 15 + t, until, 0};
    threads[t] = g_thread_new("attack", attack, &attacks[t]);
  }
  for (guint t = 0; t < N_THREADS; t++) {
    g_thread_join(threads[t]);
    n += attacks[t].n;
  }
  /* Those that still wait for more are given up in time. */
  gboolean answers = FALSE;
  for (int i = 0; i < 300 && !answers; i++) {
    answers = demur_network_echo(&peer, NULL);
    if (!answers)
      g_usleep(100000);
  }
  g_assert_true(answers);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSending) sending =
      demur_network_send(&peer, (const char *const *)paths, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(sending->n_sent, ==, 6);
  fixture_server_stop(server);
  for (guint p = 0; p < server->problems->len; p++)
    g_assert_null(strstr(server->problems->pdata[p], "by signal"));
  g_print("# %u mutated associations %s in %" G_GINT64_FORMAT " s: %" G_GSIZE_FORMAT
          " objects kept, %" G_GSIZE_FORMAT " rejected, no fault\n",
          n, what, seconds, server->received.n_received, server->received.n_rejected);
  g_assert_cmpuint(n, >, 0);
  fixture_server_free(server);
  fixture_remove(folder);
}

static void
test_in_the_clear(void) {
  attack_server(NULL, "in the clear");
}

static void
test_over_tls(void) {
  FixtureCertificates *c = fixture_certificates();
  if (c == NULL) {
    g_test_skip("openssl is not installed");
    return;
  }
  const DemurTls tls = {c->right, c->key, c->authorities, FALSE};
  attack_server(&tls, "over TLS");
  fixture_certificates_free(c);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/pdu/in-the-clear", test_in_the_clear);
  g_test_add_func("/dicom/pdu/over-tls", test_over_tls);
  return g_test_run();
}
