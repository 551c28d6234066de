#include "ui/assess-window.h"

#include <string.h>

#include "report/format.h"
#include "tasks/selectors.h"
#include "ui/shown.h"
#include "ui/words.h"

struct _DemurAssessWindow {
  GtkWindow parent_instance;
  DemurSession *session;
  GPtrArray *selectors; /* of DemurSelectorFacts */
  GPtrArray *tuned;     /* those that have a threshold; borrowed */
  GtkDropDown *scope, *selector, *coverage;
  GtkLabel *facts;
  GtkWidget *assess;
};

G_DEFINE_FINAL_TYPE(DemurAssessWindow, demur_assess_window, GTK_TYPE_WINDOW)

static const DemurSelectorFacts *
chosen_selector(DemurAssessWindow *window) {
  const guint at = gtk_drop_down_get_selected(window->selector);
  return at < window->tuned->len ? window->tuned->pdata[at] : NULL;
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

/* What is promised, whether it helps, and what will change. */
static void
describe(DemurAssessWindow *window) {
  const DemurSelectorFacts *facts = chosen_selector(window);
  const DemurSelectorThreshold *threshold = chosen_threshold(window);
  if (facts == NULL || threshold == NULL)
    return;
  g_autoptr(GString) text = g_string_new(facts->validation);
  if (threshold->guarantee != NULL)
    g_string_append_printf(text, "\n\n%s", threshold->guarantee);
  g_string_append(text, "\n\n");
  g_string_append(text,
                  _("Each scan gets a new verdict. The earlier ones stay in the history, and an "
                    "opinion stays with the verdict that it was of."));
  demur_shown_label_set(window->facts, text->str);
}

static void
on_selector(DemurAssessWindow *window) {
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
on_assess(DemurAssessWindow *window) {
  const DemurSelectorFacts *facts = chosen_selector(window);
  const DemurSelectorThreshold *threshold = chosen_threshold(window);
  if (facts == NULL || threshold == NULL)
    return;
  DemurScanTable *table = demur_session_table(window->session);
  char coverage[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_dtostr(coverage, sizeof coverage, threshold->coverage);
  DemurAssessParams params = {.selector = facts->name,
                              .coverage = threshold->current ? NULL : coverage};
  /* The first is every DICOM series; behind it the splits of each cohort. */
  guint at = gtk_drop_down_get_selected(window->scope);
  for (guint c = 0; at > 0 && table->cohorts[c] != NULL; c++)
    for (guint s = 0; at > 0 && table->splits[c][s] != NULL; s++)
      if (--at == 0) {
        params.cohort = table->cohorts[c];
        params.split = table->splits[c][s];
      }
  demur_session_assess(window->session, &params);
  gtk_window_close(GTK_WINDOW(window));
}

static void
demur_assess_window_dispose(GObject *object) {
  DemurAssessWindow *window = DEMUR_ASSESS_WINDOW(object);
  g_clear_object(&window->session);
  g_clear_pointer(&window->tuned, g_ptr_array_unref);
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
  gtk_widget_class_bind_template_child(widget_class, DemurAssessWindow, coverage);
  gtk_widget_class_bind_template_child(widget_class, DemurAssessWindow, facts);
  gtk_widget_class_bind_template_child(widget_class, DemurAssessWindow, assess);
  gtk_widget_class_bind_template_callback(widget_class, on_selector);
  gtk_widget_class_bind_template_callback(widget_class, describe);
  gtk_widget_class_bind_template_callback(widget_class, on_assess);
  gtk_widget_class_bind_template_callback(widget_class, gtk_window_close);
  gtk_widget_class_add_binding_action(widget_class, GDK_KEY_Escape, 0, "window.close", NULL);
}

static void
demur_assess_window_init(DemurAssessWindow *window) {
  window->tuned = g_ptr_array_new();
  gtk_widget_init_template(GTK_WIDGET(window));
  demur_shown_name_menus(GTK_WIDGET(window));
}

static void
fill_scope(DemurAssessWindow *window) {
  const DemurScanTable *table = demur_session_table(window->session);
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
  g_autoptr(GtkStringList) names = gtk_string_list_new(NULL);
  DemurAssessWindow *window = g_object_new(DEMUR_TYPE_ASSESS_WINDOW, "transient-for", parent, NULL);
  window->session = g_object_ref(session);
  window->selectors = g_ptr_array_ref(selectors);
  const char *in_use = demur_session_table(session)->in_use.selector;
  guint chosen = 0;
  for (guint i = 0; i < selectors->len; i++) {
    DemurSelectorFacts *facts = selectors->pdata[i];
    if (facts->thresholds->len == 0)
      continue;
    if (g_strcmp0(facts->name, in_use) == 0)
      chosen = window->tuned->len;
    g_ptr_array_add(window->tuned, facts);
    gtk_string_list_append(names, facts->name);
  }
  if (window->tuned->len == 0) {
    gtk_window_destroy(GTK_WINDOW(window));
    return NULL;
  }
  fill_scope(window);
  gtk_drop_down_set_model(window->selector, G_LIST_MODEL(names));
  gtk_drop_down_set_selected(window->selector, chosen);
  on_selector(window);
  return window;
}
