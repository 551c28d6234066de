#include "tasks/images.h"

#include <string.h>

#include "base/error.h"
#include "dicom/import.h"
#include "dicom/library.h"
#include "store/series.h"
#include "tasks/series-records.h"

char **
demur_task_image_paths(DemurTask *task, const char *scan_id, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) files =
      workspace != NULL ? demur_series_files(workspace, scan_id, error) : NULL;
  if (files == NULL)
    return NULL;
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  const char *last = NULL;
  for (guint i = 0; i < files->len; i++) {
    const DemurSeriesFile *file = files->pdata[i];
    if (g_strcmp0(file->path, last) != 0) /* frames of one file stand together */
      g_strv_builder_add(builder, file->path);
    last = file->path;
  }
  return g_strv_builder_end(builder);
}

/* FALSE with DEMUR_ERROR_STATE where what was measured is not what the record tells. */
static gboolean
check_unchanged(const DemurSeries *series, const DemurSeriesRecord *record, GError **error) {
  const DemurPerson now = demur_series_person_of(series);
  g_autofree char *person = demur_person_digest(&now);
  g_autofree char *images = demur_dicom_images_digest(series);
  /* An older program kept no digests: the UIDs of its files were compared when they were found. */
  const gboolean other_images =
                     record->images_digest != NULL && strcmp(images, record->images_digest) != 0,
                 other_person =
                     record->person_digest != NULL && strcmp(person, record->person_digest) != 0;
  if (!other_images && !other_person)
    return TRUE;
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
              "the images of scan %s changed: what lies at their place is %s; import it again",
              record->scan_id, other_images ? "not what was imported" : "another person's");
  return FALSE;
}

DemurSeries *
demur_task_reopen(DemurTask *task, const char *scan_id, GError **error) {
  g_auto(GStrv) paths = demur_task_image_paths(task, scan_id, error);
  g_autoptr(DemurSeriesRecord) record =
      paths != NULL ? demur_series_load(task->workspace, scan_id, error) : NULL;
  if (record == NULL || !demur_dicom_init(error))
    return NULL;
  g_autoptr(DemurSeries) series = demur_import_reopen(scan_id, (const char *const *)paths,
                                                      task->parallel, &task->progress, error);
  if (series == NULL || !check_unchanged(series, record, error))
    return NULL;
  return g_steal_pointer(&series);
}
