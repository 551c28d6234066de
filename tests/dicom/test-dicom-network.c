/* Both ends of the network against each other, on the loopback. (Against another maker's archive:
 * orthanc.c, label long.) */
#include "base/error.h"
#include "network-fixture.h"
#include "dicom/volume.h"

#include <gio/gio.h>
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
  g_autoptr(FixturePlace) place = fixture_place_new(2000);
  FixtureServer *server = fixture_server_new(place->out, NULL, NULL);
  g_autoptr(DemurSending) sending = send_all(server, place->paths);
  g_assert_cmpuint(sending->n_sent, ==, 2000);
  g_assert_cmpuint(sending->problems->len, ==, 0);
  fixture_wait(server, server->settled, 1);
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_received, ==, 2000);
  g_autofree char *study = g_build_filename(place->out, "1.2.3", NULL);
  g_assert_cmpstr(server->settled->pdata[0], ==, study);
  g_autoptr(DemurImport) import = fixture_import_folder(study);
  g_assert_cmpuint(import->series->len, ==, 1);
  g_assert_cmpuint(fixture_series(import, 0)->n_slices, ==, 2000);
  fixture_server_free(server);
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
  const DemurPeer peer = {"127.0.0.1", port, "DEMUR", "TESTER", 10, NULL};
  const DemurProgress progress = {die_half_way, NULL, NULL};
  DemurSending *sending = demur_network_send(&peer, (const char *const *)paths, &progress, NULL);
  demur_sending_free(sending);
  return 0;
}

static char *program;

/* Sends the half of a study, and waits until the server has seen that the rest does not come. */
static void
send_half(FixtureServer *server, const FixturePlace *place) {
  g_autoptr(GPtrArray) argv = g_ptr_array_new();
  g_autofree char *port = g_strdup_printf("%u", server->receiver.port);
  g_ptr_array_add(argv, program);
  g_ptr_array_add(argv, (gpointer) "--send-and-die");
  g_ptr_array_add(argv, port);
  for (char **path = place->paths; *path != NULL; path++)
    g_ptr_array_add(argv, *path);
  g_ptr_array_add(argv, NULL);
  int status = 0;
  g_autoptr(GError) error = NULL;
  g_spawn_sync(NULL, (char **)argv->pdata, NULL, 0, NULL, NULL, NULL, NULL, &status, &error);
  g_assert_no_error(error);
  g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  fixture_wait(server, server->problems, 1);
  g_assert_nonnull(strstr(server->problems->pdata[0], "broke off"));
}

/* It is kept, and told at the end: a receiver that ends so has not done what it was there for. */
static void
test_half_a_study_is_told_to_be_unread(void) {
  g_autoptr(FixturePlace) place = fixture_place_new(20);
  FixtureServer *server = fixture_server_new(place->out, NULL, NULL);
  send_half(server, place);
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_unread, ==, 1);
  g_assert_cmpuint(server->settled->len, ==, 0);
  fixture_server_free(server);
}

/* A sender that waits in the middle of its study until the server was ended. */
typedef struct {
  GMutex mutex;
  GCond changed;
  gboolean waits, ended;
  const DemurPeer *peer;
  char **paths;
} Paused;

static void
pause_half_way(double fraction, const char *stage, gpointer data) {
  Paused *paused = data;
  g_mutex_lock(&paused->mutex);
  paused->waits = paused->waits || fraction > 0.5;
  g_cond_broadcast(&paused->changed);
  while (paused->waits && !paused->ended)
    g_cond_wait(&paused->changed, &paused->mutex);
  g_mutex_unlock(&paused->mutex);
}

static gpointer
send_paused(gpointer data) {
  Paused *paused = data;
  const DemurProgress progress = {pause_half_way, paused, NULL};
  demur_sending_free(
      demur_network_send(paused->peer, (const char *const *)paused->paths, &progress, NULL));
  return NULL;
}

/* Ended by hand while a study comes: what is kept of it was not read, and is told. */
static void
test_a_study_that_is_cut_is_told(void) {
  g_autoptr(FixturePlace) place = fixture_place_new(20);
  FixtureServer *server = fixture_server_new(place->out, NULL, NULL);
  const DemurPeer peer = fixture_peer(server);
  Paused paused = {.peer = &peer, .paths = place->paths};
  g_mutex_init(&paused.mutex);
  g_cond_init(&paused.changed);
  GThread *sender = g_thread_new("sender", send_paused, &paused);
  g_mutex_lock(&paused.mutex);
  while (!paused.waits)
    g_cond_wait(&paused.changed, &paused.mutex);
  g_mutex_unlock(&paused.mutex);
  fixture_server_stop(server);
  g_mutex_lock(&paused.mutex);
  paused.ended = TRUE;
  g_cond_broadcast(&paused.changed);
  g_mutex_unlock(&paused.mutex);
  g_thread_join(sender);
  g_assert_cmpuint(server->received.n_received, >, 0);
  g_assert_cmpuint(server->received.n_unread, ==, 1);
  g_assert_cmpuint(server->received.n_cut, ==, 1);
  fixture_server_free(server);
  /* The next one knows that it may be a part, and takes it for whole when the title sent it again. */
  server = fixture_server_new(place->out, NULL, NULL);
  g_assert_true(demur_receiver_is_broken(place->out, "1.2.3"));
  const DemurPeer again = fixture_peer(server);
  g_autoptr(DemurSending) sending =
      demur_network_send(&again, (const char *const *)place->paths, NULL, NULL);
  g_assert_cmpuint(sending->n_sent, ==, 20);
  fixture_wait(server, server->settled, 1);
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_unread, ==, 0);
  fixture_server_free(server);
  g_mutex_clear(&paused.mutex);
  g_cond_clear(&paused.changed);
}

static void
test_half_a_study_waits_for_the_rest(void) {
  g_autoptr(FixturePlace) place = fixture_place_new(20);
  FixtureServer *server = fixture_server_new(place->out, NULL, NULL);
  send_half(server, place);
  /* The whole study settles what the half did not. */
  g_autoptr(DemurSending) sending = send_all(server, place->paths);
  g_assert_cmpuint(sending->n_sent, ==, 20);
  fixture_wait(server, server->settled, 1);
  fixture_server_stop(server);
  g_assert_cmpuint(server->received.n_broken, ==, 1);
  g_assert_cmpuint(server->received.n_unread, ==, 0);
  g_assert_cmpuint(server->settled->len, ==, 1);
  g_assert_cmpuint(server->received.n_received, ==, 20);
  g_assert_cmpuint(server->received.n_known, >=, 10);
  fixture_server_free(server);
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
  const DemurPeer peer = {"127.0.0.1", ntohs(address.sin_port), "DEMUR", "TESTER", 10, NULL};
  g_autoptr(GError) error = NULL;
  g_assert_false(demur_network_echo(&peer, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
  g_thread_join(thread);
  close(fd);
}

/* A server of DCMTK's that takes implicit little endian alone; NULL where it isn't installed. */
static GSubprocess *
plain_server(const char *folder, guint port) {
  g_autofree char *found = g_find_program_in_path("storescp"),
                  *number = g_strdup_printf("%u", port);
  if (found == NULL) {
    g_test_skip("storescp (dcmtk) is not installed");
    return NULL;
  }
  g_autoptr(GError) error = NULL;
  GSubprocess *server =
      g_subprocess_new(G_SUBPROCESS_FLAGS_STDERR_SILENCE | G_SUBPROCESS_FLAGS_STDOUT_SILENCE,
                       &error, found, "+xi", "-od", folder, number, NULL);
  g_assert_no_error(error);
  const DemurPeer peer = {"127.0.0.1", (guint16)port, "ANY", "TESTER", 10, NULL};
  for (int i = 0; i < 200 && !demur_network_echo(&peer, NULL); i++)
    g_usleep(50000);
  return server;
}

/* What the peer can't unpack it gets unpacked, with the same CT numbers. */
static void
test_a_peer_that_takes_plain_objects_only_gets_them(void) {
  static const char *const folders[] = {"dicom/derived/37_jpeg_lossless", "dicom/derived/39_rle",
                                        "dicom/derived/38_jpegls"};
  for (size_t f = 0; f < G_N_ELEMENTS(folders); f++) {
    g_autofree char *from = demur_test_shared(folders[f]);
    g_autofree char *out = fixture_folder();
    const guint port = fixture_port();
    g_autoptr(GSubprocess) server = from != NULL ? plain_server(out, port) : NULL;
    if (server == NULL)
      return;
    g_autoptr(DemurImport) before = fixture_import_folder(from);
    const DemurSeries *sent = fixture_series(before, 0);
    g_autoptr(GPtrArray) paths = g_ptr_array_new();
    for (size_t i = 0; i < sent->n_slices; i++)
      g_ptr_array_add(paths, sent->slices[i].path);
    g_ptr_array_add(paths, NULL);
    const DemurPeer peer = {"127.0.0.1", (guint16)port, "ANY", "TESTER", 10, NULL};
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurSending) sending =
        demur_network_send(&peer, (const char *const *)paths->pdata, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(sending->n_sent, ==, sent->n_slices);
    g_subprocess_force_exit(server);
    g_autoptr(DemurImport) after = fixture_import_folder(out);
    const DemurSeries *got = fixture_series(after, 0);
    g_assert_cmpstr(got->transfer_syntax_uid, ==, "1.2.840.10008.1.2");
    g_autoptr(DemurVolume) x = demur_volume_read(sent, NULL, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(DemurVolume) y = demur_volume_read(got, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(x->n_slices, ==, y->n_slices);
    g_assert_true(memcmp(x->hu, y->hu, x->n_slices * x->rows * x->columns * sizeof *x->hu) == 0);
    fixture_remove(out);
  }
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

/* A peer written byte by byte (PS3.8 section 9.3, PS3.7 annex E), since none of DCMTK's would nest
 * a sequence 100,000 deep. */
static void
put_be(GByteArray *out, guint n, guint32 value) {
  for (guint i = n; i-- > 0;) {
    const guint8 byte = (guint8)(value >> (8 * i));
    g_byte_array_append(out, &byte, 1);
  }
}

static void
put_part(GByteArray *out, guint8 type, const void *bytes, guint length) {
  put_be(out, 1, type);
  put_be(out, 1, 0);
  put_be(out, 2, length);
  g_byte_array_append(out, bytes, length);
}

/* A-ASSOCIATE-AC (type 2) or -RQ (type 1) with one presentation context, number 1. */
static GByteArray *
associate_pdu(guint8 type) {
  static const char *const names[] = {"DEMUR           ", "TESTER          "};
  static const char implicit_little[] = "1.2.840.10008.1.2", verification[] = "1.2.840.10008.1.1";
  g_autoptr(GByteArray) body = g_byte_array_new(), context = g_byte_array_new(),
                        user = g_byte_array_new();
  put_be(body, 4, 0x00010000);
  for (int i = 0; i < 2; i++)
    g_byte_array_append(body, (const guint8 *)names[i], 16);
  for (int i = 0; i < 8; i++)
    put_be(body, 4, 0);
  put_part(body, 0x10, "1.2.840.10008.3.1.1.1", 21);
  put_be(context, 4, 0x01000000);
  if (type == 1)
    put_part(context, 0x30, verification, sizeof verification - 1);
  put_part(context, 0x40, implicit_little, sizeof implicit_little - 1);
  put_part(body, type == 1 ? 0x20 : 0x21, context->data, context->len);
  put_part(user, 0x51, "\0\0\x40\0", 4);
  put_part(user, 0x52, "1.2.3.4", 7);
  put_part(body, 0x50, user->data, user->len);
  GByteArray *pdu = g_byte_array_new();
  put_be(pdu, 2, (guint32)type << 8);
  put_be(pdu, 4, body->len);
  g_byte_array_append(pdu, body->data, body->len);
  return pdu;
}

/* bytes as P-DATA-TFs of at most 8 KiB. */
static void
send_message(int fd, const GByteArray *bytes, gboolean command) {
  for (guint at = 0; at < bytes->len;) {
    const guint n = MIN(8192, bytes->len - at);
    g_autoptr(GByteArray) pdu = g_byte_array_new();
    put_be(pdu, 2, 0x0400);
    put_be(pdu, 4, n + 6);
    put_be(pdu, 4, n + 2);
    put_be(pdu, 1, 1);
    put_be(pdu, 1, (command ? 1 : 0) | (at + n == bytes->len ? 2 : 0));
    g_byte_array_append(pdu, bytes->data + at, n);
    /* The other side may hang up meanwhile: that is the point. */
    if (send(fd, pdu->data, pdu->len, MSG_NOSIGNAL) != (ssize_t)pdu->len)
      return;
    at += n;
  }
}

static void
put_element(GByteArray *out, guint16 group, guint16 element, guint length, guint32 value) {
  const guint16 words[] = {group, element, (guint16)length, 0};
  for (guint i = 0; i < 4; i++)
    g_byte_array_append(out, (const guint8[]){(guint8)words[i], (guint8)(words[i] >> 8)}, 2);
  for (guint i = 0; i < length; i++)
    g_byte_array_append(out, (const guint8[]){(guint8)(value >> (8 * i))}, 1);
}

static void
put_nested(GByteArray *out, guint depth) {
  static const guint8 level[] = {0x08, 0,    0x15, 0x11, 0xFF, 0xFF, 0xFF, 0xFF,
                                 0xFE, 0xFF, 0x00, 0xE0, 0xFF, 0xFF, 0xFF, 0xFF};
  for (guint i = 0; i < depth; i++)
    g_byte_array_append(out, level, sizeof level);
}

typedef struct {
  int fd;
  guint depth;
  gboolean in_command;
} Hostile;

static void
read_pdu(int fd) {
  guint8 head[6];
  if (recv(fd, head, sizeof head, MSG_WAITALL) != sizeof head)
    return;
  gsize left = ((gsize)head[2] << 24) | ((gsize)head[3] << 16) | ((gsize)head[4] << 8) | head[5];
  char bytes[512];
  while (left > 0) {
    const ssize_t n = recv(fd, bytes, MIN(left, sizeof bytes), 0);
    if (n <= 0)
      return;
    left -= (gsize)n;
  }
}

static gpointer
answer_nested(gpointer data) {
  const Hostile *hostile = data;
  const int fd = accept(hostile->fd, NULL, NULL);
  g_assert_cmpint(fd, >=, 0);
  read_pdu(fd);
  g_autoptr(GByteArray) accepted = associate_pdu(2);
  g_assert_cmpint(send(fd, accepted->data, accepted->len, 0), ==, accepted->len);
  read_pdu(fd); /* the command */
  read_pdu(fd); /* the keys */
  g_autoptr(GByteArray) command = g_byte_array_new(), answer = g_byte_array_new();
  put_element(command, 0, 0x0100, 2, 0x8020); /* C-FIND-RSP, pending, with a data set */
  put_element(command, 0, 0x0120, 2, 1);
  put_element(command, 0, 0x0800, 2, 1);
  put_element(command, 0, 0x0900, 2, 0xFF00);
  put_nested(hostile->in_command ? command : answer, hostile->depth);
  send_message(fd, command, TRUE);
  send_message(fd, answer, FALSE);
  shutdown(fd, SHUT_WR);
  char rest[4096];
  while (recv(fd, rest, sizeof rest, 0) > 0)
    ;
  close(fd);
  return NULL;
}

static void
test_nested_answers_to_a_query_are_an_error(void) {
  static const Hostile rows[] = {{0, 900, FALSE}, {0, 200000, FALSE}, {0, 200000, TRUE}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    Hostile hostile = rows[i];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    hostile.fd = socket(AF_INET, SOCK_STREAM, 0);
    g_assert_cmpint(bind(hostile.fd, (struct sockaddr *)&address, length), ==, 0);
    g_assert_cmpint(getsockname(hostile.fd, (struct sockaddr *)&address, &length), ==, 0);
    g_assert_cmpint(listen(hostile.fd, 1), ==, 0);
    GThread *thread = g_thread_new("peer", answer_nested, &hostile);
    const DemurPeer peer = {"127.0.0.1", ntohs(address.sin_port), "DEMUR", "TESTER", 10, NULL};
    const DemurQuery query = {.patient_id = "P1"};
    g_autoptr(GError) error = NULL;
    g_assert_null(demur_network_find(&peer, &query, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
    g_thread_join(thread);
    close(hostile.fd);
  }
}

/* The receiver ends such an association and serves the next. */
static void
test_a_nested_command_does_not_end_the_receiver(void) {
  g_autofree char *folder = fixture_folder();
  FixtureServer *server = fixture_server_new(folder, NULL, NULL);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                      .sin_port = htons((guint16)server->receiver.port)};
  g_assert_cmpint(connect(fd, (const struct sockaddr *)&address, sizeof address), ==, 0);
  g_autoptr(GByteArray) request = associate_pdu(1), command = g_byte_array_new();
  g_assert_cmpint(send(fd, request->data, request->len, 0), ==, request->len);
  read_pdu(fd);
  put_element(command, 0, 0x0100, 2, 0x0030); /* C-ECHO-RQ */
  put_nested(command, 200000);
  send_message(fd, command, TRUE);
  shutdown(fd, SHUT_WR);
  char rest[512];
  while (recv(fd, rest, sizeof rest, 0) > 0)
    ;
  close(fd);
  g_autoptr(GError) error = NULL;
  const DemurPeer peer = fixture_peer(server);
  const gboolean answered = demur_network_echo(&peer, &error);
  g_assert_no_error(error);
  g_assert_true(answered);
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
  g_test_add_func("/dicom/network/half-a-study-is-told-to-be-unread",
                  test_half_a_study_is_told_to_be_unread);
  g_test_add_func("/dicom/network/a-study-that-is-cut-is-told", test_a_study_that_is_cut_is_told);
  g_test_add_func("/dicom/network/a-peer-that-hangs-up-is-an-error",
                  test_a_peer_that_hangs_up_is_an_error);
  g_test_add_func("/dicom/network/what-is-no-dicom-is-not-sent", test_what_is_no_dicom_is_not_sent);
  g_test_add_func("/dicom/network/a-peer-that-takes-plain-objects-only-gets-them",
                  test_a_peer_that_takes_plain_objects_only_gets_them);
  g_test_add_func("/dicom/network/nested-answers-to-a-query-are-an-error",
                  test_nested_answers_to_a_query_are_an_error);
  g_test_add_func("/dicom/network/a-nested-command-does-not-end-the-receiver",
                  test_a_nested_command_does_not_end_the_receiver);
  return g_test_run();
}
