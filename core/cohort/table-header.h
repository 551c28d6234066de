/* The first line of a table: which column is what. Each reader names the columns that it knows; the
 * columns of a model's output are known to all (cohort/score-columns.h). Names are exact; one that
 * differs from a known name only in letters' case, blanks or marks (Patient ID, Site) is refused
 * where the known one is not there, since it would be kept as something else. */
#pragma once

#include "cohort/column-map.h"
#include "cohort/score-columns.h"

G_BEGIN_DECLS

/* A column that a reader knows, by its name or by another that means the same. */
typedef struct {
  const char *name, *other; /* other may be NULL */
  gssize *at;               /* gets its place; -1: absent */
  gboolean needed;          /* the table is refused without it */
} DemurNamedColumn;

/* What a reader looks for. */
typedef struct {
  const DemurNamedColumn *named; /* [n_named] */
  size_t n_named;
  DemurScoreColumns *scores; /* the columns of a model's output, initialised (they keep names of
                              * this header); NULL: their names are like any other */
  int horizon;               /* with scores: years of the risk that must be there, 1 to 6 */
  const char *expected;      /* for an empty file: what its header should hold */
  DemurColumnMap *map;       /* other names for columns; NULL: none */
} DemurHeaderPlan;

typedef struct {
  size_t n_columns;
  char **names;   /* [n_columns], as mapped; "" for one that is left out */
  GArray *others; /* size_t, ascending: places of columns that nobody knows */
} DemurTableHeader;

void demur_table_header_clear(DemurTableHeader *header);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurTableHeader, demur_table_header_clear)

/* Reads it. DEMUR_ERROR_INPUT with line and column of the fault. warnings (of DemurTableWarning;
 * may be NULL): names that look like a known one beside it. */
gboolean demur_table_header_read(DemurTableHeader *header, DemurTable *table,
                                 const DemurHeaderPlan *plan, GPtrArray *warnings,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The next row that is as wide as the header, begun for faults; *fields NULL behind the last one.
 * Rows of another width are noted and passed over. */
gboolean demur_table_header_next(const DemurTableHeader *header, DemurTable *table,
                                 DemurTableFaults *faults, const DemurTableField **fields,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A name without what people vary: letters' case, blanks, marks, zeros in front of the number at
 * its end ("Emb 07" and "emb_7" have one key). Owned. */
char *demur_column_key(const char *name);

G_END_DECLS
