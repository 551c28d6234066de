#include "ui/job.h"

#include "base/error.h"
#include "base/thread.h"

struct DemurJob {
  DemurJobStart start;
  GWeakRef owner;
  GCancellable *cancellable;
  gint ref_count;
  gboolean dropped; /* main thread only */
  gboolean ended;   /* main thread only */
  GMutex lock;
  gboolean idle_pending; /* under lock, like the two below */
  double fraction;
  char *stage;
};

static gint n_running;

guint
demur_job_n_running(void) {
  return (guint)g_atomic_int_get(&n_running);
}

static DemurJob *
job_ref(DemurJob *job) {
  g_atomic_int_inc(&job->ref_count);
  return job;
}

static void
job_unref(gpointer data) {
  DemurJob *job = data;
  if (!g_atomic_int_dec_and_test(&job->ref_count))
    return;
  g_weak_ref_clear(&job->owner);
  g_object_unref(job->cancellable);
  g_mutex_clear(&job->lock);
  g_free(job->stage);
  g_free(job);
}

typedef struct {
  DemurJob *job;
  gpointer value;
  GError *error;
} Delivery;

/* The owner, kept alive for one callback; NULL where nobody is to hear it. */
static GObject *
listener(DemurJob *job) {
  return job->dropped ? NULL : g_weak_ref_get(&job->owner);
}

static gboolean
on_part(gpointer data) {
  Delivery *delivery = data;
  DemurJob *job = delivery->job;
  g_autoptr(GObject) owner = listener(job);
  if (owner != NULL && job->start.part != NULL)
    job->start.part(owner, job->start.tag, delivery->value);
  else if (job->start.free_part != NULL)
    job->start.free_part(delivery->value);
  job_unref(job);
  g_free(delivery);
  return G_SOURCE_REMOVE;
}

void
demur_job_deliver(DemurJob *job, gpointer part) {
  Delivery *delivery = g_new0(Delivery, 1);
  delivery->job = job_ref(job);
  delivery->value = part;
  g_idle_add_full(G_PRIORITY_DEFAULT, on_part, delivery, NULL);
}

static gboolean
on_progress_idle(gpointer data) {
  DemurJob *job = data;
  g_mutex_lock(&job->lock);
  job->idle_pending = FALSE;
  const double fraction = job->fraction;
  g_autofree char *stage = g_strdup(job->stage);
  g_mutex_unlock(&job->lock);
  g_autoptr(GObject) owner = job->ended ? NULL : listener(job);
  if (owner != NULL)
    job->start.progress(owner, job->start.tag, fraction, stage);
  return G_SOURCE_REMOVE;
}

static void
on_progress(double fraction, const char *stage, gpointer data) {
  DemurJob *job = data;
  if (job->start.progress == NULL)
    return;
  g_mutex_lock(&job->lock);
  job->fraction = fraction;
  if (g_strcmp0(stage, job->stage) != 0) {
    g_free(job->stage);
    job->stage = g_strdup(stage);
  }
  const gboolean schedule = !job->idle_pending;
  job->idle_pending = TRUE;
  g_mutex_unlock(&job->lock);
  if (schedule)
    g_idle_add_full(G_PRIORITY_DEFAULT_IDLE, on_progress_idle, job_ref(job), job_unref);
}

static gboolean
on_done(gpointer data) {
  Delivery *delivery = data;
  DemurJob *job = delivery->job;
  g_atomic_int_dec_and_test(&n_running);
  g_autoptr(GObject) owner = listener(job);
  job->ended = TRUE;
  if (owner != NULL)
    job->start.done(owner, job->start.tag, delivery->value, delivery->error);
  else if (delivery->value != NULL && job->start.free_result != NULL)
    job->start.free_result(delivery->value);
  g_clear_error(&delivery->error);
  job_unref(job); /* the thread's */
  g_free(delivery);
  return G_SOURCE_REMOVE;
}

static gpointer
run(gpointer data) {
  DemurJob *job = data;
  const DemurProgress progress = {on_progress, job, job->cancellable};
  Delivery *delivery = g_new0(Delivery, 1);
  delivery->job = job;
  if (!g_cancellable_set_error_if_cancelled(job->cancellable, &delivery->error))
    delivery->value = job->start.func(job, job->start.input, &progress, &delivery->error);
  if (job->start.free_input != NULL)
    job->start.free_input(job->start.input);
  g_idle_add_full(G_PRIORITY_DEFAULT, on_done, delivery, NULL);
  return NULL;
}

/* The work's end, told as any other: later, by the main loop. cause: taken over. */
static void
end_without_thread(DemurJob *job, GError *cause) {
  Delivery *delivery = g_new0(Delivery, 1);
  delivery->job = job;
  delivery->error = cause;
  if (job->start.free_input != NULL)
    job->start.free_input(job->start.input);
  g_idle_add_full(G_PRIORITY_DEFAULT, on_done, delivery, NULL);
}

DemurJob *
demur_job_start(const DemurJobStart *start) {
  DemurJob *job = g_new0(DemurJob, 1);
  job->start = *start;
  job->ref_count = 1;
  g_weak_ref_init(&job->owner, start->owner);
  job->cancellable = g_cancellable_new();
  g_mutex_init(&job->lock);
  g_atomic_int_inc(&n_running);
  GError *cause = NULL;
  GThread *thread = demur_thread_new("demur-job", run, job, &cause);
  if (thread != NULL)
    g_thread_unref(thread);
  else
    end_without_thread(job, cause);
  return job;
}

void
demur_job_cancel(DemurJob *job) {
  if (job != NULL)
    g_cancellable_cancel(job->cancellable);
}

void
demur_job_drop(DemurJob **job) {
  if (*job == NULL)
    return;
  (*job)->dropped = TRUE;
  g_cancellable_cancel((*job)->cancellable);
  *job = NULL;
}
