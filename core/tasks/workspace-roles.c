#include "tasks/workspace-roles.h"

#include "base/error.h"

void
demur_workspace_roles_free(DemurWorkspaceRoles *roles) {
  if (roles == NULL)
    return;
  g_free(roles->sql);
  g_clear_pointer(&roles->members, g_ptr_array_unref);
  g_free(roles);
}

gboolean
demur_task_role_may(DemurRole role, DemurDeed deed) {
  return demur_role_may(role, deed);
}

DemurWorkspaceRoles *
demur_task_workspace_roles(DemurTask *task, const DemurRoleGiven *given, size_t n, gboolean apply,
                           GError **error) {
  if (!demur_task_workspace_may_be_there(task->workspace_path)) { /* none is made for it */
    demur_error_set(error, DEMUR_ERROR_NOT_FOUND,
                    "there is no workspace %s; roles are of a workspace on a server "
                    "(--workspace postgresql://HOST/DATABASE)",
                    task->workspace_path);
    return NULL;
  }
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autofree char *rights = workspace != NULL ? demur_roles_sql(workspace, error) : NULL;
  if (rights == NULL)
    return NULL;
  g_autoptr(GString) sql = g_string_new(rights);
  for (size_t i = 0; i < n; i++) {
    g_autofree char *give = demur_roles_give_sql(workspace, given[i].user, given[i].role, error);
    if (give == NULL)
      return NULL;
    g_string_append(sql, give);
  }
  if (apply && !demur_roles_apply(workspace, sql->str, error))
    return NULL;
  g_autoptr(DemurWorkspaceRoles) roles = g_new0(DemurWorkspaceRoles, 1);
  roles->applied = apply;
  roles->sql = g_string_free(g_steal_pointer(&sql), FALSE);
  roles->members = demur_roles_members(workspace, error);
  return roles->members != NULL ? g_steal_pointer(&roles) : NULL;
}
