#include "tasks/images.h"

#include "store/series.h"

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
