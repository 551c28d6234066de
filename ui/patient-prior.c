/* The prior beside the current scan: which of the earlier ones, and where it lies against this one,
 * in mm, never summed up. */
#include "ui/patient-page-private.h"

#include "base/shown-text.h"

gboolean
demur_patient_page_both_shown(DemurPatientPage *page) {
  return gtk_widget_get_visible(page->prior_box) && demur_ct_view_image(page->prior) != NULL;
}

/* Where the places of both say nothing of each other (the prior's stack does not hold this one),
 * middle is set beside middle. */
static void
align_prior(DemurPatientPage *page) {
  double here[3], middle[3], prior_middle[3];
  if (page->aligned || !demur_patient_page_both_shown(page) ||
      !demur_ct_view_point(page->view, here) || !demur_ct_view_middle(page->view, middle) ||
      !demur_ct_view_middle(page->prior, prior_middle))
    return;
  const gboolean same = demur_ct_view_has_point(page->prior, middle);
  for (int i = 0; i < 3; i++)
    page->link_mm[i] = same ? 0 : prior_middle[i] - middle[i];
  page->aligned = TRUE;
}

void
demur_patient_page_follow(DemurPatientPage *page, DemurCtView *from) {
  DemurCtView *to = from == page->view ? page->prior : page->view;
  if (!page->linked || page->following || !demur_patient_page_both_shown(page))
    return;
  align_prior(page);
  page->following = TRUE;
  double point[3];
  if (page->aligned && demur_ct_view_point(from, point)) {
    for (int i = 0; i < 3; i++)
      point[i] += from == page->view ? page->link_mm[i] : -page->link_mm[i];
    demur_ct_view_show_point(to, point);
  }
  demur_ct_view_follow(to, from);
  page->following = FALSE;
}

/* Window and zoom; where it lies only changes when a person scrolls it. */
void
demur_patient_page_on_prior_changed(DemurPatientPage *page) {
  if (!page->linked || page->following || !demur_patient_page_both_shown(page))
    return;
  page->following = TRUE;
  demur_ct_view_follow(page->view, page->prior);
  page->following = FALSE;
}

static void
say_link(DemurPatientPage *page) {
  const char *text = page->linked ? _("Linked") : _("Free");
  demur_shown_label_set(GTK_LABEL(gtk_button_get_child(GTK_BUTTON(page->link))), text);
  demur_shown_name_set(GTK_WIDGET(page->link), text);
}

void
demur_patient_page_toggle_link(DemurPatientPage *page) {
  double here[3], there[3];
  page->linked = !page->linked;
  if (page->linked && demur_patient_page_both_shown(page) &&
      demur_ct_view_point(page->view, here) && demur_ct_view_point(page->prior, there)) {
    for (int i = 0; i < 3; i++)
      page->link_mm[i] = there[i] - here[i];
    page->aligned = TRUE;
    demur_patient_page_follow(page, page->view);
  }
  say_link(page);
}

void
demur_patient_page_toggle_prior(DemurPatientPage *page) {
  if (page->prior_row < 0) {
    demur_session_notice(page->session, _("No earlier scan of this patient has images here."),
                         FALSE);
    return;
  }
  gtk_widget_set_visible(page->prior_box, !gtk_widget_get_visible(page->prior_box));
  demur_patient_page_load_prior(page);
}

void
demur_patient_page_fill_priors(DemurPatientPage *page) {
  const DemurScanTable *table = demur_session_table(page->session);
  g_autoptr(GtkStringList) names = gtk_string_list_new(NULL);
  guint chosen = 0;
  for (guint i = 0; i < page->priors->len; i++) {
    const DemurScan *scan = &table->scans[g_array_index(page->priors, guint32, i)];
    /* Two lines: beside the image there may be no room for one. */
    g_autofree char *date = demur_shown_text(scan->date);
    g_autofree char *name = g_strdup_printf("%s\n%s %s", date, demur_shown_glyph(scan->shown),
                                            demur_shown_title(scan->shown));
    gtk_string_list_append(names, name);
    if (g_strcmp0(scan->scan_id, page->prior_id) == 0)
      chosen = i;
  }
  page->filling = TRUE;
  gtk_drop_down_set_model(page->prior_menu, G_LIST_MODEL(names));
  if (page->priors->len > 0)
    gtk_drop_down_set_selected(page->prior_menu, chosen);
  page->filling = FALSE;
  if (page->priors->len > 0)
    page->prior_row = (gssize)g_array_index(page->priors, guint32, chosen);
}

void
demur_patient_page_on_prior_chosen(DemurPatientPage *page) {
  const guint at = gtk_drop_down_get_selected(page->prior_menu);
  if (page->filling || at >= page->priors->len)
    return;
  page->prior_row = (gssize)g_array_index(page->priors, guint32, at);
  g_free(page->prior_id);
  page->prior_id = g_strdup(demur_session_table(page->session)->scans[page->prior_row].scan_id);
  demur_patient_page_load_prior(page);
}
