#include "ui/session.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "dicom/library.h"
#include "tasks/assess-undo.h"
#include "tasks/history.h"
#include "tasks/meaning.h"
#include "tasks/others.h"
#include "tasks/demo.h"
#include "tasks/patient-sheet.h"
#include "tasks/workspace-copy.h"
#include "ui/job.h"
#include "ui/words.h"
#include "ui/worker.h"

#define REST_MS 1000  /* between two readings that nobody asked for, and as long as one takes */
#define AGAIN_MS 3000 /* behind one that failed */

struct _DemurSession {
  GObject parent_instance;
  char *user;
  DemurScanTable *table;
  DemurScanList *list;
  gssize row;
  char *wanted_source, *wanted_scan; /* the current case, to be found again after a reload */
  gboolean wanted;
  DemurJob *load_job, *work_job;
  DemurOthers *others;
  DemurOpenScans *open_scans;
  gint64 others_last; /* the last event that is known of */
  /* What stands there may be another workspace than what is shown: to be read; and read by the reading that runs. */
  gboolean another_due, another_read;
  gint64 load_began, rests_until; /* g_get_monotonic_time */
  guint again;                    /* source of the next reading that nobody asks for; 0: none */
  gboolean unasked;               /* the reading that runs was asked for by nobody: another wrote */
  guint64 generation;
  gboolean told_away;     /* the notice says that the workspace's server is away */
  gboolean one_assessed;  /* not every series: the list itself shows what came of it */
  gboolean tell_assessed; /* once the workspace is read again after an assessment */
  char *busy_title;
  double busy_fraction;
  DemurImportOutcome *outcome;
};

enum { LOADED, CASE_CHANGED, REVIEWED, NOTICE, BUSY, IMPORTED, ASSESSED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(DemurSession, demur_session, G_TYPE_OBJECT)

static void
demur_session_dispose(GObject *object) {
  DemurSession *session = DEMUR_SESSION(object);
  demur_job_drop(&session->load_job);
  demur_job_drop(&session->work_job);
  g_clear_handle_id(&session->again, g_source_remove);
  g_clear_pointer(&session->others, demur_others_stop);
  G_OBJECT_CLASS(demur_session_parent_class)->dispose(object);
}

static void
demur_session_finalize(GObject *object) {
  DemurSession *session = DEMUR_SESSION(object);
  g_free(session->user);
  g_free(session->wanted_source);
  g_free(session->wanted_scan);
  g_free(session->busy_title);
  demur_scan_table_unref(session->table);
  g_object_unref(session->list);
  demur_import_outcome_free(session->outcome);
  demur_open_scans_unref(session->open_scans);
  G_OBJECT_CLASS(demur_session_parent_class)->finalize(object);
}

static void
demur_session_class_init(DemurSessionClass *class) {
  GObjectClass *object_class = G_OBJECT_CLASS(class);
  object_class->dispose = demur_session_dispose;
  object_class->finalize = demur_session_finalize;
  signals[LOADED] = g_signal_new("loaded", DEMUR_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 0);
  signals[CASE_CHANGED] = g_signal_new("case-changed", DEMUR_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0,
                                       NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[REVIEWED] = g_signal_new("reviewed", DEMUR_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                   NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  signals[NOTICE] =
      g_signal_new("notice", DEMUR_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                   G_TYPE_NONE, 3, G_TYPE_STRING, G_TYPE_BOOLEAN, G_TYPE_STRING);
  signals[IMPORTED] = g_signal_new("imported", DEMUR_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                   NULL, G_TYPE_NONE, 0);
  signals[ASSESSED] = g_signal_new("assessed", DEMUR_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                   NULL, G_TYPE_NONE, 0);
  signals[BUSY] = g_signal_new("busy", DEMUR_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                               G_TYPE_NONE, 0);
}

static void
demur_session_init(DemurSession *session) {
  session->row = -1;
  session->list = demur_scan_list_new();
}

DemurSession *
demur_session_new(const char *user) {
  DemurSession *session = g_object_new(DEMUR_TYPE_SESSION, NULL);
  session->user = g_strdup(user);
  return session;
}

const char *
demur_session_user(DemurSession *session) {
  return session->user;
}

const char *
demur_session_path(DemurSession *session) {
  return session->table != NULL ? session->table->path : NULL;
}

gboolean
demur_session_read_only(DemurSession *session) {
  return session->table != NULL && session->table->read_only;
}

DemurScanTable *
demur_session_table(DemurSession *session) {
  return session->table;
}

DemurScanList *
demur_session_list(DemurSession *session) {
  return session->list;
}

void
demur_session_notice(DemurSession *session, const char *text, gboolean is_error) {
  session->told_away = FALSE;
  g_signal_emit(session, signals[NOTICE], 0, text, is_error, NULL);
}

/* The workspace answers: that its server is away is told no more. */
static void
answered(DemurSession *session) {
  if (session->told_away)
    demur_session_notice(session, NULL, FALSE);
}

void
demur_session_fail(DemurSession *session, const GError *error) {
  g_autofree char *why = demur_words_error(error);
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    demur_session_notice(session, _("Cancelled; nothing was changed."), FALSE);
  else
    g_signal_emit(session, signals[NOTICE], 0, why, TRUE, demur_error_details(error));
  session->told_away = g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_AWAY);
}

/* Reading the workspace. */

typedef struct {
  char *path;
  gboolean may_create, again;
} LoadInput;

static void
load_input_free(gpointer data) {
  LoadInput *input = data;
  g_free(input->path);
  g_free(input);
}

static gpointer
load_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const LoadInput *input = data;
  const char *path = input->path;
  if (input->again && !demur_task_workspace_may_be_there(path)) {
    demur_error_set(
        error, DEMUR_ERROR_NOT_FOUND,
        _("%s is gone: it was moved or deleted, or its drive is not there. What stands here "
          "was read before; nothing more can be kept until it is back."),
        path);
    return NULL;
  }
  return demur_scan_table_load(path, input->may_create, progress, error);
}

static void
table_free(gpointer table) {
  demur_scan_table_unref(table);
}

/* Beside set_row, for a table that was read anew. */
static void
keep_row(DemurSession *session, gssize row) {
  session->row = row;
  g_clear_pointer(&session->wanted_source, g_free);
  g_clear_pointer(&session->wanted_scan, g_free);
  session->wanted = row >= 0;
  if (row >= 0) {
    const DemurScan *scan = &session->table->scans[row];
    session->wanted_source = g_strdup(scan->source);
    session->wanted_scan = g_strdup(scan->scan_id);
  }
}

static void
set_row(DemurSession *session, gssize row) {
  keep_row(session, row);
  if (session->others != NULL)
    demur_others_set_open(session->others, NULL); /* until it is on the screen */
  g_signal_emit(session, signals[CASE_CHANGED], 0);
}

/* What others do. */

static void start_load(DemurSession *session, const char *path, gboolean may_create,
                       gboolean again);
static void read_what_others_wrote(DemurSession *session);

static gboolean
on_again(gpointer data) {
  DemurSession *session = data;
  session->again = 0;
  read_what_others_wrote(session);
  return G_SOURCE_REMOVE;
}

/* Another wrote what is not shown yet: read again, unless that happens anyway. Who writes without a pause doesn't make
 * this window read without one. */
static void
read_what_others_wrote(DemurSession *session) {
  if (session->table == NULL || session->load_job != NULL || session->work_job != NULL ||
      session->again != 0 ||
      !(session->another_due || session->others_last > session->table->last_event))
    return;
  const gint64 left = session->rests_until - g_get_monotonic_time();
  if (left > 0) {
    session->again = g_timeout_add((guint)(left / G_TIME_SPAN_MILLISECOND) + 1, on_again, session);
    return;
  }
  start_load(session, session->table->path, FALSE, TRUE);
  session->unasked = TRUE;
}

static void
rest_from_reading(DemurSession *session, gboolean ok) {
  const gint64 now = g_get_monotonic_time(), took = now - session->load_began;
  session->rests_until =
      now + MAX((ok ? REST_MS : AGAIN_MS) * (gint64)G_TIME_SPAN_MILLISECOND, took);
}

/* By what a scan is known to others: its ID, and the cohort that it is of (owned). */
static char *
open_key(const DemurScan *scan) {
  return scan->source == NULL ? g_strdup(scan->scan_id)
                              : g_strconcat(scan->source, "\n", scan->scan_id, NULL);
}

const char *
demur_session_opened_by(DemurSession *session, const DemurScan *scan) {
  if (demur_open_scans_none(session->open_scans))
    return NULL;
  g_autofree char *key = open_key(scan);
  return demur_open_scans_by(session->open_scans, key);
}

static void
on_others(const DemurOthersNews *news, gpointer data) {
  DemurSession *session = data;
  answered(session);
  const DemurScan *scan = demur_session_scan(session);
  g_autofree char *before = scan != NULL ? g_strdup(demur_session_opened_by(session, scan)) : NULL;
  demur_open_scans_unref(session->open_scans);
  session->open_scans = demur_open_scans_ref(news->scans);
  session->others_last = news->last;
  session->another_due |= news->is_another;
  const char *by = scan != NULL ? demur_session_opened_by(session, scan) : NULL;
  if (by != NULL && before == NULL) {
    g_autofree char *text = g_strdup_printf(_("%s has this case open too."), by);
    demur_session_notice(session, text, FALSE);
  }
  demur_scan_list_touch_all(session->list);
  read_what_others_wrote(session);
}

static void
listen_to_others(DemurSession *session) {
  g_clear_pointer(&session->others, demur_others_stop);
  g_clear_pointer(&session->open_scans, demur_open_scans_unref);
  session->others_last = 0;
  session->another_due = FALSE;
  g_autoptr(GError) error = NULL;
  session->others = demur_others_start(session->table->path, on_others, session, &error);
  if (session->others != NULL)
    return;
  demur_error_prefix(
      &error, "what others do in this workspace will not be shown until it is opened again: ");
  demur_session_fail(session, error);
}

/* Whether the case that is shown looks as it did: nobody asked for a reading, and what the reader does is left alone. */
static gboolean
looks_as_before(const DemurScanTable *old, gssize before, const DemurScanTable *now, gssize row) {
  const DemurScan *a = before >= 0 ? &old->scans[before] : NULL,
                  *b = row >= 0 ? &now->scans[row] : NULL;
  if (a == NULL || b == NULL)
    return a == b;
  return strcmp(a->scan_id, b->scan_id) == 0 && g_strcmp0(a->source, b->source) == 0 &&
         a->verdict_id == b->verdict_id && a->shown == b->shown && a->outdated == b->outdated;
}

static gboolean
is_reviewed_alike(const DemurScanReview *a, const DemurScanReview *b) {
  return a->n_reviews == b->n_reviews && a->revealed == b->revealed &&
         a->has_history == b->has_history && a->opinion == b->opinion;
}

/* Behind a reading that nobody asked for: the case is shown anew only where it is another now. */
static void
keep_case(DemurSession *session, const DemurScanTable *old, gssize before, gssize row) {
  if (!looks_as_before(old, before, session->table, row)) {
    set_row(session, row);
    return;
  }
  keep_row(session, row);
  if (row >= 0 && !is_reviewed_alike(&old->reviews[before], &session->table->reviews[row]))
    g_signal_emit(session, signals[REVIEWED], 0, (guint)row);
}

void
demur_session_tell_assessed(DemurSession *session) {
  if (session->table == NULL)
    return;
  guint n[DEMUR_N_SHOWN] = {0};
  for (size_t i = 0; i < session->table->n_scans; i++)
    if (session->table->scans[i].source == NULL)
      n[session->table->scans[i].shown]++;
  g_autofree char *text = g_strdup_printf(
      ngettext_("Assessed: %u accepted, %u red flag, %u without a score, %u not eligible.%s",
                "Assessed: %u accepted, %u red flags, %u without a score, %u not eligible.%s",
                n[DEMUR_SHOWN_RED_FLAG]),
      n[DEMUR_SHOWN_ACCEPTED], n[DEMUR_SHOWN_RED_FLAG], n[DEMUR_SHOWN_NO_SCORE],
      n[DEMUR_SHOWN_NOT_ELIGIBLE],
      n[DEMUR_SHOWN_NO_SCORE] > 0 ? _(" Scores are imported by the menu.") : "");
  /* Every series is told of: those that neither of these is too. */
  const guint n_other =
      n[DEMUR_SHOWN_NOT_TUNED] + n[DEMUR_SHOWN_OUT_OF_DATE] + n[DEMUR_SHOWN_NOT_ASSESSED];
  g_autoptr(GString) all = g_string_new(text);
  if (n[DEMUR_SHOWN_FAILED] > 0)
    g_string_append_printf(all, _(" Failed: %u."), n[DEMUR_SHOWN_FAILED]);
  if (n_other > 0)
    g_string_append_printf(all, _(" Without a verdict that holds: %u."), n_other);
  demur_session_notice(session, all->str, FALSE);
  g_signal_emit(session, signals[ASSESSED], 0);
}

static gboolean
on_link_idle(gpointer table) {
  demur_scan_table_link(table);
  return G_SOURCE_REMOVE;
}

static void
on_loaded(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurSession *session = owner;
  if (tag != session->generation) {
    demur_scan_table_unref(result);
    return;
  }
  session->load_job = NULL;
  const gboolean unasked = session->unasked, assessed = session->tell_assessed;
  session->unasked = FALSE;
  session->tell_assessed = FALSE;
  rest_from_reading(session, result != NULL);
  session->another_due |= session->another_read && result == NULL;
  session->another_read = FALSE;
  if (result == NULL) {
    if (!unasked) /* else it is told when somebody asks */
      demur_session_fail(session, error);
    g_signal_emit(session, signals[BUSY], 0);
    read_what_others_wrote(session);
    return;
  }
  answered(session);
  DemurScanTable *old = session->table;
  const gssize before = session->row;
  const gboolean another =
      old == NULL || g_strcmp0(old->path, ((DemurScanTable *)result)->path) != 0;
  session->table = result;
  demur_scan_list_set_table(session->list, session->table);
  g_idle_add_full(G_PRIORITY_LOW, on_link_idle, demur_scan_table_ref(session->table), table_free);
  gssize row = -1;
  if (!another && session->wanted)
    row = demur_scan_table_find(session->table, session->wanted_source, session->wanted_scan);
  session->row = unasked ? row : -1;
  g_signal_emit(session, signals[LOADED], 0);
  if (unasked && session->row == row)
    keep_case(session, old, before, row);
  else if (session->row < 0) /* nobody chose another meanwhile */
    set_row(session, row);
  demur_scan_table_unref(old);
  if (another)
    listen_to_others(session);
  else
    read_what_others_wrote(session);
  if (session->table->is_new && another) {
    g_autofree char *text =
        g_strdup_printf(_("There was no %s: a new workspace was made."), session->table->path);
    demur_session_notice(session, text, FALSE);
  }
  if (assessed && !another)
    demur_session_tell_assessed(session);
  if (session->table->read_only && another)
    demur_session_notice(session,
                         _("This workspace can't be written: it is shown, but imports, reviews and "
                           "thresholds can't be kept. Ask for write access to keep them."),
                         TRUE);
}

static void
start_load(DemurSession *session, const char *path, gboolean may_create, gboolean again) {
  LoadInput *input = g_new(LoadInput, 1);
  *input = (LoadInput){g_strdup(path), may_create, again};
  demur_job_drop(&session->load_job);
  g_clear_handle_id(&session->again, g_source_remove);
  session->another_read |= session->another_due;
  session->another_due = FALSE;
  session->load_began = g_get_monotonic_time();
  session->unasked = FALSE;
  const DemurJobStart start = {.func = load_work,
                               .input = input,
                               .free_input = load_input_free,
                               .free_result = table_free,
                               .owner = G_OBJECT(session),
                               .tag = ++session->generation,
                               .done = on_loaded};
  session->load_job = demur_job_start(&start);
}

void
demur_session_open(DemurSession *session, const char *path, gboolean may_create) {
  start_load(session, path, may_create, FALSE);
}

void
demur_session_reload(DemurSession *session) {
  if (session->table != NULL)
    start_load(session, session->table->path, FALSE, TRUE);
}

/* The current case. */

gssize
demur_session_row(DemurSession *session) {
  return session->row;
}

const DemurScan *
demur_session_scan(DemurSession *session) {
  return session->row >= 0 ? &session->table->scans[session->row] : NULL;
}

void
demur_session_select(DemurSession *session, gssize row) {
  if (session->table == NULL || row >= (gssize)session->table->n_scans || row == session->row)
    return;
  set_row(session, row);
}

void
demur_session_step(DemurSession *session, int direction) {
  const guint n = g_list_model_get_n_items(G_LIST_MODEL(session->list));
  if (n == 0)
    return;
  gssize at =
      session->row >= 0 ? demur_scan_list_position_of(session->list, (guint32)session->row) : -1;
  if (at < 0)
    at = direction > 0 ? 0 : (gssize)n - 1;
  else
    at += direction;
  if (at >= 0 && at < (gssize)n)
    demur_session_select(session, demur_scan_list_row_at(session->list, (guint)at));
}

/* Reviews. */

gboolean
demur_session_revealed(DemurSession *session) {
  return session->row >= 0 && session->table->reviews[session->row].revealed;
}

static gboolean
keep_review(DemurSession *session, DemurReviewKind kind, const char *comment, gboolean revealed) {
  g_autoptr(GError) error = NULL;
  if (session->row < 0)
    return FALSE;
  g_auto(DemurTask) task;
  demur_worker_task_actor(&task, session->table->path, session->user);
  if (!demur_task_review(&task, demur_session_scan(session), kind, comment, revealed, &error)) {
    demur_worker_refused(&task, "review", error);
    demur_session_fail(session, error);
    return FALSE;
  }
  answered(session);
  session->table->last_event = demur_others_seen(&task, session->table->last_event);
  DemurScanReview *mine = &session->table->reviews[session->row];
  mine->has_history = TRUE;
  if (kind == DEMUR_REVIEW_REVEAL) {
    mine->revealed = TRUE;
  } else if (demur_session_scan(session)->outdated == DEMUR_CURRENT) {
    mine->n_reviews++;
    mine->opinion = kind;
  }
  demur_scan_list_touch(session->list, (guint32)session->row);
  g_signal_emit(session, signals[REVIEWED], 0, (guint)session->row);
  return TRUE;
}

gboolean
demur_session_review(DemurSession *session, DemurReviewKind kind, const char *comment) {
  return keep_review(session, kind, comment, demur_session_revealed(session));
}

gboolean
demur_session_reveal(DemurSession *session) {
  const DemurScan *scan = demur_session_scan(session);
  if (scan == NULL || scan->shown != DEMUR_SHOWN_RED_FLAG || isnan(scan->withheld_risk) ||
      demur_session_revealed(session))
    return FALSE;
  return keep_review(session, DEMUR_REVIEW_REVEAL, NULL, TRUE);
}

/* What is drawn on images. */

GPtrArray *
demur_session_annotations(DemurSession *session, const char *scan_id, const char *images_digest) {
  g_autoptr(GError) error = NULL;
  g_auto(DemurTask) task;
  demur_worker_task_actor(&task, session->table->path, session->user);
  task.opening = DEMUR_WORKSPACE_READ_ONLY;
  GPtrArray *list = demur_task_annotations(&task, scan_id, images_digest, &error);
  if (list != NULL)
    return list;
  demur_session_fail(session, error);
  return g_ptr_array_new();
}

static gboolean
may_draw(DemurSession *session) {
  if (!session->table->read_only)
    return TRUE;
  demur_session_notice(
      session, _("This workspace may only be read: what is drawn on images is not kept."), FALSE);
  return FALSE;
}

gboolean
demur_session_annotate(DemurSession *session, DemurAnnotation *annotation) {
  g_autoptr(GError) error = NULL;
  g_auto(DemurTask) task;
  demur_worker_task_actor(&task, session->table->path, session->user);
  if (!may_draw(session))
    return FALSE;
  if (demur_task_annotate(&task, annotation, &error)) {
    session->table->last_event = demur_others_seen(&task, session->table->last_event);
    return TRUE;
  }
  demur_session_fail(session, error);
  return FALSE;
}

gboolean
demur_session_take_off(DemurSession *session, const gint64 *ids, gsize n) {
  g_autoptr(GError) error = NULL;
  g_auto(DemurTask) task;
  demur_worker_task_actor(&task, session->table->path, session->user);
  if (n == 0 || !may_draw(session))
    return FALSE;
  if (demur_task_annotations_take_off(&task, ids, n, &error)) {
    session->table->last_event = demur_others_seen(&task, session->table->last_event);
    return TRUE;
  }
  demur_session_fail(session, error);
  return FALSE;
}

void
demur_session_images_changed(DemurSession *session) {
  if (session->row < 0 || demur_session_scan(session)->verdict_id == 0)
    return;
  demur_scan_table_images_changed(session->table, (size_t)session->row);
  demur_scan_list_touch(session->list, (guint32)session->row);
  g_signal_emit(session, signals[REVIEWED], 0, (guint)session->row);
}

/* Work that shows in the window. */

typedef struct {
  char *path, *user, *selector, *cohort, *split, *scan_id, *coverage, *reason;
  char *study_uid, *patient_id;
  char **paths;
  gboolean reread;
  DemurSessionDecision decision;
  DemurTableImport *table;
  gint64 batch;
} WorkInput;

static void
work_input_free(gpointer data) {
  WorkInput *input = data;
  g_free(input->path);
  g_free(input->user);
  g_free(input->selector);
  g_free(input->cohort);
  g_free(input->split);
  g_free(input->scan_id);
  g_free(input->reason);
  g_free(input->study_uid);
  g_free(input->patient_id);
  g_free(input->coverage);
  g_strfreev(input->paths);
  demur_table_import_free(input->table);
  g_free(input);
}

static void
set_busy(DemurSession *session, const char *title, double fraction) {
  if (g_strcmp0(title, session->busy_title) != 0) {
    g_free(session->busy_title);
    session->busy_title = g_strdup(title);
  }
  session->busy_fraction = fraction;
  g_signal_emit(session, signals[BUSY], 0);
}

static void
on_work_progress(gpointer owner, guint64 tag, double fraction, const char *stage) {
  DemurSession *session = owner;
  if (session->work_job != NULL)
    set_busy(session, session->busy_title, fraction);
}

static gboolean
start_work(DemurSession *session, const char *title, WorkInput *input, DemurJobFunc func,
           GDestroyNotify free_result, DemurJobDone done) {
  if (session->work_job != NULL || session->table == NULL) {
    demur_session_notice(session,
                         session->table == NULL
                             ? _("No workspace is open yet.")
                             : _("Other work is running: wait for it, or cancel it first."),
                         TRUE);
    work_input_free(input);
    return FALSE;
  }
  input->user = g_strdup(session->user);
  input->path = g_strdup(session->table->path);
  const DemurJobStart start = {.func = func,
                               .input = input,
                               .free_input = work_input_free,
                               .free_result = free_result,
                               .owner = G_OBJECT(session),
                               .done = done,
                               .progress = on_work_progress};
  session->work_job = demur_job_start(&start);
  set_busy(session, title, 0.0);
  return TRUE;
}

static gpointer
import_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const WorkInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, input->user, progress);
  if (!demur_dicom_init(error))
    return NULL;
  g_autoptr(DemurEligibility) rules = demur_eligibility_new();
  const DemurIntakeParams params = {.rules = rules, .reread = input->reread};
  g_autoptr(DemurIntake) intake =
      demur_intake_run(&task, (const char *const *)input->paths, &params, error);
  if (intake == NULL)
    demur_worker_refused(&task, "dicom import", *error);
  return intake != NULL ? demur_import_outcome_new(intake, input->paths) : NULL;
}

static void
outcome_free(gpointer outcome) {
  demur_import_outcome_free(outcome);
}

static void
on_imported(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurSession *session = owner;
  session->work_job = NULL;
  if (result != NULL) {
    demur_import_outcome_free(session->outcome);
    session->outcome = result;
  }
  set_busy(session, NULL, 1.0);
  if (result == NULL)
    demur_session_fail(session, error);
  else
    demur_session_reload(session);
  if (result != NULL)
    g_signal_emit(session, signals[IMPORTED], 0);
}

gboolean
demur_session_import(DemurSession *session, char *const *paths, gboolean reread) {
  WorkInput *input = g_new0(WorkInput, 1);
  input->paths = g_strdupv((char **)paths);
  input->reread = reread;
  return start_work(session, _("Importing"), input, import_work, outcome_free, on_imported);
}

static gpointer
table_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const WorkInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, input->user, progress);
  gpointer outcome = demur_table_import_run(&task, input->table, error);
  if (outcome == NULL)
    demur_worker_refused(&task, demur_table_import_command(input->table), *error);
  return outcome;
}

static void
table_outcome_free(gpointer outcome) {
  demur_table_outcome_free(outcome);
}

/* What every part of the work ends with; FALSE where it failed, which the notice then says. */
static gboolean
end_work(DemurSession *session, gconstpointer result, const GError *error) {
  session->work_job = NULL;
  set_busy(session, NULL, 1.0);
  if (result == NULL)
    demur_session_fail(session, error);
  read_what_others_wrote(session); /* what came while it ran */
  return result != NULL;
}

static void
on_table_imported(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurSession *session = owner;
  if (!end_work(session, result, error))
    return;
  DemurTableOutcome *outcome = result;
  demur_session_notice(session, outcome->sentence, outcome->is_error);
  demur_table_outcome_free(outcome);
  demur_session_reload(session);
}

gboolean
demur_session_import_table(DemurSession *session, DemurTableImport *import) {
  WorkInput *input = g_new0(WorkInput, 1);
  input->table = import;
  return start_work(session, _("Importing"), input, table_work, table_outcome_free,
                    on_table_imported);
}

static gpointer
demo_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const WorkInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->paths[0], input->user, progress);
  const DemurDemoParams params = {.folder = input->paths[0]};
  g_autoptr(DemurDemo) demo = demur_task_demo(&task, &params, error);
  return demo != NULL ? g_steal_pointer(&demo->workspace) : NULL;
}

static void
on_demo_made(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurSession *session = owner;
  if (end_work(session, result, error))
    demur_session_open(session, result, FALSE);
  g_free(result);
}

gboolean
demur_session_demo(DemurSession *session) {
  g_autofree char *folder = g_build_filename(g_get_user_data_dir(), "demur", "demo", NULL);
  g_autofree char *workspace = demur_demo_workspace(folder);
  if (session->work_job == NULL && g_file_test(workspace, G_FILE_TEST_EXISTS)) {
    demur_session_open(session, workspace, FALSE);
    return TRUE;
  }
  WorkInput *input = g_new0(WorkInput, 1);
  input->paths = g_new0(char *, 2);
  input->paths[0] = g_steal_pointer(&folder);
  return start_work(session, _("Making the demo"), input, demo_work, g_free, on_demo_made);
}

static gpointer
backup_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const WorkInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, input->user, progress);
  g_autoptr(DemurWorkspaceCopy) copy =
      demur_task_is_backup_file(input->paths[0], error)
          ? demur_task_copy_workspace(&task, input->path, input->paths[0], error)
          : NULL;
  return copy != NULL ? g_strdup(input->paths[0]) : NULL;
}

static void
on_backup_made(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurSession *session = owner;
  g_autofree char *path = result;
  if (!end_work(session, result, error))
    return;
  g_autofree char *text = g_strdup_printf(
      _("The whole workspace is in %s, verified. Opened, it is as it was at this moment."), path);
  demur_session_notice(session, text, FALSE);
}

gboolean
demur_session_backup(DemurSession *session, const char *path) {
  WorkInput *input = g_new0(WorkInput, 1);
  input->paths = g_new0(char *, 2);
  input->paths[0] = g_strdup(path);
  return start_work(session, _("Keeping a copy"), input, backup_work, g_free, on_backup_made);
}

/* Verdicts for every DICOM series, for one of them, or for the scans of a cohort's split. */
static gboolean
assess(DemurTask *task, const WorkInput *input, GError **error) {
  g_auto(DemurAssessment) assessment = {0};
  const DemurAssessParams params = {input->selector, input->cohort, input->split, input->scan_id,
                                    input->coverage, FALSE,         TRUE};
  return demur_task_assess(task, &params, &assessment, error) &&
         demur_assessment_save(task, &assessment, error);
}

static gpointer
assess_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const WorkInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, input->user, progress);
  if (assess(&task, input, error))
    return GINT_TO_POINTER(1);
  demur_worker_refused(&task, "assess", *error);
  return NULL;
}

static void
on_assessed(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurSession *session = owner;
  if (!end_work(session, result, error))
    return;
  session->tell_assessed = !session->one_assessed;
  demur_session_reload(session);
}

gboolean
demur_session_assess(DemurSession *session, const DemurAssessParams *params) {
  WorkInput *input = g_new0(WorkInput, 1);
  input->selector = g_strdup(params->selector);
  input->cohort = g_strdup(params->cohort);
  input->split = g_strdup(params->split);
  input->scan_id = g_strdup(params->scan_id);
  input->coverage = g_strdup(params->coverage);
  session->one_assessed = params->cohort != NULL || params->scan_id != NULL;
  return start_work(session, _("Assessing"), input, assess_work, NULL, on_assessed);
}

static gpointer
undo_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const WorkInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, input->user, progress);
  if (demur_task_assess_undo(&task, input->batch, input->reason, error))
    return GINT_TO_POINTER(1);
  demur_worker_refused(&task, "assess", *error);
  return NULL;
}

static void
on_undone(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurSession *session = owner;
  if (!end_work(session, result, error))
    return;
  demur_session_notice(session,
                       _("The assessment was taken back: each scan has the verdict that it had "
                         "before."),
                       FALSE);
  demur_session_reload(session);
}

gboolean
demur_session_undo_assess(DemurSession *session, gint64 batch, const char *reason) {
  WorkInput *input = g_new0(WorkInput, 1);
  input->batch = batch;
  input->reason = g_strdup(reason);
  return start_work(session, _("Undoing the assessment"), input, undo_work, NULL, on_undone);
}

static gpointer
choose_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const WorkInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, input->user, progress);
  const gboolean chosen = demur_intake_choose(&task, input->scan_id, input->reason, error);
  if (chosen && (input->selector == NULL || assess(&task, input, error)))
    return GINT_TO_POINTER(1);
  demur_worker_refused(&task, chosen ? "assess" : "dicom choose", *error);
  return NULL;
}

/* The decision may be kept where the verdict behind it failed: so the workspace is read again. */
static void
on_series_chosen(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurSession *session = owner;
  session->work_job = NULL;
  set_busy(session, NULL, 1.0);
  if (result != NULL)
    demur_session_notice(session,
                         _("Your choice and its reason are kept, with the rules' own verdict. The "
                           "verdicts of both series stay."),
                         FALSE);
  else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    demur_session_notice(session, _("Cancelled: the chosen series may have no verdict yet."),
                         FALSE);
  else
    demur_session_fail(session, error);
  demur_session_reload(session);
}

gboolean
demur_session_choose(DemurSession *session, const char *scan_id, const char *reason) {
  if (session->table == NULL)
    return FALSE;
  WorkInput *input = g_new0(WorkInput, 1);
  input->scan_id = g_strdup(scan_id);
  input->reason = g_strdup(reason);
  input->selector = g_strdup(session->table->in_use.selector);
  return start_work(session, _("Assessing the chosen series"), input, choose_work, NULL,
                    on_series_chosen);
}

static gpointer
resolve_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const WorkInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, input->user, progress);
  const gboolean corrects = input->decision == DEMUR_SESSION_CORRECT;
  if (corrects ? demur_decide_correct(&task, input->scan_id, input->reason, NULL, error)
               : demur_decide_resolve(&task, input->scan_id,
                                      input->decision == DEMUR_SESSION_KEEP ? DEMUR_RESOLVE_KEEP
                                                                            : DEMUR_RESOLVE_BOTH,
                                      input->reason, error))
    return GINT_TO_POINTER(1);
  demur_worker_refused(&task, corrects ? "dicom correct" : "dicom resolve", *error);
  return NULL;
}

static void
on_resolved(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurSession *session = owner;
  if (!end_work(session, result, error))
    return;
  demur_session_notice(
      session, _("Your decision and its reason are kept. What stays can be assessed again."),
      FALSE);
  demur_session_reload(session);
}

gboolean
demur_session_resolve(DemurSession *session, const char *scan_id, DemurSessionDecision decision,
                      const char *reason) {
  WorkInput *input = g_new0(WorkInput, 1);
  input->scan_id = g_strdup(scan_id);
  input->reason = g_strdup(reason);
  input->decision = decision;
  return start_work(session, _("Keeping the decision"), input, resolve_work, NULL, on_resolved);
}

static gpointer
remove_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const WorkInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, input->user, progress);
  const DemurRemoval removal = {input->scan_id, input->study_uid, input->patient_id,
                                (const char *const *)input->paths};
  guint n = 0;
  if (demur_decide_remove(&task, &removal, input->reason, &n, error))
    return GUINT_TO_POINTER(n);
  demur_worker_refused(&task, "dicom remove", *error);
  return NULL;
}

static void
on_removed(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurSession *session = owner;
  if (!end_work(session, result, error))
    return;
  const guint n = GPOINTER_TO_UINT(result);
  g_autofree char *text =
      g_strdup_printf(ngettext_("%u series was taken out; your reason is kept. Its files lie where "
                                "they lay.",
                                "%u series were taken out; your reason is kept. Their files lie "
                                "where they lay.",
                                n),
                      n);
  demur_session_notice(session, text, FALSE);
  demur_session_reload(session);
}

gboolean
demur_session_remove(DemurSession *session, const DemurRemoval *removal, const char *reason) {
  WorkInput *input = g_new0(WorkInput, 1);
  input->scan_id = g_strdup(removal->scan_id);
  input->study_uid = g_strdup(removal->study_uid);
  input->patient_id = g_strdup(removal->patient_id);
  input->paths = g_strdupv((char **)removal->agreed);
  input->reason = g_strdup(reason);
  return start_work(session, _("Taking out"), input, remove_work, NULL, on_removed);
}

static gpointer
opened_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const WorkInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, input->user, progress);
  return demur_history_add_opened(&task, input->cohort, input->scan_id, "window", error)
             ? GINT_TO_POINTER(1)
             : NULL;
}

static void
on_opened(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  if (result == NULL)
    demur_session_fail(owner, error);
}

void
demur_session_opened(DemurSession *session) {
  const DemurScan *scan = demur_session_scan(session);
  if (scan != NULL && session->others != NULL) {
    g_autofree char *key = open_key(scan);
    const char *by = demur_session_opened_by(session, scan);
    g_autofree char *text =
        by != NULL ? g_strdup_printf(_("%s has this case open too."), by) : NULL;
    demur_others_set_open(session->others, key);
    if (text != NULL)
      demur_session_notice(session, text, FALSE);
  }
  if (scan == NULL || !session->table->keeps_openings || session->table->read_only)
    return;
  WorkInput *input = g_new0(WorkInput, 1);
  input->path = g_strdup(session->table->path);
  input->user = g_strdup(session->user);
  input->cohort = g_strdup(scan->source);
  input->scan_id = g_strdup(scan->scan_id);
  const DemurJobStart start = {.func = opened_work,
                               .input = input,
                               .free_input = work_input_free,
                               .owner = G_OBJECT(session),
                               .done = on_opened};
  demur_job_start(&start);
}

static gpointer
sheet_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const WorkInput *input = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, input->path, input->user, progress);
  task.opening = DEMUR_WORKSPACE_READ_ONLY;
  /* As the card beside the case says what the risk means. */
  g_autofree char *cohort = NULL, *split = NULL;
  if (!demur_task_meaning_choose(&task, input->selector, input->cohort, input->split, &cohort,
                                 &split, error))
    return NULL;
  const DemurPatientSheetParams params = {.selector = input->selector,
                                          .scan_id = input->scan_id,
                                          .cohort = cohort,
                                          .split = split,
                                          .language = demur_words_language()};
  return demur_task_patient_sheet_write(&task, &params, input->paths[0], NULL, error)
             ? g_strdup(input->paths[0])
             : NULL;
}

static void
on_sheet(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurSession *session = owner;
  if (!end_work(session, result, error))
    return;
  g_autofree char *path = result;
  g_autofree char *shown = g_filename_display_name(path);
  g_autofree char *text =
      g_strdup_printf(_("The case was written to %s, its numbers beside it."), shown);
  demur_session_notice(session, text, FALSE);
}

gboolean
demur_session_export_case(DemurSession *session, const char *path) {
  const DemurScan *scan = demur_session_scan(session);
  if (scan == NULL)
    return FALSE;
  WorkInput *input = g_new0(WorkInput, 1);
  input->scan_id = g_strdup(scan->scan_id);
  input->selector = g_strdup(scan->selector);
  input->cohort = g_strdup(scan->source);
  input->split = g_strdup(scan->split);
  input->paths = g_strdupv((char *[]){(char *)path, NULL});
  return start_work(session, _("Writing"), input, sheet_work, g_free, on_sheet);
}

void
demur_session_cancel(DemurSession *session) {
  demur_job_cancel(session->work_job);
}

const char *
demur_session_busy(DemurSession *session, double *fraction) {
  *fraction = session->busy_fraction;
  return session->busy_title;
}

const DemurImportOutcome *
demur_session_outcome(DemurSession *session) {
  return session->outcome;
}
