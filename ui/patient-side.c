/* The left-hand column: who it is, the patient's scans, their risks over time. */
#include "ui/patient-page-private.h"

#include "report/format.h"
#include "ui/risk-course.h"

GtkWidget *
demur_patient_page_add_text(GtkBox *box, const char *text, const char *style) {
  GtkWidget *label = demur_shown_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_wrap(GTK_LABEL(label), TRUE);
  gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_width_chars(GTK_LABEL(label), 8);
  if (style != NULL)
    gtk_widget_add_css_class(label, style);
  gtk_box_append(box, label);
  return label;
}

static void
on_screen_clicked(GtkButton *button, DemurPatientPage *page) {
  demur_session_select(page->session,
                       GPOINTER_TO_INT(g_object_get_data(G_OBJECT(button), "row")) - 1);
}

void
demur_patient_page_add_screen_button(DemurPatientPage *page, guint32 row, GtkWidget *child,
                                     const char *name, gboolean current) {
  GtkWidget *button = gtk_button_new();
  gtk_button_set_child(GTK_BUTTON(button), child);
  demur_shown_name_set(button, name);
  gtk_widget_add_css_class(button, "screen");
  if (current)
    gtk_widget_add_css_class(button, "current");
  g_object_set_data(G_OBJECT(button), "row", GINT_TO_POINTER((int)row + 1));
  g_signal_connect(button, "clicked", G_CALLBACK(on_screen_clicked), page);
  gtk_box_append(page->side, button);
}

static void
add_screen(DemurPatientPage *page, guint32 row, gboolean current) {
  const DemurScan *scan = &demur_session_table(page->session)->scans[row];
  GtkBox *box = GTK_BOX(gtk_box_new(GTK_ORIENTATION_VERTICAL, 2));
  GtkBox *line = GTK_BOX(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6));
  GtkWidget *date = demur_shown_label_new(*scan->date != '\0' ? scan->date : _("no date"));
  gtk_widget_add_css_class(date, "strong");
  gtk_widget_set_hexpand(date, TRUE);
  gtk_label_set_xalign(GTK_LABEL(date), 0);
  gtk_box_append(line, date);
  g_autofree char *risk = isnan(scan->risk) && scan->shown != DEMUR_SHOWN_RED_FLAG
                              ? g_strdup(demur_shown_title(scan->shown))
                              : demur_scan_risk_text(scan);
  g_autofree char *verdict = g_strdup_printf("%s %s", demur_shown_glyph(scan->shown), risk);
  GtkWidget *label = demur_shown_label_new(verdict);
  gtk_widget_add_css_class(label, demur_shown_style(scan->shown));
  gtk_box_append(line, label);
  gtk_box_append(box, GTK_WIDGET(line));
  g_autoptr(GString) facts = g_string_new(scan->scanner);
  g_autofree char *thickness = demur_text_formatted("%.4g", scan->thickness_mm);
  if (!isnan(scan->thickness_mm))
    g_string_append_printf(facts, "%s%s mm", facts->len > 0 ? " · " : "", thickness);
  if (facts->len > 0) {
    GtkWidget *text = demur_patient_page_add_text(box, facts->str, "small");
    gtk_widget_add_css_class(text, "muted");
  }
  g_autofree char *name = g_strdup_printf(_("Scan of %s, %s"), scan->date, verdict);
  demur_patient_page_add_screen_button(page, row, GTK_WIDGET(box), name, current);
}

static void
add_course(DemurPatientPage *page, const guint32 *rows, size_t n) {
  DemurDrawing *course = demur_risk_course_new(demur_session_table(page->session), rows, n);
  if (course == NULL)
    return;
  gtk_widget_set_margin_top(demur_patient_page_add_text(page->side, _("Risk over time"), "heading"),
                            8);
  gtk_box_append(page->side, GTK_WIDGET(course));
}

/* What is under the same ID and not in the list above, since it is another person's or may be. */
static void
add_namesakes(DemurPatientPage *page, const DemurScanTable *table, size_t row) {
  size_t n_others, n_untold;
  demur_scan_table_namesakes(table, row, &n_others, &n_untold);
  const gulong others = (gulong)n_others, untold = (gulong)n_untold;
  g_autofree char *of_others =
      g_strdup_printf(ngettext_("%lu scan more under this ID is of another person.",
                                "%lu scans more under this ID are of another person.", others),
                      others);
  g_autofree char *of_untold =
      g_strdup_printf(ngettext_("%lu scan more under this ID: whether it is of the same person "
                                "can't be told.",
                                "%lu scans more under this ID: whether they are of the same person "
                                "can't be told.",
                                untold),
                      untold);
  if (others > 0)
    gtk_widget_add_css_class(demur_patient_page_add_text(page->side, of_others, "small"), "muted");
  if (untold > 0)
    gtk_widget_add_css_class(demur_patient_page_add_text(page->side, of_untold, "small"), "muted");
}

void
demur_patient_page_update_side(DemurPatientPage *page) {
  for (GtkWidget *child; (child = gtk_widget_get_first_child(GTK_WIDGET(page->side))) != NULL;)
    gtk_box_remove(page->side, child);
  page->prior_row = -1;
  page->marks = NULL;
  g_hash_table_remove_all(page->pictures);
  g_array_set_size(page->priors, 0);
  const DemurScan *scan = demur_session_scan(page->session);
  if (scan == NULL) {
    demur_patient_page_add_text(page->side, _("No case is open. Choose one in the worklist."),
                                "muted");
    return;
  }
  const size_t row = (size_t)demur_session_row(page->session);
  const DemurScanTable *table = demur_session_table(page->session);
  GtkWidget *id = demur_patient_page_add_text(
      page->side, *scan->patient_id != '\0' ? scan->patient_id : _("no patient ID"), "title");
  gtk_label_set_selectable(GTK_LABEL(id), TRUE);
  gtk_widget_set_can_focus(id, FALSE); /* its text is chosen by mouse; Tab would end in it */
  if (*scan->patient_name != '\0') {
    g_autofree char *name = demur_scan_name_text(scan);
    demur_patient_page_add_text(page->side, name, NULL);
  }
  g_autofree char *age = demur_age_sex_text(scan->age, scan->sex);
  g_autofree char *who =
      *scan->site != '\0' ? g_strdup_printf("%s · %s", age, scan->site) : g_strdup(age);
  demur_patient_page_add_text(page->side, who, "muted");
  if (scan->simulated) {
    GtkWidget *mark = demur_patient_page_add_text(page->side, _("SIMULATED DATA"), "simulated");
    gtk_widget_set_halign(mark, GTK_ALIGN_START);
  }
  size_t n;
  g_autofree guint32 *rows = demur_scan_table_of_patient(table, row, &n);
  gtk_widget_set_margin_top(demur_patient_page_add_text(page->side, _("Scans"), "heading"), 8);
  for (size_t i = 0; i < n; i++) {
    add_screen(page, rows[i], rows[i] == row);
    if (scan->source == NULL && rows[i] != row &&
        demur_scan_is_earlier(&table->scans[rows[i]], scan))
      g_array_append_val(page->priors, rows[i]);
  }
  add_namesakes(page, table, row);
  demur_patient_page_fill_priors(page);
  add_course(page, rows, n);
  demur_patient_page_add_study(page, row);
  page->marks = GTK_BOX(gtk_box_new(GTK_ORIENTATION_VERTICAL, 6));
  gtk_box_append(page->side, GTK_WIDGET(page->marks));
  demur_patient_page_fill_marks(page);
}
