/* Inside the store only: the tables as this program's migrations leave them, column by column, for
 * engines that begin with them (store/driver-postgres.c) and for copies between engines.
 * tests/unit/test-store-schema.c holds them to what the migrations make: names, order (a seal is over
 * SELECT *), types, NOT NULL, keys and references. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_SCHEMA_INTEGER,
  DEMUR_SCHEMA_NUMBERED, /* the table's key, given by the engine, growing */
  DEMUR_SCHEMA_FLOAT,
  DEMUR_SCHEMA_TEXT, /* ordered by its bytes */
  DEMUR_SCHEMA_BLOB,
} DemurSchemaType;

typedef struct {
  const char *name;
  DemurSchemaType type;
  gboolean is_required; /* NOT NULL */
  const char *rules;    /* what else stands behind the type, in SQL; "" */
} DemurSchemaColumn;

#define DEMUR_SCHEMA_MOST_INDICES 4

typedef struct {
  const char *name;
  const DemurSchemaColumn *columns;
  size_t n_columns;
  const char *rules;                              /* of the table, in SQL; "" */
  const char *indices[DEMUR_SCHEMA_MOST_INDICES]; /* "NAME (COLUMNS)", to a NULL */
  guint
      n_of_files; /* indices of the migrations that only an engine with its rows in one piece needs */
  gboolean
      names_user; /* its rows say who wrote them: a server lets nobody name another (the log's it names itself) */
} DemurSchemaTable;

/* In an order in which what a table refers to comes before it. */
extern const DemurSchemaTable demur_schema_tables[];
extern const size_t demur_n_schema_tables;

/* How many of its first columns are the table's key, by which its rows have one order. */
size_t demur_schema_n_keys(const DemurSchemaTable *table);

G_END_DECLS
