/* The status line, notices and running work. */
#include <math.h>
#include <string.h>

#include "report/format.h"
#include "ui/shown.h"
#include "ui/window-private.h"
#include "ui/words.h"

static void
set_or_hide(GtkLabel *label, char *text) {
  demur_shown_label_set(label, text != NULL ? text : "");
  gtk_widget_set_visible(GTK_WIDGET(label), text != NULL);
  g_free(text);
}

void
demur_window_update_status(DemurWindow *window) {
  DemurScanTable *table = demur_session_table(window->session);
  gtk_widget_set_visible(window->status_simulated, table != NULL && table->simulated);
  if (table == NULL)
    return;
  /* Beside a case what its verdict is of: the card says the same. */
  DemurInUse of_case;
  const DemurScan *scan =
      demur_window_is_on(window, DEMUR_PAGE_PATIENT) ? demur_session_scan(window->session) : NULL;
  const DemurInUse *in_use = &table->in_use;
  if (scan != NULL && *scan->selector != '\0') {
    of_case = (DemurInUse){.selector = (char *)(gsize)scan->selector,
                           .digest = (char *)(gsize)scan->selector_digest,
                           .model = (char *)(gsize)scan->model,
                           .coverage = scan->coverage,
                           .threshold = scan->threshold};
    in_use = &of_case;
  }
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
              demur_window_is_on(window, DEMUR_PAGE_WORKLIST)
                  ? g_strdup_printf(ngettext_("%s scan", "%s scans", table->n_scans), scans)
                  : g_strdup_printf(ngettext_("%s scan · %s not reviewed",
                                              "%s scans · %s not reviewed", table->n_scans),
                                    scans, left));
  g_autofree char *name = demur_task_workspace_name(table->path);
  demur_shown_label_set(window->workspace, name);
  demur_shown_tooltip_set(GTK_WIDGET(window->workspace), table->path);
}

void
demur_window_on_notice(DemurWindow *window, const char *text, gboolean is_error,
                       const char *details) {
  if (text == NULL) {
    demur_window_close_notice(window);
    return;
  }
  demur_shown_label_set(window->notice, text);
  demur_shown_tooltip_set(GTK_WIDGET(window->notice), details);
  gtk_widget_set_visible(window->notice_more, FALSE);
  gtk_widget_set_visible(window->notice_undo, FALSE);
  if (is_error)
    gtk_widget_add_css_class(GTK_WIDGET(window->notice_box), "error");
  else
    gtk_widget_remove_css_class(GTK_WIDGET(window->notice_box), "error");
  gtk_widget_set_visible(GTK_WIDGET(window->notice_box), TRUE);
}

void
demur_window_on_assessed(DemurWindow *window) {
  gtk_widget_set_visible(window->notice_undo, !demur_session_read_only(window->session));
}

void
demur_window_close_notice(DemurWindow *window) {
  gtk_widget_set_visible(GTK_WIDGET(window->notice_box), FALSE);
}

void
demur_window_on_busy(DemurWindow *window) {
  double fraction;
  const char *title = demur_session_busy(window->session, &fraction);
  gtk_widget_set_visible(window->busy_box, title != NULL);
  if (title != NULL)
    demur_shown_label_set(window->busy_label, title);
  gtk_progress_bar_set_fraction(window->busy_bar, CLAMP(fraction, 0, 1));
}
