#include "store/series.h"

#include <string.h>

#include "base/error.h"
#include "store/connection.h"
#include "store/events.h"
#include "store/scores.h"

/* The columns of a series, in one place: what is freed, written and read. */
typedef enum { TEXT, NUMBER, COUNT, FLAG } ColumnKind;

#define COLUMN(name, kind, member)                                                                 \
  { name, kind, G_STRUCT_OFFSET(DemurSeriesRecord, member) }
static const struct {
  const char *name;
  ColumnKind kind;
  gsize offset;
} columns[] = {
    COLUMN("scan_id", TEXT, scan_id),
    COLUMN("series_uid", TEXT, series_uid),
    COLUMN("study_uid", TEXT, study_uid),
    COLUMN("patient_id", TEXT, patient_id),
    COLUMN("patient_name", TEXT, patient_name),
    COLUMN("study_date", TEXT, study_date),
    COLUMN("modality", TEXT, modality),
    COLUMN("type", TEXT, type),
    COLUMN("accepted", FLAG, accepted),
    COLUMN("eligible", FLAG, eligible),
    COLUMN("images_digest", TEXT, images_digest),
    COLUMN("person_digest", TEXT, person_digest),
    COLUMN("issuer", TEXT, issuer),
    COLUMN("birth_date", TEXT, birth_date),
    COLUMN("sex", TEXT, sex),
    COLUMN("simulated", FLAG, simulated),
    COLUMN("conflict", TEXT, conflict),
    COLUMN("reason", TEXT, reason),
    COLUMN("n_slices", COUNT, n_slices),
    COLUMN("spacing_mm", NUMBER, spacing_mm),
    COLUMN("thickness_mm", NUMBER, thickness_mm),
    COLUMN("tilt_degrees", NUMBER, tilt_degrees),
    COLUMN("manufacturer", TEXT, manufacturer),
    COLUMN("manufacturer_raw", TEXT, manufacturer_raw),
    COLUMN("model_name", TEXT, model_name),
    COLUMN("kernel", TEXT, kernel),
    COLUMN("kvp", NUMBER, kvp),
    COLUMN("contrast", TEXT, contrast),
    COLUMN("fov_mm", NUMBER, fov_mm),
    COLUMN("tube_current_ma", NUMBER, tube_current_ma),
    COLUMN("site", TEXT, site),
    COLUMN("facts", TEXT, facts_json),
    COLUMN("warnings", TEXT, warnings_json),
    COLUMN("created", TEXT, created),
    COLUMN("updated", TEXT, updated),
};
#undef COLUMN
#define MEMBER(type, record, c) (*(type *)G_STRUCT_MEMBER_P(record, columns[c].offset))

void
demur_series_record_free(DemurSeriesRecord *record) {
  if (record == NULL)
    return;
  for (size_t c = 0; c < G_N_ELEMENTS(columns); c++)
    if (columns[c].kind == TEXT)
      g_free(MEMBER(char *, record, c));
  g_free(record);
}

static const char *const conflict_names[] = {
    [DEMUR_CONFLICT_PERSON] = "person", [DEMUR_CONFLICT_CONTENT] = "content"};

const char *
demur_conflict_name(DemurConflict conflict) {
  return conflict_names[conflict];
}

DemurConflict
demur_conflict_of_name(const char *name) {
  if (name == NULL)
    return DEMUR_CONFLICT_NONE;
  for (guint c = 0; c < G_N_ELEMENTS(conflict_names); c++)
    if (g_strcmp0(name, conflict_names[c]) == 0)
      return (DemurConflict)c;
  return DEMUR_CONFLICT_CONTENT; /* of a newer program: it waits all the same */
}

DemurPerson
demur_series_person(const DemurSeriesRecord *r) {
  return (DemurPerson){r->issuer, r->patient_id, r->patient_name, r->birth_date, r->sex};
}

void
demur_series_file_free(DemurSeriesFile *file) {
  if (file == NULL)
    return;
  g_free(file->path);
  g_free(file->sop_instance_uid);
  g_free(file->digest);
  g_free(file->stamp);
  g_free(file->pixel_digest);
  g_free(file);
}

static void
record_free(gpointer record) {
  demur_series_record_free(record);
}

static void
file_free(gpointer file) {
  demur_series_file_free(file);
}

static void
bind(DemurStatement *s, const DemurSeriesRecord *r) {
  for (size_t c = 0; c < G_N_ELEMENTS(columns); c++) {
    const int at = (int)c + 1;
    switch (columns[c].kind) {
    case TEXT:
      demur_store_bind_text(s, at, MEMBER(char *, r, c));
      break;
    case NUMBER:
      demur_store_bind_double(s, at, MEMBER(double, r, c));
      break;
    case COUNT:
      demur_store_bind_int(s, at, (gint64)MEMBER(size_t, r, c));
      break;
    case FLAG:
      demur_store_bind_int(s, at, MEMBER(gboolean, r, c) ? 1 : 0);
      break;
    }
  }
}

static gpointer
read_series(DemurStatement *s) {
  DemurSeriesRecord *r = g_new0(DemurSeriesRecord, 1);
  for (size_t c = 0; c < G_N_ELEMENTS(columns); c++) {
    const int at = (int)c;
    switch (columns[c].kind) {
    case TEXT:
      MEMBER(char *, r, c) = demur_store_text(s, at);
      break;
    case NUMBER:
      MEMBER(double, r, c) = demur_store_double(s, at);
      break;
    case COUNT:
      MEMBER(size_t, r, c) = (size_t)demur_store_int(s, at);
      break;
    case FLAG:
      MEMBER(gboolean, r, c) = demur_store_int(s, at) != 0;
      break;
    }
  }
  return r;
}

/* Constant texts, as the store wants them. */
static const char *
select_sql(const char *where) {
  g_autoptr(GString) sql = g_string_new("SELECT ");
  for (size_t c = 0; c < G_N_ELEMENTS(columns); c++)
    g_string_append_printf(sql, "%s%s", c > 0 ? ", " : "", columns[c].name);
  g_string_append_printf(sql, " FROM series %s", where);
  return g_intern_string(sql->str);
}

/* Known already: everything is set anew but the time of the first import. */
static const char *
save_sql(void) {
  g_autoptr(GString) names = g_string_new(NULL), places = g_string_new(NULL),
                     again = g_string_new(NULL);
  for (size_t c = 0; c < G_N_ELEMENTS(columns); c++) {
    const char *name = columns[c].name, *comma = c > 0 ? ", " : "";
    g_string_append_printf(names, "%s%s", comma, name);
    g_string_append_printf(places, "%s?", comma);
    if (c > 0 && strcmp(name, "created") != 0)
      g_string_append_printf(again, "%s%s = excluded.%s", again->len > 0 ? ", " : "", name, name);
  }
  g_autofree char *sql =
      g_strdup_printf("INSERT INTO series (%s) VALUES (%s) ON CONFLICT (scan_id) DO UPDATE SET %s",
                      names->str, places->str, again->str);
  return g_intern_string(sql);
}

static gboolean
save_files(DemurWorkspace *workspace, gint64 id, const DemurSeriesSave *series, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, "DELETE FROM series_file WHERE series_id = ?", error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, id);
  if (!demur_store_run(workspace, statement, "saving a series", error))
    return FALSE;
  for (size_t f = 0; f < series->n_files; f++) {
    const DemurSeriesFile *file = &series->files[f];
    statement = demur_store_statement(
        workspace,
        "INSERT INTO series_file (series_id, position, path, frame, sop_instance_uid, position_mm,"
        " digest, size, modified, stamp, pixel_digest, decodes)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        error);
    if (statement == NULL)
      return FALSE;
    demur_store_bind_int(statement, 1, id);
    demur_store_bind_int(statement, 2, (gint64)f);
    demur_store_bind_text(statement, 3, file->path);
    demur_store_bind_int(statement, 4, (gint64)file->frame);
    demur_store_bind_text(statement, 5, file->sop_instance_uid);
    demur_store_bind_double(statement, 6, file->position_mm);
    demur_store_bind_text(statement, 7, file->digest);
    demur_store_bind_int(statement, 8, file->size);
    demur_store_bind_int(statement, 9, file->modified);
    demur_store_bind_text(statement, 10, file->stamp);
    demur_store_bind_text(statement, 11, file->pixel_digest);
    demur_store_bind_int(statement, 12, file->decodes ? 1 : 0);
    if (!demur_store_run_later(workspace, statement, "saving a series", error))
      return FALSE;
  }
  return TRUE;
}

static void
not_found(const char *scan_id, GError **error) {
  demur_error_set(
      error, DEMUR_ERROR_NOT_FOUND,
      "there is no DICOM scan %s in the workspace; `demur dicom list` shows what there is",
      scan_id);
}

char *
demur_series_digest(const DemurSeriesRecord *r) {
  const char *const texts[] = {r->scan_id,  r->images_digest,        r->person_digest,
                               r->conflict, r->accepted ? "1" : "0", r->reason};
  return demur_store_digest(texts, G_N_ELEMENTS(texts), NULL, 0);
}

/* The event of a series as it stands now. created NULL: by the clock. */
static gboolean
tell(DemurWorkspace *workspace, DemurEventKind kind, const char *scan_id, const char *details,
     const char *created, GError **error) {
  g_autoptr(DemurSeriesRecord) now = demur_series_load(workspace, scan_id, error);
  if (now == NULL)
    return FALSE;
  g_autofree char *digest = demur_series_digest(now);
  g_autofree char *key = g_strconcat("series:", scan_id, NULL);
  g_autofree char *clock = created == NULL ? demur_store_now(workspace) : NULL;
  return demur_events_add(workspace, kind, key, digest, details, created != NULL ? created : clock,
                          error);
}

/* What the log says of one that waits (owned); NULL: it doesn't. */
static char *
conflict_details(const char *conflict) {
  return conflict != NULL
             ? g_strdup_printf("{\"conflict\": \"%s\", \"next_step\": \"demur dicom resolve\"}",
                               conflict)
             : NULL;
}

static gboolean
save_one(DemurWorkspace *workspace, const DemurSeriesSave *series, GError **error) {
  DemurStatement *statement = demur_store_statement(workspace, save_sql(), error);
  if (statement == NULL)
    return FALSE;
  DemurSeriesRecord record = *series->record;
  if (record.updated == NULL)
    record.updated = record.created;
  const DemurPerson person = demur_series_person(&record);
  g_autofree char *digest = record.person_digest = demur_person_digest(&person);
  bind(statement, &record);
  if (!demur_store_run(workspace, statement, "saving a series", error))
    return FALSE;
  const gint64 id = demur_store_count(workspace, "SELECT id FROM series WHERE scan_id = ?",
                                      series->record->scan_id, NULL, error);
  g_autofree char *details = conflict_details(record.conflict);
  return id >= 0 && save_files(workspace, id, series, error) &&
         tell(workspace, DEMUR_EVENT_IMPORT, record.scan_id, details, record.updated, error);
}

gboolean
demur_series_save_files(DemurWorkspace *workspace, const DemurSeriesSave *series, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  const gint64 id = demur_store_count(workspace, "SELECT id FROM series WHERE scan_id = ?",
                                      series->record->scan_id, NULL, error);
  if (id == 0)
    not_found(series->record->scan_id, error);
  const gboolean ok = id > 0 && save_files(workspace, id, series, error) &&
                      tell(workspace, DEMUR_EVENT_IMPORT, series->record->scan_id, NULL,
                           series->record->updated, error);
  return demur_store_end(workspace, ok, error);
}

gboolean
demur_series_save(DemurWorkspace *workspace, const DemurSeriesSave *series, size_t n_series,
                  GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gboolean ok = TRUE;
  for (size_t i = 0; ok && i < n_series; i++)
    ok = save_one(workspace, &series[i], error);
  return demur_store_end(workspace, ok, error);
}

GPtrArray *
demur_series_list(DemurWorkspace *workspace, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace, select_sql("ORDER BY patient_id NULLS FIRST, study_date NULLS FIRST, scan_id"),
      error);
  if (statement == NULL)
    return NULL;
  return demur_store_list(workspace, statement, read_series, record_free, "listing series", error);
}

GPtrArray *
demur_series_find(DemurWorkspace *workspace, DemurSeriesKey key, const char *value,
                  GError **error) {
  static const char *const where[] = {
      [DEMUR_SERIES_OF_SCAN] = "WHERE scan_id = ?",
      [DEMUR_SERIES_OF_UID] =
          "WHERE series_uid = ? ORDER BY patient_id NULLS FIRST, study_date NULLS FIRST, scan_id",
      [DEMUR_SERIES_OF_STUDY] =
          "WHERE study_uid = ? ORDER BY patient_id NULLS FIRST, study_date NULLS FIRST, scan_id",
  };
  DemurStatement *statement = demur_store_statement(workspace, select_sql(where[key]), error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, value);
  return demur_store_list(workspace, statement, read_series, record_free, "finding series", error);
}

DemurSeriesRecord *
demur_series_load(DemurWorkspace *workspace, const char *scan_id, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, select_sql("WHERE scan_id = ?"), error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, scan_id);
  gboolean row;
  if (!demur_store_step(workspace, statement, &row, "reading a series", error))
    return NULL;
  if (!row) {
    not_found(scan_id, error);
    return NULL;
  }
  DemurSeriesRecord *record = read_series(statement);
  demur_store_reset(statement);
  return record;
}

/* Runs an update of one series and tells of it; DEMUR_ERROR_NOT_FOUND where it touched none. */
static gboolean
update(DemurWorkspace *workspace, DemurStatement *statement, DemurEventKind kind,
       const char *scan_id, const char *details, const char *doing, GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  gboolean ok = demur_store_run(workspace, statement, doing, error);
  if (ok && demur_store_n_changed(workspace) != 1) {
    not_found(scan_id, error);
    ok = FALSE;
  }
  ok = ok && tell(workspace, kind, scan_id, details, NULL, error);
  return demur_store_end(workspace, ok, error);
}

gboolean
demur_series_set_accepted(DemurWorkspace *workspace, const char *scan_id, gboolean accepted,
                          const char *reason, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace, "UPDATE series SET accepted = ?, reason = ? WHERE scan_id = ?", error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, accepted ? 1 : 0);
  demur_store_bind_text(statement, 2, reason);
  demur_store_bind_text(statement, 3, scan_id);
  return update(workspace, statement, DEMUR_EVENT_CHOICE, scan_id, NULL, "choosing a series",
                error);
}

gboolean
demur_series_set_conflict(DemurWorkspace *workspace, const char *scan_id, const char *conflict,
                          const char *details, GError **error) {
  DemurStatement *statement =
      demur_store_statement(workspace, "UPDATE series SET conflict = ? WHERE scan_id = ?", error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, conflict);
  demur_store_bind_text(statement, 2, scan_id);
  g_autofree char *waiting = details == NULL ? conflict_details(conflict) : NULL;
  return update(workspace, statement,
                conflict != NULL ? DEMUR_EVENT_CONFLICT : DEMUR_EVENT_RESOLUTION, scan_id,
                details != NULL ? details : waiting, "keeping apart what conflicts", error);
}

gboolean
demur_series_correct(DemurWorkspace *workspace, const char *scan_id,
                     const DemurSeriesRecord *person, const char *details, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "UPDATE series SET issuer = ?, patient_id = ?, patient_name = ?, birth_date = ?, sex = ?,"
      " person_digest = ? WHERE scan_id = ?",
      error);
  if (statement == NULL)
    return FALSE;
  const DemurPerson of = demur_series_person(person);
  g_autofree char *digest = demur_person_digest(&of);
  const char *const texts[] = {of.issuer, of.id, of.name, of.birth_date, of.sex, digest, scan_id};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    demur_store_bind_text(statement, 1 + (int)i, texts[i]);
  return update(workspace, statement, DEMUR_EVENT_CORRECTION, scan_id, details,
                "correcting a person", error);
}

/* Takes rows of one scan away. */
static gboolean
delete_of(DemurWorkspace *workspace, const char *sql, const char *scan_id, GError **error) {
  DemurStatement *statement = demur_store_statement(workspace, sql, error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_text(statement, 1, scan_id);
  return demur_store_run(workspace, statement, "taking a series out", error);
}

/* The end of each of its scores. */
static gboolean
tell_scores_end(DemurWorkspace *workspace, const char *scan_id, const char *now, GError **error) {
  g_autoptr(GPtrArray) scores = demur_scores_list(workspace, scan_id, NULL, error);
  for (guint i = 0; scores != NULL && i < scores->len; i++) {
    const DemurScoreRecord *score = scores->pdata[i];
    g_autofree char *key = demur_score_key(scan_id, score->model);
    if (!demur_events_add(workspace, DEMUR_EVENT_REMOVAL, key, NULL, NULL, now, error))
      return FALSE;
  }
  return scores != NULL;
}

gboolean
demur_series_remove(DemurWorkspace *workspace, const char *scan_id, const char *details,
                    GError **error) {
  if (!demur_workspace_begin(workspace, error))
    return FALSE;
  g_autoptr(DemurSeriesRecord) record = demur_series_load(workspace, scan_id, error);
  g_autofree char *now = demur_store_now(workspace);
  g_autofree char *key = g_strconcat("series:", scan_id, NULL);
  const gboolean ok =
      record != NULL && tell_scores_end(workspace, scan_id, now, error) &&
      delete_of(workspace, "DELETE FROM score WHERE scan_id = ?", scan_id, error) &&
      delete_of(workspace, "DELETE FROM series WHERE scan_id = ?", scan_id, error) &&
      demur_events_add(workspace, DEMUR_EVENT_REMOVAL, key, NULL, details, now, error);
  return demur_store_end(workspace, ok, error);
}

gboolean
demur_series_extent(DemurWorkspace *workspace, const char *scan_id, DemurSeriesExtent *extent,
                    GError **error) {
  const struct {
    const char *sql;
    gint64 *n;
  } counts[] = {
      {"SELECT count(*) FROM series_file f JOIN series s ON s.id = f.series_id"
       " WHERE s.scan_id = ?",
       &extent->n_images},
      {"SELECT count(*) FROM score WHERE scan_id = ?", &extent->n_scores},
      {"SELECT count(*) FROM verdict v JOIN verdict_batch b ON b.id = v.batch_id"
       " WHERE v.scan_id = ? AND b.cohort IS NULL",
       &extent->n_verdicts},
      {"SELECT count(*) FROM review WHERE scan_id = ? AND cohort IS NULL", &extent->n_reviews},
      {"SELECT count(*) FROM annotation WHERE scan_id = ? AND kind <> 'removal'",
       &extent->n_drawn}};
  g_autoptr(DemurSeriesRecord) record = demur_series_load(workspace, scan_id, error);
  if (record == NULL)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
    *counts[i].n = demur_store_count(workspace, counts[i].sql, scan_id, NULL, error);
    if (*counts[i].n < 0)
      return FALSE;
  }
  return TRUE;
}

char **
demur_series_find_uid(DemurWorkspace *workspace, const char *series_uid, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace, "SELECT scan_id FROM series WHERE series_uid = ? ORDER BY scan_id", error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, series_uid);
  return demur_store_list_texts(workspace, statement, "finding a series", error);
}

char **
demur_series_holding(DemurWorkspace *workspace, const char *sop_instance_uid, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace,
      "SELECT DISTINCT s.scan_id FROM series_file f JOIN series s ON s.id = f.series_id"
      " WHERE f.sop_instance_uid = ? ORDER BY s.scan_id",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, sop_instance_uid);
  return demur_store_list_texts(workspace, statement, "finding a series", error);
}

int
demur_series_share_images(DemurWorkspace *workspace, const char *scan_id, const char *other,
                          GError **error) {
  const gint64 n = demur_store_count(
      workspace,
      "SELECT count(*) FROM series_file x JOIN series s ON s.id = x.series_id AND s.scan_id = ?1"
      " WHERE x.sop_instance_uid IN (SELECT y.sop_instance_uid FROM series_file y"
      " JOIN series t ON t.id = y.series_id AND t.scan_id = ?2)",
      scan_id, other, error);
  return n < 0 ? -1 : n > 0;
}

/* What a statement of FILE_COLUMNS gives. */
#define FILE_COLUMNS                                                                               \
  "SELECT f.path, f.frame, f.sop_instance_uid, f.position_mm, f.digest, f.size, f.modified,"       \
  " f.stamp, f.pixel_digest, f.decodes FROM series_file f"

static gpointer
read_file(DemurStatement *statement) {
  DemurSeriesFile *file = g_new0(DemurSeriesFile, 1);
  file->path = demur_store_text(statement, 0);
  file->frame = (guint)demur_store_int(statement, 1);
  file->sop_instance_uid = demur_store_text(statement, 2);
  file->position_mm = demur_store_double(statement, 3);
  file->digest = demur_store_text(statement, 4);
  file->size = demur_store_int(statement, 5);
  file->modified = demur_store_int(statement, 6);
  file->stamp = demur_store_text(statement, 7);
  file->pixel_digest = demur_store_text(statement, 8);
  file->decodes = demur_store_int(statement, 9) != 0;
  return file;
}

static GPtrArray *
read_files(DemurWorkspace *workspace, DemurStatement *statement, GError **error) {
  return demur_store_list(workspace, statement, read_file, file_free, "reading a series", error);
}

GPtrArray *
demur_series_files(DemurWorkspace *workspace, const char *scan_id, GError **error) {
  const gint64 n = demur_store_count(workspace, "SELECT count(*) FROM series WHERE scan_id = ?",
                                     scan_id, NULL, error);
  if (n <= 0) {
    if (n == 0)
      not_found(scan_id, error);
    return NULL;
  }
  DemurStatement *statement = demur_store_statement(
      workspace,
      FILE_COLUMNS " JOIN series s ON s.id = f.series_id WHERE s.scan_id = ? ORDER BY f.position",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, scan_id);
  return read_files(workspace, statement, error);
}

GPtrArray *
demur_series_files_at(DemurWorkspace *workspace, const char *path, GError **error) {
  DemurStatement *statement = demur_store_statement(
      workspace, FILE_COLUMNS " WHERE f.path = ? ORDER BY f.frame, f.series_id", error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, path);
  return read_files(workspace, statement, error);
}
