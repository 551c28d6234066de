#include "support/thread-ranks.h"

#include <string.h>

typedef struct {
  size_t n, n_waiting;
  guint generation;
  GMutex mutex;
  GCond changed;
  gint64 *values;       /* [n] */
  const guint8 **bytes; /* [n] */
} Meeting;

typedef struct {
  Meeting *meeting;
  DemurRanks ranks;
  ThreadRankFunc func;
  gpointer data;
} Rank;

/* Until all are here. */
static void
wait_for_all(Meeting *meeting) {
  g_mutex_lock(&meeting->mutex);
  const guint generation = meeting->generation;
  if (++meeting->n_waiting == meeting->n) {
    meeting->n_waiting = 0;
    meeting->generation++;
    g_cond_broadcast(&meeting->changed);
  }
  while (meeting->generation == generation)
    g_cond_wait(&meeting->changed, &meeting->mutex);
  g_mutex_unlock(&meeting->mutex);
}

static void
extremes(gint64 value, gint64 *least, gint64 *greatest, gpointer data) {
  const Rank *rank = data;
  Meeting *meeting = rank->meeting;
  meeting->values[rank->ranks.rank] = value;
  wait_for_all(meeting);
  *least = *greatest = meeting->values[0];
  for (size_t r = 1; r < meeting->n; r++) {
    *least = MIN(*least, meeting->values[r]);
    *greatest = MAX(*greatest, meeting->values[r]);
  }
  wait_for_all(meeting);
}

static void
all_gather(const guint8 *own, guint8 *all, const size_t *lengths, gpointer data) {
  const Rank *rank = data;
  Meeting *meeting = rank->meeting;
  meeting->bytes[rank->ranks.rank] = own;
  wait_for_all(meeting);
  for (size_t r = 0; r < meeting->n; r++) {
    memcpy(all, meeting->bytes[r], lengths[r]);
    all += lengths[r];
  }
  wait_for_all(meeting);
}

static gpointer
run(gpointer data) {
  Rank *rank = data;
  rank->func(&rank->ranks, rank->data);
  return NULL;
}

void
thread_ranks_run(size_t n, ThreadRankFunc func, gpointer *data) {
  Meeting meeting = {.n = n, .values = g_new0(gint64, n), .bytes = g_new0(const guint8 *, n)};
  g_mutex_init(&meeting.mutex);
  g_cond_init(&meeting.changed);
  g_autofree Rank *ranks = g_new0(Rank, n);
  g_autofree GThread **threads = g_new0(GThread *, n);
  for (size_t r = 0; r < n; r++) {
    ranks[r] = (Rank){
        &meeting,
        {.rank = r, .size = n, .extremes = extremes, .all_gather = all_gather, .data = &ranks[r]},
        func,
        data[r]};
    threads[r] = g_thread_new("rank", run, &ranks[r]);
  }
  for (size_t r = 0; r < n; r++)
    g_thread_join(threads[r]);
  g_mutex_clear(&meeting.mutex);
  g_cond_clear(&meeting.changed);
  g_free(meeting.values);
  g_free(meeting.bytes);
}
