#include "ui/train-window.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "report/format.h"
#include "tasks/names.h"
#include "tasks/train.h"
#include "ui/drawing.h"
#include "ui/job.h"
#include "ui/shown.h"
#include "ui/words.h"
#include "ui/worker.h"

/* Numbers of the settings that are offered, each an entry of this name in the template; every other
 * one keeps its value. */
static const char *const offered[] = {"epochs", "datasets_per_epoch", "dataset_size", "kappa",
                                      "average"};
#define N_OFFERED G_N_ELEMENTS(offered)

struct _DemurTrainWindow {
  GtkWindow parent_instance;
  DemurSession *session;
  DemurScanTable *table; /* as it was when the form was filled; NULL: no workspace was open */
  GtkEditable *name, *seed, *number[N_OFFERED];
  GtkDropDown *cohort, *split, *preset, *method, *target, *recalibrate;
  GtkWidget *form, *start, *cancel;
  GtkCheckButton *resume;
  GtkProgressBar *progress;
  GtkLabel *status;
  DemurDrawing *curves;
  GArray *points; /* of DemurTrainPoint */
  DemurJob *job;
  gboolean filling;
};

G_DEFINE_FINAL_TYPE(DemurTrainWindow, demur_train_window, GTK_TYPE_WINDOW)

static void
demur_train_window_dispose(GObject *object) {
  DemurTrainWindow *window = DEMUR_TRAIN_WINDOW(object);
  demur_job_drop(&window->job);
  g_clear_object(&window->session);
  g_clear_pointer(&window->table, demur_scan_table_unref);
  g_clear_pointer(&window->points, g_array_unref);
  G_OBJECT_CLASS(demur_train_window_parent_class)->dispose(object);
}

/* Curves. */

static double
value_of(const DemurTrainPoint *point, int which) {
  return which == 0 ? point->loss : which == 1 ? point->mean_auc : point->worst_auc;
}

static void
draw_curves(cairo_t *cr, const DemurPalette *palette, DemurRectangle rectangle, gpointer data) {
  const DemurTrainWindow *window = data;
  const GArray *points = window->points;
  if (points == NULL)
    return;
  const char *const titles[] = {_("Loss"), _("Validation error: mean and worst case")};
  for (int panel = 0; panel < 2; panel++) {
    const DemurRectangle half = {rectangle.x + panel * (rectangle.width / 2 + 6), rectangle.y,
                                 rectangle.width / 2 - 6, rectangle.height};
    double low = INFINITY, high = -INFINITY, last = 1;
    for (guint i = 0; i < points->len; i++) {
      const DemurTrainPoint *point = &g_array_index(points, DemurTrainPoint, i);
      last = fmax(last, (double)point->epoch);
      for (int which = panel == 0 ? 0 : 1; which <= (panel == 0 ? 0 : 2); which++) {
        const double value = value_of(point, which);
        if (isfinite(value)) {
          low = fmin(low, value);
          high = fmax(high, value);
        }
      }
    }
    const DemurChartFrame frame = {.title = titles[panel],
                                   .x_label = _("epoch"),
                                   .x = demur_axis_nice(0, last, 5),
                                   .y = demur_axis_nice(fmin(low, high) * 0.98, high, 4),
                                   .x_style = DEMUR_NUMBER_COUNT};
    const DemurPlot plot = demur_plot_begin(cr, palette, half, &frame);
    for (int which = panel == 0 ? 0 : 1; which <= (panel == 0 ? 0 : 2); which++) {
      const DemurChartSeries series = which == 2 ? DEMUR_SERIES_CONFIDENCE : DEMUR_SERIES_SELECTOR;
      size_t network = 0;
      gboolean open = FALSE;
      demur_chart_colour(cr, palette->series[series], 0.9);
      cairo_set_line_width(cr, 1.6);
      demur_chart_dash(cr, series, 1.6);
      for (size_t k = 0; k < 64; k++) {
        open = FALSE;
        for (guint i = 0; i < points->len; i++) {
          const DemurTrainPoint *point = &g_array_index(points, DemurTrainPoint, i);
          if (point->network != k || !isfinite(value_of(point, which)))
            continue;
          const double x = demur_plot_x(&plot, (double)point->epoch);
          const double y = demur_plot_y(&plot, value_of(point, which));
          if (open)
            cairo_line_to(cr, x, y);
          else
            cairo_move_to(cr, x, y);
          open = TRUE;
          network = k;
        }
      }
      cairo_stroke(cr);
      cairo_set_dash(cr, NULL, 0, 0);
      for (guint i = 0; i < points->len; i++) {
        const DemurTrainPoint *point = &g_array_index(points, DemurTrainPoint, i);
        if (isfinite(value_of(point, which)))
          demur_chart_glyph(cr, series, demur_plot_x(&plot, (double)point->epoch),
                            demur_plot_y(&plot, value_of(point, which)),
                            point->network == network ? 3.2 : 2.2);
      }
    }
  }
}

static void
describe_curves(DemurTrainWindow *window) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < window->points->len; i++) {
    const DemurTrainPoint *point = &g_array_index(window->points, DemurTrainPoint, i);
    g_autofree char *loss = demur_text_significant(point->loss, 3);
    g_autofree char *mean = demur_text_decimal(point->mean_auc, 4);
    g_autofree char *worst = demur_text_decimal(point->worst_auc, 4);
    g_string_append_printf(text, _("network %zu epoch %d: loss %s, validation %s, worst %s. "),
                           point->network + 1, (int)point->epoch, loss, mean, worst);
  }
  demur_drawing_describe(window->curves, text->len > 0 ? text->str : _("no epoch has ended yet"));
  gtk_widget_queue_draw(GTK_WIDGET(window->curves));
}

/* Work. */

typedef struct {
  char *path, *user, *name, *cohort;
  DemurTrainSettings *settings;
  guint64 seed;
  gboolean resume;
} TrainInput;

static void
train_input_free(gpointer data) {
  TrainInput *input = data;
  g_free(input->path);
  g_free(input->user);
  g_free(input->name);
  g_free(input->cohort);
  demur_train_settings_free(input->settings);
  g_free(input);
}

/* What is told of a training that ended well. */
typedef struct {
  char *name;
  gboolean chosen; /* what it scores by was */
  DemurFallback choice;
  GPtrArray *warnings; /* of DemurTaskWarning */
} TrainDone;

static void
train_done_free(gpointer data) {
  TrainDone *done = data;
  g_free(done->name);
  g_ptr_array_unref(done->warnings);
  g_free(done);
}

static void
on_point(const DemurTrainPoint *point, gpointer data) {
  demur_job_deliver(data, g_memdup2(point, sizeof *point));
}

static gpointer
train_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const TrainInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, input->user, progress);
  task.seed = input->seed;
  const DemurTrainParams params = {.selector = input->name,
                                   .cohort = input->cohort,
                                   .settings = input->settings,
                                   .resume = input->resume ? DEMUR_RESUME_IF_KEPT : DEMUR_RESUME_NO,
                                   .told = on_point,
                                   .data = job};
  g_auto(DemurTrained) trained = {0};
  if (!demur_task_train(&task, &params, &trained, error)) {
    demur_worker_refused(&task, "train", *error);
    return NULL;
  }
  TrainDone *done = g_new(TrainDone, 1);
  *done = (TrainDone){.name = g_strdup(input->name),
                      .chosen = trained.fallback != NULL,
                      .warnings = g_steal_pointer(&trained.warnings)};
  if (done->chosen)
    done->choice = (DemurFallback){.scoring = trained.fallback->scoring,
                                   .n_sites = trained.fallback->n_sites,
                                   .decided = trained.fallback->decided};
  return done;
}

static void
on_part(gpointer owner, guint64 tag, gpointer part) {
  DemurTrainWindow *window = owner;
  const DemurTrainPoint *point = part;
  gboolean known = FALSE;
  for (guint i = 0; i < window->points->len; i++) {
    const DemurTrainPoint *other = &g_array_index(window->points, DemurTrainPoint, i);
    known |= other->network == point->network && other->epoch == point->epoch;
  }
  if (!known)
    g_array_append_vals(window->points, point, 1);
  g_free(part);
  describe_curves(window);
}

static void
on_progress(gpointer owner, guint64 tag, double fraction, const char *stage) {
  DemurTrainWindow *window = owner;
  if (window->job == NULL)
    return;
  gtk_progress_bar_set_fraction(window->progress, CLAMP(fraction, 0, 1));
}

static void
set_running(DemurTrainWindow *window, gboolean running) {
  gtk_widget_set_sensitive(window->form, !running);
  gtk_widget_set_visible(window->start, !running);
  gtk_widget_set_visible(window->cancel, running);
  gtk_widget_set_visible(GTK_WIDGET(window->progress), running);
}

/* What the selector scores by where nobody said, and why. */
static void
tell_choice(GString *text, const TrainDone *done) {
  if (!done->chosen)
    return;
  g_string_append_c(text, ' ');
  if (!done->choice.decided)
    g_string_append_printf(
        text,
        _("It scores by confidence: whether networks help at other hospitals needs %d training "
          "sites to decide, there are %zu. The method “network” trains them all the same."),
        DEMUR_FEW_SITES, done->choice.n_sites);
  else if (done->choice.scoring == DEMUR_SCORING_NETWORK)
    g_string_append_printf(
        text,
        _("It scores by networks: on %zu sites left out in turn they keep better "
          "calibrated risks than plain confidence."),
        done->choice.n_sites);
  else if (done->choice.scoring == DEMUR_SCORING_MC)
    g_string_append_printf(text,
                           _("It scores by expected miscalibration (mc): on %zu sites left out in "
                             "turn it keeps better calibrated risks than plain confidence, and "
                             "networks were not shown to."),
                           done->choice.n_sites);
  else
    g_string_append_printf(text,
                           _("It scores by confidence: on %zu sites left out in turn nothing was "
                             "shown to keep better calibrated risks."),
                           done->choice.n_sites);
}

static void
on_done(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurTrainWindow *window = owner;
  window->job = NULL;
  set_running(window, FALSE);
  if (result == NULL) {
    g_autofree char *why = demur_words_error(error);
    demur_shown_label_set(window->status,
                          g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)
                              ? _("Cancelled. What was reached is kept: train again under the same "
                                  "name and settings to go on from there, here or with "
                                  "“demur train --resume”.")
                              : why);
    return;
  }
  TrainDone *done = result;
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_printf(
      text, _("Selector %s is trained and kept. Choose a coverage for it on the Cohort page."),
      done->name);
  tell_choice(text, done);
  for (guint i = 0; i < done->warnings->len; i++) {
    g_autofree char *words =
        demur_task_warning_words(done->warnings->pdata[i], demur_words_translate);
    g_string_append_printf(text, _(" Warning: %s."), words);
  }
  demur_shown_label_set(window->status, text->str);
  train_done_free(done);
  demur_session_reload(window->session);
}

static const char *
chosen(GtkDropDown *menu) {
  GtkStringObject *item = gtk_drop_down_get_selected_item(menu);
  return item != NULL ? gtk_string_object_get_string(item) : NULL;
}

/* "auto" leaves it to the training, as the command line does; a number of the networks that was
 * changed asks for them. */
static gboolean
read_method(DemurTrainWindow *window, DemurTrainSettings *settings, GError **error) {
  if (gtk_drop_down_get_selected(window->preset) == 1) { /* as published: networks */
    settings->scoring_explicit = TRUE;
    return TRUE;
  }
  if (!demur_train_settings_set_scoring(settings, chosen(window->method), error))
    return FALSE;
  if (settings->scoring_explicit)
    return TRUE;
  g_autoptr(DemurTrainSettings) usual = demur_train_settings_new();
  for (guint i = 0; i < N_OFFERED; i++) {
    const gssize at = demur_train_settings_find_number(offered[i]);
    char own[G_ASCII_DTOSTR_BUF_SIZE], other[G_ASCII_DTOSTR_BUF_SIZE];
    if (at >= 0 && strcmp(demur_train_settings_number_text(settings, (size_t)at, own),
                          demur_train_settings_number_text(usual, (size_t)at, other)) != 0)
      settings->scoring_explicit = TRUE;
  }
  return TRUE;
}

static DemurTrainSettings *
read_form(DemurTrainWindow *window, GError **error) {
  g_autoptr(DemurTrainSettings) settings = gtk_drop_down_get_selected(window->preset) == 1
                                               ? demur_train_settings_new_published()
                                               : demur_train_settings_new();
  for (guint i = 0; i < N_OFFERED; i++) {
    const gssize at = demur_train_settings_find_number(offered[i]);
    if (at >= 0 && !demur_train_settings_set_number(
                       settings, (size_t)at, gtk_editable_get_text(window->number[i]), error))
      return NULL;
  }
  if (!demur_train_settings_set_target(settings, chosen(window->target), error) ||
      !demur_recalibration_from_name(chosen(window->recalibrate), &settings->recalibrate, error))
    return NULL;
  if (!read_method(window, settings, error))
    return NULL;
  settings->split = g_strdup(chosen(window->split));
  settings->as_published = demur_train_settings_are_published(settings);
  return demur_train_settings_check(settings, error) ? g_steal_pointer(&settings) : NULL;
}

static void
on_start(DemurTrainWindow *window) {
  g_autoptr(GError) error = NULL;
  g_autofree char *name = g_strstrip(g_strdup(gtk_editable_get_text(window->name)));
  const char *seed_text = gtk_editable_get_text(window->seed);
  gint64 seed;
  if (*name == '\0') {
    demur_shown_label_set(window->status, _("Give the new selector a name."));
    return;
  }
  if (!demur_task_check_name("selector", name, &error)) {
    g_autofree char *why = demur_words_error(error);
    demur_shown_label_set(window->status, why);
    return;
  }
  if (!demur_number_parse_int(seed_text, strlen(seed_text), &seed) || seed < 0) {
    demur_shown_label_set(window->status, _("The seed is a whole number from 0 up."));
    return;
  }
  DemurTrainSettings *settings = read_form(window, &error);
  if (settings == NULL) {
    g_autofree char *why = demur_words_error(error);
    demur_shown_label_set(window->status, why);
    return;
  }
  TrainInput *input = g_new(TrainInput, 1);
  *input = (TrainInput){g_strdup(window->table->path),
                        g_strdup(demur_session_user(window->session)),
                        g_strdup(name),
                        g_strdup(chosen(window->cohort)),
                        settings,
                        (guint64)seed,
                        gtk_check_button_get_active(window->resume)};
  g_array_set_size(window->points, 0);
  describe_curves(window);
  demur_shown_label_set(window->status, _("Training…"));
  gtk_progress_bar_set_fraction(window->progress, 0);
  const DemurJobStart start = {.func = train_work,
                               .input = input,
                               .free_input = train_input_free,
                               .free_result = train_done_free,
                               .free_part = g_free,
                               .owner = G_OBJECT(window),
                               .done = on_done,
                               .part = on_part,
                               .progress = on_progress};
  window->job = demur_job_start(&start);
  set_running(window, TRUE);
  gtk_widget_grab_focus(window->cancel);
}

static void
on_cancel(DemurTrainWindow *window) {
  demur_shown_label_set(window->status, _("Cancelling…"));
  demur_job_cancel(window->job);
}

/* The form: see resources/ui/train-window.ui. */

static void
fill(GtkDropDown *menu, char *const *texts, const char *selected) {
  g_autoptr(GtkStringList) list = gtk_string_list_new((const char *const *)texts);
  gtk_drop_down_set_model(menu, G_LIST_MODEL(list));
  for (guint i = 0; texts[i] != NULL; i++)
    if (g_strcmp0(texts[i], selected) == 0)
      gtk_drop_down_set_selected(menu, i);
}

static void
on_cohort(DemurTrainWindow *window) {
  const guint at = gtk_drop_down_get_selected(window->cohort);
  if (window->table != NULL && at < g_strv_length(window->table->cohorts))
    fill(window->split, window->table->splits[at], "selector_train");
}

static void
on_preset(DemurTrainWindow *window) {
  const gboolean published = gtk_drop_down_get_selected(window->preset) == 1;
  g_autoptr(DemurTrainSettings) settings =
      published ? demur_train_settings_new_published() : demur_train_settings_new();
  for (guint i = 0; i < N_OFFERED; i++) {
    const gssize at = demur_train_settings_find_number(offered[i]);
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    if (at >= 0)
      gtk_editable_set_text(window->number[i],
                            demur_train_settings_number_text(settings, (size_t)at, text));
  }
  gtk_widget_set_sensitive(GTK_WIDGET(window->method), !published);
  gtk_drop_down_set_selected(window->target, settings->target == DEMUR_TARGET_PAPER ? 0 : 1);
  static const char *const kinds[] = {"none",  "auto",     "intercept", "temperature",
                                      "platt", "isotonic", "corrector"};
  for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
    DemurRecalibrationKind kind;
    if (demur_recalibration_from_name(kinds[k], &kind, NULL) && kind == settings->recalibrate)
      gtk_drop_down_set_selected(window->recalibrate, k);
  }
}

static void
demur_train_window_class_init(DemurTrainWindowClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_train_window_dispose;
  g_type_ensure(DEMUR_TYPE_DRAWING);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/demur/workstation/ui/train-window.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurTrainWindow, name);
  gtk_widget_class_bind_template_child(widget_class, DemurTrainWindow, preset);
  gtk_widget_class_bind_template_child(widget_class, DemurTrainWindow, cohort);
  gtk_widget_class_bind_template_child(widget_class, DemurTrainWindow, split);
  gtk_widget_class_bind_template_child(widget_class, DemurTrainWindow, method);
  gtk_widget_class_bind_template_child(widget_class, DemurTrainWindow, target);
  gtk_widget_class_bind_template_child(widget_class, DemurTrainWindow, recalibrate);
  gtk_widget_class_bind_template_child(widget_class, DemurTrainWindow, seed);
  gtk_widget_class_bind_template_child(widget_class, DemurTrainWindow, form);
  gtk_widget_class_bind_template_child(widget_class, DemurTrainWindow, resume);
  gtk_widget_class_bind_template_child(widget_class, DemurTrainWindow, curves);
  gtk_widget_class_bind_template_child(widget_class, DemurTrainWindow, progress);
  gtk_widget_class_bind_template_child(widget_class, DemurTrainWindow, status);
  gtk_widget_class_bind_template_child(widget_class, DemurTrainWindow, start);
  gtk_widget_class_bind_template_child(widget_class, DemurTrainWindow, cancel);
  for (guint i = 0; i < N_OFFERED; i++)
    gtk_widget_class_bind_template_child_full(
        widget_class, offered[i], FALSE,
        (gssize)(G_STRUCT_OFFSET(DemurTrainWindow, number) + i * sizeof(GtkEditable *)));
  gtk_widget_class_bind_template_callback(widget_class, gtk_window_close);
  gtk_widget_class_bind_template_callback(widget_class, on_cohort);
  gtk_widget_class_bind_template_callback(widget_class, on_preset);
  gtk_widget_class_bind_template_callback(widget_class, on_start);
  gtk_widget_class_bind_template_callback(widget_class, on_cancel);
  gtk_widget_class_add_binding_action(widget_class, GDK_KEY_Escape, 0, "window.close", NULL);
}

static void
demur_train_window_init(DemurTrainWindow *window) {
  window->points = g_array_new(FALSE, FALSE, sizeof(DemurTrainPoint));
  gtk_widget_init_template(GTK_WIDGET(window));
  demur_shown_name_menus(GTK_WIDGET(window));
}

/* The first name that no selector has. */
static void
propose_name(DemurTrainWindow *window, const DemurScanTable *table) {
  for (guint i = 1;; i++) {
    g_autofree char *name = g_strdup_printf("selector-%u", i);
    if (g_strv_contains((const char *const *)table->selectors, name))
      continue;
    gtk_editable_set_text(window->name, name);
    return;
  }
}

/* Why nothing can be trained; NULL: it can. */
static const char *
why_not(const DemurScanTable *table) {
  return table == NULL      ? _("No workspace is open.")
         : table->read_only ? _("This workspace can't be written.")
         : table->cohorts[0] == NULL
             ? _("There is no cohort to learn from: import one first (menu, or "
                 "drop its table on the window).")
             : NULL;
}

DemurTrainWindow *
demur_train_window_new(GtkWindow *parent, DemurSession *session) {
  DemurTrainWindow *window = g_object_new(DEMUR_TYPE_TRAIN_WINDOW, "transient-for", parent, NULL);
  window->session = g_object_ref(session);
  demur_drawing_set(window->curves, draw_curves, NULL, window, NULL);
  DemurScanTable *table = demur_session_table(session);
  if (table != NULL) {
    window->table = demur_scan_table_ref(table);
    fill(window->cohort, table->cohorts, table->in_use.cohort);
  }
  on_cohort(window);
  on_preset(window);
  set_running(window, FALSE);
  const char *why = why_not(table);
  gtk_widget_set_sensitive(window->start, why == NULL);
  demur_shown_tooltip_set(window->start, why);
  if (why != NULL)
    demur_shown_label_set(window->status, why);
  else
    propose_name(window, table);
  describe_curves(window);
  return window;
}
