/* What is done with the case that is shown: opinions, a comment, the choice of its series, what
 * contradicts it, its verdict anew. */
#include <string.h>

#include "ui/question-window.h"
#include "ui/remove-window.h"
#include "ui/resolve-window.h"
#include "ui/scan-words.h"
#include "ui/window-private.h"
#include "ui/words.h"
#include "words/words.h"

static void
on_open_case(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  demur_window_show_page(window, DEMUR_PAGE_PATIENT);
  gtk_widget_grab_focus(GTK_WIDGET(demur_patient_page_view(window->patient)));
}

static void
on_reveal(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  /* Only where the verdict is on the screen: a reveal must be deliberate. */
  if (demur_window_is_on(window, DEMUR_PAGE_PATIENT))
    demur_session_reveal(window->session);
}

static void
on_agree(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  if (demur_window_is_on(window, DEMUR_PAGE_PATIENT))
    demur_patient_page_propose(window->patient, DEMUR_REVIEW_AGREE);
}

static void
on_disagree(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  if (demur_window_is_on(window, DEMUR_PAGE_PATIENT))
    demur_patient_page_propose(window->patient, DEMUR_REVIEW_DISAGREE);
}

static void
on_keep(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_patient_page_keep(DEMUR_WINDOW(data)->patient);
}

static void
on_drop_opinion(GSimpleAction *action, GVariant *value, gpointer data) {
  demur_patient_page_drop(DEMUR_WINDOW(data)->patient);
}

/* A comment is of the verdict it was asked for, whatever is open and whatever others wrote when it arrives. */
typedef struct {
  DemurWindow *window;
  char *scan_id;
  gint64 verdict_id;
} CommentData;

static void ask_for_comment(DemurWindow *window, const char *before, const char *written);

static void
on_comment_given(const char *text, gpointer data) {
  CommentData *comment = data;
  DemurWindow *window = comment->window;
  const DemurScan *scan = demur_session_scan(window->session);
  const gboolean same = scan != NULL && strcmp(scan->scan_id, comment->scan_id) == 0;
  const char *why = same ? demur_scan_why_no_review(scan, demur_session_read_only(window->session),
                                                    DEMUR_REVIEW_COMMENT)
                         : _("Another case was opened meanwhile: the comment was not kept.");
  if (text != NULL && why != NULL)
    demur_session_notice(window->session, why, TRUE);
  else if (text != NULL && scan->verdict_id == comment->verdict_id)
    demur_session_review(window->session, DEMUR_REVIEW_COMMENT, text);
  else if (text != NULL)
    ask_for_comment(window,
                    _("The verdict was made anew while you wrote. Look at what is shown now: does "
                      "your comment still hold?"),
                    text);
  g_free(comment->scan_id);
  g_object_unref(window);
  g_free(comment);
}

/* Asks for a comment on the verdict that is shown; before stands above the question and written in its field (NULL:
 * nothing). */
static void
ask_for_comment(DemurWindow *window, const char *before, const char *written) {
  const DemurScan *scan = demur_session_scan(window->session);
  CommentData *comment = g_new(CommentData, 1);
  *comment = (CommentData){g_object_ref(window), g_strdup(scan->scan_id), scan->verdict_id};
  g_autofree char *what =
      g_strdup_printf(_("Comment on the verdict of patient %s, scan of %s. It is kept with your "
                        "name, the time and what is shown."),
                      scan->patient_id, scan->date);
  g_autofree char *text =
      before != NULL ? g_strdup_printf("%s\n\n%s", before, what) : g_strdup(what);
  demur_question_ask(GTK_WINDOW(window), _("Comment"), text, written, _("Keep"), FALSE,
                     on_comment_given, comment);
}

static void
on_comment(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const DemurScan *scan = demur_session_scan(window->session);
  if (scan == NULL || !demur_window_is_on(window, DEMUR_PAGE_PATIENT))
    return;
  const char *why = demur_scan_why_no_review(scan, demur_session_read_only(window->session),
                                             DEMUR_REVIEW_COMMENT);
  if (why != NULL)
    demur_session_notice(window->session, why, FALSE);
  else
    ask_for_comment(window, NULL, NULL);
}

/* Which series of the study is assessed. */

typedef struct {
  DemurWindow *window;
  char *scan_id;
} ChooseData;

static void
on_choose_reason(const char *text, gpointer data) {
  ChooseData *choose = data;
  if (text != NULL)
    demur_session_choose(choose->window->session, choose->scan_id, text);
  g_object_unref(choose->window);
  g_free(choose->scan_id);
  g_free(choose);
}

static void
on_choose_series(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const DemurScan *scan = demur_session_scan(window->session);
  if (scan == NULL || scan->source != NULL || !demur_window_is_on(window, DEMUR_PAGE_PATIENT))
    return;
  if (scan->chosen || demur_session_read_only(window->session)) {
    demur_session_notice(window->session,
                         scan->chosen ? _("This series is the assessed one already.")
                                      : _("This workspace can't be written."),
                         FALSE);
    return;
  }
  ChooseData *choose = g_new(ChooseData, 1);
  *choose = (ChooseData){g_object_ref(window), g_strdup(scan->scan_id)};
  g_autofree char *why = demur_words_kept(scan->set_aside, demur_words_translate);
  g_autofree char *text = g_strdup_printf(
      _("The rules set this series of patient %s aside: %s. Why is it to be assessed all the same? "
        "The reason is kept, both verdicts stay visible, the report counts such decisions, and "
        "calibration is measured on the rules' choice."),
      scan->patient_id, why);
  demur_question_ask(GTK_WINDOW(window), _("Assess this series instead"), text, NULL,
                     _("Assess and keep"), FALSE, on_choose_reason, choose);
}

static void
on_resolve(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const DemurScan *scan = demur_session_scan(window->session);
  if (scan == NULL || !demur_window_is_on(window, DEMUR_PAGE_PATIENT))
    return;
  if (!scan->waits || demur_session_read_only(window->session)) {
    demur_session_notice(window->session,
                         !scan->waits ? _("Nothing contradicts this series.")
                                      : _("This workspace can't be written."),
                         FALSE);
    return;
  }
  gtk_window_present(
      GTK_WINDOW(demur_resolve_window_new(GTK_WINDOW(window), window->session, scan)));
}

/* Taking out what was imported by mistake. */
static void
on_remove(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const DemurScan *scan = demur_session_scan(window->session);
  const gboolean seen = demur_window_is_on(window, DEMUR_PAGE_PATIENT) ||
                        demur_window_is_on(window, DEMUR_PAGE_WORKLIST);
  if (scan == NULL || !seen || scan->source != NULL || demur_session_read_only(window->session))
    demur_session_notice(
        window->session,
        scan == NULL || !seen ? _("Choose the case in the worklist first.")
        : scan->source != NULL
            ? _("This scan is of a cohort, which is removed as a whole: `demur cohort remove`.")
            : _("This workspace can't be written."),
        FALSE);
  else
    gtk_window_present(
        GTK_WINDOW(demur_remove_window_new(GTK_WINDOW(window), window->session, scan)));
}

/* What the case that is shown needs before a verdict can tell more; FALSE: it can be assessed. */
static gboolean
lead_to_remedy(DemurWindow *window, DemurRemedy remedy, const DemurScan *scan) {
  if (remedy == DEMUR_REMEDY_SCORE || remedy == DEMUR_REMEDY_COHORT) {
    g_action_group_activate_action(G_ACTION_GROUP(window), "import-table", NULL);
    return TRUE;
  }
  if (remedy != DEMUR_REMEDY_TUNE && remedy != DEMUR_REMEDY_TRAIN)
    return FALSE;
  if (remedy == DEMUR_REMEDY_TUNE)
    demur_cohort_page_show_selector(window->cohort, scan->selector);
  demur_window_show_page(window, DEMUR_PAGE_COHORT);
  return TRUE;
}

/* The case that is shown, by the selector of its verdict, else by the one in use: one series, or
 * the split of the cohort that it is in. */
static void
on_assess_case(GSimpleAction *action, GVariant *value, gpointer data) {
  DemurWindow *window = data;
  const DemurScan *scan = demur_session_scan(window->session);
  const DemurScanTable *table = demur_session_table(window->session);
  if (scan == NULL || !demur_window_is_on(window, DEMUR_PAGE_PATIENT) ||
      lead_to_remedy(window, demur_scan_remedy(table, scan), scan))
    return;
  const char *selector =
      *scan->selector != '\0' &&
              g_strv_contains((const char *const *)table->selectors, scan->selector)
          ? scan->selector
          : table->in_use.selector;
  if (selector == NULL) {
    demur_session_notice(window->session,
                         _("There is no selector yet: train one on the Cohort page first."), TRUE);
    return;
  }
  const DemurAssessParams params = {
      .selector = selector,
      .cohort = scan->source,
      .split = scan->source != NULL && *scan->split != '\0' ? scan->split : NULL,
      .scan_id = scan->source == NULL ? scan->scan_id : NULL};
  demur_session_assess(window->session, &params);
}

void
demur_window_add_case_actions(DemurWindow *window) {
  static const GActionEntry actions[] = {
      {.name = "open-case", .activate = on_open_case},
      {.name = "reveal", .activate = on_reveal},
      {.name = "agree", .activate = on_agree},
      {.name = "disagree", .activate = on_disagree},
      {.name = "keep", .activate = on_keep},
      {.name = "drop", .activate = on_drop_opinion},
      {.name = "comment", .activate = on_comment},
      {.name = "choose-series", .activate = on_choose_series},
      {.name = "resolve", .activate = on_resolve},
      {.name = "remove", .activate = on_remove},
      {.name = "assess-case", .activate = on_assess_case},
  };
  g_action_map_add_action_entries(G_ACTION_MAP(window), actions, G_N_ELEMENTS(actions), window);
}
