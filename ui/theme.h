/* Dark reading room, light and high contrast: one css file with one set of names, and the charts'
 * palette that goes with each. */
#pragma once

#include <gtk/gtk.h>

#include "report/chart-kit.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_THEME_DARK,
  DEMUR_THEME_LIGHT,
  DEMUR_THEME_CONTRAST,
} DemurTheme;

/* "dark", "light", "contrast". */
const char *demur_theme_name(DemurTheme theme);
gboolean demur_theme_from_name(const char *name, DemurTheme *theme);

/* Sets the looks of every window of the display; views that draw are told by demur_theme_watch. */
void demur_theme_set(DemurTheme theme);
DemurTheme demur_theme_get(void);
const DemurPalette *demur_theme_palette(void);

/* Redraws the widget whenever the theme changes, as long as it lives. */
void demur_theme_watch(GtkWidget *widget);

/* The colour of a verdict's style class in this theme. */
GdkRGBA demur_theme_verdict_colour(int shown);

G_END_DECLS
