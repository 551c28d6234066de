#include "ui/layout-stops.h"

#include <string.h>

/* Which case a dialog is of. */
typedef enum { ANY, WITH_VERDICT, SET_ASIDE, CONTRADICTED, WITH_IMAGES } Case;

typedef struct {
  const char *name;
  DemurPage page;
  const char *action; /* NULL: the page itself */
  Case of;
} Stop;

static const Stop stops[] = {
    {"worklist", DEMUR_PAGE_WORKLIST, NULL, ANY},
    {"patient", DEMUR_PAGE_PATIENT, NULL, ANY},
    {"cohort", DEMUR_PAGE_COHORT, NULL, ANY},
    {"report", DEMUR_PAGE_REPORT, NULL, ANY},
    {"watch", DEMUR_PAGE_WATCH, NULL, ANY},
    {"assess", DEMUR_PAGE_WORKLIST, "win.assess", ANY},
    {"undo-assess", DEMUR_PAGE_WORKLIST, "win.undo-assess", ANY},
    {"train", DEMUR_PAGE_COHORT, "win.train", ANY},
    {"use-coverage", DEMUR_PAGE_COHORT, "win.use-coverage", ANY},
    {"comment", DEMUR_PAGE_PATIENT, "win.comment", WITH_VERDICT},
    {"choose-series", DEMUR_PAGE_PATIENT, "win.choose-series", SET_ASIDE},
    {"resolve", DEMUR_PAGE_PATIENT, "win.resolve", CONTRADICTED},
    {"remove", DEMUR_PAGE_PATIENT, "win.remove", WITH_IMAGES},
    {"viewer", DEMUR_PAGE_WORKLIST, "app.viewer", ANY},
    {"keys", DEMUR_PAGE_WORKLIST, "app.shortcuts", ANY},
    {"about", DEMUR_PAGE_WORKLIST, "app.about", ANY},
};

const char *const *
demur_layout_stops(void) {
  static const char *names[G_N_ELEMENTS(stops) + 1];
  for (gsize i = 0; i < G_N_ELEMENTS(stops); i++)
    names[i] = stops[i].name;
  return names;
}

static const Stop *
find(const char *name) {
  for (gsize i = 0; i < G_N_ELEMENTS(stops); i++)
    if (g_strcmp0(name, stops[i].name) == 0)
      return &stops[i];
  return NULL;
}

gboolean
demur_layout_is_stop(const char *name) {
  return find(name) != NULL;
}

gboolean
demur_layout_is_dialog(const char *name) {
  const Stop *stop = find(name);
  return stop != NULL && stop->action != NULL;
}

gboolean
demur_layout_is_of_case(const char *name) {
  const Stop *stop = find(name);
  return stop != NULL && stop->page == DEMUR_PAGE_PATIENT;
}

static gboolean
fits(const DemurScan *scan, Case of) {
  switch (of) {
  case WITH_VERDICT:
    return scan->verdict_id != 0;
  case SET_ASIDE:
    return scan->source == NULL && !scan->chosen;
  case CONTRADICTED:
    return scan->waits;
  case WITH_IMAGES:
    return scan->source == NULL;
  default:
    return TRUE;
  }
}

void
demur_layout_show(DemurWindow *window, DemurSession *session, const char *name,
                  gboolean keep_case) {
  const Stop *stop = find(name);
  g_return_if_fail(stop != NULL);
  const DemurScanTable *table = demur_session_table(session);
  for (size_t i = 0; table != NULL && stop->of != ANY && !keep_case && i < table->n_scans; i++)
    if (fits(&table->scans[i], stop->of)) {
      demur_session_select(session, (gssize)i);
      break;
    }
  demur_window_show_page(window, stop->page);
  if (stop->action != NULL)
    gtk_widget_activate_action(GTK_WIDGET(window), stop->action, NULL);
}

GtkWindow *
demur_layout_shown(DemurWindow *window) {
  GListModel *all = gtk_window_get_toplevels();
  for (guint i = 0; i < g_list_model_get_n_items(all); i++) {
    g_autoptr(GtkWindow) one = g_list_model_get_item(all, i);
    if (one != GTK_WINDOW(window) && gtk_widget_get_mapped(GTK_WIDGET(one)))
      return one; /* GTK holds it */
  }
  return GTK_WINDOW(window);
}
