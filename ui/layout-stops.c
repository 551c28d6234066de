#include "ui/layout-stops.h"

#include <string.h>

#include "ui/scan-words.h"

/* Which case it is of. */
typedef enum {
  ANY,
  WITH_VERDICT,
  DECIDED, /* of which one can have an opinion */
  SET_ASIDE,
  CONTRADICTED,
  WITH_IMAGES,
  WITH_PRIOR
} Case;

typedef struct {
  const char *name;
  DemurPage page;
  const char *action; /* NULL: the page itself */
  Case of;
  const char
      *back; /* the action by which a state of a page ends; NULL: a dialog, which is closed */
} Stop;

/* Beside the pages themselves (ui/page.h): dialogs, and states of pages. */
static const Stop others[] = {
    {"undo-notice", DEMUR_PAGE_WORKLIST, "win.tell-assessed", ANY, "win.close-notice"},
    {"opinion", DEMUR_PAGE_PATIENT, "win.agree", DECIDED, "win.drop"},
    {"three-planes", DEMUR_PAGE_PATIENT, "win.three-planes", WITH_IMAGES, "win.three-planes"},
    {"prior", DEMUR_PAGE_PATIENT, "win.compare", WITH_PRIOR, "win.compare"},
    {"tables", DEMUR_PAGE_COHORT, "win.tables", ANY, "win.tables"},
    {"import-report", DEMUR_PAGE_WORKLIST, "win.import-report", ANY, NULL},
    {"assess", DEMUR_PAGE_WORKLIST, "win.assess", ANY, NULL},
    {"undo-assess", DEMUR_PAGE_WORKLIST, "win.undo-assess", ANY, NULL},
    {"train", DEMUR_PAGE_COHORT, "win.train", ANY, NULL},
    {"use-coverage", DEMUR_PAGE_COHORT, "win.use-coverage", ANY, NULL},
    {"comment", DEMUR_PAGE_PATIENT, "win.comment", WITH_VERDICT, NULL},
    {"choose-series", DEMUR_PAGE_PATIENT, "win.choose-series", SET_ASIDE, NULL},
    {"resolve", DEMUR_PAGE_PATIENT, "win.resolve", CONTRADICTED, NULL},
    {"remove", DEMUR_PAGE_PATIENT, "win.remove", WITH_IMAGES, NULL},
    {"viewer", DEMUR_PAGE_WORKLIST, "app.viewer", ANY, NULL},
    {"keys", DEMUR_PAGE_WORKLIST, "app.shortcuts", ANY, NULL},
    {"about", DEMUR_PAGE_WORKLIST, "app.about", ANY, NULL},
};

const char *const *
demur_layout_stops(void) {
  static const char *names[DEMUR_N_PAGES + G_N_ELEMENTS(others) + 1];
  for (int p = 0; p < DEMUR_N_PAGES; p++)
    names[p] = demur_page_name((DemurPage)p);
  for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
    names[DEMUR_N_PAGES + i] = others[i].name;
  return names;
}

static gboolean
find(const char *name, Stop *stop) {
  *stop = (Stop){.name = name};
  if (demur_page_from_name(name, &stop->page))
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
    if (g_strcmp0(name, others[i].name) == 0) {
      *stop = others[i];
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
  return find(name, &stop) && stop.action != NULL && stop.back == NULL;
}

gboolean
demur_layout_is_of_case(const char *name) {
  Stop stop;
  return find(name, &stop) && stop.page == DEMUR_PAGE_PATIENT;
}

static gboolean
has_prior(const DemurScanTable *table, size_t row) {
  size_t n;
  g_autofree guint32 *rows = demur_scan_table_of_patient(table, row, &n);
  for (size_t i = 0; i < n; i++)
    if (table->scans[rows[i]].source == NULL && table->scans[rows[i]].chosen &&
        strcmp(table->scans[rows[i]].date, table->scans[row].date) < 0)
      return TRUE;
  return FALSE;
}

static gboolean
fits(const DemurScanTable *table, size_t row, Case of) {
  const DemurScan *scan = &table->scans[row];
  switch (of) {
  case DECIDED:
    return demur_scan_why_no_review(scan, FALSE, DEMUR_REVIEW_AGREE) == NULL;
  case WITH_PRIOR:
    return scan->source == NULL && scan->chosen && has_prior(table, row);
  case WITH_VERDICT:
    return scan->verdict_id != 0;
  case SET_ASIDE:
    return scan->source == NULL && !scan->chosen;
  case CONTRADICTED:
    return scan->waits;
  case WITH_IMAGES:
    return scan->source == NULL && scan->chosen;
  default:
    return TRUE;
  }
}

static void
act(DemurWindow *window, const char *action) {
  gtk_widget_activate_action(GTK_WIDGET(window), action, NULL);
}

void
demur_layout_show(DemurWindow *window, DemurSession *session, const char *name,
                  gboolean keep_case) {
  Stop stop;
  const gboolean known = find(name, &stop);
  g_return_if_fail(known);
  const DemurScanTable *table = demur_session_table(session);
  for (size_t i = 0; table != NULL && stop.of != ANY && !keep_case && i < table->n_scans; i++)
    if (fits(table, i, stop.of)) {
      demur_session_select(session, (gssize)i);
      break;
    }
  demur_window_show_page(window, stop.page);
}

gboolean
demur_layout_enter(DemurWindow *window, const char *name) {
  Stop stop;
  if (!find(name, &stop) || stop.action == NULL)
    return FALSE;
  act(window, stop.action);
  return TRUE;
}

void
demur_layout_leave(DemurWindow *window, const char *name) {
  Stop stop;
  if (find(name, &stop) && stop.back != NULL)
    act(window, stop.back);
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
