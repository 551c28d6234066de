#include "tasks/label-table.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "cohort/table.h"

static void
label_clear(gpointer data) {
  DemurLabel *row = data;
  g_free(row->scan_id);
  g_free(row->patient_id);
}

enum { SCAN_ID, PATIENT_ID, SITE, LABEL, N_COLUMNS };

static gboolean
find_columns(DemurTable *table, const DemurTableField *fields, size_t n, gssize *columns,
             GError **error) {
  static const char *const names[N_COLUMNS] = {"scan_id", "patient_id", "site", "label"};
  for (size_t k = 0; k < N_COLUMNS; k++) {
    columns[k] = -1;
    for (size_t c = 0; c < n; c++) {
      g_autofree char *text = g_strstrip(g_strdup(fields[c].text));
      if (strcmp(text, names[k]) == 0)
        columns[k] = (gssize)c;
    }
    if (columns[k] < 0 && k != PATIENT_ID) {
      g_set_error(
          error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
          "%s: line 1 has no column %s; the table is the one that the plan wrote, with labels "
          "filled in",
          demur_table_name(table), names[k]);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
read_row(DemurTable *table, const DemurTableField *fields, const gssize *columns, GArray *rows,
         char **site_name, GError **error) {
  g_autofree char *label = g_strstrip(g_strdup(fields[columns[LABEL]].text));
  const DemurTableField *site = &fields[columns[SITE]];
  DemurLabel row = {.label = NAN, .line = fields[0].line};
  gint64 number;
  if (*label != '\0') {
    if (!demur_number_parse_int(label, strlen(label), &number) || number < 0 || number > 1) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "%s: line %zu, column %zu (label): '%s' is no label; write 0, 1 or nothing",
                  demur_table_name(table), fields[columns[LABEL]].line,
                  fields[columns[LABEL]].column, label);
      return FALSE;
    }
    row.label = (double)number;
  }
  if (*site_name == NULL)
    *site_name = g_strdup(site->text);
  if (strcmp(*site_name, site->text) != 0) {
    g_set_error(
        error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
        "%s: line %zu, column %zu (site): '%s', but the rows above are of '%s'; one site at a "
        "time",
        demur_table_name(table), site->line, site->column, site->text, *site_name);
    return FALSE;
  }
  row.scan_id = g_strdup(fields[columns[SCAN_ID]].text);
  if (columns[PATIENT_ID] >= 0)
    row.patient_id = g_strdup(fields[columns[PATIENT_ID]].text);
  g_array_append_val(rows, row);
  return TRUE;
}

GArray *
demur_label_table_read(const char *path, char **site_name, GError **error) {
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  const DemurTableField *fields;
  size_t n, n_header;
  if (table == NULL || !demur_table_next(table, &fields, &n_header, error))
    return NULL;
  gssize columns[N_COLUMNS];
  if (!find_columns(table, fields, n_header, columns, error))
    return NULL;
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(DemurLabel));
  g_array_set_clear_func(rows, label_clear);
  for (;;) {
    if (!demur_table_next(table, &fields, &n, error))
      return NULL;
    if (n == 0)
      break;
    if (n != n_header) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "%s: line %zu has %zu fields, the header %zu", demur_table_name(table),
                  fields[0].line, n, n_header);
      return NULL;
    }
    if (!read_row(table, fields, columns, rows, site_name, error))
      return NULL;
  }
  if (rows->len == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "%s: there is no row below the header",
                demur_table_name(table));
    return NULL;
  }
  return g_steal_pointer(&rows);
}
