/* Attribute columns of another table, joined by key: a hash table of the keys, one pass over the
 * rows. Memory: the new columns, one code for each (row of the table, column). */
#include <string.h>

#include "base/memory.h"
#include "cohort/import.h"
#include "cohort/columns.h"
#include "cohort/ids.h"
#include "cohort/table-header.h"

#define ROWS_A_STEP 8192

typedef struct {
  size_t column; /* in the table */
  DemurIntern texts;
  GArray *codes; /* guint32, by key code */
} Taken;

void
demur_attached_free(DemurAttached *attached) {
  if (attached == NULL)
    return;
  for (size_t a = 0; a < attached->n_attributes; a++) {
    DemurAttribute *attribute = &attached->attributes[a];
    for (size_t v = 0; v < attribute->n_values; v++)
      g_free(attribute->values[v]);
    g_free(attribute->values);
    g_aligned_free(attribute->codes);
    g_free(attribute->name);
  }
  g_free(attached->attributes);
  g_clear_pointer(&attached->warnings, g_ptr_array_unref);
  g_free(attached);
}

static void
taken_clear(gpointer data) {
  Taken *taken = data;
  demur_intern_clear(&taken->texts);
  g_array_unref(taken->codes);
}

static void
take(GArray *taken, size_t column) {
  Taken t = {.column = column};
  demur_intern_init(&t.texts, NULL);
  t.codes = g_array_new(FALSE, FALSE, sizeof(guint32));
  g_array_append_val(taken, t);
}

/* The columns to attach: those named, or all that are not the cohort's own. */
static gboolean
choose(GArray *taken, const DemurTableHeader *header, char **columns, const char *table_name,
       GError **error) {
  if (columns == NULL) {
    for (guint o = 0; o < header->others->len; o++) {
      const size_t c = g_array_index(header->others, size_t, o);
      if (!demur_cohort_column_is_own(header->names[c]))
        take(taken, c);
    }
  }
  for (size_t i = 0; columns != NULL && columns[i] != NULL; i++) {
    size_t c = 0;
    while (c < header->n_columns && strcmp(header->names[c], columns[i]) != 0)
      c++;
    if (c == header->n_columns || demur_cohort_column_is_own(columns[i])) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  c == header->n_columns
                      ? "%s: line 1, column 1: no column %s; the names are in its first line"
                      : "%s: line 1, column 1: column %s is the cohort's own and can't be attached",
                  table_name, columns[i]);
      return FALSE;
    }
    for (guint t = 0; t < taken->len; t++)
      if (g_array_index(taken, Taken, t).column == c) {
        g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "column %s is asked for twice",
                    columns[i]);
        return FALSE;
      }
    take(taken, c);
  }
  if (taken->len == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s: line 1, column 1: no column to attach; expected attributes beside the key",
                table_name);
    return FALSE;
  }
  return TRUE;
}

DemurAttached *
demur_cohort_attach_table(DemurCohort *cohort, const char *path, const char *key, char **columns,
                          const DemurProgress *progress, GError **error) {
  char **key_texts = cohort->scan_ids; /* of a scan: key_texts[key_codes[i]] */
  const guint32 *key_codes = NULL;
  if (strcmp(key, "patient_id") == 0) {
    key_texts = cohort->patient_ids;
    key_codes = cohort->patients;
  } else if (strcmp(key, "site") == 0) {
    key_texts = cohort->site_names;
    key_codes = cohort->sites;
  } else if (strcmp(key, "scan_id") != 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE,
                "key %s is not known; expected patient_id, scan_id or site", key);
    return NULL;
  }
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  if (table == NULL)
    return NULL;
  const char *table_name = demur_table_name(table);
  gssize key_column;
  const DemurNamedColumn named[] = {{key, NULL, &key_column, TRUE}};
  const DemurHeaderPlan plan = {.named = named, .n_named = 1, .expected = key};
  g_auto(DemurTableHeader) header = {0};
  g_auto(DemurTableFaults) faults = {0};
  demur_table_faults_init(&faults, table);
  g_autoptr(GArray) taken = g_array_new(FALSE, FALSE, sizeof(Taken));
  g_array_set_clear_func(taken, taken_clear);
  if (!demur_table_header_read(&header, table, &plan, NULL, error) ||
      !choose(taken, &header, columns, table_name, error))
    return NULL;

  DemurIds keys;
  demur_ids_init(&keys, key, NULL);
  g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(size_t)); /* by key code */
  gboolean ok = TRUE;
  for (size_t n_read = 0; ok; n_read++) {
    const DemurTableField *fields;
    ok = (n_read % ROWS_A_STEP != 0 || demur_progress_step(progress, demur_table_fraction(table),
                                                           "reading attributes", error)) &&
         demur_table_header_next(&header, table, &faults, &fields, error);
    if (!ok || fields == NULL)
      break;
    gboolean is_new;
    guint32 like;
    const DemurTableField *k = &fields[key_column];
    const guint32 code = demur_ids_add(&keys, k, &is_new, &like);
    if (is_new)
      g_array_append_val(lines, k->line);
    for (guint t = 0; t < taken->len; t++) {
      Taken *column = &g_array_index(taken, Taken, t);
      const DemurTableField *field = &fields[column->column];
      const gboolean missing = demur_table_is_missing(field);
      const guint32 text = demur_intern_add(&column->texts, missing ? "" : field->text,
                                            missing ? 0 : field->length, NULL);
      if (is_new)
        g_array_append_val(column->codes, text);
      else if (g_array_index(column->codes, guint32, code) != text)
        demur_table_faults_note(&faults, field, header.names[column->column],
                                "this %s stands in line %zu already with another value; keep one "
                                "of them",
                                key, g_array_index(lines, size_t, code));
    }
  }
  ok = ok && !demur_table_faults_raise(&faults, error);
  if (!ok) {
    demur_ids_clear(&keys);
    return NULL;
  }

  DemurAttached *attached = g_new0(DemurAttached, 1);
  attached->n_attributes = taken->len;
  attached->attributes = g_new0(DemurAttribute, taken->len);
  for (guint t = 0; t < taken->len; t++) {
    attached->attributes[t].name = g_strdup(header.names[g_array_index(taken, Taken, t).column]);
    attached->attributes[t].codes = demur_new_array(guint32, cohort->n_scans);
  }
  g_autofree guint8 *used = g_malloc0(MAX(keys.texts.texts->len, 1));
  for (size_t i = 0; i < cohort->n_scans; i++) {
    guint32 code;
    const gboolean found =
        demur_intern_find(&keys.texts, key_texts[key_codes != NULL ? key_codes[i] : i], &code);
    attached->n_matched += found ? 1 : 0;
    if (found)
      used[code] = 1;
    for (guint t = 0; t < taken->len; t++) {
      Taken *column = &g_array_index(taken, Taken, t);
      attached->attributes[t].codes[i] = found ? g_array_index(column->codes, guint32, code)
                                               : demur_intern_add(&column->texts, "", 0, NULL);
    }
  }
  attached->warnings = demur_table_warnings_new();
  demur_ids_warn(&keys, attached->warnings);
  if (demur_table_n_empty(table) > 0)
    demur_table_warnings_add(attached->warnings, DEMUR_TABLE_EMPTY_ROWS, NULL, NULL, NULL,
                             demur_table_n_empty(table), 0);
  if (demur_table_ends_open(table))
    demur_table_warnings_add(attached->warnings, DEMUR_TABLE_ENDS_OPEN, NULL, NULL, NULL, 1, 0);
  attached->n_unmatched = cohort->n_scans - attached->n_matched;
  for (guint k = 0; k < keys.texts.texts->len; k++)
    attached->n_unused += used[k] == 0;
  for (guint t = 0; t < taken->len; t++) {
    Taken *column = &g_array_index(taken, Taken, t);
    attached->attributes[t].values =
        demur_intern_steal(&column->texts, &attached->attributes[t].n_values);
  }
  demur_ids_clear(&keys);
  return attached;
}
