/* Attribute columns of another table, joined by key: a hash table of the keys, one pass over the
 * rows. Memory: the new columns, one code for each (row of the table, column). */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cohort/import.h"
#include "cohort/attribute-codes.h"
#include "cohort/columns.h"
#include "cohort/ids.h"
#include "cohort/table-header.h"
#include "cohort/table-text.h"

#define ROWS_A_STEP 8192

typedef struct {
  size_t column; /* in the table */
  DemurIntern texts;
  DemurCellsNoticed missing;
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

/* Tells once of each of the cohort's own columns (once of all emb_ .., of all risk_year_ ..) that the
 * table has too, and that stays as it is. */
static void
notice_own(const DemurTableHeader *header, size_t column, GPtrArray *noticed) {
  const char *name = header->names[column];
  const size_t known = strcspn(name, "0123456789");
  for (guint w = 0; w < noticed->len; w++) {
    const DemurTableWarning *earlier = noticed->pdata[w];
    if (earlier->kind == DEMUR_TABLE_OWN_COLUMN &&
        strcspn(earlier->column, "0123456789") == known &&
        strncmp(earlier->column, name, known) == 0)
      return;
  }
  demur_table_warnings_add(noticed, DEMUR_TABLE_OWN_COLUMN, name, NULL, NULL, 1, 0);
}

/* The columns to attach: those named, or all that are not the cohort's own. */
static gboolean
choose(GArray *taken, const DemurTableHeader *header, char **columns, const char *table_name,
       GPtrArray *noticed, GError **error) {
  if (columns == NULL) {
    for (guint o = 0; o < header->others->len; o++) {
      const size_t c = g_array_index(header->others, size_t, o);
      if (!demur_cohort_column_is_own(header->names[c]))
        take(taken, c);
      else
        notice_own(header, c, noticed);
    }
  }
  for (size_t i = 0; columns != NULL && columns[i] != NULL; i++) {
    size_t c = 0;
    while (c < header->n_columns && strcmp(header->names[c], columns[i]) != 0)
      c++;
    if (c == header->n_columns || demur_cohort_column_is_own(columns[i])) {
      demur_error_set(
          error, DEMUR_ERROR_INPUT,
          c == header->n_columns
              ? "%s: line 1, column 1: no column %s; the names are in its first line"
              : "%s: line 1, column 1: column %s is the cohort's own and can't be attached",
          table_name, columns[i]);
      return FALSE;
    }
    for (guint t = 0; t < taken->len; t++)
      if (g_array_index(taken, Taken, t).column == c) {
        demur_error_set(error, DEMUR_ERROR_USAGE, "column %s is asked for twice", columns[i]);
        return FALSE;
      }
    take(taken, c);
  }
  if (taken->len == 0) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "%s: line 1, column 1: no column to attach; expected attributes beside the key",
                    table_name);
    return FALSE;
  }
  return TRUE;
}

/* One reading. */
typedef struct {
  const char *key;
  char **key_texts; /* of a scan: key_texts[key_codes[i]], or key_texts[i] */
  const guint32 *key_codes;
  DemurTable *table;
  DemurTableHeader header;
  gssize key_column;
  DemurTableFaults faults;
  GArray *taken; /* Taken */
  DemurIds keys;
  GArray *lines; /* size_t, by key code */
  GPtrArray *noticed;
  GString *line;
} Attach;

static void
read_row(Attach *a, const DemurTableField *fields) {
  gboolean is_new;
  guint32 like;
  const DemurTableField *key = &fields[a->key_column];
  const guint32 code = demur_ids_add(&a->keys, key, &is_new, &like);
  if (is_new)
    g_array_append_val(a->lines, key->line);
  if (*demur_ids_text(&a->keys, code) == '\0')
    demur_table_faults_note(&a->faults, key, a->key, "nothing stands here; every row needs its %s",
                            a->key);
  for (guint t = 0; t < a->taken->len; t++) {
    Taken *column = &g_array_index(a->taken, Taken, t);
    const DemurTableField *field = &fields[column->column];
    size_t length;
    const char *value = demur_table_value(field, a->line, &length, &column->missing);
    const guint32 text = demur_intern_add(&column->texts, value, length, NULL);
    if (is_new)
      g_array_append_val(column->codes, text);
    else if (g_array_index(column->codes, guint32, code) != text)
      demur_table_faults_note(&a->faults, field, a->header.names[column->column],
                              "this %s stands in line %zu already with another value; keep one "
                              "of them",
                              a->key, g_array_index(a->lines, size_t, code));
  }
}

static gboolean
read_rows(Attach *a, const DemurProgress *progress, GError **error) {
  for (size_t n_read = 0;; n_read++) {
    const DemurTableField *fields;
    if ((n_read % ROWS_A_STEP == 0 && !demur_progress_step(progress, demur_table_fraction(a->table),
                                                           "reading attributes", error)) ||
        !demur_table_header_next(&a->header, a->table, &a->faults, &fields, error))
      return FALSE;
    if (fields == NULL)
      return demur_table_faults_end(&a->faults, a->noticed, error);
    read_row(a, fields);
  }
}

/* Tells of a key of the cohort that the table does not have, but perhaps in another spelling. */
static void
notice_absent(Attach *a, const char *key) {
  gboolean is_new;
  guint32 like;
  const DemurTableField field = {.text = key, .length = strlen(key)};
  demur_ids_add(&a->keys, &field, &is_new, &like);
}

static DemurAttached *
join(Attach *a, size_t n_scans) {
  DemurAttached *attached = g_new0(DemurAttached, 1);
  attached->n_attributes = a->taken->len;
  attached->attributes = g_new0(DemurAttribute, a->taken->len);
  for (guint t = 0; t < a->taken->len; t++) {
    const size_t column = g_array_index(a->taken, Taken, t).column;
    attached->attributes[t].name = g_strdup(a->header.names[column]);
    attached->attributes[t].codes = demur_new_array(guint32, n_scans);
  }
  const guint n_keys = a->keys.texts.texts->len;
  g_autofree guint8 *used = g_malloc0(MAX(n_keys, 1));
  for (size_t i = 0; i < n_scans; i++) {
    guint32 code;
    const char *own = a->key_texts[a->key_codes != NULL ? a->key_codes[i] : i];
    const gboolean found = demur_intern_find(&a->keys.texts, own, &code) && code < n_keys;
    if (found)
      used[code] = 1;
    else
      notice_absent(a, own);
    attached->n_matched += found ? 1 : 0;
    for (guint t = 0; t < a->taken->len; t++) {
      Taken *column = &g_array_index(a->taken, Taken, t);
      attached->attributes[t].codes[i] = found ? g_array_index(column->codes, guint32, code)
                                               : demur_intern_add(&column->texts, "", 0, NULL);
    }
  }
  attached->n_unmatched = n_scans - attached->n_matched;
  for (guint k = 0; k < n_keys; k++)
    attached->n_unused += used[k] == 0;
  attached->warnings = g_ptr_array_ref(a->noticed);
  demur_ids_warn(&a->keys, attached->warnings);
  for (guint t = 0; t < a->taken->len; t++) {
    Taken *column = &g_array_index(a->taken, Taken, t);
    attached->attributes[t].values =
        demur_intern_steal(&column->texts, &attached->attributes[t].n_values);
    demur_cells_noticed_warn(&column->missing, attached->attributes[t].name, attached->warnings);
  }
  demur_attribute_codes_warn(attached->attributes, attached->n_attributes, n_scans,
                             attached->warnings);
  return attached;
}

static gboolean
find_key(Attach *a, const DemurCohort *cohort, GError **error) {
  a->key_texts = cohort->scan_ids;
  if (strcmp(a->key, "patient_id") == 0) {
    a->key_texts = cohort->patient_ids;
    a->key_codes = cohort->patients;
  } else if (strcmp(a->key, "site") == 0) {
    a->key_texts = cohort->site_names;
    a->key_codes = cohort->sites;
  } else if (strcmp(a->key, "scan_id") != 0) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "key %s is not known; expected patient_id, scan_id or site", a->key);
    return FALSE;
  }
  return TRUE;
}

static gboolean
read_header(Attach *a, char **columns, DemurColumnMap *map, GError **error) {
  const DemurNamedColumn named[] = {{a->key, NULL, &a->key_column, TRUE}};
  const DemurHeaderPlan plan = {.named = named, .n_named = 1, .expected = a->key, .map = map};
  return demur_table_header_read(&a->header, a->table, &plan, a->noticed, error) &&
         (map == NULL || demur_column_map_check(map, error)) &&
         choose(a->taken, &a->header, columns, demur_table_name(a->table), a->noticed, error);
}

DemurAttached *
demur_cohort_attach_table(DemurCohort *cohort, const char *path, const char *key, char **columns,
                          DemurColumnMap *map, const DemurProgress *progress, GError **error) {
  g_autoptr(GString) line = g_string_new(NULL);
  Attach a = {.key = key, .line = line};
  g_autoptr(DemurTable) table = find_key(&a, cohort, error) ? demur_table_open(path, error) : NULL;
  if (table == NULL)
    return NULL;
  a.table = table;
  g_autoptr(GArray) taken = a.taken = g_array_new(FALSE, FALSE, sizeof(Taken));
  g_autoptr(GArray) lines = a.lines = g_array_new(FALSE, FALSE, sizeof(size_t));
  g_autoptr(GPtrArray) noticed = a.noticed = demur_table_warnings_new();
  g_array_set_clear_func(taken, taken_clear);
  demur_table_faults_init(&a.faults, table);
  demur_ids_init(&a.keys, key, NULL);
  DemurAttached *attached = read_header(&a, columns, map, error) && read_rows(&a, progress, error)
                                ? join(&a, cohort->n_scans)
                                : NULL;
  demur_table_header_clear(&a.header);
  demur_table_faults_clear(&a.faults);
  demur_ids_clear(&a.keys);
  return attached;
}
