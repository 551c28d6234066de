#include "ui/patient-page.h"

#include "ui/patient-page-private.h"
#include "ui/wrap-layout.h"

G_DEFINE_FINAL_TYPE(DemurPatientPage, demur_patient_page, GTK_TYPE_BOX)

static void
demur_patient_page_dispose(GObject *object) {
  DemurPatientPage *page = DEMUR_PATIENT_PAGE(object);
  demur_job_drop(&page->image_job);
  demur_job_drop(&page->slice_job);
  demur_job_drop(&page->prior_job);
  demur_job_drop(&page->prior_slice_job);
  demur_job_drop(&page->pictures_job);
  g_clear_object(&page->session);
  G_OBJECT_CLASS(demur_patient_page_parent_class)->dispose(object);
}

static void
demur_patient_page_finalize(GObject *object) {
  DemurPatientPage *page = DEMUR_PATIENT_PAGE(object);
  g_free(page->case_source);
  g_free(page->case_id);
  g_free(page->prior_id);
  g_array_unref(page->priors);
  g_ptr_array_unref(page->drawn);
  g_hash_table_unref(page->pictures);
  G_OBJECT_CLASS(demur_patient_page_parent_class)->finalize(object);
}

/* One update of the model. */

static void
on_case_changed(DemurPatientPage *page) {
  const DemurScan *scan = demur_session_scan(page->session);
  const gboolean same = scan != NULL && g_strcmp0(scan->scan_id, page->case_id) == 0 &&
                        g_strcmp0(scan->source, page->case_source) == 0;
  page->generation++;
  demur_job_drop(&page->prior_job);
  if (!same) {
    g_free(page->case_id);
    g_free(page->case_source);
    page->case_id = scan != NULL ? g_strdup(scan->scan_id) : NULL;
    page->case_source = scan != NULL ? g_strdup(scan->source) : NULL;
    g_clear_pointer(&page->prior_id, g_free);
    g_ptr_array_unref(page->drawn); /* another patient's */
    page->drawn = g_ptr_array_new();
    page->aligned = FALSE;
    demur_ct_view_clear(page->view, "");
    for (int i = 0; i < 2; i++)
      demur_ct_view_clear(page->across[i], _("Reading the images…"));
    demur_ct_view_clear(page->prior, _("Reading the prior…"));
  }
  demur_patient_page_load_images(page);
  demur_patient_page_update_side(page);
  demur_verdict_card_update(page->card);
  if (page->prior_row < 0)
    gtk_widget_set_visible(page->prior_box, FALSE);
  demur_patient_page_load_prior(page);
  demur_patient_page_load_pictures(page);
  demur_patient_page_update_tools(page);
  if (!same && gtk_widget_get_mapped(GTK_WIDGET(page)))
    demur_session_opened(page->session);
}

static void
on_map(DemurPatientPage *page) {
  demur_session_opened(page->session);
}

static void
on_reviewed(DemurPatientPage *page, guint row) {
  if ((gssize)row == demur_session_row(page->session))
    demur_verdict_card_update(page->card);
}

void
demur_patient_page_set_shown(DemurPatientPage *page, gboolean shown) {
  if (page->shown == shown)
    return;
  page->shown = shown;
  demur_verdict_card_drop(page->card); /* what waits is out of sight */
  const DemurScan *scan = demur_session_scan(page->session);
  if (shown && scan != NULL && scan->source == NULL && demur_ct_view_image(page->view) == NULL &&
      page->image_job == NULL)
    demur_patient_page_load_images(page);
  if (shown && page->pictures_job == NULL)
    demur_patient_page_load_pictures(page);
}

/* Views. */

DemurCtView *
demur_patient_page_view(DemurPatientPage *page) {
  return page->view;
}

DemurCtView *
demur_patient_page_active_view(DemurPatientPage *page) {
  DemurCtView *const others[] = {page->prior, page->across[0], page->across[1]};
  for (guint i = 0; i < G_N_ELEMENTS(others); i++)
    if (gtk_widget_is_focus(GTK_WIDGET(others[i])))
      return others[i];
  return page->view;
}

static void
on_view_changed(DemurPatientPage *page) {
  demur_patient_page_update_tools(page);
  demur_patient_page_follow(page, page->view);
  demur_patient_page_share_grey(page, page->view);
}

static void
on_scrolled(DemurCtView *from, DemurPatientPage *page) {
  demur_patient_page_follow(page, from);
  demur_patient_page_update_cross(page);
}

/* Reviews. */

void
demur_patient_page_propose(DemurPatientPage *page, DemurReviewKind kind) {
  demur_verdict_card_propose(page->card, kind);
}

gboolean
demur_patient_page_keep(DemurPatientPage *page) {
  return page->shown && demur_verdict_card_keep(page->card);
}

gboolean
demur_patient_page_drop(DemurPatientPage *page) {
  return demur_verdict_card_drop(page->card);
}

/* Building: see resources/ui/patient-page.ui. */

static GtkWidget *
named_button(const char *label) {
  GtkWidget *button = gtk_button_new_with_label(label);
  demur_shown_name_set(GTK_WIDGET(button), label);
  return button;
}

static void
build_presets(DemurPatientPage *page) {
  for (guint i = 0; i < DEMUR_N_PRESETS; i++) {
    g_autofree char *label = g_strdup_printf(
        "%u %s", i + 1, i < DEMUR_N_CT_PRESETS ? _(demur_ct_presets[i].brief) : _("Own"));
    GtkWidget *button = named_button(label);
    demur_shown_tooltip_set(button, i < DEMUR_N_CT_PRESETS ? _(demur_ct_presets[i].whole)
                                                           : _("The file's own window"));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.preset");
    gtk_actionable_set_action_target(GTK_ACTIONABLE(button), "i", (int)i + 1);
    gtk_box_append(page->presets, button);
  }
}

static void
demur_patient_page_class_init(DemurPatientPageClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_patient_page_dispose;
  G_OBJECT_CLASS(class)->finalize = demur_patient_page_finalize;
  g_type_ensure(DEMUR_TYPE_CT_VIEW);
  g_type_ensure(DEMUR_TYPE_VERDICT_CARD);
  g_type_ensure(DEMUR_TYPE_WRAP_LAYOUT);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/demur/workstation/ui/patient-page.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, side);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, presets);
  for (guint i = DEMUR_TOOL_NONE + 1; i < DEMUR_N_TOOLS; i++)
    gtk_widget_class_bind_template_child_full(
        widget_class, demur_tool_name((DemurTool)i), FALSE,
        (gssize)(G_STRUCT_OFFSET(DemurPatientPage, tool) + i * sizeof(GtkWidget *)));
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, slab);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, compare);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, view);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, across_box);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, three);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, cine);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, key);
  static const char *const across_names[] = {"across_coronal", "across_sagittal"};
  for (guint i = 0; i < G_N_ELEMENTS(across_names); i++)
    gtk_widget_class_bind_template_child_full(
        widget_class, across_names[i], FALSE,
        (gssize)(G_STRUCT_OFFSET(DemurPatientPage, across) + i * sizeof(DemurCtView *)));
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, prior_box);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, prior_menu);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, link);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, prior);
  gtk_widget_class_bind_template_child(widget_class, DemurPatientPage, card);
  for (guint i = 0; i < DEMUR_N_CT_PLANES; i++)
    gtk_widget_class_bind_template_child_full(
        widget_class, demur_ct_plane_name((DemurCtPlane)i), FALSE,
        (gssize)(G_STRUCT_OFFSET(DemurPatientPage, plane) + i * sizeof(GtkWidget *)));
  gtk_widget_class_bind_template_callback(widget_class, on_view_changed);
  gtk_widget_class_bind_template_callback(widget_class, demur_patient_page_on_prior_changed);
  gtk_widget_class_bind_template_callback(widget_class, demur_patient_page_on_prior_chosen);
  gtk_widget_class_bind_template_callback(widget_class, on_scrolled);
  gtk_widget_class_bind_template_callback(widget_class, demur_patient_page_on_placed);
  gtk_widget_class_bind_template_callback(widget_class, demur_patient_page_on_measured);
  gtk_widget_class_bind_template_callback(widget_class, demur_patient_page_on_across_changed);
  gtk_widget_class_bind_template_callback(widget_class, demur_patient_page_on_wanted);
  gtk_widget_class_bind_template_callback(widget_class, demur_patient_page_on_prior_wanted);
}

static void
demur_patient_page_init(DemurPatientPage *page) {
  page->prior_row = -1;
  page->linked = TRUE;
  page->drawn = g_ptr_array_new();
  page->pictures = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  page->priors = g_array_new(FALSE, FALSE, sizeof(guint32));
  gtk_widget_init_template(GTK_WIDGET(page));
  build_presets(page);
  for (int i = 0; i < 2; i++)
    demur_ct_view_set_beside(page->across[i]);
}

DemurPatientPage *
demur_patient_page_new(DemurSession *session) {
  DemurPatientPage *page = g_object_new(DEMUR_TYPE_PATIENT_PAGE, NULL);
  page->session = g_object_ref(session);
  demur_verdict_card_set_session(page->card, session);
  g_signal_connect_object(session, "case-changed", G_CALLBACK(on_case_changed), page,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "reviewed", G_CALLBACK(on_reviewed), page, G_CONNECT_SWAPPED);
  g_signal_connect(page, "map", G_CALLBACK(on_map), NULL);
  on_case_changed(page);
  return page;
}
