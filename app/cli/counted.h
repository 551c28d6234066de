/* Counts in sentences of the command line, which are English. */
#pragma once

#include <glib.h>

/* "" behind the noun of one, "s" else: "%zu scan%s". */
static inline const char *
demur_cli_s(guint64 n) {
  return n == 1 ? "" : "s";
}
