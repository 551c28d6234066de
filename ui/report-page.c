#include "ui/report-page.h"

#include "ui/drawing.h"
#include "ui/files.h"
#include "ui/job.h"
#include "ui/shown.h"
#include "ui/words.h"

struct _DemurReportPage {
  GtkBox parent_instance;
  DemurSession *session;
  DemurCohortPage *cohort; /* borrowed: both live as long as the window */
  gboolean shown, stale;
  GtkStack *stack;
  GtkLabel *placeholder, *title;
  GtkFlowBox *sheets; /* side by side where the window has the room */
  GtkWidget *export;
  DemurCoverageStudy *study; /* of the pages */
  DemurReportPages *pages;
  DemurJob *export_job;
};

G_DEFINE_FINAL_TYPE(DemurReportPage, demur_report_page, GTK_TYPE_BOX)

typedef struct {
  DemurReportPage *page;
  size_t index;
} Sheet;

static void
clear_sheets(DemurReportPage *page) {
  GtkWidget *child;
  while (page->sheets != NULL &&
         (child = gtk_widget_get_first_child(GTK_WIDGET(page->sheets))) != NULL)
    gtk_flow_box_remove(page->sheets, child);
  g_clear_pointer(&page->pages, demur_report_pages_free);
  g_clear_pointer(&page->study, demur_coverage_study_unref);
}

static void
demur_report_page_dispose(GObject *object) {
  DemurReportPage *page = DEMUR_REPORT_PAGE(object);
  demur_job_drop(&page->export_job);
  page->sheets = NULL;
  clear_sheets(page);
  g_clear_object(&page->session);
  G_OBJECT_CLASS(demur_report_page_parent_class)->dispose(object);
}

static void
draw_sheet(cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle, gpointer data) {
  const Sheet *sheet = data;
  if (sheet->page->pages == NULL)
    return;
  double width, height;
  demur_report_pages_size(sheet->page->pages, &width, &height);
  cairo_set_source_rgb(cr, 1, 1, 1);
  cairo_paint(cr);
  cairo_scale(cr, rectangle.width / width, rectangle.height / height);
  demur_words_numbers(FALSE);
  demur_report_pages_draw(sheet->page->pages, sheet->index, cr);
  demur_words_numbers(TRUE);
}

static void
update(DemurReportPage *page) {
  DemurCoverageStudy *study = demur_cohort_page_study(page->cohort);
  page->stale = FALSE;
  clear_sheets(page);
  gtk_widget_set_sensitive(page->export, study != NULL);
  if (study == NULL) {
    demur_shown_label_set(page->placeholder,
                          demur_job_n_running() > 0
                              ? _("Evaluating the selector and its baselines…")
                              : _("There is nothing to report yet: the Cohort page says why."));
    gtk_stack_set_visible_child_name(page->stack, "placeholder");
    return;
  }
  g_autoptr(GError) error = NULL;
  page->study = demur_coverage_study_ref(study);
  demur_words_numbers(FALSE); /* pages are as they are printed */
  page->pages = demur_report_pages_new(study->report, &error);
  demur_words_numbers(TRUE);
  if (page->pages == NULL) {
    demur_shown_label_set(page->placeholder, error->message);
    gtk_stack_set_visible_child_name(page->stack, "placeholder");
    return;
  }
  g_autofree char *title = g_strdup_printf(
      _("Calibration report of selector %s on split %s of cohort %s%s"), study->selector,
      study->split, study->cohort, study->evaluation->simulated ? _(" · SIMULATED DATA") : "");
  demur_shown_label_set(page->title, title);
  double width, height;
  demur_report_pages_size(page->pages, &width, &height);
  const size_t n = demur_report_pages_count(page->pages);
  for (size_t i = 0; i < n; i++) {
    g_autofree char *name = g_strdup_printf(_("Page %zu of %zu"), i + 1, n);
    const double scale = 1.32;
    DemurDrawing *drawing = demur_drawing_new(name, (int)(width * scale), (int)(height * scale));
    Sheet *sheet = g_new(Sheet, 1);
    *sheet = (Sheet){page, i};
    demur_drawing_set(drawing, draw_sheet, NULL, sheet, g_free);
    demur_drawing_describe(drawing, title);
    gtk_widget_add_css_class(GTK_WIDGET(drawing), "page-paper");
    gtk_widget_set_halign(GTK_WIDGET(drawing), GTK_ALIGN_CENTER);
    gtk_flow_box_append(page->sheets, GTK_WIDGET(drawing));
    gtk_widget_set_focusable(gtk_widget_get_parent(GTK_WIDGET(drawing)), FALSE);
  }
  gtk_stack_set_visible_child_name(page->stack, "pages");
}

static void
on_study(DemurReportPage *page) {
  page->stale = TRUE;
  if (page->shown)
    update(page);
}

void
demur_report_page_set_shown(DemurReportPage *page, gboolean shown) {
  page->shown = shown;
  if (!shown)
    return;
  /* The numbers are those of the cohort page: it computes them if need be. */
  if (demur_cohort_page_study(page->cohort) == NULL) {
    demur_cohort_page_compute(page->cohort);
    page->stale = TRUE;
  }
  if (page->stale || page->study != demur_cohort_page_study(page->cohort))
    update(page);
}

/* Export. */

typedef struct {
  DemurCoverageStudy *study;
  char *path;
} ExportInput;

static void
export_input_free(gpointer data) {
  ExportInput *input = data;
  demur_coverage_study_unref(input->study);
  g_free(input->path);
  g_free(input);
}

static gpointer
export_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const ExportInput *input = data;
  return demur_report_write(input->study->report, input->path, progress, error)
             ? g_strdup(input->path)
             : NULL;
}

static void
on_exported(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurReportPage *page = owner;
  page->export_job = NULL;
  gtk_widget_set_sensitive(page->export, TRUE);
  if (result == NULL) {
    demur_session_fail(page->session, error);
    return;
  }
  g_autofree char *text =
      g_strdup_printf(_("The report was written to %s, its numbers beside it."), (char *)result);
  demur_session_notice(page->session, text, FALSE);
  g_free(result);
}

void
demur_report_page_export_to(DemurReportPage *page, const char *path) {
  if (page->study == NULL || page->export_job != NULL)
    return;
  ExportInput *input = g_new(ExportInput, 1);
  *input = (ExportInput){demur_coverage_study_ref(page->study), g_strdup(path)};
  const DemurJobStart start = {.func = export_work,
                               .input = input,
                               .free_input = export_input_free,
                               .free_result = g_free,
                               .owner = G_OBJECT(page),
                               .done = on_exported};
  page->export_job = demur_job_start(&start);
  gtk_widget_set_sensitive(page->export, FALSE);
}

static void
on_chosen(const char *const *paths, gpointer data) {
  DemurReportPage *page = data;
  if (paths != NULL)
    demur_report_page_export_to(page, paths[0]);
  g_object_unref(page);
}

void
demur_report_page_export(DemurReportPage *page) {
  if (page->study != NULL)
    demur_files_choose(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(page))), DEMUR_CHOOSE_SAVE,
                       _("Export the report"), "report.pdf", on_chosen, g_object_ref(page));
}

/* Building: see resources/ui/report-page.ui. */

static void
demur_report_page_class_init(DemurReportPageClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_report_page_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/demur/workstation/ui/report-page.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurReportPage, stack);
  gtk_widget_class_bind_template_child(widget_class, DemurReportPage, placeholder);
  gtk_widget_class_bind_template_child(widget_class, DemurReportPage, title);
  gtk_widget_class_bind_template_child(widget_class, DemurReportPage, sheets);
  gtk_widget_class_bind_template_child(widget_class, DemurReportPage, export);
}

static void
demur_report_page_init(DemurReportPage *page) {
  page->stale = TRUE;
  gtk_widget_init_template(GTK_WIDGET(page));
}

DemurReportPage *
demur_report_page_new(DemurSession *session, DemurCohortPage *cohort) {
  DemurReportPage *page = g_object_new(DEMUR_TYPE_REPORT_PAGE, NULL);
  page->session = g_object_ref(session);
  page->cohort = cohort;
  g_signal_connect_object(cohort, "study", G_CALLBACK(on_study), page, G_CONNECT_SWAPPED);
  update(page);
  return page;
}
