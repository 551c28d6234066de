#include "ui/selector-choice.h"

#include "report/format.h"
#include "ui/words.h"

static const char *
item_of(GtkDropDown *menu) {
  GtkStringObject *item = gtk_drop_down_get_selected_item(menu);
  return item != NULL ? gtk_string_object_get_string(item) : NULL;
}

DemurSelectorChoices
demur_selector_choices_of(const DemurScanTable *table) {
  return table != NULL
             ? (DemurSelectorChoices){table->selectors, table->families, table->selector_years}
             : (DemurSelectorChoices){0};
}

/* What the first menu calls a selector. */
static const char *
name_of(DemurSelectorChoices choices, guint at) {
  return *choices.families[at] != '\0' ? choices.families[at] : choices.selectors[at];
}

static int
compare_years(gconstpointer a, gconstpointer b, gpointer data) {
  const DemurSelectorChoices *choices = data;
  const double x = choices->years[*(const guint *)a], y = choices->years[*(const guint *)b];
  return (x > y) - (x < y);
}

/* Places of the selectors that a name stands for, by years (array of guint, owned). */
static GArray *
members_of(DemurSelectorChoices choices, const char *name) {
  GArray *members = g_array_new(FALSE, FALSE, sizeof(guint));
  for (guint i = 0; name != NULL && choices.selectors != NULL && choices.selectors[i] != NULL; i++)
    if (g_str_equal(name_of(choices, i), name))
      g_array_append_val(members, i);
  g_array_sort_with_data(members, compare_years, &choices);
  return members;
}

void
demur_selector_choice_fill_horizons(GtkDropDown *names, GtkDropDown *horizons,
                                    DemurSelectorChoices choices) {
  g_autoptr(GArray) members = members_of(choices, item_of(names));
  g_autoptr(GtkStringList) list = gtk_string_list_new(NULL);
  for (guint i = 0; i < members->len; i++) {
    g_autofree char *years =
        demur_text_years_in(choices.years[g_array_index(members, guint, i)], demur_words_translate);
    gtk_string_list_append(list, years);
  }
  gtk_drop_down_set_model(horizons, G_LIST_MODEL(list));
  if (members->len > 0)
    gtk_drop_down_set_selected(horizons, members->len - 1);
  gtk_widget_set_visible(GTK_WIDGET(horizons),
                         members->len > 0 &&
                             *choices.families[g_array_index(members, guint, 0)] != '\0');
}

void
demur_selector_choice_fill(GtkDropDown *names, GtkDropDown *horizons,
                           DemurSelectorChoices choices) {
  g_autoptr(GtkStringList) list = gtk_string_list_new(NULL);
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; choices.selectors != NULL && choices.selectors[i] != NULL; i++)
    if (g_hash_table_add(seen, (gpointer)name_of(choices, i)))
      gtk_string_list_append(list, name_of(choices, i));
  gtk_drop_down_set_model(names, G_LIST_MODEL(list));
  demur_selector_choice_fill_horizons(names, horizons, choices);
}

const char *
demur_selector_choice_get(GtkDropDown *names, GtkDropDown *horizons, DemurSelectorChoices choices) {
  g_autoptr(GArray) members = members_of(choices, item_of(names));
  const guint at = gtk_drop_down_get_selected(horizons);
  return at < members->len ? choices.selectors[g_array_index(members, guint, at)] : NULL;
}

void
demur_selector_choice_set(GtkDropDown *names, GtkDropDown *horizons, DemurSelectorChoices choices,
                          const char *selector) {
  for (guint i = 0; selector != NULL && choices.selectors != NULL && choices.selectors[i] != NULL;
       i++) {
    if (!g_str_equal(choices.selectors[i], selector))
      continue;
    GListModel *list = gtk_drop_down_get_model(names);
    for (guint n = 0; n < g_list_model_get_n_items(list); n++)
      if (g_str_equal(gtk_string_list_get_string(GTK_STRING_LIST(list), n), name_of(choices, i)))
        gtk_drop_down_set_selected(names, n);
    demur_selector_choice_fill_horizons(names, horizons, choices);
    g_autoptr(GArray) members = members_of(choices, name_of(choices, i));
    for (guint m = 0; m < members->len; m++)
      if (g_array_index(members, guint, m) == i)
        gtk_drop_down_set_selected(horizons, m);
  }
}
