/* Inside the store only: the connection, and short words for what every subject does with it.
 * Nothing outside core/store includes this header. */
#pragma once

#include <sqlite3.h>

#include "store/workspace.h"

G_BEGIN_DECLS

struct DemurWorkspace {
  char *path;
  sqlite3 *database;
  gboolean read_only;
  char *user, *station; /* who works, for events; NULL: not known */
  char *(*now)(void);
  const DemurProgress
      *waiting; /* told while another program holds the lock; borrowed, may be NULL */
  DemurPatience patience;
  DemurPlacesLook look; /* at places of images; NULL: nobody looks */
  gpointer look_data;
  gboolean locked_out;    /* the last failure was another program's lock */
  guint depth;            /* of nested transactions */
  gboolean has_begun;     /* this handle has looked whose the last event is */
  GHashTable *untold;     /* names of cohorts whose event is due when the transaction ends, owned */
  GHashTable *statements; /* SQL text -> sqlite3_stmt, prepared once */
};

/* Turns the connection's last error into words: locked, full, read-only, damaged. doing: "saving
 * cohort ist". DEMUR_ERROR_STORE, or G_IO_ERROR_CANCELLED of a wait for a lock; always FALSE. */
gboolean demur_store_fail(DemurWorkspace *workspace, const char *doing, GError **error);

/* A prepared statement, reset and without bindings; owned by the workspace and good until the same
 * text is asked for again. sql must be a string constant. NULL with error. */
sqlite3_stmt *demur_store_statement(DemurWorkspace *workspace, const char *sql,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Bind by 1-based place. Text NULL and NaN become NULL. Text and blobs are not copied: they must
 * outlive the step. */
void demur_store_bind_text(sqlite3_stmt *statement, int at, const char *text);
void demur_store_bind_double(sqlite3_stmt *statement, int at, double value);
void demur_store_bind_int(sqlite3_stmt *statement, int at, gint64 value);
void demur_store_bind_blob(sqlite3_stmt *statement, int at, gconstpointer bytes, size_t n_bytes);

/* Runs a statement that gives no row, and resets it. */
gboolean demur_store_run(DemurWorkspace *workspace, sqlite3_stmt *statement, const char *doing,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The next row: *row is FALSE behind the last one (the statement is then reset). */
gboolean demur_store_step(DemurWorkspace *workspace, sqlite3_stmt *statement, gboolean *row,
                          const char *doing, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Columns by 0-based place: an owned copy (NULL for NULL); NaN for NULL. */
char *demur_store_text(sqlite3_stmt *statement, int at);
double demur_store_double(sqlite3_stmt *statement, int at);

/* The n texts from a column on, owned, each where it belongs. */
void demur_store_read_texts(sqlite3_stmt *statement, int from, char **const *texts, size_t n);

/* Makes a record, owned, of the row that the statement stands at. */
typedef gpointer (*DemurStoreReadFunc)(sqlite3_stmt *statement);

/* Every row as a record, in the statement's order; the list owns them and frees each by free_record.
 * NULL with error. */
GPtrArray *demur_store_list(DemurWorkspace *workspace, sqlite3_stmt *statement,
                            DemurStoreReadFunc read, GDestroyNotify free_record, const char *doing,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The texts of the first column, owned; NULL with error. */
char **demur_store_list_texts(DemurWorkspace *workspace, sqlite3_stmt *statement, const char *doing,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Between two transactions of one long write: long enough that who waits for the lock, and asks for it
 * from time to time, gets it. */
void demur_store_let_others_write(void);

/* The event of a cohort is written once, as the cohort stands when the transaction ends. */
void demur_store_tell_cohort(DemurWorkspace *workspace, const char *name);

/* Inside store/cohorts.c: writes it. */
gboolean demur_store_write_cohort_event(DemurWorkspace *workspace, const char *name,
                                        GError **error);

/* Ends what begin began: commits if ok, else rolls back. Returns ok and committed. */
gboolean demur_store_end(DemurWorkspace *workspace, gboolean ok,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The number that the next event will have; -1 with error. */
gint64 demur_store_next_event(DemurWorkspace *workspace, GError **error);

/* Who and when for an event where the caller gives no time (owned). */
char *demur_store_now(DemurWorkspace *workspace);

/* SHA-256 of texts (NULL differs from "") and numbers, each framed (owned). */
char *demur_store_digest(const char *const *texts, size_t n_texts, const double *numbers,
                         size_t n_numbers);

/* The row of the selector of that name, and 0 with DEMUR_ERROR_NOT_FOUND or another error. */
gint64 demur_store_selector_id(DemurWorkspace *workspace, const char *name, GError **error);

/* One whole number from sql with up to two texts bound; -1 with error. */
gint64 demur_store_count(DemurWorkspace *workspace, const char *sql, const char *first,
                         const char *second, GError **error);

/* What was made of something that has a name: a query that counts it (one parameter, the name), and its
 * words for one and several, each with one PRId64, marked with N_. */
typedef struct {
  const char *sql, *one, *many;
} DemurStoreMade;

/* *made: "2 thresholds, 1 site audit" of the kinds [n] that there are, for the message of another error
 * (demur_error_because); NULL where there is nothing. */
gboolean demur_store_made(DemurWorkspace *workspace, const DemurStoreMade *kinds, size_t n,
                          const char *name, GError **made, GError **error);

G_END_DECLS
