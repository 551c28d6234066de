#include "tasks/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file-output.h"
#include "base/thread.h"
#include "dicom/receiver.h"
#include "tasks/selection.h"
#include "tasks/serve-lock.h"
#include "tasks/serve-metrics.h"
#include "tasks/serve-prune.h"
#include "tasks/serve-study.h"
#include "tasks/serve-watch.h"

#define TICK (G_TIME_SPAN_SECOND / 5)
#define HOUSEKEEPING 60 /* seconds */
#define LOCK_SECONDS 10 /* that the processes of a service before may take to end */

static gint64
seconds_now(void) {
  return g_get_real_time() / G_USEC_PER_SEC;
}

/* Settings as they were read at one time; kept until the end, since threads work with them. */
typedef struct {
  DemurServeConfig *config;
  DemurEligibility *rules;
  DemurSiteMap *sites;
} Settings;

static void
settings_free(gpointer data) {
  Settings *settings = data;
  demur_serve_config_free(settings->config);
  demur_eligibility_free(settings->rules);
  demur_site_map_free(settings->sites);
  g_free(settings);
}

typedef struct {
  DemurTask *task; /* the caller's */
  const DemurServeParams *params;
  const char *folder;
  GCancellable *ended; /* for the threads' work */
  GMutex mutex;
  GCond changed;
  GPtrArray *settings; /* Settings; the last holds */
  GHashTable *studies; /* name -> DemurServeStudy that is on its way */
  GMutex saying;
  GThread *worker, *courier;
  DemurServeMetrics *metrics; /* NULL: not asked for */
  gint64 tidied, watched;     /* when last */
} Serve;

static void say(Serve *serve, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void
say(Serve *serve, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *sentence = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_mutex_lock(&serve->saying);
  serve->params->say(sentence, serve->params->data);
  g_mutex_unlock(&serve->saying);
}

/* --- settings --- */

static Settings *
settings_read(const char *path, GError **error) {
  Settings *settings = g_new0(Settings, 1);
  settings->config = demur_serve_config_read(path, error);
  if (settings->config != NULL)
    settings->rules = demur_intake_rules(settings->config->rules, NULL, error);
  gboolean good = settings->rules != NULL;
  if (good && settings->config->sites != NULL) {
    settings->sites = demur_site_map_read(settings->config->sites, error);
    good = settings->sites != NULL;
  }
  if (good)
    return settings;
  settings_free(settings);
  return NULL;
}

/* A service that could give no verdict says so at once, and not study by study: of a selector, or a
 * coverage, that is not there, or one that reads another model's scores. */
static gboolean
check_selector(DemurTask *task, const DemurServeConfig *config, GError **error) {
  g_autoptr(DemurSelector) selector = demur_task_load_selector(task, config->selector, NULL, error);
  if (selector == NULL)
    return FALSE;
  const char *model = demur_selector_model(selector);
  if (strcmp(model, config->model) != 0) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "the selector %s reads scores of model %s, but [model] name is %s: no scan "
                    "would have a verdict; write name = %s there, or name another selector",
                    config->selector, model, config->model, model);
    return FALSE;
  }
  return demur_task_check_tuned(task, config->selector, config->coverage, error);
}

static const Settings *
current_settings(Serve *serve) {
  g_mutex_lock(&serve->mutex);
  const Settings *settings = serve->settings->pdata[serve->settings->len - 1];
  g_mutex_unlock(&serve->mutex);
  return settings;
}

static void
reload(Serve *serve, DemurTask *task) {
  g_autoptr(GError) error = NULL;
  Settings *settings = settings_read(serve->params->config_path, &error);
  if (settings == NULL || !check_selector(task, settings->config, &error)) {
    say(serve, "the settings are left as they were: %s", error->message);
    g_clear_pointer(&settings, settings_free);
    return;
  }
  const Settings *before = current_settings(serve);
  const gboolean same = demur_serve_config_same_receiver(before->config, settings->config);
  if (strcmp(before->config->folder, settings->config->folder) != 0) {
    say(serve, "the settings are left as they were: another folder needs a restart");
    settings_free(settings);
    return;
  }
  g_mutex_lock(&serve->mutex);
  g_ptr_array_add(serve->settings, settings);
  g_mutex_unlock(&serve->mutex);
  say(serve, same ? "the settings were read again"
                  : "the settings were read again; those of [receive] and [stow] hold after a "
                    "restart");
}

/* --- the queue --- */

/* Brings the study to the disk; what can't be written now is tried with its next step, and a
 * restart would do the step again. */
static gboolean
save(Serve *serve, const DemurServeStudy *study) {
  g_autoptr(GError) error = NULL;
  if (demur_serve_journal_save(serve->folder, study, &error))
    return TRUE;
  say(serve, "the journal can't be written: %s", error->message);
  return FALSE;
}

static char *
again_folder(const char *folder) {
  return g_build_filename(folder, ".journal", "again", NULL);
}

/* A mark that the study is to go through all steps again, as soon as it may. */
static gboolean
mark_again(const char *folder, const char *study, GError **error) {
  g_autofree char *marks = again_folder(folder);
  g_autofree char *path = g_build_filename(marks, study, NULL);
  if (!demur_folder_make(marks, error))
    return FALSE;
  return demur_file_write(path, "", 0, DEMUR_FILE_REPLACE, error);
}

/* A study came, or more of it: it goes through all steps again. Where a thread works on it that is
 * marked, since its present step knows nothing of what came. FALSE where that can't be brought to
 * the disk: it is then told again. Locked. */
static gboolean
enqueue(Serve *serve, const char *name) {
  DemurServeStudy *study = g_hash_table_lookup(serve->studies, name);
  const gint64 now = seconds_now();
  if (study != NULL && study->busy) {
    g_autoptr(GError) error = NULL;
    if (mark_again(serve->folder, name, &error))
      return TRUE;
    say(serve, "the journal can't be written: %s", error->message);
    return FALSE;
  }
  if (study == NULL) {
    study = demur_serve_journal_find(serve->folder, name);
    if (study == NULL)
      study = demur_serve_study_new(name, now);
    g_hash_table_insert(serve->studies, study->study, study);
  }
  study->step = DEMUR_SERVE_READ;
  study->held = FALSE;
  study->tries = 0;
  study->next = 0;
  study->arrived = now;
  g_clear_pointer(&study->why, g_free);
  for (guint d = 0; d < study->deliveries->len; d++) {
    DemurDelivery *delivery = study->deliveries->pdata[d];
    if (delivery->state != DEMUR_DELIVERY_GIVEN_UP)
      continue;
    delivery->state = DEMUR_DELIVERY_WAITING;
    delivery->since = now;
    delivery->tries = 0;
    delivery->next = 0;
  }
  if (save(serve, study))
    return TRUE;
  g_hash_table_remove(serve->studies, name);
  return FALSE;
}

/* The study that has waited longest of those that are due for the courier, or the worker; marked
 * busy. Locked. */
static DemurServeStudy *
take_due(Serve *serve, gboolean courier) {
  const gint64 now = seconds_now();
  DemurServeStudy *first = NULL;
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, serve->studies);
  while (g_hash_table_iter_next(&iter, NULL, &value)) {
    DemurServeStudy *study = value;
    if (study->busy || study->next > now || (study->step == DEMUR_SERVE_ANSWER) != courier)
      continue;
    if (first == NULL || study->arrived < first->arrived ||
        (study->arrived == first->arrived && strcmp(study->study, first->study) < 0))
      first = study;
  }
  if (first != NULL)
    first->busy = TRUE;
  return first;
}

/* What became of a step, for the log. */
static void
tell(Serve *serve, const DemurServeStudy *study) {
  if (study->step == DEMUR_SERVE_DONE && study->held)
    say(serve, "study %s is held: %s", study->study, study->why);
  else if (study->step == DEMUR_SERVE_DONE)
    say(serve, "study %s is answered: %s", study->study, study->verdict);
  else if (study->why != NULL)
    say(serve, "study %s waits (%s, attempt %u): %s", study->study,
        demur_serve_step_name(study->step), study->tries, study->why);
  else
    say(serve, "study %s: next is %s", study->study, demur_serve_step_name(study->step));
}

/* Behind a step: kept, and out of the way where it is finished. */
static void
put_back(Serve *serve, DemurServeStudy *study, gboolean changed) {
  if (changed)
    tell(serve, study);
  const gboolean kept = !changed || save(serve, study);
  if (kept && study->step == DEMUR_SERVE_DONE && !study->held)
    demur_serve_study_clear(serve->folder, study);
  g_mutex_lock(&serve->mutex);
  study->busy = FALSE;
  if (!kept) /* the step is done again rather than forgotten */
    study->next = seconds_now() + 1;
  if (kept && study->step == DEMUR_SERVE_DONE)
    g_hash_table_remove(serve->studies, study->study);
  g_cond_broadcast(&serve->changed);
  g_mutex_unlock(&serve->mutex);
}

/* --- the threads --- */

/* A task of a thread's own: its handle of the workspace, its threads, our cancelling. */
static void
own_task(const Serve *serve, DemurTask *task) {
  const DemurTask *from = serve->task;
  *task = (DemurTask){.workspace_path = g_strdup(from->workspace_path),
                      .opening = from->opening,
                      .seed = from->seed,
                      .parallel = demur_parallel_new(0),
                      .progress = {NULL, NULL, serve->ended},
                      .now = from->now,
                      .user = g_strdup(from->user),
                      .station = g_strdup(from->station)};
}

static void
wait_a_little(Serve *serve) {
  g_mutex_lock(&serve->mutex);
  g_cond_wait_until(&serve->changed, &serve->mutex, g_get_monotonic_time() + TICK);
  g_mutex_unlock(&serve->mutex);
}

static gpointer
run_courier(gpointer data) {
  Serve *serve = data;
  g_auto(DemurTask) task = {0};
  own_task(serve, &task);
  while (!g_cancellable_is_cancelled(serve->ended)) {
    g_mutex_lock(&serve->mutex);
    DemurServeStudy *study = take_due(serve, TRUE);
    g_mutex_unlock(&serve->mutex);
    if (study == NULL) {
      wait_a_little(serve);
      continue;
    }
    put_back(
        serve, study,
        demur_serve_study_deliver(&task, current_settings(serve)->config, study, seconds_now()));
  }
  return NULL;
}

/* Before their records go: a study that is not listed any more keeps its images. */
static void
prune_images(Serve *serve, const DemurServeConfig *config, gint64 now) {
  if (config->image_days == 0)
    return;
  const gint64 before = now - (gint64)config->image_days * 86400;
  g_auto(GStrv) studies = demur_serve_journal_answered(serve->folder, before);
  for (char **study = studies; *study != NULL; study++) {
    const guint n = demur_serve_prune_images(serve->folder, *study, before);
    if (n > 0)
      say(serve, "study %s: %u received images were removed: it was answered %u days ago or before",
          *study, n, config->image_days);
  }
}

/* Studies that are marked to go through all steps again, and records of long ago. */
static void
tidy(Serve *serve) {
  g_autofree char *path = again_folder(serve->folder);
  g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autofree char *mark = g_build_filename(path, name, NULL);
    g_mutex_lock(&serve->mutex);
    const DemurServeStudy *study = g_hash_table_lookup(serve->studies, name);
    const gboolean taken =
        name[0] != '.' && (study == NULL || !study->busy) && enqueue(serve, name);
    g_mutex_unlock(&serve->mutex);
    if (!taken)
      continue;
    (void)g_unlink(mark);
    say(serve, "study %s is taken up again", name);
  }
  const gint64 now = seconds_now();
  if (now - serve->tidied < HOUSEKEEPING)
    return;
  serve->tidied = now;
  const DemurServeConfig *config = current_settings(serve)->config;
  prune_images(serve, config, now);
  (void)demur_serve_journal_prune(serve->folder, now - (gint64)config->history_days * 86400);
}

static gboolean
on_watched(const char *study, gpointer data) {
  Serve *serve = data;
  g_mutex_lock(&serve->mutex);
  const gboolean taken = enqueue(serve, study);
  g_mutex_unlock(&serve->mutex);
  return taken;
}

static void
on_problem(const char *sentence, gpointer data) {
  say(data, "%s", sentence);
}

/* Looks into the watched folder, each second. */
static void
watch(Serve *serve, DemurServeWatch *watched) {
  const DemurServeConfig *config = current_settings(serve)->config;
  const gint64 now = seconds_now();
  if (config->watched == NULL || now == serve->watched)
    return;
  serve->watched = now;
  const DemurWatchTold told = {on_watched, on_problem, serve};
  demur_serve_watch_look(watched, config->watched, config->settle_seconds, serve->folder, now,
                         &told);
}

static gpointer
run_worker(gpointer data) {
  Serve *serve = data;
  g_autoptr(DemurServeWatch) watched = demur_serve_watch_new();
  g_auto(DemurTask) task = {0};
  own_task(serve, &task);
  while (!g_cancellable_is_cancelled(serve->ended)) {
    if (serve->params->reload_asked != NULL && serve->params->reload_asked(serve->params->data))
      reload(serve, &task);
    tidy(serve);
    watch(serve, watched);
    g_mutex_lock(&serve->mutex);
    DemurServeStudy *study = take_due(serve, FALSE);
    g_mutex_unlock(&serve->mutex);
    if (study == NULL) {
      wait_a_little(serve);
      continue;
    }
    const Settings *settings = current_settings(serve);
    const DemurServeRules rules = {settings->config, settings->rules, settings->sites};
    put_back(serve, study, demur_serve_study_step(&task, &rules, study, seconds_now()));
  }
  return NULL;
}

/* --- the receiver's side --- */

static gboolean
on_listening(gpointer data, GError **error) {
  Serve *serve = data;
  const DemurServeConfig *config = current_settings(serve)->config;
  /* From here on no process is forked off this one: threads may be busy. */
  serve->worker = demur_thread_new("worker", run_worker, serve, error);
  if (serve->worker != NULL)
    serve->courier = demur_thread_new("courier", run_courier, serve, error);
  if (serve->courier == NULL ||
      (serve->metrics != NULL && !demur_serve_metrics_start(serve->metrics, error)))
    return FALSE;
  say(serve, "listening on port %u as %s; %u studies are on their way", config->port, config->ae,
      g_hash_table_size(serve->studies));
  return TRUE;
}

static DemurSettled
on_settled(const char *const *folders, gpointer data) {
  Serve *serve = data;
  gboolean all = TRUE;
  g_mutex_lock(&serve->mutex);
  for (; *folders != NULL; folders++) {
    g_autofree char *name = g_path_get_basename(*folders);
    all &= enqueue(serve, name);
  }
  g_cond_broadcast(&serve->changed);
  g_mutex_unlock(&serve->mutex);
  return all ? DEMUR_SETTLED_DONE : DEMUR_SETTLED_AGAIN;
}

static gboolean
serve_until_cancelled(Serve *serve, const DemurServeConfig *config, GError **error) {
  DemurTls tls;
  DemurStow stow;
  const DemurReceiver receiver = {.folder = config->folder,
                                  .port = config->port,
                                  .ae = config->ae,
                                  .callers = (const char *const *)config->callers,
                                  .hosts = (const char *const *)config->hosts,
                                  .tls = demur_serve_config_tls(config, config->encrypted, &tls),
                                  .stow = demur_serve_config_stow(config, &stow),
                                  .commit_to = (const char *const *)config->commit_to,
                                  .timeout_seconds = config->timeout_seconds,
                                  .give_up_seconds = config->wait_seconds,
                                  /* Who knows how many objects there are need not wait long. */
                                  .settle_seconds = config->archive_host != NULL
                                                        ? MIN(config->settle_seconds, 2)
                                                        : config->settle_seconds,
                                  .max_associations = config->max_associations,
                                  .reserve_mb = config->reserve_mb,
                                  .listening = on_listening,
                                  .settled = on_settled,
                                  .problem = on_problem,
                                  .data = serve};
  const DemurProgress progress = serve->task->progress;
  DemurReceived received;
  const gboolean served = demur_network_receive(&receiver, &received, &progress, error);
  g_cancellable_cancel(serve->ended);
  g_mutex_lock(&serve->mutex);
  g_cond_broadcast(&serve->changed);
  g_mutex_unlock(&serve->mutex);
  g_clear_pointer(&serve->worker, g_thread_join);
  g_clear_pointer(&serve->courier, g_thread_join);
  if (served)
    say(serve,
        "ended in good order: %zu objects in %zu associations, %zu known before, %zu refused; %u studies are on their way",
        received.n_received, received.n_associations, received.n_known, received.n_rejected,
        g_hash_table_size(serve->studies));
  return served;
}

/* --- begin --- */

/* Listener and connections of a service hold its lock with it: after a kill they end a moment later,
 * and the port is free when the lock is. */
static int
take_folder(const char *folder, GError **error) {
  const int lock = demur_serve_lock_open(folder, TRUE, error);
  const gint64 until = g_get_monotonic_time() + LOCK_SECONDS * G_USEC_PER_SEC;
  while (lock >= 0) {
    if (flock(lock, LOCK_EX | LOCK_NB) == 0)
      return lock;
    if (g_get_monotonic_time() >= until)
      break;
    g_usleep(20000);
  }
  if (error != NULL && *error == NULL)
    demur_error_set(error, DEMUR_ERROR_STATE,
                    lock >= 0
                        ? "another service has the folder %s: end that one first, or give this "
                          "one another folder"
                        : "the folder %s can't be taken",
                    folder);
  if (lock >= 0)
    close(lock);
  return -1;
}

/* Answers that were delivered, said so in the journal, and not removed before the service ended. */
static void
remove_delivered(Serve *serve) {
  g_autofree char *outbox = g_build_filename(serve->folder, ".outbox", NULL);
  g_autoptr(GDir) dir = g_dir_open(outbox, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
    g_autoptr(DemurServeStudy) study = g_hash_table_contains(serve->studies, name)
                                           ? NULL
                                           : demur_serve_journal_find(serve->folder, name);
    if (study != NULL && !study->held)
      demur_serve_study_clear(serve->folder, study);
  }
}

static void
recall(Serve *serve) {
  g_autoptr(GPtrArray) damaged = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GPtrArray) queue =
      demur_serve_journal_list(serve->folder, DEMUR_JOURNAL_QUEUE, damaged);
  g_ptr_array_set_free_func(queue, NULL);
  for (guint i = 0; i < queue->len; i++) {
    DemurServeStudy *study = queue->pdata[i];
    g_hash_table_insert(serve->studies, study->study, study);
  }
  /* Its images are all there: it is read anew. */
  for (guint i = 0; i < damaged->len; i++) {
    say(serve, "the record of study %s can't be read: it goes through all steps again",
        (const char *)damaged->pdata[i]);
    g_mutex_lock(&serve->mutex);
    (void)enqueue(serve, damaged->pdata[i]);
    g_mutex_unlock(&serve->mutex);
  }
}

static void
serve_clear(Serve *serve) {
  g_clear_pointer(&serve->metrics, demur_serve_metrics_free);
  g_clear_pointer(&serve->studies, g_hash_table_unref);
  g_clear_pointer(&serve->settings, g_ptr_array_unref);
  g_clear_object(&serve->ended);
  g_mutex_clear(&serve->mutex);
  g_mutex_clear(&serve->saying);
  g_cond_clear(&serve->changed);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Serve, serve_clear)

gboolean
demur_task_serve(DemurTask *task, const DemurServeParams *params, GError **error) {
  g_auto(Serve) serve = {.task = task, .params = params, .ended = g_cancellable_new()};
  g_mutex_init(&serve.mutex);
  g_mutex_init(&serve.saying);
  g_cond_init(&serve.changed);
  serve.settings = g_ptr_array_new_with_free_func(settings_free);
  serve.studies =
      g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)demur_serve_study_free);
  Settings *settings = settings_read(params->config_path, error);
  if (settings == NULL)
    return FALSE;
  g_ptr_array_add(serve.settings, settings);
  serve.folder = settings->config->folder;
  if (!check_selector(task, settings->config, error) ||
      !demur_serve_journal_open(serve.folder, error))
    return FALSE;
  const int lock = take_folder(serve.folder, error);
  if (lock < 0)
    return FALSE;
  recall(&serve);
  remove_delivered(&serve);
  if (settings->config->metrics_port > 0)
    serve.metrics = demur_serve_metrics_open(settings->config, error);
  const gboolean served = (settings->config->metrics_port == 0 || serve.metrics != NULL) &&
                          serve_until_cancelled(&serve, settings->config, error);
  close(lock);
  return served;
}

gboolean
demur_task_serve_again(const DemurServeConfig *config, const char *study, GError **error) {
  g_autoptr(GPtrArray) held = demur_serve_journal_list(config->folder, DEMUR_JOURNAL_HELD, NULL);
  gboolean found = FALSE;
  for (guint i = 0; i < held->len; i++)
    found |= strcmp(((const DemurServeStudy *)held->pdata[i])->study, study) == 0;
  if (!found) {
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                    "study %s is not held; `demur serve --status` lists those that are", study);
    return FALSE;
  }
  return mark_again(config->folder, study, error);
}
