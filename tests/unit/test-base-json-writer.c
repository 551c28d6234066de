/* Canonical JSON: the exact bytes, escapes, and that json-glib reads the same values back. */
#include <math.h>
#include <string.h>

#include "base/json-reader.h"
#include "base/json-writer.h"
#include "support/support.h"

/* Written out by hand from the header's rules. */
static void
document_has_these_bytes(void) {
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "text", "a");
  demur_json_string(json, "none", NULL);
  demur_json_int(json, "int", G_MININT64);
  demur_json_double(json, "half", 0.5);
  demur_json_double(json, "nan", NAN);
  demur_json_double(json, "inf", -INFINITY);
  demur_json_bool(json, "yes", TRUE);
  demur_json_bool(json, "no", 0);
  demur_json_begin_object(json, "empty");
  demur_json_end_object(json);
  demur_json_begin_array(json, "array");
  demur_json_int(json, NULL, 1);
  demur_json_begin_array(json, NULL);
  demur_json_end_array(json);
  demur_json_end_array(json);
  const double values[] = {1, NAN, 0.1};
  demur_json_doubles(json, "doubles", values, 3);
  demur_json_doubles(json, "nothing", NULL, 0);
  demur_json_null(json, "null");
  demur_json_end_object(json);
  g_autofree char *text = demur_json_finish(json);
  g_assert_cmpstr(text, ==,
                  "{\n"
                  " \"text\": \"a\",\n"
                  " \"none\": null,\n"
                  " \"int\": -9223372036854775808,\n"
                  " \"half\": 0.5,\n"
                  " \"nan\": null,\n"
                  " \"inf\": null,\n"
                  " \"yes\": true,\n"
                  " \"no\": false,\n"
                  " \"empty\": {},\n"
                  " \"array\": [\n"
                  "  1,\n"
                  "  []\n"
                  " ],\n"
                  " \"doubles\": [1, null, 0.1],\n"
                  " \"nothing\": [],\n"
                  " \"null\": null\n"
                  "}\n");
}

/* RFC 8259, section 7: quotation mark, reverse solidus and control characters must be escaped;
 * invalid UTF-8 may not stand in a document at all. Each text comes back through json-glib. */
static void
every_text_is_escaped_and_comes_back(void) {
  static const struct {
    const char *text, *escaped;
  } rows[] = {
      {"", "\"\""},
      {"plain", "\"plain\""},
      {"\"", "\"\\\"\""},
      {"\\", "\"\\\\\""},
      {"\n\t\r", "\"\\n\\t\\r\""},
      {"\b\f\x01\x1f", "\"\\u0008\\u000c\\u0001\\u001f\""},
      {"\x7f", "\"\\u007f\""},
      {"</script>", "\"</script>\""},
      {"é 中 🫁", "\"é 中 🫁\""},
      {"\\u0041", "\"\\\\u0041\""},
  };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    DemurJson *json = demur_json_new();
    demur_json_begin_object(json, NULL);
    demur_json_string(json, rows[r].text, rows[r].text); /* a key is escaped alike */
    demur_json_end_object(json);
    g_autofree char *text = demur_json_finish(json);
    g_autofree char *expected =
        g_strdup_printf("{\n %s: %s\n}\n", rows[r].escaped, rows[r].escaped);
    g_assert_cmpstr(text, ==, expected);
    g_autoptr(JsonParser) parser = json_parser_new();
    g_autoptr(GError) error = NULL;
    json_parser_load_from_data(parser, text, -1, &error);
    g_assert_no_error(error);
    JsonObject *object = json_node_get_object(json_parser_get_root(parser));
    g_assert_cmpstr(json_object_get_string_member(object, rows[r].text), ==, rows[r].text);
  }
}

static void
invalid_utf8_becomes_valid(void) {
  static const char *const texts[] = {"\xff", "a\xc3", "\xc0\xaf", "\xed\xa0\x80",
                                      "\xf5\x80\x80\x80"};
  for (size_t r = 0; r < G_N_ELEMENTS(texts); r++) {
    DemurJson *json = demur_json_new();
    demur_json_string(json, NULL, texts[r]);
    g_autofree char *text = demur_json_finish(json);
    g_assert_true(g_utf8_validate(text, -1, NULL));
  }
}

/* A document read and written again must have the same bytes, or its digest would not match: so
 * each double must come back bit for bit, -0 too. */
static void
doubles_come_back_bit_for_bit(void) {
  static const double values[] = {0.0,   -0.0,   1.0,   -1.0,   1e15, 1e16, 123456789012345678.0,
                                  1e300, 5e-324, 0.1,   1e-5,   -2.5, 1e21, 9007199254740993.0,
                                  1e18,  9.3e18, -1e19, 1.8e19, 3e-7};
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_doubles(json, "values", values, G_N_ELEMENTS(values));
  for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
    g_autofree char *key = g_strdup_printf("v%zu", i);
    demur_json_double(json, key, values[i]);
  }
  demur_json_end_object(json);
  g_autofree char *text = demur_json_finish(json);
  g_autoptr(JsonParser) parser = json_parser_new();
  g_autoptr(GError) error = NULL;
  json_parser_load_from_data(parser, text, -1, &error);
  g_assert_no_error(error);
  JsonObject *object = json_node_get_object(json_parser_get_root(parser));
  double *read;
  g_assert_true(demur_json_read_doubles(object, "values", G_N_ELEMENTS(values), -INFINITY, INFINITY,
                                        &read, &error));
  for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
    if (memcmp(&read[i], &values[i], sizeof(double)) != 0)
      g_error("%a came back as %a", values[i], read[i]);
    g_autofree char *key = g_strdup_printf("v%zu", i);
    double value;
    g_assert_true(demur_json_read_double(object, key, -INFINITY, INFINITY, &value, &error));
    if (memcmp(&value, &values[i], sizeof(double)) != 0)
      g_error("%a came back as %a", values[i], value);
  }
  g_aligned_free(read);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/json-writer/bytes", document_has_these_bytes);
  g_test_add_func("/base/json-writer/escapes", every_text_is_escaped_and_comes_back);
  g_test_add_func("/base/json-writer/invalid", invalid_utf8_becomes_valid);
  g_test_add_func("/base/json-writer/doubles", doubles_come_back_bit_for_bit);
  return g_test_run();
}
