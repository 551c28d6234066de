/* Who may do what on a server: roles of the database, to which its administrator lets people in. What a role
 * may not do is refused by the server, whatever program asks. A workspace in a file knows no roles: who may
 * write to the file may write all of it.
 *
 * For each table what each role may do stands in one table (roles.c); so does which event it may write. Every
 * role reads everything. The tables' owner, who made the workspace, and the server's superusers stand above
 * the roles: only they change the schema, and only they could take the log apart. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_ROLE_READER,  /* reviews, draws, writes reports */
  DEMUR_ROLE_ANALYST, /* and imports, trains, tunes, audits, assesses */
  DEMUR_ROLE_SERVICE, /* imports, scores and assesses; reviews nothing */
  DEMUR_ROLE_ADMIN, /* all that a program does: and removes series, sets what the site wants, lets people in */
  DEMUR_N_ROLES,
} DemurRole;

/* What people know of a role: what its rights in tables come to. */
typedef enum {
  DEMUR_DEED_READ,   /* read everything */
  DEMUR_DEED_REVIEW, /* review, comment, reveal, draw */
  DEMUR_DEED_FEED,   /* import images and scores, run models, assess */
  DEMUR_DEED_DECIDE, /* cohorts, selectors, thresholds, audits, watches, what goes against the rules */
  DEMUR_DEED_REMOVE, /* take a patient's series out, set what the site wants */
  DEMUR_DEED_LET_IN, /* give and take roles but an admin's */
  DEMUR_N_DEEDS,
} DemurDeed;

/* Whether the rights that demur_roles_sql gives a role come to the deed. */
gboolean demur_role_may(DemurRole role, DemurDeed deed);

/* "reader", .., "none" of DEMUR_N_ROLES; FALSE where the name is none of them. */
const char *demur_role_name(DemurRole role);
gboolean demur_role_from_name(const char *name, DemurRole *role) G_GNUC_WARN_UNUSED_RESULT;

/* A person's database user and the role they have. */
typedef struct {
  char *user;
  DemurRole role;
} DemurRoleMember;

void demur_role_member_free(DemurRoleMember *member);

/* The statements that make the roles and give each its rights (owned); they may be run again, and are to be after
 * an upgrade by hand. Roles are called DATABASE_reader .. , since a server's roles are of all its databases, and are
 * marked by a comment: a role of that name which isn't, or can log in, ends the script. "" where the user is not the
 * tables' owner and finds all that made already, as an admin who lets people in. NULL with DEMUR_ERROR_UNSUPPORTED where the workspace is a file. */
char *demur_roles_sql(DemurWorkspace *workspace, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The statements that give a user one role, and take the others (owned; DEMUR_N_ROLES: all of them); that of an admin
 * is the owner's to take. DEMUR_ERROR_USAGE where the name has characters that can't be seen: a person reads them. */
char *demur_roles_give_sql(DemurWorkspace *workspace, const char *user, DemurRole role,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Runs such statements, all or none: DEMUR_ERROR_STORE where the server doesn't let this user do it. */
gboolean demur_roles_apply(DemurWorkspace *workspace, const char *sql,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Array of DemurRoleMember (owned) by name of the user: whom the server knows in which role. */
GPtrArray *demur_roles_members(DemurWorkspace *workspace, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Inside the store: what a comment says, with the database's name behind it, of a role that is a workspace's. */
#define DEMUR_ROLES_MARK "demur: a role of the database "

/* Whether the user may add rows to a table, asked before long work whose end would be written there:
 * DEMUR_ERROR_STORE where a server does not let them, or the workspace is open for reading only. */
gboolean demur_roles_check_may_add(DemurWorkspace *workspace, const char *table,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Inside the store: statements of a trigger of the log's table that set `may`, whether session_user may write the event
 * `new` (is_owner: as the tables' owner), and of an event that tells of one row what that row is
 * (store/postgres-rows.h); and the rights alone, for roles that are there (both owned). */
char *demur_roles_look_at_event(const char *schema);
char *demur_roles_grants(const char *database);

G_END_DECLS
