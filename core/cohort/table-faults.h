/* What is wrong with a table, in one grammar: "FILE: line L, column C (NAME): what; what to do".
 * Faults of the header end the reading at once; those of rows are counted to the end, and the first
 * ten are told. */
#pragma once

#include "cohort/table.h"

G_BEGIN_DECLS

typedef struct {
  const DemurTable *table; /* borrowed */
  GPtrArray *told;         /* of GError: the first ten */
  size_t n_read;           /* rows begun */
  size_t n_rows;           /* that have a fault */
  gboolean bad;            /* the row being read has one */
} DemurTableFaults;

void demur_table_faults_init(DemurTableFaults *faults, const DemurTable *table);
void demur_table_faults_clear(DemurTableFaults *faults);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurTableFaults, demur_table_faults_clear)

/* A new row begins. */
void demur_table_faults_next_row(DemurTableFaults *faults);

/* Takes down a fault of the row; its first one counts, the others are passed over. name: of the
 * column, NULL where the fault is of the row. */
void demur_table_faults_note(DemurTableFaults *faults, const DemurTableField *field,
                             const char *name, const char *format, ...) G_GNUC_PRINTF(4, 5);

/* The same for a field that is not such a number: "0,5 is not a finite number (a decimal comma); give
 * .."; expected, what stands behind "is not", and remedy are marked with N_. */
void demur_table_faults_note_number(DemurTableFaults *faults, const DemurTableField *field,
                                    const char *name, const char *expected, const char *remedy);

/* The last row was read: FALSE with DEMUR_ERROR_INPUT where any was faulty, or where there was none;
 * else what was noticed of the table as a whole (rows without a value, a last row that may be cut
 * off) is added to warnings (of DemurTableWarning; may be NULL). */
gboolean demur_table_faults_end(const DemurTableFaults *faults, GPtrArray *warnings,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* FALSE with DEMUR_ERROR_INPUT at the field. name may be NULL. */
gboolean demur_table_fail(const DemurTable *table, const DemurTableField *field, const char *name,
                          GError **error, const char *format, ...) G_GNUC_PRINTF(5, 6);

/* A field for a message: only what looks like a number is shown, since a shifted column may hold a
 * name. */
const char *demur_table_shown(const DemurTableField *field);

G_END_DECLS
