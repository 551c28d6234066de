/* The series of the study in the left-hand column, each with its picture, why the rules chose it or
 * not, and the way to another choice. */
#include "ui/patient-page-private.h"

#include "ui/thumbnails.h"
#include "words/words.h"

static void
on_picture(gpointer owner, guint64 tag, gpointer part) {
  DemurPatientPage *page = owner;
  g_autoptr(DemurThumbnail) thumbnail = part;
  GtkWidget *picture = g_hash_table_lookup(page->pictures, thumbnail->scan_id);
  if (tag != page->generation || picture == NULL)
    return;
  gtk_picture_set_paintable(GTK_PICTURE(picture), GDK_PAINTABLE(thumbnail->texture));
  g_autofree char *name = g_strdup_printf(_("Middle slice of the series, %d by %d pixels"),
                                          gdk_texture_get_width(thumbnail->texture),
                                          gdk_texture_get_height(thumbnail->texture));
  demur_shown_name_set(picture, name);
}

static void
on_pictures(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurPatientPage *page = owner;
  if (tag == page->generation)
    page->pictures_job = NULL;
}

static void
add_picture(DemurPatientPage *page, GtkBox *line, const DemurScan *scan) {
  GtkWidget *picture = gtk_picture_new();
  gtk_picture_set_can_shrink(GTK_PICTURE(picture), TRUE);
  gtk_widget_set_size_request(picture, DEMUR_THUMBNAIL_SIZE, DEMUR_THUMBNAIL_SIZE);
  gtk_widget_set_valign(picture, GTK_ALIGN_START);
  gtk_widget_add_css_class(picture, "ct");
  demur_shown_name_set(picture, _("No picture of the series yet"));
  gtk_box_append(line, picture);
  g_hash_table_insert(page->pictures, g_strdup(scan->scan_id), picture);
}

void
demur_patient_page_load_pictures(DemurPatientPage *page) {
  demur_job_drop(&page->pictures_job);
  if (!page->shown || g_hash_table_size(page->pictures) == 0)
    return;
  g_autofree char **scan_ids = (char **)g_hash_table_get_keys_as_array(page->pictures, NULL);
  page->pictures_job =
      demur_thumbnails_load(demur_session_path(page->session), (const char *const *)scan_ids,
                            G_OBJECT(page), page->generation, on_picture, on_pictures);
}

static void
add_series(DemurPatientPage *page, guint32 row, gboolean current) {
  const DemurScan *scan = &demur_session_table(page->session)->scans[row];
  g_autoptr(GString) text = g_string_new(NULL);
  if (scan->series_number >= 0)
    g_string_append_printf(text, "%d · ", scan->series_number);
  g_string_append(text, *scan->description != '\0' ? scan->description : scan->type);
  if (scan->chosen)
    g_string_append_printf(text, " · %s",
                           scan->overrule != NULL ? _("assessed by a person's choice")
                                                  : _("chosen for assessment"));
  else if (scan->reasons != NULL) {
    g_autofree char *reason = demur_scan_first_reason(scan);
    g_string_append_printf(text, ": %s", reason);
  }
  GtkWidget *label = demur_shown_label_new(text->str);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_wrap(GTK_LABEL(label), TRUE);
  gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_width_chars(GTK_LABEL(label), 8);
  gtk_widget_add_css_class(label, "small");
  gtk_widget_set_hexpand(label, TRUE);
  if (!scan->chosen)
    gtk_widget_add_css_class(label, "muted");
  GtkBox *line = GTK_BOX(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6));
  add_picture(page, line, scan);
  gtk_box_append(line, label);
  demur_patient_page_add_screen_button(page, row, GTK_WIDGET(line), text->str, current);
}

void
demur_patient_page_add_study(DemurPatientPage *page, size_t row) {
  const DemurScanTable *table = demur_session_table(page->session);
  size_t n;
  g_autofree guint32 *rows = demur_scan_table_of_study(table, row, &n);
  if (table->scans[row].source != NULL || n < 1)
    return;
  gtk_widget_set_margin_top(
      demur_patient_page_add_text(page->side, _("Series of this study"), "heading"), 8);
  for (size_t i = 0; i < n; i++)
    add_series(page, rows[i], rows[i] == row);
  const DemurScan *mine = &table->scans[row];
  const char *rule = _("The rule chooses the series before any score is seen.");
  if (mine->overrule != NULL) {
    g_autofree char *by_rules = demur_words_kept(mine->overruled, demur_words_translate);
    g_autofree char *text =
        g_strdup_printf(_("Chosen by a person: %s. By the rules: %s."), mine->overrule,
                        *mine->overruled != '\0' ? by_rules : _("accepted"));
    demur_patient_page_add_text(page->side, text, NULL);
  }
  demur_patient_page_add_text(page->side, rule, "muted");
  if (!mine->chosen) {
    gboolean another = FALSE; /* is assessed: only of that this one can stand in place */
    for (size_t i = 0; i < n; i++)
      another |= table->scans[rows[i]].chosen;
    GtkWidget *choose = gtk_button_new_with_label(another ? _("Assess this series instead…")
                                                          : _("Overrule the refusal…"));
    gtk_label_set_wrap(GTK_LABEL(gtk_button_get_child(GTK_BUTTON(choose))), TRUE);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(choose), "win.choose-series");
    demur_shown_tooltip_set(choose, _("Overrule the rules, with a reason (W)"));
    gtk_box_append(page->side, choose);
  }
}
