#include "ui/window.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/file-output.h"
#include "report/format.h"
#include "tasks/selectors.h"
#include "ui/assess-window.h"
#include "ui/cohort-page.h"
#include "ui/files.h"
#include "ui/import-report.h"
#include "ui/incoming.h"
#include "ui/job.h"
#include "ui/patient-page.h"
#include "ui/question-window.h"
#include "ui/report-page.h"
#include "ui/remove-window.h"
#include "ui/resolve-window.h"
#include "ui/shown.h"
#include "ui/steps.h"
#include "ui/theme.h"
#include "ui/train-window.h"
#include "ui/watch-page.h"
#include "ui/window-actions.h"
#include "ui/words.h"
#include "ui/wrap-layout.h"
#include "ui/worker.h"
#include "ui/worklist-export.h"
#include "ui/worklist-page.h"

struct _DemurWindow {
  GtkApplicationWindow parent_instance;
  DemurSession *session;
  DemurSteps *steps;
  GtkStack *stack;
  GtkWindow *train; /* weak; NULL: not open */
  GtkLabel *workspace;
  GtkMenuButton *menu;
  GtkSearchEntry *search;
  GtkDropTarget *drop;
  DemurWorklistPage *worklist;
  DemurPatientPage *patient;
  DemurCohortPage *cohort;
  DemurReportPage *report;
  DemurWatchPage *watch;
  GtkWidget *busy_box;
  GtkBox *notice_box;
  GtkWidget *notice_more;
  GtkLabel *notice, *busy_label;
  GtkProgressBar *busy_bar;
  GtkLabel *status_model, *status_selector, *status_coverage, *status_count, *status_hint;
  GtkWidget *status_simulated;
};

G_DEFINE_FINAL_TYPE(DemurWindow, demur_window, GTK_TYPE_APPLICATION_WINDOW)

static const char *const page_names[] = {"worklist", "patient", "cohort", "report", "watch"};

static void
demur_window_dispose(GObject *object) {
  DemurWindow *window = DEMUR_WINDOW(object);
  g_clear_weak_pointer(&window->train);
  g_clear_object(&window->session);
  G_OBJECT_CLASS(demur_window_parent_class)->dispose(object);
}

/* The status line. */

static void
set_or_hide(GtkLabel *label, char *text) {
  demur_shown_label_set(label, text != NULL ? text : "");
  gtk_widget_set_visible(GTK_WIDGET(label), text != NULL);
  g_free(text);
}

static void
update_status(DemurWindow *window) {
  DemurScanTable *table = demur_session_table(window->session);
  gtk_widget_set_visible(window->status_simulated, table != NULL && table->simulated);
  if (table == NULL)
    return;
  const DemurInUse *in_use = &table->in_use;
  g_autofree char *digest = in_use->digest != NULL ? g_strndup(in_use->digest, 8) : NULL;
  g_autofree char *coverage = demur_text_coverage(in_use->coverage);
  g_autofree char *threshold = demur_text_significant(in_use->threshold, 3);
  set_or_hide(window->status_model,
              in_use->model != NULL ? g_strdup_printf(_("Model %s"), in_use->model) : NULL);
  set_or_hide(window->status_selector,
              in_use->selector != NULL
                  ? g_strdup_printf(_("Selector %s · %s"), in_use->selector, digest)
                  : NULL);
  set_or_hide(window->status_coverage,
              in_use->selector == NULL ? NULL
              : isnan(in_use->threshold)
                  ? g_strdup(_("not tuned"))
                  : g_strdup_printf(_("Coverage %s · threshold %s"), coverage, threshold));
  size_t n_left = 0;
  for (size_t i = 0; i < table->n_scans; i++)
    n_left += table->reviews[i].n_reviews == 0;
  g_autofree char *scans = demur_text_count(table->n_scans);
  g_autofree char *left = demur_text_count(n_left);
  /* The worklist has a chip that counts what is left. */
  set_or_hide(window->status_count,
              g_strcmp0(demur_window_page(window), "worklist") == 0
                  ? g_strdup_printf(_("%s scans"), scans)
                  : g_strdup_printf(_("%s scans · %s not reviewed"), scans, left));
  g_autofree char *name = g_path_get_basename(table->path);
  demur_shown_label_set(window->workspace, name);
  demur_shown_tooltip_set(GTK_WIDGET(window->workspace), table->path);
}

/* Notices and running work. */

static void
on_notice(DemurWindow *window, const char *text, gboolean is_error) {
  demur_shown_label_set(window->notice, text);
  gtk_widget_set_visible(window->notice_more, FALSE);
  if (is_error)
    gtk_widget_add_css_class(GTK_WIDGET(window->notice_box), "error");
  else
    gtk_widget_remove_css_class(GTK_WIDGET(window->notice_box), "error");
  gtk_widget_set_visible(GTK_WIDGET(window->notice_box), TRUE);
}

static void
close_notice(DemurWindow *window) {
  gtk_widget_set_visible(GTK_WIDGET(window->notice_box), FALSE);
}

static void
on_busy(DemurWindow *window) {
  double fraction;
  const char *title = demur_session_busy(window->session, &fraction);
  gtk_widget_set_visible(window->busy_box, title != NULL);
  if (title != NULL)
    demur_shown_label_set(window->busy_label, title);
  gtk_progress_bar_set_fraction(window->busy_bar, CLAMP(fraction, 0, 1));
}

static void
on_loaded(DemurWindow *window) {
  update_status(window);
}

static void
cancel_work(DemurWindow *window) {
  demur_session_cancel(window->session);
}

/* Pages. */

static void
update_page(DemurWindow *window) {
  const char *page = gtk_stack_get_visible_child_name(window->stack);
  g_action_change_state(g_action_map_lookup_action(G_ACTION_MAP(window), "page"),
                        g_variant_new_string(page));
  /* A screen reader hears of the page that is shown, not of the others. */
  for (guint i = 0; i < G_N_ELEMENTS(page_names); i++)
    gtk_accessible_update_state(
        GTK_ACCESSIBLE(gtk_stack_get_child_by_name(window->stack, page_names[i])),
        GTK_ACCESSIBLE_STATE_HIDDEN, g_strcmp0(page, page_names[i]) != 0, -1);
  demur_patient_page_set_shown(window->patient, g_strcmp0(page, "patient") == 0);
  demur_cohort_page_set_shown(window->cohort, g_strcmp0(page, "cohort") == 0);
  demur_report_page_set_shown(window->report, g_strcmp0(page, "report") == 0);
  demur_watch_page_set_shown(window->watch, g_strcmp0(page, "watch") == 0);
  /* Keys are for the page that is shown: no letter of a verdict goes to the search. */
  GtkWidget *focus = gtk_window_get_focus(GTK_WINDOW(window));
  if (g_strcmp0(page, "worklist") != 0 &&
      (focus == NULL ||
       !gtk_widget_is_ancestor(focus, gtk_stack_get_visible_child(window->stack)))) {
    if (g_strcmp0(page, "patient") == 0)
      gtk_widget_grab_focus(GTK_WIDGET(demur_patient_page_view(window->patient)));
    else
      gtk_widget_child_focus(gtk_stack_get_visible_child(window->stack), GTK_DIR_TAB_FORWARD);
  }
  gtk_label_set_markup(window->status_hint,
                       g_strcmp0(page, "worklist") == 0
                           ? _("<b>N</b> next  <b>P</b> previous  <b>Enter</b> open")
                           : "");
  update_status(window);
}

gboolean
demur_window_show_page(DemurWindow *window, const char *page) {
  if (gtk_stack_get_child_by_name(window->stack, page) == NULL)
    return FALSE;
  gtk_stack_set_visible_child_name(window->stack, page);
  return TRUE;
}

const char *
demur_window_page(DemurWindow *window) {
  return gtk_stack_get_visible_child_name(window->stack);
}

gboolean
demur_window_is_settled(DemurWindow *window) {
  return demur_job_n_running() == 0;
}

/* Actions. */

static void
on_page_state(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  g_simple_action_set_state(action, value);
  if (g_strcmp0(demur_window_page(window), g_variant_get_string(value, NULL)) != 0)
    demur_window_show_page(window, g_variant_get_string(value, NULL));
}

static void
on_next(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_session_step(DEMUR_WINDOW(data)->session, 1);
}

static void
on_previous(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_session_step(DEMUR_WINDOW(data)->session, -1);
}

static void
on_search_action(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  demur_window_show_page(window, "worklist");
  gtk_widget_grab_focus(GTK_WIDGET(window->search));
  const char *text = g_variant_get_string(value, NULL);
  if (*text != '\0') {
    g_autofree char *all =
        g_strconcat(gtk_editable_get_text(GTK_EDITABLE(window->search)), text, NULL);
    gtk_editable_set_text(GTK_EDITABLE(window->search), all);
  }
  gtk_editable_set_position(GTK_EDITABLE(window->search), -1);
}

static void
on_show_action(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  demur_window_show_page(window, "worklist");
  demur_worklist_page_show(window->worklist, g_variant_get_string(value, NULL));
}

static void
on_close_notice(GSimpleAction *action, GVariant *value, gpointer data) {
  close_notice(data);
}

static void
on_cancel(GSimpleAction *action, GVariant *value, gpointer data) {
  cancel_work(data);
}

static void
on_reload(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_session_reload(DEMUR_WINDOW(data)->session);
}

/* Patient. */

static void
on_open_case(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  demur_window_show_page(window, "patient");
  gtk_widget_grab_focus(GTK_WIDGET(demur_patient_page_view(window->patient)));
}

static void
on_plane(GSimpleAction *action, GVariant *value, gpointer data) {
  const char *name = g_variant_get_string(value, NULL);
  demur_patient_page_set_plane(DEMUR_WINDOW(data)->patient,
                               strcmp(name, "coronal") == 0    ? DEMUR_CT_CORONAL
                               : strcmp(name, "sagittal") == 0 ? DEMUR_CT_SAGITTAL
                                                               : DEMUR_CT_ACQUIRED);
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
  static const char *const names[] = {"", "length", "angle", "region"};
  const char *name = g_variant_get_string(value, NULL);
  DemurPatientPage *patient = DEMUR_WINDOW(data)->patient;
  for (guint i = 1; i < G_N_ELEMENTS(names); i++)
    if (strcmp(name, names[i]) == 0)
      demur_patient_page_set_tool(patient, (DemurTool)i);
  if (strcmp(name, "none") == 0)
    demur_patient_page_remove_measures(patient);
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

static void
on_reveal(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  /* Only where the verdict is on the screen: a reveal must be deliberate. */
  if (g_strcmp0(demur_window_page(window), "patient") == 0)
    demur_session_reveal(window->session);
}

static void
on_agree(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  if (g_strcmp0(demur_window_page(window), "patient") == 0)
    demur_patient_page_propose(window->patient, DEMUR_REVIEW_AGREE);
}

static void
on_disagree(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  if (g_strcmp0(demur_window_page(window), "patient") == 0)
    demur_patient_page_propose(window->patient, DEMUR_REVIEW_DISAGREE);
}

static void
on_keep(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_patient_page_keep(DEMUR_WINDOW(data)->patient);
}

static void
on_drop_opinion(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_patient_page_drop(DEMUR_WINDOW(data)->patient);
}

/* A comment is of the case it was asked for, whatever is open when it arrives. */
typedef struct {
  DemurWindow *window;
  gssize row;
  DemurScanTable *table;
} CommentData;

static void
on_comment_given(const char *text, gpointer data) {
  CommentData *comment = data;
  DemurWindow *window = comment->window;
  if (text != NULL && demur_session_table(window->session) == comment->table &&
      demur_session_row(window->session) == comment->row)
    demur_session_review(window->session, DEMUR_REVIEW_COMMENT, text);
  else if (text != NULL)
    demur_session_notice(window->session,
                         _("Another case was opened meanwhile: the comment was not kept."), TRUE);
  demur_scan_table_unref(comment->table);
  g_object_unref(window);
  g_free(comment);
}

static void
on_comment(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const DemurScan *scan = demur_session_scan(window->session);
  if (scan == NULL || scan->verdict_id == 0 ||
      g_strcmp0(demur_window_page(window), "patient") != 0 ||
      demur_session_read_only(window->session))
    return;
  CommentData *comment = g_new(CommentData, 1);
  *comment = (CommentData){g_object_ref(window), demur_session_row(window->session),
                           demur_scan_table_ref(demur_session_table(window->session))};
  g_autofree char *text =
      g_strdup_printf(_("Comment on the verdict of patient %s, scan of %s. It is kept with your "
                        "name, the time and what is shown."),
                      scan->patient_id, scan->date);
  demur_question_ask(GTK_WINDOW(window), _("Comment"), text, _("Keep"), FALSE, on_comment_given,
                     comment);
}

/* Which series of the study is assessed. */

typedef struct {
  DemurWindow *window;
  char *scan_id;
} ChooseData;

static void
on_choose_reason(const char *text, gpointer data) {
  ChooseData *choose = data;
  if (text != NULL)
    demur_session_choose(choose->window->session, choose->scan_id, text);
  g_object_unref(choose->window);
  g_free(choose->scan_id);
  g_free(choose);
}

static void
on_choose_series(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const DemurScan *scan = demur_session_scan(window->session);
  if (scan == NULL || scan->source != NULL || g_strcmp0(demur_window_page(window), "patient") != 0)
    return;
  if (scan->chosen || demur_session_read_only(window->session)) {
    demur_session_notice(window->session,
                         scan->chosen ? _("This series is the assessed one already.")
                                      : _("This workspace can't be written."),
                         FALSE);
    return;
  }
  ChooseData *choose = g_new(ChooseData, 1);
  *choose = (ChooseData){g_object_ref(window), g_strdup(scan->scan_id)};
  g_autofree char *text = g_strdup_printf(
      _("The rules set this series of patient %s aside: %s. Why is it to be assessed all the same? "
        "The reason is kept, both verdicts stay visible, the report counts such decisions, and "
        "calibration is measured on the rules' choice."),
      scan->patient_id, demur_words_translate(scan->set_aside));
  demur_question_ask(GTK_WINDOW(window), _("Assess this series instead"), text,
                     _("Assess and keep"), FALSE, on_choose_reason, choose);
}

static void
on_resolve(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const DemurScan *scan = demur_session_scan(window->session);
  if (scan == NULL || g_strcmp0(demur_window_page(window), "patient") != 0)
    return;
  if (!scan->waits || demur_session_read_only(window->session)) {
    demur_session_notice(window->session,
                         !scan->waits ? _("Nothing contradicts this series.")
                                      : _("This workspace can't be written."),
                         FALSE);
    return;
  }
  gtk_window_present(
      GTK_WINDOW(demur_resolve_window_new(GTK_WINDOW(window), window->session, scan)));
}

/* Taking out what was imported by mistake. */
static void
on_remove(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const DemurScan *scan = demur_session_scan(window->session);
  const char *page = demur_window_page(window);
  const gboolean seen = g_strcmp0(page, "patient") == 0 || g_strcmp0(page, "worklist") == 0;
  if (scan == NULL || !seen || scan->source != NULL || demur_session_read_only(window->session))
    demur_session_notice(
        window->session,
        scan == NULL || !seen ? _("Choose the case in the worklist first.")
        : scan->source != NULL
            ? _("This scan is of a cohort, which is removed as a whole: `demur cohort remove`.")
            : _("This workspace can't be written."),
        FALSE);
  else
    gtk_window_present(
        GTK_WINDOW(demur_remove_window_new(GTK_WINDOW(window), window->session, scan)));
}

/* Import. */

static void
on_import_chosen(const char *const *paths, gpointer data) {
  DemurWindow *window = data;
  demur_incoming_take(GTK_WINDOW(window), window->session, paths);
}

static void
on_import_folder(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_files_choose(GTK_WINDOW(data), DEMUR_CHOOSE_FOLDER, _("Import a folder"), NULL,
                     on_import_chosen, data);
}

static void
on_import_files(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_files_choose(GTK_WINDOW(data), DEMUR_CHOOSE_FILES,
                     _("Import files, ZIP archives or a DICOMDIR"), NULL, on_import_chosen, data);
}

static void
on_import_table(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_files_choose(GTK_WINDOW(data), DEMUR_CHOOSE_FILE,
                     _("Import scores, a cohort or a selector"), NULL, on_import_chosen, data);
}

static void
on_demo(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_session_demo(DEMUR_WINDOW(data)->session);
}

static void
on_import_path(GSimpleAction *action, GVariant *value, gpointer data) {
  const char *const paths[] = {g_variant_get_string(value, NULL), NULL};
  on_import_chosen(paths, data);
}

static gpointer
selectors_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, data, NULL, progress);
  return demur_task_selectors(&task, error);
}

static void
selectors_free(gpointer selectors) {
  g_ptr_array_unref(selectors);
}

static void
on_selectors(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurWindow *window = owner;
  if (result == NULL) {
    demur_session_fail(window->session, error);
    return;
  }
  g_autoptr(GPtrArray) selectors = result;
  DemurAssessWindow *ask = demur_assess_window_new(GTK_WINDOW(window), window->session, selectors);
  if (ask != NULL)
    gtk_window_present(GTK_WINDOW(ask));
  else
    demur_session_notice(window->session,
                         selectors->len == 0
                             ? _("There is no selector yet: train one on the Cohort page first.")
                             : _("No selector has a threshold yet: choose a coverage on the Cohort "
                                 "page and use it."),
                         TRUE);
}

static void
on_assess(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const char *path = demur_session_path(window->session);
  if (path == NULL)
    return;
  const DemurJobStart start = {.func = selectors_work,
                               .input = g_strdup(path),
                               .free_input = g_free,
                               .free_result = selectors_free,
                               .owner = G_OBJECT(window),
                               .done = on_selectors};
  demur_job_start(&start);
}

/* The case that is shown, by the selector of its verdict, else by the one in use: one series, or
 * the split of the cohort that it is in. */
static void
on_assess_case(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const DemurScan *scan = demur_session_scan(window->session);
  const DemurScanTable *table = demur_session_table(window->session);
  if (scan == NULL || g_strcmp0(demur_window_page(window), "patient") != 0)
    return;
  const char *selector =
      *scan->selector != '\0' &&
              g_strv_contains((const char *const *)table->selectors, scan->selector)
          ? scan->selector
          : table->in_use.selector;
  if (selector == NULL) {
    demur_session_notice(window->session,
                         _("There is no selector yet: train one on the Cohort page first."), TRUE);
    return;
  }
  const DemurAssessParams params = {
      .selector = selector,
      .cohort = scan->source,
      .split = scan->source != NULL && *scan->split != '\0' ? scan->split : NULL,
      .scan_id = scan->source == NULL ? scan->scan_id : NULL};
  demur_session_assess(window->session, &params);
}

static gboolean
on_drop(GtkDropTarget *target, const GValue *value, double x, double y, DemurWindow *window) {
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  for (GSList *file = gdk_file_list_get_files(g_value_get_boxed(value)); file != NULL;
       file = file->next) {
    g_autofree char *path = g_file_get_path(file->data);
    if (path != NULL)
      g_strv_builder_add(builder, path);
  }
  g_auto(GStrv) paths = g_strv_builder_end(builder);
  return demur_incoming_take(GTK_WINDOW(window), window->session, (const char *const *)paths);
}

/* What an import did: in the notice, and in a window of its own that is opened from there. */

static void
on_reread(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const DemurImportOutcome *outcome = demur_session_outcome(window->session);
  if (outcome == NULL)
    demur_session_notice(window->session, _("Nothing was imported yet."), FALSE);
  else
    demur_session_import(window->session, outcome->paths, TRUE);
}

static void
on_import_report(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const DemurImportOutcome *outcome = demur_session_outcome(window->session);
  if (outcome != NULL)
    demur_import_report_present(GTK_WINDOW(window), outcome);
}

static void
on_imported(DemurWindow *window) {
  const DemurImportOutcome *outcome = demur_session_outcome(window->session);
  g_autofree char *counts =
      g_strdup_printf(_("Import: %u accepted for assessment, %u not, %u files skipped."),
                      outcome->accepted->len, outcome->rejected->len, outcome->skipped->len);
  g_autofree char *unchanged = demur_import_outcome_unchanged(outcome);
  g_autofree char *text = g_strjoin(" ", counts, unchanged, NULL);
  demur_session_notice(window->session, text, FALSE);
  gtk_widget_set_visible(window->notice_more, TRUE);
}

static void
on_coverage(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_cohort_page_set_coverage(DEMUR_WINDOW(data)->cohort, g_variant_get_double(value));
}

static void
on_use_coverage(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_cohort_page_use_coverage(DEMUR_WINDOW(data)->cohort);
}

static void
on_tables(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_cohort_page_toggle_tables(DEMUR_WINDOW(data)->cohort);
}

static void
on_notice_action(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_session_notice(DEMUR_WINDOW(data)->session, g_variant_get_string(value, NULL), TRUE);
}

static void
on_train(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  if (window->train == NULL) {
    window->train = GTK_WINDOW(demur_train_window_new(GTK_WINDOW(window), window->session));
    g_object_add_weak_pointer(G_OBJECT(window->train), (gpointer *)&window->train);
  }
  gtk_window_present(window->train);
}

static void
on_export_report(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_report_page_export_to(DEMUR_WINDOW(data)->report, g_variant_get_string(value, NULL));
}

static void
on_list_chosen(const char *const *paths, gpointer data) {
  DemurWindow *window = data;
  g_autoptr(GError) error = NULL;
  if (paths == NULL)
    return;
  if (!demur_worklist_export(demur_session_list(window->session), paths[0], &error)) {
    demur_session_fail(window->session, error);
    return;
  }
  g_autofree char *shown = g_filename_display_name(paths[0]);
  g_autofree char *text = g_strdup_printf(
      _("The list was written to %s as it stands here; risks that are held back stay so."), shown);
  demur_session_notice(window->session, text, FALSE);
}

static void
on_sheet_chosen(const char *const *paths, gpointer data) {
  if (paths != NULL)
    demur_session_export_case(DEMUR_WINDOW(data)->session, paths[0]);
}

/* The page of the case that is shown. */
static void
export_case(DemurWindow *window) {
  const DemurScan *scan = demur_session_scan(window->session);
  if (scan == NULL || *scan->selector == '\0')
    demur_session_notice(window->session,
                         scan == NULL ? _("No case is open. Choose one in the worklist.")
                                      : _("This scan has no verdict to write: assess it first."),
                         FALSE);
  else
    demur_files_choose(GTK_WINDOW(window), DEMUR_CHOOSE_SAVE, _("Export this case"), "case.pdf",
                       on_sheet_chosen, window);
}

static void
on_export(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  if (g_strcmp0(demur_window_page(window), "cohort") == 0)
    demur_cohort_page_export(window->cohort);
  else if (g_strcmp0(demur_window_page(window), "report") == 0)
    demur_report_page_export(window->report);
  else if (g_strcmp0(demur_window_page(window), "patient") == 0)
    export_case(window);
  else
    demur_files_choose(GTK_WINDOW(window), DEMUR_CHOOSE_SAVE, _("Export the list"), "worklist.csv",
                       on_list_chosen, window);
}

static const GActionEntry actions[] = {
    {.name = "page", .parameter_type = "s", .state = "'worklist'", .change_state = on_page_state},
    {.name = "next", .activate = on_next},
    {.name = "previous", .activate = on_previous},
    {.name = "search", .activate = on_search_action, .parameter_type = "s"},
    {.name = "show", .activate = on_show_action, .parameter_type = "s"},
    {.name = "close-notice", .activate = on_close_notice},
    {.name = "cancel", .activate = on_cancel},
    {.name = "reload", .activate = on_reload},
    {.name = "open-case", .activate = on_open_case},
    {.name = "plane", .activate = on_plane, .parameter_type = "s"},
    {.name = "slab", .activate = on_slab},
    {.name = "slab-kind", .activate = on_slab_kind},
    {.name = "measure", .activate = on_measure, .parameter_type = "s"},
    {.name = "preset", .activate = on_preset, .parameter_type = "i"},
    {.name = "invert", .activate = on_invert},
    {.name = "reset-view", .activate = on_reset_view},
    {.name = "zoom", .activate = on_zoom, .parameter_type = "d"},
    {.name = "compare", .activate = on_compare},
    {.name = "link", .activate = on_link},
    {.name = "key-image", .activate = on_key_image},
    {.name = "three-planes", .activate = on_three_planes},
    {.name = "cine", .activate = on_cine},
    {.name = "place", .activate = on_place},
    {.name = "reveal", .activate = on_reveal},
    {.name = "agree", .activate = on_agree},
    {.name = "disagree", .activate = on_disagree},
    {.name = "keep", .activate = on_keep},
    {.name = "drop", .activate = on_drop_opinion},
    {.name = "comment", .activate = on_comment},
    {.name = "choose-series", .activate = on_choose_series},
    {.name = "resolve", .activate = on_resolve},
    {.name = "remove", .activate = on_remove},
    {.name = "import-folder", .activate = on_import_folder},
    {.name = "import-files", .activate = on_import_files},
    {.name = "import-table", .activate = on_import_table},
    {.name = "import-path", .activate = on_import_path, .parameter_type = "s"},
    {.name = "import-report", .activate = on_import_report},
    {.name = "reread", .activate = on_reread},
    {.name = "demo", .activate = on_demo},
    {.name = "assess", .activate = on_assess},
    {.name = "assess-case", .activate = on_assess_case},
    {.name = "coverage", .activate = on_coverage, .parameter_type = "d"},
    {.name = "use-coverage", .activate = on_use_coverage},
    {.name = "tables", .activate = on_tables},
    {.name = "notice", .activate = on_notice_action, .parameter_type = "s"},
    {.name = "train", .activate = on_train},
    {.name = "export-report", .activate = on_export_report, .parameter_type = "s"},
    {.name = "export", .activate = on_export},
};

static gboolean
on_escape(DemurWindow *window) {
  if (demur_patient_page_drop(window->patient))
    return TRUE;
  if (gtk_widget_get_visible(GTK_WIDGET(window->notice_box)))
    close_notice(window);
  else if (!demur_window_show_page(window, "worklist"))
    return FALSE;
  else
    demur_worklist_page_focus_list(window->worklist);
  return TRUE;
}

static gboolean
on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
       DemurWindow *window) {
  if ((state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SUPER_MASK)) != 0)
    return FALSE;
  GtkWidget *focus = gtk_window_get_focus(GTK_WINDOW(window));
  if (focus != NULL && (GTK_IS_EDITABLE(focus) || GTK_IS_TEXT_VIEW(focus) || GTK_IS_TEXT(focus)))
    return FALSE;
  if (key == GDK_KEY_Escape)
    return on_escape(window);
  if ((key == GDK_KEY_Return || key == GDK_KEY_KP_Enter) &&
      demur_patient_page_keep(window->patient))
    return TRUE;
  return demur_window_actions_key(GTK_WIDGET(window), key, demur_window_page(window));
}

/* Enter with an opinion waiting keeps it, whatever has the focus. */
static gboolean
on_early_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
             DemurWindow *window) {
  return (key == GDK_KEY_Return || key == GDK_KEY_KP_Enter) &&
         g_strcmp0(demur_window_page(window), "patient") == 0 &&
         demur_patient_page_keep(window->patient);
}

static void
on_search_changed(GtkSearchEntry *entry, DemurWindow *window) {
  demur_window_show_page(window, "worklist");
  demur_worklist_page_set_text(window->worklist, gtk_editable_get_text(GTK_EDITABLE(entry)));
}

static void
on_search_stopped(GtkSearchEntry *entry, DemurWindow *window) {
  gtk_editable_set_text(GTK_EDITABLE(entry), "");
  demur_worklist_page_focus_list(window->worklist);
}

static void
on_search_activated(GtkSearchEntry *entry, DemurWindow *window) {
  demur_worklist_page_focus_list(window->worklist);
}

/* Building: see resources/ui/window.ui. */

static void
demur_window_class_init(DemurWindowClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_window_dispose;
  g_type_ensure(DEMUR_TYPE_STEPS);
  g_type_ensure(DEMUR_TYPE_WRAP_LAYOUT);
  gtk_widget_class_set_template_from_resource(widget_class, "/org/demur/workstation/ui/window.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, steps);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, stack);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, workspace);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, menu);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, search);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, drop);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, notice_box);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, notice);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, notice_more);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, busy_box);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, busy_label);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, busy_bar);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, status_simulated);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, status_model);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, status_selector);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, status_coverage);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, status_hint);
  gtk_widget_class_bind_template_child(widget_class, DemurWindow, status_count);
  gtk_widget_class_bind_template_callback(widget_class, on_search_changed);
  gtk_widget_class_bind_template_callback(widget_class, on_search_stopped);
  gtk_widget_class_bind_template_callback(widget_class, on_search_activated);
  gtk_widget_class_bind_template_callback(widget_class, on_key);
  gtk_widget_class_bind_template_callback(widget_class, on_early_key);
  gtk_widget_class_bind_template_callback(widget_class, on_drop);
}

static void
demur_window_init(DemurWindow *window) {
  gtk_widget_init_template(GTK_WIDGET(window));
  gtk_drop_target_set_gtypes(window->drop, (GType[]){GDK_TYPE_FILE_LIST}, 1);
  g_autoptr(GMenuModel) model = demur_window_actions_menu();
  gtk_menu_button_set_menu_model(window->menu, model);
  g_action_map_add_action_entries(G_ACTION_MAP(window), actions, G_N_ELEMENTS(actions), window);
}

DemurWindow *
demur_window_new(GtkApplication *application, DemurSession *session) {
  DemurWindow *window = g_object_new(DEMUR_TYPE_WINDOW, "application", application, NULL);
  window->session = g_object_ref(session);
  demur_steps_set_session(window->steps, session);
  window->worklist = demur_worklist_page_new(session);
  gtk_stack_add_named(window->stack, GTK_WIDGET(window->worklist), "worklist");
  window->patient = demur_patient_page_new(session);
  gtk_stack_add_named(window->stack, GTK_WIDGET(window->patient), "patient");
  window->cohort = demur_cohort_page_new(session);
  gtk_stack_add_named(window->stack, GTK_WIDGET(window->cohort), "cohort");
  window->report = demur_report_page_new(session, window->cohort);
  gtk_stack_add_named(window->stack, GTK_WIDGET(window->report), "report");
  window->watch = demur_watch_page_new(session);
  gtk_stack_add_named(window->stack, GTK_WIDGET(window->watch), "watch");
  g_signal_connect_swapped(window->stack, "notify::visible-child", G_CALLBACK(update_page), window);
  g_signal_connect_object(session, "notice", G_CALLBACK(on_notice), window, G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "busy", G_CALLBACK(on_busy), window, G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "loaded", G_CALLBACK(on_loaded), window, G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "reviewed", G_CALLBACK(on_loaded), window, G_CONNECT_SWAPPED);
  g_signal_connect_object(session, "imported", G_CALLBACK(on_imported), window, G_CONNECT_SWAPPED);
  update_page(window);
  update_status(window);
  demur_worklist_page_focus_list(window->worklist);
  demur_shown_name_menus(GTK_WIDGET(window));
  return window;
}

void
demur_window_show_names(DemurWindow *window, gboolean show) {
  demur_worklist_page_show_names(window->worklist, show);
}

gboolean
demur_window_save_png(DemurWindow *window, const char *path, GError **error) {
  const int width = gtk_widget_get_width(GTK_WIDGET(window));
  const int height = gtk_widget_get_height(GTK_WIDGET(window));
  g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new(GTK_WIDGET(window));
  GtkSnapshot *snapshot = gtk_snapshot_new();
  gdk_paintable_snapshot(paintable, snapshot, width, height);
  GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
  GskRenderer *renderer = gtk_native_get_renderer(GTK_NATIVE(window));
  if (node == NULL || renderer == NULL) {
    g_set_error_literal(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                        "the window has drawn nothing yet; a display is needed, for example "
                        "xvfb-run");
    return FALSE;
  }
  const graphene_rect_t bounds = GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height);
  g_autoptr(GdkTexture) texture = gsk_renderer_render_texture(renderer, node, &bounds);
  gsk_render_node_unref(node);
  g_autoptr(GBytes) png = gdk_texture_save_to_png_bytes(texture);
  return demur_file_write(path, g_bytes_get_data(png, NULL), (gssize)g_bytes_get_size(png),
                          DEMUR_FILE_REPLACE, error);
}
