/* Which selector is meant, in two menus: its name, and, where that is a family's, one of its horizons. A
 * family is one choice. */
#pragma once

#include <gtk/gtk.h>

#include "tasks/scan.h"

G_BEGIN_DECLS

/* What there is to choose from, in the order in which it is shown; borrowed. */
typedef struct {
  char *const *selectors; /* NULL at the end; NULL: none */
  char *const *families;  /* [selectors] the family that it is a horizon of; "": none */
  const double *years;    /* [selectors] of its risk; 0: not recorded */
} DemurSelectorChoices;

/* All selectors of the table; NULL: none. */
DemurSelectorChoices demur_selector_choices_of(const DemurScanTable *table);

/* Fills both with them; the horizon is hidden where there is none to choose. */
void demur_selector_choice_fill(GtkDropDown *names, GtkDropDown *horizons,
                                DemurSelectorChoices choices);
/* The horizons of the name that is chosen, the longest chosen: to be called when it changes. */
void demur_selector_choice_fill_horizons(GtkDropDown *names, GtkDropDown *horizons,
                                         DemurSelectorChoices choices);

/* Its name, of choices; NULL: there is none. */
const char *demur_selector_choice_get(GtkDropDown *names, GtkDropDown *horizons,
                                      DemurSelectorChoices choices);
/* Chooses it, in both; of one that is not among them nothing changes. */
void demur_selector_choice_set(GtkDropDown *names, GtkDropDown *horizons,
                               DemurSelectorChoices choices, const char *selector);

G_END_DECLS
