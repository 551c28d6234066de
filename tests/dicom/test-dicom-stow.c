/* STOW-RS in: our own client in the clear and by TLS, and requests that are wrong, cut, too large, of
 * nobody who may, or for a full disk. Right: what is answered as kept is on the disk, everything else
 * has its status and its reason, and a study of which something was lost may be a part. */
#include "base/error.h"
#include "dicom/multipart.h"
#include "dicom/stow-request.h"
#include "tls-fixture.h"
#include "web-fixture.h"

/* A server with a second door; NULL with the test skipped where the program has none. */
typedef struct {
  DemurStow stow;
  FixtureServer *server;
  char *url;
} Door;

static gboolean
door_make(Door *door, const char *folder) {
  *door = (Door){.stow = {.address = "127.0.0.1",
                          .port = fixture_port(),
                          .max_connections = 20,
                          .max_of_peer = 8,
                          .timeout_seconds = 20,
                          .object_mb = 1,
                          .request_mb = 4}};
  g_autoptr(GError) error = NULL;
  if (!demur_stow_check(&door->stow, &error)) {
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_UNSUPPORTED);
    g_test_skip(error->message);
    return FALSE;
  }
  door->server = fixture_server_make(folder, NULL, NULL);
  door->server->receiver.stow = &door->stow;
  return TRUE;
}

static void
door_start(Door *door) {
  door->url = g_strdup_printf("%s://127.0.0.1:%u",
                              door->stow.certificate != NULL ? "https" : "http", door->stow.port);
  fixture_server_start(door->server);
}

static void
door_stop(Door *door) {
  fixture_server_stop(door->server);
}

static void
door_free(Door *door) {
  fixture_server_free(door->server);
  g_free(door->url);
}

static gboolean
is_told(const Door *door, const char *text) {
  gboolean told = FALSE;
  g_mutex_lock(&door->server->mutex);
  for (guint i = 0; i < door->server->problems->len; i++)
    told |= strstr(door->server->problems->pdata[i], text) != NULL;
  g_mutex_unlock(&door->server->mutex);
  return told;
}

static void
check_kept(const char *sent_path, const char *out, guint number) {
  g_autofree char *sent = NULL, *kept = NULL;
  g_autofree char *path = g_strdup_printf("%s/1.2.3/1.2.3.4/1.2.3.4.1.%u.dcm", out, number);
  gsize n, m;
  g_assert_true(g_file_get_contents(sent_path, &sent, &n, NULL));
  g_assert_true(g_file_get_contents(path, &kept, &m, NULL));
  g_assert_cmpuint(n, ==, m);
  g_assert_cmpint(memcmp(sent, kept, n), ==, 0);
}

/* --- our own client --- */

static void
test_our_client_stores_in_the_clear(void) {
  enum { N = 7 }; /* more than go without a log */
  g_autoptr(FixturePlace) place = fixture_place_new(N);
  Door door;
  if (!door_make(&door, place->out))
    return;
  door_start(&door);
  const DemurWeb web = {.url = door.url, .timeout_seconds = 20};
  for (int round = 0; round < 2; round++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurSending) sending =
        demur_web_send(&web, (const char *const *)place->paths, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(sending->n_sent, ==, N);
    g_assert_cmpuint(sending->n_failed, ==, 0);
  }
  for (guint i = 0; i < N; i++)
    check_kept(place->paths[i], place->out, i + 1);
  fixture_wait(door.server, door.server->settled, 1);
  g_assert_false(demur_receiver_is_broken(place->out, "1.2.3"));
  door_stop(&door);
  g_assert_cmpuint(door.server->received.n_received, ==, N);
  g_assert_cmpuint(door.server->received.n_known, ==, N);
  g_assert_cmpuint(door.server->received.n_associations, ==, 2);
  g_assert_cmpuint(door.server->received.n_broken, ==, 0);
  door_free(&door);
}

/* Who calls checks us; we check the token and the certificate of who calls. */
static void
test_our_client_stores_by_tls(void) {
  g_autoptr(FixturePlace) place = fixture_place_new(2);
  FixtureCertificates *c = fixture_certificates();
  Door door;
  if (c == NULL || !door_make(&door, place->out))
    return;
  g_autofree char *token = g_build_filename(place->folder, "token", NULL);
  fixture_write(place->folder, "token", "secret-1\n", 9);
  door.stow.certificate = c->right;
  door.stow.key = c->key;
  door.stow.authorities = c->authorities;
  door.stow.token = token;
  door_start(&door);
  const DemurTls ours = {c->right, c->key, c->authorities, FALSE};
  const DemurTls nobody = {NULL, NULL, c->authorities, FALSE};
  const DemurTls foreign = {c->foreign, c->key, c->authorities, FALSE};
  const DemurTls expired = {c->expired, c->key, c->authorities, FALSE};
  const DemurTls others = {c->right, c->key, c->others, FALSE};
  const struct {
    const char *what, *login;
    const DemurTls *tls;
    gboolean right;
  } rows[] = {
      {"right", "secret-1", &ours, TRUE},
      {"no token", NULL, &ours, FALSE},
      {"another token", "secret-2", &ours, FALSE},
      {"a token that begins so", "secret-", &ours, FALSE},
      {"a name and a password", "secret-1:x", &ours, FALSE},
      {"no certificate", "secret-1", &nobody, FALSE},
      {"of a foreign authority", "secret-1", &foreign, FALSE},
      {"expired", "secret-1", &expired, FALSE},
      {"we are not trusted", "secret-1", &others, FALSE},
      {"right again", "secret-1", &ours, TRUE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    const DemurWeb web = {door.url, rows[i].tls, rows[i].login, 20};
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurSending) sending =
        demur_web_send(&web, (const char *const *)place->paths, NULL, &error);
    if ((sending != NULL) != rows[i].right || (sending != NULL && sending->n_sent != 2))
      g_error("%s: %s", rows[i].what, error != NULL ? error->message : "it was taken");
  }
  door_stop(&door);
  g_assert_cmpuint(door.server->received.n_received, ==, 2);
  g_assert_cmpuint(door.server->received.n_associations, ==, 2);
  g_assert_false(is_told(&door, "secret"));
  door_free(&door);
  fixture_certificates_free(c);
}

static void
test_unusable_files_are_told(void) {
  g_autoptr(FixturePlace) place = fixture_place_new(1);
  Door door;
  if (!door_make(&door, place->out))
    return;
  g_autofree char *empty = g_build_filename(place->folder, "empty", NULL);
  fixture_write(place->folder, "empty", "\n", 1);
  DemurStow rows[] = {door.stow, door.stow, door.stow, door.stow, door.stow};
  rows[0].address = "localhost";
  rows[1].token = empty;
  rows[2].token = "/nowhere/token";
  rows[3].certificate = rows[3].key = place->paths[0];
  rows[4].authorities = place->paths[0];
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_false(demur_stow_check(&rows[i], &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  }
  door_free(&door);
}

/* --- requests by hand --- */

static int
door_connect(const Door *door) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                      .sin_port = htons((guint16)door->stow.port)};
  g_assert_cmpint(connect(fd, (const struct sockaddr *)&address, sizeof address), ==, 0);
  return fd;
}

static void
put_all(int fd, const void *bytes, size_t n) {
  for (size_t at = 0; at < n;) {
    const ssize_t step = send(fd, (const char *)bytes + at, n - at, MSG_NOSIGNAL);
    if (step <= 0) /* refused before it was read */
      return;
    at += (size_t)step;
  }
}

/* The status, 0: none came; and the whole answer (owned; NULL: not asked for). */
static guint
read_answer(int fd, char **answer) {
  g_autoptr(GString) text = g_string_new(NULL);
  char bytes[4096];
  ssize_t n;
  while ((n = recv(fd, bytes, sizeof bytes, 0)) > 0)
    g_string_append_len(text, bytes, n);
  close(fd);
  const guint status =
      text->len > 12 ? (guint)g_ascii_strtoull(text->str + strlen("HTTP/1.1 "), NULL, 10) : 0;
  if (answer != NULL)
    *answer = g_strdup(text->str);
  return status;
}

static char *
head_of(const char *line, const char *type, guint64 length) {
  return g_strdup_printf("%s HTTP/1.1\r\nHost: here\r\nContent-Type: %s\r\n"
                         "Content-Length: %" G_GUINT64_FORMAT "\r\n\r\n",
                         line, type, length);
}

static void
put_head(int fd, const char *line, const char *type, guint64 length) {
  g_autofree char *head = head_of(line, type, length);
  put_all(fd, head, strlen(head));
}

static guint
ask(const Door *door, const char *line, const char *type, const GByteArray *body, char **answer) {
  const int fd = door_connect(door);
  put_head(fd, line, type, body->len);
  put_all(fd, body->data, body->len);
  return read_answer(fd, answer);
}

static void
add_part(GByteArray *body, const void *bytes, size_t n) {
  static const char head[] = "--xyz\r\nContent-Type: application/dicom\r\n\r\n";
  g_byte_array_append(body, (const guint8 *)head, sizeof head - 1);
  g_byte_array_append(body, bytes, (guint)n);
  g_byte_array_append(body, (const guint8 *)"\r\n", 2);
}

static void
end_parts(GByteArray *body) {
  g_byte_array_append(body, (const guint8 *)"--xyz--\r\n", 9);
}

#define POST_ALL "POST /studies"

static void
test_wrong_requests_have_their_status(void) {
  g_autoptr(FixturePlace) place = fixture_place_new(2);
  Door door;
  if (!door_make(&door, place->out))
    return;
  door_start(&door);
  g_autoptr(GByteArray) good = web_multipart(place->paths), one = g_byte_array_new(),
                        mixed = g_byte_array_new(), none = g_byte_array_new(),
                        empty = g_byte_array_new(), huge = g_byte_array_new(),
                        open = g_byte_array_new();
  g_autofree char *image = NULL, *large = g_strnfill(3 << 19, 'x');
  gsize n;
  g_assert_true(g_file_get_contents(place->paths[0], &image, &n, NULL));
  add_part(mixed, "hello", 5);
  add_part(mixed, image, n);
  end_parts(mixed);
  add_part(none, "hello", 5);
  end_parts(none);
  end_parts(empty);
  add_part(huge, image, n);
  add_part(huge, large, 3 << 19);
  end_parts(huge);
  add_part(open, image, n);
  add_part(open, image, n); /* whole but for what follows it */
  add_part(one, image, n);
  end_parts(one);
  const struct {
    const char *line, *type;
    const GByteArray *body;
    guint status;
    const char *says; /* NULL: anything */
  } rows[] = {
      {POST_ALL, WEB_TYPE, good, 200, "\"00081199\""},
      {"POST /studies/1.2.3", WEB_TYPE, good, 200, "1.2.3.4.1.2"},
      {"POST /studies/", "multipart/related; boundary=xyz; type=Application/DICOM", good, 200,
       NULL},
      {"POST /studies/9.9", WEB_TYPE, one, 409, "43264"},
      {POST_ALL, WEB_TYPE, mixed, 202, "\"0008119A\""},
      {POST_ALL, WEB_TYPE, none, 409, "49152"},
      {POST_ALL, WEB_TYPE, empty, 400, NULL},
      {POST_ALL, WEB_TYPE, open, 400, "\"00081199\""},
      {POST_ALL, WEB_TYPE, huge, 413, "\"00081199\""},
      {POST_ALL, "multipart/related; type=\"application/dicom\"", good, 415, NULL},
      {POST_ALL, "multipart/related; type=\"application/dicom+json\"; boundary=xyz", good, 415,
       NULL},
      {POST_ALL, "multipart/related; boundary=xyz", good, 415, NULL},
      {POST_ALL, "application/dicom", good, 415, NULL},
      {"GET /studies", WEB_TYPE, empty, 405, "Allow: POST"},
      {"POST /studies/1.2.3/series", WEB_TYPE, good, 404, NULL},
      {"POST /studiesx", WEB_TYPE, good, 404, NULL},
      {"POST /", WEB_TYPE, good, 404, NULL},
      {"POST /studies/Miller", WEB_TYPE, good, 400, NULL},
      {"POST /studies/..", WEB_TYPE, good, 400, NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *answer = NULL;
    const guint status = ask(&door, rows[i].line, rows[i].type, rows[i].body, &answer);
    if (status != rows[i].status || (rows[i].says != NULL && strstr(answer, rows[i].says) == NULL))
      g_error("row %zu, %s: status %u, not %u: %s", i, rows[i].line, status, rows[i].status,
              answer);
  }
  /* By what its head says alone. */
  const int fd = door_connect(&door);
  put_head(fd, POST_ALL, WEB_TYPE, G_GUINT64_CONSTANT(5) << 20);
  g_assert_cmpuint(read_answer(fd, NULL), ==, 413);
  door_stop(&door);
  g_assert_false(is_told(&door, "Miller"));
  g_autofree char *other = g_build_filename(place->out, "9.9", NULL);
  g_assert_false(g_file_test(other, G_FILE_TEST_EXISTS));
  door_free(&door);
}

/* What was whole is kept, and the study may be a part until it is sent again. */
static void
test_a_cut_request_leaves_a_part(void) {
  g_autoptr(FixturePlace) place = fixture_place_new(2);
  Door door;
  if (!door_make(&door, place->out))
    return;
  door_start(&door);
  g_autoptr(GByteArray) body = web_multipart(place->paths);
  const int fd = door_connect(&door);
  put_head(fd, POST_ALL, WEB_TYPE, body->len);
  put_all(fd, body->data, body->len - 100);
  close(fd);
  fixture_wait(door.server, door.server->problems, 1);
  g_assert_true(is_told(&door, "broke off"));
  g_assert_true(demur_receiver_is_broken(place->out, "1.2.3"));
  g_assert_cmpuint(door.server->settled->len, ==, 0);
  check_kept(place->paths[0], place->out, 1);
  g_autofree char *second = g_build_filename(place->out, "1.2.3/1.2.3.4/1.2.3.4.1.2.dcm", NULL);
  g_assert_false(g_file_test(second, G_FILE_TEST_EXISTS));
  /* Sent again it is whole. */
  g_assert_cmpuint(ask(&door, POST_ALL, WEB_TYPE, body, NULL), ==, 200);
  fixture_wait(door.server, door.server->settled, 1);
  g_assert_false(demur_receiver_is_broken(place->out, "1.2.3"));
  door_stop(&door);
  g_assert_cmpuint(door.server->received.n_broken, ==, 1);
  door_free(&door);
}

/* .. and so does one that came as long as it said, without its last boundary. */
static void
test_a_broken_body_leaves_a_part(void) {
  g_autoptr(FixturePlace) place = fixture_place_new(2);
  g_autoptr(GByteArray) body = web_multipart(place->paths);
  Door door;
  if (!door_make(&door, place->out))
    return;
  door_start(&door);
  g_byte_array_set_size(body, body->len - 9);
  g_assert_cmpuint(ask(&door, POST_ALL, WEB_TYPE, body, NULL), ==, 400);
  g_assert_true(demur_receiver_is_broken(place->out, "1.2.3"));
  end_parts(body);
  g_assert_cmpuint(ask(&door, POST_ALL, WEB_TYPE, body, NULL), ==, 200);
  g_assert_false(demur_receiver_is_broken(place->out, "1.2.3"));
  door_stop(&door);
  door_free(&door);
}

/* The peer is told, and what was refused is lost until it comes. */
static void
test_a_full_disk_is_told(void) {
  g_autoptr(FixturePlace) place = fixture_place_new(2);
  g_autoptr(GByteArray) body = web_multipart(place->paths);
  Door door;
  if (!door_make(&door, place->out))
    return;
  door.server->receiver.reserve_mb = 1u << 30; /* more than any disk here */
  door_start(&door);
  g_autofree char *answer = NULL;
  g_assert_cmpuint(ask(&door, POST_ALL, WEB_TYPE, body, &answer), ==, 503);
  g_assert_nonnull(strstr(answer, "42752"));
  g_assert_nonnull(strstr(answer, "Retry-After"));
  g_assert_true(demur_receiver_is_broken(place->out, "1.2.3"));
  door_stop(&door);
  g_assert_cmpuint(door.server->received.n_missing, ==, 2);
  door_free(&door);
  Door again;
  g_assert_true(door_make(&again, place->out));
  door_start(&again);
  g_assert_cmpuint(ask(&again, POST_ALL, WEB_TYPE, body, NULL), ==, 200);
  g_assert_false(demur_receiver_is_broken(place->out, "1.2.3"));
  door_stop(&again);
  door_free(&again);
}

/* Peers that say nothing take the places of their own address only: C-STORE goes on. */
static void
test_connections_are_bounded(void) {
  enum { N = 3 };
  g_autoptr(FixturePlace) place = fixture_place_new(1);
  Door door;
  if (!door_make(&door, place->out))
    return;
  door.stow.max_of_peer = N;
  door.stow.timeout_seconds = 3600;
  door_start(&door);
  int silent[N];
  for (int i = 0; i < N; i++)
    silent[i] = door_connect(&door);
  g_assert_cmpuint(read_answer(door_connect(&door), NULL), ==, 0); /* one too many */
  fixture_wait(door.server, door.server->problems, 1);
  g_assert_true(is_told(&door, "too many connections at once"));
  const DemurPeer peer = fixture_peer(door.server);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurSending) sending =
      demur_network_send(&peer, (const char *const *)place->paths, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(sending->n_sent, ==, 1);
  for (int i = 0; i < N; i++)
    close(silent[i]);
  door_stop(&door);
  door_free(&door);
}

/* One that says nothing, half a head, or half a body is given up. */
static void
test_silent_peers_are_given_up(void) {
  enum { N = 3 };
  g_autoptr(FixturePlace) place = fixture_place_new(1);
  g_autoptr(GByteArray) body = web_multipart(place->paths);
  Door door;
  if (!door_make(&door, place->out))
    return;
  door.stow.timeout_seconds = 1;
  door_start(&door);
  int silent[N];
  for (int i = 0; i < N; i++)
    silent[i] = door_connect(&door);
  put_all(silent[1], "POST /stu", 9);
  /* Its object is whole, its body is not; all at once: it waits for nothing of ours. */
  g_autoptr(GByteArray) most = g_byte_array_new();
  g_autofree char *head = head_of(POST_ALL, WEB_TYPE, body->len);
  g_byte_array_append(most, (const guint8 *)head, (guint)strlen(head));
  g_byte_array_append(most, body->data, body->len - 3);
  put_all(silent[2], most->data, most->len);
  for (int i = 0; i < N; i++)
    g_assert_cmpuint(read_answer(silent[i], NULL), ==, 0);
  fixture_wait(door.server, door.server->problems, N);
  door_stop(&door);
  g_assert_true(is_told(&door, "not asked for in time"));
  door_free(&door);
}

static void
test_parameters_of_a_type_are_read(void) {
  static const char type[] =
      "multipart/related; x=\"type=no; boundary=no\"; Type=yes;boundary=\"b c\"";
  g_autofree char *value = demur_multipart_parameter(type, "type");
  g_autofree char *boundary = demur_multipart_parameter(type, "boundary");
  g_assert_cmpstr(value, ==, "yes");
  g_assert_cmpstr(boundary, ==, "b c");
  g_assert_null(demur_multipart_parameter("text/plain; type=x", "type"));
  g_assert_null(demur_multipart_parameter("multipart/related; typed=x", "type"));
  g_assert_null(demur_multipart_parameter(NULL, "type"));
}

/* One of more objects than are answered is refused; an answer to none is a document too. */
static void
test_answers_are_bounded(void) {
  g_autoptr(DemurStowAnswer) answer = demur_stow_answer_new();
  g_autofree char *nothing = demur_stow_answer_text(answer);
  g_assert_cmpstr(g_strstrip(nothing), ==, "{}");
  for (guint i = 0; i < DEMUR_STOW_MAX_OBJECTS; i++)
    g_assert_true(demur_stow_answer_add(answer, "1.2", "1.2.3", 0));
  g_assert_false(demur_stow_answer_add(answer, "1.2", "1.2.3", 0));
  g_assert_cmpuint(demur_stow_answer_status(answer, DEMUR_STOW_WHOLE), ==, 200);
  g_assert_cmpuint(demur_stow_answer_status(answer, DEMUR_STOW_TOO_LARGE), ==, 413);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/stow/our-client-in-the-clear", test_our_client_stores_in_the_clear);
  g_test_add_func("/stow/our-client-by-tls", test_our_client_stores_by_tls);
  g_test_add_func("/stow/unusable-files", test_unusable_files_are_told);
  g_test_add_func("/stow/wrong-requests", test_wrong_requests_have_their_status);
  g_test_add_func("/stow/cut", test_a_cut_request_leaves_a_part);
  g_test_add_func("/stow/broken-body", test_a_broken_body_leaves_a_part);
  g_test_add_func("/stow/full-disk", test_a_full_disk_is_told);
  g_test_add_func("/stow/bounded-connections", test_connections_are_bounded);
  g_test_add_func("/stow/silent-peers", test_silent_peers_are_given_up);
  g_test_add_func("/stow/parameters", test_parameters_of_a_type_are_read);
  g_test_add_func("/stow/bounded-answers", test_answers_are_bounded);
  return g_test_run();
}
