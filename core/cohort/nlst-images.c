#include "cohort/nlst-images.h"

#include <string.h>

#include "base/translate.h"
#include "base/number.h"
#include "cohort/ids.h"
#include "cohort/table-header.h"
#include "cohort/table-warnings.h"

/* What is taken, in the order of names. */
enum { MANUFACTURER, MODEL, KERNEL, THICKNESS, SPACING, KVP, CURRENT, N_TAKEN };

static const char *const names[N_TAKEN] = {"manufacturer",       "model_name", "kernel",
                                           "slice_thickness_mm", "spacing_mm", "kvp",
                                           "tube_current_ma"};

/* A screen's images, or one series; texts [N_TAKEN] by code of `texts`. */
typedef struct {
  guint32 codes[N_TAKEN];
  gboolean differs[N_TAKEN]; /* from another series of the screen */
} Images;

struct DemurNlstImages {
  DemurIntern texts;
  DemurCellsNoticed words; /* all columns' */
  GHashTable *screens;     /* "PID-T0" -> Images */
  GHashTable *series;      /* UID -> Images */
  GHashTable *screens_of;  /* UID -> the key of its screen (borrowed) */
  size_t n_scans, n_without, n_differ;
};

void
demur_nlst_images_free(DemurNlstImages *images) {
  if (images == NULL)
    return;
  demur_intern_clear(&images->texts);
  g_hash_table_unref(images->screens_of);
  g_hash_table_unref(images->series);
  g_hash_table_unref(images->screens);
  g_free(images);
}

static const char *
text_of(const DemurNlstImages *images, guint32 code) {
  return images->texts.texts->pdata[code];
}

/* The cell as it is kept: "" for what is not recorded. */
static guint32
keep(DemurNlstImages *images, const DemurTableField *field) {
  double number;
  const gboolean none = field == NULL || demur_table_is_missing(field) ||
                        (demur_number_parse(field->text, field->length, &number) && number < 0.0);
  if (none)
    return demur_intern_add(&images->texts, "", 0, NULL);
  g_autoptr(GString) line = g_string_new(NULL);
  size_t length;
  const char *value = demur_table_value(field, line, &length, &images->words);
  return demur_intern_add(&images->texts, value, length, NULL);
}

/* Another series of a screen: what it does not say changes nothing. */
static void
unite(const DemurNlstImages *images, Images *screen, const Images *other) {
  for (int k = 0; k < N_TAKEN; k++) {
    if (*text_of(images, other->codes[k]) == '\0')
      continue;
    if (*text_of(images, screen->codes[k]) == '\0')
      screen->codes[k] = other->codes[k];
    else
      screen->differs[k] |= screen->codes[k] != other->codes[k];
  }
}

typedef struct {
  DemurTableHeader header;
  gssize pid, year, series, type, taken[N_TAKEN]; /* -1: absent */
  DemurTableFaults faults;
  DemurIds pids;
  GString *scratch;
} Reader;

static void
read_row(Reader *reader, DemurNlstImages *images, const DemurTableField *fields) {
  gint64 year;
  const DemurTableField *at_year = &fields[reader->year], *pid = &fields[reader->pid];
  if (!demur_number_parse_int(at_year->text, at_year->length, &year) || year < 0 || year > 2) {
    demur_table_faults_note_number(&reader->faults, at_year, "study_yr", N_("the year of a screen"),
                                   N_("give 0, 1 or 2"));
    return;
  }
  gboolean is_new;
  guint32 like;
  const char *id = demur_ids_text(&reader->pids, demur_ids_add(&reader->pids, pid, &is_new, &like));
  if (*id == '\0' || demur_table_is_missing(pid)) {
    demur_table_faults_note(&reader->faults, pid, "pid", "nothing stands here; name the person");
    return;
  }
  if (reader->type >= 0) {
    g_autofree char *type = g_ascii_strup(fields[reader->type].text, -1);
    if (strstr(type, "LOCALI") != NULL)
      return;
  }
  Images row = {0};
  for (int k = 0; k < N_TAKEN; k++)
    row.codes[k] = keep(images, reader->taken[k] >= 0 ? &fields[reader->taken[k]] : NULL);
  g_autofree char *key = g_strdup_printf("%s-T%d", id, (int)year);
  gpointer kept = NULL, screen = NULL;
  if (!g_hash_table_lookup_extended(images->screens, key, &kept, &screen)) {
    kept = g_steal_pointer(&key);
    g_hash_table_insert(images->screens, kept, g_memdup2(&row, sizeof row));
  } else {
    unite(images, screen, &row);
  }
  if (reader->series < 0 || fields[reader->series].length == 0)
    return;
  size_t length;
  DemurIdChanges changes;
  const char *uid = demur_table_id(&fields[reader->series], reader->scratch, &length, &changes);
  if (g_hash_table_contains(images->series, uid)) {
    demur_table_faults_note(&reader->faults, &fields[reader->series], "seriesinstanceuids",
                            "this series stands in an earlier line too; keep one");
    return;
  }
  char *copy = g_strdup(uid);
  g_hash_table_insert(images->series, copy, g_memdup2(&row, sizeof row));
  g_hash_table_insert(images->screens_of, copy, kept);
}

static gboolean
read_rows(Reader *reader, DemurNlstImages *images, DemurTable *table, DemurColumnMap *columns,
          GPtrArray *warnings, GError **error) {
  gssize *t = reader->taken;
  const DemurNamedColumn named[] = {
      {"pid", NULL, &reader->pid, TRUE},
      {"study_yr", NULL, &reader->year, TRUE},
      {"seriesinstanceuids", "series_uid", &reader->series, FALSE},
      {"imagetype", NULL, &reader->type, FALSE},
      {"manufacturer", NULL, &t[MANUFACTURER], FALSE},
      {"manufacturers_model_name", "model_name", &t[MODEL], FALSE},
      {"reconfilter", "ct_recon_filter1", &t[KERNEL], FALSE},
      {"reconthickness", "slice_thickness_mm", &t[THICKNESS], FALSE},
      {"reconinterval", "spacing_mm", &t[SPACING], FALSE},
      {"kvp", "techpara_kvp", &t[KVP], FALSE},
      {"techpara_ma", "tube_current_ma", &t[CURRENT], FALSE},
  };
  const DemurHeaderPlan plan = {.named = named,
                                .n_named = G_N_ELEMENTS(named),
                                .expected = "pid, study_yr, manufacturer, reconfilter",
                                .map = columns};
  if (!demur_table_header_read(&reader->header, table, &plan, warnings, error))
    return FALSE;
  for (;;) {
    const DemurTableField *fields;
    if (!demur_table_header_next(&reader->header, table, &reader->faults, &fields, error))
      return FALSE;
    if (fields == NULL)
      return demur_table_faults_end(&reader->faults, warnings, error);
    read_row(reader, images, fields);
  }
}

DemurNlstImages *
demur_nlst_images_read(const char *path, DemurColumnMap *columns, GPtrArray *warnings,
                       GError **error) {
  g_autoptr(DemurTable) table = demur_table_open(path, error);
  if (table == NULL)
    return NULL;
  g_autoptr(DemurNlstImages) images = g_new0(DemurNlstImages, 1);
  demur_intern_init(&images->texts, NULL);
  demur_intern_add(&images->texts, "", 0, NULL);
  images->screens = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  images->series = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  images->screens_of = g_hash_table_new(g_str_hash, g_str_equal);
  Reader reader = {.scratch = g_string_new(NULL)};
  demur_table_faults_init(&reader.faults, table);
  demur_ids_init(&reader.pids, "pid", NULL);
  const gboolean ok = read_rows(&reader, images, table, columns, warnings, error);
  if (ok) {
    demur_ids_warn(&reader.pids, warnings);
    demur_cells_noticed_warn(&images->words, demur_table_name(table), warnings);
  }
  demur_table_header_clear(&reader.header);
  demur_table_faults_clear(&reader.faults);
  demur_ids_clear(&reader.pids);
  g_string_free(reader.scratch, TRUE);
  return ok ? g_steal_pointer(&images) : NULL;
}

gboolean
demur_nlst_images_has(const char *name) {
  for (size_t k = 0; k < N_TAKEN; k++)
    if (strcmp(names[k], name) == 0)
      return TRUE;
  return FALSE;
}

gboolean
demur_nlst_images_add(DemurNlstImages *images, DemurCohortBuilder *builder, const char *pid,
                      int year, const char *series) {
  g_autofree char *key = g_strdup_printf("%s-T%d", pid, year);
  const gboolean named = series != NULL && *series != '\0';
  const Images *found = named
                            ? (g_strcmp0(g_hash_table_lookup(images->screens_of, series), key) == 0
                                   ? g_hash_table_lookup(images->series, series)
                                   : NULL)
                            : g_hash_table_lookup(images->screens, key);
  gboolean differ = FALSE;
  for (int k = 0; k < N_TAKEN; k++) {
    const gboolean known = found != NULL && !found->differs[k];
    differ |= found != NULL && found->differs[k];
    demur_cohort_builder_attribute(builder, names[k],
                                   known ? text_of(images, found->codes[k]) : "");
  }
  images->n_scans++;
  images->n_without += found == NULL ? 1 : 0;
  images->n_differ += differ ? 1 : 0;
  return found != NULL || !named;
}

void
demur_nlst_images_warn(const DemurNlstImages *images, GPtrArray *warnings) {
  if (images->n_without > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_NO_IMAGE, NULL, NULL, NULL, images->n_without,
                             images->n_scans);
  if (images->n_differ > 0)
    demur_table_warnings_add(warnings, DEMUR_TABLE_IMAGES_DIFFER, NULL, NULL, NULL,
                             images->n_differ, images->n_scans);
}
