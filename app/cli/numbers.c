#include "app/cli/numbers.h"

#include <math.h>

char *
demur_cli_number(double value, int decimals, gboolean sign) {
  if (!isfinite(value))
    return g_strdup("-");
  return g_strdup_printf(sign ? "%+.*f" : "%.*f", decimals, value);
}

const char *
demur_cli_number_into(double value, int decimals, char *buffer, size_t size) {
  if (isfinite(value))
    g_snprintf(buffer, size, "%.*f", decimals, value);
  else
    g_strlcpy(buffer, "-", size);
  return buffer;
}

char *
demur_cli_with_interval(double value, double low, double high, int decimals, gboolean sign) {
  g_autofree char *number = demur_cli_number(value, decimals, sign);
  if (!isfinite(value))
    return g_steal_pointer(&number);
  if (!isfinite(low) || !isfinite(high))
    return g_strconcat(number, " (no interval)", NULL);
  g_autofree char *from = demur_cli_number(low, decimals, sign),
                  *to = demur_cli_number(high, decimals, sign);
  return g_strdup_printf("%s (%s to %s)", number, from, to);
}
