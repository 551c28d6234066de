/* What readers draw on the images, kept with the study: measurements and key images. */
#include "ui/patient-page-private.h"

static void
on_mark_clicked(GtkButton *button, DemurPatientPage *page) {
  const guint at = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(button), "mark"));
  if (at < page->drawn->len)
    demur_ct_view_show_annotation(page->view, page->drawn->pdata[at]);
}

void
demur_patient_page_fill_marks(DemurPatientPage *page) {
  if (page->marks == NULL)
    return;
  for (GtkWidget *child; (child = gtk_widget_get_first_child(GTK_WIDGET(page->marks))) != NULL;)
    gtk_box_remove(page->marks, child);
  gtk_widget_set_visible(GTK_WIDGET(page->marks), page->drawn->len > 0);
  if (page->drawn->len > 0)
    gtk_widget_set_margin_top(
        demur_patient_page_add_text(page->marks, _("Key images and measurements"), "heading"), 8);
  for (guint i = 0; i < page->drawn->len; i++) {
    const DemurAnnotation *drawn = page->drawn->pdata[i];
    g_autofree char *where = demur_annotation_place(drawn, demur_words_translate);
    g_autofree char *what = demur_annotation_words(drawn, demur_words_translate);
    g_autofree char *text = g_strdup_printf(
        "%s%s · %s", drawn->kind == DEMUR_ANNOTATION_KEY_IMAGE ? "★ " : "", where, what);
    g_autofree char *who = g_strdup_printf(_("By %s, %s"), drawn->user, drawn->created);
    GtkWidget *button = gtk_button_new();
    GtkBox *lines = GTK_BOX(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0));
    demur_patient_page_add_text(lines, text, "small");
    gtk_button_set_child(GTK_BUTTON(button), GTK_WIDGET(lines));
    gtk_widget_add_css_class(button, "screen");
    demur_shown_tooltip_set(button, who);
    demur_shown_name_set(button, text);
    g_object_set_data(G_OBJECT(button), "mark", GUINT_TO_POINTER(i));
    g_signal_connect(button, "clicked", G_CALLBACK(on_mark_clicked), page);
    gtk_box_append(page->marks, button);
  }
}

void
demur_patient_page_show_drawn(DemurPatientPage *page) {
  DemurCtView *const views[] = {page->view, page->across[0], page->across[1], page->prior};
  g_clear_pointer(&page->drawn, g_ptr_array_unref);
  for (guint i = 0; i < G_N_ELEMENTS(views); i++) {
    const DemurImage *image = demur_ct_view_image(views[i]);
    if (image == NULL)
      continue;
    g_autoptr(GPtrArray) drawn =
        views[i] != page->prior && page->drawn != NULL
            ? g_ptr_array_ref(page->drawn)
            : demur_session_annotations(page->session, demur_image_scan_id(image),
                                        demur_image_digest(image));
    demur_ct_view_set_annotations(views[i], drawn);
    if (views[i] == page->view)
      page->drawn = g_ptr_array_ref(drawn);
  }
  if (page->drawn == NULL)
    page->drawn = g_ptr_array_new();
  demur_patient_page_fill_marks(page);
}

void
demur_patient_page_on_measured(DemurCtView *view, DemurPatientPage *page) {
  DemurAnnotation annotation;
  if (!demur_ct_view_measured(view, &annotation) ||
      !demur_session_annotate(page->session, &annotation))
    return;
  demur_ct_view_set_kept(view, annotation.id);
  demur_patient_page_show_drawn(page);
}

void
demur_patient_page_remove_measures(DemurPatientPage *page) {
  DemurCtView *view = demur_patient_page_active_view(page);
  gsize n;
  g_autofree gint64 *ids = demur_ct_view_here(view, FALSE, &n);
  demur_ct_view_remove_measures(view);
  if (demur_session_take_off(page->session, ids, n))
    demur_patient_page_show_drawn(page);
}

void
demur_patient_page_toggle_key_image(DemurPatientPage *page) {
  DemurCtView *view = demur_patient_page_active_view(page);
  DemurAnnotation annotation;
  gsize n;
  g_autofree gint64 *ids = demur_ct_view_here(view, TRUE, &n);
  if (n > 0 ? demur_session_take_off(page->session, ids, n)
            : demur_ct_view_key_image(view, &annotation) &&
                  demur_session_annotate(page->session, &annotation))
    demur_patient_page_show_drawn(page);
}
