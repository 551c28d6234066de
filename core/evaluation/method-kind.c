#include "evaluation/method-kind.h"

char *
demur_method_name(DemurMethodKind kind, const char *selector) {
  switch (kind) {
  case DEMUR_METHOD_SELECTOR:
    return g_strconcat("selector:", selector, NULL);
  case DEMUR_METHOD_FULL:
    return g_strdup("full");
  case DEMUR_METHOD_RANDOM:
    return g_strdup("random");
  default:
    return g_strdup(demur_scoring_row((DemurScoring)kind)->name);
  }
}
