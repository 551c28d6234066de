#include "tasks/open-slice.h"

#include <string.h>

#include "base/error.h"
#include "dicom/import.h"
#include "dicom/library.h"
#include "store/series.h"

void
demur_slice_opened_clear(DemurSliceOpened *opened) {
  g_clear_pointer(&opened->series, demur_series_free);
  g_clear_pointer(&opened->images_digest, g_free);
}

static gboolean
not_alone(GError **error) {
  demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                  "this slice can't be read without the rest of its series");
  return FALSE;
}

/* The slice of the small series that is what a file of the record was; -1: none is. */
static gssize
find_slice(const DemurSeries *series, const DemurSeriesFile *file) {
  for (size_t i = 0; i < series->n_slices; i++)
    if (g_strcmp0(series->slices[i].content_digest, file->digest) == 0 &&
        g_strcmp0(series->slices[i].sop_instance_uid, file->sop_instance_uid) == 0)
      return (gssize)i;
  return -1;
}

gboolean
demur_task_open_slice(DemurTask *task, const char *scan_id, size_t slice, DemurSliceOpened *opened,
                      GError **error) {
  *opened = (DemurSliceOpened){0};
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(DemurSeriesRecord) record =
      workspace != NULL ? demur_series_load(workspace, scan_id, error) : NULL;
  g_autoptr(GPtrArray) files =
      record != NULL ? demur_series_files(workspace, scan_id, error) : NULL;
  if (files == NULL || !demur_dicom_init(error))
    return FALSE;
  if (files->len == 0 || record->person_digest == NULL)
    return not_alone(error);
  const size_t last = files->len - 1,
               wanted = MIN(slice == DEMUR_MIDDLE_SLICE ? files->len / 2 : slice, last);
  const size_t places[3] = {0, wanted, last};
  const char *paths[4] = {NULL};
  size_t n = 0;
  for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
    const DemurSeriesFile *file = files->pdata[places[i]];
    if (file->digest == NULL || !g_file_test(file->path, G_FILE_TEST_IS_REGULAR) ||
        (places[i] > 0 &&
         strcmp(file->path, ((DemurSeriesFile *)files->pdata[places[i] - 1])->path) == 0))
      return not_alone(error);
    if (n == 0 || strcmp(paths[n - 1], file->path) != 0)
      paths[n++] = file->path;
  }
  opened->series = demur_import_reopen(scan_id, paths, task->parallel, &task->progress, error);
  if (opened->series == NULL)
    return FALSE;
  const DemurPerson person = demur_series_person_of(opened->series);
  g_autofree char *of = demur_person_digest(&person);
  gboolean same = strcmp(of, record->person_digest) == 0 && opened->series->n_slices == n;
  for (size_t i = 0; i < G_N_ELEMENTS(places) && same; i++)
    same = find_slice(opened->series, files->pdata[places[i]]) >= 0;
  if (!same) {
    demur_slice_opened_clear(opened);
    return not_alone(error);
  }
  opened->place = (size_t)find_slice(opened->series, files->pdata[wanted]);
  opened->slice = wanted;
  opened->n_slices = files->len;
  opened->images_digest = g_strdup(record->images_digest);
  return TRUE;
}
