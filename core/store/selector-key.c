#include "store/selector-key.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "base/sha256.h"
#include "selector/keyed-hashes.h"
#include "store/connection.h"
#include "store/events.h"
#include "store/seal.h"

G_STATIC_ASSERT(DEMUR_HASH_KEY_BYTES ==
                DEMUR_SHA256_BYTES); /* hexadecimal is read as of a digest */

static gboolean
read_key(DemurWorkspace *workspace, guint8 *key, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, "SELECT max(key) FROM selector_key", error);
  gboolean row;
  if (statement == NULL ||
      !demur_store_step(workspace, statement, &row, "reading the selectors' key", error))
    return FALSE;
  g_autofree char *hex = row ? demur_store_text(statement, 0) : NULL;
  demur_store_reset(statement);
  if (demur_sha256_parse(hex, key))
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_STORE,
                  "workspace %s has lost the key of its selectors' hashes; bring back a copy of it",
                  workspace->path);
  return FALSE;
}

char *
demur_store_document_keyed(DemurWorkspace *workspace, const char *document, GError **error) {
  guint8 key[DEMUR_HASH_KEY_BYTES];
  return read_key(workspace, key, error) ? demur_selector_document_keyed(document, key) : NULL;
}

gboolean
demur_store_document_unkey(DemurWorkspace *workspace, char *document, GError **error) {
  guint8 key[DEMUR_HASH_KEY_BYTES];
  if (!read_key(workspace, key, error))
    return FALSE;
  demur_selector_document_unkey(document, key);
  return TRUE;
}

static gboolean
make_key(DemurWorkspace *workspace, GError **error) {
  guint8 key[DEMUR_HASH_KEY_BYTES];
  if (getrandom(key, sizeof key, 0) != (gssize)sizeof key) {
    demur_error_set(error, DEMUR_ERROR_STORE,
                    "workspace %s: there are no random bytes for its key: %s; try again",
                    workspace->path, g_strerror(errno));
    return FALSE;
  }
  char hex[DEMUR_SHA256_HEX];
  demur_sha256_hex(key, hex);
  DemurStatement *statement =
      demur_store_statement(workspace, "INSERT INTO selector_key (key) VALUES (?)", error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, hex);
  return demur_store_run(workspace, statement, "saving the selectors' key", error);
}

/* A selector of before. */
typedef struct {
  char *name, *document, *sha, *digest, *created, *seal;
} Plain;

static gpointer
read_plain(DemurStatement *statement) {
  Plain *plain = g_new0(Plain, 1);
  char **const texts[] = {&plain->name,   &plain->document, &plain->sha,
                          &plain->digest, &plain->created,  &plain->seal};
  demur_store_read_texts(statement, 0, texts, G_N_ELEMENTS(texts));
  return plain;
}

static void
free_plain(gpointer data) {
  Plain *plain = data;
  g_free(plain->name);
  g_free(plain->document);
  g_free(plain->sha);
  g_free(plain->digest);
  g_free(plain->created);
  g_free(plain->seal);
  g_free(plain);
}

static gboolean
key_one(DemurWorkspace *workspace, const Plain *plain, GError **error) {
  g_autofree char *now = demur_sha256_of_text(plain->document);
  g_autofree char *key = g_strconcat("selector:", plain->name, NULL);
  g_autofree char *seal = plain->seal != NULL ? demur_store_seal(workspace, key, error) : NULL;
  if (plain->seal != NULL && seal == NULL)
    return FALSE;
  if (strcmp(now, plain->sha) != 0 || g_strcmp0(seal, plain->seal) != 0)
    return TRUE;
  g_autofree char *document = demur_store_document_keyed(workspace, plain->document, error);
  if (document == NULL)
    return FALSE;
  DemurStatement *statement = demur_store_statement(
      workspace, "UPDATE selector SET document = ?1, keyed = 1 WHERE name = ?2", error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, document);
  demur_store_bind_text(statement, 2, plain->name);
  return demur_store_run(workspace, statement, "keeping a selector's hashes by a key", error) &&
         demur_events_add(workspace, DEMUR_EVENT_TRAINING, key, plain->digest, "{\"keyed\": true}",
                          plain->created, error);
}

gboolean
demur_store_key_selectors(DemurWorkspace *workspace, GError **error) {
  if (!make_key(workspace, error))
    return FALSE;
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT name, document, document_sha256, digest, created, (SELECT e.seal FROM event e WHERE"
      " e.key = 'selector:' || name ORDER BY e.sequence DESC LIMIT 1) FROM selector"
      " WHERE keyed IS NULL ORDER BY name",
      error);
  g_autoptr(GPtrArray) list = statement != NULL
                                  ? demur_store_list(workspace, statement, read_plain, free_plain,
                                                     "reading the selectors", error)
                                  : NULL;
  for (guint i = 0; list != NULL && i < list->len; i++)
    if (!key_one(workspace, list->pdata[i], error))
      return FALSE;
  return list != NULL;
}
