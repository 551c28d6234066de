#include "ui/report-page.h"

#include "base/shown-text.h"
#include "report/format.h"
#include "tasks/family-study.h"
#include "tasks/report.h"
#include "ui/drawing.h"
#include "ui/files.h"
#include "ui/job.h"
#include "ui/shown.h"
#include "ui/words.h"
#include "ui/worker.h"

struct _DemurReportPage {
  GtkBox parent_instance;
  DemurSession *session;
  DemurCohortPage *cohort; /* borrowed: both live as long as the window */
  gboolean shown, stale;
  GtkStack *stack;
  GtkLabel *placeholder, *title;
  GtkFlowBox *sheets; /* side by side where the window has the room */
  GtkWidget *export;
  GtkDropDown *coverage, *paper, *grouping;
  GtkCheckButton *all_horizons; /* shown where the selector is one of a family */
  char *group_by;               /* NULL: the usual */
  gboolean filling;
  DemurCoverageStudy *study; /* of the pages */
  gconstpointer filled_for;  /* the study of which the choices are, an address only */
  DemurReportTask *report;   /* of the coverage and paper that are chosen */
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
  g_clear_pointer(&page->report, demur_report_task_free);
  g_clear_pointer(&page->study, demur_coverage_study_unref);
}

static void
demur_report_page_dispose(GObject *object) {
  DemurReportPage *page = DEMUR_REPORT_PAGE(object);
  demur_job_drop(&page->export_job);
  page->sheets = NULL;
  clear_sheets(page);
  g_clear_object(&page->session);
  g_clear_pointer(&page->group_by, g_free);
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

/* Choices. */

/* The coverage that is chosen; 0: the usual. */
static double
chosen_coverage(DemurReportPage *page, const DemurCoverageStudy *study) {
  const guint at = gtk_drop_down_get_selected(page->coverage);
  guint seen = 0;
  for (size_t a = 0; at != GTK_INVALID_LIST_POSITION && at > 0 && a < study->method->n_at; a++)
    if (study->method->at[a].from_tune == FALSE && ++seen == at)
      return study->method->at[a].coverage;
  return 0;
}

static void
refill(GtkDropDown *menu, GtkStringList *texts, guint selected) {
  gtk_drop_down_set_model(menu, G_LIST_MODEL(texts));
  gtk_drop_down_set_selected(menu, selected);
}

/* What this study can be reported at and by. */
static void
fill_choices(DemurReportPage *page, const DemurCoverageStudy *study) {
  page->filling = TRUE;
  g_autoptr(GtkStringList) coverages = gtk_string_list_new(NULL);
  gtk_string_list_append(coverages, _("the usual coverage"));
  for (size_t a = 0; a < study->method->n_at; a++)
    if (!study->method->at[a].from_tune) {
      g_autofree char *text = demur_text_coverage(study->method->at[a].coverage);
      gtk_string_list_append(coverages, text);
    }
  const guint coverage = gtk_drop_down_get_selected(page->coverage);
  const guint n = g_list_model_get_n_items(G_LIST_MODEL(coverages));
  refill(page->coverage, coverages, coverage < n ? coverage : 0);
  g_autoptr(GtkStringList) groups = gtk_string_list_new(NULL);
  gtk_string_list_append(groups, _("by site and scanner"));
  guint chosen = 0;
  for (size_t a = 0; a < study->view->n_attributes; a++) {
    const char *name = study->view->attributes[a].name;
    if (g_strcmp0(name, page->group_by) == 0)
      chosen = (guint)a + 1;
    g_autofree char *safe = demur_shown_text(name);
    gtk_string_list_append(groups, safe);
  }
  refill(page->grouping, groups, chosen);
  page->filling = FALSE;
}

static gboolean
make_pages(DemurReportPage *page, GError **error) {
  g_clear_pointer(&page->pages, demur_report_pages_free);
  g_clear_pointer(&page->report, demur_report_task_free);
  page->report =
      demur_coverage_study_report(page->study, chosen_coverage(page, page->study), error);
  if (page->report == NULL)
    return FALSE;
  page->report->input.paper =
      gtk_drop_down_get_selected(page->paper) == 1 ? DEMUR_PAPER_LETTER : DEMUR_PAPER_A4;
  demur_words_numbers(FALSE); /* pages are as they are printed */
  page->pages = demur_report_pages_new(&page->report->input, error);
  demur_words_numbers(TRUE);
  return page->pages != NULL;
}

static void
update(DemurReportPage *page) {
  const gboolean computing = demur_cohort_page_is_computing(page->cohort);
  DemurCoverageStudy *study = computing ? NULL : demur_cohort_page_study(page->cohort);
  page->stale = FALSE;
  clear_sheets(page);
  gtk_widget_set_sensitive(page->export, study != NULL);
  demur_shown_tooltip_set(page->export,
                          study != NULL ? NULL : _("There is nothing to report yet."));
  GtkWidget *const choices[] = {GTK_WIDGET(page->coverage), GTK_WIDGET(page->paper),
                                GTK_WIDGET(page->grouping), GTK_WIDGET(page->all_horizons)};
  for (guint i = 0; i < G_N_ELEMENTS(choices); i++)
    gtk_widget_set_sensitive(choices[i], study != NULL);
  gtk_widget_set_visible(GTK_WIDGET(page->all_horizons), study != NULL && study->family != NULL);
  if (study == NULL) {
    page->filled_for = NULL;
    demur_shown_label_set(page->placeholder,
                          computing
                              ? _("Evaluating the selector and its baselines…")
                              : _("There is nothing to report yet: the Cohort page says why."));
    gtk_stack_set_visible_child_name(page->stack, "placeholder");
    return;
  }
  g_autoptr(GError) error = NULL;
  page->study = demur_coverage_study_ref(study);
  if (page->filled_for != study) /* not while one of them is being chosen */
    fill_choices(page, study);
  page->filled_for = study;
  if (!make_pages(page, &error)) {
    g_autofree char *why = demur_words_error(error);
    demur_shown_label_set(page->placeholder, why);
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
    demur_drawing_set_page(drawing);
    demur_drawing_set(drawing, draw_sheet, NULL, sheet, g_free);
    demur_drawing_describe(drawing, title);
    gtk_widget_add_css_class(GTK_WIDGET(drawing), "page-paper");
    gtk_widget_set_halign(GTK_WIDGET(drawing), GTK_ALIGN_CENTER);
    gtk_flow_box_append(page->sheets, GTK_WIDGET(drawing));
    gtk_widget_set_can_focus(gtk_widget_get_parent(GTK_WIDGET(drawing)), FALSE);
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
  demur_cohort_page_compute(page->cohort);
  page->stale |= demur_cohort_page_is_computing(page->cohort);
  if (page->stale || page->study != demur_cohort_page_study(page->cohort))
    update(page);
}

static void
on_choice(DemurReportPage *page) {
  if (!page->filling && page->study != NULL && page->shown)
    update(page);
}

static void
on_grouping(DemurReportPage *page) {
  const guint at = gtk_drop_down_get_selected(page->grouping);
  if (page->filling || page->study == NULL || at == GTK_INVALID_LIST_POSITION)
    return;
  g_free(page->group_by);
  page->group_by = at == 0 ? NULL : g_strdup(page->study->view->attributes[at - 1].name);
  demur_cohort_page_group_by(page->cohort, page->group_by);
  update(page);
}

/* Export. */

typedef struct {
  DemurCoverageStudy *study;
  DemurReportTask *report;
  char *path;
  char
      *workspace; /* set where all horizons of the study's family are reported, which it computes */
  char *group_by; /* of them; NULL: the usual */
  double coverage;
} ExportInput;

static void
export_input_free(gpointer data) {
  ExportInput *input = data;
  demur_report_task_free(input->report);
  demur_coverage_study_unref(input->study);
  g_free(input->path);
  g_free(input->workspace);
  g_free(input->group_by);
  g_free(input);
}

/* The report of all horizons, evaluated as the study was. */
static gboolean
export_family(const ExportInput *input, const DemurProgress *progress, GError **error) {
  const DemurCoverageStudy *study = input->study;
  DemurEvaluateParams options = {.cohort = g_strdup(study->cohort),
                                 .split = g_strdup(study->split),
                                 .usual_groups = TRUE,
                                 .use = TRUE};
  if (input->group_by != NULL) {
    options.group_by = g_new0(char *, 2);
    options.group_by[0] = g_strdup(input->group_by);
  }
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->workspace, NULL, progress);
  gboolean simulated;
  return demur_task_family_report(&task, study->family, &study->horizons, &options, input->coverage,
                                  input->report->input.paper, input->path, &simulated, error);
}

static gpointer
export_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const ExportInput *input = data;
  if (input->workspace != NULL)
    return export_family(input, progress, error) ? g_strdup(input->path) : NULL;
  return demur_report_write(&input->report->input, input->path, progress, error)
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
  if (page->report == NULL || page->export_job != NULL)
    return;
  g_autoptr(GError) error = NULL;
  DemurReportTask *report =
      demur_coverage_study_report(page->study, chosen_coverage(page, page->study), &error);
  if (report == NULL) {
    demur_session_fail(page->session, error);
    return;
  }
  report->input.paper = page->report->input.paper;
  ExportInput *input = g_new(ExportInput, 1);
  const gboolean all =
      page->study->family != NULL && gtk_check_button_get_active(page->all_horizons);
  *input = (ExportInput){.study = demur_coverage_study_ref(page->study),
                         .report = report,
                         .path = g_strdup(path),
                         .workspace = all ? g_strdup(demur_session_path(page->session)) : NULL,
                         .group_by = g_strdup(page->group_by),
                         .coverage = chosen_coverage(page, page->study)};
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
  gtk_widget_class_bind_template_child(widget_class, DemurReportPage, coverage);
  gtk_widget_class_bind_template_child(widget_class, DemurReportPage, paper);
  gtk_widget_class_bind_template_child(widget_class, DemurReportPage, grouping);
  gtk_widget_class_bind_template_child(widget_class, DemurReportPage, all_horizons);
  gtk_widget_class_bind_template_callback(widget_class, on_choice);
  gtk_widget_class_bind_template_callback(widget_class, on_grouping);
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
