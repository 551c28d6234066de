/* Running the built `demur` in a private workspace: what the tests of commands share. The contract
 * under test is docs/commands: exit status 0 done, 1 failed, 2 wrong usage; with --json one
 * document on stdout and nothing else there; messages and progress on stderr. */
#pragma once

#include <gio/gio.h>
#include <json-glib/json-glib.h>

#include "support/support.h"

G_BEGIN_DECLS

/* A folder of its own with a workspace that does not exist yet. */
typedef struct {
  char *folder;
  char *workspace; /* folder/workspace.demur */
} Sandbox;

Sandbox *sandbox_new(void);
void sandbox_free(Sandbox *sandbox); /* removes the folder */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sandbox, sandbox_free)
/* A copy of the folder as prepare leaves it: prepare runs once in a process, in a sandbox of its own
 * that goes at the end. For what many tests begin with and none looks at; not for what keeps paths
 * or times of files (images). */
Sandbox *sandbox_prepared(void (*prepare)(const Sandbox *sandbox));

/* A path below the folder (owned). */
char *sandbox_path(const Sandbox *sandbox, const char *name);
/* Writes a file below the folder; its path (owned). length -1: NUL-terminated. */
char *sandbox_write(const Sandbox *sandbox, const char *name, const char *bytes, gssize length);

/* One finished run. */
typedef struct {
  char *line; /* the command line */
  int status; /* exit status; -1 where a signal ended it */
  char *out, *err;
  JsonNode *json; /* stdout as one document, NULL where it is none */
} Run;

void run_free(Run *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Run, run_free)

/* `demur --workspace W WORDS..`, or without --workspace where sandbox is NULL. */
Run *run_words(const Sandbox *sandbox, const char *const *words);
Run *run_demur(const Sandbox *sandbox, ...) G_GNUC_NULL_TERMINATED;
/* The same with --json; asserts the exit status, that stdout is one document and nothing else, and
 * that a failure has a member "error" there unless it printed a result of its own. */
Run *run_json(const Sandbox *sandbox, int status, ...) G_GNUC_NULL_TERMINATED;
/* The same split at spaces, for tables of tests. */
Run *run_line(const Sandbox *sandbox, const char *line);

/* Started and left running (stdout and stderr are dropped); the caller waits. */
GSubprocess *start_demur(const Sandbox *sandbox, ...) G_GNUC_NULL_TERMINATED;
/* The same with both streams as pipes. */
GSubprocess *start_demur_heard(const Sandbox *sandbox, ...) G_GNUC_NULL_TERMINATED;

/* Each marks the test as failed with what was seen, and goes on: a table shows all its faults. */
#define assert_status(run, expected) check_status(__FILE__, __LINE__, (run), (expected))
#define assert_says(text, part) check_says(__FILE__, __LINE__, (text), (part))
void check_status(const char *file, int line, const Run *run, int expected);
void check_says(const char *file, int line, const char *text, const char *part);
/* Each line is wrong usage: exit status 2. */
#define assert_wrong_usage(sandbox, lines)                                                         \
  check_wrong_usage(__FILE__, __LINE__, (sandbox), (lines), G_N_ELEMENTS(lines))
void check_wrong_usage(const char *file, int line, const Sandbox *sandbox, const char *const *lines,
                       size_t n);
/* The object's members are exactly these (comma-separated, in order) / hold at least these. */
#define assert_members(object, names) check_members(__FILE__, __LINE__, (object), (names), TRUE)
#define assert_holds(object, names) check_members(__FILE__, __LINE__, (object), (names), FALSE)
void check_members(const char *file, int line, JsonObject *object, const char *names,
                   gboolean exactly);

/* Members that must be there and of that kind. */
JsonObject *root_of(const Run *run);
JsonObject *object_at(JsonObject *object, const char *name);
JsonArray *array_at(JsonObject *object, const char *name);
const char *string_at(JsonObject *object, const char *name);
double number_at(JsonObject *object, const char *name); /* NaN where null */
gboolean bool_at(JsonObject *object, const char *name);
gboolean is_null_at(JsonObject *object, const char *name);
/* The element of an array of objects whose member is text; NULL where there is none. */
JsonObject *find_in(JsonArray *array, const char *member, const char *text);

/* The digest that `cohort show` gives, owned. */
char *cohort_digest(const Sandbox *sandbox, const char *name);
/* What `cohort list --json` prints, owned: a workspace before and after. */
char *cohort_list(const Sandbox *sandbox);

/* `cohort simulate NAME` small enough for a test: 600 scans of selector_train at 8 sites. */
void simulate_small(const Sandbox *sandbox, const char *name);
/* `train NAME --cohort COHORT --as-published` with 2 epochs of 12 updates of 8 x 128; more words
 * may follow. */
Run *train_small(const Sandbox *sandbox, const char *name, const char *cohort,
                 ...) G_GNUC_NULL_TERMINATED;

G_END_DECLS
