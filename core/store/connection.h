/* Inside the store only: the connection, and short words for what every subject does with it.
 * Nothing outside core/store includes this header. */
#pragma once

#include "store/driver.h"
#include "store/workspace.h"

G_BEGIN_DECLS

/* Events of changes (demur_events_last_of_change) that one handle wrote: how many, and the number of the last. */
typedef struct {
  gint64 n, last;
} DemurOwnChanges;

struct DemurWorkspace {
  char *path;
  DemurConnection *connection;
  gboolean read_only;
  char *user, *station; /* who works, for events; NULL: not known */
  char *(*now)(void);
  const DemurProgress
      *waiting; /* told while another program holds the lock; borrowed, may be NULL */
  DemurPatience patience;
  DemurPlacesLook look; /* at places of images; NULL: nobody looks */
  gpointer look_data;
  gboolean locked_out; /* the last failure was another program's lock */
  guint depth;         /* of nested transactions */
  gint64 inserted_id;  /* of the last INSERT .. RETURNING */
  gint64 head; /* of the log, in the open transaction, which alone writes; where head_chain is */
  char *
      head_chain; /* its chain as this program has it: a server writes its own; NULL: not looked up */
  DemurOwnChanges own;    /* those that are committed, and not seen yet (demur_events_see_own) */
  GArray *uncommitted;    /* DemurOwnChanges [depth]: those of each open transaction */
  gboolean has_begun;     /* this handle has looked whose the last event is */
  GHashTable *untold;     /* names of cohorts whose event is due when the transaction ends, owned */
  GHashTable *statements; /* SQL text -> DemurStatement, prepared once */
};

/* Turns the connection's last failure into words (demur_driver_fail). doing: "saving cohort ist". DEMUR_ERROR_STORE, or G_IO_ERROR_CANCELLED of a wait for a lock; always FALSE. */
gboolean demur_store_fail(DemurWorkspace *workspace, const char *doing, GError **error);

/* A prepared statement, reset and without bindings; owned by the workspace and good until the same
 * text is asked for again. sql must be a string constant. NULL with error. */
DemurStatement *demur_store_statement(DemurWorkspace *workspace, const char *sql,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Bind by 1-based place. Text NULL and NaN become NULL, and what is not bound is NULL: so is a whole number that is
 * not there, for a server puts no NULL of a text into a column of numbers. Text and blobs are not copied: they must
 * outlive the step. */
void demur_store_bind_text(DemurStatement *statement, int at, const char *text);
void demur_store_bind_double(DemurStatement *statement, int at, double value);
void demur_store_bind_int(DemurStatement *statement, int at, gint64 value);
void demur_store_bind_blob(DemurStatement *statement, int at, gconstpointer bytes, size_t n_bytes);

/* Runs a statement that gives no row, or RETURNING a number (demur_store_inserted_id), and resets it. */
gboolean demur_store_run(DemurWorkspace *workspace, DemurStatement *statement, const char *doing,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for one of many of which nothing is asked, in a transaction: it is run before the next that is not
 * put off, and that it failed may be told by that one, or by the commit. */
gboolean demur_store_run_later(DemurWorkspace *workspace, DemurStatement *statement,
                               const char *doing, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The next row: *row is FALSE behind the last one (the statement is then reset). */
gboolean demur_store_step(DemurWorkspace *workspace, DemurStatement *statement, gboolean *row,
                          const char *doing, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Gives the statement back before its last row was read: an open one holds the view it reads. */
void demur_store_reset(DemurStatement *statement);

/* Columns by 0-based place: an owned copy (NULL for NULL); NaN for NULL; 0 for NULL (number, int); a text
 * of the statement's, good until its next step (NULL for NULL); bytes of a text or a blob, digits of a
 * whole number, likewise. */
char *demur_store_text(DemurStatement *statement, int at);
double demur_store_double(DemurStatement *statement, int at);
double demur_store_number(DemurStatement *statement, int at);
gint64 demur_store_int(DemurStatement *statement, int at);
const char *demur_store_peek(DemurStatement *statement, int at);
gconstpointer demur_store_bytes(DemurStatement *statement, int at, gsize *n_bytes);
DemurColumnType demur_store_type(DemurStatement *statement, int at);

/* What a statement has, for those who don't know it (store/seal.c). */
int demur_store_n_parameters(const DemurStatement *statement);
int demur_store_n_columns(const DemurStatement *statement);
const char *demur_store_column_name(DemurStatement *statement, int at);

/* The number that the last INSERT .. RETURNING gave; rows that the statement that was run last changed. */
gint64 demur_store_inserted_id(const DemurWorkspace *workspace);
gint64 demur_store_n_changed(DemurWorkspace *workspace);

/* The bytes [n_bytes] of a cohort's chunk by its row, without a copy in between. */
gboolean demur_store_read_chunk(DemurWorkspace *workspace, gint64 row, void *bytes, gsize n_bytes);

/* The document of a selector by its row, likewise (g_aligned_free). NULL: failed. */
char *demur_store_read_document(DemurWorkspace *workspace, gint64 row, gsize *length);

/* A statement that engines can't share, by what it asks. */
DemurStatement *demur_store_dialect(DemurWorkspace *workspace, DemurDialect what,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The n texts from a column on, owned, each where it belongs. */
void demur_store_read_texts(DemurStatement *statement, int from, char **const *texts, size_t n);

/* Makes a record, owned, of the row that the statement stands at. */
typedef gpointer (*DemurStoreReadFunc)(DemurStatement *statement);

/* Every row as a record, in the statement's order; the list owns them and frees each by free_record.
 * NULL with error. */
GPtrArray *demur_store_list(DemurWorkspace *workspace, DemurStatement *statement,
                            DemurStoreReadFunc read, GDestroyNotify free_record, const char *doing,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The texts of the first column, owned; NULL with error. */
char **demur_store_list_texts(DemurWorkspace *workspace, DemurStatement *statement,
                              const char *doing, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Between two transactions of one long write: long enough that who waits for the lock, and asks for it
 * from time to time, gets it. */
void demur_store_let_others_write(void);

/* The event of a cohort is written once, as the cohort stands when the transaction ends. */
void demur_store_tell_cohort(DemurWorkspace *workspace, const char *name);

/* Inside store/cohorts.c: writes it. */
gboolean demur_store_write_cohort_event(DemurWorkspace *workspace, const char *name,
                                        GError **error);

/* Opens what a copy goes into, made where it is absent, in a transaction that begins before its tables do:
 * a rollback leaves of them what was there. NULL with error. */
DemurWorkspace *demur_store_open_empty(const char *path, const DemurProgress *progress,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Ends what begin began: commits if ok, else rolls back. Returns ok and committed. */
gboolean demur_store_end(DemurWorkspace *workspace, gboolean ok,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The number that the next event will have; -1 with error. */
gint64 demur_store_next_event(DemurWorkspace *workspace, GError **error);

/* What is known of the log's head is of another transaction, or was taken back. */
void demur_store_forget_head(DemurWorkspace *workspace);

/* Who and when for an event where the caller gives no time (owned). */
char *demur_store_now(DemurWorkspace *workspace);

/* SHA-256 of texts (NULL differs from "") and numbers (-0 counts as 0), each framed (owned). */
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
