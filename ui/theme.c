#include "ui/theme.h"

#include <string.h>

#include "ui/words.h"

static const char *const names[] = {"dark", "light", "contrast"};
static DemurTheme current = DEMUR_THEME_DARK;
static GtkCssProvider *base_provider, *colour_provider;
static GPtrArray *watchers; /* borrowed widgets */

const char *
demur_theme_name(DemurTheme theme) {
  return names[theme];
}

gboolean
demur_theme_from_name(const char *name, DemurTheme *theme) {
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    if (g_strcmp0(name, names[i]) == 0) {
      *theme = (DemurTheme)i;
      return TRUE;
    }
  return FALSE;
}

DemurTheme
demur_theme_get(void) {
  return current;
}

static void
add_provider(GtkCssProvider *provider, guint priority) {
  gtk_style_context_add_provider_for_display(gdk_display_get_default(),
                                             GTK_STYLE_PROVIDER(provider), priority);
}

void
demur_theme_set(DemurTheme theme) {
  current = theme;
  g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme",
               theme != DEMUR_THEME_LIGHT, NULL);
  if (colour_provider == NULL) {
    colour_provider = gtk_css_provider_new();
    base_provider = gtk_css_provider_new();
    add_provider(colour_provider, GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    add_provider(base_provider, GTK_STYLE_PROVIDER_PRIORITY_APPLICATION + 1);
  }
  /* One file, three sections of named colours: the marked section is put before the rules. */
  g_autoptr(GBytes) bytes = g_resources_lookup_data("/org/demur/workstation/style.css",
                                                    G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  const char *text = g_bytes_get_data(bytes, NULL);
  g_autofree char *mark = g_strdup_printf("/* theme %s */", names[theme]);
  const char *section = strstr(text, mark);
  const char *section_end = strstr(section + strlen(mark), "/* theme");
  const char *rules = strstr(text, "/* theme end */");
  g_autofree char *sheet =
      g_strdup_printf("%.*s\n%s", (int)(section_end - section), section, rules);
  gtk_css_provider_load_from_data(colour_provider, sheet, -1);
  for (guint i = 0; watchers != NULL && i < watchers->len; i++)
    gtk_widget_queue_draw(watchers->pdata[i]);
}

const DemurPalette *
demur_theme_palette(void) {
  static DemurPalette contrast;
  switch (current) {
  case DEMUR_THEME_LIGHT:
    return demur_palette_light();
  case DEMUR_THEME_CONTRAST:
    contrast = *demur_palette_dark();
    contrast.paper = (DemurColour){0, 0, 0};
    contrast.ink = contrast.muted = (DemurColour){1, 1, 1};
    contrast.grid = (DemurColour){0.45, 0.45, 0.45};
    return &contrast;
  default:
    return demur_palette_dark();
  }
}

static void
on_widget_gone(gpointer data, GObject *widget) {
  g_ptr_array_remove_fast(watchers, widget);
}

void
demur_theme_watch(GtkWidget *widget) {
  if (watchers == NULL)
    watchers = g_ptr_array_new();
  g_ptr_array_add(watchers, widget);
  g_object_weak_ref(G_OBJECT(widget), on_widget_gone, NULL);
}

GdkRGBA
demur_theme_verdict_colour(int shown) {
  static const struct {
    const char *accepted, *red_flag, *not_eligible, *other;
  } colours[] = {{"#56B4E9", "#E8743B", "#F0E442", "#B0B0B0"},
                 {"#0B5A8F", "#B0451A", "#7A6A00", "#5C6166"},
                 {"#7CC8F5", "#FF9257", "#FFF35C", "#FFFFFF"}};
  GdkRGBA colour;
  gdk_rgba_parse(&colour, shown == DEMUR_SHOWN_ACCEPTED       ? colours[current].accepted
                          : shown == DEMUR_SHOWN_RED_FLAG     ? colours[current].red_flag
                          : shown == DEMUR_SHOWN_NOT_ELIGIBLE ? colours[current].not_eligible
                                                              : colours[current].other);
  return colour;
}
