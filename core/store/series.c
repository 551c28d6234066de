#include "store/series.h"

#include "store/connection.h"

void
demur_series_record_free(DemurSeriesRecord *record) {
  if (record == NULL)
    return;
  char *texts[] = {record->scan_id,
                   record->series_uid,
                   record->study_uid,
                   record->patient_id,
                   record->patient_name,
                   record->study_date,
                   record->modality,
                   record->type,
                   record->reason,
                   record->manufacturer,
                   record->manufacturer_raw,
                   record->model_name,
                   record->kernel,
                   record->contrast,
                   record->site,
                   record->facts_json,
                   record->warnings_json,
                   record->created,
                   record->updated};
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  g_free(record);
}

void
demur_series_file_free(DemurSeriesFile *file) {
  if (file == NULL)
    return;
  g_free(file->path);
  g_free(file->sop_instance_uid);
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

/* One list of columns for writing and reading: place i is bound and read alike. */
#define COLUMNS                                                                                    \
  "scan_id, series_uid, study_uid, patient_id, patient_name, study_date, modality, type, "         \
  "accepted,"                                                                                      \
  " eligible, reason, n_slices, spacing_mm, thickness_mm, tilt_degrees, manufacturer,"             \
  " manufacturer_raw, model_name, kernel, kvp, contrast, fov_mm, tube_current_ma, site, facts,"    \
  " warnings, created, updated"

static void
bind(sqlite3_stmt *s, const DemurSeriesRecord *r) {
  int at = 1;
  demur_store_bind_text(s, at++, r->scan_id);
  demur_store_bind_text(s, at++, r->series_uid);
  demur_store_bind_text(s, at++, r->study_uid);
  demur_store_bind_text(s, at++, r->patient_id);
  demur_store_bind_text(s, at++, r->patient_name);
  demur_store_bind_text(s, at++, r->study_date);
  demur_store_bind_text(s, at++, r->modality);
  demur_store_bind_text(s, at++, r->type);
  demur_store_bind_int(s, at++, r->accepted ? 1 : 0);
  demur_store_bind_int(s, at++, r->eligible ? 1 : 0);
  demur_store_bind_text(s, at++, r->reason);
  demur_store_bind_int(s, at++, (gint64)r->n_slices);
  demur_store_bind_double(s, at++, r->spacing_mm);
  demur_store_bind_double(s, at++, r->thickness_mm);
  demur_store_bind_double(s, at++, r->tilt_degrees);
  demur_store_bind_text(s, at++, r->manufacturer);
  demur_store_bind_text(s, at++, r->manufacturer_raw);
  demur_store_bind_text(s, at++, r->model_name);
  demur_store_bind_text(s, at++, r->kernel);
  demur_store_bind_double(s, at++, r->kvp);
  demur_store_bind_text(s, at++, r->contrast);
  demur_store_bind_double(s, at++, r->fov_mm);
  demur_store_bind_double(s, at++, r->tube_current_ma);
  demur_store_bind_text(s, at++, r->site);
  demur_store_bind_text(s, at++, r->facts_json);
  demur_store_bind_text(s, at++, r->warnings_json);
  demur_store_bind_text(s, at++, r->created);
  demur_store_bind_text(s, at++, r->updated != NULL ? r->updated : r->created);
}

static DemurSeriesRecord *
read_series(sqlite3_stmt *s) {
  DemurSeriesRecord *r = g_new0(DemurSeriesRecord, 1);
  int at = 0;
  r->scan_id = demur_store_text(s, at++);
  r->series_uid = demur_store_text(s, at++);
  r->study_uid = demur_store_text(s, at++);
  r->patient_id = demur_store_text(s, at++);
  r->patient_name = demur_store_text(s, at++);
  r->study_date = demur_store_text(s, at++);
  r->modality = demur_store_text(s, at++);
  r->type = demur_store_text(s, at++);
  r->accepted = sqlite3_column_int(s, at++) != 0;
  r->eligible = sqlite3_column_int(s, at++) != 0;
  r->reason = demur_store_text(s, at++);
  r->n_slices = (size_t)sqlite3_column_int64(s, at++);
  r->spacing_mm = demur_store_double(s, at++);
  r->thickness_mm = demur_store_double(s, at++);
  r->tilt_degrees = demur_store_double(s, at++);
  r->manufacturer = demur_store_text(s, at++);
  r->manufacturer_raw = demur_store_text(s, at++);
  r->model_name = demur_store_text(s, at++);
  r->kernel = demur_store_text(s, at++);
  r->kvp = demur_store_double(s, at++);
  r->contrast = demur_store_text(s, at++);
  r->fov_mm = demur_store_double(s, at++);
  r->tube_current_ma = demur_store_double(s, at++);
  r->site = demur_store_text(s, at++);
  r->facts_json = demur_store_text(s, at++);
  r->warnings_json = demur_store_text(s, at++);
  r->created = demur_store_text(s, at++);
  r->updated = demur_store_text(s, at++);
  return r;
}

static gboolean
save_files(DemurWorkspace *workspace, gint64 id, const DemurSeriesSave *series, GError **error) {
  sqlite3_stmt *statement =
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
        "INSERT INTO series_file (series_id, position, path, frame, sop_instance_uid, position_mm)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        error);
    if (statement == NULL)
      return FALSE;
    demur_store_bind_int(statement, 1, id);
    demur_store_bind_int(statement, 2, (gint64)f);
    demur_store_bind_text(statement, 3, file->path);
    demur_store_bind_int(statement, 4, (gint64)file->frame);
    demur_store_bind_text(statement, 5, file->sop_instance_uid);
    demur_store_bind_double(statement, 6, file->position_mm);
    if (!demur_store_run(workspace, statement, "saving a series", error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
save_one(DemurWorkspace *workspace, const DemurSeriesSave *series, GError **error) {
  /* Known already: everything is set anew but the time of the first import. */
  sqlite3_stmt *statement = demur_store_statement(
      workspace,
      "INSERT INTO series (" COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
      " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
      " ON CONFLICT (scan_id) DO UPDATE SET series_uid = excluded.series_uid,"
      " study_uid = excluded.study_uid, patient_id = excluded.patient_id,"
      " patient_name = excluded.patient_name, study_date = excluded.study_date,"
      " modality = excluded.modality, type = excluded.type, accepted = excluded.accepted,"
      " eligible = excluded.eligible, reason = excluded.reason, n_slices = excluded.n_slices,"
      " spacing_mm = excluded.spacing_mm, thickness_mm = excluded.thickness_mm,"
      " tilt_degrees = excluded.tilt_degrees, manufacturer = excluded.manufacturer,"
      " manufacturer_raw = excluded.manufacturer_raw, model_name = excluded.model_name,"
      " kernel = excluded.kernel, kvp = excluded.kvp, contrast = excluded.contrast,"
      " fov_mm = excluded.fov_mm, tube_current_ma = excluded.tube_current_ma,"
      " site = excluded.site, facts = excluded.facts, warnings = excluded.warnings,"
      " updated = excluded.updated",
      error);
  if (statement == NULL)
    return FALSE;
  bind(statement, series->record);
  if (!demur_store_run(workspace, statement, "saving a series", error))
    return FALSE;
  const gint64 id = demur_store_count(workspace, "SELECT id FROM series WHERE scan_id = ?",
                                      series->record->scan_id, NULL, error);
  return id >= 0 && save_files(workspace, id, series, error);
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
  sqlite3_stmt *statement = demur_store_statement(
      workspace, "SELECT " COLUMNS " FROM series ORDER BY patient_id, study_date, scan_id", error);
  if (statement == NULL)
    return NULL;
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(record_free);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "listing series", error)) && row)
    g_ptr_array_add(list, read_series(statement));
  return ok ? g_steal_pointer(&list) : NULL;
}

static void
not_found(const char *scan_id, GError **error) {
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_NOT_FOUND,
              "there is no DICOM scan %s in the workspace; `demur dicom list` shows what there is",
              scan_id);
}

DemurSeriesRecord *
demur_series_load(DemurWorkspace *workspace, const char *scan_id, GError **error) {
  sqlite3_stmt *statement =
      demur_store_statement(workspace, "SELECT " COLUMNS " FROM series WHERE scan_id = ?", error);
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
  sqlite3_reset(statement);
  return record;
}

gboolean
demur_series_set_accepted(DemurWorkspace *workspace, const char *scan_id, gboolean accepted,
                          const char *reason, GError **error) {
  sqlite3_stmt *statement = demur_store_statement(
      workspace, "UPDATE series SET accepted = ?, reason = ? WHERE scan_id = ?", error);
  if (statement == NULL)
    return FALSE;
  demur_store_bind_int(statement, 1, accepted ? 1 : 0);
  demur_store_bind_text(statement, 2, reason);
  demur_store_bind_text(statement, 3, scan_id);
  if (!demur_store_run(workspace, statement, "choosing a series", error))
    return FALSE;
  if (sqlite3_changes(workspace->database) == 1)
    return TRUE;
  not_found(scan_id, error);
  return FALSE;
}

char **
demur_series_find_uid(DemurWorkspace *workspace, const char *series_uid, GError **error) {
  sqlite3_stmt *statement = demur_store_statement(
      workspace, "SELECT scan_id FROM series WHERE series_uid = ? ORDER BY scan_id", error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, series_uid);
  g_autoptr(GStrvBuilder) list = g_strv_builder_new();
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "finding a series", error)) && row)
    g_strv_builder_add(list, (const char *)sqlite3_column_text(statement, 0));
  return ok ? g_strv_builder_end(list) : NULL;
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
  sqlite3_stmt *statement = demur_store_statement(
      workspace,
      "SELECT f.path, f.frame, f.sop_instance_uid, f.position_mm FROM series_file f"
      " JOIN series s ON s.id = f.series_id WHERE s.scan_id = ? ORDER BY f.position",
      error);
  if (statement == NULL)
    return NULL;
  demur_store_bind_text(statement, 1, scan_id);
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(file_free);
  gboolean row, ok;
  while ((ok = demur_store_step(workspace, statement, &row, "reading a series", error)) && row) {
    DemurSeriesFile *file = g_new0(DemurSeriesFile, 1);
    file->path = demur_store_text(statement, 0);
    file->frame = (guint)sqlite3_column_int64(statement, 1);
    file->sop_instance_uid = demur_store_text(statement, 2);
    file->position_mm = demur_store_double(statement, 3);
    g_ptr_array_add(list, file);
  }
  return ok ? g_steal_pointer(&list) : NULL;
}
