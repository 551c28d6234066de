#include "ui/steps.h"

#include <math.h>

#include "ui/incoming.h"
#include "ui/page.h"
#include "ui/shown.h"
#include "ui/words.h"

typedef enum { SCANS, SCORES, COHORT, SELECTOR, THRESHOLD, VERDICTS, N_STEPS } Step;

static const struct {
  const char *title, *next, *action;
  DemurPage page; /* of an action that shows one */
} steps[N_STEPS] = {
    [SCANS] = {N_("Scans"),
               N_("Import the CT scans: a folder, a ZIP archive or a DICOMDIR. Drop it here, or "
                  "press Scans."),
               "win.import-folder", DEMUR_PAGE_ANY},
    [SCORES] = {N_("Scores"),
                N_("Import what the external model said of these scans: a CSV or JSON with "
                   "series_uid and risk. Drop it here, or press Scores."),
                "win.import-table", DEMUR_PAGE_ANY},
    [COHORT] = {N_("Cohort"),
                N_("Import a cohort: a CSV of scans of the same model whose outcome is known "
                   "(patient, site, label, risk). Drop it here, or press Cohort."),
                "win.import-table", DEMUR_PAGE_ANY},
    [SELECTOR] = {N_("Selector"),
                  N_("Train a selector on the cohort: it learns when a risk should be held back. A "
                     "selector file from elsewhere may be dropped here instead."),
                  "win.train", DEMUR_PAGE_ANY},
    [THRESHOLD] = {N_("Threshold"),
                   N_("Choose on the Cohort page how many scans are to be accepted, and use this "
                      "coverage."),
                   "win.page", DEMUR_PAGE_COHORT},
    [VERDICTS] = {N_("Verdicts"), N_("Assess: every scan gets its verdict."), "win.assess",
                  DEMUR_PAGE_ANY}};

struct _DemurSteps {
  GtkBox parent_instance;
  DemurSession *session;
  GtkBox *row;
  GtkLabel *next;
  GtkEditable *path;
  GtkWidget *button[N_STEPS];
  gboolean asked; /* its last step was pressed: verdicts are on their way */
};

G_DEFINE_FINAL_TYPE(DemurSteps, demur_steps, GTK_TYPE_BOX)

static void
demur_steps_dispose(GObject *object) {
  g_clear_object(&DEMUR_STEPS(object)->session);
  G_OBJECT_CLASS(demur_steps_parent_class)->dispose(object);
}

static void
look(const DemurScanTable *table, gboolean done[N_STEPS]) {
  for (size_t i = 0; i < table->n_scans; i++) {
    const DemurScan *scan = &table->scans[i];
    done[SCANS] |= scan->source == NULL;
    done[VERDICTS] |= scan->shown == DEMUR_SHOWN_ACCEPTED || scan->shown == DEMUR_SHOWN_RED_FLAG;
  }
  done[SCORES] = table->models[0] != NULL;
  done[COHORT] = table->cohorts[0] != NULL;
  done[SELECTOR] = table->selectors[0] != NULL;
  done[THRESHOLD] = table->in_use.selector != NULL && !isnan(table->in_use.threshold);
}

static void
update(DemurSteps *self) {
  const DemurScanTable *table = demur_session_table(self->session);
  gboolean done[N_STEPS] = {FALSE};
  if (table != NULL)
    look(table, done);
  gtk_widget_set_visible(GTK_WIDGET(self), table != NULL && !done[VERDICTS]);
  if (self->asked && done[VERDICTS]) { /* where the steps led to */
    self->asked = FALSE;
    gtk_widget_activate_action(GTK_WIDGET(self), "win.page", "s",
                               demur_page_name(DEMUR_PAGE_WORKLIST));
  }
  guint next = 0;
  while (next < N_STEPS - 1 && done[next])
    next++;
  for (guint s = 0; s < N_STEPS; s++) {
    g_autofree char *label = done[s] ? g_strdup_printf("✓ %s", _(steps[s].title))
                                     : g_strdup_printf("%u %s", s + 1, _(steps[s].title));
    const char *state = done[s] ? _("done") : s == next ? _("next") : _("open");
    g_autofree char *name = g_strdup_printf("%s: %s", _(steps[s].title), state);
    gtk_button_set_label(GTK_BUTTON(self->button[s]), label);
    demur_shown_name_set(self->button[s], name);
    gtk_widget_remove_css_class(self->button[s], "primary");
    gtk_widget_remove_css_class(self->button[s], "muted");
    if (s == next)
      gtk_widget_add_css_class(self->button[s], "primary");
    else if (done[s])
      gtk_widget_add_css_class(self->button[s], "muted");
    demur_shown_tooltip_set(self->button[s], _(steps[s].next));
  }
  g_autofree char *text = g_strdup_printf(_("Next: %s"), _(steps[next].next));
  demur_shown_label_set(self->next, text);
}

static void
on_verdicts_asked(GtkButton *button, DemurSteps *self) {
  self->asked = TRUE;
}

/* What is written is taken as if it had been dropped. */
static void
on_path(DemurSteps *self) {
  g_autofree char *text = g_strstrip(g_strdup(gtk_editable_get_text(self->path)));
  g_autoptr(GFile) file = *text != '\0' ? g_file_parse_name(text) : NULL;
  g_autofree char *path = file != NULL ? g_file_get_path(file) : NULL;
  const char *const paths[] = {path, NULL};
  if (!demur_incoming_take(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(self))), self->session, paths))
    return;
  gtk_editable_set_text(self->path, "");
}

static void
demur_steps_class_init(DemurStepsClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_steps_dispose;
  gtk_widget_class_set_template_from_resource(widget_class, "/org/demur/workstation/ui/steps.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurSteps, row);
  gtk_widget_class_bind_template_child(widget_class, DemurSteps, next);
  gtk_widget_class_bind_template_child(widget_class, DemurSteps, path);
  gtk_widget_class_bind_template_callback(widget_class, on_path);
}

static void
demur_steps_init(DemurSteps *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  for (guint s = 0; s < N_STEPS; s++) {
    self->button[s] = gtk_button_new_with_label("");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(self->button[s]), steps[s].action);
    if (steps[s].page != DEMUR_PAGE_ANY)
      gtk_actionable_set_action_target(GTK_ACTIONABLE(self->button[s]), "s",
                                       demur_page_name(steps[s].page));
    gtk_box_append(self->row, self->button[s]);
  }
  g_signal_connect(self->button[VERDICTS], "clicked", G_CALLBACK(on_verdicts_asked), self);
}

void
demur_steps_set_session(DemurSteps *self, DemurSession *session) {
  self->session = g_object_ref(session);
  g_signal_connect_object(session, "loaded", G_CALLBACK(update), self, G_CONNECT_SWAPPED);
  update(self);
}
