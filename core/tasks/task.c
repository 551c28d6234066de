#include "tasks/task.h"

#include <string.h>

#include "store/network-disk.h"
#include "store/replace.h"
#include "store/roles.h"
#include "tasks/images.h"

void
demur_task_clear(DemurTask *task) {
  demur_workspace_close(task->workspace);
  demur_parallel_free(task->parallel);
  g_free(task->workspace_path);
  g_free(task->user);
  g_free(task->station);
  *task = (DemurTask){0};
}

static char *
clock_now(void) {
  g_autoptr(GDateTime) now = g_date_time_new_now_utc();
  return g_date_time_format(now, "%Y-%m-%dT%H:%M:%SZ");
}

static char *(*task_clock(const DemurTask *task))(void) {
  return task->now != NULL ? task->now : clock_now;
}

DemurWorkspace *
demur_task_workspace(DemurTask *task, GError **error) {
  if (task->workspace != NULL)
    return task->workspace;
  const char *path = task->workspace_path;
  task->workspace = demur_workspace_open_told(
      path, demur_workspace_is_read_only(path) ? DEMUR_WORKSPACE_READ_ONLY : task->opening,
      &task->progress, error);
  if (task->workspace != NULL) {
    demur_workspace_set_actor(task->workspace, task->user, task->station, task_clock(task));
    g_free(task->user); /* a server knows better */
    task->user = g_strdup(demur_workspace_user(task->workspace));
    demur_workspace_set_places_look(task->workspace, demur_task_places, task);
  }
  return task->workspace;
}

DemurWorkspace *
demur_task_workspace_to_write(DemurTask *task, const char *table, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  return workspace != NULL && demur_roles_check_may_add(workspace, table, error) ? workspace : NULL;
}

gboolean
demur_task_put_workspace(DemurTask *task, const char *path, GError **error) {
  g_clear_pointer(&task->workspace, demur_workspace_close);
  if (!demur_workspace_replace(task->workspace_path, path, error))
    return FALSE;
  g_free(task->workspace_path);
  task->workspace_path = g_strdup(path);
  return TRUE;
}

char *
demur_task_usual_workspace(const char *last) {
  const char *named = g_getenv("DEMUR_WORKSPACE");
  if (named == NULL || *named == '\0')
    named = last;
  return named != NULL ? g_strdup(named) : demur_workspace_default_path(g_get_user_data_dir());
}

gboolean
demur_task_workspace_is_address(const char *path) {
  return demur_workspace_is_server(path);
}

char *
demur_task_workspace_name(const char *path) {
  if (!demur_workspace_is_server(path))
    return g_path_get_basename(path);
  const char *behind = strstr(path, "://") + 3; /* [USER[:PASSWORD]@]HOST/DATABASE[?KEY=VALUE&..] */
  const gsize n_place = strcspn(behind, "?");
  g_autofree char *place = g_strndup(behind, n_place);
  g_autoptr(GHashTable) keys = g_uri_parse_params(
      behind + n_place + (behind[n_place] == '?' ? 1 : 0), -1, "&", G_URI_PARAMS_NONE, NULL);
  const char *at = strchr(place, '@'), *slash = strchr(place, '/');
  const char *named = keys != NULL ? g_hash_table_lookup(keys, "user") : NULL,
             *database = keys != NULL ? g_hash_table_lookup(keys, "dbname") : NULL;
  g_autofree char *before =
      at != NULL && (slash == NULL || at < slash)
          ? g_uri_unescape_segment(place, place + MIN(strcspn(place, ":"), (gsize)(at - place)),
                                   NULL)
          : NULL;
  g_autofree char *behind_host = slash != NULL ? g_uri_unescape_string(slash + 1, NULL) : NULL;
  if (database == NULL)
    database = behind_host != NULL && *behind_host != '\0' ? behind_host : place;
  const char *user = named != NULL ? named : before;
  return user != NULL && *user != '\0' ? g_strdup_printf("%s (%s)", database, user)
                                       : g_strdup(database);
}

gboolean
demur_task_workspace_may_be_there(const char *path) {
  return demur_workspace_is_server(path) || g_file_test(path, G_FILE_TEST_EXISTS);
}

void
demur_task_allow_network_disk(void) {
  demur_network_disk_allow();
}

char *
demur_task_now(const DemurTask *task) {
  return task_clock(task)();
}
