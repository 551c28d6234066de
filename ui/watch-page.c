#include "ui/watch-page.h"

#include "report/evidence.h"
#include "report/format.h"
#include "report/use.h"
#include "tasks/watch-lines.h"
#include "ui/drawing.h"
#include "ui/job.h"
#include "ui/shown.h"
#include "ui/words.h"
#include "ui/worker.h"

#define SPARK_WIDTH 220
#define SPARK_HEIGHT 36
#define MOST_ALARMS_FIRST 2

struct _DemurWatchPage {
  GtkBox parent_instance;
  DemurSession *session;
  gboolean shown, stale;
  DemurJob *job;
  GtkStack *stack;
  GtkLabel *placeholder;
  GtkBox *watches;
  GPtrArray *states; /* of DemurWatchState; the lines' evidence is theirs */
};

/* What a look found. */
typedef struct {
  GPtrArray *states; /* of DemurWatchState */
  GPtrArray *held;   /* of DemurWatchHeld */
} Looked;

G_DEFINE_FINAL_TYPE(DemurWatchPage, demur_watch_page, GTK_TYPE_BOX)

static void look(DemurWatchPage *page, gint64 lift, const char *why);

static void
clear_watches(DemurWatchPage *page) {
  GtkWidget *child;
  while (page->watches != NULL &&
         (child = gtk_widget_get_first_child(GTK_WIDGET(page->watches))) != NULL)
    gtk_box_remove(page->watches, child);
  g_clear_pointer(&page->states, g_ptr_array_unref);
}

static void
demur_watch_page_dispose(GObject *object) {
  DemurWatchPage *page = DEMUR_WATCH_PAGE(object);
  demur_job_drop(&page->job);
  page->watches = NULL;
  clear_watches(page);
  g_clear_object(&page->session);
  G_OBJECT_CLASS(demur_watch_page_parent_class)->dispose(object);
}

/* ---- one signal's evidence over time ---- */

typedef struct {
  double *evidence; /* [n] */
  size_t n, alarm_at;
  double limit;
} Spark;

static void
spark_free(gpointer data) {
  Spark *spark = data;
  g_free(spark->evidence);
  g_free(spark);
}

static void
draw_spark(cairo_t *cr, const DemurPalette *palette, DemurRectangle r, gpointer data) {
  const Spark *spark = data;
  const DemurEvidencePanel panel = {.n = spark->n,
                                    .evidence = spark->evidence,
                                    .alarm_at = spark->alarm_at,
                                    .limit = spark->limit};
  demur_evidence_line(cr, palette, r, &panel);
}

static GtkWidget *
spark_new(const DemurWatchLine *line) {
  Spark *spark = g_new0(Spark, 1);
  spark->evidence = line->n > 0 ? g_memdup2(line->evidence, line->n * sizeof(double)) : NULL;
  spark->n = line->n;
  spark->alarm_at = line->alarm_at;
  spark->limit = line->limit;
  DemurDrawing *drawing = demur_drawing_new(line->title, SPARK_WIDTH, SPARK_HEIGHT);
  demur_drawing_set(drawing, draw_spark, NULL, spark, spark_free);
  g_autofree char *now = demur_text_evidence(line->now, demur_words_translate),
                  *limit = demur_text_evidence(line->limit, demur_words_translate);
  g_autofree char *words = g_strdup_printf(
      ngettext_("evidence of a change %s after %zu patient; an alarm is %s",
                "evidence of a change %s after %zu patients; an alarm is %s", line->n),
      now, line->n, limit);
  demur_drawing_describe(drawing, words);
  gtk_widget_set_valign(GTK_WIDGET(drawing), GTK_ALIGN_CENTER);
  return GTK_WIDGET(drawing);
}

/* ---- a watch ---- */

static GtkWidget *
label_new(const char *text, const char *style) {
  GtkWidget *label = demur_shown_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(label), 0.0f);
  gtk_label_set_wrap(GTK_LABEL(label), TRUE);
  gtk_widget_set_valign(label, GTK_ALIGN_CENTER);
  if (style != NULL)
    gtk_widget_add_css_class(label, style);
  return label;
}

/* Never colour alone. */
static GtkWidget *
state_new(const DemurWatchLine *line) {
  const char *text = line->alarm && line->withholds  ? _("⚑ Alarm, stops")
                     : line->alarm                   ? _("⚑ Alarm, told only")
                     : line->n == 0                  ? _("– nothing yet")
                     : line->now >= line->limit / 10 ? _("△ unusual")
                                                     : _("✓ no alarm");
  return label_new(text, line->alarm && line->withholds ? "stopped"
                         : line->alarm                  ? "strong"
                                                        : NULL);
}

static GtkWidget *
signals_new(const DemurWatchState *state) {
  GtkGrid *grid = GTK_GRID(gtk_grid_new());
  gtk_grid_set_row_spacing(grid, 2);
  gtk_grid_set_column_spacing(grid, 18);
  const char *const headings[] = {_("Watched"),  _("Evidence of a change"),
                                  _("State"),    _("In numbers"),
                                  _("Patients"), _("What changed")};
  for (int c = 0; c < (int)G_N_ELEMENTS(headings); c++)
    gtk_grid_attach(grid, label_new(headings[c], "heading"), c, 0, 1, 1);
  g_autoptr(GPtrArray) lines = demur_watch_lines(state, demur_words_translate);
  for (guint i = 0; i < lines->len; i++) {
    const DemurWatchLine *line = lines->pdata[i];
    g_autofree char *n = demur_text_count(line->n);
    g_autofree char *waiting =
        line->n_waiting > 0
            ? g_strdup_printf(ngettext_("%zu outcome waits for those of earlier patients",
                                        "%zu outcomes wait for those of earlier patients",
                                        line->n_waiting),
                              line->n_waiting)
            : NULL;
    const char *what = line->change;
    if (what != NULL && g_str_has_prefix(what, line->title)) /* it stands at the line's begin */
      what += strlen(line->title);
    what += what != NULL && *what == ':' ? 1 : 0;
    what += what != NULL && *what == ' ' ? 1 : 0;
    GtkWidget *change = label_new(what == NULL      ? _("of too few patients to be told")
                                  : *what != '\0'   ? what
                                  : waiting != NULL ? waiting
                                                    : "–",
                                  NULL);
    gtk_label_set_width_chars(GTK_LABEL(change), 24);
    gtk_widget_set_hexpand(change, TRUE);
    GtkWidget *title = label_new(line->title, NULL);
    gtk_label_set_width_chars(GTK_LABEL(title), 16);
    gtk_label_set_max_width_chars(GTK_LABEL(title), 26);
    const int row = (int)i + 1;
    gtk_grid_attach(grid, title, 0, row, 1, 1);
    gtk_grid_attach(grid, spark_new(line), 1, row, 1, 1);
    gtk_grid_attach(grid, state_new(line), 2, row, 1, 1);
    g_autofree char *evidence = demur_watch_line_evidence(line, demur_words_translate);
    GtkWidget *told = label_new(evidence, NULL);
    gtk_label_set_width_chars(GTK_LABEL(told), 16);
    gtk_label_set_max_width_chars(GTK_LABEL(told), 24);
    gtk_grid_attach(grid, told, 3, row, 1, 1);
    gtk_grid_attach(grid, label_new(n, NULL), 4, row, 1, 1);
    gtk_grid_attach(grid, change, 5, row, 1, 1);
  }
  return GTK_WIDGET(grid);
}

static void
on_why_changed(GtkEditable *entry, GtkWidget *button) {
  g_autofree char *text = g_strstrip(g_strdup(gtk_editable_get_text(entry)));
  gtk_widget_set_sensitive(button, *text != '\0');
}

static void
on_lift(GtkWidget *button, DemurWatchPage *page) {
  GtkEditable *entry = g_object_get_data(G_OBJECT(button), "why");
  const gint64 *alarm = g_object_get_data(G_OBJECT(button), "alarm");
  look(page, *alarm, gtk_editable_get_text(entry));
}

/* Where an alarm is lifted: the reason, and the button that takes it. */
static GtkWidget *
lift_new(DemurWatchPage *page, const DemurWatchAlarm *alarm) {
  GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
  GtkWidget *why = gtk_entry_new(), *lift = gtk_button_new_with_label(_("Lift the alarm"));
  gtk_entry_set_placeholder_text(GTK_ENTRY(why), _("Why may risks be shown again?"));
  demur_shown_name_set(why, _("Why may risks be shown again?"));
  gtk_widget_set_hexpand(why, TRUE);
  gtk_widget_set_sensitive(lift, FALSE);
  g_object_set_data(G_OBJECT(lift), "why", why);
  g_object_set_data_full(G_OBJECT(lift), "alarm", g_memdup2(&alarm->id, sizeof alarm->id), g_free);
  g_signal_connect(why, "changed", G_CALLBACK(on_why_changed), lift);
  g_signal_connect(lift, "clicked", G_CALLBACK(on_lift), page);
  gtk_widget_set_sensitive(row, !demur_session_read_only(page->session));
  gtk_box_append(GTK_BOX(row), why);
  gtk_box_append(GTK_BOX(row), lift);
  return row;
}

/* What a person needs to decide, and where the decision is made. */
static GtkWidget *
alarm_new(DemurWatchPage *page, const DemurWatchState *state, const DemurWatchAlarm *alarm) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
  gtk_widget_add_css_class(box, "card");
  g_autofree char *change = demur_watch_alarm_words(state, alarm, demur_words_translate);
  g_autofree char *created = demur_translate_day(demur_words_translate, alarm->created),
                  *lifted_on = alarm->lifted != NULL
                                   ? demur_translate_day(demur_words_translate, alarm->lifted)
                                   : NULL;
  g_autofree char *title = g_strdup_printf(_("Alarm %u of %s"), (guint)alarm->id, created);
  const gboolean stops = alarm->withholds && alarm->lifted == NULL;
  g_autofree char *lifted = alarm->lifted != NULL
                                ? g_strdup_printf(_("Lifted on %s by %s: %s"), lifted_on,
                                                  alarm->lifted_by, alarm->lifted_why)
                                : NULL;
  const char *now = lifted != NULL ? lifted
                    : stops        ? _("No new risk is shown until it is lifted.")
                                   : _("It was agreed to tell of it only.");
  GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
  gtk_box_append(GTK_BOX(head), label_new(title, "strong"));
  gtk_box_append(GTK_BOX(head), label_new(now, stops ? "stopped" : "muted"));
  gtk_box_append(GTK_BOX(box), head);
  gtk_box_append(GTK_BOX(box), label_new(change, NULL));
  if (alarm->lifted == NULL)
    gtk_box_append(GTK_BOX(box), lift_new(page, alarm));
  return box;
}

/* Alarms of other watches that stop the selector of that name; they are lifted where they stand. */
static void
add_stops(DemurWatchPage *page, const char *name, const GPtrArray *stops) {
  for (guint i = 0; i < stops->len; i++) {
    g_autofree char *words =
        demur_watch_stop_words(stops->pdata[i], name, FALSE, demur_words_translate);
    gtk_box_append(page->watches, label_new(words, "stopped"));
  }
}

/* A selector that only watches over other names stop. */
static void
add_held(DemurWatchPage *page, const DemurWatchHeld *held) {
  g_autofree char *title = g_strdup_printf(_("Selector %s"), held->selector);
  gtk_box_append(page->watches, label_new(title, "strong"));
  add_stops(page, held->selector, held->stops);
}

/* Those that stop something, or the others. */
static void
add_alarms(DemurWatchPage *page, const DemurWatchState *state, gboolean stops) {
  for (guint i = 0; i < state->alarms->len; i++) {
    const DemurWatchAlarm *alarm = state->alarms->pdata[i];
    if ((alarm->withholds && alarm->lifted == NULL) == stops)
      gtk_box_append(page->watches, alarm_new(page, state, alarm));
  }
}

static void
add_watch(DemurWatchPage *page, const DemurWatchState *state) {
  const DemurWatchRecord *record = state->record;
  g_autofree char *title =
      record->site != NULL
          ? g_strdup_printf(_("Selector %s at site %s%s"), record->selector, record->site,
                            state->plan->simulated ? _(" · SIMULATED DATA") : "")
          : g_strdup_printf(_("Selector %s at every site%s"), record->selector,
                            state->plan->simulated ? _(" · SIMULATED DATA") : "");
  g_autofree char *headline = demur_watch_headline(state, FALSE, demur_words_translate);
  g_autofree char *most = demur_text_coverage(state->plan->alpha);
  g_autofree char *note = g_strdup_printf(
      _("Each line goes from the first patient (left) to the last (right) and rises as it becomes "
        "less likely that nothing changed; the dashed line is the alarm. An e-value is what a bet of 1 on a change has become: 1 or less is no evidence of one. "
        "Where nothing changes, at most %s of hospitals ever see an alarm."),
      most);
  gtk_box_append(page->watches, label_new(title, "strong"));
  gtk_box_append(page->watches,
                 label_new(headline, demur_watch_n_stops(state) > 0 ? "stopped" : NULL));
  const size_t n_stops = demur_watch_n_stops(state);
  add_stops(page, record->selector, state->stops);
  if (n_stops > 0)
    gtk_box_append(
        page->watches,
        label_new(_("What to do: find out what changed at the site (a scanner, a kernel, the "
                    "model, who is scanned). Correct it, or show by outcomes or a site audit that "
                    "the risks still hold. Then lift each alarm and say why; that is kept."),
                  NULL));
  /* Of many alarms the table is the overview; of a few, what is to be decided stands first. */
  if (n_stops <= MOST_ALARMS_FIRST)
    add_alarms(page, state, TRUE);
  gtk_box_append(page->watches, label_new(note, "muted")); /* how the table is read, above it */
  gtk_box_append(page->watches, signals_new(state));
  if (n_stops > MOST_ALARMS_FIRST)
    add_alarms(page, state, TRUE);
  add_alarms(page, state, FALSE);
}

/* ---- looking ---- */

typedef struct {
  char *workspace, *user, *why;
  gint64 lift; /* 0: none */
} LookInput;

static void
look_input_free(gpointer data) {
  LookInput *input = data;
  g_free(input->workspace);
  g_free(input->user);
  g_free(input->why);
  g_free(input);
}

static void
looked_free(gpointer data) {
  Looked *looked = data;
  g_clear_pointer(&looked->states, g_ptr_array_unref);
  g_clear_pointer(&looked->held, g_ptr_array_unref);
  g_free(looked);
}

static gpointer
look_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const LookInput *input = data;
  g_auto(DemurTask) task = {0};
  demur_worker_task_init(&task, input->workspace, input->user, progress);
  if (input->lift != 0 && !demur_task_watch_lift(&task, input->lift, input->why, error))
    return NULL;
  Looked *looked = g_new0(Looked, 1);
  looked->states = demur_task_watch_look(&task, NULL, error);
  if (looked->states != NULL)
    looked->held = demur_task_watch_held(&task, NULL, looked->states, NULL, error);
  if (looked->held != NULL)
    return looked;
  looked_free(looked);
  return NULL;
}

static void
on_looked(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurWatchPage *page = owner;
  page->job = NULL;
  if (result == NULL) {
    demur_session_fail(page->session, error);
    if (page->states == NULL) {
      g_autofree char *why = demur_words_error(error);
      demur_shown_label_set(page->placeholder, why);
      gtk_stack_set_visible_child_name(page->stack, "placeholder");
    }
    return;
  }
  clear_watches(page);
  Looked *looked = result;
  page->states = g_steal_pointer(&looked->states);
  for (guint i = 0; i < page->states->len; i++)
    add_watch(page, page->states->pdata[i]);
  for (guint i = 0; i < looked->held->len; i++)
    add_held(page, looked->held->pdata[i]);
  looked_free(looked);
  if (page->states->len == 0)
    demur_shown_label_set(page->placeholder,
                          _("No selector is watched yet: `demur watch start SELECTOR` says what is "
                            "watched, against whom, and what an alarm does."));
  gtk_stack_set_visible_child_name(page->stack, page->states->len > 0 ? "watches" : "placeholder");
}

static void
look(DemurWatchPage *page, gint64 lift, const char *why) {
  const char *path = demur_session_path(page->session);
  page->stale = FALSE;
  demur_job_drop(&page->job);
  if (path == NULL) {
    demur_shown_label_set(page->placeholder, _("No workspace is open."));
    gtk_stack_set_visible_child_name(page->stack, "placeholder");
    return;
  }
  LookInput *input = g_new0(LookInput, 1);
  input->workspace = g_strdup(path);
  input->user = g_strdup(demur_session_user(page->session));
  input->lift = lift;
  input->why = g_strdup(why);
  page->job = demur_job_start(&(DemurJobStart){.func = look_work,
                                               .input = input,
                                               .free_input = look_input_free,
                                               .free_result = looked_free,
                                               .owner = G_OBJECT(page),
                                               .done = on_looked});
}

static void
on_loaded(DemurWatchPage *page) {
  page->stale = TRUE;
  if (page->shown)
    look(page, 0, NULL);
}

void
demur_watch_page_set_shown(DemurWatchPage *page, gboolean shown) {
  page->shown = shown;
  if (shown && page->stale)
    look(page, 0, NULL);
}

/* Building: see resources/ui/watch-page.ui. */

static void
demur_watch_page_class_init(DemurWatchPageClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_watch_page_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/demur/workstation/ui/watch-page.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurWatchPage, stack);
  gtk_widget_class_bind_template_child(widget_class, DemurWatchPage, placeholder);
  gtk_widget_class_bind_template_child(widget_class, DemurWatchPage, watches);
}

static void
demur_watch_page_init(DemurWatchPage *page) {
  page->stale = TRUE;
  gtk_widget_init_template(GTK_WIDGET(page));
}

DemurWatchPage *
demur_watch_page_new(DemurSession *session) {
  DemurWatchPage *page = g_object_new(DEMUR_TYPE_WATCH_PAGE, NULL);
  page->session = g_object_ref(session);
  g_signal_connect_object(session, "loaded", G_CALLBACK(on_loaded), page, G_CONNECT_SWAPPED);
  return page;
}
