#include "ui/undo-assess.h"

#include "report/format.h"
#include "ui/job.h"
#include "ui/question-window.h"
#include "ui/words.h"
#include "ui/worker.h"

typedef struct {
  DemurSession *session;
  char *path; /* the answer is of that workspace */
  gint64 batch;
} Asked;

static void
asked_free(Asked *asked) {
  g_object_unref(asked->session);
  g_free(asked->path);
  g_free(asked);
}

static gpointer
last_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, data, NULL, progress);
  return demur_task_assess_last(&task, error);
}

static void
last_free(gpointer last) {
  demur_last_assessment_free(last);
}

static void
on_reason(const char *reason, gpointer data) {
  Asked *asked = data;
  if (reason != NULL && g_strcmp0(demur_session_path(asked->session), asked->path) == 0)
    demur_session_undo_assess(asked->session, asked->batch, reason);
  asked_free(asked);
}

/* Why it can't be taken back. */
static char *
refuse(const DemurLastAssessment *last) {
  return g_strdup_printf(
      ngettext_(
          "%zu of the %zu verdicts of the last assessment has an opinion, a comment or a "
          "reveal, which belongs to it: it can't be undone. Assess the scans again instead.",
          "%zu of the %zu verdicts of the last assessment have an opinion, a comment or a reveal, "
          "which belong to them: it can't be undone. Assess the scans again instead.",
          last->n_reviewed),
      last->n_reviewed, last->n_all);
}

/* The other horizons of a family, as a sentence before the last; "" where there are none. */
static char *
others(const DemurLastAssessment *last) {
  if (last->selectors == NULL || last->selectors->len == 0)
    return g_strdup("");
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = last->selectors->len; i > 0; i--) /* the newest stands first there */
    g_string_append_printf(names, "%s%s", names->len > 0 ? ", " : "",
                           (const char *)last->selectors->pdata[i - 1]);
  return g_strdup_printf(
      _("What the other horizons said of the same scans goes back with it: %s. "), names->str);
}

char *
demur_undo_assess_words(const DemurLastAssessment *last) {
  if (last->n_reviewed > 0)
    return refuse(last);
  g_autofree char *with = others(last);
  g_autofree char *scans = last->cohort == NULL
                               ? g_strdup(_("DICOM series"))
                               : g_strdup_printf(_("scans of cohort %s"), last->cohort);
  g_autofree char *n = demur_text_count(last->n_verdicts),
                  *earlier = demur_text_count(last->n_earlier),
                  *none = demur_text_count(last->n_verdicts - last->n_earlier);
  g_autofree char *date = demur_translate_day(demur_words_translate, last->created);
  return g_strdup_printf(
      _("The assessment of %s by selector %s gave %s %s a verdict. Taken back, %s of them have "
        "their earlier verdict again, with the opinions on it, and %s have none. %sWhat is taken "
        "back stays in the history, with your name and the reason. Why?"),
      date, last->selector, n, scans, earlier, none, with);
}

static void
on_last(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  GtkWindow *parent = owner;
  DemurSession *session = g_object_get_data(G_OBJECT(parent), "undo-assess");
  g_autoptr(DemurLastAssessment) last = result;
  if (last == NULL) {
    demur_session_fail(session, error);
    return;
  }
  g_autofree char *text = demur_undo_assess_words(last);
  if (last->n_reviewed > 0) {
    demur_session_notice(session, text, TRUE);
    return;
  }
  Asked *asked = g_new(Asked, 1);
  *asked = (Asked){g_object_ref(session), g_strdup(demur_session_path(session)), last->batch};
  demur_question_ask(parent, _("Undo the last assessment"), text, NULL, _("Undo"), FALSE, on_reason,
                     asked);
}

void
demur_undo_assess_ask(GtkWindow *parent, DemurSession *session) {
  const char *path = demur_session_path(session);
  if (path == NULL || demur_session_read_only(session)) {
    demur_session_notice(session,
                         path == NULL ? _("No workspace is open yet.")
                                      : _("This workspace can't be written."),
                         FALSE);
    return;
  }
  g_object_set_data_full(G_OBJECT(parent), "undo-assess", g_object_ref(session), g_object_unref);
  const DemurJobStart start = {.func = last_work,
                               .input = g_strdup(path),
                               .free_input = g_free,
                               .free_result = last_free,
                               .owner = G_OBJECT(parent),
                               .done = on_last};
  demur_job_start(&start);
}
