#include "ui/other-viewer.h"

#include <string.h>

#include "base/error.h"
#include "base/private-folder.h"
#include "tasks/image-folder.h"
#include "ui/job.h"
#include "ui/words.h"
#include "ui/worker.h"

#define PLACE "{folder}"

typedef struct {
  char *path, *scan_id, *command;
} Opening;

static void
opening_free(gpointer data) {
  Opening *opening = data;
  g_free(opening->path);
  g_free(opening->scan_id);
  g_free(opening->command);
  g_free(opening);
}

/* The command's words (strv, owned); NULL with error. */
static char **
words_of(const char *command, GError **error) {
  char **words = NULL;
  if (strstr(command, PLACE) != NULL && g_shell_parse_argv(command, NULL, &words, NULL))
    return words;
  demur_error_set(error, DEMUR_ERROR_USAGE,
                  "the command of the other viewer needs %s where the folder of the images stands, "
                  "and words as a shell has them",
                  PLACE);
  return NULL;
}

gboolean
demur_other_viewer_check(const char *command, GError **error) {
  g_auto(GStrv) words = words_of(command, error);
  return words != NULL;
}

static gboolean
run(const char *command, const char *folder, GError **error) {
  g_auto(GStrv) words = words_of(command, error);
  if (words == NULL)
    return FALSE;
  for (char **word = words; *word != NULL; word++) {
    g_autoptr(GString) text = g_string_new(*word);
    g_string_replace(text, PLACE, folder, 0);
    g_free(*word);
    *word = g_string_free(g_steal_pointer(&text), FALSE);
  }
  return g_spawn_async(NULL, words, NULL,
                       G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL |
                           G_SPAWN_STDERR_TO_DEV_NULL,
                       NULL, NULL, NULL, error);
}

static gpointer
open_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  const Opening *opening = data;
  g_auto(DemurTask) task;
  demur_worker_task_init(&task, opening->path, NULL, progress);
  g_autoptr(DemurPrivateFolder) folder = demur_private_folder_make(NULL, "demur-viewer-", error);
  return folder != NULL &&
                 demur_task_image_folder(&task, opening->scan_id, demur_private_folder_path(folder),
                                         error) &&
                 run(opening->command, demur_private_folder_path(folder), error)
             ? g_steal_pointer(&folder)
             : NULL;
}

static void
folder_free(gpointer folder) {
  demur_private_folder_free(folder);
}

static void
on_opened(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  DemurSession *session = owner;
  if (result == NULL) {
    demur_session_fail(session, error);
    return;
  }
  /* The viewer reads on as long as it likes: the links stay until the session ends. */
  g_autofree char *key =
      g_strdup_printf("viewer:%s", demur_private_folder_path((DemurPrivateFolder *)result));
  g_object_set_data_full(G_OBJECT(session), key, result, folder_free);
  demur_session_notice(session,
                       _("The images of this case were given to the other viewer. What is measured "
                         "or written there is not kept here."),
                       FALSE);
}

void
demur_other_viewer_open(DemurSession *session, const char *command) {
  const DemurScan *scan = demur_session_scan(session);
  if (scan == NULL || scan->source != NULL) {
    demur_session_notice(session,
                         scan == NULL ? _("No case is open. Choose one in the worklist.")
                                      : _("This scan is of a cohort: there are no images here."),
                         FALSE);
    return;
  }
  Opening *opening = g_new(Opening, 1);
  *opening =
      (Opening){g_strdup(demur_session_path(session)), g_strdup(scan->scan_id), g_strdup(command)};
  const DemurJobStart start = {.func = open_work,
                               .input = opening,
                               .free_input = opening_free,
                               .free_result = folder_free,
                               .owner = G_OBJECT(session),
                               .done = on_opened};
  demur_job_start(&start);
}
