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

/* Beside the pages themselves (ui/page.h). */
static const Stop dialogs[] = {
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
  static const char *names[DEMUR_N_PAGES + G_N_ELEMENTS(dialogs) + 1];
  for (int p = 0; p < DEMUR_N_PAGES; p++)
    names[p] = demur_page_name((DemurPage)p);
  for (gsize i = 0; i < G_N_ELEMENTS(dialogs); i++)
    names[DEMUR_N_PAGES + i] = dialogs[i].name;
  return names;
}

static gboolean
find(const char *name, Stop *stop) {
  *stop = (Stop){.name = name};
  if (demur_page_from_name(name, &stop->page))
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS(dialogs); i++)
    if (g_strcmp0(name, dialogs[i].name) == 0) {
      *stop = dialogs[i];
      return TRUE;
    }
  return FALSE;
}

gboolean
demur_layout_is_stop(const char *name) {
  Stop stop;
  return find(name, &stop);
}

gboolean
demur_layout_is_dialog(const char *name) {
  Stop stop;
  return find(name, &stop) && stop.action != NULL;
}

gboolean
demur_layout_is_of_case(const char *name) {
  Stop stop;
  return find(name, &stop) && stop.page == DEMUR_PAGE_PATIENT;
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
  Stop stop;
  const gboolean known = find(name, &stop);
  g_return_if_fail(known);
  const DemurScanTable *table = demur_session_table(session);
  for (size_t i = 0; table != NULL && stop.of != ANY && !keep_case && i < table->n_scans; i++)
    if (fits(&table->scans[i], stop.of)) {
      demur_session_select(session, (gssize)i);
      break;
    }
  demur_window_show_page(window, stop.page);
  if (stop.action != NULL)
    gtk_widget_activate_action(GTK_WIDGET(window), stop.action, NULL);
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
