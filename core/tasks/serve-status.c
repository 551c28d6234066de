/* A service's state, read from its folder by anybody at any time. */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "tasks/serve-lock.h"
#include "tasks/serve.h"

static void
arriving_free(gpointer data) {
  DemurArriving *arriving = data;
  g_free(arriving->study);
  g_free(arriving);
}

void
demur_serve_status_free(DemurServeStatus *status) {
  if (status == NULL)
    return;
  g_ptr_array_unref(status->arriving);
  g_clear_pointer(&status->queue, g_ptr_array_unref);
  g_clear_pointer(&status->held, g_ptr_array_unref);
  g_ptr_array_unref(status->damaged);
  g_free(status);
}

static gint
by_study(gconstpointer a, gconstpointer b) {
  return strcmp((*(const DemurArriving *const *)a)->study,
                (*(const DemurArriving *const *)b)->study);
}

static gboolean
is_listed(const DemurServeStatus *status, const char *study) {
  for (guint i = 0; i < status->arriving->len; i++)
    if (strcmp(((const DemurArriving *)status->arriving->pdata[i])->study, study) == 0)
      return TRUE;
  return FALSE;
}

/* The receiver's marks: STUDY.new, STUDY.reading, STUDY.broken. */
static void
list_arriving(const char *folder, DemurServeStatus *status) {
  g_autofree char *path = g_build_filename(folder, ".journal", NULL);
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    const char *dot = strrchr(name, '.');
    if (dot == NULL || (strcmp(dot, ".new") != 0 && strcmp(dot, ".reading") != 0))
      continue;
    g_autofree char *study = g_strndup(name, (gsize)(dot - name));
    g_autofree char *mark = g_build_filename(path, name, NULL);
    GStatBuf facts;
    if (is_listed(status, study) || g_stat(mark, &facts) != 0)
      continue;
    DemurArriving *arriving = g_new0(DemurArriving, 1);
    arriving->study = g_steal_pointer(&study);
    arriving->since = (gint64)facts.st_mtime;
    g_autofree char *broken_name = g_strconcat(arriving->study, ".broken", NULL);
    g_autofree char *broken = g_build_filename(path, broken_name, NULL);
    arriving->broken = g_file_test(broken, G_FILE_TEST_EXISTS);
    status->n_broken += arriving->broken ? 1 : 0;
    status->oldest = MAX(status->oldest, status->now - arriving->since);
    g_ptr_array_add(status->arriving, arriving);
  }
  g_ptr_array_sort(status->arriving, by_study);
  status->n_arriving = status->arriving->len;
}

DemurServeStatus *
demur_task_serve_status(const DemurServeConfig *config, GError **error) {
  g_autoptr(DemurServeStatus) status = g_new0(DemurServeStatus, 1);
  status->now = g_get_real_time() / G_USEC_PER_SEC;
  status->arriving = g_ptr_array_new_with_free_func(arriving_free);
  status->damaged = g_ptr_array_new_with_free_func(g_free);
  struct statvfs disk;
  if (statvfs(config->folder, &disk) != 0) {
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND, "the service's folder %s can't be looked at: %s",
                    config->folder, g_strerror(errno));
    return NULL;
  }
  status->free_mb = (gint64)((guint64)disk.f_bavail * disk.f_frsize >> 20);
  list_arriving(config->folder, status);
  status->queue = demur_serve_journal_list(config->folder, DEMUR_JOURNAL_QUEUE, status->damaged);
  status->held = demur_serve_journal_list(config->folder, DEMUR_JOURNAL_HELD, status->damaged);
  status->n_queue = status->queue->len;
  status->n_held = status->held->len;
  for (guint i = 0; i < status->queue->len; i++) {
    const DemurServeStudy *study = status->queue->pdata[i];
    status->n_step[study->step]++;
    status->oldest = MAX(status->oldest, status->now - study->arrived);
  }
  status->n_answered =
      demur_serve_journal_count(config->folder, DEMUR_JOURNAL_ANSWERED, &status->last_answer);
  const int lock = demur_serve_lock_open(config->folder, FALSE, NULL);
  if (lock >= 0) {
    status->running = flock(lock, LOCK_SH | LOCK_NB) != 0;
    close(lock);
  }
  return g_steal_pointer(&status);
}
