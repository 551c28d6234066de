/* One thread a workspace, which waits in demur_changes_wait. What it has to tell lies in one place until the main context
 * takes it: however much comes, one call is due. It is woken by an event descriptor, never waited for by its clock. */
#include "tasks/others.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/thread.h"
#include "store/changes.h"
#include "store/events.h"

#define ASK_MS                                                                                     \
  5000 /* after which who had something open is asked of again: one that died says nothing */
#define AGAIN_MS 3000     /* between two tries to make a line */
#define REST_MS 1000      /* between two looks at what others did */
#define LAST_WORD_MS 2000 /* for which a line is waited for when it is closed */

struct DemurOpenScans {
  gint n_refs;
  GPtrArray *list; /* of DemurOpenedBy */
};

struct DemurOthers {
  gint n_refs; /* of the starter, the thread, and what is on its way to the main context */
  char *path;
  GThread *thread;
  int wake;    /* written to by who stops, or has another scan open */
  GMutex lock; /* of what follows */
  gboolean is_stopped, has_ended;
  GCond ended;
  char *open;
  guint open_number;    /* grows with every scan that is opened */
  gboolean is_due;      /* news is on its way */
  DemurOthersNews news; /* its scans are owned */
  DemurOthersFunc func;
  gpointer data;
};

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
  demur_open_scans_unref(others->news.scans);
  if (others->wake >= 0)
    close(others->wake);
  g_free(others->path);
  g_free(others->open);
  g_free(others);
}

static void
unref_others(gpointer others) {
  others_unref(others);
}

static gboolean
is_stopped(DemurOthers *others) {
  g_mutex_lock(&others->lock);
  const gboolean stopped = others->is_stopped;
  g_mutex_unlock(&others->lock);
  return stopped;
}

static void
wake_up(DemurOthers *others) {
  const guint64 once = 1;
  if (others->wake >= 0 && write(others->wake, &once, sizeof once) < 0)
    return; /* it is full: it wakes all the same */
}

/* What woke is over. Before others' fields are looked at, never behind. */
static void
calm(DemurOthers *others) {
  guint64 n;
  if (others->wake >= 0 && read(others->wake, &n, sizeof n) < 0)
    return; /* nothing did */
}

/* Until then, or something wakes. */
static void
rest(DemurOthers *others, gint64 until) {
  GPollFD line = {.fd = others->wake, .events = G_IO_IN};
  const gint64 left = until - g_get_monotonic_time();
  if (left > 0)
    (void)g_poll(&line, others->wake >= 0 ? 1 : 0, (int)((left + 999) / 1000));
}

static gboolean
on_told(gpointer data) {
  DemurOthers *others = data;
  g_mutex_lock(&others->lock);
  const DemurOthersNews news = others->news;
  const gboolean stopped = others->is_stopped; /* who stops does it on this thread */
  others->news = (DemurOthersNews){0};
  others->is_due = FALSE;
  g_mutex_unlock(&others->lock);
  if (!stopped)
    others->func(&news, others->data);
  demur_open_scans_unref(news.scans);
  return G_SOURCE_REMOVE;
}

/* Always by a source: a context that nobody runs at the moment would be taken for this thread's. */
static void
hand_over(DemurOthers *others, const DemurOthersNews *news) {
  g_mutex_lock(&others->lock);
  const gboolean was_due = others->is_due;
  demur_open_scans_unref(others->news.scans);
  const gboolean is_another = others->news.is_another || news->is_another;
  others->news = *news;
  others->news.is_another = is_another;
  others->is_due = TRUE;
  g_mutex_unlock(&others->lock);
  if (was_due)
    return;
  GSource *source = g_idle_source_new();
  g_source_set_priority(source, G_PRIORITY_DEFAULT);
  g_source_set_callback(source, on_told, others_ref(others), unref_others);
  g_source_attach(source, NULL);
  g_source_unref(source);
}

/* *n_open: scans that others have open. */
static gboolean
tell(DemurOthers *others, DemurChanges *changes, gint64 last, gboolean is_another, guint *n_open) {
  GPtrArray *list = demur_changes_opened(changes, NULL);
  if (list == NULL)
    return FALSE;
  *n_open = list->len;
  DemurOpenScans *scans = g_new0(DemurOpenScans, 1);
  scans->n_refs = 1;
  scans->list = list;
  const DemurOthersNews news = {last, scans, is_another};
  hand_over(others, &news);
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

/* Until it is stopped, the line is lost, or another file lies there. *was_told: a line was there before, and what it
 * is now. */
static void
listen(DemurOthers *others, gboolean *was_told) {
  gint64 told = 0;
  guint number = 0, n_open = 0;
  g_autoptr(DemurChanges) changes = demur_changes_new(others->path, &told, NULL);
  if (changes == NULL || !tell(others, changes, told, *was_told, &n_open))
    return;
  *was_told = TRUE;
  for (gint64 asked = g_get_monotonic_time(), rested = asked;;) {
    calm(others);
    if (is_stopped(others) || !say_open(others, changes, &number))
      return;
    if (g_get_monotonic_time() < rested) {
      rest(others, rested);
      continue;
    }
    DemurChanged changed;
    if (!demur_changes_wait(changes, ASK_MS, others->wake, &changed, NULL) || changed.is_another)
      return;
    const gint64 now = g_get_monotonic_time();
    const gboolean asks =
        changed.opened || (n_open > 0 && now - asked >= ASK_MS * G_TIME_SPAN_MILLISECOND);
    if (changed.written || changed.opened)
      rested = now + REST_MS * G_TIME_SPAN_MILLISECOND;
    if (!asks && changed.last == told)
      continue;
    if (!tell(others, changes, changed.last, FALSE, &n_open))
      return;
    told = changed.last;
    asked = now;
  }
}

static gpointer
work(gpointer data) {
  DemurOthers *others = data;
  gboolean was_told = FALSE;
  while (!is_stopped(others)) {
    const gint64 began = g_get_monotonic_time();
    listen(others, &was_told);
    const gint64 again = began + AGAIN_MS * G_TIME_SPAN_MILLISECOND;
    for (calm(others); !is_stopped(others) && g_get_monotonic_time() < again; calm(others))
      rest(others, again);
  }
  g_mutex_lock(&others->lock);
  others->has_ended = TRUE;
  g_cond_signal(&others->ended);
  g_mutex_unlock(&others->lock);
  others_unref(others);
  return NULL;
}

DemurOthers *
demur_others_start(const char *path, DemurOthersFunc func, gpointer data, GError **error) {
  DemurOthers *others = g_new0(DemurOthers, 1);
  others->n_refs = 1;
  others->path = g_strdup(path);
  others->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  others->func = func;
  others->data = data;
  g_mutex_init(&others->lock);
  g_cond_init(&others->ended);
  others->thread = demur_thread_new("others", work, others_ref(others), error);
  if (others->thread != NULL)
    return others;
  others_unref(others); /* the thread's */
  others_unref(others);
  return NULL;
}

void
demur_others_set_open(DemurOthers *others, const char *scan_id) {
  g_mutex_lock(&others->lock);
  if (g_strcmp0(others->open, scan_id) != 0) {
    g_free(others->open);
    others->open = g_strdup(scan_id);
    others->open_number++;
    wake_up(others);
  }
  g_mutex_unlock(&others->lock);
}

gint64
demur_others_seen(const DemurTask *task, gint64 seen) {
  gint64 last = seen;
  return task->workspace != NULL && demur_events_see_own(task->workspace, &last, NULL)
             ? last
             : seen; /* all is read again */
}

/* It is waited for: nothing of its line is left beside a file, and a server's others hear that nothing is open here any
 * more. A line that can't be made, or whose server or disk doesn't answer, is left to end by itself. */
void
demur_others_stop(DemurOthers *others) {
  if (others == NULL)
    return;
  const gint64 end = g_get_monotonic_time() + LAST_WORD_MS * G_TIME_SPAN_MILLISECOND;
  gboolean in_time = TRUE;
  g_mutex_lock(&others->lock);
  others->is_stopped = TRUE;
  wake_up(others);
  while (!others->has_ended && in_time)
    in_time = g_cond_wait_until(&others->ended, &others->lock, end);
  g_mutex_unlock(&others->lock);
  g_thread_unref(others->thread);
  others_unref(others);
}
