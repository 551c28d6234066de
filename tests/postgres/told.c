/* What a server fails by is told with what to do about it, and nothing of the transaction is there. A fault is raised in the
 * server by a trigger, under the number by which it is known there (PostgreSQL, Error Codes); passwords are asked for by a
 * line of pg_hba.conf. Run by tests/support/with-postgres.sh. */
#include <string.h>

#include "base/error.h"
#include "common.h"
#include "store/reviews.h"
#include "support/store.h"

/* says: a part of the message; never: what it must not say. */
static const struct {
  const char *state, *says, *never;
} faults[] = {
    {"53100", "the disk is full; make room and try again, nothing was half written", "damaged"},
    {"58030", "the disk can't be read or written", "damaged"},
    {"XX001", "it is damaged; bring back a copy", "the file"},
    {"XX002", "it is damaged; bring back a copy", "the file"},
    {"XX000", "run `demur verify`", "damaged"},
    {"53200", "no memory left", "damaged"},
    {"42501", "the server does not let this user do it", "damaged"},
};

static void
a_fault_is_told_with_what_to_do(void) {
  g_autofree char *path = demur_test_store_path("/told", "w");
  g_autoptr(DemurWorkspace) workspace = server_open(path, "reader");
  for (size_t f = 0; f < G_N_ELEMENTS(faults); f++) {
    g_autofree char *sql = g_strdup_printf(
        "CREATE OR REPLACE FUNCTION public.fails() RETURNS trigger LANGUAGE plpgsql AS"
        " $$BEGIN RAISE EXCEPTION 'it fails' USING ERRCODE = '%s'; END$$;"
        "CREATE TRIGGER zz_fails AFTER INSERT ON demur.review FOR EACH ROW EXECUTE FUNCTION public.fails()",
        faults[f].state);
    demur_test_store_run(path, sql);
    g_autoptr(GError) error = NULL;
    g_assert_false(server_comment(workspace, "1.2", 0, "lost", "reader", &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_STORE);
    g_test_message("%s: %s", faults[f].state, error->message);
    g_assert_nonnull(strstr(error->message, faults[f].says));
    g_assert_null(strstr(error->message, faults[f].never));
    demur_test_store_run(path, "DROP FUNCTION public.fails() CASCADE");
    g_assert_cmpint(demur_test_store_number(path, "SELECT count(*) FROM review"), ==, 0);
    g_assert_cmpint(
        demur_test_store_number(path, "SELECT count(*) FROM event WHERE key LIKE 'review:%'"), ==,
        0);
  }
  g_autoptr(GError) error = NULL;
  g_assert_true(server_comment(workspace, "1.2", 0, "kept", "reader", &error));
  g_assert_no_error(error);
  demur_test_store_drop(path);
}

/* From now on the server asks these for their passwords. */
static void
ask_for_passwords(const char *path, const char *users) {
  g_autofree char *sql = g_strdup_printf(
      "CREATE TABLE pg_temp.line (text text); INSERT INTO pg_temp.line VALUES ('local all %s scram-sha-256');"
      "COPY pg_temp.line TO PROGRAM 'cat - pg_hba.conf > new.conf && mv new.conf pg_hba.conf';"
      "SELECT pg_catalog.pg_reload_conf()",
      users);
  demur_test_store_run(path, sql);
}

/* The reload comes when the server comes to it; whom it doesn't ask yet it tells that nothing may be read. */
static void
await_reload(const char *path) {
  g_autofree char *late = server_with(path, "user=late");
  for (;;) {
    g_autoptr(GError) error = NULL;
    g_assert_null(demur_workspace_open(late, DEMUR_WORKSPACE_READ_ONLY, &error));
    if (g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_AWAY))
      return;
  }
}

static void
a_password_that_is_not_taken_is_told(void) {
  static const struct {
    const char *user, *password, *says;
  } people[] = {
      {"late", "secret", "the server did not let this user in"},
      {"valid", "wrong", "the server did not let this user in"},
      {"valid&dbname=absent", "secret", "there is no such database"},
      {"valid", NULL, "the server asks for a password, and there is none"},
  };
  g_autofree char *path = demur_test_store_path("/passwords", "w");
  demur_workspace_close(server_open(path, "demur"));
  demur_test_store_run(
      path,
      "CREATE ROLE late LOGIN PASSWORD 'secret' VALID UNTIL '2001-01-01';"
      "CREATE ROLE valid LOGIN PASSWORD 'secret' VALID UNTIL 'infinity' IN ROLE pg_read_all_data;"
      "GRANT USAGE ON SCHEMA demur TO valid");
  ask_for_passwords(path, "late,valid");
  g_autofree char *valid = server_with(path, "user=valid");
  g_setenv("PGPASSWORD", "secret", TRUE);
  g_autoptr(GError) error = NULL;
  await_reload(path);
  g_autoptr(DemurWorkspace) right = demur_workspace_open(valid, DEMUR_WORKSPACE_READ_ONLY, &error);
  g_assert_no_error(error);
  for (size_t p = 0; p < G_N_ELEMENTS(people); p++) {
    g_autofree char *option = g_strconcat("user=", people[p].user, NULL);
    g_autofree char *address = server_with(path, option);
    if (people[p].password != NULL)
      g_setenv("PGPASSWORD", people[p].password, TRUE);
    else
      g_unsetenv("PGPASSWORD");
    g_assert_null(demur_workspace_open(address, DEMUR_WORKSPACE_READ_ONLY, &error));
    g_assert_error(error, DEMUR_ERROR, DEMUR_ERROR_AWAY);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, people[p].says));
    g_assert_nonnull(strstr(error->message, "~/.pgpass"));
    g_clear_error(&error);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/postgres/told/a-fault-is-told-with-what-to-do",
                  a_fault_is_told_with_what_to_do);
  g_test_add_func("/postgres/told/a-password-that-is-not-taken-is-told",
                  a_password_that_is_not_taken_is_told);
  return g_test_run();
}
