/* The tree that is read fast is json-glib's, of whatever text: of documents written by hand, and of thousands that
 * differ from them by a byte; and what is refused is refused in the same words. */
#include <glib.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "base/json-reader.h"
#include "base/json-tree.h"

static void
check(const char *text, size_t length) {
  g_autoptr(GError) error = NULL, expected_error = NULL;
  g_autoptr(JsonNode) tree = demur_json_tree(text, (gssize)length, &error);
  g_autoptr(JsonParser) parser = json_parser_new();
  g_autoptr(JsonNode) expected = demur_json_load(parser, text, (gssize)length, &expected_error)
                                     ? json_parser_steal_root(parser)
                                     : NULL;
  g_assert_cmpstr(error != NULL ? error->message : NULL, ==,
                  expected_error != NULL ? expected_error->message : NULL);
  g_assert_true((tree == NULL) == (expected == NULL));
  if (tree == NULL)
    return;
  g_autofree char *written = json_to_string(tree, FALSE);
  g_autofree char *expected_written = json_to_string(expected, FALSE);
  g_assert_cmpstr(written, ==, expected_written);
  g_assert_true(json_node_equal(tree, expected));
}

static const char *const documents[] = {
    "{\"a\": [1, -2, 0, -0, 3.5, -1e-05, 2E+3, 0.1, 123456789012345678, 17.000000000000001], "
    "\"b\": {\"c\": null, \"d\": true, \"e\": false, \"\xc3\xbc\": \"\xe2\x82\xac uro\"}}",
    "[\"plain text that is longer than a word\", \"a \\\"quote\\\" and \\\\ \\/ \\b\\f\\n\\r\\t\", \"\\u00e4\", \"\"]",
    " [ ] ",
    "{}",
    "[[[]], {\"a\": {\"a\": 1, \"a\": 2}}]",
    "[1234567890123456789, 99999999999999999999, 1e400, 4.9406564584124654e-324, 0.30000000000000004]",
};

static const char *const others[] = {
    "",           "  ",          "1",         "\"a\"",     "null",        "[1,]",
    "[,1]",       "{\"a\":1,}",  "{\"\": 1}", "{a: 1}",    "['a']",       "[01]",
    "[+1]",       "[.5]",        "[1.]",      "[1e]",      "[0x10]",      "[tru]",
    "[truer]",    "[1] 2",       "[1",        "{\"a\" 1}", "[\"a",        "[\"a\\",
    "[\"a\tb\"]", "[\"\\u12\"]", "[\"\\x\"]", "// c\n[1]", "[1 /* c */]", "[NaN]",
    "[-]",        "[- 1]",
};

static void
the_tree_is_json_glibs(void) {
  for (size_t i = 0; i < G_N_ELEMENTS(documents); i++)
    check(documents[i], strlen(documents[i]));
  for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
    check(others[i], strlen(others[i]));
}

static void
a_byte_that_differs_is_judged_alike(void) {
  static const char bytes[] = "\"\\{}[],:0-.eE u/'#\x01\x7f\xff";
  for (size_t i = 0; i < G_N_ELEMENTS(documents); i++)
    for (size_t at = 0; documents[i][at] != '\0'; at++) {
      check(documents[i], at);
      g_autofree char *changed = g_strdup(documents[i]);
      for (size_t b = 0; bytes[b] != '\0'; b++) {
        changed[at] = bytes[b];
        check(changed, strlen(changed));
      }
    }
}

static void
deep_and_long_texts_are_refused_alike(void) {
  g_autoptr(GString) deep = g_string_new(NULL);
  for (guint i = 0; i < 64; i++)
    g_string_append_c(deep, '[');
  for (guint i = 0; i < 64; i++)
    g_string_append_c(deep, ']');
  check(deep->str, deep->len);
  g_string_prepend(deep, "[");
  g_string_append(deep, "]");
  check(deep->str, deep->len);
}

/* Sixteen million escapes in one text: an hour where each is looked at to the end of the text, a second where
 * its end is looked for once. */
static void
a_text_of_escapes_is_read_once(void) {
  const size_t n = (size_t)16 << 20;
  g_autofree char *text = g_malloc(2 * n + 4);
  for (size_t k = 0; k < 2; k++) {
    text[0] = '[';
    text[1] = '"';
    for (size_t i = 0; i < n; i++) {
      text[2 + 2 * i] = '\\';
      text[3 + 2 * i] = k == 0 ? 'n' : '"';
    }
    text[2 * n + 2] = '"';
    text[2 * n + 3] = ']';
    g_autoptr(JsonNode) tree = demur_json_tree(text, (gssize)(2 * n + 4), NULL);
    g_assert_nonnull(tree);
    const char *read = json_array_get_string_element(json_node_get_array(tree), 0);
    g_assert_cmpuint(strlen(read), ==, n);
    g_assert_cmpuint(strspn(read, k == 0 ? "\n" : "\""), ==, n);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/json-tree/tree", the_tree_is_json_glibs);
  g_test_add_func("/base/json-tree/byte", a_byte_that_differs_is_judged_alike);
  g_test_add_func("/base/json-tree/deep", deep_and_long_texts_are_refused_alike);
  g_test_add_func("/base/json-tree/escapes", a_text_of_escapes_is_read_once);
  return g_test_run();
}
