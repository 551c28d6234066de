#include "ui/import-report.h"

#include "ui/shown.h"
#include "ui/words.h"

struct _DemurImportReport {
  GtkWindow parent_instance;
  GtkBox *files;
  GtkLabel *unchanged;
  GtkWidget *again;
};

G_DEFINE_FINAL_TYPE(DemurImportReport, demur_import_report, GTK_TYPE_WINDOW)

static void
add_outcome(GtkBox *box, const char *heading, const char *style, const GPtrArray *lines) {
  if (lines->len == 0)
    return;
  g_autofree char *title = g_strdup_printf("%s (%u)", heading, lines->len);
  GtkWidget *label = demur_shown_label_new(title);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_widget_add_css_class(label, "strong");
  gtk_widget_add_css_class(label, style);
  gtk_widget_set_margin_top(label, 8);
  gtk_box_append(box, label);
  for (guint i = 0; i < lines->len; i++) {
    const DemurImportLine *line = lines->pdata[i];
    g_autofree char *text = line->detail != NULL
                                ? g_strdup_printf("%s: %s", line->title, line->detail)
                                : g_strdup(line->title);
    GtkWidget *entry = demur_shown_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(entry), 0);
    gtk_label_set_wrap(GTK_LABEL(entry), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(entry), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_selectable(GTK_LABEL(entry), TRUE);
    gtk_box_append(box, entry);
  }
}

static void
demur_import_report_class_init(DemurImportReportClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/demur/workstation/ui/import-report.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurImportReport, files);
  gtk_widget_class_bind_template_child(widget_class, DemurImportReport, unchanged);
  gtk_widget_class_bind_template_child(widget_class, DemurImportReport, again);
}

static void
demur_import_report_init(DemurImportReport *report) {
  gtk_widget_init_template(GTK_WIDGET(report));
}

void
demur_import_report_present(GtkWindow *parent, const DemurImportOutcome *outcome) {
  DemurImportReport *report = g_object_new(DEMUR_TYPE_IMPORT_REPORT, "transient-for", parent, NULL);
  gtk_widget_insert_action_group(GTK_WIDGET(report), "win", G_ACTION_GROUP(parent));
  add_outcome(report->files, _("● Accepted for assessment"), "accepted", outcome->accepted);
  add_outcome(report->files, _("◇ Not assessed, shown all the same"), "not-eligible",
              outcome->rejected);
  add_outcome(report->files, _("– Skipped: no images"), "other-verdict", outcome->skipped);
  g_autofree char *unchanged = demur_import_outcome_unchanged(outcome);
  demur_shown_label_set(report->unchanged, unchanged);
  gtk_widget_set_visible(GTK_WIDGET(report->unchanged), unchanged != NULL);
  gtk_widget_set_visible(report->again, unchanged != NULL);
  gtk_window_present(GTK_WINDOW(report));
}
