#include "ui/incoming.h"

#include <string.h>

#include "ui/import-window.h"
#include "ui/job.h"
#include "ui/words.h"

/* What each path is. */
typedef struct {
  char **paths;
  DemurFileLook **looks; /* [paths]; NULL: it can't be read */
  GError *error;         /* of the first that can't */
} Looked;

static void
looked_free(gpointer data) {
  Looked *looked = data;
  for (guint i = 0; looked->paths[i] != NULL; i++)
    demur_file_look_free(looked->looks[i]);
  g_strfreev(looked->paths);
  g_free(looked->looks);
  g_clear_error(&looked->error);
  g_free(looked);
}

/* On a worker's thread: a share of the network may take its time. */
static gpointer
look_work(DemurJob *job, gpointer data, const DemurProgress *progress, GError **error) {
  Looked *looked = g_new0(Looked, 1);
  looked->paths = g_strdupv(data);
  looked->looks = g_new0(DemurFileLook *, g_strv_length(looked->paths) + 1);
  for (guint i = 0; looked->paths[i] != NULL; i++)
    looked->looks[i] =
        demur_task_file_look(looked->paths[i], looked->error == NULL ? &looked->error : NULL);
  return looked;
}

static void
paths_free(gpointer paths) {
  g_strfreev(paths);
}

#define SESSION_KEY "incoming-session" /* of the window, which the work belongs to */

static void
open_workspace(GtkWindow *parent, const char *path) {
  g_action_group_activate_action(G_ACTION_GROUP(gtk_window_get_application(parent)), "open-path",
                                 g_variant_new_string(path));
}

static void
on_looked(gpointer owner, guint64 tag, gpointer result, const GError *error) {
  Looked *looked = result;
  GtkWindow *parent = GTK_WINDOW(owner);
  DemurSession *session = g_object_get_data(G_OBJECT(parent), SESSION_KEY);
  if (looked == NULL) {
    demur_session_fail(session, error);
    return;
  }
  g_autoptr(GPtrArray) images = g_ptr_array_new();
  gboolean asked = FALSE;
  for (guint i = 0; looked->paths[i] != NULL; i++) {
    const DemurFileLook *look = looked->looks[i];
    if (look == NULL)
      continue;
    switch (look->kind) {
    case DEMUR_FILE_IMAGES:
      g_ptr_array_add(images, looked->paths[i]);
      break;
    case DEMUR_FILE_WORKSPACE:
      open_workspace(parent, looked->paths[i]);
      break;
    case DEMUR_FILE_LABELS:
      demur_session_notice(session,
                           _("This is a table of labels of one or more sites: “demur audit apply” "
                             "corrects a site by it, “demur accept run” tests one."),
                           FALSE);
      break;
    default:
      if (asked)
        demur_session_notice(session, _("One table a time: drop the others once this one is in."),
                             FALSE);
      else
        gtk_window_present(GTK_WINDOW(demur_import_window_new(parent, session, looked->paths[i],
                                                              g_steal_pointer(&looked->looks[i]))));
      asked = TRUE;
      break;
    }
  }
  g_ptr_array_add(images, NULL);
  if (images->len > 1)
    demur_session_import(session, (char *const *)images->pdata, FALSE);
  if (looked->error != NULL)
    demur_session_fail(session, looked->error);
  looked_free(looked);
}

gboolean
demur_incoming_take(GtkWindow *parent, DemurSession *session, const char *const *paths) {
  if (paths == NULL || paths[0] == NULL)
    return FALSE;
  g_object_set_data_full(G_OBJECT(parent), SESSION_KEY, g_object_ref(session), g_object_unref);
  const DemurJobStart start = {.func = look_work,
                               .input = g_strdupv((char **)paths),
                               .free_input = paths_free,
                               .free_result = looked_free,
                               .owner = G_OBJECT(parent),
                               .done = on_looked};
  demur_job_start(&start);
  return TRUE;
}
