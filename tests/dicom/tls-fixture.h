/* Certificates for a test, made by the openssl program: right, expired, of another name, of another
 * authority. */
#pragma once

#include "network-fixture.h"

typedef struct {
  char *folder;
  char *authorities, *others; /* others: an authority that nobody trusts */
  char *key;                  /* one for all of them */
  char *right, *expired, *wrong_name, *foreign;
} FixtureCertificates;

/* FALSE with the test skipped where there is no openssl. */
static inline gboolean
fixture_openssl(const char *folder, const char *words) {
  g_autofree char *line = g_strconcat("openssl ", words, NULL);
  g_auto(GStrv) argv = NULL;
  g_assert_true(g_shell_parse_argv(line, NULL, &argv, NULL));
  gint status = 1;
  g_autoptr(GError) error = NULL;
  if (!g_spawn_sync(folder, argv, NULL,
                    G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
                    NULL, NULL, NULL, NULL, &status, &error)) {
    g_test_skip("openssl is not installed: no certificates can be made");
    return FALSE;
  }
  if (status != 0)
    g_error("openssl %s failed", words);
  return TRUE;
}

static inline void
fixture_certificates_free(FixtureCertificates *c) {
  fixture_remove(c->folder);
  char *const texts[] = {c->folder, c->authorities, c->others,     c->key,
                         c->right,  c->expired,     c->wrong_name, c->foreign};
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  g_free(c);
}

/* Signed by authority (ca or other) for the name, valid so many days. */
static inline char *
fixture_certificate(const char *folder, const char *name, const char *authority, const char *alias,
                    int days) {
  g_autofree char *extension = g_strdup_printf("subjectAltName=%s\n", alias);
  fixture_write(folder, "extension", extension, strlen(extension));
  g_autofree char *words =
      g_strdup_printf("x509 -req -sha256 -in request.pem -CA %s.pem -CAkey %s-key.pem "
                      "-CAcreateserial -days %d -extfile extension -out %s.pem",
                      authority, authority, days, name);
  g_assert_true(fixture_openssl(folder, words));
  g_autofree char *file = g_strconcat(name, ".pem", NULL);
  return g_build_filename(folder, file, NULL);
}

/* NULL with the test skipped. */
static inline FixtureCertificates *
fixture_certificates(void) {
  FixtureCertificates *c = g_new0(FixtureCertificates, 1);
  c->folder = fixture_folder();
  static const char *const authorities[] = {"ca", "other"};
  for (gsize a = 0; a < G_N_ELEMENTS(authorities); a++) {
    g_autofree char *words =
        g_strdup_printf("req -x509 -sha256 -newkey rsa:2048 -nodes -keyout %s-key.pem -out %s.pem "
                        "-days 2 -subj \"/CN=Authority %s of a test\"",
                        authorities[a], authorities[a], authorities[a]);
    if (!fixture_openssl(c->folder, words)) {
      fixture_certificates_free(c);
      return NULL;
    }
  }
  g_assert_true(fixture_openssl(c->folder, "req -sha256 -newkey rsa:2048 -nodes -keyout key.pem "
                                           "-out request.pem -subj /CN=peer"));
  c->authorities = g_build_filename(c->folder, "ca.pem", NULL);
  c->others = g_build_filename(c->folder, "other.pem", NULL);
  c->key = g_build_filename(c->folder, "key.pem", NULL);
  c->right = fixture_certificate(c->folder, "right", "ca", "IP:127.0.0.1,DNS:localhost", 2);
  c->expired = fixture_certificate(c->folder, "expired", "ca", "IP:127.0.0.1", -1);
  c->wrong_name = fixture_certificate(c->folder, "wrong", "ca", "DNS:elsewhere.example", 2);
  c->foreign = fixture_certificate(c->folder, "foreign", "other", "IP:127.0.0.1", 2);
  return c;
}
