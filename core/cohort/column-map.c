#include "cohort/column-map.h"

#include <string.h>

#include "base/error.h"
#include "cohort/table-header.h"
#include "cohort/table-text.h"

typedef struct {
  char *means; /* NULL: left out */
  size_t line;
  gboolean used;
} Entry;

struct DemurColumnMap {
  char *file;
  GHashTable *entries; /* column -> Entry */
};

static void
entry_free(gpointer data) {
  Entry *entry = data;
  g_free(entry->means);
  g_free(entry);
}

void
demur_column_map_free(DemurColumnMap *map) {
  if (map == NULL)
    return;
  g_hash_table_unref(map->entries);
  g_free(map->file);
  g_free(map);
}

DemurColumnMap *
demur_column_map_new(const char *file) {
  DemurColumnMap *map = g_new0(DemurColumnMap, 1);
  map->file = g_path_get_basename(file);
  map->entries = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, entry_free);
  return map;
}

/* A column's name without blanks of any kind at its ends (owned). */
static char *
clean_name(const DemurTableField *field) {
  g_autoptr(GString) scratch = g_string_new(NULL);
  size_t length;
  DemurIdChanges changes;
  return g_strdup(demur_table_id(field, scratch, &length, &changes));
}

void
demur_column_map_add(DemurColumnMap *map, const char *column, const char *means) {
  const DemurTableField field = {.text = column, .length = strlen(column)};
  Entry *entry = g_new0(Entry, 1);
  entry->line = 1;
  entry->means = g_strdup(means);
  g_hash_table_replace(map->entries, clean_name(&field), entry);
}

static gboolean
read_entries(DemurColumnMap *map, DemurTable *table, GError **error) {
  gssize column, means;
  const DemurNamedColumn named[] = {{"column", NULL, &column, TRUE}, {"means", NULL, &means, TRUE}};
  const DemurHeaderPlan plan = {.named = named, .n_named = 2, .expected = "column, means"};
  g_auto(DemurTableHeader) header = {0};
  g_auto(DemurTableFaults) faults = {0};
  demur_table_faults_init(&faults, table);
  if (!demur_table_header_read(&header, table, &plan, NULL, error))
    return FALSE;
  g_autoptr(GHashTable) meanings = g_hash_table_new(g_str_hash, g_str_equal);
  for (;;) {
    const DemurTableField *fields;
    if (!demur_table_header_next(&header, table, &faults, &fields, error))
      return FALSE;
    if (fields == NULL)
      return demur_table_faults_end(&faults, NULL, error);
    g_autofree char *from = clean_name(&fields[column]), *to = clean_name(&fields[means]);
    if (*from == '\0') {
      demur_table_faults_note(&faults, &fields[column], "column", "nothing stands here; name it");
    } else if (g_hash_table_contains(map->entries, from)) {
      demur_table_faults_note(&faults, &fields[column], "column",
                              "this column stands in an earlier line too; keep one");
    } else {
      Entry *entry = g_new0(Entry, 1);
      entry->line = fields[column].line;
      if (*to != '\0' && strcmp(to, "-") != 0)
        entry->means = g_steal_pointer(&to);
      if (entry->means != NULL && !g_hash_table_add(meanings, entry->means))
        demur_table_faults_note(&faults, &fields[means], "means",
                                "another column means this already; each may stand once");
      g_hash_table_insert(map->entries, g_steal_pointer(&from), entry);
    }
  }
}

DemurColumnMap *
demur_column_map_read(const char *path, GError **error) {
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  if (table == NULL)
    return NULL;
  g_autoptr(DemurColumnMap) map = demur_column_map_new(path);
  return read_entries(map, table, error) ? g_steal_pointer(&map) : NULL;
}

const char *
demur_column_map_find(DemurColumnMap *map, const char *column) {
  const DemurTableField field = {.text = column, .length = strlen(column)};
  g_autofree char *name = clean_name(&field);
  Entry *entry = g_hash_table_lookup(map->entries, name);
  if (entry == NULL)
    return column;
  entry->used = TRUE;
  return entry->means;
}

gboolean
demur_column_map_check(const DemurColumnMap *map, GError **error) {
  GHashTableIter iterator;
  gpointer column, value;
  const Entry *first = NULL;
  const char *name = NULL;
  g_hash_table_iter_init(&iterator, map->entries);
  while (g_hash_table_iter_next(&iterator, &column, &value)) {
    const Entry *entry = value;
    if (entry->used || (first != NULL && first->line < entry->line))
      continue;
    first = entry;
    name = column;
  }
  if (first == NULL)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_INPUT,
      "%s: line %zu, column 1: the table has no column %s; write it as in the table's first "
      "line",
      map->file, first->line, name);
  return FALSE;
}
