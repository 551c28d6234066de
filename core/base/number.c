#include "base/number.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

char *
demur_number_format(double value, char *buffer) {
  if (isnan(value))
    return strcpy(buffer, "nan");
  if (isinf(value))
    return strcpy(buffer, value < 0 ? "-inf" : "inf");
  /* Fifteen digits name any number of normal size that has no more; a subnormal one has fewer to
   * name. */
  for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
    char format[8];
    g_snprintf(format, sizeof format, "%%.%dg", digits);
    g_ascii_formatd(buffer, G_ASCII_DTOSTR_BUF_SIZE, format, value);
    if (g_ascii_strtod(buffer, NULL) == value)
      break;
  }
  return buffer;
}

/* Copies the text without the blanks around it; FALSE where it is empty, too long or has other
 * letters than a decimal number's. */
static gboolean
trim(const char *text, size_t length, const char *letters, char *buffer, size_t size) {
  while (length > 0 && (*text == ' ' || *text == '\t'))
    text++, length--;
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
    length--;
  if (length == 0 || length >= size)
    return FALSE;
  for (size_t i = 0; i < length; i++)
    if (text[i] == '\0' || strchr(letters, text[i]) == NULL)
      return FALSE;
  memcpy(buffer, text, length);
  buffer[length] = '\0';
  return TRUE;
}

/* Powers of ten that a double holds exactly. */
static const double exact_power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#define MOST_FIVES 27  /* 5^27 is the last power that 64 bits hold */
#define MOST_DIGITS 19 /* as many fit into 64 bits, whatever they are */
#define CLINGER_DIGITS 15

/* A decimal number as it is written: digits 10^exponent. */
typedef struct {
  guint64 digits;
  int n_digits, exponent;
  gboolean negative;
} Decimal;

/* bits 2^exponent, rounded to the nearest double, to the even of two: bits has its highest bit set, and there is more
 * below them where inexact. The result is a normal number (the callers' exponents are small). */
static double
round_bits(guint64 bits, gboolean inexact, int exponent) {
  const guint64 below = bits & 0x7ff, half = 0x400;
  guint64 mantissa = bits >> 11;
  mantissa += below > half || (below == half && (inexact || (mantissa & 1) == 1));
  return ldexp((double)mantissa, exponent + 11);
}

/* Exactly: digits 5^exponent, or their quotient and whether anything is left of it, in whole numbers of 128 bits. */
static double
round_decimal(guint64 digits, int exponent) {
  static const guint64 five_to[MOST_FIVES + 1] = {
      G_GUINT64_CONSTANT(1),
      G_GUINT64_CONSTANT(5),
      G_GUINT64_CONSTANT(25),
      G_GUINT64_CONSTANT(125),
      G_GUINT64_CONSTANT(625),
      G_GUINT64_CONSTANT(3125),
      G_GUINT64_CONSTANT(15625),
      G_GUINT64_CONSTANT(78125),
      G_GUINT64_CONSTANT(390625),
      G_GUINT64_CONSTANT(1953125),
      G_GUINT64_CONSTANT(9765625),
      G_GUINT64_CONSTANT(48828125),
      G_GUINT64_CONSTANT(244140625),
      G_GUINT64_CONSTANT(1220703125),
      G_GUINT64_CONSTANT(6103515625),
      G_GUINT64_CONSTANT(30517578125),
      G_GUINT64_CONSTANT(152587890625),
      G_GUINT64_CONSTANT(762939453125),
      G_GUINT64_CONSTANT(3814697265625),
      G_GUINT64_CONSTANT(19073486328125),
      G_GUINT64_CONSTANT(95367431640625),
      G_GUINT64_CONSTANT(476837158203125),
      G_GUINT64_CONSTANT(2384185791015625),
      G_GUINT64_CONSTANT(11920928955078125),
      G_GUINT64_CONSTANT(59604644775390625),
      G_GUINT64_CONSTANT(298023223876953125),
      G_GUINT64_CONSTANT(1490116119384765625),
      G_GUINT64_CONSTANT(7450580596923828125),
  };
  if (exponent >= 0) {
    const unsigned __int128 product = (unsigned __int128)digits * five_to[exponent];
    const guint64 high = (guint64)(product >> 64), low = (guint64)product;
    if (high == 0) {
      const int shift = __builtin_clzll(low);
      return round_bits(low << shift, FALSE, exponent - shift);
    }
    const int shift = __builtin_clzll(high);
    const unsigned __int128 raised = product << shift;
    return round_bits((guint64)(raised >> 64), (guint64)raised != 0, exponent + 64 - shift);
  }
  const int raised = __builtin_clzll(digits), shift = __builtin_clzll(five_to[-exponent]);
  const guint64 divisor = five_to[-exponent] << shift;
  const unsigned __int128 dividend = (unsigned __int128)(digits << raised) << 63;
  /* Both have their highest bit set: the quotient has 63 or 64 bits. */
  const guint64 quotient = (guint64)(dividend / divisor);
  const gboolean inexact = (unsigned __int128)quotient * divisor != dividend;
  const int missing = __builtin_clzll(quotient);
  return round_bits(quotient << missing, inexact, exponent + shift - raised - 63 - missing);
}

/* FALSE where it is no plain decimal number of few digits and a small exponent. */
static gboolean
read_decimal(const char *text, size_t length, Decimal *decimal) {
  const char *p = text, *const end = text + length;
  const gboolean negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+'))
    p++;
  guint64 digits = 0;
  int n_digits = 0, exponent = 0;
  gboolean any = FALSE;
  for (; p < end && g_ascii_isdigit(*p); p++, any = TRUE) {
    digits = digits * 10 + (guint64)(*p - '0');
    n_digits += digits > 0;
    if (n_digits > MOST_DIGITS)
      return FALSE;
  }
  if (p < end && *p == '.')
    for (p++; p < end && g_ascii_isdigit(*p); p++, any = TRUE) {
      digits = digits * 10 + (guint64)(*p - '0');
      n_digits += digits > 0;
      exponent--;
      if (n_digits > MOST_DIGITS)
        return FALSE;
    }
  if (!any)
    return FALSE;
  if (p < end && (*p == 'e' || *p == 'E')) {
    p++;
    const gboolean minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
      p++;
    if (p == end || !g_ascii_isdigit(*p))
      return FALSE;
    int e = 0;
    for (; p < end && g_ascii_isdigit(*p) && e < 1000; p++)
      e = e * 10 + (*p - '0');
    exponent += minus ? -e : e;
  }
  if (p != end || exponent < -MOST_FIVES || exponent > MOST_FIVES)
    return FALSE;
  *decimal = (Decimal){digits, n_digits, exponent, negative};
  return TRUE;
}

/* Numbers as most are written, each rounded correctly: at most 15 digits and a small exponent in one operation (Clinger 1990,
 * "How to read floating point numbers accurately"), which is what makes a million rows of embeddings import in seconds; up to 19
 * digits, as doubles that were written to be read back have, in whole numbers. Everything else goes to g_ascii_strtod, which takes
 * ten times as long. */
static gboolean
parse_usual_decimal(const char *text, size_t length, double *value) {
  Decimal d;
  if (!read_decimal(text, length, &d))
    return FALSE;
  double magnitude;
  if (d.digits == 0)
    magnitude = 0.0;
  else if (d.n_digits > CLINGER_DIGITS || ABS(d.exponent) >= (int)G_N_ELEMENTS(exact_power_of_ten))
    magnitude = round_decimal(d.digits, d.exponent);
  else if (d.exponent < 0)
    magnitude = (double)d.digits / exact_power_of_ten[-d.exponent];
  else
    magnitude = (double)d.digits * exact_power_of_ten[d.exponent];
  *value = d.negative ? -magnitude : magnitude;
  return TRUE;
}

gboolean
demur_number_parse(const char *text, size_t length, double *value) {
  if (parse_usual_decimal(text, length, value))
    return TRUE;
  char buffer[512];
  if (!trim(text, length, "+-.0123456789eE", buffer, sizeof buffer))
    return FALSE;
  double result;
  if (!parse_usual_decimal(buffer, strlen(buffer), &result)) {
    char *end;
    result = g_ascii_strtod(buffer, &end);
    if (end == buffer || *end != '\0' || !isfinite(result))
      return FALSE;
  }
  *value = result;
  return TRUE;
}

gboolean
demur_number_parse_int(const char *text, size_t length, gint64 *value) {
  char buffer[32];
  if (!trim(text, length, "+-0123456789", buffer, sizeof buffer) ||
      (buffer[0] == '+' && !g_ascii_isdigit(buffer[1])))
    return FALSE;
  return g_ascii_string_to_signed(buffer[0] == '+' ? buffer + 1 : buffer, 10, G_MININT64,
                                  G_MAXINT64, value, NULL);
}
