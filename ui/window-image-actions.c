/* The window's actions on the images of the case that is shown. */
#include "ui/window-private.h"

static void
on_plane(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurCtPlane plane;
  if (demur_ct_plane_from_name(g_variant_get_string(value, NULL), &plane))
    demur_patient_page_set_plane(DEMUR_WINDOW(data)->patient, plane);
}

static void
on_slab(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_patient_page_next_slab(DEMUR_WINDOW(data)->patient);
}

static void
on_slab_kind(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_patient_page_next_slab_kind(DEMUR_WINDOW(data)->patient);
}

static void
on_measure(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurTool tool;
  if (demur_tool_from_name(g_variant_get_string(value, NULL), &tool))
    demur_patient_page_set_tool(DEMUR_WINDOW(data)->patient, tool);
}

static void
on_remove_measures(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_patient_page_remove_measures(DEMUR_WINDOW(data)->patient);
}

static void
on_key_image(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_patient_page_toggle_key_image(DEMUR_WINDOW(data)->patient);
}

static void
on_preset(GSimpleAction *action, GVariant *value, gpointer data) {
  const int preset = g_variant_get_int32(value);
  if (preset >= 1 && preset <= DEMUR_N_PRESETS)
    demur_ct_view_preset(demur_patient_page_active_view(DEMUR_WINDOW(data)->patient),
                         (guint)preset - 1);
}

static void
on_invert(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_ct_view_invert(demur_patient_page_active_view(DEMUR_WINDOW(data)->patient));
}

static void
on_reset_view(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_ct_view_reset(demur_patient_page_active_view(DEMUR_WINDOW(data)->patient));
}

static void
on_zoom(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_ct_view_zoom(demur_patient_page_active_view(DEMUR_WINDOW(data)->patient),
                     g_variant_get_double(value));
}

static void
on_compare(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_patient_page_toggle_prior(DEMUR_WINDOW(data)->patient);
}

static void
on_three_planes(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_patient_page_toggle_three(DEMUR_WINDOW(data)->patient);
}

static void
on_cine(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurCtView *view = demur_patient_page_active_view(DEMUR_WINDOW(data)->patient);
  demur_ct_view_set_cine(view, !demur_ct_view_cine(view));
}

static void
on_place(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_ct_view_set_place(demur_patient_page_active_view(DEMUR_WINDOW(data)->patient));
}

static void
on_link(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_patient_page_toggle_link(DEMUR_WINDOW(data)->patient);
}

void
demur_window_add_image_actions(DemurWindow *window) {
  static const GActionEntry actions[] = {
      {.name = "plane", .activate = on_plane, .parameter_type = "s"},
      {.name = "slab", .activate = on_slab},
      {.name = "slab-kind", .activate = on_slab_kind},
      {.name = "measure", .activate = on_measure, .parameter_type = "s"},
      {.name = "remove-measures", .activate = on_remove_measures},
      {.name = "key-image", .activate = on_key_image},
      {.name = "preset", .activate = on_preset, .parameter_type = "i"},
      {.name = "invert", .activate = on_invert},
      {.name = "reset-view", .activate = on_reset_view},
      {.name = "zoom", .activate = on_zoom, .parameter_type = "d"},
      {.name = "compare", .activate = on_compare},
      {.name = "three-planes", .activate = on_three_planes},
      {.name = "cine", .activate = on_cine},
      {.name = "place", .activate = on_place},
      {.name = "link", .activate = on_link},
  };
  g_action_map_add_action_entries(G_ACTION_MAP(window), actions, G_N_ELEMENTS(actions), window);
}
