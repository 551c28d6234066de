/* Attribute columns of another table, joined by key: a hash table of the keys, one pass over the
 * rows. Memory: the new columns, one code for each (row of the table, column). */
#include <string.h>

#include "base/memory.h"
#include "cohort/import.h"
#include "cohort/intern.h"
#include "cohort/table.h"

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
  g_free(attached);
}

static void
taken_clear(gpointer data) {
  Taken *taken = data;
  demur_intern_clear(&taken->texts);
  g_array_unref(taken->codes);
}

/* Columns that the cohort's own arrays hold are no attributes. */
static gboolean
is_own_column(const char *name) {
  static const char *const own[] = {"patient_id", "scan_id", "site",     "split",
                                    "label",      "risk",    "simulated"};
  for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
    if (strcmp(name, own[i]) == 0)
      return TRUE;
  return g_str_has_prefix(name, "emb_") || g_str_has_prefix(name, "prob_") ||
         g_str_has_prefix(name, "risk_year_");
}

static gssize
find_field(const DemurTableField *fields, size_t n, const char *name) {
  for (size_t c = 0; c < n; c++) {
    g_autofree char *text = g_strstrip(g_strdup(fields[c].text));
    if (strcmp(text, name) == 0)
      return (gssize)c;
  }
  return -1;
}

static gboolean
take(GArray *taken, GPtrArray *names, const DemurTableField *field, size_t column,
     const char *table_name, GError **error) {
  char *name = g_strstrip(g_strdup(field->text));
  for (guint i = 0; i < names->len; i++)
    if (strcmp(names->pdata[i], name) == 0 || *name == '\0') {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "%s: line %zu, column %zu: a second column %s; each name may stand once",
                  table_name, field->line, field->column, name);
      g_free(name);
      return FALSE;
    }
  g_ptr_array_add(names, name);
  Taken t = {.column = column};
  demur_intern_init(&t.texts, NULL);
  t.codes = g_array_new(FALSE, FALSE, sizeof(guint32));
  g_array_append_val(taken, t);
  return TRUE;
}

static gboolean
choose(GArray *taken, GPtrArray *names, const DemurTableField *fields, size_t n, size_t key_column,
       char **columns, const char *table_name, GError **error) {
  if (columns == NULL) {
    for (size_t c = 0; c < n; c++) {
      g_autofree char *name = g_strstrip(g_strdup(fields[c].text));
      if (c != key_column && !is_own_column(name) &&
          !take(taken, names, &fields[c], c, table_name, error))
        return FALSE;
    }
  } else {
    for (size_t i = 0; columns[i] != NULL; i++) {
      const gssize c = find_field(fields, n, columns[i]);
      if (c < 0 || is_own_column(columns[i])) {
        g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                    c < 0 ? "%s: line 1: no column %s; the names are in its first line"
                          : "%s: line 1: column %s is the cohort's own and can't be attached",
                    table_name, columns[i]);
        return FALSE;
      }
      if (!take(taken, names, &fields[c], (size_t)c, table_name, error))
        return FALSE;
    }
  }
  if (taken->len == 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s: line 1: no column to attach; expected attributes beside the key", table_name);
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
  const DemurTableField *fields;
  size_t n_columns;
  if (!demur_table_next(table, &fields, &n_columns, error))
    return NULL;
  const gssize key_column = find_field(fields, n_columns, key);
  if (key_column < 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                "%s: line 1, column 1: no column %s, which the rows are joined by", table_name,
                key);
    return NULL;
  }
  g_autoptr(GArray) taken = g_array_new(FALSE, FALSE, sizeof(Taken));
  g_array_set_clear_func(taken, taken_clear);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  if (!choose(taken, names, fields, n_columns, (size_t)key_column, columns, table_name, error))
    return NULL;

  DemurIntern keys;
  demur_intern_init(&keys, NULL);
  g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(size_t)); /* by key code */
  g_autofree guint32 *row_codes = g_new(guint32, taken->len);
  gboolean ok = TRUE;
  for (size_t n_read = 0; ok; n_read++) {
    size_t n_fields;
    ok = (n_read % ROWS_A_STEP != 0 || demur_progress_step(progress, demur_table_fraction(table),
                                                           "reading attributes", error)) &&
         demur_table_next(table, &fields, &n_fields, error);
    if (!ok || n_fields == 0)
      break;
    if (n_fields != n_columns) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                  "%s: line %zu, column %zu: the row has %zu fields where the header has %zu",
                  table_name, fields[n_fields - 1].line, fields[n_fields - 1].column, n_fields,
                  n_columns);
      ok = FALSE;
      break;
    }
    gboolean is_new;
    const DemurTableField *k = &fields[key_column];
    const guint32 code = demur_intern_add(&keys, k->text, k->length, &is_new);
    if (is_new)
      g_array_append_val(lines, k->line);
    for (guint t = 0; t < taken->len && ok; t++) {
      Taken *column = &g_array_index(taken, Taken, t);
      const DemurTableField *field = &fields[column->column];
      row_codes[t] = demur_intern_add(&column->texts, field->text, field->length, NULL);
      if (is_new) {
        g_array_append_val(column->codes, row_codes[t]);
      } else if (g_array_index(column->codes, guint32, code) != row_codes[t]) {
        g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
                    "%s: line %zu, column %zu (%s): this %s stands in line %zu already with "
                    "another value; keep one of them",
                    table_name, field->line, field->column, (char *)names->pdata[t], key,
                    g_array_index(lines, size_t, code));
        ok = FALSE;
      }
    }
  }
  if (!ok) {
    demur_intern_clear(&keys);
    return NULL;
  }

  DemurAttached *attached = g_new0(DemurAttached, 1);
  attached->n_attributes = taken->len;
  attached->attributes = g_new0(DemurAttribute, taken->len);
  for (guint t = 0; t < taken->len; t++) {
    attached->attributes[t].name = g_steal_pointer(&names->pdata[t]);
    attached->attributes[t].codes = demur_new_array(guint32, cohort->n_scans);
  }
  g_autofree guint8 *used = g_malloc0(MAX(keys.texts->len, 1));
  for (size_t i = 0; i < cohort->n_scans; i++) {
    gpointer code;
    const gboolean found = g_hash_table_lookup_extended(
        keys.codes, key_texts[key_codes != NULL ? key_codes[i] : i], NULL, &code);
    attached->n_matched += found ? 1 : 0;
    if (found)
      used[GPOINTER_TO_UINT(code)] = 1;
    for (guint t = 0; t < taken->len; t++) {
      Taken *column = &g_array_index(taken, Taken, t);
      attached->attributes[t].codes[i] =
          found ? g_array_index(column->codes, guint32, GPOINTER_TO_UINT(code))
                : demur_intern_add(&column->texts, "", 0, NULL);
    }
  }
  attached->n_unmatched = cohort->n_scans - attached->n_matched;
  for (guint k = 0; k < keys.texts->len; k++)
    attached->n_unused += used[k] == 0;
  for (guint t = 0; t < taken->len; t++) {
    Taken *column = &g_array_index(taken, Taken, t);
    attached->attributes[t].values =
        demur_intern_steal(&column->texts, &attached->attributes[t].n_values);
  }
  demur_intern_clear(&keys);
  return attached;
}
