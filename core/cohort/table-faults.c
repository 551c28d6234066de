#include "cohort/table-faults.h"

#include <string.h>

#include "base/error.h"
#include "cohort/table-text.h"
#include "cohort/table-warnings.h"

#define MAX_TOLD 10

static void
error_free(gpointer error) {
  g_error_free(error);
}

void
demur_table_faults_init(DemurTableFaults *faults, const DemurTable *table) {
  *faults = (DemurTableFaults){.table = table, .told = g_ptr_array_new_with_free_func(error_free)};
}

void
demur_table_faults_clear(DemurTableFaults *faults) {
  g_clear_pointer(&faults->told, g_ptr_array_unref);
}

void
demur_table_faults_next_row(DemurTableFaults *faults) {
  faults->bad = FALSE;
  faults->n_read++;
}

/* What is wrong at a field. */
static GError *
fault_at(const DemurTableField *field, const char *name, const char *format, va_list arguments) {
  GError *fault = demur_error_new_valist(DEMUR_ERROR_INPUT, format, arguments);
  if (name != NULL)
    demur_error_prefix(&fault, "line %zu, column %zu (%s): ", field->line, field->column, name);
  else
    demur_error_prefix(&fault, "line %zu, column %zu: ", field->line, field->column);
  return fault;
}

void
demur_table_faults_note(DemurTableFaults *faults, const DemurTableField *field, const char *name,
                        const char *format, ...) {
  if (faults->bad)
    return;
  faults->bad = TRUE;
  if (faults->n_rows++ >= MAX_TOLD)
    return;
  va_list arguments;
  va_start(arguments, format);
  g_ptr_array_add(faults->told, fault_at(field, name, format, arguments));
  va_end(arguments);
}

void
demur_table_faults_note_number(DemurTableFaults *faults, const DemurTableField *field,
                               const char *name, const char *expected, const char *remedy) {
  const char *why = demur_table_number_fault(field);
  if (why != NULL)
    demur_table_faults_note(faults, field, name, "%s is not %s (%s); %s", demur_table_shown(field),
                            expected, why, remedy);
  else
    demur_table_faults_note(faults, field, name, "%s is not %s; %s", demur_table_shown(field),
                            expected, remedy);
}

static void
warn_of_ends(const DemurTable *table, GPtrArray *warnings) {
  if (demur_table_n_empty(table) > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_EMPTY_ROWS, NULL, NULL, NULL,
                             demur_table_n_empty(table), 0);
  if (demur_table_ends_open(table))
    demur_table_warnings_add(warnings, DEMUR_TABLE_ENDS_OPEN, NULL, NULL, NULL, 1, 0);
}

gboolean
demur_table_faults_end(const DemurTableFaults *faults, GPtrArray *warnings, GError **error) {
  if (faults->n_rows == 0 && faults->n_read > 0) {
    if (warnings != NULL)
      warn_of_ends(faults->table, warnings);
    return TRUE;
  }
  if (faults->n_rows == 0) {
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "%s: line 2, column 1: a header but no row; expected one row a scan, person or entry",
        demur_table_name(faults->table));
    return FALSE;
  }
  GError *all = faults->n_rows == 1
                    ? demur_error_new(DEMUR_ERROR_INPUT, "%s: %zu row refused, nothing imported:",
                                      demur_table_name(faults->table), faults->n_rows)
                    : demur_error_new(DEMUR_ERROR_INPUT, "%s: %zu rows refused, nothing imported:",
                                      demur_table_name(faults->table), faults->n_rows);
  for (guint i = 0; i < faults->told->len; i++) {
    GError *fault = g_error_copy(faults->told->pdata[i]);
    demur_error_prefix(&fault, "\n  ");
    demur_error_append(all, fault);
  }
  if (faults->n_rows > MAX_TOLD)
    demur_error_append(
        all, demur_error_new(DEMUR_ERROR_INPUT, "\n  and %zu more", faults->n_rows - MAX_TOLD));
  g_propagate_error(error, all);
  return FALSE;
}

gboolean
demur_table_fail(const DemurTable *table, const DemurTableField *field, const char *name,
                 GError **error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  GError *fault = fault_at(field, name, format, arguments);
  va_end(arguments);
  demur_error_prefix(&fault, "%s: ", demur_table_name(table));
  g_propagate_error(error, fault);
  return FALSE;
}

const char *
demur_table_shown(const DemurTableField *field) {
  if (field->length == 0)
    return N_("an empty cell");
  if (field->length > 24 || strspn(field->text, "+-.,0123456789eEnaNAifIF") != field->length)
    return N_("this text");
  return field->text;
}
