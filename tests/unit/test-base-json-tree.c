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
#include "support/support.h"

/* own: the text may be written to. It is as it was afterwards. */
static JsonNode *
tree_of(const char *text, size_t length, gboolean own, GError **error) {
  if (!own)
    return demur_json_tree(text, (gssize)length, error);
  g_autofree char *copy = g_malloc(length + 1);
  memcpy(copy, text, length);
  copy[length] = '\0';
  JsonNode *tree = demur_json_tree_of_own(copy, length, NULL, NULL, error);
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

/* Sixteen million escapes in one text (three where memory is looked at): an hour where each is looked at to the end of the text, a second where
 * its end is looked for once. */
static void
a_text_of_escapes_is_read_once(void) {
  const size_t n = (size_t)demur_test_repeats(16, 16) << 20;
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

static const char *const apart_names[] = {"text", "numbers", NULL};

/* What is named is not in the tree, and its values are those that the tree of the same text has; whatever is no string and no array of
 * numbers is in the tree though it is named so. */
static void
members_may_stay_apart(void) {
  static const float values[] = {0.25f, -1.5f, 3e30f};
  g_autoptr(DemurJson) json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "short", "a \"b\"");
  demur_json_floats_base64(json, "text", values, 3);
  demur_json_end_object(json);
  g_autofree char *begin = demur_json_take(json);
  begin[strlen(begin) - 2] = '\0'; /* the end of the object */
  g_autofree char *text = g_strconcat(
      begin,
      ", \"numbers\": [0, -7, 511, 512, 4294967295, 0.1, 0.30000000000000004, 2.50, 1e2 , -0, "
      "123456789012345678, 1.7976931348623157e308],\n"
      "\"in\": {\"numbers\": [ ], \"text\": 7, \"whole\": [1, 2]},"
      "\"not\": [{\"numbers\": [1, \"a\"]}, {\"numbers\": [[1]]}, {\"numbers\": {\"a\": 1}}, "
      "{\"numbers\": [1, 2, null]}, {\"text\": \"with \\\\ escape\"}]}",
      NULL);
  g_autofree char *before = g_strdup(text);
  g_autoptr(JsonNode) whole = demur_json_tree(text, -1, NULL);
  g_autoptr(DemurJsonApart) apart = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) tree =
      demur_json_tree_of_own(text, strlen(text), apart_names, &apart, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(text, ==, before);
  JsonObject *object = json_node_get_object(tree), *expected = json_node_get_object(whole);
  gsize length;
  const char *left = demur_json_apart_text(apart, json_object_get_member(object, "text"), &length);
  g_assert_true(left > text && left < text + strlen(text));
  g_assert_cmpuint(length, ==, 16);
  g_assert_true(memcmp(left, json_object_get_string_member(expected, "text"), length) == 0);
  g_assert_cmpstr(json_object_get_string_member(object, "text"), ==, "");
  g_assert_null(demur_json_apart_text(apart, json_object_get_member(object, "short"), &length));
  g_assert_null(demur_json_apart_text(apart, json_object_get_member(object, "numbers"), &length));
  g_assert_null(demur_json_apart_text(NULL, json_object_get_member(object, "text"), &length));
  g_assert_cmpstr(json_object_get_string_member(object, "short"), ==, "a \"b\"");

  JsonArray *in_tree = json_object_get_array_member(expected, "numbers");
  const double *numbers =
      demur_json_apart_numbers(apart, json_object_get_member(object, "numbers"), &length);
  g_assert_cmpuint(length, ==, json_array_get_length(in_tree));
  for (guint i = 0; i < length; i++)
    g_assert_true(memcmp(&numbers[i], &(double){json_array_get_double_element(in_tree, i)},
                         sizeof(double)) == 0);
  g_assert_cmpuint(json_array_get_length(json_object_get_array_member(object, "numbers")), ==, 0);
  g_assert_null(demur_json_apart_numbers(apart, json_object_get_member(object, "text"), &length));

  JsonObject *in = json_object_get_object_member(object, "in");
  g_assert_nonnull(demur_json_apart_numbers(apart, json_object_get_member(in, "numbers"), &length));
  g_assert_cmpuint(length, ==, 0);
  g_assert_true(json_node_equal(json_object_get_member(object, "not"),
                                json_object_get_member(expected, "not")));
  g_assert_cmpuint(json_array_get_length(json_object_get_array_member(in, "whole")), ==, 2);
}

/* The same values, and the same refusals in the same words, by those who ask for what is apart. */
static void
what_is_apart_is_read_alike(void) {
  static const struct {
    const char *numbers;
    size_t n;
  } rows[] = {{"[1, 2, 3]", 3},       {"[1, 2, 3]", 2},  {"[]", 0},
              {"[1.5, 2]", 2},        {"[2.0, 0]", 2},   {"[5, -1]", 2},
              {"[1, 4294967296]", 2}, {"[1, \"2\"]", 2}, {"[1, 1e300]", 2},
              {"[1, 2, true]", 3},    {"{}", 0},         {"9", 1},
              {"[0.1, 10]", 2},       {"[11]", 1}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autofree char *text = g_strdup_printf("{\"numbers\": %s}", rows[r].numbers);
    g_autoptr(JsonNode) whole = demur_json_tree(text, -1, NULL);
    g_autoptr(DemurJsonApart) apart = NULL;
    g_autoptr(JsonNode) tree =
        demur_json_tree_of_own(text, strlen(text), apart_names, &apart, NULL);
    JsonObject *objects[] = {json_node_get_object(whole), json_node_get_object(tree)};
    double *doubles[2] = {NULL, NULL};
    guint32 *indices[2] = {NULL, NULL};
    GError *errors[2][2] = {{NULL, NULL}, {NULL, NULL}};
    for (size_t i = 0; i < 2; i++) {
      g_assert_true(demur_json_read_doubles_of(objects[i], i == 0 ? NULL : apart, "numbers",
                                               rows[r].n, -5.0, 10.0, &doubles[i],
                                               &errors[0][i]) == (errors[0][i] == NULL));
      g_assert_true(demur_json_read_indices_of(objects[i], i == 0 ? NULL : apart, "numbers",
                                               rows[r].n, 0, 10, &indices[i],
                                               &errors[1][i]) == (errors[1][i] == NULL));
    }
    g_assert_true((doubles[0] == NULL) == (doubles[1] == NULL));
    g_assert_true((indices[0] == NULL) == (indices[1] == NULL));
    if (doubles[0] != NULL)
      g_assert_true(memcmp(doubles[1], doubles[0], rows[r].n * sizeof(double)) == 0);
    if (indices[0] != NULL)
      g_assert_true(memcmp(indices[1], indices[0], rows[r].n * sizeof(guint32)) == 0);
    for (size_t e = 0; e < 2; e++) {
      if (errors[e][0] != NULL)
        g_assert_cmpstr(errors[e][1]->message, ==, errors[e][0]->message);
      g_clear_error(&errors[e][0]);
      g_clear_error(&errors[e][1]);
    }
    for (size_t i = 0; i < 2; i++) {
      g_aligned_free(doubles[i]);
      g_aligned_free(indices[i]);
    }
  }
}

/* Left to json-glib, nothing is apart. */
static void
what_is_not_plain_is_whole(void) {
  g_autofree char *text = g_strdup("{\"text\": \"abc\", \"numbers\": [1, 2], \"a\": \"\\u0041\"}");
  g_autoptr(DemurJsonApart) apart = NULL;
  g_autoptr(JsonNode) tree = demur_json_tree_of_own(text, strlen(text), apart_names, &apart, NULL);
  JsonObject *object = json_node_get_object(tree);
  gsize length;
  g_assert_null(demur_json_apart_text(apart, json_object_get_member(object, "text"), &length));
  g_assert_null(
      demur_json_apart_numbers(apart, json_object_get_member(object, "numbers"), &length));
  g_assert_cmpstr(json_object_get_string_member(object, "text"), ==, "abc");
  g_assert_cmpstr(json_object_get_string_member(object, "a"), ==, "A");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/json-tree/tree", the_tree_is_json_glibs);
  g_test_add_func("/base/json-tree/byte", a_byte_that_differs_is_judged_alike);
  g_test_add_func("/base/json-tree/deep", deep_and_long_texts_are_refused_alike);
  g_test_add_func("/base/json-tree/escapes", a_text_of_escapes_is_read_once);
  g_test_add_func("/base/json-tree/apart", members_may_stay_apart);
  g_test_add_func("/base/json-tree/apart-read", what_is_apart_is_read_alike);
  g_test_add_func("/base/json-tree/not-plain", what_is_not_plain_is_whole);
  return g_test_run();
}
