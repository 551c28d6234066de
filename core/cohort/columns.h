/* The columns of a cohort, one row each: what is stored of a scan, under which name in the
 * workspace and in a table, and when a cohort has it. Whoever goes through all columns (free,
 * views, digest, import, builder, store, export) goes through this table: a new column is a member
 * of DemurCohort, a row here, and whatever reads it from a file.
 *
 * A cell is one or more numbers of one type, or a text. Coded columns (patient, site, split) hold
 * an index into a list of texts that stands beside them in the cohort. */
#pragma once

#include "cohort/cohort.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_CELL_TEXT,   /* char * */
  DEMUR_CELL_CODE,   /* guint32, index into the column's texts */
  DEMUR_CELL_LABEL,  /* gint32, DEMUR_NO_LABEL where not recorded */
  DEMUR_CELL_DOUBLE, /* double, NaN where not recorded */
  DEMUR_CELL_FLOAT,  /* float */
} DemurCellType;

/* How many numbers a scan has in the column. */
typedef enum {
  DEMUR_CELL_ONE,
  DEMUR_CELL_PER_CLASS,     /* K */
  DEMUR_CELL_PER_YEAR,      /* DEMUR_N_YEARS */
  DEMUR_CELL_PER_DIMENSION, /* d of the embedding */
} DemurCellWidth;

typedef enum {
  DEMUR_COLUMN_ALWAYS,
  DEMUR_COLUMN_TWO_CLASSES,  /* where K = 2 */
  DEMUR_COLUMN_MORE_CLASSES, /* where K > 2 */
  DEMUR_COLUMN_EMBEDDED,     /* where d > 0 */
  DEMUR_COLUMN_OPTIONAL,     /* where any scan has one; NULL otherwise */
} DemurColumnPresence;

typedef struct {
  const char *name;   /* in the workspace; never changed */
  const char *header; /* in a table; where a scan has several numbers, what stands before each */
  int first_number;   /* of the first of several: 0 or 1 */
  DemurCellType type;
  DemurCellWidth width;
  DemurColumnPresence presence;
  gboolean named_in_digest; /* the digest tells by its name whether it is there */
  size_t array;             /* offset in DemurCohort: the array [n_scans][width] */
  size_t texts, n_texts;    /* coded: offsets of the texts and of their number */
  const char *texts_name;   /* coded: the texts' name in the workspace; NULL: kept elsewhere */
} DemurCohortColumn;

/* Rows of the table, in its order. */
typedef enum {
  DEMUR_COHORT_PATIENT,
  DEMUR_COHORT_SCAN,
  DEMUR_COHORT_SITE,
  DEMUR_COHORT_SPLIT,
  DEMUR_COHORT_LABEL,
  DEMUR_COHORT_RISK,
  DEMUR_COHORT_PROBABILITY,
  DEMUR_COHORT_YEARLY_RISK,
  DEMUR_COHORT_TIME,
  DEMUR_COHORT_STATUS,
  DEMUR_COHORT_HORIZON,
  DEMUR_COHORT_EMBEDDING,
  DEMUR_N_COHORT_COLUMNS
} DemurCohortColumnId;

/* In a table, not in the cohort's arrays: yes or no in each row. */
#define DEMUR_COLUMN_SIMULATED "simulated"

extern const DemurCohortColumn demur_cohort_columns[DEMUR_N_COHORT_COLUMNS];

/* Where the cohort keeps the column's array (the address of the pointer), and the array. */
void **demur_cohort_column_place(DemurCohort *cohort, const DemurCohortColumn *column);
const void *demur_cohort_column_data(const DemurCohort *cohort, const DemurCohortColumn *column);

/* Coded columns: where the cohort keeps the texts, and how many there are. */
char ***demur_cohort_column_texts(DemurCohort *cohort, const DemurCohortColumn *column);
size_t *demur_cohort_column_n_texts(DemurCohort *cohort, const DemurCohortColumn *column);

/* Coded columns: the text of a scan (borrowed). */
const char *demur_cohort_column_text(const DemurCohort *cohort, const DemurCohortColumn *column,
                                     size_t row);

/* Numbers of a scan, and their bytes, in a cohort of this K and d. */
size_t demur_cohort_column_width(const DemurCohort *cohort, const DemurCohortColumn *column);
size_t demur_cohort_column_row_bytes(const DemurCohort *cohort, const DemurCohortColumn *column);

/* Whether a cohort of this K and d must have the column. An optional one: FALSE. */
gboolean demur_cohort_column_is_due(const DemurCohort *cohort, const DemurCohortColumn *column);

/* Whether a table's column of this name is one of a cohort's own, and no attribute. */
gboolean demur_cohort_column_is_own(const char *header);

G_END_DECLS
