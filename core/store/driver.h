/* Inside the store only: what the store asks of a database engine, whichever it is. One driver a file
 * (driver-sqlite.c); the only file that knows an engine's own header. Nothing outside core/store
 * includes this header.
 *
 * A driver words nothing: what went wrong is a DemurFault and the engine's own message; what a person
 * may do about it is told once (demur_driver_fail). Places of parameters are 1-based, of columns
 * 0-based. Statements are written in what every engine understands: ? and ?1 for parameters,
 * "user" in quotes, ON CONFLICT, whole numbers for flags, IS NOT DISTINCT FROM where NULL equals NULL,
 * NULLS FIRST where it decides an order, RETURNING behind an INSERT whose number is asked for
 * (demur_store_inserted_id); what they can't share stands in DemurDialect. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a column holds: the numbers are sealed (store/seal.c), and never change. */
typedef enum {
  DEMUR_COLUMN_INTEGER = 1,
  DEMUR_COLUMN_FLOAT = 2,
  DEMUR_COLUMN_TEXT = 3,
  DEMUR_COLUMN_BLOB = 4,
  DEMUR_COLUMN_NULL = 5,
} DemurColumnType;

/* Why the last call failed. */
typedef enum {
  DEMUR_FAULT_OTHER,
  DEMUR_FAULT_LOCKED,  /* another program holds the lock for longer than is waited for */
  DEMUR_FAULT_FULL,    /* no room */
  DEMUR_FAULT_MEMORY,  /* the server has no memory left for it */
  DEMUR_FAULT_RIGHTS,  /* it may not be read or written */
  DEMUR_FAULT_DAMAGED, /* what is there is no database any more */
  DEMUR_FAULT_DISK,    /* it can't be read or written */
  DEMUR_FAULT_AWAY,    /* the server went away while there was a line to it */
  DEMUR_FAULT_NO_LINE, /* there never was a line: no such server, database or user, or it is away */
  DEMUR_FAULT_PASSWORD,    /* likewise: the server did not let the user in, who gave a password */
  DEMUR_FAULT_NO_PASSWORD, /* likewise: it asks for one, and there is none */
  DEMUR_FAULT_REFUSED,     /* the server doesn't let this user do it */
  DEMUR_FAULT_OLD,         /* the schema is older, and there is no way from it to this one */
  DEMUR_FAULT_TAKEN, /* what the message names stands where the tables would, and no program of this kind made it */
  DEMUR_FAULT_TEXT, /* a text that the engine can't keep, no UTF-8: the message names it */
  DEMUR_N_FAULTS
} DemurFault;

typedef enum { DEMUR_STEP_ROW, DEMUR_STEP_DONE, DEMUR_STEP_FAILED } DemurStep;

typedef enum {
  DEMUR_LOCK_READ,  /* one view of what is there, whoever writes meanwhile */
  DEMUR_LOCK_WRITE, /* the only writer until the end, waited for as wait says */
} DemurLock;

/* Statements that engines can't share. */
typedef enum {
  DEMUR_DIALECT_INTEGRITY,    /* a row for each fault of the database itself, or one that says ok */
  DEMUR_DIALECT_FOREIGN_KEYS, /* a row for each row whose reference leads nowhere */
  DEMUR_DIALECT_OUTCOME,      /* the outcome in the document of the selector of a name */
  /* The last number that the engine gave in a table (1: its name, 2: its key's); none or 0: not known. */
  DEMUR_DIALECT_LAST_NUMBER,
  DEMUR_DIALECT_SET_LAST_NUMBER, /* likewise; 3: the number, behind which it goes on */
  /* Who else has which scan open: mark, user; and that this line has one (1: its mark), or no more. NULL: it
   * knows nobody (store/changes.h). */
  DEMUR_DIALECT_OPENED,
  DEMUR_DIALECT_OPEN,
  DEMUR_DIALECT_CLOSE,
  /* Counts what the tables hold, by which an engine plans its queries, where much was written at once and that would be
   * done later. NULL: there is no such thing. */
  DEMUR_DIALECT_COUNT_ROWS,
  DEMUR_N_DIALECTS
} DemurDialect;

typedef struct DemurDriver DemurDriver;

/* Both begin what a driver keeps of its own. */
typedef struct {
  const DemurDriver *driver;
} DemurConnection;

typedef struct {
  const DemurDriver *driver;
} DemurStatement;

typedef enum {
  DEMUR_WAIT_LOCK, /* another program holds the writers' lock */
  DEMUR_WAIT_ANSWER, /* a server has not answered: it is slow, somebody locks a table there, or it hangs */
} DemurWait;

/* Asked each time that what is waited for is not there, n_asked times before: FALSE gives up. A
 * driver asks every DEMUR_WAIT_STEP_MS; one whose engine keeps a queue of writers stays in it meanwhile. */
typedef gboolean (*DemurWaitFunc)(DemurWait what, guint n_asked, gpointer data);
#define DEMUR_WAIT_STEP_MS 50

typedef struct {
  gboolean written; /* another connection has written */
  gboolean opened;  /* another says what it has open */
  gboolean
      is_another; /* what stands there is not what this connection has open, or only a new one sees it as it is */
} DemurNews;

struct DemurDriver {
  /* Opens what stands at path, or makes an empty one there where create allows it; the schema may be of
   * an older number, or none (version). NULL with the errors of demur_workspace_open. wait and data are
   * borrowed until close. */
  DemurConnection *(*open)(const char *path, gboolean create, gboolean read_only,
                           DemurWaitFunc wait, gpointer data, GError **error);
  void (*close)(DemurConnection *connection);

  /* The last failure of the connection; the text is borrowed until the next call. */
  DemurFault (*fault)(DemurConnection *connection, const char **message);

  /* The number of the schema; 0: none yet. FALSE: failed. */
  gboolean (*version)(DemurConnection *connection, gint64 *version);
  /* Brings the tables from one number to this program's, in the open transaction; set_version says so
   * once what stands in them is brought up too. */
  gboolean (*upgrade)(DemurConnection *connection, gint64 from);
  gboolean (*set_version)(DemurConnection *connection, gint64 version);
  /* Several statements of which nothing is asked, without parameters. */
  gboolean (*run_script)(DemurConnection *connection, const char *sql);
  /* Until the open transaction ends rows come as they are, those of the log too: a copy. */
  gboolean (*take_as_is)(DemurConnection *connection);
  /* As whom the engine knows who works, and how it calls the database (borrowed); NULL: it knows neither. */
  const char *(*user)(DemurConnection *connection);
  const char *(*database)(DemurConnection *connection);
  /* name -> definition of all that the schema holds, as it stands and as this program makes it; both
   * own their texts. */
  gboolean (*schema)(DemurConnection *connection, GHashTable *here, GHashTable *right);

  /* Transactions. depth 0 is the outermost; deeper ones are savepoints of that one. A rollback of what
   * the engine has rolled back by itself does nothing. */
  gboolean (*begin)(DemurConnection *connection, guint depth, DemurLock lock);
  gboolean (*commit)(DemurConnection *connection, guint depth);
  void (*rollback)(DemurConnection *connection, guint depth);
  void (*end_read)(DemurConnection *connection); /* of a begin for reading at depth 0 */

  /* sql outlives the connection; NULL: failed. */
  DemurStatement *(*prepare)(DemurConnection *connection, const char *sql);
  void (*finalize)(DemurStatement *statement);
  void (*reset)(DemurStatement *statement); /* bindings stay */
  void (*clear)(DemurStatement *statement); /* bindings are NULL */

  /* Texts and blobs are borrowed until the step is done; NULL and NaN are bound as
   * NULL, -0 as 0. */
  int (*n_parameters)(const DemurStatement *statement);
  void (*bind_text)(DemurStatement *statement, int at, const char *text);
  void (*bind_double)(DemurStatement *statement, int at, double value);
  void (*bind_int)(DemurStatement *statement, int at, gint64 value);
  void (*bind_blob)(DemurStatement *statement, int at, gconstpointer bytes, gsize n_bytes);

  DemurStep (*step)(DemurStatement *statement);
  /* Runs a statement that writes and whose rows nobody asks for, now or, in a transaction, before the
   * next that is not put off: FALSE, or a failure of that one or of commit, tells that it failed. What
   * is bound is not needed any more. */
  gboolean (*run_later)(DemurStatement *statement);
  int (*n_columns)(const DemurStatement *statement);
  const char *(*column_name)(DemurStatement *statement, int at);
  DemurColumnType (*column_type)(DemurStatement *statement, int at);
  gint64 (*column_int)(DemurStatement *statement, int at);    /* 0 of NULL */
  double (*column_double)(DemurStatement *statement, int at); /* 0 of NULL */
  /* Borrowed until the next step or reset; NULL of NULL. */
  const char *(*column_text)(DemurStatement *statement, int at);
  /* Bytes of a text or a blob, digits of a whole number; likewise. */
  gconstpointer (*column_bytes)(DemurStatement *statement, int at, gsize *n_bytes);

  /* From listen on, wait_change waits until there is news, something can be read from the descriptor wake (-1:
   * none), or timeout_ms is over; it must not be in a transaction. A connection that listens is never made anew by
   * itself: the new one would be told nothing. FALSE: failed, or the line is lost. */
  gboolean (*listen)(DemurConnection *connection);
  gboolean (*wait_change)(DemurConnection *connection, guint timeout_ms, int wake, DemurNews *news);

  gint64 (*n_changed)(DemurConnection *connection); /* rows of the last statement that writes */

  /* The bytes [n_bytes] of a cohort's chunk, by its row, straight to where they belong. */
  gboolean (*read_chunk)(DemurConnection *connection, gint64 row, void *bytes, gsize n_bytes);
  /* The document of a selector, by its row, with a NUL behind it; likewise. To be freed by g_aligned_free; NULL: failed. */
  char *(*read_document)(DemurConnection *connection, gint64 row, gsize *length);
  /* All of another connection of this driver, as one transaction. */
  gboolean (*replace)(DemurConnection *to, DemurConnection *from);

  const char *dialect[DEMUR_N_DIALECTS];
  /* Those that are NULL in dialect, written by the driver: always the same text, never freed. */
  const char *(*make_dialect)(DemurDialect what);
};

/* Functions, not data: what an engine's library takes to load, a program pays that asks for the engine
 * (app/late/late.h), and no other. */
const DemurDriver *demur_driver_sqlite(void);
const DemurDriver *demur_driver_postgres(void);

/* The driver of what a workspace's path names: a server's address (demur_workspace_is_server) or a file. */
const DemurDriver *demur_driver_of(const char *path);

/* What of `here` is none of `right` (DemurDriver.schema): a table where there is one, else the first by name (owned);
 * NULL: nothing. */
char *demur_driver_foreign(GHashTable *here, GHashTable *right);

/* That it stands in path and was left there: always FALSE, DEMUR_ERROR_EXISTS. */
gboolean demur_driver_refuse_foreign(const char *path, const char *name, GError **error);

/* The connection's last failure in words, with what to do: "workspace PATH: DOING: .."; always FALSE
 * with DEMUR_ERROR_STORE, DEMUR_ERROR_EXISTS of what is not this program's, or DEMUR_ERROR_AWAY of a server that there is no line to. What a server said stands in the
 * error's details. */
gboolean demur_driver_fail(DemurConnection *connection, const char *path, const char *doing,
                           GError **error);

G_END_DECLS
