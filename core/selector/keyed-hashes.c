#include "selector/keyed-hashes.h"

#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"

#define ROUNDS 6u

typedef struct {
  const char *
      opening; /* of the member, as the document's writer lays it out at the top level; ends with SHARED_END */
  gboolean ascending; /* else in the order of something else */
} Member;

#define SHARED_END "_hashes\": \""
static const Member members[] = {{"\n \"patient" SHARED_END, TRUE},
                                 {"\n \"reference" SHARED_END, FALSE}};

static guint32
round_of(const guint8 *key, guint8 number, guint32 half) {
  guint8 block[DEMUR_HASH_KEY_BYTES + 5], digest[DEMUR_SHA256_BYTES];
  memcpy(block, key, DEMUR_HASH_KEY_BYTES);
  block[DEMUR_HASH_KEY_BYTES] = number;
  const guint32 little = GUINT32_TO_LE(half);
  memcpy(block + DEMUR_HASH_KEY_BYTES + 1, &little, sizeof little);
  demur_sha256_of_block(block, sizeof block, digest);
  guint32 bits;
  memcpy(&bits, digest, sizeof bits);
  return GUINT32_FROM_LE(bits);
}

static guint64
permute(guint64 hash, const guint8 *key, gboolean back) {
  guint32 left = (guint32)(hash >> 32), right = (guint32)hash;
  for (guint8 i = 0; i < ROUNDS; i++) {
    if (back) {
      const guint32 half = right ^ round_of(key, (guint8)(ROUNDS - 1 - i), left);
      right = left;
      left = half;
    } else {
      const guint32 half = left ^ round_of(key, i, right);
      left = right;
      right = half;
    }
  }
  return (guint64)left << 32 | right;
}

static int
compare(const void *a, const void *b) {
  const guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
  return x < y ? -1 : x > y;
}

/* The hashes of one member, written anew where they stand: as many letters as before. */
static void
rewrite_hashes(char *base64, size_t length, gboolean ascending, const guint8 *key, gboolean back) {
  g_autofree char *one = g_strndup(base64, length);
  gsize n_bytes;
  g_autofree guchar *bytes = g_base64_decode(one, &n_bytes);
  const size_t n = n_bytes / sizeof(guint64);
  g_autofree guint64 *hashes = g_new(guint64, n + 1);
  if (n_bytes > 0)
    memcpy(hashes, bytes, n * sizeof *hashes);
  for (size_t i = 0; i < n; i++)
    hashes[i] = permute(hashes[i], key, back);
  if (ascending)
    qsort(hashes, n, sizeof *hashes, compare);
  g_autofree char *again = g_base64_encode((const guchar *)hashes, n * sizeof *hashes);
  if (strlen(again) == length)
    memcpy(base64, again, length);
}

/* The member whose opening ends at a place of the document; NULL: none. */
static const Member *
opened_before(const char *document, const char *at) {
  for (size_t m = 0; m < G_N_ELEMENTS(members); m++) {
    const size_t n = strlen(members[m].opening);
    if ((size_t)(at - document) >= n && memcmp(at - n, members[m].opening, n) == 0)
      return &members[m];
  }
  return NULL;
}

static void
rewrite(char *document, const guint8 *key, gboolean back) {
  for (char *from = document; (from = strstr(from, SHARED_END)) != NULL;) {
    from += strlen(SHARED_END);
    const Member *member = opened_before(document, from);
    if (member == NULL)
      continue;
    char *end = strchr(from, '"');
    if (end == NULL)
      break;
    rewrite_hashes(from, (size_t)(end - from), member->ascending, key, back);
    from = end;
  }
}

char *
demur_selector_document_keyed(const char *document, const guint8 *key) {
  char *kept = g_strdup(document);
  rewrite(kept, key, FALSE);
  return kept;
}

void
demur_selector_document_unkey(char *document, const guint8 *key) {
  rewrite(document, key, TRUE);
}
