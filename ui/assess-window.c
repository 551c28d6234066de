#include "ui/assess-window.h"

#include <string.h>

#include "report/format.h"
#include "tasks/assess-undo.h"
#include "tasks/selectors.h"
#include "ui/job.h"
#include "ui/selector-choice.h"
#include "ui/shown.h"
#include "ui/words.h"
#include "ui/worker.h"
#include "words/federated-words.h"

struct _DemurAssessWindow {
  GtkWindow parent_instance;
  DemurSession *session;
  DemurScanTable *table;       /* as it was when the menus were filled */
  GPtrArray *selectors;        /* of DemurSelectorFacts */
  GPtrArray *tuned;            /* those that have a threshold; borrowed */
  GPtrArray *names, *families; /* of tuned, as the menus take them; borrowed, NULL at the end */
  GArray *years;
  GtkDropDown *scope, *selector, *horizon, *coverage;
  GtkLabel *federated, *facts, *changes;
  DemurJob *job;   /* counts what would change, and reads the selector */
  guint64 counted; /* the choice that it is of */
  GtkWidget *assess;
};

G_DEFINE_FINAL_TYPE(DemurAssessWindow, demur_assess_window, GTK_TYPE_WINDOW)

static DemurSelectorChoices
choices_of(const DemurAssessWindow *window) {
  return (DemurSelectorChoices){(char **)window->names->pdata, (char **)window->families->pdata,
                                (const double *)(gconstpointer)window->years->data};
}

static const DemurSelectorFacts *
chosen_selector(DemurAssessWindow *window) {
  const char *name =
      demur_selector_choice_get(window->selector, window->horizon, choices_of(window));
  for (guint i = 0; name != NULL && i < window->tuned->len; i++) {
    const DemurSelectorFacts *facts = window->tuned->pdata[i];
    if (facts->name == name)
      return facts;
  }
  return NULL;
}

static const DemurSelectorThreshold *
chosen_threshold(DemurAssessWindow *window) {
  const DemurSelectorFacts *facts = chosen_selector(window);
  const guint at = gtk_drop_down_get_selected(window->coverage);
  /* The newest stands first. */
  return facts != NULL && at < facts->thresholds->len
             ? facts->thresholds->pdata[facts->thresholds->len - 1 - at]
             : NULL;
}

/* The choice, as the task takes it; FALSE: none. coverage is given back where it is told. */
static gboolean
chosen_params(DemurAssessWindow *window, DemurAssessParams *params,
              char coverage[G_ASCII_DTOSTR_BUF_SIZE]) {
  const DemurSelectorFacts *facts = chosen_selector(window);
  const DemurSelectorThreshold *threshold = chosen_threshold(window);
  if (facts == NULL || threshold == NULL)
    return FALSE;
  const DemurScanTable *table = window->table;
  g_ascii_dtostr(coverage, G_ASCII_DTOSTR_BUF_SIZE, threshold->coverage);
  *params = (DemurAssessParams){.selector = facts->name,
                                .coverage = threshold->current ? NULL : coverage};
  /* The first is every DICOM series; behind it the splits of each cohort. */
  guint at = gtk_drop_down_get_selected(window->scope);
  for (guint c = 0; at > 0 && table->cohorts[c] != NULL; c++)
    for (guint s = 0; at > 0 && table->splits[c][s] != NULL; s++)
      if (--at == 0) {
        params->cohort = table->cohorts[c];
        params->split = table->splits[c][s];
      }
  return TRUE;
}

/* Counting what would change: the assessment is made, and not kept. */
typedef struct {
  char *path, *selector, *cohort, *split, *coverage;
} Counting;

static void
counting_free(gpointer data) {
  Counting *counting = data;
  g_free(counting->path);
  g_free(counting->selector);
  g_free(counting->cohort);
  g_free(counting->split);
  g_free(counting->coverage);
  g_free(counting);
}

/* What came of it. */
typedef struct {
  DemurAssessChanges changes;
  char *federated; /* what of the selector comes from other sites, in words; NULL: nothing */
} Counted;

static void
counted_free(gpointer data) {
  Counted *counted = data;
  if (counted == NULL)
    return;
  g_free(counted->federated);
  g_free(counted);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Counted, counted_free)

static gpointer
count_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const Counting *counting = data;
  const DemurAssessParams params = {.selector = counting->selector,
                                    .cohort = counting->cohort,
                                    .split = counting->split,
                                    .coverage = counting->coverage};
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, counting->path, NULL, progress);
  g_autoptr(Counted) counted = g_new0(Counted, 1);
  g_autoptr(DemurSelector) selector =
      demur_task_load_selector(&task, counting->selector, NULL, error);
  if (selector == NULL || !demur_task_assess_changes(&task, &params, &counted->changes, error))
    return NULL;
  counted->federated = demur_words_federated(selector, demur_words_translate);
  return g_steal_pointer(&counted);
}

/* One kind of change a line, those that there are. */
static char *
changes_text(const DemurAssessChanges *changes) {
  const struct {
    gsize n;
    const char *words;
  } kinds[] = {
      {changes->n_first,
       ngettext_("gets its first verdict", "get their first verdict", changes->n_first)},
      {changes->n_again,
       ngettext_("has an outdated verdict that is current again",
                 "have an outdated verdict that is current again", changes->n_again)},
      {changes->n_to_flag, ngettext_("is accepted now and becomes a red flag",
                                     "are accepted now and become red flags", changes->n_to_flag)},
      {changes->n_to_accepted,
       ngettext_("is a red flag now and becomes accepted", "are red flags now and become accepted",
                 changes->n_to_accepted)},
      {changes->n_otherwise,
       ngettext_("changes otherwise", "change otherwise", changes->n_otherwise)},
      {changes->n_same,
       ngettext_("keeps the same verdict", "keep the same verdict", changes->n_same)}};
  g_autofree char *scans = demur_text_count(changes->n_scans);
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text, ngettext_("Of %s scan", "Of %s scans", changes->n_scans), scans);
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
    g_autofree char *n = demur_text_count(kinds[i].n);
    if (kinds[i].n > 0)
      g_string_append_printf(text, "\n  %s %s", n, kinds[i].words);
  }
  return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
on_counted(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurAssessWindow *window = owner;
  g_autoptr(Counted) counted = result;
  if (tag != window->counted)
    return;
  window->job = NULL;
  g_autofree char *text =
      counted != NULL ? changes_text(&counted->changes) : g_strdup(error->message);
  demur_shown_label_set(window->changes, text);
  const gboolean federated = counted != NULL && counted->federated != NULL;
  if (federated)
    demur_shown_label_set(window->federated, counted->federated);
  gtk_widget_set_visible(GTK_WIDGET(window->federated), federated);
}

static void
count_changes(DemurAssessWindow *window) {
  char coverage[G_ASCII_DTOSTR_BUF_SIZE];
  DemurAssessParams params;
  demur_job_drop(&window->job);
  if (window->session == NULL || !chosen_params(window, &params, coverage))
    return;
  /* With the lines that most answers have: the dialog keeps its size. */
  g_autofree char *waiting = g_strconcat(_("Counting what would change…"), "\n\n", NULL);
  demur_shown_label_set(window->changes, waiting);
  Counting *counting = g_new(Counting, 1);
  *counting =
      (Counting){g_strdup(demur_session_path(window->session)), g_strdup(params.selector),
                 g_strdup(params.cohort), g_strdup(params.split), g_strdup(params.coverage)};
  const DemurJobStart start = {.func = count_work,
                               .input = counting,
                               .free_input = counting_free,
                               .free_result = counted_free,
                               .owner = G_OBJECT(window),
                               .tag = ++window->counted,
                               .done = on_counted};
  window->job = demur_job_start(&start);
}

/* Whether it helps elsewhere (owned). */
static char *
validation_words(const DemurSelectorFacts *facts) {
  static const char *const found[] = {
      [DEMUR_VERDICT_BETTER] =
          N_("the selector keeps better calibrated risks than plain confidence."),
      [DEMUR_VERDICT_NO_DIFFERENCE_SHOWN] =
          N_("no difference to plain confidence is shown: use confidence."),
      [DEMUR_VERDICT_WORSE] = N_("the selector keeps worse calibrated risks than plain confidence: "
                                 "do not use it."),
      [DEMUR_VERDICT_CANNOT_BE_DECIDED] =
          N_("whether the selector helps at other hospitals cannot be decided.")};
  if (!facts->is_validated)
    return g_strdup(_("Whether this selector helps at other hospitals has not been looked at: "
                      "“demur validate” does."));
  const DemurValidationFound *v = &facts->validated;
  g_autofree char *scans = demur_text_count(v->n_scans), *sites = demur_text_count(v->n_sites);
  const char *words =
      v->verdict == DEMUR_VERDICT_NO_DIFFERENCE_SHOWN && !v->confidence_helps
          ? (v->confidence_told
                 ? N_("no difference to plain confidence is shown, nor of confidence to showing every risk.")
                 : N_("no difference to plain confidence is shown."))
          : found[v->verdict];
  return g_strdup_printf(_("%s scans, sites left out of training in turn: %s; %s"), scans, sites,
                         _(words));
}

/* What is promised (owned); NULL: nothing. What else than a coverage was guaranteed on the command
 * line stands in its words. */
static char *
promise_words(const DemurSelectorThreshold *threshold) {
  if (isnan(threshold->margin))
    return g_strdup(threshold->guarantee);
  g_autofree char *least = demur_text_percent(fmax(0, threshold->coverage - threshold->margin), 1);
  g_autofree char *patients = demur_text_count(threshold->n_patients);
  return g_strdup_printf(
      ngettext_("At least %s of scans like those of the %s patient that it was tuned on are "
                "accepted, with 95 %% confidence. Of another site nothing is promised.",
                "At least %s of scans like those of the %s patients that it was tuned on are "
                "accepted, with 95 %% confidence. Of another site nothing is promised.",
                threshold->n_patients),
      least, patients);
}

/* What is promised, whether it helps, and what will change. */
static void
describe(DemurAssessWindow *window) {
  const DemurSelectorFacts *facts = chosen_selector(window);
  const DemurSelectorThreshold *threshold = chosen_threshold(window);
  if (facts == NULL || threshold == NULL)
    return;
  g_autofree char *validation = validation_words(facts), *promise = promise_words(threshold);
  g_autoptr(GString) text = g_string_new(validation);
  if (promise != NULL)
    g_string_append_printf(text, "\n\n%s", promise);
  g_string_append(text, "\n\n");
  g_string_append(
      text, _("Each scan gets a new verdict. The earlier ones stay in the history, and an "
              "opinion stays with the verdict that it was of. The assessment can be undone as "
              "long as nobody has an opinion on it."));
  demur_shown_label_set(window->facts, text->str);
  count_changes(window);
}

static void
on_horizon(DemurAssessWindow *window) {
  const DemurSelectorFacts *facts = chosen_selector(window);
  g_autoptr(GtkStringList) list = gtk_string_list_new(NULL);
  for (guint t = facts != NULL ? facts->thresholds->len : 0; t-- > 0;) {
    const DemurSelectorThreshold *threshold = facts->thresholds->pdata[t];
    g_autofree char *coverage = demur_text_coverage(threshold->coverage);
    g_autofree char *value = demur_text_significant(threshold->threshold, 3);
    g_autofree char *text = g_strdup_printf(threshold->current ? _("%s, threshold %s (current)")
                                                               : _("%s, threshold %s"),
                                            coverage, value);
    gtk_string_list_append(list, text);
  }
  gtk_drop_down_set_model(window->coverage, G_LIST_MODEL(list));
  describe(window);
}

static void
on_selector(DemurAssessWindow *window) {
  g_signal_handlers_block_by_func(window->horizon, on_horizon, window);
  demur_selector_choice_fill_horizons(window->selector, window->horizon, choices_of(window));
  g_signal_handlers_unblock_by_func(window->horizon, on_horizon, window);
  on_horizon(window);
}

static void
on_assess(DemurAssessWindow *window) {
  char coverage[G_ASCII_DTOSTR_BUF_SIZE];
  DemurAssessParams params;
  if (!chosen_params(window, &params, coverage))
    return;
  demur_session_assess(window->session, &params);
  gtk_window_close(GTK_WINDOW(window));
}

static void
demur_assess_window_dispose(GObject *object) {
  DemurAssessWindow *window = DEMUR_ASSESS_WINDOW(object);
  demur_job_drop(&window->job);
  g_clear_object(&window->session);
  g_clear_pointer(&window->table, demur_scan_table_unref);
  g_clear_pointer(&window->tuned, g_ptr_array_unref);
  g_clear_pointer(&window->names, g_ptr_array_unref);
  g_clear_pointer(&window->families, g_ptr_array_unref);
  g_clear_pointer(&window->years, g_array_unref);
  g_clear_pointer(&window->selectors, g_ptr_array_unref);
  G_OBJECT_CLASS(demur_assess_window_parent_class)->dispose(object);
}

static void
demur_assess_window_class_init(DemurAssessWindowClass *class) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);
  G_OBJECT_CLASS(class)->dispose = demur_assess_window_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/demur/workstation/ui/assess-window.ui");
  gtk_widget_class_bind_template_child(widget_class, DemurAssessWindow, scope);
  gtk_widget_class_bind_template_child(widget_class, DemurAssessWindow, selector);
  gtk_widget_class_bind_template_child(widget_class, DemurAssessWindow, horizon);
  gtk_widget_class_bind_template_child(widget_class, DemurAssessWindow, coverage);
  gtk_widget_class_bind_template_child(widget_class, DemurAssessWindow, federated);
  gtk_widget_class_bind_template_child(widget_class, DemurAssessWindow, facts);
  gtk_widget_class_bind_template_child(widget_class, DemurAssessWindow, changes);
  gtk_widget_class_bind_template_child(widget_class, DemurAssessWindow, assess);
  gtk_widget_class_bind_template_callback(widget_class, on_selector);
  gtk_widget_class_bind_template_callback(widget_class, on_horizon);
  gtk_widget_class_bind_template_callback(widget_class, describe);
  gtk_widget_class_bind_template_callback(widget_class, on_assess);
  gtk_widget_class_bind_template_callback(widget_class, gtk_window_close);
  gtk_widget_class_add_binding_action(widget_class, GDK_KEY_Escape, 0, "window.close", NULL);
}

static void
demur_assess_window_init(DemurAssessWindow *window) {
  window->tuned = g_ptr_array_new();
  window->names = g_ptr_array_new();
  window->families = g_ptr_array_new();
  window->years = g_array_new(FALSE, FALSE, sizeof(double));
  gtk_widget_init_template(GTK_WIDGET(window));
  demur_shown_name_menus(GTK_WIDGET(window));
}

static void
fill_scope(DemurAssessWindow *window) {
  const DemurScanTable *table = window->table;
  g_autoptr(GtkStringList) list = gtk_string_list_new(NULL);
  gtk_string_list_append(list, _("All DICOM series"));
  for (guint c = 0; table->cohorts[c] != NULL; c++)
    for (guint s = 0; table->splits[c][s] != NULL; s++) {
      g_autofree char *text =
          g_strdup_printf(_("Cohort %s, split %s"), table->cohorts[c], table->splits[c][s]);
      gtk_string_list_append(list, text);
    }
  gtk_drop_down_set_model(window->scope, G_LIST_MODEL(list));
}

DemurAssessWindow *
demur_assess_window_new(GtkWindow *parent, DemurSession *session, GPtrArray *selectors) {
  DemurAssessWindow *window = g_object_new(DEMUR_TYPE_ASSESS_WINDOW, "transient-for", parent, NULL);
  gtk_window_set_default_size(GTK_WINDOW(window),
                              (int)(520 * demur_shown_text_scale(GTK_WIDGET(window))), -1);
  window->session = g_object_ref(session);
  window->table = demur_scan_table_ref(demur_session_table(session));
  window->selectors = g_ptr_array_ref(selectors);
  const char *in_use = demur_session_table(session)->in_use.selector;
  for (guint i = 0; i < selectors->len; i++) {
    DemurSelectorFacts *facts = selectors->pdata[i];
    if (facts->thresholds->len == 0)
      continue;
    g_ptr_array_add(window->tuned, facts);
    g_ptr_array_add(window->names, facts->name);
    g_ptr_array_add(window->families, facts->family != NULL ? facts->family : (char *)"");
    g_array_append_val(window->years, facts->horizon_years);
  }
  g_ptr_array_add(window->names, NULL);
  if (window->tuned->len == 0) {
    gtk_window_destroy(GTK_WINDOW(window));
    return NULL;
  }
  fill_scope(window);
  demur_selector_choice_fill(window->selector, window->horizon, choices_of(window));
  demur_selector_choice_set(window->selector, window->horizon, choices_of(window), in_use);
  /* Which horizon of a family was last in use is nothing that a reader chose. */
  demur_selector_choice_fill_horizons(window->selector, window->horizon, choices_of(window));
  on_horizon(window);
  return window;
}
