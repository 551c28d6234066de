/* Numbers in sentences of another language. Right values: by hand. */
#include "base/translate.h"

/* A language that writes 1.337,5 and leaves every other text as it is. */
static const char *
with_comma(const char *text) {
  return g_str_equal(text, "1,337.5") ? "1.337,5" : text;
}

static void
test_the_mark_before_decimals_is_the_readers(void) {
  static const struct {
    DemurTranslate translate;
    const char *format;
    double value;
    const char *text;
  } rows[] = {{NULL, "%.3g", 0.0134, "0.0134"},
              {with_comma, "%.3g", 0.0134, "0,0134"},
              {with_comma, "%.2f", -1.5, "-1,50"},
              {with_comma, "%.0f", 35.0, "35"},
              {with_comma, "%.3g", 1.5e-7, "1,5e-07"}};
  for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
    g_autofree char *text =
        demur_translate_number(rows[r].translate, rows[r].format, rows[r].value);
    g_assert_cmpstr(text, ==, rows[r].text);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/translate/mark", test_the_mark_before_decimals_is_the_readers);
  return g_test_run();
}
