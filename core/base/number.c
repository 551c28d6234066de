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

/* Clinger's fast path: at most 15 digits and a small exponent round correctly in one operation. It
 * is what makes a million rows of embeddings import in seconds; everything else goes to
 * g_ascii_strtod. */
static gboolean
parse_short_decimal(const char *text, size_t length, double *value) {
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
    if (n_digits > 15)
      return FALSE;
  }
  if (p < end && *p == '.')
    for (p++; p < end && g_ascii_isdigit(*p); p++, any = TRUE) {
      digits = digits * 10 + (guint64)(*p - '0');
      n_digits += digits > 0;
      exponent--;
      if (n_digits > 15)
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
  if (p != end || exponent < -22 || exponent > 22)
    return FALSE;
  const double magnitude = exponent < 0 ? (double)digits / exact_power_of_ten[-exponent]
                                        : (double)digits * exact_power_of_ten[exponent];
  *value = negative ? -magnitude : magnitude;
  return TRUE;
}

gboolean
demur_number_parse(const char *text, size_t length, double *value) {
  if (parse_short_decimal(text, length, value))
    return TRUE;
  char buffer[512];
  if (!trim(text, length, "+-.0123456789eE", buffer, sizeof buffer))
    return FALSE;
  double result;
  if (!parse_short_decimal(buffer, strlen(buffer), &result)) {
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
