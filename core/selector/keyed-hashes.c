#include "selector/keyed-hashes.h"

#include <stdlib.h>
#include <string.h>

#include "base/sha256-lanes.h"

#define ROUNDS 6u
#define LANES DEMUR_SHA256_LANES

typedef struct {
  const char *
      opening; /* of the member, as the document's writer lays it out at the top level; ends with SHARED_END */
  gboolean ascending; /* else in the order of something else */
} Member;

#define SHARED_END "_hashes\": \""
static const Member members[] = {{"\n \"patient" SHARED_END, TRUE},
                                 {"\n \"reference" SHARED_END, FALSE}};

/* bits [LANES] of F(key, number, halves [LANES]): a message of the key, the number and the half, its lowest byte first. */
static void
round_of(const guint8 *key, guint8 number, const guint32 *halves, guint32 *bits) {
  guint32 words[16][LANES] = {{0}}, digests[8][LANES];
  for (size_t t = 0; t < DEMUR_HASH_KEY_BYTES / 4; t++) {
    guint32 word;
    memcpy(&word, key + 4 * t, sizeof word);
    for (size_t lane = 0; lane < LANES; lane++)
      words[t][lane] = GUINT32_FROM_BE(word);
  }
  for (size_t lane = 0; lane < LANES; lane++) {
    const guint32 half = GUINT32_SWAP_LE_BE(halves[lane]);
    words[8][lane] = (guint32)number << 24 | half >> 8;
    words[9][lane] = half << 24 | 0x800000;
    words[15][lane] = 8 * (DEMUR_HASH_KEY_BYTES + 5);
  }
  demur_sha256_of_lanes(words, digests);
  for (size_t lane = 0; lane < LANES; lane++)
    bits[lane] = GUINT32_SWAP_LE_BE(digests[0][lane]); /* its first four bytes, the lowest first */
}

static void
permute(guint64 hashes[LANES], const guint8 *key, gboolean back) {
  guint32 left[LANES], right[LANES], bits[LANES];
  for (size_t lane = 0; lane < LANES; lane++) {
    left[lane] = (guint32)(hashes[lane] >> 32);
    right[lane] = (guint32)hashes[lane];
  }
  for (guint8 i = 0; i < ROUNDS; i++) {
    round_of(key, back ? (guint8)(ROUNDS - 1 - i) : i, back ? left : right, bits);
    for (size_t lane = 0; lane < LANES; lane++) {
      const guint32 half = bits[lane] ^ (back ? right : left)[lane];
      if (back) {
        right[lane] = left[lane];
        left[lane] = half;
      } else {
        left[lane] = right[lane];
        right[lane] = half;
      }
    }
  }
  for (size_t lane = 0; lane < LANES; lane++)
    hashes[lane] = (guint64)left[lane] << 32 | right[lane];
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
  g_autofree guint64 *hashes = g_new0(guint64, n + LANES);
  if (n_bytes > 0)
    memcpy(hashes, bytes, n * sizeof *hashes);
  for (size_t i = 0; i < n; i += LANES)
    permute(hashes + i, key, back);
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
