/* The buttons above the image: which can be pressed, which are held, and why not. */
#include "ui/patient-page-private.h"

/* A button that is held down while what it does lasts. */
static void
hold(GtkWidget *button, gboolean on) {
  if (on)
    gtk_widget_set_state_flags(button, GTK_STATE_FLAG_CHECKED, FALSE);
  else
    gtk_widget_unset_state_flags(button, GTK_STATE_FLAG_CHECKED);
}

void
demur_patient_page_update_tools(DemurPatientPage *page) {
  for (guint i = 0; i < G_N_ELEMENTS(demur_patient_page_planes); i++) {
    const char *reason;
    const gboolean can = demur_ct_view_can_show(page->view, demur_patient_page_planes[i], &reason);
    gtk_widget_set_sensitive(page->plane[i], can && demur_ct_view_image(page->view) != NULL);
    demur_shown_tooltip_set(page->plane[i], reason);
    hold(page->plane[i], demur_ct_view_plane(page->view) == demur_patient_page_planes[i]);
  }
  const double slab = demur_ct_view_slab(page->view);
  g_autofree char *text =
      slab > 0 ? g_strdup_printf("%s %.0f mm",
                                 demur_ct_view_slab_name(demur_ct_view_slab_kind(page->view)), slab)
               : g_strdup(_("MIP off"));
  demur_shown_label_set(GTK_LABEL(gtk_button_get_child(GTK_BUTTON(page->slab))), text);
  demur_shown_name_set(GTK_WIDGET(page->slab), text);
  for (guint i = DEMUR_TOOL_NONE + 1; i < DEMUR_N_TOOLS; i++)
    hold(page->tool[i], demur_ct_view_tool(page->view) == (DemurTool)i);
  DemurImage *image = demur_ct_view_image(page->view);
  gtk_widget_set_sensitive(page->slab, image != NULL && demur_image_is_volume(image));
  const char *why;
  const gboolean can_three = demur_ct_view_can_show(page->view, DEMUR_CT_CORONAL, &why);
  const gboolean is_whole = image != NULL && demur_image_is_whole(image);
  gtk_widget_set_sensitive(page->three, image != NULL && can_three);
  demur_shown_tooltip_set(page->three,
                          can_three ? _("Three planes at once, with a crosshair (T)") : why);
  gtk_widget_set_sensitive(page->cine, is_whole);
  gsize n_keys;
  g_free(demur_ct_view_here(page->view, TRUE, &n_keys));
  gtk_widget_set_sensitive(page->key, image != NULL);
  hold(page->three, demur_patient_page_is_three(page));
  hold(page->cine, demur_ct_view_cine(page->view));
  hold(page->key, n_keys > 0);
  gtk_widget_set_sensitive(page->compare, page->prior_row >= 0);
  demur_shown_tooltip_set(page->compare,
                          page->prior_row >= 0 ? NULL : _("No earlier scan with images."));
}

void
demur_patient_page_next_slab(DemurPatientPage *page) {
  static const double slabs[] = {0, 5, 10, 20};
  const double now = demur_ct_view_slab(page->view);
  guint next = 0;
  for (guint i = 0; i < G_N_ELEMENTS(slabs); i++)
    if (slabs[i] == now)
      next = (i + 1) % G_N_ELEMENTS(slabs);
  demur_ct_view_set_slab(page->view, slabs[next]);
  if (gtk_widget_get_visible(page->prior_box))
    demur_ct_view_set_slab(page->prior, slabs[next]);
}

void
demur_patient_page_next_slab_kind(DemurPatientPage *page) {
  static const DemurSlab after[] = {[DEMUR_SLAB_MAXIMUM] = DEMUR_SLAB_MEAN,
                                    [DEMUR_SLAB_MEAN] = DEMUR_SLAB_MINIMUM,
                                    [DEMUR_SLAB_MINIMUM] = DEMUR_SLAB_MAXIMUM};
  const DemurSlab next = after[demur_ct_view_slab_kind(page->view)];
  demur_ct_view_set_slab_kind(page->view, next);
  if (demur_ct_view_slab(page->view) <= 0)
    demur_patient_page_next_slab(page);
}

void
demur_patient_page_set_tool(DemurPatientPage *page, DemurTool tool) {
  const DemurTool now = demur_ct_view_tool(page->view) == tool ? DEMUR_TOOL_NONE : tool;
  demur_ct_view_set_tool(page->view, now);
  demur_ct_view_set_tool(page->prior, now);
  for (int i = 0; i < 2; i++)
    demur_ct_view_set_tool(page->across[i], now);
}
