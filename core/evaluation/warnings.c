#include "evaluation/warnings.h"

#include <math.h>

#include "base/limits.h"

void
demur_warning_clear(DemurWarning *warning) {
  g_clear_pointer(&warning->subject, g_free);
}

char *
demur_warning_words(const DemurWarning *w, const char *label) {
  g_autofree char *whose = label != NULL ? g_strdup_printf("labelled “%s”", label)
                                         : g_strdup_printf("with label %d", w->label);
  switch (w->kind) {
  case DEMUR_WARNING_IN_SAMPLE:
    return g_strdup("In-sample: patients of this split were used to make the selector; these "
                    "numbers are too good.");
  case DEMUR_WARNING_UNTRAINED:
    return g_strdup_printf(
        "Selector %s: %zu of its %zu networks %s as %s drawn, before any training: on the "
        "validation scans no epoch's worst case was better (stopping worst-case). What %s refuse "
        "is not learnt.",
        w->subject, w->n, w->n_networks, w->n == 1 ? "is" : "are",
        w->n == 1 ? "it was" : "they were", w->n == 1 ? "it would" : "they would");
  case DEMUR_WARNING_REFUSAL:
    if (isnan(w->rate))
      return g_strdup_printf(
          "At coverage %.2g %s refuses scans %s much more often than "
          "scans in general (how many is withheld: fewer than %d of one label are "
          "refused, or kept).",
          w->coverage, w->subject, whose, DEMUR_SMALL_CELL);
    break;
  }
  return g_strdup_printf("At coverage %.2g %s refuses %.1f %% of the scans %s, but "
                         "%.1f %% of all scans.",
                         w->coverage, w->subject, 100.0 * w->rate, whose, 100.0 * w->rate_of_all);
}
