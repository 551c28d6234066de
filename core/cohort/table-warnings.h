/* What was noticed while a table was read and did not stop it: kinds and counts, kept with the
 * cohort and worded at the edge (words/noticed.h). What must not stay as it is is refused instead
 * (cohort/table-faults.h). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What column, first, second, n and n_all mean; those not named are NULL or 0. */
typedef enum {
  DEMUR_TABLE_TRIMMED,       /* n cells of column: blanks or invisible characters taken away */
  DEMUR_TABLE_COMPOSED,      /* n cells of column brought to composed form (NFC) */
  DEMUR_TABLE_LIKE,          /* n texts of column look like an earlier one; first, second: a pair */
  DEMUR_TABLE_REWRITTEN,     /* n texts of column look rewritten by a spreadsheet; first: one */
  DEMUR_TABLE_ID_MISSING,    /* first, a word for "not recorded", is taken as a text of column */
  DEMUR_TABLE_MISSING_WORDS, /* n cells of column say "not recorded" in a word; first: one */
  DEMUR_TABLE_CODE,          /* n cells of column are first, which may be a code */
  DEMUR_TABLE_OTHER_NUMBERS, /* n cells of column are numbers in another notation; first: one */
  DEMUR_TABLE_FALLING,       /* n of n_all scans: yearly risks fall */
  DEMUR_TABLE_EMPTY_ROWS,    /* n rows without a value passed over */
  DEMUR_TABLE_ENDS_OPEN,     /* the last row has no line end: cut off? */
  DEMUR_TABLE_LIKE_COLUMN,   /* column is kept beside first, which looks like it */
  DEMUR_TABLE_COLUMN_TWICE,  /* column of table first is not kept: the cohort has one */
  DEMUR_TABLE_UNLABELLED,    /* split column: n of n_all scans without label */
  DEMUR_TABLE_BY_ORDER,      /* embeddings of file first joined by row order */
  DEMUR_TABLE_PART_SIMULATED, /* n of n_all rows say that they are simulated */
  DEMUR_TABLE_BARE,           /* no patient_id, scan_id, site and split: every row is a patient */
  DEMUR_TABLE_ONE_SPLIT,      /* no column split: every scan is in split first */
  DEMUR_TABLE_SPLIT_MADE,     /* splits made by column ("patient", "site"); first: how many */
  DEMUR_TABLE_NO_PERSON,      /* n scores without a person or a screen; first: some */
  DEMUR_TABLE_NO_SCORE,       /* n screens without a score; first: some */
  DEMUR_TABLE_WEIGHTS,        /* ipc_weight was added */
  DEMUR_TABLE_NO_IMAGE,       /* n of n_all scans have no row in the table of images */
  DEMUR_TABLE_IMAGES_DIFFER,  /* n of n_all scans: series of one screen that differ */
  DEMUR_TABLE_ONE_SITE,       /* no column column: every person is at site first */
  DEMUR_TABLE_FOLLOWUP_FROM,  /* no fup_days: column stands for it */
  DEMUR_TABLE_FOLLOW_UP,      /* times of outcomes read; n of n_all scans left before the horizon */
  DEMUR_TABLE_FREE_BY_LABEL, /* n of n_all scans: label 0, but followed for less than the horizon */
  DEMUR_TABLE_OWN_COLUMN,    /* column, the cohort's own, is not attached from a table */
  DEMUR_TABLE_LONG_TIMES,    /* n of n_all scans: times of outcomes of over DEMUR_LONG_YEARS */
  DEMUR_TABLE_CONTRARY,      /* n of n_all labels say the contrary of the cohort's; first: a scan */
  DEMUR_TABLE_OVERTURNED,    /* n of n_all labels overturn an earlier one; first: a scan */
  DEMUR_N_TABLE_WARNINGS
} DemurTableWarningKind;

typedef struct {
  DemurTableWarningKind kind;
  char *column, *first, *second;
  size_t n, n_all;
} DemurTableWarning;

void demur_table_warning_free(DemurTableWarning *warning);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurTableWarning, demur_table_warning_free)

/* A list (frees its elements), and an entry at its end; texts are copied. */
GPtrArray *demur_table_warnings_new(void);
DemurTableWarning *demur_table_warnings_add(GPtrArray *warnings, DemurTableWarningKind kind,
                                            const char *column, const char *first,
                                            const char *second, size_t n, size_t n_all);

/* The kind's name in files and the workspace ("missing_words"); -1 for a name that is none. */
const char *demur_table_warning_name(DemurTableWarningKind kind);
int demur_table_warning_find(const char *name);

G_END_DECLS
