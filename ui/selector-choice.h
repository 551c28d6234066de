/* Which selector is meant, in two menus: its name, and, where that is a family's, one of its horizons. A
 * family is one choice. */
#pragma once

#include <gtk/gtk.h>

#include "tasks/scan.h"

G_BEGIN_DECLS

/* Fills both with the table's selectors; the horizon is hidden where there is none to choose. */
void demur_selector_choice_fill(GtkDropDown *names, GtkDropDown *horizons,
                                const DemurScanTable *table);
/* The horizons of the name that is chosen, the longest chosen: to be called when it changes. */
void demur_selector_choice_fill_horizons(GtkDropDown *names, GtkDropDown *horizons,
                                         const DemurScanTable *table);

/* The table's name of it; NULL: there is none. */
const char *demur_selector_choice_get(GtkDropDown *names, GtkDropDown *horizons,
                                      const DemurScanTable *table);
/* Chooses it, in both; of one that the table doesn't have nothing changes. */
void demur_selector_choice_set(GtkDropDown *names, GtkDropDown *horizons,
                               const DemurScanTable *table, const char *selector);

G_END_DECLS
