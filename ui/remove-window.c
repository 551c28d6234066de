#include "ui/remove-window.h"

#include "base/error.h"
#include "tasks/decisions.h"
#include "ui/job.h"
#include "ui/page.h"
#include "ui/shown.h"
#include "ui/words.h"
#include "ui/worker.h"

typedef enum { SERIES, STUDY, PATIENT, N_SCOPES } Scope;

/* What would leave by each scope; error where it may not. */
typedef struct {
  DemurRemovalExtent extent[N_SCOPES];
  GError *error[N_SCOPES];
} Extents;

struct _DemurRemoveWindow {
  GtkWindow parent_instance;
  DemurSession *session;
  char *scan_id, *study_uid, *patient_id, *date;
  Extents *extents; /* NULL while they are looked at */
  GtkLabel *what, *goes, *stays;
  GtkCheckButton *series, *study, *patient;
  GtkLabel *series_label, *study_label, *patient_label;
  GtkTextView *reason;
  GtkWidget *remove;
};

G_DEFINE_FINAL_TYPE(DemurRemoveWindow, demur_remove_window, GTK_TYPE_WINDOW)

static void
extents_free(gpointer data) {
  Extents *extents = data;
  for (guint i = 0; extents != NULL && i < N_SCOPES; i++) {
    demur_removal_extent_clear(&extents->extent[i]);
    g_clear_error(&extents->error[i]);
  }
  g_free(extents);
}

/* Looking: plain values for the worker. */

typedef struct {
  char *path, *scan_id, *study_uid, *patient_id;
} LookInput;

static void
look_input_free(gpointer data) {
  LookInput *input = data;
  g_free(input->path);
  g_free(input->scan_id);
  g_free(input->study_uid);
  g_free(input->patient_id);
  g_free(input);
}

/* Without a UID or an ID there is nothing to find others by. */
static DemurRemoval
removal_of(Scope scope, const char *scan_id, const char *study_uid, const char *patient_id) {
  DemurRemoval removal = {0};
  if (scope == STUDY && *study_uid != '\0')
    removal.study_uid = study_uid;
  else if (scope == PATIENT && *patient_id != '\0')
    removal.patient_id = patient_id;
  else if (scope == SERIES)
    removal.scan_id = scan_id;
  return removal;
}

static gpointer
look_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const LookInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, NULL, progress);
  task.opening = DEMUR_WORKSPACE_READ_ONLY;
  Extents *extents = g_new0(Extents, 1);
  for (guint i = 0; i < N_SCOPES; i++) {
    const DemurRemoval removal =
        removal_of((Scope)i, input->scan_id, input->study_uid, input->patient_id);
    if (!demur_decide_extent(&task, &removal, &extents->extent[i], &extents->error[i]))
      demur_removal_extent_clear(&extents->extent[i]);
  }
  if (extents->error[SERIES] == NULL)
    return extents;
  g_propagate_error(error, g_steal_pointer(&extents->error[SERIES]));
  extents_free(extents);
  return NULL;
}

static Scope
chosen(DemurRemoveWindow *window) {
  return gtk_check_button_get_active(window->series)    ? SERIES
         : gtk_check_button_get_active(window->study)   ? STUDY
         : gtk_check_button_get_active(window->patient) ? PATIENT
                                                        : N_SCOPES;
}

/* Nothing is chosen beforehand: a decision has to be one. */
static void
update(DemurRemoveWindow *window) {
  const Scope scope = chosen(window);
  g_autofree char *reason = demur_shown_written(window->reason);
  gtk_widget_set_sensitive(window->remove,
                           window->extents != NULL && scope < N_SCOPES && *reason != '\0');
  if (window->extents == NULL || scope == N_SCOPES)
    return;
  const DemurRemovalExtent *extent = &window->extents->extent[scope];
  g_autofree char *goes = g_strdup_printf(
      _("Goes: series %u (studies %u), images %d, scores %d. No verdict of them is shown any more."),
      g_strv_length(extent->scan_ids), extent->n_studies, (int)extent->n_images,
      (int)extent->n_scores);
  g_autofree char *stays = g_strdup_printf(
      _("Stays: the files, which are not touched; in the history verdicts %d, opinions and comments "
        "%d, measurements %d, and this decision with your name, the time and the reason."),
      (int)extent->n_verdicts, (int)extent->n_reviews, (int)extent->n_drawn);
  demur_shown_label_set(window->goes, goes);
  demur_shown_label_set(window->stays, stays);
}

static void
offer(GtkCheckButton *button, GtkLabel *label, const char *text, gboolean possible) {
  demur_shown_label_set(label, text);
  demur_shown_name_set(GTK_WIDGET(button), text);
  gtk_widget_set_sensitive(GTK_WIDGET(button), possible);
}

static void
on_looked(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurRemoveWindow *window = owner;
  if (result == NULL) {
    demur_session_fail(window->session, error);
    gtk_window_close(GTK_WINDOW(window));
    return;
  }
  window->extents = result;
  const DemurRemovalExtent *extent = window->extents->extent;
  g_autofree char *study = extent[STUDY].scan_ids != NULL
                               ? g_strdup_printf(_("Its study of %s: series %u"), window->date,
                                                 g_strv_length(extent[STUDY].scan_ids))
                               : g_strdup(_("Its study: it has no StudyInstanceUID that tells"));
  g_autofree char *patient =
      extent[PATIENT].scan_ids != NULL
          ? g_strdup_printf(_("Everything of patient %s: series %u (studies %u)"),
                            window->patient_id, g_strv_length(extent[PATIENT].scan_ids),
                            extent[PATIENT].n_studies)
          : g_strdup_printf(_("Everything of patient %s: not at once, since that can't be told to "
                              "be one person. Take studies out one by one."),
                            window->patient_id);
  offer(window->study, window->study_label, study, extent[STUDY].scan_ids != NULL);
  offer(window->patient, window->patient_label, patient, extent[PATIENT].scan_ids != NULL);
  update(window);
}

static void
on_remove(DemurRemoveWindow *window) {
  const Scope scope = chosen(window);
  if (window->extents == NULL || scope == N_SCOPES)
    return;
  g_autofree char *reason = demur_shown_written(window->reason);
  DemurRemoval removal = removal_of(scope, window->scan_id, window->study_uid, window->patient_id);
  removal.agreed = (const char *const *)window->extents->extent[scope].scan_ids;
  /* What is on the patient page will be gone. */
  if (demur_session_remove(window->session, &removal, reason))
    gtk_widget_activate_action(GTK_WIDGET(gtk_window_get_transient_for(GTK_WINDOW(window))),
                               "win.page", "s", demur_page_name(DEMUR_PAGE_WORKLIST));
  gtk_window_close(GTK_WINDOW(window));
}

static void
demur_remove_window_dispose(GObject *object) {
  DemurRemoveWindow *window = DEMUR_REMOVE_WINDOW(object);
  g_clear_object(&window->session);
  g_clear_pointer(&window->extents, extents_free);
  g_clear_pointer(&window->scan_id, g_free);
  g_clear_pointer(&window->study_uid, g_free);
  g_clear_pointer(&window->patient_id, g_free);
  g_clear_pointer(&window->date, g_free);
  G_OBJECT_CLASS(demur_remove_window_parent_class)->dispose(object);
}

static void
demur_remove_window_class_init(DemurRemoveWindowClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_remove_window_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/demur/workstation/ui/remove-window.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurRemoveWindow, what);
  gtk_widget_class_bind_template_child(widget_class, DemurRemoveWindow, goes);
  gtk_widget_class_bind_template_child(widget_class, DemurRemoveWindow, stays);
  gtk_widget_class_bind_template_child(widget_class, DemurRemoveWindow, series);
  gtk_widget_class_bind_template_child(widget_class, DemurRemoveWindow, study);
  gtk_widget_class_bind_template_child(widget_class, DemurRemoveWindow, patient);
  gtk_widget_class_bind_template_child(widget_class, DemurRemoveWindow, series_label);
  gtk_widget_class_bind_template_child(widget_class, DemurRemoveWindow, study_label);
  gtk_widget_class_bind_template_child(widget_class, DemurRemoveWindow, patient_label);
  gtk_widget_class_bind_template_child(widget_class, DemurRemoveWindow, reason);
  gtk_widget_class_bind_template_child(widget_class, DemurRemoveWindow, remove);
  gtk_widget_class_bind_template_callback(widget_class, update);
  gtk_widget_class_bind_template_callback(widget_class, on_remove);
  gtk_widget_class_bind_template_callback(widget_class, gtk_window_close);
  gtk_widget_class_add_binding_action(widget_class, GDK_KEY_Escape, 0, "window.close", NULL);
}

static void
demur_remove_window_init(DemurRemoveWindow *window) {
  gtk_widget_init_template(GTK_WIDGET(window));
  g_signal_connect_swapped(gtk_text_view_get_buffer(window->reason), "changed", G_CALLBACK(update),
                           window);
  update(window);
}

DemurRemoveWindow *
demur_remove_window_new(GtkWindow *parent, DemurSession *session, const DemurScan *scan) {
  DemurRemoveWindow *window = g_object_new(DEMUR_TYPE_REMOVE_WINDOW, "transient-for", parent, NULL);
  window->session = g_object_ref(session);
  window->scan_id = g_strdup(scan->scan_id);
  window->study_uid = g_strdup(scan->study_uid);
  window->patient_id = g_strdup(scan->patient_id);
  window->date = g_strdup(scan->date);
  g_autofree char *text = g_strdup_printf(
      _("Patient %s, scan of %s. For what was imported by mistake: what of it is to "
        "leave the workspace?"),
      scan->patient_id, scan->date);
  demur_shown_label_set(window->what, text);
  /* As many words a line at any size of text: a check button asks for too little height else. */
  gtk_window_set_default_size(GTK_WINDOW(window),
                              (int)(520 * demur_shown_text_scale(GTK_WIDGET(window))), -1);
  g_autofree char *series = g_strdup_printf(
      ngettext_("This series: %s (%zu image)", "This series: %s (%zu images)", scan->n_slices),
      *scan->description != '\0' ? scan->description : scan->scan_id, scan->n_slices);
  offer(window->series, window->series_label, series, TRUE);
  offer(window->study, window->study_label, _("Its study"), FALSE);
  offer(window->patient, window->patient_label, _("Everything of the patient"), FALSE);
  LookInput *input = g_new(LookInput, 1);
  *input = (LookInput){g_strdup(demur_session_path(session)), g_strdup(scan->scan_id),
                       g_strdup(scan->study_uid), g_strdup(scan->patient_id)};
  const DemurJobStart start = {.func = look_work,
                               .input = input,
                               .free_input = look_input_free,
                               .free_result = extents_free,
                               .owner = G_OBJECT(window),
                               .done = on_looked};
  demur_job_start(&start);
  return window;
}
