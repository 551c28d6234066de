#include "tasks/label-table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/translate.h"
#include "base/number.h"
#include "cohort/table-header.h"
#include "cohort/ids.h"
#include "cohort/table-text.h"

static void
label_clear(gpointer data) {
  DemurLabel *row = data;
  g_free(row->scan_id);
  g_free(row->patient_id);
  g_free(row->site);
  g_free(row->date);
}

typedef struct {
  DemurTableHeader header;
  gssize scan_id, patient_id, site, label, date; /* -1: absent */
  char last_day[9];                              /* that can be today's somewhere: "20260201" */
  gboolean needs_site;
  DemurTableFaults faults;
  DemurIds scans, patients, sites;
  DemurCellsNoticed missing; /* labels */
} Reader;

/* An identifier without blanks at its ends (owned). */
static char *
clean_id(DemurIds *ids, const DemurTableField *field) {
  gboolean is_new;
  guint32 like;
  return g_strdup(demur_ids_text(ids, demur_ids_add(ids, field, &is_new, &like)));
}

static double
read_label(Reader *reader, const DemurTableField *field) {
  double number;
  if (demur_table_count_missing(field, &reader->missing))
    return NAN;
  /* A data frame with missing labels writes 1.0. */
  if (demur_number_parse(field->text, field->length, &number) && (number == 0.0 || number == 1.0))
    return number;
  demur_table_faults_note_number(&reader->faults, field, "label", N_("a label"),
                                 N_("write 0, 1 or nothing"));
  return NAN;
}

/* The digits of a day, "2026-01-31" with or without a time behind it, or "20260131". FALSE: it is none. */
static gboolean
take_day(const char *text, char day[9]) {
  const gboolean dashes = text[0] != '\0' && strlen(text) >= 10 && text[4] == '-' && text[7] == '-';
  if (!dashes && strlen(text) != 8)
    return FALSE;
  for (int i = 0, at = 0; i < 8; i++, at++) {
    at += dashes && (i == 4 || i == 6) ? 1 : 0;
    if (!g_ascii_isdigit(text[at]))
      return FALSE;
    day[i] = text[at];
  }
  day[8] = '\0';
  const int number = atoi(day);
  return (!dashes || text[10] == '\0' || text[10] == 'T' || text[10] == ' ') &&
         g_date_valid_dmy((GDateDay)(number % 100), (GDateMonth)(number / 100 % 100),
                          (GDateYear)(number / 10000));
}

/* The last day that a person may write now: local days begin up to fourteen hours before those of UTC. */
static gboolean
take_last_day(const char *now, char day[9], GError **error) {
  char today[9];
  if (!take_day(now, today)) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "the clock says '%s', which is no day", now);
    return FALSE;
  }
  const int number = atoi(today);
  GDate date;
  g_date_clear(&date, 1);
  g_date_set_dmy(&date, (GDateDay)(number % 100), (GDateMonth)(number / 100 % 100),
                 (GDateYear)(number / 10000));
  g_date_add_days(&date, 1);
  return g_date_strftime(day, 9, "%Y%m%d", &date) == 8;
}

/* NULL where nothing stands there, or what does is noted. */
static char *
read_date(Reader *reader, const DemurTableField *field) {
  g_autofree char *text = g_strstrip(g_strndup(field->text, field->length));
  char day[9];
  if (*text == '\0')
    return NULL;
  if (!take_day(text, day))
    demur_table_faults_note(&reader->faults, field, "date",
                            "'%s' is no day; write one such as 2026-01-31, or nothing", text);
  else if (strcmp(day, reader->last_day) > 0)
    demur_table_faults_note(&reader->faults, field, "date",
                            "'%s' lies in the future: no outcome is known yet", text);
  else
    return g_strdup(day);
  return NULL;
}

/* site_name NULL: rows may be of any sites. */
static void
read_row(Reader *reader, const DemurTableField *fields, GArray *rows, char **site_name) {
  const DemurTableField *scan = &fields[reader->scan_id];
  const DemurTableField *site = reader->site >= 0 ? &fields[reader->site] : NULL;
  DemurLabel row = {.label = read_label(reader, &fields[reader->label]), .line = fields[0].line};
  row.site = site != NULL ? clean_id(&reader->sites, site) : NULL;
  if (site_name != NULL && *site_name == NULL)
    *site_name = g_strdup(row.site);
  if (site_name != NULL && strcmp(*site_name, row.site) != 0)
    demur_table_faults_note(&reader->faults, site, "site",
                            "'%s', but the rows above are of '%s'; one site at a time", row.site,
                            *site_name);
  row.scan_id = clean_id(&reader->scans, scan);
  if (*row.scan_id == '\0')
    demur_table_faults_note(&reader->faults, scan, "scan_id",
                            "nothing stands here; every row needs its scan");
  if (reader->patient_id >= 0)
    row.patient_id = clean_id(&reader->patients, &fields[reader->patient_id]);
  if (reader->date >= 0)
    row.date = read_date(reader, &fields[reader->date]);
  g_array_append_val(rows, row);
}

static gboolean
read_rows(Reader *reader, DemurTable *table, DemurColumnMap *map, GArray *rows, char **site_name,
          GPtrArray *warnings, GError **error) {
  const DemurNamedColumn named[] = {{"scan_id", NULL, &reader->scan_id, TRUE},
                                    {"patient_id", NULL, &reader->patient_id, FALSE},
                                    {"site", NULL, &reader->site, reader->needs_site},
                                    {"label", NULL, &reader->label, TRUE},
                                    {"date", NULL, &reader->date, FALSE}};
  const DemurHeaderPlan plan = {.named = named,
                                .n_named = G_N_ELEMENTS(named),
                                .expected = reader->needs_site
                                                ? "scan_id, site, label, as the plan wrote it"
                                                : "scan_id, label",
                                .map = map};
  if (!demur_table_header_read(&reader->header, table, &plan, warnings, error) ||
      (map != NULL && !demur_column_map_check(map, error)))
    return FALSE;
  for (;;) {
    const DemurTableField *fields;
    if (!demur_table_header_next(&reader->header, table, &reader->faults, &fields, error))
      return FALSE;
    if (fields == NULL)
      break;
    read_row(reader, fields, rows, site_name);
  }
  if (!demur_table_faults_end(&reader->faults, warnings, error))
    return FALSE;
  const DemurIds *ids[] = {&reader->scans, &reader->patients, &reader->sites};
  for (size_t k = 0; warnings != NULL && k < G_N_ELEMENTS(ids); k++)
    demur_ids_warn(ids[k], warnings);
  if (warnings != NULL)
    demur_cells_noticed_warn(&reader->missing, "label", warnings);
  return TRUE;
}

static GArray *
labels_new(void) {
  GArray *rows = g_array_new(FALSE, FALSE, sizeof(DemurLabel));
  g_array_set_clear_func(rows, label_clear);
  return rows;
}

static GArray *
read_all(const char *path, DemurColumnMap *map, const char *now, gboolean needs_site,
         char **site_name, GPtrArray *warnings, GError **error) {
  Reader reader = {.needs_site = needs_site};
  if (!take_last_day(now, reader.last_day, error))
    return NULL;
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  if (table == NULL)
    return NULL;
  g_autoptr(GArray) rows = labels_new();
  demur_ids_init(&reader.scans, "scan_id", NULL);
  demur_ids_init(&reader.patients, "patient_id", NULL);
  demur_ids_init(&reader.sites, "site", NULL);
  demur_table_faults_init(&reader.faults, table);
  const gboolean ok = read_rows(&reader, table, map, rows, site_name, warnings, error);
  demur_table_header_clear(&reader.header);
  demur_table_faults_clear(&reader.faults);
  demur_ids_clear(&reader.scans);
  demur_ids_clear(&reader.patients);
  demur_ids_clear(&reader.sites);
  return ok ? g_steal_pointer(&rows) : NULL;
}

GArray *
demur_label_table_read(const char *path, DemurColumnMap *map, const char *now, char **site_name,
                       GPtrArray *warnings, GError **error) {
  return read_all(path, map, now, TRUE, site_name, warnings, error);
}

GArray *
demur_label_table_read_any(const char *path, DemurColumnMap *map, const char *now,
                           GPtrArray *warnings, GError **error) {
  return read_all(path, map, now, FALSE, NULL, warnings, error);
}

static void
unref_rows(gpointer rows) {
  g_array_unref(rows);
}

GPtrArray *
demur_label_table_read_sites(const char *path, DemurColumnMap *map, const char *now,
                             GPtrArray *warnings, GError **error) {
  g_autoptr(GArray) rows = read_all(path, map, now, TRUE, NULL, warnings, error);
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
