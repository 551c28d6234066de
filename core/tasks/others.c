#include "tasks/others.h"

#include "store/changes.h"
#include "store/events.h"

#define LISTEN_MS 500 /* as long as what this window opens may wait to be told */
#define AGAIN_MS 3000 /* between two tries to make a line */
#define PAUSE_MS 250
#define ASK_WAITS                                                                                  \
  10 /* waits after which who had something open is asked of again: one that died says nothing */
#define LAST_WORD_MS 2000 /* for which a line to a server is waited for when it is closed */

struct DemurOpenScans {
  gint n_refs;
  GPtrArray *list; /* of DemurOpenedBy */
};

struct DemurOthers {
  gint n_refs; /* of the starter, the thread, and what is on its way to the main context */
  char *path;
  GThread *thread;
  GMutex lock; /* of what follows */
  gboolean is_stopped, has_ended;
  GCond ended;
  char *open;
  guint open_number; /* grows with every scan that is opened */
  DemurOthersFunc func;
  gpointer data;
};

typedef struct {
  DemurOthers *others;
  gint64 last;
  DemurOpenScans *scans;
} Told;

DemurOpenScans *
demur_open_scans_ref(DemurOpenScans *scans) {
  g_atomic_int_inc(&scans->n_refs);
  return scans;
}

void
demur_open_scans_unref(DemurOpenScans *scans) {
  if (scans == NULL || !g_atomic_int_dec_and_test(&scans->n_refs))
    return;
  g_ptr_array_unref(scans->list);
  g_free(scans);
}

gboolean
demur_open_scans_none(const DemurOpenScans *scans) {
  return scans == NULL || scans->list->len == 0;
}

const char *
demur_open_scans_by(const DemurOpenScans *scans, const char *scan_id) {
  if (demur_open_scans_none(scans))
    return NULL;
  const guint32 mark = demur_changes_mark(scan_id);
  for (guint i = 0; i < scans->list->len; i++) {
    const DemurOpenedBy *by = scans->list->pdata[i];
    if (by->mark == mark)
      return by->user;
  }
  return NULL;
}

static DemurOthers *
others_ref(DemurOthers *others) {
  g_atomic_int_inc(&others->n_refs);
  return others;
}

static void
others_unref(DemurOthers *others) {
  if (!g_atomic_int_dec_and_test(&others->n_refs))
    return;
  g_mutex_clear(&others->lock);
  g_cond_clear(&others->ended);
  g_free(others->path);
  g_free(others->open);
  g_free(others);
}

static void
told_free(gpointer data) {
  Told *told = data;
  others_unref(told->others);
  demur_open_scans_unref(told->scans);
  g_free(told);
}

static gboolean
is_stopped(DemurOthers *others) {
  g_mutex_lock(&others->lock);
  const gboolean stopped = others->is_stopped;
  g_mutex_unlock(&others->lock);
  return stopped;
}

static gboolean
on_told(gpointer data) {
  const Told *told = data;
  if (!is_stopped(told->others)) /* who stops does it on this thread */
    told->others->func(told->last, told->scans, told->others->data);
  return G_SOURCE_REMOVE;
}

/* *n_open: scans that others have open. */
static gboolean
tell(DemurOthers *others, DemurChanges *changes, gint64 last, guint *n_open) {
  GPtrArray *list = demur_changes_opened(changes, NULL);
  if (list == NULL)
    return FALSE;
  *n_open = list->len;
  Told *told = g_new0(Told, 1);
  told->others = others_ref(others);
  told->last = last;
  told->scans = g_new0(DemurOpenScans, 1);
  told->scans->n_refs = 1;
  told->scans->list = list;
  g_main_context_invoke_full(NULL, G_PRIORITY_DEFAULT, on_told, told, told_free);
  return TRUE;
}

/* Says what this window has open where that is another scan than *number. */
static gboolean
say_open(DemurOthers *others, DemurChanges *changes, guint *number) {
  g_mutex_lock(&others->lock);
  g_autofree char *open = g_strdup(others->open);
  const guint now = others->open_number;
  g_mutex_unlock(&others->lock);
  if (now == *number)
    return TRUE;
  *number = now;
  return demur_changes_open(changes, open, NULL);
}

/* Until it is stopped, or the line is lost. */
static void
listen(DemurOthers *others) {
  DemurChanged changed = {0};
  gint64 told = 0;
  guint number = 0, n_open = 0, n_waits = 0;
  g_autoptr(DemurChanges) changes = demur_changes_new(others->path, &told, NULL);
  if (changes == NULL || !tell(others, changes, told, &n_open))
    return;
  while (!is_stopped(others)) {
    if (!say_open(others, changes, &number) ||
        !demur_changes_wait(changes, LISTEN_MS, &changed, NULL))
      return;
    const gboolean asks = n_open > 0 && ++n_waits % ASK_WAITS == 0;
    if ((changed.last != told || changed.opened || asks) &&
        !tell(others, changes, changed.last, &n_open))
      return;
    told = changed.last;
  }
}

static gpointer
work(gpointer data) {
  DemurOthers *others = data;
  while (!is_stopped(others)) {
    listen(others);
    for (guint ms = 0; ms < AGAIN_MS && !is_stopped(others); ms += PAUSE_MS)
      g_usleep(PAUSE_MS * G_USEC_PER_SEC / 1000);
  }
  g_mutex_lock(&others->lock);
  others->has_ended = TRUE;
  g_cond_signal(&others->ended);
  g_mutex_unlock(&others->lock);
  others_unref(others);
  return NULL;
}

DemurOthers *
demur_others_start(const char *path, DemurOthersFunc func, gpointer data) {
  DemurOthers *others = g_new0(DemurOthers, 1);
  others->n_refs = 1;
  others->path = g_strdup(path);
  others->func = func;
  others->data = data;
  g_mutex_init(&others->lock);
  g_cond_init(&others->ended);
  others->thread = g_thread_new("others", work, others_ref(others));
  return others;
}

void
demur_others_set_open(DemurOthers *others, const char *scan_id) {
  g_mutex_lock(&others->lock);
  if (g_strcmp0(others->open, scan_id) != 0) {
    g_free(others->open);
    others->open = g_strdup(scan_id);
    others->open_number++;
  }
  g_mutex_unlock(&others->lock);
}

gint64
demur_others_seen(const DemurTask *task, gint64 seen) {
  gint64 first = 0, last = 0;
  if (task->workspace != NULL)
    demur_events_written(task->workspace, &first, &last);
  return first == seen + 1 ? last : seen;
}

/* It is waited for: nothing of its line is left beside a file, and a server's others hear that nothing is open here any
 * more. A line to a server that can't be made, or doesn't answer, is left to end by itself. */
void
demur_others_stop(DemurOthers *others) {
  if (others == NULL)
    return;
  const gint64 end = g_get_monotonic_time() + LAST_WORD_MS * G_TIME_SPAN_MILLISECOND;
  gboolean in_time = TRUE;
  g_mutex_lock(&others->lock);
  others->is_stopped = TRUE;
  while (!others->has_ended && in_time)
    if (demur_workspace_is_server(others->path))
      in_time = g_cond_wait_until(&others->ended, &others->lock, end);
    else
      g_cond_wait(&others->ended, &others->lock);
  g_mutex_unlock(&others->lock);
  g_thread_unref(others->thread);
  others_unref(others);
}
