/* Encrypted associations. Right: a peer whose certificate is of a trusted authority, in date and
 * made out to the host that was called is served; every other is refused, on either side. */
#include "base/error.h"
#include "tls-fixture.h"

static FixtureServer *
tls_server(const char *folder, const DemurTls *tls) {
  FixtureServer *server = fixture_server_make(folder, NULL, NULL);
  server->receiver.tls = tls;
  server->receiver.timeout_seconds = 5;
  return fixture_server_start(server);
}

static void
end_server(FixtureServer *server) {
  fixture_server_stop(server);
  fixture_server_free(server);
}

/* Who is called shows a certificate; who calls shows one too, or none. */
static void
test_only_right_certificates_are_served(void) {
  FixtureCertificates *c = fixture_certificates();
  if (c == NULL)
    return;
  const struct {
    const char *what, *server, *caller, *trusted_by_caller;
    gboolean any_caller, good;
  } rows[] = {
      {"both right", c->right, c->right, c->authorities, FALSE, TRUE},
      {"caller has none, needs none", c->right, NULL, c->authorities, TRUE, TRUE},
      {"caller has none", c->right, NULL, c->authorities, FALSE, FALSE},
      {"caller's is expired", c->right, c->expired, c->authorities, FALSE, FALSE},
      {"caller's is expired, none needed", c->right, c->expired, c->authorities, TRUE, FALSE},
      {"caller's is of another authority", c->right, c->foreign, c->authorities, FALSE, FALSE},
      {"server's is expired", c->expired, c->right, c->authorities, FALSE, FALSE},
      {"server's is of another name", c->wrong_name, c->right, c->authorities, FALSE, FALSE},
      {"server's is of another authority", c->foreign, c->right, c->authorities, FALSE, FALSE},
      {"caller trusts another authority", c->right, c->right, c->others, FALSE, FALSE},
  };
  g_autoptr(FixturePlace) place = fixture_place_new(3);
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    const DemurTls ours = {rows[i].server, c->key, c->authorities, rows[i].any_caller};
    const DemurTls theirs = {rows[i].caller, rows[i].caller != NULL ? c->key : NULL,
                             rows[i].trusted_by_caller, FALSE};
    FixtureServer *server = tls_server(place->out, &ours);
    DemurPeer peer = fixture_peer(server);
    peer.tls = &theirs;
    g_autoptr(GError) error = NULL;
    g_autoptr(DemurSending) sending =
        demur_network_send(&peer, (const char *const *)place->paths, NULL, &error);
    if ((sending != NULL && sending->n_sent == 3) != rows[i].good)
      g_error("%s: %s", rows[i].what, error != NULL ? error->message : "it was served");
    if (!rows[i].good)
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE);
    end_server(server);
  }
  fixture_certificates_free(c);
}

/* A host that is called by its name. */
static void
test_a_host_may_be_called_by_name(void) {
  FixtureCertificates *c = fixture_certificates();
  if (c == NULL)
    return;
  const struct {
    const char *server;
    gboolean good;
  } rows[] = {{c->right, TRUE}, {c->wrong_name, FALSE}, {c->expired, FALSE}};
  g_autofree char *folder = fixture_folder();
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    const DemurTls ours = {rows[i].server, c->key, c->authorities, FALSE},
                   theirs = {c->right, c->key, c->authorities, FALSE};
    FixtureServer *server = tls_server(folder, &ours);
    DemurPeer peer = fixture_peer(server);
    peer.host = "localhost";
    peer.tls = &theirs;
    g_assert_cmpint(demur_network_echo(&peer, NULL), ==, rows[i].good);
    end_server(server);
  }
  fixture_remove(folder);
  fixture_certificates_free(c);
}

/* One side encrypts and the other does not; peers that say nothing cost only themselves. */
static void
test_plain_and_silent_peers_are_no_way_in(void) {
  FixtureCertificates *c = fixture_certificates();
  if (c == NULL)
    return;
  const DemurTls tls = {c->right, c->key, c->authorities, FALSE};
  g_autofree char *folder = fixture_folder();
  FixtureServer *encrypted = tls_server(folder, &tls);
  const DemurPeer plain = fixture_peer(encrypted);
  DemurPeer right = plain;
  right.tls = &tls;
  int silent[5];
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                      .sin_port = htons((guint16)plain.port)};
  for (gsize i = 0; i < G_N_ELEMENTS(silent); i++) {
    silent[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(connect(silent[i], (const struct sockaddr *)&address, sizeof address), ==, 0);
  }
  g_assert_false(demur_network_echo(&plain, NULL));
  g_assert_true(demur_network_echo(&right, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS(silent); i++)
    close(silent[i]);
  end_server(encrypted);
  FixtureServer *open = fixture_server_new(folder, NULL, NULL);
  DemurPeer peer = fixture_peer(open);
  g_assert_true(demur_network_echo(&peer, NULL));
  peer.tls = &tls;
  peer.timeout_seconds = 2;
  g_assert_false(demur_network_echo(&peer, NULL));
  end_server(open);
  fixture_remove(folder);
  fixture_certificates_free(c);
}

/* Files that can't be used are named, with what is wanted. */
static void
test_files_that_can_not_be_used_are_named(void) {
  FixtureCertificates *c = fixture_certificates();
  if (c == NULL)
    return;
  g_autofree char *other_key = g_build_filename(c->folder, "other-key.pem", NULL);
  const struct {
    DemurTls tls;
    const char *says;
  } rows[] = {
      {{c->right, "/nowhere", c->authorities, FALSE}, "/nowhere can't be read: No such file"},
      {{"/nowhere", c->key, c->authorities, FALSE}, "/nowhere can't be read: No such file"},
      {{c->right, c->key, "/nowhere", FALSE}, "/nowhere can't be read: No such file"},
      {{c->right, c->right, c->authorities, FALSE}, "can't be read as a private key"},
      {{c->key, c->key, c->authorities, FALSE}, "can't be read as a certificate"},
      {{c->right, c->key, c->key, FALSE}, "can't be read as certificates of"},
      {{c->right, c->key, NULL, FALSE}, "names no authorities"},
      {{c->right, other_key, c->authorities, FALSE}, "is not the key of the certificate"},
      {{c->right, NULL, c->authorities, FALSE}, "stands alone"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GError) error = NULL;
    const DemurPeer peer = {"127.0.0.1", 1, "A", "B", 1, &rows[i].tls};
    g_assert_false(demur_network_echo(&peer, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    if (strstr(error->message, rows[i].says) == NULL)
      g_error("'%s' does not say '%s'", error->message, rows[i].says);
  }
  fixture_certificates_free(c);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dicom/tls/only-right-certificates-are-served",
                  test_only_right_certificates_are_served);
  g_test_add_func("/dicom/tls/a-host-may-be-called-by-name", test_a_host_may_be_called_by_name);
  g_test_add_func("/dicom/tls/plain-and-silent-peers-are-no-way-in",
                  test_plain_and_silent_peers_are_no_way_in);
  g_test_add_func("/dicom/tls/files-that-can-not-be-used-are-named",
                  test_files_that_can_not_be_used_are_named);
  return g_test_run();
}
