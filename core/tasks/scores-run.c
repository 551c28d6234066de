/* One series at a time: a private folder with `series/`, links 0001.dcm, 0002.dcm .. to just that
 * series' files in slice order, and an empty `output/`. The command runs without a shell, in a
 * process group of its own, so that the time limit and Ctrl-C end all that it started. How each run
 * ended is kept, score or no score. */
#include "tasks/scores-run.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file-output.h"
#include "base/private-folder.h"
#include "cohort/npy.h"
#include "dicom/files.h"
#include "store/scores.h"
#include "store/series.h"
#include "tasks/images.h"
#include "tasks/names.h"
#include "tasks/scores-json.h"
#include "words/words.h"

#define RUN_FOLDER "demur-run-"
#define STDERR_KEPT 16384
#define GRACE_SECONDS 3.0
#define POLL_MICROSECONDS 20000

/* What is run, and its words. */
typedef struct {
  const DemurScoresRunParams *params;
  char **argv; /* of the command, with {series} and {output} */
} RunOptions;

/* One run's folder, removed with all in it at the end. */
typedef struct {
  DemurPrivateFolder *root;
  char *series, *output, *errors; /* errors: file of stderr */
} RunFolder;

static void
run_folder_clear(RunFolder *folder) {
  demur_private_folder_free(folder->root);
  g_free(folder->series);
  g_free(folder->output);
  g_free(folder->errors);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RunFolder, run_folder_clear)

static gboolean
run_folder_make(RunFolder *folder, GError **error) {
  folder->root = demur_private_folder_make(NULL, RUN_FOLDER, error);
  if (folder->root == NULL)
    return FALSE;
  folder->series = demur_private_folder_name(folder->root, "series");
  folder->output = demur_private_folder_name(folder->root, "output");
  folder->errors = demur_private_folder_name(folder->root, "stderr");
  return demur_folder_make(folder->series, error) && demur_folder_make(folder->output, error);
}

/* The file must still hold the image that was imported: a folder used anew could hold another
 * patient's. */
static gboolean
check_identity(const DemurSeriesRecord *series, const DemurSeriesFile *file, DemurSource **source,
               GError **error) {
  g_autoptr(DemurHeader) header = demur_header_read(source, error);
  if (header == NULL)
    return FALSE;
  if (g_strcmp0(header->sop_instance_uid, file->sop_instance_uid) != 0 ||
      g_strcmp0(header->series_uid, series->series_uid) != 0 ||
      g_strcmp0(header->patient_id, series->patient_id) != 0) {
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "a file of series %s holds another image now: import it again",
                    series->scan_id);
    return FALSE;
  }
  return TRUE;
}

static gboolean
link_file(const DemurSeriesRecord *series, const DemurSeriesFile *file, const char *link,
          GError **error) {
  const char *mark = strstr(file->path, "!/");
  g_autofree char *archive = mark != NULL && !g_file_test(file->path, G_FILE_TEST_EXISTS)
                                 ? g_strndup(file->path, (gsize)(mark - file->path))
                                 : NULL;
  g_autoptr(DemurSource) source = demur_files_open(archive != NULL ? archive : file->path,
                                                   archive != NULL ? mark + 2 : NULL, error);
  if (source == NULL)
    return FALSE;
  const guint64 size = demur_source_size(source);
  if (archive != NULL) { /* a copy: nothing can be linked inside an archive */
    const guint8 *bytes = demur_source_peek(source, 0, (size_t)size);
    if (bytes == NULL || !demur_file_write(link, bytes, (gssize)size, DEMUR_FILE_NEW, error))
      return FALSE;
  } else if (symlink(file->path, link) != 0) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "a link can't be made: %s", g_strerror(errno));
    return FALSE;
  }
  return check_identity(series, file, &source, error);
}

/* Links in slice order; a multi-frame file once. */
static gboolean
link_series(DemurWorkspace *workspace, const DemurSeriesRecord *series, const RunFolder *folder,
            GError **error) {
  g_autoptr(GPtrArray) files = demur_series_files(workspace, series->scan_id, error);
  if (files == NULL)
    return FALSE;
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  guint n = 0;
  for (guint i = 0; i < files->len; i++) {
    const DemurSeriesFile *file = files->pdata[i];
    if (!g_hash_table_add(seen, file->path))
      continue;
    g_autofree char *link = g_strdup_printf("%s/%04u.dcm", folder->series, ++n);
    if (!link_file(series, file, link, error))
      return FALSE;
  }
  return TRUE;
}

static char *
fill_in(const char *word, const RunFolder *folder) {
  g_autoptr(GString) text = g_string_new(word);
  g_string_replace(text, "{series}", folder->series, 0);
  g_string_replace(text, "{output}", folder->output, 0);
  return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
lead_group(gpointer data) {
  setpgid(0, 0);
}

/* The end of what the command wrote to stderr, as UTF-8. */
static char *
read_errors(const RunFolder *folder) {
  const int fd = open(folder->errors, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return g_strdup("");
  g_autofree char *bytes = g_malloc(STDERR_KEPT);
  const off_t size = lseek(fd, 0, SEEK_END);
  const off_t from = size > STDERR_KEPT ? size - STDERR_KEPT : 0;
  ssize_t n = pread(fd, bytes, STDERR_KEPT, from);
  close(fd);
  return g_utf8_make_valid(bytes, MAX(n, 0));
}

/* Ends the whole group: asked to first, made to after GRACE_SECONDS. */
static void
end_group(GPid pid, int *status) {
  kill(-pid, SIGTERM);
  const gint64 until = g_get_monotonic_time() + (gint64)(GRACE_SECONDS * G_USEC_PER_SEC);
  pid_t ended = 0;
  while ((ended = waitpid(pid, status, WNOHANG)) == 0 && g_get_monotonic_time() < until)
    g_usleep(POLL_MICROSECONDS);
  kill(-pid, SIGKILL);
  if (ended == 0)
    waitpid(pid, status, 0);
}

/* Runs the command; record gets its end. FALSE with error only where it was cancelled. */
static gboolean
run_command(DemurTask *task, const RunOptions *options, const RunFolder *folder, double fraction,
            DemurScoreRunRecord *record, GError **error) {
  g_auto(GStrv) argv = g_new0(char *, g_strv_length(options->argv) + 1);
  for (guint i = 0; options->argv[i] != NULL; i++)
    argv[i] = fill_in(options->argv[i], folder);
  record->exit_status = -1;
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  const int errors = open(folder->errors, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  g_autoptr(GError) cause = NULL;
  GPid pid = 0;
  const gint64 begun = g_get_monotonic_time();
  const gboolean started =
      nowhere >= 0 && errors >= 0 &&
      g_spawn_async_with_fds(demur_private_folder_path(folder->root), argv, NULL,
                             G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, lead_group, NULL,
                             &pid, nowhere, nowhere, errors, &cause);
  if (nowhere >= 0)
    close(nowhere);
  if (errors >= 0)
    close(errors);
  if (!started) {
    record->message = g_strdup_printf("the command could not be started: %s",
                                      cause != NULL ? cause->message : g_strerror(errno));
    record->stderr_end = g_strdup("");
    return TRUE;
  }
  int status = 0;
  gboolean cancelled = FALSE, late = FALSE;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    const double seconds = (double)(g_get_monotonic_time() - begun) / G_USEC_PER_SEC;
    late = options->params->time_limit > 0 && seconds > options->params->time_limit;
    cancelled = !late && !demur_progress_step(&task->progress, fraction, "scoring", error);
    if (late || cancelled) {
      end_group(pid, &status);
      break;
    }
    g_usleep(POLL_MICROSECONDS);
  }
  kill(-pid, SIGKILL); /* what it left behind in the background */
  g_spawn_close_pid(pid);
  record->seconds = (double)(g_get_monotonic_time() - begun) / G_USEC_PER_SEC;
  record->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  record->stderr_end = read_errors(folder);
  if (late) {
    record->outcome = DEMUR_RUN_TIMED_OUT;
    record->message =
        g_strdup_printf("ended after the time limit of %g s", options->params->time_limit);
  } else if (cancelled) {
    record->outcome = DEMUR_RUN_CANCELLED;
    record->message = g_strdup("interrupted");
  } else if (WIFSIGNALED(status)) {
    record->message = g_strdup_printf("ended by signal %d", WTERMSIG(status));
  } else if (record->exit_status != 0) {
    record->message = g_strdup_printf("ended with exit status %d", record->exit_status);
  }
  return !cancelled;
}

/* What the command left in its output folder: prediction_scores.json or scores.json with one score,
 * and embedding.npy with one row where the score itself has none. */
static DemurScoreRecord *
read_output(const RunFolder *folder, const DemurSeriesRecord *series, GError **error) {
  static const char *const names[] = {"prediction_scores.json", "scores.json"};
  g_autofree char *path = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(names) && path == NULL; i++) {
    path = g_build_filename(folder->output, names[i], NULL);
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
      g_clear_pointer(&path, g_free);
  }
  if (path == NULL) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "it left neither prediction_scores.json nor scores.json in {output}");
    return NULL;
  }
  g_autoptr(GPtrArray) scores = demur_scores_json_read(path, error);
  if (scores == NULL)
    return NULL;
  if (scores->len != 1) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "it wrote %u scores for one series", scores->len);
    return NULL;
  }
  DemurNamedScore *score = scores->pdata[0];
  if (demur_named_score_other(score, series) != NULL) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "the score says that it is of another series: was an old file left in {output}, "
        "or another series scored?");
    return NULL;
  }
  g_autoptr(DemurScoreRecord) record = g_steal_pointer(&score->record);
  g_autofree char *embedding = g_build_filename(folder->output, "embedding.npy", NULL);
  if (record->embedding_width == 0 && g_file_test(embedding, G_FILE_TEST_IS_REGULAR)) {
    size_t n_rows, n_columns;
    if (!demur_npy_shape(embedding, &n_rows, &n_columns, error))
      return NULL;
    if (n_rows != 1) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "embedding.npy holds %zu rows for one series",
                      n_rows);
      return NULL;
    }
    float *values = demur_npy_read(embedding, &n_rows, &n_columns, NULL, error);
    if (values == NULL)
      return NULL;
    record->embedding_width = n_columns;
    record->embedding = g_memdup2(values, n_columns * sizeof *values);
    g_aligned_free(values);
  }
  return g_steal_pointer(&record);
}

/* One series: its run is kept whatever became of it. FALSE with error only where nothing further
 * should be run: cancelled, or the workspace fails. */
static gboolean
score_one(DemurTask *task, DemurWorkspace *workspace, const RunOptions *options,
          const DemurSeriesRecord *series, double fraction, DemurScoreRunRecord *record,
          GError **error) {
  g_autoptr(GError) cause = NULL;
  g_auto(RunFolder) folder = {0};
  g_autoptr(DemurScoreRecord) score = NULL;
  gboolean going = TRUE;
  *record = (DemurScoreRunRecord){.scan_id = g_strdup(series->scan_id),
                                  .model = g_strdup(options->params->model),
                                  .command = g_strdup(options->params->command),
                                  .outcome = DEMUR_RUN_FAILED,
                                  .exit_status = -1,
                                  .created = demur_task_now(task)};
  /* What is scored is what was imported, pixel for pixel, and of the same person. */
  g_autoptr(DemurSeries) as_imported = demur_task_reopen(task, series->scan_id, &cause);
  if (as_imported != NULL && run_folder_make(&folder, &cause) &&
      link_series(workspace, series, &folder, &cause)) {
    going = run_command(task, options, &folder, fraction, record, error);
    if (record->message == NULL)
      score = read_output(&folder, series, &cause);
  }
  if (cause != NULL)
    record->message = g_strdup(cause->message);
  if (score != NULL) {
    score->scan_id = g_strdup(series->scan_id);
    score->model = g_strdup(options->params->model);
    if (score->model_version == NULL)
      score->model_version = g_strdup(options->params->model_version);
    score->source = g_strdup_printf("command %s", options->params->command);
    g_free(score->images_digest);
    score->images_digest = g_strdup(series->images_digest);
    score->created = g_strdup(record->created);
    if (score->patient_id != NULL && !demur_person_same_id(score->patient_id, series->patient_id)) {
      record->message = g_strdup("the score names another patient than the series");
    } else if (!demur_scores_save(workspace, score, 1, options->params->replace, NULL, NULL, NULL,
                                  &cause)) {
      record->message = g_strdup(cause->message);
    } else {
      record->outcome = DEMUR_RUN_SCORED;
    }
  }
  g_autoptr(GError) kept = NULL;
  if (!demur_score_runs_add(workspace, record, &kept) && going) {
    g_propagate_error(error, g_steal_pointer(&kept));
    return FALSE;
  }
  return going;
}

/* The accepted series to run on: all of them, or the one named; *n_scored counts those that have a
 * score already. */
static GPtrArray *
find_series(DemurWorkspace *workspace, const RunOptions *options, const char *scan_id,
            size_t *n_scored, GError **error) {
  g_autoptr(GPtrArray) all =
      scan_id != NULL ? demur_series_find(workspace, DEMUR_SERIES_OF_SCAN, scan_id, error)
                      : demur_series_list(workspace, error);
  g_autoptr(GPtrArray) list =
      g_ptr_array_new_with_free_func((GDestroyNotify)demur_series_record_free);
  *n_scored = 0;
  for (guint i = 0; all != NULL && i < all->len; i++) {
    DemurSeriesRecord *series = all->pdata[i];
    if (!series->accepted) {
      if (scan_id == NULL)
        continue;
      g_autofree char *reason = demur_words_kept(series->reason, NULL);
      demur_error_set(error, DEMUR_ERROR_STATE, "scan %s is not assessed: %s", scan_id,
                      reason != NULL ? reason : N_("it was not chosen"));
      return NULL;
    }
    g_autoptr(DemurScoreRecord) score = NULL;
    if (!demur_scores_load(workspace, series->scan_id, options->params->model, &score, error))
      return NULL;
    if (score != NULL && !options->params->replace) {
      ++*n_scored;
      continue;
    }
    g_ptr_array_add(list, demur_series_load(workspace, series->scan_id, error));
    if (list->pdata[list->len - 1] == NULL)
      return NULL;
  }
  if (all == NULL)
    return NULL;
  if (all->len == 0 && scan_id != NULL) {
    demur_error_set(
        error, DEMUR_ERROR_NOT_FOUND,
        "there is no DICOM scan %s in the workspace; `demur dicom list` shows what there "
        "is",
        scan_id);
    return NULL;
  }
  return g_steal_pointer(&list);
}

static gboolean
check_params(const DemurScoresRunParams *params, char ***argv, GError **error) {
  const char *wrong = NULL;
  if (params->model == NULL)
    wrong = N_("scores run needs --model M: selectors accept the scores of their own model only");
  else if (params->command == NULL || strstr(params->command, "{series}") == NULL ||
           strstr(params->command, "{output}") == NULL)
    wrong = N_("scores run needs --command CMD with {series} (a folder of the series' files) and "
               "{output} (an empty folder for prediction_scores.json)");
  else if (!(params->time_limit >= 0) || isinf(params->time_limit))
    wrong = N_("--time-limit takes seconds, 0 for none");
  if (wrong != NULL) {
    demur_error_set(error, DEMUR_ERROR_USAGE, "%s", wrong);
    return FALSE;
  }
  if (!demur_task_check_label("model", params->model, error) ||
      !demur_task_check_label("model's version", params->model_version, error))
    return FALSE;
  g_autoptr(GError) cause = NULL;
  if (!g_shell_parse_argv(params->command, NULL, argv, &cause)) {
    demur_error_set(error, DEMUR_ERROR_USAGE, "--command can't be split into words: %s",
                    cause->message);
    return FALSE;
  }
  return TRUE;
}

const char *
demur_scores_run_outcome(const DemurScoreRunRecord *run) {
  return demur_run_outcome_name(run->outcome);
}

void
demur_scores_ran_free(DemurScoresRan *ran) {
  if (ran == NULL)
    return;
  g_clear_pointer(&ran->runs, g_ptr_array_unref);
  g_clear_error(&ran->stopped);
  g_free(ran);
}

DemurScoresRan *
demur_task_scores_run(DemurTask *task, const DemurScoresRunParams *params, GError **error) {
  g_auto(GStrv) argv = NULL;
  if (!check_params(params, &argv, error))
    return NULL;
  const RunOptions options = {params, argv};
  g_autoptr(DemurScoresRan) ran = g_new0(DemurScoresRan, 1);
  ran->runs = g_ptr_array_new_with_free_func((GDestroyNotify)demur_score_run_record_free);
  demur_private_folder_sweep(NULL, RUN_FOLDER);
  DemurWorkspace *workspace = demur_task_workspace_to_write(task, "score", error);
  g_autoptr(GPtrArray) list =
      workspace != NULL ? find_series(workspace, &options, params->scan_id, &ran->n_before, error)
                        : NULL;
  if (list == NULL)
    return NULL;
  for (guint i = 0; i < list->len && ran->stopped == NULL; i++) {
    DemurScoreRunRecord *run = g_new0(DemurScoreRunRecord, 1);
    g_ptr_array_add(ran->runs, run);
    (void)score_one(task, workspace, &options, list->pdata[i], (double)i / list->len, run,
                    &ran->stopped);
    ran->n_scored += run->outcome == DEMUR_RUN_SCORED;
  }
  return g_steal_pointer(&ran);
}
