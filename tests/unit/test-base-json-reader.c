/* The checked JSON reader: what the writer wrote comes back, and everything else is refused by
 * name. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/json-writer.h"
#include "base/memory.h"
#include "base/processor.h"
#include "support/support.h"

static JsonParser *
parse(const char *text) {
  JsonParser *parser = json_parser_new_immutable();
  g_autoptr(GError) error = NULL;
  json_parser_load_from_data(parser, text, -1, &error);
  g_assert_no_error(error);
  return parser;
}

static void
written_values_come_back_bit_for_bit(void) {
  const float floats[] = {0.1f, -0.0f, 1e-45f, 3.4028235e38f, 5.0f};
  const double doubles[] = {0.1, 1e-308, -7.0, 12345678.875};
  for (size_t n = 0; n <= G_N_ELEMENTS(floats); n++) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_floats_base64(json, "floats", floats, n);
    demur_json_doubles(json, "doubles", doubles, G_N_ELEMENTS(doubles));
    demur_json_end_object(json);
    g_autofree char *text = demur_json_finish(json);
    g_autoptr(JsonParser) parser = parse(text);
    JsonObject *object = json_node_get_object(json_parser_get_root(parser));
    DEMUR_AUTO_ALIGNED float *read = NULL;
    DEMUR_AUTO_ALIGNED double *numbers = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(demur_json_read_floats_base64(object, "floats", n, &read, &error));
    g_assert_true(memcmp(read, floats, n * sizeof(float)) == 0);
    g_assert_true(demur_json_read_doubles(object, "doubles", G_N_ELEMENTS(doubles), -INFINITY,
                                          INFINITY, &numbers, &error));
    g_assert_true(memcmp(numbers, doubles, sizeof(doubles)) == 0);
    DEMUR_AUTO_ALIGNED float *other = NULL;
    g_assert_false(demur_json_read_floats_base64(object, "floats", n + 1, &other, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_assert_null(other);
  }
}

static const char document[] =
    "{\"text\": \"x\", \"int\": 3, \"whole\": 4.0, \"half\": 0.5, \"huge\": 1e300, \"null\": null,"
    " \"yes\": true, \"object\": {}, \"array\": [1, 2], \"mixed\": [1, \"2\"],"
    " \"not64\": \"!!!!!!!!\", \"padded\": \"AAAA====\", \"nan\": \"AADAfw==\"}";

static void
each_kind_is_read_as_itself(void) {
  g_autoptr(JsonParser) parser = parse(document);
  JsonObject *object = json_node_get_object(json_parser_get_root(parser)), *member;
  JsonArray *array;
  const char *text;
  gint64 whole;
  double number;
  gboolean yes;
  g_autoptr(GError) error = NULL;
  g_assert_true(demur_json_read_string(object, "text", &text, &error));
  g_assert_cmpstr(text, ==, "x");
  g_assert_true(demur_json_read_int(object, "int", 3, 3, &whole, &error));
  g_assert_cmpint(whole, ==, 3);
  g_assert_true(demur_json_read_int(object, "whole", 0, 9, &whole, &error));
  g_assert_cmpint(whole, ==, 4);
  g_assert_true(demur_json_read_double(object, "int", 0, 9, &number, &error));
  g_assert_cmpfloat(number, ==, 3.0);
  g_assert_true(demur_json_read_double(object, "half", 0.5, 0.5, &number, &error));
  g_assert_true(demur_json_read_bool(object, "yes", &yes, &error));
  g_assert_true(yes);
  g_assert_true(demur_json_read_object(object, "object", &member, &error));
  g_assert_true(demur_json_read_array(object, "array", &array, &error));
  DEMUR_AUTO_ALIGNED guint32 *indices = NULL;
  g_assert_true(demur_json_read_indices(object, "array", 2, 1, 2, &indices, &error));
  g_assert_cmpuint(indices[1], ==, 2);
  g_assert_no_error(error);
}

static void
every_other_kind_is_refused_by_name(void) {
  g_autoptr(JsonParser) parser = parse(document);
  JsonObject *object = json_node_get_object(json_parser_get_root(parser)), *member = NULL;
  JsonArray *array = NULL;
  const char *text = NULL;
  gint64 whole = 77;
  double number = 77;
  gboolean yes = FALSE;
  double *doubles = NULL;
  float *floats = NULL;
  guint32 *indices = NULL;
  g_autoptr(JsonArray) list = json_array_new();
  json_array_add_int_element(list, 1);
#define REFUSED(name, call)                                                                        \
  G_STMT_START {                                                                                   \
    g_autoptr(GError) error = NULL;                                                                \
    g_assert_false(call);                                                                          \
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);                                         \
    g_assert_nonnull(strstr(error->message, name));                                                \
  }                                                                                                \
  G_STMT_END
  REFUSED("absent", demur_json_read_string(object, "absent", &text, &error));
  REFUSED("int", demur_json_read_string(object, "int", &text, &error));
  REFUSED("null", demur_json_read_double(object, "null", 0, 1, &number, &error));
  REFUSED("text", demur_json_read_double(object, "text", 0, 1, &number, &error));
  REFUSED("half", demur_json_read_double(object, "half", 0.6, 1, &number, &error));
  REFUSED("half", demur_json_read_int(object, "half", 0, 1, &whole, &error));
  REFUSED("huge", demur_json_read_int(object, "huge", 0, G_MAXINT64, &whole, &error));
  REFUSED("int", demur_json_read_int(object, "int", 4, 9, &whole, &error));
  REFUSED("int", demur_json_read_bool(object, "int", &yes, &error));
  REFUSED("array", demur_json_read_object(object, "array", &member, &error));
  REFUSED("object", demur_json_read_array(object, "object", &array, &error));
  REFUSED("list[0]", demur_json_read_element(list, 0, "list", &member, &error));
  REFUSED("list[1]", demur_json_read_element(list, 1, "list", &member, &error));
  REFUSED("array", demur_json_read_doubles(object, "array", 3, 0, 9, &doubles, &error));
  REFUSED("array[1]", demur_json_read_doubles(object, "array", 2, 0, 1, &doubles, &error));
  REFUSED("mixed[1]", demur_json_read_doubles(object, "mixed", 2, 0, 9, &doubles, &error));
  REFUSED("mixed[1]", demur_json_read_indices(object, "mixed", 2, 0, 9, &indices, &error));
  REFUSED("array[1]", demur_json_read_indices(object, "array", 2, 0, 1, &indices, &error));
  REFUSED("not64", demur_json_read_floats_base64(object, "not64", 1, &floats, &error));
  REFUSED("padded", demur_json_read_floats_base64(object, "padded", 1, &floats, &error));
  REFUSED("nan", demur_json_read_floats_base64(object, "nan", 1, &floats, &error));
  REFUSED("text", demur_json_read_floats_base64(object, "text", G_MAXSIZE / 4, &floats, &error));
  g_assert_cmpint(whole, ==, 77);
  g_assert_cmpfloat(number, ==, 77);
  g_assert_true(doubles == NULL && floats == NULL && indices == NULL && text == NULL);
}

/* 64 levels are read, 65 are not; brackets within texts do not count; what could hide the depth, a
 * comment or another kind of quote, is refused. */
static void
nesting_is_bounded(void) {
  for (size_t depth = 63; depth <= 65; depth++) {
    g_autofree char *open = g_strnfill(depth, '['), *close = g_strnfill(depth, ']');
    g_autofree char *text = g_strconcat(open, close, NULL);
    g_autoptr(JsonParser) parser = json_parser_new_immutable();
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(demur_json_load(parser, text, -1, &error), ==, depth <= 64);
    if (depth > 64)
      g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  }
  g_autofree char *brackets = g_strnfill(1000, '[');
  g_autofree char *harmless = g_strconcat("{\"a\\\"/'#\": \"", brackets, "\"}", NULL);
  g_autoptr(JsonParser) parser = json_parser_new_immutable();
  g_autoptr(GError) none = NULL;
  g_assert_true(demur_json_load(parser, harmless, -1, &none));
  g_assert_no_error(none);
  g_autofree char *deep = g_strnfill(200000, '[');
  static const char *const before[] = {"",      "/*\"*/", "//\"\n",
                                       "#\"\n", "'\"'",   "{\"a\": '\"', \"b\": "};
  for (size_t b = 0; b < G_N_ELEMENTS(before); b++) {
    g_autofree char *text = g_strconcat(before[b], deep, NULL);
    g_autoptr(GError) error = NULL;
    g_assert_false(demur_json_load(parser, text, -1, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
  }
}

/* json-glib ends at a NUL without a word, wherever it stands: what is behind would be in no digest, and be sent on
 * with a document that is sound. Its place is told, from 1. */
static void
a_nul_is_refused_at_its_place(void) {
  static const struct {
    const char *text;
    size_t length, place;
  } cases[] = {
      {"{\"a\": 1}\0{\"a\": 2}", 17, 9},
      {"{\"a\": 1}\0", 9, 9},
      {"{\"a\": 1}\n\0\0 more", 16, 10},
      {"{\"a\0\": 1}", 9, 4},
      {"{\"a\\\0\": 1}", 10, 5},
      {"\0{\"a\": 1}", 9, 1},
      {"{\"a\"\0: 1}", 9, 5},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(JsonParser) parser = json_parser_new_immutable();
    g_autoptr(GError) error = NULL, of_tree = NULL;
    g_assert_false(demur_json_load(parser, cases[i].text, (gssize)cases[i].length, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_autofree char *place = g_strdup_printf("byte %zu: ", cases[i].place);
    g_assert_true(g_str_has_prefix(error->message, place));
    g_assert_null(demur_json_tree(cases[i].text, (gssize)cases[i].length, &of_tree));
    g_assert_error(of_tree, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_assert_cmpstr(of_tree->message, ==, error->message);
  }
}

/* Before they are parsed: json-glib takes some hundred bytes for each. */
static void
values_are_bounded(void) {
  static const char *const values[] = {"0,", "[],", "{},"};
  for (size_t v = 0; v < G_N_ELEMENTS(values); v++) {
    g_autoptr(GString) text = g_string_new("[");
    for (size_t i = 0; i <= (size_t)1 << 24; i++)
      g_string_append(text, values[v]);
    g_string_append(text, "0]");
    g_autoptr(JsonParser) parser = json_parser_new_immutable();
    g_autoptr(GError) error = NULL;
    g_assert_false(demur_json_load(parser, text->str, (gssize)text->len, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_assert_nonnull(strstr(error->message, "16777216 values"));
  }
}

/* What a workspace keeps as JSON may be anybody's text. */
static void
documents_alone_are_parsed(void) {
  g_autofree char *deep = g_strnfill(100000, '[');
  const char *const none[] = {NULL, "", "[", "{\"a\":}", deep, "[1] // a word"};
  for (size_t i = 0; i < G_N_ELEMENTS(none); i++)
    g_assert_null(demur_json_parse(none[i]));
  g_autoptr(JsonNode) node = demur_json_parse("\"text\"");
  g_assert_cmpstr(json_node_get_string(node), ==, "text");
}

/* json-glib takes the last of several values for the whole, so what one digest or form was looked for in would not be what is used. */
static void
what_stands_behind_a_document_is_refused(void) {
  static const struct {
    const char *text;
    guint byte; /* where it begins */
  } refused[] = {
      {"{\"a\": 1}{\"a\": 2}", 9},
      {"{\"a\": 1}\n\n{\"a\": 2}\n", 11},
      {"[1] [2]", 5},
      {"{} x", 4},
      {"{\"a\": [\"}{\"]} \"b\"", 15},
      {"[[]] 1", 6},
      {"1 [2]", 3},
      {"\"a\" {}", 5},
      {"{}]", 3},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
    g_autoptr(JsonParser) parser = json_parser_new_immutable();
    g_autoptr(GError) error = NULL;
    g_assert_false(demur_json_load(parser, refused[i].text, -1, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT);
    g_autofree char *place = g_strdup_printf("byte %u: the document ends before", refused[i].byte);
    if (strstr(error->message, place) == NULL)
      g_error("%s: \"%s\" lacks \"%s\"", refused[i].text, error->message, place);
    g_autoptr(GError) again = NULL;
    g_assert_null(demur_json_tree(refused[i].text, -1, &again));
    g_assert_cmpstr(again->message, ==, error->message);
  }
  static const char *const whole[] = {"{}\n", " \t\r\n[1, {\"a\": []}] \n\n", "[{}, {}, [], []]"};
  for (size_t i = 0; i < G_N_ELEMENTS(whole); i++) {
    g_autoptr(JsonParser) parser = json_parser_new_immutable();
    g_autoptr(GError) error = NULL;
    g_assert_true(demur_json_load(parser, whole[i], -1, &error));
    g_assert_no_error(error);
  }
}

/* Texts of more than a block of letters, of each length that its end can have, by each of the two ways in which a processor joins them;
 * a letter that does not belong there is told at its place, wherever it stands. */
static void
long_floats_come_back(void) {
  enum { MOST = 6200 };
  g_autofree float *floats = g_new(float, MOST);
  for (size_t i = 0; i < MOST; i++) /* all bytes, none of them of a number that is not finite */
    floats[i] = (float)((double)i * 0.37 - 700.0) * (float)(i % 7);
  for (int way = 0; way < 2; way++) {
    if (way == 1)
      demur_processor_limit(DEMUR_PROCESSOR_PLAIN);
    for (size_t n = MOST - 40; n <= MOST; n++) {
      g_autoptr(DemurJson) json = demur_json_new();
      demur_json_begin_object(json, NULL);
      demur_json_floats_base64(json, "floats", floats, n);
      demur_json_end_object(json);
      g_autofree char *text = demur_json_take(json);
      g_autoptr(JsonNode) node = demur_json_parse(text);
      DEMUR_AUTO_ALIGNED float *read = NULL;
      g_autoptr(GError) error = NULL;
      g_assert_true(
          demur_json_read_floats_base64(json_node_get_object(node), "floats", n, &read, &error));
      g_assert_true(memcmp(read, floats, n * sizeof *read) == 0);
      char *letters = strstr(text, ": \"") + 3;
      const size_t wrong = (n - (MOST - 40)) * 799;
      letters[wrong] = '-';
      g_autoptr(JsonNode) damaged = demur_json_parse(text);
      DEMUR_AUTO_ALIGNED float *none = NULL;
      g_assert_false(
          demur_json_read_floats_base64(json_node_get_object(damaged), "floats", n, &none, &error));
      g_autofree char *place = g_strdup_printf("character %zu ", wrong);
      g_assert_nonnull(strstr(error->message, place));
    }
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/json-reader/round-trip", written_values_come_back_bit_for_bit);
  g_test_add_func("/base/json-reader/kinds", each_kind_is_read_as_itself);
  g_test_add_func("/base/json-reader/refused", every_other_kind_is_refused_by_name);
  g_test_add_func("/base/json-reader/nesting", nesting_is_bounded);
  g_test_add_func("/base/json-reader/nul", a_nul_is_refused_at_its_place);
  g_test_add_func("/base/json-reader/values", values_are_bounded);
  g_test_add_func("/base/json-reader/documents", documents_alone_are_parsed);
  g_test_add_func("/base/json-reader/behind", what_stands_behind_a_document_is_refused);
  /* last: it limits the processor */
  g_test_add_func("/base/json-reader/long-floats", long_floats_come_back);
  return g_test_run();
}
