/* Numbers as text: shortest, exact both ways, and nothing but decimal numbers is read. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"
#include "support/support.h"

static double
from_bits(guint64 bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static guint64
bits_of(double value) {
  guint64 bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* By hand: the fewest digits that read back. */
static void
text_is_the_shortest(void) {
  static const struct {
    double value;
    const char *text;
  } rows[] = {
      {0.0, "0"},
      {1.0, "1"},
      {-1.5, "-1.5"},
      {0.1, "0.1"},
      {1e-5, "1e-05"},
      {0.1 + 0.2, "0.30000000000000004"},
      {1.0 / 3, "0.3333333333333333"},
      {123456789, "123456789"},
      {1e22, "1e+22"},
      {5e-324, "5e-324"}, /* the smallest subnormal */
      {1e-310, "1e-310"},
      {1.2e-320, "1.2e-320"},
      {DBL_MIN, "2.2250738585072014e-308"},
      {DBL_MAX, "1.7976931348623157e+308"},
      {NAN, "nan"},
      {INFINITY, "inf"},
      {-INFINITY, "-inf"},
  };
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    g_assert_cmpstr(demur_number_format(rows[r].value, buffer), ==, rows[r].text);
  }
}

/* Round trip, and no text with fewer digits would do: random bit patterns, all exponents and
 * subnormals among them. */
static void
every_double_comes_back(void) {
  DemurRandom random = demur_random_stream(1, DEMUR_STREAM_TEST, 0, 0, 0);
  for (int i = 0; i < 40000; i++) {
    guint64 bits = demur_random_bits(&random);
    if (i % 4 == 1)
      bits &= ~((guint64)0x7ff << 52); /* subnormal */
    else if (i % 4 == 2)
      bits = (bits & ~((guint64)0x7ff << 52)) | (guint64)(1023 - 20 + (int)(bits >> 52) % 40)
                                                    << 52; /* of ordinary size */
    const double value = i % 4 == 3 ? (double)(float)from_bits(bits) : from_bits(bits);
    if (!isfinite(value))
      continue;
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    demur_number_format(value, buffer);
    double back = 0;
    g_assert_true(demur_number_parse(buffer, strlen(buffer), &back));
    g_assert_cmphex(bits_of(back), ==, bits_of(value));
    size_t n_digits = 0, n_zeros = 0; /* significant digits, and the zeros at their end */
    for (const char *p = buffer; *p != '\0' && *p != 'e'; p++)
      if (g_ascii_isdigit(*p) && (n_digits > 0 || *p != '0')) {
        n_digits++;
        n_zeros = *p == '0' ? n_zeros + 1 : 0;
      }
    n_digits -= n_zeros;
    if (n_digits > 1) {
      char format[8], shorter[64];
      g_snprintf(format, sizeof format, "%%.%zug", n_digits - 1);
      g_ascii_formatd(shorter, sizeof shorter, format, value);
      if (g_ascii_strtod(shorter, NULL) == value)
        g_error("%s is longer than %s", buffer, shorter);
    }
  }
}

static void
other_texts_are_refused(void) {
  static const char *const refused[] = {
      "",       " ",       "nan",  "NaN", "inf",   "-inf", "Infinity", "0x10", "1,5",   "1e999",
      "-1e999", "1.2.3",   "1e",   "1e+", "e5",    ".",    "-",        "+",    "--1",   "+-1",
      "1 2",    "1x",      "1f",   "1_0", "\n1",   "1\n",  "1e5.5",    "1d5",  "\"1\"", "1;",
      "0b1",    "1.5e1e1", "-.e1", "٣",   "1\xa0", "1\r",  "1e 5",     "- 1",  "NA",    "null"};
  for (size_t r = 0; r < G_N_ELEMENTS(refused); r++) {
    double value = 42;
    if (demur_number_parse(refused[r], strlen(refused[r]), &value))
      g_error("'%s' was read as %g", refused[r], value);
    g_assert_cmpfloat(value, ==, 42); /* untouched */
  }
  double value = 42;
  g_assert_false(demur_number_parse("1\0002", 3, &value)); /* a NUL within */
  g_assert_false(demur_number_parse("1\0", 2, &value));
  g_assert_cmpfloat(value, ==, 42);
}

static void
other_whole_numbers_are_refused(void) {
  static const char *const refused[] = {"",
                                        " ",
                                        "+",
                                        "-",
                                        "1.0",
                                        "1e3",
                                        "0x1",
                                        "--5",
                                        "+-5",
                                        "-+5",
                                        "++5",
                                        "5 5",
                                        "5x",
                                        "9223372036854775808",
                                        "-9223372036854775809",
                                        "99999999999999999999999999999999"};
  for (size_t r = 0; r < G_N_ELEMENTS(refused); r++) {
    gint64 value = 42;
    if (demur_number_parse_int(refused[r], strlen(refused[r]), &value))
      g_error("'%s' was read as %" G_GINT64_FORMAT, refused[r], value);
    g_assert_cmpint(value, ==, 42);
  }
  static const struct {
    const char *text;
    gint64 value;
  } rows[] = {{"0", 0},
              {"+5", 5},
              {"-5", -5},
              {"  7\t", 7},
              {"007", 7},
              {"9223372036854775807", G_MAXINT64},
              {"-9223372036854775808", G_MININT64}};
  for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
    gint64 value = 42;
    g_assert_true(demur_number_parse_int(rows[r].text, strlen(rows[r].text), &value));
    g_assert_cmpint(value, ==, rows[r].value);
  }
}

/* Only [text, text + length) is read: nothing behind it, not even to look for its end. */
static void
length_bounds_the_text(void) {
  g_autofree char *text =
      g_memdup2("12345", 5); /* no NUL behind: a sanitizer sees a step too far */
  double value = 0;
  g_assert_true(demur_number_parse(text, 3, &value));
  g_assert_cmpfloat(value, ==, 123);
  g_assert_true(demur_number_parse(text, 5, &value));
  g_assert_cmpfloat(value, ==, 12345);
  g_assert_false(demur_number_parse(text, 0, &value));
}

/* The oracle is g_ascii_strtod, which rounds correctly; compared bit for bit. */
static void
parsing_agrees_with_strtod(void) {
  static const char *const chosen[] = {
      "-0", "-0.0", "+0", "0e5", "1.", ".5", "-.5", "1E5", "1e+05", "000.0010", "9007199254740993",
      "9007199254740992", "123456789012345", "1234567890123456", "999999999999999e22",
      "999999999999999e-22", "1e22", "1e23", "1e-22", "1e-23", "2.2250738585072011e-308",
      "2.2250738585072014e-308", "4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
      "1e-400", "1.7976931348623157e308", "0.000000000000000000000000000000000000000001",
      "100000000000000000000000000000000000000", "0.1000000000000000055511151231257827021181583404",
      "8.5", "1e0001", "1e-0001", "0e99999", "0.0e-99999", "000000000000000000000000000001e-5",
      /* halfway between two doubles, and beside it */
      "9007199254740994.999", "9007199254740995", "9007199254740995.001", "4503599627370497.5",
      "4503599627370497.500", "4503599627370498.5", "4503599627370498.499", "18014398509481990",
      "18014398509481986e0", "1125899906842624.125", "1125899906842624.375", "9223372036854775807",
      "9999999999999999999", "9999999999999999999e27", "9999999999999999999e-27", "1e-27", "1e27",
      "1e-28", "1e28", "9007199254740993e10", "9007199254740993e-10"};
  for (size_t r = 0; r < G_N_ELEMENTS(chosen); r++) {
    double value = 42;
    if (!demur_number_parse(chosen[r], strlen(chosen[r]), &value))
      g_error("'%s' was refused", chosen[r]);
    g_assert_cmphex(bits_of(value), ==, bits_of(g_ascii_strtod(chosen[r], NULL)));
  }
  DemurRandom random = demur_random_stream(2, DEMUR_STREAM_TEST, 0, 0, 0);
  for (int i = 0; i < 60000; i++) {
    g_autoptr(GString) text = g_string_new(NULL);
    const guint64 kind = demur_random_below(&random, 4);
    if (demur_random_below(&random, 2) == 0)
      g_string_append_c(text, "+-"[demur_random_below(&random, 2)]);
    const guint64 n_before = demur_random_below(&random, kind == 0 ? 4 : 20);
    const guint64 n_after = 1 + demur_random_below(&random, kind == 1 ? 4 : 20);
    for (guint64 k = 0; k < n_before; k++)
      g_string_append_c(text, (char)('0' + demur_random_below(&random, 10)));
    if (demur_random_below(&random, 4) > 0 || n_before == 0) {
      g_string_append_c(text, '.');
      for (guint64 k = 0; k < n_after; k++)
        g_string_append_c(text, (char)('0' + demur_random_below(&random, 10)));
    }
    if (kind > 0)
      g_string_append_printf(text, "%c%d", "eE"[i % 2],
                             (int)demur_random_below(&random, 641) - 340);
    const double expected = g_ascii_strtod(text->str, NULL);
    double value = 42;
    const gboolean read = demur_number_parse(text->str, text->len, &value);
    if (read != isfinite(expected))
      g_error("'%s' was %s", text->str, read ? "read" : "refused");
    if (read && bits_of(value) != bits_of(expected))
      g_error("'%s' was read as %a, not %a", text->str, value, expected);
    g_autofree char *padded = g_strdup_printf(" \t%s  ", text->str);
    double again = 42;
    g_assert_cmpint(demur_number_parse(padded, strlen(padded), &again), ==, read);
    g_assert_cmphex(bits_of(again), ==, bits_of(value));
  }
}

/* Texts of 15 to 20 digits of doubles of usual size, of what lies halfway between two of them, and one digit beside it. */
static void
many_digits_round_as_strtod_does(void) {
  DemurRandom random = demur_random_stream(3, DEMUR_STREAM_TEST, 0, 0, 0);
  for (int i = 0; i < 60000; i++) {
    const guint64 mantissa = G_GUINT64_CONSTANT(1) << 52 | demur_random_bits(&random) >> 12;
    char text[64];
    if (i % 2 == 0) {
      const guint64 exponent = 1023 - 90 + demur_random_below(&random, 180);
      g_snprintf(text, sizeof text, "%.*g", (int)(15 + demur_random_below(&random, 6)),
                 from_bits(exponent << 52 | (mantissa & G_GUINT64_CONSTANT(0xfffffffffffff))));
    } else {
      guint64 halfway = 2 * mantissa + 1; /* of 2^-n_after, in digits */
      guint n_after = 0;
      const guint64 most = demur_random_below(&random, 4);
      for (; n_after < most && halfway < G_MAXUINT64 / 5; n_after++)
        halfway *= 5;
      g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT "e-%u",
                 halfway + demur_random_below(&random, 3) - 1, n_after);
    }
    double value = 42;
    g_assert_true(demur_number_parse(text, strlen(text), &value));
    if (bits_of(value) != bits_of(g_ascii_strtod(text, NULL)))
      g_error("'%s' was read as %a, not %a", text, value, g_ascii_strtod(text, NULL));
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/base/number/shortest", text_is_the_shortest);
  g_test_add_func("/base/number/round-trip", every_double_comes_back);
  g_test_add_func("/base/number/refused", other_texts_are_refused);
  g_test_add_func("/base/number/whole", other_whole_numbers_are_refused);
  g_test_add_func("/base/number/length", length_bounds_the_text);
  g_test_add_func("/base/number/strtod", parsing_agrees_with_strtod);
  g_test_add_func("/base/number/many-digits", many_digits_round_as_strtod_does);
  return g_test_run();
}
