#include "tasks/label-table.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "cohort/table-header.h"
#include "cohort/table-text.h"

static void
label_clear(gpointer data) {
  DemurLabel *row = data;
  g_free(row->scan_id);
  g_free(row->patient_id);
  g_free(row->site);
}

typedef struct {
  DemurTableHeader header;
  gssize scan_id, patient_id, site, label; /* -1: absent */
  DemurTableFaults faults;
  GString *scratch;
} Reader;

/* An identifier without blanks at its ends (owned). */
static char *
clean_id(Reader *reader, const DemurTableField *field) {
  size_t length;
  DemurIdChanges changes;
  return g_strdup(demur_table_id(field, reader->scratch, &length, &changes));
}

static double
read_label(Reader *reader, const DemurTableField *field) {
  gint64 number;
  if (demur_table_is_missing(field))
    return NAN;
  if (demur_number_parse_int(field->text, field->length, &number) && number >= 0 && number <= 1)
    return (double)number;
  demur_table_faults_note(&reader->faults, field, "label", "%s is no label; write 0, 1 or nothing",
                          demur_table_shown(field));
  return NAN;
}

/* site_name NULL: rows may be of any sites. */
static void
read_row(Reader *reader, const DemurTableField *fields, GArray *rows, char **site_name) {
  const DemurTableField *scan = &fields[reader->scan_id], *site = &fields[reader->site];
  DemurLabel row = {.label = read_label(reader, &fields[reader->label]), .line = fields[0].line};
  row.site = clean_id(reader, site);
  if (site_name != NULL && *site_name == NULL)
    *site_name = g_strdup(row.site);
  if (site_name != NULL && strcmp(*site_name, row.site) != 0)
    demur_table_faults_note(&reader->faults, site, "site",
                            "'%s', but the rows above are of '%s'; one site at a time", row.site,
                            *site_name);
  row.scan_id = clean_id(reader, scan);
  if (*row.scan_id == '\0')
    demur_table_faults_note(&reader->faults, scan, "scan_id",
                            "nothing stands here; every row needs its scan");
  if (reader->patient_id >= 0)
    row.patient_id = clean_id(reader, &fields[reader->patient_id]);
  g_array_append_val(rows, row);
}

static gboolean
read_rows(Reader *reader, DemurTable *table, GArray *rows, char **site_name, GError **error) {
  const DemurNamedColumn named[] = {{"scan_id", NULL, &reader->scan_id, TRUE},
                                    {"patient_id", NULL, &reader->patient_id, FALSE},
                                    {"site", NULL, &reader->site, TRUE},
                                    {"label", NULL, &reader->label, TRUE}};
  const DemurHeaderPlan plan = {.named = named,
                                .n_named = G_N_ELEMENTS(named),
                                .expected = "scan_id, site, label, as the plan wrote it"};
  if (!demur_table_header_read(&reader->header, table, &plan, NULL, error))
    return FALSE;
  for (;;) {
    const DemurTableField *fields;
    if (!demur_table_header_next(&reader->header, table, &reader->faults, &fields, error))
      return FALSE;
    if (fields == NULL)
      break;
    read_row(reader, fields, rows, site_name);
  }
  if (demur_table_faults_raise(&reader->faults, error))
    return FALSE;
  if (rows->len > 0)
    return TRUE;
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT,
              "%s: line 2, column 1: a header but no row; expected one row a scan",
              demur_table_name(table));
  return FALSE;
}

static GArray *
labels_new(void) {
  GArray *rows = g_array_new(FALSE, FALSE, sizeof(DemurLabel));
  g_array_set_clear_func(rows, label_clear);
  return rows;
}

static GArray *
read_all(const char *path, char **site_name, GError **error) {
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  if (table == NULL)
    return NULL;
  g_autoptr(GArray) rows = labels_new();
  Reader reader = {.scratch = g_string_new(NULL)};
  demur_table_faults_init(&reader.faults, table);
  const gboolean ok = read_rows(&reader, table, rows, site_name, error);
  demur_table_header_clear(&reader.header);
  demur_table_faults_clear(&reader.faults);
  g_string_free(reader.scratch, TRUE);
  return ok ? g_steal_pointer(&rows) : NULL;
}

GArray *
demur_label_table_read(const char *path, char **site_name, GError **error) {
  return read_all(path, site_name, error);
}

static void
unref_rows(gpointer rows) {
  g_array_unref(rows);
}

GPtrArray *
demur_label_table_read_sites(const char *path, GError **error) {
  g_autoptr(GArray) rows = read_all(path, NULL, error);
  if (rows == NULL)
    return NULL;
  GPtrArray *sites = g_ptr_array_new_with_free_func(unref_rows);
  g_autoptr(GHashTable) by_name = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < rows->len; i++) {
    DemurLabel *row = &g_array_index(rows, DemurLabel, i);
    GArray *of_site = g_hash_table_lookup(by_name, row->site);
    if (of_site == NULL) {
      of_site = labels_new();
      g_ptr_array_add(sites, of_site);
      g_hash_table_insert(by_name, row->site, of_site);
    }
    g_array_append_val(of_site, *row);
  }
  g_array_set_clear_func(rows, NULL); /* the rows are the sites' now */
  return sites;
}
