/* What must be read with the numbers of an evaluation: kinds and values, worded at the edge. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_WARNING_IN_SAMPLE, /* patients of the split made the selector */
  DEMUR_WARNING_UNTRAINED, /* n of n_networks of the selector are as they were drawn */
  DEMUR_WARNING_REFUSAL,   /* a selector, or confidence, refuses a label much more often than scans
                            * in general */
} DemurWarningKind;

typedef struct {
  DemurWarningKind kind;
  char *subject; /* the selector or method as its title names it; NULL: the whole evaluation */
  size_t n, n_networks;
  double coverage; /* REFUSAL: requested */
  int label;
  double rate, rate_of_all; /* REFUSAL: refused of that label (NaN: withheld), of all scans */
} DemurWarning;

void demur_warning_clear(DemurWarning *warning);

/* One English sentence (owned). The only place that words a warning: nobody reads it back. label: what the
 * label of a REFUSAL is called ("cancer"); NULL: by its number. */
char *demur_warning_words(const DemurWarning *warning, const char *label);

G_END_DECLS
