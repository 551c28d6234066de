/* What every command of `demur` shares: the global options, and how a command is declared. One file
 * a command (app/cli/NAME.c), each with one DemurCommand listed in run.c. */
#pragma once

#include "base/json-writer.h"
#include "tasks/task.h"
#include "tasks/warnings.h"

G_BEGIN_DECLS

typedef struct DemurCommand DemurCommand;

typedef struct {
  const DemurCommand *command; /* that runs; static */
  const char *program;   /* as it was called: "demur", "build/release/app/demur"; NULL: by none */
  DemurTask task;        /* what its use cases work with; cancelled by Ctrl-C */
  gboolean quiet;        /* --quiet: no progress */
  gboolean json;         /* --json: one document on stdout */
  gboolean printed_json; /* a document stands on stdout already */
  char *attempt;         /* the command that runs: "dicom choose"; owned */
} DemurContext;

struct DemurCommand {
  const char *name;
  const char *parameters;  /* "NAME FILE", for the usage line; NULL: it has commands below it */
  const char *summary;     /* one line, of the list of commands, the usage line and the man page */
  const char *description; /* behind the options; NULL: nothing */
  /* argv[0] is the command's name; global options are already taken out. Exit status 0 when TRUE;
   * FALSE with a GError: DEMUR_ERROR_USAGE ends with 2, everything else with 1. A command that has
   * printed its JSON and still fails (verify, for example) returns FALSE all the same. */
  gboolean (*run)(DemurContext *context, int argc, char **argv, GError **error);
  char *(*describe)(void); /* more behind the description (owned); NULL: nothing */
};

/* Parses argv with the entries; arguments: the words left over (owned, NULL-terminated). --help
 * prints usage, by the row of the command that runs, and ends the program with 0. Parse errors are
 * DEMUR_ERROR_USAGE. */
gboolean demur_command_parse(const DemurContext *context, int argc, char **argv,
                             const GOptionEntry *entries, char ***arguments,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for entries with callbacks, which get data. */
gboolean demur_command_parse_group(const DemurContext *context, int argc, char **argv,
                                   const GOptionEntry *entries, gpointer data, char ***arguments,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* For commands with sub-commands (`demur cohort import ..`): runs the one named by argv[1]. */
gboolean demur_command_dispatch(DemurContext *context, const DemurCommand *commands,
                                size_t n_commands, int argc, char **argv,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Exactly n words, else DEMUR_ERROR_USAGE naming what is expected ("cohort import takes NAME
 * FILE"). */
gboolean demur_command_expect(char **arguments, guint n, const char *what,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* An option, and whether it was given. */
typedef struct {
  const char *name; /* "--last" */
  gboolean given;
} DemurOptionGiven;

/* What would be taken and ignored is refused: DEMUR_ERROR_USAGE where one of others [n] was given, and
 * has no effect beside the option or word `beside` ("--keep-openings"), or without `needed`
 * ("--replace"). */
gboolean demur_command_refuse_beside(const char *beside, const DemurOptionGiven *others, size_t n,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean demur_command_refuse_without(const char *needed, const DemurOptionGiven *others, size_t n,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The text of --range, "LOW,HIGH"; DEMUR_ERROR_USAGE for any other. What may stand there is for the
 * task to say. */
gboolean demur_command_range(const char *text, double *low, double *high,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What a task warns of: a line each for people, or the member "warnings" of an open object. */
void demur_command_print_warnings(const GPtrArray *warnings);
void demur_command_write_warnings(DemurJson *json, const GPtrArray *warnings);

/* Prints the document on stdout and marks that the command has said something; frees json. */
void demur_context_print_json(DemurContext *context, DemurJson *json);

/* The same where --json asks for it; else json was made beside the text, and is only freed. */
void demur_context_end_json(DemurContext *context, DemurJson *json);

/* A command that writes to path ("-", /dev/stdout): where that is standard output, what is said for
 * people, and the document of --json, go to standard error. Called before anything is said. */
void demur_context_take_stdout(const char *path);

extern const DemurCommand demur_command_ablate, demur_command_accept, demur_command_assess,
    demur_command_audit, demur_command_chart, demur_command_cohort, demur_command_export,
    demur_command_demo, demur_command_dicom, demur_command_evaluate, demur_command_federate,
    demur_command_report, demur_command_scores, demur_command_log, demur_command_selector,
    demur_command_serve, demur_command_shift, demur_command_train, demur_command_tune,
    demur_command_validate, demur_command_verify, demur_command_watch, demur_command_workspace;

G_END_DECLS
