/* The tree that is read fast is json-glib's, of whatever text: of documents written by hand, and of thousands that
 * differ from them by a byte; and what is refused is refused in the same words. */
#include <glib.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/json-tree.h"
#include "base/json-writer.h"
#include "base/memory.h"

/* own: the text may be written to. It is as it was afterwards. */
static JsonNode *
tree_of(const char *text, size_t length, gboolean own, GError **error) {
  if (!own)
    return demur_json_tree(text, (gssize)length, error);
  g_autofree char *copy = g_malloc(length + 1);
  memcpy(copy, text, length);
  copy[length] = '\0';
  JsonNode *tree = demur_json_tree_of_own(copy, length, NULL, error);
  g_assert_true(memcmp(copy, text, length) == 0);
  return tree;
}

static void
check_one(const char *text, size_t length, gboolean own) {
  g_autoptr(GError) error = NULL, expected_error = NULL;
  g_autoptr(JsonNode) tree = tree_of(text, length, own, &error);
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

static void
check(const char *text, size_t length) {
  check_one(text, length, FALSE);
  check_one(text, length, TRUE);
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

/* A long string stays where it is, and its floats are those of a copy of it; a short one is in the tree. */
static void
long_strings_may_stay_in_the_text(void) {
  const size_t n = 40000;
  g_autofree float *values = g_new(float, n);
  for (size_t i = 0; i < n; i++)
    values[i] = (float)i / 3.0f;
  g_autoptr(DemurJson) json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "short", "a \"b\"");
  demur_json_floats_base64(json, "long", values, n);
  demur_json_floats_base64(json, "few", values, 3);
  demur_json_end_object(json);
  g_autofree char *text = demur_json_take(json);
  g_autoptr(DemurJsonTexts) texts = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) tree = demur_json_tree_of_own(text, strlen(text), &texts, &error);
  g_assert_no_error(error);
  JsonObject *object = json_node_get_object(tree);
  gsize length;
  const char *left = demur_json_texts_find(texts, json_object_get_member(object, "long"), &length);
  g_assert_true(left > text && left < text + strlen(text));
  g_assert_cmpuint(length, ==, (4 * n + 2) / 3 * 4);
  g_assert_cmpstr(json_object_get_string_member(object, "long"), ==, "");
  g_assert_null(demur_json_texts_find(texts, json_object_get_member(object, "few"), &length));
  g_assert_cmpstr(json_object_get_string_member(object, "short"), ==, "a \"b\"");
  DEMUR_AUTO_ALIGNED float *read = NULL, *few = NULL, *none = NULL;
  g_assert_true(demur_json_read_floats_base64_of(object, texts, "long", n, &read, &error));
  g_assert_true(memcmp(read, values, n * sizeof *read) == 0);
  g_assert_true(demur_json_read_floats_base64_of(object, texts, "few", 3, &few, &error));
  g_assert_true(memcmp(few, values, 3 * sizeof *few) == 0);
  /* Who doesn't know of what was left out finds nothing, and says so. */
  g_assert_false(demur_json_read_floats_base64(object, "long", n, &none, &error));
  g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
}

/* Left to json-glib, nothing is left out. */
static void
what_is_not_plain_is_whole(void) {
  g_autofree char *many = g_strnfill(70000, 'a');
  g_autofree char *text = g_strdup_printf("[\"%s\", \"\\u0041\"]", many);
  g_autoptr(DemurJsonTexts) texts = NULL;
  g_autoptr(JsonNode) tree = demur_json_tree_of_own(text, strlen(text), &texts, NULL);
  JsonArray *array = json_node_get_array(tree);
  gsize length;
  g_assert_null(demur_json_texts_find(texts, json_array_get_element(array, 0), &length));
  g_assert_cmpstr(json_array_get_string_element(array, 0), ==, many);
  g_assert_cmpstr(json_array_get_string_element(array, 1), ==, "A");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/json-tree/tree", the_tree_is_json_glibs);
  g_test_add_func("/base/json-tree/byte", a_byte_that_differs_is_judged_alike);
  g_test_add_func("/base/json-tree/deep", deep_and_long_texts_are_refused_alike);
  g_test_add_func("/base/json-tree/escapes", a_text_of_escapes_is_read_once);
  g_test_add_func("/base/json-tree/long", long_strings_may_stay_in_the_text);
  g_test_add_func("/base/json-tree/not-plain", what_is_not_plain_is_whole);
  return g_test_run();
}
