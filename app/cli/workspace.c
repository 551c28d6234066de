/* demur workspace: the workspace as a whole. */
#include <string.h>

#include "app/cli/counted.h"
#include "app/cli/command.h"
#include "base/error.h"
#include "base/shown-text.h"
#include "tasks/workspace-copy.h"
#include "tasks/workspace-roles.h"

static void
print_copy(DemurContext *context, const DemurWorkspaceCopy *copy, const char *from,
           const char *to) {
  const DemurSoundness *found = copy->soundness;
  if (!context->json) {
    g_print("%s is in %s: %" G_GINT64_FORMAT " row%s (digest %.12s), %zu cohort%s, %zu selector%s, "
            "%zu series, %zu score%s, %zu verdict%s; verified\n",
            from, to, copy->rows.n_rows, demur_cli_s((size_t)copy->rows.n_rows), copy->rows.digest,
            found->n_cohorts, demur_cli_s(found->n_cohorts), found->n_selectors,
            demur_cli_s(found->n_selectors), found->n_series, found->n_scores,
            demur_cli_s(found->n_scores), found->n_verdicts, demur_cli_s(found->n_verdicts));
    return;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "from", from);
  demur_json_string(json, "to", to);
  demur_json_int(json, "n_rows", copy->rows.n_rows);
  demur_json_string(json, "digest", copy->rows.digest);
  demur_json_int(json, "n_cohorts", (gint64)found->n_cohorts);
  demur_json_int(json, "n_selectors", (gint64)found->n_selectors);
  demur_json_int(json, "n_series", (gint64)found->n_series);
  demur_json_int(json, "n_scores", (gint64)found->n_scores);
  demur_json_int(json, "n_verdicts", (gint64)found->n_verdicts);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static gboolean
copy_and_tell(DemurContext *context, const char *from, const char *to, GError **error) {
  g_autoptr(DemurWorkspaceCopy) copy = demur_task_copy_workspace(&context->task, from, to, error);
  if (copy == NULL)
    return FALSE;
  print_copy(context, copy, from, to);
  return TRUE;
}

static gboolean
run_copy(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  return demur_command_parse(context, argc, argv, NULL, &arguments, error) &&
         demur_command_expect(arguments, 2, "workspace copy takes FROM TO", error) &&
         copy_and_tell(context, arguments[0], arguments[1], error);
}

static gboolean
run_backup(DemurContext *context, int argc, char **argv, GError **error) {
  g_auto(GStrv) arguments = NULL;
  if (!demur_command_parse(context, argc, argv, NULL, &arguments, error) ||
      !demur_command_expect(arguments, 1, "workspace backup takes FILE", error))
    return FALSE;
  if (!demur_task_is_backup_file(arguments[0], error))
    return FALSE;
  if (!copy_and_tell(context, context->task.workspace_path, arguments[0], error))
    return FALSE;
  if (!context->json)
    g_print("to bring it back: demur workspace copy %s TO\n", arguments[0]);
  return TRUE;
}

/* "USER=ROLE"; an equals sign may stand in the user's name. */
static gboolean
parse_given(char *word, DemurRoleGiven *given, GError **error) {
  char *mark = strrchr(word, '=');
  if (mark == NULL || mark == word || !demur_role_from_name(mark + 1, &given->role)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                "workspace roles takes USER=ROLE, not '%s'; roles are reader, analyst, service, "
                "admin, and none",
                word);
    return FALSE;
  }
  *mark = '\0';
  given->user = word;
  return TRUE;
}

/* As SQL names it: who applies the script reads it, and runs it. */
static void
print_member(const char *before, const DemurRoleMember *member) {
  g_autofree char *shown = demur_shown_text(member->user);
  g_auto(GStrv) parts = g_strsplit(shown, "\"", -1);
  g_autofree char *doubled = g_strjoinv("\"\"", parts);
  g_print("%s\"%s\": %s\n", before, doubled, demur_role_name(member->role));
}

static void
print_roles(DemurContext *context, const DemurWorkspaceRoles *roles) {
  const char *before = roles->applied ? "" : "-- ";
  if (!context->json) {
    if (!roles->applied)
      g_print("%s", roles->sql);
    for (guint i = 0; i < roles->members->len; i++)
      print_member(before, roles->members->pdata[i]);
    if (roles->members->len == 0)
      g_print("%snobody has a role yet: workspace roles USER=ROLE --apply\n", before);
    return;
  }
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_bool(json, "applied", roles->applied);
  demur_json_string(json, "sql", roles->sql);
  demur_json_begin_array(json, "members");
  for (guint i = 0; i < roles->members->len; i++) {
    const DemurRoleMember *member = roles->members->pdata[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "user", member->user);
    demur_json_string(json, "role", demur_role_name(member->role));
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  demur_context_print_json(context, json);
}

static gboolean
run_roles(DemurContext *context, int argc, char **argv, GError **error) {
  gboolean apply = FALSE;
  const GOptionEntry entries[] = {{"apply", 0, 0, G_OPTION_ARG_NONE, &apply,
                                   "run the statements instead of printing them", NULL},
                                  G_OPTION_ENTRY_NULL};
  g_auto(GStrv) arguments = NULL;
  if (!demur_command_parse(context, argc, argv, entries, &arguments, error))
    return FALSE;
  const guint n = g_strv_length(arguments);
  g_autofree DemurRoleGiven *given = g_new0(DemurRoleGiven, MAX(n, 1));
  for (guint i = 0; i < n; i++)
    if (!parse_given(arguments[i], &given[i], error))
      return FALSE;
  g_autoptr(DemurWorkspaceRoles) roles =
      demur_task_workspace_roles(&context->task, given, n, apply, error);
  if (roles == NULL)
    return FALSE;
  print_roles(context, roles);
  return TRUE;
}

static const char *const deeds[DEMUR_N_DEEDS] = {
    [DEMUR_DEED_READ] = "read everything, verify, write reports and exports, keep a backup",
    [DEMUR_DEED_REVIEW] = "review, comment, reveal, draw on images",
    [DEMUR_DEED_FEED] = "import images and scores, run models, assess",
    [DEMUR_DEED_DECIDE] =
        "make and change cohorts, selectors, thresholds, audits, acceptance tests and watches, "
        "choose a series against the rules, take an assessment back",
    [DEMUR_DEED_REMOVE] = "dicom remove, log --keep-openings",
    [DEMUR_DEED_LET_IN] = "give and take roles but an admin's",
};

/* The deeds that a role may, or may not, do, as one line behind its name; nothing where there are none. */
static void
append_deeds(GString *text, DemurRole role, gboolean may) {
  const char *before = may ? " may: " : " may not: ";
  gboolean is_first = TRUE;
  for (guint d = 0; d < DEMUR_N_DEEDS; d++) {
    if (demur_task_role_may(role, (DemurDeed)d) != may)
      continue;
    if (is_first)
      g_string_append_printf(text, "\n%s%s", demur_role_name(role), before);
    g_string_append_printf(text, "%s%s", is_first ? "" : "; ", deeds[d]);
    is_first = FALSE;
  }
}

static char *
describe_roles(void) {
  GString *text = g_string_new(NULL);
  for (guint r = 0; r < DEMUR_N_ROLES; r++) {
    append_deeds(text, (DemurRole)r, TRUE);
    append_deeds(text, (DemurRole)r, FALSE);
  }
  g_string_append(text, "\n\nWhat a role may not do the server refuses, whatever program asks.");
  return g_string_free(text, FALSE);
}

static gboolean
run(DemurContext *context, int argc, char **argv, GError **error) {
  static const DemurCommand commands[] = {
      {.name = "copy",
       .parameters = "FROM TO",
       .summary = "copy a workspace to a new file or an empty database, and verify it there",
       .description =
           "FROM and TO are files or addresses (postgresql://HOST/DATABASE), either way. "
           "FROM is read in one moment and stays as it is; a copy that fails leaves "
           "nothing. --workspace plays no part.",
       .run = run_copy},
      {.name = "backup",
       .parameters = "FILE",
       .summary = "keep the workspace, a server's too, as one new file, and verify it there",
       .description =
           "The workspace (--workspace) is read in one moment, whoever writes to it "
           "meanwhile. To bring it back: `demur workspace copy FILE TO`, where TO is a new "
           "file or an empty database.",
       .run = run_backup},
      {.name = "roles",
       .parameters = "[USER=ROLE ..]",
       .summary = "say who may do what in a workspace on a server",
       .description =
           "Prints the statements that make the database's roles reader, analyst, service and admin, "
           "give each its rights and let each USER in (ROLE none: out again), and who has which now; "
           "--apply runs them, as the workspace's owner who may make roles. USER is there already "
           "(createuser).",
       .run = run_roles,
       .describe = describe_roles},
  };
  return demur_command_dispatch(context, commands, G_N_ELEMENTS(commands), argc, argv, error);
}

const DemurCommand demur_command_workspace = {
    .name = "workspace",
    .summary = "copy a workspace as a whole, and say who may do what in it",
    .run = run};
