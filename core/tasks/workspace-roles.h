/* Who may do what in a workspace on a server (store/roles.h): the roles, their rights, and who has which. */
#pragma once

#include "store/roles.h"
#include "tasks/task.h"

G_BEGIN_DECLS

typedef struct {
  char *sql;          /* what makes it so, for a person who administers the server */
  gboolean applied;   /* it was run */
  GPtrArray *members; /* of DemurRoleMember, as the server knows them now */
} DemurWorkspaceRoles;

/* A user and a role for them: DEMUR_N_ROLES takes what they have. */
typedef struct {
  char *user;
  DemurRole role;
} DemurRoleGiven;

/* The roles of the task's workspace with their rights, and those given [n]; run where apply says so, all or
 * nothing. DEMUR_ERROR_UNSUPPORTED for a workspace in a file, DEMUR_ERROR_NOT_FOUND for a file that is not there (none
 * is made), DEMUR_ERROR_STORE as the server says: it wants of the
 * user that they own the workspace and may make roles. */
DemurWorkspaceRoles *demur_task_workspace_roles(DemurTask *task, const DemurRoleGiven *given,
                                                size_t n, gboolean apply,
                                                GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Whether a role's rights come to a deed, in every workspace on a server. */
gboolean demur_task_role_may(DemurRole role, DemurDeed deed);

void demur_workspace_roles_free(DemurWorkspaceRoles *roles);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurWorkspaceRoles, demur_workspace_roles_free)

G_END_DECLS
