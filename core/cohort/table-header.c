#include "cohort/table-header.h"

#include <string.h>

#include "cohort/table-text.h"
#include "cohort/table-warnings.h"

void
demur_table_header_clear(DemurTableHeader *header) {
  for (size_t c = 0; c < header->n_columns; c++)
    g_free(header->names[c]);
  g_clear_pointer(&header->names, g_free);
  g_clear_pointer(&header->others, g_array_unref);
  header->n_columns = 0;
}

char *
demur_column_key(const char *name) {
  g_autofree char *wide = g_utf8_normalize(name, -1, G_NORMALIZE_ALL);
  g_autoptr(GString) like = g_string_new(NULL);
  demur_table_id_likeness(wide != NULL ? wide : name, strlen(wide != NULL ? wide : name), like);
  g_autofree char *small = g_utf8_strdown(like->str, -1);
  GString *key = g_string_new(NULL);
  for (const char *p = small; *p != '\0'; p = g_utf8_next_char(p)) {
    const gunichar letter = g_utf8_get_char(p);
    if (g_unichar_isalnum(letter))
      g_string_append_unichar(key, letter);
  }
  size_t digits = key->len;
  while (digits > 0 && g_ascii_isdigit(key->str[digits - 1]))
    digits--;
  size_t zeros = 0;
  while (digits + zeros + 1 < key->len && key->str[digits + zeros] == '0')
    zeros++;
  g_string_erase(key, (gssize)digits, (gssize)zeros);
  return g_string_free(key, FALSE);
}

static gboolean
is_named(const DemurNamedColumn *column, const char *name) {
  return strcmp(name, column->name) == 0 || g_strcmp0(name, column->other) == 0;
}

static gboolean
looks_named(const DemurNamedColumn *column, const char *key) {
  g_autofree char *own = demur_column_key(column->name);
  g_autofree char *other = column->other != NULL ? demur_column_key(column->other) : NULL;
  return strcmp(key, own) == 0 || g_strcmp0(key, other) == 0;
}

/* Says what column c is. */
static gboolean
take(DemurTableHeader *header, const DemurTable *table, const DemurTableField *field, size_t c,
     const DemurHeaderPlan *plan, GError **error) {
  const char *name = header->names[c];
  for (size_t k = 0; k < plan->n_named; k++) {
    const DemurNamedColumn *named = &plan->named[k];
    if (!is_named(named, name))
      continue;
    if (*named->at >= 0)
      return demur_table_fail(table, field, NULL, error,
                              "column %s stands twice; each name may stand once", named->name);
    *named->at = (gssize)c;
    return TRUE;
  }
  gboolean taken = FALSE;
  if (plan->scores != NULL &&
      !demur_score_columns_take(plan->scores, table, field, name, c, &taken, error))
    return FALSE;
  if (!taken)
    g_array_append_val(header->others, c);
  return TRUE;
}

/* The columns that were taken, by their keys. */
static GHashTable *
taken_by_key(const DemurTableHeader *header) {
  GHashTable *taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  guint other = 0;
  for (size_t c = 0; c < header->n_columns; c++) {
    if (other < header->others->len && g_array_index(header->others, size_t, other) == c)
      other++;
    else if (*header->names[c] != '\0')
      g_hash_table_insert(taken, demur_column_key(header->names[c]), header->names[c]);
  }
  return taken;
}

/* Columns that look like a known one: refused where that is absent, told where it is there. */
static gboolean
check_looks(const DemurTableHeader *header, const DemurTable *table, const DemurTableField *fields,
            const DemurHeaderPlan *plan, GPtrArray *warnings, GError **error) {
  g_autoptr(GHashTable) taken = taken_by_key(header);
  for (guint o = 0; o < header->others->len; o++) {
    const size_t c = g_array_index(header->others, size_t, o);
    g_autofree char *key = demur_column_key(header->names[c]);
    g_autofree char *shown = demur_table_visible(header->names[c]);
    const char *absent = NULL;
    for (size_t k = 0; k < plan->n_named && absent == NULL; k++)
      if (*plan->named[k].at < 0 && looks_named(&plan->named[k], key))
        absent = plan->named[k].name;
    if (plan->scores != NULL && demur_score_columns_looks_like_risk(plan->scores, key))
      absent = "risk";
    if (absent != NULL)
      return demur_table_fail(table, &fields[c], NULL, error,
                              "column %s looks like %s; write it so (small letters, no blanks), or "
                              "rename it if it is something else",
                              shown, absent);
    const char *own = g_hash_table_lookup(taken, key);
    if (own != NULL && warnings != NULL)
      demur_table_warnings_add(warnings, DEMUR_TABLE_LIKE_COLUMN, shown, own, NULL, 1, 0);
  }
  return TRUE;
}

/* Whether the line holds one text and nothing else. */
static gboolean
is_title(const DemurTableField *fields, size_t n) {
  for (size_t c = 1; c < n; c++)
    if (fields[c].length > 0)
      return FALSE;
  return TRUE;
}

/* A header that is one column because its names are parted by something else than they should be:
 * that is named. */
static gboolean
check_separator(const DemurTable *table, const DemurTableField *field, GError **error) {
  static const char marks[] = ",;\t|:^~ ";
  if (g_ascii_strncasecmp(field->text, "sep=", 4) == 0)
    return demur_table_fail(table, field, NULL, error,
                            "%s names a separator that is not read; separate the columns by comma, "
                            "semicolon or tab",
                            demur_table_shown(field));
  size_t n[sizeof marks] = {0}, most = 0;
  for (const char *p = field->text; *p != '\0'; p++)
    for (size_t m = 0; m + 1 < sizeof marks; m++)
      n[m] += *p == marks[m];
  for (size_t m = 1; m + 1 < sizeof marks; m++)
    most = n[m] > n[most] ? m : most;
  if (n[most] < 2)
    return TRUE;
  return demur_table_fail(
      table, field, NULL, error,
      "the header is one column: its names seem to be parted by '%c'; separate columns by comma, "
      "semicolon or tab, all lines alike (a line sep= in front names which)",
      marks[most]);
}

/* The column's name on one line, as the map says; NULL where it is left out. */
static char *
map_name(const DemurHeaderPlan *plan, const DemurTableField *field, GPtrArray *warnings) {
  char *name = g_strstrip(g_strdup(field->text));
  g_autoptr(GString) line = g_string_new(NULL);
  if (demur_table_one_line(name, strlen(name), line)) {
    g_free(name);
    name = g_strdup(line->str);
    if (warnings != NULL)
      demur_table_warnings_add(warnings, DEMUR_TABLE_TRIMMED, name, NULL, NULL, 1, 0);
  }
  if (plan->map == NULL)
    return name;
  char *mapped = g_strdup(demur_column_map_find(plan->map, name));
  g_free(name);
  return mapped;
}

gboolean
demur_table_header_read(DemurTableHeader *header, DemurTable *table, const DemurHeaderPlan *plan,
                        GPtrArray *warnings, GError **error) {
  const DemurTableField *fields;
  size_t n;
  if (!demur_table_next(table, &fields, &n, error))
    return FALSE;
  if (n == 0) {
    const DemurTableField start = {.text = "", .line = 1, .column = 1};
    return demur_table_fail(table, &start, NULL, error,
                            "the file is empty; expected a header line with %s", plan->expected);
  }
  if (n == 1 && !check_separator(table, &fields[0], error))
    return FALSE;
  *header = (DemurTableHeader){n, g_new0(char *, n), g_array_new(FALSE, FALSE, sizeof(size_t))};
  for (size_t k = 0; k < plan->n_named; k++)
    *plan->named[k].at = -1;
  if (plan->scores != NULL)
    plan->scores->names = (const char *const *)header->names;
  g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
  for (size_t c = 0; c < n; c++) {
    char *name = map_name(plan, &fields[c], warnings);
    header->names[c] = name != NULL ? name : g_strdup("");
    if (name == NULL)
      continue;
    if (*name == '\0')
      return demur_table_fail(
          table, &fields[c], NULL, error,
          c > 0 && is_title(fields, n)
              ? "only the first column has a name: this looks like a title; the "
                "columns' names stand in the first line"
              : "a column without a name; name it or leave it out (pandas: "
                "to_csv(.., index=False))");
    if (!g_hash_table_add(names, name))
      return demur_table_fail(table, &fields[c], NULL, error,
                              "column %s stands twice; each name may stand once", name);
    if (!take(header, table, &fields[c], c, plan, error))
      return FALSE;
  }
  if (!check_looks(header, table, fields, plan, warnings, error))
    return FALSE;
  for (size_t k = 0; k < plan->n_named; k++)
    if (plan->named[k].needed && *plan->named[k].at < 0)
      return demur_table_fail(
          table, &fields[n - 1], NULL, error,
          "the header has no column %s; add it (columns may stand in any order, names are exact)",
          plan->named[k].name);
  return plan->scores == NULL ||
         demur_score_columns_check(plan->scores, table, &fields[n - 1], plan->horizon, error);
}

gboolean
demur_table_header_next(const DemurTableHeader *header, DemurTable *table, DemurTableFaults *faults,
                        const DemurTableField **fields, GError **error) {
  for (;;) {
    size_t n;
    if (!demur_table_next(table, fields, &n, error))
      return FALSE;
    if (n == 0)
      return TRUE;
    demur_table_faults_next_row(faults);
    if (n == header->n_columns)
      return TRUE;
    demur_table_faults_note(faults, &(*fields)[MIN(n, header->n_columns + 1) - 1], NULL,
                            "the row has %zu fields where the header has %zu; quote fields that "
                            "hold the separator, and fill up short rows",
                            n, header->n_columns);
  }
}
