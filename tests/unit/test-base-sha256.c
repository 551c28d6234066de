/* SHA-256: the examples of FIPS 180-4 and GLib's own digests. */
#include "base/sha256.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

static char *
hex_of(const guint8 *bytes, size_t length, size_t step) {
  DemurSha256 sha;
  guint8 digest[DEMUR_SHA256_BYTES];
  char hex[DEMUR_SHA256_HEX];
  demur_sha256_init(&sha);
  for (size_t at = 0; at < length; at += step)
    demur_sha256_update(&sha, bytes + at, MIN(step, length - at));
  demur_sha256_finish(&sha, digest);
  demur_sha256_hex(digest, hex);
  return g_strdup(hex);
}

static void
examples_of_the_standard(void) {
  /* FIPS 180-4 examples, and the digest of nothing. */
  static const struct {
    const char *text, *hex;
  } rows[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *hex = hex_of((const guint8 *)rows[i].text, strlen(rows[i].text), 7);
    g_assert_cmpstr(hex, ==, rows[i].hex);
    g_autofree char *whole = demur_sha256_of_text(rows[i].text);
    g_assert_cmpstr(whole, ==, rows[i].hex);
  }
}

static char *
write_sealed(gconstpointer content, const char *digest) {
  return g_strdup_printf("%s%s", digest != NULL ? digest : "", (const char *)content);
}

static void
a_document_is_sealed_by_the_rest_of_it(void) {
  g_autofree char *digest = NULL, *right = NULL, *other = NULL;
  g_autofree char *text = demur_sha256_seal(write_sealed, "abc", &digest);
  g_assert_cmpstr(digest, ==, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  g_assert_cmpstr(text, ==, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015adabc");
  g_assert_true(demur_sha256_is_sealed(write_sealed, "abc", digest, &right));
  g_assert_cmpstr(right, ==, digest);
  g_assert_false(demur_sha256_is_sealed(write_sealed, "abd", digest, &other));
  g_assert_cmpstr(other, !=, digest);
}

static void
any_length_in_any_pieces_is_as_glib_says(void) {
  guint8 bytes[517];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (guint8)(i * 37 + i / 7);
  for (size_t length = 0; length <= sizeof bytes; length++) {
    g_autofree char *right = g_compute_checksum_for_data(G_CHECKSUM_SHA256, bytes, length);
    for (size_t step = 1; step <= 130; step += 43) {
      g_autofree char *hex = hex_of(bytes, length, step);
      g_assert_cmpstr(hex, ==, right);
    }
  }
}

static void
framed_values_cannot_run_together(void) {
  const double zeros[] = {0.0, -0.0}, nans[] = {NAN, -NAN};
  guint8 digests[5][DEMUR_SHA256_BYTES];
  DemurSha256 sha;
  static const char *const pairs[][2] = {{"ab", "c"}, {"a", "bc"}, {"abc", ""}, {"abc", NULL}};
  for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
    demur_sha256_init(&sha);
    demur_sha256_add_text(&sha, pairs[i][0]);
    demur_sha256_add_text(&sha, pairs[i][1]);
    demur_sha256_finish(&sha, digests[i]);
    for (size_t k = 0; k < i; k++)
      g_assert_true(memcmp(digests[i], digests[k], DEMUR_SHA256_BYTES) != 0);
  }
  for (int i = 0; i < 2; i++) {
    demur_sha256_init(&sha);
    demur_sha256_add_doubles(&sha, &zeros[i], 1);
    demur_sha256_add_doubles(&sha, &nans[i], 1);
    demur_sha256_finish(&sha, digests[i]);
  }
  g_assert_true(memcmp(digests[0], digests[1], DEMUR_SHA256_BYTES) == 0);
}

static void
add_texts(DemurSha256 *sha, const char *first, const char *second) {
  demur_sha256_add_text(sha, first);
  demur_sha256_add_text(sha, second);
}

static char *
digest_of_texts(const char *first, const char *second) {
  DemurSha256 sha;
  demur_sha256_init(&sha);
  add_texts(&sha, first, second);
  return demur_sha256_finish_hex(&sha);
}

/* All of these concatenate to the same or nearly the same bytes; all must differ. */
static void
neighbours_do_not_run_together(void) {
  static const char *const pairs[][2] = {{"ab", "c"},   {"a", "bc"},   {"abc", ""}, {"", "abc"},
                                         {"abc", NULL}, {NULL, "abc"}, {"", ""},    {"", NULL},
                                         {NULL, ""},    {NULL, NULL}};
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (size_t r = 0; r < G_N_ELEMENTS(pairs); r++)
    g_assert_true(g_hash_table_add(seen, digest_of_texts(pairs[r][0], pairs[r][1])));
  g_autofree char *again = digest_of_texts("ab", "c");
  g_assert_true(g_hash_table_contains(seen, again));
}

/* SHA-256 of the bytes 01 00 .. 00 (the length, eight bytes) 61, by coreutils' sha256sum. */
static void
framing_is_a_little_endian_length(void) {
  DemurSha256 sha;
  demur_sha256_init(&sha);
  demur_sha256_add_text(&sha, "a");
  g_autofree char *ours = demur_sha256_finish_hex(&sha);
  static const guchar bytes[] = {1, 0, 0, 0, 0, 0, 0, 0, 'a'};
  g_autofree char *expected = g_compute_checksum_for_data(G_CHECKSUM_SHA256, bytes, sizeof bytes);
  g_assert_cmpstr(ours, ==, expected);
  g_assert_cmpstr(expected, ==, "ae6121c88ba555f64c3d812123eb799d128015541f850c5e9bf1d54c08ad8481");
}

static void
numbers_are_told_apart(void) {
  const double a[] = {1, 2}, b[] = {1, -0.0}, c[] = {1, 0.0};
  const float f[] = {1, 2};
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (int k = 0; k < 6; k++) {
    DemurSha256 sha;
    demur_sha256_init(&sha);
    switch (k) {
    case 0:
      demur_sha256_add_bytes(&sha, a, 2 * sizeof(double));
      break;
    case 1: /* one frame of two is not two frames of one */
      demur_sha256_add_bytes(&sha, a, sizeof(double));
      demur_sha256_add_bytes(&sha, a + 1, sizeof(double));
      break;
    case 2:
      demur_sha256_add_bytes(&sha, b, 2 * sizeof(double));
      break;
    case 3:
      demur_sha256_add_bytes(&sha, c, 2 * sizeof(double));
      break;
    case 4:
      demur_sha256_add_bytes(&sha, f, 2 * sizeof(float));
      break;
    case 5:
      demur_sha256_add_bytes(&sha, NULL, 0 * sizeof(double));
      break;
    }
    g_assert_true(g_hash_table_add(seen, demur_sha256_finish_hex(&sha)));
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/sha256/examples-of-the-standard", examples_of_the_standard);
  g_test_add_func("/sha256/any-length", any_length_in_any_pieces_is_as_glib_says);
  g_test_add_func("/sha256/sealed-document", a_document_is_sealed_by_the_rest_of_it);
  g_test_add_func("/sha256/framed-values", framed_values_cannot_run_together);
  g_test_add_func("/base/sha256/neighbours", neighbours_do_not_run_together);
  g_test_add_func("/base/sha256/framing", framing_is_a_little_endian_length);
  g_test_add_func("/base/sha256/numbers", numbers_are_told_apart);
  return g_test_run();
}
