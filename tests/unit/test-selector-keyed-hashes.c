/* Keyed hashes. Right values: a round trip, what a permutation must do, and the network written out in Python over hashlib. */
#include "selector/keyed-hashes.h"

#include <glib.h>
#include <string.h>

static const guint8 key[DEMUR_HASH_KEY_BYTES] = {1, 2, 3}, other[DEMUR_HASH_KEY_BYTES] = {1, 2, 4};

/* Numbers as the writer of a document lays them out; a site's name looks like a member. */
static char *
document_of(const guint64 *patients, size_t n, const guint64 *scans, size_t n_scans) {
  g_autofree char *first = g_base64_encode((const guchar *)patients, n * sizeof *patients);
  g_autofree char *second = g_base64_encode((const guchar *)scans, n_scans * sizeof *scans);
  return g_strdup_printf("{\n \"digest\": \"d\",\n \"patient_hashes\": \"%s\",\n"
                         " \"sites\": [\n  \"\\n \\\"patient_hashes\\\": \\\"AAAA\"\n ],\n"
                         " \"reference_hashes\": \"%s\",\n \"outlier\": null\n}\n",
                         first, second);
}

static guint64 *
hashes_of(const char *document, const char *member, size_t *n) {
  g_autofree char *opening = g_strdup_printf("\n \"%s\": \"", member);
  const char *at = strstr(document, opening) + strlen(opening);
  g_autofree char *text = g_strndup(at, (gsize)(strchr(at, '"') - at));
  gsize n_bytes;
  guint64 *hashes = (guint64 *)(gpointer)g_base64_decode(text, &n_bytes);
  *n = n_bytes / sizeof *hashes;
  return hashes;
}

static void
under_a_key_and_back(void) {
  enum { N = 500 };
  guint64 patients[N], scans[N];
  for (guint64 i = 0; i < N; i++) { /* ascending, as a document has them; scans in any order */
    patients[i] = i * G_GUINT64_CONSTANT(36893488147419103);
    scans[i] = i * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
  }
  g_autofree char *document = document_of(patients, N, scans, N);
  g_autofree char *kept = demur_selector_document_keyed(document, key);
  g_autofree char *back = g_strdup(kept), *wrong = g_strdup(kept);
  demur_selector_document_unkey(back, key);
  demur_selector_document_unkey(wrong, other);
  g_autofree char *elsewhere = demur_selector_document_keyed(document, other);
  g_assert_cmpstr(back, ==, document);
  g_assert_cmpstr(wrong, !=, document);
  g_assert_cmpstr(kept, !=, elsewhere);
  g_assert_cmpuint(strlen(kept), ==, strlen(document));
  g_assert_nonnull(strstr(kept, "AAAA")); /* the name */
  static const char *const members[] = {"patient_hashes", "reference_hashes"};
  for (size_t m = 0; m < G_N_ELEMENTS(members); m++) {
    size_t n;
    g_autofree guint64 *hashes = hashes_of(kept, members[m], &n);
    g_assert_cmpuint(n, ==, N);
    g_autoptr(GHashTable) set = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (size_t i = 0; i < n; i++)
      g_hash_table_add(set, &hashes[i]);
    g_assert_cmpuint(g_hash_table_size(set), ==, N); /* no two the same */
    for (size_t i = 0; i < N; i++) {
      g_assert_false(g_hash_table_contains(set, &patients[i]));
      g_assert_false(g_hash_table_contains(set, &scans[i]));
      g_assert_true(m == 1 || i == 0 || hashes[i - 1] < hashes[i]); /* order tells nothing */
    }
  }
}

static void
as_written_out_elsewhere(void) {
  static const guint64 plain[] = {0, 1, G_GUINT64_CONSTANT(0x0123456789abcdef), G_MAXUINT64},
                       right[] = {G_GUINT64_CONSTANT(0x3b677059b98f9301),
                                  G_GUINT64_CONSTANT(0x75769796e8a8b118),
                                  G_GUINT64_CONSTANT(0xcae41d0d0327a8a7),
                                  G_GUINT64_CONSTANT(0x5d4b1b890823a61e)};
  g_autofree char *document = document_of(plain, 1, plain, G_N_ELEMENTS(plain));
  g_autofree char *kept = demur_selector_document_keyed(document, key);
  size_t n;
  g_autofree guint64 *hashes = hashes_of(kept, "reference_hashes", &n);
  g_assert_cmpuint(n, ==, G_N_ELEMENTS(right));
  g_assert_true(memcmp(hashes, right, sizeof right) == 0);
}

/* Nothing to key, a member without an end, no base64: as it was. */
static void
other_documents_are_left(void) {
  static const char *const documents[] = {"",
                                          "{}",
                                          "{\n \"digest\": \"d\",\n \"n_patients\": 3\n}\n",
                                          "{\n \"patient_hashes\": \"",
                                          "{\n \"patient_hashes\": \"*\"}",
                                          "{\n \"patient_hashes\": \"\"}"};
  for (size_t i = 0; i < G_N_ELEMENTS(documents); i++) {
    g_autofree char *kept = demur_selector_document_keyed(documents[i], key);
    g_assert_cmpstr(kept, ==, documents[i]);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/selector/keyed-hashes/under-a-key-and-back", under_a_key_and_back);
  g_test_add_func("/selector/keyed-hashes/as-written-out-elsewhere", as_written_out_elsewhere);
  g_test_add_func("/selector/keyed-hashes/other-documents-are-left", other_documents_are_left);
  return g_test_run();
}
